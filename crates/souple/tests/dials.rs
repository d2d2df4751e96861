//! Dials mean the same at any step and on any mesh; wrong ones are refused.

use souple::math::pow;
use souple::scene::{
    Body, Border, Dials, Family, Grid, GridPlane, Group, Pin, Placement, Rayleigh, Rope, Scene, Select,
    Shape, SolverKind, Springs, Time,
};
use souple::{ModelBuilder, Simulation};

const G: f64 = 9.80665;
const DENSITY: f64 = 0.2;

/// A square of cloth of that side, hung by its upper border.
fn hanging(n: u32, side: f64, dials: Dials) -> Body {
    Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid {
            vertices: [n, n],
            size: [side, side],
            plane: GridPlane::Xy,
            ..Grid::default()
        }),
        density: Some(DENSITY),
        dials: Some(dials),
        rayleigh: Some(Rayleigh { mass: 4.0, stiffness: None }),
        pins: vec![Pin { name: "top".into(), select: Select::Border(Border::V0), ..Pin::default() }],
        ..Body::default()
    }
}

fn scene(body: Body, solver: SolverKind, fps: f64, dt: Option<f64>) -> Scene {
    Scene {
        gravity: [0.0, -G, 0.0],
        time: Time { fps, frames: 1 },
        groups: vec![Group { solver, dt, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    }
}

/// Extension of a hanging cloth over its length after that many seconds.
fn extension(scene: &Scene, side: f64, seconds: f64) -> f64 {
    let mut s = Simulation::new(ModelBuilder::new(scene).build().unwrap());
    (0..(seconds * scene.time.fps) as u32).for_each(|_| s.step());
    assert!(s.warnings().is_empty(), "{:?}", s.warnings());
    -s.measures().lowest / side - 1.0
}

fn stretch(dial: f64) -> Dials {
    Dials { stretch: Some(dial), ..Dials::default() }
}

#[test]
fn a_dial_is_the_same_stretch_on_three_meshes_with_three_steps() {
    // The tension falls evenly from top to bottom, so the extension is half of the strain at the top.
    for (dial, side) in [(0.35, 1.0), (0.6, 0.5), (0.9, 2.0)] {
        let expected = 0.5 * pow(10.0, -4.0 * dial);
        // Odd numbers: with alternating diagonals only those share the mass evenly among the columns.
        for n in [7, 11, 21] {
            for fps in [10.0, 30.0, 60.0] {
                let body = hanging(n, side, stretch(dial));
                let found = extension(&scene(body, SolverKind::ImplicitEulerCholesky, fps, None), side, 12.0);
                // At rest neither step nor mesh matter; what is left decays like e^(−2 t), e^(−24) of it.
                assert!((found / expected - 1.0).abs() < 1e-6, "{dial} {n} {fps}: {found} {expected}");
            }
        }
    }
}

#[test]
fn the_real_time_solver_has_the_same_dials_in_its_limit_of_small_substeps() {
    let dial = 0.35;
    let expected = 0.5 * pow(10.0, -4.0 * dial);
    for n in [7u32, 11, 21] {
        for dt in [1.0 / 1200.0, 1.0 / 2400.0, 1.0 / 4800.0] {
            let body = hanging(n, 1.0, stretch(dial));
            let found = extension(&scene(body, SolverKind::Xpbd, 60.0, Some(dt)), 1.0, 6.0);
            // One visit per substep adds k h²/m to the softness of a spring, once for each spring of its two ends that is
            // visited after it: four at most along the pull, with k/m = g 10^(4 d) (n − 1)²/L.
            let cells = f64::from(n - 1);
            let softer = G * pow(10.0, 4.0 * dial) * cells * cells * dt * dt;
            // e^(−12) of the motion is left, and the sum of 32-bit displacements.
            let tolerance = 4.0 * softer + 1e-4;
            assert!((found / expected - 1.0).abs() < tolerance, "{n} {dt}: {found} {expected} {tolerance}");
        }
    }
}

#[test]
fn dials_become_moduli_that_do_not_depend_on_the_mesh() {
    let all = Dials { stretch: Some(0.5), shear: Some(0.25), bend: Some(0.5), area: Some(1.0) };
    for n in [5, 9, 33] {
        let body = hanging(n, 2.0, all);
        let model = ModelBuilder::new(&scene(body, SolverKind::Xpbd, 60.0, None)).build().unwrap();
        let body = &model.bodies[0];
        // ρ g L = 3.92 N/m; c = 0.2 m.
        let weight = DENSITY * G * 2.0;
        let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
        assert!(near(body.topology.bending, DENSITY * G * 0.2 * 0.2 * 0.2));
        assert!(near(body.area_stiffness, weight * 1e4));
        let inner = |family: souple::mesh::SpringFamily| {
            let own = body.topology.springs.iter().filter(|s| s.family == family);
            own.map(|s| s.stiffness).fold(0.0, f64::max)
        };
        assert!(near(inner(souple::mesh::SpringFamily::Stretch), weight * 100.0));
        assert!(near(inner(souple::mesh::SpringFamily::Shear), weight * 10.0));
    }
    // A rope by its length: c = L/10.
    let rope = Body {
        shape: Shape::Rope(Rope { length: 2.0, vertices: 9, ..Rope::default() }),
        placement: Placement { scale: 2.0, ..Placement::default() },
        pins: Vec::new(),
        ..hanging(2, 1.0, all)
    };
    let rope = Body { dials: Some(Dials { area: None, ..all }), ..rope };
    let model = ModelBuilder::new(&scene(rope, SolverKind::Xpbd, 60.0, None)).build().unwrap();
    assert!((model.bodies[0].topology.bending / (DENSITY * G * 0.4 * 0.4 * 0.4) - 1.0).abs() < 1e-9);
}

#[test]
fn dials_out_of_range_or_beside_units_are_refused() {
    let refusal = |body: Body| {
        let error = ModelBuilder::new(&scene(body, SolverKind::Xpbd, 60.0, None)).build().unwrap_err();
        error.to_string()
    };
    for dial in [-0.1, 1.1, f64::NAN] {
        let error = refusal(hanging(4, 1.0, stretch(dial)));
        assert!(error.contains("body[0].dials.stretch"), "{error}");
    }
    let modulus = Family { modulus: Some(10.0), ..Family::default() };
    let all = Dials { stretch: Some(0.5), shear: Some(0.5), bend: Some(0.5), area: Some(0.5) };
    let with = |change: &dyn Fn(&mut Body)| {
        let mut body = hanging(4, 1.0, all);
        change(&mut body);
        refusal(body)
    };
    assert!(
        with(&|b| b.springs = Springs { stretch: modulus, ..Springs::default() }).contains("dials.stretch")
    );
    assert!(with(&|b| (b.young_modulus, b.thickness) = (Some(1e6), Some(1e-3))).contains("dials.stretch"));
    assert!(with(&|b| b.springs = Springs { shear: modulus, ..Springs::default() }).contains("dials.shear"));
    assert!(with(&|b| b.bending = Some(1e-4)).contains("dials.bend"));
    assert!(with(&|b| b.springs = Springs { bend: modulus, ..Springs::default() }).contains("dials.bend"));
    assert!(with(&|b| b.area_stiffness = Some(1.0)).contains("dials.area"));
    // 0 is no effect: with nothing else, nothing holds the body together.
    assert!(refusal(hanging(4, 1.0, stretch(0.0))).contains("no springs"));
}
