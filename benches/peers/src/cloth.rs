//! The cloth that everyone simulates, and how good the result is. Nothing here asks an engine anything but positions;
//! crossings are counted by Souple's exact count, for everyone.

use std::collections::BTreeSet;

use glam::DVec3;
use souple::measure::intersections;

/// A square metre of N × N vertices, 0.2 kg: w1-N or the pile of `souple bench`.
pub struct Cloth {
    /// Name of the scene in `souple bench`.
    pub name: String,
    /// Vertices along an edge.
    pub n: usize,
    /// Vertex (i, j) has number i·n + j, m.
    pub positions: Vec<[f64; 3]>,
    /// Two per cell, with alternating diagonals.
    pub triangles: Vec<[u32; 3]>,
    /// Edges of the triangles, each once.
    pub edges: Vec<[u32; 2]>,
    /// A third of the triangles around each vertex, kg.
    pub masses: Vec<f64>,
    /// Held vertices.
    pub pinned: Vec<u32>,
    /// What it touches; nothing if absent.
    pub contact: Option<Contact>,
}

/// A floor at y = 0, and the cloth itself.
#[derive(Clone, Copy)]
pub struct Contact {
    /// Distance that layers keep from each other and from the floor, m.
    pub skin: f64,
    /// Friction of cloth on cloth.
    pub friction: f64,
    /// Friction of cloth on the floor.
    pub floor_friction: f64,
}

/// Mass of the whole cloth, kg.
pub const MASS: f64 = 0.2;
/// Frames per second.
pub const FPS: f64 = 60.0;
/// Rate at which velocities die away, 1/s: air, the same for everyone.
pub const DISSIPATION: f64 = 1.0;

impl Cloth {
    /// w1-n: horizontal, held at the corners (0, 0, 0) and (1, 0, 0), touches nothing.
    pub fn hanging(n: usize) -> Cloth {
        let pinned = vec![0, n as u32 - 1];
        Cloth { pinned, ..Cloth::sheet(format!("w1-{n}"), n, |u, v| [u, 0.0, v]) }
    }

    /// The pile: upright and slightly bent, falls on its lower edge and folds up on itself. Layers of finer cloth are thinner.
    pub fn pile(n: usize) -> Cloth {
        let name = if n == 100 { "pile".into() } else { format!("pile-{n}") };
        let place = |u: f64, v: f64| {
            let (x, y) = (u - 0.5, 1.05 - v);
            [x, y, 0.002 * (9.0 * y).sin() + 0.001 * (7.0 * x + 3.0 * y).sin()]
        };
        let skin = 0.004 * 99.0 / (n - 1) as f64;
        let contact = Some(Contact { skin, friction: 0.3, floor_friction: 0.5 });
        Cloth { contact, ..Cloth::sheet(name, n, place) }
    }

    /// Vertex (i, j) lies where `place` puts j/(n − 1) and i/(n − 1).
    fn sheet(name: String, n: usize, place: impl Fn(f64, f64) -> [f64; 3]) -> Cloth {
        let at = |i: usize, j: usize| (i * n + j) as u32;
        let share = |k: usize| k as f64 / (n - 1) as f64;
        let positions = (0..n * n).map(|v| place(share(v % n), share(v / n))).collect();
        let mut triangles = Vec::new();
        for i in 0..n - 1 {
            for j in 0..n - 1 {
                let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                triangles.extend(if (i + j) % 2 == 0 {
                    [[a, b, c], [a, c, d]]
                } else {
                    [[a, b, d], [b, c, d]]
                });
            }
        }
        let mut edges = BTreeSet::new();
        let mut masses = vec![0.0; n * n];
        let third = MASS / (3 * triangles.len()) as f64;
        for &[a, b, c] in &triangles {
            edges.extend([(a, b), (b, c), (c, a)].map(|(i, j)| [i.min(j), i.max(j)]));
            [a, b, c].iter().for_each(|&v| masses[v as usize] += third);
        }
        let edges = edges.into_iter().collect();
        Cloth { name, n, positions, triangles, edges, masses, pinned: Vec::new(), contact: None }
    }

    /// How good positions are, m.
    pub fn measure(&self, positions: &[[f64; 3]]) -> Quality {
        let length = |x: &[[f64; 3]], [i, j]: [u32; 2]| {
            let (a, b) = (x[i as usize], x[j as usize]);
            (0..3).map(|c| (a[c] - b[c]).powi(2)).sum::<f64>().sqrt()
        };
        let mut strains: Vec<f64> =
            self.edges.iter().map(|&e| length(positions, e) / length(&self.positions, e) - 1.0).collect();
        let mean = strains.iter().map(|s| s.abs()).sum::<f64>() / strains.len() as f64;
        strains.sort_by(f64::total_cmp);
        let last = strains.len() - 1;
        let crossings = || {
            let positions: Vec<DVec3> = positions.iter().map(|x| DVec3::from_array(*x)).collect();
            intersections::crossings(&positions, &self.triangles).len()
        };
        Quality {
            stretch_mean_percent: 100.0 * mean,
            stretch_max_percent: 100.0 * strains[last],
            stretch_p999_percent: 100.0 * strains[(0.999 * last as f64).round() as usize],
            lowest_m: positions.iter().fold(f64::INFINITY, |low, x| low.min(x[1])),
            intersections: self.contact.map(|_| crossings()),
        }
    }
}

/// How good a result is.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub struct Quality {
    /// Mean |l/l0 − 1| of triangle edges, percent.
    pub stretch_mean_percent: f64,
    /// Largest l/l0 − 1, percent.
    pub stretch_max_percent: f64,
    /// 99.9th percentile of l/l0 − 1, percent.
    pub stretch_p999_percent: f64,
    /// Lowest point, m.
    pub lowest_m: f64,
    /// Pairs of triangles that cross. Absent where the cloth touches nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intersections: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cloth_has_its_mass_and_a_doubled_one_is_stretched_by_a_hundred_percent() {
        let cloth = Cloth::hanging(9);
        assert_eq!((cloth.triangles.len(), cloth.edges.len()), (2 * 64, 2 * 8 * 9 + 64));
        assert!((cloth.masses.iter().sum::<f64>() - MASS).abs() < 1e-12);
        let doubled: Vec<[f64; 3]> = cloth.positions.iter().map(|x| x.map(|c| 2.0 * c - 1.0)).collect();
        let quality = cloth.measure(&doubled);
        for stretch in
            [quality.stretch_mean_percent, quality.stretch_max_percent, quality.stretch_p999_percent]
        {
            assert!((stretch - 100.0).abs() < 1e-9);
        }
        assert_eq!((quality.lowest_m, quality.intersections), (-1.0, None));
    }

    #[test]
    fn crossings_are_counted_in_a_cloth_that_is_folded_through_itself() {
        let cloth = Cloth::pile(9);
        assert_eq!(cloth.measure(&cloth.positions).intersections, Some(0));
        // The lower half is turned about a line a little above its upper end, through the upper half.
        let through = |x: &[f64; 3]| if x[1] < 0.5 { [x[0], 1.3 - x[1], x[0]] } else { *x };
        let folded: Vec<[f64; 3]> = cloth.positions.iter().map(through).collect();
        assert!(cloth.measure(&folded).intersections.unwrap() > 0);
    }
}
