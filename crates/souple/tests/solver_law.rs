//! The law of solvers: amplification of a known oscillator, order of convergence, momentum, and the two implicit solvers
//! against each other.

use glam::DVec3;
use souple::math;
use souple::scene::{
    Body, Cg, Family, Grid, Group, InlineMesh, Layout, Pin, Rope, RopeMass, Scene, Select, Shape, SolverKind,
    Springs, Time,
};
use souple::solver::ALL_SOLVERS;
use souple::solver::stability::{amplification, longest_step, stiffest_mode};
use souple::{ModelBuilder, Simulation};

/// One particle of 1 kg on a spring of stiffness k along x, supported at the origin, no gravity, rest length 1 m.
fn oscillator(solver: SolverKind, k: f64, fps: f64) -> Simulation {
    let body = Body {
        name: "oscillator".into(),
        shape: Shape::Rope(Rope {
            length: 1.0,
            vertices: 2,
            direction: [1.0, 0.0, 0.0],
            mass_at: RopeMass::Beads,
        }),
        mass: Some(1.0),
        springs: Springs {
            stretch: Family { stiffness: Some(k), ..Family::default() },
            ..Springs::default()
        },
        pins: vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }],
        ..Body::default()
    };
    let cg = Cg { tolerance: 1e-12, max_iterations: 100 };
    let group = Group { solver, cg, dt: Some(1.0 / fps), ..Group::default() };
    let scene = Scene {
        gravity: [0.0; 3],
        time: Time { fps, frames: 1 },
        groups: vec![group],
        bodies: vec![body],
        ..Scene::default()
    };
    Simulation::new(ModelBuilder::new(&scene).build().unwrap())
}

fn displacement(s: &Simulation) -> (f64, f64) {
    (s.state().bodies[0].x[1].x - 1.0, s.state().bodies[0].v[1].x)
}

#[test]
fn amplification_of_an_oscillator_is_that_of_the_theory() {
    // One step applies a 2×2 matrix to (x, v): measured column by column, its spectral radius is the theory's.
    for solver in ALL_SOLVERS {
        for z in [0.5, 1.0, 2.0] {
            let column = |x: f64, v: f64| {
                let mut s = oscillator(solver, z * z, 1.0);
                s.state_mut().bodies[0].x[1].x = 1.0 + x;
                s.state_mut().bodies[0].v[1].x = v;
                s.step();
                displacement(&s)
            };
            let ((a, c), (b, d)) = (column(1e-3, 0.0), column(0.0, 1e-3));
            let (half_trace, det) = ((a + d) * 0.5e3, (a * d - b * c) * 1e6);
            let discriminant = half_trace * half_trace - det;
            let measured =
                if discriminant < 0.0 { det.sqrt() } else { half_trace.abs() + discriminant.sqrt() };
            let expected = amplification(solver, z, 0.0, 1.0);
            // At z = 2 symplectic methods have a double eigenvalue, whose rounding is the square root of that of the matrix.
            // The real-time solver computes in 32 bits, which round by 6e-8, with velocities as differences of places.
            let tolerance = if solver == SolverKind::Xpbd { 1e-5 } else { 1e-6 };
            assert!(
                (measured - expected).abs() < tolerance,
                "{solver:?} at z = {z}: {measured} against {expected}"
            );
        }
    }
}

#[test]
fn convergence_slopes_are_those_of_the_theory() {
    let slope = |solver: SolverKind| {
        let error = |fps: f64| {
            // At three quarters of a period the error of symplectic methods does not vanish by symmetry.
            let (k, t) = (40.0, 0.75);
            let mut s = oscillator(solver, k, fps);
            s.state_mut().bodies[0].x[1].x = 1.01;
            for _ in 0..(t * fps) as usize {
                s.step();
            }
            let w = f64::sqrt(k);
            let (x, v) = displacement(&s);
            let (ex, ev) = (0.01 * math::cos(w * t), -0.01 * w * math::sin(w * t));
            (w * w * (x - ex) * (x - ex) + (v - ev) * (v - ev)).sqrt()
        };
        math::log2(error(200.0) / error(400.0))
    };
    for (solver, order) in [
        (SolverKind::ExplicitEuler, 1.0),
        (SolverKind::SymplecticEuler, 1.0),
        (SolverKind::ImplicitEulerCg, 1.0),
        (SolverKind::ImplicitEulerCholesky, 1.0),
        (SolverKind::ImplicitFilter, 1.0),
        (SolverKind::Xpbd, 1.0),
        (SolverKind::ModifiedEuler, 2.0),
        (SolverKind::Midpoint, 2.0),
        (SolverKind::Verlet, 2.0),
        (SolverKind::Rk4, 4.0),
    ] {
        let measured = slope(solver);
        assert!((measured - order).abs() < 0.15, "{solver:?}: slope {measured}, theory {order}");
    }
}

/// A free, shaken, spinning cloth without gravity.
fn free_cloth(solver: SolverKind, fps: f64) -> Simulation {
    let body = Body {
        name: "cloth".into(),
        shape: Shape::Grid(Grid { vertices: [7, 6], size: [0.6, 0.5], ..Grid::default() }),
        density: Some(0.3),
        springs: Springs {
            stretch: Family { stiffness: Some(200.0), damping: Some(0.02), ..Family::default() },
            shear: Family { stiffness: Some(50.0), ..Family::default() },
            bend: Family { stiffness: Some(5.0), ..Family::default() },
            ..Springs::default()
        },
        ..Body::default()
    };
    let group = Group { solver, cg: Cg { tolerance: 1e-13, max_iterations: 500 }, ..Group::default() };
    let scene = Scene {
        gravity: [0.0; 3],
        time: Time { fps, frames: 1 },
        groups: vec![group],
        bodies: vec![body],
        ..Scene::default()
    };
    let mut s = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
    let body = &mut s.state_mut().bodies[0];
    for (i, (x, v)) in body.x.iter_mut().zip(&mut body.v).enumerate() {
        let r = |k: u64| 2.0 * math::uniform(9, 3 * i as u64 + k) - 1.0;
        *v = DVec3::new(0.3, 0.1, -0.2)
            + DVec3::new(1.0, 2.0, 3.0).cross(*x)
            + DVec3::new(r(0), r(1), r(2)) * 0.2;
        *x += DVec3::new(r(2), r(0), r(1)) * 0.01;
    }
    s
}

