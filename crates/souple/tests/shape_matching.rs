//! Shape matching as a whole: momentum is kept, stiffness means the same at any step, deep squeezes come back, and what cannot be is refused by name.

use glam::DVec3;
use souple::scene::{
    Ball, Block, Body, Embed, Group, Pin, Rayleigh, Region, Scene, Select, Shape, ShapeMatching, SolverKind,
};
use souple::{ModelBuilder, Simulation};

fn block(frequency: f64, linear: f64, fps: f64, solver: SolverKind) -> Scene {
    let body = Body {
        name: "block".into(),
        shape: Shape::Block(Block { size: [0.3, 0.2, 0.2], cells: [3, 2, 2], ..Block::default() }),
        density: Some(1000.0),
        shape_matching: Some(ShapeMatching { frequency, linear }),
        ..Body::default()
    };
    let mut scene = Scene {
        groups: vec![Group { solver, ..Group::default() }],
        bodies: vec![body],
        gravity: [0.0; 3],
        ..Scene::default()
    };
    scene.time.fps = fps;
    scene
}

fn start(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

/// Time between two turns of a block that was stretched by a tenth, s.
fn half_period(scene: &Scene) -> f64 {
    let mut s = start(scene);
    s.state_mut().bodies[0].x.iter_mut().for_each(|x| x.x *= 1.1);
    let length = |s: &Simulation| {
        let x = &s.state().bodies[0].x;
        x.iter().map(|x| x.x).fold(f64::MIN, f64::max) - x.iter().map(|x| x.x).fold(f64::MAX, f64::min)
    };
    let mut before = length(&s);
    for step in 1.. {
        s.step();
        let now = length(&s);
        if now > before {
            // It turned about half a step before the last.
            return (f64::from(step) - 1.0) / scene.time.fps;
        }
        before = now;
    }
    0.0
}

#[test]
fn its_frequency_is_the_same_at_any_step() {
    for (solver, fps) in [
        (SolverKind::Verlet, 1000.0),
        (SolverKind::Verlet, 4000.0),
        (SolverKind::ImplicitEulerCg, 1000.0),
        (SolverKind::ImplicitEulerCg, 4000.0),
    ] {
        for linear in [0.0, 0.75] {
            let found = half_period(&block(2.0, linear, fps, solver));
            // A stretch of the whole is a linear map: of it 1 − β is pulled back.
            let exact = 0.25 / (1.0f64 - linear).sqrt();
            // Two steps, and for backward Euler the damping of ω h / 2.
            assert!((found / exact - 1.0).abs() < 0.015, "{solver:?} {fps} {linear}: {found} of {exact}");
        }
    }
}

#[test]
fn momentum_is_kept() {
    for (solver, fps) in [(SolverKind::ImplicitEulerCg, 60.0), (SolverKind::Verlet, 1000.0)] {
        let mut s = start(&block(8.0, 0.3, fps, solver));
        for (i, x) in s.state_mut().bodies[0].x.iter_mut().enumerate() {
            let part = |k: u64| 0.05 * (souple::math::uniform(3, 3 * i as u64 + k) - 0.5);
            *x += DVec3::new(part(0), part(1), part(2));
        }
        let body = &mut s.state_mut().bodies[0];
        body.v =
            body.x.iter().map(|x| DVec3::new(1.0, 0.5, 0.0) + DVec3::new(0.0, 2.0, 1.0).cross(*x)).collect();
        s.step();
        let before = s.measures();
        (0..30).for_each(|_| s.step());
        let after = s.measures();
        let (p, l) = (after.momentum - before.momentum, after.angular_momentum - before.angular_momentum);
        assert!(p.length() < 1e-9 * before.momentum.length(), "{solver:?}: {p}");
        if solver == SolverKind::Verlet {
            assert!(l.length() < 1e-9 * before.angular_momentum.length(), "{l}");
        }
        assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    }
}

#[test]
fn anything_comes_back_to_its_shape_in_few_iterations() {
    let mut scene = block(5.0, 0.5, 60.0, SolverKind::ImplicitEulerCg);
    scene.bodies[0].rayleigh = Some(Rayleigh { mass: 1.0, stiffness: None });
    let mut s = start(&scene);
    for (i, x) in s.state_mut().bodies[0].x.iter_mut().enumerate() {
        let part = |k: u64| 0.1 * (souple::math::uniform(9, 3 * i as u64 + k) - 0.5);
        *x = DVec3::new(part(0), 0.1 * part(1), part(2));
    }
    for _ in 0..900 {
        s.step();
        assert!(s.solver_iterations(0) <= 6, "{}", s.solver_iterations(0));
    }
    let (topology, x) = (&s.model().bodies[0].topology, &s.state().bodies[0].x);
    let change =
        |e: &souple::mesh::Edge| (x[e.i as usize].distance(x[e.j as usize]) / e.rest_length - 1.0).abs();
    let most = topology.edges.iter().map(change).fold(0.0, f64::max);
    assert!(most < 1e-3, "{most}");
    // The same bits after a restore.
    let mut again = start(&scene);
    again.restore(&s.snapshot()).unwrap();
    (0..5).for_each(|_| s.step());
    (0..5).for_each(|_| again.step());
    assert_eq!(s.state(), again.state());
}

#[test]
fn surfaces_and_embedded_ones_have_it_too_and_it_stands_beside_elements() {
    let ball = |embed: Option<Embed>, young: Option<f64>| {
        let mut scene = block(6.0, 0.2, 60.0, SolverKind::ImplicitEulerCg);
        scene.gravity = [0.0, -9.81, 0.0];
        let body = &mut scene.bodies[0];
        body.shape = Shape::Ball(Ball { radius: 0.2, subdivisions: 2 });
        body.embed = embed;
        body.young_modulus = young;
        body.density = Some(if embed.is_some() { 1000.0 } else { 1.0 });
        // A pin holds no more than the share of the mass that it has.
        let top = Region { min: [-1.0, 0.05, -1.0], max: [1.0, 1.0, 1.0] };
        body.pins = vec![Pin { select: Select::Within(top), ..Pin::default() }];
        let mut s = start(&scene);
        (0..200).for_each(|_| s.step());
        assert!(s.warnings().is_empty(), "{:?}", s.warnings());
        -s.state().bodies[0].x.iter().map(|x| x.y).fold(f64::MAX, f64::min)
    };
    let cells = Some(Embed { cell: 0.1, ..Embed::default() });
    for (embed, young) in [(None, None), (cells, None), (cells, Some(1e5))] {
        let low = ball(embed, young);
        assert!(low > 0.19 && low < 0.4, "{embed:?} {young:?}: {low}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    type Change = fn(&mut Scene);
    let cases: [(&str, Change); 6] = [
        ("shape_matching.frequency", |s| {
            s.bodies[0].shape_matching = Some(ShapeMatching { frequency: 0.0, linear: 0.0 })
        }),
        ("shape_matching.linear", |s| {
            s.bodies[0].shape_matching = Some(ShapeMatching { frequency: 1.0, linear: 1.0 })
        }),
        ("shape_matching.linear", |s| {
            s.bodies[0].shape_matching = Some(ShapeMatching { frequency: 1.0, linear: f64::NAN })
        }),
        ("body[0].group", |s| s.groups[0].solver = SolverKind::ImplicitEulerCholesky),
        ("body[0].law", |s| s.bodies[0].law = Some(souple::scene::SolidLaw::Qr)),
        ("body[0].shape_matching", |s| {
            s.bodies[0].shape = Shape::Grid(Default::default());
            s.bodies[0].shape_matching = Some(ShapeMatching { frequency: 1.0, linear: 0.5 });
        }),
    ];
    for (field, change) in cases {
        let mut scene = block(2.0, 0.0, 60.0, SolverKind::ImplicitEulerCg);
        change(&mut scene);
        let error = ModelBuilder::new(&scene).build().unwrap_err().to_string();
        assert!(error.contains(field), "{field}: {error}");
    }
}
