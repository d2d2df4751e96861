//! Sheets that bend: cantilevers under their own weight and under a load at the tip, by the implicit solver and by the
//! real-time one.
//!
//! The wall is half-way between two columns of vertices that are held: there the strip is level.

use glam::DVec3;
use souple::Simulation;
use souple::scene::{
    Body, Diagonals, Family, Grid, Group, Layout, Pin, Placement, Pull, Rayleigh, Region, Scene, Select,
    Shape, SolverKind, Springs, Time,
};

use super::Case;
use super::integrators::simulate;

const G: f64 = 9.81;
/// Overhang, m.
const LENGTH: f64 = 0.5;
/// Mass per area, kg/m².
const DENSITY: f64 = 0.2;
/// Cells along the overhang, without the half at the wall.
const CELLS: u32 = 20;
/// Cells across.
const ACROSS: u32 = 4;

/// A strip held level at a wall at x = 0, of bending rigidity `rigidity`, N·m, that bends under gravity or under a force
/// at its tip, N, until it rests.
fn strip(solver: SolverKind, dt: Option<f64>, rigidity: f64, tip_force: Option<f64>) -> Simulation {
    let cell = LENGTH / (f64::from(CELLS) + 0.5);
    let columns = CELLS + 2;
    let near = |x: f64| Region { min: [x - 0.4 * cell, -1.0, -1.0], max: [x + 0.4 * cell, 1.0, 1.0] };
    let wall = Region { max: near(0.5 * cell).max, ..near(-0.5 * cell) };
    let pulls = tip_force.map(|force| Pull {
        select: Select::Within(near(LENGTH)),
        force: [0.0, -force, 0.0],
        ..Pull::default()
    });
    let body = Body {
        name: "strip".into(),
        shape: Shape::Grid(Grid {
            size: [f64::from(columns - 1) * cell, f64::from(ACROSS) * cell],
            vertices: [columns, ACROSS + 1],
            diagonals: Diagonals::Regular,
            ..Grid::default()
        }),
        placement: Placement { translate: [-0.5 * cell, 0.0, 0.0], ..Placement::default() },
        density: Some(DENSITY),
        bending: Some(rigidity),
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(2e4), ..Family::default() },
            ..Springs::default()
        },
        rayleigh: Some(Rayleigh { mass: 4.0, stiffness: None }),
        pins: vec![Pin { name: "wall".into(), select: Select::Within(wall), motion: None }],
        pulls: pulls.into_iter().collect(),
        ..Body::default()
    };
    let mut s = simulate(Scene {
        gravity: if tip_force.is_some() { [0.0; 3] } else { [0.0, -G, 0.0] },
        time: Time { fps: 60.0, frames: 1 },
        groups: vec![Group { solver, dt, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    });
    for _ in 0..480 {
        s.step();
    }
    s
}

/// Where the tip is, from the wall.
fn tip(s: &Simulation) -> DVec3 {
    let x = &s.state().bodies[0].x;
    let columns = (CELLS + 2) as usize;
    let ends: Vec<DVec3> = x.iter().copied().skip(columns - 1).step_by(columns).collect();
    ends.iter().sum::<DVec3>() / ends.len() as f64
}

/// Drop over reach of a cantilever under its own weight, Γ = ρ g L³ / B; and the overhang of ASTM D1388.
pub(super) fn cantilever() -> Vec<Case> {
    let slope = |solver, dt, gamma: f64| {
        let end = tip(&strip(solver, dt, DENSITY * G * LENGTH * LENGTH * LENGTH / gamma, None));
        -end.y / end.x
    };
    let mut cases: Vec<Case> = [(1.0, 0.12456), (10.0, 1.06680), (100.0, 5.8881)]
        .into_iter()
        .map(|(gamma, expected)| {
            let measured = slope(SolverKind::ImplicitEulerCholesky, None, gamma);
            // 20 cells; at Γ = 100 the strip turns by a right angle within five of them.
            let share = if gamma > 50.0 { 0.02 } else { 0.005 };
            let name = format!("bending/cantilever/gamma={gamma}");
            Case::relative(name, "drop over reach at Γ", expected, measured, share)
        })
        .collect();
    let degrees = souple::math::atan(slope(SolverKind::ImplicitEulerCholesky, None, 8.004)).to_degrees();
    cases.push(Case::new(
        "bending/cantilever/astm-d1388",
        "chord at 41.5° where Γ = 8.004",
        41.5,
        degrees,
        0.2,
    ));
    // One visit per substep adds k h²/m to the softness of a patch: 4 % of the stiffest modes at 1/12000 s, less of the droop.
    let measured = slope(SolverKind::Xpbd, Some(1.0 / 12_000.0), 10.0);
    cases.push(Case::relative(
        "bending/cantilever/xpbd/gamma=10",
        "drop over reach at Γ",
        1.06680,
        measured,
        0.02,
    ));
    cases
}

/// Elastica with a load at its tip, α = P L²/(B b): drop w/L and shortening u/L.
pub(super) fn elastica() -> Vec<Case> {
    let rigidity = 0.01;
    let width = LENGTH / (f64::from(CELLS) + 0.5) * f64::from(ACROSS);
    [(1.0, 0.30172, 0.05643), (5.0, 0.71379, 0.38763)]
        .into_iter()
        .flat_map(|(alpha, drop, shortening)| {
            let force = alpha * rigidity * width / (LENGTH * LENGTH);
            let end = tip(&strip(SolverKind::ImplicitEulerCholesky, None, rigidity, Some(force)));
            let name = |what: &str| format!("bending/elastica/{what}/alpha={alpha}");
            [
                Case::relative(name("drop"), "w/L of the elastica", drop, -end.y / LENGTH, 0.01),
                Case::relative(
                    name("shortening"),
                    "u/L of the elastica",
                    shortening,
                    1.0 - end.x / LENGTH,
                    0.02,
                ),
            ]
        })
        .collect()
}
