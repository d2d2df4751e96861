//! Joints of rigid bodies with each other, with soft ones and with the world (FAU-70): what they hold stays together, what they let go is free.

use glam::DVec3;
use souple::scene::{
    Block, Body, Group, LinkKind, LinkSprings, Placement, Rayleigh, Rope, Scene, Shape, SolverKind,
};
use souple::{ModelBuilder, Simulation};

fn start(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

/// A bar along x from a place on, 0.2 m long.
fn bar(name: &str, from: f64, rigid: bool) -> Body {
    Body {
        name: name.into(),
        shape: Shape::Block(Block { size: [0.2, 0.04, 0.04], cells: [4, 2, 2], ..Block::default() }),
        placement: Placement { translate: [from, -0.02, -0.02], ..Placement::default() },
        density: Some(1000.0),
        young_modulus: (!rigid).then_some(1e6),
        rayleigh: (!rigid).then_some(Rayleigh { mass: 0.0, stiffness: Some(0.001) }),
        rigid,
        ..Body::default()
    }
}

fn joint(kind: LinkKind, a: &str, b: &str, at: f64) -> LinkSprings {
    LinkSprings {
        name: format!("{a} to {b}"),
        kind,
        between: [a.into(), b.into()],
        at: Some([at, 0.0, 0.0]),
        axis: (kind == LinkKind::Hinge).then_some([0.0, 0.0, 1.0]),
        ..LinkSprings::default()
    }
}

/// Where a point of a rigid body is, that was at `place` when it began.
fn point(s: &Simulation, body: usize, place: DVec3) -> DVec3 {
    let (model, state) = (&s.model().bodies[body], &s.state().bodies[body]);
    model.rigid.unwrap().pose(&model.topology.rest_positions, &state.x).apply(place)
}

/// From one end of a rigid bar to the other.
fn along(s: &Simulation, body: usize) -> DVec3 {
    let from = DVec3::X * (0.2 * body as f64);
    point(s, body, from + DVec3::X * 0.2) - point(s, body, from)
}

fn scene(solver: SolverKind, bodies: Vec<Body>, links: Vec<LinkSprings>) -> Scene {
    Scene { groups: vec![Group { solver, ..Group::default() }], bodies, links, ..Scene::default() }
}

#[test]
fn a_chain_of_rigid_and_soft_bodies_hangs_together() {
    for solver in [SolverKind::ImplicitEulerCg, SolverKind::ImplicitEulerCholesky] {
        let bodies: Vec<Body> =
            (0..4).map(|k| bar(&format!("{k}"), 0.2 * f64::from(k), k % 2 == 0)).collect();
        let mut links: Vec<LinkSprings> = (1..4)
            .map(|k| joint(LinkKind::Ball, &format!("{}", k - 1), &format!("{k}"), 0.2 * f64::from(k)))
            .collect();
        links.push(joint(LinkKind::Ball, "0", "world", 0.0));
        let mut scene = scene(solver, bodies, links);
        scene.time.fps = 240.0;
        let mut s = start(&scene);
        let (mut widest, mut turn): (f64, f64) = (0.0, 0.0);
        for _ in 0..360 {
            let before = [0, 2].map(|b| along(&s, b));
            s.step();
            assert!(s.warnings().is_empty(), "{solver:?}: {:?}", s.warnings());
            for (before, b) in before.into_iter().zip([0, 2]) {
                turn = turn.max(before.distance(along(&s, b)) / 0.2);
            }
            widest = widest.max(point(&s, 0, DVec3::ZERO).length());
            let nearest = |body: usize, at: DVec3| {
                let rest = &s.model().bodies[body].topology.rest_positions;
                (0..rest.len())
                    .min_by(|a, b| rest[*a].distance(at).total_cmp(&rest[*b].distance(at)))
                    .unwrap()
            };
            for (soft, rigid, at) in [(1, 0, 0.2), (1, 2, 0.4), (3, 2, 0.6)] {
                let at = DVec3::X * at;
                let place = s.state().bodies[soft].x[nearest(soft, at)];
                widest = widest.max(place.distance(point(&s, rigid, at)));
            }
        }
        // It swings to the other side. A step is linear: bodies of length L that turn by θ in one leave a gap of L θ²/2, which the next closes;
        // here at both ends.
        assert!(point(&s, 0, DVec3::X * 0.2).x < 0.19);
        assert!(turn > 0.01 && widest < 0.2 * turn * turn, "{solver:?}: {widest}, turned by {turn}");
    }
}

#[test]
fn a_hinge_turns_about_its_axis_and_a_ball_joint_about_all() {
    let turned = |kind: LinkKind| {
        let mut scene = scene(
            SolverKind::ImplicitEulerCg,
            vec![bar("bar", 0.0, true)],
            vec![joint(kind, "bar", "world", 0.0)],
        );
        // Gravity has a part along the axis of the hinge.
        scene.gravity = [0.0, -5.0, 3.0];
        scene.time.fps = 240.0;
        let mut s = start(&scene);
        (0..80).for_each(|_| s.step());
        let end = point(&s, 0, DVec3::X * 0.2);
        // It turns by no more than √(3g/L) h = 0.04 in a step: L θ²/2.
        assert!((end.length() - 0.2).abs() < 2e-4, "{end}");
        assert!(end.y < -0.05, "{end}");
        end.z
    };
    assert!(turned(LinkKind::Hinge).abs() < 1e-3, "{}", turned(LinkKind::Hinge));
    assert!(turned(LinkKind::Ball) > 0.03, "{}", turned(LinkKind::Ball));
}

#[test]
fn joints_keep_momentum_and_angular_momentum() {
    let mut scene = scene(
        SolverKind::ImplicitEulerCg,
        vec![bar("a", 0.0, true), bar("b", 0.2, true), bar("c", 0.4, false)],
        vec![joint(LinkKind::Hinge, "a", "b", 0.2), joint(LinkKind::Ball, "b", "c", 0.4)],
    );
    scene.gravity = [0.0; 3];
    scene.time.fps = 500.0;
    scene.groups[0].cg.tolerance = 1e-10;
    let mut s = start(&scene);
    for (k, body) in s.state_mut().bodies.iter_mut().enumerate() {
        let spin = DVec3::new(1.0, -2.0, 3.0) * if k == 0 { 1.0 } else { 0.2 };
        body.v = body.x.iter().map(|x| spin.cross(*x - DVec3::X * 0.2)).collect();
    }
    s.step();
    let before = s.measures();
    (0..200).for_each(|_| s.step());
    let after = s.measures();
    let (p, l) = (after.momentum - before.momentum, after.angular_momentum - before.angular_momentum);
    assert!(p.length() < 1e-8, "{p}");
    // Backward Euler takes some of it away, as of any spin: the first order of the step.
    assert!(l.length() < 0.05 * before.angular_momentum.length(), "{l} of {}", before.angular_momentum);
}

#[test]
fn a_rigid_body_hangs_on_a_particle_of_a_rope() {
    let rope = Body {
        name: "rope".into(),
        shape: Shape::Rope(Rope { length: 0.5, vertices: 11, ..Rope::default() }),
        placement: Placement { translate: [0.0, 0.5, 0.0], ..Placement::default() },
        density: Some(0.1),
        springs: souple::scene::Springs {
            stretch: souple::scene::Family { modulus: Some(1e4), ..Default::default() },
            ..Default::default()
        },
        rayleigh: Some(Rayleigh { mass: 2.0, stiffness: Some(0.001) }),
        pins: vec![souple::scene::Pin {
            select: souple::scene::Select::Near([0.0, 0.5, 0.0]),
            ..Default::default()
        }],
        ..Body::default()
    };
    // A joint that does not sit in the middle of the bar: it comes to hang upright.
    let mut weight = bar("bar", 0.0, true);
    weight.rayleigh = Some(Rayleigh { mass: 2.0, stiffness: None });
    let mut s = start(&scene(
        SolverKind::ImplicitEulerCg,
        vec![rope, weight],
        vec![joint(LinkKind::Ball, "rope", "bar", 0.0)],
    ));
    (0..600).for_each(|_| s.step());
    let (hook, end) = (point(&s, 1, DVec3::ZERO), point(&s, 1, DVec3::X * 0.2));
    assert!(s.state().bodies[0].x[10].distance(hook) < 1e-4);
    assert!((hook.y - end.y - 0.2).abs() < 1e-3, "{hook} {end}");
}

#[test]
fn joints_that_cannot_be_are_refused_by_name() {
    let refused = |change: fn(&mut Scene), field: &str, text: &str| {
        let mut scene = scene(
            SolverKind::ImplicitEulerCg,
            vec![bar("a", 0.0, true), bar("b", 0.2, false), bar("c", 0.6, false)],
            vec![joint(LinkKind::Hinge, "a", "b", 0.2)],
        );
        change(&mut scene);
        let error = ModelBuilder::new(&scene).build().err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains(field) && error.contains(text), "{field}, {text}: {error}");
    };
    refused(|s| s.links[0].at = None, "link[0].at", "where");
    refused(|s| s.links[0].axis = None, "link[0].axis", "axis");
    refused(|s| s.links[0].axis = Some([0.0; 3]), "link[0].axis", "");
    refused(|s| s.links[0].width = Some(1e-5), "link[0].width", "same particle");
    refused(|s| s.links[0].rest_length = Some(0.1), "link[0].rest_length", "joints");
    refused(|s| s.links[0].kind = LinkKind::Ball, "link[0].axis", "ball joints");
    refused(|s| s.links[0].kind = LinkKind::Spring, "link[0].at", "springs");
    refused(|s| s.links[0].between = ["b".into(), "c".into()], "link[0].at", "no particle");
    refused(|s| s.links[0].between = ["nobody".into(), "world".into()], "link[0].between", "nobody");
    refused(
        |s| {
            s.groups.push(Group { name: "other".into(), ..Group::default() });
            s.bodies[1].group = Some("other".into());
        },
        "link[0].kind",
        "one group",
    );
}

#[test]
fn explicit_solvers_hold_joints_too() {
    for solver in [SolverKind::Verlet, SolverKind::SymplecticEuler, SolverKind::Rk4] {
        let mut scene = scene(
            solver,
            vec![bar("a", 0.0, true), bar("b", 0.2, true)],
            vec![joint(LinkKind::Ball, "a", "b", 0.2), joint(LinkKind::Hinge, "a", "world", 0.0)],
        );
        scene.time.fps = 4000.0;
        let mut s = start(&scene);
        let mut widest: f64 = 0.0;
        for _ in 0..4000 {
            s.step();
            let place = DVec3::X * 0.2;
            widest = widest.max(point(&s, 0, place).distance(point(&s, 1, place)));
            widest = widest.max(point(&s, 0, DVec3::ZERO).length());
        }
        // A joint gives way by what hangs on it: m g h²/0.1 times how easily its point moves, and some times that as they swing.
        assert!(s.warnings().is_empty(), "{solver:?}: {:?}", s.warnings());
        assert!(widest < 1e-3, "{solver:?}: {widest}");
        assert!(point(&s, 1, DVec3::X * 0.4).distance(DVec3::X * 0.4) > 0.1, "{solver:?}: it hangs still");
    }
}
