//! What follows from the size of a scene: where the ground is, how far it reaches, what the sun's shadows cover.
//!
//! Both renderers use it, so that both show the same.

use glam::camera::rh::proj::directx::orthographic;
use glam::camera::rh::view::look_at_mat4;
use glam::{Mat4, Vec3};
use souple::scene::View;

use crate::camera::Camera;
use crate::capture::Moment;
use crate::looks::{Looks, linear};

/// How far the ground reaches, as a multiple of the radius of the scene.
const GROUND_REACH: f32 = 9.0;
/// Colours of the sky when the view has no background, sRGB: top and bottom.
const SKY: [[f32; 3]; 2] = [[0.70, 0.76, 0.83], [0.88, 0.89, 0.90]];

/// The box that ground and shadows are made for. Kept for a whole animation, so that they do not move with the cloth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extent {
    /// Lowest corner, m.
    pub low: Vec3,
    /// Highest corner, m.
    pub high: Vec3,
}

impl Extent {
    /// The box around all that is seen in moments, if there is anything.
    pub fn of<'a>(moments: impl IntoIterator<Item = &'a Moment>) -> Option<Extent> {
        let boxes = moments.into_iter().filter_map(|moment| moment.bounds(false));
        let all = boxes.reduce(|(low, high), (l, h)| (low.min(l), high.max(h)));
        all.map(|(low, high)| Extent { low, high })
    }

    /// Grows to hold a moment, by a quarter more than it must, so that it seldom has to.
    pub fn include(&mut self, moment: &Moment) {
        let Some((low, high)) = moment.bounds(false) else { return };
        let room = 0.25 * self.low.min(low).distance(self.high.max(high));
        let grown = |mine: f32, its: f32, room: f32| {
            let beyond = if room < 0.0 { its < mine } else { its > mine };
            if beyond { its + room } else { mine }
        };
        for axis in 0..3 {
            self.low[axis] = grown(self.low[axis], low[axis], -room);
            self.high[axis] = grown(self.high[axis], high[axis], room);
        }
    }
}

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
    /// The backdrop of a moment: for the extent of the looks, or for its own without one.
    pub fn of(moment: &Moment, looks: &Looks, camera: &Camera) -> Backdrop {
        let nothing = Extent { low: camera.target, high: camera.target };
        let Extent { low, high } = looks.extent.or_else(|| Extent::of([moment])).unwrap_or(nothing);
        let centre = 0.5 * (low + high);
        let radius = (0.5 * low.distance(high)).max(1e-3);
        // A little below what lies lowest, so that it does not flicker where cloth lies on it.
        let sink = 2e-3 * radius;
        let height = moment.floor.map_or(low.y - 0.02 * radius, |floor| floor.min(low.y + radius)) - sink;
        Backdrop {
            centre,
            radius,
            // From below, the ground would hide what stands on it.
            has_ground: looks.view.ground && camera.eye().y > height,
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use glam::Mat4;

    use super::*;
    use crate::capture::{Item, ItemKind};

    fn moment(points: &[Vec3]) -> Moment {
        let item = Item {
            name: "cloth".into(),
            kind: ItemKind::Body(0),
            mesh: Arc::default(),
            positions: Arc::new(points.to_vec()),
            speeds: Arc::default(),
            plastic: Arc::default(),
            contacts: Arc::default(),
            crossings: Arc::default(),
            fine: None,
            gains: Arc::default(),
            painted: Arc::default(),
            border: Arc::default(),
            creases: Arc::default(),
            model: None,
            transform: Mat4::IDENTITY,
        };
        Moment { items: vec![item], ..Moment::default() }
    }

    #[test]
    fn an_extent_grows_seldom_and_holds_all() {
        let mut extent = Extent::of([&moment(&[Vec3::ZERO, Vec3::ONE])]).unwrap();
        let first = extent;
        extent.include(&moment(&[Vec3::splat(0.2), Vec3::splat(0.8)]));
        assert_eq!(extent, first, "nothing new to hold");
        extent.include(&moment(&[Vec3::new(0.5, -0.1, 0.5)]));
        assert!(extent.low.y < -0.3 && extent.low.x == 0.0 && extent.high == Vec3::ONE, "{extent:?}");
        let grown = extent;
        extent.include(&moment(&[Vec3::new(0.5, -0.2, 0.5)]));
        assert_eq!(extent, grown, "there is room left");
        extent.include(&moment(&[Vec3::NAN]));
        assert_eq!(extent, grown);
    }
}
