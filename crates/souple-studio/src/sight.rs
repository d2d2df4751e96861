//! Where the camera goes to see what is asked for, and what is under a pixel.

use glam::{Vec2, Vec3};
use souple_viewer::Camera;

use crate::tools::Seen;

/// How much one notch of the wheel comes closer.
const ZOOM_PER_NOTCH: f32 = 0.85;
/// Closest that a focus goes, m.
pub(crate) const CLOSEST_FOCUS: f32 = 0.3;

/// The camera that sees all bodies, or all colliders without any, from where it looks now.
pub fn see_all(seen: &Seen) -> Camera {
    match seen.moment.points(true).next() {
        Some(_) => fitted(seen, seen.moment.points(true)),
        None => fitted(seen, seen.moment.points(false)),
    }
}

/// The camera that sees some points, from where it looks now.
pub(crate) fn fitted(seen: &Seen, points: impl Iterator<Item = Vec3> + Clone) -> Camera {
    let mut camera = seen.camera;
    if points.clone().next().is_some() {
        camera.fit(points, seen.size.x.max(1.0) / seen.size.y.max(1.0));
        // A single vertex has no size: something of what surrounds it is shown.
        camera.distance = camera.distance.max(CLOSEST_FOCUS);
    }
    camera
}

/// Comes closer, or goes away, so that what is under the pointer at the depth of the target stays there.
pub(crate) fn zoomed(seen: &Seen, at: Vec2, notches: f32) -> Camera {
    let mut camera = seen.camera;
    let fixed = on_plane(&camera, camera.target, at, seen.size);
    camera.zoom(ZOOM_PER_NOTCH.powf(notches.clamp(-20.0, 20.0)));
    if let Some(fixed) = fixed {
        // The distance has limits: the share that it really changed by counts.
        let share = camera.distance / seen.camera.distance;
        camera.target = fixed + (camera.target - fixed) * share;
    }
    camera
}

/// Where the ray through a pixel meets the plane through a point that faces the camera.
pub(crate) fn on_plane(camera: &Camera, point: Vec3, at: Vec2, size: Vec2) -> Option<Vec3> {
    let (origin, direction) = camera.ray(at, size);
    let normal = (camera.eye() - camera.target).try_normalize()?;
    let along = (point - origin).dot(normal) / direction.dot(normal);
    let place = origin + direction * along;
    (along > 0.0 && place.is_finite()).then_some(place)
}

/// Metres per pixel at the depth of a point.
pub(crate) fn metres_per_pixel(camera: &Camera, point: Vec3, size: Vec2) -> f32 {
    let forward = (camera.target - camera.eye()).normalize_or_zero();
    let depth = (point - camera.eye()).dot(forward).max(camera.near());
    2.0 * (0.5 * camera.field_of_view).tan() * depth / size.y.max(1.0)
}
