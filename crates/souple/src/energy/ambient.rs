//! Forces on each particle by itself: gravity (ESSI-25, GRI-03), dissipation (ESSI-26), pulls (ESSI-29), the random
//! force of GRI-15.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, Part};
use crate::control::Control;

/// Weight m g. Its potential is measured from the origin.
#[derive(Clone, Copy, Debug)]
pub struct Gravity {
    /// Acceleration, m/s².
    pub acceleration: DVec3,
}

impl Energy for Gravity {
    fn name(&self) -> &'static str {
        "gravity"
    }

    fn value(&self, q: &Configuration) -> f64 {
        -q.topology.masses.iter().zip(q.x).map(|(m, x)| m * self.acceleration.dot(*x)).sum::<f64>()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for (f, m) in f.iter_mut().zip(&q.topology.masses) {
            *f += self.acceleration * *m;
        }
    }
}

/// Rayleigh's mass damping −α m v, the dissipation of ESSI-26.
#[derive(Clone, Copy, Debug)]
pub struct Dissipation {
    /// α, 1/s.
    pub rate: f64,
}

impl Energy for Dissipation {
    fn name(&self) -> &'static str {
        "dissipation"
    }

    fn has_potential(&self) -> bool {
        false
    }

    fn inside_substeps(&self) -> bool {
        true
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for ((f, m), v) in f.iter_mut().zip(&q.topology.masses).zip(q.v) {
            *f -= *v * (self.rate * m);
        }
    }

    fn linearise(&self, q: &Configuration, _hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        elements.extend(q.topology.masses.iter().map(|m| hv * self.rate * m));
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        if part == Part::StiffnessAndDamping {
            for ((out, e), d) in out.iter_mut().zip(elements).zip(d) {
                *out += *d * *e;
            }
        }
    }

    fn moves_followers(&self, _q: &Configuration, _elements: &[f64]) -> bool {
        // They have no mass.
        false
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for (out, e) in diagonal.iter_mut().zip(elements) {
            *out += DMat3::from_diagonal(DVec3::splat(*e));
        }
    }
}

/// A constant force shared by chosen particles, during a time.
#[derive(Clone, Debug)]
pub struct Pulls {
    /// Particles.
    pub vertices: Vec<u32>,
    /// Total force, N.
    pub force: DVec3,
    /// When it begins, s.
    pub from: f64,
    /// When it ends, s.
    pub until: f64,
}

impl Energy for Pulls {
    fn name(&self) -> &'static str {
        "pulls"
    }

    fn is_restless(&self, control: &Control, _body: u32) -> bool {
        // In the step in which it begins or ends.
        [self.from, self.until].iter().any(|t| control.t0 <= *t && *t <= control.t1)
    }

    fn value(&self, q: &Configuration) -> f64 {
        if q.t < self.from || q.t >= self.until {
            return 0.0;
        }
        let share = self.force / self.vertices.len() as f64;
        -self.vertices.iter().map(|&v| share.dot(q.x[v as usize])).sum::<f64>()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        if q.t >= self.from && q.t < self.until {
            let share = self.force / self.vertices.len() as f64;
            for &v in &self.vertices {
                f[v as usize] += share;
            }
        }
    }
}

/// Hands that pull particles towards targets: springs of rest length zero, damped to a quarter of critical.
#[derive(Clone, Copy, Debug)]
pub struct Grabs;

impl Grabs {
    fn damping(stiffness: f64, mass: f64) -> f64 {
        0.5 * (stiffness * mass).sqrt()
    }
}

impl Energy for Grabs {
    fn name(&self) -> &'static str {
        "grabs"
    }

    fn is_restless(&self, control: &Control, body: u32) -> bool {
        control.grabs.iter().any(|g| g.body == body)
    }

    fn inside_substeps(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        let mine = q.control.grabs.iter().filter(|g| g.body == q.body);
        mine.map(|g| 0.5 * g.stiffness * q.x[g.vertex as usize].distance_squared(g.target)).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for g in q.control.grabs.iter().filter(|g| g.body == q.body) {
            let i = g.vertex as usize;
            let damping = Self::damping(g.stiffness, q.topology.masses[i]);
            f[i] += (g.target - q.x[i]) * g.stiffness - q.v[i] * damping;
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        for g in q.control.grabs.iter().filter(|g| g.body == q.body) {
            elements.push(hx * g.stiffness);
            elements.push(hv * Self::damping(g.stiffness, q.topology.masses[g.vertex as usize]));
        }
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        let mine = q.control.grabs.iter().filter(|g| g.body == q.body);
        for (g, e) in mine.zip(elements.chunks_exact(2)) {
            let factor = if part == Part::Stiffness { e[0] } else { e[0] + e[1] };
            out[g.vertex as usize] += d[g.vertex as usize] * factor;
        }
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        let mine = q.control.grabs.iter().filter(|g| g.body == q.body);
        for (g, e) in mine.zip(elements.chunks_exact(2)) {
            diagonal[g.vertex as usize] += DMat3::from_diagonal(DVec3::splat(e[0] + e[1]));
        }
    }
}

/// The random force of GRI-15, the same on every particle.
#[derive(Clone, Copy, Debug)]
pub struct RandomForce;

impl Energy for RandomForce {
    fn name(&self) -> &'static str {
        "random force"
    }

    fn has_potential(&self) -> bool {
        false
    }

    fn is_restless(&self, control: &Control, _body: u32) -> bool {
        control.wind.random_force.is_some()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        let force = q.control.random_force(q.t);
        for f in f {
            *f += force;
        }
    }
}
