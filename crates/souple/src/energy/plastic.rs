//! Solids that give way for good (FAU-04): every element remembers the shape it has flowed to.
//!
//! The deformation of an element is split as F = Fₑ Fₚ: what has flowed, and what is elastic on top of it (Irving, Teran and Fedkiw 2004; Bargteil et al.
//! 2007; the sum of strains of O'Brien, Bargteil and Hodgins 2002 and of Müller and Gross 2004 is its limit at small strain). Laws and matrices
//! are those of Fₑ: to flow is to get another shape at rest, so that forces stay exact gradients, without net torque.
//!
//! After each substep of h, with the singular values σ of Fₑ and e = dev(σ − 1): an element yields where von Mises' stress √6 μ |e|, which in a bar
//! that is pulled is Young's modulus times its strain, is above the yield stress. What is beyond then decays by exp(−creep h), at once if no
//! creep is given, which means the same at any step. It flows along dev(ln σ), so that no volume is lost. The strain that is kept for good is
//! √(2/3) |dev ln σ(Fₚ)|, which is ln(length) of a bar, and never beyond a maximum.
//!
//! Promised: det Fₚ = 1; energy is only taken away; rotations cost nothing. Not promised: hardening, softening or damage; that elements which are
//! inside out flow: they wait until they are back.

use glam::{DMat3, DVec3};

use crate::math::{Svd, cbrt, cofactors, exp, ln, svd};

/// When an element gives way for good.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Yielding {
    /// Von Mises' stress at which it yields, Pa; infinite if it never does.
    pub yield_stress: f64,
    /// How fast what is beyond decays, 1/s; infinite if at once.
    pub creep: f64,
    /// Most strain that is kept for good.
    pub max_strain: f64,
}

impl Yielding {
    /// Of what stays elastic.
    pub const NEVER: Yielding =
        Yielding { yield_stress: f64::INFINITY, creep: f64::INFINITY, max_strain: f64::INFINITY };
}

/// Elements that are flatter than this do not flow.
const FLATTEST: f64 = 1e-2;

fn deviator(v: DVec3) -> DVec3 {
    v - DVec3::splat((v.x + v.y + v.z) / 3.0)
}

fn each(v: DVec3, f: impl Fn(f64) -> f64) -> DVec3 {
    DVec3::new(f(v.x), f(v.y), f(v.z))
}

/// Fₑ = F Fₚ⁻¹.
pub fn elastic(deformation: DMat3, plastic: DMat3) -> DMat3 {
    // Of determinant 1: its inverse is its transposed cofactors.
    deformation * cofactors(plastic).transpose()
}

/// What an element that is deformed by F has flowed to after `h` seconds, from Fₚ; none if it does not yield. `mu` is its shear modulus, Pa.
pub fn flow(of: &Yielding, mu: f64, deformation: DMat3, plastic: DMat3, h: f64) -> Option<DMat3> {
    let Svd { sigma, v, .. } = svd(elastic(deformation, plastic));
    let (size, limit) = (deviator(sigma).length(), of.yield_stress / (6f64.sqrt() * mu));
    let yields = size > limit && sigma.z > FLATTEST && sigma.is_finite();
    if !yields {
        return None;
    }
    let kept = limit + (size - limit) * exp(-of.creep * h);
    let direction = deviator(each(sigma, ln));
    let amount = amount(sigma, direction, kept);
    let grown = DMat3::from_diagonal(each(direction * amount, exp));
    let next = v * grown * v.transpose() * plastic;
    let next = next * (1.0 / cbrt(next.determinant()));
    Some(within(next, of.max_strain)).filter(DMat3::is_finite)
}

/// The share of its flow that leaves so much of the strain |dev σ|, by Newton's method, which halves where it would leave what is known: less strain
/// is left the more of it flows, and none if all does.
fn amount(sigma: DVec3, direction: DVec3, kept: f64) -> f64 {
    let (mut amount, mut low, mut high) = (0.0, 0.0, 1.0);
    for _ in 0..60 {
        let left = sigma * each(direction * -amount, exp);
        let strain = deviator(left);
        let (size, slope) = (strain.length(), strain.dot(direction * left));
        if size > kept {
            low = amount;
        } else {
            high = amount;
        }
        let newton = amount + (size - kept) * size / slope;
        let next = if newton >= low && newton <= high { newton } else { 0.5 * (low + high) };
        let step = next - amount;
        amount = next;
        if step.abs() < 1e-15 {
            break;
        }
    }
    amount
}

