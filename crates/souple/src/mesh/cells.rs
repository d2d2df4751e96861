//! Cells as elements: which corners they share, what fills each, and which cell a point follows (FAU-15, FAU-16, FAU-21).
//!
//! The corners of all cells that are kept are the particles of a body; cells that lie side by side share them. Full cells of one material are of one
//! kind. What fills others is listed as boxes, each as long along x as the material goes on, so that their matrices are integrated over few parts.

use glam::DVec3;

use super::voxels::Voxels;

/// A box of one material in a cell, from 0 to 1 along its axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Filled {
    /// Lowest corner.
    pub low: DVec3,
    /// Highest corner.
    pub high: DVec3,
    /// Material.
    pub label: u16,
}

/// Cells whose corners are numbered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellMesh {
    /// Corners, m.
    pub positions: Vec<DVec3>,
    /// Cells: corner c is at x, y, z by its bits 0, 1, 2.
    pub hexahedra: Vec<[u32; 8]>,
    /// Where each is, in cells from the lowest corner of the box.
    pub at: Vec<[u32; 3]>,
    /// Whether each is odd: cells side by side are odd and even by turns.
    pub odd: Vec<bool>,
    /// Edges of a cell, m.
    pub size: DVec3,
    /// The kind of each cell: an index of `kinds`.
    pub kind: Vec<u32>,
    /// What fills cells of each kind.
    pub kinds: Vec<Vec<Filled>>,
    /// For each cell of the box of cells its place among the elements.
    place: Vec<Option<u32>>,
}

/// The corners of a cell at i, j, k of a lattice with so many nodes along x and y.
fn lattice_corners([i, j, k]: [usize; 3], [nx, ny]: [usize; 2]) -> [usize; 8] {
    std::array::from_fn(|c| ((k + (c >> 2)) * ny + j + (c >> 1 & 1)) * nx + i + (c & 1))
}

impl CellMesh {
    /// The cells that are kept, in order of their places.
    pub fn of_voxels(voxels: &Voxels) -> CellMesh {
        let [cx, cy, cz] = voxels.size;
        let (nx, ny) = (cx + 1, cy + 1);
        let mut names = vec![u32::MAX; nx * ny * (cz + 1)];
        let mut mesh =
            CellMesh { size: voxels.cell, place: vec![None; voxels.kept.len()], ..CellMesh::default() };
        let mut full: Vec<(u16, u32)> = Vec::new();
        let all = |p: usize| [p % cx, p / cx % cy, p / (cx * cy)];
        let kept = || (0..voxels.kept.len()).filter(|p| voxels.kept[*p]);
        for node in kept().flat_map(|p| lattice_corners(all(p), [nx, ny])) {
            names[node] = 0;
        }
        for (node, name) in names.iter_mut().enumerate().filter(|(_, name)| **name == 0) {
            let at = [node % nx, node / nx % ny, node / (nx * ny)].map(|a| a as f64);
            *name = mesh.positions.len() as u32;
            mesh.positions.push(voxels.origin + DVec3::from(at) * voxels.cell);
        }
        for place in kept() {
            let at = all(place);
            let filled = filling(voxels, at);
            let whole = match filled[..] {
                [only] if only.low == DVec3::ZERO && only.high == DVec3::ONE => Some(only.label),
                _ => None,
            };
            let known = full.iter().find(|(label, _)| Some(*label) == whole).map(|(_, kind)| *kind);
            let kind = known.unwrap_or_else(|| {
                let kind = mesh.kinds.len() as u32;
                full.extend(whole.map(|label| (label, kind)));
                mesh.kinds.push(filled);
                kind
            });
            mesh.place[place] = Some(mesh.hexahedra.len() as u32);
            mesh.hexahedra.push(lattice_corners(at, [nx, ny]).map(|node| names[node]));
            mesh.kind.push(kind);
            mesh.at.push(at.map(|a| a as u32));
            mesh.odd.push(at.iter().sum::<usize>() % 2 == 1);
        }
        mesh
    }

    /// The cell that a point of the surface lies in, and where in it, from 0 to 1.
    pub fn locate(&self, voxels: &Voxels, p: DVec3) -> Option<(u32, DVec3)> {
        let (at, share) = voxels.locate(p);
        self.place[voxels.cell_index(at)].map(|cell| (cell, share))
    }
}

/// What fills a cell: runs of one material along x, joined along y and z where they are alike.
fn filling(voxels: &Voxels, at: [usize; 3]) -> Vec<Filled> {
    let n = voxels.fine;
    let step = 1.0 / n as f64;
    let first = at.map(|a| a * n);
    let label = |i: usize, j: usize, k: usize| {
        voxels.labels[voxels.fine_index([first[0] + i, first[1] + j, first[2] + k])]
    };
    // Boxes in whole numbers, so that those that are alike are found.
    let mut boxes: Vec<([usize; 3], [usize; 3], u16)> = Vec::new();
    for k in 0..n {
        for j in 0..n {
            let mut i = 0;
            while i < n {
                let here = label(i, j, k);
                let end = (i..n).find(|i| label(*i, j, k) != here).unwrap_or(n);
                if here != 0 {
                    let run = ([i, j, k], [end, j + 1, k + 1], here);
                    join(&mut boxes, run, 1);
                }
                i = end;
            }
        }
    }
    let mut joined = Vec::new();
    for run in boxes {
        join(&mut joined, run, 2);
    }
    let share = |c: [usize; 3]| DVec3::from(c.map(|c| c as f64)) * step;
    // Exactly 1 at the end, whatever 1/n is.
    let end = |c: [usize; 3]| DVec3::from(c.map(|c| if c == n { 1.0 } else { c as f64 * step }));
    joined.into_iter().map(|(low, high, label)| Filled { low: share(low), high: end(high), label }).collect()
}

