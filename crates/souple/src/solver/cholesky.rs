//! Backward Euler solved by sparse Cholesky: the exact twin of the conjugate gradient, and better on stiff small bodies.
//!
//! The symbolic factorisation is kept while the body does not tear; numbers are factored anew at each step. faer runs
//! on one thread here; its kernels choose SIMD instructions at run time, so the last bits may differ between CPU models
//! (never between thread counts).

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::perm::PermRef;
use faer::sparse::linalg::cholesky::{
    LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, Par, Side};
use glam::{DMat3, DVec3};

use super::conjugate_gradient::{Linearised, right_hand_side};
use super::panels::Panels;
use super::{Capabilities, Problem, Solver};
use crate::energy::PairBlock;

/// Lower triangle of a symmetric matrix of k×k blocks, as compressed columns, with the place of each block remembered.
#[derive(Debug)]
struct Pattern {
    symbolic: SymbolicSparseColMat<usize>,
    factor: SymbolicCholesky<usize>,
    /// For each pair of blocks (in the order given), the index of the value of each of its entries.
    pair_places: Vec<usize>,
    /// The same for diagonal blocks: only entries of the lower triangle, others are `usize::MAX`.
    diagonal_places: Vec<usize>,
    values: Vec<f64>,
}

/// Sparse symmetric positive definite systems of n particles with k unknowns each, factored again and again.
#[derive(Debug)]
pub(crate) struct BlockCholesky<const K: usize> {
    pattern: Option<Pattern>,
    /// Numbers of the factor; none before it was found.
    factor: Option<Vec<f64>>,
}

impl<const K: usize> Default for BlockCholesky<K> {
    fn default() -> Self {
        BlockCholesky { pattern: None, factor: None }
    }
}

impl<const K: usize> BlockCholesky<K> {
    /// Forgets the pattern: the particles or their pairs have changed.
    pub(super) fn forget(&mut self) {
        self.pattern = None;
        self.factor = None;
    }

    pub(super) fn has_pattern(&self) -> bool {
        self.pattern.is_some()
    }

    /// Learns which pairs of particles have a block. Returns false if there is no memory for it.
    pub(crate) fn learn(&mut self, n: usize, pairs: &[(u32, u32)]) -> bool {
        self.learn_in_order(n, pairs, None)
    }

