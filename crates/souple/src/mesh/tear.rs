//! Tearing: a body that splits where a spring passes its limit (GRI-08, GRI-09).
//!
//! The source of GRI-08 deleted the spring and left the mesh as it was: torn edges were still drawn and the cloth blew
//! up. Here the *surface* is opened. A vertex at one end of the overloaded spring is split by the plane through it that
//! is perpendicular to the spring: the triangles on the far side keep the vertex, those towards the other end get a
//! copy of it. Every spring whose way over the surface is gone is cut; springs along the new border are shared
//! between both lips. A rope loses the segment instead.
//!
//! How far one call goes. A crack relieves the material around it, but only once the solver has moved the particles;
//! judged too early, the springs next to a crack are all still too long and the cloth would turn to crumbs. So:
//! - A vertex is split at most once per call, and a spring with an end in the ring of a split vertex waits.
//! - Overloaded springs that touch each other form one cluster. If the tip of an existing crack lies in the cluster,
//!   the crack grows there; only if no tip can grow does the cluster start one new crack, at its worst spring.
//! - An end that is not pinned and has nothing behind it can follow the pull. If it lies on the lip of a crack, or if the
//!   spring shortens already, the spring is left alone: the load that stretched it is gone.
//!
//! This module judges and plans; `mesh/opening.rs` carries the plan out and says what is kept. The result depends on the
//! arguments only, not on threads or hash order.
//!
//! Does not: remesh (cracks follow mesh edges), judge bend springs, or shrink the time step. A copy may have a small
//! share of the mass, so an explicit integrator may need a smaller step afterwards.

use std::sync::Arc;

use glam::DVec3;

pub use super::opening::Torn;
use super::opening::{Plan, carry_out, root, same_pair};
use super::{HopSearch, Spring, SpringFamily, Topology, neighbours};

/// When a spring is too far gone. Any limit that is set counts; with none set, nothing tears.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TearLimits {
    /// Longest length as a ratio of the rest length; above 1.
    pub length_ratio: Option<f64>,
    /// Longest length, m.
    pub length: Option<f64>,
    /// Largest tension, stiffness · (length − rest length), N.
    pub force: Option<f64>,
}

impl TearLimits {
    /// How much of its limit a spring of this length uses up: it tears above 1. The worst of all limits counts.
    pub fn severity(&self, spring: &Spring, length: f64) -> f64 {
        // `f64::max` drops a NaN, so a limit that makes no sense tears nothing.
        let ratio = self.length_ratio.map_or(0.0, |limit| length / (limit * spring.rest_length));
        let length_share = self.length.map_or(0.0, |limit| length / limit);
        let force = self.force.map_or(0.0, |limit| spring.stiffness * (length - spring.rest_length) / limit);
        0f64.max(ratio).max(length_share).max(force)
    }
}

/// Memory that [`tear`] keeps between calls, so that a call that tears nothing allocates nothing.
#[derive(Debug, Default)]
pub struct TearScratch {
    overloaded: Vec<Overload>,
    cluster: Vec<u32>,
    cluster_tore: Vec<bool>,
    resting: Vec<bool>,
    siblings: Vec<u32>,
    ring: Vec<(u32, u32)>,
    plan: Plan,
}

/// A spring beyond its limit.
#[derive(Clone, Copy, Debug)]
struct Overload {
    severity: f64,
    spring: u32,
}

/// Splits the body where springs pass their limits, one step of growth per crack.
///
/// `x` (m) and `v` (m/s) hold one entry per particle and grow with it. `v` of a moving support must be its true
/// velocity. `pinned` tells which particles are held. Only stretch and shear springs are judged.
///
/// Returns `None` when nothing tore: the topology is then untouched and nothing was allocated outside `scratch`.
/// Otherwise, if the topology changed, its version went up by one and everything derived is up to date.
pub fn tear(
    topology: &mut Arc<Topology>,
    x: &mut Vec<DVec3>,
    v: &mut Vec<DVec3>,
    pinned: &dyn Fn(u32) -> bool,
    limits: &TearLimits,
    scratch: &mut TearScratch,
) -> Option<Torn> {
    debug_assert_eq!(x.len(), topology.len(), "one position per particle");
    debug_assert_eq!(v.len(), topology.len(), "one velocity per particle");
    find_overloaded(topology, x, limits, &mut scratch.overloaded);
    if scratch.overloaded.is_empty() {
        return None;
    }
    Planner { topology, x, v, pinned, scratch }.run();
    let plan = &scratch.plan;
    let mut torn = Torn { released: plan.released.clone(), ..Torn::default() };
    if plan.changes_topology() {
        carry_out(Arc::make_mut(topology), x, v, pinned, plan, &mut torn);
    } else if plan.released.is_empty() {
        return None;
    }
    Some(torn)
}

