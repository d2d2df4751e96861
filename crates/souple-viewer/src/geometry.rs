//! Shapes to be drawn: normals, texture coordinates, meshes of colliders, tubes around ropes, silhouettes, elements of solids.
//!
//! What is simulated has no thickness and no texture; what is seen has (ESSI-51). All of it is plain functions on slices.
//! Normals are weighted by area; frames along a rope are carried without twist (Bishop 1975, "There is more than one way
//! to frame a curve"); silhouettes are the edges between a triangle that faces the eye and one that does not (ESSI-65,
//! ESSI-66).
//!
//! Promised: no panic for any indices or positions; what is not finite or out of range is left out. Triangles of closed
//! shapes are counter-clockwise seen from outside.

use std::collections::BTreeMap;
use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{DVec3, Vec3};
use souple::contact::primitives::Primitive;
use souple::mesh::{ColliderMesh, Topology, mesh_edges};

use crate::capture::{ItemMesh, Moment};
use crate::looks::{Line, Looks};

mod tube;

pub use tube::{Tube, tube};

/// Triangle index of an edge that has none on that side.
pub const NONE: u32 = u32::MAX;
/// Sectors of round colliders about their axis.
const SECTORS: u32 = 64;
/// Rings of a half sphere from its equator to its pole.
const HALF_RINGS: u32 = 16;
/// Sides of the tube that a rope is drawn as.
pub const ROPE_SIDES: u32 = 10;
/// Width of the lines of elements, pixels, in a picture 720 pixels high.
const CELL_LINE: f32 = 1.3;
/// Colour of the lines of elements, linear, with opacity.
const CELL_COLOUR: [f32; 4] = [0.01, 0.01, 0.015, 0.75];

/// Texture coordinates of a shape without any: its projection along its thinnest direction, 1 unit per metre, from 0.
pub fn planar_uvs(rest: &[DVec3]) -> Vec<[f32; 2]> {
    let finite = || rest.iter().filter(|p| p.is_finite());
    let low = finite().copied().reduce(DVec3::min).unwrap_or(DVec3::ZERO);
    let high = finite().copied().reduce(DVec3::max).unwrap_or(DVec3::ZERO);
    let extent = (high - low).to_array();
    let mut axes = [0, 1, 2];
    // A stable sort: of equally wide axes the first ones count.
    axes.sort_by(|a, b| extent[*b].total_cmp(&extent[*a]));
    let (u, v) = (axes[0].min(axes[1]), axes[0].max(axes[1]));
    let project = |p: &DVec3| match p.is_finite() {
        true => [(p[u] - low[u]) as f32, (p[v] - low[v]) as f32],
        false => [0.0; 2],
    };
    rest.iter().map(project).collect()
}

/// Edges of the tetrahedra and hexahedra of a solid, each once, sorted.
pub fn element_edges(topology: &Topology) -> Vec<[u32; 2]> {
    let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
    let of_tetrahedra = topology.tetrahedra.iter().flat_map(|t| pairs.map(|(a, b)| [t[a], t[b]]));
    // Corners of a cell are at x, y, z by their bits: an edge changes one of them.
    let of_cells = topology.hexahedra.iter().flat_map(|h| {
        (0..8).flat_map(move |c| {
            [1, 2, 4].into_iter().filter(move |bit| c & bit == 0).map(move |bit| [h[c], h[c | bit]])
        })
    });
    let mut edges: Vec<[u32; 2]> = of_tetrahedra.chain(of_cells).map(|[a, b]| [a.min(b), a.max(b)]).collect();
    edges.sort_unstable();
    edges.dedup();
    edges
}

/// The lines of the elements of what is drawn with them, in a picture of that height.
pub fn cell_lines(moment: &Moment, looks: &Looks, height: u32) -> Vec<Line> {
    let width = CELL_LINE * (height as f32 / 720.0).max(0.5);
    let shown =
        moment.items.iter().filter(|item| looks.of(item).is_some_and(|look| look.visible && look.cells));
    shown
        .flat_map(|item| {
            item.mesh.cells.iter().filter_map(move |edge| {
                let [from, to] = edge.map(|v| item.positions.get(v as usize).copied());
                let at = |p| item.transform.transform_point3(p);
                Some(Line { from: at(from?), to: at(to?), colour: CELL_COLOUR, width, on_top: false })
            })
        })
        .collect()
}

