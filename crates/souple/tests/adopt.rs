//! Live tuning: a running state goes on with a changed model, or says why it cannot.

use std::collections::BTreeMap;
use std::sync::Arc;

use glam::DVec3;
use proptest::prelude::*;
use souple::mesh::SpringFamily;
use souple::scene::*;
use souple::solver::ALL_SOLVERS;
use souple::{Command, Misfit, Model, ModelBuilder, Simulation};

fn model(scene: &Scene) -> Model {
    ModelBuilder::new(scene).build().unwrap()
}

fn simulation(scene: &Scene) -> Simulation {
    Simulation::new(model(scene))
}

fn run(s: &mut Simulation, steps: u32) {
    (0..steps).for_each(|_| s.step());
}

fn families(stretch: f64) -> Springs {
    let family = |k: f64| Family { stiffness: Some(k), damping: Some(1e-4 * k), ..Family::default() };
    Springs { stretch: family(stretch), shear: family(20.0), bend: family(1.0), ..Springs::default() }
}

/// A cloth that hangs from two corners over a moving ball, and a rope.
fn scene() -> Scene {
    let cloth = Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid { vertices: [14, 12], plane: GridPlane::Xy, ..Grid::default() }),
        density: Some(0.3),
        springs: families(60.0),
        air: Some(Air::default()),
        pins: vec![
            Pin { name: "left".into(), select: Select::Vertices(vec![0]), ..Pin::default() },
            Pin { name: "right".into(), select: Select::Vertices(vec![13]), ..Pin::default() },
        ],
        ..Body::default()
    };
    let rope = Body {
        name: "rope".into(),
        shape: Shape::Rope(Rope { vertices: 12, ..Rope::default() }),
        density: Some(0.1),
        springs: Springs { shear: Family::default(), ..families(60.0) },
        pins: vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }],
        ..Body::default()
    };
    let drift = Motion { velocity: [0.05, 0.0, 0.0], ..Motion::default() };
    Scene {
        bodies: vec![cloth, rope],
        groups: vec![Group { dt: Some(1.0 / 240.0), ..Group::default() }],
        colliders: vec![Collider {
            name: "ball".into(),
            shape: ColliderShape::Sphere(SphereShape { radius: 0.2 }),
            position: [0.5, -0.8, 0.05],
            motion: Some(drift),
            ..Collider::default()
        }],
        ..Scene::default()
    }
}

/// Commands of every kind that the state remembers.
fn busy(s: &mut Simulation) {
    let cloth = || String::from("cloth");
    for command in [
        Command::Grab { body: cloth(), vertex: 100, target: [0.5, -0.5, 1.0], stiffness: 5.0 },
        Command::AnchorMany { body: cloth(), vertices: vec![30, 31] },
        Command::MovePin { body: cloth(), pin: "left".into(), by: [0.0, 0.02, 0.0] },
        Command::MoveCollider { collider: "ball".into(), by: [0.0, 0.01, 0.0], rotate_deg: [0.0, 9.0, 0.0] },
        Command::SetWind { velocity: [0.5, 0.0, 0.3] },
        Command::Blow { origin: [0.5, -0.5, -1.0], direction: [0.0, 0.0, 1.0], speed: 3.0, radius: 0.3 },
    ] {
        s.command(command).unwrap();
    }
}

fn tear(s: &mut Simulation) {
    let eye = [0.5, -0.5, 9.0];
    let cut = |from: Vec3, to: Vec3| Command::Cut { body: "cloth".into(), from, to, eye };
    s.command(cut([0.3, 1.0, 0.0], [0.35, -0.6, 0.0])).unwrap();
    s.command(cut([-1.0, -0.7, 0.0], [2.0, -0.75, 0.0])).unwrap();
}

