//! Dials: stiffness without units, from 0 (no effect) to 1 (practically stiff), for those who do not want to know moduli
//! (SIM-11).
//!
//! In the seed a stiffness of k closes the share k of a constraint's error in one step, so the cloth changes with the step,
//! the mesh and the order of visits (SIM-23 names the problem, without a formula; 1 − (1 − k)^(dt/dt₀) cures the step alone).
//! Here a dial says what is seen at rest: how far the body gives way under its own weight. With the mass per area ρ, the
//! length L of the body (√ of its area; of one rope) and standard gravity g:
//!
//! - `stretch`, `shear`, `area`: the modulus is ρ g L / ε with ε = 10^(−4 d). Hung by one side, a square stretches by ε at the
//!   top: by all of its length at 0, 1 % at a half, 0.01 % at 1.
//! - `bend`: the rigidity is ρ g c³ with Peirce's bending length c = L · 10^(2 (d − 1)): 1 % of the body at 0, a tenth at a half,
//!   all of it at 1, where a strip as long as the body, held level at one end, droops by an eighth of its length (Γ = 1).
//!
//! They turn into moduli in SI units once, when the scene is built, so they mean the same with every solver, step and mesh
//! that the moduli do. A body twice as large needs a stiffer cloth for the same dial: that is the point of a dial.

use super::{Checked, finite, wrong};
use crate::math::pow;
use crate::scene::{Body, Dials};

/// Standard gravity, m/s²: a dial is a material and does not change with the gravity of a scene.
const G: f64 = 9.80665;

/// What dials stand for, in SI units; `None` where there is no dial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Dialled {
    /// Moduli of the families stretch and shear, N/m (rope: N).
    pub families: [Option<f64>; 3],
    /// Bending rigidity, N·m (rope: N·m²).
    pub bending: Option<f64>,
    /// Area stiffness, N/m.
    pub area_stiffness: Option<f64>,
}

/// Strain under the own weight at which a dial stands.
fn strain(dial: f64) -> f64 {
    pow(10.0, -4.0 * dial)
}

/// Bending length over the length of the body.
fn bending_length(dial: f64) -> f64 {
    pow(10.0, 2.0 * (dial - 1.0))
}

/// The modulus of a dial, N/m (rope: N), of a body of that mass per area (length) and length.
pub(super) fn modulus(dial: f64, density: f64, length: f64) -> f64 {
    if dial > 0.0 { density * G * length / strain(dial) } else { 0.0 }
}

/// Turns the dials of a body into moduli. `density` is its mass per area, kg/m² (rope: per length, kg/m), `length` its length, m.
pub(super) fn dialled(at: &str, body: &Body, density: f64, length: f64) -> Checked<Dialled> {
    let Some(Dials { stretch, shear, bend, area }) = body.dials else { return Ok(Dialled::default()) };
    let springs = &body.springs;
    let given = |f: &crate::scene::Family| f.stiffness.is_some() || f.modulus.is_some();
    let both = [
        ("stretch", stretch, given(&springs.stretch) || body.young_modulus.is_some()),
        ("shear", shear, given(&springs.shear)),
        ("bend", bend, given(&springs.bend) || body.bending.is_some()),
        ("area", area, body.area_stiffness.is_some()),
    ];
    for (name, dial, in_units) in both {
        let field = format!("{at}.dials.{name}");
        let Some(dial) = dial else { continue };
        if !(0.0..=1.0).contains(&finite(&field, dial)?) {
            return wrong(&field, format!("a dial goes from 0 to 1, not to {dial}"), "0 is limp, 1 is stiff");
        }
        if in_units {
            return wrong(
                &field,
                "the same stiffness is given in units too",
                "keep the dial, or the numbers in units (`springs`, `young_modulus`, `bending`, `area_stiffness`)",
            );
        }
    }
    let modulus = |dial: f64| modulus(dial, density, length);
    let rigidity = |dial: f64| {
        let c = length * bending_length(dial);
        if dial > 0.0 { density * G * c * c * c } else { 0.0 }
    };
    Ok(Dialled {
        // The rigidity is all the bending there is: bend springs of a fabric are left out.
        families: [stretch.map(modulus), shear.map(modulus), bend.map(|_| 0.0)],
        bending: bend.map(rigidity),
        area_stiffness: area.map(modulus),
    })
}
