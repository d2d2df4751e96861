//! Incomplete Cholesky factors of 3×3 blocks: the pattern of the matrix and no more (Meijerink and van der Vorst 1977).
//!
//! A ≈ L Lᵀ with L where A has blocks. It takes the memory of the matrix, is made in the time of a few products and halves the number of
//! iterations of blocks on the diagonal, or better, but this number still grows with the body. A matrix of elasticity may lose its
//! definiteness on the way: then the diagonal is made larger, by twice as much each time, until it does not (Manteuffel 1980).
//!
//! Promised: a function of the matrix alone, symmetric and positive definite. One thread: each row waits for those before it.

use glam::{DMat3, DVec3};

use super::block_rows::BlockRows;

/// By how much the diagonal is made larger first, relative to it, and how often that is doubled.
const FIRST_SHIFT: f64 = 1e-3;
const MOST_TRIES: usize = 12;

/// L in rows, with its diagonal blocks, which are lower triangles, inverted.
#[derive(Debug, Default)]
pub(super) struct Incomplete {
    start: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<DMat3>,
    inverse: Vec<DMat3>,
    x: Vec<DVec3>,
}

impl Incomplete {
    /// Factors a matrix; tells whether it could.
    pub(super) fn factor(&mut self, matrix: &BlockRows) -> bool {
        let mut shift = 0.0;
        for _ in 0..MOST_TRIES {
            if self.try_factor(matrix, 1.0 + shift) {
                self.x = vec![DVec3::ZERO; matrix.len()];
                return true;
            }
            shift = if shift == 0.0 { FIRST_SHIFT } else { 2.0 * shift };
        }
        false
    }

    /// The factor of a matrix whose diagonal is so many times as large; none if it is not positive definite.
    fn try_factor(&mut self, matrix: &BlockRows, scale: f64) -> bool {
        (self.start, self.columns, self.blocks, self.inverse) = (vec![0], Vec::new(), Vec::new(), Vec::new());
        for i in 0..matrix.len() {
            let first = self.columns.len();
            let mut own = matrix.diagonal(i) * scale;
            for (column, block) in matrix.row(i).filter(|(c, _)| (*c as usize) < i) {
                let block = *block - self.shared(first, column as usize);
                // L_ij = (A_ij − Σ L_ik L_jkᵀ) L_jj⁻ᵀ.
                let block = block * self.inverse[column as usize].transpose();
                own -= block * block.transpose();
                self.columns.push(column);
                self.blocks.push(block);
            }
            let Some(inverse) = inverse_factor(own) else { return false };
            self.inverse.push(inverse);
            self.start.push(self.columns.len());
        }
        true
    }

    /// Σ L_ik L_jkᵀ over the columns that the row that is being made, from `first` on, has in common with row j.
    fn shared(&self, first: usize, j: usize) -> DMat3 {
        let (mut a, mut b) = (first, self.start[j]);
        let mut sum = DMat3::ZERO;
        while a < self.columns.len() && b < self.start[j + 1] {
            match self.columns[a].cmp(&self.columns[b]) {
                std::cmp::Ordering::Less => a += 1,
                std::cmp::Ordering::Greater => b += 1,
                std::cmp::Ordering::Equal => {
                    sum += self.blocks[a] * self.blocks[b].transpose();
                    a += 1;
                    b += 1;
                }
            }
        }
        sum
    }

    /// (L Lᵀ)⁻¹ of what `load` gives per row, to be read by [`Incomplete::at`].
    pub(super) fn solve(&mut self, load: impl Fn(usize) -> DVec3) {
        let range = |i: usize| self.start[i]..self.start[i + 1];
        for i in 0..self.x.len() {
            let mut sum = load(i);
            for e in range(i) {
                sum -= self.blocks[e] * self.x[self.columns[e] as usize];
            }
            self.x[i] = self.inverse[i] * sum;
        }
        for i in (0..self.x.len()).rev() {
            let x = self.inverse[i].transpose() * self.x[i];
            self.x[i] = x;
            for e in range(i) {
                self.x[self.columns[e] as usize] -= self.blocks[e].transpose() * x;
            }
        }
    }

    /// What [`Incomplete::solve`] found for a row.
    pub(super) fn at(&self, row: usize) -> DVec3 {
        self.x[row]
    }
}

/// The inverse of the lower triangle C of m = C Cᵀ; none if m is not positive definite.
fn inverse_factor(m: DMat3) -> Option<DMat3> {
    // Relative to what was there: a pivot that is all rounding would spoil the rest.
    let positive = |pivot: f64, of: f64| (pivot > 1e-10 * of && pivot.is_finite()).then(|| pivot.sqrt());
    let c00 = positive(m.x_axis.x, 0.0)?;
    let (c10, c20) = (m.x_axis.y / c00, m.x_axis.z / c00);
    let c11 = positive(m.y_axis.y - c10 * c10, m.y_axis.y)?;
    let c21 = (m.y_axis.z - c20 * c10) / c11;
    let c22 = positive(m.z_axis.z - c20 * c20 - c21 * c21, m.z_axis.z)?;
    let (i00, i11, i22) = (1.0 / c00, 1.0 / c11, 1.0 / c22);
    let i10 = -c10 * i00 * i11;
    let i21 = -c21 * i11 * i22;
    let i20 = -(c20 * i00 + c21 * i10) * i22;
    Some(DMat3::from_cols(DVec3::new(i00, i10, i20), DVec3::new(0.0, i11, i21), DVec3::new(0.0, 0.0, i22)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::PairBlock;

    #[test]
    fn a_chain_is_factored_exactly() {
        // A matrix of three diagonals has no fill: the incomplete factor is the whole one.
        let n = 20;
        let tilt =
            DMat3::from_cols(DVec3::new(2.0, 0.3, 0.1), DVec3::new(0.2, 1.0, 0.4), DVec3::new(0.1, 0.2, 1.5));
        let diagonal = vec![DMat3::from_diagonal(DVec3::new(9.0, 8.0, 7.0)); n];
        let pairs: Vec<PairBlock> =
            (1..n as u32).map(|i| PairBlock { i, j: i - 1, block: tilt * -1.0 }).collect();
        let place: Vec<Option<u32>> = (0..n as u32).map(Some).collect();
        let matrix = BlockRows::assemble(n, &place, &diagonal, &pairs);
        let exact: Vec<DVec3> = (0..n).map(|i| DVec3::new(i as f64, 1.0, -(i as f64))).collect();
        let mut load = vec![DVec3::ZERO; n];
        matrix.multiply(&exact, &mut load, &crate::parallel::Parallel::default());
        let mut incomplete = Incomplete::default();
        assert!(incomplete.factor(&matrix));
        incomplete.solve(|i| load[i]);
        for (i, x) in exact.iter().enumerate() {
            assert!((incomplete.at(i) - *x).length() < 1e-12, "{i}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_is_shifted_until_it_is() {
        let diagonal = vec![DMat3::IDENTITY; 2];
        let pairs = [PairBlock { i: 1, j: 0, block: DMat3::IDENTITY * 1.01 }];
        let matrix = BlockRows::assemble(2, &[Some(0), Some(1)], &diagonal, &pairs);
        let mut incomplete = Incomplete::default();
        assert!(incomplete.factor(&matrix));
        incomplete.solve(|_| DVec3::ONE);
        assert!(incomplete.at(0).is_finite());
    }
}