#[test]
fn the_same_model_changes_no_bit() {
    for torn in [false, true] {
        for solver in ALL_SOLVERS {
            let mut scene = scene();
            scene.groups[0].solver = solver;
            let implicit = [
                SolverKind::ImplicitEulerCg,
                SolverKind::ImplicitEulerCholesky,
                SolverKind::ImplicitFilter,
                SolverKind::ProjectiveDynamics,
                SolverKind::VertexBlockDescent,
            ];
            scene.groups[0].dt = Some(if implicit.contains(&solver) { 1.0 / 120.0 } else { 1e-3 });
            let (mut tuned, mut plain) = (simulation(&scene), simulation(&scene));
            for s in [&mut tuned, &mut plain] {
                busy(s);
                run(s, 3);
                if torn {
                    tear(s);
                }
                run(s, 27);
                assert_eq!(s.state().bodies[0].topology.version, if torn { 2 } else { 0 }, "{solver:?}");
            }
            assert_eq!(tuned.adopt(model(&scene)), Ok(None));
            assert_eq!(tuned.state(), plain.state(), "{solver:?}");
            // Solvers keep no state between steps, so going on is going on.
            for _ in 30..60 {
                tuned.step();
                plain.step();
                assert_eq!(tuned.state_hash(), plain.state_hash(), "{solver:?}, torn: {torn}");
            }
        }
    }
}

#[test]
fn a_changed_model_goes_on_as_a_fresh_run_from_that_state_would() {
    let old = scene();
    let mut new = scene();
    new.bodies[0].springs = families(120.0);
    new.bodies[0].density = Some(0.4);
    new.bodies[0].limits = Some(Limits::default());
    new.bodies[0].tear = Some(Tear { length_ratio: Some(3.0), ..Tear::default() });
    new.bodies[0].rayleigh = Some(Rayleigh { mass: 0.3, stiffness: None });
    new.bodies[1].springs.layout = Layout::Graph(3);
    new.gravity = [0.0, -3.0, 1.0];
    new.time.fps = 50.0;
    new.groups[0] =
        Group { solver: SolverKind::Verlet, dt: Some(5e-4), name: "other".into(), ..Group::default() };
    new.wind = Some(Wind { velocity: [9.0, 0.0, 0.0], gusts: Some(Gusts::default()), ..Wind::default() });
    let mut s = simulation(&old);
    busy(&mut s);
    run(&mut s, 30);
    let mut fresh = simulation(&new);
    let mut state = s.state().clone();
    for (body, model) in state.bodies.iter_mut().zip(&fresh.model().bodies) {
        body.topology = Arc::clone(&model.topology);
    }
    *fresh.state_mut() = state;
    let mut unchanged = simulation(&old);
    unchanged.restore(&s.snapshot()).unwrap();
    assert_eq!(s.adopt(model(&new)), Ok(None));
    assert_eq!(s.state().time, unchanged.state().time);
    for _ in 0..10 {
        s.step();
        fresh.step();
        assert_eq!(s.state_hash(), fresh.state_hash());
    }
    run(&mut unchanged, 10);
    assert_ne!(s.state().bodies[0].x, unchanged.state().bodies[0].x);
    assert_eq!(s.state().bodies[0].topology.springs[0].stiffness, 120.0);
    // And a snapshot belongs to the new scene.
    simulation(&new).restore(&s.snapshot()).unwrap();
    assert!(simulation(&old).restore(&s.snapshot()).is_err());
}

