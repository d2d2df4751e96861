//! Closed bodies: a membrane under pressure, with and without area stiffness, a bag that keeps its volume, the work that a pressure does.

use souple::Simulation;
use souple::mesh::triangle_area;
use souple::scene::{
    Ball, Body, Collider, ColliderShape, Family, Group, Inside, Layout, Placement, PlaneShape, Rayleigh,
    Scene, Shape, SolverKind, Springs, Time,
};

use super::Case;
use super::integrators::{exact, simulate};

const RADIUS: f64 = 0.2;
/// Mass per area, kg/m².
const DENSITY: f64 = 0.3;

/// A hollow ball of springs along its edges, of modulus `modulus`, N/m.
fn ball(subdivisions: u32, modulus: f64, inside: Inside) -> Body {
    Body {
        name: "ball".into(),
        shape: Shape::Ball(Ball { radius: RADIUS, subdivisions }),
        density: Some(DENSITY),
        inside: Some(inside),
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(modulus), ..Family::default() },
            ..Springs::default()
        },
        ..Body::default()
    }
}

fn run(body: Body, solver: SolverKind, dt: Option<f64>, fps: f64, frames: u32) -> Simulation {
    let mut s = simulate(Scene {
        gravity: [0.0; 3],
        time: Time { fps, frames },
        groups: vec![Group { solver, dt, cg: exact(), ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    });
    for _ in 0..frames {
        s.step();
    }
    s
}

/// Volume and area at rest.
fn at_rest(s: &Simulation) -> (f64, f64) {
    let model = &s.model().bodies[0];
    let x = &model.topology.rest_positions;
    let area = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| x[v as usize]);
        triangle_area(a, b, c)
    };
    let volume = model.inside.map_or(f64::NAN, |inside| inside.rest_volume);
    (volume, model.topology.triangles.iter().map(area).sum())
}

/// Strain of a membrane that swells evenly by ε: its energy is 3/2 Y A ε², and p dV = dE gives ε/(1 + ε)² = p V/(Y A),
/// Laplace's law p = 2T/R with T = 3/2 Y ε.
fn swollen(ratio: f64) -> f64 {
    let mut strain = ratio;
    for _ in 0..100 {
        strain = ratio * (1.0 + strain) * (1.0 + strain);
    }
    strain
}

/// Laplace's law.
pub(super) fn pressure() -> Vec<Case> {
    let inside = |pressure| Inside { pressure, bulk_modulus: 0.0 };
    let mut cases = Vec::new();
    // All edges and corners of an icosahedron are alike: it swells evenly, and the law is exact on it.
    let s = run(ball(0, 1000.0, inside(500.0)), SolverKind::ImplicitEulerCholesky, None, 2.0, 200);
    let (volume, area) = at_rest(&s);
    cases.push(Case::relative(
        "inside/pressure/laplace",
        "ε/(1 + ε)² = p V/(Y A)",
        swollen(500.0 * volume / (1000.0 * area)),
        s.measures().stretch_mean_percent / 100.0,
        1e-9,
    ));
    // With area stiffness k the energy is A (3/2 Y ε² + ½ k ((1 + ε)² − 1)²).
    let (modulus, stiffness, p) = (1000.0, 700.0, 500.0);
    let body = Body { area_stiffness: Some(stiffness), ..ball(0, modulus, inside(p)) };
    let strain = |s: &Simulation| s.measures().stretch_mean_percent / 100.0;
    let s = run(body.clone(), SolverKind::ImplicitEulerCholesky, None, 2.0, 200);
    let excess = |e: f64| {
        let l = 1.0 + e;
        3.0 * modulus * e + 2.0 * stiffness * (l * l - 1.0) * l - 3.0 * p * volume / area * l * l
    };
    let (mut low, mut high) = (0.0, 0.2);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) < 0.0 { low = middle } else { high = middle }
    }
    let formula = "3 Y ε + 2 k ((1 + ε)² − 1)(1 + ε) = 3 (p V/A)(1 + ε)²";
    cases.push(Case::relative("inside/pressure/area", formula, low, strain(&s), 1e-9));
    // Softer by k h²/m, 1e-4 here, for each of five springs and five triangles at a vertex.
    let damped = Body { rayleigh: Some(Rayleigh { mass: 20.0, stiffness: None }), ..body };
    let s = run(damped, SolverKind::Xpbd, Some(1.0 / 30_000.0), 60.0, 120);
    cases.push(Case::relative("inside/pressure/area/xpbd", formula, low, strain(&s), 10.0 * 1e-4));
    // On any mesh at rest the virial of springs and pressure is 0: Σ T l = 3 p V.
    let s = run(ball(3, 1000.0, inside(500.0)), SolverKind::ImplicitEulerCholesky, None, 2.0, 400);
    let state = &s.state().bodies[0];
    let virial: f64 = state
        .topology
        .springs
        .iter()
        .map(|s| {
            let l = state.x[s.i as usize].distance(state.x[s.j as usize]);
            s.stiffness * (l - s.rest_length) * l
        })
        .sum();
    cases.push(Case::relative(
        "inside/pressure/virial",
        "Σ T l = 3 p V",
        3.0 * 500.0 * s.measures().volume,
        virial,
        1e-6,
    ));
    // The real-time solver adds k h²/m, 3e-3 here, to the softness of each of the six springs of a vertex.
    let mut body = ball(3, 100.0, inside(50.0));
    body.rayleigh = Some(Rayleigh { mass: 10.0, stiffness: None });
    let exact = run(body.clone(), SolverKind::ImplicitEulerCholesky, None, 60.0, 120);
    let s = run(body, SolverKind::Xpbd, Some(1.0 / 12_000.0), 60.0, 120);
    cases.push(Case::relative(
        "inside/pressure/xpbd",
        "the strain by the implicit solver",
        exact.measures().stretch_mean_percent,
        s.measures().stretch_mean_percent,
        6.0 * 3e-3,
    ));
    cases
}

