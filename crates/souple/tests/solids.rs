//! Soft solids as a whole: solvers agree, momentum is kept, runs are restored bit for bit, and what cannot be is refused by name.

use glam::DVec3;
use souple::scene::{
    Ball, Block, Body, Cells, Cg, Collider, ColliderShape, Embed, Group, Multigrid, MultigridCycle, Pin,
    PlaneShape, Preconditioner, Pull, Rayleigh, Region, Scene, Select, Shape, Smoother, SolidLaw, SolverKind,
    SurfaceContact,
};
use souple::solver::equilibrium::{EquilibriumError, settle};
use souple::{Command, ModelBuilder, Simulation, Warning, WarningKind};

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
    let cases: [(&str, &str, Change); 18] = [
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
        ("body[0].group", "needs a body of hexahedra", |s| {
            s.groups[0].cg.preconditioner = Preconditioner::Multigrid;
        }),
        ("body[0].group", "is for solids", |s| {
            s.groups[0].cg.preconditioner = Preconditioner::IncompleteCholesky;
            s.bodies[0] = Body { fabric: Some("cotton".into()), ..Body::default() };
        }),
        ("group[0].cg.multigrid.sweeps", "from 1", |s| s.groups[0].cg.multigrid.sweeps = 0),
        ("group[0].cg.multigrid.levels", "from 1", |s| s.groups[0].cg.multigrid.levels = Some(0)),
        ("body[0].pin", "nothing holds", |s| {
            s.groups[0].solver = SolverKind::QuasiStatic;
            s.bodies[0].pins.clear();
        }),
        ("body[0].group", "is for solids", |s| {
            s.groups[0].solver = SolverKind::QuasiStatic;
            let pins = vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }];
            s.bodies[0] = Body { fabric: Some("cotton".into()), pins, ..Body::default() };
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

/// The clamped beam of 0.2 m whose end sinks by 31.72 mm, of cells of these numbers.
fn measured_beam(cut: Cells, cells: [u32; 3]) -> Scene {
    let mut scene = beam(SolverKind::ImplicitEulerCg, true);
    scene.time.fps = 20.0;
    let body = &mut scene.bodies[0];
    body.shape = Shape::Block(Block { size: [0.2, 0.02, 0.02], cells, cut });
    (body.young_modulus, body.poisson_ratio) = (Some(2e6), Some(0.45));
    body.rayleigh = Some(Rayleigh { mass: 2.0, stiffness: None });
    scene
}

fn drop_at_rest(scene: &Scene) -> f64 {
    let mut s = start(scene);
    (0..300).for_each(|_| s.step());
    let body = &s.state().bodies[0];
    let rest = &body.topology.rest_positions;
    // The middle of the free end.
    let end: Vec<usize> = (0..rest.len()).filter(|i| rest[*i].x > 0.2 - 1e-9).collect();
    end.iter().map(|i| rest[*i].y - body.x[*i].y).sum::<f64>() / end.len() as f64
}

#[test]
fn hexahedra_bend_as_a_beam_does_and_plain_ones_lock() {
    let free = drop_at_rest(&measured_beam(Cells::Hexahedra, [40, 4, 4]));
    assert!((free / 31.72e-3 - 1.0).abs() < 0.03, "{free}");
    let plain = drop_at_rest(&measured_beam(Cells::PlainHexahedra, [20, 2, 2]));
    assert!(plain < 0.8 * free, "{plain} {free}");
}

/// A soft ball in cells of 0.1 m, one metre across.
fn embedded_ball(cut: Cells) -> Scene {
    let mut scene = beam(SolverKind::ImplicitEulerCg, false);
    let body = &mut scene.bodies[0];
    body.shape = Shape::Ball(Ball { radius: 0.5, subdivisions: 3 });
    body.embed = Some(Embed { cell: 0.2, cut, ..Embed::default() });
    body.young_modulus = Some(2e4);
    scene
}

#[test]
fn an_embedded_surface_follows_its_cells_and_weighs_what_it_holds() {
    for cut in [Cells::Hexahedra, Cells::Five] {
        let mut s = start(&embedded_ball(cut));
        let topology = s.model().bodies[0].topology.clone();
        let mass: f64 = topology.masses.iter().sum();
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.125 * 1100.0;
        // Cells of tetrahedra are full wherever the surface passes.
        let most = if cut == Cells::Five { 2.0 } else { 1.02 };
        assert!(mass > 0.98 * exact && mass < most * exact, "{mass} of {exact}");
        assert_eq!(topology.visible(), 642);
        (0..20).for_each(|_| s.step());
        let body = &s.state().bodies[0];
        let mut again = body.x.clone();
        topology.mapping.apply(&mut again);
        assert_eq!(again, body.x);
        // Free fall, without strain: as one.
        let first = topology.rest_positions[0] - body.x[0];
        assert!(first.y > 0.1);
        for (r, x) in topology.rest_positions.iter().zip(&body.x) {
            assert!((*r - *x - first).length() < 1e-4 * first.y);
        }
    }
}

#[test]
fn an_embedded_ball_lands_on_its_surface() {
    let mut scene = embedded_ball(Cells::Hexahedra);
    scene.bodies[0].placement.translate = [0.0, 0.6, 0.0];
    scene.bodies[0].young_modulus = Some(2e5);
    scene.bodies[0].rayleigh = Some(Rayleigh { mass: 1.0, stiffness: Some(0.01) });
    scene.colliders.push(Collider::default());
    scene.colliders[0].shape = ColliderShape::Plane(PlaneShape { normal: [0.0, 1.0, 0.0] });
    let mut s = start(&scene);
    (0..180).for_each(|_| s.step());
    let measures = s.measures();
    // On the skin, less what the spring of a contact gives way, three quarters of it where a single corner bears what lies around it; and it does
    // not fall: in a step it would get 0.16 m/s. It may roll: its surface has corners, and it need not lie on the right ones.
    assert!(measures.lowest > 0.49e-3 && measures.lowest < 2.1e-3, "{}", measures.lowest);
    assert!((measures.momentum.y / measures.mass).abs() < 0.016, "{}", measures.momentum);
    let highest = s.state().bodies[0].x.iter().map(|x| x.y).fold(0.0, f64::max);
    assert!(highest > 0.9 && highest < 1.1, "{highest}");
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

/// How far the free end is below where it was, m.
fn drop_now(s: &Simulation) -> f64 {
    let body = &s.state().bodies[0];
    let rest = &body.topology.rest_positions;
    let far = rest.iter().map(|r| r.x).fold(0.0, f64::max);
    let end: Vec<usize> = (0..rest.len()).filter(|i| rest[*i].x > far - 1e-9).collect();
    end.iter().map(|i| rest[*i].y - body.x[*i].y).sum::<f64>() / end.len() as f64
}

#[test]
fn grids_and_incomplete_factors_find_what_a_whole_factor_finds() {
    let run = |preconditioner, multigrid, threads: usize| {
        let mut scene = beam(SolverKind::ImplicitEulerCg, true);
        scene.bodies[0].shape =
            Shape::Block(Block { size: [0.2, 0.04, 0.04], cells: [25, 5, 5], cut: Cells::Hexahedra });
        scene.groups[0].cg =
            Cg { tolerance: 1e-7, max_iterations: 500, preconditioner, multigrid, ..Cg::default() };
        let mut s = start(&scene).with_threads(threads).unwrap();
        let mut most = 0;
        for _ in 0..20 {
            s.step();
            most = most.max(s.solver_iterations(0));
        }
        (s.state().bodies[0].x.clone(), most, drop_now(&s))
    };
    let (exact, _, drop) = run(Preconditioner::Cholesky, Multigrid::default(), 1);
    assert!(drop > 0.01, "it bends: {drop}");
    let mut settings = Vec::new();
    for cycle in [MultigridCycle::V, MultigridCycle::Full] {
        for smoother in [Smoother::GaussSeidel, Smoother::ConjugateGradient] {
            let multigrid = Multigrid { cycle, smoother, ..Multigrid::default() };
            settings.push((Preconditioner::Multigrid, multigrid, 60));
        }
    }
    settings.push((Preconditioner::IncompleteCholesky, Multigrid::default(), 300));
    for (preconditioner, multigrid, limit) in settings {
        let (found, most, _) = run(preconditioner, multigrid, 1);
        let apart = exact.iter().zip(&found).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(apart < 1e-5 * drop, "{preconditioner:?} {multigrid:?}: {apart} of {drop}");
        assert!(most < limit, "{preconditioner:?} {multigrid:?}: {most} iterations");
        assert_eq!(found, run(preconditioner, multigrid, 2).0, "{preconditioner:?} {multigrid:?}");
    }
}

#[test]
fn grids_of_embedded_cells_keep_momentum_and_are_restored() {
    let mut scene = embedded_ball(Cells::Hexahedra);
    scene.groups[0].cg.preconditioner = Preconditioner::Multigrid;
    scene.groups[0].cg.multigrid.levels = Some(3);
    scene.gravity = [0.0; 3];
    scene.bodies[0].rayleigh = None;
    let mut whole = start(&scene);
    let x = whole.state().bodies[0].x.clone();
    for (x, v) in x.iter().zip(&mut whole.state_mut().bodies[0].v) {
        *v = DVec3::new(0.0, 2.0 * x.x, 3.0 * x.y * x.y);
    }
    let topology = whole.model().bodies[0].topology.clone();
    topology.mapping.apply_j(&mut whole.state_mut().bodies[0].v);
    let momentum = |s: &Simulation| {
        s.state().bodies[0].v.iter().zip(&topology.masses).map(|(v, m)| *v * *m).sum::<DVec3>()
    };
    let before = momentum(&whole);
    let kept = whole.snapshot();
    (0..5).for_each(|_| whole.step());
    assert!((momentum(&whole) - before).length() < 1e-11 * before.length(), "{before} {}", momentum(&whole));
    assert!(
        whole.solver_iterations(0) > 0 && whole.solver_iterations(0) < 40,
        "{}",
        whole.solver_iterations(0)
    );
    let mut again = start(&scene);
    again.restore(&kept).unwrap();
    (0..2).for_each(|_| again.step());
    let kept = again.snapshot();
    let mut restored = start(&scene);
    restored.restore(&kept).unwrap();
    (0..3).for_each(|_| restored.step());
    assert_eq!(whole.state().bodies[0].x, restored.state().bodies[0].x);
}

#[test]
fn quasi_static_goes_to_where_motion_comes_to_rest() {
    for cut in [Cells::Hexahedra, Cells::Five] {
        let mut scene = measured_beam(cut, [20, 2, 2]);
        scene.groups[0].cg.tolerance = 1e-5;
        let moved = drop_at_rest(&scene);
        scene.groups[0].solver = SolverKind::QuasiStatic;
        let mut s = start(&scene);
        (0..3).for_each(|_| s.step());
        let found = drop_now(&s);
        assert!(moved > 0.01 && (found / moved - 1.0).abs() < 1e-3, "{cut:?}: {found} {moved}");
        // It stays.
        s.step();
        assert!((drop_now(&s) - found).abs() < 1e-6 * found);
        assert!(s.measures().kinetic_energy < 1e-9);
        assert!(s.warnings().is_empty());
    }
}

#[test]
fn equilibrium_is_approached_with_ever_less_energy() {
    for law in [SolidLaw::Polar, SolidLaw::Qr, SolidLaw::NeoHookean] {
        let mut scene = beam(SolverKind::ImplicitEulerCg, true);
        scene.bodies[0].law = Some(law);
        // Soft enough to hang down.
        scene.bodies[0].young_modulus = Some(3e4);
        let mut s = start(&scene);
        let model = ModelBuilder::new(&scene).build().unwrap();
        let report = settle(&model, s.state_mut(), 0, 1e-6, 500).unwrap();
        assert!(report.converged, "{law:?}: {} after {}", report.relative, report.iterations);
        assert!(report.energies.windows(2).all(|e| e[1] <= e[0]), "{law:?}: {:?}", report.energies);
        assert!(report.energies.len() as u32 == report.iterations + 1 && report.iterations > 1);
        assert!(drop_now(&s) > 0.05, "{}", drop_now(&s));
        // Once there, there is nothing to do.
        assert_eq!(settle(&model, s.state_mut(), 0, 1e-5, 500).unwrap().iterations, 0);
        assert_eq!(settle(&model, s.state_mut(), 1, 1e-5, 500), Err(EquilibriumError::NoBody(1)));
    }
    let scene = beam(SolverKind::ImplicitEulerCg, false);
    let model = ModelBuilder::new(&scene).build().unwrap();
    let mut s = start(&scene);
    let before = s.state().bodies[0].x.clone();
    assert_eq!(settle(&model, s.state_mut(), 0, 1e-5, 500), Err(EquilibriumError::Unsupported));
    assert_eq!(before, s.state().bodies[0].x);
}

#[test]
fn embedded_surfaces_settle_with_their_cells() {
    let mut scene = embedded_ball(Cells::Hexahedra);
    let top = Region { min: [-1.0, 0.3, -1.0], max: [1.0, 1.0, 1.0] };
    scene.bodies[0].pins = vec![Pin { select: Select::Within(top), ..Pin::default() }];
    let model = ModelBuilder::new(&scene).build().unwrap();
    let mut s = start(&scene);
    let report = settle(&model, s.state_mut(), 0, 1e-6, 200).unwrap();
    assert!(report.converged && report.iterations > 1, "{report:?}");
    let body = &s.state().bodies[0];
    let mut again = body.x.clone();
    body.topology.mapping.apply(&mut again);
    assert_eq!(again, body.x);
    let lowest = |x: &[DVec3]| x.iter().map(|x| x.y).fold(f64::INFINITY, f64::min);
    let sunk = lowest(&body.topology.rest_positions[..642]) - lowest(&body.x[..642]);
    assert!(sunk > 0.01, "{sunk}");
}

#[test]
fn points_of_an_embedded_surface_are_anchored_and_moved_by_hand() {
    let mut scene = embedded_ball(Cells::Hexahedra);
    scene.bodies[0].young_modulus = Some(2e5);
    let mut s = start(&scene);
    let rest = s.state().bodies[0].x.clone();
    // The highest points of the ball, some of which share a cell.
    let held: Vec<u32> = (0..642).filter(|v| rest[*v as usize].y > 0.45).collect();
    assert!(held.len() > 4);
    let body = scene.bodies[0].name.clone();
    s.command(Command::AnchorMany { body: body.clone(), vertices: held.clone() }).unwrap();
    (0..20).for_each(|_| s.step());
    let off = |s: &Simulation, by: DVec3| {
        let x = &s.state().bodies[0].x;
        held.iter().map(|v| x[*v as usize].distance(rest[*v as usize] + by)).fold(0.0, f64::max)
    };
    assert!(off(&s, DVec3::ZERO) < 1e-9, "{}", off(&s, DVec3::ZERO));
    let by = DVec3::new(0.05, 0.02, 0.0);
    s.command(Command::MoveAnchored { body: body.clone(), vertices: held.clone(), by: by.to_array() })
        .unwrap();
    s.step();
    // Found by turns: nearly at once, and then exactly.
    assert!(off(&s, by) < 1e-3 * by.length(), "{}", off(&s, by));
    (0..10).for_each(|_| s.step());
    assert!(off(&s, by) < 1e-6, "{}", off(&s, by));
    // It hangs: without being held it would have fallen by 0.5 m.
    let lowest = s.measures().lowest;
    assert!(lowest > -0.7 && lowest < -0.45, "{lowest}");
    s.command(Command::FreeMany { body, vertices: held }).unwrap();
    (0..20).for_each(|_| s.step());
    assert!(s.measures().lowest < lowest - 0.3);
}

/// Any budget is stable (FAU-32, FAU-38): a beam that swings under its weight, and one that was thrown together at random, in a handful of iterations.
#[test]
fn few_iterations_are_stable() {
    for most in [1, 2, 5] {
        for preconditioner in [Preconditioner::Auto, Preconditioner::Blocks] {
            for clamped in [true, false] {
                let mut scene = beam(SolverKind::ImplicitEulerCg, clamped);
                scene.groups[0].cg = Cg { max_iterations: most, preconditioner, ..Cg::default() };
                scene.bodies[0].rayleigh = None;
                if !clamped {
                    scene.gravity = [0.0; 3];
                }
                let mut s = start(&scene);
                if !clamped {
                    for (i, x) in s.state_mut().bodies[0].x.iter_mut().enumerate() {
                        let part = |k: u64| 0.01 * (souple::math::uniform(3, 3 * i as u64 + k) - 0.5);
                        *x += DVec3::new(part(0), part(1), part(2));
                    }
                }
                let energy = |s: &Simulation| {
                    let m = s.measures();
                    m.kinetic_energy + m.elastic_energy + m.potential_energy
                };
                let first = energy(&s);
                // Of a body that is strained by as much as it is long a step is not linear: then energy is bounded, not less in each.
                let bound = if clamped { first + 0.02 * first.abs().max(0.1) } else { 1.5 * first };
                for _ in 0..300 {
                    s.step();
                    assert!(energy(&s) < bound, "{most} {preconditioner:?}: {} {first}", energy(&s));
                }
                assert!(energy(&s) < first, "{most} {preconditioner:?}: {} {first}", energy(&s));
                let diverged = |w: &Warning| !matches!(w.kind, WarningKind::CutShort { .. });
                assert!(!s.warnings().iter().any(diverged), "{:?}", s.warnings());
            }
        }
    }
}

#[test]
fn a_time_budget_is_honest() {
    let mut scene = beam(SolverKind::ImplicitEulerCg, true);
    // So short that one iteration is all.
    scene.groups[0].cg = Cg { max_ms: Some(1e-6), tolerance: 1e-9, ..Cg::default() };
    let model = ModelBuilder::new(&scene).build().unwrap();
    let lints = souple::check::lint(&scene, &model);
    assert!(lints.iter().any(|lint| lint.field == "group[0].cg.max_ms"), "{lints:?}");
    let mut s = Simulation::new(model);
    let error = s.start_recording(String::new()).unwrap_err().to_string();
    assert!(error.contains("cg.max_ms"), "{error}");
    (0..20).for_each(|_| s.step());
    assert_eq!(s.solver_iterations(0), 1);
    assert!(s.profile().cut_short > 0);
    // Enough time is as none.
    let run = |max_ms: Option<f64>| {
        scene.groups[0].cg.max_ms = max_ms;
        let mut s = start(&scene);
        (0..5).for_each(|_| s.step());
        s.state().bodies[0].x.clone()
    };
    let mut run = run;
    assert_eq!(run(Some(1e9)), run(None));
    scene.groups[0].cg.max_ms = Some(0.0);
    let error = ModelBuilder::new(&scene).build().unwrap_err().to_string();
    assert!(error.contains("group[0].cg.max_ms"), "{error}");
}

#[test]
fn the_longest_explicit_step_of_a_solid_is_forecast() {
    for (cut, solver) in [
        (Cells::Five, SolverKind::SymplecticEuler),
        (Cells::Hexahedra, SolverKind::Verlet),
        (Cells::Five, SolverKind::Rk4),
    ] {
        let scene = |fps: f64| {
            let mut scene = beam(solver, false);
            scene.bodies[0].shape = Shape::Block(Block { size: [0.2, 0.04, 0.04], cells: [5, 2, 2], cut });
            scene.bodies[0].rayleigh = Some(Rayleigh { mass: 0.0, stiffness: Some(1e-5) });
            scene.gravity = [0.0; 3];
            scene.time.fps = fps;
            scene
        };
        let longest = souple::check::forecast_steps(start(&scene(60.0)).model())[0].longest_dt;
        assert!(longest.is_finite() && longest > 1e-5, "{longest}");
        let shaken = |h: f64| {
            let mut s = start(&scene(1.0 / h));
            for (i, x) in s.state_mut().bodies[0].x.iter_mut().enumerate() {
                let part = |k: u64| 1e-7 * (souple::math::uniform(3, 3 * i as u64 + k) - 0.5);
                *x += DVec3::new(part(0), part(1), part(2));
            }
            for _ in 0..1500 {
                s.step();
                if !s.warnings().is_empty() {
                    return f64::INFINITY;
                }
            }
            s.measures().kinetic_energy
        };
        assert!(shaken(0.9 * longest) < 1e-9, "{cut:?} {solver:?}: unstable below {longest}");
        assert!(shaken(1.1 * longest) > 1e-6, "{cut:?} {solver:?}: stable above {longest}");
        let odd = scene(0.5 / longest);
        let lints = souple::check::lint(&odd, start(&odd).model());
        assert!(lints.iter().any(|lint| lint.message.contains("will diverge")), "{lints:?}");
    }
}

#[test]
fn a_flat_tetrahedron_is_refused_as_one() {
    let mut scene = beam(SolverKind::ImplicitEulerCg, false);
    for last in [[0.3, 0.3, 0.0], [0.5, 0.0, 0.0]] {
        let positions = vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], last, [0.0, 0.0, 1.0]];
        let tetrahedra = vec![[0, 1, 2, 4], [0, 1, 2, 3]];
        scene.bodies[0].shape =
            Shape::Mesh(souple::scene::InlineMesh { positions, tetrahedra, ..Default::default() });
        let error = ModelBuilder::new(&scene).build().unwrap_err().to_string();
        assert!(error.contains("tetrahedron 1") && error.contains("volume"), "{error}");
        assert!(!error.contains("triangle"), "{error}");
    }
}

