//! Distances along a surface from its supports.
//!
//! Dijkstra's search over the vertices, with one refinement: across a triangle whose two nearer corners are known, the
//! source is unfolded into its plane (Novotni and Klein 2002). On a flat sheet this is exact wherever the straight line
//! runs through triangles of the search; elsewhere the result is a path along edges, never too short.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Topology, neighbours};

/// A support that a vertex hangs from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// The supported vertex.
    pub vertex: u32,
    /// Distance to it along the surface at rest, m.
    pub distance: f64,
}

/// For each vertex the nearest supports, at most `most`, nearest first: one from each run of supports that mesh edges
/// join. A vertex that no path leads to gets none.
pub fn nearest_supports(topology: &Topology, supports: &[u32], most: usize) -> Vec<Vec<Support>> {
    let n = topology.len();
    let pairs: Vec<(u32, u32)> = topology.edges.iter().map(|e| (e.i, e.j)).collect();
    let around = neighbours(n, &pairs);
    let runs = runs_of(n, supports, &pairs);
    let length =
        |a: u32, b: u32| topology.rest_positions[a as usize].distance(topology.rest_positions[b as usize]);
    // What is settled at each vertex: the run and the support.
    let mut settled: Vec<Vec<(u32, Support)>> = vec![Vec::new(); n];
    let found_at = |settled: &[Vec<(u32, Support)>], v: u32, run: u32| {
        settled[v as usize].iter().find(|(r, _)| *r == run).map(|(_, s)| *s)
    };
    // Distances are not negative, so their bits sort as they do.
    let mut front = BinaryHeap::new();
    for &s in supports {
        front.push(Reverse((0f64.to_bits(), s, runs[s as usize], s)));
    }
    while let Some(Reverse((bits, v, run, support))) = front.pop() {
        let here = &settled[v as usize];
        if here.len() >= most || here.iter().any(|(r, _)| *r == run) {
            continue;
        }
        let distance = f64::from_bits(bits);
        settled[v as usize].push((run, Support { vertex: support, distance }));
        let open = |settled: &[Vec<(u32, Support)>], w: u32| {
            settled[w as usize].len() < most && found_at(settled, w, run).is_none()
        };
        for &w in around.row(v as usize) {
            if open(&settled, w) {
                front.push(Reverse(((distance + length(v, w)).to_bits(), w, run, support)));
            }
        }
        for &t in topology.particle_triangles.row(v as usize) {
            let triangle = topology.triangles[t as usize];
            let Some(k) = triangle.iter().position(|&c| c == v) else { continue };
            let (b, c) = (triangle[(k + 1) % 3], triangle[(k + 2) % 3]);
            for (near, far) in [(b, c), (c, b)] {
                // Only distances from the same support belong to one source.
                let other = found_at(&settled, near, run).filter(|s| s.vertex == support);
                let Some(other) = other.filter(|_| open(&settled, far)) else { continue };
                let (to_near, to_far, between) = (length(v, near), length(v, far), length(near, far));
                let across = unfolded(distance, other.distance, to_near, to_far, between);
                if across.is_finite() {
                    front.push(Reverse((across.to_bits(), far, run, support)));
                }
            }
        }
    }
    settled.into_iter().map(|s| s.into_iter().map(|(_, support)| support).collect()).collect()
}

/// For each support the lowest-numbered one that mesh edges between supports lead to.
fn runs_of(n: usize, supports: &[u32], edges: &[(u32, u32)]) -> Vec<u32> {
    let mut run: Vec<u32> = vec![u32::MAX; n];
    supports.iter().for_each(|&s| run[s as usize] = s);
    fn root(run: &mut [u32], mut v: u32) -> u32 {
        while run[v as usize] != v {
            run[v as usize] = run[run[v as usize] as usize];
            v = run[v as usize];
        }
        v
    }
    for &(i, j) in edges {
        if run[i as usize] != u32::MAX && run[j as usize] != u32::MAX {
            let (a, b) = (root(&mut run, i), root(&mut run, j));
            run[a.max(b) as usize] = a.min(b);
        }
    }
    supports.iter().for_each(|&s| run[s as usize] = root(&mut run, s));
    run
}