#[test]
fn torn_springs_take_the_new_numbers_and_keep_their_share() {
    let old = scene();
    let mut s = simulation(&old);
    tear(&mut s);
    run(&mut s, 4);
    let torn = Arc::clone(&s.state().bodies[0].topology);
    let mut new = scene();
    new.bodies[0].springs = families(150.0);
    new.bodies[0].springs.bend.damping = Some(0.25);
    new.bodies[0].density = Some(0.9);
    new.bodies[0].placement.scale = 2.0;
    s.adopt(model(&new)).unwrap();
    let tuned = &s.state().bodies[0].topology;
    let whole = &s.model().bodies[0].topology;
    assert_eq!(
        (&tuned.triangles, &tuned.parents, tuned.version),
        (&torn.triangles, &torn.parents, torn.version)
    );
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * a.abs().max(b.abs());
    let mut shared = 0;
    for (now, was) in tuned.springs.iter().zip(&torn.springs) {
        assert_eq!((now.i, now.j, now.family, now.hops), (was.i, was.j, was.family, was.hops));
        let factor = if now.family == SpringFamily::Stretch { 2.5 } else { 1.0 };
        assert!(close(now.stiffness, was.stiffness * factor));
        // Bend: from 1e-4 to 0.25, and the same share of it.
        let damping = if now.family == SpringFamily::Bend { 2500.0 } else { factor };
        assert!(close(now.damping, was.damping * damping), "{now:?} {was:?}");
        assert!(close(now.rest_length, 2.0 * was.rest_length));
        shared += u32::from(now.family == SpringFamily::Stretch && now.stiffness < 149.0);
    }
    assert!(shared > 10, "the cuts have lips");
    // All lips of a spring together are the spring of the new model; the parts of a particle weigh what it weighed.
    let key = |i: u32, j: u32, f: SpringFamily| (i.min(j), i.max(j), f);
    let model_stiffness: BTreeMap<_, f64> =
        whole.springs.iter().map(|s| (key(s.i, s.j, s.family), s.stiffness)).collect();
    let mut sums: BTreeMap<_, f64> = BTreeMap::new();
    for s in &tuned.springs {
        let (i, j) = (tuned.parents[s.i as usize], tuned.parents[s.j as usize]);
        *sums.entry(key(i, j, s.family)).or_default() += s.stiffness;
    }
    let mut masses = vec![0.0; whole.len()];
    for (p, m) in tuned.parents.iter().zip(&tuned.masses) {
        masses[*p as usize] += m;
    }
    assert!(sums.iter().all(|(key, sum)| *sum <= model_stiffness[key] * (1.0 + 1e-12)));
    assert!(masses.iter().zip(&whole.masses).all(|(a, b)| close(*a, *b)));
    let mut rebuilt = (**tuned).clone();
    rebuilt.rebuild_derived();
    assert_eq!(**tuned, rebuilt);
}

#[test]
fn a_family_without_stiffness_shares_by_its_damping_and_one_without_either_is_not_there() {
    let mut old = scene();
    old.bodies[0].springs.stretch = Family { stiffness: Some(0.0), damping: Some(0.2), ..Family::default() };
    let mut new = scene();
    new.bodies[0].springs.stretch = Family { stiffness: Some(80.0), damping: Some(0.1), ..Family::default() };
    let mut s = simulation(&old);
    tear(&mut s);
    s.step();
    s.adopt(model(&new)).unwrap();
    let springs = &s.state().bodies[0].topology.springs;
    let (mut lips, mut whole) = (0, 0);
    for spring in springs.iter().filter(|s| s.family == SpringFamily::Stretch) {
        assert!((spring.stiffness / 80.0 - spring.damping / 0.1).abs() < 1e-12, "{spring:?}");
        *if spring.stiffness < 79.0 { &mut lips } else { &mut whole } += 1;
    }
    assert!(lips > 10 && whole > 100);
    // The layout leaves out what neither pulls nor damps: another set of springs, which a torn body cannot take.
    new.bodies[0].springs.bend = Family::default();
    assert_eq!(s.adopt(model(&new)), Err(Misfit::TornSprings { body: "cloth".into() }));
}

