//! A factored matrix kept for many solves that need not be exact: panels of 32-bit numbers, half of what would have to be read.
//!
//! The columns of L that have the same rows are a panel: a triangle T on top of the rows B below it. What is kept is T⁻¹ on top of B T⁻¹, so
//! that both passes of a solve, L⁻¹ and L⁻ᵀ, are one product with each panel. Numbers and sums are of 32 bits, eight at a time; what is solved for is made as large as 1
//! first, so that none is too large or too small for them.
//!
//! Promised: the same factor gives the same bits with any instructions. What it multiplies with is symmetric and positive definite, as a preconditioner must be, but for
//! what sums are rounded by. Not promised: that it is near the inverse of a matrix that is too much for 32 bits: [`Panels::is_near`] tells.

use faer::sparse::linalg::cholesky::supernodal::SupernodalLltRef;
use faer::sparse::linalg::cholesky::{SymbolicCholesky, SymbolicCholeskyRaw};

use crate::lanes::{Eight, Instructions, Kernel, Lanes, WIDTH};
use crate::math::uniform;

/// Columns with the same rows.
#[derive(Clone, Copy, Debug)]
struct Panel {
    /// First column.
    start: usize,
    columns: usize,
    /// Where the rows below the triangle are listed.
    rows: (usize, usize),
    /// Where its numbers begin.
    values: usize,
    /// Eights in a column.
    eights: usize,
}

/// Eight rows of a column, where registers like to read them.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Rows(Eight);

/// The panels of a factor.
#[derive(Debug, Default)]
pub(super) struct Panels {
    panels: Vec<Panel>,
    rows: Vec<u32>,
    /// Eight rows of a column at a time.
    values: Vec<Rows>,
    /// Which unknown stands at each place.
    order: Vec<u32>,
    ordered: Vec<f32>,
    column: Vec<Eight>,
    sums: Vec<Eight>,
}

/// How much a solution may differ from the exact one to count as near.
const NEAR: f64 = 0.01;

impl Panels {
    /// Of a factor that has supernodes; small ones have none, and numbers that do not fit 32 bits cannot be kept.
    pub(super) fn new(symbolic: &SymbolicCholesky<usize>, values: &[f64]) -> Option<Panels> {
        let SymbolicCholeskyRaw::Supernodal(raw) = symbolic.raw() else { return None };
        let factor = SupernodalLltRef::new(raw, values);
        let n = symbolic.nrows();
        let mut out = Panels { ordered: vec![0.0; n], ..Panels::default() };
        match symbolic.perm() {
            Some(order) => out.order.extend(order.arrays().0.iter().map(|&i| i as u32)),
            None => out.order.extend(0..n as u32),
        }
        let mut highest = 0;
        for s in 0..raw.n_supernodes() {
            let supernode = factor.supernode(s);
            let (below, columns) = (supernode.pattern(), supernode.val().ncols());
            let eights = (columns + below.len()).div_ceil(WIDTH);
            let rows = (out.rows.len(), out.rows.len() + below.len());
            out.panels.push(Panel {
                start: supernode.start(),
                columns,
                rows,
                values: out.values.len(),
                eights,
            });
            out.rows.extend(below.iter().map(|&i| i as u32));
            highest = highest.max(eights);
            let matrix = supernode.val();
            let entry = |i: usize, j: usize| matrix[(i, j)];
            let height = columns + below.len();
            for column in times_inverse(entry, height, columns).chunks_exact(height) {
                let padded = column
                    .chunks(WIDTH)
                    .map(|rows| Rows(std::array::from_fn(|k| rows.get(k).copied().unwrap_or(0.0) as f32)));
                out.values.extend(padded);
            }
        }
        out.column.resize(highest, [0.0; WIDTH]);
        out.sums.resize(WIDTH * highest, [0.0; WIDTH]);
        out.values.iter().all(|rows| rows.0.iter().all(|v| v.is_finite())).then_some(out)
    }

    /// Solves in place, nearly.
    pub(super) fn solve(&mut self, unknown: &mut [f64]) {
        self.solve_by(Instructions::detect(), unknown);
    }

    fn solve_by(&mut self, instructions: Instructions, unknown: &mut [f64]) {
        let largest = unknown.iter().fold(0.0f64, |largest, v| largest.max(v.abs()));
        if largest == 0.0 {
            return;
        }
        for (at, &i) in self.ordered.iter_mut().zip(&self.order) {
            *at = (unknown[i as usize] / largest) as f32;
        }
        let Panels { panels, rows, values, ordered, column, sums, .. } = self;
        instructions.run(Solve { panels, rows, values, x: ordered, column, sums });
        for (at, &i) in self.ordered.iter().zip(&self.order) {
            unknown[i as usize] = f64::from(*at) * largest;
        }
    }