type Run = ([usize; 3], [usize; 3], u16);

/// Adds a box, or makes a box longer that it goes on from along an axis.
fn join(boxes: &mut Vec<Run>, run: Run, axis: usize) {
    let goes_on = |b: &&mut Run| {
        let others = (0..3).filter(|a| *a != axis).all(|a| b.0[a] == run.0[a] && b.1[a] == run.1[a]);
        others && b.1[axis] == run.0[axis] && b.2 == run.2
    };
    match boxes.iter_mut().find(goes_on) {
        Some(known) => known.1[axis] = run.1[axis],
        None => boxes.push(run),
    }
}

/// A block of cells, whose corner (i, j, k) along x, y and z has index (i·ny + j)·nz + k; and whether each is odd.
pub fn block_cells(cells: [u32; 3]) -> Vec<([u32; 8], bool)> {
    let [nx, ny, nz] = cells;
    let corner = |i, j, k| (i * (ny + 1) + j) * (nz + 1) + k;
    let mut all = Vec::new();
    for i in 0..nx {
        for j in 0..ny {
            for k in 0..nz {
                let corners = std::array::from_fn(|c| {
                    let c = c as u32;
                    corner(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2))
                });
                all.push((corners, (i + j + k) % 2 == 1));
            }
        }
    }
    all
}

/// The corners of the faces of a cell, as seen from outside: lower and upper along x, then y, then z.
pub(super) const FACES: [[usize; 4]; 6] =
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

/// The faces of cells that belong to one cell alone, facing outwards, as two triangles each, in the order of their cells.
pub fn cell_boundary(hexahedra: &[[u32; 8]]) -> Vec<[u32; 3]> {
    let faces = hexahedra.iter().flat_map(|h| FACES.map(|f| f.map(|c| h[c])));
    let mut all: Vec<([u32; 4], u32, [u32; 4])> = (0u32..)
        .zip(faces)
        .map(|(place, face)| {
            let mut name = face;
            name.sort_unstable();
            (name, place, face)
        })
        .collect();
    all.sort_unstable();
    let mut alone: Vec<(u32, [u32; 4])> = all
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|run| run.len() == 1)
        .map(|run| (run[0].1, run[0].2))
        .collect();
    alone.sort_unstable();
    alone.into_iter().flat_map(|(_, [a, b, c, d])| [[a, b, c], [a, c, d]]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::voxels::Fill;
    use crate::mesh::{TriMesh, enclosed_volume, generate, open_edges};
    use crate::scene::Ball;

    fn ball() -> (TriMesh, Voxels) {
        let mesh = generate::ball(&Ball { radius: 0.5, subdivisions: 3 });
        let voxels = Voxels::of_surface(&mesh, 0.17, 4, Fill::Inside).expect("closed");
        (mesh, voxels)
    }

    #[test]
    fn what_fills_cells_is_what_is_labelled() {
        let (_, voxels) = ball();
        let mesh = CellMesh::of_voxels(&voxels);
        let of = |kind: &u32| -> f64 {
            mesh.kinds[*kind as usize]
                .iter()
                .map(|b| (b.high - b.low).to_array().iter().product::<f64>())
                .sum()
        };
        let volume: f64 = mesh.kind.iter().map(of).sum::<f64>() * mesh.size.x * mesh.size.y * mesh.size.z;
        assert!((volume / voxels.volume() - 1.0).abs() < 1e-12);
        let full = mesh.kind.iter().filter(|k| of(k) == 1.0).count();
        assert!(full > 20, "{full}");
        assert!(mesh.kinds.iter().filter(|k| k.len() == 1 && k[0].high == DVec3::ONE).count() == 1);
    }

    #[test]
    fn points_are_found_again_from_the_corners_of_their_cell() {
        let (surface, voxels) = ball();
        let mesh = CellMesh::of_voxels(&voxels);
        for p in &surface.positions {
            let (cell, share) = mesh.locate(&voxels, *p).expect("every vertex has a cell");
            let weights = crate::mapping::rows::trilinear(share);
            let corners = mesh.hexahedra[cell as usize];
            let again: DVec3 =
                corners.iter().zip(weights).map(|(v, w)| mesh.positions[*v as usize] * w).sum();
            assert!(again.distance(*p) < 1e-14);
        }
    }

    #[test]
    fn the_boundary_of_a_block_is_closed_and_faces_outwards() {
        let cells: Vec<_> = block_cells([2, 3, 1]).into_iter().map(|(corners, _)| corners).collect();
        let corner = |v: usize| DVec3::new((v / 8) as f64, (v / 2 % 4) as f64, (v % 2) as f64);
        let positions: Vec<DVec3> = (0..3 * 4 * 2).map(corner).collect();
        let triangles = cell_boundary(&cells);
        assert_eq!((open_edges(&triangles), triangles.len()), (0, 4 * (2 * 3 + 3 + 2)));
        assert!((enclosed_volume(&positions, &triangles) - 6.0).abs() < 1e-12);
    }
}
