//! Equilibrium without motion in time: Newton's method with line search (FAU-11; Nocedal and Wright 2006, chapter 3).
//!
//! A body at rest is where its potential energy is least while its supports are held. Each step solves K d = f, with K the stiffness as
//! implicit solvers get it, positive semi-definite, and a small shift, by sparse Cholesky; then it goes along d by 1, 1/2, 1/4, … until
//! the energy has fallen by a fair share of what the slope promised (Armijo 1966). Particles that follow others are condensed.
//!
//! [`settle`] does it once for a state; the solver `quasi_static` of a group does it in each step, with the supports and loads of its end.
//!
//! Promised: the energy never rises from one step to the next; a function of places, supports, loads and time alone. Not promised: the
//! equilibrium nearest to motion where there are several, as in buckling. Not felt: what has no potential (air, dissipation), and
//! colliders, which only push out afterwards.

use glam::{DMat3, DVec3};
use thiserror::Error;

use super::cholesky::BlockCholesky;
use super::{Capabilities, Problem, Solver};
use crate::control::Control;
use crate::energy::{Energy, PairBlock};
use crate::model::Model;
use crate::parallel::Parallel;
use crate::scene::Cg;
use crate::state::State;

/// What K gets on its diagonal, relative to its mean: bodies that can turn about a support have no unique step without it.
const SHIFT: f64 = 1e-9;

/// The share of the promised fall of energy that is enough.
const FAIR: f64 = 1e-4;

/// How often a step is halved before the search gives up.
const MOST_HALVINGS: u32 = 40;

/// A promised fall below this share of the energies cannot be seen in their sum.
const ROUNDING: f64 = 1e-15;

/// How a search for equilibrium went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// Steps of Newton's method.
    pub iterations: u32,
    /// Root of the sum of squares of the forces that are left on free particles, N.
    pub residual: f64,
    /// The same relative to the largest force that one energy exerts.
    pub relative: f64,
    /// Potential energy at the start and after each step, J.
    pub energies: Vec<f64>,
    /// Whether `relative` is within the tolerance.
    pub converged: bool,
}

/// Why there is no equilibrium to be found.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum EquilibriumError {
    /// There is no such body.
    #[error("there is no body number {0}")]
    NoBody(usize),
    /// Nothing holds the body: its weight would move it for ever.
    #[error("no particle of the body is supported: it has no place to rest")]
    Unsupported,
    /// The matrix could not be factored, or a place, a force or an energy is not finite.
    #[error("the stiffness of the body is not finite")]
    NotFinite,
}

/// Moves a body to equilibrium with its supports and loads at the time of the state; its velocities are 0 afterwards.
///
/// Stops when the forces that are left are `tolerance` times the largest of one energy, or after `max_iterations`. On an error
/// the state is as it was.
pub fn settle(
    model: &Model,
    state: &mut State,
    body: usize,
    tolerance: f64,
    max_iterations: u32,
) -> Result<Report, EquilibriumError> {
    if body >= state.bodies.len() || body >= model.bodies.len() {
        return Err(EquilibriumError::NoBody(body));
    }
    let mut control = Control::new(model);
    control.settle(model, state);
    let (t, moving) = (state.time, &mut state.bodies[body]);
    let topology = moving.topology.clone();
    let mut inverse_masses: Vec<f64> = topology.masses.iter().map(|m| 1.0 / m).collect();
    moving.pinned.iter().for_each(|pin| inverse_masses[pin.vertex as usize] = 0.0);
    topology.mapping.rows().for_each(|(child, _)| inverse_masses[child as usize] = 0.0);
    let parallel = Parallel::default();
    let problem = Problem {
        energies: &model.bodies[body].energies,
        system: &[],
        topology: &topology,
        plastic: &moving.plastic,
        control: &control,
        parallel: &parallel,
        body: body as u32,
        inverse_masses: &inverse_masses,
        layer: None,
        contacts: None,
        again: None,
    };
    let mut x = moving.x.clone();
    let report = Newton::default().settle(&problem, &mut x, t, tolerance, max_iterations)?;
    moving.x = x;
    moving.v.fill(DVec3::ZERO);
    Ok(report)
}

