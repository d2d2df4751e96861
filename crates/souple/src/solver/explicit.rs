//! Explicit integrators: Euler (ESSI-30), symplectic Euler (ESSI-31, GRI-06), modified Euler, mid-point (ESSI-32),
//! Runge–Kutta 4 (ESSI-33), Verlet.
//!
//! The seed writes the last ones for forces that depend on the velocity only; here they act on the whole state (x, v).

use glam::DVec3;

use super::{Capabilities, Problem, Solver};

/// A Runge–Kutta method in which each stage starts from the one before: stage s is evaluated at y + a_s h k_{s−1}.
#[derive(Debug)]
pub(super) struct Tableau {
    order: u32,
    /// How far into the step each stage goes (its time, and the factor of the previous slope).
    a: &'static [f64],
    /// Weights of the slopes.
    b: &'static [f64],
}

pub(super) static EULER: Tableau = Tableau { order: 1, a: &[0.0], b: &[1.0] };
/// Heun's explicit trapezoid, known as modified Euler.
pub(super) static HEUN: Tableau = Tableau { order: 2, a: &[0.0, 1.0], b: &[0.5, 0.5] };
pub(super) static MIDPOINT: Tableau = Tableau { order: 2, a: &[0.0, 0.5], b: &[0.0, 1.0] };
pub(super) static RK4: Tableau =
    Tableau { order: 4, a: &[0.0, 0.5, 0.5, 1.0], b: &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0] };

/// Explicit Runge–Kutta.
#[derive(Debug)]
pub(super) struct RungeKutta {
    tableau: &'static Tableau,
    stage_x: Vec<DVec3>,
    stage_v: Vec<DVec3>,
    a: Vec<DVec3>,
    sum_x: Vec<DVec3>,
    sum_v: Vec<DVec3>,
}

impl RungeKutta {
    pub(super) fn new(tableau: &'static Tableau) -> Self {
        RungeKutta {
            tableau,
            stage_x: Vec::new(),
            stage_v: Vec::new(),
            a: Vec::new(),
            sum_x: Vec::new(),
            sum_v: Vec::new(),
        }
    }
}

impl Solver for RungeKutta {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: self.tableau.order, unconditionally_stable: false, symplectic: false }
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let n = x.len();
        for sum in [&mut self.sum_x, &mut self.sum_v] {
            sum.clear();
            sum.resize(n, DVec3::ZERO);
        }
        self.stage_x.clear();
        self.stage_x.extend_from_slice(x);
        self.stage_v.clear();
        self.stage_v.extend_from_slice(v);
        for (s, (&a, &b)) in self.tableau.a.iter().zip(self.tableau.b).enumerate() {
            if s > 0 {
                // The slope of the stage before is (stage_v, a).
                for i in 0..n {
                    self.stage_x[i] = x[i] + self.stage_v[i] * (a * h);
                    self.stage_v[i] = v[i] + self.a[i] * (a * h);
                }
            }
            problem.accelerations(&self.stage_x, &self.stage_v, t + a * h, &mut self.a);
            for i in 0..n {
                self.sum_x[i] += self.stage_v[i] * b;
                self.sum_v[i] += self.a[i] * b;
            }
        }
        for i in 0..n {
            x[i] += self.sum_x[i] * h;
            v[i] += self.sum_v[i] * h;
        }
    }
}

/// v' = v + h a(x, v); x' = x + h v'.
#[derive(Debug, Default)]
pub(super) struct SymplecticEuler {
    a: Vec<DVec3>,
}

impl Solver for SymplecticEuler {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 1, unconditionally_stable: false, symplectic: true }
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        problem.accelerations(x, v, t, &mut self.a);
        for i in 0..x.len() {
            v[i] += self.a[i] * h;
            x[i] += v[i] * h;
        }
    }
}

/// Velocity Verlet: half a kick, a drift, half a kick.
#[derive(Debug, Default)]
pub(super) struct Verlet {
    a: Vec<DVec3>,
}

impl Solver for Verlet {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 2, unconditionally_stable: false, symplectic: true }
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        problem.accelerations(x, v, t, &mut self.a);
        for i in 0..x.len() {
            v[i] += self.a[i] * (0.5 * h);
            x[i] += v[i] * h;
        }
        problem.accelerations(x, v, t + h, &mut self.a);
        for i in 0..x.len() {
            v[i] += self.a[i] * (0.5 * h);
        }
    }
}
