//! The law of solvers: amplification of a known oscillator, order of convergence, momentum, and the two implicit solvers
//! against each other. Projective dynamics and vertex block descent against the equation of backward Euler itself.

use glam::DVec3;
use proptest::prelude::*;
use souple::energy::{patch_forces, spring_force};
use souple::math;
use souple::scene::{
    Body, Cg, Descent, Family, Grid, Group, InlineMesh, Layout, Pin, Rayleigh, Rope, RopeMass, Scene, Select,
    Shape, SolverKind, Springs, Time,
};
use souple::solver::ALL_SOLVERS;
use souple::solver::stability::{amplification, longest_step, stiffest_mode};
use souple::{Command, ModelBuilder, Simulation};

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
    let cg = Cg { tolerance: 1e-12, max_iterations: 100, ..Cg::default() };
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
            // The real-time solver cuts a step of moderate z² = k h²/m into at most three, each with z² of a half at most.
            let cuts =
                if solver == SolverKind::Xpbd { (z * z / 0.5).sqrt().ceil().clamp(1.0, 3.0) } else { 1.0 };
            let expected = math::pow(amplification(solver, z / cuts, 0.0, 1.0), cuts);
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
        (SolverKind::ProjectiveDynamics, 1.0),
        (SolverKind::VertexBlockDescent, 1.0),
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
    let group = Group {
        solver,
        cg: Cg { tolerance: 1e-13, max_iterations: 500, ..Cg::default() },
        ..Group::default()
    };
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
    for solver in [
        SolverKind::ImplicitEulerCg,
        SolverKind::ImplicitEulerCholesky,
        SolverKind::ProjectiveDynamics,
        SolverKind::VertexBlockDescent,
        SolverKind::Xpbd,
    ] {
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
        ..InlineMesh::default()
    });
    let springs = Springs { layout: Layout::Graph(2), ..Springs::default() };
    let body = Body { name: "m".into(), shape, springs, fabric: Some("wool".into()), ..Body::default() };
    let model = ModelBuilder::new(&Scene { bodies: vec![body], ..Scene::default() }).build().unwrap();
    assert_eq!(model.bodies[0].topology.springs.len(), 6);
    let mut s = Simulation::new(model);
    s.step();
    assert!(s.warnings().is_empty());
}

/// The solvers that go down the function whose least value is the step of backward Euler.
const DESCENTS: [SolverKind; 2] = [SolverKind::ProjectiveDynamics, SolverKind::VertexBlockDescent];

