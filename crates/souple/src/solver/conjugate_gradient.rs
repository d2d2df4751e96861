//! Backward Euler solved by filtered conjugate gradient (ESSI-38, ESSI-40; Baraff and Witkin 1998).
//!
//! With A = M − h² ∂f/∂x − h ∂f/∂v, solves A Δv = h (f + h ∂f/∂x v) without ever writing A down: each energy multiplies.
//! Supported particles are filtered out of the search, and blocks of 3×3 on the diagonal precondition it. It starts from
//! Δv = 0: the Δv of the step before, which the seed advises, was measured to save no time on hanging cloth and flags,
//! and would have to be part of every snapshot. One linear solve per step: not a Newton iteration to the end.

use glam::{DMat3, DVec3};

use super::{Capabilities, Problem, Solver};
use crate::energy::{Energy, Part};
use crate::scene::Cg;

/// Linearisations of all energies of a body, and the products with their sum.
#[derive(Debug, Default)]
pub(super) struct Linearised {
    elements: Vec<Vec<f64>>,
}

impl Linearised {
    pub(super) fn evaluate(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64, h: f64) {
        self.elements.resize_with(problem.energies.len(), Vec::new);
        let q = problem.configuration(x, v, t);
        for (energy, elements) in problem.energies.iter().zip(&mut self.elements) {
            energy.linearise(&q, h * h, h, elements);
        }
    }

    pub(super) fn each<'a>(
        &'a self,
        problem: &Problem<'a>,
    ) -> impl Iterator<Item = (&'a dyn Energy, &'a [f64])> {
        problem.energies.iter().map(|e| &**e).zip(self.elements.iter().map(|e| &e[..]))
    }
}

/// Right-hand side h f − A_x v with A_x = −h² ∂f/∂x, into `b`; `scratch` is used.
pub(super) fn right_hand_side(
    problem: &Problem,
    linearised: &Linearised,
    x: &[DVec3],
    v: &[DVec3],
    t: f64,
    h: f64,
    b: &mut Vec<DVec3>,
    scratch: &mut Vec<DVec3>,
) {
    problem.forces(x, v, t, b);
    scratch.clear();
    scratch.resize(x.len(), DVec3::ZERO);
    let q = problem.configuration(x, v, t);
    for (energy, elements) in linearised.each(problem) {
        energy.add_product(&q, elements, Part::Stiffness, v, scratch);
    }
    for ((b, s), w) in b.iter_mut().zip(&*scratch).zip(problem.inverse_masses) {
        *b = if *w == 0.0 { DVec3::ZERO } else { *b * h - *s };
    }
}

/// What the search keeps of one particle.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    dv: DVec3,
    residual: DVec3,
    /// The residual times the inverse of the diagonal block.
    preconditioned: DVec3,
    /// Inverse of the diagonal block of A, symmetric; zero for a supported particle, which filters it out of the search.
    inverse: [f64; 6],
}

impl Row {
    #[inline(always)]
    fn precondition(&mut self) -> f64 {
        let ([xx, xy, xz, yy, yz, zz], r) = (self.inverse, self.residual);
        self.preconditioned = DVec3::new(
            xx * r.x + xy * r.y + xz * r.z,
            xy * r.x + yy * r.y + yz * r.z,
            xz * r.x + yz * r.y + zz * r.z,
        );
        r.dot(self.preconditioned)
    }
}

/// Backward Euler by conjugate gradient.
#[derive(Debug)]
pub(super) struct ImplicitEulerCg {
    settings: Cg,
    linearised: Linearised,
    diagonal: Vec<DMat3>,
    b: Vec<DVec3>,
    rows: Vec<Row>,
    direction: Vec<DVec3>,
    image: Vec<DVec3>,
    partial: Vec<f64>,
}

impl ImplicitEulerCg {
    pub(super) fn new(settings: Cg) -> Self {
        ImplicitEulerCg {
            settings,
            linearised: Linearised::default(),
            diagonal: Vec::new(),
            b: Vec::new(),
            rows: Vec::new(),
            direction: Vec::new(),
            image: Vec::new(),
            partial: Vec::new(),
        }
    }

    /// Fills the rows for Δv = 0, where the residual is the right-hand side, and inverts the diagonal blocks. Returns the
    /// size of the residual.
    fn begin(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64) -> f64 {
        let q = problem.configuration(x, v, t);
        self.diagonal.clear();
        self.diagonal.extend(problem.topology.masses.iter().map(|m| DMat3::from_diagonal(DVec3::splat(*m))));
        for (energy, elements) in self.linearised.each(problem) {
            energy.add_diagonal(&q, elements, &mut self.diagonal);
        }
        self.rows.resize(x.len(), Row::default());
        let (b, diagonal) = (&self.b, &self.diagonal);
        problem.parallel.blocks_sum(&mut self.rows, &mut self.partial, |start, rows| {
            let mut size = 0.0;
            for (k, row) in rows.iter_mut().enumerate() {
                let i = start + k;
                // Positive definite, since masses are positive and the rest is positive semi-definite.
                let m = if problem.inverse_masses[i] == 0.0 { DMat3::ZERO } else { diagonal[i].inverse() };
                let inverse = [m.x_axis.x, m.x_axis.y, m.x_axis.z, m.y_axis.y, m.y_axis.z, m.z_axis.z];
                *row = Row { residual: b[i], inverse, ..Row::default() };
                size += row.precondition();
            }
            size
        })
    }
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
    let q = problem.configuration(x, v, t);
    let masses = &problem.topology.masses;
    problem.parallel.blocks(out, |start, block| {
        for (k, out) in block.iter_mut().enumerate() {
            *out = d[start + k] * masses[start + k];
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

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let parallel = problem.parallel;
        self.linearised.evaluate(problem, x, v, t, h);
        right_hand_side(problem, &self.linearised, x, v, t, h, &mut self.b, &mut self.image);
        let mut size = self.begin(problem, x, v, t);
        let target = self.settings.tolerance * self.settings.tolerance * size;
        self.direction.clear();
        self.direction.extend(self.rows.iter().map(|r| r.preconditioned));
        for _ in 0..self.settings.max_iterations {
            if size <= target {
                break;
            }
            multiply(problem, &self.linearised, x, v, t, &self.direction, &mut self.image);
            let curvature = parallel.dot(&self.direction, &self.image, &mut self.partial);
            if curvature <= 0.0 {
                break;
            }
            let step = size / curvature;
            let (direction, image) = (&self.direction, &self.image);
            let before = size;
            size = parallel.blocks_sum(&mut self.rows, &mut self.partial, |start, rows| {
                let mut size = 0.0;
                for (k, row) in rows.iter_mut().enumerate() {
                    row.dv += direction[start + k] * step;
                    row.residual -= image[start + k] * step;
                    size += row.precondition();
                }
                size
            });
            let turn = size / before;
            let rows = &self.rows;
            parallel.blocks(&mut self.direction, |start, block| {
                for (k, d) in block.iter_mut().enumerate() {
                    *d = rows[start + k].preconditioned + *d * turn;
                }
            });
        }
        for (i, row) in self.rows.iter().enumerate() {
            v[i] += row.dv;
            x[i] += v[i] * h;
        }
    }
}
