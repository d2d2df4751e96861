//! Pressure and volume: what is refused, what a closed body keeps with every kind of solver, air that gets out.

use glam::DVec3;
use souple::mesh::enclosed_volume;
use souple::scene::{
    Ball, Body, Cells, Collider, ColliderShape, Embed, Family, Grid, Group, InlineMesh, Inside, Layout, Pin,
    Placement, Rayleigh, Scene, Select, Shape, SolverKind, Springs, Time,
};
use souple::{Command, ModelBuilder, Simulation};

fn ball(subdivisions: u32, inside: Inside) -> Body {
    Body {
        name: "ball".into(),
        shape: Shape::Ball(Ball { radius: 0.2, subdivisions }),
        placement: Placement { translate: [0.0, 0.25, 0.0], ..Placement::default() },
        density: Some(0.3),
        inside: Some(inside),
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(400.0), ..Family::default() },
            ..Springs::default()
        },
        rayleigh: Some(Rayleigh { mass: 2.0, stiffness: None }),
        ..Body::default()
    }
}

fn scene(solver: SolverKind, body: Body) -> Scene {
    Scene {
        groups: vec![Group { solver, ..Group::default() }],
        bodies: vec![body],
        colliders: vec![Collider {
            name: "floor".into(),
            shape: ColliderShape::Plane(Default::default()),
            ..Collider::default()
        }],
        ..Scene::default()
    }
}

fn simulation(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

fn run(scene: &Scene, frames: u32) -> Simulation {
    let mut s = simulation(scene);
    (0..frames).for_each(|_| s.step());
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    s
}

fn refusal(body: Body) -> String {
    ModelBuilder::new(&scene(SolverKind::Xpbd, body)).build().unwrap_err().to_string()
}

#[test]
fn open_inverted_and_negative_insides_are_refused() {
    let inside = Inside { pressure: 100.0, ..Inside::default() };
    let sheet = Body { shape: Shape::Grid(Grid { vertices: [3, 3], ..Grid::default() }), ..ball(2, inside) };
    let error = refusal(sheet);
    assert!(error.contains("body[0].inside") && error.contains("8 edges"), "{error}");
    let tetrahedron = |triangles: Vec<[u32; 3]>| Body {
        shape: Shape::Mesh(InlineMesh {
            positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            triangles,
            ..InlineMesh::default()
        }),
        ..ball(2, inside)
    };
    let outward = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
    assert!(ModelBuilder::new(&scene(SolverKind::Xpbd, tetrahedron(outward.clone()))).build().is_ok());
    let inward = outward.iter().map(|&[a, b, c]| [a, c, b]).collect();
    assert!(refusal(tetrahedron(inward)).contains("face inwards"));
    for inside in [
        Inside { pressure: -1.0, ..inside },
        Inside { bulk_modulus: f64::NAN, ..inside },
        Inside { bulk_modulus: -1.0, ..inside },
    ] {
        assert!(refusal(ball(1, inside)).contains("body[0].inside"));
    }
}

#[test]
fn a_bag_of_water_keeps_its_volume_on_the_floor_and_an_empty_one_does_not() {
    let water = Inside { pressure: 0.0, bulk_modulus: 2.2e9 };
    let rest = simulation(&scene(SolverKind::Xpbd, ball(3, water))).measures().volume;
    let kept = |inside| run(&scene(SolverKind::Xpbd, ball(3, inside)), 180).measures().volume / rest - 1.0;
    // Contact, which comes last, lifts what the pressure pushed down in a substep: h² g A, with the area A = 3V/R.
    let h = 1.0 / 720.0;
    let tolerance = 9.81 * h * h * 3.0 / 0.2;
    let error = kept(water);
    assert!(error.abs() < tolerance, "{error} {tolerance}");
    assert!(kept(Inside::default()) < -0.2);
}

#[test]
fn solvers_agree_on_a_ball_under_pressure() {
    // Soft enough that a visit per substep adds little to the softness of springs: k h²/m is 0.05 at 1/4800 s.
    let inside = Inside { pressure: 60.0, bulk_modulus: 2e4 };
    let volume = |solver, dt| {
        let mut scene = scene(solver, ball(2, inside));
        scene.gravity = [0.0; 3];
        scene.groups[0].dt = dt;
        let s = run(&scene, 240);
        assert!(s.measures().kinetic_energy < 1e-6);
        s.measures().volume / 0.0335 - 1.0
    };
    let exact = volume(SolverKind::ImplicitEulerCholesky, None);
    let cg = volume(SolverKind::ImplicitEulerCg, None);
    let real_time = volume(SolverKind::Xpbd, Some(1.0 / 4800.0));
    assert!((exact - cg).abs() < 1e-6, "{exact} {cg}");
    assert!((exact - real_time).abs() < 1e-3, "{exact} {real_time}");
}

#[test]
fn pressure_pushes_no_body_as_a_whole() {
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg, SolverKind::Verlet] {
        let mut scene = scene(solver, ball(3, Inside { pressure: 500.0, bulk_modulus: 1e5 }));
        (scene.gravity, scene.colliders) = ([0.0; 3], Vec::new());
        scene.bodies[0].rayleigh = None;
        scene.time = Time { fps: 4000.0, frames: 1 };
        let mut s = simulation(&scene);
        // Mean speed of the particles, at the most.
        let mut speed = 0.0f64;
        for _ in 0..400 {
            s.step();
            let v = &s.state().bodies[0].v;
            speed = speed.max(v.iter().map(|v| v.length()).sum::<f64>() / v.len() as f64);
        }
        assert!(speed > 0.01, "it swells: {speed}");
        let m = s.measures();
        // 32 bits round by 6e-8 a step; 64 by nothing that counts.
        let share = if solver == SolverKind::Xpbd { 400.0 * 6e-8 } else { 1e-10 };
        assert!(m.momentum.length() < share * m.mass * speed, "{solver:?}: {}", m.momentum);
        // Angular momentum is no promise of a linear solve that stops early. Positions are up to 0.45 m from the origin.
        let turn = m.angular_momentum.length();
        let bound =
            if solver == SolverKind::ImplicitEulerCg { f64::INFINITY } else { share * 0.45 * m.mass * speed };
        assert!(turn < bound, "{solver:?}: {turn}");
    }
}

