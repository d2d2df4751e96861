//! The workloads, and how they are timed.

use std::time::Instant;

use souple::scene::{Body, Cg, Family, Grid, Group, Pin, Scene, Select, Shape, SolverKind, Springs};
use souple::solver::{ALL_SOLVERS, solver_name, stability};
use souple::{Model, ModelBuilder, Simulation};
use souple_formats::scene::read_scene;

use super::Figures;
use crate::args::BenchArgs;
use crate::failure::Failure;
use crate::report::ProfileReport;

/// Names that can be asked for.
pub const NAMES: [&str; 10] = [
    "w1-32",
    "w1-100",
    "w1-200",
    "w2",
    "integrators-40",
    "integrators-100",
    "integrators",
    "viewer",
    "methods-32",
    "methods",
];

/// A scene to be timed.
pub struct Workload {
    /// Name in the report.
    pub name: String,
    /// The scene.
    pub scene: Scene,
    /// Frames to run.
    pub frames: u32,
}

/// The scenes of a workload.
pub fn of(name: &str) -> Result<Vec<Workload>, Failure> {
    let text = match name {
        "w1-32" => include_str!("../../../../scenes/bench/w1-32.toml"),
        "w1-100" => include_str!("../../../../scenes/bench/w1-100.toml"),
        "w1-200" => include_str!("../../../../scenes/bench/w1-200.toml"),
        "w2" => include_str!("../../../../scenes/bench/w2.toml"),
        "integrators-40" => return each_solver(40),
        _ => return each_solver(100),
    };
    let scene = read_scene(text, &format!("scenes/bench/{name}.toml"))?.scene;
    let frames = scene.time.frames;
    Ok(vec![Workload { name: name.into(), scene, frames }])
}

/// The seed's cloth: 1 m, 0.2 kg, springs of 50 N/m, hung by two corners, n×n vertices.
pub fn hanging_cloth(n: u32, solver: SolverKind, dt: Option<f64>) -> Scene {
    let corner =
        |x: f64| Pin { name: format!("corner-{x}"), select: Select::Near([x, 0.0, 0.0]), motion: None };
    let family = |k: f64, c: f64| Family { stiffness: Some(k), damping: Some(c), modulus: None };
    let body = Body {
        name: "cloth".into(),
        mass: Some(0.2),
        shape: Shape::Grid(Grid { vertices: [n, n], ..Grid::default() }),
        springs: Springs {
            stretch: family(50.0, 0.01),
            shear: family(20.0, 0.004),
            bend: family(1.0, 0.0),
            ..Springs::default()
        },
        pins: vec![corner(0.0), corner(1.0)],
        ..Body::default()
    };
    let cg = Cg { tolerance: 1e-2, max_iterations: 200 };
    Scene {
        groups: vec![Group { solver, dt, cg, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    }
}

/// Longest stable step of the only body of a scene by forecast, s.
pub fn forecast(model: &Model, solver: SolverKind) -> f64 {
    let body = &model.bodies[0];
    let inverse_masses: Vec<f64> = body.topology.masses.iter().map(|m| 1.0 / m).collect();
    stability::longest_step(
        solver,
        &stability::stiffest_mode(&body.topology, &inverse_masses, body.dissipation),
    )
}

fn each_solver(n: u32) -> Result<Vec<Workload>, Failure> {
    ALL_SOLVERS
        .into_iter()
        .map(|solver| {
            let probe = build(&hanging_cloth(n, solver, None))?;
            // Nine tenths of the forecast; a frame at most.
            let dt = (0.9 * forecast(&probe, solver)).min(1.0 / 60.0);
            let name = format!("integrators-{n}/{}", solver_name(solver));
            Ok(Workload { name, scene: hanging_cloth(n, solver, Some(dt)), frames: 30 })
        })
        .collect()
}

/// Compiles a scene of the program's own.
pub fn build(scene: &Scene) -> Result<Model, Failure> {
    ModelBuilder::new(scene).build().map_err(|e| Failure::input(e.to_string(), e.help))
}

/// Runs a workload from a fresh scene as often as asked and takes the wall time of every step.
pub fn time(workload: &Workload, args: &BenchArgs) -> Result<Figures, Failure> {
    let frames = args.frames.unwrap_or(workload.frames);
    let mut means = Vec::new();
    let mut worst = 0.0f64;
    let mut best: Option<(f64, Simulation, u32)> = None;
    for _ in 0..args.repeats {
        let threads = usize::try_from(args.threads.threads).unwrap_or(1);
        let mut simulation = Simulation::new(build(&workload.scene)?)
            .with_threads(threads)
            .map_err(|e| Failure::input(e.to_string(), "ask for fewer threads"))?;
        let mut total = 0.0;
        let mut iterations = 0;
        for _ in 0..frames {
            let clock = Instant::now();
            simulation.step();
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            total += ms;
            worst = worst.max(ms);
            iterations = iterations.max(simulation.solver_iterations(0));
        }
        let mean = total / f64::from(frames);
        means.push(mean);
        if best.as_ref().is_none_or(|(fastest, ..)| mean < *fastest) {
            best = Some((mean, simulation, iterations));
        }
    }
    means.sort_by(f64::total_cmp);
    let Some((fastest, simulation, iterations_max)) = best else {
        return Err(Failure::Usage("--repeats must be at least 1".into()));
    };
    let model = simulation.model();
    let group = &model.groups[0];
    let vertices = model.particle_count();
    let measures = simulation.measures();
    let profile = serde_json::to_value(ProfileReport(*simulation.profile())).unwrap_or_default();
    Ok(Figures {
        name: workload.name.clone(),
        solver: solver_name(group.solver),
        threads: usize::try_from(args.threads.threads).ok().filter(|t| *t > 0).unwrap_or_else(available),
        vertices,
        substeps: group.substeps,
        ms_min: fastest,
        ms_median: means[means.len() / 2],
        ms_worst: worst,
        ns_per_vertex_substep: fastest * 1e6 / (vertices as f64 * f64::from(group.substeps)),
        times_real_time: 1e3 / model.fps / fastest,
        stretch_mean_percent: measures.stretch_mean_percent,
        stretch_max_percent: measures.stretch_max_percent,
        stretch_p999_percent: measures.stretch_p999_percent,
        lowest_m: measures.lowest,
        iterations_max,
        profile,
        frozen: simulation.state().bodies.iter().any(|b| b.frozen),
    })
}

fn available() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}
