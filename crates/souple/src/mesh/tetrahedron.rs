//! Meshes of tetrahedra: blocks of them, their surface, and what is wrong with one (FAU-01, FAU-05).

use glam::DVec3;

use super::cells::block_cells;
use crate::scene::{Block, Cells};

/// Vertices, and tetrahedra whose corners b, c, d are counter-clockwise seen from a's far side: (b − a) · (c − a) × (d − a) > 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Places, m.
    pub positions: Vec<DVec3>,
    /// Four vertices each.
    pub tetrahedra: Vec<[u32; 4]>,
}

/// Six times the volume of a tetrahedron, negative if it is inside out, m³.
pub fn sixfold_volume([a, b, c, d]: [DVec3; 4]) -> f64 {
    (b - a).dot((c - a).cross(d - a))
}

/// Whether a tetrahedron has no volume: against the cube of its longest edge nothing but rounding is left of it.
pub fn is_flat(corners: [DVec3; 4]) -> bool {
    let [a, b, c, d] = corners;
    let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
    let longest = edges.iter().map(|e| e.length()).fold(0.0, f64::max);
    let volume = sixfold_volume(corners).abs();
    volume.is_nan() || volume == 0.0 || volume <= 1e-13 * longest * longest * longest
}

/// How many tetrahedra are inside out; corners beyond the vertices count nothing.
pub fn inside_out(positions: &[DVec3], tetrahedra: &[[u32; 4]]) -> usize {
    tetrahedra.iter().filter(|t| is_inside_out(positions, t)).count()
}

/// Turns tetrahedra round that are inside out, by an exchange of their last two corners, and says how many were.
pub fn turn_round(positions: &[DVec3], tetrahedra: &mut [[u32; 4]]) -> usize {
    let mut turned = 0;
    for t in tetrahedra.iter_mut().filter(|t| is_inside_out(positions, t)) {
        t.swap(2, 3);
        turned += 1;
    }
    turned
}

fn is_inside_out(positions: &[DVec3], t: &[u32; 4]) -> bool {
    let corner = |v: u32| positions.get(v as usize).copied();
    let [Some(a), Some(b), Some(c), Some(d)] = t.map(corner) else { return false };
    sixfold_volume([a, b, c, d]) < 0.0
}

/// The faces that belong to one tetrahedron alone, facing outwards, in the order of their tetrahedra.
pub fn boundary(tetrahedra: &[[u32; 4]]) -> Vec<[u32; 3]> {
    let faces = |&[a, b, c, d]: &[u32; 4]| [[a, c, b], [a, b, d], [a, d, c], [b, c, d]];
    let name = |face: &[u32; 3]| {
        let mut name = *face;
        name.sort_unstable();
        name
    };
    let mut all: Vec<([u32; 3], u32, [u32; 3])> =
        (0u32..).zip(tetrahedra.iter().flat_map(faces)).map(|(i, face)| (name(&face), i, face)).collect();
    all.sort_unstable();
    let mut alone: Vec<(u32, [u32; 3])> = all
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|run| run.len() == 1)
        .map(|run| (run[0].1, run[0].2))
        .collect();
    alone.sort_unstable();
    alone.into_iter().map(|(_, face)| face).collect()
}

/// A block of cells, each cut into five tetrahedra, mirrored from cell to cell so that their faces fit, into six, all the same
/// way, or not at all. Vertex (i, j, k) along x, y and z has index (i·ny + j)·nz + k.
pub fn block(block: &Block) -> TetMesh {
    let [nx, ny, nz] = block.cells.map(|n| n + 1);
    let step = [0, 1, 2].map(|k| block.size[k] / f64::from(block.cells[k]));
    let mut mesh = TetMesh::default();
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let at = DVec3::new(f64::from(i) * step[0], f64::from(j) * step[1], f64::from(k) * step[2]);
                mesh.positions.push(at);
            }
        }
    }
    for (corners, is_odd) in block_cells(block.cells) {
        mesh.tetrahedra.extend(cut_cell(block.cut, corners, is_odd));
    }
    mesh
}

/// The tetrahedra that a cell is cut into; none of cells that stay whole. Cells side by side are odd and even by turns.
pub fn cut_cell(cut: Cells, corners: [u32; 8], is_odd: bool) -> impl Iterator<Item = [u32; 4]> {
    let parts: &[[u32; 4]] = match cut {
        Cells::Five if is_odd => &ODD,
        Cells::Five => &EVEN,
        Cells::Six => &SIX,
        Cells::Hexahedra | Cells::PlainHexahedra => &[],
    };
    parts.iter().map(move |t| t.map(|c| corners[c as usize]))
}

/// One in the middle, and four at the corners 0, 3, 5, 6.
const EVEN: [[u32; 4]; 5] = [[1, 7, 2, 4], [0, 1, 2, 4], [3, 1, 7, 2], [5, 1, 4, 7], [6, 2, 7, 4]];

/// The same, mirrored: four at the corners 1, 2, 4, 7.
const ODD: [[u32; 4]; 5] = [[0, 5, 3, 6], [1, 0, 5, 3], [2, 0, 3, 6], [4, 0, 6, 5], [7, 3, 5, 6]];

/// Around the diagonal from 0 to 7.
const SIX: [[u32; 4]; 6] =
    [[0, 1, 3, 7], [0, 3, 2, 7], [0, 2, 6, 7], [0, 6, 4, 7], [0, 4, 5, 7], [0, 5, 1, 7]];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{enclosed_volume, open_edges};

    #[test]
    fn blocks_fill_their_volume_with_tetrahedra_that_fit() {
        for cut in [Cells::Five, Cells::Six] {
            for cells in [[1, 1, 1], [2, 1, 1], [3, 2, 4]] {
                let mesh = block(&Block { size: [0.3, 0.4, 0.5], cells, cut });
                let per_cell = if cut == Cells::Five { 5 } else { 6 };
                let count = cells.iter().product::<u32>();
                assert_eq!(mesh.tetrahedra.len() as u32, per_cell * count);
                let volumes = mesh
                    .tetrahedra
                    .iter()
                    .map(|t| sixfold_volume(t.map(|v| mesh.positions[v as usize])) / 6.0);
                assert!(
                    volumes.clone().all(|v| v > 0.1 * 0.06 / f64::from(count)),
                    "{cut:?} {cells:?}: {:?}",
                    volumes.collect::<Vec<_>>()
                );
                assert!((volumes.sum::<f64>() - 0.06).abs() < 1e-15);
                let surface = boundary(&mesh.tetrahedra);
                assert_eq!(open_edges(&surface), 0);
                assert!((enclosed_volume(&mesh.positions, &surface) - 0.06).abs() < 1e-15);
                let sides = cells[0] * cells[1] + cells[1] * cells[2] + cells[2] * cells[0];
                assert_eq!(surface.len() as u32, 4 * sides);
            }
        }
    }
}
