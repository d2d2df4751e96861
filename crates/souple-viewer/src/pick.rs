//! Picking: which thing, triangle or particle is under the mouse, and which particles are in a rectangle (ESSI-09,
//! ESSI-10, ESSI-11).
//!
//! Rays are met with the triangles themselves (Möller and Trumbore 1997, both sides count), ropes with capsules around
//! their segments, so that what is picked is what is drawn there. All in the frame of each item, in double precision.
//!
//! Promised: the nearest hit; no panic and no hit on anything that is not finite. The ground is not an item: it hides
//! nothing and cannot be picked.

use glam::{DMat4, DVec3, Vec2, Vec3};

use crate::camera::Camera;
use crate::capture::{Item, ItemKind, Moment};

/// A surface this much nearer than a vertex, as a share of the distance, hides it. Less is rounding.
const HIDING: f64 = 1e-4;

/// Where a ray first meets something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index of the item in the moment.
    pub item: usize,
    /// Index of the triangle in the mesh of the item; of the segment, for a rope.
    pub triangle: usize,
    /// Where, m.
    pub point: Vec3,
    /// How far from the origin of the ray, m.
    pub distance: f32,
    /// Corner of the triangle, or end of the segment, that is nearest to the point.
    pub vertex: u32,
}

/// The nearest thing that a ray meets. The direction can have any length but zero.
pub fn pick(moment: &Moment, origin: Vec3, direction: Vec3) -> Option<Hit> {
    pick_among(moment, origin, direction, |_| true)
}

/// The nearest thing that a ray meets among the items that are `shown`, which is asked with their indices.
pub fn pick_among(
    moment: &Moment,
    origin: Vec3,
    direction: Vec3,
    mut shown: impl FnMut(usize) -> bool,
) -> Option<Hit> {
    let direction = direction.as_dvec3().try_normalize()?;
    let mut best: Option<Hit> = None;
    for (index, item) in moment.items.iter().enumerate() {
        if !shown(index) {
            continue;
        }
        let limit = best.map_or(f64::INFINITY, |hit| f64::from(hit.distance));
        let Some((triangle, t)) = nearest(item, origin.as_dvec3(), direction, limit) else { continue };
        let point = (origin.as_dvec3() + direction * t).as_vec3();
        let Some(vertex) = nearest_corner(item, triangle, point) else { continue };
        best = Some(Hit { item: index, triangle, point, distance: t as f32, vertex });
    }
    best
}

/// Index and distance of the nearest triangle or segment of an item nearer than `limit`.
fn nearest(item: &Item, origin: DVec3, direction: DVec3, limit: f64) -> Option<(usize, f64)> {
    let ray = LocalRay::new(item, origin, direction)?;
    let mut best: Option<(usize, f64)> = None;
    for k in 0..faces(item) {
        if let Some(t) = ray.meet(item, k)
            && t < best.map_or(limit, |(_, nearest)| nearest)
        {
            best = Some((k, t));
        }
    }
    best
}

/// Number of triangles, or segments of a rope: what a ray can hit.
fn faces(item: &Item) -> usize {
    if item.mesh.segments.is_empty() { item.mesh.triangles.len() } else { item.mesh.segments.len() }
}

/// A ray in the frame of an item. The direction keeps its length under the transform, so distances stay those of the
/// world.
struct LocalRay {
    origin: DVec3,
    direction: DVec3,
}

impl LocalRay {
    fn new(item: &Item, origin: DVec3, direction: DVec3) -> Option<LocalRay> {
        let inverse = DMat4::from_cols_array(&item.transform.to_cols_array().map(f64::from)).inverse();
        let ray = LocalRay {
            origin: inverse.transform_point3(origin),
            direction: inverse.transform_vector3(direction),
        };
        (ray.origin.is_finite() && ray.direction.is_finite()).then_some(ray)
    }

    /// Distance at which it meets a triangle or segment of the item.
    fn meet(&self, item: &Item, k: usize) -> Option<f64> {
        let at = |v: u32| item.positions.get(v as usize).map(|p| p.as_dvec3());
        if item.mesh.segments.is_empty() {
            let [a, b, c] = *item.mesh.triangles.get(k)?;
            self.meet_triangle(at(a)?, at(b)?, at(c)?)
        } else {
            let [a, b] = *item.mesh.segments.get(k)?;
            self.meet_capsule(at(a)?, at(b)?, f64::from(item.mesh.rope_radius))
        }
    }

