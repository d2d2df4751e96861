//! `souple bench multigrid`: the preconditioners of `implicit_euler_cg` on a beam of hexahedra that bends, from coarse to fine (FAU-28 to FAU-32, FAU-38).
//!
//! A clamped beam of 4 : 1 : 1, E = 40 kPa, ν = 0.3, falls under its weight at 60 steps per second. Three questions. What does a step cost, and do iterations grow with the mesh:
//! searches down to 1e-6, from rest and in the sixteenth step, when the beam is bent. How near is a step to the exact one, and how long does that take: that same step
//! with one tolerance after the other. What do too few iterations do: a second with a budget, and how far the tip is from where it would be.
//! Times are of one thread. It takes minutes, so it only runs when it is named.

use std::time::Instant;

use glam::DVec3;
use serde::Serialize;
use souple::scene::{
    Block, Body, Cells, Cg, Group, Multigrid, MultigridCycle, Pin, Preconditioner, Region, Scene, Select,
    Shape, Smoother, SolverKind,
};
use souple::{Simulation, State};

use super::workloads::build;
use crate::failure::Failure;

/// Name of the workload.
pub const NAME: &str = "multigrid";

/// Cells across the beams; along them are four times as many.
pub const ACROSS: [u32; 4] = [2, 4, 8, 16];

/// Cells across the beam with a budget.
pub const BUDGET_ACROSS: u32 = 8;

/// Budgets, iterations per step.
const BUDGETS: [u32; 9] = [1, 2, 3, 5, 8, 13, 20, 50, 100];

/// Steps before the one that is looked at: a quarter of a second.
const BEFORE: u32 = 15;

/// Frames of a run with a budget: a second.
const BUDGET_FRAMES: u32 = 60;

/// Tolerances of which time and error are told.
const TOLERANCES: [f64; 7] = [0.3, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6];

/// What iterations are counted down to.
const COUNTED: f64 = 1e-6;

/// What counts as exact.
const EXACT: f64 = 1e-11;

/// How often a step is timed.
const TIMED: u32 = 3;

/// What is compared: name, preconditioner, and cycle and smoother of multigrid.
pub const METHODS: [(&str, Preconditioner, MultigridCycle, Smoother); 7] = [
    ("blocks", Preconditioner::Blocks, MultigridCycle::V, Smoother::GaussSeidel),
    ("incomplete_cholesky", Preconditioner::IncompleteCholesky, MultigridCycle::V, Smoother::GaussSeidel),
    ("cholesky", Preconditioner::Cholesky, MultigridCycle::V, Smoother::GaussSeidel),
    ("multigrid", Preconditioner::Multigrid, MultigridCycle::V, Smoother::GaussSeidel),
    ("multigrid, full", Preconditioner::Multigrid, MultigridCycle::Full, Smoother::GaussSeidel),
    ("multigrid, gradients", Preconditioner::Multigrid, MultigridCycle::V, Smoother::ConjugateGradient),
    (
        "multigrid, full, gradients",
        Preconditioner::Multigrid,
        MultigridCycle::Full,
        Smoother::ConjugateGradient,
    ),
];

/// How many of these are drawn and run with budgets: the first.
pub const DRAWN: usize = 4;

/// One tolerance.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Tolerance of the search.
    pub tolerance: f64,
    /// Iterations it took.
    pub iterations: u32,
    /// Time of the step, ms.
    pub ms: f64,
    /// Largest error of a change of velocity, relative to the largest change.
    pub error: f64,
}

/// Figures of one preconditioner on one beam.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub preconditioner: &'static str,
    /// Cells along x, y and z.
    pub cells: [u32; 3],
    /// Number of particles.
    pub nodes: usize,
    /// Iterations of the first step.
    pub iterations_first: u32,
    /// The first step, in which the preconditioner is made, ms.
    pub first_ms: f64,
    /// Iterations when the beam is bent.
    pub iterations_bent: u32,
    /// The step in which it is bent, ms.
    pub step_ms: f64,
    /// That step with one tolerance after the other.
    pub points: Vec<Point>,
}

