//! Surfaces and labelled volumes as cells (FAU-13, FAU-14, FAU-15, FAU-17).
//!
//! A box around the shape is divided into cells, and each of these into fine ones. A fine cell has a label: 0 if it is empty, else which material it is
//! of. A closed surface is filled: lines along x through the middles of fine cells are cut where they pass the surface, and are inside where the surface
//! winds around them, so that parts may overlap. An open or thin one is a shell of the fine cells that it passes. Cells are kept if the surface passes
//! them, however little is in them, so that every point of it has a cell; the rest of the house works on these.
//!
//! Promised: exact signs decide what a line passes (Shewchuk's predicates), so that no line leaks between two triangles; cells that a triangle passes are
//! found by separating axes, never missed. Not here: parts of a surface that come close without touching share cells, and move together if they share one.

use glam::DVec3;

use super::{TriMesh, bounds, open_edges};

/// The most fine cells that are looked at.
pub const MAX_FINE: u64 = 1 << 28;

/// What is nearer to the border of a cell than this share of it may belong to the cell beyond.
const TOUCH: f64 = 1e-9;

/// Cells around a shape, and what fills them.
#[derive(Clone, Debug, PartialEq)]
pub struct Voxels {
    /// Lowest corner of the box, m.
    pub origin: DVec3,
    /// Edges of a cell, m.
    pub cell: DVec3,
    /// Cells along x, y and z.
    pub size: [usize; 3],
    /// Fine cells along each edge of a cell.
    pub fine: usize,
    /// Labels of fine cells, 0 where there is nothing; x runs fastest.
    pub labels: Vec<u16>,
    /// Whether a cell is kept; x runs fastest.
    pub kept: Vec<bool>,
}

/// Why a shape has no cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum VoxelError {
    /// A surface with so many open edges cannot be filled.
    Open {
        /// Edges with one triangle alone.
        edges: usize,
    },
    /// There would be so many fine cells.
    TooMany {
        /// How many.
        cells: f64,
    },
}

/// How a surface is filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    /// If it is closed.
    IfClosed,
    /// Always; an open one is refused.
    Inside,
    /// Never: cells that the surface passes are the body.
    Shell,
}

impl Voxels {
    /// Of a surface, with cells of an edge of about that length, m, each cut into `fine`³.
    pub fn of_surface(mesh: &TriMesh, cell: f64, fine: usize, fill: Fill) -> Result<Voxels, VoxelError> {
        let (low, high) = bounds(&mesh.positions);
        // What is as long as so many cells gets so many, whatever rounding made of it.
        let size = ((high - low) / cell - 1e-9).ceil().max(DVec3::ONE);
        let cells = size.x * size.y * size.z * (fine * fine * fine) as f64;
        if cells.is_nan() || cells > MAX_FINE as f64 {
            return Err(VoxelError::TooMany { cells });
        }
        let edges = open_edges(&mesh.triangles);
        let filled = match fill {
            Fill::Shell => false,
            Fill::IfClosed => edges == 0,
            Fill::Inside if edges == 0 => true,
            Fill::Inside => return Err(VoxelError::Open { edges }),
        };
        let size = size.to_array().map(|n| n as usize);
        let whole = DVec3::from(size.map(|n| n as f64)) * cell;
        let mut voxels = Voxels {
            origin: 0.5 * (low + high) - 0.5 * whole,
            cell: DVec3::splat(cell),
            size,
            fine,
            labels: vec![0; size.iter().product::<usize>() * fine * fine * fine],
            kept: vec![false; size.iter().product()],
        };
        if filled {
            voxels.fill_inside(mesh);
        }
        voxels.keep_passed(mesh, filled);
        Ok(voxels)
    }

