//! Light on surfaces and on the ground: the formulas of `shaders/common.wgsl`, `shaders/surface.wgsl` and
//! `shaders/ground.wgsl` in Rust. Change both together; a test compares the pictures.

use glam::{DVec3, Mat4, Vec2, Vec3};
use rayon::prelude::*;

use super::raster::{CENTRE, Face};
use crate::backdrop::Backdrop;
use crate::camera::Camera;
use crate::environment::{SUN, Surroundings, ambient, smooth_step, tone_map};
use crate::gpu::SHADOW_SIZE;
use crate::looks::srgb;

/// Points of the disc over which the shadow is averaged.
const DISC: usize = 16;
/// Points of it that are looked at first: when they agree, so does the rest.
const FIRST: usize = 4;
/// Radius of the disc, pixels of the map.
const DISC_RADIUS: f32 = 4.5;
/// Rows of the map of shadows that are filled at a time.
const BAND: usize = 32;

/// The sun and its map of shadows.
#[derive(Debug)]
pub(super) struct Sun {
    /// Unit vector towards it.
    pub direction: Vec3,
    harmonics: [Vec3; 9],
    projection: Mat4,
    /// Size of a pixel of the map in the world, m.
    pixel: f32,
    /// Depth that is nearest to the sun, 0 near to 1 far.
    map: Vec<f32>,
    /// The disc in texture coordinates.
    disc: [Vec2; DISC],
}

impl Sun {
    /// The sun of a view, with the shadows of faces that were projected by `Backdrop::sun_projection`.
    pub fn new(surroundings: &Surroundings, backdrop: &Backdrop, faces: &[Face]) -> Sun {
        let size = SHADOW_SIZE as usize;
        let mut map = vec![1.0f32; size * size];
        map.par_chunks_mut(BAND * size).enumerate().for_each(|(k, band)| {
            let first = (k * BAND) as i32;
            let rows = first..first + (band.len() / size) as i32;
            for face in faces.iter().filter(|face| face.touches(&rows)) {
                // As much farther as two pixels of slope: a surface must not shade itself.
                let bias = 2.0 * face.slope() as f32;
                face.cover(&rows, size as i32, &CENTRE, |x, y, _, depth| {
                    let place = &mut band[(y - first) as usize * size + x as usize];
                    *place = place.min(depth + bias + 2.0 * f32::EPSILON * depth);
                });
            }
        });
        // The four outermost points come first.
        let spread = |k: usize| {
            let k = ((k + DISC - FIRST) % DISC) as f32;
            let radius = DISC_RADIUS * ((k + 0.5) / DISC as f32).sqrt() / SHADOW_SIZE as f32;
            radius * Vec2::from_angle(k * 2.399_963)
        };
        Sun {
            direction: surroundings.sun,
            harmonics: surroundings.harmonics(),
            projection: backdrop.sun_projection(surroundings.sun),
            pixel: backdrop.shadow_pixel(SHADOW_SIZE),
            map,
            disc: std::array::from_fn(spread),
        }
    }

    /// Light on a matt white surface from all sides but the sun.
    pub fn ambient(&self, normal: Vec3) -> Vec3 {
        ambient(&self.harmonics, normal)
    }

    /// Share of the sun that reaches a point, 0 to 1.
    pub fn reaches(&self, position: Vec3, normal: Vec3) -> f32 {
        let cosine = normal.dot(self.direction);
        let side = if cosine >= 0.0 { 1.0 } else { -1.0 };
        let slope = 1.0 - cosine.abs();
        let lifted = position + normal * (side * self.pixel * (1.5 + 4.0 * slope));
        let clip = self.projection * lifted.extend(1.0);
        let uv = Vec2::new(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y);
        let inside = uv.cmpgt(Vec2::ZERO).all() && uv.cmplt(Vec2::ONE).all() && clip.z < 1.0;
        if !inside {
            return 1.0;
        }
        let (first, rest) = self.disc.split_at(FIRST);
        let lit =
            |points: &[Vec2]| points.iter().map(|offset| self.compare(uv + *offset, clip.z)).sum::<f32>();
        match lit(first) {
            few if few > 0.0 && few < FIRST as f32 => (few + lit(rest)) / DISC as f32,
            all => all / FIRST as f32,
        }
    }

