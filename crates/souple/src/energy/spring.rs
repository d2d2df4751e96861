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

/// Numbers per spring in a linearisation: direction, transverse part, and how much more the axial part is. After those
/// of all springs follows the axial damping of each, which few products need to tell apart.
const STRIDE: usize = 5;

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

/// The product of one spring's tangent with a difference of displacements: b d + (a − b) w (w·d).
#[inline(always)]
fn product(e: &[f64; STRIDE], less_damping: f64, d: DVec3) -> DVec3 {
    let w = DVec3::new(e[0], e[1], e[2]);
    d * e[3] + w * ((e[4] - less_damping) * w.dot(d))
}

/// Adds `per_spring(s, i, j)` to end i of each spring and subtracts it from end j.
///
/// With one thread, a scatter over springs; with more, all terms are computed first and each particle gathers those of
/// its springs. Both add the same terms in the same order (springs ascending), so the bits agree.
#[inline(always)]
fn accumulate(
    q: &Configuration,
    out: &mut [DVec3],
    per_spring: impl Fn(usize, usize, usize) -> DVec3 + Sync,
) {
    let ends = &q.topology.spring_ends[..];
    if !q.parallel.shares(ends.len()) {
        for (s, &[i, j]) in ends.iter().enumerate() {
            let (i, j) = (i as usize, j as usize);
            let term = per_spring(s, i, j);
            out[i] += term;
            out[j] -= term;
        }
        return;
    }
    q.parallel.with_scratch(ends.len(), |terms| {
        q.parallel.blocks(terms, |start, block| {
            for (k, term) in block.iter_mut().enumerate() {
                let [i, j] = ends[start + k];
                *term = per_spring(start + k, i as usize, j as usize);
            }
        });
        q.parallel.blocks(out, |start, block| {
            for (k, out) in block.iter_mut().enumerate() {
                let particle = start + k;
                let mut sum = *out;
                for &s in q.topology.particle_springs.row(particle) {
                    let term = terms[s as usize];
                    if ends[s as usize][0] as usize == particle {
                        sum += term;
                    } else {
                        sum -= term;
                    }
                }
                *out = sum;
            }
        });
    });
}

impl Energy for Springs {
    fn name(&self) -> &'static str {
        "springs"
    }

    fn inside_substeps(&self) -> bool {
        true
    }

    fn joins_particles(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        q.topology.springs.iter().map(|s| spring_energy(q.x[s.i as usize], q.x[s.j as usize], s)).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        let springs = &q.topology.springs;
        accumulate(q, f, |s, i, j| spring_force(q.x[i], q.x[j], q.v[i], q.v[j], &springs[s]));
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        let springs = &q.topology.springs;
        elements.resize(springs.len() * (STRIDE + 1), 0.0);
        let (blocks, dampings) = elements.split_at_mut(springs.len() * STRIDE);
        for ((s, e), c) in springs.iter().zip(blocks.chunks_exact_mut(STRIDE)).zip(dampings) {
            let (w, axial, damping, transverse) = spring_tangent(q.x[s.i as usize], q.x[s.j as usize], s);
            *c = hv * damping;
            e.copy_from_slice(&[w.x, w.y, w.z, hx * transverse, hx * (axial - transverse) + *c]);
        }
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        let (blocks, dampings) = elements.split_at(q.topology.springs.len() * STRIDE);
        let (blocks, _) = blocks.as_chunks::<STRIDE>();
        match part {
            Part::StiffnessAndDamping => accumulate(q, out, |s, i, j| product(&blocks[s], 0.0, d[i] - d[j])),
            Part::Stiffness => accumulate(q, out, |s, i, j| product(&blocks[s], dampings[s], d[i] - d[j])),
        }
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for (&[i, j], e) in q.topology.spring_ends.iter().zip(elements.as_chunks::<STRIDE>().0) {
            let block = block(e);
            diagonal[i as usize] += block;
            diagonal[j as usize] += block;
        }
    }

    fn add_pairs(&self, q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        for (&[i, j], e) in q.topology.spring_ends.iter().zip(elements.as_chunks::<STRIDE>().0) {
            pairs.push(PairBlock { i, j, block: -block(e) });
        }
    }
}

fn block(e: &[f64; STRIDE]) -> DMat3 {
    let w = DVec3::new(e[0], e[1], e[2]);
    DMat3::from_diagonal(DVec3::splat(e[3])) + outer(w) * e[4]
}