#[test]
fn a_cut_lets_the_air_out() {
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg] {
        let mut scene = scene(solver, ball(3, Inside { pressure: 300.0, bulk_modulus: 0.0 }));
        scene.gravity = [0.0; 3];
        scene.bodies[0].pins =
            vec![Pin { name: "p".into(), select: Select::Near([0.0, 0.45, 0.0]), ..Pin::default() }];
        let mut s = run(&scene, 60);
        let tight = s.measures();
        assert!(tight.volume > 0.0335 && tight.elastic_energy.abs() > 0.0);
        s.command(Command::Cut {
            body: "ball".into(),
            from: [-0.1, 0.25, 1.0],
            to: [0.1, 0.25, 1.0],
            eye: [0.0, 0.25, 2.0],
        })
        .unwrap();
        (0..120).for_each(|_| s.step());
        assert!(!s.state().bodies[0].topology.closed);
        assert_eq!(s.measures().volume, 0.0);
        // Nothing stretches it any more.
        assert!(s.measures().stretch_mean_percent < 0.2 * tight.stretch_mean_percent, "{solver:?}");
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_after_a_restore() {
    let scene = scene(SolverKind::Xpbd, ball(6, Inside { pressure: 200.0, bulk_modulus: 1e6 }));
    let hash = |threads: usize| {
        let mut s = simulation(&scene).with_threads(threads).unwrap();
        (0..3).for_each(|_| s.step());
        let saved = s.snapshot();
        let mut again = simulation(&scene);
        again.restore(&saved).unwrap();
        (0..2).for_each(|_| s.step());
        (0..2).for_each(|_| again.step());
        assert_eq!(s.state_hash(), again.state_hash());
        s.state_hash()
    };
    let one = hash(1);
    assert!([2, 3].iter().all(|&n| hash(n) == one));
}

#[test]
fn any_start_is_stood() {
    for shrunk in [0.0, 1e-9, 1e-3, 0.3] {
        for bulk_modulus in [0.0, 1e5, 1e12] {
            let scene = scene(SolverKind::Xpbd, ball(2, Inside { pressure: 1e3, bulk_modulus }));
            let mut s = simulation(&scene);
            for x in &mut s.state_mut().bodies[0].x {
                *x = DVec3::Y * 0.3 + (*x - DVec3::Y * 0.25) * shrunk;
            }
            (0..60).for_each(|_| s.step());
            assert!(s.warnings().is_empty(), "{shrunk} {bulk_modulus}: {:?}", s.warnings());
            let x = &s.state().bodies[0].x;
            assert!(x.iter().all(|x| x.length() < 50.0), "{shrunk} {bulk_modulus}");
        }
    }
}

/// A solid ball in cells, with something inside its surface.
fn solid(cut: Cells, solver: SolverKind, inside: Option<Inside>) -> Scene {
    let body = Body {
        name: "solid".into(),
        shape: Shape::Ball(Ball { radius: 0.2, subdivisions: 3 }),
        embed: Some(Embed { cell: 0.1, cut, ..Embed::default() }),
        density: Some(1000.0),
        young_modulus: Some(2e4),
        inside,
        ..Body::default()
    };
    let groups = vec![Group { solver, ..Group::default() }];
    Scene { groups, bodies: vec![body], gravity: [0.0; 3], ..Scene::default() }
}

#[test]
fn pressure_acts_on_the_surface_of_an_embedded_solid() {
    let run = |cut: Cells, solver: SolverKind, inside: Inside| {
        let mut scene = solid(cut, solver, Some(inside));
        scene.groups[0].cg.tolerance = 1e-8;
        scene.bodies[0].rayleigh = Some(Rayleigh { mass: 5.0, stiffness: Some(0.01) });
        let mut s = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        (0..120).for_each(|_| s.step());
        assert!(s.warnings().is_empty(), "{:?}", s.warnings());
        let topology = &s.model().bodies[0].topology;
        let volume = |x: &[DVec3]| enclosed_volume(x, &topology.triangles);
        assert!(s.measures().momentum.length() < 1e-6);
        volume(&s.state().bodies[0].x) / volume(&topology.rest_positions) - 1.0
    };
    for cut in [Cells::Hexahedra, Cells::Five] {
        // It grows, and less if what is inside keeps its volume, with any solver.
        let gas = Inside { pressure: 3e3, bulk_modulus: 0.0 };
        let water = Inside { pressure: 3e3, bulk_modulus: 1e7 };
        let (one, other) = (SolverKind::ImplicitEulerCg, SolverKind::ImplicitEulerCholesky);
        let (grown, same) = (run(cut, one, gas), run(cut, other, gas));
        assert!(grown > 0.02, "{cut:?}: {grown}");
        assert!((grown / same - 1.0).abs() < 1e-3, "{cut:?}: {grown} {same}");
        for solver in [one, other] {
            let kept = run(cut, solver, water);
            // p₀ = K ΔV/V, but for what the elements carry.
            assert!(kept > 0.0 && kept < 3.1e-4, "{cut:?} {solver:?}: {kept}");
        }
    }
}

#[test]
fn a_search_for_equilibrium_takes_pressure_but_no_bulk_modulus() {
    let mut scene =
        solid(Cells::Five, SolverKind::QuasiStatic, Some(Inside { pressure: 1e3, bulk_modulus: 0.0 }));
    scene.bodies[0].pins = vec![Pin { select: Select::Near([0.0, -0.2, 0.0]), ..Pin::default() }];
    ModelBuilder::new(&scene).build().unwrap();
    scene.bodies[0].inside = Some(Inside { pressure: 0.0, bulk_modulus: 1e6 });
    let error = ModelBuilder::new(&scene).build().unwrap_err().to_string();
    assert!(error.contains("inside.bulk_modulus") && error.contains("quasi_static"), "{error}");
}
