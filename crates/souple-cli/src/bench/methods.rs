//! `souple bench methods`: which method is right, and which is fast.
//!
//! The cloth of `scenes/bench/w1-*.toml`, stiff and hung by two corners, swings down by every method that can stand it. Beside
//! the time per frame stand the stretch in the last frame and how far the motion is from that of a reference: the
//! distance of the centres of mass over the first two seconds. A method that brakes the fall stretches little and still is
//! wrong; only the second figure shows it.

use std::time::Instant;

use glam::DVec3;
use serde::Serialize;
use souple::Simulation;
use souple::scene::{Descent, Scene, SolverKind};
use souple::solver::solver_name;

use super::workloads::{build, forecast, of};
use crate::args::BenchArgs;
use crate::failure::Failure;

/// Frames over which motion is compared: 2 s.
const COMPARED: u32 = 120;

/// Steps of the reference, `verlet` in 64 bits, as a share of the longest that its springs stand in the linear forecast. At 32 × 32
/// it is then within 1 mm of itself at half that step.
const REFERENCE_SHARE: f64 = 0.5;

/// A way to run the scene.
struct Method {
    solver: SolverKind,
    substeps: u32,
    /// Rounds of a descent; 0 for other solvers.
    iterations: u32,
}

const fn method(solver: SolverKind, substeps: u32, iterations: u32) -> Method {
    Method { solver, substeps, iterations }
}

/// What is compared at 32 × 32 and 100 × 100.
const METHODS: [Method; 13] = [
    method(SolverKind::Xpbd, 6, 0),
    method(SolverKind::Xpbd, 12, 0),
    method(SolverKind::Xpbd, 24, 0),
    method(SolverKind::ProjectiveDynamics, 1, 10),
    method(SolverKind::ProjectiveDynamics, 4, 10),
    method(SolverKind::ProjectiveDynamics, 10, 10),
    method(SolverKind::ProjectiveDynamics, 10, 1),
    method(SolverKind::VertexBlockDescent, 1, 20),
    method(SolverKind::VertexBlockDescent, 5, 10),
    method(SolverKind::VertexBlockDescent, 20, 5),
    method(SolverKind::ImplicitEulerCg, 1, 0),
    method(SolverKind::ImplicitEulerCg, 4, 0),
    method(SolverKind::ImplicitEulerCg, 10, 0),
];

/// Figures of one method on one cloth.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// Solver, steps per frame and rounds per step.
    pub method: String,
    /// Solver.
    pub solver: &'static str,
    /// Vertices along a side.
    pub n: u32,
    /// Solver steps per frame.
    pub substeps: u32,
    /// Rounds per step; 0 for solvers that have none.
    pub iterations: u32,
    /// Fastest of the repeats: mean ms per frame.
    pub ms_min: f64,
    /// Mean |l/l0 − 1| of triangle edges in the last frame, percent.
    pub stretch_mean_percent: f64,
    /// 99.9th percentile of l/l0 − 1 in the last frame, percent.
    pub stretch_p999_percent: f64,
    /// Largest l/l0 − 1 in the last frame, percent.
    pub stretch_max_percent: f64,
    /// Root mean square distance of the centre of mass from that of the reference over the first 2 s, mm.
    pub com_error_mm: f64,
    /// Kinetic energy after half a second, in the middle of the fall, J.
    pub kinetic_half_second_j: f64,
    /// Kinetic energy after a second, J.
    pub kinetic_one_second_j: f64,
    /// Lowest place of the centre of mass in the first 2 s, m.
    pub swing_m: f64,
    /// Whether the body froze: the figures are then worth nothing.
    pub frozen: bool,
}

impl Row {
    /// One line of the table.
    pub fn line(&self) -> String {
        format!(
            "{:>3}² {:<34} {:>9.3} ms/frame  stretch {:>8.3} % mean {:>8.2} % p99.9 {:>9.1} % max  motion {:>7.1} mm off  kinetic {:.3} J at 0.5 s, {:.3} J at 1 s  swing {:>6.3} m{}",
            self.n,
            self.method,
            self.ms_min,
            self.stretch_mean_percent,
            self.stretch_p999_percent,
            self.stretch_max_percent,
            self.com_error_mm,
            self.kinetic_half_second_j,
            self.kinetic_one_second_j,
            self.swing_m,
            if self.frozen { "  FROZEN" } else { "" }
        )
    }
}

/// What is kept of a run: the centre of mass and the kinetic energy in the first 2 s.
#[derive(Default)]
struct Motion {
    centres: Vec<DVec3>,
    kinetic: Vec<f64>,
}

impl Motion {
    fn note(&mut self, simulation: &Simulation) {
        let measures = simulation.measures();
        self.centres.push(measures.centre);
        self.kinetic.push(measures.kinetic_energy);
    }

    fn distance_mm(&self, other: &Motion) -> f64 {
        let squares = self.centres.iter().zip(&other.centres).map(|(a, b)| a.distance_squared(*b));
        1e3 * (squares.sum::<f64>() / self.centres.len().max(1) as f64).sqrt()
    }

    fn kinetic_after(&self, frames: usize) -> f64 {
        self.kinetic.get(frames - 1).copied().unwrap_or(f64::NAN)
    }
}

