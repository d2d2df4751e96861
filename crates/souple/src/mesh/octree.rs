//! Cells of several sizes in one body (FAU-15, FAU-24, FAU-25).
//!
//! Eight cells that lie together may be joined into one of twice their size, and so on: an octree, of which the finest cells are given. A *cut* of it says
//! which cells are divided; those that are not, and whose parents all are, are its leaves, and are the elements of a body. Where leaves of several sizes
//! meet, corners of the smaller ones lie on edges and faces of the larger: T-nodes. They are no unknowns, but follow the corners of the
//! largest leaf they lie on, and so does every node that is a corner of no leaf. So displacements are continuous across all faces, whatever the cut is, as the places of all cells are
//! multiples of their sizes.
//!
//! Promised: neighbours of a balanced cut, across corners too, differ by one level at most; what is found hangs on the cells and the cut alone. A cell whose parts are in part
//! missing is kept where material is: its corners may lie in no finer cell.

use glam::DVec3;

use crate::mapping::{Mapping, rows};

/// No cell or node.
const NONE: u32 = u32::MAX;

/// A cell of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OctreeCell {
    /// How often its edge was doubled: 0 for the finest.
    pub level: u32,
    /// Where it is, in cells of its own size.
    pub at: [u32; 3],
    /// Its corners at x, y, z by their bits 0, 1, 2.
    pub corners: [u32; 8],
    parent: u32,
    children: [u32; 8],
}

impl OctreeCell {
    /// The cell that it is a part of.
    pub fn parent(&self) -> Option<u32> {
        Some(self.parent).filter(|p| *p != NONE)
    }

    /// Its parts, each with its octant.
    pub fn children(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.children.iter().copied().enumerate().filter(|(_, child)| *child != NONE)
    }

    /// Whether it has all its parts.
    pub fn is_whole(&self) -> bool {
        self.level == 0 || !self.children.contains(&NONE)
    }
}

/// A node of the lattice of the finest cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    at: [u32; 3],
    /// A cell that it is a corner of.
    owner: u32,
}

/// The cells of one level by their places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Table {
    size: [u32; 3],
    names: Vec<u32>,
}

impl Table {
    fn new(size: [u32; 3]) -> Table {
        Table { size, names: vec![NONE; size.iter().map(|n| *n as usize).product()] }
    }

    fn index(&self, [i, j, k]: [u32; 3]) -> Option<usize> {
        let inside = i < self.size[0] && j < self.size[1] && k < self.size[2];
        inside.then(|| ((k * self.size[1] + j) as usize) * self.size[0] as usize + i as usize)
    }

    fn get(&self, at: [u32; 3]) -> Option<u32> {
        self.index(at).map(|i| self.names[i]).filter(|name| *name != NONE)
    }

    fn set(&mut self, at: [u32; 3], name: u32) {
        if let Some(i) = self.index(at) {
            self.names[i] = name;
        }
    }
}

/// Corner c of a cell at a place, in cells of that size.
fn corner_place(at: [u32; 3], c: usize) -> [u32; 3] {
    std::array::from_fn(|axis| at[axis] + (c >> axis & 1) as u32)
}

/// Cells of all sizes, and their nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Octree {
    cells: Vec<OctreeCell>,
    /// Cells by level and place.
    tables: Vec<Table>,
    /// Nodes from the particle `first` on.
    nodes: Vec<Node>,
    first: u32,
}

/// Which cells of an octree are divided. Those whose parent is not are not either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OctreeCut {
    divided: Vec<bool>,
}

