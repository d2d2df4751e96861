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
//! Promises: number and rest area of triangles never change; total mass is kept to rounding (shared by rest area);
//! total stiffness and damping of a spring that goes to both lips are kept; around a split, each vertex ends with a
//! single fan of triangles, so nothing hangs by a point; edges keep at most the triangles they had. The result depends
//! on the arguments only, not on threads or hash order.
//!
//! Does not: remesh (cracks follow mesh edges), judge bend springs, or shrink the time step. A copy may have a small
//! share of the mass, so an explicit integrator may need a smaller step afterwards.

use std::sync::Arc;

use glam::DVec3;

use super::{HopSearch, Rows, Spring, SpringFamily, Topology, mesh_edges, neighbours};

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

/// What a tear did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Torn {
    /// For each particle added at the end, the one it was copied from; that may itself be one added earlier in the same
    /// tear. Whatever the caller keeps per particle has to be copied in this order.
    pub copied_from: Vec<u32>,
    /// Added particles that the support of the one they were copied from holds too: a crack ran through a pinned vertex
    /// and both its lips stay in the pin.
    pub held: Vec<u32>,
    /// Pinned particles that were torn out of their support; the caller unpins them.
    pub released: Vec<u32>,
    /// Springs that are gone.
    pub springs_cut: u32,
    /// Rope segments that are gone.
    pub segments_cut: u32,
}

impl Torn {
    /// How many particles were added.
    pub fn vertices_split(&self) -> usize {
        self.copied_from.len()
    }

