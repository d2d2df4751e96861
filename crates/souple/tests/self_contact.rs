//! Cloth that touches itself: nothing crosses, nothing is gained, and it comes to rest.

use souple::measure::intersections::crossings;
use souple::scene::{
    Body, Collider, ColliderShape, Family, Grid, GridPlane, Group, InlineMesh, Layout, Placement, PlaneShape,
    Rayleigh, Scene, Shape, SolverKind, Springs, SurfaceContact, Wave,
};
use souple::{ModelBuilder, Simulation};

/// A vertical sheet of n × n vertices, 1 m wide, just above the floor, that falls on its edge and folds up.
fn pile(n: u32) -> Scene {
    let body = Body {
        name: "sheet".into(),
        mass: Some(0.2),
        bending: Some(5e-5),
        shape: Shape::Grid(Grid {
            plane: GridPlane::Xy,
            vertices: [n, n],
            waves: vec![
                Wave { height: 0.002, along: [0.0, -9.0], phase: 9.45 },
                Wave { height: 0.001, along: [7.0, -3.0], phase: -0.35 },
            ],
            ..Grid::default()
        }),
        placement: Placement { translate: [-0.5, 1.05, 0.0], ..Placement::default() },
        rayleigh: Some(Rayleigh { mass: 1.0, ..Rayleigh::default() }),
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(20000.0), ..Family::default() },
            ..Springs::default()
        },
        skin: 0.4 / f64::from(n),
        contact: Some(SurfaceContact { friction: 0.3, ..SurfaceContact::default() }),
        ..Body::default()
    };
    let group = Group { solver: SolverKind::Xpbd, dt: Some(1.0 / 900.0), ..Group::default() };
    Scene {
        groups: vec![group],
        bodies: vec![body],
        colliders: vec![Collider {
            name: "floor".into(),
            shape: ColliderShape::Plane(PlaneShape::default()),
            friction: 0.5,
            ..Collider::default()
        }],
        ..Scene::default()
    }
}

fn simulation(scene: &Scene, threads: usize) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap()).with_threads(threads).unwrap()
}

fn count(simulation: &Simulation) -> usize {
    let body = &simulation.state().bodies[0];
    crossings(&body.x, &body.topology.triangles).len()
}

#[test]
fn a_pile_is_clean_lies_and_comes_to_rest() {
    let mut simulation = simulation(&pile(32), 2);
    let (frames, mut dirty) = (240, 0);
    for _ in 0..frames {
        simulation.step();
        dirty += u32::from(count(&simulation) > 0);
    }
    assert!(simulation.warnings().is_empty(), "{:?}", simulation.warnings()[0]);
    assert!(f64::from(dirty) <= 0.05 * f64::from(frames), "{dirty} frames of {frames} with crossings");
    assert_eq!(count(&simulation), 0, "crossings are left");
    let measures = simulation.measures();
    let highest = simulation.state().bodies[0].x.iter().fold(0.0f64, |h, x| h.max(x.y));
    assert!(highest < 0.25, "it stands {highest} m high");
    assert!(measures.kinetic_energy < 1e-3, "{} J", measures.kinetic_energy);
    assert!(measures.stretch_mean_percent < 2.0, "{} %", measures.stretch_mean_percent);
}

