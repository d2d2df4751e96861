//! Surfaces of several bodies: they touch by any solver, keep momentum, and know whom they touch.

use glam::DVec3;
use souple::measure::intersections::in_scene;
use souple::scene::{
    Body, Collider, ColliderShape, Family, Grid, Group, InlineMesh, Layout, Motion, Pair, Pin, Placement,
    Rope, Scene, Select, Shape, SolverKind, Springs, SurfaceContact,
};
use souple::{ModelBuilder, Simulation};

const SKIN: f64 = 0.01;

/// A square of 0.4 m, n × n vertices, 40 g, level at a height, m, that goes up or down at a speed, m/s.
fn sheet(name: &str, n: u32, height: f64, speed: f64) -> Body {
    Body {
        name: name.into(),
        mass: Some(0.04),
        bending: Some(1e-4),
        shape: Shape::Grid(Grid { vertices: [n, n], size: [0.4, 0.4], ..Grid::default() }),
        placement: Placement { translate: [0.0, height, 0.0], ..Placement::default() },
        velocity: [0.0, speed, 0.0],
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { modulus: Some(500.0), ..Family::default() },
            ..Springs::default()
        },
        skin: SKIN,
        contact: Some(SurfaceContact::default()),
        ..Body::default()
    }
}

fn scene(solver: SolverKind, bodies: Vec<Body>) -> Scene {
    let dt = match solver {
        SolverKind::SymplecticEuler | SolverKind::Rk4 => 1.0 / 6000.0,
        _ => 1.0 / 720.0,
    };
    Scene {
        gravity: [0.0; 3],
        groups: vec![Group { solver, dt: Some(dt), ..Group::default() }],
        bodies,
        ..Scene::default()
    }
}

fn run(scene: &Scene, threads: usize, frames: u32) -> Simulation {
    let model = ModelBuilder::new(scene).build().unwrap();
    let mut simulation = Simulation::new(model).with_threads(threads).unwrap();
    for _ in 0..frames {
        simulation.step();
    }
    simulation
}

fn momentum(simulation: &Simulation) -> DVec3 {
    let bodies = &simulation.state().bodies;
    bodies.iter().flat_map(|b| b.v.iter().zip(&b.topology.masses)).map(|(v, m)| *v * *m).sum()
}

fn mean_height(simulation: &Simulation, body: usize) -> f64 {
    let x = &simulation.state().bodies[body].x;
    x.iter().map(|x| x.y).sum::<f64>() / x.len() as f64
}

/// How far the middle of the second body is above the particle of the first that is nearest seen from above, m.
fn gap_in_the_middle(simulation: &Simulation) -> f64 {
    let bodies = &simulation.state().bodies;
    let middle = bodies[1].x[bodies[1].x.len() / 2];
    let beside = |x: &&DVec3| (**x - middle).with_y(0.0).length();
    let nearest = bodies[0].x.iter().min_by(|a, b| beside(a).total_cmp(&beside(b))).unwrap();
    middle.y - nearest.y
}

const SOLVERS: [SolverKind; 5] = [
    SolverKind::Xpbd,
    SolverKind::SymplecticEuler,
    SolverKind::Rk4,
    SolverKind::ImplicitEulerCg,
    SolverKind::VertexBlockDescent,
];

