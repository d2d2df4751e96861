//! What the real-time solver promises: stiff cloth does not stretch, any start and step is stood, the same bits for any
//! number of threads, rest is rest, and in the limit of small steps the cloth of the other solvers.

use glam::DVec3;
use souple::math::{sin, uniform};
use souple::scene::{
    Body, Collider, ColliderShape, Family, Grid, GridPlane, Group, Interpolation, Key, Layout, Motion, Pin,
    Rayleigh, Rope, Scene, Select, Shape, SolverKind, SphereShape, Springs, Tear, Time, Xpbd,
};
use souple::{Command, ModelBuilder, Simulation};

fn simulation(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

fn near(x: f64) -> Pin {
    Pin { name: format!("pin-{x}"), select: Select::Near([x, 0.0, 0.0]), ..Pin::default() }
}

/// A stiff cloth of 1 m and 0.2 kg, level at first, hung by two corners.
fn hanging(n: u32) -> Scene {
    let body = Body {
        name: "cloth".into(),
        mass: Some(0.2),
        shape: Shape::Grid(Grid { vertices: [n, n], ..Grid::default() }),
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(20_000.0), ..Family::default() },
            ..Springs::default()
        },
        rayleigh: Some(Rayleigh { mass: 1.0, stiffness: None }),
        pins: vec![near(0.0), near(1.0)],
        ..Body::default()
    };
    let group = Group { solver: SolverKind::Xpbd, ..Group::default() };
    Scene { groups: vec![group], bodies: vec![body], ..Scene::default() }
}

fn run(scene: &Scene, frames: u32) -> Simulation {
    let mut s = simulation(scene);
    for _ in 0..frames {
        s.step();
    }
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    s
}

#[test]
fn stiff_cloth_does_not_stretch_whatever_the_mesh() {
    let lowest: Vec<f64> = [20, 40, 60]
        .map(|n| {
            let m = run(&hanging(n), 300).measures();
            assert!(m.stretch_mean_percent < 0.1, "{n}: mean {} %", m.stretch_mean_percent);
            assert!(m.stretch_p999_percent < 2.0, "{n}: p99.9 {} %", m.stretch_p999_percent);
            assert!(m.stretch_max_percent < 5.0, "{n}: max {} %", m.stretch_max_percent);
            m.lowest
        })
        .to_vec();
    // Still swinging a little, by 3 mJ; what is compared is where it hangs.
    assert!(lowest.iter().all(|l| (l + 1.0).abs() < 0.02), "{lowest:?}");
}

/// Supports that shake with nearly three times the acceleration of gravity. The cloth crumples, so that levels and attachments help
/// little.
#[test]
fn violent_motion_does_not_stretch_single_edges() {
    let mut scene = hanging(100);
    let key = |frame: u32| {
        let t = f64::from(frame) / 60.0;
        let sway = |amplitude: f64, hertz: f64| amplitude * sin(std::f64::consts::TAU * hertz * t);
        Key { t, translate: [sway(0.2, 1.5), 0.0, sway(0.1, 2.3)], ..Key::default() }
    };
    let keys: Vec<Key> = (0..=150).map(key).collect();
    let motion = Motion { keys, interpolation: Interpolation::Linear, ..Motion::default() };
    scene.bodies[0].pins.iter_mut().for_each(|pin| pin.motion = Some(motion.clone()));
    let mut s = simulation(&scene);
    let mut strains = Vec::new();
    for _ in 0..150 {
        s.step();
        let body = &s.state().bodies[0];
        let length = |i: u32, j: u32| body.x[i as usize].distance(body.x[j as usize]);
        strains.extend(body.topology.edges.iter().map(|e| length(e.i, e.j) / e.rest_length - 1.0));
    }
    strains.sort_by(f64::total_cmp);
    let p999 = strains[strains.len() * 999 / 1000];
    assert!(p999 < 0.05, "{p999}");
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    // It is shaken, not braked: half a joule and more.
    assert!(s.measures().kinetic_energy > 0.25, "{}", s.measures().kinetic_energy);
}

#[test]
fn levels_and_attachments_are_what_does_it() {
    let mut scene = hanging(60);
    let all = run(&scene, 120).measures().stretch_mean_percent;
    scene.groups[0].xpbd = Xpbd { levels: false, attachments: false };
    let none = run(&scene, 120).measures().stretch_mean_percent;
    assert!(none > 10.0 * all, "{none} against {all} %");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let mut scene = hanging(140);
    scene.bodies[0].bending = Some(1e-5);
    scene.colliders.push(Collider {
        name: "ball".into(),
        shape: ColliderShape::Sphere(SphereShape { radius: 0.3 }),
        position: [0.5, -0.5, 0.5],
        ..Collider::default()
    });
    let hash = |threads: usize| {
        let mut s = simulation(&scene).with_threads(threads).unwrap();
        (0..25).for_each(|_| s.step());
        assert!(!s.contacts(0).is_empty());
        s.state_hash()
    };
    let one = hash(1);
    assert!([2, 3, 8].iter().all(|&n| hash(n) == one));
}

