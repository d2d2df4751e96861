//! Light: one sun with shadows, and surroundings made by formula that light and are reflected from all sides.
//!
//! The surroundings are a photographer's studio under a soft sky: a bright horizon, a large soft box where the sun is, a
//! faint strip of light opposite. They exist in three forms, all made of [`Surroundings::radiance`]: nine spherical
//! harmonics for matt surfaces (Ramamoorthi and Hanrahan 2001), and a cube map whose smaller levels are blurred for
//! rougher ones (ESSI-62, ESSI-63). Both renderers use the same numbers.

use std::f32::consts::PI;

use glam::{DVec3, Vec3};
use souple::scene::View;

/// Light of the sun on a surface that faces it, as a share of what a white sheet sends back.
pub const SUN: Vec3 = Vec3::new(1.02, 0.97, 0.90);
/// Sides of the largest cube face, pixels.
pub const CUBE_SIZE: u32 = 64;
/// Levels of the cube map: roughness 0 at the first to 1 at the last.
pub const CUBE_LEVELS: u32 = 6;

const HORIZON: Vec3 = Vec3::new(0.64, 0.65, 0.67);
const ZENITH: Vec3 = Vec3::new(0.42, 0.46, 0.53);
const FLOOR: Vec3 = Vec3::new(0.23, 0.22, 0.21);
const SOFT_BOX: Vec3 = Vec3::new(5.2, 5.0, 4.6);
const STRIP: Vec3 = Vec3::new(1.1, 1.25, 1.5);

/// What surrounds the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Surroundings {
    /// Unit vector towards the sun.
    pub sun: Vec3,
}

impl Surroundings {
    /// The surroundings of a view.
    pub fn new(view: &View) -> Surroundings {
        let sun = DVec3::from(view.light).try_normalize();
        Surroundings { sun: sun.unwrap_or(DVec3::Y).as_vec3() }
    }

    /// Light that comes from a direction (unit vector) to the scene.
    pub fn radiance(&self, direction: Vec3) -> Vec3 {
        let box_edge = smooth_step(0.90, 0.955, direction.dot(self.sun));
        self.ambient_radiance(direction) + SOFT_BOX * box_edge
    }

    /// The same without the soft box, whose light matt surfaces get from the sun itself, with shadows.
    fn ambient_radiance(&self, direction: Vec3) -> Vec3 {
        let sky = HORIZON.lerp(ZENITH, smooth_step(0.0, 0.75, direction.y));
        let base = match direction.y > 0.0 {
            true => sky,
            false => (0.72 * HORIZON).lerp(FLOOR, smooth_step(0.0, 0.3, -direction.y)),
        };
        let opposite = Vec3::new(-self.sun.x, 0.25, -self.sun.z).normalize_or(Vec3::X);
        base + STRIP * smooth_step(0.80, 0.95, direction.dot(opposite))
    }

    /// Nine numbers per colour from which [`ambient`] finds the light on a matt surface of any direction.
    pub fn harmonics(&self) -> [Vec3; 9] {
        const RINGS: usize = 48;
        let mut sums = [Vec3::ZERO; 9];
        for ring in 0..RINGS {
            let theta = PI * (ring as f32 + 0.5) / RINGS as f32;
            for step in 0..2 * RINGS {
                let phi = PI * (step as f32 + 0.5) / RINGS as f32;
                let d = Vec3::new(theta.sin() * phi.cos(), theta.cos(), theta.sin() * phi.sin());
                let solid_angle = theta.sin() * (PI / RINGS as f32) * (PI / RINGS as f32);
                let light = self.ambient_radiance(d) * solid_angle;
                for (sum, basis) in sums.iter_mut().zip(harmonic_basis(d)) {
                    *sum += light * basis;
                }
            }
        }
        // Light falls in with the cosine: each band shrinks by the share of it that the cosine keeps, over π.
        let kept = [1.0, 2.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0, 0.25, 0.25, 0.25, 0.25, 0.25];
        let mut k = 0;
        sums.map(|sum| {
            k += 1;
            sum * kept[k - 1]
        })
    }

    /// The cube map: for each level, six faces (+x, −x, +y, −y, +z, −z) of square rows.
    pub fn cube(&self) -> Vec<[Vec<Vec3>; 6]> {
        (0..CUBE_LEVELS)
            .map(|level| {
                let size = (CUBE_SIZE >> level).max(1);
                let roughness = level as f32 / (CUBE_LEVELS - 1) as f32;
                std::array::from_fn(|face| {
                    let pixels = (0..size * size).map(|k| {
                        let at = |c: u32| 2.0 * (c as f32 + 0.5) / size as f32 - 1.0;
                        self.blurred(cube_direction(face, at(k % size), at(k / size)), roughness)
                    });
                    pixels.collect()
                })
            })
            .collect()
    }