    /// Of labels of fine cells of these edges, m, which are grouped by `fine` along each axis (FAU-14); x runs fastest.
    pub fn of_labels(
        origin: DVec3,
        spacing: DVec3,
        dimensions: [usize; 3],
        labels: &[u16],
        fine: usize,
    ) -> Result<Voxels, VoxelError> {
        let size = dimensions.map(|n| n.div_ceil(fine).max(1));
        let cells = size.iter().map(|n| (n * fine) as f64).product::<f64>();
        if cells > MAX_FINE as f64 {
            return Err(VoxelError::TooMany { cells });
        }
        let mut voxels = Voxels {
            origin,
            cell: spacing * fine as f64,
            size,
            fine,
            labels: vec![0; cells as usize],
            kept: vec![false; size.iter().product()],
        };
        let [nx, ny, _] = dimensions;
        for (k, label) in labels.iter().enumerate().filter(|(_, label)| **label != 0) {
            let at = [k % nx, k / nx % ny, k / (nx * ny)];
            let (place, cell) = (voxels.fine_index(at), voxels.cell_index(at.map(|a| a / fine)));
            voxels.labels[place] = *label;
            voxels.kept[cell] = true;
        }
        Ok(voxels)
    }

    /// Fine cells along x, y and z.
    pub fn fine_size(&self) -> [usize; 3] {
        self.size.map(|n| n * self.fine)
    }

    /// Place of a cell in the list of cells.
    pub fn cell_index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.size[1] + j) * self.size[0] + i
    }

    /// Place of a fine cell in the list of labels.
    pub fn fine_index(&self, [i, j, k]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.fine_size();
        (k * ny + j) * nx + i
    }

    /// Where a point is, in cells from the lowest corner of the box.
    pub fn in_cells(&self, p: DVec3) -> DVec3 {
        (p - self.origin) / self.cell
    }

    /// The cell that a point of the box lies in, one that is kept if it lies between two, and where in it, from 0 to 1.
    pub fn locate(&self, p: DVec3) -> ([usize; 3], DVec3) {
        let at = self.in_cells(p);
        let inside =
            |c: DVec3| -> [usize; 3] { [0, 1, 2].map(|a| (c[a].max(0.0) as usize).min(self.size[a] - 1)) };
        let kept = |c: &[usize; 3]| self.kept[self.cell_index(*c)];
        // A thousand times what triangles are moved by when cells are found.
        let near = |c: usize| inside(at + (crate::energy::cell::corner(c) * 2.0 - 1.0) * (1e3 * TOUCH));
        let cell = Some(inside(at)).filter(kept).or_else(|| (0..8).map(near).find(kept));
        let cell = cell.unwrap_or_else(|| inside(at));
        (cell, at - DVec3::from(cell.map(|c| c as f64)))
    }

    /// Volume of all that is filled, m³.
    pub fn volume(&self) -> f64 {
        let fine = self.cell / self.fine as f64;
        self.labels.iter().filter(|l| **l != 0).count() as f64 * (fine.x * fine.y * fine.z)
    }

    /// Marks fine cells whose middles the surface winds around.
    fn fill_inside(&mut self, mesh: &TriMesh) {
        let [nx, ny, nz] = self.fine_size();
        let per_metre = DVec3::splat(self.fine as f64) / self.cell;
        // In fine cells, with middles at whole numbers: coordinates of lines are exact.
        let points: Vec<DVec3> =
            mesh.positions.iter().map(|p| (*p - self.origin) * per_metre - 0.5).collect();
        let mut crossings: Vec<(u32, f64, i32)> = Vec::new();
        for t in &mesh.triangles {
            let [a, b, c] = t.map(|v| points[v as usize]);
            let (low, high) = (a.min(b).min(c), a.max(b).max(c));
            let lines = |axis: usize, n: usize| {
                let first = low[axis].ceil().max(0.0) as usize;
                first..((high[axis].floor() + 1.0).clamp(0.0, n as f64) as usize).max(first)
            };
            for k in lines(2, nz) {
                for j in lines(1, ny) {
                    if let Some((x, way)) = crossing([a, b, c], j as f64, k as f64) {
                        crossings.push(((k * ny + j) as u32, x, way));
                    }
                }
            }
        }
        crossings.sort_by(|p, q| p.0.cmp(&q.0).then(p.1.total_cmp(&q.1)));
        for line in crossings.chunk_by(|p, q| p.0 == q.0) {
            let mut winding = 0;
            for pair in line.windows(2) {
                winding += pair[0].2;
                if winding == 0 {
                    continue;
                }
                let first = pair[0].1.ceil().max(0.0) as usize;
                let end = ((pair[1].1.ceil()).clamp(0.0, nx as f64) as usize).max(first);
                let start = line[0].0 as usize * nx;
                self.labels[start + first..start + end].fill(1);
            }
        }
        self.keep_filled();
    }

    /// Whether a cell or one of those around it is kept.
    fn is_beside_filled(&self, cell: usize) -> bool {
        let [nx, ny, _] = self.size;
        let at = [cell % nx, cell / nx % ny, cell / (nx * ny)];
        let around = |axis: usize| at[axis].saturating_sub(1)..=(at[axis] + 1).min(self.size[axis] - 1);
        around(2).any(|k| around(1).any(|j| around(0).any(|i| self.kept[self.cell_index([i, j, k])])))
    }

    fn keep_filled(&mut self) {
        let [nx, ny, _] = self.fine_size();
        for place in (0..self.labels.len()).filter(|p| self.labels[*p] != 0).collect::<Vec<_>>() {
            let at = [place % nx, place / nx % ny, place / (nx * ny)].map(|a| a / self.fine);
            let cell = self.cell_index(at);
            self.kept[cell] = true;
        }
    }

    /// Keeps all cells that the surface passes. If it was not filled, and where it is too thin to have anything inside, the fine cells that it
    /// passes are the body.
    fn keep_passed(&mut self, mesh: &TriMesh, filled: bool) {
        let thin: Vec<bool> = (0..self.kept.len()).map(|cell| !self.is_beside_filled(cell)).collect();
        let scale = self.fine as f64;
        let points: Vec<DVec3> = mesh.positions.iter().map(|p| self.in_cells(*p) * scale).collect();
        let fine_size = self.fine_size();
        for t in &mesh.triangles {
            let corners = t.map(|v| points[v as usize]);
            let low = corners[0].min(corners[1]).min(corners[2]);
            let high = corners[0].max(corners[1]).max(corners[2]);
            let range = |axis: usize| {
                let last = fine_size[axis] - 1;
                (low[axis].floor().max(0.0) as usize).min(last)
                    ..=(high[axis].floor().max(0.0) as usize).min(last)
            };
            for k in range(2) {
                for j in range(1) {
                    for i in range(0) {
                        let at = [i, j, k];
                        let middle = DVec3::from(at.map(|a| a as f64)) + 0.5;
                        // A surface that lies between two cells belongs to the one beyond.
                        if !touches(corners.map(|c| c - middle + TOUCH)) {
                            continue;
                        }
                        let cell = self.cell_index(at.map(|a| a / self.fine));
                        self.kept[cell] = true;
                        if !filled || thin[cell] {
                            let place = self.fine_index(at);
                            self.labels[place] = 1;
                        }
                    }
                }
            }
        }
    }
}