/// The two triangles on both sides of each edge, [`NONE`] where there is none; of more than two, the first two. Edges
/// have their lower end first and are best sorted. Empty when there are no triangles.
pub fn edge_triangles(edges: &[[u32; 2]], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
    if triangles.is_empty() {
        return Vec::new();
    }
    let mut order: Vec<u32> = (0..edges.len() as u32).collect();
    if !edges.is_sorted() {
        order.sort_by_key(|&e| edges[e as usize]);
    }
    let mut sides = vec![[NONE; 2]; edges.len()];
    for (t, corners) in triangles.iter().enumerate() {
        for k in 0..3 {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            let key = [a.min(b), a.max(b)];
            let Ok(place) = order.binary_search_by_key(&key, |&e| edges[e as usize]) else { continue };
            let side = &mut sides[order[place] as usize];
            if let Some(free) = side.iter_mut().find(|side| **side == NONE) {
                *free = t as u32;
            }
        }
    }
    sides
}

/// Unit normals of vertices, each the mean of the triangles around it by area; +y where there is none.
pub fn vertex_normals(positions: &[Vec3], triangles: &[[u32; 3]], out: &mut Vec<Vec3>) {
    out.clear();
    out.resize(positions.len(), Vec3::ZERO);
    for t in triangles {
        let [a, b, c] = t.map(|v| v as usize);
        let (Some(&p), Some(&q), Some(&r)) = (positions.get(a), positions.get(b), positions.get(c)) else {
            continue;
        };
        let area = (q - p).cross(r - p);
        if area.is_finite() {
            out[a] += area;
            out[b] += area;
            out[c] += area;
        }
    }
    for normal in out {
        *normal = unit(*normal).unwrap_or(Vec3::Y);
    }
}

/// Unit vector along a vector of any size whose square need not be a number; nothing for zero or what is not finite.
fn unit(v: Vec3) -> Option<Vec3> {
    let largest = v.abs().max_element();
    (largest > 0.0 && v.is_finite()).then(|| (v / largest).normalize())
}

/// Edges between a triangle that faces the eye and one that faces away, and all edges with a triangle on one side only:
/// cloth is open, and its border is part of its outline. `eye` is in the frame of the positions.
pub fn silhouette_edges(mesh: &ItemMesh, positions: &[Vec3], eye: Vec3) -> Vec<[u32; 2]> {
    let at = |v: u32| positions.get(v as usize).copied().filter(|p| p.is_finite());
    let facing = |t: &[u32; 3]| {
        let (Some(p), Some(q), Some(r)) = (at(t[0]), at(t[1]), at(t[2])) else { return false };
        (q - p).cross(r - p).dot(eye - p) > 0.0
    };
    let facing: Vec<bool> = mesh.triangles.iter().map(facing).collect();
    let is_outline = |sides: &[u32; 2]| match sides.map(|t| facing.get(t as usize)) {
        [Some(one), Some(other)] => one != other,
        [Some(_), None] | [None, Some(_)] => true,
        [None, None] => false,
    };
    let edges = mesh.edges.iter().zip(&mesh.edge_triangles);
    edges
        .filter(|(edge, sides)| is_outline(sides) && edge.iter().all(|v| at(*v).is_some()))
        .map(|(edge, _)| *edge)
        .collect()
}