#[test]
fn what_does_not_fit_is_told_and_nothing_changes() {
    let mut s = simulation(&scene());
    s.start_recording("old".into()).unwrap();
    busy(&mut s);
    run(&mut s, 5);
    let before = s.state().clone();
    let mut refuse = |change: &dyn Fn(&mut Scene), expected: Misfit| {
        let mut new = scene();
        change(&mut new);
        let misfit = s.adopt(model(&new)).unwrap_err();
        assert_eq!(misfit, expected);
        assert!(misfit.to_string().contains("restart the scene"), "{misfit}");
        assert_eq!(*s.state(), before);
    };
    let mesh = |body: &str, what| Misfit::Mesh { body: body.into(), what };
    let bodies = |is: &str| Misfit::Bodies { was: "cloth, rope".into(), is: is.into() };
    refuse(&|new| new.bodies.truncate(1), bodies("cloth"));
    refuse(&|new| new.bodies.swap(0, 1), bodies("rope, cloth"));
    refuse(&|new| new.bodies[1].name = "cord".into(), bodies("cloth, cord"));
    refuse(
        &|new| new.bodies[0].shape = Shape::Grid(Grid { vertices: [14, 13], ..Grid::default() }),
        mesh("cloth", "vertices"),
    );
    refuse(
        &|new| {
            new.bodies[0].shape =
                Shape::Grid(Grid { vertices: [14, 12], diagonals: Diagonals::Regular, ..Grid::default() });
        },
        mesh("cloth", "triangles"),
    );
    refuse(
        &|new| new.bodies[1].shape = Shape::Rope(Rope { vertices: 13, ..Rope::default() }),
        mesh("rope", "vertices"),
    );
    let pins = |body: &str| Misfit::Pins { body: body.into() };
    refuse(&|new| new.bodies[0].pins[0].name = "west".into(), pins("cloth"));
    refuse(&|new| new.bodies[0].pins[1].select = Select::Vertices(vec![12]), pins("cloth"));
    refuse(&|new| new.bodies[1].pins.clear(), pins("rope"));
    // The recording went on all the while.
    run(&mut s, 2);
    assert_eq!(s.finish_recording().unwrap().hashes.len(), 7);

    // Torn, the set of springs must stay; untorn, it need not.
    let mut new = scene();
    new.bodies[0].springs.layout = Layout::Graph(2);
    s.adopt(model(&new)).unwrap();
    tear(&mut s);
    run(&mut s, 2);
    let before = s.state_hash();
    assert_eq!(s.adopt(model(&scene())), Err(Misfit::TornSprings { body: "cloth".into() }));
    assert_eq!(s.state_hash(), before);
}

#[test]
fn a_recording_ends_with_the_model_it_was_made_of() {
    let mut s = simulation(&scene());
    s.start_recording("first".into()).unwrap();
    run(&mut s, 4);
    let recording = s.adopt(model(&scene())).unwrap().unwrap();
    assert_eq!((recording.scene.as_str(), recording.hashes.len()), ("first", 4));
    s.step();
    assert_eq!(s.finish_recording(), None);
}

#[test]
fn colliders_come_and_go_and_keep_what_commands_moved_them_by() {
    let mut s = simulation(&scene());
    busy(&mut s);
    run(&mut s, 3);
    let offset = s.state().collider_offsets[0];
    let pose = s.collider_pose(0);
    let mut new = scene();
    new.colliders
        .insert(0, Collider { name: "floor".into(), position: [0.0, -3.0, 0.0], ..Collider::default() });
    new.colliders[1].shape = ColliderShape::Sphere(SphereShape { radius: 0.3 });
    new.colliders[1].position[1] += 0.1;
    // A command that waits for a collider that stays, and one for a collider that goes.
    let push = |collider: &str| Command::MoveCollider {
        collider: collider.into(),
        by: [0.0, 0.5, 0.0],
        rotate_deg: [0.0; 3],
    };
    s.command(push("ball")).unwrap();
    s.adopt(model(&new)).unwrap();
    assert_eq!((s.state().collider_offsets.len(), s.state().collider_offsets[1]), (2, offset));
    assert!((s.collider_pose(1).translation - pose.translation - DVec3::Y * 0.1).length() < 1e-12);
    assert_eq!(s.control().colliders[1].1, s.collider_pose(1), "what is drawn before the next step");
    s.command(push("floor")).unwrap();
    new.colliders.remove(0);
    s.adopt(model(&new)).unwrap();
    s.step();
    assert!(
        (s.state().collider_offsets[0].translation - offset.translation - DVec3::Y * 0.5).length() < 1e-12
    );
    new.colliders.clear();
    s.adopt(model(&new)).unwrap();
    run(&mut s, 3);
    assert!(s.state().collider_offsets.is_empty() && s.contacts(0).is_empty());
}