    /// How much of four pixels of the map is not nearer than that depth, weighted by how near they are.
    fn compare(&self, uv: Vec2, depth: f32) -> f32 {
        let last = SHADOW_SIZE as i32 - 1;
        let at = uv * SHADOW_SIZE as f32 - 0.5;
        let (low, share) = (at.floor(), at - at.floor());
        let lit = |dx: i32, dy: i32| {
            let x = (low.x as i32 + dx).clamp(0, last) as usize;
            let y = (low.y as i32 + dy).clamp(0, last) as usize;
            if depth <= self.map[y * SHADOW_SIZE as usize + x] { 1.0 } else { 0.0 }
        };
        let mix = |a: f32, b: f32, t: f32| a + (b - a) * t;
        let upper = mix(lit(0, 0), lit(1, 0), share.x);
        mix(upper, mix(lit(0, 1), lit(1, 1), share.x), share.y)
    }
}

/// Rays through pixels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rays {
    eye: DVec3,
    corner: DVec3,
    across: DVec3,
    down: DVec3,
}

impl Rays {
    pub fn new(camera: &Camera, (width, height): (u32, u32)) -> Rays {
        let (right, up) = camera.axes();
        let (right, up) = (right.as_dvec3(), up.as_dvec3());
        let forward = -right.cross(up);
        let half = (0.5 * f64::from(camera.field_of_view)).tan();
        let (width, height) = (f64::from(width), f64::from(height));
        let aspect = width / height;
        Rays {
            eye: camera.eye().as_dvec3(),
            corner: forward + up * half - right * (half * aspect),
            across: right * (2.0 * half * aspect / width),
            down: -up * (2.0 * half / height),
        }
    }

    /// Where the ray through a point of the picture, in pixels, meets a height.
    pub fn meet_height(&self, x: f64, y: f64, height: f64) -> Option<DVec3> {
        let direction = self.corner + self.across * x + self.down * y;
        let w = (height - self.eye.y) / direction.y;
        (w > 0.0 && w.is_finite()).then(|| self.eye + direction * w)
    }
}

/// Colour of the ground at the middle of a pixel as it is stored, over the `background` there; nothing where the ray
/// misses it.
pub(super) fn ground(
    sun: &Sun,
    backdrop: &Backdrop,
    rays: &Rays,
    [x, y]: [i32; 2],
    background: Vec3,
) -> Option<Vec3> {
    let meet = |x: f64, y: f64| rays.meet_height(x, y, f64::from(backdrop.ground_centre.y));
    let flat = |x: f64, y: f64| meet(x, y).map(|p| Vec2::new(p.x as f32, p.z as f32));
    let (column, row) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
    let position = meet(column, row)?.as_vec3();
    let place = Vec2::new(position.x, position.z);
    let away = place.distance(Vec2::new(backdrop.ground_centre.x, backdrop.ground_centre.z));
    let alpha = 1.0 - smooth_step(0.35, 1.0, away / backdrop.ground_reach);
    if alpha <= 0.0 {
        return Some(background);
    }
    // Differences between the pixels of a square of four, as shaders have them.
    let (left, top) = (f64::from(x & !1) + 0.5, f64::from(y & !1) + 0.5);
    let change = |a: Option<Vec2>, b: Option<Vec2>| match (a, b) {
        (Some(a), Some(b)) => (b - a).abs(),
        _ => Vec2::splat(f32::MAX),
    };
    let across = change(flat(left, row), flat(left + 1.0, row));
    let down = change(flat(column, top), flat(column, top + 1.0));
    let (offset, pixel) = (place / backdrop.grid, (across + down) / backdrop.grid);
    let fine = lines(offset, pixel, 0.02);
    let coarse = lines(offset * 0.1, pixel * 0.1, 0.004);
    let base = Vec3::new(0.52, 0.53, 0.55) * (1.0 - 0.16 * fine) * (1.0 - 0.25 * coarse);
    let direct = SUN * (sun.direction.y.max(0.0) * sun.reaches(position, Vec3::Y));
    let colour = encoded(tone_map(base * (direct + sun.ambient(Vec3::Y))));
    Some(background.lerp(colour, alpha))
}

/// Linear colours as the sRGB values that are stored.
pub(super) fn encoded(linear: Vec3) -> Vec3 {
    srgb(linear).into()
}

/// Share of a pixel that is covered by lines of that width at whole numbers of `at`, which changes by `pixel` over it.
fn lines(at: Vec2, pixel: Vec2, width: f32) -> f32 {
    let part = |at: f32, pixel: f32| {
        let pixel = pixel.max(1e-6);
        let drawn = width.max(pixel);
        let fraction = (at - 0.5) - (at - 0.5).floor();
        let distance = (fraction - 0.5).abs();
        let cover = 1.0 - smooth_step(0.5 * drawn - 0.5 * pixel, 0.5 * drawn + 0.5 * pixel, distance);
        cover * (width / drawn).min(1.0) * (1.0 - smooth_step(0.3, 0.8, pixel))
    };
    part(at.x, pixel.x).max(part(at.y, pixel.y))
}