/// A collider as a mesh in its own frame. Planes are squares of ± `plane_half_size`. Texture coordinates are in metres.
/// Flat faces have corners of their own, so that their normals are sharp; wireframes of boxes and cylinders leave out
/// the diagonals of flat faces.
pub fn primitive_mesh(shape: &Primitive, plane_half_size: f32) -> (Vec<Vec3>, ItemMesh) {
    let mut builder = Builder::default();
    match *shape {
        Primitive::Sphere { radius } => builder.lathe(&capsule_profile(radius as f32, 0.0)),
        Primitive::Capsule { radius, half_height } => {
            builder.lathe(&capsule_profile(radius as f32, half_height as f32));
        }
        Primitive::Cylinder { radius, half_height } => builder.cylinder(radius as f32, half_height as f32),
        Primitive::Box { half } => builder.cuboid(half.as_vec3()),
        Primitive::Plane { normal } => {
            let up = unit(normal.as_vec3()).unwrap_or(Vec3::Y);
            // Aligned with the world when the plane is: x to the right of a floor, and of a wall that faces +z.
            let across = unit(Vec3::X - up * up.x).filter(|_| up.x.abs() < 0.9);
            let across = across.unwrap_or_else(|| up.cross(Vec3::Y).normalize_or(Vec3::Z));
            builder.quad(Vec3::ZERO, across * plane_half_size, up.cross(across) * plane_half_size);
        }
    }
    let (positions, mesh) =
        builder.finish(matches!(shape, Primitive::Sphere { .. } | Primitive::Capsule { .. }));
    (positions, ItemMesh { endless: matches!(shape, Primitive::Plane { .. }), ..mesh })
}

/// A collider that is a mesh, in its own frame. Its vertices are shared by their triangles, so that normals are smooth.
pub fn collider_mesh(collider: &ColliderMesh) -> (Vec<Vec3>, ItemMesh) {
    let edges: Vec<[u32; 2]> = mesh_edges(&collider.triangles, &[]).iter().map(|&(i, j)| [i, j]).collect();
    let uvs = match collider.uvs.is_empty() {
        true => planar_uvs(&collider.positions),
        false => collider.uvs.iter().map(|uv| uv.map(|c| c as f32)).collect(),
    };
    let mesh = ItemMesh {
        edge_triangles: edge_triangles(&edges, &collider.triangles),
        triangles: collider.triangles.clone(),
        edges,
        uvs,
        ..ItemMesh::default()
    };
    (collider.positions.iter().map(|p| p.as_vec3()).collect(), mesh)
}

/// Radius, height and arc length of a half circle, or of two quarter circles with a straight part between them, from
/// the lower pole to the upper one.
fn capsule_profile(radius: f32, half_height: f32) -> Vec<[f32; 3]> {
    let mut profile = Vec::new();
    let quarter = radius * FRAC_PI_2;
    for ring in 0..=2 * HALF_RINGS {
        let angle = FRAC_PI_2 * (ring as f32 / HALF_RINGS as f32 - 1.0);
        let (sin, cos) = angle.sin_cos();
        // Exactly on the axis at the poles.
        let cos = if ring == 0 || ring == 2 * HALF_RINGS { 0.0 } else { cos };
        let arc = quarter * ring as f32 / HALF_RINGS as f32;
        if ring <= HALF_RINGS {
            profile.push([radius * cos, radius * sin - half_height, arc]);
        }
        if ring > HALF_RINGS || (ring == HALF_RINGS && half_height > 0.0) {
            profile.push([radius * cos, radius * sin + half_height, arc + 2.0 * half_height]);
        }
    }
    profile
}

#[derive(Default)]
struct Builder {
    positions: Vec<Vec3>,
    uvs: Vec<[f32; 2]>,
    triangles: Vec<[u32; 3]>,
}

impl Builder {
    fn vertex(&mut self, position: Vec3, uv: [f32; 2]) -> u32 {
        self.positions.push(position);
        self.uvs.push(uv);
        self.positions.len() as u32 - 1
    }

    /// A ring about y. Texture coordinates go up on one half and down on the other: no seam, so that the vertices are
    /// shared all around and normals are smooth.
    fn ring(&mut self, radius: f32, y: f32, v: f32) -> Vec<u32> {
        let place = |k: u32| {
            let angle = TAU * k as f32 / SECTORS as f32;
            let around = if angle <= PI { angle } else { TAU - angle };
            (Vec3::new(radius * angle.sin(), y, radius * angle.cos()), [radius * around, v])
        };
        (0..SECTORS).map(place).map(|(position, uv)| self.vertex(position, uv)).collect()
    }

