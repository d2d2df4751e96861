//! Where the scene is seen from: orbit, pan, zoom, fit, rays through pixels (ESSI-03, ESSI-06, ESSI-07).
//!
//! The camera turns about a target: horizontal drags turn it about the vertical, vertical drags tilt it. Angles are
//! plain sums, so that moving the mouse back brings the view back (the acceptance test of ESSI-06).

use glam::camera::rh::proj::directx::perspective_infinite_reverse;
use glam::{Mat4, Vec2, Vec3, Vec4, Vec4Swizzles};

/// Steepest tilt that a drag leads to, radians: beyond straight up or down, left and right would change places.
const STEEPEST: f32 = 1.55;
/// Closest and farthest distance from the target, m.
const DISTANCES: (f32, f32) = (1e-3, 1e9);
/// Share of the picture that a fitted view fills.
const FILL: f32 = 0.86;

/// A camera that looks at a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// What it looks at and turns about, m.
    pub target: Vec3,
    /// Angle about the vertical, radians; 0 looks along −z.
    pub yaw: f32,
    /// Angle above the horizon, radians.
    pub pitch: f32,
    /// Distance from the target, m.
    pub distance: f32,
    /// Vertical field of view, radians.
    pub field_of_view: f32,
}

impl Default for Camera {
    fn default() -> Self {
        Camera { target: Vec3::ZERO, yaw: 0.6, pitch: 0.35, distance: 3.0, field_of_view: 35f32.to_radians() }
    }
}

/// A view along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// From +z.
    Front,
    /// From +x.
    Side,
    /// From above.
    Top,
    /// From a corner.
    Corner,
}

impl Camera {
    /// The camera of a scene file.
    pub fn of_scene(camera: &souple::scene::Camera) -> Camera {
        let [position, target] = [camera.position, camera.target].map(|p| Vec3::from(p.map(|c| c as f32)));
        let offset = position - target;
        let distance = offset.length().clamp(DISTANCES.0, DISTANCES.1);
        Camera {
            target,
            yaw: offset.x.atan2(offset.z),
            pitch: (offset.y / distance).clamp(-1.0, 1.0).asin(),
            distance,
            field_of_view: (camera.field_of_view_deg as f32).to_radians(),
        }
    }

    /// The camera as it is written in a scene file.
    pub fn to_scene(&self) -> souple::scene::Camera {
        // Rounded to a tenth of a millimetre and a hundredth of a degree: people read scene files.
        let plain = |v: Vec3| v.to_array().map(|c| (f64::from(c) * 1e4).round() / 1e4);
        souple::scene::Camera {
            position: plain(self.eye()),
            target: plain(self.target),
            field_of_view_deg: (f64::from(self.field_of_view.to_degrees()) * 1e2).round() / 1e2,
        }
    }

    /// Where it stands, m.
    pub fn eye(&self) -> Vec3 {
        self.target + self.backward() * self.distance
    }

    /// Unit vector from the target to the eye.
    fn backward(&self) -> Vec3 {
        let (sin_yaw, cos_yaw) = self.yaw.sin_cos();
        let (sin_pitch, cos_pitch) = self.pitch.sin_cos();
        Vec3::new(sin_yaw * cos_pitch, sin_pitch, cos_yaw * cos_pitch)
    }

    /// Unit vectors to the right and up in the picture.
    pub fn axes(&self) -> (Vec3, Vec3) {
        let right = Vec3::new(self.yaw.cos(), 0.0, -self.yaw.sin());
        (right, self.backward().cross(right))
    }

    /// World → camera.
    pub fn view(&self) -> Mat4 {
        // From the angles, so that straight up and down are directions like any other.
        let (right, up) = self.axes();
        let (backward, eye) = (self.backward(), self.eye());
        let row = |axis: Vec3| axis.extend(-axis.dot(eye));
        Mat4::from_cols(row(right), row(up), row(backward), Vec4::W).transpose()
    }

    /// Camera → clip space; depth from 1 near to 0 far, which spreads the precision of floats evenly.
    pub fn projection(&self, aspect: f32) -> Mat4 {
        perspective_infinite_reverse(self.field_of_view, aspect, self.near())
    }

    /// Nearest distance that is seen, m.
    pub fn near(&self) -> f32 {
        (0.01 * self.distance).max(1e-4)
    }

