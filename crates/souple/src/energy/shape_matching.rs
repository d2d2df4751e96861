//! Shape matching: a body is pulled to the place of its shape at rest that fits it best (Müller, Heidelberger, Teschner and Gross 2005).
//!
//! With q the particles at rest and x now, both from their centre of mass, the best rotation R is the polar part of Σ m x qᵀ, and the best linear map is
//! A = (Σ m x qᵀ) (Σ m q qᵀ)⁻¹. Goals are g = (β A + (1 − β) R) q, and every particle is pulled to its own by k = (2π f)² per mass. That is the exact gradient of
//!
//! E = k/2 Σ m (β |x − A q|² + (1 − β) |x − R q|²),
//!
//! as both maps are the best there are and so drop out of the derivative. So no net force or torque is left, and momentum is kept with
//! any solver. The paper moves particles by a share of the way per step, which is stiffer the shorter the step; here f is the frequency at which a shape that
//! was pulled swings back, in hertz, the same at any step. The paper keeps the volume of A; here nothing does.
//!
//! The matrix is k M less what moves with the goals, with the mean inertia of the goals where the exact one would make it indefinite. It joins every particle
//! with every other, and so is never written down: solvers that need its entries do not take it. Conjugate gradients need two or three iterations.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, Part};
use crate::math::polar;

/// What pulls a body back to its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct ShapeMatching {
    /// k, 1/s²: the square of the angular frequency at which it swings.
    pub stiffness: f64,
    /// β: the share of the best linear map in the goals; 0 to below 1.
    pub linear: f64,
    /// (Σ m q qᵀ)⁻¹, 1/(kg·m²).
    pub inverse_moments: DMat3,
    /// Particles at rest from their centre of mass, m.
    pub rest: Vec<DVec3>,
}

impl ShapeMatching {
    /// Of particles at rest and their masses, kg; none if all lie in a plane and a linear map is wanted, or on a line.
    pub fn new(stiffness: f64, linear: f64, rest: &[DVec3], masses: &[f64]) -> Option<ShapeMatching> {
        let middle = mean(rest, masses);
        let rest: Vec<DVec3> = rest.iter().map(|x| *x - middle).collect();
        let moments = moments(&rest, &rest, masses);
        // Thinner than a thousandth of its length it has no best linear map; on a line not even a best rotation.
        let size = moments.x_axis.x + moments.y_axis.y + moments.z_axis.z;
        let has_volume = moments.determinant() > 1e-12 * size * size * size;
        let spread = DMat3::from_diagonal(DVec3::splat(size)) - moments;
        let has_area = spread.determinant() > 1e-6 * size * size * size;
        let inverse_moments = if has_volume { moments.inverse() } else { DMat3::ZERO };
        let fits = has_volume || (has_area && linear == 0.0);
        fits.then_some(ShapeMatching { stiffness, linear, inverse_moments, rest })
    }
}

/// Centre of mass.
fn mean(x: &[DVec3], masses: &[f64]) -> DVec3 {
    let (sum, mass) =
        x.iter().zip(masses).fold((DVec3::ZERO, 0.0), |(sum, mass), (x, m)| (sum + *x * *m, mass + m));
    sum / mass
}

/// Σ m x qᵀ.
fn moments(x: &[DVec3], q: &[DVec3], masses: &[f64]) -> DMat3 {
    x.iter().zip(q).zip(masses).fold(DMat3::ZERO, |sum, ((x, q), m)| {
        let x = *x * *m;
        sum + DMat3::from_cols(x * q.x, x * q.y, x * q.z)
    })
}

/// tr(S) I − S: what resists turning of moments S.
fn inertia(s: DMat3) -> DMat3 {
    DMat3::from_diagonal(DVec3::splat(s.x_axis.x + s.y_axis.y + s.z_axis.z)) - s
}

/// Where the shape fits best.
struct Fit {
    middle: DVec3,
    rotation: DMat3,
    linear: DMat3,
    /// Σ m x (R q)ᵀ, symmetric.
    stretch: DMat3,
}

