//! Closed meshes that are solid: what begins inside is led out, as a whole (SIM-B10).

use glam::DVec3;
use souple::check::lint;
use souple::measure::intersections::in_scene;
use souple::mesh::{generate, winding_number};
use souple::scene::{
    Ball, Body, Collider, ColliderShape, ContactMode, Family, Group, InlineMesh, Layout, Placement, Rayleigh,
    Scene, Shape, SolverKind, Springs, SurfaceContact,
};
use souple::{ModelBuilder, Simulation};

/// A hollow ball of cloth, off the middle of a ball three times as large that does not move; without gravity.
fn scene(solver: SolverKind, mode: ContactMode, solid: Option<bool>) -> Scene {
    let body = Body {
        name: "balloon".into(),
        mass: Some(0.05),
        bending: Some(1e-3),
        shape: Shape::Ball(Ball { radius: 0.15, subdivisions: 3 }),
        placement: Placement { translate: [0.1, 0.15, 0.0], ..Placement::default() },
        rayleigh: Some(Rayleigh { mass: 2.0, ..Rayleigh::default() }),
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(2000.0), ..Family::default() },
            ..Springs::default()
        },
        skin: 0.006,
        contact: Some(SurfaceContact::default()),
        ..Body::default()
    };
    let mesh = generate::ball(&Ball { radius: 0.45, subdivisions: 3 });
    let positions = mesh.positions.iter().map(|p| p.to_array()).collect();
    let mesh = InlineMesh { positions, triangles: mesh.triangles, ..InlineMesh::default() };
    let rock =
        Collider { name: "rock".into(), shape: ColliderShape::Mesh(mesh), solid, ..Collider::default() };
    Scene {
        gravity: [0.0; 3],
        groups: vec![Group { solver, dt: Some(1.0 / 240.0), contact_mode: mode, ..Group::default() }],
        bodies: vec![body],
        colliders: vec![rock],
        ..Scene::default()
    }
}

fn start(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

/// How many vertices are inside the rock.
fn inside(run: &Simulation) -> usize {
    let mesh = run.model().colliders[0].form.mesh().unwrap().clone();
    let corners = || mesh.triangles.iter().map(|t| t.map(|v| mesh.positions[v as usize]));
    run.state().bodies[0].x.iter().filter(|x| winding_number(**x, corners()) > 0.5).count()
}

#[test]
fn a_balloon_in_a_solid_rock_comes_out_whole() {
    for (solver, mode) in [
        (SolverKind::Xpbd, ContactMode::Fast),
        (SolverKind::Xpbd, ContactMode::Safe),
        (SolverKind::ImplicitEulerCg, ContactMode::Fast),
    ] {
        let mut run = start(&scene(solver, mode, Some(true)));
        let before = run.state().bodies[0].x.clone();
        assert_eq!(inside(&run), before.len());
        (0..120).for_each(|_| run.step());
        let at = format!("{solver:?} {mode:?}");
        assert_eq!(inside(&run), 0, "{at}");
        assert!(in_scene(run.model(), run.state()).is_empty(), "{at}");
        let x = &run.state().bodies[0].x;
        let middle = |x: &[DVec3]| x.iter().sum::<DVec3>() / x.len() as f64;
        let [was, is] = [&before[..], &x[..]].map(|x| {
            let middle = middle(x);
            x.iter().map(|x| x.distance(middle)).fold(0.0, f64::max)
        });
        assert!(is < 1.3 * was && is > 0.9 * was, "{at}: {was} {is}");
        // The shortest way, and not flung off.
        let way = middle(x) - middle(&before);
        assert!(way.normalize().dot(DVec3::new(0.1, 0.15, 0.0).normalize()) > 0.9, "{at}: {way}");
        assert!(way.length() < 1.0, "{at}: {way}");
    }
}

#[test]
fn what_is_not_solid_is_a_room() {
    for solid in [None, Some(false)] {
        let mut run = start(&scene(SolverKind::Xpbd, ContactMode::Fast, solid));
        (0..20).for_each(|_| run.step());
        assert_eq!(inside(&run), run.state().bodies[0].x.len());
    }
}

#[test]
fn a_body_that_begins_inside_is_told_unless_that_is_meant() {
    for (solid, count) in [(None, 1), (Some(false), 0), (Some(true), 0)] {
        let scene = scene(SolverKind::Xpbd, ContactMode::Fast, solid);
        let model = ModelBuilder::new(&scene).build().unwrap();
        let told: Vec<_> =
            lint(&scene, &model).into_iter().filter(|l| l.field == "collider[0].solid").collect();
        assert_eq!(told.len(), count, "{told:?}");
        assert!(told.iter().all(|l| l.message.contains("'balloon' begins inside 'rock'")), "{told:?}");
    }
}

#[test]
fn an_open_mesh_cannot_be_solid() {
    let mut scene = scene(SolverKind::Xpbd, ContactMode::Fast, Some(true));
    let ColliderShape::Mesh(mesh) = &mut scene.colliders[0].shape else { panic!() };
    mesh.triangles.pop();
    let error = ModelBuilder::new(&scene).build().unwrap_err();
    assert_eq!(error.field, "collider[0].solid");
    assert!(error.problem.contains("not closed"), "{error}");
}
