//! Bodies at rest: chains, the catenary, a hanging strip, and a panel that falls at its terminal speed.

use glam::DVec3;
use souple::Simulation;
use souple::energy::spring_force;
use souple::scene::{
    Air, Body, Border, Family, Grid, GridPlane, Group, Key, Motion, Pin, Rayleigh, Rope, RopeMass, Scene,
    Select, Shape, SolverKind, Springs, Time, Wind,
};

use super::Case;
use super::integrators::{exact, simulate};

const G: f64 = 9.81;

/// A scene of one body, solved with long implicit steps, which find the state of rest.
fn at_rest(body: Body, h: f64, steps: u32) -> Simulation {
    let mut s = simulate(Scene {
        time: Time { fps: 1.0 / h, frames: steps },
        groups: vec![Group { solver: SolverKind::ImplicitEulerCholesky, cg: exact(), ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    });
    for _ in 0..steps {
        s.step();
    }
    s
}

/// N equal masses on N equal springs: total extension (m g/k) N (N + 1)/2.
pub(super) fn chain_of_springs() -> Vec<Case> {
    [1u32, 5, 20]
        .into_iter()
        .map(|n| {
            let (k, m) = (500.0, 0.1);
            let body = Body {
                name: "chain".into(),
                shape: Shape::Rope(Rope {
                    length: f64::from(n) * 0.1,
                    vertices: n + 1,
                    direction: [0.0, -1.0, 0.0],
                    mass_at: RopeMass::Beads,
                }),
                mass: Some(m * f64::from(n)),
                springs: Springs {
                    stretch: Family { stiffness: Some(k), ..Family::default() },
                    ..Springs::default()
                },
                pins: vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }],
                ..Body::default()
            };
            let s = at_rest(body, 0.5, 200);
            let extension = -s.state().bodies[0].x[n as usize].y - f64::from(n) * 0.1;
            let expected = m * G / k * f64::from(n * (n + 1)) / 2.0;
            // The springs are linear and hang straight: only the decay towards rest and rounding are left.
            Case::relative(format!("chains/springs/N={n}"), "(m g/k) N (N + 1)/2", expected, extension, 1e-9)
        })
        .collect()
}

/// A chain of length L hung over a span d: y = a cosh(x/a) with 2a sinh(d/2a) = L; sag a cosh(d/2a) − a; end tension
/// w (a + sag).
pub(super) fn catenary() -> Vec<Case> {
    let (length, span, density, segments, ea) = (2.0, 1.2, 0.5, 200u32, 5e5);
    let move_in = Motion {
        keys: vec![
            Key::default(),
            Key { t: 1.0, translate: [span - length, 0.0, 0.0], rotate_deg: [0.0; 3] },
        ],
        ..Motion::default()
    };
    let body = Body {
        name: "chain".into(),
        shape: Shape::Rope(Rope {
            length,
            vertices: segments + 1,
            direction: [1.0, 0.0, 0.0],
            mass_at: RopeMass::Segments,
        }),
        density: Some(density),
        springs: Springs { stretch: Family { modulus: Some(ea), ..Family::default() }, ..Springs::default() },
        rayleigh: Some(Rayleigh { mass: 4.0, stiffness: Some(0.0) }),
        pins: vec![
            Pin { name: "left".into(), select: Select::Vertices(vec![0]), motion: None },
            Pin { name: "right".into(), select: Select::Vertices(vec![segments]), motion: Some(move_in) },
        ],
        ..Body::default()
    };
    let s = at_rest(body, 1.0 / 60.0, 900);
    let state = &s.state().bodies[0];

    // Solve 2a sinh(d/2a) = L by bisection.
    let (mut low, mut high) = (0.05, 10.0);
    for _ in 0..200 {
        let a = 0.5 * (low + high);
        if 2.0 * a * f64::sinh(span / (2.0 * a)) > length { low = a } else { high = a }
    }
    let a = 0.5 * (low + high);
    let sag = a * f64::cosh(span / (2.0 * a)) - a;
    let tension = density * G * (a + sag);
    let lowest = state.x.iter().fold(0.0f64, |low, x| low.min(x.y));
    // What the left support carries: the pull of its spring and the weight of its half segment.
    let spring = &state.topology.springs[0];
    let pull = spring_force(state.x[0], state.x[1], DVec3::ZERO, DVec3::ZERO, spring);
    let carried = (pull - DVec3::Y * (state.topology.masses[0] * G)).length();
    // A polygon of n segments differs from its curve by (span/n)² κ²/8 or so with κ = 1/a; the chain stretches by T/EA.
    let share = (length / f64::from(segments) / a).powi(2) + 2.0 * tension / ea;
    vec![
        Case::relative("chains/catenary/sag", "a cosh(d/2a) − a, 2a sinh(d/2a) = L", sag, -lowest, share),
        Case::relative("chains/catenary/end tension", "w a cosh(d/2a)", tension, carried, share),
    ]
}