    /// Mean of the light around a direction, over a lobe as wide as a highlight of that roughness.
    fn blurred(&self, direction: Vec3, roughness: f32) -> Vec3 {
        if roughness == 0.0 {
            return self.radiance(direction);
        }
        const SAMPLES: usize = 96;
        let (across, up) = direction.any_orthonormal_pair();
        // Cosine of the lobe falls as the exponent of a Phong highlight; exponents halve from level to level.
        let exponent = 2.0 / (roughness * roughness * roughness * roughness) - 1.0;
        let mut sum = Vec3::ZERO;
        for k in 0..SAMPLES {
            let share = (k as f32 + 0.5) / SAMPLES as f32;
            let cos = share.powf(1.0 / (exponent + 1.0));
            let sin = (1.0 - cos * cos).max(0.0).sqrt();
            let angle = k as f32 * 2.399_963;
            sum += self.radiance(direction * cos + (across * angle.cos() + up * angle.sin()) * sin);
        }
        sum / SAMPLES as f32
    }
}

/// Light on a matt white surface of unit normal `n`, as a share of what it can send back.
pub fn ambient(harmonics: &[Vec3; 9], n: Vec3) -> Vec3 {
    harmonics.iter().zip(harmonic_basis(n)).map(|(h, b)| *h * b).sum::<Vec3>().max(Vec3::ZERO)
}

/// Values of the first nine real spherical harmonics at a direction.
pub fn harmonic_basis(d: Vec3) -> [f32; 9] {
    [
        0.282_095,
        0.488_603 * d.y,
        0.488_603 * d.z,
        0.488_603 * d.x,
        1.092_548 * d.x * d.y,
        1.092_548 * d.y * d.z,
        0.315_392 * (3.0 * d.z * d.z - 1.0),
        1.092_548 * d.x * d.z,
        0.546_274 * (d.x * d.x - d.y * d.y),
    ]
}

/// Direction of a point of a cube face, whose sides go from −1 to 1, to the right and downwards.
fn cube_direction(face: usize, u: f32, v: f32) -> Vec3 {
    let d = match face {
        0 => Vec3::new(1.0, -v, -u),
        1 => Vec3::new(-1.0, -v, u),
        2 => Vec3::new(u, 1.0, v),
        3 => Vec3::new(u, -1.0, -v),
        4 => Vec3::new(u, -v, 1.0),
        _ => Vec3::new(-u, -v, -1.0),
    };
    d.normalize()
}

/// 0 below `from`, 1 above `to`, smooth between.
pub fn smooth_step(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// Linear light from 0 upwards as colours that a screen can show: colours stay what they are up to about 0.8, brighter
/// ones are compressed and fade to white (the Khronos PBR neutral curve).
pub fn tone_map(colour: Vec3) -> Vec3 {
    const START: f32 = 0.8 - 0.04;
    const FADE: f32 = 0.15;
    let least = colour.min_element();
    let offset = if least < 0.08 { least - 6.25 * least * least } else { 0.04 };
    let colour = colour - offset;
    let peak = colour.max_element();
    if peak < START {
        return colour;
    }
    let rest = 1.0 - START;
    let shown = 1.0 - rest * rest / (peak + rest - START);
    let white = 1.0 - 1.0 / (FADE * (peak - shown) + 1.0);
    (colour * (shown / peak)).lerp(Vec3::splat(shown), white)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn harmonics_give_the_light_of_a_plain_sky() {
        // A sky of one brightness lights every surface alike, with just that brightness.
        let flat = |h: &[Vec3; 9], n: Vec3| ambient(h, n);
        let mut even = [Vec3::ZERO; 9];
        even[0] = Vec3::ONE / 0.282_095;
        for n in [Vec3::X, Vec3::Y, -Vec3::Z, Vec3::ONE.normalize()] {
            assert!((flat(&even, n) - Vec3::ONE).length() < 1e-5);
        }
        // Compared with a plain sum over the half sphere.
        let surroundings = Surroundings { sun: Vec3::new(0.4, 0.8, 0.45).normalize() };
        let harmonics = surroundings.harmonics();
        for n in [Vec3::Y, Vec3::X, -Vec3::Y, Vec3::new(0.6, 0.0, 0.8)] {
            let (mut sum, count) = (Vec3::ZERO, 20_000);
            for k in 0..count {
                let z = 1.0 - 2.0 * (k as f32 + 0.5) / count as f32;
                let (r, a) = ((1.0 - z * z).sqrt(), k as f32 * 2.399_963);
                let d = Vec3::new(r * a.cos(), r * a.sin(), z);
                sum += surroundings.ambient_radiance(d) * d.dot(n).max(0.0) * 4.0 / count as f32;
            }
            let found = ambient(&harmonics, n);
            // Nine harmonics keep all but a few percent of the light on a matt surface (Ramamoorthi and Hanrahan).
            assert!((found - sum).length() < 0.05 * sum.length(), "{n}: {found} {sum}");
        }
    }

    #[test]
    fn dim_colours_are_shown_as_they_are() {
        // But for the light that any surface mirrors, which the curve takes off.
        for c in [Vec3::new(0.5, 0.3, 0.2), Vec3::new(0.1, 0.6, 0.4)] {
            assert!((tone_map(c) - (c - 0.04)).length() < 1e-6);
        }
        assert!(tone_map(Vec3::splat(50.0)).max_element() <= 1.0);
    }
}
