//! Iterations and times of the preconditioners of `implicit_euler_cg` on a beam of hexahedra that bends, from coarse to fine.
//!
//! One implicit step from rest of a clamped beam of 4 : 1 : 1, E = 40 kPa, ν = 0.3. Searches stop at a relative residual of 1e-6. Run with
//! `cargo run --release -p souple --example multigrid -- [CELLS ACROSS]... [--fps N]`; a method whose name contains a word given with `--only` alone.

use std::time::Instant;

use glam::DVec3;
use souple::scene::{
    Block, Body, Cells, Cg, Group, Multigrid, MultigridCycle, Pin, Preconditioner, Region, Scene, Select,
    Shape, Smoother, SolverKind,
};
use souple::{ModelBuilder, Simulation};

/// The beam, with so many cells across.
fn beam(across: u32, fps: f64, solver: SolverKind, cg: Cg) -> Scene {
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
    let mut scene = Scene { bodies: vec![body], ..Scene::default() };
    scene.groups = vec![Group { solver, cg, ..Group::default() }];
    scene.time.fps = fps;
    scene
}

/// What was measured of one method.
struct Figures {
    nodes: usize,
    iterations: u32,
    /// Making the preconditioner and solving once, ms.
    first_ms: f64,
    /// A later step, ms.
    step_ms: f64,
    v: Vec<DVec3>,
}

fn measure(scene: &Scene) -> Result<Figures, Box<dyn std::error::Error>> {
    let mut simulation = Simulation::new(ModelBuilder::new(scene).build()?);
    let start = simulation.snapshot();
    let clock = Instant::now();
    simulation.step();
    let first_ms = 1e3 * clock.elapsed().as_secs_f64();
    let v = simulation.state().bodies[0].v.clone();
    let iterations = simulation.solver_iterations(0);
    let mut step_ms = f64::INFINITY;
    for _ in 0..3 {
        let clock = Instant::now();
        simulation.step();
        step_ms = step_ms.min(1e3 * clock.elapsed().as_secs_f64());
    }
    drop(start);
    Ok(Figures { nodes: v.len(), iterations, first_ms, step_ms, v })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut sizes: Vec<u32> = Vec::new();
    let (mut fps, mut only, mut sweeps) = (60.0, String::new(), 2);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--fps" => fps = arguments.next().unwrap_or_default().parse()?,
            "--only" => only = arguments.next().unwrap_or_default(),
            "--sweeps" => sweeps = arguments.next().unwrap_or_default().parse()?,
            size => sizes.push(size.parse()?),
        }
    }
    if sizes.is_empty() {
        sizes = vec![2, 4, 8, 16];
    }
    let grids = |cycle, smoother| {
        let multigrid = Multigrid { cycle, smoother, sweeps, levels: None };
        (Preconditioner::Multigrid, multigrid)
    };
    let plain = |preconditioner| (preconditioner, Multigrid::default());
    let methods = [
        ("blocks", plain(Preconditioner::Blocks)),
        ("incomplete Cholesky", plain(Preconditioner::IncompleteCholesky)),
        ("Cholesky", plain(Preconditioner::Cholesky)),
        ("multigrid V, Chebyshev", grids(MultigridCycle::V, Smoother::Chebyshev)),
        ("multigrid full, Chebyshev", grids(MultigridCycle::Full, Smoother::Chebyshev)),
        ("multigrid V, conjugate gradients", grids(MultigridCycle::V, Smoother::ConjugateGradient)),
        ("multigrid full, conjugate gradients", grids(MultigridCycle::Full, Smoother::ConjugateGradient)),
    ];
    println!("| cells | nodes | preconditioner | iterations | first step, ms | later steps, ms | apart |");
    println!("|---|---|---|---|---|---|---|");
    for across in sizes {
        let mut exact: Vec<DVec3> = Vec::new();
        for (name, (preconditioner, multigrid)) in methods.iter().filter(|(name, _)| name.contains(&only)) {
            let (preconditioner, multigrid) = (*preconditioner, *multigrid);
            let cg = Cg { tolerance: 1e-6, max_iterations: 5000, preconditioner, multigrid };
            let f = measure(&beam(across, fps, SolverKind::ImplicitEulerCg, cg))?;
            if exact.is_empty() {
                exact.clone_from(&f.v);
            }
            // How far the velocities are from those of the first row, relative to the largest.
            let most = exact.iter().map(|v| v.length()).fold(0.0, f64::max);
            let apart = exact.iter().zip(&f.v).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max) / most;
            println!(
                "| {}×{across}×{across} | {} | {name} | {} | {:.1} | {:.1} | {apart:.0e} |",
                4 * across,
                f.nodes,
                f.iterations,
                f.first_ms,
                f.step_ms
            );
        }
    }
    Ok(())
}
