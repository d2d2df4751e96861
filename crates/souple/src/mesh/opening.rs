//! Opening a body: carries out what [`super::tear`] or [`super::cut`] planned.
//!
//! A plan says which vertices are split, which of their triangles get the copies, and which springs and rope segments
//! go. Carrying it out is the same for a tear and for a cut: copies are made, fans of triangles that share no edge any
//! more get a vertex each, masses are shared by rest area, every spring whose way over the surface is gone is cut, and
//! springs along the new border are shared between both lips.
//!
//! Promises: number and rest area of triangles never change; total mass is kept to rounding; total stiffness and damping
//! of a spring that goes to both lips are kept; around a split, each vertex ends with a single fan of triangles, so
//! nothing hangs by a point; edges keep at most the triangles they had. The result depends on the arguments only.

use glam::DVec3;

use super::{HopSearch, Rows, Spring, Topology, mesh_edges, neighbours};

/// What a tear or a cut did.
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

    /// The particle that an added one stems from and that was there when the body had `before` particles. Copies of
    /// copies are followed back.
    pub fn source(&self, added: u32, before: u32) -> u32 {
        let mut source = added;
        while let Some(&from) = source.checked_sub(before).and_then(|k| self.copied_from.get(k as usize)) {
            source = from;
        }
        source
    }

    /// Whether the topology is another one now; false when pins were released and nothing else.
    pub fn changed_topology(&self) -> bool {
        !self.copied_from.is_empty() || self.springs_cut > 0 || self.segments_cut > 0
    }
}

/// What is to be done to a body; made without touching its topology.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Vertices to split, each with where the triangles that get the copy start and end in `towards`.
    pub(super) splits: Vec<(u32, usize, usize)>,
    /// Triangles that get the copy.
    pub(super) towards: Vec<u32>,
    /// Rope segments to remove.
    pub(super) segments: Vec<[u32; 2]>,
    /// Springs to remove.
    pub(super) springs: Vec<u32>,
    /// Pins to let go.
    pub(super) released: Vec<u32>,
    /// Whether the planned copies of a supported vertex stay in its support too. A tear frees the side that pulls.
    pub(super) copies_stay_held: bool,
}

impl Plan {
    pub(super) fn clear(&mut self) {
        self.splits.clear();
        self.towards.clear();
        self.segments.clear();
        self.springs.clear();
        self.released.clear();
    }

    pub(super) fn changes_topology(&self) -> bool {
        !(self.splits.is_empty() && self.segments.is_empty() && self.springs.is_empty())
    }
}

/// Representative of a vertex in a forest of clusters; shortens the way for the next time.
pub(super) fn root(forest: &mut [u32], mut vertex: u32) -> u32 {
    while forest[vertex as usize] != vertex {
        forest[vertex as usize] = forest[forest[vertex as usize] as usize];
        vertex = forest[vertex as usize];
    }
    vertex
}

pub(super) fn same_pair(a: [u32; 2], b: [u32; 2]) -> bool {
    a == b || a == [b[1], b[0]]
}

/// Carries out a plan and brings the topology up to date.
pub(super) fn carry_out(
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
    if !plan.segments.is_empty() {
        let sorted = |[i, j]: [u32; 2]| (i.min(j), i.max(j));
        let mut cut: Vec<(u32, u32)> = plan.segments.iter().copied().map(sorted).collect();
        cut.sort_unstable();
        let is_cut = |pair: [u32; 2]| cut.binary_search(&sorted(pair)).is_ok();
        let segments_before = topology.segments.len();
        topology.segments.retain(|&s| !is_cut(s));
        torn.segments_cut = (segments_before - topology.segments.len()) as u32;
        for (gone, spring) in dead.iter_mut().zip(&topology.springs) {
            *gone |= is_cut([spring.i, spring.j]);
        }
    }
    let first_copy = topology.len() as u32;
    let mut opening = Opening { topology, x, v, first_copy, origins: Vec::new(), copies: Vec::new(), torn };
    opening.split_vertices(plan, pinned);
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

    /// Splits the planned vertices. In a tear the side towards the pull gets the copy, so that a pinned vertex keeps its
    /// pin on the side that is not pulled at.
    fn split_vertices(&mut self, plan: &Plan, pinned: &dyn Fn(u32) -> bool) {
        for &(vertex, start, stop) in &plan.splits {
            let copy = self.copy(vertex, plan.towards[start..stop].iter().copied());
            if plan.copies_stay_held && pinned(vertex) {
                self.torn.held.push(copy);
            }
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
            let held = pinned(self.origin(vertex)) && (vertex < self.first_copy || plan.copies_stay_held);
            let fan_of = fans(vertex, &triangles, &self.topology.triangles, &|_| true);
            for fan in 1..triangles.len() as u32 {
                if !fan_of.contains(&fan) {
                    continue;
                }
                let members = triangles.iter().zip(&fan_of).filter(|&(_, &f)| f == fan).map(|(&t, _)| t);
                let copy = self.copy(vertex, members);
                if held {
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

/// For each of the triangles around a vertex, the number of its fan: triangles that share an edge at the vertex whose
/// other end `joins`. The number is the place of the fan's first triangle, so the first fan is 0.
pub(super) fn fans(
    vertex: u32,
    around: &[u32],
    triangles: &[[u32; 3]],
    joins: &dyn Fn(u32) -> bool,
) -> Vec<u32> {
    let mut spokes: Vec<(u32, u32)> = around
        .iter()
        .zip(0u32..)
        .flat_map(|(&t, k)| triangles[t as usize].into_iter().filter(|&w| w != vertex).map(move |w| (w, k)))
        .collect();
    spokes.sort_unstable();
    let mut forest: Vec<u32> = (0..around.len() as u32).collect();
    for pair in spokes.windows(2).filter(|pair| pair[0].0 == pair[1].0 && joins(pair[0].0)) {
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
        assert_eq!(fans(0, &[0, 1, 2, 3], &triangles, &|_| true), [0, 1, 0, 1]);
        assert_eq!(fans(2, &[0, 2], &triangles, &|_| true), [0, 0]);
        assert_eq!(fans(2, &[0, 2], &triangles, &|w| w != 0), [0, 1], "an opened edge joins nothing");
    }
}
