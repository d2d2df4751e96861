//! L D Lᵀ of a sparse, symmetric, positive matrix of numbers, for many right-hand sides: with the same bits on every machine, which the factors of
//! `solver/cholesky.rs` do not promise.
//!
//! Row after row (George and Liu, *Computer solution of large sparse positive definite systems*, 1981): row k of L has entries where those of the matrix in it,
//! followed up the tree of elimination, lead. The order of elimination is nested dissection by place (`solver/dissection.rs`).

use glam::DVec3;

use super::dissection;

/// No row.
const NONE: u32 = u32::MAX;

/// A factor.
#[derive(Clone, Debug, Default)]
pub struct SparseLdl {
    /// Which unknown is eliminated when.
    order: Vec<u32>,
    /// Where the entries of each column of L begin, and the number of all.
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    diagonal: Vec<f64>,
}

/// Entries of each row left of the diagonal, by the order of elimination.
struct Lower {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

impl Lower {
    fn row(&self, k: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[k]..self.starts[k + 1]]
    }
}

impl SparseLdl {
    /// Of a matrix with that diagonal and those entries beside it, each once (i < j or j < i), whose unknowns are at places. None if the factor would have more than
    /// `most` entries, or the matrix is not positive.
    pub fn new(
        places: &[DVec3],
        diagonal: &[f64],
        beside: &[(u32, u32, f64)],
        most: usize,
    ) -> Option<SparseLdl> {
        let n = diagonal.len();
        let pairs: Vec<(u32, u32)> = beside.iter().map(|&(i, j, _)| (i, j)).collect();
        let order = dissection::order(places, &pairs);
        let mut when = vec![0u32; n];
        (0u32..).zip(&order).for_each(|(k, v)| when[*v as usize] = k);
        let lower = lower(n, beside, &when);
        let (parents, counts) = tree(n, &lower);
        let total: usize = counts.iter().sum();
        if total > most {
            return None;
        }
        let mut starts = vec![0; n + 1];
        (0..n).for_each(|k| starts[k + 1] = starts[k] + counts[k]);
        let mut made = SparseLdl {
            starts,
            rows: vec![0; total],
            values: vec![0.0; total],
            diagonal: order.iter().map(|v| diagonal[*v as usize]).collect(),
            order,
        };
        made.factorise(&lower, &parents).then_some(made)
    }

    /// Row after row of L; whether all pivots are positive.
    fn factorise(&mut self, lower: &Lower, parents: &[u32]) -> bool {
        let n = self.diagonal.len();
        let (mut work, mut met) = (vec![0.0; n], vec![NONE; n]);
        let mut filled = self.starts[..n].to_vec();
        let (mut pattern, mut path) = (Vec::new(), Vec::new());
        for k in 0..n {
            pattern.clear();
            met[k] = k as u32;
            for &(i, value) in lower.row(k) {
                work[i as usize] = value;
                // Up the tree from here, as far as it is new: each before those above it.
                path.clear();
                let mut at = i;
                while met[at as usize] != k as u32 {
                    met[at as usize] = k as u32;
                    path.push(at);
                    at = parents[at as usize];
                }
                pattern.extend(path.drain(..).rev());
            }
            // Paths were added from their ends: backwards, columns come before those that they change.
            for &i in pattern.iter().rev() {
                let i = i as usize;
                let known = std::mem::take(&mut work[i]);
                for p in self.starts[i]..filled[i] {
                    work[self.rows[p] as usize] -= self.values[p] * known;
                }
                let entry = known / self.diagonal[i];
                self.diagonal[k] -= entry * known;
                (self.rows[filled[i]], self.values[filled[i]]) = (k as u32, entry);
                filled[i] += 1;
            }
            if self.diagonal[k] <= 0.0 || self.diagonal[k].is_nan() {
                return false;
            }
        }
        true
    }

