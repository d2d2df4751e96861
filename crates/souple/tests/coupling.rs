//! Bodies that are joined (FAU-68, FAU-69, FAU-70) and rigid bodies (FAU-06): a bar in pieces is the bar, momentum is kept, weak links are the
//! strong ones when they are soft.

use glam::DVec3;
use souple::scene::{
    Ball, Block, Body, Cells, Collider, ColliderShape, Group, LinkSprings, Pin, PlaneShape, Rayleigh, Region,
    Scene, Select, Shape, SolverKind,
};
use souple::{ModelBuilder, Simulation};

fn start(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

/// A part of a bar along x of 0.5 m, from one place to another.
fn piece(name: &str, from: f64, to: f64, cells: u32) -> Body {
    Body {
        name: name.into(),
        shape: Shape::Block(Block {
            size: [to - from, 0.1, 0.1],
            cells: [cells, 2, 2],
            cut: Cells::Hexahedra,
        }),
        placement: souple::scene::Placement { translate: [from, 0.0, 0.0], ..Default::default() },
        density: Some(1000.0),
        young_modulus: Some(5e5),
        poisson_ratio: Some(0.3),
        rayleigh: Some(Rayleigh { mass: 2.0, stiffness: Some(0.01) }),
        ..Body::default()
    }
}

fn clamp(body: &mut Body) {
    let wall = Region { min: [-1e-6, -1.0, -1.0], max: [1e-6, 1.0, 1.0] };
    body.pins = vec![Pin { select: Select::Within(wall), ..Pin::default() }];
}

fn glued(a: &str, b: &str) -> LinkSprings {
    let between = [a.into(), b.into()];
    LinkSprings {
        between,
        within: Some(1e-6),
        stiffness: Some(1e6),
        rest_length: Some(0.0),
        ..LinkSprings::default()
    }
}

/// How far the free end sinks, m.
fn sag(scene: &Scene) -> f64 {
    let mut s = start(scene);
    (0..200).for_each(|_| s.step());
    let ends = s.state().bodies.iter().flat_map(|b| b.topology.rest_positions.iter().zip(&b.x));
    let end: Vec<f64> = ends.filter(|(rest, _)| rest.x > 0.5 - 1e-9).map(|(rest, x)| rest.y - x.y).collect();
    end.iter().sum::<f64>() / end.len() as f64
}

fn bar_in_pieces(solver: SolverKind) -> Scene {
    let mut bodies: Vec<Body> =
        (0..5).map(|k| piece(&format!("piece {k}"), 0.1 * f64::from(k), 0.1 * f64::from(k + 1), 2)).collect();
    clamp(&mut bodies[0]);
    let links = (0..4).map(|k| glued(&format!("piece {k}"), &format!("piece {}", k + 1))).collect();
    Scene { groups: vec![Group { solver, ..Group::default() }], bodies, links, ..Scene::default() }
}

#[test]
fn a_bar_in_five_pieces_is_the_bar() {
    let mut whole = piece("bar", 0.0, 0.5, 10);
    clamp(&mut whole);
    let one = sag(&Scene { bodies: vec![whole], ..Scene::default() });
    assert!(one > 0.01, "{one}");
    for solver in [SolverKind::ImplicitEulerCg, SolverKind::ImplicitEulerCholesky] {
        let five = sag(&bar_in_pieces(solver));
        assert!((five / one - 1.0).abs() < 0.005, "{solver:?}: {five} {one}");
    }
}

#[test]
fn a_bar_with_rigid_pieces_bends_where_it_is_soft() {
    let soft = sag(&bar_in_pieces(SolverKind::ImplicitEulerCg));
    let mut scene = bar_in_pieces(SolverKind::ImplicitEulerCg);
    for k in [1, 3] {
        let body = &mut scene.bodies[k];
        (body.young_modulus, body.poisson_ratio, body.rayleigh, body.rigid) = (None, None, None, true);
    }
    let mut s = start(&scene);
    let rest: Vec<_> = s.model().bodies.iter().map(|b| b.topology.rest_positions.clone()).collect();
    (0..200).for_each(|_| s.step());
    for k in [1, 3] {
        let x = &s.state().bodies[k].x;
        for a in 0..x.len() {
            assert!((x[a].distance(x[0]) - rest[k][a].distance(rest[k][0])).abs() < 1e-9);
        }
    }
    let mixed = sag(&scene);
    assert!(mixed > 0.2 * soft && mixed < 0.9 * soft, "{mixed} {soft}");
}

fn block(rigid: bool) -> Body {
    let shape = Shape::Block(Block { size: [0.1, 0.3, 0.5], cells: [1, 1, 1], cut: Cells::Hexahedra });
    Body { name: "block".into(), shape, density: Some(500.0), rigid, ..Body::default() }
}

#[test]
fn a_rigid_body_flies_and_spins_with_its_momentum() {
    for solver in [SolverKind::ImplicitEulerCg, SolverKind::SymplecticEuler] {
        let mut scene = Scene { bodies: vec![block(true)], ..Scene::default() };
        scene.groups = vec![Group { solver, ..Group::default() }];
        scene.gravity = [0.0; 3];
        let mut s = start(&scene);
        let mass = s.model().bodies[0].topology.masses.iter().sum::<f64>();
        assert!((mass - 500.0 * 0.015).abs() < 1e-12);
        let spin = DVec3::new(3.0, 0.2, 1.0);
        for (x, v) in s.state_mut().bodies[0].x.clone().iter().zip(&mut s.state_mut().bodies[0].v) {
            *v = DVec3::new(1.0, 2.0, 0.5) + spin.cross(*x - DVec3::new(0.05, 0.15, 0.25));
        }
        let before = s.measures();
        // I ω of a box: m/12 (b² + c², …).
        let inertia = DVec3::new(0.09 + 0.25, 0.01 + 0.25, 0.01 + 0.09) * (mass / 12.0);
        let own = before.angular_momentum - before.centre.cross(before.momentum);
        assert!((own - inertia * spin).length() < 1e-9, "{own} {}", inertia * spin);
        let rest = s.state().bodies[0].x.clone();
        (0..120).for_each(|_| s.step());
        let after = s.measures();
        assert!((before.momentum - after.momentum).length() < 1e-9);
        let own_after = after.angular_momentum - after.centre.cross(after.momentum);
        assert!((own - own_after).length() < 1e-6 * own.length(), "{solver:?} {own} {own_after}");
        assert!(after.centre.distance(before.centre + DVec3::new(1.0, 2.0, 0.5) * 2.0) < 1e-9);
        let x = &s.state().bodies[0].x;
        for a in 0..x.len() {
            assert!((x[a].distance(x[0]) - rest[a].distance(rest[0])).abs() < 1e-12);
        }
    }
}

#[test]
fn a_rigid_block_lies_and_slides_by_its_friction() {
    for (degrees, slides) in [(10.0f64, false), (25.0, true)] {
        let (sin, cos) = souple::math::sin_cos_degrees(degrees);
        let mut scene = Scene { bodies: vec![block(true)], ..Scene::default() };
        // The slope is turned instead of the floor: gravity leans.
        scene.gravity = [9.81 * sin, -9.81 * cos, 0.0];
        scene.bodies[0].placement.translate = [0.0, 0.0021, 0.0];
        let floor = ColliderShape::Plane(PlaneShape { normal: [0.0, 1.0, 0.0] });
        scene.colliders.push(Collider { shape: floor, friction: 0.3, ..Collider::default() });
        // A flat brick, that does not topple.
        scene.bodies[0].shape =
            Shape::Block(Block { size: [0.3, 0.1, 0.3], cells: [1, 1, 1], cut: Cells::Hexahedra });
        let mut s = start(&scene);
        let centre = s.measures().centre;
        (0..90).for_each(|_| s.step());
        let moved = s.measures().centre - centre;
        assert!(moved.y.abs() < 1e-3, "{moved}");
        let free = 0.5 * 9.81 * (sin - 0.3 * cos) * 1.5 * 1.5;
        match slides {
            true => assert!((moved.x / free - 1.0).abs() < 0.05, "{} of {free}", moved.x),
            false => assert!(moved.x.abs() < 2e-3, "{moved}"),
        }
    }
}

#[test]
fn soft_links_between_groups_are_those_inside_one() {
    let run = |together: bool| {
        let ball = |name: &str, x: f64, group: &str| Body {
            name: name.into(),
            group: Some(group.into()),
            shape: Shape::Ball(Ball { radius: 0.1, subdivisions: 1 }),
            placement: souple::scene::Placement { translate: [x, 0.0, 0.0], ..Default::default() },
            mass: Some(1.0),
            rigid: true,
            ..Body::default()
        };
        let mut scene = Scene {
            groups: vec![
                Group { name: "a".into(), ..Group::default() },
                Group { name: "b".into(), ..Group::default() },
            ],
            bodies: vec![ball("left", 0.0, "a"), ball("right", 0.5, if together { "a" } else { "b" })],
            ..Scene::default()
        };
        scene.gravity = [0.0; 3];
        scene.time.fps = 600.0;
        scene.links = vec![LinkSprings {
            between: ["left".into(), "right".into()],
            near: Some([0.25, 0.0, 0.0]),
            stiffness: Some(50.0),
            rest_length: Some(0.1),
            ..LinkSprings::default()
        }];
        let mut s = start(&scene);
        let mut path = Vec::new();
        for _ in 0..300 {
            s.step();
            path.push(s.state().bodies[0].x.iter().sum::<DVec3>().x);
        }
        let p: DVec3 = s.measures().momentum;
        assert!(p.length() < 1e-9, "{p}");
        path
    };
    let (one, two) = (run(true), run(false));
    let largest = one.iter().map(|x| (x - one[0]).abs()).fold(0.0, f64::max);
    let apart = one.iter().zip(&two).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(largest > 0.1 && apart < 0.05 * largest, "{apart} of {largest}");
}

#[test]
fn links_that_cannot_be_are_refused_by_name() {
    let refused = |change: fn(&mut Scene), field: &str| {
        let mut scene = bar_in_pieces(SolverKind::ImplicitEulerCg);
        change(&mut scene);
        let error = ModelBuilder::new(&scene).build().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(field), "{field}: {error}");
    };
    refused(|s| s.links[0].between[1] = "nobody".into(), "link[0].between");
    refused(|s| s.links[0].between[1] = s.links[0].between[0].clone(), "link[0].between");
    refused(|s| s.links[2].within = Some(-1.0), "link[2].within");
    refused(|s| s.links[2].within = None, "link[2]");
    refused(|s| s.links[1].near = Some([0.0; 3]), "link[1]");
    refused(|s| s.links[1].stiffness = Some(0.0), "link[1].stiffness");
    refused(|s| s.links[3].between = ["piece 0".into(), "piece 4".into()], "link[3].within");
    refused(|s| s.bodies[1].rigid = true, "body[1].young_modulus");
}
