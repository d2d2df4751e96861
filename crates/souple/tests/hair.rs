//! Strands and ropes: roots, what is refused, a cantilever, curls that stay curls.

use souple::scene::{
    Body, Family, Grid, Group, Layout, Pin, Rayleigh, Roots, Rope, Scene, Select, Shape, SolverKind, Springs,
    Strands,
};
use souple::{ModelBuilder, Simulation};

const G: f64 = 9.81;

fn roots() -> Vec<Pin> {
    vec![Pin { name: "roots".into(), select: Select::Roots, ..Pin::default() }]
}

fn hair(strands: Strands) -> Body {
    Body {
        name: "hair".into(),
        shape: Shape::Strands(strands),
        density: Some(5e-4),
        springs: Springs {
            stretch: Family { modulus: Some(50.0), ..Family::default() },
            ..Springs::default()
        },
        rayleigh: Some(Rayleigh { mass: 4.0, stiffness: None }),
        pins: roots(),
        ..Body::default()
    }
}

fn scene(body: Body, solver: SolverKind, dt: Option<f64>) -> Scene {
    Scene { groups: vec![Group { solver, dt, ..Group::default() }], bodies: vec![body], ..Scene::default() }
}

fn run(scene: &Scene, frames: u32) -> Simulation {
    let mut s = Simulation::new(ModelBuilder::new(scene).build().unwrap());
    (0..frames).for_each(|_| s.step());
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    s
}

#[test]
fn roots_are_the_first_two_vertices_of_each_strand_and_strands_are_apart() {
    let strands = Strands { strands: 7, segments: 5, roots: Roots::Hemisphere, ..Strands::default() };
    let model = ModelBuilder::new(&scene(hair(strands), SolverKind::Xpbd, None)).build().unwrap();
    let body = &model.bodies[0];
    let expected: Vec<u32> = (0..7).flat_map(|s| [6 * s, 6 * s + 1]).collect();
    assert_eq!(body.pins[0].vertices, expected);
    assert_eq!(body.topology.segments.len(), 7 * 5);
    assert!(body.topology.springs.iter().all(|s| s.i / 6 == s.j / 6));
}

#[test]
fn strands_that_cannot_be_are_refused() {
    let refusal = |strands: Strands| {
        let scene = scene(hair(strands), SolverKind::Xpbd, None);
        ModelBuilder::new(&scene).build().unwrap_err().to_string()
    };
    let good = Strands::default();
    assert!(refusal(Strands { strands: 0, ..good }).contains("strands.strands"));
    assert!(refusal(Strands { strands: u32::MAX, segments: u32::MAX, ..good }).contains("strands.strands"));
    assert!(refusal(Strands { segments: 1, ..good }).contains("strands.segments"));
    assert!(refusal(Strands { curl_radius: 0.005, ..good }).contains("fewer than 4"));
    assert!(refusal(Strands { length: 0.0, ..good }).contains("strands.length"));
    assert!(refusal(Strands { curl_pitch: -1.0, ..good }).contains("curl_pitch"));
    let sheet = Body { shape: Shape::Grid(Grid::default()), ..hair(good) };
    let error = ModelBuilder::new(&scene(sheet, SolverKind::Xpbd, None)).build().unwrap_err();
    assert!(error.to_string().contains("roots"), "{error}");
}

#[test]
fn a_rope_held_level_at_its_roots_droops_as_a_cantilever() {
    // Γ = ρ g L³/(E I) = 10; held level half-way between its roots.
    let (overhang, density, segments) = (0.3, 5e-4, 30.0);
    let cell = overhang / (segments - 0.5);
    let rope = Rope { length: cell * segments, vertices: 31, direction: [1.0, 0.0, 0.0], ..Rope::default() };
    let body = Body {
        shape: Shape::Rope(rope),
        bending: Some(density * G * overhang * overhang * overhang / 10.0),
        ..hair(Strands::default())
    };
    // 30 segments err by 1/30² of a bend. One visit per substep adds k h²/m to the softness of a patch: 2 % at 1/24000 s.
    for (solver, dt, share) in
        [(SolverKind::ImplicitEulerCholesky, None, 0.005), (SolverKind::Xpbd, Some(1.0 / 24_000.0), 0.03)]
    {
        let s = run(&scene(body.clone(), solver, dt), 300);
        let tip = s.state().bodies[0].x[30];
        let slope = -tip.y / (tip.x - 0.5 * cell);
        assert!((slope / 1.06680 - 1.0).abs() < share, "{solver:?}: {slope}");
    }
}

#[test]
fn curls_stay_curls() {
    let strands = Strands {
        strands: 20,
        segments: 40,
        length: 0.25,
        curl_radius: 0.008,
        curl_pitch: 0.02,
        ..Strands::default()
    };
    // Mean bend of the free vertices, over that at rest.
    let bend = |body: Body| {
        let s = run(&scene(body, SolverKind::Xpbd, Some(1.0 / 1440.0)), 240);
        let mean = |x: &[glam::DVec3]| -> f64 {
            x.chunks(41)
                .flat_map(|x| x.windows(3).skip(2).map(|w| (w[0] + w[2] - w[1] * 2.0).length()))
                .sum::<f64>()
        };
        let state = &s.state().bodies[0];
        mean(&state.x) / mean(&state.topology.rest_positions)
    };
    let chain = bend(hair(strands));
    let held = bend(Body {
        bending: Some(5e-7),
        springs: Springs {
            layout: Layout::Graph(3),
            stretch: Family { modulus: Some(50.0), ..Family::default() },
            bend: Family { modulus: Some(2.0), ..Family::default() },
            ..Springs::default()
        },
        ..hair(strands)
    });
    assert!((held - 1.0).abs() < 0.1 && (chain - 1.0).abs() > 0.3, "{held} {chain}");
}
