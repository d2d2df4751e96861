//! Bodies with cells of several sizes, and bodies that change theirs (FAU-24, FAU-25, FAU-26): masses, rigid motion, all solvers that take solids, momentum as cells are divided and joined,
//! the same bits for any number of threads and after a restore, and what is refused.

use glam::DVec3;
use souple::math::rotation;
use souple::scene::{
    Ball, Block, Body, Cells, Cg, Embed, FineAt, Group, Pin, Plasticity, Preconditioner, Pull, Rayleigh,
    Region, Resolution, Scene, Select, Shape, SolverKind, Time,
};
use souple::snapshot::with_checksum;
use souple::{Model, ModelBuilder, Simulation};

fn resolution(levels: u32, fine_at: FineAt) -> Option<Resolution> {
    Some(Resolution { levels, fine_at, ..Resolution::default() })
}

fn ball(cell: f64, resolution: Option<Resolution>) -> Body {
    Body {
        name: "ball".into(),
        shape: Shape::Ball(Ball { radius: 0.5, subdivisions: 3 }),
        embed: Some(Embed { cell, ..Embed::default() }),
        resolution,
        density: Some(1000.0),
        young_modulus: Some(2e4),
        poisson_ratio: Some(0.4),
        ..Body::default()
    }
}

fn bar(cells: [u32; 3], resolution: Option<Resolution>) -> Body {
    Body {
        name: "bar".into(),
        shape: Shape::Block(Block { size: [0.8, 0.2, 0.2], cells, cut: Cells::Hexahedra }),
        resolution,
        density: Some(1000.0),
        young_modulus: Some(1e5),
        poisson_ratio: Some(0.3),
        ..Body::default()
    }
}

/// Fine in the quarter of the bar that is held, and a few larger cells for the rest.
fn fine_at_the_wall() -> Option<Resolution> {
    let regions = vec![Region { min: [-1.0; 3], max: [0.19, 1.0, 1.0] }];
    Some(Resolution { regions, ..coarse() })
}

fn coarse() -> Resolution {
    Resolution { levels: 2, fine_at: FineAt::Regions, ..Resolution::default() }
}

