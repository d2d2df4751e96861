//! What holds particles of an elastic layer to the skin (SIM-08): each to a point that moves, beyond a slack.
//!
//! x″ = −ω² (x − a) with z = ω h per substep. Without a slack it is x₊ = x* − e (x − a) − i (x₊ − a₊), where x* is where the particle goes by itself,
//! e = min(z, z²) and e + i = z². Below z = 1 that is the leapfrog: of second order, and nothing is lost, so that layers lose what their `damping`
//! says at any frame rate. Beyond it i grows so that any anchor is stable: |r|² = 1/(1 + i), complex since z² (e/z²)² < 4. At rest x − a = g/ω², whatever the step.
//! Anchors with a slack are backward Euler, as at its edge the force has a corner.

use glam::DVec3;

use super::point;
use crate::lanes::Point;
use crate::skin::{Layer, Rides};

/// A particle that is held to a point which moves during the frame.
#[derive(Clone, Copy, Debug)]
struct Hold {
    /// Packed number.
    vertex: u32,
    /// m.
    slack: f32,
    /// Shares of what is beyond that a substep takes back: of where it began, and of where it ends.
    at_start: f32,
    at_end: f32,
    /// Where it is held, as displacements from where the particle was when the frame began, m: at the start, and by how much that moves.
    start: Point,
    way: Point,
}

/// All of a body, for a frame.
#[derive(Debug, Default)]
pub(super) struct Anchors {
    /// Without a slack, which is the rule: no distance is needed.
    tight: Vec<Hold>,
    slack: Vec<Hold>,
}

/// The shares e and i/(1 + i) that an anchor without a slack takes back, for z = ω h.
fn shares(z: f64) -> [f32; 2] {
    let at_start = z.min(z * z);
    let at_end = z * z - at_start;
    [at_start as f32, (at_end / (1.0 + at_end)) as f32]
}

impl Anchors {
    /// Takes those of a layer, for substeps of `h`. `place` has the packed number of each particle, `x` where packed ones are.
    pub(super) fn begin_frame(&mut self, layer: &Layer, rides: &Rides, place: &[u32], x: &[DVec3], h: f32) {
        self.tight.clear();
        self.slack.clear();
        // Neighbours mostly have the same dial.
        let (mut known, mut of_known) = (f64::NAN, [0.0; 2]);
        for anchor in &layer.anchors {
            let particle = anchor.particle as usize;
            let (Some(&vertex), Some(&[start, end])) = (place.get(particle), rides.places.get(particle))
            else {
                continue;
            };
            let [at_start, at_end] = if anchor.slack > 0.0 {
                [0.0, anchor.share(f64::from(h)) as f32]
            } else {
                if anchor.frequency != known {
                    (known, of_known) = (anchor.frequency, shares(anchor.frequency * f64::from(h)));
                }
                of_known
            };
            let hold = Hold {
                vertex,
                slack: anchor.slack as f32,
                at_start,
                at_end,
                start: point(start - x[vertex as usize], 0.0),
                way: point(end - start, 0.0),
            };
            if anchor.slack > 0.0 { self.slack.push(hold) } else { self.tight.push(hold) }
        }
    }

    /// Nothing is held.
    pub(super) fn clear(&mut self) {
        self.tight.clear();
        self.slack.clear();
    }

    /// Holds particles to where the points are between two shares of the frame; `before` is where particles were at the first.
    pub(super) fn hold(&self, [s0, s1]: [f32; 2], before: &[Point], displacements: &mut [Point]) {
        for hold in &self.tight {
            let (p, b) = (&mut displacements[hold.vertex as usize], &before[hold.vertex as usize]);
            let weight = p[3];
            if weight != 0.0 {
                // All four numbers alike, for whole registers; then the inverse mass is put back.
                *p = std::array::from_fn(|c| {
                    let pulled = p[c] - (b[c] - hold.start[c] - hold.way[c] * s0) * hold.at_start;
                    pulled - (pulled - hold.start[c] - hold.way[c] * s1) * hold.at_end
                });
                p[3] = weight;
            }
        }
        for hold in &self.slack {
            let p = &mut displacements[hold.vertex as usize];
            if p[3] == 0.0 {
                continue;
            }
            let off: [f32; 3] = std::array::from_fn(|c| p[c] - hold.start[c] - hold.way[c] * s1);
            let distance = (off[0] * off[0] + off[1] * off[1] + off[2] * off[2]).sqrt();
            if distance > hold.slack {
                let back = hold.at_end * (1.0 - hold.slack / distance);
                (0..3).for_each(|c| p[c] -= off[c] * back);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One particle that hangs on one anchor: positions after steps of `z` from 1, at rest.
    fn swing(z: f64, steps: u32) -> Vec<f32> {
        let [at_start, at_end] = shares(z);
        let hold = Hold { vertex: 0, slack: 0.0, at_start, at_end, start: [0.0; 4], way: [0.0; 4] };
        let anchors = Anchors { tight: vec![hold], slack: Vec::new() };
        let (mut before, mut now) = ([[1.0, 0.0, 0.0, 2.0]], [[1.0, 0.0, 0.0, 2.0]]);
        let mut places = Vec::new();
        for _ in 0..steps {
            let mut next: [Point; 1] = now;
            next[0][0] = 2.0 * now[0][0] - before[0][0];
            anchors.hold([0.0, 1.0], &now, &mut next);
            assert_eq!(next[0][3], 2.0);
            (before, now) = (now, next);
            places.push(now[0][0]);
        }
        places
    }

    #[test]
    fn an_anchor_swings_at_its_frequency_and_loses_nothing() {
        for z in [0.02, 0.1, 0.4] {
            // cos θ = 1 − z²/2 of the leapfrog is z to 1/24 of its square.
            let steps = (20.0 * std::f64::consts::TAU / z) as u32;
            let places = swing(z, steps);
            let crossings = places.windows(2).filter(|w| w[0] > 0.0 && w[1] <= 0.0).count();
            assert!((19..=20).contains(&crossings), "{z}: {crossings}");
            let last = places[places.len() - (7.0 / z) as usize..].iter().fold(0.0f32, |m, p| m.max(p.abs()));
            assert!((last - 1.0).abs() < 0.03, "{z}: {last}");
        }
    }

    #[test]
    fn stiff_anchors_come_to_rest_and_none_grows() {
        for z in [0.9, 1.0, 1.5, 2.0, 5.0, 100.0, 1e6] {
            let places = swing(z, 400);
            assert!(places.iter().all(|p| p.abs() < 1.3), "{z}: {places:?}");
            if z >= 1.5 {
                assert!(places[399].abs() < 1e-3, "{z}: {}", places[399]);
            }
        }
    }
}
