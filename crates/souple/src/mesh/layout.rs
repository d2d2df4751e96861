//! Which particles get a spring, and how stiff it is (ESSI-17…22).
//!
//! - structural: stretch, shear and bend springs of a grid or a rope (ESSI-18);
//! - connection radius: every pair closer than a distance (ESSI-20);
//! - graph: every pair within a number of mesh edges, by breadth-first search (ESSI-21), on any mesh (ESSI-22).
//!
//! A family is given by `stiffness`, the same for each spring (N/m, as in the seeds), or by `modulus`, the tension per
//! width and strain that the family adds to the sheet (N/m). From a modulus Y each spring gets k = Y a / l², where a is
//! the area it stands for; for the edges of a triangle mesh a is the area of the triangles at the edge (Van Gelder 1998),
//! which on a square grid gives k = Y inside and Y/2 on the border. Springs that are no edges share the area around
//! their ends.

use glam::DVec3;

use super::{HopSearch, Rows, Spring, SpringFamily, mesh_edges, neighbours, triangle_area};

/// More springs than this are refused.
pub const MAX_SPRINGS: usize = 20_000_000;

/// Springs between particles further apart on the mesh than this are not cut by tears elsewhere.
const MAX_HOPS: u8 = 8;

/// How stiff the springs of a family are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stiffness {
    /// The same for each spring, N/m.
    PerSpring(f64),
    /// What the family adds to the sheet: tension per width and strain, N/m (force per strain of a rope, N).
    Modulus(f64),
}

impl Stiffness {
    /// Whether it is zero, so that the family can be left out.
    pub fn is_zero(self) -> bool {
        matches!(self, Stiffness::PerSpring(0.0) | Stiffness::Modulus(0.0))
    }
}

/// Numbers of one family.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FamilyParameters {
    /// Stiffness.
    pub stiffness: Stiffness,
    /// Axial damping of each spring, N·s/m.
    pub damping: f64,
}

/// What the springs are laid over.
pub struct Surface<'a> {
    /// Rest positions, m.
    pub positions: &'a [DVec3],
    /// Triangles.
    pub triangles: &'a [[u32; 3]],
    /// Rope segments.
    pub segments: &'a [[u32; 2]],
}

/// A spring before its stiffness is known: ends, family, and the area over squared length that a modulus multiplies.
struct Candidate {
    i: u32,
    j: u32,
    family: SpringFamily,
    share: f64,
}

/// Structural springs of a grid (ESSI-18).
pub fn structural_grid(
    surface: &Surface,
    columns: usize,
    rows: usize,
    families: &[FamilyParameters; 3],
) -> Vec<Spring> {
    let at = |i: usize, j: usize| (i * columns + j) as u32;
    let distance = |a: u32, b: u32| surface.positions[a as usize].distance(surface.positions[b as usize]);
    let du = distance(at(0, 0), at(0, 1));
    let dv = distance(at(0, 0), at(1, 0));
    // Width of cloth that a row (or column) of springs stands for: half a cell at the borders.
    let width = |index: usize, count: usize, cell: f64| {
        if index == 0 || index + 1 == count { 0.5 * cell } else { cell }
    };
    let mut candidates = Vec::new();
    let mut push = |i, j, family, share| candidates.push(Candidate { i, j, family, share });
    for i in 0..rows {
        for j in 0..columns {
            let a = at(i, j);
            if j + 1 < columns {
                push(a, at(i, j + 1), SpringFamily::Stretch, width(i, rows, dv) / du);
            }
            if i + 1 < rows {
                push(a, at(i + 1, j), SpringFamily::Stretch, width(j, columns, du) / dv);
            }
            if i + 1 < rows && j + 1 < columns {
                // Two diagonals give the shear modulus G when k = G l² / (2 du dv).
                let share = (du * du + dv * dv) / (2.0 * du * dv);
                push(a, at(i + 1, j + 1), SpringFamily::Shear, share);
                push(at(i, j + 1), at(i + 1, j), SpringFamily::Shear, share);
            }
            // Two overlapping rows of bend springs cross every cut, each twice as long.
            if j + 2 < columns {
                push(a, at(i, j + 2), SpringFamily::Bend, width(i, rows, dv) / (4.0 * du));
            }
            if i + 2 < rows {
                push(a, at(i + 2, j), SpringFamily::Bend, width(j, columns, du) / (4.0 * dv));
            }
        }
    }
    finish(surface, candidates, families)
}

