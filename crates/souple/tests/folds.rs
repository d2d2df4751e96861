//! Folds that are drawn on a body stay on its side of mesh colliders, of skins and of other bodies of its scene.

use glam::DVec3;
use souple::scene::{
    Body, Border, Collider, ColliderShape, Grid, InlineMesh, Key, Motion, Pin, Placement, Scene, Select,
    Shape, Wrinkling,
};
use souple::{ModelBuilder, Simulation};

/// A sheet that is pressed together by a quarter within half a second.
fn pressed() -> Body {
    let pin = |name: &str, border: Border, way: f64| Pin {
        name: name.into(),
        select: Select::Border(border),
        motion: Some(Motion {
            keys: vec![Key::default(), Key { t: 0.5, translate: [way, 0.0, 0.0], ..Key::default() }],
            ..Motion::default()
        }),
        ..Pin::default()
    };
    Body {
        name: "sheet".into(),
        fabric: Some("cotton".into()),
        shape: Shape::Grid(Grid { size: [0.5, 0.5], vertices: [9, 9], ..Grid::default() }),
        pins: vec![pin("left", Border::U0, 0.0), pin("right", Border::U1, -0.125)],
        wrinkles: Some(Wrinkling { smallest_radius: Some(0.015), ..Wrinkling::default() }),
        ..Body::default()
    }
}

/// A plate 6 mm above the sheet.
fn plate() -> InlineMesh {
    let corner = |x: f64, z: f64| [x, 0.006, z];
    InlineMesh {
        positions: vec![corner(-1.0, -1.0), corner(2.0, -1.0), corner(2.0, 2.0), corner(-1.0, 2.0)],
        triangles: vec![[0, 2, 1], [0, 3, 2]],
        ..InlineMesh::default()
    }
}

/// How far the fine mesh is above the coarse one at its highest, m, after it was pressed.
fn highest(scene: &Scene) -> f64 {
    let mut simulation = Simulation::new(ModelBuilder::new(scene).build().unwrap());
    (0..60).for_each(|_| simulation.step());
    let wrinkles = simulation.model().bodies[0].wrinkles.clone().unwrap();
    let coarse = &simulation.state().bodies[0].x;
    let rise = |(v, p): (usize, &DVec3)| p.y - wrinkles.fine.mixed(v, coarse).y;
    simulation.wrinkled(0).unwrap().iter().enumerate().map(rise).fold(0.0, f64::max)
}

#[test]
fn folds_stay_under_a_mesh_and_under_another_body() {
    let alone = Scene { gravity: [0.0; 3], bodies: vec![pressed()], ..Scene::default() };
    assert!(highest(&alone) > 0.012, "{}", highest(&alone));
    let collider =
        Collider { name: "plate".into(), shape: ColliderShape::Mesh(plate()), ..Collider::default() };
    let under = Scene { colliders: vec![collider], ..alone.clone() };
    assert!(highest(&under) < 0.006 && highest(&under) > 0.002, "{}", highest(&under));
    let lid = Body {
        name: "lid".into(),
        fabric: Some("cotton".into()),
        shape: Shape::Grid(Grid { size: [2.0, 2.0], vertices: [3, 3], ..Grid::default() }),
        placement: Placement { translate: [-0.5, 0.006, -0.5], ..Placement::default() },
        pins: vec![Pin { select: Select::All, ..Pin::default() }],
        ..Body::default()
    };
    let covered = Scene { bodies: vec![pressed(), lid], ..alone };
    assert!(highest(&covered) < 0.006 && highest(&covered) > 0.002, "{}", highest(&covered));
}
