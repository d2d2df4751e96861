//! The teaching comparison: one hanging cloth, every integrator.

use std::time::Instant;

use serde::Serialize;
use souple::Simulation;
use souple::scene::{Cg, Scene, SolverKind};
use souple::solver::{ALL_SOLVERS, solver_name};

use super::workloads::{build, forecast, hanging_cloth};
use crate::failure::Failure;

/// What one integrator can do on the cloth.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// Solver.
    pub solver: &'static str,
    /// Longest step that does not diverge within two simulated seconds, s, found by bisection.
    pub stable_step_s: f64,
    /// The forecast of `souple check`, s; absent when any step is stable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast_step_s: Option<f64>,
    /// Step used for cost and drift: nine tenths of the stable step, a frame at most, s.
    pub step_s: f64,
    /// Wall time per simulated second at that step, ms.
    pub cost_ms_per_s: f64,
    /// Change of total energy over two simulated seconds without damping, as a share of the energy of the first fall.
    pub energy_drift: f64,
}

impl Comparison {
    /// One line of the table.
    pub fn line(&self) -> String {
        format!(
            "{:<24} stable step {:>9.2e} s (forecast {:>9})  step {:>9.2e} s  cost {:>9.2} ms per simulated second  energy drift {:>+9.2e}",
            self.solver,
            self.stable_step_s,
            self.forecast_step_s.map_or("any".into(), |f| format!("{f:.2e} s")),
            self.step_s,
            self.cost_ms_per_s,
            self.energy_drift
        )
    }
}

/// The longest step that is tried, s.
const LONGEST: f64 = 0.1;
/// Simulated time of each trial, s.
const SECONDS: f64 = 2.0;

fn cloth(solver: SolverKind, h: f64, damped: bool) -> Scene {
    let mut scene = hanging_cloth(17, solver, None);
    scene.time.fps = 1.0 / h;
    scene.groups[0].cg = Cg { tolerance: 1e-4, max_iterations: 400, ..Cg::default() };
    if !damped {
        let springs = &mut scene.bodies[0].springs;
        for family in [&mut springs.stretch, &mut springs.shear, &mut springs.bend] {
            family.damping = None;
        }
    }
    scene
}

fn run(scene: &Scene) -> Result<(Simulation, f64), Failure> {
    let mut simulation = Simulation::new(build(scene)?);
    let clock = Instant::now();
    for _ in 0..(SECONDS * scene.time.fps).round() as u32 {
        simulation.step();
        if !simulation.warnings().is_empty() {
            break;
        }
    }
    Ok((simulation, clock.elapsed().as_secs_f64()))
}

/// Energy of a first fall by half a metre, J: what drift is measured against.
const FALL_ENERGY: f64 = 0.2 * 9.81 * 0.5;

/// Whether a step is stable: no warning, and no more energy than the start.
fn is_stable(solver: SolverKind, h: f64) -> Result<bool, Failure> {
    let scene = cloth(solver, h, true);
    let start = Simulation::new(build(&scene)?).measures().total_energy();
    let (simulation, _) = run(&scene)?;
    let end = simulation.measures().total_energy();
    Ok(simulation.warnings().is_empty() && end <= start + 0.05 * FALL_ENERGY)
}

/// Compares all integrators.
pub fn compare() -> Result<Vec<Comparison>, Failure> {
    ALL_SOLVERS.into_iter().map(compare_one).collect()
}

fn compare_one(solver: SolverKind) -> Result<Comparison, Failure> {
    let probe = build(&cloth(solver, 1e-3, true))?;
    let forecast = Some(forecast(&probe, solver)).filter(|f| f.is_finite());
    let stable_step_s = if is_stable(solver, LONGEST)? {
        LONGEST
    } else {
        let (mut low, mut high) = (1e-5f64, LONGEST);
        while high / low > 1.05 {
            let middle = (low * high).sqrt();
            if is_stable(solver, middle)? { low = middle } else { high = middle }
        }
        low
    };
    let step_s = (0.9 * stable_step_s).min(1.0 / 60.0);
    let (_, seconds) = run(&cloth(solver, step_s, true))?;
    let undamped = cloth(solver, step_s, false);
    let start = Simulation::new(build(&undamped)?).measures().total_energy();
    let (simulation, _) = run(&undamped)?;
    let energy_drift = if simulation.warnings().is_empty() {
        (simulation.measures().total_energy() - start) / FALL_ENERGY
    } else {
        f64::INFINITY
    };
    Ok(Comparison {
        solver: solver_name(solver),
        stable_step_s,
        forecast_step_s: forecast,
        step_s,
        cost_ms_per_s: 1e3 * seconds / SECONDS,
        energy_drift,
    })
}
