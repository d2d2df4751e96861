//! Fields: one number per particle of a body, for colour maps.
//!
//! Each function fills a list that the caller keeps, so that nothing is allocated per frame. Numbers are finite if
//! positions are. Mean curvature is the discrete one of Meyer, Desbrun, Schröder and Barr (*Discrete
//! differential-geometry operators for triangulated 2-manifolds*, 2003): cotangent weights over mixed areas.

use glam::DVec3;

use crate::contact::ContactPoint;
use crate::math::mix;
use crate::measure::intersections::BodyTriangle;
use crate::mesh::Topology;

/// Strain at each particle: of the edges that meet there, the l/l0 − 1 that is farthest from 0, with its sign. 0.1 is
/// stretched by a tenth, −0.1 squeezed.
///
/// A mean would hide what matters: cloth in shear or tension is squeezed across the direction in which it is stretched,
/// and the two cancel. The farthest edge shows where cloth is taut, where it is squeezed before it wrinkles, and, as tears
/// are judged edge by edge, where it will tear.
pub fn vertex_strain(topology: &Topology, x: &[DVec3], out: &mut Vec<f64>) {
    out.clear();
    out.resize(topology.len(), 0.0);
    for edge in topology.edges.iter().filter(|e| e.rest_length > 0.0) {
        let strain = x[edge.i as usize].distance(x[edge.j as usize]) / edge.rest_length - 1.0;
        for end in [edge.i, edge.j] {
            let worst = &mut out[end as usize];
            if strain.abs() > worst.abs() || (strain.abs() == worst.abs() && strain > *worst) {
                *worst = strain;
            }
        }
    }
}

/// Speed of each particle, m/s.
pub fn vertex_speed(v: &[DVec3], out: &mut Vec<f64>) {
    out.clear();
    out.extend(v.iter().map(|v| v.length()));
}

/// Where a body touched a collider in the last substep: 1 at particles of these contact points
/// ([`Contacts::points`](crate::contact::Contacts::points)), 0 elsewhere. Depths are not shown: at rest they are the fall of one
/// substep, and so tell the step size instead of the pressure.
pub fn vertex_contact(points: &[ContactPoint], particles: usize, out: &mut Vec<f64>) {
    out.clear();
    out.resize(particles, 0.0);
    for point in points {
        if let Some(value) = out.get_mut(point.vertex as usize) {
            *value = 1.0;
        }
    }
}

/// Where a body crosses itself or another: 1 at the corners of its triangles among `crossings`
/// ([`intersections::in_scene`](crate::measure::intersections::in_scene)), 0 elsewhere.
pub fn vertex_crossing(
    crossings: &[[BodyTriangle; 2]],
    body: u32,
    triangles: &[[u32; 3]],
    particles: usize,
    out: &mut Vec<f64>,
) {
    out.clear();
    out.resize(particles, 0.0);
    for crossing in crossings.iter().flatten().filter(|t| t.body == body) {
        for vertex in triangles.get(crossing.triangle as usize).into_iter().flatten() {
            if let Some(value) = out.get_mut(*vertex as usize) {
                *value = 1.0;
            }
        }
    }
}

/// Magnitude of the mean curvature at each particle, 1/m: 1/r on a sphere of radius r, 1/(2r) on a cylinder, 0 on a
/// plane however it is triangulated. 0 on borders, where a surface has no mean curvature, and for ropes.
pub fn vertex_curvature(topology: &Topology, x: &[DVec3], out: &mut Vec<f64>) {
    out.clear();
    out.extend((0..topology.len()).map(|p| curvature_at(topology, x, p)));
}

