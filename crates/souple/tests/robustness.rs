//! Promises of the step: the same bits for any number of threads and after a restore, no NaN leaves it, nothing is
//! allocated once a scene is steady.

use std::alloc::{GlobalAlloc, Layout as MemoryLayout, System};
use std::cell::Cell;

use glam::DVec3;
use souple::scene::*;
use souple::{Command, ModelBuilder, Simulation, Stage, WarningKind};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

/// Counts what this thread allocates.
struct Counting;

// SAFETY: every call is handed on unchanged to the system allocator; only a thread-local counter is added.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: MemoryLayout) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: MemoryLayout) {
        // SAFETY: the caller keeps the contract of `dealloc`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: MemoryLayout, size: usize) -> *mut u8 {
        let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
        // SAFETY: the caller keeps the contract of `realloc`.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Two cloths that fall on a sphere and a moving box in gusty wind, one of them pinned and tearable.
fn scene(solver: SolverKind, dt: Option<f64>) -> Scene {
    let cloth = |name: &str, z: f64| Body {
        name: name.into(),
        shape: Shape::Grid(Grid { vertices: [36, 36], ..Grid::default() }),
        placement: Placement { translate: [-0.5, 0.5, z], ..Placement::default() },
        density: Some(0.2),
        springs: Springs {
            stretch: Family { stiffness: Some(50.0), damping: Some(2e-3), ..Family::default() },
            shear: Family { stiffness: Some(20.0), ..Family::default() },
            bend: Family { stiffness: Some(1.0), ..Family::default() },
            ..Springs::default()
        },
        air: Some(Air::default()),
        ..Body::default()
    };
    let mut held = cloth("held", 0.0);
    held.pins = vec![
        Pin { name: "left".into(), select: Select::Vertices(vec![0]), ..Pin::default() },
        Pin { name: "right".into(), select: Select::Vertices(vec![35]), ..Pin::default() },
    ];
    let round = ColliderShape::Sphere(SphereShape { radius: 0.3 });
    let boxed = ColliderShape::Box(BoxShape { size: [0.5, 0.5, 0.5] });
    let spin = Motion { spin_deg: [0.0, 90.0, 0.0], velocity: [0.1, 0.0, 0.0], ..Motion::default() };
    Scene {
        groups: vec![Group { solver, dt, ..Group::default() }],
        bodies: vec![held, cloth("free", 2.0)],
        colliders: vec![
            Collider { name: "ball".into(), shape: round, position: [0.0, 0.1, 0.6], ..Collider::default() },
            Collider {
                name: "box".into(),
                shape: boxed,
                position: [0.0, 0.1, 2.5],
                motion: Some(spin),
                ..Collider::default()
            },
        ],
        wind: Some(Wind { velocity: [1.0, 0.0, 0.5], gusts: Some(Gusts::default()), ..Wind::default() }),
        ..Scene::default()
    }
}

fn simulation(scene: &Scene, threads: usize) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap()).with_threads(threads).unwrap()
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    for (solver, dt) in [
        (SolverKind::ImplicitEulerCg, None),
        (SolverKind::SymplecticEuler, Some(1e-3)),
        (SolverKind::ImplicitEulerCholesky, None),
        (SolverKind::ProjectiveDynamics, None),
        (SolverKind::VertexBlockDescent, None),
    ] {
        let scene = scene(solver, dt);
        let hashes: Vec<Vec<u64>> = [1, 2, 3, 8]
            .iter()
            .map(|&threads| {
                let mut s = simulation(&scene, threads);
                (0..6)
                    .map(|_| {
                        s.step();
                        s.state_hash()
                    })
                    .collect()
            })
            .collect();
        assert!(hashes.windows(2).all(|w| w[0] == w[1]), "{solver:?}");
        assert!(hashes[0].windows(2).all(|w| w[0] != w[1]));
    }
}

/// A cloth large enough that every loop is shared among threads.
fn large_scene(solver: SolverKind, dt: Option<f64>) -> Scene {
    let mut scene = scene(solver, dt);
    scene.bodies.truncate(1);
    scene.bodies[0].shape = Shape::Grid(Grid { vertices: [132, 132], ..Grid::default() });
    scene.bodies[0].pins = vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }];
    scene.bodies[0].air = Some(Air { viscous: 0.5, ..Air::default() });
    scene.wind = Some(Wind { velocity: [1.0, 0.0, 0.5], ..Wind::default() });
    scene.groups[0].cg = Cg { tolerance: 1e-3, max_iterations: 30, ..Cg::default() };
    scene
}

