//! How long a step may be: the forecast of `souple check`.
//!
//! The stiffest mode of a body at rest, of its springs or of the elements of a solid, is found by power iteration and bounded by Gershgorin's theorem,
//! ω² ≤ 2 max_i Σ_j k_ij / m_i. For a mode with damping ratio ζ, each integrator's step is a 2×2 matrix; the longest step
//! is the one whose spectral radius lets amplitudes grow by no more than a tenth in a second.

use crate::energy::{Configuration, Energy, Part};
use crate::math::{self, uniform};
use crate::mesh::Topology;
use crate::scene::SolverKind;
use glam::{DMat3, DVec3};

/// The stiffest mode of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StiffestMode {
    /// Angular frequency, rad/s, by power iteration: from below.
    pub omega: f64,
    /// Gershgorin's bound on it, rad/s: from above.
    pub omega_bound: f64,
    /// Damping ratio of that mode.
    pub damping_ratio: f64,
}

/// Growth of amplitudes that counts as stable, 1/s.
const TOLERATED_GROWTH: f64 = 0.1;

/// The stiffest mode of a body in its rest shape. `alpha` is Rayleigh's mass damping, 1/s; supported particles have
/// inverse mass 0.
pub fn stiffest_mode(topology: &Topology, inverse_masses: &[f64], alpha: f64) -> StiffestMode {
    let n = topology.len();
    let mut row_sums = vec![0.0; n];
    for s in &topology.springs {
        row_sums[s.i as usize] += s.stiffness;
        row_sums[s.j as usize] += s.stiffness;
    }
    let bound = row_sums.iter().zip(inverse_masses).fold(0.0f64, |b, (k, w)| b.max(2.0 * k * w));

    let directions: Vec<DVec3> = topology
        .springs
        .iter()
        .map(|s| {
            (topology.rest_positions[s.j as usize] - topology.rest_positions[s.i as usize])
                .normalize_or_zero()
        })
        .collect();
    let apply = |d: &[DVec3], coefficient: &dyn Fn(usize) -> f64| {
        let mut out = vec![DVec3::ZERO; n];
        for (s, spring) in topology.springs.iter().enumerate() {
            let (i, j) = (spring.i as usize, spring.j as usize);
            let f = directions[s] * (coefficient(s) * directions[s].dot(d[i] - d[j]));
            out[i] += f;
            out[j] -= f;
        }
        out
    };
    let stiff = |d: &[DVec3]| apply(d, &|s| topology.springs[s].stiffness);
    let damped = |d: &[DVec3]| apply(d, &|s| topology.springs[s].damping);
    by_powers(&topology.masses, inverse_masses, alpha, bound, stiff, damped)
}

/// The stiffest mode of an energy, such as the elements of a solid, at `q`; as [`stiffest_mode`].
pub fn stiffest_mode_of(
    energy: &dyn Energy,
    q: &Configuration,
    inverse_masses: &[f64],
    alpha: f64,
) -> StiffestMode {
    let n = q.x.len();
    let (mut stiffness, mut damping) = (Vec::new(), Vec::new());
    energy.linearise(q, 1.0, 0.0, &mut stiffness);
    energy.linearise(q, 0.0, 1.0, &mut damping);
    let apply = |elements: &[f64], d: &[DVec3]| {
        let (mut d, mut out) = (d.to_vec(), vec![DVec3::ZERO; n]);
        q.topology.mapping.apply_j(&mut d);
        energy.add_product(q, elements, Part::StiffnessAndDamping, &d, &mut out);
        q.topology.mapping.apply_jt(&mut out);
        out
    };
    // Gershgorin's theorem for blocks: Σ_j ‖K_ij‖ / m_i.
    let size = |m: DMat3| (m * m.transpose()).to_cols_array().iter().step_by(4).sum::<f64>().sqrt();
    let (mut diagonal, mut pairs) = (vec![DMat3::ZERO; n], Vec::new());
    energy.add_diagonal(q, &stiffness, &mut diagonal);
    energy.add_pairs(q, &stiffness, &mut pairs);
    q.topology.mapping.condense(&mut diagonal, &mut pairs);
    let mut row_sums: Vec<f64> = diagonal.into_iter().map(size).collect();
    for pair in &pairs {
        row_sums[pair.i as usize] += size(pair.block);
        row_sums[pair.j as usize] += size(pair.block);
    }
    let bound = row_sums.iter().zip(inverse_masses).fold(0.0f64, |b, (k, w)| b.max(k * w));
    by_powers(
        &q.topology.masses,
        inverse_masses,
        alpha,
        bound,
        |d: &[DVec3]| apply(&stiffness, d),
        |d: &[DVec3]| apply(&damping, d),
    )
}

