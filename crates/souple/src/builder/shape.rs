//! Checks shapes of soft bodies and puts them into the world.

use glam::DVec3;

use super::elastic::PlacedLayer;
use super::embed::PlacedCells;
use super::materials::Labelled;
use super::resolution::Divided;
use super::solid::place_block;
use super::tet_mesh::place_mesh;
use super::voxels::place_voxels;
use super::{Checked, LARGEST, direction, finite, not_negative, positive, vector, wrong};
use crate::mapping::Mapping;
use crate::math::rotation;
use crate::mesh::{MAX_VERTICES, TriMesh, bounds, generate, triangle_area};
use crate::scene::{Grid, Placement, RopeMass, Shape, Strands};

/// A ball of a million vertices has so many subdivisions.
const MAX_SUBDIVISIONS: u32 = 8;

/// The shape of a body, placed in the world.
#[derive(Default)]
pub(super) struct Placed {
    pub(super) mesh: TriMesh,
    pub(super) segments: Vec<[u32; 2]>,
    pub(super) tetrahedra: Vec<[u32; 4]>,
    /// Label of the material of each tetrahedron, or none.
    pub(super) labels: Vec<u32>,
    pub(super) cells: Option<PlacedCells>,
    /// Cells of several sizes that are elements instead.
    pub(super) divided: Option<Divided>,
    pub(super) mapping: Mapping,
    /// Vertices at the end that are mechanics alone.
    pub(super) hidden: usize,
    pub(super) grid: Option<[usize; 2]>,
    /// Vertices of each rope, if it is made of ropes.
    pub(super) strand: Option<usize>,
    pub(super) beads: bool,
    /// What holds it to a skin.
    pub(super) layer: Option<PlacedLayer>,
}

impl Placed {
    /// The labels of what it is made of: of each tetrahedron, or those that occur in cells.
    pub(super) fn labelled(&self) -> Labelled<'_> {
        match &self.cells {
            Some(cells) => Labelled { labels: &cells.labels, one: "voxel", many: "voxels" },
            None => Labelled { labels: &self.labels, one: "tetrahedron", many: "tetrahedra" },
        }
    }

    /// The cells that are elements.
    pub(super) fn elements(&self) -> Option<&PlacedCells> {
        self.divided.as_ref().map(|divided| &divided.cells).or(self.cells.as_ref())
    }

    /// Area, m², or length of all ropes, m; and the length of the body, m: the root of its area, or one rope.
    pub(super) fn extent(&self) -> (f64, f64) {
        let x = &self.mesh.positions;
        if self.segments.is_empty() {
            let area: f64 = (self.mesh.triangles.iter())
                .map(|t| triangle_area(x[t[0] as usize], x[t[1] as usize], x[t[2] as usize]))
                .sum();
            (area, area.sqrt())
        } else {
            let length: f64 = self.segments.iter().map(|s| x[s[0] as usize].distance(x[s[1] as usize])).sum();
            let ropes = self.strand.map_or(1, |each| x.len() / each);
            (length, length / ropes as f64)
        }
    }
}