/// Stretch and bend springs of ropes: along segments, and over two segments that follow each other.
pub fn structural_rope(surface: &Surface, families: &[FamilyParameters; 3]) -> Vec<Spring> {
    let length = |a: u32, b: u32| surface.positions[a as usize].distance(surface.positions[b as usize]);
    let mut candidates = Vec::new();
    for (s, &[i, j]) in surface.segments.iter().enumerate() {
        candidates.push(Candidate { i, j, family: SpringFamily::Stretch, share: 1.0 / length(i, j) });
        if let Some(&[_, k]) = surface.segments.get(s + 1).filter(|next| next[0] == j) {
            candidates.push(Candidate { i, j: k, family: SpringFamily::Bend, share: 0.5 / length(i, k) });
        }
    }
    finish(surface, candidates, families)
}

/// Springs between all pairs within `hops` mesh edges (ESSI-21). One hop is stretch, more is bend.
/// `None` if there would be more than [`MAX_SPRINGS`].
pub fn graph(surface: &Surface, hops: u8, families: &[FamilyParameters; 3]) -> Option<Vec<Spring>> {
    let edges = mesh_edges(surface.triangles, surface.segments);
    let rows = neighbours(surface.positions.len(), &edges);
    let mut search = HopSearch::default();
    let mut pairs = Vec::new();
    for i in 0..surface.positions.len() as u32 {
        let reached = search.within(&rows, i, hops).to_vec();
        for j in reached {
            if j > i {
                pairs.push((i, j, search.hops(j).unwrap_or(hops) > 1));
            }
        }
        if pairs.len() > MAX_SPRINGS {
            return None;
        }
    }
    pairs.sort_unstable();
    Some(by_area(surface, pairs, families))
}

/// Springs between all pairs closer than `radius` (ESSI-20). Mesh edges are stretch, other pairs bend.
/// `None` if there would be more than [`MAX_SPRINGS`].
pub fn connection_radius(
    surface: &Surface,
    radius: f64,
    families: &[FamilyParameters; 3],
) -> Option<Vec<Spring>> {
    let edges = mesh_edges(surface.triangles, surface.segments);
    let mut pairs = Vec::new();
    if !pairs_within(surface.positions, radius, |i, j| {
        pairs.push((i, j, edges.binary_search(&(i, j)).is_err()));
        pairs.len() <= MAX_SPRINGS
    }) {
        return None;
    }
    pairs.sort_unstable();
    Some(by_area(surface, pairs, families))
}

/// Calls `found(i, j)` with i < j for every pair closer than `radius`, until it returns false; cells of that size keep
/// the search local. Returns whether the search ran to its end.
fn pairs_within(positions: &[DVec3], radius: f64, mut found: impl FnMut(u32, u32) -> bool) -> bool {
    let cell = |p: DVec3| (p / radius).floor().to_array().map(|c| c as i64);
    let mut order: Vec<([i64; 3], u32)> =
        positions.iter().enumerate().map(|(i, &p)| (cell(p), i as u32)).collect();
    order.sort_unstable();
    let row = |key: [i64; 3]| {
        let start = order.partition_point(|(k, _)| *k < key);
        order[start..].iter().take_while(move |(k, _)| *k == key)
    };
    for (i, &p) in positions.iter().enumerate() {
        let [cx, cy, cz] = cell(p);
        for dx in -1..=1 {
            for dy in -1..=1 {
                for dz in -1..=1 {
                    for &(_, j) in row([cx.saturating_add(dx), cy.saturating_add(dy), cz.saturating_add(dz)])
                    {
                        let near =
                            j as usize > i && p.distance_squared(positions[j as usize]) < radius * radius;
                        if near && !found(i as u32, j) {
                            return false;
                        }
                    }
                }
            }
        }
    }
    true
}

