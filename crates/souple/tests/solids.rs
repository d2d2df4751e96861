//! Soft solids as a whole: solvers agree, momentum is kept, runs are restored bit for bit, and what cannot be is refused by name.

use glam::DVec3;
use souple::scene::{Block, Body, Group, Pin, Rayleigh, Region, Scene, Select, Shape, SolidLaw, SolverKind};
use souple::{ModelBuilder, Simulation, WarningKind};

fn beam(solver: SolverKind, clamped: bool) -> Scene {
    let wall = Region { min: [-1e-6, -1.0, -1.0], max: [1e-6, 1.0, 1.0] };
    let body = Body {
        name: "beam".into(),
        shape: Shape::Block(Block { size: [0.2, 0.04, 0.04], cells: [10, 2, 2], ..Block::default() }),
        density: Some(1100.0),
        young_modulus: Some(2e5),
        poisson_ratio: Some(0.4),
        rayleigh: Some(Rayleigh { mass: 0.0, stiffness: Some(0.002) }),
        pins: if clamped { vec![Pin { select: Select::Within(wall), ..Pin::default() }] } else { Vec::new() },
        ..Body::default()
    };
    let groups = vec![Group { solver, ..Group::default() }];
    Scene { groups, bodies: vec![body], ..Scene::default() }
}

fn start(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

#[test]
fn conjugate_gradients_find_what_cholesky_finds() {
    for law in [SolidLaw::Polar, SolidLaw::Qr, SolidLaw::NeoHookean] {
        let run = |solver: SolverKind| {
            let mut scene = beam(solver, true);
            scene.bodies[0].law = Some(law);
            let mut s = start(&scene);
            (0..40).for_each(|_| s.step());
            (s.state().bodies[0].x.clone(), s.solver_iterations(0))
        };
        let (exact, _) = run(SolverKind::ImplicitEulerCholesky);
        let (found, iterations) = run(SolverKind::ImplicitEulerCg);
        let rest = &start(&beam(SolverKind::ImplicitEulerCg, true)).model().bodies[0].topology.clone();
        let moved = exact.iter().zip(&rest.rest_positions).map(|(x, r)| x.distance(*r)).fold(0.0, f64::max);
        let apart = exact.iter().zip(&found).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(moved > 0.02, "it bends: {moved}");
        assert!(apart < 1e-3 * moved, "{law:?}: {apart} of {moved}");
        // Blocks on the diagonal would take hundreds.
        assert!((1..20).contains(&iterations), "{law:?}: {iterations}");
    }
}

#[test]
fn momentum_is_kept_however_early_the_search_ends() {
    for most in [1, 3, 200] {
        let mut scene = beam(SolverKind::ImplicitEulerCg, false);
        scene.gravity = [0.0; 3];
        scene.groups[0].cg.max_iterations = most;
        scene.bodies[0].rayleigh = None;
        let mut s = start(&scene);
        for (x, v) in s.state_mut().bodies[0].x.clone().iter().zip(&mut s.state_mut().bodies[0].v) {
            *v = DVec3::new(1.0, 2.0, 0.5) + DVec3::new(3.0, -8.0, 5.0).cross(*x);
        }
        let masses = s.model().bodies[0].topology.masses.clone();
        let momentum =
            |s: &Simulation| s.state().bodies[0].v.iter().zip(&masses).map(|(v, m)| *v * *m).sum::<DVec3>();
        let before = momentum(&s);
        (0..60).for_each(|_| s.step());
        assert!(
            (momentum(&s) - before).length() < 1e-12 * before.length(),
            "{most}: {}",
            momentum(&s) - before
        );
    }
}

#[test]
fn a_restored_run_goes_on_bit_for_bit() {
    for solver in [SolverKind::ImplicitEulerCg, SolverKind::ImplicitEulerCholesky] {
        let scene = beam(solver, true);
        let mut whole = start(&scene);
        (0..10).for_each(|_| whole.step());
        let kept = whole.snapshot();
        (0..10).for_each(|_| whole.step());
        let mut restored = start(&scene);
        restored.restore(&kept).unwrap();
        (0..10).for_each(|_| restored.step());
        assert_eq!(whole.state().bodies[0].x, restored.state().bodies[0].x, "{solver:?}");
    }
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    type Change = fn(&mut Scene);
    let cases: [(&str, &str, Change); 12] = [
        ("body[0].young_modulus", "greater than 0", |s| s.bodies[0].young_modulus = Some(0.0)),
        ("body[0].young_modulus", "greater than 0", |s| s.bodies[0].young_modulus = Some(-1e5)),
        ("body[0].young_modulus", "holds the solid", |s| s.bodies[0].young_modulus = None),
        ("body[0].poisson_ratio", "below 0.5", |s| s.bodies[0].poisson_ratio = Some(0.5)),
        ("body[0].poisson_ratio", "below 0.5", |s| s.bodies[0].poisson_ratio = Some(f64::NAN)),
        ("body[0].density", "greater than 0", |s| s.bodies[0].density = Some(-3.0)),
        ("body[0].fabric", "do not have it", |s| s.bodies[0].fabric = Some("cotton".into())),
        ("body[0].group", "does not advance solids", |s| s.groups[0].solver = SolverKind::Xpbd),
        ("body[0].shape.block.cells", "at least 1", |s| {
            s.bodies[0].shape = Shape::Block(Block { cells: [3, 0, 1], ..Block::default() });
        }),
        ("body[0].shape.block.cells", "more than", |s| {
            s.bodies[0].shape = Shape::Block(Block { cells: [u32::MAX; 3], ..Block::default() });
        }),
        ("body[0].shape.block.size", "finite", |s| {
            s.bodies[0].shape = Shape::Block(Block { size: [1.0, f64::NAN, 1.0], ..Block::default() });
        }),
        ("body[0].law", "only solids", |s| {
            s.bodies[0] = Body { fabric: Some("cotton".into()), law: Some(SolidLaw::Qr), ..Body::default() };
        }),
    ];
    for (field, problem, change) in cases {
        let mut scene = beam(SolverKind::ImplicitEulerCg, true);
        change(&mut scene);
        let error = ModelBuilder::new(&scene).build().unwrap_err();
        assert_eq!(error.field, field, "{error}");
        assert!(error.problem.contains(problem), "{error}");
    }
}

#[test]
fn a_search_that_ends_too_early_is_told_once() {
    let run = |most: Option<u32>| {
        let mut scene = beam(SolverKind::ImplicitEulerCg, true);
        if let Some(most) = most {
            scene.groups[0].cg.max_iterations = most;
        }
        let mut s = start(&scene);
        (0..20).for_each(|_| s.step());
        s
    };
    let usual = run(None);
    assert!(usual.warnings().is_empty() && usual.profile().cut_short == 0, "{:?}", usual.warnings());
    let short = run(Some(1));
    let [warning] = short.warnings() else { panic!("told once: {:?}", short.warnings()) };
    let WarningKind::CutShort { residual } = warning.kind else { panic!("{warning}") };
    assert!(residual > 1e-3 && residual < 1.0, "{residual}");
    assert!(short.profile().cut_short > 10, "{}", short.profile().cut_short);
    let text = warning.to_string();
    for part in ["body 'beam'", "cg.max_iterations", "cg.tolerance"] {
        assert!(text.contains(part), "{text}");
    }
}
