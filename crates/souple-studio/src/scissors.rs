//! Scissors: a drag across the picture becomes cuts of what is seen under it.
//!
//! A cut is given in pieces as the drag goes, each a few edges of the mesh long, as the engine wants it: it opens whole
//! edges, and a piece shorter than one opens nothing. Bodies that are nearest to the eye somewhere along a piece are cut
//! through all their layers; what lies hidden behind other things is not touched.

use std::collections::BTreeSet;

use glam::{Vec2, Vec3};
use souple::Command;
use souple_viewer::pick::pick;
use souple_viewer::{Item, ItemKind};

use crate::sight::metres_per_pixel;
use crate::tools::{Seen, doubles, position};

/// Shortest piece of a cut, pixels.
const CUT_PIXELS: f32 = 12.0;
/// Edges of the mesh that a piece of a cut is long: the engine wants a few.
const CUT_EDGES: f32 = 3.0;
/// Distance between the points of a cut at which it is looked what lies there, pixels, and most of them.
const CUT_LOOKS: (f32, f32) = (4.0, 32.0);
/// Points of a cut that are drawn behind the pointer.
const TRAIL: usize = 256;
/// How long a piece of a cut is to be at that place, pixels: a few edges of the mesh there.
pub(crate) fn piece_pixels(at: Vec2, seen: &Seen) -> f32 {
    let (origin, direction) = seen.camera.ray(at, seen.size);
    let edge = pick(seen.moment, origin, direction).and_then(|hit| {
        let item = seen.moment.items.get(hit.item)?;
        let corners = item.mesh.triangles.get(hit.triangle)?;
        let [a, b, c] = corners.map(|v| position(item, v));
        let (a, b, c) = (a?, b?, c?);
        let mean = (a.distance(b) + b.distance(c) + c.distance(a)) / 3.0;
        Some(mean / metres_per_pixel(&seen.camera, hit.point, seen.size))
    });
    // No longer than a third of the picture, or coarse meshes would never be cut before the end of the drag.
    (CUT_EDGES * edge.unwrap_or(0.0)).min(seen.size.y / 3.0).max(CUT_PIXELS)
}

/// Cuts every body that is seen along a piece of the drag.
pub(crate) fn cut(from: Vec2, to: Vec2, seen: &Seen, trail: &mut Vec<Vec3>) -> Vec<Command> {
    let mut items = BTreeSet::new();
    let (mut ends, mut nearest) = ([None; 2], f32::INFINITY);
    let looks = (from.distance(to) / CUT_LOOKS.0).ceil().clamp(1.0, CUT_LOOKS.1) as u32;
    for look in 0..=looks {
        let (origin, direction) = seen.camera.ray(from.lerp(to, look as f32 / looks as f32), seen.size);
        let Some(hit) = pick(seen.moment, origin, direction) else { continue };
        if seen.moment.items.get(hit.item).is_some_and(|item| matches!(item.kind, ItemKind::Body(_))) {
            items.insert(hit.item);
            nearest = nearest.min(hit.distance);
        }
        if look == 0 {
            ends[0] = Some(hit.distance);
        } else if look == looks {
            ends[1] = Some(hit.distance);
        }
    }
    // Rays miss thin ropes: those that the drag crosses in the picture are cut.
    for (index, item) in seen.moment.items.iter().enumerate() {
        if matches!(item.kind, ItemKind::Body(_)) && crosses_rope(item, from, to, seen) {
            items.insert(index);
        }
    }
    let depth = if nearest.is_finite() { nearest } else { seen.camera.distance };
    let eye = seen.camera.eye();
    let end =
        |at: Vec2, distance: Option<f32>| eye + seen.camera.ray(at, seen.size).1 * distance.unwrap_or(depth);
    let (start, stop) = (end(from, ends[0]), end(to, ends[1]));
    if trail.is_empty() {
        trail.push(start);
    }
    trail.push(stop);
    trail.drain(..trail.len().saturating_sub(TRAIL));
    let items = items.into_iter().filter_map(|index| seen.moment.items.get(index));
    let cut = items.map(|item| Command::Cut {
        body: item.name.to_string(),
        from: doubles(start),
        to: doubles(stop),
        eye: doubles(eye),
    });
    cut.collect()
}

/// Whether a line between two pixels crosses a segment of a rope in the picture.
fn crosses_rope(item: &Item, from: Vec2, to: Vec2, seen: &Seen) -> bool {
    let pixel = |v: u32| position(item, v).and_then(|p| seen.camera.pixel(p, seen.size));
    item.mesh.segments.iter().any(|&[i, j]| match (pixel(i), pixel(j)) {
        (Some(a), Some(b)) => segments_cross(from, to, a, b),
        _ => false,
    })
}

/// Whether two line segments in the plane have a point in common, but for parallel ones.
fn segments_cross(a: Vec2, b: Vec2, c: Vec2, d: Vec2) -> bool {
    let side = |p: Vec2, q: Vec2, r: Vec2| (q - p).perp_dot(r - p);
    side(a, b, c) * side(a, b, d) <= 0.0 && side(c, d, a) * side(c, d, b) < 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_that_cross() {
        let v = |x: f32, y: f32| Vec2::new(x, y);
        assert!(segments_cross(v(0.0, 0.0), v(2.0, 2.0), v(0.0, 2.0), v(2.0, 0.0)));
        assert!(!segments_cross(v(0.0, 0.0), v(1.0, 1.0), v(0.0, 3.0), v(3.0, 0.0)));
        assert!(!segments_cross(v(0.0, 0.0), v(1.0, 0.0), v(0.0, 1.0), v(1.0, 1.0)));
    }
}