impl Row {
    /// For people.
    pub fn line(&self) -> String {
        let [x, y, z] = self.cells;
        let points: Vec<String> =
            self.points.iter().map(|p| format!("{:.1e} in {:.2} ms", p.error, p.ms)).collect();
        format!(
            "multigrid {:>2} × {y:>2} × {z:>2} cells {:>5} nodes  {:<26} {:>3} iterations, {:>7.1} ms first  {:>3} iterations, {:>7.2} ms bent  error {}",
            x,
            self.nodes,
            self.preconditioner,
            self.iterations_first,
            self.first_ms,
            self.iterations_bent,
            self.step_ms,
            points.join(", ")
        )
    }
}

/// What a budget does.
#[derive(Clone, Debug, Serialize)]
pub struct Budget {
    /// Name of the preconditioner.
    pub preconditioner: &'static str,
    /// Iterations per step.
    pub iterations: u32,
    /// How far the tip is at most from where it should be, as a share of its deepest drop, percent.
    pub error_percent: f64,
}

impl Budget {
    /// For people.
    pub fn line(&self) -> String {
        format!(
            "budget of {:>3} iterations, {:<20} tip off by {:>8.3} % of its drop",
            self.iterations, self.preconditioner, self.error_percent
        )
    }
}

/// All figures.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    /// Beams and preconditioners.
    pub rows: Vec<Row>,
    /// Budgets.
    pub budgets: Vec<Budget>,
}

/// Measures everything and hands out lines as they are done.
pub fn compare(mut done: impl FnMut(&str) -> Result<(), Failure>) -> Result<Figures, Failure> {
    let mut figures = Figures::default();
    for across in ACROSS {
        let reference = reference(across)?;
        for method in 0..METHODS.len() {
            let row = row(method, across, &reference)?;
            done(&row.line())?;
            figures.rows.push(row);
        }
    }
    let exact = drops(BUDGET_ACROSS, Cg { tolerance: EXACT, max_iterations: 5000, ..Cg::default() })?;
    for (name, preconditioner, ..) in METHODS.into_iter().take(DRAWN) {
        for max_iterations in BUDGETS {
            let cg = Cg { tolerance: EXACT, max_iterations, preconditioner, ..Cg::default() };
            let budget = Budget {
                preconditioner: name,
                iterations: max_iterations,
                error_percent: 100.0 * farthest(&exact, &drops(BUDGET_ACROSS, cg)?),
            };
            done(&budget.line())?;
            figures.budgets.push(budget);
        }
    }
    Ok(figures)
}

/// Settings of a method.
fn settings(method: usize, tolerance: f64) -> Cg {
    let (_, preconditioner, cycle, smoother) = METHODS[method];
    let multigrid = Multigrid { cycle, smoother, ..Multigrid::default() };
    Cg { tolerance, max_iterations: 5000, preconditioner, multigrid, ..Cg::default() }
}

fn beam(across: u32, cg: Cg) -> Scene {
    let wall = Region { min: [-1e-6, -1.0, -1.0], max: [1e-6, 1.0, 1.0] };
    let cells = [4 * across, across, across];
    let body = Body {
        name: "beam".into(),
        shape: Shape::Block(Block { size: [0.4, 0.1, 0.1], cells, cut: Cells::Hexahedra }),
        density: Some(1000.0),
        young_modulus: Some(4e4),
        poisson_ratio: Some(0.3),
        pins: vec![Pin { select: Select::Within(wall), ..Pin::default() }],
        ..Body::default()
    };
    let groups = vec![Group { solver: SolverKind::ImplicitEulerCg, cg, ..Group::default() }];
    Scene { bodies: vec![body], groups, ..Scene::default() }
}

/// A bent beam and the exact velocities after the step that follows.
struct Reference {
    bent: State,
    after: Vec<DVec3>,
}