impl ShapeMatching {
    fn fit(&self, q: &Configuration) -> Fit {
        let masses = &q.topology.masses;
        let middle = mean(q.x, masses);
        let mut sum = DMat3::ZERO;
        for ((x, rest), m) in q.x.iter().zip(&self.rest).zip(masses) {
            let x = (*x - middle) * *m;
            sum += DMat3::from_cols(x * rest.x, x * rest.y, x * rest.z);
        }
        // Moments are small numbers; what counts is their ratio.
        let rotation = polar(sum * (1.0 / largest(sum)));
        Fit { middle, rotation, linear: sum * self.inverse_moments, stretch: sum * rotation.transpose() }
    }

    /// What a particle is away from its goal and from where the body would have it if it did not bend, m.
    fn apart(&self, fit: &Fit, x: DVec3, rest: DVec3) -> (DVec3, DVec3) {
        let x = x - fit.middle;
        (x - fit.linear * rest, x - fit.rotation * rest)
    }
}

fn largest(m: DMat3) -> f64 {
    m.to_cols_array().iter().fold(f64::MIN_POSITIVE, |most, c| most.max(c.abs()))
}

/// Whether a symmetric matrix has no eigenvalue below 0, to rounding.
fn is_positive(m: DMat3, scale: f64) -> bool {
    let m = m * (1.0 / scale) + DMat3::IDENTITY * 1e-12;
    let minor = m.x_axis.x * m.y_axis.y - m.x_axis.y * m.y_axis.x;
    m.x_axis.x >= 0.0 && minor >= 0.0 && m.determinant() >= 0.0
}

/// Numbers of a linearisation: what stiffness is multiplied with, the rotation, and the inverse of what resists turning.
const NUMBERS: usize = 19;

impl Energy for ShapeMatching {
    fn name(&self) -> &'static str {
        "shape matching"
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        let fit = self.fit(q);
        let all = q.x.iter().zip(&self.rest).zip(&q.topology.masses);
        let sum: f64 = all
            .map(|((x, rest), m)| {
                let (bent, moved) = self.apart(&fit, *x, *rest);
                m * (self.linear * bent.length_squared() + (1.0 - self.linear) * moved.length_squared())
            })
            .sum();
        0.5 * self.stiffness * sum
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        let fit = self.fit(q);
        for (((x, rest), m), f) in q.x.iter().zip(&self.rest).zip(&q.topology.masses).zip(f) {
            let (bent, moved) = self.apart(&fit, *x, *rest);
            *f -= bent.lerp(moved, 1.0 - self.linear) * (m * self.stiffness);
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, _hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        let fit = self.fit(q);
        let goals =
            fit.rotation * moments(&self.rest, &self.rest, &q.topology.masses) * fit.rotation.transpose();
        let (now, least) = (inertia(fit.stretch), inertia(goals));
        let turning = if is_positive(now - least, largest(least)) { now } else { least };
        elements.push(hx * self.stiffness);
        elements.extend(fit.rotation.to_cols_array());
        elements.extend(turning.inverse().to_cols_array());
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], _part: Part, d: &[DVec3], out: &mut [DVec3]) {
        let Some(numbers) = elements.get(..NUMBERS) else { return };
        let masses = &q.topology.masses;
        let rotation = DMat3::from_cols_slice(&numbers[1..10]);
        let middle = mean(d, masses);
        // How the goals move with d: they shift, turn, and with β become another linear map.
        let (mut spin, mut sum) = (DVec3::ZERO, DMat3::ZERO);
        for ((d, rest), m) in d.iter().zip(&self.rest).zip(masses) {
            let d = (*d - middle) * *m;
            spin += (rotation * *rest).cross(d);
            sum += DMat3::from_cols(d * rest.x, d * rest.y, d * rest.z);
        }
        let turn = DMat3::from_cols_slice(&numbers[10..]) * spin;
        let linear = sum * self.inverse_moments;
        for (((d, rest), m), out) in d.iter().zip(&self.rest).zip(masses).zip(out) {
            let own = *d - middle;
            let goal = (linear * *rest).lerp(turn.cross(rotation * *rest), 1.0 - self.linear);
            *out += (own - goal) * (m * numbers[0]);
        }
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        // What moves with the goals is a share of the order of one particle in all.
        let Some(scale) = elements.first() else { return };
        for (m, out) in q.topology.masses.iter().zip(diagonal) {
            *out += DMat3::from_diagonal(DVec3::splat(m * scale));
        }
    }
}
