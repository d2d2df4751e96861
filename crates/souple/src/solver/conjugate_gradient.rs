//! Backward Euler solved by filtered conjugate gradient (ESSI-38, ESSI-40; Baraff and Witkin 1998).
//!
//! With A = M − h² ∂f/∂x − h ∂f/∂v, solves A Δv = h (f + h ∂f/∂x v) without ever writing A down: each energy multiplies.
//! Supported particles are filtered out of the search. Blocks of 3×3 on the diagonal precondition it, together with the
//! coarse space of [`super::coarse`], without which the slow modes, the fall and the swing of the cloth, would be wrong
//! long after the residual looks small. Solids have the preconditioner of [`super::warped`] instead. It starts from Δv = 0:
//! the Δv of the step before, which the seed advises, was measured to save no time on hanging cloth and flags, and would
//! have to be part of every snapshot. One linear solve per step: not a Newton iteration to the end, unless elements of solids change their shape so
//! far that it cannot be trusted (`do_not_overshoot`). A search that ends before its tolerance is counted ([`CutShort`]), and the person is told.
//!
//! Any budget is stable (FAU-32, FAU-38): a search that was cut short ends with velocities that cannot add energy (`bound_energy`, two more products). What is
//! missing looks softer and more viscous. A budget of iterations keeps the bits; one of time does not, and is refused where a recording is
//! asked for.

use std::borrow::Cow;
use std::time::Instant;

use glam::{DMat3, DVec3};

use super::cholesky::independent;
use super::coarse::CoarseSpace;
use super::warped::Warped;
use super::{Capabilities, CutShort, Problem, SolveWork, Solver, timed};
use crate::energy::{Energy, PairBlock, Part};
use crate::scene::Cg;

/// Linearisations of all energies of a body, and the products with their sum.
#[derive(Debug, Default)]
pub(super) struct Linearised {
    elements: Vec<Vec<f64>>,
}

impl Linearised {
    pub(super) fn evaluate(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64, h: f64) {
        self.evaluate_from(0, problem, x, v, t, h);
    }

    /// Those of the energies from one on: the others are known.
    fn evaluate_from(&mut self, first: usize, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64, h: f64) {
        self.elements.resize_with(problem.all_energies().count(), Vec::new);
        let q = problem.configuration(x, v, t);
        for (energy, elements) in problem.all_energies().zip(&mut self.elements).skip(first) {
            energy.linearise(&q, h * h, h, elements);
        }
    }

    pub(super) fn each<'a>(
        &'a self,
        problem: &Problem<'a>,
    ) -> impl Iterator<Item = (&'a dyn Energy, &'a [f64])> {
        problem.all_energies().zip(self.elements.iter().map(|e| &e[..]))
    }
}

/// Right-hand side h f − A_x v of some energies, with A_x = −h² ∂f/∂x, into `b`; `scratch` is used.
pub(super) fn right_hand_side<'a>(
    problem: &Problem,
    energies: impl Iterator<Item = (&'a dyn Energy, &'a [f64])>,
    x: &[DVec3],
    v: &[DVec3],
    t: f64,
    h: f64,
    b: &mut Vec<DVec3>,
    scratch: &mut Vec<DVec3>,
) {
    let q = problem.configuration(x, v, t);
    for list in [&mut *b, &mut *scratch] {
        list.clear();
        list.resize(x.len(), DVec3::ZERO);
    }
    for (energy, elements) in energies {
        if !energy.add_implicit_force(&q, elements, h, b) {
            energy.add_force_linearised(&q, elements, b);
            energy.add_product(&q, elements, Part::Stiffness, v, scratch);
        }
    }
    problem.topology.mapping.apply_jt(b);
    problem.topology.mapping.apply_jt(scratch);
    for ((b, s), w) in b.iter_mut().zip(&*scratch).zip(problem.inverse_masses) {
        *b = if *w == 0.0 { DVec3::ZERO } else { *b * h - *s };
    }
}

/// What the search keeps of one particle.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    dv: DVec3,
    residual: DVec3,
    /// The preconditioned residual.
    preconditioned: DVec3,
    /// Inverse of the diagonal block of A, symmetric; zero for a supported particle, which filters it out of the search.
    inverse: [f64; 6],
}