    fn meet_triangle(&self, a: DVec3, b: DVec3, c: DVec3) -> Option<f64> {
        let (ab, ac) = (b - a, c - a);
        let p = self.direction.cross(ac);
        let determinant = ab.dot(p);
        let offset = self.origin - a;
        let q = offset.cross(ab);
        let (u, v) = (offset.dot(p) / determinant, self.direction.dot(q) / determinant);
        let t = ac.dot(q) / determinant;
        // Comparisons with what is not a number are false: flat triangles and lost particles are never hit.
        (u >= 0.0 && v >= 0.0 && u + v <= 1.0 && t > 0.0 && t.is_finite()).then_some(t)
    }

    /// From outside, where it enters the set of points within `radius` of a segment; from inside, nothing.
    fn meet_capsule(&self, a: DVec3, b: DVec3, radius: f64) -> Option<f64> {
        let (axis, offset) = (b - a, self.origin - a);
        let length2 = axis.length_squared();
        let mut first: Option<f64> = None;
        let mut keep = |t: f64| {
            if t > 0.0 && t.is_finite() && first.is_none_or(|known| t < known) {
                first = Some(t);
            }
        };
        if length2 > 0.0 {
            // Parts of the ray across the axis, times the length of the axis squared.
            let across = |v: DVec3| v * length2 - axis * axis.dot(v);
            let (d, o) = (across(self.direction), across(offset));
            if let Some(t) =
                first_root(d.length_squared(), d.dot(o), o.length_squared() - (radius * length2).powi(2))
            {
                let along = axis.dot(offset + self.direction * t);
                if (0.0..=length2).contains(&along) {
                    keep(t);
                }
            }
        }
        for centre in [a, b] {
            let offset = self.origin - centre;
            let d = self.direction;
            if let Some(t) =
                first_root(d.length_squared(), d.dot(offset), offset.length_squared() - radius * radius)
            {
                keep(t);
            }
        }
        first
    }
}

/// The smaller solution of a t² + 2 b t + c = 0.
fn first_root(a: f64, b: f64, c: f64) -> Option<f64> {
    let inside = b * b - a * c;
    (a > 0.0 && inside >= 0.0).then(|| (-b - inside.sqrt()) / a)
}

