//! Rigid bodies as layers like any other (FAU-06, FAU-70): four particles that keep their distances.
//!
//! Four equal masses at the corners of a tetrahedron around the centre of mass can have any mass, centre and inertia: with the second moment
//! C = ∫ ρ r rᵀ dV and C/m = S Sᵀ, the corners are at S t, t = (±1, ±1, ±1) with an even number of minuses, since Σ t tᵀ = 4 I. All points of
//! the body follow these by constant weights ([`crate::mapping::rows::rigid`]), so that contact, links, pulls and pictures know nothing of rotations.
//! In an implicit system a stiff tetrahedron holds the four together; after every change [`RigidFrame::project`] puts them back into
//! their shape, exactly, with the momentum and angular momentum that they have. Position and quaternion are read off by [`RigidFrame::pose`].
//!
//! Promised: mass, centre and inertia are those of the shape; momentum and angular momentum are kept by the projection. Not promised: energy of fast
//! spins, which is right to the first order of the step.

use glam::{DMat3, DQuat, DVec3};

use crate::math::{Pose, polar, svd};
use crate::mesh::triangle_area;

/// Mass, centre and second moment of a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Inertia {
    /// kg.
    pub mass: f64,
    /// Centre of mass, m.
    pub centre: DVec3,
    /// ∫ ρ r rᵀ about the centre, kg·m².
    pub moment: DMat3,
}

fn outer(r: DVec3) -> DMat3 {
    DMat3::from_cols(r * r.x, r * r.y, r * r.z)
}

impl Inertia {
    /// Of what a closed surface encloses, with mass 1 per volume: a sum over the tetrahedra from its triangles to one point.
    pub fn of_volume(x: &[DVec3], triangles: &[[u32; 3]]) -> Inertia {
        let origin = x.first().copied().unwrap_or_default();
        let mut sum = Inertia { mass: 0.0, centre: DVec3::ZERO, moment: DMat3::ZERO };
        for t in triangles {
            let [a, b, c] = t.map(|v| x[v as usize] - origin);
            let volume = a.dot(b.cross(c)) / 6.0;
            let all = a + b + c;
            sum.mass += volume;
            sum.centre += all * (volume / 4.0);
            sum.moment += (outer(a) + outer(b) + outer(c) + outer(all)) * (volume / 20.0);
        }
        sum.about_centre(origin)
    }

    /// Of a thin sheet, with mass 1 per area.
    pub fn of_sheet(x: &[DVec3], triangles: &[[u32; 3]]) -> Inertia {
        let origin = x.first().copied().unwrap_or_default();
        let mut sum = Inertia { mass: 0.0, centre: DVec3::ZERO, moment: DMat3::ZERO };
        for t in triangles {
            let [a, b, c] = t.map(|v| x[v as usize] - origin);
            let area = triangle_area(a, b, c);
            let all = a + b + c;
            sum.mass += area;
            sum.centre += all * (area / 3.0);
            sum.moment += (outer(a) + outer(b) + outer(c) + outer(all)) * (area / 12.0);
        }
        sum.about_centre(origin)
    }

    fn about_centre(self, origin: DVec3) -> Inertia {
        let centre = self.centre / self.mass;
        Inertia { centre: centre + origin, moment: self.moment - outer(centre) * self.mass, ..self }
    }

    /// The same shape with another mass, kg.
    pub fn with_mass(self, mass: f64) -> Inertia {
        Inertia { mass, moment: self.moment * (mass / self.mass), ..self }
    }

    /// Where four particles of a quarter of the mass have its centre and its moment, m. A flat shape gets a little thickness.
    pub fn particles(&self) -> [DVec3; 4] {
        let axes = svd(self.moment * (1.0 / self.mass));
        let widest = axes.sigma.x.abs().sqrt();
        let half = axes.sigma.to_array().map(|s| s.abs().sqrt().max(1e-3 * widest));
        [[1.0, 1.0, 1.0], [1.0, -1.0, -1.0], [-1.0, 1.0, -1.0], [-1.0, -1.0, 1.0]]
            .map(|t| self.centre + axes.u * DVec3::new(t[0] * half[0], t[1] * half[1], t[2] * half[2]))
    }
}

/// The four particles of a rigid body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RigidFrame {
    /// The first of them; the others come after it.
    pub first: usize,
}