impl Row {
    /// The residual times the inverse of the diagonal block.
    #[inline(always)]
    fn precondition(&mut self) {
        let ([xx, xy, xz, yy, yz, zz], r) = (self.inverse, self.residual);
        self.preconditioned = DVec3::new(
            xx * r.x + xy * r.y + xz * r.z,
            xy * r.x + yy * r.y + yz * r.z,
            xz * r.x + yz * r.y + zz * r.z,
        );
    }
}

/// Inverse of a symmetric positive definite block by L D Lᵀ: cofactors would lose all digits when one direction is 10⁸
/// times stiffer than another.
pub(super) fn inverse_spd(m: DMat3) -> [f64; 6] {
    let (a, b, c) = (m.x_axis.x, m.x_axis.y, m.x_axis.z);
    let (l10, l20) = (b / a, c / a);
    let d1 = m.y_axis.y - l10 * b;
    let l21 = (m.y_axis.z - l20 * b) / d1;
    let d2 = m.z_axis.z - l20 * c - l21 * l21 * d1;
    // Rows of L⁻¹: (1, 0, 0), (−l10, 1, 0), (l10 l21 − l20, −l21, 1).
    let k20 = l10 * l21 - l20;
    let (i0, i1, i2) = (1.0 / a, 1.0 / d1, 1.0 / d2);
    [
        i0 + l10 * l10 * i1 + k20 * k20 * i2,
        -l10 * i1 - k20 * l21 * i2,
        k20 * i2,
        i1 + l21 * l21 * i2,
        -l21 * i2,
        i2,
    ]
}

/// What is near the inverse of A and easy to apply.
#[derive(Debug)]
enum Preconditioner {
    /// Blocks on the diagonal, and the coarse space.
    Blocks(CoarseSpace),
    /// The system at rest, in frames that turn: of solids.
    Warped(Box<Warped>),
}

impl Preconditioner {
    /// What a body takes.
    fn of(settings: Cg, problem: &Problem) -> Preconditioner {
        if Warped::suits(&settings, problem) {
            Preconditioner::Warped(Box::new(Warped::new(settings)))
        } else {
            Preconditioner::Blocks(CoarseSpace::default())
        }
    }
}

/// Backward Euler by conjugate gradient.
#[derive(Debug)]
pub(super) struct ImplicitEulerCg {
    settings: Cg,
    linearised: Linearised,
    preconditioner: Preconditioner,
    diagonal: Vec<DMat3>,
    pairs: Vec<PairBlock>,
    b: Vec<DVec3>,
    /// What of b does not come from contacts.
    base: Vec<DVec3>,
    /// The size of the residual that searches of this step are measured by.
    whole: f64,
    rows: Vec<Row>,
    /// Velocities when the step began, of solids.
    start: Vec<DVec3>,
    direction: Vec<DVec3>,
    image: Vec<DVec3>,
    partial: Vec<f64>,
    iterations: u32,
    cut_short: CutShort,
    work: SolveWork,
}

impl ImplicitEulerCg {
    pub(super) fn new(settings: Cg) -> Self {
        ImplicitEulerCg {
            settings,
            linearised: Linearised::default(),
            preconditioner: Preconditioner::Blocks(CoarseSpace::default()),
            diagonal: Vec::new(),
            pairs: Vec::new(),
            b: Vec::new(),
            base: Vec::new(),
            whole: 0.0,
            rows: Vec::new(),
            start: Vec::new(),
            direction: Vec::new(),
            image: Vec::new(),
            partial: Vec::new(),
            iterations: 0,
            cut_short: CutShort::default(),
            work: SolveWork::default(),
        }
    }

    /// Takes the step once more with other contacts: all but these is known, and the search begins where it is told.
    fn begin_again(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64) {
        self.image.resize(x.len(), DVec3::ZERO);
        let now = problem.again.unwrap_or(v);
        for (i, row) in self.rows.iter_mut().enumerate() {
            row.dv = if problem.inverse_masses[i] == 0.0 { DVec3::ZERO } else { now[i] - v[i] };
        }
        self.direction.clear();
        self.direction.extend(self.rows.iter().map(|r| r.dv));
        problem.topology.mapping.apply_j(&mut self.direction);
        multiply(problem, &self.linearised, x, v, t, &self.direction, &mut self.image);
        for ((row, b), image) in self.rows.iter_mut().zip(&self.b).zip(&self.image) {
            row.residual = *b - *image;
        }
        self.fill_blocks(problem, x, v, t);
    }