    /// The same, with the particles in the order in which they are to be eliminated, if it is known.
    pub(super) fn learn_in_order(&mut self, n: usize, pairs: &[(u32, u32)], order: Option<&[u32]>) -> bool {
        let column_of = |i: u32, j: u32| (i.min(j) as usize, i.max(j) as usize);
        let mut entries: Vec<(usize, usize)> = Vec::with_capacity((n + pairs.len()) * K * K);
        for i in 0..n {
            for c in 0..K {
                entries.extend((c..K).map(|r| (i * K + c, i * K + r)));
            }
        }
        for &(i, j) in pairs {
            let (low, high) = column_of(i, j);
            for c in 0..K {
                entries.extend((0..K).map(|r| (low * K + c, high * K + r)));
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let place = |column: usize, row: usize| entries.binary_search(&(column, row)).unwrap_or(usize::MAX);
        let mut pair_places = Vec::with_capacity(pairs.len() * K * K);
        for &(i, j) in pairs {
            let (low, high) = column_of(i, j);
            for c in 0..K {
                pair_places.extend((0..K).map(|r| place(low * K + c, high * K + r)));
            }
        }
        let mut diagonal_places = Vec::with_capacity(n * K * K);
        for i in 0..n {
            for c in 0..K {
                diagonal_places
                    .extend((0..K).map(|r| if r < c { usize::MAX } else { place(i * K + c, i * K + r) }));
            }
        }
        let mut column_start = vec![0usize; n * K + 1];
        for &(column, _) in &entries {
            column_start[column + 1] += 1;
        }
        for c in 0..n * K {
            column_start[c + 1] += column_start[c];
        }
        let rows = entries.iter().map(|&(_, row)| row).collect();
        let symbolic = SymbolicSparseColMat::new_checked(n * K, n * K, column_start, None, rows);
        let forward: Vec<usize> =
            order.unwrap_or(&[]).iter().flat_map(|&i| (0..K).map(move |k| i as usize * K + k)).collect();
        let mut back = vec![0; forward.len()];
        forward.iter().enumerate().for_each(|(at, &i)| back[i] = at);
        let order = match order {
            Some(_) => SymmetricOrdering::Custom(PermRef::new_checked(&forward, &back, n * K)),
            None => SymmetricOrdering::default(),
        };
        let settings = Default::default();
        let Ok(factor) = factorize_symbolic_cholesky(symbolic.as_ref(), Side::Lower, order, settings) else {
            return false;
        };
        let values = vec![0.0; entries.len()];
        self.pattern = Some(Pattern { symbolic, factor, pair_places, diagonal_places, values });
        true
    }

    /// Factors the matrix with these blocks (column by column). Particles with `fixed` get a unit row and column.
    pub(crate) fn factor<'a>(
        &mut self,
        diagonal: impl Iterator<Item = [[f64; K]; K]>,
        pairs: impl Iterator<Item = (u32, u32, [[f64; K]; K])> + 'a,
        fixed: impl Fn(usize) -> bool,
    ) -> bool {
        let Some(pattern) = &mut self.pattern else { return false };
        pattern.values.fill(0.0);
        for (i, block) in diagonal.enumerate() {
            for c in 0..K {
                for r in c..K {
                    let unit = if r == c { 1.0 } else { 0.0 };
                    let value = if fixed(i) { unit } else { block[c][r] };
                    pattern.values[pattern.diagonal_places[i * K * K + c * K + r]] += value;
                }
            }
        }
        for (p, (i, j, block)) in pairs.enumerate() {
            if fixed(i as usize) || fixed(j as usize) {
                continue;
            }
            for c in 0..K {
                for r in 0..K {
                    // The lower triangle wants the block at (high, low): the transpose if it was given at (low, high).
                    let value = if i < j { block[r][c] } else { block[c][r] };
                    pattern.values[pattern.pair_places[p * K * K + c * K + r]] += value;
                }
            }
        }
        let matrix: SparseColMatRef<usize, f64> =
            SparseColMatRef::new(pattern.symbolic.as_ref(), &pattern.values);
        let mut numbers = self.factor.take().unwrap_or_default();
        numbers.resize(pattern.factor.len_val(), 0.0);
        let room = pattern.factor.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let Ok(mut room) = MemBuffer::try_new(room) else { return false };
        let found = pattern.factor.factorize_numeric_llt(
            &mut numbers,
            matrix,
            Side::Lower,
            Default::default(),
            Par::Seq,
            MemStack::new(&mut room),
            Default::default(),
        );
        let found = found.is_ok();
        self.factor = found.then_some(numbers);
        found
    }

    /// How many numbers its factor has, once its pattern is learned.
    pub(super) fn len(&self) -> usize {
        self.pattern.as_ref().map_or(0, |pattern| pattern.factor.len_val())
    }

    /// The factor in a form that is solved faster and not exactly, if it is large enough for that and near enough.
    pub(super) fn panels(&self) -> Option<Panels> {
        let (pattern, numbers) = (self.pattern.as_ref()?, self.factor.as_ref()?);
        let mut panels = Panels::new(&pattern.factor, numbers)?;
        panels.is_near(|right| self.solve(right, 1)).then_some(panels)
    }

    /// Solves in place for `columns` right-hand sides stored one after the other.
    pub(crate) fn solve(&self, right: &mut [f64], columns: usize) {
        let (Some(pattern), Some(numbers)) = (&self.pattern, &self.factor) else { return };
        let rows = right.len() / columns.max(1);
        let room = pattern.factor.solve_in_place_scratch::<f64>(columns, Par::Seq);
        let Ok(mut room) = MemBuffer::try_new(room) else {
            // Not a solution: health has to see it.
            right.fill(f64::NAN);
            return;
        };
        LltRef::new(&pattern.factor, numbers).solve_in_place_with_conj(
            Conj::No,
            MatMut::from_column_major_slice_mut(right, rows, columns),
            Par::Seq,
            MemStack::new(&mut room),
        );
    }
}

/// Backward Euler by sparse Cholesky.
#[derive(Debug, Default)]
pub(super) struct ImplicitEulerCholesky {
    linearised: Linearised,
    cholesky: BlockCholesky<3>,
    known: Option<(u64, usize)>,
    diagonal: Vec<DMat3>,
    pairs: Vec<PairBlock>,
    b: Vec<DVec3>,
    scratch: Vec<DVec3>,
    unknown: Vec<f64>,
}

impl ImplicitEulerCholesky {
    /// Adds what the dense parts of A change about the solution, one after the other (Sherman and Morrison 1950):
    /// (S + w wᵀ)⁻¹ = S⁻¹ − z zᵀ/(1 + w·z), z = S⁻¹ w.
    fn correct(&mut self, problem: &Problem) {
        let mut known: Vec<(Vec<f64>, f64)> = Vec::new();
        for (energy, elements) in self.linearised.each(problem) {
            let Some(dense) = energy.dense(elements) else { continue };
            let w = independent(problem, dense);
            let mut z = w.clone();
            self.cholesky.solve(&mut z, 1);
            for (other, scale) in &known {
                let along = inner(other, &w) / scale;
                z.iter_mut().zip(other).for_each(|(z, o)| *z -= o * along);
            }
            let scale = 1.0 + inner(&w, &z);
            let along = inner(&w, &self.unknown) / scale;
            self.unknown.iter_mut().zip(&z).for_each(|(x, z)| *x -= z * along);
            known.push((z, scale));
        }
    }
}

/// A dense part as it acts on the particles that are solved for: what followers have of it is their parents'.
pub(super) fn independent(problem: &Problem, (first, w): (usize, &[f64])) -> Vec<f64> {
    let mut all = vec![DVec3::ZERO; problem.topology.len()];
    all[first..].iter_mut().zip(w.as_chunks::<3>().0).for_each(|(to, w)| *to = DVec3::from(*w));
    problem.topology.mapping.apply_jt(&mut all);
    let free = all.iter().zip(problem.inverse_masses).map(|(w, m)| if *m != 0.0 { *w } else { DVec3::ZERO });
    free.flat_map(|w| w.to_array()).collect()
}

fn inner(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Solver for ImplicitEulerCholesky {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 1, unconditionally_stable: true, symplectic: false }
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let n = x.len();
        self.linearised.evaluate(problem, x, v, t, h);
        let each = self.linearised.each(problem);
        right_hand_side(problem, each, x, v, t, h, &mut self.b, &mut self.scratch);
        self.diagonal.clear();
        self.diagonal.extend(problem.topology.masses.iter().map(|m| DMat3::from_diagonal(DVec3::splat(*m))));
        self.pairs.clear();
        let q = problem.configuration(x, v, t);
        for (energy, elements) in self.linearised.each(problem) {
            energy.add_diagonal(&q, elements, &mut self.diagonal);
            energy.add_pairs(&q, elements, &mut self.pairs);
        }
        problem.topology.mapping.condense(&mut self.diagonal, &mut self.pairs);
        let key = (problem.topology.version, n);
        if self.known != Some(key) || !self.cholesky.has_pattern() {
            self.cholesky.forget();
            let pairs: Vec<(u32, u32)> = self.pairs.iter().map(|p| (p.i, p.j)).collect();
            self.known = self.cholesky.learn(n, &pairs).then_some(key);
        }
        let factored = self.cholesky.factor(
            self.diagonal.iter().map(|m| m.to_cols_array_2d()),
            self.pairs.iter().map(|p| (p.i, p.j, p.block.to_cols_array_2d())),
            |i| problem.inverse_masses[i] == 0.0,
        );
        self.unknown.clear();
        if factored {
            self.unknown.extend(self.b.iter().flat_map(|b| b.to_array()));
            self.cholesky.solve(&mut self.unknown, 1);
            self.correct(problem);
        } else {
            // Not positive definite means numbers that are not finite; health must see it.
            self.unknown.resize(3 * n, f64::NAN);
        }
        for (i, dv) in self.unknown.chunks_exact(3).enumerate() {
            if problem.inverse_masses[i] != 0.0 {
                v[i] += DVec3::from_slice(dv);
            }
            x[i] += v[i] * h;
        }
    }
}
