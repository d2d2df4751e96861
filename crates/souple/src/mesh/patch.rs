//! Patches: what bends. A patch is a triangle with the tips of its neighbours, or three vertices of a rope, and the weights
//! that make second derivatives of its positions. The energy is in `energy/bending.rs`.
//!
//! Two ways to second derivatives, both exact on regular meshes. Through the six vertices of a triangle and its three
//! neighbours goes one quadratic surface: exact for such surfaces on any mesh, but it can miss kinks between the
//! patches, and is too soft. The angles at the edges, summed up (Grinspun, Gingold, Reisman, Zorin 2006), add up to
//! the whole turn of the sheet, but not each for itself, and are too stiff. A patch takes the mean of both: within 5 % on
//! irregular meshes and on alternating diagonals, where the two are off by 16 and 10 %. At a border, where vertices are
//! missing, only angles are left; an edge of the border bends by nothing.

use glam::{DVec2, DVec3};

/// Vertices of a patch.
pub const SIZE: usize = 6;

/// Six vertices whose weighted sums are second derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// The corners of the triangle, then the tips of its neighbours. Places that are not needed repeat an earlier vertex,
    /// with weight 0.
    pub vertices: [u32; SIZE],
    /// Weights of ∂²x/∂u², ∂²x/∂v² and √2 ∂²x/∂u∂v, 1/m²; each adds up to 0.
    pub weights: [[f64; SIZE]; 3],
    /// Rigidity times area, N·m³ (rope: times length, N·m³): the energy is half of this times the squares.
    pub stiffness: f64,
    /// Second derivatives of the rest shape along its normal, 1/m; 0 for a flat one. A rope has no normal: its rest is the
    /// curvature along the way it bends.
    pub rest: [f64; 3],
    /// Those of a sheet along the first side of its triangle and across it, 1/m: its neighbours are unfolded into the plane, so
    /// a curved shape leaves some.
    pub rest_along: [[f64; 2]; 3],
    /// Whether it is a piece of a rope.
    pub rope: bool,
}

/// Patches of all triangles. `rigidity` is the bending rigidity of the sheet, N·m. Across edges of more than two
/// triangles nothing bends, nor do triangles without area.
pub fn sheet_patches(rest: &[DVec3], triangles: &[[u32; 3]], rigidity: f64) -> Vec<Patch> {
    // Sides (low, high, triangle), so that the two of an edge come one after the other.
    let mut sides: Vec<(u32, u32, u32)> = (0u32..)
        .zip(triangles)
        .flat_map(|(t, &[a, b, c])| [(a, b, t), (b, c, t), (c, a, t)])
        .map(|(i, j, t)| (i.min(j), i.max(j), t))
        .collect();
    sides.sort_unstable();
    let spans = |t: u32| spans_a_plane(triangles[t as usize].map(|v| rest[v as usize]));
    // Tip beyond each side of each triangle; side k is opposite corner k.
    let mut beyond = vec![[None; 3]; triangles.len()];
    for run in sides.chunk_by(|s, t| (s.0, s.1) == (t.0, t.1)) {
        if let [(a, b, s), (_, _, t)] = *run
            && spans(s)
            && spans(t)
        {
            let tip = |t: u32| triangles[t as usize].iter().position(|&v| v != a && v != b);
            if let (Some(p), Some(q)) = (tip(s), tip(t))
                && triangles[s as usize][p] != triangles[t as usize][q]
            {
                beyond[s as usize][p] = Some(triangles[t as usize][q]);
                beyond[t as usize][q] = Some(triangles[s as usize][p]);
            }
        }
    }
    let patch = |(t, tips): (&[u32; 3], &[Option<u32>; 3])| sheet_patch(rest, *t, *tips, rigidity);
    triangles.iter().zip(&beyond).filter_map(patch).collect()
}

/// Whether a triangle is more than a line: the height of a tip above an edge is divided by.
fn spans_a_plane([a, b, c]: [DVec3; 3]) -> bool {
    let longest = (b - a).length_squared().max((c - b).length_squared()).max((a - c).length_squared());
    (b - a).cross(c - a).length() > 1e-9 * longest
}