    /// World → clip space of a picture of that width over height.
    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        self.projection(aspect) * self.view()
    }

    /// Origin and unit direction of the ray through a point of the picture, in pixels from its top left corner.
    pub fn ray(&self, pixel: Vec2, size: Vec2) -> (Vec3, Vec3) {
        let (right, up) = self.axes();
        let half = (0.5 * self.field_of_view).tan();
        let x = (2.0 * pixel.x / size.x - 1.0) * half * size.x / size.y;
        let y = (1.0 - 2.0 * pixel.y / size.y) * half;
        (self.eye(), (right * x + up * y - self.backward()).normalize())
    }

    /// Where a point of the world is in the picture, in pixels, if it is in front of the camera.
    pub fn pixel(&self, point: Vec3, size: Vec2) -> Option<Vec2> {
        let clip = self.view_projection(size.x / size.y) * point.extend(1.0);
        (clip.w > self.near()).then(|| {
            let ndc = clip.xy() / clip.w;
            Vec2::new(0.5 * (ndc.x + 1.0) * size.x, 0.5 * (1.0 - ndc.y) * size.y)
        })
    }

    /// Turns by a drag, in radians.
    pub fn orbit(&mut self, dx: f32, dy: f32) {
        self.yaw -= dx;
        self.pitch = (self.pitch + dy).clamp(-STEEPEST, STEEPEST);
    }

    /// Moves sideways by a drag in pixels, so that what is at the depth of the target follows the mouse.
    pub fn pan(&mut self, drag: Vec2, height: f32) {
        let (right, up) = self.axes();
        let metres = 2.0 * (0.5 * self.field_of_view).tan() * self.distance / height.max(1.0);
        self.target += (up * drag.y - right * drag.x) * metres;
    }

    /// Comes closer (factor below 1) or goes away.
    pub fn zoom(&mut self, factor: f32) {
        self.distance = (self.distance * factor).clamp(DISTANCES.0, DISTANCES.1);
    }

    /// Looks along an axis.
    pub fn look_from(&mut self, preset: Preset) {
        (self.yaw, self.pitch) = match preset {
            Preset::Front => (0.0, 0.0),
            Preset::Side => (std::f32::consts::FRAC_PI_2, 0.0),
            Preset::Top => (0.0, std::f32::consts::FRAC_PI_2),
            Preset::Corner => (0.6, 0.35),
        };
    }

    /// Looks at the middle of points from where they are all seen in a picture of that width over height.
    pub fn fit(&mut self, points: impl Iterator<Item = Vec3> + Clone, aspect: f32) {
        let finite = points.filter(|p| p.is_finite());
        let Some(first) = finite.clone().next() else { return };
        let (right, up, backward) = (self.axes().0, self.axes().1, self.backward());
        // The middle as it is seen, not that of a box along the axes, which may be empty on one side.
        let middle = |axis: Vec3| {
            let range = finite.clone().fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), p| {
                let at = (p - first).dot(axis);
                (low.min(at), high.max(at))
            });
            0.5 * (range.0 + range.1)
        };
        self.target = first + right * middle(right) + up * middle(up) + backward * middle(backward);
        let tan = (0.5 * self.field_of_view).tan() * FILL;
        let needed = finite.map(|p| {
            let offset = p - self.target;
            let across = (offset.dot(right).abs() / aspect.max(1e-3)).max(offset.dot(up).abs());
            across / tan + offset.dot(backward)
        });
        self.distance = needed.fold(DISTANCES.0, f32::max).clamp(DISTANCES.0, DISTANCES.1);
    }

    /// A camera from the usual corner that sees all of these points.
    pub fn fitted(points: impl Iterator<Item = Vec3> + Clone, aspect: f32) -> Camera {
        let mut camera = Camera::default();
        camera.fit(points, aspect);
        camera
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIZE: Vec2 = Vec2::new(640.0, 480.0);

    /// Cameras that look from any side, from `distance` away, at points as far from the origin as `around`, m.
    pub(crate) fn cameras(
        around: f32,
        distance: std::ops::Range<f32>,
        field_of_view: std::ops::Range<f32>,
    ) -> impl Strategy<Value = Camera> {
        let at = prop::array::uniform3(-around..around);
        (at, -4.0f32..4.0, -1.5f32..1.5, distance, field_of_view).prop_map(
            |(target, yaw, pitch, distance, field_of_view)| Camera {
                target: target.into(),
                yaw,
                pitch,
                distance,
                field_of_view,
            },
        )
    }

    fn any_camera() -> impl Strategy<Value = Camera> {
        cameras(5.0, 0.1..20.0, 0.2..1.5)
    }

    proptest! {
        #[test]
        fn ray_through_a_pixel_meets_what_is_drawn_there(camera in any_camera(), x in 0.0f32..640.0, y in 0.0f32..480.0, t in 0.5f32..3.0) {
            let (origin, direction) = camera.ray(Vec2::new(x, y), SIZE);
            let back = camera.pixel(origin + direction * (t * camera.distance), SIZE).unwrap();
            prop_assert!((back - Vec2::new(x, y)).length() < 0.1, "{back}");
        }

        #[test]
        fn moving_the_mouse_back_brings_the_view_back(camera in any_camera(), dx in -3.0f32..3.0, dy in -0.05f32..0.05) {
            let mut moved = camera;
            moved.orbit(dx, dy);
            moved.orbit(-dx, -dy);
            prop_assert!(moved.eye().distance(camera.eye()) < 1e-4 * camera.distance);
        }

        #[test]
        fn all_corners_of_a_fitted_box_are_in_the_picture(low in prop::array::uniform3(-3.0f32..0.0), high in prop::array::uniform3(0.1f32..3.0)) {
            let corner = |k: u32| Vec3::from([0, 1, 2].map(|axis| if k >> axis & 1 == 0 { low[axis] } else { high[axis] }));
            let camera = Camera::fitted((0..8).map(corner), SIZE.x / SIZE.y);
            for p in (0..8).map(corner) {
                let p = camera.pixel(p, SIZE).unwrap();
                prop_assert!(p.cmpge(Vec2::ZERO).all() && p.cmple(SIZE).all(), "{p}");
            }
        }

        #[test]
        fn scene_files_keep_the_view(camera in any_camera()) {
            let back = Camera::of_scene(&camera.to_scene());
            prop_assert!(back.eye().distance(camera.eye()) < 2e-3, "{back:?}");
        }
    }

    #[test]
    fn a_pan_keeps_the_target_under_the_mouse() {
        let mut camera = Camera::default();
        let point = camera.target;
        camera.pan(Vec2::new(30.0, -20.0), SIZE.y);
        let seen = camera.pixel(point, SIZE).unwrap();
        assert!((seen - (0.5 * SIZE + Vec2::new(30.0, -20.0))).length() < 0.01, "{seen}");
    }
}
