//! Contacts as springs inside an implicit system (FAU-45), predicted before the step
//! (FAU-44).
//!
//! A contact is told by up to four particles with weights, whose weighted sum along a fixed direction is the gap g. It pushes with
//! f = k (d − g), where d is the distance that is kept, shared by weight: the gradient of ½ k (d − g)². The direction is fixed,
//! so that the derivative is k w wᵀ ⊗ n nᵀ, exactly, and positive semi-definite: the system stays positive definite whatever
//! touches. A list holds the contacts that are expected to be nearer than d when the step ends; who solves the step looks
//! whether they are, and which others are, and solves again with those (`island.rs`). Friction follows the push, by [`rub`].
//!
//! Between two bodies there are no springs, as each is solved by itself: there impulses act, which keep momentum. On colliders solids have
//! springs (`contact/resting.rs`), other bodies impulses.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, PairBlock, Part, outer};

/// A contact of particles of one body with each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSpring {
    /// Particles, and what each counts in the gap.
    pub particles: [(u32, f64); 4],
    /// Direction of the gap, of length 1.
    pub normal: DVec3,
    /// Distance that is kept, m.
    pub distance: f64,
    /// k, N/m.
    pub stiffness: f64,
    /// Coulomb friction coefficient.
    pub friction: f64,
    /// Velocity of what it touches, m/s; 0 where both sides are among the particles.
    pub drift: DVec3,
}

impl ContactSpring {
    /// How far both sides are apart, m.
    pub fn gap(&self, x: &[DVec3]) -> f64 {
        let own: DVec3 = self.particles.iter().map(|(v, w)| x[*v as usize] * *w).sum();
        self.normal.dot(own)
    }

    /// How far they are nearer than they should be, m.
    pub(crate) fn depth(&self, x: &[DVec3]) -> f64 {
        self.distance - self.gap(x)
    }
}

/// Lets contacts rub that pushed in a step of `h`, s: each takes from the sliding velocity at most what Coulomb's law allows, and
/// from places what that moved. `inverse_masses` in 1/kg.
pub fn rub(springs: &[ContactSpring], h: f64, inverse_masses: &[f64], x: &mut [DVec3], v: &mut [DVec3]) {
    for s in springs {
        let impulse = h * s.stiffness * s.depth(x);
        let mobility: f64 = s.particles.iter().map(|(i, w)| w * w * inverse_masses[*i as usize]).sum();
        if impulse <= 0.0 || mobility <= 0.0 {
            continue;
        }
        let own: DVec3 = s.particles.iter().map(|(i, w)| v[*i as usize] * *w).sum();
        let slip = (own - s.drift).reject_from_normalized(s.normal);
        let lost = (s.friction * impulse * mobility / slip.length().max(f64::MIN_POSITIVE)).min(1.0);
        for (i, w) in &s.particles {
            let change = slip * (-lost * w * inverse_masses[*i as usize] / mobility);
            v[*i as usize] += change;
            x[*i as usize] += change * h;
        }
    }
}

/// The contacts of a body in one step.
#[derive(Clone, Debug, Default)]
pub struct ContactSprings {
    /// In an order that depends on the contacts only.
    pub springs: Vec<ContactSpring>,
}