    /// Whether the topology is another one now; false when pins were released and nothing else.
    pub fn changed_topology(&self) -> bool {
        !self.copied_from.is_empty() || self.springs_cut > 0 || self.segments_cut > 0
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

/// What one call will do; made without touching the topology.
#[derive(Debug, Default)]
struct Plan {
    /// Vertices to split, each with where its triangles start and end in `towards`.
    splits: Vec<(u32, usize, usize)>,
    /// Triangles that get the copy.
    towards: Vec<u32>,
    /// Rope segments to remove.
    segments: Vec<[u32; 2]>,
    /// Springs to remove.
    springs: Vec<u32>,
    /// Pins to let go.
    released: Vec<u32>,
}

impl Plan {
    fn clear(&mut self) {
        self.splits.clear();
        self.towards.clear();
        self.segments.clear();
        self.springs.clear();
        self.released.clear();
    }

    fn changes_topology(&self) -> bool {
        !(self.splits.is_empty() && self.segments.is_empty() && self.springs.is_empty())
    }
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

/// Representative of a vertex in a forest of clusters; shortens the way for the next time.
fn root(forest: &mut [u32], mut vertex: u32) -> u32 {
    while forest[vertex as usize] != vertex {
        forest[vertex as usize] = forest[forest[vertex as usize] as usize];
        vertex = forest[vertex as usize];
    }
    vertex
}

fn same_pair(a: [u32; 2], b: [u32; 2]) -> bool {
    a == b || a == [b[1], b[0]]
}

/// Carries out a plan and brings the topology up to date.
fn carry_out(
    topology: &mut Topology,
    x: &mut Vec<DVec3>,
    v: &mut Vec<DVec3>,
    pinned: &dyn Fn(u32) -> bool,
    plan: &Plan,
    torn: &mut Torn,
) {
    let mut dead = vec![false; topology.springs.len()];
    for &s in &plan.springs {
        dead[s as usize] = true;
    }
    let is_cut = |pair: [u32; 2]| plan.segments.iter().any(|&cut| same_pair(cut, pair));
    if !plan.segments.is_empty() {
        let segments_before = topology.segments.len();
        topology.segments.retain(|&s| !is_cut(s));
        torn.segments_cut = (segments_before - topology.segments.len()) as u32;
        for (gone, spring) in dead.iter_mut().zip(&topology.springs) {
            *gone |= is_cut([spring.i, spring.j]);
        }
    }
    let first_copy = topology.len() as u32;
    let mut opening = Opening { topology, x, v, first_copy, origins: Vec::new(), copies: Vec::new(), torn };
    opening.split_vertices(plan);
    opening.split_fans(plan, pinned);
    opening.share_masses();
    opening.rejoin_springs(plan, dead);
    topology.version += 1;
    topology.rebuild_derived();
}

/// A body being opened. What the topology derived describes the sound body until the end; only vertices, triangles,
/// masses and springs change.
struct Opening<'a> {
    topology: &'a mut Topology,
    x: &'a mut Vec<DVec3>,
    v: &'a mut Vec<DVec3>,
    /// Index of the first added vertex.
    first_copy: u32,
    /// For each added vertex, the one of the sound body it comes from.
    origins: Vec<u32>,
    /// (origin, copy), sorted once all copies are made.
    copies: Vec<(u32, u32)>,
    torn: &'a mut Torn,
}

impl Opening<'_> {
    /// The vertex of the sound body that a vertex is or comes from.
    fn origin(&self, vertex: u32) -> u32 {
        vertex.checked_sub(self.first_copy).map_or(vertex, |copy| self.origins[copy as usize])
    }

    /// Adds a copy of a vertex and gives it some of its triangles.
    fn copy(&mut self, vertex: u32, triangles: impl Iterator<Item = u32>) -> u32 {
        let copy = self.topology.len() as u32;
        let (from, origin) = (vertex as usize, self.origin(vertex));
        self.x.push(self.x[from]);
        self.v.push(self.v[from]);
        let topology = &mut *self.topology;
        topology.rest_positions.push(topology.rest_positions[from]);
        topology.masses.push(topology.masses[from]);
        topology.parents.push(topology.parents[from]);
        for t in triangles {
            for w in topology.triangles[t as usize].iter_mut().filter(|w| **w == vertex) {
                *w = copy;
            }
        }
        self.origins.push(origin);
        self.copies.push((origin, copy));
        self.torn.copied_from.push(vertex);
        copy
    }

    /// Triangles around a vertex, as they are by now.
    fn triangles_at(&self, vertex: u32) -> impl Iterator<Item = u32> {
        let before = self.topology.particle_triangles.row(self.origin(vertex) as usize);
        let repeats = |k: usize| k > 0 && before[k - 1] == before[k];
        let now = move |t: u32| self.topology.triangles[t as usize].contains(&vertex);
        (0..before.len()).filter(move |&k| !repeats(k)).map(|k| before[k]).filter(move |&t| now(t))
    }

    /// A vertex of the sound body and its copies.
    fn family(&self, origin: u32) -> impl Iterator<Item = u32> + Clone {
        let start = self.copies.partition_point(|&(o, _)| o < origin);
        let stop = self.copies.partition_point(|&(o, _)| o <= origin);
        std::iter::once(origin).chain(self.copies[start..stop].iter().map(|&(_, copy)| copy))
    }

    /// Splits the planned vertices: the side towards the pull gets the copy. So a pinned vertex keeps its pin on the
    /// side that is not pulled at.
    fn split_vertices(&mut self, plan: &Plan) {
        for &(vertex, start, stop) in &plan.splits {
            self.copy(vertex, plan.towards[start..stop].iter().copied());
        }
    }

    /// Where a vertex now joins several fans of triangles that share no edge, gives each its own vertex. This opens no
    /// edge, so it spreads no further.
    fn split_fans(&mut self, plan: &Plan, pinned: &dyn Fn(u32) -> bool) {
        let touched = plan.splits.iter().flat_map(|&(vertex, ..)| {
            self.topology
                .particle_triangles
                .row(vertex as usize)
                .iter()
                .flat_map(|&t| self.topology.triangles[t as usize])
        });
        let mut touched: Vec<u32> = touched.collect();
        touched.sort_unstable();
        touched.dedup();
        for vertex in touched {
            let triangles: Vec<u32> = self.triangles_at(vertex).collect();
            let fan_of = fans(vertex, &triangles, &self.topology.triangles);
            for fan in 1..triangles.len() as u32 {
                if !fan_of.contains(&fan) {
                    continue;
                }
                let members = triangles.iter().zip(&fan_of).filter(|&(_, &f)| f == fan).map(|(&t, _)| t);
                let copy = self.copy(vertex, members);
                if vertex < self.first_copy && pinned(vertex) {
                    self.torn.held.push(copy);
                }
            }
        }
        self.copies.sort_unstable();
    }

    /// Shares the mass of each split vertex by the rest area that each part kept; the original has what is left, so
    /// that the sum stays the same.
    fn share_masses(&mut self) {
        for origin in split_origins(&self.copies) {
            let parts: Vec<u32> = self.family(origin).collect();
            let areas: Vec<f64> = parts
                .iter()
                .map(|&part| self.triangles_at(part).map(|t| self.topology.rest_areas[t as usize]).sum())
                .collect();
            let mass = self.topology.masses[origin as usize];
            for (&part, share) in parts.iter().zip(divide(mass, &areas)) {
                self.topology.masses[part as usize] = share;
            }
        }
    }

    /// Cuts, moves and shares the springs around everything that was opened.
    fn rejoin_springs(&mut self, plan: &Plan, mut dead: Vec<bool>) {
        let near = self.near_opening(plan);
        let edges = mesh_edges(&self.topology.triangles, &self.topology.segments);
        let table = neighbours(self.topology.len(), &edges);
        let mut search = HopSearch::default();
        for s in 0..dead.len() {
            let spring = self.topology.springs[s];
            if dead[s] {
                continue;
            }
            if spring.hops == 0 {
                self.topology.springs[s] = self.move_tie(spring);
            } else if near[spring.i as usize] && near[spring.j as usize] {
                let parts = self.divide_spring(&spring, &table, &mut search);
                match parts.split_first() {
                    Some((first, others)) => {
                        self.topology.springs[s] = *first;
                        self.topology.springs.extend_from_slice(others);
                    }
                    None => dead[s] = true,
                }
            }
        }
        self.torn.springs_cut = dead.iter().filter(|&&gone| gone).count() as u32;
        let mut dead = dead.into_iter();
        self.topology.springs.retain(|_| !dead.next().unwrap_or(false));
    }

    /// Which vertices of the sound body a spring over the opening may end at: those as near as the longest spring.
    fn near_opening(&self, plan: &Plan) -> Vec<bool> {
        let edges: Vec<(u32, u32)> = self.topology.edges.iter().map(|e| (e.i, e.j)).collect();
        let table = neighbours(self.first_copy as usize, &edges);
        let reach = self.topology.springs.iter().map(|s| s.hops).max().unwrap_or(0);
        let mut search = HopSearch::default();
        let mut near = vec![false; self.first_copy as usize];
        for origin in split_origins(&self.copies).chain(plan.segments.iter().flatten().copied()) {
            for &vertex in search.within(&table, origin, reach) {
                near[vertex as usize] = true;
            }
        }
        near
    }

    /// What is left of a spring over the surface: one for each pair of its ends and their copies that is still joined
    /// by as short a way. If there are several, those that face each other best share it by area.
    fn divide_spring(&self, spring: &Spring, table: &Rows, search: &mut HopSearch) -> Vec<Spring> {
        let mut pairs = Vec::new();
        for i in self.family(spring.i) {
            search.within(table, i, spring.hops);
            pairs.extend(self.family(spring.j).filter(|&j| search.hops(j).is_some()).map(|j| (i, j)));
        }
        if let [(i, j)] = pairs[..] {
            return vec![Spring { i, j, ..*spring }];
        }
        let views: Vec<View> = pairs
            .iter()
            .map(|&(i, j)| {
                self.view(i, j, spring.hops, table, search) + self.view(j, i, spring.hops, table, search)
            })
            .collect();
        let best = views.iter().map(|view| view.ways).max().unwrap_or(0);
        let chosen: Vec<((u32, u32), f64)> = pairs
            .into_iter()
            .zip(&views)
            .filter(|(_, view)| view.ways == best)
            .map(|(pair, view)| (pair, view.area))
            .collect();
        let areas: Vec<f64> = chosen.iter().map(|&(_, area)| area).collect();
        let shares = divide(spring.stiffness, &areas).into_iter().zip(divide(spring.damping, &areas));
        let parts = chosen.iter().zip(shares);
        parts
            .map(|(&((i, j), _), (stiffness, damping))| Spring { i, j, stiffness, damping, ..*spring })
            .collect()
    }

    /// How the surface at `end` looks at `other`. A triangle between two shortest ways lies on the line of the spring;
    /// one that touches a single way may be on the wrong side of the crack, with a way around its tip.
    fn view(&self, end: u32, other: u32, hops: u8, table: &Rows, search: &mut HopSearch) -> View {
        search.within(table, other, hops);
        let distance = search.hops(end).unwrap_or(hops);
        let mut view = View::default();
        for t in self.triangles_at(end) {
            let nearer = |w: &u32| search.hops(*w).is_some_and(|d| d < distance);
            let ways = self.topology.triangles[t as usize].iter().filter(|w| nearer(w)).count();
            if ways > view.ways {
                view = View { ways, area: 0.0 };
            }
            if ways == view.ways {
                view.area += self.topology.rest_areas[t as usize];
            }
        }
        view
    }

    /// A spring that the surface never joined goes with the part of a split end that reaches out to its other end, if
    /// only one copy and not the original does.
    fn move_tie(&self, tie: Spring) -> Spring {
        let part = |end: u32, other: u32| {
            let pull = self.x[other as usize] - self.x[end as usize];
            let reaches = |part: u32| {
                let corners = self.triangles_at(part).flat_map(|t| self.topology.triangles[t as usize]);
                corners.map(|w| (self.x[w as usize] - self.x[end as usize]).dot(pull)).sum::<f64>() > 0.0
            };
            let mut reaching = self.family(end).filter(|&part| reaches(part));
            match (reaching.next(), reaching.next()) {
                (Some(only), None) => only,
                _ => end,
            }
        };
        Spring { i: part(tie.i, tie.j), j: part(tie.j, tie.i), ..tie }
    }
}

/// How the surface at one end of a spring looks at the other end.
#[derive(Clone, Copy, Debug, Default)]
struct View {
    /// Most shortest ways that touch one triangle.
    ways: usize,
    /// Rest area of the triangles that many touch, m².
    area: f64,
}

impl std::ops::Add for View {
    type Output = View;
    fn add(self, other: View) -> View {
        View { ways: self.ways + other.ways, area: self.area + other.area }
    }
}

/// Each origin once, of pairs sorted by origin.
fn split_origins(copies: &[(u32, u32)]) -> impl Iterator<Item = u32> {
    copies.chunk_by(|a, b| a.0 == b.0).map(|family| family[0].0)
}

/// Shares an amount by weight, or equally if a part would get next to nothing (a degenerate triangle must not make a
/// particle without mass). The first part gets what the others leave.
fn divide(amount: f64, weights: &[f64]) -> Vec<f64> {
    let total: f64 = weights.iter().sum();
    let sound = weights.iter().all(|&w| w / total > 1e-9);
    let share = |w: f64| if sound { amount * (w / total) } else { amount / weights.len() as f64 };
    let mut parts: Vec<f64> = weights.iter().map(|&w| share(w)).collect();
    let others: f64 = parts.iter().skip(1).sum();
    if let Some(first) = parts.first_mut() {
        *first = amount - others;
    }
    parts
}

/// For each of the triangles around a vertex, the number of its fan: triangles that share an edge at the vertex. The
/// number is the place of the fan's first triangle, so the first fan is 0.
fn fans(vertex: u32, around: &[u32], triangles: &[[u32; 3]]) -> Vec<u32> {
    let mut spokes: Vec<(u32, u32)> = around
        .iter()
        .zip(0u32..)
        .flat_map(|(&t, k)| triangles[t as usize].into_iter().filter(|&w| w != vertex).map(move |w| (w, k)))
        .collect();
    spokes.sort_unstable();
    let mut forest: Vec<u32> = (0..around.len() as u32).collect();
    for pair in spokes.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (a, b) = (root(&mut forest, pair[0].1), root(&mut forest, pair[1].1));
        forest[a.max(b) as usize] = a.min(b);
    }
    (0..around.len() as u32).map(|k| root(&mut forest, k)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_none_is_empty() {
        assert_eq!(divide(6.0, &[1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
        assert_eq!(divide(6.0, &[0.0, 2.0]), [3.0, 3.0], "a part without area still gets its share");
        assert_eq!(divide(6.0, &[0.0, 0.0, 0.0]), [2.0, 2.0, 2.0]);
    }

    #[test]
    fn fans_join_over_edges_only() {
        // Two pairs of triangles around vertex 0 that meet in that vertex alone.
        let triangles = [[0, 1, 2], [0, 4, 5], [2, 3, 0], [5, 6, 0]];
        assert_eq!(fans(0, &[0, 1, 2, 3], &triangles), [0, 1, 0, 1]);
        assert_eq!(fans(2, &[0, 2], &triangles), [0, 0]);
    }

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
