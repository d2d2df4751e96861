//! Colliders that are meshes: drawn like the shape they have, framed, picked, and part of what crosses.

use glam::Vec3;
use souple::mesh::generate;
use souple::scene::{
    Ball, Body, Collider, ColliderShape, Grid, InlineMesh, Scene, Shape, SphereShape, Style,
};
use souple::{ModelBuilder, Simulation};
use souple_viewer::pick::pick;
use souple_viewer::{Artist, Camera, Capture, ItemKind, Looks, Marks, Moment, WhichRenderer};

fn ball(radius: f64) -> ColliderShape {
    let mesh = generate::ball(&Ball { radius, subdivisions: 4 });
    let positions = mesh.positions.iter().map(|p| p.to_array()).collect();
    ColliderShape::Mesh(InlineMesh { positions, triangles: mesh.triangles, ..InlineMesh::default() })
}

fn scene(shape: ColliderShape) -> Scene {
    let collider = Collider { shape, position: [0.2, 0.5, 0.0], ..Collider::default() };
    let grid = Grid { size: [0.5, 0.5], vertices: [3, 3], ..Grid::default() };
    let mut body = Body { shape: Shape::Grid(grid), fabric: Some("cotton".into()), ..Body::default() };
    body.placement.translate = [-0.25, 0.0, -0.25];
    Scene { bodies: vec![body], colliders: vec![collider], ..Scene::default() }
}

fn moment(scene: &Scene) -> Moment {
    let model = ModelBuilder::new(scene).build().unwrap();
    let mut capture = Capture::new(scene, &model);
    capture.moment(&Simulation::new(model))
}

#[test]
fn a_ball_of_triangles_is_drawn_like_a_sphere() {
    let mut artist = Artist::new(WhichRenderer::Cpu).unwrap();
    let camera = Camera { target: Vec3::new(0.1, 0.4, 0.0), distance: 1.6, pitch: 0.4, ..Camera::default() };
    let mut draw = |shape: ColliderShape| {
        let scene = scene(shape);
        let looks = Looks::of_scene(&scene, |_| None);
        artist.draw(&moment(&scene), &looks, &Marks::default(), &camera, (200, 150)).unwrap().rgba
    };
    let (mesh, sphere) = (draw(ball(0.3)), draw(ColliderShape::Sphere(SphereShape { radius: 0.3 })));
    let none = draw(ball(0.001));
    let far = |a: &[u8], b: &[u8]| a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 32).count();
    // The ball covers a good part of the picture. Its outline is off by at most 0.3 × (1 − cos(π/80)) m, parts of a pixel.
    assert!(far(&sphere, &none) > 10_000, "{}", far(&sphere, &none));
    assert!(far(&mesh, &sphere) * 100 < far(&sphere, &none), "{}", far(&mesh, &sphere));
}

#[test]
fn it_is_framed_and_picked() {
    let moment = moment(&scene(ball(0.3)));
    let (_, high) = moment.bounds(false).unwrap();
    assert!((high - Vec3::new(0.5, 0.8, 0.3)).length() < 1e-3, "{high}");
    let hit = pick(&moment, Vec3::new(0.2, 0.5, 5.0), Vec3::NEG_Z).unwrap();
    assert_eq!(moment.items[hit.item].kind, ItemKind::Collider(0));
    assert!((hit.distance - 4.7).abs() < 2e-3, "{}", hit.distance);
    // A single square is no endless plane.
    let positions = vec![[-1.0, 0.0, -1.0], [-1.0, 0.0, 1.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0]];
    let square = InlineMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]], ..InlineMesh::default() };
    let (_, high) = self::moment(&scene(ColliderShape::Mesh(square))).bounds(false).unwrap();
    assert!((high.x - 1.2).abs() < 1e-6);
}

#[test]
fn bodies_that_cross_it_are_shown() {
    let mut crossing = scene(ball(0.3));
    crossing.bodies[0].look = Some(souple::scene::Look { style: Style::Crossing, ..Default::default() });
    assert_eq!(moment(&crossing).items[0].crossing_vertices(), &[0u32; 0]);
    // Through the corner of the sheet at x = z = 0.25, m.
    crossing.colliders[0].position = [0.25, 0.0, 0.25];
    assert!(moment(&crossing).items[0].crossing_vertices().contains(&8));
}
