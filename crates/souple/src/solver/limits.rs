//! Stretch limits (ESSI-34…37), applied after integration and before contact.
//!
//! - position (ESSI-35, Provot 1995): springs beyond their limits are set to the limit, both ends by inverse mass, a
//!   supported end not at all; iterated, since mending one spring stretches its neighbours. Velocities follow.
//! - velocity (ESSI-36, the method the seed kept): the ends of a spring beyond its limits may not go on separating (or
//!   approaching). The seed judged the velocity of each end by itself, which brakes a stretched cloth in free fall; here
//!   the relative axial velocity is cancelled, which keeps the momentum.
//!
//! Families without a limit are left alone (ESSI-37).

use glam::DVec3;

use crate::mesh::{Spring, Topology};
use crate::model::LimitModel;
use crate::scene::LimitMethod;

/// Applies the limits to the end of a substep of length `h`.
pub fn apply(
    limits: &LimitModel,
    topology: &Topology,
    inverse_masses: &[f64],
    h: f64,
    x: &mut [DVec3],
    v: &mut [DVec3],
) {
    match limits.method {
        LimitMethod::None => {}
        LimitMethod::Position => {
            each_spring(limits, topology, |s, range| correct_position(s, range, inverse_masses, h, x, v))
        }
        LimitMethod::Velocity => {
            each_spring(limits, topology, |s, range| correct_velocity(s, range, inverse_masses, x, v))
        }
    }
}

/// Visits limited springs until nothing changes any more, or as often as the scene says.
fn each_spring(
    limits: &LimitModel,
    topology: &Topology,
    mut correct: impl FnMut(&Spring, (f64, f64)) -> bool,
) {
    for _ in 0..limits.iterations {
        let mut changed = false;
        for spring in topology.springs.iter().filter(|s| limits.limits_family(s.family)) {
            changed |= correct(spring, limits.lengths(spring));
        }
        if !changed {
            break;
        }
    }
}

/// Direction from i to j, length, and inverse masses of the ends; none if the spring cannot be corrected.
fn ends(
    spring: &Spring,
    inverse_masses: &[f64],
    x: &[DVec3],
) -> Option<(usize, usize, DVec3, f64, f64, f64)> {
    let (i, j) = (spring.i as usize, spring.j as usize);
    let (wi, wj) = (inverse_masses[i], inverse_masses[j]);
    let d = x[j] - x[i];
    let length = d.length();
    (wi + wj > 0.0 && length > 0.0).then(|| (i, j, d / length, length, wi, wj))
}

fn correct_position(
    spring: &Spring,
    (min, max): (f64, f64),
    inverse_masses: &[f64],
    h: f64,
    x: &mut [DVec3],
    v: &mut [DVec3],
) -> bool {
    let Some((i, j, u, length, wi, wj)) = ends(spring, inverse_masses, x) else { return false };
    let excess = length - length.clamp(min, max);
    if excess == 0.0 {
        return false;
    }
    let step = u * (excess / (wi + wj));
    x[i] += step * wi;
    x[j] -= step * wj;
    v[i] += step * (wi / h);
    v[j] -= step * (wj / h);
    true
}

fn correct_velocity(
    spring: &Spring,
    (min, max): (f64, f64),
    inverse_masses: &[f64],
    x: &[DVec3],
    v: &mut [DVec3],
) -> bool {
    let Some((i, j, u, length, wi, wj)) = ends(spring, inverse_masses, x) else { return false };
    let separating = (v[j] - v[i]).dot(u);
    // Speeds below this share of the spring length per second change nothing that can be seen.
    let negligible = 1e-9 * spring.rest_length;
    if !(length > max && separating > negligible || length < min && separating < -negligible) {
        return false;
    }
    let impulse = u * (separating / (wi + wj));
    v[i] += impulse * wi;
    v[j] -= impulse * wj;
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::SpringFamily;

    fn chain(n: u32) -> Topology {
        let springs = (0..n - 1)
            .map(|i| Spring {
                i,
                j: i + 1,
                rest_length: 1.0,
                stiffness: 1.0,
                damping: 0.0,
                family: SpringFamily::Stretch,
                hops: 1,
            })
            .collect();
        Topology { springs, masses: (1..=n).map(f64::from).collect(), ..Topology::default() }
    }

    fn limit(method: LimitMethod) -> LimitModel {
        LimitModel {
            method,
            iterations: 1000,
            range: [(1.1, 0.9), (f64::INFINITY, 0.0), (f64::INFINITY, 0.0)],
        }
    }

    fn momentum(topology: &Topology, v: &[DVec3]) -> DVec3 {
        topology.masses.iter().zip(v).map(|(m, v)| *v * *m).sum()
    }

    #[test]
    fn positions_end_within_the_limits_and_momentum_is_kept() {
        let topology = chain(6);
        let inverse: Vec<f64> = topology.masses.iter().map(|m| 1.0 / m).collect();
        let mut x: Vec<DVec3> = (0..6).map(|i| DVec3::X * f64::from(i * i) * 0.5).collect();
        let mut v = vec![DVec3::ZERO; 6];
        apply(&limit(LimitMethod::Position), &topology, &inverse, 0.01, &mut x, &mut v);
        for pair in x.windows(2) {
            assert!((0.9 - 1e-9..=1.1 + 1e-9).contains(&pair[0].distance(pair[1])));
        }
        assert!(momentum(&topology, &v).length() < 1e-9);
    }

    #[test]
    fn velocities_no_longer_separate_and_free_fall_is_not_braked() {
        let topology = chain(6);
        let inverse: Vec<f64> = topology.masses.iter().map(|m| 1.0 / m).collect();
        let mut x: Vec<DVec3> = (0..6).map(|i| DVec3::X * f64::from(i) * 1.2).collect();
        let fall = DVec3::new(0.0, -5.0, 0.0);
        let mut v: Vec<DVec3> = (0..6).map(|i| fall + DVec3::X * f64::from(i)).collect();
        let before = momentum(&topology, &v);
        apply(&limit(LimitMethod::Velocity), &topology, &inverse, 0.01, &mut x, &mut v);
        for i in 0..5 {
            assert!((v[i + 1] - v[i]).x < 1e-6, "{v:?}");
        }
        assert!((momentum(&topology, &v) - before).length() < 1e-9);
        assert!(v.iter().all(|v| v.y == -5.0));
    }

    #[test]
    fn supported_ends_do_not_move_and_other_families_are_free() {
        let mut topology = chain(2);
        let mut x = vec![DVec3::ZERO, DVec3::X * 2.0];
        let mut v = vec![DVec3::ZERO; 2];
        apply(&limit(LimitMethod::Position), &topology, &[0.0, 1.0], 0.01, &mut x, &mut v);
        assert_eq!(x[0], DVec3::ZERO);
        assert!((x[1].x - 1.1).abs() < 1e-12);
        topology.springs[0].family = SpringFamily::Bend;
        x[1] = DVec3::X * 2.0;
        apply(&limit(LimitMethod::Position), &topology, &[0.0, 1.0], 0.01, &mut x, &mut v);
        assert_eq!(x[1].x, 2.0);
    }
}