/// A free sheet without damping, bent about one axis at rest (`curvature`, 1/m), that resists bending too; shaken.
fn shaken_sheet(solver: SolverKind, iterations: u32, fps: f64, curvature: f64) -> Simulation {
    let (nx, nz, cell) = (6u32, 5u32, 0.1);
    let positions = (0..nz).flat_map(|z| (0..nx).map(move |x| (f64::from(x) * cell, f64::from(z) * cell)));
    let arc = |s: f64| if curvature == 0.0 { (s, 0.0) } else { bend(s, curvature) };
    let positions = positions.map(|(s, z)| [arc(s).0, arc(s).1, z]).collect();
    let cells = (0..nz - 1).flat_map(|z| (0..nx - 1).map(move |x| z * nx + x));
    let triangles = cells.flat_map(|v| [[v, v + nx, v + 1], [v + 1, v + nx, v + nx + 1]]).collect();
    let body = Body {
        name: "sheet".into(),
        shape: Shape::Mesh(InlineMesh { positions, triangles, ..InlineMesh::default() }),
        density: Some(0.3),
        bending: Some(1e-3),
        springs: Springs {
            layout: Layout::Graph(1),
            stretch: Family { stiffness: Some(200.0), ..Family::default() },
            ..Springs::default()
        },
        ..Body::default()
    };
    let scene = Scene {
        gravity: [0.0; 3],
        time: Time { fps, frames: 1 },
        groups: vec![Group { solver, descent: Descent { iterations }, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    };
    let mut s = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
    let body = &mut s.state_mut().bodies[0];
    for (i, (x, v)) in body.x.iter_mut().zip(&mut body.v).enumerate() {
        let r = |k: u64| 2.0 * math::uniform(5, 6 * i as u64 + k) - 1.0;
        *x += DVec3::new(r(0), r(1), r(2)) * 0.01;
        *v = DVec3::new(0.5, -1.0, 2.0).cross(*x) + DVec3::new(r(3), r(4), r(5)) * 0.2;
    }
    s
}

/// A point of a circle at arc length `s`.
fn bend(s: f64, curvature: f64) -> (f64, f64) {
    (math::sin(s * curvature) / curvature, (1.0 - math::cos(s * curvature)) / curvature)
}

/// Largest |m (v′ − v)/h − f(x′)| after one step, as a share of the largest force.
fn residual_of_backward_euler(mut s: Simulation) -> f64 {
    let before = s.state().bodies[0].v.clone();
    let h = 1.0 / s.model().fps;
    s.step();
    let body = &s.state().bodies[0];
    let topology = &body.topology;
    let mut forces = vec![DVec3::ZERO; topology.len()];
    for spring in &topology.springs {
        let (i, j) = (spring.i as usize, spring.j as usize);
        let force = spring_force(body.x[i], body.x[j], DVec3::ZERO, DVec3::ZERO, spring);
        forces[i] += force;
        forces[j] -= force;
    }
    assert!(!topology.patches.is_empty());
    for patch in &topology.patches {
        for (&v, force) in patch.vertices.iter().zip(patch_forces(&body.x, patch)) {
            forces[v as usize] += force;
        }
    }
    let residual = |i: usize| ((body.v[i] - before[i]) * (topology.masses[i] / h) - forces[i]).length();
    let largest = (0..forces.len()).map(residual).fold(0.0, f64::max);
    largest / forces.iter().map(|f| f.length()).fold(0.0, f64::max)
}

#[test]
fn descents_solve_the_equation_of_backward_euler_with_enough_iterations() {
    for solver in DESCENTS {
        for curvature in [0.0, 3.0] {
            for fps in [300.0, 60.0] {
                let residual =
                    |iterations| residual_of_backward_euler(shaken_sheet(solver, iterations, fps, curvature));
                let residuals = [1, 4, 16, 64, 4000].map(residual);
                assert!(
                    residuals[3] < 0.3 * residuals[0] && residuals[4] < 1e-9,
                    "{solver:?} at {fps} Hz, curvature {curvature}/m: {residuals:?}"
                );
            }
        }
    }
}

#[test]
fn descents_move_like_the_other_implicit_solvers_at_short_steps() {
    // The others solve one linearised equation per step, without the negative stiffness of compressed springs: they differ
    // from the exact step by first order. Short enough that backward Euler's damping of the fastest mode, ω² h t/2 with ω of
    // about 700/s, is below a tenth at both steps: it would hide the slope.
    let run = |solver, fps: f64| {
        let mut s = shaken_sheet(solver, 20, fps, 0.0);
        for _ in 0..(0.005 * fps) as u32 {
            s.step();
        }
        s.state().bodies[0].x.clone()
    };
    for solver in DESCENTS {
        let difference = |fps: f64| {
            let (a, b) = (run(solver, fps), run(SolverKind::ImplicitEulerCholesky, fps));
            a.iter().zip(&b).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max)
        };
        let (coarse, fine) = (difference(32_000.0), difference(64_000.0));
        assert!(math::log2(coarse / fine) > 0.85, "{solver:?}: {coarse} m, then {fine} m");
    }
}

#[test]
fn descents_fall_and_dissipate_as_backward_euler_does() {
    // A sheet that falls flat: springs do nothing, so one step after the other is v′ = (v + h g)/(1 + h α).
    for solver in DESCENTS {
        let body = Body {
            name: "cloth".into(),
            shape: Shape::Grid(Grid { vertices: [5, 5], ..Grid::default() }),
            density: Some(0.2),
            springs: Springs {
                stretch: Family { stiffness: Some(200.0), ..Family::default() },
                ..Springs::default()
            },
            rayleigh: Some(Rayleigh { mass: 2.0, stiffness: None }),
            ..Body::default()
        };
        let groups = vec![Group { solver, ..Group::default() }];
        let scene = Scene { groups, bodies: vec![body], ..Scene::default() };
        let mut s = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        let (h, mut expected) = (1.0 / s.model().fps, 0.0);
        for _ in 0..60 {
            s.step();
            expected = (expected + h * s.model().gravity.y) / (1.0 + h * 2.0);
        }
        let v = &s.state().bodies[0].v;
        assert!(v.iter().all(|v| (*v - DVec3::Y * expected).length() < 1e-11), "{solver:?}: {v:?}");
    }
}

#[test]
fn descents_feel_damping_dissipation_and_hands_as_backward_euler_does() {
    // On a line everything is linear, so the linearised step is the exact one.
    let run = |solver| {
        let body = Body {
            name: "bead".into(),
            shape: Shape::Rope(Rope { vertices: 2, mass_at: RopeMass::Beads, ..Rope::default() }),
            mass: Some(1.0),
            rayleigh: Some(Rayleigh { mass: 0.7, stiffness: None }),
            springs: Springs {
                stretch: Family { stiffness: Some(60.0), damping: Some(2.0), modulus: None },
                ..Springs::default()
            },
            pins: vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }],
            ..Body::default()
        };
        let groups = vec![Group { solver, ..Group::default() }];
        let scene = Scene { groups, bodies: vec![body], ..Scene::default() };
        let mut s = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        let [top, bottom] = [0, 1].map(|i| s.state().bodies[0].x[i]);
        let target = (bottom + (bottom - top) * 0.3).to_array();
        s.command(Command::Grab { body: "bead".into(), vertex: 1, target, stiffness: 40.0 }).unwrap();
        assert_eq!((bottom - top).normalize().abs(), DVec3::Y, "the rope must hang along its weight");
        (0..60)
            .map(|_| {
                s.step();
                (s.state().bodies[0].x[1], s.state().bodies[0].v[1])
            })
            .collect::<Vec<_>>()
    };
    let expected = run(SolverKind::ImplicitEulerCholesky);
    assert!(expected.iter().any(|(x, _)| x.distance(expected[0].0) > 0.1));
    for solver in DESCENTS {
        for ((x, v), (ex, ev)) in run(solver).iter().zip(&expected) {
            assert!((*x - *ex).length() < 1e-12 && (*v - *ev).length() < 1e-10, "{solver:?}: {x} {ex}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Few iterations, any step, any stiffness, from particles thrown anywhere: no step of vertex block descent gains
    /// energy, and projective dynamics never has more than at the start.
    #[test]
    fn descents_are_stable_from_any_start(
        seed in 0u64..1000,
        vertex_block in any::<bool>(),
        iterations in 1u32..5,
        log_fps in 0.0..4.0f64,
        log_stiffness in 0.0..7.0f64,
        damping in prop_oneof![Just(0.0), 1e-4..1.0f64],
        pinned in any::<bool>(),
        bending in prop_oneof![Just(None), Just(Some(1e-4))],
    ) {
        let stiffness = Some(math::exp(log_stiffness * std::f64::consts::LN_10));
        let family = Family { stiffness, damping: Some(damping), modulus: None };
        let pin = Pin { select: Select::Vertices(vec![0, 4]), ..Pin::default() };
        let body = Body {
            name: "cloth".into(),
            shape: Shape::Grid(Grid { vertices: [5, 5], size: [0.4, 0.4], ..Grid::default() }),
            density: Some(0.2),
            bending,
            springs: Springs { layout: Layout::Graph(1), stretch: family, ..Springs::default() },
            pins: if pinned { vec![pin] } else { Vec::new() },
            ..Body::default()
        };
        let solver = DESCENTS[usize::from(vertex_block)];
        let mut scene = Scene {
            gravity: [0.0; 3],
            time: Time { fps: math::exp(log_fps * std::f64::consts::LN_10), frames: 1 },
            groups: vec![Group { solver, descent: Descent { iterations }, ..Group::default() }],
            bodies: vec![body],
            ..Scene::default()
        };
        scene.health.max_speed = 1e12;
        let mut s = Simulation::new(ModelBuilder::new(&scene).build().unwrap());
        let held: Vec<u32> = s.state().bodies[0].pinned.iter().map(|p| p.vertex).collect();
        for (i, x) in s.state_mut().bodies[0].x.iter_mut().enumerate() {
            let r = |k: u64| math::uniform(seed, 3 * i as u64 + k) - 0.5;
            if !held.contains(&(i as u32)) {
                *x = DVec3::new(r(0), r(1), r(2));
            }
        }
        let start = s.measures().total_energy();
        let mut before = start;
        for step in 0..60 {
            s.step();
            let after = s.measures().total_energy();
            prop_assert!(s.warnings().is_empty(), "{:?}", s.warnings());
            // Rounding of sums of a hundred terms, and of lengths that are left when all energy is gone.
            prop_assert!(after <= before * (1.0 + 1e-12) + 1e-15 * start, "step {step}: {before} J to {after} J");
            if vertex_block {
                before = after;
            }
        }
    }
}