fn sheet_patch(rest: &[DVec3], corners: [u32; 3], tips: [Option<u32>; 3], rigidity: f64) -> Option<Patch> {
    if tips.iter().all(Option::is_none) {
        return None;
    }
    let [a, b, c] = corners.map(|v| rest[v as usize]);
    let cross = (b - a).cross(c - a);
    let area = 0.5 * cross.length();
    // The plane of the triangle, from its middle; neighbours are unfolded into it by their distances along the surface.
    let normal = cross / (2.0 * area);
    let u = (b - a).normalize();
    let v = normal.cross(u);
    let middle = (a + b + c) / 3.0;
    let flat = |p: DVec3| DVec2::new((p - middle).dot(u), (p - middle).dot(v));
    let own = [flat(a), flat(b), flat(c)];
    let mut vertices = [corners[0]; SIZE];
    vertices[..3].copy_from_slice(&corners);
    let mut places = [own[0], own[1], own[2], own[0], own[0], own[0]];
    for k in 0..3 {
        if let Some(tip) = tips[k] {
            vertices[3 + k] = tip;
            let (i, j) = ((k + 1) % 3, (k + 2) % 3);
            let ends = (rest[corners[i] as usize], rest[corners[j] as usize]);
            places[3 + k] = unfolded(own[i], own[j], own[k], ends, rest[tip as usize]);
        }
    }
    let mut weights = from_angles(&places, &tips, area);
    if tips.iter().all(Option::is_some)
        && distinct(&vertices)
        && let Some(fitted) = fit(&places, area)
    {
        let both = weights.iter_mut().flatten().zip(fitted.iter().flatten());
        both.for_each(|(angles, fitted)| *angles = 0.5 * (*angles + fitted));
    }
    let (mut bent, mut bent_along) = ([0.0; 3], [[0.0; 2]; 3]);
    for (q, weights) in weights.iter().enumerate() {
        let second: DVec3 = vertices.iter().zip(weights).map(|(&v, &w)| rest[v as usize] * w).sum();
        // A curvature whose radius is a million times the triangle is rounding.
        let part = |along: f64| if along.abs() * area.sqrt() > 1e-6 { along } else { 0.0 };
        bent[q] = part(second.dot(normal));
        bent_along[q] = [part(second.dot(u)), part(second.dot(v))];
    }
    if bent == [0.0; 3] {
        bent_along = [[0.0; 2]; 3];
    }
    Some(Patch {
        vertices,
        weights,
        stiffness: rigidity * area,
        rest: bent,
        rest_along: bent_along,
        rope: false,
    })
}

fn distinct(vertices: &[u32; SIZE]) -> bool {
    (1..SIZE).all(|k| !vertices[..k].contains(&vertices[k]))
}

/// Place of a tip when its triangle is turned about the edge into the plane, to the side away from `inner`.
fn unfolded(i: DVec2, j: DVec2, inner: DVec2, ends: (DVec3, DVec3), tip: DVec3) -> DVec2 {
    let edge = ends.1 - ends.0;
    let length = edge.length();
    let along = (tip - ends.0).dot(edge) / length;
    let off = ((tip - ends.0).length_squared() - along * along).max(0.0).sqrt();
    let direction = (j - i) / length;
    let mut away = direction.perp();
    if away.dot(inner - i) > 0.0 {
        away = -away;
    }
    i + direction * along + away * off
}