#[test]
fn every_solver_keeps_linear_momentum() {
    for solver in ALL_SOLVERS {
        // Short steps, or explicit Euler would not live to be measured.
        let mut s = free_cloth(solver, 20_000.0);
        let before = s.measures().momentum;
        for _ in 0..200 {
            s.step();
        }
        let drift = (s.measures().momentum - before).length() / before.length();
        // 200 steps in 32 bits, rounded by 6e-8 each.
        let tolerance = if solver == SolverKind::Xpbd { 200.0 * 6e-8 } else { 1e-11 };
        assert!(drift < tolerance, "{solver:?}: {drift}");
    }
}

#[test]
fn angular_momentum_is_kept_where_the_method_promises_it() {
    // Symplectic Euler and Verlet keep it to rounding: forces and damping are along the springs, and positions move along
    // velocities. So does the filter, by its torque correction.
    for (solver, tolerance) in [
        (SolverKind::SymplecticEuler, 1e-11),
        (SolverKind::Verlet, 1e-11),
        (SolverKind::ImplicitFilter, 1e-10),
    ] {
        let mut s = free_cloth(solver, 1000.0);
        let before = s.measures().angular_momentum;
        for _ in 0..200 {
            s.step();
        }
        let drift = (s.measures().angular_momentum - before).length() / before.length();
        assert!(drift < tolerance, "{solver:?}: {drift}");
    }
}

#[test]
fn conjugate_gradient_and_cholesky_agree() {
    let run = |solver| {
        let mut s = free_cloth(solver, 60.0);
        for _ in 0..30 {
            s.step();
        }
        s.state().bodies[0].x.clone()
    };
    let (a, b) = (run(SolverKind::ImplicitEulerCg), run(SolverKind::ImplicitEulerCholesky));
    let difference = a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
    assert!(difference < 1e-9, "{difference}");
}

#[test]
fn implicit_solvers_never_gain_energy_and_stand_any_step() {
    for solver in [SolverKind::ImplicitEulerCg, SolverKind::ImplicitEulerCholesky, SolverKind::Xpbd] {
        for fps in [1000.0, 60.0, 5.0, 0.5] {
            let mut s = free_cloth(solver, fps);
            let before = s.measures().total_energy();
            for _ in 0..100 {
                s.step();
            }
            let after = s.measures().total_energy();
            assert!(
                s.warnings().is_empty() && after <= before,
                "{solver:?} at {fps} Hz: {before} J to {after} J"
            );
        }
    }
}

#[test]
fn the_forecast_of_the_longest_step_is_right_within_a_tenth() {
    // Just below the forecast a cloth at rest stays at rest; a little above it, rounding grows into an explosion.
    for solver in [SolverKind::SymplecticEuler, SolverKind::Verlet, SolverKind::Rk4] {
        let s = free_cloth(solver, 60.0);
        let topology = &s.model().bodies[0].topology;
        let inverse: Vec<f64> = topology.masses.iter().map(|m| 1.0 / m).collect();
        let mode = stiffest_mode(topology, &inverse, 0.0);
        assert!(mode.omega <= mode.omega_bound * (1.0 + 1e-9));
        let longest = longest_step(solver, &mode);
        let energy_after = |h: f64| {
            let mut s = free_cloth(solver, 1.0 / h);
            let model_rest = s.model().bodies[0].topology.rest_positions.clone();
            let body = &mut s.state_mut().bodies[0];
            body.v.iter_mut().for_each(|v| *v = DVec3::ZERO);
            for (i, (x, rest)) in body.x.iter_mut().zip(&model_rest).enumerate() {
                let r = |k: u64| 2.0 * math::uniform(21, 3 * i as u64 + k) - 1.0;
                *x = *rest + DVec3::new(r(0), 0.0, r(2)) * 1e-7;
            }
            for _ in 0..1500 {
                s.step();
                if !s.warnings().is_empty() {
                    return f64::INFINITY;
                }
            }
            s.measures().kinetic_energy
        };
        assert!(energy_after(0.9 * longest) < 1e-9, "{solver:?}: unstable below the forecast {longest}");
        assert!(energy_after(1.1 * longest) > 1e-6, "{solver:?}: stable above the forecast {longest}");
    }
}

#[test]
fn a_mesh_of_two_triangles_is_soft_too() {
    let shape = Shape::Mesh(InlineMesh {
        positions: vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]],
        triangles: vec![[0, 2, 1], [0, 3, 2]],
        uvs: Vec::new(),
    });
    let springs = Springs { layout: Layout::Graph(2), ..Springs::default() };
    let body = Body { name: "m".into(), shape, springs, fabric: Some("wool".into()), ..Body::default() };
    let model = ModelBuilder::new(&Scene { bodies: vec![body], ..Scene::default() }).build().unwrap();
    assert_eq!(model.bodies[0].topology.springs.len(), 6);
    let mut s = Simulation::new(model);
    s.step();
    assert!(s.warnings().is_empty());
}