/// Newton's method and its memory.
#[derive(Debug, Default)]
struct Newton {
    cholesky: BlockCholesky<3>,
    known: Option<(u64, usize)>,
    still: Vec<DVec3>,
    force: Vec<DVec3>,
    one: Vec<DVec3>,
    diagonal: Vec<DMat3>,
    pairs: Vec<PairBlock>,
    unknown: Vec<f64>,
}

fn with_potential<'a>(problem: &Problem<'a>) -> impl Iterator<Item = &'a dyn Energy> {
    problem.all_energies().filter(|e| e.has_potential())
}

fn norm(f: &[DVec3], inverse_masses: &[f64]) -> f64 {
    let free = f.iter().zip(inverse_masses).filter(|(_, w)| **w != 0.0);
    free.map(|(f, _)| f.length_squared()).sum::<f64>().sqrt()
}

impl Newton {
    fn settle(
        &mut self,
        problem: &Problem,
        x: &mut Vec<DVec3>,
        t: f64,
        tolerance: f64,
        max_iterations: u32,
    ) -> Result<Report, EquilibriumError> {
        let mapping = &problem.topology.mapping;
        let is_held = |(i, w): (usize, &f64)| {
            *w == 0.0 && !mapping.follows(i as u32) && problem.topology.masses[i] > 0.0
        };
        if !problem.inverse_masses.iter().enumerate().any(is_held) {
            return Err(EquilibriumError::Unsupported);
        }
        self.still.clear();
        self.still.resize(x.len(), DVec3::ZERO);
        mapping.apply(x);
        let (mut energy, mut size) = self.energy(problem, x, t);
        let mut report = Report { energies: vec![energy], ..Report::default() };
        loop {
            let scale = self.forces(problem, x, t);
            report.residual = norm(&self.force, problem.inverse_masses);
            report.relative = if scale > 0.0 { report.residual / scale } else { 0.0 };
            report.converged = report.relative <= tolerance;
            if !report.residual.is_finite() || !energy.is_finite() {
                return Err(EquilibriumError::NotFinite);
            }
            if report.converged || report.iterations >= max_iterations {
                return Ok(report);
            }
            if !self.direction(problem, x, t) {
                return Err(EquilibriumError::NotFinite);
            }
            let Some((lower, next)) = self.search(problem, x, t, energy, size) else { return Ok(report) };
            (energy, size) = lower;
            *x = next;
            report.iterations += 1;
            report.energies.push(energy);
        }
    }

    /// Potential energy, J, and the sum of what its parts are without their signs.
    fn energy(&self, problem: &Problem, x: &[DVec3], t: f64) -> (f64, f64) {
        let q = problem.configuration(x, &self.still, t);
        with_potential(problem)
            .map(|e| e.value(&q))
            .fold((0.0, 0.0), |(sum, size), e| (sum + e, size + e.abs()))
    }

    /// Forces on free particles, N; returns the largest that one energy exerts.
    fn forces(&mut self, problem: &Problem, x: &[DVec3], t: f64) -> f64 {
        let q = problem.configuration(x, &self.still, t);
        self.force.clear();
        self.force.resize(x.len(), DVec3::ZERO);
        let mut largest = 0.0f64;
        for energy in with_potential(problem) {
            self.one.clear();
            self.one.resize(x.len(), DVec3::ZERO);
            energy.add_force(&q, &mut self.one);
            problem.topology.mapping.apply_jt(&mut self.one);
            largest = largest.max(norm(&self.one, problem.inverse_masses));
            self.force.iter_mut().zip(&self.one).for_each(|(f, one)| *f += *one);
        }
        for (f, w) in self.force.iter_mut().zip(problem.inverse_masses) {
            if *w == 0.0 {
                *f = DVec3::ZERO;
            }
        }
        largest
    }

