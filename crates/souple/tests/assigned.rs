//! Colliders that are held against some particles only (SIM-32): by all solvers, after tears, and with clear errors.

use souple::check::lint;
use souple::scene::*;
use souple::{Command, ModelBuilder, SceneError, Simulation};

const SKIN: f64 = 0.004;

/// Vertices along a side of the sheet.
const N: u32 = 13;

/// A square of 0.4 m, level, 5 cm above the floor.
fn sheet(name: &str) -> Body {
    Body {
        name: name.into(),
        mass: Some(0.03),
        bending: Some(1e-5),
        shape: Shape::Grid(Grid { vertices: [N, N], size: [0.4, 0.4], ..Grid::default() }),
        placement: Placement { translate: [0.0, 0.05, 0.0], ..Placement::default() },
        springs: Springs {
            stretch: Family { modulus: Some(60.0), ..Family::default() },
            shear: Family { modulus: Some(10.0), ..Family::default() },
            ..Springs::default()
        },
        rayleigh: Some(Rayleigh { mass: 0.5, stiffness: Some(1e-4) }),
        skin: SKIN,
        ..Body::default()
    }
}

/// A floor that is held against some particles.
fn floor(only: Option<Vec<Assigned>>) -> Collider {
    Collider { name: "floor".into(), only, ..Collider::default() }
}

fn only(body: &str, select: Select) -> Option<Vec<Assigned>> {
    Some(vec![Assigned { body: body.into(), select }])
}

/// The half of the sheet that is first along x.
fn half() -> Select {
    Select::Within(Region { min: [-1.0; 3], max: [0.19, 1.0, 1.0] })
}

fn is_in_half(v: u32) -> bool {
    v % N <= 5
}

fn scene(solver: SolverKind, bodies: Vec<Body>, colliders: Vec<Collider>) -> Scene {
    let dt = match solver {
        SolverKind::SymplecticEuler | SolverKind::Rk4 => 1.0 / 6000.0,
        _ => 1.0 / 600.0,
    };
    Scene {
        groups: vec![Group { solver, dt: Some(dt), ..Group::default() }],
        bodies,
        colliders,
        ..Scene::default()
    }
}

