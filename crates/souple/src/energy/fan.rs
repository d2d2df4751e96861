//! The fan of the artist: a round jet of air that moves cloth wherever it points.
//!
//! The jet is a round turbulent jet in the usual self-similar form (Pope, *Turbulent Flows*, 2000, section 5.1): across
//! it the speed is a Gaussian whose width grows linearly, b = R + 0.11 z, and along the axis it falls so that the flux of
//! momentum, proportional to speed² · width², stays the same: U R / b. Air is drawn in behind the fan over one radius;
//! further behind there is no wind. Gusts of its own it has none.
//!
//! Bodies that feel the air (`air` in the scene) feel the jet as part of it, through [`Control::air_velocity`]. For cloth
//! without `air`, which is in a vacuum by the word of its scene, there is [`FanDrag`]: lift and drag with the
//! coefficients that `air = {}` means, where the jet blows and nowhere else. While no fan blows it does nothing at all.
//! Ropes have no triangles and feel no fan.
//!
//! [`Control::air_velocity`]: crate::Control::air_velocity

use glam::{DMat3, DVec3};

use super::wind::panel_drag_block;
use super::{Configuration, Energy, Part, own_blocks, panel_force};
use crate::math;
use crate::scene::Air;
use crate::state::Fan;

/// How fast the width of a round jet grows with the distance: 0.094 for the half-width (Pope), over √ln 2.
const SPREAD: f64 = 0.113;

/// Where the jet is slower than this share of the fan's speed, it fades from what cloth without air feels.
const FAINT: f64 = 0.05;

/// 0 below 0, 1 above 1, and smooth between.
fn smooth_step(s: f64) -> f64 {
    let s = s.clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

impl Fan {
    /// Velocity of the air that the fan adds at a point, m/s.
    pub fn velocity(&self, p: DVec3) -> DVec3 {
        let from_fan = p - self.origin;
        let along = from_fan.dot(self.direction);
        if along <= -self.radius {
            return DVec3::ZERO;
        }
        let across = (from_fan - self.direction * along).length();
        let width = self.radius + SPREAD * along.max(0.0);
        let drawn_in = smooth_step(1.0 + along / self.radius);
        let off_axis = across / width;
        self.direction * (self.speed * drawn_in * (self.radius / width) * math::exp(-off_axis * off_axis))
    }

    /// How much a point is in the jet: 1 where it blows, 0 where nothing of it is left, smooth between.
    fn presence(&self, velocity: DVec3) -> f64 {
        if self.speed > 0.0 { smooth_step(velocity.length() / (FAINT * self.speed)) } else { 0.0 }
    }

    /// Whether every number in it is finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.origin.is_finite()
            && self.direction.is_finite()
            && self.speed.is_finite()
            && self.radius.is_finite()
    }
}

/// What a fan does to cloth that feels no other air.
#[derive(Clone, Copy, Debug)]
pub struct FanDrag {
    /// Drag coefficient.
    pub drag: f64,
    /// Lift coefficient.
    pub lift: f64,
}

impl Default for FanDrag {
    fn default() -> Self {
        let Air { drag, lift, .. } = Air::default();
        FanDrag { drag, lift }
    }
}

impl FanDrag {
    /// Calls `act(triangle, corners, relative wind, presence)` for each triangle in the jet.
    fn each_panel(q: &Configuration, mut act: impl FnMut(&[u32; 3], [DVec3; 3], DVec3, f64)) {
        let Some(fan) = &q.control.fan else { return };
        for t in &q.topology.triangles {
            let corners = t.map(|v| q.x[v as usize]);
            let jet = fan.velocity(corners.iter().sum::<DVec3>() / 3.0);
            let presence = fan.presence(jet);
            if presence > 0.0 {
                let velocity = t.iter().map(|&v| q.v[v as usize]).sum::<DVec3>() / 3.0;
                act(t, corners, jet - velocity, presence);
            }
        }
    }
}

impl Energy for FanDrag {
    fn name(&self) -> &'static str {
        "fan"
    }

    fn has_potential(&self) -> bool {
        false
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        let density = q.control.wind.air_density;
        Self::each_panel(q, |t, [a, b, c], wind, presence| {
            let share = panel_force(a, b, c, wind, density, self.drag, self.lift) * (presence / 3.0);
            for &v in t {
                f[v as usize] += share;
            }
        });
    }

    fn linearise(&self, q: &Configuration, _hx: f64, hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        if q.control.fan.is_none() {
            return;
        }
        own_blocks::reset(elements, q.x.len());
        let density = q.control.wind.air_density;
        Self::each_panel(q, |t, [a, b, c], wind, presence| {
            let Some(block) = panel_drag_block(a, b, c, wind, density, self.drag, hv * presence) else {
                return;
            };
            for &v in t {
                own_blocks::add(elements, v as usize, block);
            }
        });
    }

    // Without a fan there are no elements, and the loops over them end at once.
    fn add_product(&self, _q: &Configuration, elements: &[f64], part: Part, d: &[DVec3], out: &mut [DVec3]) {
        own_blocks::add_damping_product(elements, part, d, out);
    }

    fn add_diagonal(&self, _q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        own_blocks::add_diagonal(elements, diagonal);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAN: Fan = Fan {
        origin: DVec3::new(1.0, 2.0, 3.0),
        direction: DVec3::new(0.6, 0.0, 0.8),
        speed: 8.0,
        radius: 0.25,
    };

    #[test]
    fn the_jet_is_as_fast_as_asked_at_the_fan_and_slower_everywhere_else() {
        let at =
            |along: f64, across: f64| FAN.velocity(FAN.origin + FAN.direction * along + DVec3::Y * across);
        assert!((at(0.0, 0.0) - FAN.direction * 8.0).length() < 1e-12);
        assert!((at(0.0, 0.25).length() - 8.0 * math::exp(-1.0)).abs() < 1e-12);
        let mut last = f64::INFINITY;
        for step in 0..50 {
            let speed = at(0.1 * f64::from(step), 0.0).length();
            assert!(speed < last && speed > 0.0);
            last = speed;
        }
        assert_eq!(at(-0.25, 0.0), DVec3::ZERO);
        assert!(at(-0.1, 0.0).length() < 8.0);
        assert!(at(1.0, 0.1).length() < at(1.0, 0.0).length());
    }

    #[test]
    fn the_jet_keeps_its_momentum() {
        // Flux of momentum through a disc: ∫ u² 2π r dr, by the midpoint rule far beyond the width.
        let flux = |along: f64| {
            let dr = 1e-3;
            let ring = |k: u32| {
                let r = (f64::from(k) + 0.5) * dr;
                let u = FAN.velocity(FAN.origin + FAN.direction * along + DVec3::Y * r).length();
                u * u * r * dr
            };
            (0..5000).map(ring).sum::<f64>()
        };
        let at_fan = flux(0.0);
        for along in [0.5, 2.0, 6.0] {
            assert!((flux(along) / at_fan - 1.0).abs() < 1e-4, "{along} m: {}", flux(along) / at_fan);
        }
    }
}