    /// Whether solutions are near the exact ones: for a force that is the same everywhere, which moves what is slow, and in energy for one
    /// that differs from place to place.
    pub(super) fn is_near(&mut self, exact: impl Fn(&mut [f64])) -> bool {
        let forces = |force: fn(usize) -> f64| -> Vec<f64> { (0..self.order.len()).map(force).collect() };
        let (same, rough) = (forces(|i| [1.0, -0.7, 0.4][i % 3]), forces(|i| uniform(1, i as u64) - 0.5));
        let mut solve = |force: &[f64]| {
            let (mut near, mut right) = (force.to_vec(), force.to_vec());
            self.solve(&mut near);
            exact(&mut right);
            let error: Vec<f64> = near.iter().zip(&right).map(|(a, b)| a - b).collect();
            (error, right)
        };
        let (error, right) = solve(&same);
        let (rough_error, rough_right) = solve(&rough);
        dot(&error, &error) <= NEAR * NEAR * dot(&right, &right)
            && dot(&rough, &rough_error).abs() <= NEAR * dot(&rough, &rough_right)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// T⁻¹ on top of B T⁻¹, column by column, of the columns of a factor.
fn times_inverse(entry: impl Fn(usize, usize) -> f64, height: usize, columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; height * columns];
    // From the last column on: column j of X T = (I, B) is what is left when those after it are taken off.
    for j in (0..columns).rev() {
        let (own, after) = out[j * height..].split_at_mut(height);
        own[j] = 1.0;
        (columns..height).for_each(|i| own[i] = entry(i, j));
        for (k, other) in (j + 1..columns).zip(after.chunks_exact(height)) {
            let factor = entry(k, j);
            own[k..].iter_mut().zip(&other[k..]).for_each(|(a, b)| *a -= b * factor);
        }
        let inverse = 1.0 / entry(j, j);
        own[j..].iter_mut().for_each(|a| *a *= inverse);
    }
    out
}

struct Solve<'a> {
    panels: &'a [Panel],
    rows: &'a [u32],
    values: &'a [Rows],
    x: &'a mut [f32],
    column: &'a mut [Eight],
    sums: &'a mut [Eight],
}

impl Kernel for Solve<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Solve { panels, rows, values, x, column, sums } = self;
        for panel in panels {
            let (out, values) = (&mut column[..panel.eights], &values[panel.values..]);
            let top = panel.start..panel.start + panel.columns;
            multiply::<L>(values, &x[top.clone()], out);
            let out = out.as_flattened();
            x[top].copy_from_slice(&out[..panel.columns]);
            for (&i, change) in rows[panel.rows.0..panel.rows.1].iter().zip(&out[panel.columns..]) {
                x[i as usize] -= change;
            }
        }
        for panel in panels.iter().rev() {
            let (given, values) = (&mut column[..panel.eights], &values[panel.values..]);
            let top = panel.start..panel.start + panel.columns;
            let numbers = given.as_flattened_mut();
            numbers[..panel.columns].copy_from_slice(&x[top.clone()]);
            let below = &rows[panel.rows.0..panel.rows.1];
            let (filled, rest) = numbers[panel.columns..].split_at_mut(below.len());
            for (to, &i) in filled.iter_mut().zip(below) {
                *to = -x[i as usize];
            }
            rest.fill(0.0);
            multiply_transposed::<L>(values, given, &mut sums[..panel.columns]);
            // Apart from the loops that find them: compilers would turn the loops around for the sake of these sums.
            for (x, [a, b, c, d, e, f, g, h]) in x[top].iter_mut().zip(&*sums) {
                *x = ((a + b) + (c + d)) + ((e + f) + (g + h));
            }
        }
    }
}

/// Columns that are multiplied at a time.
const AT_ONCE: usize = 4;

/// The product of a panel.
#[inline(always)]
fn multiply<L: Lanes>(values: &[Rows], x: &[f32], out: &mut [Eight]) {
    out.fill([0.0; WIDTH]);
    let (height, (many, few)) = (out.len(), x.as_chunks::<AT_ONCE>());
    let mut left = values;
    for x in many {
        let (a, rest) = left.split_at(height);
        let (b, rest) = rest.split_at(height);
        let (c, rest) = rest.split_at(height);
        let (d, rest) = rest.split_at(height);
        left = rest;
        let (xa, xb, xc, xd) = (L::splat(x[0]), L::splat(x[1]), L::splat(x[2]), L::splat(x[3]));
        for ((((out, a), b), c), d) in out.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let first = L::load(&a.0) * xa + L::load(&b.0) * xb;
            let more = first + (L::load(&c.0) * xc + L::load(&d.0) * xd);
            (L::load(out) + more).store(out);
        }
    }
    for x in few {
        let (a, rest) = left.split_at(height);
        left = rest;
        for (out, a) in out.iter_mut().zip(a) {
            (L::load(out) + L::load(&a.0) * L::splat(*x)).store(out);
        }
    }
}