impl RigidFrame {
    fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + 4
    }

    /// How the body is turned and moved against its place at the start.
    pub fn pose(&self, rest: &[DVec3], x: &[DVec3]) -> Pose {
        let (rest, x) = (&rest[self.range()], &x[self.range()]);
        let (then, now) = (rest.iter().sum::<DVec3>() / 4.0, x.iter().sum::<DVec3>() / 4.0);
        let turn = rotation_of(rest, x, then, now);
        Pose { rotation: DQuat::from_mat3(&turn), translation: now - turn * then }
    }

    /// How easily points of the body give way, 1/kg: the mean over directions of what a unit impulse there changes their velocity by.
    pub fn mobility(&self, rest: &[DVec3], quarter: f64) -> impl Fn(DVec3) -> f64 {
        let rest = &rest[self.range()];
        let middle = rest.iter().sum::<DVec3>() / 4.0;
        let inverse = (inertia(rest, middle) * quarter).inverse();
        let trace = inverse.x_axis.x + inverse.y_axis.y + inverse.z_axis.z;
        move |point| {
            let arm = point - middle;
            0.25 / quarter + (trace * arm.length_squared() - arm.dot(inverse * arm)) / 3.0
        }
    }

    /// Puts the particles back into their shape, with the momentum and angular momentum that they have.
    pub fn project(&self, rest: &[DVec3], x: &mut [DVec3], v: &mut [DVec3]) {
        let (rest, x, v) = (&rest[self.range()], &mut x[self.range()], &mut v[self.range()]);
        let (then, now) = (rest.iter().sum::<DVec3>() / 4.0, x.iter().sum::<DVec3>() / 4.0);
        let turn = rotation_of(rest, x, then, now);
        let momentum = turning(x, v, now);
        for (x, rest) in x.iter_mut().zip(rest) {
            *x = now + turn * (*rest - then);
        }
        spin_with(x, v, now, momentum);
    }

    /// Makes velocities those of a rigid motion with the same momentum and angular momentum.
    pub fn project_velocities(&self, x: &[DVec3], v: &mut [DVec3]) {
        let (x, v) = (&x[self.range()], &mut v[self.range()]);
        let now = x.iter().sum::<DVec3>() / 4.0;
        spin_with(x, v, now, turning(x, v, now));
    }
}

/// Angular momentum of four particles of mass 1 about their middle: masses are equal, and need not be known.
fn turning(x: &[DVec3], v: &[DVec3], middle: DVec3) -> DVec3 {
    x.iter().zip(v).map(|(x, v)| (*x - middle).cross(*v)).sum()
}

/// Inertia of four particles of mass 1 about their middle.
fn inertia(x: &[DVec3], middle: DVec3) -> DMat3 {
    x.iter().fold(DMat3::ZERO, |sum, x| {
        let arm = *x - middle;
        sum + DMat3::from_diagonal(DVec3::splat(arm.length_squared())) - outer(arm)
    })
}

/// Gives four particles of mass 1 the rigid motion of their mean velocity and that angular momentum.
fn spin_with(x: &[DVec3], v: &mut [DVec3], middle: DVec3, momentum: DVec3) {
    let velocity = v.iter().sum::<DVec3>() / 4.0;
    let spin = inertia(x, middle).inverse() * momentum;
    for (x, v) in x.iter().zip(v) {
        *v = velocity + spin.cross(*x - middle);
    }
}

