//! Surfaces that become solids: cells around them are the mechanics, and the surface follows (FAU-13, FAU-16, FAU-17, FAU-40).

use super::shape::Placed;
use super::voxels::{BYTES_PER_CELL, MOST_BYTES};
use super::{Checked, positive, wrong};
use crate::mapping::rows;
use crate::mesh::MAX_VERTICES;
use crate::mesh::cells::{CellMesh, Filled};
use crate::mesh::tetrahedron::cut_cell;
use crate::mesh::voxels::{Fill, VoxelError, Voxels};
use crate::scene::{Cells, Embed, Shape};
use glam::DVec3;

/// Most fine cells along an edge of a cell.
const MAX_FINE: u32 = 16;

/// The hexahedra of a body: where they are, and what fills them.
#[derive(Default)]
pub(super) struct PlacedCells {
    /// Corners of each.
    pub(super) corners: Vec<[u32; 8]>,
    /// The kind of each: an index of `kinds`.
    pub(super) kind: Vec<u32>,
    /// What fills cells of each kind.
    pub(super) kinds: Vec<Vec<Filled>>,
    /// Where each is, in cells; not said of cells of several sizes.
    pub(super) at: Vec<[u32; 3]>,
    /// How often the edges of cells of each kind were doubled; none if they never were.
    pub(super) levels: Vec<u32>,
    /// Edges of the smallest cells, m.
    pub(super) size: DVec3,
    /// Labels of materials that occur in what fills them, ascending; none if it has no labels.
    pub(super) labels: Vec<u32>,
    /// Whether they are without the shape functions that let them bend freely.
    pub(super) plain: bool,
}

impl PlacedCells {
    /// Full cells of one material.
    pub(super) fn full(corners: Vec<[u32; 8]>, at: Vec<[u32; 3]>, size: DVec3, cut: Cells) -> PlacedCells {
        let whole = Filled { low: DVec3::ZERO, high: DVec3::ONE, label: 1 };
        let plain = cut == Cells::PlainHexahedra;
        PlacedCells {
            kind: vec![0; corners.len()],
            corners,
            at,
            kinds: vec![vec![whole]],
            size,
            plain,
            ..PlacedCells::default()
        }
    }

    /// Edges of cells of a kind, m.
    pub(super) fn size_of(&self, kind: usize) -> DVec3 {
        self.size * f64::from(1u32 << self.levels.get(kind).copied().unwrap_or(0))
    }
}

/// Puts a surface into cells: its vertices come first and follow the corners of the cells, which come after them.
pub(super) fn embed(at: &str, embed: &Embed, shape: &Shape, placed: &mut Placed) -> Checked<()> {
    let field = |name: &str| format!("{at}.embed.{name}");
    if matches!(shape, Shape::Block(_) | Shape::Voxels(_)) || !placed.tetrahedra.is_empty() {
        return wrong(&format!("{at}.embed"), "the shape is a solid already", "leave `embed` out");
    }
    if placed.mesh.triangles.is_empty() {
        return wrong(
            &format!("{at}.embed"),
            "ropes and strands have no surface to put cells around",
            "leave `embed` out, or use a surface such as `ball`, `mesh` or `file`",
        );
    }
    positive(&field("cell"), embed.cell, "m")?;
    if !(1..=MAX_FINE).contains(&embed.fine) {
        return wrong(
            &field("fine"),
            format!("it must be from 1 to {MAX_FINE}, not {}", embed.fine),
            "4 is usual",
        );
    }
    let fill = match embed.fill {
        None => Fill::IfClosed,
        Some(true) => Fill::Inside,
        Some(false) => Fill::Shell,
    };
    let voxels = match Voxels::of_surface(&placed.mesh, embed.cell, embed.fine as usize, fill) {
        Ok(voxels) => voxels,
        Err(VoxelError::Open { edges }) => {
            return wrong(
                &field("fill"),
                format!(
                    "the surface is open, with {edges} edges that belong to one triangle: it has no inside"
                ),
                "close it (`weld = true` of a mesh file closes seams), or leave `fill` out to make a shell of cells",
            );
        }
        Err(VoxelError::TooMany { cells }) => {
            return wrong(
                &field("cell"),
                format!(
                    "the box around the surface has {cells:.2e} fine cells, which take {:.1} GB: too many",
                    cells * 2e-9
                ),
                format!("use larger cells than {} m, or a smaller `fine` than {}", embed.cell, embed.fine),
            );
        }
    };
    let mesh = CellMesh::of_voxels(&voxels);
    put_into(&field("cell"), embed.cut, &voxels, mesh, placed)
}

