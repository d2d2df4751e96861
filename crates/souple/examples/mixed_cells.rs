//! What cells of several sizes cost and what they miss, against cells that are all as small as the smallest.
//!
//! A clamped beam of 4 : 1 : 1 (`--ball`: a ball of 1 m that hangs on its top) sags for half a second at 60 steps per second, E = 40 kPa, ν = 0.3, to a relative
//! preconditioned residual of 1e-4. Told are the particles that are unknowns, the iterations of the last step, the time of the first step, in which preconditioners are made,
//! and the fastest of the last ten, and how far the mean drop of its end is from that of the fine mesh. Run with
//! `cargo run --release -p souple --example mixed_cells -- [CELLS ACROSS]...`.

use std::time::Instant;

use souple::scene::{
    Ball, Block, Body, Cells, Cg, Embed, FineAt, Group, Pin, Preconditioner, Rayleigh, Region, Resolution,
    Scene, Select, Shape, SolverKind,
};
use souple::{ModelBuilder, Simulation};

const STEPS: u32 = 30;

/// A mesh: its name, cells across, and which of them are joined.
type Mesh = (String, u32, Option<Resolution>);

fn scene(ball: bool, mesh: &Mesh, preconditioner: Preconditioner) -> Scene {
    let (_, across, resolution) = mesh;
    let held = match ball {
        true => Region { min: [-1.0, 0.4, -1.0], max: [1.0, 1.0, 1.0] },
        false => Region { min: [-1e-6, -1.0, -1.0], max: [1e-6, 1.0, 1.0] },
    };
    let mut body = Body {
        name: "body".into(),
        shape: Shape::Block(Block {
            size: [0.4, 0.1, 0.1],
            cells: [4 * across, *across, *across],
            cut: Cells::Hexahedra,
        }),
        resolution: resolution.clone(),
        density: Some(1000.0),
        young_modulus: Some(4e4),
        poisson_ratio: Some(0.3),
        rayleigh: Some(Rayleigh { mass: 2.0, stiffness: None }),
        pins: vec![Pin { select: Select::Within(held), ..Pin::default() }],
        ..Body::default()
    };
    if ball {
        body.shape = Shape::Ball(Ball { radius: 0.5, subdivisions: 4 });
        body.embed = Some(Embed { cell: 1.0 / f64::from(*across), ..Embed::default() });
    }
    let cg = Cg { tolerance: 1e-4, max_iterations: 5000, preconditioner, ..Cg::default() };
    let groups = vec![Group { solver: SolverKind::ImplicitEulerCg, cg, ..Group::default() }];
    let mut scene = Scene { bodies: vec![body], groups, ..Scene::default() };
    scene.time.fps = 60.0;
    scene
}

struct Figures {
    unknowns: usize,
    cells: usize,
    iterations: u32,
    first_ms: f64,
    step_ms: f64,
    drop: f64,
}

fn measure(scene: &Scene, ball: bool) -> Result<Figures, Box<dyn std::error::Error>> {
    let mut s = Simulation::new(ModelBuilder::new(scene).build()?).with_threads(1)?;
    let (mut first_ms, mut step_ms) = (0.0, f64::INFINITY);
    for step in 0..STEPS {
        let clock = Instant::now();
        s.step();
        let ms = 1e3 * clock.elapsed().as_secs_f64();
        match step {
            0 => first_ms = ms,
            _ if step + 10 >= STEPS => step_ms = ms.min(step_ms),
            _ => {}
        }
    }
    let (body, state) = (&s.model().bodies[0], &s.state().bodies[0]);
    let rest = &body.topology.rest_positions[..body.topology.visible()];
    let at_end = |r: &glam::DVec3| if ball { r.y < -0.4 } else { r.x > 0.4 - 1e-9 };
    let drops: Vec<f64> =
        rest.iter().zip(&state.x).filter(|(r, _)| at_end(r)).map(|(r, x)| r.y - x.y).collect();
    let topology = &state.topology;
    Ok(Figures {
        unknowns: topology.len() - topology.mapping.len(),
        cells: topology.hexahedra.len(),
        iterations: s.solver_iterations(0),
        first_ms,
        step_ms,
        drop: drops.iter().sum::<f64>() / drops.len() as f64,
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ball = arguments.iter().any(|a| a == "--ball");
    let mut sizes: Vec<u32> = arguments.iter().filter_map(|a| a.parse().ok()).collect();
    if sizes.is_empty() {
        sizes = vec![8, 16];
    }
    println!(
        "| mesh | cells | unknowns | preconditioner | iterations | first step, ms | step, ms | drop, mm | off |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for across in sizes {
        let surface = |levels: u32| {
            let resolution = Resolution { levels, fine_at: FineAt::Surface, ..Resolution::default() };
            (format!("{across} across, {levels} levels inside"), across, Some(resolution))
        };
        let end = Region { min: [-1.0; 3], max: [0.1, 1.0, 1.0] };
        let root =
            Resolution { levels: 2, fine_at: FineAt::Regions, regions: vec![end], ..Resolution::default() };
        let mut meshes: Vec<Mesh> =
            vec![(format!("{across} across"), across, None), surface(1), surface(2), surface(3)];
        if !ball {
            meshes.push((format!("{across} across, at the clamped quarter"), across, Some(root)));
        }
        meshes.push((format!("{} across", across / 2), across / 2, None));
        let mut exact = None;
        for mesh in &meshes {
            for (name, preconditioner) in
                [("cholesky", Preconditioner::Cholesky), ("multigrid", Preconditioner::Multigrid)]
            {
                let f = measure(&scene(ball, mesh, preconditioner), ball)?;
                let exact = *exact.get_or_insert(f.drop);
                println!(
                    "| {} | {} | {} | `{name}` | {} | {:.1} | {:.2} | {:.3} | {:.2} % |",
                    mesh.0,
                    f.cells,
                    f.unknowns,
                    f.iterations,
                    f.first_ms,
                    f.step_ms,
                    1e3 * f.drop,
                    1e2 * (f.drop / exact - 1.0)
                );
            }
        }
    }
    Ok(())
}