    /// Fills the rows for Δv = 0, where the residual is the right-hand side, and gets the preconditioner ready.
    fn begin(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64, h: f64) {
        if matches!(self.preconditioner, Preconditioner::Warped(_)) != Warped::suits(&self.settings, problem)
        {
            self.preconditioner = Preconditioner::of(self.settings, problem);
        }
        self.rows.clear();
        self.rows.extend(self.b.iter().map(|b| Row { residual: *b, ..Row::default() }));
        if let Preconditioner::Warped(warped) = &mut self.preconditioner {
            if warped.prepare(problem, x, t, h) {
                return;
            }
            // There is no memory for its factor, or there are numbers that are not finite. It is tried again in the next step.
            self.preconditioner = Preconditioner::Blocks(CoarseSpace::default());
        }
        self.fill_blocks(problem, x, v, t);
    }

    /// Inverts the diagonal blocks and factors the coarse matrix.
    fn fill_blocks(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64) {
        let Preconditioner::Blocks(coarse) = &mut self.preconditioner else { return };
        let q = problem.configuration(x, v, t);
        self.diagonal.clear();
        self.diagonal.extend(problem.topology.masses.iter().map(|m| DMat3::from_diagonal(DVec3::splat(*m))));
        self.pairs.clear();
        for (energy, elements) in self.linearised.each(problem) {
            energy.add_diagonal(&q, elements, &mut self.diagonal);
            energy.add_pairs(&q, elements, &mut self.pairs);
        }
        problem.topology.mapping.condense(&mut self.diagonal, &mut self.pairs);
        let dense = self.linearised.each(problem).filter_map(|(energy, elements)| energy.dense(elements));
        let dense = dense.map(|(first, w)| match problem.topology.mapping.is_empty() && first == 0 {
            true => Cow::Borrowed(w),
            false => Cow::Owned(independent(problem, (first, w))),
        });
        coarse.prepare(problem.topology, problem.inverse_masses, &self.diagonal, &self.pairs, dense);
        let diagonal = &self.diagonal;
        problem.parallel.blocks(&mut self.rows, |start, rows| {
            for (k, row) in rows.iter_mut().enumerate() {
                let i = start + k;
                // Positive definite, since masses are positive and the rest is positive semi-definite.
                let supported = problem.inverse_masses[i] == 0.0;
                row.inverse = if supported { [0.0; 6] } else { inverse_spd(diagonal[i]) };
                row.precondition();
            }
        });
    }

    /// Finds what of the preconditioned residuals is not found row by row, and returns the size of the residual, r·z.
    fn finish_preconditioning(&mut self, problem: &Problem) -> f64 {
        let clock = Instant::now();
        let size = self.precondition(problem);
        self.work.precondition += clock.elapsed();
        size
    }

    fn precondition(&mut self, problem: &Problem) -> f64 {
        match &mut self.preconditioner {
            Preconditioner::Warped(warped) => {
                let rows = &mut self.rows;
                warped.solve(|i| rows[i].residual, problem);
                let (warped, free) = (&*warped, warped.free());
                let along = |k: usize| rows[free[k] as usize].residual.dot(warped.at(k));
                let size = problem.parallel.sum(free.len(), &mut self.partial, along);
                free.iter().enumerate().for_each(|(k, i)| rows[*i as usize].preconditioned = warped.at(k));
                size
            }
            Preconditioner::Blocks(coarse) => {
                let residuals = self.rows.iter().map(|r| r.residual);
                let with_coarse = coarse.solve(residuals, problem.inverse_masses);
                let coarse = &*coarse;
                problem.parallel.blocks_sum(&mut self.rows, &mut self.partial, |start, rows| {
                    let mut size = 0.0;
                    for (k, row) in rows.iter_mut().enumerate() {
                        if with_coarse && problem.inverse_masses[start + k] != 0.0 {
                            row.preconditioned += coarse.at(start + k);
                        }
                        size += row.residual.dot(row.preconditioned);
                    }
                    size
                })
            }
        }
    }