/// Families and area shares for pairs (i, j, is no mesh edge) of a surface or a rope.
fn by_area(surface: &Surface, pairs: Vec<(u32, u32, bool)>, families: &[FamilyParameters; 3]) -> Vec<Spring> {
    let n = surface.positions.len();
    let mut around_edge: Vec<((u32, u32), f64)> = Vec::with_capacity(surface.triangles.len() * 3);
    let mut around_vertex = vec![0.0; n];
    for t in surface.triangles {
        let [a, b, c] = t.map(|v| surface.positions[v as usize]);
        let area = triangle_area(a, b, c);
        for (i, j) in [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])] {
            around_edge.push(((i.min(j), i.max(j)), area));
            around_vertex[i as usize] += area / 3.0;
        }
    }
    around_edge.sort_by_key(|&(key, _)| key);
    let edge_area = |key: (u32, u32)| -> f64 {
        let start = around_edge.partition_point(|&(k, _)| k < key);
        around_edge[start..].iter().take_while(|&&(k, _)| k == key).map(|&(_, a)| a).sum()
    };
    let mut far_count = vec![0u32; n];
    for &(i, j, far) in &pairs {
        if far {
            far_count[i as usize] += 1;
            far_count[j as usize] += 1;
        }
    }
    let share_of = |v: u32| around_vertex[v as usize] / f64::from(far_count[v as usize].max(1));
    let is_rope = surface.triangles.is_empty();
    // Along a rope a spring over k segments overlaps with k − 1 others, and all lengths beyond one share the modulus.
    let lengths = pairs.iter().map(|(i, j, _)| j - i).max().unwrap_or(1).saturating_sub(1).max(1);
    let candidates = pairs
        .iter()
        .map(|&(i, j, far)| {
            let l = surface.positions[i as usize].distance(surface.positions[j as usize]);
            let share = match (is_rope, far) {
                (true, false) => 1.0 / l,
                (true, true) => 1.0 / (l * f64::from(j - i) * f64::from(lengths)),
                (false, false) => edge_area((i, j)) / (l * l),
                // Sums to three times the area of the surface, as the edges do.
                (false, true) => 3.0 * (share_of(i) + share_of(j)) / (l * l),
            };
            Candidate { i, j, family: if far { SpringFamily::Bend } else { SpringFamily::Stretch }, share }
        })
        .collect();
    finish(surface, candidates, families)
}

/// Drops families without stiffness and springs without length, fills in stiffness, damping, and hops.
fn finish(surface: &Surface, candidates: Vec<Candidate>, families: &[FamilyParameters; 3]) -> Vec<Spring> {
    let edges = mesh_edges(surface.triangles, surface.segments);
    let rows = neighbours(surface.positions.len(), &edges);
    let mut springs: Vec<Spring> = candidates
        .into_iter()
        .filter_map(|c| {
            let parameters = &families[c.family as usize];
            let rest_length = surface.positions[c.i as usize].distance(surface.positions[c.j as usize]);
            if (parameters.stiffness.is_zero() && parameters.damping == 0.0) || rest_length == 0.0 {
                return None;
            }
            let stiffness = match parameters.stiffness {
                Stiffness::PerSpring(k) => k,
                Stiffness::Modulus(y) => y * c.share,
            };
            Some(Spring {
                i: c.i,
                j: c.j,
                rest_length,
                stiffness,
                damping: parameters.damping,
                family: c.family,
                hops: 0,
            })
        })
        .collect();
    // In the order of the particles: memory is then walked forwards.
    springs.sort_by_key(|s| (s.i, s.j));
    set_hops(&mut springs, &rows);
    springs
}

