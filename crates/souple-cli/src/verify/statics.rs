//! Bodies at rest: chains, the catenary, a hanging strip, and a panel that falls at its terminal speed.
//!
//! **Tolerance of the real-time solver.** One visit per substep is a spring in series with each link: its elongation under a
//! force f is f/k + h² (w_i + w_j) f, less what links that are visited later in the same substep give back. So it is too
//! long by a share of at most k h² (w_i + w_j), the largest of which is [`softening`]. Dissipation α is taken off before
//! constraints act, and with it a share of α h of the weight. Rest lengths are rounded to 32 bits, by at most 2⁻²⁴ of them.

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

/// A scene of one body, solved with small steps of the real-time solver for so many seconds; it has dissipation enough
/// to come to rest.
fn at_rest_in_small_steps(body: Body, dt: f64, dissipation: f64, seconds: u32) -> Simulation {
    let rayleigh = Some(Rayleigh { mass: dissipation, stiffness: Some(0.0) });
    let mut s = simulate(Scene {
        time: Time { fps: 60.0, frames: 1 },
        groups: vec![Group { solver: SolverKind::Xpbd, dt: Some(dt), ..Group::default() }],
        bodies: vec![Body { rayleigh, ..body }],
        ..Scene::default()
    });
    for _ in 0..60 * seconds {
        s.step();
    }
    s
}

/// By how much the real-time solver makes a body too soft, as a share; see the top of this file.
fn softening(s: &Simulation, dt: f64) -> f64 {
    let body = &s.state().bodies[0];
    let mut inverse_masses: Vec<f64> = body.topology.masses.iter().map(|m| 1.0 / m).collect();
    body.pinned.iter().for_each(|p| inverse_masses[p.vertex as usize] = 0.0);
    let w = |v: u32| inverse_masses[v as usize];
    body.topology.springs.iter().map(|s| s.stiffness * dt * dt * (w(s.i) + w(s.j))).fold(0.0, f64::max)
}

/// 2⁻²⁴.
const ROUNDING: f64 = 0.5 * f32::EPSILON as f64;