fn scene(body: Body, solver: SolverKind) -> Scene {
    Scene {
        time: Time { fps: 60.0, frames: 60 },
        groups: vec![Group { solver, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    }
}

fn build(scene: &Scene) -> Model {
    ModelBuilder::new(scene).build().unwrap_or_else(|error| panic!("{error}"))
}

fn free(scene: &mut Scene) {
    scene.gravity = [0.0; 3];
}

fn mass(s: &Simulation) -> f64 {
    s.state().bodies[0].topology.masses.iter().sum()
}

fn momentum(s: &Simulation) -> DVec3 {
    let body = &s.state().bodies[0];
    body.topology.masses.iter().zip(&body.v).map(|(m, v)| *v * *m).sum()
}

fn centre(s: &Simulation) -> DVec3 {
    let body = &s.state().bodies[0];
    body.topology.masses.iter().zip(&body.x).map(|(m, x)| *x * *m).sum::<DVec3>() / mass(s)
}

fn count(s: &Simulation) -> usize {
    s.state().bodies[0].topology.hexahedra.len()
}

#[test]
fn cells_are_large_inside_and_the_body_weighs_the_same() {
    let fine = Simulation::new(build(&scene(ball(0.05, None), SolverKind::ImplicitEulerCg)));
    let mixed = Simulation::new(build(&scene(
        ball(0.05, resolution(2, FineAt::Surface)),
        SolverKind::ImplicitEulerCg,
    )));
    assert!(count(&mixed) < count(&fine) * 7 / 10, "{} of {}", count(&mixed), count(&fine));
    assert!((mass(&mixed) / mass(&fine) - 1.0).abs() < 1e-12);
    assert!(centre(&mixed).distance(centre(&fine)) < 1e-12);
    let topology = &mixed.state().bodies[0].topology;
    for (v, m) in (0u32..).zip(&topology.masses) {
        assert_eq!(topology.mapping.follows(v), *m == 0.0, "particle {v} weighs {m}");
    }
}

#[test]
fn rigid_motion_costs_nothing_and_forces_are_in_balance() {
    for body in [ball(0.07, resolution(3, FineAt::Surface)), bar([16, 4, 4], fine_at_the_wall())] {
        let mut scene = scene(body, SolverKind::ImplicitEulerCg);
        free(&mut scene);
        let mut s = Simulation::new(build(&scene));
        let turn = rotation(DVec3::new(40.0, 70.0, -20.0));
        let state = &mut s.state_mut().bodies[0];
        state.x.iter_mut().for_each(|x| *x = turn * *x + DVec3::new(1.0, 2.0, 3.0));
        let before = state.x.clone();
        (0..5).for_each(|_| s.step());
        // Corners of large cells that lie in none that is in use are put near something: they are not seen.
        let seen = s.model().bodies[0].topology.visible();
        let pairs = before[..seen].iter().zip(&s.state().bodies[0].x);
        let moved = pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        assert!(moved < 1e-9, "{moved}");
    }
}

/// How far the end of a clamped bar hangs down at rest, m.
fn sag(resolution: Option<Resolution>, solver: SolverKind, preconditioner: Preconditioner) -> f64 {
    let mut body = bar([16, 4, 4], resolution);
    body.young_modulus = Some(2e6);
    body.rayleigh = Some(Rayleigh { mass: 8.0, stiffness: None });
    let wall = Region { min: [-0.01, -1.0, -1.0], max: [0.01, 1.0, 1.0] };
    body.pins = vec![Pin { select: Select::Within(wall), ..Pin::default() }];
    let mut scene = scene(body, solver);
    scene.groups[0].cg = Cg { tolerance: 1e-10, max_iterations: 2000, preconditioner, ..Cg::default() };
    if matches!(solver, SolverKind::Rk4 | SolverKind::Verlet) {
        scene.groups[0].dt = Some(3e-4);
    }
    let mut s = Simulation::new(build(&scene));
    (0..180).for_each(|_| s.step());
    let (rest, x) = (&s.model().bodies[0].topology.rest_positions, &s.state().bodies[0].x);
    let end: Vec<f64> = rest.iter().zip(x).filter(|(r, _)| r.x > 0.799).map(|(r, x)| r.y - x.y).collect();
    end.iter().sum::<f64>() / end.len() as f64
}

#[test]
fn all_solvers_and_preconditioners_find_the_same_rest() {
    let mixed = fine_at_the_wall;
    let exact = sag(mixed(), SolverKind::ImplicitEulerCholesky, Preconditioner::Auto);
    assert!((0.03..0.3).contains(&exact), "{exact}");
    for preconditioner in [
        Preconditioner::Blocks,
        Preconditioner::Cholesky,
        Preconditioner::Multigrid,
        Preconditioner::IncompleteCholesky,
    ] {
        let found = sag(mixed(), SolverKind::ImplicitEulerCg, preconditioner);
        assert!((found / exact - 1.0).abs() < 1e-5, "{preconditioner:?}: {found} instead of {exact}");
    }
    for solver in [SolverKind::Rk4, SolverKind::Verlet, SolverKind::QuasiStatic] {
        let found = sag(mixed(), solver, Preconditioner::Auto);
        assert!((found / exact - 1.0).abs() < 1e-2, "{solver:?}: {found} instead of {exact}");
    }
}

#[test]
fn a_bar_with_few_cells_where_it_bends_little_bends_as_the_fine_one_does() {
    let of = |r| sag(r, SolverKind::ImplicitEulerCholesky, Preconditioner::Auto);
    let (fine, mixed, coarse) = (of(None), of(fine_at_the_wall()), of(Some(coarse())));
    assert!((mixed / fine - 1.0).abs() < 0.02, "{mixed} instead of {fine}");
    assert!((mixed - fine).abs() < (coarse - fine).abs(), "{mixed} {coarse} {fine}");
}

/// A bar, or a surface in cells, that is bent by opposite torques at its ends for a while, by the pairs of forces that follow; nothing holds it.
fn bent(rules: Resolution, surface: bool) -> Scene {
    let mut body = match surface {
        true => ball(0.0625, Some(rules)),
        false => bar([16, 4, 4], Some(rules)),
    };
    body.young_modulus = Some(4e3);
    body.rayleigh = Some(Rayleigh { mass: 2.0, stiffness: Some(0.02) });
    let (low, high) = if surface {
        (DVec3::splat(-0.5), DVec3::splat(0.5))
    } else {
        (DVec3::ZERO, DVec3::new(0.8, 0.2, 0.2))
    };
    let newtons = if surface { 150.0 } else { 6.0 };
    let (middle, size) = ((low + high) * 0.5, high - low);
    let pull = |end: f64, side: f64| {
        let at = middle + size * DVec3::new(0.5 * end, 0.5 * side, 0.0);
        let reach = size * DVec3::new(0.15, 0.3, 0.6);
        let select = Select::Within(Region { min: (at - reach).into(), max: (at + reach).into() });
        Pull { select, force: [-end * side * newtons, 0.0, 0.0], until: Some(0.5), ..Pull::default() }
    };
    body.pulls = vec![pull(-1.0, -1.0), pull(-1.0, 1.0), pull(1.0, -1.0), pull(1.0, 1.0)];
    body.velocity = [0.3, 0.1, -0.2];
    let mut scene = scene(body, SolverKind::ImplicitEulerCg);
    free(&mut scene);
    scene
}

fn bends(levels: u32) -> Resolution {
    Resolution {
        levels,
        fine_at: FineAt::Bends,
        refine_above: 0.1,
        join_below: 0.05,
        ..Resolution::default()
    }
}

#[test]
fn cells_are_divided_as_a_body_bends_and_joined_as_it_straightens() {
    for surface in [false, true] {
        let mut s = Simulation::new(build(&bent(bends(if surface { 4 } else { 2 }), surface)));
        let start = count(&s);
        assert_eq!(start, if surface { 1 } else { 4 });
        let mut most = start;
        for _ in 0..360 {
            s.step();
            most = most.max(count(&s));
        }
        assert!(most >= start + 30, "{most} cells at most");
        assert!(count(&s) < most / 2, "{} cells at the end, {most} at most", count(&s));
        assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    }
}

#[test]
fn mass_place_and_momentum_stay_as_cells_change() {
    for surface in [false, true] {
        let mut scene = bent(bends(if surface { 4 } else { 2 }), surface);
        scene.bodies[0].rayleigh = Some(Rayleigh { mass: 0.0, stiffness: Some(0.02) });
        let mut s = Simulation::new(build(&scene));
        let (m, before) = (mass(&s), momentum(&s));
        assert!(before.distance(DVec3::new(0.3, 0.1, -0.2) * m) < 1e-9 * m);
        let (mut divided, mut joined) = (0, 0);
        for _ in 0..240 {
            let (place, cells) = (centre(&s), count(&s));
            s.step();
            assert!((mass(&s) / m - 1.0).abs() < 1e-12);
            // The four forces are in balance.
            assert!(momentum(&s).distance(before) < 1e-9 * m, "{} {before}", momentum(&s));
            assert!((centre(&s) - place - before / m / 60.0).length() < 1e-9);
            divided += i32::from(count(&s) > cells);
            joined += i32::from(count(&s) < cells);
        }
        assert!(divided >= 2 && joined >= 2, "{divided} {joined}");
    }
}

#[test]
fn bits_are_the_same_for_any_number_of_threads_and_after_a_restore() {
    let scene = bent(bends(4), true);
    let run = |threads: usize| {
        let mut s = Simulation::new(build(&scene)).with_threads(threads).expect("threads");
        (0..50).for_each(|_| s.step());
        s
    };
    let (mut one, three) = (run(1), run(3));
    assert_eq!(one.state().hash(), three.state().hash());
    assert!(one.state().bodies[0].topology.version > 0);
    let mut again = Simulation::new(build(&scene));
    again.restore(&one.snapshot()).expect("its own snapshot");
    assert_eq!(again.state(), one.state());
    for _ in 0..30 {
        one.step();
        again.step();
    }
    assert_eq!(again.state().hash(), one.state().hash());
}

#[test]
fn damaged_cells_are_refused() {
    let mut s = Simulation::new(build(&bent(bends(4), true)));
    (0..40).for_each(|_| s.step());
    let snapshot = s.snapshot();
    let topology = &s.state().bodies[0].topology;
    let leaves = topology.in_use.as_ref().expect("it refines itself").leaves.clone();
    assert!(topology.version > 0 && leaves.len() > 1);
    let listed: Vec<u8> = leaves.iter().flat_map(|leaf| leaf.to_le_bytes()).collect();
    let at = snapshot.windows(listed.len()).position(|w| w == listed).expect("its leaves are listed");
    let damaged = |leaves: &[u32]| {
        let mut bytes = snapshot[..snapshot.len() - 8].to_vec();
        bytes[at..at + listed.len()]
            .copy_from_slice(&leaves.iter().flat_map(|l| l.to_le_bytes()).collect::<Vec<u8>>());
        with_checksum(&bytes)
    };
    let mut again = Simulation::new(build(&bent(bends(4), true)));
    again.restore(&damaged(&leaves)).expect("nothing is damaged");
    let last = leaves.len() - 1;
    let mut twice = leaves.clone();
    twice[last] = twice[last - 1];
    let mut beyond = leaves.clone();
    beyond[last] = u32::MAX;
    let mut swapped = leaves.clone();
    swapped.swap(0, last);
    for wrong in [twice, beyond, swapped] {
        let error = again.restore(&damaged(&wrong)).expect_err("these are no cells of a cut");
        assert!(error.to_string().contains("cells of body 'ball'"), "{error}");
    }
}

#[test]
fn a_changed_model_goes_on_with_the_same_cells_and_refuses_others() {
    let written = bent(bends(4), true);
    let mut s = Simulation::new(build(&written));
    (0..40).for_each(|_| s.step());
    let leaves = s.state().bodies[0].topology.in_use.as_ref().expect("it refines itself").leaves.clone();
    assert!(leaves.len() > 1);
    // Another stiffness, the same cells.
    let mut changed = written.clone();
    changed.bodies[0].young_modulus = Some(8e3);
    s.adopt(build(&changed)).expect("the same cells");
    assert_eq!(s.state().bodies[0].topology.in_use.as_ref().expect("still").leaves, leaves);
    s.step();
    // Other cells.
    let mut other = written.clone();
    other.bodies[0].resolution = Some(bends(3));
    assert!(s.adopt(build(&other)).is_err());
}

#[test]
fn there_are_never_more_cells_than_allowed_and_supports_stand() {
    let mut written = bent(Resolution { max_cells: 150, ..bends(2) }, false);
    let wall = Region { min: [-0.01, -1.0, -1.0], max: [0.01, 1.0, 1.0] };
    written.bodies[0].pins = vec![Pin { select: Select::Within(wall), ..Pin::default() }];
    written.gravity = [0.0, -9.81, 0.0];
    let mut s = Simulation::new(build(&written));
    let held: Vec<(u32, DVec3)> = s.state().bodies[0].pinned.iter().map(|p| (p.vertex, p.anchor)).collect();
    assert_eq!(held.len(), 25);
    for _ in 0..120 {
        s.step();
        assert!(count(&s) <= 150, "{}", count(&s));
        let body = &s.state().bodies[0];
        for (v, anchor) in &held {
            assert!(!body.topology.mapping.follows(*v));
            assert!(body.x[*v as usize].distance(*anchor) < 1e-12);
        }
    }
    assert!(s.state().bodies[0].topology.version > 0);
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |body: Body| {
        let error = ModelBuilder::new(&scene(body, SolverKind::ImplicitEulerCg)).build();
        error.expect_err("it must be refused").to_string()
    };
    let tetrahedra = Body {
        shape: Shape::Block(Block { cut: Cells::Five, ..Block::default() }),
        ..bar([4, 4, 4], resolution(1, FineAt::Surface))
    };
    assert!(refused(tetrahedra).contains("resolution"));
    assert!(refused(bar([4, 4, 4], resolution(0, FineAt::Surface))).contains("levels"));
    assert!(refused(bar([4, 4, 4], resolution(99, FineAt::Surface))).contains("levels"));
    let rules = Resolution { refine_above: 0.1, join_below: 0.3, ..bends(1) };
    assert!(refused(bar([4, 4, 4], Some(rules))).contains("join_below"));
    let plastic = Body { plasticity: Some(Plasticity::default()), ..bar([4, 4, 4], Some(bends(1))) };
    assert!(refused(plastic).contains("plasticity"));
    let region = Region { min: [0.0; 3], max: [0.1, -0.1, 0.1] };
    let turned = Resolution { regions: vec![region], ..Resolution::default() };
    assert!(refused(bar([4, 4, 4], Some(turned))).contains("region"));
}