#[test]
fn the_same_bits_on_a_cloth_that_all_threads_share() {
    for (solver, dt) in [
        (SolverKind::ImplicitEulerCg, None),
        (SolverKind::Rk4, Some(5e-3)),
        (SolverKind::VertexBlockDescent, None),
    ] {
        let scene = large_scene(solver, dt);
        let hashes: Vec<u64> = [1, 2, 3, 8]
            .iter()
            .map(|&threads| {
                let mut s = simulation(&scene, threads);
                s.step();
                s.step();
                s.state_hash()
            })
            .collect();
        assert!(hashes.windows(2).all(|w| w[0] == w[1]), "{solver:?}: {hashes:x?}");
    }
}

/// A block of hexahedra or tetrahedra, large enough that loops over its elements are shared among threads, and its surface in cells.
fn large_solid(cut: Cells, law: SolidLaw, embedded: bool) -> Scene {
    let mut body = Body {
        shape: Shape::Block(Block { size: [0.4, 0.2, 0.2], cells: [16, 8, 8], cut }),
        density: Some(1000.0),
        young_modulus: Some(4e4),
        poisson_ratio: Some(0.4),
        law: Some(law),
        rayleigh: Some(Rayleigh { mass: 0.1, stiffness: Some(1e-3) }),
        pins: vec![Pin { select: Select::Vertices(vec![0, 1, 2]), ..Pin::default() }],
        ..Body::default()
    };
    if embedded {
        body.shape = Shape::Ball(Ball { radius: 0.2, subdivisions: 3 });
        body.embed = Some(Embed { cell: 0.03, cut, ..Embed::default() });
    }
    let group = Group { solver: SolverKind::ImplicitEulerCg, ..Group::default() };
    Scene { groups: vec![group], bodies: vec![body], ..Scene::default() }
}

#[test]
fn the_same_bits_on_solids_that_all_threads_share() {
    for (cut, law, embedded) in [
        (Cells::Hexahedra, SolidLaw::Polar, false),
        (Cells::Hexahedra, SolidLaw::Qr, false),
        (Cells::Hexahedra, SolidLaw::Polar, true),
        (Cells::Five, SolidLaw::Polar, false),
        (Cells::Five, SolidLaw::NeoHookean, false),
    ] {
        let scene = large_solid(cut, law, embedded);
        let hashes: Vec<u64> = [1, 2, 3, 8]
            .iter()
            .map(|&threads| {
                let mut s = simulation(&scene, threads);
                (0..4).for_each(|_| s.step());
                assert!(!s.state().bodies[0].frozen, "{cut:?} {law:?}");
                s.state_hash()
            })
            .collect();
        assert!(hashes.windows(2).all(|w| w[0] == w[1]), "{cut:?} {law:?} {embedded}: {hashes:x?}");
    }
}

/// The hash of a scene after some steps, kept: it changes only when behaviour does, and then in a commit of its own that
/// says why. IEEE operations in a fixed order: it is the same on every machine.
#[test]
fn golden_hashes() {
    for (solver, dt, golden) in [
        (SolverKind::ImplicitEulerCg, None, GOLDEN_IMPLICIT),
        (SolverKind::SymplecticEuler, Some(1e-3), GOLDEN_SYMPLECTIC),
    ] {
        let mut s = simulation(&scene(solver, dt), 2);
        for _ in 0..10 {
            s.step();
        }
        assert_eq!(s.state_hash(), golden, "{solver:?}: {:#x}", s.state_hash());
    }
}

const GOLDEN_IMPLICIT: u64 = 0xd063_e61c_bd3f_57e1;
const GOLDEN_SYMPLECTIC: u64 = 0x4a77_869d_f6b9_48c2;