#[test]
fn a_run_goes_on_from_a_snapshot_with_the_same_bits() {
    let mut scene = hanging(30);
    scene.colliders.push(Collider {
        name: "ball".into(),
        shape: ColliderShape::Sphere(SphereShape { radius: 0.3 }),
        position: [0.5, -0.4, 0.3],
        ..Collider::default()
    });
    let mut s = run(&scene, 40);
    let saved = s.snapshot();
    (0..20).for_each(|_| s.step());
    let mut again = simulation(&scene);
    again.restore(&saved).unwrap();
    (0..20).for_each(|_| again.step());
    assert_eq!(s.state_hash(), again.state_hash());
}

#[test]
fn any_start_step_stiffness_and_mass_is_stood() {
    let starts: [fn(usize, &mut DVec3); 3] = [
        |i, p| {
            let r = |k: u64| uniform(3, 3 * i as u64 + k) - 0.5;
            *p = DVec3::new(r(0), r(1), r(2));
        },
        |_, p| p.y = 0.0,
        |_, p| *p = DVec3::ZERO,
    ];
    for modulus in [1.0, 1e3, 1e7] {
        for (fps, dt) in [(60.0, None), (60.0, Some(0.1)), (5.0, Some(0.2)), (2000.0, Some(1e-4))] {
            for start in starts {
                let mut scene = hanging(12);
                scene.bodies[0].springs.stretch.modulus = Some(modulus);
                scene.bodies[0].bending = Some(1e-4);
                scene.time = Time { fps, frames: 1 };
                scene.groups[0].dt = dt;
                let mut s = simulation(&scene);
                let body = &mut s.state_mut().bodies[0];
                body.x
                    .iter_mut()
                    .enumerate()
                    .filter(|(i, _)| *i != 0 && *i != 11)
                    .for_each(|(i, p)| start(i, p));
                let before = s.measures().total_energy();
                (0..200).for_each(|_| s.step());
                assert!(s.warnings().is_empty(), "{modulus} N/m, {fps} Hz, {dt:?}: {:?}", s.warnings());
                // Soft cloth at long steps hangs lower than its springs say, so what is stored in them may grow; what moves
                // and what can fall may not.
                let m = s.measures();
                let after = m.kinetic_energy + m.potential_energy;
                assert!(after <= before, "{modulus} N/m, {fps} Hz, {dt:?}: {before} J to {after} J");
            }
        }
    }
}

#[test]
fn heavy_on_light_and_teleported_supports_are_stood() {
    // A bead of 10 000 times the mass of the others at the end of a rope, whose support jumps by a metre.
    let key = |t: f64, x: f64| Key { t, translate: [x, 0.0, 0.0], ..Key::default() };
    let rope = Rope { length: 1.0, vertices: 30, ..Rope::default() };
    let body = Body {
        name: "rope".into(),
        shape: Shape::Rope(rope),
        mass: Some(0.03),
        springs: Springs {
            stretch: Family { stiffness: Some(1e6), ..Family::default() },
            ..Springs::default()
        },
        rayleigh: Some(Rayleigh { mass: 2.0, stiffness: None }),
        pins: vec![Pin {
            name: "top".into(),
            select: Select::Vertices(vec![0]),
            motion: Some(Motion { keys: vec![key(0.5, 0.0), key(0.5 + 1e-6, 1.0)], ..Motion::default() }),
            ..Pin::default()
        }],
        ..Body::default()
    };
    let group = Group { solver: SolverKind::Xpbd, ..Group::default() };
    let mut model = ModelBuilder::new(&Scene { groups: vec![group], bodies: vec![body], ..Scene::default() })
        .build()
        .unwrap();
    let mut topology = (*model.bodies[0].topology).clone();
    topology.masses[29] *= 1e4;
    topology.rebuild_derived();
    model.bodies[0].topology = topology.into();
    let mut s = Simulation::new(model);
    (0..600).for_each(|_| s.step());
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    let end = s.state().bodies[0].x[29];
    assert!(end.distance(DVec3::new(1.0, -1.0, 0.0)) < 0.05, "{end}");
}