/// A bag of water dropped on the floor, by the real-time solver: its volume while it bounces and when it lies.
pub(super) fn volume() -> Vec<Case> {
    let water = Inside { pressure: 0.0, bulk_modulus: 2.2e9 };
    let mut body = ball(3, 400.0, water);
    body.placement = Placement { translate: [0.0, 0.4, 0.0], ..Placement::default() };
    let mut s = simulate(Scene {
        groups: vec![Group { solver: SolverKind::Xpbd, ..Group::default() }],
        bodies: vec![body],
        colliders: vec![Collider {
            name: "floor".into(),
            shape: ColliderShape::Plane(PlaneShape::default()),
            ..Collider::default()
        }],
        ..Scene::default()
    });
    let (rest, _) = at_rest(&s);
    let mut worst = 0.0f64;
    for _ in 0..240 {
        s.step();
        worst = worst.max((s.measures().volume / rest - 1.0).abs());
    }
    let last = (s.measures().volume / rest - 1.0).abs();
    // Contact comes after the volume and lifts what touches by what a substep moves it. When the bag lies, the pressure
    // M g/a over the area a that touches pushes it down by h² M g/(a ρ): in all a volume of h² g A, with A = 3V/R. When it
    // falls on the floor at v = √(2 g · 0.2 m), what touches, no more than half of it, moves by v h.
    let h = 1.0 / 720.0;
    let fall = f64::sqrt(2.0 * 9.81 * 0.2);
    let area = 3.0 / RADIUS;
    vec![
        Case::new("inside/volume/falling", "V is constant", 0.0, worst, 0.5 * fall * h * area),
        Case::new("inside/volume/lying", "V is constant", 0.0, last, 9.81 * h * h * area),
    ]
}

/// A ball that is let go under a constant pressure: what moves and what is stretched is the work p ΔV.
pub(super) fn work() -> Vec<Case> {
    let (pressure, modulus, h) = (50.0, 100.0, 1.0 / 50_000.0);
    let s =
        run(ball(3, modulus, Inside { pressure, bulk_modulus: 0.0 }), SolverKind::Verlet, None, 1.0 / h, 900);
    let (rest, area) = at_rest(&s);
    let m = s.measures();
    let work = pressure * (m.volume - rest);
    // Elastic energy counts −p ΔV too.
    let gained = m.kinetic_energy + m.elastic_energy + work;
    // Verlet errs by (ωh)²/4 of what swings, with ω² ≤ 12 k/m: six springs of k < Y at a vertex of mass ρ A/n.
    let n = s.state().bodies[0].x.len() as f64;
    let omega2 = 12.0 * modulus * n / (DENSITY * area);
    vec![Case::relative("inside/work", "Δ(kinetic + elastic) = p ΔV", work, gained, 0.25 * omega2 * h * h)]
}