fn reference(across: u32) -> Result<Reference, Failure> {
    let cg = Cg { tolerance: EXACT, max_iterations: 5000, ..Cg::default() };
    let mut simulation = Simulation::new(build(&beam(across, cg))?);
    (0..BEFORE).for_each(|_| simulation.step());
    let bent = simulation.state().clone();
    simulation.step();
    Ok(Reference { bent, after: simulation.state().bodies[0].v.clone() })
}

impl Reference {
    /// How far velocities after the step are from the exact ones, relative to the largest change.
    fn error(&self, v: &[DVec3]) -> f64 {
        let largest =
            |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        largest(&self.after, v) / largest(&self.after, &self.bent.bodies[0].v)
    }
}

fn row(method: usize, across: u32, reference: &Reference) -> Result<Row, Failure> {
    let mut points = Vec::new();
    let (mut iterations_first, mut first_ms) = (0, 0.0);
    for tolerance in TOLERANCES {
        let mut simulation = Simulation::new(build(&beam(across, settings(method, tolerance)))?);
        let clock = Instant::now();
        simulation.step();
        first_ms = clock.elapsed().as_secs_f64() * 1e3;
        iterations_first = simulation.solver_iterations(0);
        let mut ms = f64::INFINITY;
        for _ in 0..TIMED {
            simulation.state_mut().clone_from(&reference.bent);
            let clock = Instant::now();
            simulation.step();
            ms = ms.min(clock.elapsed().as_secs_f64() * 1e3);
        }
        let error = reference.error(&simulation.state().bodies[0].v);
        points.push(Point { tolerance, iterations: simulation.solver_iterations(0), ms, error });
    }
    let counted = points.iter().find(|p| p.tolerance == COUNTED);
    Ok(Row {
        preconditioner: METHODS[method].0,
        cells: [4 * across, across, across],
        nodes: reference.after.len(),
        iterations_first,
        first_ms,
        iterations_bent: counted.map_or(0, |p| p.iterations),
        step_ms: counted.map_or(f64::NAN, |p| p.ms),
        points,
    })
}

/// How far the tip is below where it was, m, in each frame of a second.
fn drops(across: u32, cg: Cg) -> Result<Vec<f64>, Failure> {
    let mut simulation = Simulation::new(build(&beam(across, cg))?);
    let rest = simulation.model().bodies[0].topology.rest_positions.clone();
    let tip: Vec<usize> = (0..rest.len()).filter(|i| rest[*i].x > 0.4 - 1e-9).collect();
    let mut all = Vec::new();
    for _ in 0..BUDGET_FRAMES {
        simulation.step();
        let x = &simulation.state().bodies[0].x;
        all.push(tip.iter().map(|i| rest[*i].y - x[*i].y).sum::<f64>() / tip.len() as f64);
    }
    Ok(all)
}

/// The largest distance of two ways, as a share of the deepest drop of the first.
fn farthest(exact: &[f64], found: &[f64]) -> f64 {
    let deepest = exact.iter().copied().fold(0.0, f64::max);
    exact.iter().zip(found).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A smaller tolerance is nearer to the exact step, for every preconditioner.
    #[test]
    fn tolerances_bring_the_step_nearer() {
        let reference = reference(2).unwrap();
        for method in 0..METHODS.len() {
            let row = row(method, 2, &reference).unwrap();
            let errors: Vec<f64> = row.points.iter().map(|p| p.error).collect();
            assert!(errors[6] < 1e-4 && errors[6] < 0.1 * errors[0], "{}: {errors:?}", row.preconditioner);
            assert!(row.iterations_bent >= row.points[0].iterations, "{row:?}");
        }
    }

    #[test]
    fn budgets_are_felt() {
        let of = |max_iterations| drops(2, Cg { tolerance: EXACT, max_iterations, ..Cg::default() }).unwrap();
        let exact = of(5000);
        assert!(farthest(&exact, &of(1)) > 10.0 * farthest(&exact, &of(8)));
    }
}
