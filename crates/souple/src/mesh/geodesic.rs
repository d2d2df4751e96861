//! Distances along a surface from its supports.
//!
//! Dijkstra's search over the vertices, with one refinement: across a triangle whose two nearer corners are known, the
//! source is unfolded into its plane (Novotni and Klein 2002). On a flat sheet this is exact wherever the straight line
//! runs through triangles of the search; elsewhere the result is a path along edges, never too short.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Rows, Topology};

/// A support that a vertex hangs from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Support {
    /// The supported vertex.
    pub vertex: u32,
    /// Distance to it along the surface at rest, m.
    pub distance: f64,
}

/// The nearest supports of each vertex, nearest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NearestSupports {
    most: usize,
    counts: Vec<u8>,
    supports: Vec<Support>,
}

impl NearestSupports {
    /// Those of one vertex.
    pub fn of(&self, v: u32) -> &[Support] {
        let begin = v as usize * self.most;
        &self.supports[begin..begin + usize::from(self.counts[v as usize])]
    }

    /// Whether no vertex has any.
    pub fn is_empty(&self) -> bool {
        self.counts.iter().all(|&c| c == 0)
    }
}

/// The shortest ways found so far: at most `most` per vertex, to as many runs of supports.
struct Ways {
    most: usize,
    /// The run that a way leads to; `u32::MAX` where there is no way yet.
    runs: Vec<u32>,
    supports: Vec<Support>,
    /// Whether no shorter way can be found any more.
    settled: Vec<bool>,
}

impl Ways {
    fn new(count: usize, most: usize) -> Ways {
        let ways = count * most;
        Ways {
            most,
            runs: vec![u32::MAX; ways],
            supports: vec![Support { vertex: 0, distance: f64::INFINITY }; ways],
            settled: vec![false; ways],
        }
    }

    fn slots(&self, v: u32) -> std::ops::Range<usize> {
        let begin = v as usize * self.most;
        begin..begin + self.most
    }

    fn settled(&self, v: u32, run: u32) -> Option<Support> {
        let slot = self.slots(v).find(|&k| self.runs[k] == run)?;
        self.settled[slot].then(|| self.supports[slot])
    }

    /// Where a way to that run would be noted: in place of another to the same run, or of the longest of as many as there may
    /// be. None if that is settled.
    fn slot(&self, v: u32, run: u32) -> Option<usize> {
        let slots = self.slots(v);
        let free = slots.clone().find(|&k| self.runs[k] == run || self.runs[k] == u32::MAX);
        let longest = || {
            let distance = |k: usize| self.supports[k].distance;
            slots.max_by(|&a, &b| distance(a).total_cmp(&distance(b)))
        };
        free.or_else(longest).filter(|&k| !self.settled[k])
    }

    /// Settles a way unless a shorter one was found since it was noted.
    fn settle(&mut self, v: u32, run: u32, distance: f64) -> Option<Support> {
        let slot = self.slots(v).find(|&k| self.runs[k] == run)?;
        let now = !self.settled[slot] && self.supports[slot].distance == distance;
        self.settled[slot] |= now;
        now.then(|| self.supports[slot])
    }
}

/// For each vertex the nearest supports, at most `most`, nearest first: one from each run of supports that mesh edges
/// join. A vertex that no path leads to gets none. `around` are the neighbours of each vertex along the edges.
pub fn nearest_supports(
    topology: &Topology,
    around: &Rows,
    supports: &[u32],
    most: usize,
) -> NearestSupports {
    let n = topology.len();
    let runs = runs_of(n, supports, around);
    let rest = &topology.rest_positions;
    let squared = |a: u32, b: u32| rest[a as usize].distance_squared(rest[b as usize]);
    let mut ways = Ways::new(n, most);
    // Distances are not negative, so their bits sort as they do.
    let mut front = BinaryHeap::new();
    let note = |ways: &mut Ways, front: &mut BinaryHeap<_>, slot: usize, v: u32, run: u32, way: Support| {
        ways.runs[slot] = run;
        ways.supports[slot] = way;
        front.push(Reverse((way.distance.to_bits(), v, run)));
    };
    for &vertex in supports {
        let run = runs[vertex as usize];
        if let Some(slot) = ways.slot(vertex, run) {
            note(&mut ways, &mut front, slot, vertex, run, Support { vertex, distance: 0.0 });
        }
    }
    while let Some(Reverse((bits, v, run))) = front.pop() {
        let distance = f64::from_bits(bits);
        let Some(here) = ways.settle(v, run, distance) else { continue };
        for &w in around.row(v as usize) {
            let Some(slot) = ways.slot(w, run) else { continue };
            // Most ways are no shorter: that is known from their squares.
            let (spare, step2) = (ways.supports[slot].distance - distance, squared(v, w));
            if step2 < spare * spare {
                let way = Support { distance: distance + step2.sqrt(), ..here };
                note(&mut ways, &mut front, slot, w, run, way);
            }
        }
        for &t in topology.particle_triangles.row(v as usize) {
            let triangle = topology.triangles[t as usize];
            let Some(k) = triangle.iter().position(|&c| c == v) else { continue };
            let (b, c) = (triangle[(k + 1) % 3], triangle[(k + 2) % 3]);
            for (near, far) in [(b, c), (c, b)] {
                // Only distances from the same support belong to one source.
                let other = ways.settled(near, run).filter(|s| s.vertex == here.vertex);
                let Some((other, slot)) = other.zip(ways.slot(far, run)) else { continue };
                let sides = [squared(v, near), squared(v, far), squared(near, far)];
                let across2 = unfolded_squared(distance, other.distance, sides);
                let before = ways.supports[slot].distance;
                if across2 < before * before {
                    let way = Support { distance: across2.sqrt(), ..here };
                    note(&mut ways, &mut front, slot, far, run, way);
                }
            }
        }
    }
    in_order(n, &ways)
}