#[test]
fn a_restored_snapshot_goes_on_with_the_same_bits() {
    let mut scene = scene(SolverKind::ImplicitEulerCg, None);
    // Tearing as well: the torn mesh is part of the snapshot.
    scene.bodies[0].tear = Some(Tear { length_ratio: Some(1.05), ..Tear::default() });
    let mut s = simulation(&scene, 1);
    s.command(Command::Grab { body: "held".into(), vertex: 1290, target: [0.0, -3.0, 1.0], stiffness: 50.0 })
        .unwrap();
    s.command(Command::SetWind { velocity: [3.0, 0.0, 0.0] }).unwrap();
    for _ in 0..30 {
        s.step();
    }
    assert!(s.state().bodies[0].topology.version > 0, "the test wants a torn cloth");
    let bytes = s.snapshot();
    let mut other = simulation(&scene, 2);
    other.restore(&bytes).unwrap();
    assert_eq!(other.state(), s.state());
    for _ in 0..10 {
        s.step();
        other.step();
        assert_eq!(s.state_hash(), other.state_hash());
    }
}

#[test]
fn damaged_or_foreign_snapshots_are_refused() {
    let first = scene(SolverKind::ImplicitEulerCg, None);
    let mut s = simulation(&first, 1);
    s.step();
    let bytes = s.snapshot();
    let before = s.state_hash();
    for at in (0..bytes.len()).step_by(1 + bytes.len() / 300) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        assert!(s.restore(&damaged).is_err(), "byte {at}");
        assert!(s.restore(&bytes[..at]).is_err(), "cut at {at}");
    }
    assert!(s.restore(&[]).is_err());
    let mut second = first.clone();
    second.gravity = [0.0, -1.6, 0.0];
    assert!(simulation(&second, 1).restore(&bytes).unwrap_err().to_string().contains("another scene"));
    assert_eq!(s.state_hash(), before, "a refused snapshot changes nothing");
}

#[test]
fn a_nan_at_any_stage_never_leaves_the_step_and_spares_the_rest() {
    let scene = scene(SolverKind::SymplecticEuler, Some(1e-3));
    let mut clean = simulation(&scene, 1);
    for _ in 0..8 {
        clean.step();
    }
    // Nothing is computed while mappings are updated: what is seen is made when somebody looks.
    for stage in Stage::ALL.into_iter().filter(|s| *s != Stage::UpdateMappings) {
        let mut s = simulation(&scene, 1);
        for step in 0..8 {
            if step == 3 {
                s.inject_nan(stage);
            }
            s.step();
            for body in &s.state().bodies {
                assert!(body.x.iter().chain(&body.v).all(|p| p.is_finite()), "{stage:?}");
            }
            assert!((0..2).all(|b| s.normals(b).iter().all(|n| n.is_finite())), "{stage:?}");
        }
        // The other body did not notice.
        assert_eq!(s.state().bodies[1].x, clean.state().bodies[1].x, "{stage:?}");
        assert!(!s.state().bodies[0].frozen, "{stage:?}: a passing fault must not freeze");
        let silent = [Stage::BroadPhase, Stage::FindContacts, Stage::Record];
        assert_eq!(s.warnings().is_empty(), silent.contains(&stage), "{stage:?}: {:?}", s.warnings());
        if let Some(w) = s.warnings().first() {
            assert_eq!((w.body.as_str(), w.step), ("held", 3));
            assert!(!w.remedy.is_empty());
        }
        // Where the fault hit nothing but bounds, the result is the same to the last bit.
        if silent.contains(&stage) {
            assert_eq!(s.state().bodies[0].x, clean.state().bodies[0].x, "{stage:?}");
        }
    }
}

#[test]
fn a_body_that_diverges_is_frozen_with_a_remedy_and_the_rest_goes_on() {
    // A step far beyond the limit, even after four halvings.
    let mut scene = scene(SolverKind::SymplecticEuler, Some(1e-3));
    scene.groups.push(Group { name: "bad".into(), solver: SolverKind::ExplicitEuler, ..Group::default() });
    scene.bodies[0].group = Some("bad".into());
    let mut s = simulation(&scene, 1);
    for _ in 0..40 {
        s.step();
    }
    let (bad, good) = (&s.state().bodies[0], &s.state().bodies[1]);
    assert!(bad.frozen && !good.frozen);
    assert!(bad.x.iter().all(|x| x.is_finite() && x.length() < 1e6));
    assert!(good.v.iter().any(|v| v.length() > 0.1), "the other body still moves");
    let frozen = s.warnings().iter().find(|w| matches!(w.kind, WarningKind::Frozen { .. })).unwrap();
    assert_eq!((frozen.body.as_str(), frozen.stage), ("held", Stage::CheckHealth));
    assert!(frozen.to_string().contains("dt") && frozen.to_string().contains("bad"), "{frozen}");
}