fn simulation(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

const SOLVERS: [SolverKind; 5] = [
    SolverKind::Xpbd,
    SolverKind::SymplecticEuler,
    SolverKind::ImplicitEulerCg,
    SolverKind::ProjectiveDynamics,
    SolverKind::VertexBlockDescent,
];

#[test]
fn a_list_of_all_that_could_touch_changes_no_bit() {
    for solver in SOLVERS {
        let mut body = sheet("sheet");
        body.pins = vec![Pin { select: Select::Border(Border::V0), ..Pin::default() }];
        let ball = Collider {
            name: "ball".into(),
            shape: ColliderShape::Sphere(SphereShape { radius: 0.06 }),
            position: [0.2, 0.0, 0.25],
            restitution: 0.3,
            motion: Some(Motion { velocity: [0.0, 0.05, 0.0], ..Motion::default() }),
            ..Collider::default()
        };
        let mut scene = scene(solver, vec![body], vec![floor(None), ball]);
        let mut hashes = |only: Option<Vec<Assigned>>| {
            scene.colliders.iter_mut().for_each(|c| c.only.clone_from(&only));
            let mut s = simulation(&scene);
            let mut touched = [false; 2];
            let hashes: Vec<u64> = (0..25)
                .map(|_| {
                    s.step();
                    s.contacts(0).iter().for_each(|point| touched[point.collider as usize] = true);
                    s.state_hash()
                })
                .collect();
            assert_eq!(touched, [true; 2], "{solver:?}: the test wants contact");
            assert!(s.warnings().is_empty(), "{solver:?}: {:?}", s.warnings());
            hashes
        };
        let without = hashes(None);
        assert_eq!(hashes(only("sheet", Select::All)), without, "{solver:?}");
        assert_eq!(hashes(only("sheet", Select::Vertices((0..N * N).rev().collect()))), without);
        // Supported particles are not touched anyway; without them it is a list.
        assert_eq!(hashes(only("sheet", Select::Vertices((N..N * N).collect()))), without, "{solver:?}");
        assert_ne!(hashes(only("sheet", Select::Vertices((N..N * N - 1).collect()))), without);
    }
}

#[test]
fn what_is_not_on_the_list_passes_through_and_what_is_stays_out() {
    for solver in SOLVERS {
        let mut other = sheet("other");
        other.placement.translate[2] = 1.0;
        let scene = scene(solver, vec![sheet("sheet"), other], vec![floor(only("sheet", half()))]);
        let mut s = simulation(&scene);
        for frame in 0..40 {
            s.step();
            assert!(s.warnings().is_empty(), "{solver:?}: {:?}", s.warnings());
            for (v, x) in (0u32..).zip(&s.state().bodies[0].x).filter(|(v, _)| is_in_half(*v)) {
                assert!(x.y > SKIN - 1e-6, "{solver:?}, frame {frame}: {v} is at {x}");
            }
            assert!(s.contacts(0).iter().all(|point| is_in_half(point.vertex)), "{solver:?}");
            assert!(s.contacts(1).is_empty(), "{solver:?}");
        }
        assert!(!s.contacts(0).is_empty(), "{solver:?}");
        let [x, other] = [0, 1].map(|b| &s.state().bodies[b].x);
        let hangs = (0u32..).zip(x).filter(|(v, _)| v % N == N - 1);
        hangs.for_each(|(v, x)| assert!(x.y < -0.03, "{solver:?}: {v} is at {x}"));
        // Nothing holds the other one: it falls freely but for its damping.
        assert!(other.iter().all(|x| x.y < -1.5), "{solver:?}");
    }
}

#[test]
fn a_particle_on_one_collider_is_not_told_or_thrown_by_another_that_it_is_not_held_against() {
    for solver in [SolverKind::Xpbd, SolverKind::SymplecticEuler] {
        let ball = |only| Collider {
            name: "ball".into(),
            shape: ColliderShape::Sphere(SphereShape { radius: 0.3 }),
            position: [0.4, -0.28, 0.2],
            restitution: 0.9,
            only,
            ..Collider::default()
        };
        // The ball stands out of the floor under the other half.
        let held = scene(solver, vec![sheet("sheet")], vec![floor(None), ball(only("sheet", half()))]);
        let alone = scene(solver, vec![sheet("sheet")], vec![floor(None)]);
        let [mut held, mut alone] = [&held, &alone].map(simulation);
        for _ in 0..20 {
            held.step();
            alone.step();
            assert_eq!(held.state().bodies, alone.state().bodies, "{solver:?}");
            assert_eq!(held.contacts(0), alone.contacts(0), "{solver:?}");
        }
        assert!(alone.contacts(0).iter().any(|point| !is_in_half(point.vertex)));
        let mut thrown = simulation(&scene(solver, vec![sheet("sheet")], vec![floor(None), ball(None)]));
        (0..20).for_each(|_| thrown.step());
        assert_ne!(
            thrown.state().bodies,
            alone.state().bodies,
            "{solver:?}: the test wants a ball in the way"
        );
    }
}

#[test]
fn particles_made_by_a_cut_are_held_as_the_one_they_come_from() {
    for solver in SOLVERS {
        // Both lips of the cut along x = 0.2 m, and nothing else.
        let lips: Vec<u32> = (0..N).map(|row| row * N + N / 2).collect();
        let scene =
            scene(solver, vec![sheet("sheet")], vec![floor(only("sheet", Select::Vertices(lips.clone())))]);
        let mut s = simulation(&scene);
        s.step();
        s.command(Command::Cut {
            body: "sheet".into(),
            from: [0.2, 0.05, -0.1],
            to: [0.2, 0.05, 0.5],
            eye: [0.2, 3.0, 0.2],
        })
        .unwrap();
        (0..10).for_each(|_| s.step());
        let snapshot = s.snapshot();
        let mut restored = simulation(&scene);
        restored.restore(&snapshot).unwrap();
        let mut copies_touch = false;
        for frame in 0..25 {
            s.step();
            restored.step();
            copies_touch |= s.contacts(0).iter().any(|point| point.vertex >= N * N);
            assert_eq!(s.state_hash(), restored.state_hash(), "{solver:?}, frame {frame}");
            let body = &s.state().bodies[0];
            for (v, x) in body.x.iter().enumerate().filter(|(v, _)| lips.contains(&body.topology.parents[*v]))
            {
                assert!(x.y > SKIN - 1e-6, "{solver:?}, frame {frame}: {v} is at {x}");
            }
        }
        assert!(s.warnings().is_empty(), "{solver:?}: {:?}", s.warnings());
        let body = &s.state().bodies[0];
        let copies = body.topology.parents[(N * N) as usize..].iter().filter(|p| lips.contains(p)).count();
        assert!(copies >= 10, "{solver:?}: {copies} copies");
        assert!(copies_touch, "{solver:?}");
        assert!(body.x[0].y < -0.02 && body.x[(N * N - 1) as usize].y < -0.02, "{solver:?}");
    }
}

#[test]
fn a_scene_with_another_list_is_another_scene() {
    let model = |select| {
        let scene = scene(SolverKind::Xpbd, vec![sheet("sheet")], vec![floor(select), floor(None)]);
        let mut scene = scene;
        scene.colliders[1].name = "other".into();
        ModelBuilder::new(&scene).build().unwrap()
    };
    let (none, all) = (model(None), model(only("sheet", Select::All)));
    let (some, nothing) = (model(only("sheet", half())), model(Some(Vec::new())));
    let prints = [none.fingerprint, all.fingerprint, some.fingerprint, nothing.fingerprint];
    for (k, print) in prints.iter().enumerate() {
        assert!(!prints[..k].contains(print), "{prints:?}");
    }
    let list = &some.colliders[0].only.as_ref().unwrap()[0];
    assert_eq!(list.vertices.as_ref().unwrap().len(), 6 * N as usize);
    assert!(list.vertices.as_ref().unwrap().is_sorted());
    assert!(!nothing.touches_collider(0, 0) && nothing.touches_collider(0, 1));
}

#[test]
fn a_list_may_change_while_the_scene_runs() {
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg] {
        let with = |select| scene(solver, vec![sheet("sheet")], vec![floor(select)]);
        let mut s = simulation(&with(None));
        (0..15).for_each(|_| s.step());
        assert!(s.contacts(0).iter().any(|point| !is_in_half(point.vertex)), "{solver:?}");
        s.adopt(ModelBuilder::new(&with(only("sheet", half()))).build().unwrap()).unwrap();
        (0..15).for_each(|_| s.step());
        assert!(s.contacts(0).iter().all(|point| is_in_half(point.vertex)), "{solver:?}");
        let x = &s.state().bodies[0].x;
        assert!(x[0].y > SKIN - 1e-6 && x[N as usize - 1].y < 0.0, "{solver:?}");
    }
}

