//! The fine mesh that folds are drawn on: every triangle of the coarse one cut into n² of its shape (ROH-85).
//!
//! It is the same in all frames, so nothing flickers and files that want a fixed topology get one. The vertices of the coarse mesh come first, in their
//! order; then those inside edges, then those inside triangles.

use glam::{DVec2, DVec3};

use super::measure::fine_corners;
use super::pattern::{Pattern, Point};

/// A fine mesh on a pattern.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FineMesh {
    /// Pieces that each edge of the coarse mesh is cut into.
    pub pieces: u32,
    /// Three vertices per triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Coarse vertices of each vertex, and their shares.
    pub shares: Vec<([u32; 3], [f64; 3])>,
    /// Where each vertex is in the pattern.
    pub at: Vec<Point>,
    /// Vertices of each coarse triangle: `owned[starts[t]..starts[t + 1]]`; every vertex belongs to one.
    pub owned: Vec<u32>,
    /// See `owned`.
    pub starts: Vec<u32>,
}

impl FineMesh {
    /// Cuts every edge into that many pieces.
    pub fn new(pattern: &Pattern, pieces: u32) -> FineMesh {
        let n = pieces.max(1);
        let coarse = pattern.home.len();
        let mut mesh = FineMesh { pieces: n, ..FineMesh::default() };
        let anywhere = Point::default();
        mesh.shares.extend((0..coarse as u32).map(|v| ([v; 3], [1.0, 0.0, 0.0])));
        mesh.at.extend((0..coarse).map(|v| pattern.at_vertex(v).unwrap_or(anywhere)));
        let mut owner: Vec<u32> = (0..coarse).map(|v| pattern.home[v].map_or(0, |(t, _)| t)).collect();
        // Edges, each once: the first vertex of its inside, from its lower end on.
        let mut edges: Vec<(u32, u32, u32, u8)> = Vec::new();
        for (t, v) in (0u32..).zip(&pattern.triangles) {
            for k in 0..3usize {
                let (i, j) = (v[k], v[(k + 1) % 3]);
                edges.push((i.min(j), i.max(j), t, k as u8));
            }
        }
        edges.sort_unstable();
        let mut first_of = vec![[0u32; 3]; pattern.triangles.len()];
        for run in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let (low, high, t, k) = run[0];
            let first = mesh.shares.len() as u32;
            run.iter().for_each(|&(_, _, t, k)| first_of[t as usize][k as usize] = first);
            let corners = &pattern.corners[t as usize];
            let ends = (corners[k as usize], corners[(k as usize + 1) % 3]);
            let (a, b) =
                if pattern.triangles[t as usize][k as usize] == low { ends } else { (ends.1, ends.0) };
            for i in 1..n {
                let share = f64::from(i) / f64::from(n);
                mesh.shares.push(([low, high, low], [1.0 - share, share, 0.0]));
                mesh.at.push(Point { triangle: t, p: a.lerp(b, share) });
                owner.push(t);
            }
        }
        for (t, v) in (0u32..).zip(&pattern.triangles) {
            let first = mesh.shares.len() as u32;
            let corners = &pattern.corners[t as usize];
            for i in 1..n {
                for j in 1..n - i {
                    let (b, c) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
                    mesh.shares.push((*v, [1.0 - b - c, b, c]));
                    let p: DVec2 = corners[0] * (1.0 - b - c) + corners[1] * b + corners[2] * c;
                    mesh.at.push(Point { triangle: t, p });
                    owner.push(t);
                }
            }
            // Vertex i pieces towards corner 1 and j towards corner 2.
            let on_edge = |k: usize, i: u32| {
                let (from, to) = (v[k], v[(k + 1) % 3]);
                let i = if from < to { i } else { n - i };
                first_of[t as usize][k] + i - 1
            };
            let vertex = |i: u32, j: u32| match (i, j) {
                (0, 0) => v[0],
                (i, 0) if i == n => v[1],
                (0, j) if j == n => v[2],
                (i, 0) => on_edge(0, i),
                (i, j) if i + j == n => on_edge(1, j),
                (0, j) => on_edge(2, n - j),
                (i, j) => {
                    // Rows before this one have n − 2, n − 3, … inner vertices.
                    let before = (1..i).map(|r| n - r - 1).sum::<u32>();
                    first + before + j - 1
                }
            };
            for i in 0..n {
                for j in 0..n - i {
                    mesh.triangles.push([vertex(i, j), vertex(i + 1, j), vertex(i, j + 1)]);
                    if i + j + 1 < n {
                        mesh.triangles.push([vertex(i + 1, j), vertex(i + 1, j + 1), vertex(i, j + 1)]);
                    }
                }
            }
        }
        mesh.own(&owner, pattern.triangles.len());
        mesh
    }

    /// Lists its vertices by the coarse triangle that each belongs to.
    pub(super) fn own(&mut self, owner: &[u32], triangles: usize) {
        self.owned = (0..owner.len() as u32).collect();
        self.owned.sort_by_key(|&v| (owner[v as usize], v));
        let starts = |t: u32| self.owned.partition_point(|&v| owner[v as usize] < t) as u32;
        self.starts = (0..=triangles as u32).map(starts).collect();
    }

    /// How many vertices cutting every edge into that many pieces gives.
    pub fn count(pattern: &Pattern, pieces: u32) -> u64 {
        let n = u64::from(pieces.max(1));
        let triangles = pattern.triangles.len() as u64;
        // Edges by counting both sides and borders.
        let borders = pattern.across.iter().flatten().filter(|a| a.is_none()).count() as u64;
        let edges = (3 * triangles + borders) / 2;
        pattern.home.len() as u64 + edges * (n - 1) + triangles * (n - 1) * n.saturating_sub(2) / 2
    }

    /// Corners of every triangle in the chart of the coarse one that it is a piece of, m.
    pub fn charts(&self, pattern: &Pattern) -> Vec<[DVec2; 3]> {
        let per = (self.pieces * self.pieces) as usize;
        let pieces = (0..pattern.triangles.len() as u32).flat_map(|t| (0..per).map(move |i| (t, i)));
        pieces.map(|(t, i)| fine_corners(pattern, self.pieces, t, i)).collect()
    }

    /// Where a point of the pattern is on the fine mesh, whose vertices are at those places, m.
    pub fn place(&self, pattern: &Pattern, point: Point, places: &[DVec3]) -> DVec3 {
        let n = self.pieces;
        let shares = pattern.shares(point).map(|share| share.clamp(0.0, 1.0) * f64::from(n));
        let row = (shares[1] as u32).min(n - 1);
        let column = (shares[2] as u32).min(n - 1 - row);
        let (b, c) = (shares[1] - f64::from(row), shares[2] - f64::from(column));
        let upper = b + c > 1.0 && row + column + 1 < n;
        // Row r has 2 (n − r) − 1 pieces.
        let before: u32 = (0..row).map(|r| 2 * (n - r) - 1).sum();
        let piece = point.triangle * n * n + before + 2 * column + u32::from(upper);
        let weights = if upper { [1.0 - c, b + c - 1.0, 1.0 - b] } else { [1.0 - b - c, b, c] };
        let Some(corners) = self.triangles.get(piece as usize) else { return DVec3::ZERO };
        (0..3).map(|k| places[corners[k] as usize] * weights[k]).sum()
    }

    /// A value of the coarse vertices at a fine one.
    pub fn mixed(&self, vertex: usize, values: &[DVec3]) -> DVec3 {
        let ([a, b, c], shares) = &self.shares[vertex];
        values[*a as usize] * shares[0] + values[*b as usize] * shares[1] + values[*c as usize] * shares[2]
    }

    /// Texture coordinates of the fine vertices.
    pub fn uvs(&self, coarse: &[[f64; 2]]) -> Vec<[f64; 2]> {
        if coarse.is_empty() {
            return Vec::new();
        }
        let at = |v: u32| coarse.get(v as usize).map_or(DVec2::ZERO, |uv| DVec2::from_array(*uv));
        let mix = |(of, shares): &([u32; 3], [f64; 3])| {
            (0..3).map(|k| at(of[k]) * shares[k]).sum::<DVec2>().to_array()
        };
        self.shares.iter().map(mix).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fine_mesh_is_the_coarse_one_cut_up() {
        let (x, t) = crate::wrinkles::tests::sheet(5, 4, 1.0, 0.6);
        let pattern = Pattern::of_rest(&x, &t).unwrap();
        for n in 1..6u32 {
            let fine = FineMesh::new(&pattern, n);
            assert_eq!(fine.shares.len() as u64, FineMesh::count(&pattern, n));
            assert_eq!(fine.triangles.len(), t.len() * (n * n) as usize);
            assert_eq!(fine.owned.len(), fine.shares.len());
            let places: Vec<DVec3> = (0..fine.shares.len()).map(|v| fine.mixed(v, &x)).collect();
            for (v, place) in places.iter().enumerate() {
                assert!(place.distance(pattern.place(fine.at[v], &x)) < 1e-12, "{n} {v}");
            }
            let area = |x: &[DVec3], t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| x[v as usize]);
                0.5 * (b - a).cross(c - a).y
            };
            let whole: f64 = t.iter().map(|t| area(&x, t)).sum();
            let cut: Vec<f64> = fine.triangles.iter().map(|t| area(&places, t)).collect();
            assert!((cut.iter().sum::<f64>() - whole).abs() < 1e-12);
            assert!(cut.iter().all(|a| a * whole > 0.0), "{n}");
        }
    }
}
