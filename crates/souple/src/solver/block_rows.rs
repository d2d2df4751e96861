//! A sparse symmetric matrix of 3×3 blocks in compressed rows: what multigrid and incomplete factors keep of the system at rest.
//!
//! Rows are written by one thread each and summed in the order of their columns, so that a product has the same bits for any
//! number of threads. The Galerkin product LᵀAL takes weights that are the same for x, y and z. Both halves are stored: a product that
//! reads rows alone can be shared among threads, which is worth twice the memory.

use glam::{DMat3, DVec3};

use crate::energy::PairBlock;
use crate::parallel::Parallel;

/// A square matrix of 3×3 blocks, in rows whose columns ascend.
#[derive(Debug, Default)]
pub(super) struct BlockRows {
    start: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<DMat3>,
}

/// Weights in compressed rows: what each item takes from which others.
#[derive(Debug, Default)]
pub(super) struct Weights {
    start: Vec<usize>,
    items: Vec<(u32, f64)>,
}

impl Weights {
    /// From rows in order.
    pub(super) fn from_rows<'a>(rows: impl Iterator<Item = &'a [(u32, f64)]>) -> Weights {
        let mut weights = Weights { start: vec![0], items: Vec::new() };
        for row in rows {
            weights.items.extend(row);
            weights.start.push(weights.items.len());
        }
        weights
    }

    /// The same seen from the other side, for so many columns.
    pub(super) fn transposed(&self, columns: usize) -> Weights {
        let mut start = vec![0usize; columns + 1];
        for (column, _) in &self.items {
            start[*column as usize + 1] += 1;
        }
        for c in 0..columns {
            start[c + 1] += start[c];
        }
        let mut next = start.clone();
        let mut items = vec![(0, 0.0); self.items.len()];
        for r in 0..self.len() {
            for (column, weight) in self.row(r) {
                let at = &mut next[*column as usize];
                items[*at] = (r as u32, *weight);
                *at += 1;
            }
        }
        Weights { start, items }
    }

    pub(super) fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> &[(u32, f64)] {
        &self.items[self.start[r]..self.start[r + 1]]
    }

    /// What row r takes of `from`.
    #[inline(always)]
    pub(super) fn gather(&self, r: usize, from: &[DVec3]) -> DVec3 {
        self.row(r).iter().fold(DVec3::ZERO, |sum, (c, w)| sum + from[*c as usize] * *w)
    }
}