#[test]
fn a_step_that_is_a_little_too_long_is_retried_with_smaller_ones() {
    let mut scene = scene(SolverKind::SymplecticEuler, Some(1.3e-3));
    scene.health.max_speed = 100.0;
    scene.bodies.truncate(1);
    let mut s = simulation(&scene, 1);
    for _ in 0..60 {
        s.step();
    }
    assert!(
        s.warnings().iter().any(|w| matches!(w.kind, WarningKind::Retried { .. })),
        "{:?}",
        s.warnings().first()
    );
    assert!(s.state().bodies[0].v.iter().all(|v| v.length() <= 100.0));
}

#[test]
fn a_steady_scene_allocates_nothing_after_the_third_step() {
    for (solver, dt) in [
        (SolverKind::ImplicitEulerCg, None),
        (SolverKind::Rk4, Some(1e-3)),
        (SolverKind::Verlet, Some(1e-3)),
        (SolverKind::VertexBlockDescent, None),
    ] {
        let mut scene = scene(solver, dt);
        scene.bodies[0].limits = Some(Limits::default());
        // One that a fan could blow at.
        scene.bodies[1].air = None;
        scene.bodies[0].tear = Some(Tear { length_ratio: Some(50.0), ..Tear::default() });
        let mut s = simulation(&scene, 1);
        for _ in 0..3 {
            s.step();
        }
        let before = ALLOCATIONS.with(Cell::get);
        for _ in 0..5 {
            s.step();
        }
        assert_eq!(ALLOCATIONS.with(Cell::get) - before, 0, "{solver:?}");
    }
}

#[test]
fn commands_are_checked_at_the_door_and_do_what_they_say() {
    let mut s = simulation(&scene(SolverKind::ImplicitEulerCg, None), 1);
    let refused = [
        Command::MovePin { body: "held".into(), pin: "middle".into(), by: [0.0; 3] },
        Command::MovePin { body: "nobody".into(), pin: "left".into(), by: [0.0; 3] },
        Command::MovePin { body: "held".into(), pin: "left".into(), by: [f64::NAN, 0.0, 0.0] },
        Command::MoveCollider {
            collider: "ball".into(),
            by: [0.0; 3],
            rotate_deg: [f64::INFINITY, 0.0, 0.0],
        },
        Command::Grab { body: "free".into(), vertex: 99_999, target: [0.0; 3], stiffness: 1.0 },
        Command::Grab { body: "free".into(), vertex: 0, target: [0.0; 3], stiffness: -1.0 },
        Command::SetWind { velocity: [0.0, f64::NAN, 0.0] },
    ];
    for command in refused {
        assert!(s.command(command.clone()).is_err(), "{command:?}");
    }
    let before = s.state().bodies[0].x[0];
    s.command(Command::MovePin { body: "held".into(), pin: "left".into(), by: [0.0, 0.01, 0.0] }).unwrap();
    s.command(Command::Anchor { body: "free".into(), vertex: 5 }).unwrap();
    let anchor = s.state().bodies[1].x[5];
    for _ in 0..5 {
        s.step();
    }
    assert!((s.state().bodies[0].x[0] - before - DVec3::Y * 0.01).length() < 1e-15);
    assert_eq!(s.state().bodies[1].x[5], anchor);
    s.command(Command::Free { body: "free".into(), vertex: 5 }).unwrap();
    for _ in 0..5 {
        s.step();
    }
    assert!(s.state().bodies[1].x[5].y < anchor.y);
}

#[test]
fn collider_moved_by_command_pushes_the_cloth() {
    let mut s = simulation(&scene(SolverKind::ImplicitEulerCg, None), 1);
    for _ in 0..40 {
        s.command(Command::MoveCollider {
            collider: "ball".into(),
            by: [0.0, 0.02, 0.0],
            rotate_deg: [0.0; 3],
        })
        .unwrap();
        s.step();
    }
    let centre = DVec3::new(0.0, 0.1 + 40.0 * 0.02, 0.6);
    let skin = s.model().bodies[0].skin;
    for x in &s.state().bodies[0].x {
        assert!(x.distance(centre) > 0.3 + skin - 1e-6, "{x}");
    }
    assert!(!s.contacts(0).is_empty());
}