/// Weights of the quadratic through six places; none if they do not decide it well.
fn fit(places: &[DVec2; SIZE], area: f64) -> Option<[[f64; SIZE]; 3]> {
    // Row k: 1, u, v, u²/2, v²/2, uv at place k, with lengths in units of the triangle; beside it the unit matrix.
    let scale = 1.0 / area.sqrt();
    let mut m = [[0.0; 2 * SIZE]; SIZE];
    for (k, (row, p)) in m.iter_mut().zip(places).enumerate() {
        let p = *p * scale;
        row[..SIZE].copy_from_slice(&[1.0, p.x, p.y, 0.5 * p.x * p.x, 0.5 * p.y * p.y, p.x * p.y]);
        row[SIZE + k] = 1.0;
    }
    for i in 0..SIZE {
        let largest = (i..SIZE).max_by(|&a, &b| m[a][i].abs().total_cmp(&m[b][i].abs()))?;
        m.swap(i, largest);
        let pivot = m[i];
        if pivot[i].abs() < 1e-3 {
            return None;
        }
        for (r, row) in m.iter_mut().enumerate() {
            let factor = if r == i { 1.0 - 1.0 / pivot[i] } else { row[i] / pivot[i] };
            row.iter_mut().zip(&pivot).for_each(|(a, p)| *a -= factor * p);
        }
    }
    let weights = |coefficient: usize, factor: f64| {
        let mut w = [0.0; SIZE];
        w.iter_mut().zip(&m[coefficient][SIZE..]).for_each(|(w, v)| *w = v * factor * scale * scale);
        w
    };
    let all = [weights(3, 1.0), weights(4, 1.0), weights(5, std::f64::consts::SQRT_2)];
    // Weights of a good patch are about 1 in units of the triangle; large ones make a few vertices carry everything.
    let good = all.iter().flatten().all(|w| w.abs() * area < 8.0);
    good.then_some(all)
}

/// Weights from the angles at the edges: Σ (c / 2A) n nᵀ, with c the angle times the length of an edge as a weighted sum
/// of its four vertices, and n the direction across it.
fn from_angles(places: &[DVec2; SIZE], tips: &[Option<u32>; 3], area: f64) -> [[f64; SIZE]; 3] {
    let mut weights = [[0.0; SIZE]; 3];
    for k in (0..3).filter(|&k| tips[k].is_some()) {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        let edge = places[j] - places[i];
        let across = edge.perp().normalize_or_zero();
        let parts =
            [across.x * across.x, across.y * across.y, std::f64::consts::SQRT_2 * across.x * across.y];
        for tip in [k, 3 + k] {
            // Seen from a tip at height h above the edge, the angle is the height out of the plane over h.
            let height = edge.perp_dot(places[tip] - places[i]).abs() / edge.length();
            let share = (places[tip] - places[i]).dot(edge) / edge.length_squared();
            let c = edge.length() / (height * 2.0 * area);
            for (w, part) in weights.iter_mut().zip(parts) {
                w[tip] += part * c;
                w[i] -= part * c * (1.0 - share);
                w[j] -= part * c * share;
            }
        }
    }
    weights
}