    /// Turns a profile of radius, height and arc length about y, from below to above; radius 0 closes it.
    fn lathe(&mut self, profile: &[[f32; 3]]) {
        let mut below: Option<Vec<u32>> = None;
        for &[radius, y, arc] in profile {
            let ring = match radius == 0.0 {
                true => vec![self.vertex(Vec3::new(0.0, y, 0.0), [0.0, arc])],
                false => self.ring(radius, y, arc),
            };
            if let Some(below) = &below {
                self.band(below, &ring);
            }
            below = Some(ring);
        }
    }

    /// Triangles between two rings, the lower one first; a ring of one vertex is a pole.
    fn band(&mut self, below: &[u32], above: &[u32]) {
        let count = below.len().max(above.len());
        let at = |ring: &[u32], k: usize| ring[k % ring.len()];
        for k in 0..count {
            let [a, b] = [k, k + 1].map(|k| at(below, k));
            let [c, d] = [k, k + 1].map(|k| at(above, k));
            if a != b {
                self.triangles.push([a, b, d]);
            }
            if c != d {
                self.triangles.push([a, d, c]);
            }
        }
    }

    fn cylinder(&mut self, radius: f32, half_height: f32) {
        let below = self.ring(radius, -half_height, 0.0);
        let above = self.ring(radius, half_height, 2.0 * half_height);
        self.band(&below, &above);
        for (y, is_top) in [(-half_height, false), (half_height, true)] {
            let centre = self.vertex(Vec3::new(0.0, y, 0.0), [radius; 2]);
            let rim = self.ring(radius, y, 0.0);
            for (k, &v) in rim.iter().enumerate() {
                let p = self.positions[v as usize];
                self.uvs[v as usize] = [radius + p.x, radius + p.z];
                let next = rim[(k + 1) % rim.len()];
                self.triangles.push(if is_top { [centre, v, next] } else { [centre, next, v] });
            }
        }
    }

