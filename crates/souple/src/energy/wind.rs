//! Air: lift and drag of each triangle, and the viscous force of ESSI-27.
//!
//! A triangle of area A and unit normal n in a relative wind w feels, with q = ½ ρ |w|² and c = |ŵ·n|,
//! drag q A C_D c ŵ and lift q A C_L c (n' − c ŵ), n' being ±n on the lee side. Drag of a panel that faces the flow is
//! then ½ ρ C_D A |w|², and both vanish for a panel that lies in the flow.
//!
//! ESSI-27 as printed pushes a cloth upwind and is undefined in still air; Provot's form C ((u − v)·n) n is used.
//! Derivatives: by velocity, the drag part, lumped on the particles and kept positive; lift and turning are left out.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, Part, outer, own_blocks};
use crate::control::Control;

/// Force on a triangular panel, N, from the relative wind (air minus panel, m/s).
pub fn panel_force(
    a: DVec3,
    b: DVec3,
    c: DVec3,
    wind: DVec3,
    air_density: f64,
    drag: f64,
    lift: f64,
) -> DVec3 {
    let double_area_normal = (b - a).cross(c - a);
    let speed = wind.length();
    let double_area = double_area_normal.length();
    if speed == 0.0 || double_area == 0.0 {
        return DVec3::ZERO;
    }
    let (flow, normal) = (wind / speed, double_area_normal / double_area);
    let signed_cosine = flow.dot(normal);
    let (cosine, lee) = (signed_cosine.abs(), if signed_cosine < 0.0 { -normal } else { normal });
    let pressure = 0.5 * air_density * speed * speed;
    let area = 0.5 * double_area;
    (flow * (drag * cosine) + (lee - flow * cosine) * (lift * cosine)) * (pressure * area)
}

/// −hv ∂f/∂v of the drag on a panel, a third of it for each corner: ½ ρ C_D A |w·n| (I + n nᵀ), symmetrised.
pub(super) fn panel_drag_block(
    a: DVec3,
    b: DVec3,
    c: DVec3,
    wind: DVec3,
    air_density: f64,
    drag: f64,
    hv: f64,
) -> Option<DMat3> {
    let double_area_normal = (b - a).cross(c - a);
    let normal = double_area_normal.try_normalize()?;
    let factor = hv * 0.25 * air_density * drag * double_area_normal.length() * wind.dot(normal).abs() / 3.0;
    Some((DMat3::IDENTITY + outer(normal)) * factor)
}

/// Lift and drag of each triangle.
#[derive(Clone, Copy, Debug)]
pub struct Aerodynamics {
    /// Drag coefficient.
    pub drag: f64,
    /// Lift coefficient.
    pub lift: f64,
}

impl Aerodynamics {
    /// Corners and relative wind of a triangle.
    fn panel(&self, q: &Configuration, t: &[u32; 3]) -> ([DVec3; 3], DVec3) {
        let corners = t.map(|v| q.x[v as usize]);
        let velocity = t.iter().map(|&v| q.v[v as usize]).sum::<DVec3>() / 3.0;
        let centre = corners.iter().sum::<DVec3>() / 3.0;
        let mut air = q.control.air_velocity(centre, q.t);
        if q.control.wind.sinus.is_some() {
            air += t.iter().map(|&v| q.control.sinus_velocity(v, q.t)).sum::<DVec3>() / 3.0;
        }
        (corners, air - velocity)
    }
}

impl Energy for Aerodynamics {
    fn name(&self) -> &'static str {
        "aerodynamics"
    }

    fn has_potential(&self) -> bool {
        false
    }

    fn is_restless(&self, control: &Control, _body: u32) -> bool {
        control.wind.gusts.is_some() || control.wind.sinus.is_some()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        let density = q.control.wind.air_density;
        for t in &q.topology.triangles {
            let ([a, b, c], wind) = self.panel(q, t);
            let share = panel_force(a, b, c, wind, density, self.drag, self.lift) / 3.0;
            for &v in t {
                f[v as usize] += share;
            }
        }
    }

    fn linearise(&self, q: &Configuration, _hx: f64, hv: f64, elements: &mut Vec<f64>) {
        own_blocks::reset(elements, q.x.len());
        let density = q.control.wind.air_density;
        for t in &q.topology.triangles {
            let ([a, b, c], wind) = self.panel(q, t);
            let Some(block) = panel_drag_block(a, b, c, wind, density, self.drag, hv) else { continue };
            for &v in t {
                own_blocks::add(elements, v as usize, block);
            }
        }
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        own_blocks::add_damping_product(elements, part, d, out);
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        own_blocks::add_diagonal(elements, diagonal);
    }
}

/// Viscous force of the air on each particle (ESSI-27, ESSI-28): C A ((u − v)·n) n.
#[derive(Clone, Copy, Debug)]
pub struct Viscous {
    /// C, N·s/m³.
    pub coefficient: f64,
}

impl Viscous {
    /// Area and unit normal around a particle, gathered from its triangles.
    fn area_and_normal(q: &Configuration, particle: usize) -> (f64, DVec3) {
        let sum: DVec3 = q
            .topology
            .particle_triangles
            .row(particle)
            .iter()
            .map(|&t| {
                let [a, b, c] = q.topology.triangles[t as usize].map(|v| q.x[v as usize]);
                (b - a).cross(c - a)
            })
            .sum();
        (q.topology.particle_areas[particle], sum.normalize_or_zero())
    }
}

impl Energy for Viscous {
    fn name(&self) -> &'static str {
        "viscous air"
    }

    fn has_potential(&self) -> bool {
        false
    }

    fn is_restless(&self, control: &Control, _body: u32) -> bool {
        control.wind.gusts.is_some() || control.wind.sinus.is_some()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        q.parallel.blocks(f, |start, block| {
            for (k, f) in block.iter_mut().enumerate() {
                let i = start + k;
                let (area, normal) = Self::area_and_normal(q, i);
                let air = q.control.air_velocity(q.x[i], q.t) + q.control.sinus_velocity(i as u32, q.t);
                *f += normal * (self.coefficient * area * (air - q.v[i]).dot(normal));
            }
        });
    }

    fn linearise(&self, q: &Configuration, _hx: f64, hv: f64, elements: &mut Vec<f64>) {
        own_blocks::reset(elements, q.x.len());
        for i in 0..q.x.len() {
            let (area, normal) = Self::area_and_normal(q, i);
            own_blocks::add(elements, i, outer(normal) * (hv * self.coefficient * area));
        }
    }

    fn add_product(&self, _q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        own_blocks::add_damping_product(elements, part, d, out);
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        own_blocks::add_diagonal(elements, diagonal);
    }
}