/// Refuses cells that no memory holds: they are counted as they are solved, so that those of [several sizes](super::resolution) may be many more at first.
pub(super) fn check_memory(at: &str, placed: &Placed) -> Checked<()> {
    let cells = placed.cells.as_ref().map_or(0, |cells| cells.corners.len());
    let cells = cells.max(placed.tetrahedra.len() / 5) as f64;
    if cells * BYTES_PER_CELL <= MOST_BYTES {
        return Ok(());
    }
    wrong(
        &format!("{at}.embed.cell"),
        format!(
            "the body has {cells:.2e} cells, which take about {:.1} GB: too many",
            cells * BYTES_PER_CELL * 1e-9
        ),
        "use larger cells, or join those inside by `resolution`",
    )
}

/// Gives a placed surface these cells as its mechanics.
pub(super) fn put_into(
    at: &str,
    cut: Cells,
    voxels: &Voxels,
    mesh: CellMesh,
    placed: &mut Placed,
) -> Checked<()> {
    let first = placed.mesh.positions.len() as u32;
    let total = first as usize + mesh.positions.len();
    if total > MAX_VERTICES {
        return wrong(
            at,
            format!("surface and cells have {total} vertices, more than {MAX_VERTICES}"),
            "use larger cells",
        );
    }
    let corners: Vec<[u32; 8]> = mesh.hexahedra.iter().map(|c| c.map(|v| v + first)).collect();
    let tetrahedra = |cell: usize| cut_cell(cut, corners[cell], mesh.odd[cell]);
    let place = |v: u32| mesh.positions[(v - first) as usize];
    for (v, p) in (0u32..).zip(&placed.mesh.positions) {
        let Some((cell, share)) = mesh.locate(voxels, *p) else {
            return wrong(
                at,
                format!("vertex {v} of the surface lies in no cell"),
                "repair or re-export the mesh",
            );
        };
        // In the tetrahedron of the cell that it is deepest in.
        let inside = tetrahedra(cell as usize)
            .filter_map(|t| rows::in_tetrahedron(*p, t.map(place)).map(|shares| (t, shares)))
            .max_by(|a, b| {
                let least = |s: &[f64; 4]| s.iter().fold(f64::INFINITY, |m, v| m.min(*v));
                least(&a.1).total_cmp(&least(&b.1))
            });
        match inside {
            Some((t, shares)) => placed.mapping.push(v, &rows::barycentric(t, shares)),
            None => {
                placed.mapping.push(v, &rows::barycentric(corners[cell as usize], rows::trilinear(share)))
            }
        }
    }
    placed.tetrahedra = (0..corners.len()).flat_map(tetrahedra).collect();
    if placed.tetrahedra.is_empty() {
        placed.cells = Some(PlacedCells {
            corners,
            kind: mesh.kind,
            kinds: mesh.kinds,
            at: mesh.at,
            size: mesh.size,
            plain: cut == Cells::PlainHexahedra,
            ..PlacedCells::default()
        });
    }
    placed.hidden = mesh.positions.len();
    placed.mesh.positions.extend(mesh.positions);
    // Texture coordinates are those of the surface; corners of cells are never seen.
    if !placed.mesh.uvs.is_empty() {
        placed.mesh.uvs.resize(total, [0.0; 2]);
    }
    Ok(())
}