#[test]
fn two_sheets_that_meet_stop_each_other_and_keep_momentum_by_any_solver() {
    for solver in SOLVERS {
        // The second one is smaller and turned, so that all of it meets the first one, and nothing lies exactly above anything.
        let mut upper = sheet("upper", 12, 0.1, -1.0);
        upper.shape = Shape::Grid(Grid { vertices: [12, 12], size: [0.2, 0.2], ..Grid::default() });
        upper.placement.translate = [0.1, 0.1, 0.15];
        upper.placement.rotate_deg = [0.0, 20.0, 0.0];
        let scene = scene(solver, vec![sheet("lower", 13, 0.0, 0.5), upper]);
        let simulation = run(&scene, 1, 10);
        assert!(simulation.warnings().is_empty(), "{solver:?}: {:?}", simulation.warnings()[0]);
        assert_eq!(in_scene(simulation.model(), simulation.state()).len(), 0, "{solver:?}");
        let p = momentum(&simulation);
        // 40 g at 1 m/s down and 40 g at 0.5 m/s up; 32-bit displacements of 1e-3 m are good to 1e-7 of each substep's.
        assert!((p - DVec3::new(0.0, -0.02, 0.0)).length() < 2e-5, "{solver:?}: {p}");
        assert!(gap_in_the_middle(&simulation) > 0.0, "{solver:?}: they have passed");
    }
}

#[test]
fn a_mask_lets_a_layer_through() {
    let mut bodies = vec![sheet("lower", 8, 0.0, 0.5), sheet("upper", 8, 0.1, -1.0)];
    let contact = |layer: &str, touches: &[&str]| {
        Some(SurfaceContact {
            layer: Some(layer.into()),
            touches: Some(touches.iter().map(|t| t.to_string()).collect()),
            ..SurfaceContact::default()
        })
    };
    for (first, second, passes) in [
        (contact("skin", &["shirt"]), contact("shirt", &["skin"]), false),
        (contact("skin", &["coat"]), contact("shirt", &["skin"]), true),
        (contact("skin", &["shirt"]), contact("shirt", &[]), true),
        (
            contact("skin", &["shirt"]),
            Some(SurfaceContact { others: false, ..SurfaceContact::default() }),
            true,
        ),
        (contact("skin", &["shirt"]), None, true),
    ] {
        bodies[0].contact = first;
        bodies[1].contact = second;
        let simulation = run(&scene(SolverKind::Xpbd, bodies.clone()), 1, 24);
        let passed = mean_height(&simulation, 1) < mean_height(&simulation, 0);
        assert_eq!(passed, passes, "{:?} and {:?}", bodies[0].contact, bodies[1].contact);
    }
}

#[test]
fn restitution_throws_back_a_share_of_the_speed() {
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg] {
        for restitution in [0.0, 0.6] {
            let contact = Some(SurfaceContact { restitution, friction: 0.0, ..SurfaceContact::default() });
            let mut bodies = vec![sheet("lower", 9, 0.0, 0.0), sheet("upper", 9, 0.05, -1.0)];
            // Meshes that fit on each other, so that all parts hit at once and the sheets stay plane.
            bodies.iter_mut().for_each(|b| b.contact = contact.clone());
            bodies[0].pins = vec![Pin { name: "all".into(), select: Select::All, ..Pin::default() }];
            let simulation = run(&scene(solver, bodies), 1, 12);
            let v = simulation.state().bodies[1].v.iter().map(|v| v.y).sum::<f64>() / 81.0;
            assert!((v - restitution).abs() < 0.05, "{solver:?}: {v} m/s instead of {restitution}");
        }
    }
}

#[test]
fn the_thickness_of_two_bodies_is_the_mean_of_both() {
    let mut bodies = vec![sheet("lower", 9, 0.0, 0.0), sheet("upper", 8, 0.06, 0.0)];
    bodies[0].skin = 0.01;
    bodies[1].skin = 0.03;
    bodies[0].pins = vec![Pin { name: "all".into(), select: Select::All, ..Pin::default() }];
    let mut scene = scene(SolverKind::Xpbd, bodies);
    scene.gravity = [0.0, -9.81, 0.0];
    let simulation = run(&scene, 1, 90);
    let middle = simulation.state().bodies[1].x[27].y;
    assert!((middle - 0.02).abs() < 0.001, "{middle} m");
}

