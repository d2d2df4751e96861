//! Scissors: cuts a body along a drag of the hand, at once and all the way.
//!
//! The [`Blade`] is a wedge: every point that is seen from the eye between both ends of the drag, at any distance. The
//! plane of the wedge meets the surface in lines that run from triangle to triangle over the edges between them. There
//! is no remeshing, so the crack is this line with each of its crossings moved to the nearer end of the edge it crosses:
//! two crossings in a row lie on edges of one triangle, so their ends are the same vertex or joined by a mesh edge. Only
//! signs decide which edges are crossed, so the way never has a gap. Where it goes into a vertex and out again over the
//! same edge, that edge stays closed.
//!
//! A triangle is cut if any part of the wedge passes through it, so the crack may be longer than the drag by part of an
//! edge at each end. A drag right across a sheet separates it, unless one side would be narrower than about half an edge:
//! the crack then lies on the border, or on the crack of a cut before, and a second cut along the first does nothing. Rope
//! segments that the wedge crosses are removed, and so are springs that no way over the mesh replaces. All other springs
//! follow the surface.
//!
//! This module plans; `mesh/opening.rs` carries out and says what is kept. Limits of tearing play no part. A crack needs
//! two edges in a row, or one that begins at a border or at a crack: a single edge inside the surface cannot open.

use std::sync::Arc;

use glam::DVec3;

use super::Topology;
pub use super::opening::Torn;
use super::opening::{Plan, carry_out, fans};

/// Drags seen from the eye under a smaller angle cut nothing, rad: their plane would be noise.
const SMALLEST_ANGLE: f64 = 1e-10;

/// The end of a crossed edge below the blade is taken if its distance is less than this share of the other's. Less than
/// 1, so that a cut halfway between two rows of vertices follows one of them instead of rounding errors.
const BELOW_IF_NEARER: f64 = 0.8;

/// The wedge that scissors cut with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blade {
    eye: DVec3,
    /// Unit normal of the plane of the wedge.
    normal: DVec3,
    /// Directions in the plane that point from each edge of the wedge to its inside.
    inwards: [DVec3; 2],
}

impl Blade {
    /// The blade of a drag between two points, seen from `eye` (all in m). `None` if the eye sees no angle between them.
    pub fn new(eye: DVec3, from: DVec3, to: DVec3) -> Option<Blade> {
        let (a, b) = ((from - eye).try_normalize()?, (to - eye).try_normalize()?);
        let across = a.cross(b);
        if across.length() < SMALLEST_ANGLE {
            return None;
        }
        let normal = across.try_normalize()?;
        Some(Blade { eye, normal, inwards: [normal.cross(a), b.cross(normal)] })
    }

    /// Signed distance from the plane of the blade, m.
    fn height(&self, p: DVec3) -> f64 {
        (p - self.eye).dot(self.normal)
    }

    /// Whether some of a straight line between two points of the plane lies in the wedge.
    fn covers(&self, p: DVec3, q: DVec3) -> bool {
        let (mut start, mut stop) = (0.0f64, 1.0f64);
        for inwards in self.inwards {
            let (at_p, at_q) = ((p - self.eye).dot(inwards), (q - self.eye).dot(inwards));
            match (at_p < 0.0, at_q < 0.0) {
                (true, true) => return false,
                (true, false) => start = start.max(at_p / (at_p - at_q)),
                (false, true) => stop = stop.min(at_p / (at_p - at_q)),
                (false, false) => {}
            }
        }
        start < stop
    }
}

/// Cuts a body with a blade. `x` (m) and `v` (m/s) hold one entry per particle and grow with it; `pinned` tells which
/// particles are held: both lips of a cut through one stay in its support.
///
/// Returns `None` when the blade met nothing that can open; the topology is then untouched. Otherwise its version went up
/// by one and everything derived is up to date.
pub fn cut(
    topology: &mut Arc<Topology>,
    x: &mut Vec<DVec3>,
    v: &mut Vec<DVec3>,
    pinned: &dyn Fn(u32) -> bool,
    blade: &Blade,
) -> Option<Torn> {
    debug_assert_eq!(x.len(), topology.len(), "one position per particle");
    debug_assert_eq!(v.len(), topology.len(), "one velocity per particle");
    let plan = Section::new(topology, x, blade).plan();
    if !plan.changes_topology() {
        return None;
    }
    let mut torn = Torn::default();
    carry_out(Arc::make_mut(topology), x, v, pinned, &plan, &mut torn);
    Some(torn)
}

/// Where the plane of a blade meets a body.
struct Section<'a> {
    topology: &'a Topology,
    x: &'a [DVec3],
    blade: &'a Blade,
    /// Signed distance of each particle from the plane, m.
    heights: Vec<f64>,
}

