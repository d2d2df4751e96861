//! Bodies that lie on, slide over and run into each other, solved as one (FAU-45, FAU-64): stacks stand, heavy lies on light, friction is Coulomb's,
//! momentum is kept.

use glam::DVec3;
use souple::measure::intersections;
use souple::scene::{
    Ball, Block, Body, Cells, Collider, ColliderShape, Embed, Pin, Placement, PlaneShape, Rayleigh, Scene,
    Select, Shape, SurfaceContact,
};
use souple::{ModelBuilder, Simulation};

fn start(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

/// A block of jelly with its lowest corner at a place.
fn jelly(name: &str, size: [f64; 3], cells: [u32; 3], at: [f64; 3]) -> Body {
    Body {
        name: name.into(),
        shape: Shape::Block(Block { size, cells, cut: Cells::Hexahedra }),
        placement: Placement { translate: at, ..Placement::default() },
        density: Some(1000.0),
        young_modulus: Some(3e4),
        poisson_ratio: Some(0.4),
        rayleigh: Some(Rayleigh { mass: 0.5, stiffness: Some(0.01) }),
        skin: 0.004,
        contact: Some(SurfaceContact { others: true, friction: 0.5, ..SurfaceContact::default() }),
        ..Body::default()
    }
}

fn rigid(body: Body, density: f64) -> Body {
    let (young_modulus, poisson_ratio, rayleigh) = (None, None, None);
    Body { rigid: true, density: Some(density), young_modulus, poisson_ratio, rayleigh, ..body }
}

fn floor() -> Collider {
    let shape = ColliderShape::Plane(PlaneShape { normal: [0.0, 1.0, 0.0] });
    Collider { shape, friction: 0.5, ..Collider::default() }
}

fn centre(s: &Simulation, b: usize) -> DVec3 {
    let body = &s.state().bodies[b];
    let masses = &body.topology.masses;
    let sum: DVec3 = body.x.iter().zip(masses).map(|(x, m)| *x * *m).sum();
    sum / masses.iter().sum::<f64>()
}

fn crossings(s: &Simulation) -> usize {
    let surfaces: Vec<_> = s.state().bodies.iter().map(|b| (&b.x[..], &b.topology.triangles[..])).collect();
    intersections::between(&surfaces).len()
}

fn kinetic(s: &Simulation) -> f64 {
    s.measures().kinetic_energy
}

#[test]
fn a_stack_of_jelly_stands_and_comes_to_rest() {
    // Softer ones would buckle: a column stands while its weight is less than 7.84 E I/L².
    let block = |k: u32| Body {
        young_modulus: Some(3e5),
        ..jelly(&format!("{k}"), [0.2; 3], [3; 3], [-0.1, 0.01 + 0.21 * f64::from(k), -0.1])
    };
    let scene = Scene { bodies: (0..3).map(block).collect(), colliders: vec![floor()], ..Scene::default() };
    let mut s = start(&scene);
    let mut peak = 0.0f64;
    for _ in 0..300 {
        s.step();
        peak = peak.max(kinetic(&s));
    }
    for b in 0..3 {
        let c = centre(&s, b);
        assert!(c.x.abs() < 1e-3 && c.z.abs() < 1e-3, "{b} went to {c}");
        assert!(c.y > 0.08 + 0.17 * b as f64, "{b} sank to {c}");
    }
    assert!(kinetic(&s) < 1e-8 * peak, "{} of {peak}", kinetic(&s));
    assert_eq!(crossings(&s), 0);
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
}

#[test]
fn a_heavy_brick_lies_on_light_foam() {
    let foam = Body { density: Some(30.0), ..jelly("foam", [0.4, 0.2, 0.4], [6, 3, 6], [-0.2, 0.005, -0.2]) };
    let brick = rigid(jelly("brick", [0.2, 0.07, 0.1], [4, 2, 2], [-0.1, 0.3, -0.05]), 8000.0);
    let scene = Scene { bodies: vec![foam, brick], colliders: vec![floor()], ..Scene::default() };
    let mut s = start(&scene);
    let mut peak = 0.0f64;
    for _ in 0..300 {
        s.step();
        peak = peak.max(kinetic(&s));
    }
    let c = centre(&s, 1);
    assert!(c.x.abs() < 0.01 && c.z.abs() < 0.01 && c.y > 0.1 && c.y < 0.24, "{c}");
    assert!(kinetic(&s) < 1e-6 * peak, "{} of {peak}", kinetic(&s));
    assert_eq!(crossings(&s), 0);
}

#[test]
fn a_tilted_brick_does_not_go_through_foam() {
    let foam = Body {
        density: Some(50.0),
        young_modulus: Some(2e4),
        ..jelly("foam", [0.5, 0.2, 0.5], [10, 4, 10], [-0.25, 0.005, -0.25])
    };
    let mut brick = rigid(jelly("brick", [0.22, 0.07, 0.11], [6, 2, 3], [-0.1, 0.3, -0.05]), 2000.0);
    brick.placement.rotate_deg = [0.0, 20.0, 15.0];
    brick.velocity = [0.0, -2.0, 0.0];
    let scene = Scene { bodies: vec![foam, brick], colliders: vec![floor()], ..Scene::default() };
    let mut s = start(&scene);
    (0..30).for_each(|_| s.step());
    assert!(centre(&s, 1).y > 0.2, "{}", centre(&s, 1));
    assert_eq!(crossings(&s), 0);
}

#[test]
fn blocks_slide_over_each_other_as_coulomb_says() {
    // tan of the angle is 0.36, or 0.70; friction of both is 0.5.
    for (degrees, slides) in [(20.0f64, false), (35.0, true)] {
        let (sin, cos) = souple::math::sin_cos_degrees(degrees);
        for is_rigid in [true, false] {
            let mut table = rigid(jelly("table", [2.0, 0.05, 0.4], [8, 1, 2], [-0.3, -0.05, -0.2]), 1000.0);
            table.pins = vec![Pin { select: Select::All, ..Pin::default() }];
            let block = jelly("block", [0.2, 0.05, 0.2], [4, 1, 4], [0.0, 0.004, -0.1]);
            let block =
                if is_rigid { rigid(block, 1000.0) } else { Body { young_modulus: Some(1e6), ..block } };
            let mut scene = Scene { bodies: vec![table, block], ..Scene::default() };
            scene.gravity = [9.81 * sin, -9.81 * cos, 0.0];
            let mut s = start(&scene);
            (0..15).for_each(|_| s.step());
            let (from, speed) = (
                centre(&s, 1),
                s.state().bodies[1].v.iter().sum::<DVec3>().x / s.state().bodies[1].v.len() as f64,
            );
            (0..45).for_each(|_| s.step());
            let way = centre(&s, 1).x - from.x;
            let t = 0.75;
            // A direction counts as that of the surface up to one in fifty (`contact/nearest.rs`), which acts like so much more friction.
            let way_with = |friction: f64| speed * t + 0.5 * 9.81 * (sin - friction * cos) * t * t;
            let free = way_with(0.5);
            // A soft one shakes as its corners pass edges, and loses an eighth of its way.
            let least = if is_rigid { way_with(0.52) } else { 0.8 * free };
            match slides {
                true => {
                    assert!(way > least && way < 1.03 * free, "rigid {is_rigid}: {way} of {least} to {free}")
                }
                false => assert!(way.abs() < 1e-4, "rigid {is_rigid}: crept {way}"),
            }
        }
    }
}

#[test]
fn bodies_that_run_into_each_other_keep_their_momentum() {
    let a = jelly("a", [0.2; 3], [3; 3], [-0.3, 0.0, 0.0]);
    let b = jelly("b", [0.2, 0.2, 0.2], [2; 3], [0.0, 0.05, 0.03]);
    for is_rigid in [false, true] {
        let b = if is_rigid { rigid(b.clone(), 3000.0) } else { b.clone() };
        let mut scene = Scene { bodies: vec![a.clone(), b], ..Scene::default() };
        // Nothing slows them down but each other.
        scene.bodies.iter_mut().filter(|b| !b.rigid).for_each(|b| b.rayleigh = None);
        scene.gravity = [0.0; 3];
        let mut s = start(&scene);
        s.state_mut().bodies[0].v.fill(DVec3::new(2.0, 0.0, 0.0));
        let before = s.measures();
        let (mut most, mut met) = (before.kinetic_energy, false);
        for _ in 0..60 {
            s.step();
            met |= s.state().bodies[1].v.iter().any(|v| v.length() > 0.1);
            let now = s.measures();
            most = most.max(now.kinetic_energy + now.elastic_energy);
            let lost = (now.momentum - before.momentum).length() / before.momentum.length();
            assert!(lost < 1e-6, "rigid {is_rigid}: {lost}");
            let turning = (now.angular_momentum - before.angular_momentum).length();
            assert!(turning < 2e-3 * before.momentum.length(), "{turning}");
        }
        assert!(met);
        assert!(most <= before.kinetic_energy * (1.0 + 1e-6), "{most} of {}", before.kinetic_energy);
        assert_eq!(crossings(&s), 0);
    }
}

/// A soft ball in cells of a quarter of its size, thrown at a floor.
fn thrown(subdivisions: u32) -> Scene {
    let ball = Body {
        name: "ball".into(),
        shape: Shape::Ball(Ball { radius: 0.5, subdivisions }),
        placement: Placement { translate: [0.0, 0.6, 0.0], ..Placement::default() },
        velocity: [1.0, -3.0, 0.0],
        embed: Some(Embed { cell: 0.3, ..Embed::default() }),
        density: Some(300.0),
        young_modulus: Some(2e4),
        poisson_ratio: Some(0.4),
        ..Body::default()
    };
    Scene { bodies: vec![ball], colliders: vec![Collider { friction: 0.6, ..floor() }], ..Scene::default() }
}

#[test]
fn many_followers_in_one_cell_give_no_energy_at_an_impact() {
    let energy = |s: &Simulation| {
        let m = s.measures();
        m.kinetic_energy + m.elastic_energy + m.potential_energy
    };
    // 642 and 2,562 vertices in the same cells.
    let mut runs = [3, 4].map(|subdivisions| start(&thrown(subdivisions)));
    let mut before = runs.each_ref().map(energy);
    let began = before[0];
    for frame in 0..40 {
        for (s, before) in runs.iter_mut().zip(&mut before) {
            s.step();
            let now = energy(s);
            // Contacts give back what they were pressed by, and stiffness is that of the beginning of a step.
            assert!(now < *before + 0.02 * began, "frame {frame}: from {before} to {now} J");
            *before = now.min(*before);
        }
    }
    let [coarse, fine] = runs.each_ref().map(|s| centre(s, 0));
    assert!(coarse.distance(fine) < 0.05, "{coarse} {fine}: the surface alone is finer");
    assert!(runs.iter().all(|s| s.warnings().is_empty()), "{:?}", runs.each_ref().map(|s| s.warnings()));
}

/// Two balls in cells of 6 cm, one of which falls on the other; their surfaces are so fine.
fn balls_in_cells(subdivisions: u32, upper_density: f64) -> Simulation {
    let ball = |name: &str, at: [f64; 3], density: f64| Body {
        shape: Shape::Ball(Ball { radius: 0.15, subdivisions }),
        embed: Some(Embed { cell: 0.06, ..Embed::default() }),
        density: Some(density),
        ..jelly(name, [1.0; 3], [1; 3], at)
    };
    let bodies = vec![ball("low", [0.0, 0.16, 0.0], 1000.0), ball("high", [0.02, 0.5, 0.01], upper_density)];
    let mut s = start(&Scene { bodies, colliders: vec![floor()], ..Scene::default() });
    (0..30).for_each(|_| s.step());
    s
}

#[test]
fn finer_surfaces_in_the_same_cells_are_no_harder_to_solve_and_heavy_ones_do_not_go_through() {
    let [coarse, fine] = [3, 4].map(|subdivisions| balls_in_cells(subdivisions, 1000.0));
    let per_solve = |s: &Simulation| s.profile().solves.iterations as f64 / s.profile().solves.solves as f64;
    assert!(per_solve(&fine) < 1.5 * per_solve(&coarse), "{} {}", per_solve(&fine), per_solve(&coarse));
    // They land alike.
    assert!(
        (centre(&fine, 1) - centre(&coarse, 1)).length() < 0.01,
        "{} {}",
        centre(&fine, 1),
        centre(&coarse, 1)
    );
    let heavy = balls_in_cells(4, 8000.0);
    for s in [&coarse, &fine, &heavy] {
        assert_eq!(crossings(s), 0);
        assert!(s.state().bodies.iter().all(|b| !b.frozen));
    }
}