    /// Searches from Δv = 0 on; returns the size of the residual that is left, and whether that is more than the tolerance.
    fn search(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64) -> (f64, bool) {
        let parallel = problem.parallel;
        let mut size = self.finish_preconditioning(problem);
        // A search that goes on is as exact as the one it goes on from, which may have had nothing to do but to let things fly: velocities are
        // what it is measured by, too. What contacts push with at first may be far more than what they stop.
        if problem.again.is_none() {
            self.whole = size;
        } else {
            let masses = &problem.topology.masses;
            let flight: f64 = v.iter().zip(masses).map(|(v, m)| m * v.length_squared()).sum();
            self.whole = self.whole.max(flight);
            if self.whole == 0.0 {
                self.whole = size;
            }
        }
        let whole = self.whole;
        self.direction.clear();
        self.direction.extend(self.rows.iter().map(|r| r.preconditioned));
        let target = self.settings.tolerance * self.settings.tolerance * whole;
        self.iterations = 0;
        let q = problem.configuration(x, v, t);
        let moves_followers =
            self.linearised.each(problem).any(|(e, elements)| e.moves_followers(&q, elements));
        // Particles before the first free one need not be looked at: of an embedded body, the surface that is seen.
        let is_free = |w: &f64| *w != 0.0;
        let first = match moves_followers {
            true => 0,
            false => problem.inverse_masses.iter().position(is_free).unwrap_or(0),
        };
        let by_blocks = matches!(self.preconditioner, Preconditioner::Blocks(_));
        // Without a budget nothing hangs on a clock: what is booked is told to people alone.
        let clock = self.settings.max_ms.map(|ms| (Instant::now(), ms));
        let has_time = |done: u32| clock.is_none_or(|(start, ms)| done == 0 || millis(start) < ms);
        while size > target && self.iterations < self.settings.max_iterations && has_time(self.iterations) {
            self.iterations += 1;
            let ImplicitEulerCg { linearised, direction, image, work, .. } = self;
            timed(&mut work.product, || {
                if moves_followers {
                    problem.topology.mapping.apply_j(direction);
                    multiply(problem, linearised, x, v, t, direction, image);
                } else {
                    multiply_from(first, problem, linearised, x, v, t, direction, image);
                }
            });
            let curvature = parallel.dot(&self.direction[first..], &self.image[first..], &mut self.partial);
            let step = size / curvature;
            let (direction, image) = (&self.direction[first..], &self.image[first..]);
            parallel.blocks(&mut self.rows[first..], |start, rows| {
                for (k, row) in rows.iter_mut().enumerate() {
                    row.dv += direction[start + k] * step;
                    row.residual -= image[start + k] * step;
                    if by_blocks {
                        row.precondition();
                    }
                }
            });
            let before = size;
            size = self.finish_preconditioning(problem);
            let (rows, image) = (&self.rows[first..], &self.image[first..]);
            // Polak and Ribière's: the same, unless the preconditioner is not a symmetric matrix.
            let turn = match &self.preconditioner {
                Preconditioner::Warped(warped) if !warped.is_symmetric() => {
                    let along = |i: usize| rows[i].preconditioned.dot(image[i]);
                    -step * parallel.sum(rows.len(), &mut self.partial, along) / before
                }
                _ => size / before,
            };
            parallel.blocks(&mut self.direction[first..], |start, block| {
                for (k, d) in block.iter_mut().enumerate() {
                    *d = rows[start + k].preconditioned + *d * turn;
                }
            });
        }
        if size > target {
            self.cut_short.add((size / whole).sqrt());
        }
        (size, size > target)
    }

    /// What keeps a search that was cut short stable: velocities v' are scaled so that the residual does no work on them. Then, of a linear body,
    /// E' − E = −½ |v' − v|²_M − ½ h² |v'|²_K, whatever the iterations have left out; without it they may add energy, as v itself is not among the
    /// directions that were searched. A body without supports keeps its momentum: of its velocities their mean is not scaled.
    fn bound_energy(&mut self, problem: &Problem, x: &[DVec3], v: &mut [DVec3], t: f64) {
        let is_free = |i: usize| problem.inverse_masses[i] != 0.0;
        let own = |dv: DVec3, i: usize| if is_free(i) { dv } else { DVec3::ZERO };
        self.direction.clear();
        self.direction.extend(self.rows.iter().enumerate().map(|(i, row)| own(row.dv, i)));
        problem.topology.mapping.apply_j(&mut self.direction);
        multiply(problem, &self.linearised, x, v, t, &self.direction, &mut self.image);
        for (i, row) in self.rows.iter_mut().enumerate() {
            row.residual = own(self.b[i] - self.image[i], i);
        }
        let masses = &problem.topology.masses;
        let mean = match problem.is_supported() {
            true => DVec3::ZERO,
            false => v.iter().zip(masses).map(|(v, m)| *v * *m).sum::<DVec3>() / masses.iter().sum::<f64>(),
        };
        for (i, d) in self.direction.iter_mut().enumerate() {
            *d = own(v[i] - mean, i);
        }
        let (rows, direction) = (&self.rows, &self.direction);
        let along = |i: usize| direction[i].dot(rows[i].residual);
        let work = problem.parallel.sum(rows.len(), &mut self.partial, along);
        problem.topology.mapping.apply_j(&mut self.direction);
        multiply(problem, &self.linearised, x, v, t, &self.direction, &mut self.image);
        let (image, direction) = (&self.image, &self.direction);
        let along = |i: usize| own(direction[i], i).dot(image[i]);
        let curvature = problem.parallel.sum(rows.len(), &mut self.partial, along);
        let more = work / curvature;
        if more.is_finite() {
            for (i, v) in v.iter_mut().enumerate().filter(|(i, _)| is_free(*i)) {
                *v += self.direction[i] * more;
            }
        }
    }

