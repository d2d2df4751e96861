//! Friction on a slope, bouncing, and colliders too fast for a step.

use glam::DVec3;
use souple::Simulation;
use souple::scene::{
    Body, BoxShape, Collider, ColliderShape, Family, Grid, GridPlane, Group, Motion, Pin, Placement,
    PlaneShape, RoundShape, Scene, Select, Shape, SolverKind, SphereShape, Springs, Time,
};

use super::Case;
use super::integrators::{exact, simulate};

const G: f64 = 9.81;

/// A patch of cloth lying on a plane tilted about z by `angle` (rad), skin 1 mm.
fn patch(solver: SolverKind, angle: f64, friction: f64, velocity: [f64; 3], h: f64) -> Simulation {
    let skin = 1e-3;
    let normal = DVec3::new(-angle.sin(), angle.cos(), 0.0);
    let body = Body {
        name: "patch".into(),
        shape: Shape::Grid(Grid { size: [0.2, 0.2], vertices: [5, 5], ..Grid::default() }),
        placement: Placement {
            translate: (normal * skin).to_array(),
            rotate_deg: [0.0, 0.0, angle.to_degrees()],
            scale: 1.0,
        },
        density: Some(0.3),
        springs: Springs {
            stretch: Family { stiffness: Some(100.0), damping: Some(0.01), ..Family::default() },
            shear: Family { stiffness: Some(30.0), ..Family::default() },
            ..Springs::default()
        },
        skin,
        velocity,
        ..Body::default()
    };
    let plane = ColliderShape::Plane(PlaneShape { normal: normal.to_array() });
    simulate(Scene {
        time: Time { fps: 1.0 / h, frames: 1 },
        groups: vec![Group { solver, cg: exact(), ..Group::default() }],
        bodies: vec![body],
        colliders: vec![Collider { name: "slope".into(), shape: plane, friction, ..Collider::default() }],
        ..Scene::default()
    })
}

/// Slides when tan θ > μ, with g (sin θ − μ cos θ); stops after v²/(2 μ g).
pub(super) fn friction() -> Vec<Case> {
    let mut cases = Vec::new();
    let h = 1.0 / 1000.0;
    let mu = 0.5f64;
    for solver in [SolverKind::SymplecticEuler, SolverKind::ImplicitEulerCg] {
        let name = souple::solver::solver_name(solver);
        // Just below and just above the angle of friction.
        for (label, angle) in [("holds", 0.98 * mu.atan()), ("slides", 1.2 * mu.atan())] {
            let mut s = patch(solver, angle, mu, [0.0; 3], h);
            let start = s.measures().centre;
            let steps = 1000;
            for _ in 0..steps {
                s.step();
            }
            let t = f64::from(steps) * h;
            let moved = s.measures().centre.distance(start);
            let acceleration = (G * (angle.sin() - mu * angle.cos())).max(0.0);
            // Symplectic steps move ½ a t (t + h).
            let expected = 0.5 * acceleration * t * (t + h);
            let tolerance = if acceleration > 0.0 { 1e-6 * expected } else { 1e-9 };
            cases.push(Case::new(
                format!("friction/slope {label}/{name}"),
                "½ g (sin θ − μ cos θ) t², 0 when tan θ < μ",
                expected,
                moved,
                tolerance,
            ));
        }
        let v = 2.0;
        let mut s = patch(solver, 0.0, mu, [v, 0.0, 0.0], h);
        let start = s.measures().centre;
        for _ in 0..1000 {
            s.step();
        }
        let moved = s.measures().centre.distance(start);
        // The step ends somewhere within the last step: an error of at most v h.
        cases.push(Case::new(
            format!("friction/stopping distance/{name}"),
            "v²/(2 μ g)",
            v * v / (2.0 * mu * G),
            moved,
            v * h,
        ));
    }
    cases
}

