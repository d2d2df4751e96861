//! What hands draw in the scene: the selection, supports, the spring of a pull, the gizmo, a cut, the fan.

use glam::Vec3;
use souple::PinnedVertex;
use souple_viewer::{Line, Marker, Marks};

use crate::gizmo::{Gizmo, Handle};
use crate::paper_hand;
use crate::tools::{Deed, Hands, Seen, Tool, body_item, position};

/// Most points of one kind that are drawn: more would hide what they mark.
const MOST: usize = 20_000;
/// Lines that make the ring of the fan.
const RING: u32 = 24;

// Linear light, with opacity.
const SELECTED: [f32; 4] = [1.0, 0.55, 0.02, 1.0];
const HOVERED: [f32; 4] = [1.0, 1.0, 1.0, 0.8];
const SUPPORT: [f32; 4] = [0.02, 0.30, 0.75, 1.0];
const ANCHOR: [f32; 4] = [0.02, 0.55, 0.35, 1.0];
const PULL: [f32; 4] = [1.0, 0.75, 0.05, 1.0];
const CUT: [f32; 4] = [0.85, 0.03, 0.03, 1.0];
const FAN: [f32; 4] = [0.25, 0.65, 0.90, 0.9];
const ARMS: [[f32; 4]; 3] = [[0.80, 0.04, 0.04, 1.0], [0.06, 0.55, 0.06, 1.0], [0.06, 0.14, 0.85, 1.0]];

fn line(from: Vec3, to: Vec3, colour: [f32; 4], width: f32) -> Line {
    Line { from, to, colour, width, on_top: true }
}

fn point(at: Vec3, colour: [f32; 4], size: f32) -> Marker {
    Marker { at, colour, size, on_top: true }
}

/// Everything that hands show at this moment.
pub(crate) fn draw(hands: &Hands, seen: &Seen) -> Marks {
    let mut marks = Marks::default();
    if seen.live {
        supports(seen, &mut marks);
        for (at, held) in paper_hand::marks(seen) {
            marks.points.push(point(at, if held { SUPPORT } else { ANCHOR }, 8.0));
        }
        grabs(hands, seen, &mut marks);
    }
    for (&body, vertices) in &hands.selection {
        let Some((_, item)) = body_item(seen.moment, body) else { continue };
        let places = vertices.iter().filter_map(|&v| position(item, v));
        marks.points.extend(places.take(MOST).map(|at| point(at, SELECTED, 7.0)));
    }
    if let Some((body, vertex)) = hands.hover()
        && let Some(at) = body_item(seen.moment, body).and_then(|(_, item)| position(item, vertex))
    {
        marks.points.push(point(at, HOVERED, 9.0));
    }
    match hands.deed() {
        Some(Deed::Pull { item, vertex, target, .. }) => {
            let held = seen.moment.items.get(*item).and_then(|item| position(item, *vertex));
            marks.lines.extend(held.map(|held| line(held, *target, PULL, 2.5)));
            marks.points.push(point(*target, PULL, 9.0));
        }
        Some(Deed::Bone(hold)) => {
            marks.lines.extend(hold.joint(seen).map(|joint| line(joint, hold.point, PULL, 2.5)));
            marks.points.push(point(hold.point, PULL, 9.0));
        }
        Some(Deed::Paper(hold)) => marks.points.push(point(hold.target, PULL, 10.0)),
        Some(Deed::Cut { trail, .. }) => {
            marks.lines.extend(trail.windows(2).map(|ends| line(ends[0], ends[1], CUT, 2.5)));
        }
        Some(Deed::Blow { origin, target, radius }) => fan(*origin, *target, *radius, &mut marks),
        Some(Deed::Gizmo { handle, centre, sent, .. }) => {
            gizmo(Gizmo::at(*centre + *sent, seen), Some(*handle), &mut marks);
        }
        _ if hands.tool() == Tool::Move && seen.live => {
            gizmo(Gizmo::of_selection(&hands.selection, seen), None, &mut marks);
        }
        _ => {}
    }
    marks
}

fn supports(seen: &Seen, marks: &mut Marks) {
    for (body, pinned) in seen.shown.pinned.iter().enumerate() {
        let Some((_, item)) = body_item(seen.moment, body) else { continue };
        let places = pinned.iter().filter_map(|pin| {
            let colour = if pin.set == PinnedVertex::BY_HAND { ANCHOR } else { SUPPORT };
            Some(point(position(item, pin.vertex)?, colour, 6.0))
        });
        marks.points.extend(places.take(MOST));
    }
}

/// Pulls that are not in this hand: of a control stream, or from before.
fn grabs(hands: &Hands, seen: &Seen, marks: &mut Marks) {
    for grab in &seen.shown.grabs {
        let Some((index, item)) = body_item(seen.moment, grab.body as usize) else { continue };
        let is_mine = matches!(hands.deed(), Some(Deed::Pull { item, vertex, .. })
            if *item == index && *vertex == grab.vertex);
        if let Some(held) = position(item, grab.vertex).filter(|_| !is_mine) {
            marks.lines.push(line(held, grab.target.as_vec3(), PULL, 1.5));
        }
    }
}

fn gizmo(gizmo: Option<Gizmo>, active: Option<Handle>, marks: &mut Marks) {
    let Some(gizmo) = gizmo else { return };
    for (arm, colour) in ARMS.iter().enumerate() {
        let width = if active == Some(Handle::Arm(arm)) { 5.0 } else { 3.0 };
        marks.lines.push(line(gizmo.centre, gizmo.end(arm), *colour, width));
        marks.points.push(point(gizmo.end(arm), *colour, width + 5.0));
    }
    let size = if active == Some(Handle::Middle) { 14.0 } else { 11.0 };
    marks.points.push(point(gizmo.centre, PULL, size));
}

fn fan(origin: Vec3, target: Vec3, radius: f32, marks: &mut Marks) {
    let Some(direction) = (target - origin).try_normalize() else { return };
    let (side, up) = direction.any_orthonormal_pair();
    let rim = |k: u32| {
        let (sin, cos) = (std::f32::consts::TAU * (k % RING) as f32 / RING as f32).sin_cos();
        origin + (side * cos + up * sin) * radius
    };
    marks.lines.extend((0..RING).map(|k| line(rim(k), rim(k + 1), FAN, 2.0)));
    marks.lines.push(line(origin, target, FAN, 2.0));
    marks.points.push(point(target, FAN, 8.0));
}