    /// What is added to each free particle after the search so that the momentum of a body without supports is exact: internal forces do
    /// not change it.
    fn last_correction(&mut self, problem: &Problem) -> Correction {
        let residuals = self.rows.iter().map(|r| r.residual);
        match &mut self.preconditioner {
            Preconditioner::Blocks(coarse) => {
                Correction { coarse: coarse.solve(residuals, problem.inverse_masses), drift: DVec3::ZERO }
            }
            Preconditioner::Warped(_) if problem.is_supported() => Correction::default(),
            Preconditioner::Warped(_) => {
                let mass: f64 = problem.topology.masses.iter().sum();
                Correction { coarse: false, drift: residuals.sum::<DVec3>() / mass }
            }
        }
    }
}

/// Time since then, ms.
fn millis(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// A correction of velocities.
#[derive(Clone, Copy, Debug, Default)]
struct Correction {
    /// Whether the solution of the coarse space is added.
    coarse: bool,
    /// The same for all, m/s.
    drift: DVec3,
}

/// out = A d. Supported particles have d = 0; what is found for them is filtered out by the preconditioner.
fn multiply(
    problem: &Problem,
    linearised: &Linearised,
    x: &[DVec3],
    v: &[DVec3],
    t: f64,
    d: &[DVec3],
    out: &mut [DVec3],
) {
    multiply_from(0, problem, linearised, x, v, t, d, out);
    problem.topology.mapping.apply_jt(out);
}

/// The same for the particles from one on, where none follows others as far as A is concerned.
fn multiply_from(
    first: usize,
    problem: &Problem,
    linearised: &Linearised,
    x: &[DVec3],
    v: &[DVec3],
    t: f64,
    d: &[DVec3],
    out: &mut [DVec3],
) {
    let q = problem.configuration(x, v, t);
    let (masses, from) = (&problem.topology.masses[first..], &d[first..]);
    problem.parallel.blocks(&mut out[first..], |start, block| {
        for (k, out) in block.iter_mut().enumerate() {
            *out = from[start + k] * masses[start + k];
        }
    });
    for (energy, elements) in linearised.each(problem) {
        energy.add_product(&q, elements, Part::StiffnessAndDamping, d, out);
    }
}

impl Solver for ImplicitEulerCg {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 1, unconditionally_stable: true, symplectic: false }
    }

    fn takes_contacts(&self) -> bool {
        true
    }

    fn slopes(&mut self, problem: &Problem, (x, v): (&[DVec3], &[DVec3]), to: &[DVec3], t: f64) -> [f64; 2] {
        // With A Δv − b as the derivative, and A symmetric, one product does for both ends.
        let from = problem.again.unwrap_or(v);
        self.direction.clear();
        self.direction.extend(to.iter().zip(from).map(|(to, from)| *to - *from));
        self.image.resize(x.len(), DVec3::ZERO);
        let without = Problem { contacts: None, ..*problem };
        multiply(&without, &self.linearised, x, v, t, &self.direction, &mut self.image);
        let (direction, image, base) = (&self.direction, &self.image, &self.base);
        let is_free = |i: usize| problem.inverse_masses[i] != 0.0;
        let first = |i: usize| (from[i] - v[i]).dot(image[i]) - direction[i].dot(base[i]);
        let more = |i: usize| direction[i].dot(image[i]);
        let mut sum = |of: &(dyn Fn(usize) -> f64 + Sync)| {
            let own = |i: usize| if is_free(i) { of(i) } else { 0.0 };
            problem.parallel.sum(direction.len(), &mut self.partial, own)
        };
        let (first, more) = (sum(&first), sum(&more));
        [first, first + more]
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn take_cut_short(&mut self) -> CutShort {
        std::mem::take(&mut self.cut_short)
    }

    fn take_work(&mut self) -> SolveWork {
        std::mem::take(&mut self.work)
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let of_body = problem.all_energies().count() - usize::from(problem.contacts.is_some());
        let known = if problem.again.is_some() { of_body } else { 0 };
        let clock = Instant::now();
        self.linearised.evaluate_from(known, problem, x, v, t, h);
        let each = || self.linearised.each(problem);
        if problem.again.is_none() {
            right_hand_side(problem, each().take(of_body), x, v, t, h, &mut self.base, &mut self.image);
        }
        right_hand_side(problem, each().skip(of_body), x, v, t, h, &mut self.b, &mut self.image);
        self.b.iter_mut().zip(&self.base).for_each(|(b, base)| *b += *base);
        self.work.linearise += clock.elapsed();
        let clock = Instant::now();
        if problem.again.is_some() {
            self.begin_again(problem, x, v, t);
        } else {
            self.begin(problem, x, v, t, h);
        }
        self.work.precondition += clock.elapsed();
        let may_overshoot =
            problem.topology.is_solid() || matches!(self.preconditioner, Preconditioner::Warped(_));
        if may_overshoot {
            self.start.clear();
            self.start.extend_from_slice(v);
        }
        if self.go(problem, x, v, t) {
            self.bound_energy(problem, x, v, t);
        }
        if may_overshoot && !self.is_trusted(problem, x, &*v, t, h) {
            let whole = self.whole;
            self.do_not_overshoot(problem, x, v, t, h);
            // Searches with other contacts go on from where the step began.
            self.whole = whole;
            let start = std::mem::take(&mut self.start);
            self.linearised.evaluate(problem, x, &start, t, h);
            self.start = start;
            if let Preconditioner::Warped(warped) = &mut self.preconditioner {
                // It was made for these masses and this step before: only frames are turned back.
                warped.prepare(problem, x, t, h);
            }
        }
        x.iter_mut().zip(v).for_each(|(x, v)| *x += *v * h);
    }
}