/// Half the length of the mean curvature normal: 1/(2A) Σ (cot α + cot β) (x_i − x_j), gathered triangle by triangle.
fn curvature_at(topology: &Topology, x: &[DVec3], particle: usize) -> f64 {
    let at = x[particle];
    let mut sum = DVec3::ZERO;
    let mut area = 0.0;
    // Every neighbour of an inner particle belongs to two of its triangles and cancels out; those on the border remain.
    let mut border = 0;
    for &t in topology.particle_triangles.row(particle) {
        let corners = topology.triangles[t as usize];
        let mut others = corners.into_iter().filter(|&w| w as usize != particle);
        let (Some(j), Some(k)) = (others.next(), others.next()) else { continue };
        border ^= mix(u64::from(j) + 1) ^ mix(u64::from(k) + 1);
        let (to_j, to_k) = (x[j as usize] - at, x[k as usize] - at);
        let across = x[k as usize] - x[j as usize];
        let double_area = to_j.cross(to_k).length();
        if double_area == 0.0 {
            continue;
        }
        let (dot_i, dot_j, dot_k) = (to_j.dot(to_k), -to_j.dot(across), to_k.dot(across));
        // The weight of the edge to j is the cotangent of the angle at k.
        sum -= (to_j * dot_k + to_k * dot_j) / double_area;
        area += if dot_i < 0.0 {
            double_area / 4.0
        } else if dot_j < 0.0 || dot_k < 0.0 {
            double_area / 8.0
        } else {
            (to_j.length_squared() * dot_k + to_k.length_squared() * dot_j) / (8.0 * double_area)
        };
    }
    let curvature = sum.length() / (4.0 * area);
    if border == 0 && curvature.is_finite() { curvature } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{cos, sin, uniform};
    use crate::mesh::generate;
    use crate::scene::Grid;

    fn topology(positions: Vec<DVec3>, triangles: Vec<[u32; 3]>) -> Topology {
        let n = positions.len();
        let mut topology = Topology {
            rest_positions: positions,
            masses: vec![1.0; n],
            triangles,
            parents: (0..n as u32).collect(),
            ..Topology::default()
        };
        topology.rebuild_derived();
        topology
    }

    fn curvature(topology: &Topology) -> Vec<f64> {
        let mut out = vec![7.0; 3];
        vertex_curvature(topology, &topology.rest_positions, &mut out);
        out
    }

    /// An octahedron whose triangles are divided in four again and again, on a sphere.
    fn sphere(radius: f64, divisions: u32) -> Topology {
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let mut positions: Vec<DVec3> = axes.into_iter().chain(axes.map(|a| -a)).collect();
        let mut triangles: Vec<[u32; 3]> =
            vec![[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]];
        for _ in 0..divisions {
            let mut middles = std::collections::BTreeMap::new();
            let mut finer = Vec::new();
            for [a, b, c] in triangles {
                let mut middle = |i: u32, j: u32| {
                    *middles.entry((i.min(j), i.max(j))).or_insert_with(|| {
                        positions.push((positions[i as usize] + positions[j as usize]).normalize());
                        positions.len() as u32 - 1
                    })
                };
                let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
                finer.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
            }
            triangles = finer;
        }
        topology(positions.into_iter().map(|p| p * radius).collect(), triangles)
    }

    #[test]
    fn a_sphere_has_the_curvature_of_its_radius_everywhere() {
        for radius in [0.1, 3.0] {
            for h in curvature(&sphere(radius, 4)) {
                assert!((h * radius - 1.0).abs() < 0.03, "{h} on a sphere of radius {radius}");
            }
        }
    }

    #[test]
    fn a_cylinder_has_half_the_curvature_of_its_radius_and_none_at_its_ends() {
        let (around, along, radius) = (60, 20, 0.2);
        let angle = |j: u32| std::f64::consts::TAU * f64::from(j) / f64::from(around);
        let at = |i: u32, j: u32| i * around + j % around;
        let positions = (0..along * around)
            .map(|p| {
                let (i, j) = (p / around, p % around);
                DVec3::new(radius * cos(angle(j)), 0.02 * f64::from(i), radius * sin(angle(j)))
            })
            .collect();
        let cells = (0..along - 1).flat_map(|i| (0..around).map(move |j| (i, j)));
        let triangles = cells
            .flat_map(|(i, j)| {
                let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
                [[a, b, c], [a, c, d]]
            })
            .collect();
        for (p, h) in (0..).zip(curvature(&topology(positions, triangles))) {
            let expected = if p < around || p >= (along - 1) * around { 0.0 } else { 0.5 / radius };
            assert!((h - expected).abs() <= 0.02 * expected, "{h} at {p}");
        }
    }

    #[test]
    fn a_plane_has_no_curvature_however_it_is_triangulated() {
        let mesh = generate::grid(&Grid { vertices: [12, 9], ..Grid::default() });
        let mut positions = mesh.positions;
        for (p, x) in positions.iter_mut().enumerate() {
            // Shaken in the plane by a third of a cell at most: triangles keep their orientation, angles do not.
            *x += DVec3::new(uniform(1, p as u64) - 0.5, 0.0, uniform(2, p as u64) - 0.5) * (0.6 / 11.0);
        }
        for h in curvature(&topology(positions, mesh.triangles)) {
            assert!(h < 1e-10, "{h}");
        }
    }

    #[test]
    fn degenerate_triangles_do_no_harm() {
        let flat = topology(vec![DVec3::ZERO; 4], vec![[0, 1, 2], [0, 2, 3], [0, 3, 1], [1, 1, 2]]);
        assert_eq!(curvature(&flat), [0.0; 4]);
    }

    #[test]
    fn strain_is_that_of_the_edge_that_is_worst_off() {
        let mesh = generate::grid(&Grid { vertices: [3, 3], size: [2.0, 2.0], ..Grid::default() });
        let cloth = topology(mesh.positions.clone(), mesh.triangles);
        let strain = |x: &[DVec3]| {
            let mut out = Vec::new();
            vertex_strain(&cloth, x, &mut out);
            out
        };
        assert_eq!(strain(&mesh.positions), [0.0; 9]);
        // Longer along x, shorter along z: the stretch is larger, so it is shown.
        let pulled: Vec<DVec3> =
            mesh.positions.iter().map(|p| DVec3::new(p.x * 1.3, 0.0, p.z * 0.9)).collect();
        assert!(strain(&pulled).iter().all(|s| (s - 0.3).abs() < 1e-12));
        // Squeezed along x alone.
        let squeezed: Vec<DVec3> = mesh.positions.iter().map(|p| DVec3::new(p.x * 0.8, 0.0, p.z)).collect();
        assert!(strain(&squeezed).iter().all(|s| (s + 0.2).abs() < 1e-12));
        // One corner moved: its own edges and no others.
        let mut moved = mesh.positions.clone();
        moved[0].x -= 1.0;
        let strains = strain(&moved);
        assert!((strains[0] - 1.0).abs() < 1e-12 && (strains[1] - 1.0).abs() < 1e-12);
        assert_eq!((strains[5], strains[8]), (0.0, 0.0));
    }

    #[test]
    fn speed_contact_and_crossing_have_one_number_per_particle() {
        let mut out = vec![9.0; 10];
        vertex_speed(&[DVec3::new(3.0, 4.0, 0.0), DVec3::ZERO], &mut out);
        assert_eq!(out, [5.0, 0.0]);
        let point =
            |vertex| ContactPoint { vertex, collider: 0, point: DVec3::ZERO, normal: DVec3::Y, depth: 0.0 };
        vertex_contact(&[point(1), point(3), point(99)], 5, &mut out);
        assert_eq!(out, [0.0, 1.0, 0.0, 1.0, 0.0]);
        let name = |body, triangle| BodyTriangle { body, triangle };
        let crossings = [[name(0, 0), name(1, 1)], [name(0, 0), name(1, 9)]];
        vertex_crossing(&crossings, 1, &[[0, 1, 2], [2, 4, 77]], 5, &mut out);
        assert_eq!(out, [0.0, 0.0, 1.0, 0.0, 1.0]);
    }
}