/// The far side of a soft ball is thrust through the rest of it at the usual step of a sixtieth of a second: cells turn over in a single step, where
/// one linear solve throws them away for good (FAU-03).
#[test]
fn what_is_thrust_through_itself_comes_back() {
    let beyond =
        |low: f64, high: f64| Select::Within(Region { min: [low, -1.0, -1.0], max: [high, 1.0, 1.0] });
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum With {
        Nothing,
        /// Another preconditioner.
        Blocks,
        /// Another body far away, with which it is solved as one.
        Bead,
    }
    let end = |law: SolidLaw, force: [f64; 3], with: With| {
        let mut scene = beam(SolverKind::ImplicitEulerCg, false);
        if with == With::Blocks {
            scene.groups[0].cg.preconditioner = Preconditioner::Blocks;
        }
        let body = &mut scene.bodies[0];
        body.shape = Shape::Ball(Ball { radius: 0.1, subdivisions: 3 });
        body.embed = Some(Embed { cell: 0.03, ..Embed::default() });
        body.law = Some(law);
        (body.young_modulus, body.poisson_ratio) = (Some(5e3), Some(0.45));
        body.rayleigh = Some(Rayleigh { mass: 1.0, stiffness: Some(0.01) });
        body.pins = vec![Pin { select: beyond(-1.0, -0.06), ..Pin::default() }];
        body.pulls = vec![Pull { select: beyond(0.08, 1.0), force, from: 0.5, until: Some(1.0) }];
        if with == With::Bead {
            scene.bodies[0].contact = Some(SurfaceContact { itself: false, ..SurfaceContact::default() });
            let mut bead = scene.bodies[0].clone();
            bead.name = "bead".into();
            bead.placement.translate = [5.0, 0.0, 0.0];
            bead.pins = vec![Pin { select: beyond(-1.0, 10.0), ..Pin::default() }];
            bead.pulls.clear();
            scene.bodies.push(bead);
        }
        let mut s = start(&scene);
        (0..300).for_each(|_| s.step());
        let diverged = |w: &&Warning| !matches!(w.kind, WarningKind::CutShort { .. });
        assert_eq!(s.warnings().iter().find(diverged), None, "{law:?}, {with:?}");
        s.state().bodies[0].x.clone()
    };
    for law in [SolidLaw::Polar, SolidLaw::Qr] {
        for with in [With::Nothing, With::Blocks, With::Bead] {
            let (alone, after) = (end(law, [0.0; 3], with), end(law, [-60.0, 10.0, 0.0], with));
            let furthest = alone.iter().zip(&after).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
            assert!(furthest < 1e-3, "{law:?}, {with:?}: {furthest} m");
        }
    }
}