/// The stiffest mode of products with stiffness and damping, by powers of M⁻¹ K.
fn by_powers(
    masses: &[f64],
    inverse_masses: &[f64],
    alpha: f64,
    bound: f64,
    stiff: impl Fn(&[DVec3]) -> Vec<DVec3>,
    damped: impl Fn(&[DVec3]) -> Vec<DVec3>,
) -> StiffestMode {
    let n = masses.len();
    let free = |d: &mut [DVec3]| {
        d.iter_mut().zip(inverse_masses).for_each(|(d, w)| *d *= f64::from(u8::from(*w > 0.0)))
    };
    let dot = |a: &[DVec3], b: &[DVec3]| a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum::<f64>();
    let random = |i: usize, k: u64| uniform(7, 3 * i as u64 + k) - 0.5;
    let mut mode: Vec<DVec3> = (0..n).map(|i| DVec3::new(random(i, 0), random(i, 1), random(i, 2))).collect();
    free(&mut mode);
    let (mut omega2, mut damping) = (0.0, 0.0);
    for _ in 0..200 {
        // Rayleigh quotient dᵀKd / dᵀMd; next d = M⁻¹ K d.
        let image = stiff(&mode);
        let kinetic: f64 = mode.iter().zip(masses).map(|(d, m)| m * d.length_squared()).sum();
        if kinetic <= 0.0 {
            break;
        }
        omega2 = dot(&mode, &image) / kinetic;
        damping = dot(&mode, &damped(&mode)) / kinetic;
        mode = image.iter().zip(inverse_masses).map(|(f, w)| *f * *w).collect();
        let scale = dot(&mode, &mode).sqrt();
        if scale <= 0.0 {
            break;
        }
        mode.iter_mut().for_each(|d| *d /= scale);
    }
    let omega = omega2.max(0.0).sqrt();
    let damping_ratio = if omega > 0.0 { (damping + alpha) / (2.0 * omega) } else { 0.0 };
    StiffestMode { omega, omega_bound: bound.sqrt(), damping_ratio }
}

type Matrix2 = [[f64; 2]; 2];

fn mul(a: Matrix2, b: Matrix2) -> Matrix2 {
    let e = |r: usize, c: usize| a[r][0] * b[0][c] + a[r][1] * b[1][c];
    [[e(0, 0), e(0, 1)], [e(1, 0), e(1, 1)]]
}

fn spectral_radius(m: Matrix2) -> f64 {
    let (half_trace, det) = (0.5 * (m[0][0] + m[1][1]), m[0][0] * m[1][1] - m[0][1] * m[1][0]);
    let discriminant = half_trace * half_trace - det;
    if discriminant < 0.0 { det.max(0.0).sqrt() } else { half_trace.abs() + discriminant.sqrt() }
}

/// Amplification per step of an oscillator x″ = −ω² x − 2ζω x′: the spectral radius of the step's matrix on (x, v).
pub fn amplification(solver: SolverKind, omega: f64, damping_ratio: f64, h: f64) -> f64 {
    let (k, c) = (omega * omega, 2.0 * damping_ratio * omega);
    // y' = B y; Runge–Kutta methods are polynomials of hB.
    let hb = [[0.0, h], [-k * h, -c * h]];
    let series = |coefficients: &[f64]| {
        let (mut power, mut sum) = ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]);
        for &f in coefficients {
            power = mul(power, hb);
            for r in 0..2 {
                for q in 0..2 {
                    sum[r][q] += f * power[r][q];
                }
            }
        }
        sum
    };
    let kick = |h: f64| [[1.0, 0.0], [-k * h, 1.0 - c * h]];
    let drift = [[1.0, h], [0.0, 1.0]];
    spectral_radius(match solver {
        SolverKind::ExplicitEuler => series(&[1.0]),
        SolverKind::ModifiedEuler | SolverKind::Midpoint => series(&[1.0, 0.5]),
        SolverKind::Rk4 => series(&[1.0, 0.5, 1.0 / 6.0, 1.0 / 24.0]),
        SolverKind::SymplecticEuler => mul(drift, kick(h)),
        SolverKind::Verlet => mul(kick(0.5 * h), mul(drift, kick(0.5 * h))),
        SolverKind::ImplicitEulerCg
        | SolverKind::ImplicitEulerCholesky
        | SolverKind::ProjectiveDynamics
        | SolverKind::VertexBlockDescent
        | SolverKind::Goals
        | SolverKind::Xpbd => {
            // (I − hB)⁻¹
            let det = 1.0 + c * h + k * h * h;
            [[(1.0 + c * h) / det, h / det], [-k * h / det, 1.0 / det]]
        }
        // Nothing moves in time.
        SolverKind::QuasiStatic => [[0.0; 2]; 2],
        SolverKind::ImplicitFilter => {
            // v' = v + h a with a filtered by 1 / (1 + h² k + h c); x' = x + h v'.
            let w = 1.0 / (1.0 + h * h * k + h * c);
            mul(drift, [[1.0, 0.0], [-k * h * w, 1.0 - c * h * w]])
        }
    })
}