/// Distance of corner c from a source known by its distances from a and b, in the plane of the triangle; infinite if the
/// straight way does not cross the edge ab.
fn unfolded(from_a: f64, from_b: f64, ab: f64, ac: f64, bc: f64) -> f64 {
    if ab <= 0.0 {
        return f64::INFINITY;
    }
    // a at the origin, b along x, c above, the source below.
    let along = |d_a: f64, d_b: f64| (d_a * d_a - d_b * d_b + ab * ab) / (2.0 * ab);
    let off = |d: f64, x: f64| (d * d - x * x).max(0.0).sqrt();
    let (source_x, c_x) = (along(from_a, from_b), along(ac, bc));
    let (source_y, c_y) = (off(from_a, source_x), off(ac, c_x));
    let height = source_y + c_y;
    if height <= 0.0 {
        return f64::INFINITY;
    }
    let crossing = source_x + (c_x - source_x) * source_y / height;
    if !(0.0..=ab).contains(&crossing) {
        return f64::INFINITY;
    }
    ((c_x - source_x) * (c_x - source_x) + height * height).sqrt()
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::math;
    use crate::mesh::generate;
    use crate::scene::{Diagonals, Grid};

    fn sheet(diagonals: Diagonals) -> Topology {
        let mesh =
            generate::grid(&Grid { vertices: [21, 17], size: [1.0, 0.8], diagonals, ..Grid::default() });
        let mut topology = Topology {
            masses: vec![1.0; mesh.positions.len()],
            rest_positions: mesh.positions,
            triangles: mesh.triangles,
            ..Topology::default()
        };
        topology.rebuild_derived();
        topology
    }

    #[test]
    fn distances_on_a_flat_sheet_are_straight() {
        for diagonals in [Diagonals::Alternating, Diagonals::Regular] {
            let topology = sheet(diagonals);
            let found = nearest_supports(&topology, &[0, 20], 2);
            for (v, supports) in found.iter().enumerate() {
                assert_eq!(supports.len(), 2);
                for s in supports {
                    let straight =
                        topology.rest_positions[v].distance(topology.rest_positions[s.vertex as usize]);
                    assert!((s.distance - straight).abs() < 1e-9, "{v}: {} {straight}", s.distance);
                }
            }
        }
    }

    #[test]
    fn distances_on_a_cylinder_are_those_of_the_unrolled_sheet() {
        let flat = sheet(Diagonals::Regular);
        let mut rolled = flat.clone();
        for p in &mut rolled.rest_positions {
            // Three quarters of a turn.
            let angle = p.x * 1.5 * std::f64::consts::PI;
            let radius = 1.0 / (1.5 * std::f64::consts::PI);
            *p = DVec3::new(radius * math::sin(angle), radius * (1.0 - math::cos(angle)), p.z);
        }
        rolled.rebuild_derived();
        let (flat, rolled) = (nearest_supports(&flat, &[0], 1), nearest_supports(&rolled, &[0], 1));
        for (f, r) in flat.iter().zip(&rolled) {
            // Chords of the 20 cells of the turn are 0.23 % shorter than arcs.
            assert!((r[0].distance - f[0].distance).abs() < 5e-3 * f[0].distance + 1e-12);
        }
    }

    #[test]
    fn a_run_of_supports_gives_one_and_pieces_without_support_none() {
        let mut topology = sheet(Diagonals::Alternating);
        let top: Vec<u32> = (0..21).collect();
        let found = nearest_supports(&topology, &top, 4);
        assert!(found.iter().enumerate().all(|(v, s)| s.len() == 1 && s[0].vertex as usize == v % 21));
        // Without the second row of cells the rest hangs from nothing.
        topology.triangles.retain(|t| !t.iter().any(|&v| v / 21 == 1));
        topology.rebuild_derived();
        let found = nearest_supports(&topology, &top, 4);
        assert!(found[21 * 2..].iter().all(Vec::is_empty));
    }
}
