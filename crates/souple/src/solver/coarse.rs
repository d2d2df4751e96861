//! A coarse space for the conjugate gradient: rigid translations of a few dozen patches of the body.
//!
//! Blocks on the diagonal precondition what neighbours do to each other, and leave the slow modes (the fall and the swing
//! of whole regions) to hundreds of iterations, or to a wrong answer when the search is cut off. So the particles are
//! grouped in patches, Z says which patch each belongs to, and Z (Zᵀ A Z)⁻¹ Zᵀ is added to the preconditioner: the
//! additive two-level method (Nicolaides 1987). The coarse matrix is dense, a few hundred rows at most.
//!
//! The solve ends with one coarse correction, after which the residual of every patch sums to zero: the momentum of a
//! body without supports is then exact, however early the search was stopped.

use std::borrow::Cow;

use glam::{DMat3, DVec3};

use crate::energy::PairBlock;
use crate::mesh::Topology;

/// Most patches of a body.
const MAX_PATCHES: usize = 64;
/// A patch has at least about this many particles.
const MIN_PATCH: usize = 150;

/// Patches and the factored coarse matrix.
#[derive(Debug, Default)]
pub(super) struct CoarseSpace {
    /// Patch of each particle.
    patch: Vec<u32>,
    patches: usize,
    /// Version and size of the body that the patches belong to.
    known: Option<(u64, usize)>,
    /// Coarse matrix, then its Cholesky factor: lower triangle, row by row.
    matrix: Vec<f64>,
    /// Coarse right-hand side, then solution: three numbers per patch.
    unknown: Vec<f64>,
    usable: bool,
}

impl CoarseSpace {
    /// Sums the blocks of A and its dense parts over patches and factors the result. Supported particles (inverse mass 0) belong to no patch.
    pub(super) fn prepare<'a>(
        &mut self,
        topology: &Topology,
        inverse_masses: &[f64],
        diagonal: &[DMat3],
        pairs: &[PairBlock],
        dense: impl Iterator<Item = Cow<'a, [f64]>>,
    ) {
        let key = (topology.version, topology.len());
        if self.known != Some(key) {
            self.group(&topology.rest_positions);
            self.known = Some(key);
        }
        let rows = 3 * self.patches;
        self.matrix.clear();
        self.matrix.resize(rows * rows, 0.0);
        self.unknown.resize(rows, 0.0);
        let matrix = &mut self.matrix;
        // Column by column of the block; only the lower triangle is kept.
        let mut add = |a: usize, b: usize, m: &DMat3| {
            for (c, column) in m.to_cols_array_2d().iter().enumerate() {
                for (r, value) in column.iter().enumerate() {
                    let (row, col) = (3 * a + r, 3 * b + c);
                    if row >= col {
                        matrix[row * rows + col] += value;
                    }
                }
            }
        };
        let free = |i: u32| inverse_masses[i as usize] != 0.0;
        for (i, m) in diagonal.iter().enumerate().filter(|(i, _)| inverse_masses[*i] != 0.0) {
            let a = self.patch[i] as usize;
            add(a, a, m);
        }
        for p in pairs.iter().filter(|p| free(p.i) && free(p.j)) {
            let (a, b) = (self.patch[p.i as usize] as usize, self.patch[p.j as usize] as usize);
            add(a, b, &p.block);
            add(b, a, &p.block.transpose());
        }
        for w in dense {
            self.unknown.fill(0.0);
            for ((w, &patch), inverse) in w.as_chunks::<3>().0.iter().zip(&self.patch).zip(inverse_masses) {
                if *inverse != 0.0 {
                    (0..3).for_each(|c| self.unknown[3 * patch as usize + c] += w[c]);
                }
            }
            for r in 0..rows {
                for c in 0..=r {
                    matrix[r * rows + c] += self.unknown[r] * self.unknown[c];
                }
            }
        }
        // A patch without a free particle stands for nothing.
        for r in 0..rows {
            if matrix[r * rows + r] == 0.0 {
                matrix[r * rows + r] = 1.0;
            }
        }
        self.usable = cholesky(matrix, rows);
    }

    /// Groups particles by halving the longer side of their box again and again, at the median.
    fn group(&mut self, rest: &[DVec3]) {
        let wanted = (rest.len() / MIN_PATCH).clamp(1, MAX_PATCHES);
        let largest = rest.len().div_ceil(wanted);
        let mut order: Vec<u32> = (0..rest.len() as u32).collect();
        self.patch.clear();
        self.patch.resize(rest.len(), 0);
        self.patches = 0;
        let mut stack = vec![(0, order.len())];
        while let Some((start, end)) = stack.pop() {
            let list = &mut order[start..end];
            if list.len() <= largest {
                for &v in list.iter() {
                    self.patch[v as usize] = self.patches as u32;
                }
                self.patches += 1;
                continue;
            }
            let (low, high) = list.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), &v| {
                (l.min(rest[v as usize]), h.max(rest[v as usize]))
            });
            let axis = (high - low).max_position();
            list.sort_unstable_by(|&a, &b| {
                rest[a as usize][axis].total_cmp(&rest[b as usize][axis]).then(a.cmp(&b))
            });
            let middle = start + list.len() / 2;
            stack.push((middle, end));
            stack.push((start, middle));
        }
    }

    /// Solves the coarse problem for the residuals of the free particles. Returns whether there is a solution to add.
    pub(super) fn solve(&mut self, residuals: impl Iterator<Item = DVec3>, inverse_masses: &[f64]) -> bool {
        if !self.usable {
            return false;
        }
        self.unknown.fill(0.0);
        for ((r, &patch), w) in residuals.zip(&self.patch).zip(inverse_masses) {
            if *w != 0.0 {
                let at = 3 * patch as usize;
                self.unknown[at] += r.x;
                self.unknown[at + 1] += r.y;
                self.unknown[at + 2] += r.z;
            }
        }
        let rows = self.unknown.len();
        for r in 0..rows {
            let row = &self.matrix[r * rows..r * rows + r];
            let sum: f64 = row.iter().zip(&self.unknown).map(|(l, x)| l * x).sum();
            self.unknown[r] = (self.unknown[r] - sum) / self.matrix[r * rows + r];
        }
        for r in (0..rows).rev() {
            let x = self.unknown[r] / self.matrix[r * rows + r];
            self.unknown[r] = x;
            let row = &self.matrix[r * rows..r * rows + r];
            for (u, l) in self.unknown.iter_mut().zip(row) {
                *u -= l * x;
            }
        }
        true
    }

    /// The coarse solution at a particle.
    #[inline(always)]
    pub(super) fn at(&self, particle: usize) -> DVec3 {
        let at = 3 * self.patch[particle] as usize;
        DVec3::new(self.unknown[at], self.unknown[at + 1], self.unknown[at + 2])
    }
}

