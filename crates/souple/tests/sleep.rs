//! Bodies at rest sleep: nothing about them changes until something is done to them.

use glam::DVec3;

use souple::scene::{
    Body, Collider, Grid, Group, Key, Motion, Pin, Placement, Scene, Select, Shape, Sleep, SolverKind,
};
use souple::{Command, ModelBuilder, Simulation};

/// A small cloth that falls on a floor.
fn scene(solver: SolverKind) -> Scene {
    Scene {
        groups: vec![Group { solver, sleep: Some(Sleep::default()), ..Group::default() }],
        bodies: vec![Body {
            name: "cloth".into(),
            fabric: Some("cotton".into()),
            shape: Shape::Grid(Grid { vertices: [8, 8], size: [0.2, 0.2], ..Grid::default() }),
            placement: Placement { translate: [0.0, 0.05, 0.0], ..Placement::default() },
            ..Body::default()
        }],
        colliders: vec![Collider { name: "floor".into(), ..Collider::default() }],
        ..Scene::default()
    }
}

fn simulation(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

/// Steps until the body sleeps, a minute at most.
fn until_asleep(s: &mut Simulation) -> u32 {
    for frame in 0..3600 {
        if s.is_asleep(0) {
            return frame;
        }
        s.step();
    }
    panic!("awake after a minute");
}

#[test]
fn a_body_at_rest_sleeps_and_nothing_of_it_changes() {
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg] {
        let mut s = simulation(&scene(solver));
        let frames = until_asleep(&mut s);
        assert!(frames > 30, "{solver:?} slept while it fell: {frames}");
        let before = s.state().bodies[0].clone();
        assert!(before.v.iter().all(|v| *v == DVec3::ZERO));
        (0..100).for_each(|_| s.step());
        assert_eq!(before, s.state().bodies[0]);
        assert!(s.is_asleep(0));
    }
}

#[test]
fn without_the_setting_nothing_sleeps() {
    let mut scene = scene(SolverKind::Xpbd);
    scene.groups[0].sleep = None;
    let mut s = simulation(&scene);
    (0..600).for_each(|_| s.step());
    assert!(!s.is_asleep(0) && s.state().bodies[0].still_frames == 0);
}

#[test]
fn a_swing_does_not_fall_asleep_where_it_turns() {
    let mut scene = scene(SolverKind::Xpbd);
    scene.colliders.clear();
    scene.bodies[0].pins =
        vec![Pin { name: "edge".into(), select: Select::Vertices((0..8).collect()), ..Pin::default() }];
    let mut s = simulation(&scene);
    for _ in 0..120 {
        s.step();
        assert!(!s.is_asleep(0));
    }
}

#[test]
fn commands_hands_scripts_and_changes_by_hand_wake() {
    let mut asleep = simulation(&scene(SolverKind::Xpbd));
    until_asleep(&mut asleep);
    let snapshot = asleep.snapshot();
    let wakes = |what: &str, act: &dyn Fn(&mut Simulation)| {
        let mut s = simulation(&scene(SolverKind::Xpbd));
        s.restore(&snapshot).unwrap();
        assert!(s.is_asleep(0), "a snapshot keeps it asleep");
        let before = s.state().bodies[0].x.clone();
        act(&mut s);
        s.step();
        assert!(!s.is_asleep(0) && s.state().bodies[0].x != before, "{what}");
    };
    wakes("a hand", &|s| {
        s.command(Command::Grab {
            body: "cloth".into(),
            vertex: 9,
            target: [0.0, 0.3, 0.0],
            stiffness: 20.0,
        })
        .unwrap();
    });
    wakes("a change by hand", &|s| s.state_mut().bodies[0].v[3] = DVec3::Y);
    wakes("a collider that is moved", &|s| {
        s.command(Command::MoveCollider {
            collider: "floor".into(),
            by: [0.0, 0.02, 0.0],
            rotate_deg: [0.0; 3],
        })
        .unwrap();
    });

    // A collider that rises by its script half a second after the cloth fell asleep.
    let mut scene = scene(SolverKind::Xpbd);
    let begin = asleep.state().time + 1.0;
    let key = |t: f64, y: f64| Key { t, translate: [0.0, y, 0.0], rotate_deg: [0.0; 3] };
    scene.colliders[0].motion = Some(Motion {
        keys: vec![key(0.0, 0.0), key(begin, 0.0), key(begin + 1.0, 0.1)],
        ..Motion::default()
    });
    let mut s = simulation(&scene);
    until_asleep(&mut s);
    let height = s.state().bodies[0].x[0].y;
    while s.state().time < begin + 1.0 {
        s.step();
    }
    assert!(s.state().bodies[0].x[0].y > height + 0.09);
}

#[test]
fn a_restored_run_falls_asleep_in_the_same_frame() {
    let mut whole = simulation(&scene(SolverKind::Xpbd));
    let frames = until_asleep(&mut whole);
    let mut part = simulation(&scene(SolverKind::Xpbd));
    // In the middle of the time in which it must be still.
    (0..frames - 10).for_each(|_| part.step());
    assert!(part.state().bodies[0].still_frames > 0);
    let mut restored = simulation(&scene(SolverKind::Xpbd));
    restored.restore(&part.snapshot()).unwrap();
    (0..10).for_each(|_| restored.step());
    assert!(restored.is_asleep(0));
    assert_eq!(whole.state_hash(), restored.state_hash());
}