fn scene(n: u32, method: &Method) -> Result<Scene, Failure> {
    let workload = of(&format!("w1-{n}"))?.remove(0);
    let mut scene = workload.scene;
    let group = &mut scene.groups[0];
    group.solver = method.solver;
    group.dt = Some(1.0 / (scene.time.fps * f64::from(method.substeps)));
    if method.iterations > 0 {
        group.descent = Descent { iterations: method.iterations };
    }
    Ok(scene)
}

/// The motion that springs alone give: every method is an approximation of it. Minutes at 200 × 200.
fn reference(n: u32) -> Result<Motion, Failure> {
    let model = build(&scene(n, &method(SolverKind::Verlet, 1, 0))?)?;
    let step = REFERENCE_SHARE * forecast(&model, SolverKind::Verlet);
    let substeps = (model.frame_dt() / step).ceil() as u32;
    let scene = scene(n, &method(SolverKind::Verlet, substeps, 0))?;
    let mut simulation = Simulation::new(build(&scene)?);
    let mut motion = Motion::default();
    for _ in 0..COMPARED {
        simulation.step();
        motion.note(&simulation);
    }
    Ok(motion)
}

/// Runs every method on cloth of the given sizes and hands out each row when it is there. At 200 × 200 the real-time solver
/// runs alone: the others take minutes.
pub fn compare(
    sizes: &[u32],
    args: &BenchArgs,
    mut tell: impl FnMut(&Row) -> Result<(), Failure>,
) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for &n in sizes {
        let reference = reference(n)?;
        for method in METHODS.iter().filter(|m| n < 200 || m.solver == SolverKind::Xpbd) {
            let row = run(n, method, &reference, args)?;
            tell(&row)?;
            rows.push(row);
        }
    }
    Ok(rows)
}

fn run(n: u32, method: &Method, reference: &Motion, args: &BenchArgs) -> Result<Row, Failure> {
    let scene = scene(n, method)?;
    let frames = args.frames.unwrap_or(scene.time.frames);
    let threads = args.threads.first().and_then(|&t| usize::try_from(t).ok()).unwrap_or(1);
    let mut ms_min = f64::INFINITY;
    let mut last = None;
    for _ in 0..args.repeats {
        let mut simulation = Simulation::new(build(&scene)?)
            .with_threads(threads)
            .map_err(|e| Failure::input(e.to_string(), "ask for fewer threads"))?;
        let (mut total, mut motion) = (0.0, Motion::default());
        for frame in 0..frames {
            let clock = Instant::now();
            simulation.step();
            total += clock.elapsed().as_secs_f64() * 1e3;
            if frame < COMPARED {
                motion.note(&simulation);
            }
        }
        ms_min = ms_min.min(total / f64::from(frames));
        last = Some((simulation, motion));
    }
    let Some((simulation, motion)) = last else {
        return Err(Failure::Usage("--repeats must be at least 1".into()));
    };
    let measures = simulation.measures();
    let solver = solver_name(method.solver);
    let steps = if method.substeps == 1 { "1 step".into() } else { format!("{} steps", method.substeps) };
    Ok(Row {
        method: match method.iterations {
            0 => format!("{solver}, {steps}"),
            rounds => format!("{solver}, {steps} × {rounds}"),
        },
        solver,
        n,
        substeps: method.substeps,
        iterations: method.iterations,
        ms_min,
        stretch_mean_percent: measures.stretch_mean_percent,
        stretch_p999_percent: measures.stretch_p999_percent,
        stretch_max_percent: measures.stretch_max_percent,
        com_error_mm: motion.distance_mm(reference),
        kinetic_half_second_j: motion.kinetic_after(30),
        kinetic_one_second_j: motion.kinetic_after(60),
        swing_m: motion.centres.iter().fold(f64::INFINITY, |low, c| low.min(c.y)),
        frozen: simulation.state().bodies.iter().any(|b| b.frozen),
    })
}

/// Another engine on the same scene at 100 × 100.
pub struct Peer {
    /// Name and settings.
    pub name: &'static str,
    /// ms per frame on one thread.
    pub ms: f64,
    /// Mean stretch at rest, percent.
    pub stretch_percent: f64,
}

/// Figures of other engines for w1-100: 1 m, 0.2 kg/m², 60 frames per second, one thread. Measured once, on another machine
/// of the same kind (a 2-core server, about 2.4 GHz), not by this program: they say where the field stands, not who wins by a
/// tenth. Their motion was not compared.
pub const PEERS: [Peer; 9] = [
    Peer { name: "Jolt 5, 5 substeps", ms: 4.3, stretch_percent: 20.0 },
    Peer { name: "Jolt 5, attachments", ms: 4.5, stretch_percent: 4.0 },
    Peer { name: "rapier3d, 5 substeps", ms: 24.0, stretch_percent: 35.0 },
    Peer { name: "pyPBD, 5 substeps", ms: 24.0, stretch_percent: 36.0 },
    Peer { name: "rapier3d, 20 substeps", ms: 75.0, stretch_percent: 4.4 },
    Peer { name: "rapier3d, implicit", ms: 66.0, stretch_percent: 4.5 },
    Peer { name: "MuJoCo flex", ms: 266.0, stretch_percent: 0.13 },
    Peer { name: "Blender, quality 5", ms: 339.0, stretch_percent: 0.005 },
    Peer { name: "Newton VBD, 5 × 10", ms: 2680.0, stretch_percent: 1.0 },
];