    /// Solves K d = f, with d into `unknown`; tells whether it could.
    fn direction(&mut self, problem: &Problem, x: &[DVec3], t: f64) -> bool {
        let n = x.len();
        let q = problem.configuration(x, &self.still, t);
        self.diagonal.clear();
        self.diagonal.resize(n, DMat3::ZERO);
        self.pairs.clear();
        let mut elements = Vec::new();
        for energy in with_potential(problem) {
            energy.linearise(&q, 1.0, 0.0, &mut elements);
            energy.add_diagonal(&q, &elements, &mut self.diagonal);
            energy.add_pairs(&q, &elements, &mut self.pairs);
        }
        problem.topology.mapping.condense(&mut self.diagonal, &mut self.pairs);
        let trace = |m: &DMat3| m.x_axis.x + m.y_axis.y + m.z_axis.z;
        let shift = SHIFT * self.diagonal.iter().map(trace).sum::<f64>() / (3 * n) as f64;
        let shift = DMat3::from_diagonal(DVec3::splat(shift));
        let key = (problem.topology.version, n);
        // Where its pairs are is a matter of the topology, and of which hands hold it on the diagonal alone.
        if self.known != Some(key) || !self.cholesky.has_pattern() {
            self.cholesky.forget();
            let names: Vec<(u32, u32)> = self.pairs.iter().map(|p| (p.i, p.j)).collect();
            self.known = self.cholesky.learn(n, &names).then_some(key);
        }
        let factored = self.cholesky.factor(
            self.diagonal.iter().map(|m| (*m + shift).to_cols_array_2d()),
            self.pairs.iter().map(|p| (p.i, p.j, p.block.to_cols_array_2d())),
            |i| problem.inverse_masses[i] == 0.0,
        );
        self.unknown.clear();
        self.unknown.extend(self.force.iter().flat_map(|f| f.to_array()));
        self.cholesky.solve(&mut self.unknown, 1);
        factored && self.unknown.iter().all(|u| u.is_finite())
    }

    /// Goes along the direction until the energy has fallen enough: the new energy and places; none if it cannot fall any more.
    fn search(
        &self,
        problem: &Problem,
        x: &[DVec3],
        t: f64,
        energy: f64,
        size: f64,
    ) -> Option<((f64, f64), Vec<DVec3>)> {
        let step = |i: usize| DVec3::from_slice(&self.unknown[3 * i..]);
        // How fast the energy falls along d, J.
        let slope: f64 = self.force.iter().enumerate().map(|(i, f)| f.dot(step(i))).sum();
        if slope <= ROUNDING * size {
            return None;
        }
        let mut share = 1.0;
        for _ in 0..MOST_HALVINGS {
            let mut next: Vec<DVec3> = x.iter().enumerate().map(|(i, x)| *x + step(i) * share).collect();
            problem.topology.mapping.apply(&mut next);
            let found = self.energy(problem, &next, t);
            if found.0 <= energy - FAIR * share * slope {
                return Some((found, next));
            }
            share *= 0.5;
        }
        None
    }
}

/// The solver `quasi_static`: at the end of each step the body is in equilibrium.
#[derive(Debug)]
pub(super) struct QuasiStatic {
    settings: Cg,
    newton: Newton,
    iterations: u32,
    places: Vec<DVec3>,
}

impl QuasiStatic {
    /// Its tolerance and its most iterations are those of `cg`.
    pub(super) fn new(settings: Cg) -> QuasiStatic {
        QuasiStatic { settings, newton: Newton::default(), iterations: 0, places: Vec::new() }
    }
}

impl Solver for QuasiStatic {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 0, unconditionally_stable: true, symplectic: false }
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        self.places.clear();
        self.places.extend(x.iter().zip(&*v).zip(problem.inverse_masses).map(|((x, v), w)| {
            // Supports go where they are led; all others start from where they are.
            if *w == 0.0 { *x + *v * h } else { *x }
        }));
        let Cg { tolerance, max_iterations, .. } = self.settings;
        let found = self.newton.settle(problem, &mut self.places, t + h, tolerance, max_iterations);
        self.iterations = found.as_ref().map_or(0, |report| report.iterations);
        if found == Err(EquilibriumError::NotFinite) {
            // Numbers that went wrong must not look like a solution: health has to see them.
            self.places.fill(DVec3::NAN);
        }
        for (i, place) in self.places.iter().enumerate() {
            if problem.inverse_masses[i] != 0.0 {
                v[i] = (*place - x[i]) / h;
                x[i] = *place;
            } else {
                x[i] += v[i] * h;
            }
        }
    }
}