fn set_hops(springs: &mut [Spring], rows: &Rows) {
    let mut search = HopSearch::default();
    for run in springs.chunk_by_mut(|a, b| a.i == b.i) {
        // Nearly all springs span one or two edges: look further only for those that do not.
        let mut limit = 2;
        loop {
            search.within(rows, run[0].i, limit);
            for spring in run.iter_mut() {
                spring.hops = search.hops(spring.j).unwrap_or(0);
            }
            if limit == MAX_HOPS || run.iter().all(|s| s.hops > 0) {
                break;
            }
            limit = MAX_HOPS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate;
    use crate::scene::Grid;

    const UNIT: [FamilyParameters; 3] =
        [FamilyParameters { stiffness: Stiffness::Modulus(1.0), damping: 0.0 }; 3];

    fn square(n: u32) -> super::super::TriMesh {
        generate::grid(&Grid {
            size: [f64::from(n - 1), f64::from(n - 1)],
            vertices: [n, n],
            ..Grid::default()
        })
    }

    fn surface(mesh: &super::super::TriMesh) -> Surface<'_> {
        Surface { positions: &mesh.positions, triangles: &mesh.triangles, segments: &[] }
    }

    fn count(springs: &[Spring], family: SpringFamily) -> usize {
        springs.iter().filter(|s| s.family == family).count()
    }

    #[test]
    fn structural_counts_are_those_of_the_seed() {
        let mesh = square(5);
        let springs = structural_grid(&surface(&mesh), 5, 5, &UNIT);
        assert_eq!(count(&springs, SpringFamily::Stretch), 2 * 5 * 4);
        assert_eq!(count(&springs, SpringFamily::Shear), 2 * 4 * 4);
        assert_eq!(count(&springs, SpringFamily::Bend), 2 * 5 * 3);
        assert!(springs.iter().all(|s| s.hops == 1 || s.hops == 2));
    }

    #[test]
    fn radius_on_a_grid_adds_families_at_1_sqrt2_and_2() {
        // "epsilon just above 1 gives stretch only; just above sqrt(2) adds shear; just above 2 adds bending"
        let mesh = square(6);
        let n = |radius: f64| connection_radius(&surface(&mesh), radius, &UNIT).unwrap().len();
        assert_eq!(n(0.99), 0);
        assert_eq!(n(1.01), 2 * 6 * 5);
        assert_eq!(n(1.42), 2 * 6 * 5 + 2 * 5 * 5);
        assert_eq!(n(2.01), 2 * 6 * 5 + 2 * 5 * 5 + 2 * 6 * 4);
    }

    #[test]
    fn radius_search_finds_the_same_pairs_as_brute_force() {
        let points: Vec<DVec3> = (0..200)
            .map(|i| {
                DVec3::new(
                    crate::math::uniform(1, 3 * i),
                    crate::math::uniform(1, 3 * i + 1),
                    crate::math::uniform(1, 3 * i + 2),
                )
            })
            .collect();
        for radius in [0.05, 0.2, 0.6] {
            let mut found = Vec::new();
            pairs_within(&points, radius, |i, j| {
                found.push((i, j));
                true
            });
            found.sort_unstable();
            let mut brute = Vec::new();
            for i in 0..points.len() {
                for j in i + 1..points.len() {
                    if points[i].distance_squared(points[j]) < radius * radius {
                        brute.push((i as u32, j as u32));
                    }
                }
            }
            assert_eq!(found, brute);
        }
    }

    #[test]
    fn graph_of_one_hop_is_the_mesh_edges_and_modulus_is_halved_on_the_border() {
        let mesh = square(5);
        let springs = graph(&surface(&mesh), 1, &UNIT).unwrap();
        assert_eq!(springs.len(), mesh_edges(&mesh.triangles, &[]).len());
        for s in &springs {
            let (a, b) = (mesh.positions[s.i as usize], mesh.positions[s.j as usize]);
            let straight = (a - b).abs().max_element() == (a - b).length();
            let on_border = |p: DVec3, q: DVec3| {
                [p.x, p.z].iter().zip([q.x, q.z]).any(|(&u, w)| u == w && (u == 0.0 || u == 4.0))
            };
            let expected = if straight && on_border(a, b) {
                0.5
            } else if straight {
                1.0
            } else {
                0.5
            };
            assert!((s.stiffness - expected).abs() < 1e-12, "{s:?}");
        }
        assert!(graph(&surface(&mesh), 2, &UNIT).unwrap().len() > springs.len());
    }
}
