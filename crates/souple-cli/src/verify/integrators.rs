//! Integrators on one oscillator: amplification, boundedness, order, and the period of a pendulum.

use souple::scene::{
    Body, Cg, Family, Group, Pin, Rope, RopeMass, Scene, Select, Shape, SolverKind, Springs, Time,
};
use souple::solver::solver_name;
use souple::{ModelBuilder, Simulation};

use super::Case;

/// A mass of 1 kg on a spring of stiffness ω² along x, rest length 1 m, supported at the origin, no gravity.
fn oscillator(solver: SolverKind, omega: f64, h: f64) -> Simulation {
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
            stretch: Family { stiffness: Some(omega * omega), ..Family::default() },
            ..Springs::default()
        },
        pins: vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }],
        ..Body::default()
    };
    simulate(Scene {
        gravity: [0.0; 3],
        time: Time { fps: 1.0 / h, frames: 1 },
        groups: vec![Group { solver, cg: exact(), ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    })
}

/// Conjugate gradient run to rounding, so that it does not limit what is verified.
pub(super) fn exact() -> Cg {
    Cg { tolerance: 1e-13, max_iterations: 10_000, ..Cg::default() }
}

/// A running simulation of a scene that is known to be right.
pub(super) fn simulate(scene: Scene) -> Simulation {
    match ModelBuilder::new(&scene).build() {
        Ok(model) => Simulation::new(model),
        // A case with a wrong scene is a mistake in this file; it must not pass, nor hide the others.
        Err(error) => unreachable!("the scene of a verification case is wrong: {error}"),
    }
}

fn set(s: &mut Simulation, x: f64, v: f64) {
    let body = &mut s.state_mut().bodies[0];
    body.x[1].x = 1.0 + x;
    body.v[1].x = v;
}

fn get(s: &Simulation) -> (f64, f64) {
    let body = &s.state().bodies[0];
    (body.x[1].x - 1.0, body.v[1].x)
}

/// Spectral radius of the 2×2 matrix that one step applies to (x, v), measured column by column.
fn measured_amplification(solver: SolverKind, z: f64) -> f64 {
    let column = |x: f64, v: f64| {
        let mut s = oscillator(solver, z, 1.0);
        set(&mut s, x, v);
        s.step();
        get(&s)
    };
    let size = 1e-3;
    let ((a, c), (b, d)) = (column(size, 0.0), column(0.0, size));
    let (half_trace, det) = (0.5 * (a + d) / size, (a * d - b * c) / (size * size));
    let discriminant = half_trace * half_trace - det;
    if discriminant < 0.0 { det.sqrt() } else { half_trace.abs() + discriminant.sqrt() }
}

/// Amplification per step at z = ωh: |1 + iz|, 1/|1 − iz|, and the Taylor polynomials of e^{iz}.
pub(super) fn amplification() -> Vec<Case> {
    let mut cases = Vec::new();
    for z in [0.5, 1.0, 2.0f64] {
        // |p(iz)| for p = Σ (iz)^n/n! up to order 2 and 4.
        let rk2 = (1.0 - z * z / 2.0).hypot(z);
        let rk4 = (1.0 - z.powi(2) / 2.0 + z.powi(4) / 24.0).hypot(z - z.powi(3) / 6.0);
        let implicit = 1.0 / 1f64.hypot(z);
        for (solver, formula, expected) in [
            (SolverKind::ExplicitEuler, "|1 + iz|", 1f64.hypot(z)),
            (SolverKind::ModifiedEuler, "|1 + iz − z²/2|", rk2),
            (SolverKind::Midpoint, "|1 + iz − z²/2|", rk2),
            (SolverKind::Rk4, "|1 + iz − z²/2 − iz³/6 + z⁴/24|", rk4),
            (SolverKind::ImplicitEulerCg, "1/|1 − iz|", implicit),
            (SolverKind::ImplicitEulerCholesky, "1/|1 − iz|", implicit),
            (SolverKind::ProjectiveDynamics, "1/|1 − iz|", implicit),
            (SolverKind::VertexBlockDescent, "1/|1 − iz|", implicit),
        ] {
            let name = format!("integrators/amplification/{}/z={z}", solver_name(solver));
            // The spring is linear: only the rounding of positions near 1 m over a displacement of 1 mm is left.
            cases.push(Case::new(name, formula, expected, measured_amplification(solver, z), 1e-12));
        }
    }
    cases
}

/// Symplectic Euler and Verlet: radius 1 for z < 2, growth beyond.
pub(super) fn bounded() -> Vec<Case> {
    let mut cases = Vec::new();
    for solver in [SolverKind::SymplecticEuler, SolverKind::Verlet] {
        for z in [0.5, 1.0, 1.9] {
            let name = format!("integrators/bounded/{}/z={z}", solver_name(solver));
            cases.push(Case::new(name, "1 for z < 2", 1.0, measured_amplification(solver, z), 1e-11));
        }
        // λ² − (2 − z²) λ + 1 = 0 at z = 2.1: the larger root.
        let b = 1.0 - 2.1 * 2.1 / 2.0;
        let expected = f64::abs(b) + (b * b - 1.0f64).sqrt();
        let name = format!("integrators/bounded/{}/z=2.1", solver_name(solver));
        cases.push(Case::new(
            name,
            "λ² − (2 − z²)λ + 1 = 0",
            expected,
            measured_amplification(solver, 2.1),
            1e-11,
        ));
    }
    cases
}

/// Slope of the error at t = 1 s when the step is halved; theory: the order.
pub(super) fn convergence() -> Vec<Case> {
    // At ω t = 5 the error of symplectic methods does not vanish by symmetry, as it would after whole periods.
    let omega = 5.0f64;
    let error = |solver: SolverKind, steps: u32| {
        let mut s = oscillator(solver, omega, 1.0 / f64::from(steps));
        set(&mut s, 0.01, 0.0);
        for _ in 0..steps {
            s.step();
        }
        let (x, v) = get(&s);
        (omega * (x - 0.01 * omega.cos())).hypot(v + 0.01 * omega * omega.sin())
    };
    // Steps such that the error is well above rounding and well below the motion.
    [
        (SolverKind::ExplicitEuler, 1.0, 8000),
        (SolverKind::SymplecticEuler, 1.0, 8000),
        (SolverKind::ImplicitEulerCg, 1.0, 8000),
        (SolverKind::ImplicitEulerCholesky, 1.0, 8000),
        (SolverKind::ImplicitFilter, 1.0, 8000),
        (SolverKind::ProjectiveDynamics, 1.0, 8000),
        (SolverKind::VertexBlockDescent, 1.0, 8000),
        (SolverKind::ModifiedEuler, 2.0, 2000),
        (SolverKind::Midpoint, 2.0, 2000),
        (SolverKind::Verlet, 2.0, 2000),
        (SolverKind::Rk4, 4.0, 400),
    ]
    .into_iter()
    .map(|(solver, order, steps)| {
        // The next term of the error is about ω h · ω t times the first, here at h = 1/steps and t = 1 s.
        let slope = (error(solver, steps / 2) / error(solver, steps)).log2();
        let name = format!("integrators/convergence/{}", solver_name(solver));
        Case::new(name, "order of the method", order, slope, 2.0 * omega * omega / f64::from(steps))
    })
    .collect()
}

/// Small swings of a mass on a stiff thread: period 2π √(L/g) (1 + θ²/16).
pub(super) fn pendulum() -> Vec<Case> {
    let (length, g, angle, h) = (1.0, 9.81f64, 0.1f64, 1.0 / 2000.0);
    let body = Body {
        name: "pendulum".into(),
        shape: Shape::Rope(Rope {
            length,
            vertices: 2,
            direction: [angle.sin(), -angle.cos(), 0.0],
            mass_at: RopeMass::Beads,
        }),
        mass: Some(1.0),
        springs: Springs {
            stretch: Family { stiffness: Some(1e5), ..Family::default() },
            ..Springs::default()
        },
        pins: vec![Pin { select: Select::Vertices(vec![0]), ..Pin::default() }],
        ..Body::default()
    };
    let mut s = simulate(Scene {
        gravity: [0.0, -g, 0.0],
        time: Time { fps: 1.0 / h, frames: 1 },
        groups: vec![Group { solver: SolverKind::Rk4, ..Group::default() }],
        bodies: vec![body],
        ..Scene::default()
    });
    // Time of the third downward crossing of the vertical less the first: one period, by linear interpolation.
    let mut crossings = Vec::new();
    let mut before = s.state().bodies[0].x[1].x;
    while crossings.len() < 3 {
        s.step();
        let now = s.state().bodies[0].x[1].x;
        if before.signum() != now.signum() {
            crossings.push(s.state().time - h * now / (now - before));
        }
        before = now;
    }
    let expected = std::f64::consts::TAU * f64::sqrt(length / g) * (1.0 + angle * angle / 16.0);
    // The thread is stretched by m g/k = 1e-4 of its length, which lengthens the period by half of that.
    vec![Case::relative(
        "integrators/pendulum",
        "2π √(L/g) (1 + θ²/16)",
        expected,
        crossings[2] - crossings[0],
        2.0 * g / 1e5,
    )]
}
