//! Solids that give way for good: they stay bent, the same on any number of threads and after a restore, in snapshots and recordings, alone and linked to others.

use glam::{DMat3, DVec3};
use souple::energy::plastic_strain;
use souple::scene::{
    Block, Body, Cells, Group, Key, LinkSprings, Motion, Pin, Placement, Plasticity, Rayleigh, Region, Scene,
    Select, Shape, SolverKind,
};
use souple::{ModelBuilder, Simulation};

/// A bar that is clamped at one end, bent down at the other for half a second, and let go.
fn bar(cut: Cells, plasticity: Option<Plasticity>) -> Scene {
    let face = |x: f64| Select::Within(Region { min: [x - 1e-6, -1.0, -1.0], max: [x + 1e-6, 1.0, 1.0] });
    let down = Motion {
        keys: vec![Key::default(), Key { t: 0.4, translate: [-0.02, -0.12, 0.0], ..Key::default() }],
        ..Motion::default()
    };
    let body = Body {
        name: "bar".into(),
        shape: Shape::Block(Block { size: [0.2, 0.04, 0.04], cells: [10, 4, 2], cut }),
        density: Some(1100.0),
        young_modulus: Some(2e5),
        poisson_ratio: Some(0.4),
        plasticity,
        rayleigh: Some(Rayleigh { mass: 2.0, stiffness: Some(0.002) }),
        pins: vec![
            Pin { name: "wall".into(), select: face(0.0), ..Pin::default() },
            Pin {
                name: "hand".into(),
                select: face(0.2),
                motion: Some(down),
                until: Some(0.5),
                ..Pin::default()
            },
        ],
        ..Body::default()
    };
    let groups = vec![Group { solver: SolverKind::ImplicitEulerCg, ..Group::default() }];
    Scene { gravity: [0.0; 3], groups, bodies: vec![body], ..Scene::default() }
}

const CLAY: Plasticity = Plasticity { yield_stress: 2e3, creep: None, max_strain: 1.0 };

fn start(scene: &Scene) -> Simulation {
    Simulation::new(ModelBuilder::new(scene).build().unwrap())
}

fn tip(s: &Simulation) -> f64 {
    let (rest, x) = (&s.model().bodies[0].topology.rest_positions, &s.state().bodies[0].x);
    let drops: Vec<f64> =
        rest.iter().zip(x).filter(|(r, _)| r.x > 0.2 - 1e-9).map(|(r, x)| r.y - x.y).collect();
    drops.iter().sum::<f64>() / drops.len() as f64
}

#[test]
fn a_bar_stays_bent_if_it_yields_and_comes_back_if_not() {
    for cut in [Cells::Five, Cells::Hexahedra] {
        let end = |plasticity: Option<Plasticity>| {
            let mut s = start(&bar(cut, plasticity));
            (0..240).for_each(|_| s.step());
            assert!(s.warnings().is_empty(), "{:?}", s.warnings());
            s
        };
        let (elastic, clay) = (end(None), end(Some(CLAY)));
        let hard = end(Some(Plasticity { yield_stress: 1e9, ..CLAY }));
        assert!(tip(&elastic).abs() < 1e-3, "{cut:?}: {}", tip(&elastic));
        // It was bent by 0.12 m, and keeps more than half of that.
        assert!(tip(&clay) > 0.06, "{cut:?}: {}", tip(&clay));
        // What never reaches its yield stress is as if there were none, but for rounding: cells that may flow are summed in another order.
        let apart =
            hard.state().bodies[0].x.iter().zip(&elastic.state().bodies[0].x).map(|(a, b)| a.distance(*b));
        assert!(apart.fold(0.0, f64::max) < 1e-12);
        let strains = || clay.state().bodies[0].plastic.iter().map(|p| plastic_strain(*p));
        assert!(strains().fold(0.0, f64::max) > 0.1);
        // It has come to rest with less than the yield stress everywhere: nothing flows any more.
        let before = clay.state().bodies[0].plastic.clone();
        let mut clay = clay;
        clay.step();
        assert_eq!(clay.state().bodies[0].plastic, before);
    }
}

#[test]
fn strain_has_a_maximum() {
    let mut s = start(&bar(Cells::Five, Some(Plasticity { max_strain: 0.05, ..CLAY })));
    (0..60).for_each(|_| s.step());
    let most = s.state().bodies[0].plastic.iter().map(|p| plastic_strain(*p)).fold(0.0, f64::max);
    assert!((most - 0.05).abs() < 1e-12, "{most}");
}