/// The rotation for which Σ |x − R r|² is least: to first order it turns by what the angular momentum of a displacement says, so that places and
/// velocities agree on how far a body turns. (The rotation nearest to the best linear map does not: it turns a thin bar by half of it.)
fn rotation_of(rest: &[DVec3], x: &[DVec3], then: DVec3, now: DVec3) -> DMat3 {
    let pairs = x.iter().zip(rest).fold(DMat3::ZERO, |sum, (x, r)| {
        let (a, b) = (*x - now, *r - then);
        sum + DMat3::from_cols(a * b.x, a * b.y, a * b.z)
    });
    polar(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{rotation, uniform};
    use crate::mesh::generate;
    use crate::scene::Ball;

    #[test]
    fn a_ball_has_two_fifths_and_a_hollow_one_two_thirds() {
        let ball = generate::ball(&Ball { radius: 0.3, subdivisions: 5 });
        // ∫ x² is half of m r²·2/5, or of 2/3.
        let full = Inertia::of_volume(&ball.positions, &ball.triangles).with_mass(2.0);
        let hollow = Inertia::of_sheet(&ball.positions, &ball.triangles).with_mass(2.0);
        for (inertia, share) in [(full, 0.2), (hollow, 1.0 / 3.0)] {
            assert!(inertia.centre.length() < 1e-9);
            let exact = 2.0 * 0.09 * share;
            for k in 0..3 {
                assert!((inertia.moment.col(k)[k] / exact - 1.0).abs() < 3e-3, "{inertia:?}");
            }
        }
    }

    #[test]
    fn four_particles_have_the_inertia_of_a_block() {
        let turn = rotation(DVec3::new(20.0, 50.0, -70.0));
        let size = DVec3::new(0.2, 0.5, 1.1);
        let exact = DMat3::from_diagonal(size * size / 12.0);
        let turn = DMat3::from_quat(turn);
        let inertia = Inertia {
            mass: 3.0,
            centre: DVec3::new(1.0, 2.0, 3.0),
            moment: turn * exact * turn.transpose() * 3.0,
        };
        let particles = inertia.particles();
        let centre = particles.iter().sum::<DVec3>() / 4.0;
        let moment = particles.iter().fold(DMat3::ZERO, |m, p| m + outer(*p - centre) * 0.75);
        assert!(centre.distance(inertia.centre) < 1e-14);
        assert!((moment - inertia.moment).to_cols_array().iter().all(|d| d.abs() < 1e-14));
    }

    #[test]
    fn a_point_gives_way_as_its_arm_says() {
        // A ball of 2 kg and radius 0.3 has I = 0.072 kg·m² about every axis: 1/m along the arm, 1/m + r²/I across it.
        let inertia =
            Inertia { mass: 2.0, centre: DVec3::ZERO, moment: DMat3::from_diagonal(DVec3::splat(0.036)) };
        let mobility = RigidFrame { first: 0 }.mobility(&inertia.particles(), 0.5)(DVec3::Y * 0.3);
        assert!((mobility - (0.5 + 2.0 / 3.0 * 0.09 / 0.072)).abs() < 1e-12, "{mobility}");
    }

    #[test]
    fn places_of_a_thin_bar_turn_as_its_velocities_do() {
        // Thin along x: a push across its end turns it; what is left of the push bends it, and goes.
        let moment = DMat3::from_diagonal(DVec3::new(1e-6, 1.0, 1e-6));
        let rest = Inertia { mass: 1.0, centre: DVec3::ZERO, moment }.particles();
        let h = 1e-6;
        let mut v: Vec<DVec3> = rest.iter().map(|r| DVec3::X * r.y).collect();
        let mut x: Vec<DVec3> = rest.iter().zip(&v).map(|(r, v)| *r + *v * h).collect();
        RigidFrame { first: 0 }.project(&rest, &mut x, &mut v);
        for ((x, v), r) in x.iter().zip(&v).zip(&rest) {
            assert!((*x - *r - *v * h).length() < 1e-11, "{x} {v}");
        }
    }

    #[test]
    fn projection_keeps_momentum_and_finds_the_shape() {
        let rest =
            Inertia { mass: 1.0, centre: DVec3::X, moment: DMat3::from_diagonal(DVec3::new(0.1, 0.2, 0.3)) }
                .particles();
        let noise =
            |k: u64| DVec3::new(uniform(1, 3 * k), uniform(1, 3 * k + 1), uniform(1, 3 * k + 2)) - 0.5;
        let mut x: Vec<DVec3> = (0..4).map(|k| rest[k] + noise(k as u64) * 0.1).collect();
        let mut v: Vec<DVec3> = (0..4).map(|k| noise(9 + k)).collect();
        let total = |x: &[DVec3], v: &[DVec3]| {
            let turning: DVec3 = x.iter().zip(v).map(|(x, v)| x.cross(*v)).sum();
            (v.iter().sum::<DVec3>(), turning)
        };
        let (p, l) = total(&x, &v);
        let frame = RigidFrame { first: 0 };
        frame.project(&rest, &mut x, &mut v);
        let (p1, l1) = total(&x, &v);
        assert!((p - p1).length() < 1e-14 && (l - l1).length() < 1e-14, "{l} {l1}");
        for a in 0..4 {
            for b in 0..a {
                assert!((x[a].distance(x[b]) - rest[a].distance(rest[b])).abs() < 1e-14);
            }
        }
        let pose = frame.pose(&rest, &x);
        assert!((0..4).all(|k| pose.apply(rest[k]).distance(x[k]) < 1e-14));
    }
}