/// Makes a shape, checks it and puts it in its place.
pub(super) fn build_shape(at: &str, shape: &Shape, placement: &Placement) -> Checked<Placed> {
    let mut placed = match shape {
        Shape::Grid(g) => {
            check_grid(&format!("{at}.shape.grid"), g)?;
            let grid = Some(g.vertices.map(|n| n as usize));
            Placed { mesh: generate::grid(g), grid, ..Placed::default() }
        }
        Shape::Rope(r) => {
            let field = format!("{at}.shape.rope");
            positive(&format!("{field}.length"), r.length, "m")?;
            direction(&format!("{field}.direction"), r.direction)?;
            if r.vertices < 2 || r.vertices as usize > MAX_VERTICES {
                return wrong(
                    &format!("{field}.vertices"),
                    format!("a rope needs from 2 to {MAX_VERTICES} vertices, not {}", r.vertices),
                    "20 to 100 are usual",
                );
            }
            let mesh = TriMesh { positions: generate::rope(r), ..TriMesh::default() };
            let segments = (1..r.vertices).map(|i| [i - 1, i]).collect();
            let strand = Some(r.vertices as usize);
            let beads = r.mass_at == RopeMass::Beads;
            Placed { mesh, segments, strand, beads, ..Placed::default() }
        }
        Shape::Strands(s) => {
            check_strands(&format!("{at}.shape.strands"), s)?;
            let mesh = TriMesh { positions: generate::strands(s), ..TriMesh::default() };
            let each = s.segments + 1;
            let segments = (0..s.strands * each).filter(|i| i % each != 0).map(|i| [i - 1, i]).collect();
            Placed { mesh, segments, strand: Some(each as usize), ..Placed::default() }
        }
        Shape::Ball(b) => {
            let field = format!("{at}.shape.ball");
            positive(&format!("{field}.radius"), b.radius, "m")?;
            if b.subdivisions > MAX_SUBDIVISIONS {
                return wrong(
                    &format!("{field}.subdivisions"),
                    format!("{} are more than {MAX_SUBDIVISIONS}", b.subdivisions),
                    "3 or 4 are usual: each makes four times as many triangles",
                );
            }
            Placed { mesh: generate::ball(b), ..Placed::default() }
        }
        Shape::Block(b) => place_block(&format!("{at}.shape.block"), b)?,
        Shape::Mesh(m) => place_mesh(&format!("{at}.shape.mesh"), m)?,
        Shape::Voxels(v) => place_voxels(&format!("{at}.shape.voxels"), v)?,
        Shape::Skin(_) => {
            return wrong(
                &format!("{at}.shape.skin"),
                "a part of a skin stands in no other place",
                "write `elastic`",
            );
        }
        Shape::File(f) => {
            return wrong(
                &format!("{at}.shape.file.path"),
                format!("the mesh file '{}' was not read", f.path),
                "read mesh files into the scene before it is built (souple_formats::scene::resolve_meshes)",
            );
        }
    };
    if let Err(problem) = placed.mesh.validate() {
        return wrong(&format!("{at}.shape"), problem.to_string(), "repair or re-export the mesh");
    }
    let lint = placed.mesh.lint();
    if placed.segments.is_empty() && placed.mesh.triangles.is_empty() {
        return wrong(
            &format!("{at}.shape"),
            "the mesh has no triangles",
            "a soft body needs a surface, or use a rope",
        );
    }
    if placed.segments.is_empty() && lint.degenerate_triangles == placed.mesh.triangles.len() {
        return wrong(&format!("{at}.shape"), "every triangle has zero area", "repair or re-export the mesh");
    }
    let scale = positive(&format!("{at}.placement.scale"), placement.scale, "times the size")?;
    let turn = rotation(vector(&format!("{at}.placement.rotate_deg"), placement.rotate_deg)?);
    let shift = vector(&format!("{at}.placement.translate"), placement.translate)?;
    for p in &mut placed.mesh.positions {
        *p = turn * (*p * scale) + shift;
    }
    if let Some(cells) = &mut placed.cells {
        cells.size *= scale;
    }
    let (low, high) = bounds(&placed.mesh.positions);
    let in_range = |p: &DVec3| p.to_array().iter().all(|c| c.abs() <= LARGEST);
    if !placed.mesh.positions.iter().all(in_range) {
        return wrong(
            &format!("{at}.placement"),
            format!("the body reaches from {low} to {high}"),
            format!("keep everything within {LARGEST:.0e} m of the origin"),
        );
    }
    Ok(placed)
}

fn check_strands(at: &str, s: &Strands) -> Checked<()> {
    positive(&format!("{at}.length"), s.length, "m")?;
    not_negative(&format!("{at}.radius"), s.radius, "m")?;
    let curl_radius = not_negative(&format!("{at}.curl_radius"), s.curl_radius, "m")?;
    let pitch = not_negative(&format!("{at}.curl_pitch"), s.curl_pitch, "m")?;
    if s.strands == 0 {
        return wrong(&format!("{at}.strands"), "there must be at least 1", "a few hundred are usual");
    }
    if s.segments < 2 {
        return wrong(
            &format!("{at}.segments"),
            format!("a strand needs at least 2 segments, not {}", s.segments),
            "20 are usual",
        );
    }
    let vertices = u64::from(s.strands) * (u64::from(s.segments) + 1);
    if vertices > MAX_VERTICES as u64 {
        return wrong(
            &format!("{at}.strands"),
            format!("the strands have {vertices} vertices, more than {MAX_VERTICES}"),
            "use fewer strands or segments",
        );
    }
    let around = std::f64::consts::TAU * curl_radius;
    let turn = (pitch * pitch + around * around).sqrt();
    let per_turn = turn * f64::from(s.segments) / s.length;
    if curl_radius > 0.0 && per_turn < 4.0 {
        return wrong(
            &format!("{at}.segments"),
            format!("a turn of the curl is {turn:.4} m long and has {per_turn:.1} segments, fewer than 4"),
            format!("use at least {:.0} segments, or wider curls", (4.0 * s.length / turn).ceil()),
        );
    }
    Ok(())
}

fn check_grid(at: &str, g: &Grid) -> Checked<()> {
    for (axis, &n) in ["u", "v"].iter().zip(&g.vertices) {
        if n < 2 {
            return wrong(
                &format!("{at}.vertices"),
                format!("a grid needs at least 2 vertices along {axis}, not {n}"),
                "e.g. [40, 40]",
            );
        }
    }
    if g.vertices[0] as u64 * g.vertices[1] as u64 > MAX_VERTICES as u64 {
        return wrong(
            &format!("{at}.vertices"),
            format!("{} × {} vertices are more than {MAX_VERTICES}", g.vertices[0], g.vertices[1]),
            "use a coarser grid",
        );
    }
    positive(&format!("{at}.size"), g.size[0], "m")?;
    positive(&format!("{at}.size"), g.size[1], "m")?;
    for (w, wave) in g.waves.iter().enumerate() {
        let field = |name: &str| format!("{at}.wave[{w}].{name}");
        finite(&field("height"), wave.height)?;
        finite(&field("along"), wave.along[0])?;
        finite(&field("along"), wave.along[1])?;
        finite(&field("phase"), wave.phase)?;
    }
    Ok(())
}