/// One patch for every two segments that share a vertex of no other segment. `rigidity` is E I of the rope, N·m².
pub fn rope_patches(rest: &[DVec3], segments: &[[u32; 2]], rigidity: f64) -> Vec<Patch> {
    let mut ends: Vec<(u32, u32)> = segments.iter().flat_map(|&[i, j]| [(i, j), (j, i)]).collect();
    ends.sort_unstable();
    let mut patches = Vec::new();
    for run in ends.chunk_by(|s, t| s.0 == t.0) {
        if let [(middle, first), (_, last)] = *run {
            let length = |v: u32| rest[v as usize].distance(rest[middle as usize]);
            let (l0, l1) = (length(first), length(last));
            if l0 > 0.0 && l1 > 0.0 {
                let mean = 0.5 * (l0 + l1);
                let second = [1.0 / l0, -(1.0 / l0 + 1.0 / l1), 1.0 / l1, 0.0, 0.0, 0.0].map(|w| w / mean);
                let at = |v: u32| rest[v as usize];
                let curvature =
                    (at(first) * second[0] + at(middle) * second[1] + at(last) * second[2]).length();
                // A radius of a million segments is rounding.
                let curvature = if curvature * mean > 1e-6 { curvature } else { 0.0 };
                patches.push(Patch {
                    vertices: [first, middle, last, first, first, first],
                    weights: [second, [0.0; SIZE], [0.0; SIZE]],
                    stiffness: rigidity * mean,
                    rest: [curvature, 0.0, 0.0],
                    rest_along: [[0.0; 2]; 3],
                    rope: true,
                });
            }
        }
    }
    patches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::uniform;
    use crate::mesh::generate;
    use crate::scene::{Diagonals, Grid};

    #[test]
    fn quadratics_are_fitted_exactly() {
        let height = |p: DVec2| 0.3 * p.x * p.x - 0.2 * p.y * p.y + 0.4 * p.x * p.y + 0.1 * p.x + 2.0;
        for seed in 0..50 {
            let r = |k: u64| 0.3 * (uniform(seed, k) - 0.5);
            let corners = [(0.0, 0.0), (1.0, 0.0), (0.4, 0.9), (1.4, 0.9), (-0.6, 0.8), (0.5, -0.9)];
            let mut k = 0;
            let places = corners.map(|(x, y)| {
                k += 2;
                DVec2::new(x + r(k), y + r(k + 1))
            });
            let weights = fit(&places, 0.4).unwrap();
            let second = weights.map(|w| -> f64 { places.iter().zip(w).map(|(p, w)| w * height(*p)).sum() });
            let expected = [0.6, -0.4, 0.4 * std::f64::consts::SQRT_2];
            assert!(second.iter().zip(expected).all(|(s, e)| (s - e).abs() < 1e-9), "{second:?}");
        }
    }

    /// A triangle without area, as in a seam that was not welded, bends nothing and does not spoil its neighbours.
    #[test]
    fn triangles_without_area_are_left_out() {
        let mut mesh = generate::grid(&Grid { vertices: [3, 3], ..Grid::default() });
        let whole = sheet_patches(&mesh.positions, &mesh.triangles, 1.0);
        mesh.positions.push(mesh.positions[8]);
        mesh.positions.push(mesh.positions[8] + DVec3::X);
        mesh.triangles.extend([[8, 9, 10], [8, 9, 5]]);
        let patches = sheet_patches(&mesh.positions, &mesh.triangles, 1.0);
        assert_eq!(patches, whole);
    }

    #[test]
    fn regular_sheets_have_the_curvature_of_quadratics() {
        let mesh =
            generate::grid(&Grid { vertices: [9, 9], diagonals: Diagonals::Regular, ..Grid::default() });
        let height = |p: DVec3| 0.3 * p.x * p.x - 0.2 * p.z * p.z + 0.4 * p.x * p.z + 0.1 * p.x + 2.0;
        let expected = 0.6 * 0.6 + 0.4 * 0.4 + 2.0 * 0.4 * 0.4;
        let patches = sheet_patches(&mesh.positions, &mesh.triangles, 1.0);
        let whole: Vec<&Patch> = patches.iter().filter(|p| distinct(&p.vertices)).collect();
        assert!(whole.len() > 80 && whole.len() < patches.len());
        for patch in whole {
            let second = patch.weights.map(|weights| -> f64 {
                let at = |&v: &u32| height(mesh.positions[v as usize]);
                patch.vertices.iter().zip(weights).map(|(v, w)| w * at(v)).sum()
            });
            // The sum of squares does not depend on the axes of the triangle.
            let found: f64 = second.iter().map(|s| s * s).sum();
            assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn angles_give_the_curvature_of_a_regular_mesh_away_from_borders() {
        let mesh =
            generate::grid(&Grid { vertices: [7, 7], diagonals: Diagonals::Regular, ..Grid::default() });
        for patch in sheet_patches(&mesh.positions, &mesh.triangles, 1.0) {
            if !distinct(&patch.vertices) {
                continue;
            }
            let places = patch.vertices.map(|v| {
                let p = mesh.positions[v as usize];
                DVec2::new(p.x, p.z)
            });
            let area = patch.stiffness;
            let weights = from_angles(&places, &[Some(0); 3], area);
            // Bent along the diagonal.
            let height = |p: DVec2| 0.5 * (p.x + p.y) * (p.x + p.y);
            let second = weights.map(|w| -> f64 { places.iter().zip(w).map(|(p, w)| w * height(*p)).sum() });
            let found: f64 = second.iter().map(|s| s * s).sum();
            assert!((found - 4.0).abs() < 1e-9, "{found}");
        }
    }
}
