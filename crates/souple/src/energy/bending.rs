//! Bending of sheets and ropes: second derivatives of position, squared.
//!
//! Over a patch of vertices (`mesh/patch.rs`) the second derivatives of position, as vectors, are weighted sums of its
//! vertices. A sheet that does not stretch has them along its normal, where they are the curvatures; its energy is
//! ½ B A (|x_uu|² + |x_vv|² + 2 |x_uv|²), a plate of rigidity B, N·m, and Poisson's ratio 0. It is quadratic in positions, as
//! in Bergou, Wardetzky, Harmon, Zorin, Grinspun 2006, but from stars (`mesh/star.rs`) instead of single hinges, whose stiffness
//! depends on the mesh and on the direction by a factor of three.
//!
//! A rest shape that is not flat has second derivatives r there; then r, turned as the patch has turned since, is taken off
//! before squaring. A rope has no normal; there n is the direction in which it bends now, so
//! that its energy is ½ E I l (κ − κ₀)²: it keeps how much it bends, not which way.
//!
//! The matrix of a flat patch is constant: exact and never indefinite. Not promised: right forces under stretch of tens
//! of per cent, as the weights are those of the rest shape.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, PairBlock, Part};
use crate::mesh::Patch;
use crate::mesh::patch::SIZE;

/// Bending of all patches of a body.
#[derive(Clone, Copy, Debug)]
pub struct Bending;

/// The first three vertices of a patch, as a triangle: unit vectors along its first side, across it and off it, with the length of that side, the height of
/// the third corner above it, and how far along it that stands.
pub(super) struct Frame {
    pub(super) u: DVec3,
    pub(super) v: DVec3,
    pub(super) n: DVec3,
    length: f64,
    height: f64,
    along: f64,
}

impl Frame {
    /// None for a triangle without area.
    #[inline(always)]
    pub(super) fn new(x: &[DVec3], patch: &Patch) -> Option<Frame> {
        let [a, b, c] = [0, 1, 2].map(|k| x[patch.vertices[k] as usize]);
        let (e, f) = (b - a, c - a);
        let (length, normal) = (e.length(), e.cross(f));
        let area2 = normal.length();
        if !(length > 0.0 && area2 > 0.0) {
            return None;
        }
        let (u, n) = (e / length, normal / area2);
        Some(Frame { u, v: n.cross(u), n, length, height: area2 / length, along: f.dot(u) })
    }

    /// Second derivatives of the rest shape, turned as the triangle has turned, 1/m.
    #[inline(always)]
    fn turned_rest(&self, patch: &Patch) -> [DVec3; 3] {
        let turned = |q: usize| {
            let [along, across] = patch.rest_along[q];
            self.n * patch.rest[q] + self.u * along + self.v * across
        };
        [turned(0), turned(1), turned(2)]
    }

    /// Forces on the second and third corner that do the work of a torque on the triangle.
    #[inline(always)]
    fn forces_of(&self, torque: DVec3) -> (DVec3, DVec3) {
        let Frame { u, v, n, length, height, along } = *self;
        // A triangle turns about u by how much its tip rises above the side, about v and n by how its side turns.
        let tip = torque.dot(u) / height;
        let side = (torque.dot(v) + tip * along) / length;
        (v * (torque.dot(n) / length) - n * side, n * tip)
    }
}

/// Second derivatives of a patch beyond those at rest: Σ w x − r, 1/m.
#[inline(always)]
pub fn patch_curvatures(x: &[DVec3], patch: &Patch) -> [DVec3; 3] {
    let mut second = second_derivatives(x, patch);
    if patch.rest == [0.0; 3] {
        return second;
    }
    if patch.rope {
        second[0] -= second[0].normalize_or_zero() * patch.rest[0];
    } else if let Some(frame) = Frame::new(x, patch) {
        second.iter_mut().zip(frame.turned_rest(patch)).for_each(|(c, r)| *c -= r);
    }
    second
}

/// Second derivatives of a patch: Σ w x, 1/m.
#[inline(always)]
pub fn second_derivatives(x: &[DVec3], patch: &Patch) -> [DVec3; 3] {
    let mut second = [DVec3::ZERO; 3];
    for q in 0..3 {
        for (&v, &w) in patch.vertices.iter().zip(&patch.weights[q]) {
            second[q] += x[v as usize] * w;
        }
    }
    second
}

/// ½ B A Σ |c|², J.
pub fn patch_energy(x: &[DVec3], patch: &Patch) -> f64 {
    0.5 * patch.stiffness * patch_curvatures(x, patch).iter().map(|c| c.length_squared()).sum::<f64>()
}

/// Forces on the vertices of a patch, N.
#[inline(always)]
pub fn patch_forces(x: &[DVec3], patch: &Patch) -> [DVec3; SIZE] {
    let curvatures = patch_curvatures(x, patch);
    let mut forces = [DVec3::ZERO; SIZE];
    for (c, weights) in curvatures.iter().zip(&patch.weights) {
        for (force, w) in forces.iter_mut().zip(weights) {
            *force -= *c * (patch.stiffness * w);
        }
    }
    // How a rope turns its bend costs nothing: what is left of c then lies along n itself.
    if patch.rest != [0.0; 3]
        && !patch.rope
        && let Some(frame) = Frame::new(x, patch)
    {
        let torque: DVec3 = frame.turned_rest(patch).iter().zip(&curvatures).map(|(r, c)| r.cross(*c)).sum();
        let (on_b, on_c) = frame.forces_of(torque * patch.stiffness);
        forces[0] -= on_b + on_c;
        forces[1] += on_b;
        forces[2] += on_c;
    }
    forces
}

impl Energy for Bending {
    fn name(&self) -> &'static str {
        "bending"
    }

    fn inside_substeps(&self) -> bool {
        true
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        q.topology.patches.iter().map(|p| patch_energy(q.x, p)).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for patch in &q.topology.patches {
            for (&v, force) in patch.vertices.iter().zip(patch_forces(q.x, patch)) {
                f[v as usize] += force;
            }
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, _hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        elements.extend(q.topology.patches.iter().map(|p| hx * p.stiffness));
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], _part: Part, d: &[DVec3], out: &mut [DVec3]) {
        for (patch, &k) in q.topology.patches.iter().zip(elements) {
            for weights in &patch.weights {
                let mut c = DVec3::ZERO;
                for (&v, &w) in patch.vertices.iter().zip(weights) {
                    c += d[v as usize] * w;
                }
                for (&v, &w) in patch.vertices.iter().zip(weights) {
                    out[v as usize] += c * (k * w);
                }
            }
        }
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for (patch, &k) in q.topology.patches.iter().zip(elements) {
            for a in 0..SIZE {
                let square: f64 = patch.weights.iter().map(|w| w[a] * w[a]).sum();
                diagonal[patch.vertices[a] as usize] += DMat3::from_diagonal(DVec3::splat(k * square));
            }
        }
    }

    fn add_pairs(&self, q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        for (patch, &k) in q.topology.patches.iter().zip(elements) {
            for a in 0..SIZE {
                for b in a + 1..SIZE {
                    let (i, j) = (patch.vertices[a], patch.vertices[b]);
                    // Vertices that are named again have weight 0.
                    if i != j {
                        let product: f64 = patch.weights.iter().map(|w| w[a] * w[b]).sum();
                        let block = DMat3::from_diagonal(DVec3::splat(k * product));
                        pairs.push(PairBlock { i, j, block });
                    }
                }
            }
        }
    }
}