/// All springs beyond their limits, worst first, then by index.
fn find_overloaded(topology: &Topology, x: &[DVec3], limits: &TearLimits, found: &mut Vec<Overload>) {
    found.clear();
    for (s, spring) in topology.springs.iter().enumerate() {
        if spring.family == SpringFamily::Bend {
            continue;
        }
        let severity = limits.severity(spring, x[spring.i as usize].distance(x[spring.j as usize]));
        if severity > 1.0 {
            found.push(Overload { severity, spring: s as u32 });
        }
    }
    found.sort_unstable_by(|a, b| b.severity.total_cmp(&a.severity).then(a.spring.cmp(&b.spring)));
}

/// Decides what tears; reads the topology only.
struct Planner<'a> {
    topology: &'a Topology,
    x: &'a [DVec3],
    v: &'a [DVec3],
    pinned: &'a dyn Fn(u32) -> bool,
    scratch: &'a mut TearScratch,
}

impl Planner<'_> {
    fn run(&mut self) {
        let n = self.topology.len();
        let scratch = &mut *self.scratch;
        scratch.plan.clear();
        scratch.resting.clear();
        scratch.resting.resize(n, false);
        scratch.siblings.clear();
        scratch.siblings.resize(n, 0);
        for &parent in &self.topology.parents {
            scratch.siblings[parent as usize] += 1;
        }
        scratch.cluster_tore.clear();
        scratch.cluster_tore.resize(n, false);
        scratch.cluster.clear();
        scratch.cluster.extend(0..n as u32);
        for o in 0..scratch.overloaded.len() {
            let spring = &self.topology.springs[scratch.overloaded[o].spring as usize];
            let (a, b) = (root(&mut scratch.cluster, spring.i), root(&mut scratch.cluster, spring.j));
            scratch.cluster[a.max(b) as usize] = a.min(b);
        }
        for grow_only in [true, false] {
            for o in 0..self.scratch.overloaded.len() {
                let s = self.scratch.overloaded[o].spring;
                let spring = self.topology.springs[s as usize];
                let cluster = root(&mut self.scratch.cluster, spring.i) as usize;
                let waits =
                    self.scratch.resting[spring.i as usize] || self.scratch.resting[spring.j as usize];
                if waits || (!grow_only && self.scratch.cluster_tore[cluster]) {
                    continue;
                }
                let tore = if grow_only { self.grow_crack(&spring) } else { self.start_crack(s, &spring) };
                self.scratch.cluster_tore[cluster] |= tore;
            }
        }
    }

    /// Splits the tip of a crack that lies at an end of the spring.
    fn grow_crack(&mut self, spring: &Spring) -> bool {
        if spring.hops == 0 || self.is_rope(spring) || self.relaxes(spring) {
            return false;
        }
        let [first, second] = self.ends(spring);
        (self.is_tip(first) && self.split(first, second))
            || (self.is_tip(second) && self.split(second, first))
    }

    /// Opens the body at a spring, in whatever way works.
    fn start_crack(&mut self, s: u32, spring: &Spring) -> bool {
        if spring.hops == 0 {
            // A tie with no surface under it: opening the surface at its ends would not relieve it.
            self.scratch.plan.springs.push(s);
            return true;
        }
        if self.relaxes(spring) {
            return false;
        }
        if self.is_rope(spring) {
            return self.cut_rope(s, spring);
        }
        let [first, second] = self.ends(spring);
        if self.split(first, second) || self.split(second, first) {
            return true;
        }
        let Some(pin) = [first, second].into_iter().find(|&end| (self.pinned)(end)) else { return false };
        self.scratch.plan.released.push(pin);
        self.scratch.resting[pin as usize] = true;
        true
    }

    /// Both ends, the one to split first in front: not pinned before pinned, tip of a crack before sound surface,
    /// more tension before less, lower index before higher.
    fn ends(&mut self, spring: &Spring) -> [u32; 2] {
        let mut rank = |end: u32| (!(self.pinned)(end), self.is_tip(end), self.tension_at(end));
        let (a, b) = (rank(spring.i), rank(spring.j));
        let order = (a.0, a.1).cmp(&(b.0, b.1)).then(a.2.total_cmp(&b.2)).then(spring.j.cmp(&spring.i));
        if order.is_ge() { [spring.i, spring.j] } else { [spring.j, spring.i] }
    }

    /// Sum of the tension of all stretch and shear springs at a vertex, N.
    fn tension_at(&self, vertex: u32) -> f64 {
        let springs = self.topology.particle_springs.row(vertex as usize).iter();
        springs
            .map(|&s| &self.topology.springs[s as usize])
            .filter(|s| s.family != SpringFamily::Bend)
            .map(|s| s.stiffness * (self.x[s.i as usize].distance(self.x[s.j as usize]) - s.rest_length))
            .filter(|&tension| tension > 0.0)
            .sum()
    }

    /// Whether a crack ends at this vertex: both lips, which come from one vertex, are its neighbours.
    fn is_tip(&mut self, vertex: u32) -> bool {
        let ring = &mut self.scratch.ring;
        ring.clear();
        for &t in self.topology.particle_triangles.row(vertex as usize) {
            let others = self.topology.triangles[t as usize].into_iter().filter(|&w| w != vertex);
            ring.extend(others.map(|w| (self.topology.parents[w as usize], w)));
        }
        ring.sort_unstable();
        ring.dedup();
        ring.windows(2).any(|pair| pair[0].0 == pair[1].0)
    }

    /// Whether a triangle of `end` lies on the side of the plane through `end` that faces `other`.
    fn faces(&self, end: u32, other: u32, triangle: u32) -> bool {
        let [a, b, c] = self.topology.triangles[triangle as usize].map(|w| self.x[w as usize]);
        let at = self.x[end as usize];
        ((a - at) + (b - at) + (c - at)).dot(self.x[other as usize] - at) > 0.0
    }

    /// Whether there is surface or rope behind `end`, seen from `other`.
    fn has_backing(&self, end: u32, other: u32) -> bool {
        let triangles = self.topology.particle_triangles.row(end as usize);
        let segments = self.topology.segments.iter().filter(|s| s.contains(&end));
        triangles.iter().any(|&t| !self.faces(end, other, t)) || segments.take(2).count() == 2
    }

    /// Whether one end of the spring is free to follow the pull and will: it lies on the lip of a crack, or the spring
    /// shortens already.
    fn relaxes(&self, spring: &Spring) -> bool {
        let (i, j) = (spring.i as usize, spring.j as usize);
        let shortens = (self.v[j] - self.v[i]).dot(self.x[j] - self.x[i]) < 0.0;
        let follows = |end: u32, other: u32| {
            let on_lip = self.scratch.siblings[self.topology.parents[end as usize] as usize] > 1;
            (on_lip || shortens) && !(self.pinned)(end) && !self.has_backing(end, other)
        };
        follows(spring.i, spring.j) || follows(spring.j, spring.i)
    }

    /// Plans to split `end` by the plane across the direction to `other`, if triangles lie on both sides of it.
    fn split(&mut self, end: u32, other: u32) -> bool {
        let triangles = self.topology.particle_triangles.row(end as usize);
        let start = self.scratch.plan.towards.len();
        for &t in triangles {
            if self.faces(end, other, t) {
                self.scratch.plan.towards.push(t);
            }
        }
        let stop = self.scratch.plan.towards.len();
        if stop == start || stop - start == triangles.len() {
            self.scratch.plan.towards.truncate(start);
            return false;
        }
        self.scratch.plan.splits.push((end, start, stop));
        for &t in triangles {
            for w in self.topology.triangles[t as usize] {
                self.scratch.resting[w as usize] = true;
            }
        }
        true
    }

    /// Whether the spring runs along a rope and not over a surface.
    fn is_rope(&self, spring: &Spring) -> bool {
        let bare = |end: u32| self.topology.particle_triangles.row(end as usize).is_empty();
        !self.topology.segments.is_empty()
            && ((bare(spring.i) && bare(spring.j))
                || self.topology.segments.iter().any(|&s| same_pair(s, [spring.i, spring.j])))
    }

    /// Plans to cut the most stretched segment between the ends of the spring.
    fn cut_rope(&mut self, s: u32, spring: &Spring) -> bool {
        let segment = self.weakest_segment(spring);
        for end in segment.unwrap_or([spring.i, spring.j]) {
            self.scratch.resting[end as usize] = true;
        }
        match segment {
            Some(segment) => self.scratch.plan.segments.push(segment),
            None => self.scratch.plan.springs.push(s),
        }
        true
    }

    /// The segment with the largest stretch on a shortest way between the ends of a spring.
    fn weakest_segment(&self, spring: &Spring) -> Option<[u32; 2]> {
        let edges: Vec<(u32, u32)> = self.topology.edges.iter().map(|e| (e.i, e.j)).collect();
        let table = neighbours(self.topology.len(), &edges);
        let mut search = HopSearch::default();
        search.within(&table, spring.j, spring.hops);
        let mut at = spring.i;
        let mut left = search.hops(at)?;
        let mut worst: Option<([u32; 2], f64)> = None;
        while left > 0 {
            left -= 1;
            let next = *table.row(at as usize).iter().find(|&&w| search.hops(w) == Some(left))?;
            let distance = |p: &[DVec3]| p[at as usize].distance(p[next as usize]);
            let stretch = distance(self.x) / distance(&self.topology.rest_positions);
            if worst.is_none_or(|(_, most)| stretch > most) {
                worst = Some(([at, next], stretch));
            }
            at = next;
        }
        worst.map(|(segment, _)| segment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worst_limit_counts() {
        let spring = Spring {
            i: 0,
            j: 1,
            rest_length: 2.0,
            stiffness: 10.0,
            damping: 0.0,
            family: SpringFamily::Stretch,
            hops: 1,
        };
        let limits = TearLimits { length_ratio: Some(1.5), length: Some(4.0), force: Some(10.0) };
        assert_eq!(limits.severity(&spring, 3.0), 1.0);
        assert_eq!(limits.severity(&spring, 4.0), 2.0, "tension 20 N of 10 N");
        assert_eq!(TearLimits { force: None, ..limits }.severity(&spring, 4.5), 1.5);
        assert_eq!(TearLimits::default().severity(&spring, 1e9), 0.0);
    }
}
