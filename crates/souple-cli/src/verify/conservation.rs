//! What a free body keeps: momenta and energy.

use glam::DVec3;
use souple::Simulation;
use souple::math::uniform;
use souple::scene::{
    Body, Family, Grid, Group, Placement, Pull, Scene, Select, Shape, SolverKind, Springs, Tear, Time,
};
use souple::solver::{ALL_SOLVERS, solver_name};

use super::Case;
use super::integrators::{exact, simulate};

/// A free cloth without gravity, pushed, spun and shaken.
fn free_cloth(solver: SolverKind, h: f64, damping: f64) -> Simulation {
    let body = Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid { size: [0.6, 0.5], vertices: [13, 11], ..Grid::default() }),
        density: Some(0.2),
        springs: Springs {
            stretch: Family { stiffness: Some(150.0), damping: Some(damping), ..Family::default() },
            shear: Family { stiffness: Some(40.0), ..Family::default() },
            bend: Family { stiffness: Some(4.0), ..Family::default() },
            ..Springs::default()
        },
        ..Body::default()
    };
    let mut s = simulate(Scene {
        gravity: [0.0; 3],
        time: Time { fps: 1.0 / h, frames: 1 },
        groups: vec![Group { solver, cg: exact(), ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    });
    let body = &mut s.state_mut().bodies[0];
    for (i, (x, v)) in body.x.iter_mut().zip(&mut body.v).enumerate() {
        let r = |k: u64| 2.0 * uniform(17, 6 * i as u64 + k) - 1.0;
        *v = DVec3::new(0.4, -0.1, 0.2)
            + DVec3::new(0.5, 3.0, 1.0).cross(*x)
            + DVec3::new(r(0), r(1), r(2)) * 0.1;
        *x += DVec3::new(r(3), r(4), r(5)) * 0.005;
    }
    s
}

/// Linear momentum: every solver. Angular momentum: those whose positions move along their velocities, with central
/// forces: symplectic Euler, Verlet, and the filter with its torque correction.
pub(super) fn momentum() -> Vec<Case> {
    let mut cases = Vec::new();
    // Short steps, or explicit Euler would not live to be measured.
    let h = 1.0 / 20_000.0;
    for solver in ALL_SOLVERS {
        let mut s = free_cloth(solver, h, 0.01);
        let before = s.measures();
        for _ in 0..1000 {
            s.step();
        }
        let after = s.measures();
        let drift = (after.momentum - before.momentum).length() / before.momentum.length();
        let name = solver_name(solver);
        // Rounding of a thousand steps, each of about 1e-16 of sums a hundred times larger than their result. The real-time
        // solver rounds to 32 bits, by 6e-8 a step.
        let tolerance = if solver == SolverKind::Xpbd { 1000.0 * 6e-8 } else { 1e-10 };
        cases.push(Case::new(format!("momentum/linear/{name}"), "Σ m v is constant", 0.0, drift, tolerance));
        if matches!(solver, SolverKind::SymplecticEuler | SolverKind::Verlet | SolverKind::ImplicitFilter) {
            let drift = (after.angular_momentum - before.angular_momentum).length()
                / before.angular_momentum.length();
            cases.push(Case::new(
                format!("momentum/angular/{name}"),
                "Σ x × m v is constant",
                0.0,
                drift,
                1e-10,
            ));
        }
    }
    cases.extend(default_settings());
    cases.extend(tearing_cloth());
    cases
}

/// What a user gets without touching a solver setting, at 60 frames per second: a tilted sheet of cotton falls like a
/// stone, and one pulled at a single vertex gains F t of momentum.
fn default_settings() -> Vec<Case> {
    let sheet = |gravity: f64, pulls: Vec<Pull>| {
        let body = Body {
            name: "sheet".into(),
            shape: Shape::Grid(Grid { size: [1.0, 1.0], vertices: [60, 60], ..Grid::default() }),
            placement: Placement { rotate_deg: [20.0, 0.0, 30.0], ..Placement::default() },
            fabric: Some("cotton".into()),
            pulls,
            ..Body::default()
        };
        simulate(Scene { gravity: [0.0, -gravity, 0.0], bodies: vec![body], ..Scene::default() })
    };
    let (g, steps, h) = (9.81, 20, 1.0 / 60.0);
    let mut s = sheet(g, Vec::new());
    let start = s.measures().centre.y;
    for _ in 0..steps {
        s.step();
    }
    let fallen = start - s.measures().centre.y;
    // Backward Euler falls g h² n (n + 1)/2 in n steps.
    let expected = g * h * h * f64::from(steps * (steps + 1)) / 2.0;
    let mut pulled = sheet(
        0.0,
        vec![Pull { select: Select::Vertices(vec![0]), force: [0.02, 0.05, -0.03], ..Pull::default() }],
    );
    for _ in 0..30 {
        pulled.step();
    }
    let error = (pulled.measures().momentum - DVec3::new(0.02, 0.05, -0.03) * (30.0 * h)).length() / 0.031;
    vec![
        Case::relative("momentum/default settings/free fall", "g h² n (n + 1)/2", expected, fallen, 1e-9),
        Case::new("momentum/default settings/pulled vertex", "|p − F t|/(F t)", 0.0, error, 1e-9),
    ]
}

/// A free cloth whose halves fly apart until it tears: mass and both momenta stay.
fn tearing_cloth() -> Vec<Case> {
    let body = Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid { size: [0.6, 0.5], vertices: [13, 11], ..Grid::default() }),
        density: Some(0.2),
        springs: Springs {
            stretch: Family { stiffness: Some(150.0), damping: Some(0.05), ..Family::default() },
            shear: Family { stiffness: Some(40.0), ..Family::default() },
            bend: Family { stiffness: Some(4.0), ..Family::default() },
            ..Springs::default()
        },
        tear: Some(Tear { length_ratio: Some(1.3), ..Tear::default() }),
        ..Body::default()
    };
    let mut s = simulate(Scene {
        gravity: [0.0; 3],
        time: Time { fps: 2000.0, frames: 1 },
        groups: vec![Group { solver: SolverKind::SymplecticEuler, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    });
    let body = &mut s.state_mut().bodies[0];
    for (x, v) in body.x.iter().zip(&mut body.v) {
        *v = DVec3::X * if x.x < 0.29 { -12.0 } else { 12.0 } + DVec3::Z * x.x;
    }
    let before = s.measures();
    for _ in 0..1000 {
        s.step();
    }
    let after = s.measures();
    let size: f64 = 0.2 * 0.3 * 12.0;
    let torn = f64::from(u8::from(s.state().bodies[0].topology.version > 0));
    vec![
        Case::new("momentum/tear/torn", "it does tear", 1.0, torn, 0.0),
        Case::new(
            "momentum/tear/mass",
            "Σ m is constant",
            0.0,
            (after.mass - before.mass).abs() / before.mass,
            1e-12,
        ),
        Case::new(
            "momentum/tear/linear",
            "Σ m v is constant",
            0.0,
            (after.momentum - before.momentum).length() / size,
            1e-10,
        ),
        Case::new(
            "momentum/tear/angular",
            "Σ x × m v is constant",
            0.0,
            (after.angular_momentum - before.angular_momentum).length() / size,
            1e-10,
        ),
    ]
}

/// Without damping, Verlet keeps the energy to second order and does not drift; backward Euler only loses it.
pub(super) fn energy() -> Vec<Case> {
    let worst = |h: f64| {
        let mut s = free_cloth(SolverKind::Verlet, h, 0.0);
        let start = s.measures().total_energy();
        let mut worst = 0.0f64;
        for _ in 0..(2.0 / h) as u32 {
            s.step();
            worst = worst.max((s.measures().total_energy() / start - 1.0).abs());
        }
        worst
    };
    let (coarse, fine) = (worst(1.0 / 2000.0), worst(1.0 / 4000.0));
    let mut gain = 0.0f64;
    let mut s = free_cloth(SolverKind::ImplicitEulerCg, 1.0 / 60.0, 0.0);
    let mut before = s.measures().total_energy();
    for _ in 0..120 {
        s.step();
        let now = s.measures().total_energy();
        gain = gain.max(now / before - 1.0);
        before = now;
    }
    vec![
        // Error h² times a constant: halving the step divides the largest deviation by four.
        Case::new(
            "energy/verlet order",
            "log₂ of the ratio of deviations is 2",
            2.0,
            (coarse / fine).log2(),
            0.2,
        ),
        Case::new("energy/backward Euler gains nothing", "E(t + h) ≤ E(t)", 0.0, gain.max(0.0), 1e-12),
    ]
}
