//! Linear springs with axial damping (ESSI-23, ESSI-24, GRI-04, GRI-05).
//!
//! GRI prints both forces with the sign of the other end, and ESSI damps the whole relative velocity times the step;
//! here the damping is along the spring and does not depend on the step.
//!
//! The stiffness block is k [(1 − l0/L)(I − w wᵀ) + w wᵀ]. In a compressed spring the first part is negative; it is left
//! out (clamped at 0) so that the matrix stays positive definite, as the seed advises.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, PairBlock, Part, outer};
use crate::mesh::Spring;

/// Springs closer than this have no direction, m.
const SHORTEST: f64 = 1e-12;

/// Numbers per spring in a linearisation: direction, axial stiffness and damping, transverse stiffness.
const STRIDE: usize = 6;

/// ½ k (L − l0)², J.
pub fn spring_energy(xi: DVec3, xj: DVec3, spring: &Spring) -> f64 {
    let stretch = xi.distance(xj) - spring.rest_length;
    0.5 * spring.stiffness * stretch * stretch
}

/// Force on end i, N: k (L − l0) u + c ((vj − vi)·u) u with u from i to j. End j feels the opposite.
#[inline(always)]
pub fn spring_force(xi: DVec3, xj: DVec3, vi: DVec3, vj: DVec3, spring: &Spring) -> DVec3 {
    let d = xj - xi;
    let length = d.length();
    if length < SHORTEST {
        return DVec3::ZERO;
    }
    let u = d / length;
    u * (spring.stiffness * (length - spring.rest_length) + spring.damping * (vj - vi).dot(u))
}

/// Direction, axial stiffness, axial damping and transverse stiffness (N/m, N·s/m, N/m) of a spring: its tangent is
/// transverse (I − w wᵀ) + axial w wᵀ.
#[inline(always)]
pub fn spring_tangent(xi: DVec3, xj: DVec3, spring: &Spring) -> (DVec3, f64, f64, f64) {
    let d = xj - xi;
    let length = d.length();
    if length < SHORTEST {
        return (DVec3::ZERO, 0.0, 0.0, 0.0);
    }
    let slack = (1.0 - spring.rest_length / length).max(0.0);
    (d / length, spring.stiffness, spring.damping, spring.stiffness * slack)
}

/// All springs of a body.
#[derive(Clone, Copy, Debug)]
pub struct Springs;

/// The product of one spring's tangent with a difference of displacements.
#[inline(always)]
fn product(e: &[f64], with_damping: bool, d: DVec3) -> DVec3 {
    let w = DVec3::new(e[0], e[1], e[2]);
    let axial = if with_damping { e[3] + e[4] } else { e[3] };
    let transverse = e[5];
    d * transverse + w * ((axial - transverse) * w.dot(d))
}

/// Adds `per_spring(s, i, j)` to end i of each spring and subtracts it from end j.
///
/// With one thread, a scatter over springs; with more, each particle gathers from its springs. Both add the same terms
/// in the same order (springs ascending), so the bits agree.
#[inline(always)]
fn accumulate(q: &Configuration, out: &mut [DVec3], per_spring: impl Fn(usize, &Spring) -> DVec3 + Sync) {
    let springs = &q.topology.springs[..];
    if !q.parallel.is_parallel() {
        for (s, spring) in springs.iter().enumerate() {
            let term = per_spring(s, spring);
            out[spring.i as usize] += term;
            out[spring.j as usize] -= term;
        }
        return;
    }
    q.parallel.blocks(out, |start, block| {
        for (k, out) in block.iter_mut().enumerate() {
            let particle = start + k;
            let mut sum = *out;
            for &s in q.topology.particle_springs.row(particle) {
                let spring = &springs[s as usize];
                let term = per_spring(s as usize, spring);
                if spring.i as usize == particle {
                    sum += term;
                } else {
                    sum -= term;
                }
            }
            *out = sum;
        }
    });
}

impl Energy for Springs {
    fn name(&self) -> &'static str {
        "springs"
    }

    fn value(&self, q: &Configuration) -> f64 {
        q.topology.springs.iter().map(|s| spring_energy(q.x[s.i as usize], q.x[s.j as usize], s)).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        accumulate(q, f, |_, s| {
            let (i, j) = (s.i as usize, s.j as usize);
            spring_force(q.x[i], q.x[j], q.v[i], q.v[j], s)
        });
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.resize(q.topology.springs.len() * STRIDE, 0.0);
        for (s, e) in q.topology.springs.iter().zip(elements.chunks_exact_mut(STRIDE)) {
            let (w, axial, damping, transverse) = spring_tangent(q.x[s.i as usize], q.x[s.j as usize], s);
            e.copy_from_slice(&[w.x, w.y, w.z, hx * axial, hv * damping, hx * transverse]);
        }
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        let with_damping = part == Part::StiffnessAndDamping;
        accumulate(q, out, |s, spring| {
            product(&elements[s * STRIDE..(s + 1) * STRIDE], with_damping, d[spring.i as usize] - d[spring.j as usize])
        });
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for (s, e) in q.topology.springs.iter().zip(elements.chunks_exact(STRIDE)) {
            let block = block(e);
            diagonal[s.i as usize] += block;
            diagonal[s.j as usize] += block;
        }
    }

    fn add_pairs(&self, q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        for (s, e) in q.topology.springs.iter().zip(elements.chunks_exact(STRIDE)) {
            pairs.push(PairBlock { i: s.i, j: s.j, block: -block(e) });
        }
    }
}

fn block(e: &[f64]) -> DMat3 {
    let w = DVec3::new(e[0], e[1], e[2]);
    DMat3::from_diagonal(DVec3::splat(e[5])) + outer(w) * (e[3] + e[4] - e[5])
}