/// A strip hung by its upper edge stretches by ρ g L²/(2E) at small strain; with lumped masses this is exact.
pub(super) fn hanging_strip() -> Vec<Case> {
    let (length, young, thickness, density) = (1.0, 1e6, 1e-3, 0.4);
    [[3u32, 11u32], [5, 41], [9, 81]]
        .into_iter()
        .map(|vertices| {
            let body = Body {
                name: "strip".into(),
                shape: Shape::Grid(Grid {
                    size: [0.2, length],
                    vertices,
                    plane: GridPlane::Xy,
                    ..Grid::default()
                }),
                density: Some(density),
                young_modulus: Some(young),
                thickness: Some(thickness),
                pins: vec![Pin { select: Select::Border(Border::V0), ..Pin::default() }],
                ..Body::default()
            };
            let s = at_rest(body, 0.5, 300);
            let extension = -s.measures().lowest - length;
            // ρ is mass per volume: density/thickness.
            let expected = density / thickness * G * length * length / (2.0 * young);
            let name = format!("strips/hanging/{}x{}", vertices[0], vertices[1]);
            Case::relative(name, "ρ g L²/(2E)", expected, extension, 1e-7)
        })
        .collect()
}

/// A flat panel that falls flat reaches √(2 m g/(ρ C_d A)).
pub(super) fn terminal_speed() -> Vec<Case> {
    [SolverKind::Rk4, SolverKind::SymplecticEuler, SolverKind::ImplicitEulerCg]
        .into_iter()
        .map(|solver| {
            let (drag, density, air) = (1.28, 0.3, 1.225);
            let body = Body {
                name: "panel".into(),
                shape: Shape::Grid(Grid { size: [0.8, 0.5], vertices: [9, 6], ..Grid::default() }),
                density: Some(density),
                springs: Springs {
                    stretch: Family { stiffness: Some(100.0), ..Family::default() },
                    ..Springs::default()
                },
                air: Some(Air { drag, lift: 0.0, viscous: 0.0 }),
                ..Body::default()
            };
            let mut s = simulate(Scene {
                time: Time { fps: 500.0, frames: 1 },
                groups: vec![Group { solver, cg: exact(), ..Group::default() }],
                wind: Some(Wind { air_density: air, ..Wind::default() }),
                bodies: vec![body],
                ..Scene::default()
            });
            for _ in 0..5000 {
                s.step();
            }
            let speed = s.measures().momentum.length() / s.measures().mass;
            // m g = ½ ρ C_d A v² with m/A = density. At a constant speed no integrator errs: what is left is the decay
            // towards it, e^(−2 g t/v), and rounding.
            let expected = f64::sqrt(2.0 * density * G / (air * drag));
            let name = format!("wind/terminal/{}", souple::solver::solver_name(solver));
            Case::relative(name, "√(2 m g/(ρ C_d A))", expected, speed, 1e-9)
        })
        .collect()
}