#[test]
fn a_hanging_chain_stretches_as_much_as_its_springs_say() {
    // N equal masses on N equal springs: (m g / k) N (N + 1) / 2 in all.
    let n = 10;
    let (mass, k) = (0.01, 20.0);
    let body = Body {
        name: "chain".into(),
        shape: Shape::Rope(Rope {
            length: 1.0,
            vertices: n + 1,
            mass_at: souple::scene::RopeMass::Beads,
            ..Rope::default()
        }),
        mass: Some(mass * f64::from(n)),
        springs: Springs {
            stretch: Family { stiffness: Some(k), ..Family::default() },
            ..Springs::default()
        },
        rayleigh: Some(Rayleigh { mass: 3.0, stiffness: None }),
        pins: vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }],
        ..Body::default()
    };
    let group = Group { solver: SolverKind::Xpbd, dt: Some(1.0 / 6000.0), ..Group::default() };
    let s = run(&Scene { groups: vec![group], bodies: vec![body], ..Scene::default() }, 900);
    let extension = -s.measures().lowest - 1.0;
    let expected = mass * 9.81 / k * f64::from(n * (n + 1)) / 2.0;
    assert!((extension / expected - 1.0).abs() < 0.01, "{extension} against {expected} m");
}

#[test]
fn cloth_tears_and_the_pieces_fall() {
    let side = |name: &str, border, speed| Pin {
        name: name.into(),
        select: Select::Border(border),
        motion: Some(Motion { velocity: [speed, 0.0, 0.0], ..Motion::default() }),
        ..Pin::default()
    };
    let mut scene = hanging(20);
    let body = &mut scene.bodies[0];
    body.shape = Shape::Grid(Grid { vertices: [20, 20], plane: GridPlane::Xy, ..Grid::default() });
    body.springs.stretch.modulus = Some(500.0);
    body.tear = Some(Tear { length_ratio: Some(1.2), ..Tear::default() });
    body.bending = Some(1e-5);
    body.pins =
        vec![side("left", souple::scene::Border::U0, -0.5), side("right", souple::scene::Border::U1, 0.5)];
    let s = run(&scene, 90);
    assert!(s.state().bodies[0].x.len() > 400);
}

/// A pull at one place stretches few links. They are shortened, but not where a tear must see how long they are.
#[test]
fn links_that_a_tear_looks_at_are_not_shortened() {
    let stretch = |tear: Option<Tear>| {
        let mut scene = hanging(60);
        let key = |t: f64, z: f64| Key { t, translate: [0.0, 0.0, z], ..Key::default() };
        let motion = Motion { keys: vec![key(0.0, 0.0), key(1.0, 0.03)], ..Motion::default() };
        let select = Select::Near([1.0, 0.0, 1.0]);
        scene.bodies[0].pins.push(Pin { name: "led".into(), select, motion: Some(motion), ..Pin::default() });
        scene.bodies[0].tear = tear;
        run(&scene, 90).measures().stretch_max_percent
    };
    let (shortened, seen) =
        (stretch(None), stretch(Some(Tear { length_ratio: Some(3.0), ..Tear::default() })));
    assert!(seen > 1.2 * shortened, "{seen} % against {shortened} %");
}

#[test]
fn cloth_at_rest_stays_at_rest() {
    let mut scene = hanging(24);
    scene.bodies[0].rayleigh = Some(Rayleigh { mass: 5.0, stiffness: None });
    scene.bodies[0].bending = Some(1e-5);
    let mut s = run(&scene, 900);
    let before = s.state().bodies[0].x.clone();
    (0..120).for_each(|_| s.step());
    let moved = s.state().bodies[0].x.iter().zip(&before).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(moved < 1e-5, "{moved} m in two seconds");
}

#[test]
fn a_hand_leads_stiff_cloth() {
    let mut scene = hanging(24);
    scene.bodies[0].rayleigh = Some(Rayleigh { mass: 3.0, stiffness: None });
    let mut s = run(&scene, 120);
    let vertex = 24 * 23 + 12;
    let target = s.state().bodies[0].x[vertex] + DVec3::new(0.0, 0.2, 0.3);
    let grab = Command::Grab {
        body: "cloth".into(),
        vertex: vertex as u32,
        target: target.to_array(),
        stiffness: 100.0,
    };
    s.command(grab).unwrap();
    (0..240).for_each(|_| s.step());
    assert!(s.warnings().is_empty());
    // Half of the weight of 2 N at most hangs on 100 N/m: 2 cm.
    let off = s.state().bodies[0].x[vertex].distance(target);
    assert!(off < 0.02, "{off} m from the hand");
    assert!(s.measures().stretch_mean_percent < 0.2, "{} %", s.measures().stretch_mean_percent);
}