fn error(collider: Collider) -> SceneError {
    let scene = scene(SolverKind::Xpbd, vec![sheet("skirt"), sheet("belt")], vec![collider]);
    ModelBuilder::new(&scene).build().map(|_| ()).unwrap_err()
}

#[test]
fn wrong_lists_are_refused_by_name() {
    let twice = vec![
        Assigned { body: "skirt".into(), select: half() },
        Assigned { body: "belt".into(), ..Assigned::default() },
        Assigned { body: "skirt".into(), ..Assigned::default() },
    ];
    for (list, field, problem, help) in [
        (only("shirt", Select::All).unwrap(), "[0].body", "no body 'shirt'", "skirt, belt"),
        (vec![Assigned::default()], "[0].body", "no body ''", "skirt, belt"),
        (twice, "[2].body", "'skirt' has been named before", "once"),
        (
            only("skirt", Select::Vertices(vec![3, N * N])).unwrap(),
            "[0].select.vertices",
            "no vertex 169",
            "168",
        ),
        (only("skirt", Select::Vertices(Vec::new())).unwrap(), "[0].select", "selects no vertex", "reaches"),
        (
            only("skirt", Select::Within(Region { min: [5.0; 3], max: [6.0; 3] })).unwrap(),
            "[0].select",
            "selects no vertex",
            "reaches from",
        ),
        (only("skirt", Select::Roots).unwrap(), "[0].select", "roots", "border"),
    ] {
        let found = error(floor(Some(list)));
        assert_eq!(found.field, format!("collider[0].only{field}"));
        assert!(found.problem.contains(problem) && found.help.contains(help), "{found:?}");
    }
    let mesh = InlineMesh {
        positions: vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        triangles: vec![[0, 2, 1]],
        ..InlineMesh::default()
    };
    let found = error(Collider { shape: ColliderShape::Mesh(mesh), ..floor(only("skirt", Select::All)) });
    assert_eq!(found.field, "collider[0].only");
    assert!(found.problem.contains("surface") && found.help.contains("`touches`"), "{found:?}");
}

#[test]
fn a_list_that_holds_nothing_is_told_by_check() {
    let mut scene = scene(SolverKind::Xpbd, vec![sheet("sheet")], vec![floor(Some(Vec::new()))]);
    let odd = |scene: &Scene| {
        let model = ModelBuilder::new(scene).build().unwrap();
        lint(scene, &model).into_iter().map(|l| l.field).filter(|f| f.contains("only")).collect::<Vec<_>>()
    };
    assert_eq!(odd(&scene), ["collider[0].only"]);
    let mut s = simulation(&scene);
    (0..30).for_each(|_| s.step());
    assert!(s.state().bodies[0].x.iter().all(|x| x.y < -0.5));
    scene.colliders[0] = floor(only("sheet", half()));
    assert!(odd(&scene).is_empty());
    scene.colliders[0].touches = Some(vec!["coat".into()]);
    assert_eq!(odd(&scene), ["collider[0].only[0].body"]);
}