impl Energy for ContactSprings {
    fn name(&self) -> &'static str {
        "contact"
    }

    fn value(&self, q: &Configuration) -> f64 {
        self.springs.iter().map(|s| 0.5 * s.stiffness * s.depth(q.x) * s.depth(q.x)).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for s in &self.springs {
            let push = s.normal * (s.stiffness * s.depth(q.x));
            s.particles.iter().for_each(|(v, w)| f[*v as usize] += push * *w);
        }
    }

    fn linearise(&self, _q: &Configuration, hx: f64, _hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        elements.extend(self.springs.iter().map(|s| hx * s.stiffness));
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], _part: Part, d: &[DVec3], out: &mut [DVec3]) {
        for (s, e) in self.springs.iter().zip(elements) {
            let along: DVec3 = s.particles.iter().map(|(v, w)| d[*v as usize] * *w).sum();
            let push = s.normal * (*e * s.normal.dot(along));
            s.particles.iter().for_each(|(v, w)| out[*v as usize] += push * *w);
        }
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for (s, e) in self.springs.iter().zip(elements) {
            let block = outer(s.normal) * *e;
            s.particles.iter().for_each(|(v, w)| diagonal[*v as usize] += block * (*w * *w));
        }
    }

    fn add_pairs(&self, _q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        for (s, e) in self.springs.iter().zip(elements) {
            let block = outer(s.normal) * *e;
            for a in 0..4 {
                for b in a + 1..4 {
                    let ((i, wi), (j, wj)) = (s.particles[a], s.particles[b]);
                    if wi * wj != 0.0 {
                        pairs.push(PairBlock { i, j, block: block * (wi * wj) });
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::ModelBuilder;
    use crate::control::Control;
    use crate::mesh::Topology;
    use crate::parallel::Parallel;
    use crate::scene::Scene;

    fn springs() -> ContactSprings {
        let normal = DVec3::new(0.36, 0.48, 0.8);
        let own = ContactSpring {
            particles: [(0, 1.0), (1, -0.2), (2, -0.3), (3, -0.5)],
            normal,
            distance: 0.9,
            stiffness: 7.0,
            friction: 0.5,
            drift: DVec3::ZERO,
        };
        let particles = [(1, 0.4), (2, 0.6), (0, 0.0), (0, 0.0)];
        ContactSprings { springs: vec![own, ContactSpring { particles, ..own }] }
    }

    #[test]
    fn the_push_is_the_gradient_and_the_product_is_its_derivative() {
        let springs = springs();
        let x: Vec<DVec3> = (0..4).map(|i| DVec3::new(0.1, 0.3, -0.2) * f64::from(i) + DVec3::X).collect();
        let v = vec![DVec3::ZERO; 4];
        let (topology, parallel) = (Topology::default(), Parallel::default());
        let control = Control::new(&ModelBuilder::new(&Scene::default()).build().unwrap());
        let at = |x: &[DVec3], f: &mut dyn FnMut(&Configuration)| {
            f(&Configuration {
                x,
                v: &v,
                t: 0.0,
                body: 0,
                topology: &topology,
                control: &control,
                parallel: &parallel,
            });
        };
        let force = |x: &[DVec3]| {
            let mut f = vec![DVec3::ZERO; 4];
            at(x, &mut |q| springs.add_force(q, &mut f));
            f
        };
        let value = |x: &[DVec3]| {
            let mut value = 0.0;
            at(x, &mut |q| value = springs.value(q));
            value
        };
        let (mut elements, hx) = (Vec::new(), 0.01);
        at(&x, &mut |q| springs.linearise(q, hx, 0.1, &mut elements));
        let (mut diagonal, mut pairs) = (vec![DMat3::ZERO; 4], Vec::new());
        at(&x, &mut |q| {
            springs.add_diagonal(q, &elements, &mut diagonal);
            springs.add_pairs(q, &elements, &mut pairs);
        });
        // All is quadratic, so that differences are exact but for rounding.
        for i in 0..4 {
            for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
                let moved = |by: f64| {
                    let mut y = x.clone();
                    y[i] += axis * by;
                    y
                };
                let (ahead, behind) = (moved(0.1), moved(-0.1));
                let slope = (value(&ahead) - value(&behind)) / 0.2;
                assert!((slope + force(&x)[i].dot(axis)).abs() < 1e-12);
                let mut d = vec![DVec3::ZERO; 4];
                d[i] = axis;
                let mut product = vec![DVec3::ZERO; 4];
                at(&x, &mut |q| springs.add_product(q, &elements, Part::Stiffness, &d, &mut product));
                let (forward, back) = (force(&ahead), force(&behind));
                for j in 0..4 {
                    let derivative = (forward[j] - back[j]) / 0.2 * -hx;
                    assert!((product[j] - derivative).length() < 1e-12);
                    let blocks: DVec3 = pairs
                        .iter()
                        .map(|p| match (p.i as usize, p.j as usize) {
                            (a, b) if (a, b) == (j, i) => p.block * axis,
                            (a, b) if (a, b) == (i, j) => p.block.transpose() * axis,
                            _ => DVec3::ZERO,
                        })
                        .sum();
                    let own = if i == j { diagonal[i] * axis } else { DVec3::ZERO };
                    assert!((product[j] - blocks - own).length() < 1e-12);
                }
                assert!(d[i].dot(product[i]) >= 0.0, "positive semi-definite");
            }
        }
    }

    #[test]
    fn friction_takes_no_more_than_coulomb_and_never_turns_motion_round() {
        let [spring, _] = springs().springs[..] else { panic!() };
        for speed in [0.01, 0.1, 1.0, 10.0] {
            let along = spring.normal.any_orthonormal_vector();
            let mut x = vec![DVec3::ZERO; 4];
            let mut v = vec![DVec3::ZERO; 4];
            v[0] = along * speed;
            let masses = [1.0, 2.0, 0.0, 0.5];
            let impulse = 0.1 * spring.stiffness * spring.distance;
            rub(&[spring], 0.1, &masses, &mut x, &mut v);
            let slip: DVec3 = spring.particles.iter().map(|(i, w)| v[*i as usize] * *w).sum();
            let mobility: f64 = spring.particles.iter().map(|(i, w)| w * w * masses[*i as usize]).sum();
            let left = (speed - spring.friction * impulse * mobility).max(0.0);
            assert!((slip.dot(along) - left).abs() < 1e-12, "{speed}: {slip}");
            assert_eq!(v[2], DVec3::ZERO, "supports are not rubbed");
        }
    }
}
