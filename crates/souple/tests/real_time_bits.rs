//! The same bits from the real-time solver: for any number of threads with everything it does at once, and as they were.

use souple::scene::*;
use souple::{Command, ModelBuilder, Simulation};

fn sheet(name: &str, n: u32, at: [f64; 3]) -> Body {
    Body {
        name: name.into(),
        shape: Shape::Grid(Grid { vertices: [n, n], ..Grid::default() }),
        placement: Placement { translate: at, ..Placement::default() },
        density: Some(0.2),
        bending: Some(1e-5),
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(5e3), damping: Some(1e-3), ..Family::default() },
            ..Springs::default()
        },
        ..Body::default()
    }
}

/// A sheet that hangs and touches a moving ball; one that falls on a box; one that is torn apart; a rope with limits. There
/// is wind, and a hand. `n` × `n` vertices of the first, so that its strips are shared among threads if it is large.
fn scene(n: u32) -> Scene {
    let pin = |name: &str, select: Select, velocity: [f64; 3]| Pin {
        name: name.into(),
        select,
        motion: Some(Motion { velocity, ..Motion::default() }),
        ..Pin::default()
    };
    let mut hanging = sheet("hanging", n, [0.0, 0.0, 0.0]);
    hanging.springs.stretch.modulus = Some(2e4);
    hanging.air = Some(Air::default());
    hanging.pins = vec![
        pin("left", Select::Vertices(vec![0]), [0.0; 3]),
        pin("right", Select::Vertices(vec![n - 1]), [-0.2, 0.1, 0.0]),
    ];
    let falling = sheet("falling", 20, [3.0, 0.0, 0.0]);
    let mut torn = sheet("torn", 14, [6.0, 0.0, 0.0]);
    torn.springs.stretch.modulus = Some(300.0);
    torn.tear = Some(Tear { length_ratio: Some(1.1), ..Tear::default() });
    torn.pins = vec![
        pin("left", Select::Border(Border::U0), [-1.0, 0.0, 0.0]),
        pin("right", Select::Border(Border::U1), [1.0, 0.0, 0.0]),
    ];
    let rope = Body {
        name: "rope".into(),
        shape: Shape::Rope(Rope { vertices: 40, direction: [1.0, 0.0, 0.0], ..Rope::default() }),
        placement: Placement { translate: [9.0, 0.0, 0.0], ..Placement::default() },
        density: Some(0.05),
        bending: Some(1e-5),
        springs: Springs {
            stretch: Family { modulus: Some(50.0), ..Family::default() },
            ..Springs::default()
        },
        limits: Some(Limits::default()),
        pins: vec![pin("end", Select::Vertices(vec![0]), [0.0; 3])],
        ..Body::default()
    };
    let collider = |name: &str, shape, position, velocity, restitution| Collider {
        name: name.into(),
        shape,
        position,
        restitution,
        motion: Some(Motion { velocity, spin_deg: [0.0, 90.0, 0.0], ..Motion::default() }),
        ..Collider::default()
    };
    let ball = ColliderShape::Sphere(SphereShape { radius: 0.3 });
    let cube = ColliderShape::Box(BoxShape { size: [0.6, 0.2, 0.6] });
    Scene {
        groups: vec![Group { solver: SolverKind::Xpbd, ..Group::default() }],
        bodies: vec![hanging, falling, torn, rope],
        colliders: vec![
            collider("ball", ball, [0.5, -0.4, 0.4], [0.0, 0.2, 0.0], 0.0),
            collider("cube", cube, [3.5, -0.15, 0.5], [0.1, 0.0, 0.0], 0.3),
        ],
        wind: Some(Wind { velocity: [1.0, 0.0, 0.5], gusts: Some(Gusts::default()), ..Wind::default() }),
        ..Scene::default()
    }
}

/// Hashes of all frames.
fn hashes(scene: &Scene, threads: usize, frames: usize) -> Vec<u64> {
    let mut s = Simulation::new(ModelBuilder::new(scene).build().unwrap()).with_threads(threads).unwrap();
    s.command(Command::Grab { body: "falling".into(), vertex: 30, target: [3.0, 0.5, 0.0], stiffness: 20.0 })
        .unwrap();
    let mut touched = [false; 2];
    let mut hashes = Vec::new();
    for _ in 0..frames {
        s.step();
        hashes.push(s.state_hash());
        (0..2).for_each(|b| touched[b] |= !s.contacts(b).is_empty());
    }
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    assert!(touched == [true; 2], "the test wants contact: {touched:?}");
    assert!(s.state().bodies[2].topology.version > 0, "the test wants a tear");
    hashes
}

#[test]
fn the_same_bits_with_several_bodies_tears_contact_and_bending_for_any_number_of_threads() {
    let scene = scene(110);
    let one = hashes(&scene, 1, 25);
    assert!(one.windows(2).all(|w| w[0] != w[1]));
    for threads in [2, 3, 8] {
        assert_eq!(hashes(&scene, threads, 25), one, "{threads} threads");
    }
}

/// The hash of a scene after some frames, kept: it changes only when behaviour does, and then in a commit of its own that
/// says why. IEEE operations in a fixed order: it is the same on every machine, with or without AVX2.
#[test]
fn golden_hash() {
    let all = hashes(&scene(24), 2, 40);
    assert_eq!(all[39], GOLDEN, "{:#x}", all[39]);
}

const GOLDEN: u64 = 0x12f4_b246_7a2a_2b50;
