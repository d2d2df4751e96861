//! Pressure and volume of a body whose triangles close one: a gas or a liquid inside.
//!
//! With the volume V by the divergence theorem, E = −p₀ (V − V₀) + K/(2V₀) (V − V₀)². The force on a particle is the
//! pressure p = p₀ − K (V/V₀ − 1) times ∂V/∂x, a third of the area vectors of the triangles around it. K = 0 is a constant
//! pressure, a large K a liquid that keeps its volume.
//!
//! The matrix is the dense K/V₀ ∇V ∇Vᵀ; the part −p ∂²V/∂x², which is indefinite, is left out. A body that has torn open
//! feels nothing any more. Not promised: waves or currents inside; the pressure is the same everywhere, without weight.

use glam::DVec3;

use super::{Configuration, Energy, Part};
use crate::mesh::enclosed_volume;

/// What is inside a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volume {
    /// Pressure beyond that outside, at the volume at rest, Pa.
    pub pressure: f64,
    /// How the pressure falls as the volume grows, Pa.
    pub bulk_modulus: f64,
    /// Volume at rest, m³; positive.
    pub rest_volume: f64,
}

impl Volume {
    /// Pressure beyond that outside at a volume, m³: p₀ − K (V/V₀ − 1), Pa.
    pub fn pressure_at(&self, volume: f64) -> f64 {
        self.pressure - self.bulk_modulus * (volume / self.rest_volume - 1.0)
    }

    /// Energy at a volume, m³, less that at rest, J.
    pub fn energy_at(&self, volume: f64) -> f64 {
        let more = volume - self.rest_volume;
        (0.5 * self.bulk_modulus / self.rest_volume * more - self.pressure) * more
    }
}

/// Calls `add(particle, part)` with all parts of ∂V/∂x, m²: a third of the area vector of each triangle for each corner.
fn gradient(q: &Configuration, mut add: impl FnMut(usize, DVec3)) {
    for t in &q.topology.triangles {
        let [a, b, c] = t.map(|v| q.x[v as usize]);
        let sixth = (b - a).cross(c - a) / 6.0;
        t.iter().for_each(|&v| add(v as usize, sixth));
    }
}

impl Energy for Volume {
    fn name(&self) -> &'static str {
        "volume"
    }

    fn inside_substeps(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        if q.topology.closed { self.energy_at(enclosed_volume(q.x, &q.topology.triangles)) } else { 0.0 }
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        if q.topology.closed {
            let pressure = self.pressure_at(enclosed_volume(q.x, &q.topology.triangles));
            gradient(q, |v, part| f[v] += part * pressure);
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, _hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        if q.topology.closed && self.bulk_modulus > 0.0 {
            elements.resize(3 * q.x.len(), 0.0);
            let root = (hx * self.bulk_modulus / self.rest_volume).sqrt();
            gradient(q, |v, part| {
                let part = part * root;
                elements[3 * v] += part.x;
                elements[3 * v + 1] += part.y;
                elements[3 * v + 2] += part.z;
            });
        }
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], _part: Part, d: &[DVec3], out: &mut [DVec3]) {
        let rows = elements.as_chunks::<3>().0;
        let along: f64 = rows.iter().zip(d).map(|(w, d)| DVec3::from(*w).dot(*d)).sum();
        for (w, out) in rows.iter().zip(out) {
            *out += DVec3::from(*w) * along;
        }
    }

    fn dense<'e>(&self, elements: &'e [f64]) -> Option<(usize, &'e [f64])> {
        (!elements.is_empty()).then_some((0, elements))
    }
}