/// N equal masses on N equal springs: total extension (m g/k) N (N + 1)/2.
pub(super) fn chain_of_springs() -> Vec<Case> {
    let m = 0.1;
    let length = |n: u32| f64::from(n) * 0.1;
    let chain = |n: u32, k: f64| Body {
        name: "chain".into(),
        shape: Shape::Rope(Rope {
            length: length(n),
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
    let extension = |s: &Simulation, n: u32| -s.state().bodies[0].x[n as usize].y - length(n);
    let formula = "(m g/k) N (N + 1)/2";
    // The slowest mode of 20 has 5.4 rad/s.
    let dissipation = 10.0;
    let mut cases = Vec::new();
    for n in [1u32, 5, 20] {
        let k = 500.0;
        let expected = m * G / k * f64::from(n * (n + 1)) / 2.0;
        // The springs are linear and hang straight: only the decay towards rest and rounding are left.
        let measured = extension(&at_rest(chain(n, k), 0.5, 200), n);
        cases.push(Case::relative(format!("chains/springs/N={n}"), formula, expected, measured, 1e-9));
        let dt = 1.0 / 12_000.0;
        let s = at_rest_in_small_steps(chain(n, k), dt, dissipation, 6);
        let share = softening(&s, dt) + dissipation * dt + ROUNDING * length(n) / expected;
        let name = format!("chains/springs/xpbd/N={n}");
        cases.push(Case::relative(name, formula, expected, extension(&s, n), share));
    }
    // Dissipation must carry no weight: a soft spring, and the step that scenes have unless they say otherwise.
    let (k, dt) = (10.0, 1.0 / 720.0);
    let s = at_rest_in_small_steps(chain(1, k), dt, dissipation, 6);
    let expected = m * G / k;
    let share = softening(&s, dt) + ROUNDING * length(1) / expected;
    let name = "chains/springs/xpbd/weight under dissipation";
    cases.push(Case::relative(name, "m g/k", expected, extension(&s, 1), share));
    cases
}

/// A chain of length L hung over a span d: y = a cosh(x/a) with 2a sinh(d/2a) = L; sag a cosh(d/2a) − a; end tension
/// w (a + sag).
pub(super) fn catenary() -> Vec<Case> {
    let (length, span, density) = (2.0, 1.2, 0.5);
    // Solve 2a sinh(d/2a) = L by bisection.
    let (mut low, mut high) = (0.05, 10.0);
    for _ in 0..200 {
        let a = 0.5 * (low + high);
        if 2.0 * a * f64::sinh(span / (2.0 * a)) > length { low = a } else { high = a }
    }
    let a = 0.5 * (low + high);
    let sag = a * f64::cosh(span / (2.0 * a)) - a;
    let tension = density * G * (a + sag);

    let chain = |segments: u32, ea: f64| {
        let move_in = Motion {
            keys: vec![
                Key::default(),
                Key { t: 1.0, translate: [span - length, 0.0, 0.0], rotate_deg: [0.0; 3] },
            ],
            ..Motion::default()
        };
        Body {
            name: "chain".into(),
            shape: Shape::Rope(Rope {
                length,
                vertices: segments + 1,
                direction: [1.0, 0.0, 0.0],
                mass_at: RopeMass::Segments,
            }),
            density: Some(density),
            springs: Springs {
                stretch: Family { modulus: Some(ea), ..Family::default() },
                ..Springs::default()
            },
            rayleigh: Some(Rayleigh { mass: 4.0, stiffness: Some(0.0) }),
            pins: vec![
                Pin { name: "left".into(), select: Select::Vertices(vec![0]), ..Pin::default() },
                Pin {
                    name: "right".into(),
                    select: Select::Vertices(vec![segments]),
                    motion: Some(move_in),
                    ..Pin::default()
                },
            ],
            ..Body::default()
        }
    };
    let cases = |under: &str, s: &Simulation, segments: u32, ea: f64, soft: f64| {
        let state = &s.state().bodies[0];
        let lowest = state.x.iter().fold(0.0f64, |low, x| low.min(x.y));
        // What the left support carries: the pull of its spring and the weight of its half segment.
        let spring = &state.topology.springs[0];
        let pull = spring_force(state.x[0], state.x[1], DVec3::ZERO, DVec3::ZERO, spring);
        let carried = (pull - DVec3::Y * (state.topology.masses[0] * G)).length();
        // A polygon of n segments differs from its curve by (span/n)² κ²/8 or so with κ = 1/a; the chain stretches by T/EA.
        let share = (length / f64::from(segments) / a).powi(2) + 2.0 * tension / ea;
        let name = |what: &str| format!("chains/catenary/{under}{what}");
        let formula = "a cosh(d/2a) − a, 2a sinh(d/2a) = L";
        // The sag feels how long the chain is, the tension in a spring how soft.
        [
            Case::relative(name("sag"), formula, sag, -lowest, share + soft * tension / ea),
            Case::relative(name("end tension"), "w a cosh(d/2a)", tension, carried, share + soft),
        ]
    };
    let mut all = Vec::new();
    let (segments, ea) = (200, 5e5);
    all.extend(cases("", &at_rest(chain(segments, ea), 1.0 / 60.0, 900), segments, ea, 0.0));
    // Fewer segments of a softer chain, or the steps that its springs need would be too small.
    let (segments, ea, dt) = (50, 5e3, 1.0 / 24_000.0);
    let s = at_rest_in_small_steps(chain(segments, ea), dt, 4.0, 9);
    all.extend(cases("xpbd/", &s, segments, ea, softening(&s, dt) + 4.0 * dt));
    all
}

/// A strip hung by its upper edge stretches by ρ g L²/(2E) at small strain; with lumped masses this is exact.
pub(super) fn hanging_strip() -> Vec<Case> {
    let (length, young, thickness, density) = (1.0, 1e6, 1e-3, 0.4);
    // ρ is mass per volume: density/thickness.
    let expected = density / thickness * G * length * length / (2.0 * young);
    let strip = |vertices: [u32; 2]| Body {
        name: "strip".into(),
        shape: Shape::Grid(Grid { size: [0.2, length], vertices, plane: GridPlane::Xy, ..Grid::default() }),
        density: Some(density),
        young_modulus: Some(young),
        thickness: Some(thickness),
        pins: vec![Pin { select: Select::Border(Border::V0), ..Pin::default() }],
        ..Body::default()
    };
    let extension = |s: &Simulation| -s.measures().lowest - length;
    let mut cases = Vec::new();
    for vertices in [[3u32, 11u32], [5, 41], [9, 81]] {
        let s = at_rest(strip(vertices), 0.5, 300);
        let name = format!("strips/hanging/{}x{}", vertices[0], vertices[1]);
        cases.push(Case::relative(name, "ρ g L²/(2E)", expected, extension(&s), 1e-7));
    }
    // The slowest mode has (π/2L) √(E/ρ) = 79 rad/s.
    for (vertices, dt) in [([3u32, 11u32], 1.0 / 60_000.0), ([5, 41], 1.0 / 120_000.0)] {
        let s = at_rest_in_small_steps(strip(vertices), dt, 120.0, 1);
        let share = softening(&s, dt) + 120.0 * dt + ROUNDING * length / expected;
        let name = format!("strips/hanging/xpbd/{}x{}", vertices[0], vertices[1]);
        cases.push(Case::relative(name, "ρ g L²/(2E)", expected, extension(&s), share));
    }
    cases
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