impl<'a> Section<'a> {
    fn new(topology: &'a Topology, x: &'a [DVec3], blade: &'a Blade) -> Section<'a> {
        Section { topology, x, blade, heights: x.iter().map(|p| blade.height(*p)).collect() }
    }

    /// Which side a particle is on; one in the plane counts as above, so that the plane crosses edges or misses them.
    fn is_above(&self, p: u32) -> bool {
        self.heights[p as usize] >= 0.0
    }

    /// Where the plane crosses the line between two particles on different sides, m.
    fn crossing(&self, p: u32, q: u32) -> DVec3 {
        let (hp, hq) = (self.heights[p as usize], self.heights[q as usize]);
        self.x[p as usize].lerp(self.x[q as usize], hp / (hp - hq))
    }

    /// The end of a crossed edge that the crack goes through.
    fn nearer(&self, p: u32, q: u32) -> u32 {
        let (above, below) = if self.is_above(p) { (p, q) } else { (q, p) };
        let is_nearer =
            self.heights[below as usize].abs() < BELOW_IF_NEARER * self.heights[above as usize].abs();
        if is_nearer { below } else { above }
    }

    /// Whether the wedge crosses the line between two particles.
    fn is_crossed(&self, p: u32, q: u32) -> bool {
        self.is_above(p) != self.is_above(q) && {
            let at = self.crossing(p, q);
            self.blade.covers(at, at)
        }
    }

    fn plan(&self) -> Plan {
        let mut plan = Plan { copies_stay_held: true, ..Plan::default() };
        let segments = self.topology.segments.iter().copied();
        plan.segments.extend(segments.filter(|&[i, j]| self.is_crossed(i, j)));
        for (s, spring) in (0u32..).zip(&self.topology.springs) {
            if spring.hops == 0 && self.is_crossed(spring.i, spring.j) {
                plan.springs.push(s);
            }
        }
        self.plan_splits(&self.opened_edges(), &mut plan);
        plan
    }

    /// The edges along which the surface opens, as (low, high), sorted.
    fn opened_edges(&self) -> Vec<(u32, u32)> {
        let mut walked = Vec::new();
        for &[a, b, c] in &self.topology.triangles {
            // The corner that is alone on its side: the plane crosses both edges there.
            let (alone, p, q) = match [a, b, c].map(|w| self.is_above(w)) {
                [x, y, z] if x == y && y == z => continue,
                [x, y, _] if x == y => (c, a, b),
                [x, _, z] if x == z => (b, c, a),
                _ => (a, b, c),
            };
            if self.blade.covers(self.crossing(alone, p), self.crossing(alone, q)) {
                let (i, j) = (self.nearer(alone, p), self.nearer(alone, q));
                walked.push((i.min(j), i.max(j)));
            }
        }
        walked.retain(|(i, j)| i != j);
        walked.sort_unstable();
        // An edge that the plane crosses and that both its triangles name is one that the way goes back on: closed. One
        // that the plane passes on both sides is the crest of a fold: open.
        let opens = |way: &&[(u32, u32)]| {
            let (i, j) = way[0];
            way.len() % 2 == 1 || self.is_above(i) == self.is_above(j)
        };
        walked.chunk_by(|a, b| a == b).filter(opens).map(|way| way[0]).collect()
    }

    /// Splits each vertex at opened edges into the fans of triangles that the closed ones join.
    fn plan_splits(&self, opened: &[(u32, u32)], plan: &mut Plan) {
        let mut ends: Vec<u32> = opened.iter().flat_map(|&(i, j)| [i, j]).collect();
        ends.sort_unstable();
        ends.dedup();
        for vertex in ends {
            let is_closed = |w: u32| opened.binary_search(&(vertex.min(w), vertex.max(w))).is_err();
            let mut triangles = self.topology.particle_triangles.row(vertex as usize).to_vec();
            triangles.dedup();
            let fan_of = fans(vertex, &triangles, &self.topology.triangles, &is_closed);
            // The first fan keeps the vertex.
            for fan in 1..triangles.len() as u32 {
                let start = plan.towards.len();
                let members = triangles.iter().zip(&fan_of).filter(|&(_, &f)| f == fan);
                plan.towards.extend(members.map(|(&t, _)| t));
                if plan.towards.len() > start {
                    plan.splits.push((vertex, start, plan.towards.len()));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blade_reaches_to_both_sides_of_its_drag_and_no_further() {
        let eye = DVec3::new(0.0, 10.0, 0.0);
        let blade = Blade::new(eye, DVec3::new(-1.0, 0.0, 0.0), DVec3::new(1.0, 0.0, 0.0)).unwrap();
        let at = |x: f64, y: f64| DVec3::new(x, y, 0.0);
        let covers = |p: DVec3| blade.covers(p, p);
        assert!(covers(at(0.0, 5.0)) && covers(at(0.0, 0.0)) && covers(at(0.0, -1e6)));
        assert!(covers(at(0.99, 0.0)) && !covers(at(1.01, 0.0)), "as wide as the drag where it was drawn");
        assert!(covers(at(1.9, -10.0)) && !covers(at(2.1, -10.0)), "twice as wide at twice the distance");
        assert!(!covers(at(0.0, 11.0)), "nothing behind the eye");
        assert!(blade.covers(at(-9.0, 0.0), at(9.0, 0.0)), "the middle of the line is inside");
        assert!(!blade.covers(at(2.0, 0.0), at(9.0, 0.0)));
        assert!((blade.height(DVec3::new(3.0, 1.0, 2.0)).abs() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_drag_without_an_angle_has_no_blade() {
        let (eye, p) = (DVec3::new(0.0, 0.0, 5.0), DVec3::X);
        assert_eq!(Blade::new(eye, p, p), None);
        assert_eq!(Blade::new(eye, p, p.lerp(eye, 0.5)), None, "towards the eye");
        assert_eq!(Blade::new(p, p, DVec3::Y), None, "from the eye itself");
        assert_eq!(Blade::new(eye, p, DVec3::NAN), None);
    }
}
