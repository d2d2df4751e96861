//! Shapes made by formula: rectangles of cloth, balls, ropes and strands.

use glam::DVec3;

use super::{TriMesh, mesh_edges};
use crate::math;
use crate::scene::{Ball, Diagonals, Grid, GridPlane, Roots, Rope, Strands, Wave};

/// A rectangle of cloth (ESSI-17): vertex (i, j) has index i·columns + j; its corner (0, 0) is the origin.
pub fn grid(g: &Grid) -> TriMesh {
    let [columns, rows] = g.vertices.map(|n| n as usize);
    let at = |i: usize, j: usize| (i * columns + j) as u32;
    let mut mesh = TriMesh::default();
    for i in 0..rows {
        let v = i as f64 / (rows - 1) as f64;
        for j in 0..columns {
            let u = j as f64 / (columns - 1) as f64;
            let (along, down) = (u * g.size[0], v * g.size[1]);
            let wave = |w: &Wave| w.height * math::sin(w.along[0] * along + w.along[1] * down + w.phase);
            let lift: f64 = g.waves.iter().map(wave).sum();
            mesh.positions.push(match g.plane {
                GridPlane::Xz => DVec3::new(along, lift, down),
                GridPlane::Xy => DVec3::new(along, -down, lift),
            });
            mesh.uvs.push([u, 1.0 - v]);
        }
    }
    for i in 0..rows - 1 {
        for j in 0..columns - 1 {
            let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
            if g.diagonals == Diagonals::Regular || (i + j) % 2 == 0 {
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            } else {
                mesh.triangles.extend([[a, b, d], [b, c, d]]);
            }
        }
    }
    mesh
}

/// A hollow ball around the origin: an icosahedron whose triangles are cut in four again and again, facing outwards.
pub fn ball(b: &Ball) -> TriMesh {
    let golden = 0.5 * (1.0 + f64::sqrt(5.0));
    // The corners of three golden rectangles.
    let corners = [(-1.0, golden), (1.0, golden), (-1.0, -golden), (1.0, -golden)];
    let mut positions: Vec<DVec3> = Vec::new();
    positions.extend(corners.map(|(s, l)| DVec3::new(s, l, 0.0)));
    positions.extend(corners.map(|(s, l)| DVec3::new(0.0, s, l)));
    positions.extend(corners.map(|(s, l)| DVec3::new(l, 0.0, s)));
    // The corners of a triangle are 2 apart; the third one completes it, turned outwards.
    let joined = |i: usize, j: usize| (positions[i].distance(positions[j]) - 2.0).abs() < 1e-9;
    let mut triangles: Vec<[u32; 3]> = Vec::new();
    for i in 0..12 {
        for j in (i + 1..12).filter(|&j| joined(i, j)) {
            for k in (j + 1..12).filter(|&k| joined(i, k) && joined(j, k)) {
                let outward = positions[i].dot(positions[j].cross(positions[k])) > 0.0;
                let [i, j, k] = [i, j, k].map(|v| v as u32);
                triangles.push(if outward { [i, j, k] } else { [i, k, j] });
            }
        }
    }
    for _ in 0..b.subdivisions {
        let edges = mesh_edges(&triangles, &[]);
        let first = positions.len() as u32;
        positions.extend(
            edges.iter().map(|&(i, j)| positions[i as usize] + positions[j as usize]).collect::<Vec<_>>(),
        );
        positions.iter_mut().for_each(|p| *p = p.normalize());
        let middle = |i: u32, j: u32| {
            let edge = edges.binary_search(&(i.min(j), i.max(j)));
            first + edge.unwrap_or_default() as u32
        };
        triangles = triangles
            .iter()
            .flat_map(|&[i, j, k]| {
                let (a, b, c) = (middle(j, k), middle(k, i), middle(i, j));
                [[i, c, b], [c, j, a], [b, a, k], [a, b, c]]
            })
            .collect();
    }
    positions.iter_mut().for_each(|p| *p = p.normalize() * b.radius);
    TriMesh { positions, triangles, uvs: Vec::new() }
}

/// The vertices of a rope, from the origin along its direction.
pub fn rope(r: &Rope) -> Vec<DVec3> {
    let direction = DVec3::from(r.direction).normalize();
    (0..r.vertices).map(|i| direction * (r.length * i as f64 / (r.vertices - 1) as f64)).collect()
}

