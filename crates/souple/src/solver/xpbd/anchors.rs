//! What holds particles of an elastic layer to the skin (SIM-08): each to a point that moves, beyond a slack.

use glam::DVec3;

use super::point;
use crate::lanes::Point;
use crate::skin::{Layer, Rides};

/// A particle that is held beyond a slack.
#[derive(Clone, Copy, Debug)]
struct Loose {
    /// Packed number.
    vertex: usize,
    /// m.
    slack: f32,
    /// Share of what is beyond that a substep takes back.
    back: f32,
}

/// All of a body.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    /// What the lists below were made for: the number of packed vertices, and the length of substeps.
    made_for: (usize, f32),
    /// Numbers of held particles, and packed ones.
    held: Vec<(u32, u32)>,
    /// Of each packed vertex: where it is held, as displacements from where the particle was when the frame began, m: at the start, and by how much that moves.
    start: Vec<Point>,
    way: Vec<Point>,
    /// Share of what it is away from there that a substep takes back, along each axis; 0 for the inverse mass, which comes after them, and for what is not held,
    /// or held beyond a slack.
    back: Vec<Point>,
    loose: Vec<Loose>,
    /// Whether any is held without a slack, which is the rule: no distance is needed.
    any_tight: bool,
}

/// What holds a run of packed vertices without a slack.
pub(super) struct Tight<'a> {
    pub(super) start: &'a [f32],
    pub(super) way: &'a [f32],
    pub(super) back: &'a [f32],
    pub(super) share: f32,
}

impl Anchors {
    /// Makes those of a layer for a frame with substeps of `h`. `place` has the packed number of each particle, `x` where packed ones are, `displacements` their
    /// inverse masses.
    pub(super) fn begin(
        &mut self,
        layer: &Layer,
        rides: &Rides,
        place: &[u32],
        x: &[DVec3],
        displacements: &[Point],
        h: f32,
    ) {
        if self.made_for != (x.len(), h) {
            self.make(layer, place, displacements, h);
        }
        for &(particle, vertex) in &self.held {
            let Some([start, end]) = rides.places.get(particle as usize) else { continue };
            let vertex = vertex as usize;
            self.start[vertex] = point(*start - x[vertex], 0.0);
            self.way[vertex] = point(*end - *start, 0.0);
        }
    }

    fn make(&mut self, layer: &Layer, place: &[u32], displacements: &[Point], h: f32) {
        let n = displacements.len();
        *self = Anchors {
            made_for: (n, h),
            start: vec![[0.0; 4]; n],
            way: vec![[0.0; 4]; n],
            back: vec![[0.0; 4]; n],
            ..Anchors::default()
        };
        for anchor in &layer.anchors {
            let Some(&vertex) = place.get(anchor.particle as usize) else { continue };
            let at = vertex as usize;
            if displacements[at][3] == 0.0 {
                continue;
            }
            self.held.push((anchor.particle, vertex));
            let back = anchor.share(f64::from(h)) as f32;
            if anchor.slack == 0.0 {
                self.back[at] = [back, back, back, 0.0];
                self.any_tight = true;
            } else {
                self.loose.push(Loose { vertex: at, slack: anchor.slack as f32, back });
            }
        }
    }

    /// What holds vertices from `first` on without a slack, to where the points are at a share of the frame.
    pub(super) fn tight(&self, first: usize, share: f32) -> Option<Tight<'_>> {
        self.any_tight.then(|| Tight {
            start: self.start[first..].as_flattened(),
            way: self.way[first..].as_flattened(),
            back: self.back[first..].as_flattened(),
            share,
        })
    }

    /// Holds those that have a slack to where the points are at a share of the frame.
    pub(super) fn hold_loose(&self, share: f32, displacements: &mut [Point]) {
        for hold in &self.loose {
            let (start, way) = (&self.start[hold.vertex], &self.way[hold.vertex]);
            let p = &mut displacements[hold.vertex];
            let off: [f32; 3] = std::array::from_fn(|c| p[c] - start[c] - way[c] * share);
            let distance = (off[0] * off[0] + off[1] * off[1] + off[2] * off[2]).sqrt();
            if distance > hold.slack {
                let back = hold.back * (1.0 - hold.slack / distance);
                (0..3).for_each(|c| p[c] -= off[c] * back);
            }
        }
    }
}

impl Tight<'_> {
    /// Holds vertices, all four numbers of each alike.
    pub(super) fn hold(&self, displacements: &mut [f32]) {
        let holds = self.start.iter().zip(self.way).zip(self.back);
        for (p, ((start, way), back)) in displacements.iter_mut().zip(holds) {
            *p -= (*p - *start - *way * self.share) * *back;
        }
    }
}
