//! A sparse symmetric matrix of 3×3 blocks in compressed rows: what multigrid and incomplete factors keep of the system at rest.
//!
//! Rows are written by one thread each and summed in the order of their columns, so that a product has the same bits for any
//! number of threads. The Galerkin product LᵀAL takes weights that are the same for x, y and z. Both halves are stored: a product that
//! reads rows alone can be shared among threads, which is worth twice the memory.

use std::collections::BTreeMap;

use glam::{DMat3, DVec3};

use crate::energy::PairBlock;
use crate::parallel::Parallel;

/// A vector of 32-bit numbers; the fourth is not of use.
pub(super) type Single = [f32; 4];

/// The same vector in 64 bits, times a factor.
#[inline(always)]
pub(super) fn widened(v: Single, scale: f64) -> DVec3 {
    DVec3::new(f64::from(v[0]), f64::from(v[1]), f64::from(v[2])) * scale
}

/// The same vector in 32 bits, times a factor.
#[inline(always)]
pub(super) fn single(v: DVec3, scale: f64) -> Single {
    [(v.x * scale) as f32, (v.y * scale) as f32, (v.z * scale) as f32, 0.0]
}

/// sum + a s.
#[inline(always)]
fn plus(sum: Single, a: Single, s: f32) -> Single {
    [sum[0] + a[0] * s, sum[1] + a[1] * s, sum[2] + a[2] * s, sum[3] + a[3] * s]
}

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
    pub(super) fn gather_single(&self, r: usize, from: &[Single]) -> Single {
        self.row(r).iter().fold([0.0; 4], |sum, (c, w)| plus(sum, from[*c as usize], *w as f32))
    }

    /// What row r takes of `from`, exactly.
    #[cfg(test)]
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
        self.find(r, r).copied().unwrap_or(DMat3::ZERO)
    }

    /// The block of a row and a column, if there is one.
    fn find(&self, r: usize, column: usize) -> Option<&DMat3> {
        let range = self.start[r]..self.start[r + 1];
        let at = self.columns[range.clone()].binary_search(&(column as u32)).ok()?;
        self.blocks[range].get(at)
    }

    #[cfg(test)]
    fn row_product(&self, r: usize, d: &[DVec3]) -> DVec3 {
        self.row(r).fold(DVec3::ZERO, |sum, (c, block)| sum + *block * d[c as usize])
    }

    /// out = A d.
    #[cfg(test)]
    pub(super) fn multiply(&self, d: &[DVec3], out: &mut [DVec3], parallel: &Parallel) {
        parallel.heavy_blocks(out, |start, block| {
            for (k, out) in block.iter_mut().enumerate() {
                *out = self.row_product(start + k, d);
            }
        });
    }

    /// r −= A d.
    #[cfg(test)]
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

/// The same matrix in 32 bits, for work that need not be exact, as are sums: half of what would have to be read, and no number is made longer.
///
/// Nodes have colours, no two of one colour are joined. Rows stand by colour, and in a row come the columns of lower colours, then the diagonal, then those of higher
/// colours. It is exactly symmetric. Rows with the same numbers, as most have inside a body of one material, have them once: what is read again and again stays near.
#[derive(Debug, Default)]
pub(super) struct SingleRows {
    /// The node of each row.
    nodes: Vec<u32>,
    /// Where the rows of each colour begin, and the end.
    colours: Vec<usize>,
    start: Vec<usize>,
    /// Where the diagonal of each row stands.
    middle: Vec<usize>,
    columns: Vec<u32>,
    /// At which block the numbers of each row begin.
    blocks: Vec<usize>,
    /// Nine numbers of each block, by columns, and three more at the end.
    numbers: Vec<f32>,
}

/// Which columns of a row are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// Those of lower colours.
    Lower,
    /// Those of higher colours.
    Higher,
    /// Both: all but the diagonal.
    Others,
    /// All.
    All,
}