/// Where a triangle is passed by the line along x through y, z, and whether it is entered (1) or left (−1) there.
fn crossing([a, b, c]: [DVec3; 3], y: f64, z: f64) -> Option<(f64, i32)> {
    let flat = |p: DVec3| robust::Coord { x: p.y, y: p.z };
    let at = robust::Coord { x: y, y: z };
    // A line through an edge counts as being on the side that the line a hair beyond it is on: of the two triangles that
    // share the edge one is passed.
    let side = |p: DVec3, q: DVec3| {
        let exact = robust::orient2d(flat(p), flat(q), at);
        if exact != 0.0 {
            return exact > 0.0;
        }
        let edge = q - p;
        edge.y < 0.0 || (edge.y == 0.0 && edge.z > 0.0)
    };
    let sides = [side(a, b), side(b, c), side(c, a)];
    let normal = (b - a).cross(c - a);
    if sides != [sides[0]; 3] || normal.x == 0.0 {
        return None;
    }
    let x = a.x - ((y - a.y) * normal.y + (z - a.z) * normal.z) / normal.x;
    // The outward normal of what is entered along x points back.
    Some((x, if normal.x < 0.0 { 1 } else { -1 }))
}

/// Whether a triangle touches the cube of edge 1 around the origin: no axis separates them (Akenine-Möller 2001).
fn touches(t: [DVec3; 3]) -> bool {
    let separates = |axis: DVec3| {
        let along = t.map(|p| p.dot(axis));
        let reach = 0.5 * (axis.x.abs() + axis.y.abs() + axis.z.abs());
        let (low, high) = (along[0].min(along[1]).min(along[2]), along[0].max(along[1]).max(along[2]));
        low > reach || high < -reach
    };
    let edges = [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let crossed = edges.iter().any(|e| DVec3::AXES.iter().any(|axis| separates(e.cross(*axis))));
    !crossed && !DVec3::AXES.into_iter().any(separates) && !separates(edges[0].cross(edges[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::generate;
    use crate::scene::{Ball, Grid};

    fn ball(subdivisions: u32) -> TriMesh {
        generate::ball(&Ball { radius: 0.5, subdivisions })
    }

    #[test]
    fn a_ball_is_filled_to_its_volume_and_more_so_with_finer_cells() {
        let exact = crate::mesh::enclosed_volume(&ball(4).positions, &ball(4).triangles);
        let off = |fine: usize| {
            let voxels = Voxels::of_surface(&ball(4), 0.13, fine, Fill::Inside).expect("closed");
            (voxels.volume() / exact - 1.0).abs()
        };
        assert!(off(2) < 0.03 && off(8) < 0.005, "{} {}", off(2), off(8));
    }

    #[test]
    fn every_vertex_has_a_cell_that_is_kept() {
        let sheet = generate::grid(&Grid { size: [0.7, 0.4], vertices: [9, 7], ..Grid::default() });
        for (mesh, fill) in [(ball(2), Fill::IfClosed), (sheet, Fill::IfClosed), (ball(2), Fill::Shell)] {
            for cell in [0.05, 0.11, 0.4, 3.0] {
                let voxels = Voxels::of_surface(&mesh, cell, 4, fill).expect("has cells");
                for p in &mesh.positions {
                    let (at, share) = voxels.locate(*p);
                    assert!(voxels.kept[voxels.cell_index(at)], "{p} at {at:?} of cells of {cell}");
                    assert!(share.min_element() > -1e-5 && share.max_element() < 1.0 + 1e-5);
                }
            }
        }
    }

    #[test]
    fn shells_stay_hollow_and_open_surfaces_are_not_filled() {
        let shell = Voxels::of_surface(&ball(3), 0.1, 2, Fill::Shell).expect("has cells");
        let full = Voxels::of_surface(&ball(3), 0.1, 2, Fill::Inside).expect("closed");
        let middle = shell.locate(DVec3::ZERO).0;
        assert!(!shell.kept[shell.cell_index(middle)] && full.kept[full.cell_index(middle)]);
        let mut open = ball(3);
        open.triangles.pop();
        assert_eq!(Voxels::of_surface(&open, 0.1, 2, Fill::Inside), Err(VoxelError::Open { edges: 3 }));
        assert!(Voxels::of_surface(&open, 0.1, 2, Fill::IfClosed).is_ok());
        let huge = Voxels::of_surface(&open, 1e-6, 4, Fill::IfClosed);
        assert!(matches!(huge, Err(VoxelError::TooMany { cells }) if cells > 1e18));
    }

    #[test]
    fn overlapping_parts_and_lines_through_vertices_are_filled_once() {
        // Two boxes whose faces lie exactly on lines of middles.
        let mut mesh = TriMesh::default();
        for (low, high) in [(0.0, 1.0), (0.5, 1.5)] {
            let first = mesh.positions.len() as u32;
            let corner = |c: usize| crate::energy::cell::corner(c) * (high - low) + low;
            mesh.positions.extend((0..8).map(corner));
            for [a, b, c, d] in
                [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]
            {
                mesh.triangles.extend([[a, b, c], [a, c, d]].map(|t| t.map(|v| v + first)));
            }
        }
        let voxels = Voxels::of_surface(&mesh, 0.25, 2, Fill::Inside).expect("closed");
        assert!((voxels.volume() - (2.0 - 0.125)).abs() < 1e-9, "{}", voxels.volume());
    }

    #[test]
    fn labels_are_grouped() {
        let mut labels = vec![0u16; 5 * 3 * 2];
        labels[4] = 7;
        labels[5 * 3 + 5 + 1] = 2;
        let voxels = Voxels::of_labels(DVec3::ZERO, DVec3::splat(0.1), [5, 3, 2], &labels, 2).expect("few");
        assert_eq!(voxels.size, [3, 2, 1]);
        assert_eq!(voxels.kept, [true, false, true, false, false, false]);
        assert_eq!(
            (voxels.labels[voxels.fine_index([4, 0, 0])], voxels.labels[voxels.fine_index([1, 1, 1])]),
            (7, 2)
        );
    }
}
