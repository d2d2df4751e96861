//! The law of the real-time solver: in the limit of small steps it moves the cloth that the other solvers move, at rest and
//! in motion, and the difference falls with the step as the theory says.
//!
//! One visit per substep is a spring of compliance h² Σ w²/m in series with each constraint, so what is at rest is off by
//! a term in h²: a quarter at half the step. Motion is of the first order, as that of symplectic Euler: a half. The
//! figures that are compared are above the rounding of 32 bits.

use glam::DVec3;
use souple::scene::{
    Body, Border, Diagonals, Family, Grid, GridPlane, Group, Key, Layout, Motion, Pin, Rayleigh, Region,
    Scene, Select, Shape, SolverKind, Springs, Time,
};
use souple::{ModelBuilder, Simulation};

fn simulation(scene: &Scene, solver: SolverKind, dt: Option<f64>) -> Simulation {
    let mut scene = scene.clone();
    scene.groups = vec![Group { solver, dt, ..Group::default() }];
    Simulation::new(ModelBuilder::new(&scene).build().unwrap())
}

fn places(scene: &Scene, solver: SolverKind, dt: Option<f64>, frames: u32) -> Vec<DVec3> {
    let mut s = simulation(scene, solver, dt);
    (0..frames).for_each(|_| s.step());
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    s.state().bodies[0].x.clone()
}

fn largest_distance(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
}

/// A sheet of a metre, soft enough that its stretch is seen.
fn sheet(n: u32, plane: GridPlane) -> Body {
    Body {
        name: "sheet".into(),
        density: Some(0.2),
        shape: Shape::Grid(Grid { vertices: [n, n], plane, ..Grid::default() }),
        springs: Springs {
            stretch: Family { modulus: Some(30.0), ..Family::default() },
            shear: Family { modulus: Some(10.0), ..Family::default() },
            ..Springs::default()
        },
        ..Body::default()
    }
}

fn scene(body: Body, gravity: f64) -> Scene {
    Scene {
        gravity: [0.0, -gravity, 0.0],
        time: Time { fps: 60.0, frames: 1 },
        bodies: vec![body],
        ..Scene::default()
    }
}

/// At rest: the distance to what the implicit solver finds falls by four as the step is halved, down to `least`.
fn rest_is_the_same(name: &str, scene: &Scene, frames: u32, steps: [f64; 3], least: f64) {
    let exact = places(scene, SolverKind::ImplicitEulerCholesky, None, frames);
    let moved = largest_distance(&exact, &simulation(scene, SolverKind::Xpbd, None).state().bodies[0].x);
    let off = steps.map(|dt| largest_distance(&places(scene, SolverKind::Xpbd, Some(dt), frames), &exact));
    println!("{name}: moved {moved} m, off by {off:?} m");
    assert!(off[2] < least, "{name}: {off:?} m of {moved} m");
    for (coarse, fine) in off.iter().zip(&off[1..]) {
        assert!(coarse / fine > 3.0 && coarse / fine < 5.0, "{name}: {off:?} m of {moved} m");
    }
}

#[test]
fn a_hanging_sheet_is_the_same() {
    // Held by two corners in its own plane, where there is one state of rest. Damping along springs carries no weight.
    let mut body = sheet(9, GridPlane::Xy);
    body.rayleigh = Some(Rayleigh { mass: 0.0, stiffness: Some(0.02) });
    body.pins = vec![
        Pin { name: "left".into(), select: Select::Vertices(vec![0]), ..Pin::default() },
        Pin { name: "right".into(), select: Select::Vertices(vec![8]), ..Pin::default() },
    ];
    rest_is_the_same("hanging", &scene(body, 9.81), 900, [1.0 / 360.0, 1.0 / 720.0, 1.0 / 1440.0], 1e-3);
}

#[test]
fn a_stretched_sheet_is_the_same() {
    // Drawn out by a fifth without weight: what is off can only be its waist.
    let key = |t: f64, x: f64| Key { t, translate: [x, 0.0, 0.0], ..Key::default() };
    let motion = Some(Motion { keys: vec![key(0.0, 0.0), key(0.5, 0.2)], ..Motion::default() });
    let mut body = sheet(9, GridPlane::Xz);
    body.rayleigh = Some(Rayleigh { mass: 8.0, stiffness: None });
    body.pins = vec![
        Pin { name: "left".into(), select: Select::Border(Border::U0), ..Pin::default() },
        Pin { name: "right".into(), select: Select::Border(Border::U1), motion, ..Pin::default() },
    ];
    rest_is_the_same("stretched", &scene(body, 0.0), 400, [1.0 / 360.0, 1.0 / 720.0, 1.0 / 1440.0], 1e-3);
}

#[test]
fn a_cantilever_is_the_same() {
    let (cells, length) = (10u32, 0.5);
    let cell = length / (f64::from(cells) + 0.5);
    let wall = Region { min: [-0.1, -1.0, -1.0], max: [1.2 * cell, 1.0, 1.0] };
    let body = Body {
        shape: Shape::Grid(Grid {
            size: [f64::from(cells + 1) * cell, 2.0 * cell],
            vertices: [cells + 2, 3],
            diagonals: Diagonals::Regular,
            ..Grid::default()
        }),
        bending: Some(0.02),
        springs: Springs {
            layout: Layout::Graph(1),
            // So soft that the solver does not make the substeps finer by itself.
            stretch: Family { modulus: Some(100.0), ..Family::default() },
            ..Springs::default()
        },
        // So that it comes to rest.
        rayleigh: Some(Rayleigh { mass: 0.5, stiffness: None }),
        pins: vec![Pin { name: "wall".into(), select: Select::Within(wall), ..Pin::default() }],
        ..sheet(3, GridPlane::Xz)
    };
    // Shorter ones are so close that the rounding of 32 bits shows.
    let steps = [1.0 / 750.0, 1.0 / 1500.0, 1.0 / 3000.0];
    rest_is_the_same("cantilever", &scene(body, 9.81), 2400, steps, 1e-3);
}

#[test]
fn a_swinging_sheet_moves_as_it_does_with_symplectic_euler() {
    let mut body = sheet(9, GridPlane::Xz);
    body.bending = Some(1e-4);
    body.springs.stretch = Family { modulus: Some(100.0), ..Family::default() };
    body.pins = vec![Pin { name: "edge".into(), select: Select::Border(Border::U0), ..Pin::default() }];
    let mut scene = scene(body, 9.81);
    // Short frames: velocities are differences of displacements since the frame began, in 32 bits.
    scene.time.fps = 500.0;
    let frames = 125;
    let exact = places(&scene, SolverKind::SymplecticEuler, Some(4e-6), frames);
    let off = [4e-4, 2e-4, 1e-4]
        .map(|dt| largest_distance(&places(&scene, SolverKind::Xpbd, Some(dt), frames), &exact));
    println!("swinging: {off:?} m");
    assert!(off[2] < 2e-4, "{off:?} m");
    for (coarse, fine) in off.iter().zip(&off[1..]) {
        assert!(coarse / fine > 1.6 && coarse / fine < 2.5, "{off:?} m");
    }
}