    /// A rectangle of half sides `across` and `up`, seen from `across` × `up`.
    fn quad(&mut self, centre: Vec3, across: Vec3, up: Vec3) {
        let (width, height) = (across.length(), up.length());
        let corners = [(-1.0f32, -1.0f32), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
        let [a, b, c, d] = corners
            .map(|(x, y)| self.vertex(centre + across * x + up * y, [(x + 1.0) * width, (1.0 - y) * height]));
        self.triangles.extend([[a, b, c], [a, c, d]]);
    }

    fn cuboid(&mut self, half: Vec3) {
        let [x, y, z] = [Vec3::X * half.x, Vec3::Y * half.y, Vec3::Z * half.z];
        for (outward, across, up) in [(x, -z, y), (-x, z, y), (y, x, -z), (-y, x, z), (z, x, y), (-z, -x, y)]
        {
            self.quad(outward, across, up);
        }
    }

    /// The mesh with its edges. Corners at the same place count as one for them. Edges in the middle of a flat face are
    /// kept only with `flat_edges`.
    fn finish(self, flat_edges: bool) -> (Vec<Vec3>, ItemMesh) {
        let Builder { positions, uvs, triangles } = self;
        let mut places = BTreeMap::new();
        let welded: Vec<u32> = positions
            .iter()
            .enumerate()
            // Adding zero makes −0 and 0 the same place.
            .map(|(v, p)| *places.entry((*p + Vec3::ZERO).to_array().map(f32::to_bits)).or_insert(v as u32))
            .collect();
        let mut found: BTreeMap<[u32; 2], ([u32; 2], [u32; 2])> = BTreeMap::new();
        for (t, corners) in triangles.iter().enumerate() {
            for k in 0..3 {
                let (a, b) = (corners[k], corners[(k + 1) % 3]);
                let (p, q) = (welded[a as usize], welded[b as usize]);
                if p == q {
                    continue;
                }
                let entry = found.entry([p.min(q), p.max(q)]);
                let (_, sides) = entry.or_insert(([a.min(b), a.max(b)], [NONE; 2]));
                if let Some(free) = sides.iter_mut().find(|side| **side == NONE) {
                    *free = t as u32;
                }
            }
        }
        let normal = |t: u32| {
            let [p, q, r] = triangles[t as usize].map(|v| positions[v as usize]);
            unit((q - p).cross(r - p)).unwrap_or(Vec3::ZERO)
        };
        let is_flat = |[a, b]: [u32; 2]| a != NONE && b != NONE && normal(a).dot(normal(b)) > 1.0 - 1e-6;
        let mut mesh = ItemMesh::default();
        for (edge, sides) in found.into_values() {
            if flat_edges || !is_flat(sides) {
                mesh.edges.push(edge);
                mesh.edge_triangles.push(sides);
            }
        }
        (positions, ItemMesh { triangles, uvs, ..mesh })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    pub(super) fn area(positions: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
        let area = |t: &[u32; 3]| {
            let [p, q, r] = t.map(|v| positions[v as usize]);
            0.5 * (q - p).cross(r - p).length()
        };
        triangles.iter().map(area).sum()
    }

    pub(super) fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f32 {
        let volume = |t: &[u32; 3]| {
            let [p, q, r] = t.map(|v| positions[v as usize]);
            p.dot(q.cross(r)) / 6.0
        };
        triangles.iter().map(volume).sum()
    }

    /// Vertices − edges + triangles with corners at the same place counted once; every edge must have two triangles
    /// that run along it in opposite directions.
    pub(super) fn euler(positions: &[Vec3], triangles: &[[u32; 3]]) -> i64 {
        let place = |v: u32| (positions[v as usize] + Vec3::ZERO).to_array().map(f32::to_bits);
        let mut vertices = BTreeSet::new();
        let mut edges = BTreeMap::new();
        for t in triangles {
            for k in 0..3 {
                let (a, b) = (place(t[k]), place(t[(k + 1) % 3]));
                vertices.insert(a);
                *edges.entry((a.min(b), a.max(b))).or_insert(0) += if a < b { 1 } else { -1 };
            }
        }
        assert!(edges.values().all(|sum| *sum == 0), "an edge is open or turned around");
        vertices.len() as i64 - edges.len() as i64 + triangles.len() as i64
    }

    fn closed_shapes() -> [(Primitive, f64, f64); 5] {
        use std::f64::consts::PI;
        let (r, h) = (0.3f64, 0.5f64);
        let half = DVec3::new(0.2, 0.5, 0.7);
        [
            (Primitive::Sphere { radius: r }, 4.0 * PI * r * r, 4.0 / 3.0 * PI * r.powi(3)),
            (
                Primitive::Box { half },
                8.0 * (half.x * half.y + half.y * half.z + half.z * half.x),
                8.0 * half.x * half.y * half.z,
            ),
            (
                Primitive::Capsule { radius: r, half_height: h },
                4.0 * PI * r * (r + h),
                PI * r * r * (4.0 / 3.0 * r + 2.0 * h),
            ),
            (
                Primitive::Capsule { radius: r, half_height: 0.0 },
                4.0 * PI * r * r,
                4.0 / 3.0 * PI * r.powi(3),
            ),
            (
                Primitive::Cylinder { radius: r, half_height: h },
                2.0 * PI * r * (r + 2.0 * h),
                2.0 * PI * r * r * h,
            ),
        ]
    }

    #[test]
    fn closed_shapes_are_closed_outward_and_of_the_right_size() {
        for (shape, exact_area, exact_volume) in closed_shapes() {
            let (positions, mesh) = primitive_mesh(&shape, 1.0);
            assert_eq!(euler(&positions, &mesh.triangles), 2, "{shape:?}");
            assert_eq!(mesh.uvs.len(), positions.len());
            assert_eq!(mesh.edges.len(), mesh.edge_triangles.len());
            assert!(mesh.edge_triangles.iter().flatten().all(|t| *t != NONE));
            // Flat facets in a circle of 64 sectors lose less than 0.5 %.
            let (area, volume) = (area(&positions, &mesh.triangles), volume(&positions, &mesh.triangles));
            assert!(
                (f64::from(area) / exact_area - 1.0).abs() < 5e-3,
                "{shape:?}: area {area}, {exact_area}"
            );
            assert!(
                (f64::from(volume) / exact_volume - 1.0).abs() < 5e-3,
                "{shape:?}: {volume}, {exact_volume}"
            );
            let mut normals = Vec::new();
            vertex_normals(&positions, &mesh.triangles, &mut normals);
            for (p, n) in positions.iter().zip(&normals) {
                let p = p.as_dvec3();
                assert!(shape.signed_distance(p).abs() < 1e-6, "{shape:?} at {p}");
                // Outward: a small step along the normal leads away by that step (on rounded facets, nearly).
                let away = shape.signed_distance(p + n.as_dvec3() * 1e-3);
                assert!((away - 1e-3).abs() < 2e-5, "{shape:?} at {p}: {away}");
            }
        }
    }

    #[test]
    fn elements_have_each_edge_once() {
        let cells = Topology { hexahedra: vec![[0, 1, 2, 3, 4, 5, 6, 7]], ..Topology::default() };
        let edges = element_edges(&cells);
        assert_eq!(edges.len(), 12);
        assert!(edges.iter().all(|[a, b]| (a ^ b).is_power_of_two()), "a diagonal");
        // Two tetrahedra with a face in common: 6 + 6 − 3.
        let pair = Topology { tetrahedra: vec![[0, 1, 2, 3], [3, 2, 1, 9]], ..Topology::default() };
        assert_eq!(element_edges(&pair).len(), 9);
        assert!(element_edges(&Topology::default()).is_empty());
    }

    #[test]
    fn spheres_are_fine_and_boxes_are_plain() {
        let (_, sphere) = primitive_mesh(&Primitive::Sphere { radius: 1.0 }, 1.0);
        assert!(sphere.triangles.len() >= 1000);
        let (positions, cuboid) = primitive_mesh(&Primitive::Box { half: DVec3::ONE }, 1.0);
        assert_eq!((positions.len(), cuboid.triangles.len(), cuboid.edges.len()), (24, 12, 12));
        for edge in &cuboid.edges {
            let [p, q] = edge.map(|v| positions[v as usize]);
            assert_eq!(p.distance(q), 2.0, "a diagonal");
        }
        let (_, cylinder) = primitive_mesh(&Primitive::Cylinder { radius: 1.0, half_height: 1.0 }, 1.0);
        assert_eq!(cylinder.edges.len() as u32, 3 * SECTORS);
    }

    #[test]
    fn planes_are_squares_that_face_along_their_normal() {
        for normal in [DVec3::Y, -DVec3::Y, DVec3::X, DVec3::Z, DVec3::new(0.6, 0.0, 0.8), DVec3::NEG_X] {
            let (positions, mesh) = primitive_mesh(&Primitive::Plane { normal }, 3.0);
            assert_eq!((positions.len(), mesh.triangles.len(), mesh.edges.len()), (4, 2, 4));
            assert!((area(&positions, &mesh.triangles) - 36.0).abs() < 1e-3);
            let mut normals = Vec::new();
            vertex_normals(&positions, &mesh.triangles, &mut normals);
            for (p, n) in positions.iter().zip(normals) {
                assert!(n.distance(normal.as_vec3()) < 1e-6 && n.dot(*p).abs() < 1e-6, "{normal}: {n}");
            }
        }
    }

    #[test]
    fn odd_shapes_do_no_harm() {
        let (positions, _) = primitive_mesh(&Primitive::Plane { normal: DVec3::ZERO }, f32::NAN);
        assert_eq!(positions.len(), 4);
        for radius in [0.0, -1.0, f64::NAN, 1e300] {
            for shape in [
                Primitive::Sphere { radius },
                Primitive::Capsule { radius, half_height: radius },
                Primitive::Cylinder { radius, half_height: radius },
                Primitive::Box { half: DVec3::splat(radius) },
            ] {
                primitive_mesh(&shape, 1.0);
            }
        }
    }

    #[test]
    fn the_outline_of_a_sphere_is_one_closed_loop() {
        let (positions, mesh) = primitive_mesh(&Primitive::Sphere { radius: 1.0 }, 1.0);
        for eye in [Vec3::new(3.0, 1.0, 2.0), Vec3::new(0.0, 5.0, 0.0), Vec3::new(-1.1, 0.3, 0.2)] {
            let outline = silhouette_edges(&mesh, &positions, eye);
            let mut next: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for [a, b] in &outline {
                next.entry(*a).or_default().push(*b);
                next.entry(*b).or_default().push(*a);
            }
            assert!(next.values().all(|n| n.len() == 2), "it branches or ends");
            let start = outline[0][0];
            let (mut before, mut at, mut steps) = (start, next[&start][0], 1);
            while at != start {
                (before, at) = (at, if next[&at][0] == before { next[&at][1] } else { next[&at][0] });
                steps += 1;
            }
            assert_eq!(steps, outline.len(), "more than one loop");
            // Where lines of sight touch a sphere: p · eye = 1. A facet reaches half a sector to either side.
            for edge in &outline {
                let off = positions[edge[0] as usize].dot(eye) - 1.0;
                assert!(off.abs() < 0.1 * eye.length(), "{off}");
            }
        }
    }

    #[test]
    fn the_outline_of_a_cloth_has_its_border() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(1.0, 0.0, 1.0)];
        let triangles = vec![[0, 1, 2], [1, 3, 2]];
        let edges = vec![[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]];
        let sides = edge_triangles(&edges, &triangles);
        assert_eq!(sides, [[0, NONE], [0, NONE], [0, 1], [1, NONE], [1, NONE]]);
        let mesh = ItemMesh { triangles, edges, edge_triangles: sides, ..ItemMesh::default() };
        for eye in [Vec3::Y, -Vec3::Y] {
            assert_eq!(silhouette_edges(&mesh, &positions, eye), [[0, 1], [0, 2], [1, 3], [2, 3]]);
        }
        // Folded along the diagonal and seen from the side, the fold is part of it.
        let folded = [Vec3::ZERO, Vec3::X, Vec3::Z, Vec3::new(0.0, 0.9, 0.0)];
        let outline = silhouette_edges(&mesh, &folded, Vec3::new(2.0, 0.1, 2.0));
        assert!(outline.contains(&[1, 2]), "{outline:?}");
    }

