//! The hanging strip of the elastic-surface seed (SIM-24…26, its scenes SC-4 and SC-5): 2 × 21 particles of equal mass, 0.1 m
//! apart, held by the upper two, links that cannot stretch, 1/60 s, one visit per step, no drag.
//!
//! There a visit ordered from the held end to the free one, which does not move a particle again, makes the strip as long
//! as it is at rest; without that it is about 20 % longer. The real-time solver visits links in colours of eight and keeps
//! momentum, so order and tags are none of its options: what carries a pull along the strip are levels and attachments. With
//! them it must be as long as at rest, without them as long as one visit per step makes it. The solver `goals` is that of the thesis, with its order
//! by rest distance.
//!
//! **How long that is.** At rest each step moves a vertex by g h² and the visit moves it back. A link of force f is longer
//! by h² (w_i + w_j) f, less h² w f′ for neighbours that are visited later. Along a chain of n equal masses, f = m g n …
//! m g, and any order gives Σ f h²/m = g h² n (n + 1)/2 up to the first and the last few, at most g h² n.

use souple::Simulation;
use souple::scene::{
    Body, Family, GoalOrder, Goals, Grid, GridPlane, Group, Key, Motion, Pin, Scene, Select, Shape,
    SolverKind, Springs, Time, Xpbd,
};

use super::Case;
use super::integrators::simulate;

const G: f64 = 9.81;
/// Cells along the strip.
const CELLS: u32 = 20;
/// Their side, m.
const CELL: f64 = 0.1;
/// One step, s.
const STEP: f64 = 1.0 / 60.0;

/// The strip by the real-time solver; `accelerated` moves its supports sideways with 30 m/s².
fn hung(dt: f64, diagonals: bool, help: bool, accelerated: bool) -> Simulation {
    let xpbd = Xpbd { levels: help, attachments: help };
    let group = Group { solver: SolverKind::Xpbd, dt: Some(dt), xpbd, ..Group::default() };
    hung_by(group, diagonals, accelerated)
}

/// The strip by goals, one visit per step.
fn by_goals(order: GoalOrder, attenuation: f64, diagonals: bool, accelerated: bool) -> Simulation {
    let goals = Goals { order, attenuation };
    hung_by(Group { solver: SolverKind::Goals, goals, ..Group::default() }, diagonals, accelerated)
}

fn hung_by(group: Group, diagonals: bool, accelerated: bool) -> Simulation {
    let key = |k: u32| {
        let t = f64::from(k) * STEP;
        Key { t, translate: [15.0 * t * t, 0.0, 0.0], ..Key::default() }
    };
    let motion = accelerated.then(|| Motion { keys: (0..=60).map(key).collect(), ..Motion::default() });
    // By goals rigid is what a number cannot tell from 1.
    let stiffness = if group.solver == SolverKind::Goals { 1e30 } else { 1e9 };
    let rigid = Family { stiffness: Some(stiffness), ..Family::default() };
    let body = Body {
        name: "strip".into(),
        shape: Shape::Grid(Grid {
            size: [CELL, f64::from(CELLS) * CELL],
            vertices: [2, CELLS + 1],
            plane: GridPlane::Xy,
            ..Grid::default()
        }),
        density: Some(0.2),
        springs: Springs {
            stretch: rigid,
            shear: if diagonals { rigid } else { Family::default() },
            ..Springs::default()
        },
        pins: vec![Pin { select: Select::Vertices(vec![0, 1]), motion, ..Pin::default() }],
        ..Body::default()
    };
    simulate(Scene {
        time: Time { fps: 1.0 / STEP, frames: 1 },
        groups: vec![group],
        bodies: vec![body],
        ..Scene::default()
    })
}

/// By how much the columns are longer than at rest, as a share, after so many frames.
fn stretch(mut s: Simulation, frames: u32) -> f64 {
    for _ in 0..frames {
        s.step();
    }
    let x = &s.state().bodies[0].x;
    let length: f64 = (2..x.len()).map(|v| x[v].distance(x[v - 2])).sum();
    length / (2.0 * f64::from(CELLS) * CELL) - 1.0
}

/// Stretch of the strip at rest and in motion, with and without what takes the place of ordering.
pub(super) fn strip() -> Vec<Case> {
    let settled = |dt, diagonals, help| stretch(hung(dt, diagonals, help, false), 1200);
    let length = f64::from(CELLS) * CELL;
    let visit = G * STEP * STEP / length;
    let n = f64::from(CELLS);
    let name = |what: &str| format!("strips/ordering/{what}");
    let short = STEP / 12.0;
    vec![
        Case::new(
            name("one visit, without help"),
            "g h² n (n + 1)/2 over the length",
            visit * n * (n + 1.0) / 2.0,
            settled(STEP, false, false),
            visit * n,
        ),
        Case::new(name("one visit"), "does not stretch", 0.0, settled(STEP, false, true), 1e-3),
        Case::new(name("one visit, diagonals"), "does not stretch", 0.0, settled(STEP, true, true), 1e-3),
        Case::new(name("12 visits"), "does not stretch", 0.0, settled(short, false, true), 1e-3),
        Case::new(name("12 visits, diagonals"), "does not stretch", 0.0, settled(short, true, true), 1e-3),
        Case::new(
            name("12 visits, diagonals, 30 m/s²"),
            "+1 % with ordering",
            0.0,
            stretch(hung(short, true, true, true), 60),
            0.01,
        ),
        Case::new(
            name("goals, without order"),
            "g h² n (n + 1)/2 over the length",
            visit * n * (n + 1.0) / 2.0,
            stretch(by_goals(GoalOrder::Never, 0.1, false, false), 1200),
            visit * n,
        ),
        Case::new(
            name("goals"),
            "does not stretch",
            0.0,
            stretch(by_goals(GoalOrder::Automatic, 0.1, false, false), 1200),
            1e-14,
        ),
        Case::new(
            name("goals, diagonals"),
            "does not stretch",
            0.0,
            stretch(by_goals(GoalOrder::Automatic, 0.1, true, false), 1200),
            1e-14,
        ),
        Case::new(
            name("goals, diagonals, γ = 0, 30 m/s²"),
            "+1 % with ordering",
            0.0,
            stretch(by_goals(GoalOrder::Automatic, 0.0, true, true), 60),
            0.01,
        ),
        Case::new(
            name("goals, γ = 0.1, 30 m/s²"),
            "+1 % with ordering",
            0.0,
            stretch(by_goals(GoalOrder::Automatic, 0.1, false, true), 60),
            0.01,
        ),
        Case::new(
            name("goals, diagonals, γ = 0.1, 30 m/s²"),
            "+1 % with ordering",
            0.0,
            stretch(by_goals(GoalOrder::Automatic, 0.1, true, true), 60),
            0.01,
        ),
    ]
}
