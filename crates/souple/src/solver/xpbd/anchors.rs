//! What holds particles of an elastic layer to the skin (SIM-08): each to a point that moves, beyond a slack.

use glam::DVec3;

use super::point;
use crate::lanes::Point;
use crate::skin::{Layer, Rides};

/// A particle that is held to a point which moves during the frame.
#[derive(Clone, Copy, Debug)]
struct Hold {
    /// Packed number.
    vertex: usize,
    /// Where it is held, as displacements from where the particle was when the frame began, m: at the start, and by how much that moves.
    start: Point,
    way: Point,
    /// m.
    slack: f32,
    /// Share of what is beyond that a substep takes back, along each axis; 0 for the inverse mass, which comes after them.
    back: Point,
}

/// All of a body, for a frame.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    /// Without a slack, which is the rule: no distance is needed.
    tight: Vec<Hold>,
    slack: Vec<Hold>,
}

impl Anchors {
    /// Those of a layer, for substeps of `h`. `place` has the packed number of each particle, `x` where packed ones are.
    pub(super) fn new(layer: &Layer, rides: &Rides, place: &[u32], x: &[DVec3], h: f32) -> Anchors {
        let hold = |anchor: &crate::skin::Anchor| {
            let vertex = *place.get(anchor.particle as usize)? as usize;
            let [start, end] = *rides.places.get(anchor.particle as usize)?;
            let share = anchor.share(f64::from(h)) as f32;
            Some(Hold {
                vertex,
                start: point(start - x[vertex], 0.0),
                way: point(end - start, 0.0),
                slack: anchor.slack as f32,
                back: [share, share, share, 0.0],
            })
        };
        let holds = layer.anchors.iter().filter_map(hold);
        let (tight, slack) = holds.partition(|hold| hold.slack == 0.0);
        Anchors { tight, slack }
    }

    /// Holds particles to where the points are at a share of the frame.
    pub(super) fn hold(&self, share: f32, displacements: &mut [Point]) {
        for hold in &self.tight {
            let p = &mut displacements[hold.vertex];
            if p[3] != 0.0 {
                *p = std::array::from_fn(|c| {
                    p[c] - (p[c] - hold.start[c] - hold.way[c] * share) * hold.back[c]
                });
            }
        }
        for hold in &self.slack {
            let p = &mut displacements[hold.vertex];
            if p[3] == 0.0 {
                continue;
            }
            let off: [f32; 3] = std::array::from_fn(|c| p[c] - hold.start[c] - hold.way[c] * share);
            let distance = (off[0] * off[0] + off[1] * off[1] + off[2] * off[2]).sqrt();
            if distance > hold.slack {
                let back = hold.back[0] * (1.0 - hold.slack / distance);
                (0..3).for_each(|c| p[c] -= off[c] * back);
            }
        }
    }
}