/// Strain that is kept for good: √(2/3) |dev ln σ|.
pub fn plastic_strain(plastic: DMat3) -> f64 {
    (2.0f64 / 3.0).sqrt() * deviator(each(svd(plastic).sigma, ln)).length()
}

/// The same with no more strain than that.
fn within(plastic: DMat3, max_strain: f64) -> DMat3 {
    let Svd { u, sigma, v } = svd(plastic);
    let logs = deviator(each(sigma, ln));
    let strain = (2.0f64 / 3.0).sqrt() * logs.length();
    if strain <= max_strain {
        return plastic;
    }
    u * DMat3::from_diagonal(each(logs * (max_strain / strain), exp)) * v.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{inner, rotation, uniform};

    const MU: f64 = 4e4;
    const SOFT: Yielding = Yielding { yield_stress: 2e3, creep: f64::INFINITY, max_strain: 10.0 };

    fn random(seed: u64, size: f64) -> DMat3 {
        let m: [f64; 9] = std::array::from_fn(|k| size * (uniform(seed, k as u64) - 0.5));
        DMat3::IDENTITY + DMat3::from_cols_array(&m)
    }

    fn mises(f: DMat3, plastic: DMat3) -> f64 {
        6f64.sqrt() * MU * deviator(svd(elastic(f, plastic)).sigma).length()
    }

    #[test]
    fn what_yields_comes_back_to_the_yield_stress_without_a_change_of_volume() {
        for seed in 0..50 {
            let (f, before) =
                (random(seed, 0.6), flow(&SOFT, MU, random(seed + 99, 0.5), DMat3::IDENTITY, 1.0));
            let before = before.unwrap_or(DMat3::IDENTITY);
            let Some(after) = flow(&SOFT, MU, f, before, 0.1) else { continue };
            assert!((mises(f, after) / 2e3 - 1.0).abs() < 1e-9, "{}", mises(f, after));
            assert!((after.determinant() - 1.0).abs() < 1e-14);
            // It has come to rest.
            let again = flow(&SOFT, MU, f, after, 0.1).unwrap_or(after);
            let change = again - after;
            assert!(inner(change, change) < 1e-20);
        }
    }

    #[test]
    fn creep_means_the_same_at_any_step() {
        let of = Yielding { creep: 7.0, ..SOFT };
        let f = random(3, 0.4);
        let after = |steps: u32| {
            let h = 0.2 / f64::from(steps);
            (0..steps).fold(DMat3::IDENTITY, |p, _| flow(&of, MU, f, p, h).unwrap_or(p))
        };
        let excess = |plastic: DMat3| mises(f, plastic) - of.yield_stress;
        let exact = excess(DMat3::IDENTITY) * exp(-7.0 * 0.2);
        for steps in [1, 3, 50] {
            assert!((excess(after(steps)) / exact - 1.0).abs() < 1e-9, "{steps}");
        }
    }

    #[test]
    fn the_world_may_be_turned_and_strain_has_a_maximum() {
        let turn = DMat3::from_quat(rotation(DVec3::new(50.0, -80.0, 30.0)));
        let of = Yielding { max_strain: 0.1, ..SOFT };
        for seed in 0..20 {
            let f = random(seed, 0.9);
            let (one, other) =
                (flow(&of, MU, f, DMat3::IDENTITY, 0.1), flow(&of, MU, turn * f, DMat3::IDENTITY, 0.1));
            let (Some(one), Some(other)) = (one, other) else { continue };
            assert!(inner(one - other, one - other) < 1e-24);
            assert!(plastic_strain(one) < 0.1 + 1e-12);
        }
    }

    #[test]
    fn elastic_flat_turned_round_and_broken_ones_do_not_flow() {
        let none = [
            (SOFT, DMat3::IDENTITY * 1.3),
            (SOFT, DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0))),
            (SOFT, DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0))),
            (SOFT, DMat3::IDENTITY * f64::NAN),
            (Yielding::NEVER, random(1, 0.9)),
        ];
        for (of, f) in none {
            assert_eq!(flow(&of, MU, f, DMat3::IDENTITY, 0.1), None, "{f}");
        }
    }
}