#[test]
fn a_changed_script_goes_on_from_where_things_are() {
    let mut old = scene();
    let turn = |spin: f64, x: f64| Motion {
        spin_deg: [0.0, spin, 0.0],
        velocity: [x, 0.0, 0.0],
        ..Motion::default()
    };
    old.bodies[0].pins.truncate(1);
    old.bodies[0].pins[0].select = Select::Border(Border::V0);
    old.bodies[0].pins[0].motion = Some(turn(40.0, 0.1));
    let mut new = old.clone();
    new.bodies[0].pins[0].motion = Some(turn(-90.0, 1.0));
    new.colliders[0].motion = Some(turn(200.0, -1.0));
    let mut s = simulation(&old);
    s.command(Command::MovePin { body: "cloth".into(), pin: "left".into(), by: [0.0, 0.1, 0.2] }).unwrap();
    run(&mut s, 30);
    let supports = |s: &Simulation| -> Vec<DVec3> {
        s.control().pins[0].iter().map(|p| s.state().bodies[0].x[p.vertex as usize]).collect()
    };
    let (before, ball) = (supports(&s), s.collider_pose(0));
    s.adopt(model(&new)).unwrap();
    for (pin, x) in s.control().pins[0].iter().zip(&before) {
        assert!((pin.end - *x).length() < 1e-12, "{} {x}", pin.end);
    }
    let now = s.collider_pose(0);
    assert!((now.translation - ball.translation).length() < 1e-12);
    assert!(souple::math::rotation_angle(now.rotation, ball.rotation) < 1e-7);
    // From there on at the new speed.
    s.step();
    let h = s.model().frame_dt();
    let moved = s.collider_pose(0).translation - ball.translation;
    assert!((moved - DVec3::new(-h, 0.0, 0.0)).length() < 1e-12, "{moved}");
    let mean = |p: &[DVec3]| p.iter().sum::<DVec3>() / p.len() as f64;
    assert!((mean(&supports(&s)) - mean(&before)).length() < 2.0 * h);
    // A script that is taken away leaves things standing.
    new.bodies[0].pins[0].motion = None;
    new.colliders[0].motion = None;
    let (before, ball) = (supports(&s), s.collider_pose(0));
    s.adopt(model(&new)).unwrap();
    run(&mut s, 3);
    for (a, b) in supports(&s).iter().zip(&before) {
        assert!((*a - *b).length() < 1e-12);
    }
    assert!((s.collider_pose(0).translation - ball.translation).length() < 1e-12);
}

#[test]
fn a_state_that_is_not_sound_is_repaired_first() {
    let mut s = simulation(&scene());
    run(&mut s, 2);
    s.state_mut().bodies[0].pin_offsets.clear();
    s.state_mut().bodies[1].x[3].y = f64::NAN;
    s.adopt(model(&scene())).unwrap();
    s.step();
    assert_eq!(s.warnings().len(), 2);
    assert!(s.state().bodies.iter().all(|b| b.x.iter().all(|x| x.is_finite())));
}