fn nearest_corner(item: &Item, face: usize, point: Vec3) -> Option<u32> {
    let corners: &[u32] = match item.mesh.segments.is_empty() {
        true => item.mesh.triangles.get(face)?,
        false => item.mesh.segments.get(face)?,
    };
    let distance = |v: &u32| {
        let p = item.positions.get(*v as usize).copied().unwrap_or(Vec3::NAN);
        item.transform.transform_point3(p).distance_squared(point)
    };
    corners.iter().copied().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// The vertex of a body that is nearest to a pixel on screen, within `radius` pixels, and not hidden behind any surface:
/// (item, vertex). Colliders hide vertices but have none to be picked. `size` is that of the picture, pixels.
pub fn pick_vertex(
    moment: &Moment,
    camera: &Camera,
    size: Vec2,
    pixel: Vec2,
    radius: f32,
) -> Option<(usize, u32)> {
    let mut candidates: Vec<(f32, usize, u32)> = Vec::new();
    for (index, item) in moment.items.iter().enumerate() {
        if !matches!(item.kind, ItemKind::Body(_)) {
            continue;
        }
        for (v, p) in (0u32..).zip(item.positions.iter()) {
            let Some(at) = on_screen(item, *p, camera, size) else { continue };
            let away = at.distance(pixel);
            if away <= radius {
                candidates.push((away, index, v));
            }
        }
    }
    candidates.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    if candidates.is_empty() {
        return None;
    }
    // Only what is drawn near the pixel can hide a vertex there.
    let hiding: Vec<Vec<u32>> =
        moment.items.iter().map(|item| faces_near(item, camera, size, pixel, radius)).collect();
    let visible =
        |&&(_, item, vertex): &&(f32, usize, u32)| !is_hidden(moment, &hiding, camera, item, vertex);
    candidates.iter().find(visible).map(|&(_, item, vertex)| (item, vertex))
}

/// Where a point of an item is in the picture, pixels.
fn on_screen(item: &Item, point: Vec3, camera: &Camera, size: Vec2) -> Option<Vec2> {
    camera.pixel(item.transform.transform_point3(point), size).filter(|at| at.is_finite())
}

/// Triangles or segments of an item that may be drawn within `radius` of a pixel.
fn faces_near(item: &Item, camera: &Camera, size: Vec2, pixel: Vec2, radius: f32) -> Vec<u32> {
    let places: Vec<Option<Vec2>> =
        item.positions.iter().map(|p| on_screen(item, *p, camera, size)).collect();
    let place = |v: u32| places.get(v as usize).copied().flatten();
    let is_near = |corners: &[u32]| {
        let (mut low, mut high) = (Vec2::INFINITY, Vec2::NEG_INFINITY);
        for corner in corners {
            // A corner behind the eye: it may be anywhere.
            let Some(at) = place(*corner) else { return true };
            (low, high) = (low.min(at), high.max(at));
        }
        low.cmple(pixel + radius).all() && high.cmpge(pixel - radius).all()
    };
    let numbered = |near: Vec<bool>| (0u32..).zip(near).filter(|(_, near)| *near).map(|(k, _)| k).collect();
    if item.mesh.segments.is_empty() {
        numbered(item.mesh.triangles.iter().map(|t| is_near(t)).collect())
    } else {
        // Ropes are as thick as they look; all of their segments are few enough.
        (0..item.mesh.segments.len() as u32).collect()
    }
}

/// Whether one of those faces is between the eye and a vertex. Faces at the vertex itself do not count.
fn is_hidden(moment: &Moment, hiding: &[Vec<u32>], camera: &Camera, item: usize, vertex: u32) -> bool {
    let eye = camera.eye().as_dvec3();
    let own = &moment.items[item];
    let Some(p) = own.positions.get(vertex as usize) else { return true };
    let target = own.transform.transform_point3(*p).as_dvec3();
    let distance = eye.distance(target);
    let Some(direction) = (target - eye).try_normalize() else { return false };
    // A vertex of a rope is inside of it.
    let inside = if own.mesh.segments.is_empty() { 0.0 } else { 1.5 * f64::from(own.mesh.rope_radius) };
    let limit = distance * (1.0 - HIDING);
    moment.items.iter().zip(hiding).enumerate().any(|(index, (other, faces))| {
        let Some(ray) = LocalRay::new(other, eye, direction) else { return false };
        let limit = if index == item { limit - inside } else { limit };
        faces.iter().any(|&face| {
            let own_face = index == item
                && match other.mesh.segments.is_empty() {
                    true => other.mesh.triangles.get(face as usize).is_some_and(|t| t.contains(&vertex)),
                    false => other.mesh.segments.get(face as usize).is_some_and(|s| s.contains(&vertex)),
                };
            !own_face && ray.meet(other, face as usize).is_some_and(|t| t < limit)
        })
    })
}

/// Vertices of an item that are drawn in a rectangle between two opposite corners, in pixels, hidden ones too: a box is
/// drawn around a sleeve to get all of it. Nothing for an item that is not there.
pub fn vertices_in_box(
    moment: &Moment,
    item: usize,
    camera: &Camera,
    size: Vec2,
    low: Vec2,
    high: Vec2,
) -> Vec<u32> {
    let Some(item) = moment.items.get(item) else { return Vec::new() };
    let (low, high) = (low.min(high), low.max(high));
    let inside = |p: &Vec3| {
        let at = on_screen(item, *p, camera, size);
        at.is_some_and(|at| at.cmpge(low).all() && at.cmple(high).all())
    };
    (0u32..).zip(item.positions.iter()).filter(|(_, p)| inside(p)).map(|(v, _)| v).collect()
}

#[cfg(test)]
mod tests {
    use glam::{Mat4, Quat};
    use proptest::prelude::*;
    use souple::contact::primitives::Primitive;

    use super::*;
    use crate::camera::tests::cameras;
    use crate::cpu::fixture::{cloth, collider, looks, moment, rope};
    use crate::cpu::{NO_ITEM, item_ids};
    use crate::style::StyleSheet;

    const SIZE: Vec2 = Vec2::new(128.0, 96.0);

    fn any_camera() -> impl Strategy<Value = Camera> {
        cameras(0.3, 1.2..5.0, 0.3..1.2)
    }

    /// A wavy cloth, a rope, a turned box and a ball.
    fn several(turn: f32) -> Moment {
        let place = |x: f32, z: f32| Vec3::new(x, 0.3 + 0.1 * (6.0 * x).sin() * (4.0 * z).cos(), z);
        let points =
            (0..20).map(|k| Vec3::new(0.05 * k as f32 - 0.5, -0.1 + 0.2 * (0.4 * k as f32).sin(), 0.6));
        let pose = Mat4::from_rotation_translation(Quat::from_rotation_y(turn), Vec3::new(0.2, -0.3, 0.0));
        moment(vec![
            cloth(10, place),
            rope(points.collect(), 0.03),
            collider(&Primitive::Box { half: DVec3::new(0.2, 0.1, 0.3) }, pose),
            collider(&Primitive::Sphere { radius: 0.2 }, Mat4::from_translation(Vec3::new(-0.4, -0.2, 0.1))),
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn picks_agree_with_what_is_drawn(camera in any_camera(), turn in -3.0f32..3.0) {
            let moment = several(turn);
            let looks = looks(&moment, "standard");
            let (width, height) = (SIZE.x as usize, SIZE.y as usize);
            let ids = item_ids(&moment, &looks, &StyleSheet::built_in(), &camera, (SIZE.x as u32, SIZE.y as u32));
            // What is nearer than the nearest plane is picked but not drawn.
            let near = |hit: &Hit| (hit.point - camera.eye()).dot((camera.target - camera.eye()).normalize()) <= camera.near();
            for y in 1..height - 1 {
                for x in 1..width - 1 {
                    let id = ids[y * width + x];
                    // Within a pixel of an edge, rounding decides; and the tube of a rope has flat sides.
                    let around = (0..9).map(|k| ids[(y + k / 3 - 1) * width + x + k % 3 - 1]);
                    if around.clone().any(|other| other != id) {
                        continue;
                    }
                    let (origin, direction) = camera.ray(Vec2::new(x as f32 + 0.5, y as f32 + 0.5), SIZE);
                    let hit = pick(&moment, origin, direction);
                    if hit.as_ref().is_some_and(near) {
                        continue;
                    }
                    let found = hit.map_or(NO_ITEM, |hit| hit.item as u32);
                    prop_assert_eq!(found, id, "at {}, {}", x, y);
                }
            }
        }

        #[test]
        fn boxes_hold_what_is_projected_into_them(
            camera in any_camera(), a in prop::array::uniform2(0.0f32..96.0), b in prop::array::uniform2(0.0f32..96.0),
        ) {
            let moment = several(0.3);
            let found = vertices_in_box(&moment, 0, &camera, SIZE, a.into(), b.into());
            // By angles instead of matrices: how far right and up of the line of sight, over how far along it.
            let (right, up) = camera.axes();
            let forward = (camera.target - camera.eye()).normalize();
            let scale = 0.5 * SIZE.y / (0.5 * camera.field_of_view).tan();
            for (v, p) in (0u32..).zip(moment.items[0].positions.iter()) {
                let offset = *p - camera.eye();
                let along = offset.dot(forward);
                let at = 0.5 * SIZE + Vec2::new(offset.dot(right), -offset.dot(up)) / along * scale;
                let (low, high) = (Vec2::from(a).min(b.into()), Vec2::from(a).max(b.into()));
                let inset = (at - low).min(high - at).min_element();
                if along > 1.01 * camera.near() && inset.abs() > 0.05 {
                    prop_assert_eq!(found.contains(&v), inset > 0.0, "vertex {} at {}", v, at);
                } else if along < 0.99 * camera.near() {
                    prop_assert!(!found.contains(&v));
                }
            }
        }

        #[test]
        fn balls_are_hit_where_they_are(
            origin in prop::array::uniform3(-3.0f32..3.0), aim in prop::array::uniform3(-0.3f32..0.3), stretch in 0.5f32..2.0,
        ) {
            // A ball made an ellipsoid by its transform: hits lie on it, and nothing of the ray before them is inside.
            let transform = Mat4::from_scale_rotation_translation(
                Vec3::new(1.0, stretch, 1.0), Quat::from_rotation_z(0.4), Vec3::new(0.1, 0.0, 0.0),
            );
            let moment = moment(vec![collider(&Primitive::Sphere { radius: 0.5 }, transform)]);
            let (origin, aim) = (Vec3::from(origin), Vec3::from(aim));
            let radius = |p: Vec3| transform.inverse().transform_point3(p).length();
            prop_assume!(radius(origin) > 0.6);
            if let Some(hit) = pick(&moment, origin, aim - origin) {
                prop_assert!((radius(hit.point) - 0.5).abs() < 0.002, "{}", radius(hit.point));
                prop_assert!((hit.distance - origin.distance(hit.point)).abs() < 1e-4);
                for k in 0..20 {
                    prop_assert!(radius(origin.lerp(hit.point, k as f32 / 20.0)) > 0.498);
                }
                let corner = moment.items[0].positions[hit.vertex as usize];
                prop_assert!(transform.transform_point3(corner).distance(hit.point) < 0.1);
            } else {
                // No hit: the ray stays outside.
                for k in 0..200 {
                    prop_assert!(radius(origin.lerp(aim, k as f32 / 100.0)) > 0.498);
                }
            }
        }
    }

    #[test]
    fn ropes_are_as_thick_as_they_are_drawn() {
        let moment = moment(vec![rope(vec![Vec3::ZERO, Vec3::X, Vec3::new(2.0, 0.0, 0.0)], 0.1)]);
        let hit = pick(&moment, Vec3::new(1.2, 0.0, 5.0), -Vec3::Z).unwrap();
        assert_eq!((hit.item, hit.triangle, hit.vertex), (0, 1, 1));
        assert!((hit.distance - 4.9).abs() < 1e-5);
        assert!(pick(&moment, Vec3::new(1.2, 0.09, 5.0), -Vec3::Z).is_some());
        assert!(pick(&moment, Vec3::new(1.2, 0.11, 5.0), -Vec3::Z).is_none());
        // Round ends.
        assert!(pick(&moment, Vec3::new(-0.09, 0.0, 5.0), -Vec3::Z).is_some());
        assert!(pick(&moment, Vec3::new(-0.09, 0.09, 5.0), -Vec3::Z).is_none());
        let along = pick(&moment, Vec3::new(-3.0, 0.0, 0.0), Vec3::X).unwrap();
        assert!((along.distance - 2.9).abs() < 1e-5 && along.vertex == 0);
    }

    #[test]
    fn items_can_be_left_out() {
        let sheet = |z: f32| cloth(2, move |x, y| Vec3::new(x, y, z));
        let moment = moment(vec![sheet(1.0), sheet(0.0)]);
        let picked = |shown: fn(usize) -> bool| {
            pick_among(&moment, Vec3::new(0.1, 0.1, 5.0), -Vec3::Z, shown).map(|hit| hit.item)
        };
        assert_eq!(picked(|_| true), Some(0));
        assert_eq!(picked(|item| item != 0), Some(1));
        assert_eq!(picked(|_| false), None);
    }

    #[test]
    fn vertices_behind_other_things_are_not_picked() {
        let camera = Camera { yaw: 0.0, pitch: 0.0, ..Camera::default() };
        let sheet = |z: f32| cloth(4, move |x, y| Vec3::new(x, y, z));
        let ball = collider(&Primitive::Sphere { radius: 0.2 }, Mat4::from_translation(Vec3::Z * 0.6));
        let at = |moment: &Moment, p: Vec3, radius: f32| {
            pick_vertex(moment, &camera, SIZE, camera.pixel(p, SIZE).unwrap(), radius)
        };
        let alone = moment(vec![sheet(0.0)]);
        // The middle of 5 × 5 vertices.
        assert_eq!(at(&alone, Vec3::ZERO, 3.0), Some((0, 12)));
        // Seen from the other side as well.
        let turned = Camera { yaw: std::f32::consts::PI, ..camera };
        let pixel = turned.pixel(Vec3::ZERO, SIZE).unwrap();
        assert_eq!(pick_vertex(&alone, &turned, SIZE, pixel, 3.0), Some((0, 12)));
        assert_eq!(at(&alone, Vec3::new(0.125, 0.125, 0.0), 1.0), None);
        let hidden = moment(vec![sheet(0.0), ball]);
        assert_eq!(at(&hidden, Vec3::ZERO, 3.0), None);
        assert_eq!(at(&hidden, Vec3::new(0.5, 0.5, 0.0), 3.0), Some((0, 24)));
        // Of two sheets, the nearer one.
        let two = moment(vec![sheet(0.0), sheet(0.3)]);
        assert_eq!(at(&two, Vec3::new(0.25, 0.0, 0.3), 3.0), Some((1, 13)));
        let line = rope((0..5).map(|k| Vec3::new(0.2 * k as f32 - 0.4, 0.0, 0.0)).collect(), 0.03);
        assert_eq!(at(&moment(vec![line]), Vec3::new(0.2, 0.0, 0.0), 4.0), Some((0, 3)));
    }

    #[test]
    fn odd_input_hits_nothing() {
        let mut lost = cloth(2, |_, _| Vec3::NAN);
        let empty = Moment::default();
        assert_eq!(pick(&empty, Vec3::ZERO, Vec3::X), None);
        assert_eq!(pick(&moment(vec![lost.clone()]), Vec3::ZERO, Vec3::X), None);
        lost.transform = Mat4::ZERO;
        let moment = moment(vec![lost, rope(vec![Vec3::ZERO, Vec3::ZERO], f32::NAN)]);
        for direction in [Vec3::ZERO, Vec3::NAN, Vec3::X] {
            assert_eq!(pick(&moment, Vec3::ONE, direction), None);
        }
        let camera = Camera::default();
        assert_eq!(pick_vertex(&moment, &camera, Vec2::ZERO, Vec2::ZERO, 5.0), None);
        assert!(vertices_in_box(&moment, 9, &camera, SIZE, Vec2::ZERO, SIZE).is_empty());
    }
}