    /// Solves for one right-hand side, which becomes the result; `scratch` is of any length.
    pub fn solve(&self, unknown: &mut [f64], scratch: &mut Vec<f64>) {
        scratch.clear();
        scratch.extend(self.order.iter().map(|v| unknown[*v as usize]));
        let x = scratch.as_mut_slice();
        let n = x.len();
        for k in 0..n {
            let known = x[k];
            if known != 0.0 {
                (self.starts[k]..self.starts[k + 1])
                    .for_each(|p| x[self.rows[p] as usize] -= self.values[p] * known);
            }
        }
        for k in (0..n).rev() {
            let mut sum = x[k] / self.diagonal[k];
            for p in self.starts[k]..self.starts[k + 1] {
                sum -= self.values[p] * x[self.rows[p] as usize];
            }
            x[k] = sum;
        }
        self.order.iter().zip(x).for_each(|(v, x)| unknown[*v as usize] = *x);
    }
}

fn lower(n: usize, beside: &[(u32, u32, f64)], when: &[u32]) -> Lower {
    let mut all: Vec<(u32, u32, f64)> = beside
        .iter()
        .map(|&(i, j, value)| {
            let (a, b) = (when[i as usize], when[j as usize]);
            (a.max(b), a.min(b), value)
        })
        .collect();
    all.sort_by_key(|&(row, column, _)| (row, column));
    let mut starts = vec![0; n + 1];
    all.iter().for_each(|(row, ..)| starts[*row as usize + 1] += 1);
    (0..n).for_each(|k| starts[k + 1] += starts[k]);
    Lower { starts, entries: all.into_iter().map(|(_, column, value)| (column, value)).collect() }
}

/// The row that each column is first used in, and how many entries each column gets.
fn tree(n: usize, lower: &Lower) -> (Vec<u32>, Vec<usize>) {
    let (mut parents, mut met, mut counts) = (vec![NONE; n], vec![NONE; n], vec![0; n]);
    for k in 0..n {
        met[k] = k as u32;
        for &(i, _) in lower.row(k) {
            let mut at = i as usize;
            while met[at] != k as u32 {
                if parents[at] == NONE {
                    parents[at] = k as u32;
                }
                counts[at] += 1;
                met[at] = k as u32;
                at = parents[at] as usize;
            }
        }
    }
    (parents, counts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::uniform;

    #[test]
    fn it_solves_what_it_was_given() {
        // A grid with random springs, and a node that nothing is joined with.
        let side = 30u32;
        let n = (side * side + 1) as usize;
        let places: Vec<DVec3> =
            (0..n as u32).map(|v| DVec3::new(f64::from(v % side), f64::from(v / side), 0.0)).collect();
        let mut beside = Vec::new();
        for v in 0..side * side {
            let spring = -uniform(1, u64::from(v)) - 0.1;
            if v % side + 1 < side {
                beside.push((v, v + 1, spring));
            }
            if v + side < side * side {
                beside.push((v + side, v, 2.0 * spring));
            }
        }
        let mut diagonal = vec![0.05; n];
        for &(i, j, value) in &beside {
            diagonal[i as usize] -= value;
            diagonal[j as usize] -= value;
        }
        let expected: Vec<f64> = (0..n as u64).map(|v| uniform(2, v) - 0.5).collect();
        let mut b: Vec<f64> = diagonal.iter().zip(&expected).map(|(d, x)| d * x).collect();
        for &(i, j, value) in &beside {
            b[i as usize] += value * expected[j as usize];
            b[j as usize] += value * expected[i as usize];
        }
        let factor = SparseLdl::new(&places, &diagonal, &beside, usize::MAX).unwrap();
        factor.solve(&mut b, &mut Vec::new());
        b.iter().zip(&expected).for_each(|(a, b)| assert!((a - b).abs() < 1e-10));
        // A grid of n nodes gets some n log n entries, not n².
        assert!(factor.values.len() < 20 * n, "{}", factor.values.len());
        assert!(SparseLdl::new(&places, &diagonal, &beside, n).is_none(), "more than are allowed");
        diagonal[7] = -1.0;
        assert!(SparseLdl::new(&places, &diagonal, &beside, usize::MAX).is_none(), "not positive");
    }
}