impl Octree {
    /// Joins the finest cells, given by their places and corners, up to so many times. Their corners are the particles from `first` on, of which there are `count`. With `whole`
    /// only eight that are all there are joined, and there are no other nodes. The places of the nodes that are added come second, as places of the lattice that cells are given in.
    pub fn new(
        finest: &[([u32; 3], [u32; 8])],
        (first, count): (u32, usize),
        levels: u32,
        whole: bool,
    ) -> (Octree, Vec<[i64; 3]>) {
        let largest = 1u32 << levels;
        let extent = finest.iter().fold([1; 3], |e, (at, _)| [0, 1, 2].map(|k| at[k].max(e[k] - 1) + 1));
        let padded = extent.map(|n: u32| n.next_multiple_of(largest));
        // What does not fill its largest cells lies in the middle of them.
        let offset = [0, 1, 2].map(|k| if whole { 0 } else { (padded[k] - extent[k]) / 2 });
        let mut tables: Vec<Table> = (0..=levels).map(|l| Table::new(padded.map(|n| n >> l))).collect();
        let mut names = Table::new(padded.map(|n| n + 1));
        let mut cells: Vec<OctreeCell> = Vec::with_capacity(finest.len());
        let mut nodes = vec![Node { at: [0; 3], owner: NONE }; count];
        for (name, (at, corners)) in (0u32..).zip(finest) {
            let at = [0, 1, 2].map(|k| at[k] + offset[k]);
            tables[0].set(at, name);
            for (c, v) in corners.iter().enumerate() {
                let place = corner_place(at, c);
                names.set(place, *v);
                nodes[(*v - first) as usize] = Node { at: place, owner: name };
            }
            cells.push(OctreeCell { level: 0, at, corners: *corners, parent: NONE, children: [NONE; 8] });
        }
        let mut added = Vec::new();
        for level in 1..=levels {
            let [nx, ny, nz] = tables[level as usize].size;
            let places = (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])));
            for at in places {
                let below = &tables[level as usize - 1];
                let children: [u32; 8] =
                    std::array::from_fn(|c| below.get(corner_place(at.map(|a| 2 * a), c)).unwrap_or(NONE));
                let missing = children.iter().filter(|c| **c == NONE).count();
                if missing == 8 || (whole && missing > 0) {
                    continue;
                }
                let name = cells.len() as u32;
                children.iter().filter(|c| **c != NONE).for_each(|c| cells[*c as usize].parent = name);
                let corners = std::array::from_fn(|c| {
                    let place = corner_place(at, c).map(|a| a << level);
                    names.get(place).unwrap_or_else(|| {
                        let v = first + nodes.len() as u32;
                        names.set(place, v);
                        nodes.push(Node { at: place, owner: name });
                        added.push([0, 1, 2].map(|k| i64::from(place[k]) - i64::from(offset[k])));
                        v
                    })
                });
                tables[level as usize].set(at, name);
                cells.push(OctreeCell { level, at, corners, parent: NONE, children });
            }
        }
        (Octree { cells, tables, nodes, first }, added)
    }

    /// All cells, the finest first, in the order they were given.
    pub fn cells(&self) -> &[OctreeCell] {
        &self.cells
    }

    /// The cut whose leaves are the largest cells.
    pub fn coarsest(&self) -> OctreeCut {
        OctreeCut { divided: vec![false; self.cells.len()] }
    }

    /// The balanced cut with as few divided cells as possible in which all these are divided.
    pub fn divided_where(&self, divided: impl Fn(u32) -> bool) -> OctreeCut {
        let mut cut = self.coarsest();
        for cell in (0..self.cells.len() as u32).filter(|c| self.cells[*c as usize].level > 0) {
            if divided(cell) {
                self.divide(&mut cut, cell);
            }
        }
        self.balance(&mut cut);
        cut
    }

    /// Divides a cell, and all that it is a part of.
    pub fn divide(&self, cut: &mut OctreeCut, cell: u32) {
        let mut next = Some(cell);
        while let Some(c) = next.filter(|c| !cut.divided[*c as usize]) {
            cut.divided[c as usize] = true;
            next = self.cells[c as usize].parent();
        }
    }

    /// Joins the parts of a cell, if all of them are leaves.
    pub fn join(&self, cut: &mut OctreeCut, cell: u32) {
        let is_divided = |(_, child): (usize, u32)| cut.divided[child as usize];
        if !self.cells[cell as usize].children().any(is_divided) {
            cut.divided[cell as usize] = false;
        }
    }

    /// Whether a cell is divided in a cut.
    pub fn is_divided(&self, cut: &OctreeCut, cell: u32) -> bool {
        cut.divided[cell as usize]
    }

    /// The leaves of a cut, ascending.
    pub fn leaves(&self, cut: &OctreeCut) -> Vec<u32> {
        let is_leaf = |c: &u32| {
            let parent = self.cells[*c as usize].parent();
            !cut.divided[*c as usize] && parent.is_none_or(|p| cut.divided[p as usize])
        };
        (0..self.cells.len() as u32).filter(is_leaf).collect()
    }

    /// The cut with these leaves, if there is one.
    pub fn cut_of(&self, leaves: &[u32]) -> Option<OctreeCut> {
        let mut cut = self.coarsest();
        for leaf in leaves {
            if let Some(parent) = self.cells.get(*leaf as usize)?.parent() {
                self.divide(&mut cut, parent);
            }
        }
        (self.leaves(&cut) == leaves).then_some(cut)
    }

    /// The leaf that a place of the finest lattice lies in.
    fn leaf_at(&self, cut: &OctreeCut, place: [u32; 3]) -> Option<u32> {
        let mut tables = self.tables.iter().enumerate().rev();
        let mut cell = tables.find_map(|(level, table)| table.get(place.map(|p| p >> level)))?;
        while cut.divided[cell as usize] {
            let OctreeCell { level, children, .. } = &self.cells[cell as usize];
            let octant = (0..3).fold(0, |o, axis| o | ((place[axis] >> (level - 1) & 1) << axis));
            cell = children[octant as usize];
            if cell == NONE {
                return None;
            }
        }
        Some(cell)
    }

    /// The leaf beside a cell, across a face, an edge or a corner; none if there is nothing, and one of them if there are several smaller ones.
    pub fn leaf_beside(&self, cut: &OctreeCut, cell: u32, direction: [i32; 3]) -> Option<u32> {
        let OctreeCell { level, at, .. } = &self.cells[cell as usize];
        let mut place = [0; 3];
        for axis in 0..3 {
            place[axis] = at[axis].checked_add_signed(direction[axis])?.checked_mul(1 << level)?;
        }
        self.tables[0].index(place)?;
        self.leaf_at(cut, place)
    }

    /// Whether there is a cell of the same size beside one.
    pub fn has_beside(&self, cell: u32, direction: [i32; 3]) -> bool {
        let OctreeCell { level, at, .. } = &self.cells[cell as usize];
        let place = |axis: usize| at[axis].checked_add_signed(direction[axis]);
        let (Some(i), Some(j), Some(k)) = (place(0), place(1), place(2)) else { return false };
        self.tables[*level as usize].get([i, j, k]).is_some()
    }

    /// The cells that a node lies in or on, but for the finest.
    pub fn around(&self, node: u32) -> Vec<u32> {
        let at = self.nodes[(node - self.first) as usize].at;
        let mut cells = Vec::new();
        for (level, table) in self.tables.iter().enumerate().skip(1) {
            for c in 0..8 {
                let place = |axis: usize| at[axis].checked_sub((c >> axis & 1) as u32).map(|a| a >> level);
                if let (Some(i), Some(j), Some(k)) = (place(0), place(1), place(2)) {
                    cells.extend(table.get([i, j, k]));
                }
            }
        }
        cells.sort_unstable();
        cells.dedup();
        cells
    }

    /// Divides leaves until neighbours differ by one level at most.
    pub fn balance(&self, cut: &mut OctreeCut) {
        loop {
            let mut changed = false;
            for leaf in self.leaves(cut) {
                let level = self.cells[leaf as usize].level;
                for d in (0..27).filter(|d| *d != 13) {
                    let direction = [d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1];
                    let Some(beside) = self.leaf_beside(cut, leaf, direction) else { continue };
                    if self.cells[beside as usize].level > level + 1 {
                        cut.divided[beside as usize] = true;
                        changed = true;
                    }
                }
            }
            if !changed {
                return;
            }
        }
    }

    /// Where in a cell a node lies, from 0 to 1 if it lies in it.
    fn share(&self, cell: u32, node: [u32; 3]) -> DVec3 {
        let OctreeCell { level, at, .. } = &self.cells[cell as usize];
        let size = f64::from(1u32 << level);
        DVec3::from([0, 1, 2].map(|k| f64::from(node[k]) / size - f64::from(at[k])))
    }

    /// The largest leaf that touches a node.
    fn largest_leaf(&self, cut: &OctreeCut, node: [u32; 3]) -> Option<u32> {
        let around = (0..8).filter_map(|c| {
            let mut place = [0; 3];
            for axis in 0..3 {
                place[axis] = node[axis].checked_sub((c >> axis & 1) as u32)?;
            }
            self.tables[0].index(place)?;
            self.leaf_at(cut, place)
        });
        around.max_by_key(|leaf| self.cells[*leaf as usize].level)
    }

    /// Whether a node lies in or on a leaf.
    pub fn is_in_leaf(&self, cut: &OctreeCut, node: u32) -> bool {
        self.largest_leaf(cut, self.nodes[(node - self.first) as usize].at).is_some()
    }

    /// Which particles follow which in a cut: nodes that are not free, then `others`, which follow nodes of the finest cells.
    pub fn mapping(&self, cut: &OctreeCut, others: &Mapping) -> Mapping {
        // The level of what they lie in, the node, and its row: those in the largest leaves first, so that parents that follow others are known.
        let mut followers: Vec<(u32, u32, u32, DVec3)> = Vec::new();
        for (name, node) in (0u32..).zip(&self.nodes) {
            let (leaf, level) = match self.largest_leaf(cut, node.at) {
                Some(leaf) => {
                    let level = self.cells[leaf as usize].level;
                    // A corner of the largest leaf around it is one of all of them.
                    if node.at.iter().all(|a| a % (1 << level) == 0) {
                        continue;
                    }
                    (leaf, level + 1)
                }
                None => (self.nearest_leaf(cut, node), 0),
            };
            let share = self.share(leaf, node.at).clamp(DVec3::ZERO, DVec3::ONE);
            followers.push((level, name, leaf, share));
        }
        followers.sort_by_key(|(level, name, ..)| (std::cmp::Reverse(*level), *name));
        let mut mapping = Mapping::default();
        for (_, name, leaf, share) in followers {
            let corners = self.cells[leaf as usize].corners;
            mapping.push(self.first + name, &rows::barycentric(corners, rows::trilinear(share)));
        }
        for (child, row) in others.rows() {
            mapping.push(child, &row.collect::<Vec<_>>());
        }
        mapping
    }

    /// The leaf of a node's cell that is nearest to the node.
    fn nearest_leaf(&self, cut: &OctreeCut, node: &Node) -> u32 {
        let mut cell = node.owner;
        while cut.divided[cell as usize] {
            cell = self.nearest_child(cell, node.at);
        }
        cell
    }

    /// Of the parts of a cell the one that is nearest to a node of the lattice.
    fn nearest_child(&self, cell: u32, node: [u32; 3]) -> u32 {
        let steps = |child: u32| {
            let share = self.share(child, node);
            (share - share.clamp(DVec3::ZERO, DVec3::ONE)).abs().element_sum()
        };
        let children = self.cells[cell as usize].children().map(|(_, child)| child);
        children.min_by(|a, b| steps(*a).total_cmp(&steps(*b))).unwrap_or(cell)
    }

    /// Of a cell whose parts are leaves: the corners that none of them has, and the row of the corners of a part that says where they would be if the part went on.
    pub fn outer_corners(&self, cell: u32) -> Vec<(u32, [(u32, f64); 8])> {
        let whole = &self.cells[cell as usize];
        let has = |v: u32| whole.children().any(|(_, c)| self.cells[c as usize].corners.contains(&v));
        let beyond = |v: u32| {
            let at = self.nodes[(v - self.first) as usize].at;
            let child = self.nearest_child(cell, at);
            let weights = rows::trilinear(self.share(child, at));
            (v, rows::barycentric(self.cells[child as usize].corners, weights))
        };
        whole.corners.iter().filter(|v| !has(**v)).map(|v| beyond(*v)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::uniform;
    use crate::mesh::cells::block_cells;

    fn block(cells: [u32; 3]) -> Vec<([u32; 3], [u32; 8])> {
        let [_, ny, nz] = cells;
        let place = |n: u32| [n / (ny * nz), n / nz % ny, n % nz];
        (0u32..).zip(block_cells(cells)).map(|(n, (corners, _))| (place(n), corners)).collect()
    }

    fn places(cells: [u32; 3]) -> Vec<DVec3> {
        let [_, ny, nz] = cells.map(|n| n + 1);
        let count = cells.iter().map(|n| n + 1).product();
        (0..count).map(|v: u32| DVec3::from([v / (ny * nz), v / nz % ny, v % nz].map(f64::from))).collect()
    }

    /// Cuts of a block at random, and its nodes.
    fn random(cells: [u32; 3], levels: u32, seed: u64) -> (Octree, OctreeCut, Vec<DVec3>) {
        let x = places(cells);
        let (octree, added) = Octree::new(&block(cells), (0, x.len()), levels, true);
        assert!(added.is_empty());
        let cut = octree.divided_where(|c| uniform(seed, u64::from(c)) < 0.02);
        (octree, cut, x)
    }

    #[test]
    fn leaves_fill_the_block_once_and_neighbours_differ_by_one_level() {
        for seed in 0..5 {
            let (octree, cut, _) = random([32, 16, 11], 3, seed);
            let leaves = octree.leaves(&cut);
            let volume: u32 = leaves.iter().map(|l| 1 << (3 * octree.cells()[*l as usize].level)).sum();
            assert_eq!(volume, 32 * 16 * 11);
            let level = |l: u32| octree.cells()[l as usize].level;
            assert!(leaves.iter().any(|l| level(*l) >= 2) && leaves.iter().any(|l| level(*l) == 0));
            for &leaf in &leaves {
                for d in (0..27).filter(|d| *d != 13) {
                    let beside = octree.leaf_beside(&cut, leaf, [d % 3 - 1, d / 3 % 3 - 1, d / 9 - 1]);
                    assert!(beside.is_none_or(|b| level(b) <= level(leaf) + 1));
                }
            }
            assert_eq!(octree.cut_of(&leaves), Some(cut));
            assert_eq!(octree.cut_of(&leaves[1..]), None);
        }
    }

    #[test]
    fn an_affine_field_is_followed_and_any_field_is_continuous() {
        for seed in 0..5 {
            let (octree, cut, x) = random([32, 16, 11], 3, seed);
            let mapping = octree.mapping(&cut, &Mapping::default());
            assert!(!mapping.is_empty() && mapping.len() < x.len());
            let affine = |p: DVec3| DVec3::new(1.0 + p.x - 2.0 * p.y, p.z, 0.5 * p.x + p.y);
            let mut field: Vec<DVec3> = x.iter().map(|p| affine(*p)).collect();
            mapping.rows().for_each(|(child, _)| field[child as usize] = DVec3::NAN);
            mapping.apply(&mut field);
            for (p, u) in x.iter().zip(&field) {
                assert!(affine(*p).distance(*u) < 1e-12);
            }
            // Whatever free nodes do, every leaf is trilinear between its corners: also where it touches others.
            let mut field: Vec<DVec3> =
                (0..x.len()).map(|i| DVec3::splat(uniform(seed, i as u64 + 99))).collect();
            mapping.apply(&mut field);
            for leaf in octree.leaves(&cut) {
                let cell = &octree.cells()[leaf as usize];
                for (node, u) in octree.nodes.iter().zip(&field) {
                    let share = octree.share(leaf, node.at);
                    if share.min_element() < 0.0 || share.max_element() > 1.0 {
                        continue;
                    }
                    let weights = rows::trilinear(share);
                    let here: DVec3 =
                        cell.corners.iter().zip(weights).map(|(v, w)| field[*v as usize] * w).sum();
                    assert!(here.distance(*u) < 1e-12);
                }
            }
        }
    }

    #[test]
    fn cells_that_are_not_whole_have_corners_of_their_own() {
        // Three cells in a row: one of four times their size around them, in the middle of which they lie.
        let finest: Vec<_> = block([3, 1, 1]);
        let (octree, added) = Octree::new(&finest, (0, 16), 2, false);
        let root = octree.cells().len() as u32 - 1;
        assert_eq!(octree.leaves(&octree.coarsest()), [root]);
        assert_eq!(octree.cells()[root as usize].level, 2);
        assert!(added.iter().any(|p| p[1] < 0) && !octree.cells()[root as usize].is_whole());
        // Corners in no leaf follow something that is near.
        let fine = octree.divided_where(|_| true);
        assert_eq!(octree.leaves(&fine), [0, 1, 2]);
        let mapping = octree.mapping(&fine, &Mapping::default());
        assert_eq!(mapping.len(), added.len());
        for (_, row) in mapping.rows() {
            assert!(row.map(|(_, w)| w).sum::<f64>() == 1.0);
        }
        // As parts are joined, corners are where the parts would be if they went on.
        let parent = octree.cells()[0].parent().expect("has one");
        for (v, row) in octree.outer_corners(parent) {
            let at = |v: u32| DVec3::from(octree.nodes[v as usize].at.map(f64::from));
            let there: DVec3 = row.iter().map(|(p, w)| at(*p) * *w).sum();
            assert_eq!(there, at(v));
        }
    }
}