/// The vertices of strands, one strand after the other.
///
/// Roots lie on a spiral whose turns differ by the golden angle, which spreads them evenly, and are moved by up to a third of
/// their distance. A curl is a helix about the direction of its strand, followed by its length.
pub fn strands(s: &Strands) -> Vec<DVec3> {
    let count = f64::from(s.strands);
    let golden = std::f64::consts::PI * (3.0 - f64::sqrt(5.0));
    let around = std::f64::consts::TAU * s.curl_radius;
    let turn = f64::sqrt(s.curl_pitch * s.curl_pitch + around * around);
    let mut positions = Vec::new();
    for k in 0..s.strands {
        let random = |what: u64| math::uniform(u64::from(s.seed), 8 * u64::from(k) + what);
        // The share of the area inside, and the angle; a third of the distance between roots is 1/3 of an equal share.
        let share = (f64::from(k) + 0.5 + (random(0) - 0.5) / 1.5) / count;
        let angle = golden * (f64::from(k) + (random(1) - 0.5) / 1.5 / f64::sqrt(f64::from(k) + 1.0));
        let (sine, cosine) = (math::sin(angle), math::cos(angle));
        let (root, out) = match s.roots {
            Roots::Disc => (DVec3::new(cosine, 0.0, sine) * (s.radius * f64::sqrt(share)), DVec3::Y),
            Roots::Hemisphere => {
                // Slices of equal height of a sphere have equal areas.
                let height = 1.0 - share;
                let across = f64::sqrt((1.0 - height * height).max(0.0));
                let out = DVec3::new(across * cosine, height, across * sine);
                (out * s.radius, out)
            }
        };
        let tilt = DVec3::new(random(2) - 0.5, random(3) - 0.5, random(4) - 0.5) * 0.2;
        let along = (out + tilt).normalize();
        let (u, v) = along.any_orthonormal_pair();
        let phase = std::f64::consts::TAU * random(5);
        let curl = |angle: f64| (u * math::cos(angle) + v * math::sin(angle)) * s.curl_radius;
        for i in 0..=s.segments {
            let length = s.length * f64::from(i) / f64::from(s.segments);
            positions.push(if s.curl_radius > 0.0 {
                let turns = length / turn;
                let angle = std::f64::consts::TAU * turns;
                root + along * (s.curl_pitch * turns) + curl(phase + angle) - curl(phase)
            } else {
                root + along * length
            });
        }
    }
    positions
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::triangle_area;

    #[test]
    fn grid_faces_up_and_has_the_area_of_the_rectangle() {
        for plane in [GridPlane::Xz, GridPlane::Xy] {
            for diagonals in [Diagonals::Regular, Diagonals::Alternating] {
                let mesh =
                    grid(&Grid { size: [2.0, 3.0], vertices: [5, 4], plane, diagonals, waves: Vec::new() });
                mesh.validate().unwrap();
                let up = if plane == GridPlane::Xz { DVec3::Y } else { DVec3::Z };
                let mut area = 0.0;
                for t in &mesh.triangles {
                    let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
                    assert!((b - a).cross(c - a).dot(up) > 0.0);
                    area += triangle_area(a, b, c);
                }
                assert!((area - 6.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn strands_have_their_length_grow_outwards_and_curl() {
        for roots in [Roots::Disc, Roots::Hemisphere] {
            for curl_radius in [0.0, 0.01] {
                let s = Strands { strands: 50, segments: 60, roots, curl_radius, ..Strands::default() };
                let points = strands(&s);
                assert_eq!(points.len(), 50 * 61);
                for strand in points.chunks(61) {
                    let length: f64 = strand.windows(2).map(|w| w[0].distance(w[1])).sum();
                    // Chords of a helix of n segments a turn are shorter by (2π/n)²/24.
                    assert!(length < 0.3 + 1e-9 && length > 0.3 * 0.98, "{length}");
                    let root = strand[0];
                    let out = if roots == Roots::Disc { DVec3::Y } else { root.normalize() };
                    assert!((strand[60] - root).dot(out) > if curl_radius > 0.0 { 0.05 } else { 0.28 });
                    assert!(root.y >= -1e-12 && root.length() < 0.1 + 1e-9);
                    // Every bend of a helix is the same.
                    let bend = |k: usize| (strand[k - 1] + strand[k + 1] - strand[k] * 2.0).length();
                    assert!((2..60).all(|k| (bend(k) - bend(1)).abs() < 1e-9));
                    assert_eq!(bend(1) > 1e-6, curl_radius > 0.0);
                }
            }
        }
    }

    #[test]
    fn rope_has_its_length() {
        let points = rope(&Rope { length: 2.0, vertices: 11, direction: [3.0, 0.0, 4.0], ..Rope::default() });
        assert_eq!(points.len(), 11);
        assert!((points[10].length() - 2.0).abs() < 1e-14);
    }
}