    #[test]
    fn edges_need_not_be_sorted() {
        let triangles = [[0, 1, 2], [1, 3, 2]];
        assert_eq!(
            edge_triangles(&[[2, 3], [1, 2], [7, 9], [0, 1]], &triangles),
            [[1, NONE], [0, 1], [NONE, NONE], [0, NONE]]
        );
        assert!(edge_triangles(&[[0, 1]], &[]).is_empty());
    }

    #[test]
    fn normals_survive_what_is_not_a_number() {
        let positions = [Vec3::ZERO, Vec3::Z, Vec3::X, Vec3::NAN, Vec3::ONE];
        let mut normals = vec![Vec3::NAN; 9];
        vertex_normals(&positions, &[[0, 1, 2], [0, 1, 3], [0, 0, 1], [0, 1, 99]], &mut normals);
        assert_eq!(normals, [Vec3::Y; 5]);
        for scale in [1e-15f32, 1e15] {
            let scaled = [Vec3::ZERO, Vec3::X * scale, Vec3::Y * scale];
            vertex_normals(&scaled, &[[0, 1, 2]], &mut normals);
            assert_eq!(normals, [Vec3::Z; 3]);
        }
    }

    #[test]
    fn coordinates_are_metres_on_the_two_widest_axes() {
        let flat = [DVec3::new(1.0, 5.0, 2.0), DVec3::new(3.0, 5.0, 2.5), DVec3::new(1.5, 5.01, 6.0)];
        assert_eq!(planar_uvs(&flat), [[0.0, 0.0], [2.0, 0.5], [0.5, 4.0]]);
        assert_eq!(planar_uvs(&[DVec3::NAN, DVec3::ONE]), [[0.0; 2]; 2]);
        assert!(planar_uvs(&[]).is_empty());
        assert_eq!(planar_uvs(&[DVec3::ONE; 3]), [[0.0; 2]; 3]);
    }
}