impl BlockRows {
    /// The rows and columns that `place` numbers, of so many, of a matrix given by its diagonal and its pairs; others are left out.
    pub(super) fn assemble(
        rows: usize,
        place: &[Option<u32>],
        diagonal: &[DMat3],
        pairs: &[PairBlock],
    ) -> BlockRows {
        let placed = |p: &PairBlock| Some((place[p.i as usize]?, place[p.j as usize]?));
        let mut start = vec![1usize; rows + 1];
        start[0] = 0;
        for (i, j) in pairs.iter().filter_map(placed) {
            start[i as usize + 1] += 1;
            start[j as usize + 1] += 1;
        }
        for r in 0..rows {
            start[r + 1] += start[r];
        }
        // Where the block of each entry comes from: twice the pair, one more if transposed; `DIAGONAL` of the diagonal.
        const DIAGONAL: u64 = u64::MAX;
        let mut next = start.clone();
        let mut entries = vec![(0u32, 0u64); start[rows]];
        let mut put = |row: u32, column: u32, source: u64| {
            let at = &mut next[row as usize];
            entries[*at] = (column, source);
            *at += 1;
        };
        let mut own = vec![DMat3::ZERO; rows];
        for (i, block) in place.iter().zip(diagonal).filter_map(|(p, block)| p.map(|p| (p, block))) {
            own[i as usize] = *block;
            put(i, i, DIAGONAL);
        }
        for (p, pair) in pairs.iter().enumerate() {
            if let Some((i, j)) = placed(pair) {
                put(i, j, 2 * p as u64);
                put(j, i, 2 * p as u64 + 1);
            }
        }
        let mut matrix = BlockRows { start: vec![0], ..BlockRows::default() };
        for r in 0..rows {
            let row = &mut entries[start[r]..start[r + 1]];
            row.sort_unstable();
            let first = matrix.columns.len();
            for &(column, source) in row.iter() {
                let block = match source {
                    DIAGONAL => own[r],
                    s if s % 2 == 0 => pairs[(s / 2) as usize].block,
                    s => pairs[(s / 2) as usize].block.transpose(),
                };
                match matrix.columns[first..].last() {
                    Some(last) if *last == column => {
                        let end = matrix.blocks.len() - 1;
                        matrix.blocks[end] += block;
                    }
                    _ => {
                        matrix.columns.push(column);
                        matrix.blocks.push(block);
                    }
                }
            }
            matrix.start.push(matrix.columns.len());
        }
        matrix
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// Columns and blocks of a row.
    #[inline(always)]
    pub(super) fn row(&self, r: usize) -> impl Iterator<Item = (u32, &DMat3)> {
        let range = self.start[r]..self.start[r + 1];
        self.columns[range.clone()].iter().copied().zip(&self.blocks[range])
    }

    /// The block on the diagonal of a row.
    pub(super) fn diagonal(&self, r: usize) -> DMat3 {
        self.row(r).find(|(c, _)| *c as usize == r).map_or(DMat3::ZERO, |(_, block)| *block)
    }

    #[inline(always)]
    fn row_product(&self, r: usize, d: &[DVec3]) -> DVec3 {
        self.row(r).fold(DVec3::ZERO, |sum, (c, block)| sum + *block * d[c as usize])
    }

    /// out = A d.
    pub(super) fn multiply(&self, d: &[DVec3], out: &mut [DVec3], parallel: &Parallel) {
        parallel.heavy_blocks(out, |start, block| {
            for (k, out) in block.iter_mut().enumerate() {
                *out = self.row_product(start + k, d);
            }
        });
    }

    /// r −= A d.
    pub(super) fn subtract_product(&self, d: &[DVec3], r: &mut [DVec3], parallel: &Parallel) {
        parallel.heavy_blocks(r, |start, block| {
            for (k, r) in block.iter_mut().enumerate() {
                *r -= self.row_product(start + k, d);
            }
        });
    }

    /// LᵀAL, of weights L from coarse to fine and their transpose.
    pub(super) fn galerkin(&self, up: &Weights, down: &Weights) -> BlockRows {
        let coarse = down.len();
        let mut place = vec![usize::MAX; coarse];
        let mut row: Vec<(u32, DMat3)> = Vec::new();
        let mut matrix = BlockRows { start: vec![0], ..BlockRows::default() };
        for r in 0..coarse {
            row.clear();
            for (i, wi) in down.row(r) {
                for (j, block) in self.row(*i as usize) {
                    let block = *block * *wi;
                    for (column, wj) in up.row(j as usize) {
                        let at = &mut place[*column as usize];
                        if *at == usize::MAX {
                            *at = row.len();
                            row.push((*column, DMat3::ZERO));
                        }
                        row[*at].1 += block * *wj;
                    }
                }
            }
            row.iter().for_each(|(column, _)| place[*column as usize] = usize::MAX);
            row.sort_unstable_by_key(|(column, _)| *column);
            matrix.columns.extend(row.iter().map(|(column, _)| *column));
            matrix.blocks.extend(row.iter().map(|(_, block)| *block));
            matrix.start.push(matrix.columns.len());
        }
        matrix
    }
}

/// The symmetric block with these six numbers times a vector.
#[inline(always)]
pub(super) fn times_symmetric([xx, xy, xz, yy, yz, zz]: [f64; 6], r: DVec3) -> DVec3 {
    DVec3::new(xx * r.x + xy * r.y + xz * r.z, xy * r.x + yy * r.y + yz * r.z, xz * r.x + yz * r.y + zz * r.z)
}