/// Small scenes that differ in everything a person can change.
fn small_scene() -> impl Strategy<Value = Scene> {
    let body = (
        prop_oneof![Just([4u32, 3u32]), Just([3, 4]), Just([3, 3])],
        any::<bool>(),
        prop_oneof![
            Just(Layout::Structural),
            Just(Layout::Graph(1)),
            Just(Layout::Graph(2)),
            Just(Layout::Radius(0.8))
        ],
        (0.0..300.0f64, prop_oneof![Just(0.0), 0.0..20.0f64]),
        prop::option::of(1.02..1.5f64),
        prop::collection::vec(0..9u32, 0..3),
        prop::option::of((-90.0..90.0f64, -2.0..2.0f64)),
        any::<bool>(),
    )
        .prop_map(|(vertices, regular, layout, (stretch, bend), tear, pins, motion, air)| {
            let motion = motion.map(|(spin, speed)| Motion {
                spin_deg: [spin, 0.0, 0.0],
                velocity: [0.0, speed, 0.0],
                ..Motion::default()
            });
            Body {
                name: "body".into(),
                shape: Shape::Grid(Grid {
                    vertices,
                    diagonals: if regular { Diagonals::Regular } else { Diagonals::Alternating },
                    ..Grid::default()
                }),
                density: Some(0.2 + 0.01 * stretch),
                springs: Springs {
                    layout,
                    stretch: Family { stiffness: Some(1.0 + stretch), ..Family::default() },
                    shear: Family { stiffness: Some(2.0), ..Family::default() },
                    bend: Family { stiffness: Some(bend), ..Family::default() },
                },
                tear: tear.map(|ratio| Tear { length_ratio: Some(ratio), ..Tear::default() }),
                pins: pins
                    .into_iter()
                    .map(|v| Pin {
                        name: "pin".into(),
                        select: Select::Vertices(vec![v]),
                        motion: motion.clone(),
                        ..Pin::default()
                    })
                    .collect(),
                air: air.then(Air::default),
                ..Body::default()
            }
        });
    let collider =
        (any::<bool>(), -0.5..0.5f64, prop::option::of(-90.0..90.0f64)).prop_map(|(ball, y, spin)| {
            Collider {
                name: if ball { "ball" } else { "floor" }.into(),
                shape: match ball {
                    true => ColliderShape::Sphere(SphereShape { radius: 0.2 + 0.1 * y }),
                    false => ColliderShape::default(),
                },
                position: [0.3, y, 0.4],
                motion: spin.map(|s| Motion { spin_deg: [0.0, s, 0.0], ..Motion::default() }),
                ..Collider::default()
            }
        });
    (body, prop::option::of(collider), 0..ALL_SOLVERS.len(), prop_oneof![Just(24.0), Just(60.0)]).prop_map(
        |(body, collider, solver, fps)| Scene {
            bodies: vec![body],
            colliders: collider.into_iter().collect(),
            groups: vec![Group { solver: ALL_SOLVERS[solver], dt: Some(5e-3), ..Group::default() }],
            time: Time { fps, ..Time::default() },
            ..Scene::default()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_two_scenes_fit_or_say_why_not(scenes in prop::collection::vec(small_scene(), 2..4), cut in any::<bool>()) {
        let mut s = simulation(&scenes[0]);
        for scene in scenes.iter().chain(&scenes) {
            if cut {
                let eye = [0.4, 9.0, 0.2];
                s.command(Command::Cut { body: "body".into(), from: [-1.0, 0.0, 0.4], to: [2.0, 0.0, 0.7], eye }).unwrap();
            }
            run(&mut s, 3);
            let (before, old_fingerprint) = (s.state().clone(), s.model().fingerprint);
            match s.adopt(model(scene)) {
                Ok(_) => {
                    prop_assert_eq!(&s.state().bodies[0].x, &before.bodies[0].x);
                    prop_assert_eq!(s.model().fingerprint, model(scene).fingerprint);
                    prop_assert_eq!(s.state().collider_offsets.len(), s.model().colliders.len());
                }
                Err(misfit) => {
                    prop_assert!(misfit.to_string().contains("restart"));
                    prop_assert_eq!(s.model().fingerprint, old_fingerprint);
                    prop_assert_eq!(s.state(), &before);
                }
            }
            run(&mut s, 2);
            prop_assert!(s.state().bodies[0].x.iter().all(|x| x.is_finite()));
            // What goes on can be saved and restored.
            let mut copy = simulation(&scenes[0]);
            if copy.model().fingerprint == s.model().fingerprint {
                copy.restore(&s.snapshot()).unwrap();
                prop_assert_eq!(copy.state(), s.state());
            }
        }
    }
}
