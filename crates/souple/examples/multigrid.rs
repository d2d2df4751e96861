//! Iterations and times of the preconditioners of `implicit_euler_cg` on a beam of hexahedra that bends, from coarse to fine.
//!
//! One implicit step from rest of a clamped beam of 4 : 1 : 1, E = 40 kPa, ν = 0.3, at 60 steps per second. Searches stop at a relative
//! preconditioned residual of 1e-6. Run with `cargo run --release -p souple --example multigrid -- [CELLS ACROSS]...` and, if you
//! like, `--cube` (a cube instead), `--ball` (a surface in so many cells, pinned at its top), `--young PA`, `--poisson RATIO`, `--fps N`, `--sweeps N`,
//! `--threads N`, `--only WORD` (preconditioners whose names contain it).

use std::time::Instant;

use glam::DVec3;
use souple::scene::{
    Ball, Block, Body, Cells, Cg, Embed, Group, Multigrid, MultigridCycle, Pin, Preconditioner, Region,
    Scene, Select, Shape, Smoother, SolverKind,
};
use souple::{ModelBuilder, Simulation};

/// What is solved.
struct Task {
    sizes: Vec<u32>,
    /// How many times as long as wide.
    length: u32,
    /// A ball in cells instead of a beam.
    ball: bool,
    young: f64,
    poisson: f64,
    fps: f64,
    sweeps: u32,
    threads: usize,
    only: String,
}

impl Task {
    fn from_arguments() -> Result<Task, Box<dyn std::error::Error>> {
        let mut task = Task {
            sizes: Vec::new(),
            length: 4,
            ball: false,
            young: 4e4,
            poisson: 0.3,
            fps: 60.0,
            sweeps: 2,
            threads: 1,
            only: String::new(),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().unwrap_or_default();
            match argument.as_str() {
                "--cube" => task.length = 1,
                "--ball" => task.ball = true,
                "--young" => task.young = value().parse()?,
                "--poisson" => task.poisson = value().parse()?,
                "--fps" => task.fps = value().parse()?,
                "--sweeps" => task.sweeps = value().parse()?,
                "--threads" => task.threads = value().parse()?,
                "--only" => task.only = value(),
                size => task.sizes.push(size.parse()?),
            }
        }
        if task.sizes.is_empty() {
            task.sizes = vec![2, 4, 8, 16];
        }
        Ok(task)
    }

    /// The body, with so many cells across.
    fn scene(&self, across: u32, cg: Cg) -> Scene {
        let held = match self.ball {
            true => Region { min: [-1.0, 0.4, -1.0], max: [1.0, 1.0, 1.0] },
            false => Region { min: [-1e-6, -1.0, -1.0], max: [1e-6, 1.0, 1.0] },
        };
        let cells = [self.length * across, across, across];
        let size = [0.1 * f64::from(self.length), 0.1, 0.1];
        let mut body = Body {
            name: "body".into(),
            shape: Shape::Block(Block { size, cells, cut: Cells::Hexahedra }),
            density: Some(1000.0),
            young_modulus: Some(self.young),
            poisson_ratio: Some(self.poisson),
            pins: vec![Pin { select: Select::Within(held), ..Pin::default() }],
            ..Body::default()
        };
        if self.ball {
            body.shape = Shape::Ball(Ball { radius: 0.5, subdivisions: 4 });
            let cell = 1.0 / f64::from(across);
            body.embed = Some(Embed { cell, cut: Cells::Hexahedra, ..Embed::default() });
        }
        let mut scene = Scene { bodies: vec![body], ..Scene::default() };
        scene.groups = vec![Group { solver: SolverKind::ImplicitEulerCg, cg, ..Group::default() }];
        scene.time.fps = self.fps;
        scene
    }
}

/// Steps after the first: a quarter of a second at the usual rate.
const LATER: u32 = 15;

/// What was measured of one method.
struct Figures {
    nodes: usize,
    iterations: u32,
    /// Making the preconditioner and solving once, ms.
    first_ms: f64,
    /// Iterations of the last of the later steps, in which the body is bent and turned.
    bent: u32,
    /// The fastest of the last three steps, ms.
    step_ms: f64,
    v: Vec<DVec3>,
}

fn measure(scene: &Scene, threads: usize) -> Result<Figures, Box<dyn std::error::Error>> {
    let mut simulation = Simulation::new(ModelBuilder::new(scene).build()?).with_threads(threads)?;
    let clock = Instant::now();
    simulation.step();
    let first_ms = 1e3 * clock.elapsed().as_secs_f64();
    let v = simulation.state().bodies[0].v.clone();
    let iterations = simulation.solver_iterations(0);
    let mut step_ms = f64::INFINITY;
    for later in 0..LATER {
        let clock = Instant::now();
        simulation.step();
        if later + 3 >= LATER {
            step_ms = step_ms.min(1e3 * clock.elapsed().as_secs_f64());
        }
    }
    let bent = simulation.solver_iterations(0);
    Ok(Figures { nodes: v.len(), iterations, first_ms, bent, step_ms, v })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let task = Task::from_arguments()?;
    let sweeps = task.sweeps;
    let grids = |cycle, smoother| {
        let multigrid = Multigrid { cycle, smoother, sweeps, levels: None };
        (Preconditioner::Multigrid, multigrid)
    };
    let plain = |preconditioner| (preconditioner, Multigrid::default());
    let methods = [
        ("Cholesky", plain(Preconditioner::Cholesky)),
        ("blocks", plain(Preconditioner::Blocks)),
        ("incomplete Cholesky", plain(Preconditioner::IncompleteCholesky)),
        ("multigrid V, Chebyshev", grids(MultigridCycle::V, Smoother::Chebyshev)),
        ("multigrid full, Chebyshev", grids(MultigridCycle::Full, Smoother::Chebyshev)),
        ("multigrid V, conjugate gradients", grids(MultigridCycle::V, Smoother::ConjugateGradient)),
        ("multigrid full, conjugate gradients", grids(MultigridCycle::Full, Smoother::ConjugateGradient)),
    ];
    println!(
        "| cells | nodes | preconditioner | iterations | first step, ms | iterations, bent | step, ms | apart |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    for &across in &task.sizes {
        let mut exact: Vec<DVec3> = Vec::new();
        for (name, (preconditioner, multigrid)) in
            methods.iter().filter(|(name, _)| name.contains(&task.only))
        {
            let (preconditioner, multigrid) = (*preconditioner, *multigrid);
            let cg = Cg { tolerance: 1e-6, max_iterations: 5000, preconditioner, multigrid, ..Cg::default() };
            let f = measure(&task.scene(across, cg), task.threads)?;
            if exact.is_empty() {
                exact.clone_from(&f.v);
            }
            // How far the velocities are from those of the first row, relative to the largest.
            let most = exact.iter().map(|v| v.length()).fold(0.0, f64::max);
            let apart = exact.iter().zip(&f.v).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / most;
            let along = if task.ball { across } else { task.length * across };
            println!(
                "| {along}×{across}×{across} | {} | {name} | {} | {:.1} | {} | {:.1} | {apart:.0e} |",
                f.nodes, f.iterations, f.first_ms, f.bent, f.step_ms
            );
        }
    }
    Ok(())
}
