//! The constant-matrix force filter (ESSI-39; Desbrun, Schröder, Barr 1999).
//!
//! The linear part of the springs, −k (xi − xj), has a constant matrix H that is the same for x, y and z. Forces are
//! filtered by W = (M − h² H − h C)⁻¹ M, C from the damping of the springs, which makes stiff springs stable at large steps, and move the particles explicitly.
//! The seed inverted a dense matrix, too dear for a large cloth; here one sparse Cholesky factor is kept until the step,
//! the supports or the springs change, and each step solves three right-hand sides.
//!
//! Linear momentum is kept by construction. The filter changes the torque; for a body without supports the difference
//! is taken out exactly by an angular velocity, where the seed's printed correction makes stiff cases worse.

use glam::{DMat3, DVec3};

use super::cholesky::BlockCholesky;
use super::{Capabilities, Problem, Solver};
use crate::mesh::Spring;

/// The filter.
#[derive(Debug, Default)]
pub(super) struct ImplicitFilter {
    cholesky: BlockCholesky<1>,
    /// Version, step and supports that the factor belongs to.
    known: Option<(u64, u64)>,
    supported: Vec<bool>,
    f: Vec<DVec3>,
    a: Vec<DVec3>,
    columns: Vec<f64>,
}

impl ImplicitFilter {
    fn is_current(&self, problem: &Problem, h: f64) -> bool {
        self.known == Some((problem.topology.version, h.to_bits()))
            && self.supported.len() == problem.inverse_masses.len()
            && self.supported.iter().zip(problem.inverse_masses).all(|(s, w)| *s == (*w == 0.0))
    }

    fn factor(&mut self, problem: &Problem, h: f64) -> bool {
        let topology = problem.topology;
        let n = topology.len();
        let pairs: Vec<(u32, u32)> = topology.springs.iter().map(|s| (s.i, s.j)).collect();
        let mut diagonal = topology.masses.clone();
        for s in &topology.springs {
            diagonal[s.i as usize] += weight(s, h);
            diagonal[s.j as usize] += weight(s, h);
        }
        self.supported.clear();
        self.supported.extend(problem.inverse_masses.iter().map(|w| *w == 0.0));
        self.cholesky.forget();
        let supported = &self.supported;
        self.cholesky.learn(n, &pairs)
            && self.cholesky.factor(
                diagonal.iter().map(|d| [[*d]]),
                topology.springs.iter().map(|s| (s.i, s.j, [[-weight(s, h)]])),
                |i| supported[i],
            )
    }
}

/// What a spring adds to the constant matrix: its stiffness, as in the seed, and its damping, without which a strongly
/// damped cloth has a longest step.
fn weight(s: &Spring, h: f64) -> f64 {
    h * (h * s.stiffness + s.damping)
}

/// Adds to the accelerations of a free body the rigid rotation that gives the filtered forces the torque of the
/// unfiltered ones: Δa = −ω × r with J ω = Σ r × (m a − f), r from the centre of mass.
fn keep_torque(x: &[DVec3], masses: &[f64], f: &[DVec3], a: &mut [DVec3]) {
    let total: f64 = masses.iter().sum();
    let centre = x.iter().zip(masses).map(|(x, m)| *x * *m).sum::<DVec3>() / total;
    let mut torque = DVec3::ZERO;
    let mut inertia = DMat3::ZERO;
    for i in 0..x.len() {
        let r = x[i] - centre;
        torque += r.cross(a[i] * masses[i] - f[i]);
        inertia +=
            (DMat3::from_diagonal(DVec3::splat(r.length_squared())) - crate::energy::outer(r)) * masses[i];
    }
    // A body on one line has no inertia about it, and no torque either.
    if inertia.determinant().abs()
        <= 1e-12 * inertia.col(0).length() * inertia.col(1).length() * inertia.col(2).length()
    {
        return;
    }
    let omega = inertia.inverse() * torque;
    for i in 0..x.len() {
        a[i] -= omega.cross(x[i] - centre);
    }
}

impl Solver for ImplicitFilter {
    fn capabilities(&self) -> Capabilities {
        // Dissipation and drag stay explicit.
        Capabilities { order: 1, unconditionally_stable: false, symplectic: false }
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let n = x.len();
        if !self.is_current(problem, h) {
            self.known = self.factor(problem, h).then_some((problem.topology.version, h.to_bits()));
        }
        problem.forces(x, v, t, &mut self.f);
        self.columns.clear();
        self.columns.resize(3 * n, if self.known.is_some() { 0.0 } else { f64::NAN });
        if self.known.is_some() {
            for (i, f) in self.f.iter().enumerate() {
                let f = if problem.inverse_masses[i] == 0.0 { DVec3::ZERO } else { *f };
                (self.columns[i], self.columns[n + i], self.columns[2 * n + i]) = (f.x, f.y, f.z);
            }
            self.cholesky.solve(&mut self.columns, 3);
        }
        let columns = &self.columns;
        let acceleration = |i: usize| DVec3::new(columns[i], columns[n + i], columns[2 * n + i]);
        if self.supported.iter().any(|s| *s) {
            for i in 0..n {
                if problem.inverse_masses[i] != 0.0 {
                    v[i] += acceleration(i) * h;
                }
            }
        } else {
            self.a.clear();
            self.a.extend((0..n).map(acceleration));
            keep_torque(x, &problem.topology.masses, &self.f, &mut self.a);
            for i in 0..n {
                v[i] += self.a[i] * h;
            }
        }
        for i in 0..n {
            x[i] += v[i] * h;
        }
    }
}