/// The product of a panel on its side, as eight sums for each column.
#[inline(always)]
fn multiply_transposed<L: Lanes>(values: &[Rows], given: &[Eight], out: &mut [Eight]) {
    let (many, few) = given.as_chunks::<4>();
    for (out, column) in out.iter_mut().zip(values.chunks_exact(given.len())) {
        let (column, last) = column.as_chunks::<4>();
        // Four sums of eights: one would wait for itself.
        let zero = L::splat(0.0);
        let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
        for (g, v) in many.iter().zip(column) {
            a = a + L::load(&v[0].0) * L::load(&g[0]);
            b = b + L::load(&v[1].0) * L::load(&g[1]);
            c = c + L::load(&v[2].0) * L::load(&g[2]);
            d = d + L::load(&v[3].0) * L::load(&g[3]);
        }
        for (g, v) in few.iter().zip(last) {
            a = a + L::load(&v.0) * L::load(g);
        }
        ((a + b) + (c + d)).store(out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solver::cholesky::BlockCholesky;

    /// A grid of particles joined by springs to their neighbours, and one of them to a wall, stiff as compared with their mass.
    fn factored(stiffness: f64) -> BlockCholesky<3> {
        let side = 14u32;
        let name = |i: u32, j: u32, k: u32| (i * side + j) * side + k;
        let mut pairs = Vec::new();
        for (i, j, k) in
            (0..side).flat_map(|i| (0..side).flat_map(move |j| (0..side).map(move |k| (i, j, k))))
        {
            let next = [(i + 1, j, k), (i, j + 1, k), (i, j, k + 1)];
            let inside = next.into_iter().filter(|(i, j, k)| i.max(j).max(k) < &side);
            pairs.extend(inside.map(|(a, b, c)| (name(i, j, k), name(a, b, c))));
        }
        let n = (side * side * side) as usize;
        let block = |d: f64| [[d, 0.1 * d, 0.0], [0.1 * d, d, 0.0], [0.0, 0.0, d]];
        let mut diagonal = vec![1.0; n];
        diagonal[5] += stiffness;
        for &(i, j) in &pairs {
            diagonal[i as usize] += stiffness;
            diagonal[j as usize] += stiffness;
        }
        let mut cholesky = BlockCholesky::default();
        assert!(cholesky.learn(n, &pairs));
        let off = pairs.iter().map(|&(i, j)| (i, j, block(-stiffness)));
        assert!(cholesky.factor(diagonal.iter().map(|d| block(*d)), off, |_| false));
        cholesky
    }

    #[test]
    fn panels_solve_nearly_what_the_factor_solves_exactly_with_the_same_bits_everywhere() {
        let cholesky = factored(100.0);
        let mut panels = cholesky.panels().unwrap();
        let n = panels.order.len();
        let right: Vec<f64> = (0..n as u64).map(|i| uniform(7, i) - 0.5).collect();
        let (mut exact, mut near, mut plain) = (right.clone(), right.clone(), right.clone());
        cholesky.solve(&mut exact, 1);
        panels.solve(&mut near);
        panels.solve_by(Instructions::Plain, &mut plain);
        assert_eq!(near, plain);
        let size = exact.iter().fold(0.0f64, |s, v| s.max(v.abs()));
        for (a, b) in near.iter().zip(&exact) {
            assert!((a - b).abs() < 1e-5 * size, "{a} {b}");
        }
        // Symmetric, to rounding: a · M b = b · M a.
        let other: Vec<f64> = (0..n as u64).map(|i| uniform(8, i) - 0.5).collect();
        let mut image = other.clone();
        panels.solve(&mut image);
        let (one, two) = (dot(&right, &image), dot(&other, &near));
        assert!((one - two).abs() < 1e-5 * dot(&right, &near).max(dot(&other, &image)), "{one} {two}");
    }

    #[test]
    fn panels_are_not_used_where_rounding_spoils_them() {
        assert!(factored(1e3).panels().is_some());
        // Beyond what 32 bits can hold.
        assert!(factored(1e90).panels().is_none());
    }
}
