//! Backward Euler solved by filtered conjugate gradient (ESSI-38, ESSI-40; Baraff and Witkin 1998).
//!
//! With A = M − h² ∂f/∂x − h ∂f/∂v, solves A Δv = h (f + h ∂f/∂x v) without ever writing A down: each energy multiplies.
//! Supported particles are filtered out of the search, and blocks of 3×3 on the diagonal precondition it. It starts from
//! Δv = 0: what the step before found is not part of the state, and a restored snapshot must go on with the same bits.
//! One linear solve per step: not a Newton iteration to the end.

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

    pub(super) fn each<'a>(&'a self, problem: &Problem<'a>) -> impl Iterator<Item = (&'a dyn Energy, &'a [f64])> {
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

/// Backward Euler by conjugate gradient.
#[derive(Debug)]
pub(super) struct ImplicitEulerCg {
    settings: Cg,
    linearised: Linearised,
    diagonal: Vec<DMat3>,
    b: Vec<DVec3>,
    dv: Vec<DVec3>,
    residual: Vec<DVec3>,
    preconditioned: Vec<DVec3>,
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
            dv: Vec::new(),
            residual: Vec::new(),
            preconditioned: Vec::new(),
            direction: Vec::new(),
            image: Vec::new(),
            partial: Vec::new(),
        }
    }
}

/// out = A d on free particles, 0 on supported ones.
fn multiply(problem: &Problem, linearised: &Linearised, x: &[DVec3], v: &[DVec3], t: f64, d: &[DVec3], out: &mut [DVec3]) {
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
    for (out, w) in out.iter_mut().zip(problem.inverse_masses) {
        if *w == 0.0 {
            *out = DVec3::ZERO;
        }
    }
}

/// Inverse of each diagonal block of A; zero for supported particles, which filters them out of the search.
fn inverse_diagonal(problem: &Problem, linearised: &Linearised, x: &[DVec3], v: &[DVec3], t: f64, out: &mut Vec<DMat3>) {
    let q = problem.configuration(x, v, t);
    out.clear();
    out.extend(problem.topology.masses.iter().map(|m| DMat3::from_diagonal(DVec3::splat(*m))));
    for (energy, elements) in linearised.each(problem) {
        energy.add_diagonal(&q, elements, out);
    }
    for (block, w) in out.iter_mut().zip(problem.inverse_masses) {
        // Positive definite, since masses are positive and the rest is positive semi-definite.
        *block = if *w == 0.0 { DMat3::ZERO } else { block.inverse() };
    }
}

impl Solver for ImplicitEulerCg {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 1, unconditionally_stable: true, symplectic: false }
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let n = x.len();
        let parallel = problem.parallel;
        self.linearised.evaluate(problem, x, v, t, h);
        inverse_diagonal(problem, &self.linearised, x, v, t, &mut self.diagonal);
        right_hand_side(problem, &self.linearised, x, v, t, h, &mut self.b, &mut self.image);

        self.dv.clear();
        self.dv.resize(n, DVec3::ZERO);
        // With Δv = 0 the residual is the right-hand side, already filtered.
        self.residual.clone_from(&self.b);
        self.preconditioned.resize(n, DVec3::ZERO);
        let inverse = &self.diagonal;
        for i in 0..n {
            self.preconditioned[i] = inverse[i] * self.residual[i];
        }
        self.direction.clone_from(&self.preconditioned);
        let mut size = parallel.dot(&self.residual, &self.preconditioned, &mut self.partial);
        let target = self.settings.tolerance * self.settings.tolerance * size;
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
            for i in 0..n {
                self.dv[i] += self.direction[i] * step;
                self.residual[i] -= self.image[i] * step;
                self.preconditioned[i] = inverse[i] * self.residual[i];
            }
            let before = size;
            size = parallel.dot(&self.residual, &self.preconditioned, &mut self.partial);
            let turn = size / before;
            for i in 0..n {
                self.direction[i] = self.preconditioned[i] + self.direction[i] * turn;
            }
        }
        for i in 0..n {
            v[i] += self.dv[i];
            x[i] += v[i] * h;
        }
    }
}
