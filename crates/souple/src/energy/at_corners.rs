//! What elements do at their corners, added up there: one way for one thread and for many, with the same bits.
//!
//! Elements are evaluated block by block, each into a list of its own. One thread adds each block to the particles as it is done; several evaluate
//! all of them first, and then each particle gathers what its elements do. Both add the same terms in the same order, elements ascending.

use glam::DVec3;

use super::Configuration;

/// Elements that are evaluated before they are added up: what they do stays in the nearest cache.
const BLOCK: usize = 64;

/// Elements of fewer corners than this are left to one thread: waking the others would cost more than they save.
const SHARED_FROM: usize = 4096;

/// Adds what `evaluate(first, block)` writes for the elements from `first` on.
#[inline(always)]
pub(super) fn add<const N: usize>(
    q: &Configuration,
    corners: impl Fn(usize) -> [u32; N] + Sync,
    count: usize,
    out: &mut [DVec3],
    evaluate: impl Fn(usize, &mut [[DVec3; N]]) + Sync,
) {
    let rows = &q.topology.particle_corners;
    // Elements that the topology does not know, as that of a rigid body, are few.
    let is_known = rows.len() == out.len() && rows.items() == N * count;
    if !(is_known && q.parallel.is_parallel() && N * count >= SHARED_FROM) {
        let mut terms = [[DVec3::ZERO; N]; BLOCK];
        for first in (0..count).step_by(BLOCK) {
            let terms = &mut terms[..BLOCK.min(count - first)];
            evaluate(first, terms);
            for (k, terms) in terms.iter().enumerate() {
                for (v, term) in corners(first + k).into_iter().zip(terms) {
                    out[v as usize] += *term;
                }
            }
        }
        return;
    }
    q.parallel.with_scratch(N * count, |terms| {
        q.parallel.heavy_blocks(terms.as_chunks_mut::<N>().0, |start, terms| {
            for (b, terms) in terms.chunks_mut(BLOCK).enumerate() {
                evaluate(start + b * BLOCK, terms);
            }
        });
        q.parallel.heavy_blocks(out, |start, block| {
            for (k, out) in block.iter_mut().enumerate() {
                *out = rows.row(start + k).iter().fold(*out, |sum, at| sum + terms[*at as usize]);
            }
        });
    });
}
