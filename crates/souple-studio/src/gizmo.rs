//! The gizmo that moves selected vertices: three arms along the axes of the world, and a middle.
//!
//! What was free is anchored while it is moved and freed again; what was anchored by hand stays anchored; supports of a
//! pin set move as a set.

use std::collections::BTreeSet;

use glam::{Vec2, Vec3};
use souple::{Command, PinnedVertex};

use crate::sight::{metres_per_pixel, on_plane};
use crate::tools::{Seen, Selection, body_item, doubles, many, selected_positions, support_of};

/// How far the arm of the gizmo reaches, pixels.
pub(crate) const GIZMO_PIXELS: f32 = 80.0;
/// How near the pointer must be to an arm or to the middle of the gizmo, pixels.
const GIZMO_REACH: (f32, f32) = (7.0, 11.0);
/// The vertices of one body that a gizmo moves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Moved {
    pub(crate) body: String,
    /// Those that were free and will be again.
    pub(crate) free: Vec<u32>,
    /// Those that are anchored by hand while it is dragged.
    pub(crate) anchored: Vec<u32>,
    /// Pin sets that are touched.
    pub(crate) sets: Vec<String>,
}

/// A part of the gizmo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handle {
    /// The arm along x, y or z.
    Arm(usize),
    /// The middle: moves in the plane that faces the camera.
    Middle,
}

/// Three arms and a middle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Gizmo {
    /// Where it is, m.
    pub(crate) centre: Vec3,
    /// Length of an arm, m.
    pub(crate) length: f32,
}

impl Gizmo {
    /// In the middle of the selected vertices, which moves with what is dragged.
    pub(crate) fn of_selection(selection: &Selection, seen: &Seen) -> Option<Gizmo> {
        let (sum, count) = selected_positions(selection, seen.moment)
            .fold((Vec3::ZERO, 0u32), |(sum, count), p| (sum + p, count + 1));
        Gizmo::at(sum / count as f32, seen)
    }

    /// At a point; always as large in the picture.
    pub(crate) fn at(centre: Vec3, seen: &Seen) -> Option<Gizmo> {
        let length = GIZMO_PIXELS * metres_per_pixel(&seen.camera, centre, seen.size);
        (centre.is_finite() && length > 0.0).then_some(Gizmo { centre, length })
    }

    /// End of an arm, m.
    pub(crate) fn end(&self, arm: usize) -> Vec3 {
        self.centre + Vec3::AXES[arm % 3] * self.length
    }

    /// The part that is under the pointer.
    pub(crate) fn handle_at(&self, at: Vec2, seen: &Seen) -> Option<Handle> {
        let middle = seen.camera.pixel(self.centre, seen.size)?;
        if at.distance(middle) <= GIZMO_REACH.1 {
            return Some(Handle::Middle);
        }
        let arms = (0..3).filter_map(|arm| {
            let end = seen.camera.pixel(self.end(arm), seen.size)?;
            // An arm that points at the person cannot be dragged in any direction.
            if middle.distance(end) < 2.0 * GIZMO_REACH.0 {
                return None;
            }
            let share = ((at - middle).dot(end - middle) / (end - middle).length_squared()).clamp(0.0, 1.0);
            Some((at.distance(middle.lerp(end, share)), arm))
        });
        let nearest = arms.min_by(|a, b| a.0.total_cmp(&b.0));
        nearest.filter(|(distance, _)| *distance <= GIZMO_REACH.0).map(|(_, arm)| Handle::Arm(arm))
    }

    /// The point of the arm, or of the plane of the middle, that the pointer means.
    pub(crate) fn grip(&self, handle: Handle, at: Vec2, seen: &Seen) -> Option<Vec3> {
        let Handle::Arm(arm) = handle else { return on_plane(&seen.camera, self.centre, at, seen.size) };
        let axis = Vec3::AXES[arm % 3];
        let (origin, direction) = seen.camera.ray(at, seen.size);
        // The point of the axis that is nearest to the ray.
        let (offset, cosine) = (self.centre - origin, axis.dot(direction));
        let sine_squared = 1.0 - cosine * cosine;
        let along = (cosine * direction.dot(offset) - axis.dot(offset)) / sine_squared;
        // Where the ray runs along the axis, it means no point of it.
        (sine_squared > 1e-4 && along.is_finite()).then(|| self.centre + axis * along)
    }
}

impl Moved {
    pub(crate) fn moved_by(&self, by: Vec3) -> Vec<Command> {
        if by == Vec3::ZERO {
            return Vec::new();
        }
        let by = doubles(by);
        let mut commands =
            many(&self.anchored, |vertices| Command::MoveAnchored { body: self.body.clone(), vertices, by });
        let sets = self.sets.iter().cloned();
        commands.extend(sets.map(|pin| Command::MovePin { body: self.body.clone(), pin, by }));
        commands
    }
}

/// What a gizmo moves of a body.
pub(crate) fn moved_part(body: usize, vertices: &BTreeSet<u32>, seen: &Seen) -> Option<Moved> {
    let (_, item) = body_item(seen.moment, body)?;
    let names = seen.shown.bodies.get(body).map(|info| info.pin_sets.as_slice()).unwrap_or_default();
    let mut sets = BTreeSet::new();
    let mut part =
        Moved { body: item.name.to_string(), free: Vec::new(), anchored: Vec::new(), sets: Vec::new() };
    for &vertex in vertices.iter().filter(|v| (**v as usize) < item.positions.len()) {
        match support_of(seen.shown, body, vertex) {
            None => {
                part.free.push(vertex);
                part.anchored.push(vertex);
            }
            Some(pin) if pin.set == PinnedVertex::BY_HAND => part.anchored.push(vertex),
            Some(pin) => sets.extend(names.get(pin.set as usize).cloned()),
        }
    }
    part.sets = sets.into_iter().collect();
    Some(part)
}