/// An element that changes its shape by less than this share of its size in a step is as the linearisation says.
const TRUSTED: f64 = 0.2;

/// So often a step is linearised anew that cannot be trusted.
const ROUNDS: usize = 4;

/// So often it is shortened each time.
const SHORTER: usize = 6;

/// Steps are as long as what they go down along rises by less than this share of how it fell at their beginning.
const RISE: f64 = 0.5;

impl ImplicitEulerCg {
    /// Searches, and adds what it found to the velocities; tells whether it was cut short.
    fn go(&mut self, problem: &Problem, x: &[DVec3], v: &mut [DVec3], t: f64) -> bool {
        let (size, is_cut) = self.search(problem, x, v, t);
        self.work.solves += 1;
        self.work.iterations += u64::from(self.iterations);
        // Numbers that went wrong must not look like a solution: health has to see them.
        let failed = size.is_nan() || size < 0.0;
        let correction = if failed { Correction::default() } else { self.last_correction(problem) };
        for (i, row) in self.rows.iter_mut().enumerate().filter(|(i, _)| problem.inverse_masses[*i] != 0.0) {
            let before = v[i];
            v[i] += row.dv + correction.drift;
            if let (Preconditioner::Blocks(coarse), true) = (&self.preconditioner, correction.coarse) {
                v[i] += coarse.at(i);
            }
            if is_cut {
                row.dv = v[i] - before;
            }
            if failed {
                v[i] = DVec3::NAN;
            }
        }
        is_cut && !failed
    }

    /// Whether elements that move with these velocities, from where they were linearised, are still as the linearisation says. What is not a
    /// number is left to health.
    fn is_trusted(&mut self, problem: &Problem, at: &[DVec3], v: &[DVec3], t: f64, h: f64) -> bool {
        self.direction.clear();
        self.direction.extend(v.iter().map(|v| *v * h));
        // What follows others goes where they go.
        problem.topology.mapping.apply_j(&mut self.direction);
        let q = problem.configuration(at, v, t);
        let change = |e: &dyn Energy| e.largest_change(&q, &self.direction);
        let most = problem.all_energies().fold(0.0, |most: f64, e| most.max(change(e)));
        most <= TRUSTED || !most.is_finite()
    }

