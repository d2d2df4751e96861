//! What an artist does to a running scene besides cutting: a fan, selections that are anchored, freed and moved.

use glam::DVec3;
use souple::scene::*;
use souple::{Command, Control, Fan, MAX_SELECTION, ModelBuilder, PinnedVertex, Simulation, snapshot};

/// A banner in the plane z = 0, held at its upper border, without `air`.
fn banner(vertices: [u32; 2]) -> Scene {
    let body = Body {
        name: "banner".into(),
        shape: Shape::Grid(Grid { vertices, plane: GridPlane::Xy, ..Grid::default() }),
        fabric: Some("cotton".into()),
        pins: vec![Pin { name: "top".into(), select: Select::Border(Border::V0), ..Pin::default() }],
        ..Body::default()
    };
    Scene { bodies: vec![body], ..Scene::default() }
}

fn simulation(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

fn run(s: &mut Simulation, steps: u32) {
    (0..steps).for_each(|_| s.step());
}

fn centre(s: &Simulation) -> DVec3 {
    s.measures().centre
}

/// A fan two metres in front of the banner that blows along +z.
fn blow() -> Command {
    Command::Blow { origin: [0.5, -0.5, -2.0], direction: [0.0, 0.0, 3.0], speed: 8.0, radius: 0.4 }
}

#[test]
fn a_fan_moves_cloth_that_feels_no_other_air_and_leaves_no_trace_when_off() {
    let scene = banner([16, 16]);
    let (mut blown, mut still) = (simulation(&scene), simulation(&scene));
    blown.command(blow()).unwrap();
    run(&mut blown, 40);
    run(&mut still, 40);
    assert_eq!(centre(&still).z, 0.0);
    assert!(centre(&blown).z > 0.1, "{}", centre(&blown));
    assert!(blown.warnings().is_empty());
    assert_eq!(blown.state().fan.unwrap().direction, DVec3::Z, "directions are made unit");
    // Off again, the cloth is in a vacuum as its scene says: nothing but what it was brakes it.
    blown.command(Command::StopBlowing).unwrap();
    blown.step();
    assert_eq!(blown.state().fan, None);
    let mut copy = simulation(&scene);
    copy.restore(&blown.snapshot()).unwrap();
    run(&mut blown, 5);
    run(&mut copy, 5);
    assert_eq!(blown.state_hash(), copy.state_hash());
}

#[test]
fn a_fan_that_points_elsewhere_changes_no_bit() {
    let mut scene = banner([12, 12]);
    scene.bodies[0].pins.clear();
    scene.bodies[0].velocity = [3.0, 0.0, 1.0];
    for solver in [SolverKind::ImplicitEulerCg, SolverKind::SymplecticEuler] {
        scene.groups = vec![Group { solver, dt: Some(1e-3), ..Group::default() }];
        let (mut with, mut without) = (simulation(&scene), simulation(&scene));
        let away =
            Command::Blow { origin: [0.0, 0.0, -9.0], direction: [0.0, 0.0, -1.0], speed: 20.0, radius: 0.5 };
        with.command(away).unwrap();
        run(&mut with, 5);
        run(&mut without, 5);
        assert_eq!(with.state().bodies, without.state().bodies, "{solver:?}");
        assert_ne!(with.state_hash(), without.state_hash(), "the fan itself is part of the state");
    }
}

#[test]
fn nothing_is_blown_faster_than_the_jet() {
    let mut scene = banner([8, 8]);
    scene.gravity = [0.0; 3];
    scene.bodies[0].pins.clear();
    for solver in [SolverKind::ImplicitEulerCg, SolverKind::Rk4, SolverKind::VertexBlockDescent] {
        scene.groups = vec![Group { solver, dt: Some(1e-3), ..Group::default() }];
        let mut s = simulation(&scene);
        s.command(Command::Blow {
            origin: [0.5, -0.5, -1.0],
            direction: [0.0, 0.0, 1.0],
            speed: 6.0,
            radius: 5.0,
        })
        .unwrap();
        let mut last = 0.0;
        for _ in 0..120 {
            s.step();
            let speed = s.measures().momentum.z / s.measures().mass;
            assert!(speed < 6.0 && speed > 0.5 * last, "{solver:?}: {speed} m/s");
            last = speed;
        }
        assert!(last > 3.0, "{solver:?}: {last} m/s");
    }
}

#[test]
fn a_fan_is_wind_for_bodies_that_feel_the_air() {
    let model = ModelBuilder::new(&banner([4, 4])).build().unwrap();
    let mut control = Control::new(&model);
    control.wind.velocity = [1.0, 0.0, 0.0];
    let p = DVec3::new(0.3, 0.2, 0.5);
    let wind = control.air_velocity(p, 2.0);
    let fan = Fan { origin: DVec3::ZERO, direction: DVec3::Y, speed: 4.0, radius: 1.0 };
    control.fan = Some(fan);
    assert_eq!(control.air_velocity(p, 2.0), wind + fan.velocity(p));
    assert!(fan.velocity(p).y > 1.0);

    // A body with `air` is moved by it too, and the fan is not counted twice.
    let mut scene = banner([12, 12]);
    scene.bodies[0].air = Some(Air::default());
    let mut s = simulation(&scene);
    assert!(s.model().bodies[0].energies.iter().all(|e| e.name() != "fan"));
    s.command(blow()).unwrap();
    run(&mut s, 40);
    assert!(centre(&s).z > 0.1);
}

#[test]
fn a_fan_gives_the_same_bits_for_any_number_of_threads() {
    let scene = banner([20, 20]);
    let hashes: Vec<u64> = [1, 2, 5]
        .iter()
        .map(|&threads| {
            let mut s = simulation(&scene).with_threads(threads).unwrap();
            s.command(blow()).unwrap();
            run(&mut s, 8);
            s.state_hash()
        })
        .collect();
    assert!(hashes.windows(2).all(|w| w[0] == w[1]), "{hashes:x?}");
}

#[test]
fn a_fan_written_into_the_state_that_makes_no_sense_is_not_used() {
    let mut s = simulation(&banner([6, 6]));
    s.command(blow()).unwrap();
    s.step();
    s.state_mut().fan.as_mut().unwrap().origin.x = f64::NAN;
    s.step();
    assert!(s.control().fan.is_none());
    assert!(s.state().bodies[0].x.iter().all(|x| x.is_finite()));
    assert!(s.warnings()[0].to_string().contains("not finite"));
}

#[test]
fn snapshots_hold_the_fan_and_older_ones_are_read() {
    let scene = banner([6, 6]);
    let mut s = simulation(&scene);
    run(&mut s, 3);
    // Version 1 ended where the fan now begins, a byte; version 2 before the four that say how long the body was still; version 3 before the eight that
    // count the elements that may flow; version 4 knew no cells that change, version 5 ended before the twelve of folds; version 6 knew no paper and no folds of skins, version 7
    // no bones that are turned.
    let bytes = s.snapshot();
    assert_eq!(bytes[8..12], [8, 0, 0, 0]);
    let mut restored = simulation(&scene);
    for (version, missing) in [(1, 25), (2, 24), (3, 20), (4, 12), (5, 12), (6, 0), (7, 0)] {
        let mut old = bytes[..bytes.len() - 8 - missing].to_vec();
        old[8] = version;
        restored.restore(&snapshot::with_checksum(&old)).unwrap();
        assert_eq!(restored.state(), s.state());
    }
    let mut unknown = bytes[..bytes.len() - 8].to_vec();
    for version in [0, 9] {
        unknown[8] = version;
        let error = restored.restore(&snapshot::with_checksum(&unknown)).unwrap_err().to_string();
        assert!(error.contains(&format!("version {version}")), "{error}");
    }

    s.command(blow()).unwrap();
    s.step();
    restored.restore(&s.snapshot()).unwrap();
    assert_eq!(restored.state(), s.state());
    assert_eq!(restored.state().fan, s.state().fan);
    // A fan that no command would have made.
    let bytes = s.snapshot();
    // Before it is said how long the body was still, how many elements may flow and which folds there are, and before the checksum.
    let radius = bytes.len() - 8 - 12 - 8 - 4 - 8;
    let mut damaged = bytes[..bytes.len() - 8].to_vec();
    damaged[radius..radius + 8].copy_from_slice(&(-1.0f64).to_le_bytes());
    assert!(restored.restore(&snapshot::with_checksum(&damaged)).unwrap_err().to_string().contains("fan"));
}

#[test]
fn bad_fans_are_refused() {
    let mut s = simulation(&banner([4, 4]));
    let fan = |origin: Vec3, direction: Vec3, speed: f64, radius: f64| Command::Blow {
        origin,
        direction,
        speed,
        radius,
    };
    let (here, up) = ([0.0; 3], [0.0, 1.0, 0.0]);
    for (command, reason) in [
        (fan([f64::NAN, 0.0, 0.0], up, 1.0, 1.0), "place"),
        (fan(here, [0.0; 3], 1.0, 1.0), "points nowhere"),
        (fan(here, [f64::INFINITY, 0.0, 0.0], 1.0, 1.0), "direction"),
        (fan(here, up, -1.0, 1.0), "speed"),
        (fan(here, up, f64::NAN, 1.0), "speed"),
        (fan(here, up, 1.0, 0.0), "radius"),
        (fan(here, up, 1.0, f64::INFINITY), "radius"),
    ] {
        let error = s.command(command.clone()).unwrap_err().to_string();
        assert!(error.contains(reason), "{command:?}: {error}");
    }
    // Extremes that are allowed give numbers.
    for (speed, radius) in [(0.0, 1.0), (1.0, 1e-300), (1.0, 1e9)] {
        s.command(fan(here, up, speed, radius)).unwrap();
        run(&mut s, 2);
        assert!(s.state().bodies[0].x.iter().all(|x| x.is_finite()), "{speed} {radius}");
    }
}

#[test]
fn a_selection_is_anchored_moved_and_freed_in_one_command_each() {
    let mut s = simulation(&banner([10, 10]));
    run(&mut s, 5);
    let body = || String::from("banner");
    let chosen = vec![72, 40, 95, 40];
    s.command(Command::AnchorMany { body: body(), vertices: chosen.clone() }).unwrap();
    // Anchored by a command that still waits: it may be moved at once.
    let by = [0.01, 0.02, -0.03];
    s.command(Command::MoveAnchored { body: body(), vertices: chosen.clone(), by }).unwrap();
    let start: Vec<DVec3> = chosen.iter().map(|&v| s.state().bodies[0].x[v as usize]).collect();
    let place = |s: &Simulation, k: usize| s.state().bodies[0].x[chosen[k] as usize];
    s.step();
    for k in 0..chosen.len() {
        assert_eq!(
            place(&s, k),
            start[k] + DVec3::from(by),
            "each moves once, and at the end of the step it is there"
        );
    }
    run(&mut s, 5);
    assert_eq!(place(&s, 0), start[0] + DVec3::from(by));
    let by_hand: Vec<u32> = (s.state().bodies[0].pinned.iter())
        .filter(|p| p.set == PinnedVertex::BY_HAND)
        .map(|p| p.vertex)
        .collect();
    assert_eq!(by_hand, [40, 72, 95]);
    assert!(s.state().bodies[0].pinned.is_sorted_by_key(|p| p.vertex));
    s.command(Command::FreeMany { body: body(), vertices: vec![72, 95, 41] }).unwrap();
    run(&mut s, 5);
    assert_ne!(place(&s, 0), start[0] + DVec3::from(by), "freed");
    assert_eq!(place(&s, 1), start[1] + DVec3::from(by), "still held");
}

#[test]
fn what_was_not_anchored_by_hand_does_not_move() {
    let mut s = simulation(&banner([5, 5]));
    let body = || String::from("banner");
    let moved = |vertices: &[u32]| Command::MoveAnchored {
        body: body(),
        vertices: vertices.to_vec(),
        by: [0.0, 0.1, 0.0],
    };
    let refused = |s: &mut Simulation, command: Command, reason: &str| {
        let error = s.command(command).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    };
    refused(&mut s, moved(&[7]), "vertex 7 of body 'banner' was not anchored by hand");
    refused(&mut s, moved(&[0]), "move_pin");
    refused(&mut s, moved(&[99]), "no vertex 99");
    s.command(Command::Anchor { body: body(), vertex: 7 }).unwrap();
    s.command(Command::Anchor { body: body(), vertex: 0 }).unwrap();
    s.command(moved(&[7])).unwrap();
    refused(&mut s, moved(&[0]), "move_pin");
    refused(&mut s, moved(&[7, 8]), "vertex 8");
    s.command(Command::FreeMany { body: body(), vertices: vec![0, 7] }).unwrap();
    refused(&mut s, moved(&[7]), "vertex 7");
    // Freed from its pin set and anchored: by hand now.
    s.command(Command::Anchor { body: body(), vertex: 0 }).unwrap();
    s.command(moved(&[0])).unwrap();
    let start = s.state().bodies[0].x[0];
    s.step();
    assert!((s.state().bodies[0].x[0] - start - DVec3::Y * 0.1).length() < 1e-15);
    refused(
        &mut s,
        Command::MoveAnchored { body: body(), vertices: vec![0], by: [f64::NAN, 0.0, 0.0] },
        "not finite",
    );
    for vertices in [vec![25], vec![0; MAX_SELECTION + 1]] {
        assert!(s.command(Command::AnchorMany { body: body(), vertices: vertices.clone() }).is_err());
        assert!(s.command(Command::FreeMany { body: body(), vertices }).is_err());
    }
}

#[test]
fn many_single_commands_are_the_same_as_one_for_all() {
    let scene = banner([110, 100]);
    let body = || String::from("banner");
    // In an order that has nothing to do with their numbers.
    let chosen: Vec<u32> = (0..10_000).map(|k| (k * 7919) % 11_000).collect();
    let (mut one, mut many) = (simulation(&scene), simulation(&scene));
    one.command(Command::AnchorMany { body: body(), vertices: chosen.clone() }).unwrap();
    for &vertex in &chosen {
        many.command(Command::Anchor { body: body(), vertex }).unwrap();
    }
    one.step();
    many.step();
    assert_eq!(one.state(), many.state());
    assert_eq!(one.state().bodies[0].pinned.len(), {
        let mut all: Vec<u32> = chosen.iter().copied().chain(0..110).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    });
    one.command(Command::FreeMany { body: body(), vertices: chosen[..9_000].to_vec() }).unwrap();
    for &vertex in &chosen[..9_000] {
        many.command(Command::Free { body: body(), vertex }).unwrap();
    }
    one.step();
    many.step();
    assert_eq!(one.state(), many.state());
}