#[test]
fn threads_and_a_restore_change_no_bit() {
    for cut in [Cells::Five, Cells::Hexahedra] {
        let scene = bar(cut, Some(Plasticity { creep: Some(20.0), ..CLAY }));
        let mut whole = start(&scene);
        (0..20).for_each(|_| whole.step());
        let kept = whole.snapshot();
        assert!(whole.state().bodies[0].plastic.iter().any(|p| *p != DMat3::IDENTITY));
        (0..20).for_each(|_| whole.step());
        let mut restored = start(&scene);
        restored.restore(&kept).unwrap();
        (0..20).for_each(|_| restored.step());
        assert_eq!(whole.state(), restored.state());
        assert_eq!(whole.state().hash(), restored.state().hash());
        let mut many = start(&scene).with_threads(3).unwrap();
        (0..40).for_each(|_| many.step());
        assert_eq!(whole.state(), many.state());
    }
}

#[test]
fn a_snapshot_with_elements_of_another_volume_is_refused() {
    let scene = bar(Cells::Five, Some(CLAY));
    let mut s = start(&scene);
    s.step();
    s.state_mut().bodies[0].plastic[3] *= 1.1;
    let error = start(&scene).restore(&s.snapshot()).unwrap_err();
    assert!(error.to_string().contains("no shape that it can have"), "{error}");
}

#[test]
fn a_changed_scene_keeps_what_has_flowed() {
    let scene = bar(Cells::Five, Some(CLAY));
    let mut s = start(&scene);
    (0..30).for_each(|_| s.step());
    let before = s.state().bodies[0].plastic.clone();
    let mut harder = scene.clone();
    harder.bodies[0].plasticity = Some(Plasticity { yield_stress: 4e3, ..CLAY });
    s.adopt(ModelBuilder::new(&harder).build().unwrap()).unwrap();
    assert_eq!(s.state().bodies[0].plastic, before);
    s.adopt(ModelBuilder::new(&bar(Cells::Five, None)).build().unwrap()).unwrap();
    assert!(s.state().bodies[0].plastic.is_empty());
    s.step();
    assert!(s.warnings().is_empty());
}

#[test]
fn linked_bodies_flow_as_they_do_alone() {
    let alone = {
        let mut s = start(&bar(Cells::Five, Some(CLAY)));
        (0..60).for_each(|_| s.step());
        s
    };
    // A light block that hangs on the bar, far from where it bends, changes next to nothing.
    let mut scene = bar(Cells::Five, Some(CLAY));
    let block = Body {
        name: "block".into(),
        shape: Shape::Block(Block { size: [0.01; 3], cells: [1; 3], ..Block::default() }),
        placement: Placement { translate: [0.0, 0.04, 0.0], ..Placement::default() },
        density: Some(1.0),
        young_modulus: Some(1e4),
        ..Body::default()
    };
    scene.bodies.insert(0, block);
    scene.links = vec![LinkSprings {
        between: ["block".into(), "bar".into()],
        near: Some([0.0, 0.04, 0.0]),
        stiffness: Some(10.0),
        ..LinkSprings::default()
    }];
    let mut s = start(&scene);
    (0..60).for_each(|_| s.step());
    let apart = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    let far = apart(&s.state().bodies[1].x, &alone.state().bodies[0].x);
    // Both are solved to a share of 1e-4 or better of what moves in a step, a few mm, with other iterations.
    assert!(far < 1e-4, "{far}");
    assert!(s.state().bodies[1].plastic.iter().any(|p| plastic_strain(*p) > 0.05));
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    type Change = fn(&mut Body);
    let cases: [(&str, Change); 4] = [
        ("body[0].plasticity.yield_stress", |b| {
            b.plasticity = Some(Plasticity { yield_stress: 0.0, ..CLAY })
        }),
        ("body[0].plasticity.creep", |b| b.plasticity = Some(Plasticity { creep: Some(-1.0), ..CLAY })),
        ("body[0].plasticity.max_strain", |b| {
            b.plasticity = Some(Plasticity { max_strain: f64::NAN, ..CLAY })
        }),
        ("body[0].plasticity", |b| {
            b.shape = Shape::default();
            b.pins.clear();
            b.poisson_ratio = None;
            b.plasticity = Some(CLAY);
        }),
    ];
    for (field, change) in cases {
        let mut scene = bar(Cells::Five, None);
        change(&mut scene.bodies[0]);
        let error = ModelBuilder::new(&scene).build().unwrap_err().to_string();
        assert!(error.contains(field), "{field}: {error}");
    }
}
