//! Edges flipped to where they follow the sheet: rulings and creases (beyond the seed).
//!
//! Delaunay triangles know the pattern alone. Where a sheet is bent, the edge of two triangles should lie along the bend: of the
//! two diagonals of their quadrilateral the one with the lower E is kept. Each flip lowers E, so they end.

use glam::{DVec2, DVec3};

use super::measure::Element;
use super::mesh::turns_left;

/// A flip must lower the E of its two triangles by this share, so that flat parts stay Delaunay and the order of sums decides nothing.
const WORTHWHILE: f64 = 0.02;
/// E over area that is taken for rounding.
const NOTHING: f64 = 1e-10;
/// Times that all edges are looked at, at most.
const PASSES: usize = 10;
/// Least area of a triangle over the square of its longest side: flips make none below it unless there was a worse one.
const LEAST_SHAPE: f64 = 0.01;

/// Area over the square of the longest side.
pub(super) fn shape(p: DVec2, q: DVec2, r: DVec2) -> f64 {
    let longest = p.distance_squared(q).max(q.distance_squared(r)).max(r.distance_squared(p));
    0.5 * (q - p).perp_dot(r - p) / longest
}

/// Goes over all edges until no flip helps. How many were flipped.
pub(super) fn flip_edges(points: &[DVec2], places: &[DVec3], triangles: &mut [[u32; 3]]) -> usize {
    let mut flipped = 0;
    let mut energies: Vec<f64> = triangles.iter().map(|t| energy(points, places, *t)).collect();
    let mut edges: Vec<(u32, u32, u32)> = Vec::new();
    let mut touched = vec![false; triangles.len()];
    for _ in 0..PASSES {
        edges.clear();
        for (t, corners) in (0u32..).zip(triangles.iter()) {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                edges.push((a.min(b), a.max(b), t));
            }
        }
        edges.sort_unstable();
        touched.fill(false);
        let before = flipped;
        for pair in edges.windows(2) {
            let ((a, b, t), (c, d, s)) = (pair[0], pair[1]);
            let (ti, si) = (t as usize, s as usize);
            // A triangle that was flipped in this pass no longer has the edges listed.
            if (a, b) != (c, d) || touched[ti] || touched[si] {
                continue;
            }
            let now = energies[ti] + energies[si];
            let Some(k) = (0..3).find(|&k| triangles[ti][k] != a && triangles[ti][k] != b) else { continue };
            let Some(&q) = triangles[si].iter().find(|&&v| v != a && v != b) else { continue };
            let [p, a, b] = [0, 1, 2].map(|o| triangles[ti][(k + o) % 3]);
            let [pp, pa, pb, pq] = [p, a, b, q].map(|v| points[v as usize]);
            if !turns_left(pp, pa, pq)
                || !turns_left(pq, pb, pp)
                || !turns_left(pa, pq, pb)
                || !turns_left(pb, pp, pa)
            {
                continue;
            }
            let worst = shape(pp, pa, pq).min(shape(pq, pb, pp));
            if worst < LEAST_SHAPE && worst < shape(pp, pa, pb).min(shape(pq, pb, pa)) {
                continue;
            }
            let (one, other) = ([p, a, q], [q, b, p]);
            let (e, f) = (energy(points, places, one), energy(points, places, other));
            let area = 0.5 * ((pa - pp).perp_dot(pb - pp) + (pb - pq).perp_dot(pa - pq));
            if e + f + NOTHING * area < (1.0 - WORTHWHILE) * now {
                (triangles[ti], triangles[si]) = (one, other);
                (energies[ti], energies[si]) = (e, f);
                (touched[ti], touched[si]) = (true, true);
                flipped += 1;
            }
        }
        if flipped == before {
            break;
        }
    }
    flipped
}

fn energy(points: &[DVec2], places: &[DVec3], t: [u32; 3]) -> f64 {
    Element::new(points, t).map_or(f64::INFINITY, |e| e.energy(places))
}