/// Cholesky factor in place of a dense symmetric matrix, lower triangle row by row. False if it is not positive definite.
fn cholesky(matrix: &mut [f64], rows: usize) -> bool {
    for r in 0..rows {
        let (done, rest) = matrix.split_at_mut(r * rows);
        let row = &mut rest[..rows];
        for c in 0..=r {
            let other = if c < r { &done[c * rows..c * rows + c] } else { &row[..0] };
            let sum: f64 = if c < r {
                row[..c].iter().zip(other).map(|(a, b)| a * b).sum()
            } else {
                row[..c].iter().map(|a| a * a).sum()
            };
            let value = row[c] - sum;
            if c < r {
                row[c] = value / done[c * rows + c];
            } else if value > 0.0 {
                row[c] = value.sqrt();
            } else {
                return false;
            }
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_cholesky_solves() {
        // A = B Bᵀ + I for a small B; L Lᵀ must give it back.
        let n = 7;
        let b = |i: usize, j: usize| crate::math::uniform(3, (i * n + j) as u64) - 0.5;
        let a = |i: usize, j: usize| {
            (0..n).map(|k| b(i, k) * b(j, k)).sum::<f64>() + if i == j { 1.0 } else { 0.0 }
        };
        let mut m: Vec<f64> = (0..n * n).map(|k| a(k / n, k % n)).collect();
        assert!(cholesky(&mut m, n));
        for i in 0..n {
            for j in 0..=i {
                let product: f64 = (0..=j).map(|k| m[i * n + k] * m[j * n + k]).sum();
                assert!((product - a(i, j)).abs() < 1e-14);
            }
        }
        assert!(!cholesky(&mut [-1.0], 1));
    }
}