/// Longest step, s, that lets no mode grow noticeably; infinite for solvers that are always stable.
pub fn longest_step(solver: SolverKind, mode: &StiffestMode) -> f64 {
    let omega = mode.omega.min(mode.omega_bound);
    if omega == 0.0 {
        return f64::INFINITY;
    }
    let stable = |h: f64| amplification(solver, omega, mode.damping_ratio, h) <= 1.0 + TOLERATED_GROWTH * h;
    // The first step on the way up that is unstable: a method may be stable again beyond it.
    let from = 1e-4 / (omega * (1.0 + mode.damping_ratio));
    let steps = (0..800).map(|k| from * math::exp2(f64::from(k) / 32.0));
    let Some(mut high) = steps.into_iter().find(|&h| !stable(h)) else { return f64::INFINITY };
    let mut low = if high > from { high / math::exp2(1.0 / 32.0) } else { 0.0 };
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if stable(middle) { low = middle } else { high = middle }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amplification_is_that_of_the_textbook() {
        // VALIDATION: oscillator, amplification per step at z = ωh.
        let table = [
            (0.5, 1.11803, 0.89443, 1.007782, 0.999895),
            (1.0, std::f64::consts::SQRT_2, std::f64::consts::FRAC_1_SQRT_2, 1.118034, 0.993905),
            (2.0, 2.23607, 0.44721, 2.236068, 0.745356),
        ];
        for (z, euler, implicit, rk2, rk4) in table {
            let a = |solver| amplification(solver, z, 0.0, 1.0);
            assert!((a(SolverKind::ExplicitEuler) - euler).abs() < 5e-6);
            assert!((a(SolverKind::ImplicitEulerCg) - implicit).abs() < 5e-6);
            assert!((a(SolverKind::Midpoint) - rk2).abs() < 5e-7);
            assert!((a(SolverKind::ModifiedEuler) - rk2).abs() < 5e-7);
            assert!((a(SolverKind::Rk4) - rk4).abs() < 5e-7);
        }
        assert!((amplification(SolverKind::SymplecticEuler, 1.999, 0.0, 1.0) - 1.0).abs() < 1e-9);
        assert!(amplification(SolverKind::Verlet, 2.01, 0.0, 1.0) > 1.1);
    }

    #[test]
    fn longest_steps_are_those_of_the_seed() {
        // Damped oscillator: Euler is stable for hω < 2ζ, symplectic Euler for hω < 2(√(1+ζ²) − ζ).
        for z in [0.09, 0.2] {
            let mode = StiffestMode { omega: 1000.0, omega_bound: 1000.0, damping_ratio: z };
            let euler = longest_step(SolverKind::ExplicitEuler, &mode);
            let symplectic = longest_step(SolverKind::SymplecticEuler, &mode);
            // The growth that is tolerated adds 0.2/ω to hω.
            let tolerance = 2.1 * TOLERATED_GROWTH / 1000.0;
            assert!((euler * 1000.0 - 2.0 * z).abs() < tolerance, "{euler}");
            assert!(
                (symplectic * 1000.0 - 2.0 * ((1.0 + z * z).sqrt() - z)).abs() < tolerance,
                "{symplectic}"
            );
        }
        let mode = StiffestMode { omega: 10.0, omega_bound: 10.0, damping_ratio: 0.0 };
        assert_eq!(longest_step(SolverKind::ImplicitEulerCg, &mode), f64::INFINITY);
    }
}