#[test]
fn ropes_do_not_pass_through_each_other() {
    let rope = |name: &str, translate: [f64; 3], direction: [f64; 3]| Body {
        name: name.into(),
        mass: Some(0.05),
        shape: Shape::Rope(Rope { vertices: 21, direction, ..Rope::default() }),
        placement: Placement { translate, ..Placement::default() },
        springs: Springs {
            stretch: Family { stiffness: Some(1e4), ..Family::default() },
            ..Springs::default()
        },
        skin: 0.02,
        contact: Some(SurfaceContact::default()),
        ..Body::default()
    };
    let mut lower = rope("lower", [-0.5, 0.0, 0.01], [1.0, 0.0, 0.0]);
    lower.pins = vec![Pin { name: "ends".into(), select: Select::Vertices(vec![0, 20]), ..Pin::default() }];
    let upper = rope("upper", [0.013, 0.2, -0.5], [0.0, 0.0, 1.0]);
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg] {
        let mut scene = scene(solver, vec![lower.clone(), upper.clone()]);
        scene.gravity = [0.0, -9.81, 0.0];
        let simulation = run(&scene, 1, 60);
        let middle = |b: usize| simulation.state().bodies[b].x[10].y;
        assert!(middle(1) > middle(0), "{solver:?}: {} is below {}", middle(1), middle(0));
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_with_a_frozen_body() {
    let bodies = vec![sheet("a", 40, 0.0, 0.2), sheet("b", 41, 0.05, -1.0), sheet("c", 9, 0.12, -1.0)];
    let scene = scene(SolverKind::Xpbd, bodies);
    let hash = |threads: usize| {
        let model = ModelBuilder::new(&scene).build().unwrap();
        let mut simulation = Simulation::new(model).with_threads(threads).unwrap();
        for frame in 0..16 {
            if frame == 8 {
                simulation.state_mut().bodies[0].frozen = true;
            }
            simulation.step();
        }
        assert_eq!(in_scene(simulation.model(), simulation.state()).len(), 0);
        simulation.state_hash()
    };
    let one = hash(1);
    assert_eq!([hash(2), hash(3)], [one; 2]);
}

/// A tetrahedron on its base, with its tip up: coarser than the cloth that falls on it, whose particles do not meet its edges.
fn tetrahedron() -> InlineMesh {
    InlineMesh {
        positions: vec![[-0.3, 0.0, -0.2], [0.3, 0.0, -0.2], [0.0, 0.0, 0.3], [0.0, 0.3, 0.0]],
        triangles: vec![[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]],
        ..InlineMesh::default()
    }
}

#[test]
fn cloth_lies_on_a_mesh_that_stands_or_moves_by_any_solver() {
    for solver in [SolverKind::Xpbd, SolverKind::ImplicitEulerCg, SolverKind::SymplecticEuler] {
        for (speed, with_contact) in [(0.0, true), (0.0, false), (1.0, true)] {
            let mut cloth = sheet("cloth", 15, 0.4, 0.0);
            cloth.placement.translate = [-0.2, 0.4, -0.2];
            cloth.contact = with_contact.then(SurfaceContact::default);
            let mut scene = scene(solver, vec![cloth]);
            scene.gravity = [0.0, -9.81, 0.0];
            scene.colliders = vec![Collider {
                name: "hill".into(),
                shape: ColliderShape::Mesh(tetrahedron()),
                friction: 0.8,
                motion: Some(Motion { velocity: [0.0, speed, 0.0], ..Motion::default() }),
                ..Collider::default()
            }];
            let frames = 20;
            let simulation = run(&scene, 1, frames);
            let case = format!("{solver:?}, {speed} m/s, contact {with_contact}");
            assert!(simulation.warnings().is_empty(), "{case}: {:?}", simulation.warnings()[0]);
            if with_contact {
                assert_eq!(in_scene(simulation.model(), simulation.state()).len(), 0, "{case}");
            }
            let tip = 0.3 + speed * f64::from(frames) / 60.0;
            let highest = simulation.state().bodies[0].x.iter().fold(0.0f64, |h, x| h.max(x.y));
            assert!((tip..tip + 0.05).contains(&highest), "{case}: {highest} m, the tip is at {tip} m");
        }
    }
}

#[test]
fn a_pair_has_its_own_friction_and_distance_or_does_not_touch() {
    let with = |pair: Pair| {
        let mut cloth = sheet("cloth", 9, 0.0105, 0.0);
        cloth.placement.translate = [-0.2, 0.0105, -0.2];
        cloth.velocity = [0.5, 0.0, 0.0];
        let mut scene = scene(SolverKind::Xpbd, vec![cloth]);
        scene.gravity = [0.0, -9.81, 0.0];
        let corner = |x: f64, z: f64| [x, 0.0, z];
        scene.colliders = vec![Collider {
            name: "table".into(),
            shape: ColliderShape::Mesh(InlineMesh {
                positions: vec![corner(-3.0, -3.0), corner(3.0, -3.0), corner(3.0, 3.0), corner(-3.0, 3.0)],
                triangles: vec![[0, 2, 1], [0, 3, 2]],
                ..InlineMesh::default()
            }),
            friction: 0.0,
            ..Collider::default()
        }];
        scene.pairs = vec![Pair { between: ["table".into(), "cloth".into()], ..pair }];
        let simulation = run(&scene, 1, 60);
        let x = &simulation.state().bodies[0].x;
        x.iter().sum::<DVec3>() / x.len() as f64
    };
    let slid = |p: DVec3| p.x;
    // Without friction it slides half a metre in a second; with it, v²/(2 μ g) = 42 mm at 0.3.
    assert!((slid(with(Pair::default())) - 0.5).abs() < 0.01);
    let rough = slid(with(Pair { friction: Some(0.3), ..Pair::default() }));
    assert!((rough - 0.0425).abs() < 0.002, "{rough} m");
    let high = with(Pair { distance: Some(0.03), ..Pair::default() }).y;
    assert!((high - 0.03).abs() < 0.001, "{high} m");
    assert!(with(Pair { touch: false, ..Pair::default() }).y < -1.0);
}

#[test]
fn bodies_that_will_go_through_each_other_are_told() {
    let told = |change: &dyn Fn(&mut Scene)| {
        let bodies = vec![sheet("lower", 5, 0.0, 0.0), sheet("upper", 5, 1.0, 0.0)];
        let mut scene = scene(SolverKind::Xpbd, bodies);
        scene.gravity = [0.0, -9.81, 0.0];
        change(&mut scene);
        let model = ModelBuilder::new(&scene).build().unwrap();
        let lints = souple::check::lint(&scene, &model);
        lints.into_iter().filter(|l| l.field.ends_with(".contact")).collect::<Vec<_>>()
    };
    assert_eq!(told(&|_| {}), []);
    let one = told(&|s| s.bodies[1].contact = None);
    assert!(one.len() == 1 && one[0].field == "body[1].contact", "{one:?}");
    assert!(one[0].message.contains("'lower'") && one[0].help.contains("to it"), "{one:?}");
    let none = |s: &mut Scene| s.bodies.iter_mut().for_each(|b| b.contact = None);
    let both = told(&none);
    assert!(both.len() == 1 && both[0].help.contains("to both"), "{both:?}");
    // What is beside, what hangs, and what floats does not meet anything.
    let beside = |s: &mut Scene| s.bodies[1].placement.translate[0] = 0.5;
    let hangs = |s: &mut Scene| s.bodies[1].pins = vec![Pin { select: Select::All, ..Pin::default() }];
    let floats = |s: &mut Scene| s.gravity = [0.0; 3];
    for apart in [&beside as &dyn Fn(&mut Scene), &hangs, &floats] {
        assert_eq!(
            told(&|s| {
                none(s);
                apart(s);
            }),
            []
        );
    }
}