/// The settled ways of each vertex, shortest first.
fn in_order(n: usize, ways: &Ways) -> NearestSupports {
    let most = ways.most;
    let mut nearest = NearestSupports { most, counts: vec![0; n], supports: ways.supports.clone() };
    for v in 0..n {
        let slots = ways.slots(v as u32);
        // What is not settled is infinitely far.
        nearest.counts[v] = slots.clone().filter(|&k| ways.settled[k]).count() as u8;
        nearest.supports[slots].sort_by(|a, b| a.distance.total_cmp(&b.distance));
    }
    nearest
}

/// For each support the lowest-numbered one that mesh edges between supports lead to.
fn runs_of(n: usize, supports: &[u32], around: &Rows) -> Vec<u32> {
    let mut run: Vec<u32> = vec![u32::MAX; n];
    supports.iter().for_each(|&s| run[s as usize] = s);
    fn root(run: &mut [u32], mut v: u32) -> u32 {
        while run[v as usize] != v {
            run[v as usize] = run[run[v as usize] as usize];
            v = run[v as usize];
        }
        v
    }
    for &i in supports {
        for &j in around.row(i as usize).iter().filter(|&&j| j < i) {
            if run[j as usize] != u32::MAX {
                let (a, b) = (root(&mut run, i), root(&mut run, j));
                run[a.max(b) as usize] = a.min(b);
            }
        }
    }
    supports.iter().for_each(|&s| run[s as usize] = root(&mut run, s));
    run
}

/// Square of the distance of corner c from a source known by its distances from a and b, in the plane of the triangle with the
/// squared sides ab, ac, bc; infinite if the straight way does not cross the edge ab.
fn unfolded_squared(from_a: f64, from_b: f64, [ab2, ac2, bc2]: [f64; 3]) -> f64 {
    if ab2 <= 0.0 {
        return f64::INFINITY;
    }
    // a at the origin, b along x, c above, the source below.
    let ab = ab2.sqrt();
    let along = |d_a2: f64, d_b2: f64| (d_a2 - d_b2 + ab2) / (2.0 * ab);
    let off = |d2: f64, x: f64| (d2 - x * x).max(0.0).sqrt();
    let (source_x, c_x) = (along(from_a * from_a, from_b * from_b), along(ac2, bc2));
    let (source_y, c_y) = (off(from_a * from_a, source_x), off(ac2, c_x));
    let height = source_y + c_y;
    if height <= 0.0 {
        return f64::INFINITY;
    }
    let crossing = source_x + (c_x - source_x) * source_y / height;
    if !(0.0..=ab).contains(&crossing) {
        return f64::INFINITY;
    }
    (c_x - source_x) * (c_x - source_x) + height * height
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::math;
    use crate::mesh::{generate, neighbours};
    use crate::scene::{Diagonals, Grid};

    fn supports_of(topology: &Topology, supports: &[u32], most: usize) -> NearestSupports {
        let edges: Vec<(u32, u32)> = topology.edges.iter().map(|e| (e.i, e.j)).collect();
        nearest_supports(topology, &neighbours(topology.len(), &edges), supports, most)
    }

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
            let found = supports_of(&topology, &[0, 20], 2);
            for v in 0..topology.len() {
                let supports = found.of(v as u32);
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
        let (flat, rolled) = (supports_of(&flat, &[0], 1), supports_of(&rolled, &[0], 1));
        for v in 0..21 * 17 {
            let (f, r) = (flat.of(v), rolled.of(v));
            // Chords of the 20 cells of the turn are 0.23 % shorter than arcs.
            assert!((r[0].distance - f[0].distance).abs() < 5e-3 * f[0].distance + 1e-12);
        }
    }

    #[test]
    fn a_run_of_supports_gives_one_and_pieces_without_support_none() {
        let mut topology = sheet(Diagonals::Alternating);
        let top: Vec<u32> = (0..21).collect();
        let found = supports_of(&topology, &top, 4);
        let all = 0..topology.len() as u32;
        assert!(all.clone().all(|v| found.of(v).len() == 1 && found.of(v)[0].vertex == v % 21));
        // Without the second row of cells the rest hangs from nothing.
        topology.triangles.retain(|t| !t.iter().any(|&v| v / 21 == 1));
        topology.rebuild_derived();
        let found = supports_of(&topology, &top, 4);
        assert!(all.skip(21 * 2).all(|v| found.of(v).is_empty()) && !found.is_empty());
    }
}