    /// Where elements of solids turn over or are thrown far in one step, the linear system leads anywhere, and a body that is pulled hard
    /// would fly apart. Backward Euler's velocities are those where φ = ½ |v − v₀|²_M + E(x + h v) is least: steps are shortened until φ
    /// falls all the way, by its slope along them, and linearised anew from there, as Newton does.
    fn do_not_overshoot(&mut self, problem: &Problem, x: &[DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let start = self.start.clone();
        let mut from = start.clone();
        let (mut places, mut forces) = (Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            let step: Vec<DVec3> = v.iter().zip(&from).map(|(v, from)| *v - *from).collect();
            let mut slope = |share: f64, v: &mut [DVec3]| {
                v.iter_mut().enumerate().for_each(|(i, v)| *v = from[i] + step[i] * share);
                gradient(problem, x, &start, v, t, h, &mut places, &mut forces);
                step.iter().zip(&forces).map(|(d, g)| d.dot(*g)).sum::<f64>()
            };
            let falls = -slope(0.0, v);
            let mut share = if falls > 0.0 { 1.0 } else { 0.0 };
            for trial in 0..=SHORTER {
                let rises = slope(share, v);
                if share == 0.0 || rises <= RISE * falls {
                    break;
                }
                share = match rises.is_finite() {
                    // The last one goes nowhere, so that none is taken that was refused.
                    _ if trial + 1 >= SHORTER => 0.0,
                    true => share * (falls / (falls + rises)).clamp(0.1, 0.5),
                    false => 0.1 * share,
                };
            }
            if round == ROUNDS {
                return;
            }
            // Once more, linearised where that leads.
            from.copy_from_slice(v);
            self.linearised.evaluate(problem, &places, v, t, h);
            self.b.clear();
            self.b.extend(forces.iter().map(|g| -*g));
            self.begin(problem, &places, v, t, h);
            self.go(problem, &places, v, t);
            if v.iter().any(|v| !v.is_finite()) {
                return v.copy_from_slice(&from);
            }
            let further: Vec<DVec3> = v.iter().zip(&from).map(|(v, from)| *v - *from).collect();
            if self.is_trusted(problem, &places, &further, t, h) {
                return;
            }
        }
    }
}

/// The derivative of φ by v, of [`ImplicitEulerCg::do_not_overshoot`], into `out`; `places` gets x + h v.
fn gradient(
    problem: &Problem,
    x: &[DVec3],
    start: &[DVec3],
    v: &[DVec3],
    t: f64,
    h: f64,
    places: &mut Vec<DVec3>,
    out: &mut Vec<DVec3>,
) {
    let mut motion = v.to_vec();
    problem.topology.mapping.apply_j(&mut motion);
    places.clear();
    places.extend(x.iter().zip(&motion).map(|(x, v)| *x + *v * h));
    problem.forces(places, &motion, t, out);
    for (i, g) in out.iter_mut().enumerate() {
        let is_free = problem.inverse_masses[i] != 0.0;
        *g = if is_free { (v[i] - start[i]) * problem.topology.masses[i] - *g * h } else { DVec3::ZERO };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_inverted_even_when_one_direction_is_much_stiffer() {
        let w = DVec3::new(1.0, 1.3, 0.7).normalize();
        for stiffness in [1.0, 1e6, 1e12] {
            let m = DMat3::IDENTITY + crate::energy::outer(w) * stiffness;
            let [xx, xy, xz, yy, yz, zz] = inverse_spd(m);
            let inverse = DMat3::from_cols_array(&[xx, xy, xz, xy, yy, yz, xz, yz, zz]);
            // (I + s w wᵀ)⁻¹ = I − s/(1 + s) w wᵀ.
            let exact = DMat3::IDENTITY - crate::energy::outer(w) * (stiffness / (1.0 + stiffness));
            let error = (inverse - exact).to_cols_array().iter().fold(0.0f64, |e, v| e.max(v.abs()));
            // Each digit of stiffness costs one of the input's sixteen.
            assert!(error < 1e-15 * (1.0 + stiffness), "{stiffness}: {error}");
        }
    }
}