#[test]
fn without_contact_the_same_sheet_crosses_itself() {
    let mut scene = pile(32);
    scene.bodies[0].contact = None;
    let mut simulation = simulation(&scene, 1);
    (0..60).for_each(|_| simulation.step());
    assert!(count(&simulation) > 100);
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_after_a_restore() {
    let scene = pile(70);
    let run = |threads: usize, restore_at: Option<u32>| {
        let mut simulation = simulation(&scene, threads);
        for frame in 0..18 {
            if Some(frame) == restore_at {
                let bytes = simulation.snapshot();
                simulation.restore(&bytes).unwrap();
            }
            simulation.step();
        }
        simulation.state_hash()
    };
    let one = run(1, None);
    for threads in [2, 3] {
        assert_eq!(run(threads, None), one, "{threads} threads");
    }
    assert_eq!(run(2, Some(15)), one, "after a restore");
}

#[test]
fn contacts_within_a_budget_are_the_same_for_any_number_of_threads_and_after_a_restore() {
    let mut scene = pile(32);
    scene.groups[0].contact_budget = Some(3000);
    let run = |scene: &Scene, threads: usize, restore_at: Option<u32>| {
        let mut first = simulation(scene, threads);
        for frame in 0..30 {
            if Some(frame) == restore_at {
                // Another one, which knows nothing of what the first one found.
                let bytes = first.snapshot();
                first = simulation(scene, threads);
                first.restore(&bytes).unwrap();
            }
            first.step();
        }
        (first.state_hash(), count(&first))
    };
    let one = run(&scene, 1, None);
    assert_eq!(run(&scene, 3, None), one, "3 threads");
    assert_eq!(run(&scene, 1, Some(25)), one, "after a restore");
    scene.bodies[0].contact = None;
    assert!(run(&scene, 1, None).1 > one.1, "no better than without contact");
    scene.groups[0].contact_budget = Some(0);
    let refused = ModelBuilder::new(&scene).build().unwrap_err().to_string();
    assert!(refused.contains("contact_budget"), "{refused}");
}

#[test]
fn free_cloth_keeps_its_momentum_and_gains_no_energy() {
    let mut scene = pile(24);
    scene.colliders.clear();
    scene.gravity = [0.0; 3];
    scene.bodies[0].rayleigh = None;
    let mut simulation = simulation(&scene, 1);
    // The upper half comes down on the lower one.
    let state = simulation.state_mut();
    for v in &mut state.bodies[0].v[..24 * 12] {
        v.y = -2.0;
    }
    simulation.step();
    let start = simulation.measures();
    let mut highest = 0.0f64;
    for _ in 0..90 {
        simulation.step();
        highest = highest.max(simulation.measures().kinetic_energy);
    }
    let end = simulation.measures();
    let drift = (end.momentum - start.momentum).length() / start.momentum.length();
    // Each substep rounds places of 1 m to 2⁻²⁴: 6e-8 over a way of 2 mm, at 1,350 substeps at random.
    assert!(drift < 6e-8 / 2e-3 * 1350f64.sqrt() * 2.0, "{drift}");
    assert!(highest <= start.kinetic_energy * 1.001, "{highest} J of {} J", start.kinetic_energy);
}

/// Two strips that meet at an angle in a seam whose vertices are doubled, with a triangle named twice and one without area.
#[test]
fn vertices_that_lie_on_each_other_at_rest_do_not_hold_each_other() {
    let n = 6u32;
    let mut mesh = InlineMesh::default();
    for side in [-1.0, 1.0] {
        let first = mesh.positions.len() as u32;
        for v in 0..n * n {
            let (along, down) = (0.05 * f64::from(v % n), 0.05 * f64::from(v / n));
            mesh.positions.push([side * along, 0.5 + 1.2 * along, down]);
        }
        for cell in (0..n * (n - 1)).filter(|c| c % n < n - 1) {
            let (a, b) = (first + cell, first + cell + n);
            mesh.triangles.extend([[a, b, b + 1], [a, b + 1, a + 1]]);
        }
    }
    mesh.triangles.push(mesh.triangles[0]);
    mesh.triangles.push([0, 6, 12]);
    let mut scene = pile(8);
    scene.colliders.clear();
    scene.bodies[0].shape = Shape::Mesh(mesh);
    scene.bodies[0].placement = Placement::default();
    scene.bodies[0].bending = None;
    scene.bodies[0].rayleigh = None;
    scene.bodies[0].skin = 0.01;
    let mut simulation = simulation(&scene, 1);
    let start = simulation.measures().centre.y;
    (0..30).for_each(|_| simulation.step());
    // Half a second of free fall, by steps of 1/900 s: g t (t + h)/2.
    let fallen = start - simulation.measures().centre.y;
    let exact = 9.81 * 0.5 * (0.5 + 1.0 / 900.0) / 2.0;
    assert!((fallen - exact).abs() < 1e-3, "{fallen} m instead of {exact} m");
}
