//! Sheets that keep a bend for good (ROH-99): paper, foil, sheet metal.
//!
//! The energy is that of [`super::bending`], against second derivatives r at rest that flow: every patch remembers those that it has kept, as
//! vectors in the frame of its first three vertices, which turns with it. After each substep of h, with c what is elastic of its second derivatives and
//! κ = |M⁻¹ c|, which for a cylinder is its curvature: where κ is above the curvature κ_y at which the sheet yields, what is beyond decays by
//! exp(−creep h), at once if no creep is given, and r takes it over. The moment across a bend is then B κ_y: an elastic, perfectly
//! plastic plate with the yield surface of its bending energy. M is what a patch makes of the curvatures of a quadratic surface: near the identity inside a sheet, but not at
//! its border, where weights make up for what is missing around. A strip that was bent to a curvature κ springs back to κ − κ_y.
//!
//! Promised: at fixed r forces are exact gradients without net torque; to flow takes energy away; the state is one matrix per patch. Not promised: the angle
//! of a single crease independent of the mesh: a crease is as wide as a patch.

use glam::{DMat3, DVec3};

use super::bending::{Frame, patch_curvatures, patch_energy, patch_forces};
use super::{Bending, Configuration, Energy, PairBlock, Part};
use crate::math::{Svd, exp, svd};
use crate::mesh::{Patch, Topology};

/// Bending of all patches of a sheet that keeps what is bent too far.
#[derive(Clone, Debug, PartialEq)]
pub struct Creasing {
    /// Curvature up to which it springs back, 1/m.
    pub elastic: f64,
    /// How fast what is beyond is kept, 1/s; infinite if at once.
    pub creep: f64,
    /// M⁻¹ of every patch.
    gauges: Vec<DMat3>,
}

/// Curvatures that a patch makes less than this share of are none that it could tell.
const LEAST_GAIN: f64 = 0.2;

impl Creasing {
    /// Of the patches of a sheet that springs back up to a curvature, 1/m, and keeps what is beyond at a rate, 1/s.
    pub fn new(elastic: f64, creep: f64, topology: &Topology) -> Creasing {
        let rest = &topology.rest_positions;
        Creasing { elastic, creep, gauges: topology.patches.iter().map(|patch| gauge(rest, patch)).collect() }
    }
}

/// From the second derivatives that a patch measures to those of the quadratic surface that has them; the smallest of several.
fn gauge(rest: &[DVec3], patch: &Patch) -> DMat3 {
    let Some(Frame { u, v, .. }) = Frame::new(rest, patch) else { return DMat3::ZERO };
    let from = rest[patch.vertices[0] as usize];
    let measured = |height: &dyn Fn(f64, f64) -> f64| {
        let at = |k: u32| {
            let p = rest[k as usize] - from;
            height(p.dot(u), p.dot(v))
        };
        DVec3::from_array(patch.weights.map(|w| patch.vertices.iter().zip(w).map(|(&k, w)| w * at(k)).sum()))
    };
    let all = [
        measured(&|x, _| 0.5 * x * x),
        measured(&|_, y| 0.5 * y * y),
        measured(&|x, y| x * y / std::f64::consts::SQRT_2),
    ];
    let Svd { u, sigma, v } = svd(DMat3::from_cols(all[0], all[1], all[2]));
    let back = sigma.to_array().map(|s| if s.abs() > LEAST_GAIN { 1.0 / s } else { 0.0 });
    v * DMat3::from_diagonal(DVec3::from_array(back)) * u.transpose()
}

/// A patch whose shape at rest has what it kept in it. Columns of `kept` are the three second derivatives, along the first side of the first three vertices, across
/// it and off them, 1/m.
pub fn creased(patch: &Patch, kept: &DMat3) -> Patch {
    let mut patch = *patch;
    for (q, r) in [kept.x_axis, kept.y_axis, kept.z_axis].into_iter().enumerate() {
        patch.rest_along[q][0] += r.x;
        patch.rest_along[q][1] += r.y;
        patch.rest[q] += r.z;
    }
    patch
}

/// What is kept after `h` seconds; none if it is as it was.
fn flow(of: &Creasing, x: &[DVec3], patch: &Patch, gauge: &DMat3, kept: &DMat3, h: f64) -> Option<DMat3> {
    let elastic = patch_curvatures(x, &creased(patch, kept));
    // By coordinates: each is a triple that the gauge turns into curvatures.
    let curvatures = [0, 1, 2].map(|k| *gauge * DVec3::from_array(elastic.map(|c| c[k])));
    let curvature = curvatures.iter().map(|c| c.length_squared()).sum::<f64>().sqrt();
    let yields = curvature > of.elastic && curvature.is_finite();
    let Frame { u, v, n, .. } = Frame::new(x, patch).filter(|_| yields)?;
    let share = (1.0 - of.elastic / curvature) * (1.0 - exp(-of.creep * h));
    let [a, b, c] = elastic.map(|c| DVec3::new(c.dot(u), c.dot(v), c.dot(n)) * share);
    Some(*kept + DMat3::from_cols(a, b, c)).filter(DMat3::is_finite)
}

/// Patches as they are at rest now.
fn patches<'a>(q: &Configuration<'a>) -> impl Iterator<Item = Patch> + use<'a> {
    let kept = q.plastic.iter().chain(std::iter::repeat(&DMat3::ZERO));
    q.topology.patches.iter().zip(kept).map(|(patch, kept)| creased(patch, kept))
}

impl Energy for Creasing {
    fn name(&self) -> &'static str {
        "bending"
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn plastic_elements(&self) -> usize {
        self.gauges.len()
    }

    fn unflowed(&self) -> DMat3 {
        DMat3::ZERO
    }

    fn may_flow_to(&self, kept: &DMat3) -> bool {
        kept.is_finite()
    }

    fn flow(&self, topology: &Topology, x: &[DVec3], h: f64, plastic: &mut [DMat3]) {
        for ((patch, gauge), kept) in topology.patches.iter().zip(&self.gauges).zip(plastic) {
            if let Some(next) = flow(self, x, patch, gauge, kept, h) {
                *kept = next;
            }
        }
    }

    fn value(&self, q: &Configuration) -> f64 {
        patches(q).map(|patch| patch_energy(q.x, &patch)).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for patch in patches(q) {
            for (&v, force) in patch.vertices.iter().zip(patch_forces(q.x, &patch)) {
                f[v as usize] += force;
            }
        }
    }

    // How the frame turns what was kept is in the force and left out of the matrix, as for any sheet that is curved at rest.

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        Bending.linearise(q, hx, hv, elements);
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        Bending.add_product(q, elements, part, d, out);
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        Bending.add_diagonal(q, elements, diagonal);
    }

    fn add_pairs(&self, q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        Bending.add_pairs(q, elements, pairs);
    }
}