/// A small patch dropped on the floor bounces to e² H; nothing tunnels at 10 m/s.
pub(super) fn collisions() -> Vec<Case> {
    let mut cases = Vec::new();
    for e in [0.0, 0.5, 0.9] {
        let (height, h) = (0.5, 1.0 / 4000.0);
        let body = Body {
            name: "patch".into(),
            shape: Shape::Grid(Grid { size: [0.1, 0.1], vertices: [2, 2], ..Grid::default() }),
            placement: Placement { translate: [0.0, height, 0.0], ..Placement::default() },
            density: Some(0.3),
            springs: Springs {
                stretch: Family { stiffness: Some(100.0), ..Family::default() },
                ..Springs::default()
            },
            skin: 0.0,
            ..Body::default()
        };
        let mut s = simulate(Scene {
            time: Time { fps: 1.0 / h, frames: 1 },
            groups: vec![Group { solver: SolverKind::Verlet, ..Group::default() }],
            bodies: vec![body],
            colliders: vec![Collider { name: "floor".into(), restitution: e, ..Collider::default() }],
            ..Scene::default()
        });
        let fall = f64::sqrt(2.0 * height / G);
        let (mut peak, mut landed) = (0.0f64, false);
        while s.state().time < fall * (1.5 + 2.0 * e) {
            s.step();
            let y = s.measures().lowest;
            landed |= y < 1e-6;
            if landed {
                peak = peak.max(y);
            }
        }
        // Impact is placed at the end of a step: the speed is wrong by at most g h, the height by twice that times v/g.
        let tolerance = 2.0 * h * f64::sqrt(2.0 * G * height);
        cases.push(Case::new(format!("contact/bounce e={e}"), "e² H", e * e * height, peak, tolerance));
    }
    // A collider that crosses a hanging cloth at 10 and 50 m/s, one frame of 1/60 s per step: particles left inside it.
    let shapes = [
        ("sphere", ColliderShape::Sphere(SphereShape { radius: 0.15 })),
        ("box", ColliderShape::Box(BoxShape { size: [0.3, 0.3, 0.05] })),
        ("capsule", ColliderShape::Capsule(RoundShape { radius: 0.08, height: 0.3 })),
        ("cylinder", ColliderShape::Cylinder(RoundShape { radius: 0.08, height: 0.3 })),
        ("plane", ColliderShape::Plane(PlaneShape { normal: [0.0, 0.0, 1.0] })),
    ];
    for (name, shape) in shapes {
        for speed in [10.0, 50.0] {
            let passed = tunnelling(shape.clone(), speed);
            let label = format!("contact/no tunnelling/{name} at {speed} m/s");
            cases.push(Case::new(label, "particles passed through", 0.0, passed, 0.0));
        }
    }
    cases
}

/// How many of the particles in the path of a fast collider end inside it or behind it after it has passed the cloth.
fn tunnelling(shape: ColliderShape, speed: f64) -> f64 {
    let n = 21;
    let body = Body {
        name: "curtain".into(),
        shape: Shape::Grid(Grid {
            size: [1.0, 1.0],
            vertices: [n, n],
            plane: GridPlane::Xy,
            ..Grid::default()
        }),
        placement: Placement { translate: [-0.5, 0.5, 0.0], ..Placement::default() },
        fabric: Some("cotton".into()),
        pins: vec![Pin { select: Select::Near([-0.5, 0.5, 0.0]), ..Pin::default() }],
        ..Body::default()
    };
    // It begins in the middle between two steps before the cloth, so that it is never near it at the end of a step.
    let start = -0.2 - 0.5 * speed / 60.0;
    let motion = Motion { velocity: [0.0, 0.0, speed], ..Motion::default() };
    let ram = Collider {
        name: "ram".into(),
        shape,
        position: [0.0, 0.0, start],
        motion: Some(motion),
        ..Collider::default()
    };
    let mut s =
        simulate(Scene { gravity: [0.0; 3], bodies: vec![body], colliders: vec![ram], ..Scene::default() });
    let primitive = s.model().colliders[0].form.primitive().copied();
    // Particles that are hit head-on; those hit further out may rightly be pushed aside and passed.
    let head_on = |x: &DVec3| x.x.abs() < 0.01 && x.y.abs() < 0.07;
    let start_positions = &s.state().bodies[0].x;
    let in_path: Vec<usize> = (0..start_positions.len()).filter(|&i| head_on(&start_positions[i])).collect();
    while start + speed * s.state().time < 0.25 {
        s.step();
    }
    let centre = DVec3::new(0.0, 0.0, start + speed * s.state().time);
    let passed = in_path.iter().filter(|&&i| {
        let local = s.state().bodies[0].x[i] - centre;
        let behind = local.z < 0.0;
        behind || primitive.is_some_and(|shape| shape.signed_distance(local) < 0.0)
    });
    passed.count() as f64
}
