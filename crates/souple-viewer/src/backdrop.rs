//! What follows from the size of a scene: where the ground is, how far it reaches, what the sun's shadows cover.
//!
//! Both renderers use it, so that both show the same.

use glam::camera::rh::proj::directx::orthographic;
use glam::camera::rh::view::look_at_mat4;
use glam::{Mat4, Vec3};
use souple::scene::View;

use crate::camera::Camera;
use crate::capture::Moment;
use crate::looks::linear;

/// How far the ground reaches, as a multiple of the radius of the scene.
const GROUND_REACH: f32 = 9.0;
/// Colours of the sky when the view has no background, sRGB: top and bottom.
const SKY: [[f32; 3]; 2] = [[0.70, 0.76, 0.83], [0.88, 0.89, 0.90]];

/// What follows from the size of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Backdrop {
    /// Middle of all that is seen, m.
    pub centre: Vec3,
    /// Radius of a ball around it that holds all that is seen, m.
    pub radius: f32,
    /// Whether there is a ground.
    pub has_ground: bool,
    /// Middle of the ground, m.
    pub ground_centre: Vec3,
    /// How far the ground reaches, m.
    pub ground_reach: f32,
    /// Side of a square of the ground's grid, m: 0.1, 1, 10 …
    pub grid: f32,
}

impl Backdrop {
    /// The backdrop of a moment.
    pub fn of(moment: &Moment, view: &View, camera: &Camera) -> Backdrop {
        let (low, high) = moment.bounds(false).unwrap_or((camera.target, camera.target));
        let centre = 0.5 * (low + high);
        let radius = (0.5 * low.distance(high)).max(1e-3);
        // A little below what lies lowest, so that it does not flicker where cloth lies on it.
        let sink = 2e-3 * radius;
        let height = moment.floor.map_or(low.y - 0.02 * radius, |floor| floor.min(low.y + radius)) - sink;
        Backdrop {
            centre,
            radius,
            // From below, the ground would hide what stands on it.
            has_ground: view.ground && camera.eye().y > height,
            ground_centre: Vec3::new(centre.x, height, centre.z),
            ground_reach: GROUND_REACH * radius,
            grid: 10f32.powf((0.6 * radius).log10().floor()).clamp(1e-3, 1e6),
        }
    }

    /// World → map of shadows: all that is seen, from the sun.
    pub fn sun_projection(&self, sun: Vec3) -> Mat4 {
        let up = if sun.y.abs() > 0.95 { Vec3::Z } else { Vec3::Y };
        let reach = 1.05 * self.radius;
        let view = look_at_mat4(self.centre + sun * (2.0 * reach), self.centre, up);
        // Far enough that the ground below gets its shadows.
        orthographic(-reach, reach, -reach, reach, 0.0, 8.0 * reach) * view
    }

    /// Size of a pixel of the map of shadows in the world, m.
    pub fn shadow_pixel(&self, size: u32) -> f32 {
        2.1 * self.radius / size as f32
    }

    /// Colours at the top and at the bottom of the background, linear.
    pub fn background(&self, view: &View) -> (Vec3, Vec3) {
        match view.background {
            Some(colour) => {
                let colour = linear(colour.map(|c| c as f32));
                (colour, colour)
            }
            None => (linear(SKY[0]), linear(SKY[1])),
        }
    }
}