impl SingleRows {
    /// Of a matrix whose nodes have these colours.
    pub(super) fn new(matrix: &BlockRows, colour: &[usize]) -> SingleRows {
        let mut nodes: Vec<u32> = (0..matrix.len() as u32).collect();
        nodes.sort_by_key(|v| colour[*v as usize]);
        let most = colour.iter().max().map_or(0, |c| c + 1);
        let colours = (0..=most).map(|c| nodes.partition_point(|v| colour[*v as usize] < c)).collect();
        let mut rows = SingleRows { nodes, colours, start: vec![0], ..SingleRows::default() };
        let mut known: BTreeMap<Vec<u32>, usize> = BTreeMap::new();
        let mut numbers: Vec<f32> = Vec::new();
        for &node in &rows.nodes {
            let r = node as usize;
            numbers.clear();
            let mut row: Vec<(u32, &DMat3)> = matrix.row(r).collect();
            row.sort_by_key(|(column, _)| (colour[*column as usize], *column));
            for (column, block) in row {
                if column == node {
                    rows.middle.push(rows.columns.len());
                }
                // Below the diagonal what is above it, so that it is exactly symmetric; on it, too.
                let mirrored = matrix.find(column as usize, r).filter(|_| (column as usize) < r);
                let mut block = mirrored.map_or(*block, |other| other.transpose());
                if column == node {
                    block = (block + block.transpose()) * 0.5;
                }
                rows.columns.push(column);
                numbers.extend(block.to_cols_array().map(|number| number as f32));
            }
            rows.start.push(rows.columns.len());
            let at = *known.entry(numbers.iter().map(|n| n.to_bits()).collect()).or_insert_with(|| {
                rows.numbers.extend(&numbers);
                (rows.numbers.len() - numbers.len()) / 9
            });
            rows.blocks.push(at);
        }
        rows.numbers.extend([0.0; 3]);
        rows
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node of each row.
    pub(super) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Whether all numbers fit into 32 bits.
    pub(super) fn is_finite(&self) -> bool {
        self.numbers.iter().all(|number| number.is_finite())
    }

    /// How many colours there are.
    pub(super) fn colours(&self) -> usize {
        self.colours.len().saturating_sub(1)
    }

    /// The rows of a colour.
    pub(super) fn rows_of(&self, colour: usize) -> std::ops::Range<usize> {
        self.colours[colour]..self.colours[colour + 1]
    }

    /// The block on the diagonal of a row, as rounded.
    pub(super) fn diagonal(&self, row: usize) -> DMat3 {
        let numbers = &self.numbers[9 * (self.blocks[row] + self.middle[row] - self.start[row])..];
        DMat3::from_cols_array(&std::array::from_fn(|k| f64::from(numbers[k])))
    }

    /// Products of the rows from `first` on with some of their columns, into a list in the order of rows.
    pub(super) fn multiply(
        &self,
        first: usize,
        columns: Columns,
        d: &[Single],
        out: &mut [Single],
        parallel: &Parallel,
    ) {
        parallel.heavy_blocks(out, |start, out| self.multiply_rows(first + start, columns, d, out));
    }

    fn multiply_rows(&self, first: usize, columns: Columns, d: &[Single], out: &mut [Single]) {
        for (k, out) in out.iter_mut().enumerate() {
            let row = first + k;
            let (start, middle, end) = (self.start[row], self.middle[row], self.start[row + 1]);
            // Three sums: one would wait for itself.
            let mut sums = [[0.0; 4]; 3];
            match columns {
                Columns::Lower => self.add(&mut sums, row, start, middle, d),
                Columns::Higher => self.add(&mut sums, row, middle + 1, end, d),
                Columns::Others => {
                    self.add(&mut sums, row, start, middle, d);
                    self.add(&mut sums, row, middle + 1, end, d);
                }
                Columns::All => self.add(&mut sums, row, start, end, d),
            }
            let [a, b, c] = sums;
            *out = [a[0] + b[0] + c[0], a[1] + b[1] + c[1], a[2] + b[2] + c[2], 0.0];
        }
    }

    /// Adds blocks times vectors. What the fourth of each four sums up belongs to nobody.
    #[inline(always)]
    fn add(&self, sums: &mut [Single; 3], row: usize, start: usize, end: usize, d: &[Single]) {
        let first = self.blocks[row] + start - self.start[row];
        let numbers = &self.numbers[9 * first..9 * (first + end - start) + 3];
        for (k, column) in self.columns[start..end].iter().enumerate() {
            let v = d[*column as usize];
            let Some(block) = numbers[9 * k..].first_chunk::<12>() else { break };
            let [a, b, c, e, f, g, h, i, j, o, ..] = *block;
            sums[0] = plus(sums[0], [a, b, c, e], v[0]);
            sums[1] = plus(sums[1], [e, f, g, h], v[1]);
            sums[2] = plus(sums[2], [h, i, j, o], v[2]);
        }
    }
}

/// A colour for each row, so that rows that are joined differ: in the order they come, each the first that none of its neighbours has.
pub(super) fn colours(matrix: &BlockRows) -> Vec<usize> {
    let mut colour = vec![usize::MAX; matrix.len()];
    let mut taken_by: Vec<usize> = Vec::new();
    for r in 0..matrix.len() {
        for (column, _) in matrix.row(r) {
            if let Some(taken) = taken_by.get_mut(colour[column as usize]) {
                *taken = r;
            }
        }
        let free = taken_by.iter().position(|by| *by != r).unwrap_or(taken_by.len());
        if free == taken_by.len() {
            // Never the number of a row.
            taken_by.push(usize::MAX);
        }
        colour[r] = free;
    }
    colour
}

/// The symmetric block with these six numbers times a vector.
#[inline(always)]
pub(super) fn times_symmetric([xx, xy, xz, yy, yz, zz]: [f32; 6], r: Single) -> Single {
    let [x, y, z, _] = r;
    [xx * x + xy * y + xz * z, xy * x + yy * y + yz * z, xz * x + yz * y + zz * z, 0.0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::uniform;

    /// A matrix of a grid of nodes that are joined with all their neighbours.
    fn matrix(side: u32) -> BlockRows {
        let place = |i: u32| [i % side, i / side % side, i / side / side];
        let near = |a: [u32; 3], b: [u32; 3]| a.iter().zip(b).all(|(a, b)| a.abs_diff(b) <= 1);
        let count = side * side * side;
        let noise =
            |i: u32| DMat3::from_cols_array(&std::array::from_fn(|k| uniform(u64::from(i), k as u64) - 0.5));
        let pairs = (0..count).flat_map(|i| (0..i).map(move |j| (i, j)));
        let pairs = pairs.filter(|&(i, j)| near(place(i), place(j)));
        let pairs: Vec<PairBlock> =
            pairs.map(|(i, j)| PairBlock { i, j, block: noise(i * count + j) }).collect();
        let diagonal = vec![DMat3::from_diagonal(DVec3::splat(30.0)); count as usize];
        let place: Vec<Option<u32>> = (0..count).map(Some).collect();
        BlockRows::assemble(count as usize, &place, &diagonal, &pairs)
    }

    #[test]
    fn rows_of_one_colour_are_not_joined() {
        let matrix = matrix(6);
        let colour = colours(&matrix);
        assert_eq!(colour.iter().max(), Some(&7), "a grid needs eight");
        for r in 0..matrix.len() {
            assert!(matrix.row(r).all(|(c, _)| c as usize == r || colour[c as usize] != colour[r]));
        }
    }

    #[test]
    fn products_in_32_bits_are_near() {
        let (matrix, parallel) = (matrix(6), Parallel::default());
        let single = SingleRows::new(&matrix, &colours(&matrix));
        let n = matrix.len();
        let d: Vec<DVec3> =
            (0..n as u64).map(|i| DVec3::from([0, 1, 2].map(|k| uniform(9, 3 * i + k) - 0.5))).collect();
        let mut exact = vec![DVec3::ZERO; n];
        matrix.multiply(&d, &mut exact, &parallel);
        let rounded: Vec<Single> = d.iter().map(|d| super::single(*d, 1.0)).collect();
        let products = |columns: Columns| -> Vec<DVec3> {
            let mut out = vec![[0.0; 4]; n];
            single.multiply(0, columns, &rounded, &mut out, &parallel);
            out.into_iter().map(|v| widened(v, 1.0)).collect()
        };
        let [lower, higher, others, all] =
            [Columns::Lower, Columns::Higher, Columns::Others, Columns::All].map(products);
        for (row, v) in single.nodes().iter().enumerate() {
            let near = |a: DVec3, b: DVec3| (a - b).length() < 1e-5;
            let own = single.diagonal(row) * d[*v as usize];
            assert!(near(all[row], exact[*v as usize]) && near(others[row] + own, all[row]));
            assert!(near(lower[row] + higher[row], others[row]));
        }
    }
}
