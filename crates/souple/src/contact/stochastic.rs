//! Near pairs by chance, within a budget: random pairs of features slide down to local minima of their distance (FAU-41), minima are
//! kept and followed from substep to substep (FAU-42), and pairs are drawn only where boxes of a shallow hierarchy meet (FAU-43).
//! After Kimmerle, Nesme, Faure, "Hierarchy accelerated stochastic collision detection" (2004), as told in Faure's thesis.
//!
//! A pair is a vertex and a triangle, or two edges. Its neighbours have one of the two replaced by a feature that
//! shares a vertex with it. A pair goes to its nearest neighbour again and again until none is nearer; what ends
//! nearer than a margin is kept. Half of the draws start anywhere in two boxes that meet, half beside a minimum that is known: where
//! layers lie on each other, minima are many and side by side.
//!
//! The budget counts distances that are computed, not seconds: the results are the same on every machine.
//!
//! Promised: every contact told is a real pair within its distance; no more distances are computed than the budget; the same
//! contacts in the same order for the same seed. Not promised: that all contacts are told. What is not a minimum among its neighbours is not looked for, and
//! what the draws miss is missed until they hit it. Where the budget does not do to follow all that is known, some of what is told was a
//! minimum and is only near now.

use crate::contact::bvh::Tree;
use crate::contact::closest::closest;
use crate::contact::examine::{Contact, EMIT, Separation};
use crate::contact::pairs::{REST_SHARE, ROUNDING, Vertices};
use crate::contact::rules::Rules;
use crate::contact::surface::{NONE, Surface, unit_normal};
use crate::contact::surfaces::SLOP;
use crate::contact::ways::gap;
use crate::lanes::{Eight, Instructions, Kernel, Lanes, Point, Rows, WIDTH};
use crate::math::uniform;

/// Leaves of the shallow hierarchy are boxes around so many patches of eight triangles.
const PATCHES_PER_BOX: usize = 4;

/// Minima are followed while they are no further apart than their skin and this many times the skin, m.
const KEEP: f32 = 1.0;

/// Of what is left of the budget after all that is known was measured, this share is for following it.
const FOLLOW: f64 = 0.5;

/// Where triangles of two neighbouring boxes face within 45° of the same direction, the surface does not touch itself.
const ALIKE: f32 = std::f32::consts::FRAC_1_SQRT_2;

/// A box, m.
type Hull = ([f32; 3], [f32; 3]);

/// A vertex and a triangle (kind 0), or two edges (kind 1, the lower number first).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    kind: u8,
    features: [u32; 2],
}

impl Pair {
    fn new(kind: u8, features: [u32; 2]) -> Pair {
        let [a, b] = features;
        Pair { kind, features: if kind == 1 { [a.min(b), a.max(b)] } else { [a, b] } }
    }

    /// The same with one side replaced.
    fn with(&self, side: usize, feature: u32) -> Pair {
        let mut features = self.features;
        features[side] = feature;
        Pair::new(self.kind, features)
    }
}

/// A pair and its four vertices.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    pair: Pair,
    vertices: [u32; 4],
}

/// A local minimum that is known.
#[derive(Clone, Copy, Debug)]
struct Minimum {
    pair: Pair,
    contact: Contact,
    /// Whether it is no longer one.
    gone: bool,
}

/// Lists of numbers, one list for each vertex.
#[derive(Clone, Debug, Default)]
struct Lists {
    firsts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// Of pairs of a vertex and an item.
    fn new(vertices: usize, mut pairs: Vec<(u32, u32)>) -> Lists {
        pairs.sort_unstable();
        pairs.dedup();
        let firsts = (0..=vertices).map(|v| pairs.partition_point(|p| (p.0 as usize) < v) as u32).collect();
        Lists { firsts, items: pairs.into_iter().map(|p| p.1).collect() }
    }

    fn of(&self, v: u32) -> &[u32] {
        let v = v as usize;
        &self.items[self.firsts[v] as usize..self.firsts[v + 1] as usize]
    }
}

/// Neighbouring patches of one thing: a leaf of the shallow hierarchy.
#[derive(Clone, Debug)]
struct Leaf {
    patches: std::ops::Range<usize>,
    thing: u16,
    /// Where its vertices, triangles and edges are in [`Stochastic::features`].
    features: [std::ops::Range<usize>; 3],
    /// Around it at rest, m.
    rest: Hull,
    /// Sum of the unit normals of its triangles.
    facing: [f32; 3],
}

/// Local minima of the distance between features, found by chance and kept from call to call.
#[derive(Clone, Debug)]
pub struct Stochastic {
    instructions: Instructions,
    /// Triangles and edges around each vertex.
    triangles: Lists,
    edges: Lists,
    /// The thing of each vertex.
    things: Vec<u16>,
    leaves: Vec<Leaf>,
    /// Vertices, triangles and edges by leaf.
    features: [Vec<u32>; 3],
    tree: Tree,
    hulls: Vec<Hull>,
    /// Unit normals of triangles.
    normals: Vec<[f32; 3]>,
    /// Leaves that may touch.
    meetings: Vec<[u32; 2]>,
    minima: Vec<Minimum>,
    /// Pairs of the minima that were found in this call, sorted.
    found: Vec<Pair>,
    /// Where minima that were followed have gone.
    arrived: Vec<Pair>,
    candidates: Vec<Candidate>,
    contacts: Vec<Contact>,
    evaluations: u32,
}

impl Stochastic {
    /// For a surface of that many vertices.
    pub fn new(surface: &Surface, vertices: usize) -> Stochastic {
        Stochastic::with_depth(surface, vertices, PATCHES_PER_BOX)
    }

    /// With boxes around that many patches.
    pub(super) fn with_depth(surface: &Surface, vertices: usize, patches_per_box: usize) -> Stochastic {
        let (mut triangles, mut edges) = (Vec::new(), Vec::new());
        let mut things = vec![0; vertices];
        let mut leaves: Vec<Leaf> = Vec::new();
        let mut features = [Vec::new(), Vec::new(), Vec::new()];
        for p in 0..surface.len() {
            let thing = surface.thing(p);
            let full = |leaf: &Leaf| leaf.thing != thing || leaf.patches.len() == patches_per_box;
            if leaves.last().is_none_or(full) {
                let features = [0, 1, 2].map(|k: usize| features[k].len()..features[k].len());
                let (rest, facing) = (surface.rest_hull(p), [0.0; 3]);
                leaves.push(Leaf { patches: p..p, thing, features, rest, facing });
            }
            features[0].extend_from_slice(surface.vertices(p));
            let real = |t: &(usize, &[u32; 3])| t.1[0] != NONE;
            for (l, t) in surface.triangles(p).iter().enumerate().filter(real) {
                let id = (p * WIDTH + l) as u32;
                features[1].push(id);
                triangles.extend(t.map(|v| (v, id)));
                t.iter().for_each(|&v| things[v as usize] = thing);
            }
            for eight in surface.eights_of_edges(p) {
                let real = |e: &(usize, &[u32; 2])| e.1[0] != NONE;
                for (l, e) in surface.edges(eight).iter().enumerate().filter(real) {
                    let id = (eight * WIDTH + l) as u32;
                    features[2].push(id);
                    edges.extend(e.map(|v| (v, id)));
                }
            }
            if let Some(leaf) = leaves.last_mut() {
                leaf.patches.end = p + 1;
                for k in 0..3 {
                    leaf.features[k].end = features[k].len();
                    leaf.rest.0[k] = leaf.rest.0[k].min(surface.rest_hull(p).0[k]);
                    leaf.rest.1[k] = leaf.rest.1[k].max(surface.rest_hull(p).1[k]);
                }
            }
        }
        Stochastic {
            instructions: Instructions::detect(),
            triangles: Lists::new(vertices, triangles),
            edges: Lists::new(vertices, edges),
            things,
            hulls: Vec::with_capacity(leaves.len()),
            leaves,
            features,
            tree: Tree::default(),
            normals: Vec::with_capacity(WIDTH * surface.len()),
            meetings: Vec::new(),
            minima: Vec::new(),
            found: Vec::new(),
            arrived: Vec::new(),
            candidates: Vec::new(),
            contacts: Vec::new(),
            evaluations: 0,
        }
    }

    /// Forgets all minima: they are drawn anew.
    pub fn forget(&mut self) {
        self.minima.clear();
        self.contacts.clear();
    }

    /// Follows the minima that are known and draws new ones, until that many distances were computed. `skin` is the largest one, m.
    pub fn find(
        &mut self,
        surface: &Surface,
        rules: &Rules,
        vertices: &Vertices,
        skin: f32,
        budget: u32,
        seed: u64,
    ) {
        let mut left = budget;
        let walk = Walk { surface, rules, vertices, skin, instructions: self.instructions };
        self.measure_known(&walk, &mut left);
        self.follow(&walk, &mut left, seed);
        self.meet(&walk);
        self.draw(&walk, &mut left, seed);
        self.minima.sort_unstable_by_key(|m| m.pair);
        self.contacts.clear();
        self.contacts.extend(self.minima.iter().map(|m| m.contact).filter(|c| walk.is_active(c)));
        self.evaluations = budget - left;
    }

    /// The contacts that [`Stochastic::find`] found.
    pub fn contacts(&self) -> impl Iterator<Item = &Contact> {
        self.contacts.iter()
    }

    /// How many distances the last call computed.
    #[cfg(test)]
    pub fn evaluations(&self) -> u32 {
        self.evaluations
    }

    /// Measures all that is known, and drops what is far by now.
    fn measure_known(&mut self, walk: &Walk, left: &mut u32) {
        self.minima.truncate(*left as usize);
        *left -= self.minima.len() as u32;
        for same_kind in self.minima.chunk_by_mut(|a, b| a.pair.kind == b.pair.kind) {
            same_kind.chunks_mut(WIDTH).for_each(|eight| walk.measure(eight));
        }
        self.minima.retain(|m| walk.is_near(&m.contact));
    }

    /// Lets minima that have moved slide down again, from one on that differs from call to call, as the budget may not do for all.
    fn follow(&mut self, walk: &Walk, left: &mut u32, seed: u64) {
        let share = (f64::from(*left) * FOLLOW) as u32;
        let mut left_to_follow = share;
        let n = self.minima.len();
        self.arrived.clear();
        self.found.clear();
        let first = chosen(seed, u64::MAX, n);
        for i in (first..n).chain(0..first) {
            let Minimum { pair, contact, .. } = self.minima[i];
            match self.descend(walk, pair, contact.apart.distance, &mut left_to_follow, false) {
                Descent::Ended(end) if end != pair => {
                    self.minima[i].gone = true;
                    self.arrived.push(end);
                }
                Descent::Ended(_) => {}
                Descent::Known | Descent::Spent => break,
            }
        }
        *left -= share - left_to_follow;
        self.minima.retain(|m| !m.gone);
        for i in 0..self.arrived.len() {
            let pair = self.arrived[i];
            if !self.knows(pair) {
                self.keep(walk, pair, left);
            }
        }
    }

    /// Finds the leaves that may touch.
    fn meet(&mut self, walk: &Walk) {
        let Walk { surface, rules, vertices, skin, instructions } = *walk;
        let Stochastic { leaves, hulls, normals, tree, meetings, .. } = self;
        let Vertices { before, now, .. } = *vertices;
        hulls.clear();
        normals.clear();
        for leaf in leaves.iter_mut() {
            let wide = 0.5 * (1.0 + SLOP) * skin;
            let mut hull = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
            leaf.facing = [0.0; 3];
            for p in leaf.patches.clone() {
                for &v in surface.corners(p) {
                    let (from, to) = (before[v as usize], now[v as usize]);
                    for k in 0..3 {
                        hull.0[k] = hull.0[k].min(from[k].min(to[k]) - wide);
                        hull.1[k] = hull.1[k].max(from[k].max(to[k]) + wide);
                    }
                }
                for t in surface.triangles(p) {
                    let is_real = t[0] != NONE;
                    let normal = if is_real { unit_normal(t.map(|v| before[v as usize])) } else { [0.0; 3] };
                    (0..3).for_each(|k| leaf.facing[k] += normal[k]);
                    normals.push(normal);
                }
            }
            hulls.push(hull);
        }
        tree.fit(hulls.len(), |i| hulls[i]);
        let (leaves, normals) = (&leaves[..], &normals[..]);
        meetings.clear();
        for i in 0..leaves.len() {
            instructions.run(Meet { tree, i, hulls, meetings });
        }
        meetings.retain(|pair| {
            let [a, b] = pair.map(|i| &leaves[i as usize]);
            let touch = rules.at(rules.place(a.thing, b.thing)).touch;
            let neighbours = a.thing == b.thing && gap(&a.rest, &b.rest) <= skin;
            touch && !(neighbours && face_alike(a, b, surface, normals))
        });
    }

    /// Draws pairs until the budget is spent.
    fn draw(&mut self, walk: &Walk, left: &mut u32, seed: u64) {
        let mut draws = 0;
        while *left > 0 && !(self.meetings.is_empty() && self.minima.is_empty()) {
            // Each draw is paid for, also one that names no pair, so that this ends.
            *left -= 1;
            draws += 1;
            let beside = !self.minima.is_empty() && (self.meetings.is_empty() || draws % 2 == 0);
            let drawn = if beside {
                self.draw_beside(walk, seed, 8 * draws)
            } else {
                self.draw_anywhere(seed, 8 * draws)
            };
            let Some(pair) = drawn else { continue };
            let Some(start) = walk.candidate(pair) else { continue };
            if self.knows(pair) {
                continue;
            }
            let distance = walk.distances(pair.kind, walk.vertices.before, &[start])[0];
            if let Descent::Ended(end) = self.descend(walk, pair, distance, left, true) {
                self.keep(walk, end, left);
            }
        }
    }

    /// A pair of features of two leaves that meet.
    fn draw_anywhere(&self, seed: u64, number: u64) -> Option<Pair> {
        let [mut a, mut b] = *self.meetings.get(chosen(seed, number, self.meetings.len()))?;
        let kind = chosen(seed, number + 1, 2) as u8;
        if chosen(seed, number + 2, 2) == 1 {
            std::mem::swap(&mut a, &mut b);
        }
        let pick = |leaf: u32, list: usize, number: u64| {
            let features = &self.features[list][self.leaves[leaf as usize].features[list].clone()];
            features.get(chosen(seed, number, features.len())).copied()
        };
        let lists = if kind == 0 { [0, 1] } else { [2, 2] };
        Some(Pair::new(kind, [pick(a, lists[0], number + 3)?, pick(b, lists[1], number + 4)?]))
    }

    /// A pair of neighbours of both features of a minimum.
    fn draw_beside(&mut self, walk: &Walk, seed: u64, number: u64) -> Option<Pair> {
        let mut pair = self.minima.get(chosen(seed, number, self.minima.len()))?.pair;
        for side in 0..2 {
            self.look_around(walk, pair, side);
            pair = self.candidates.get(chosen(seed, number + 1 + side as u64, self.candidates.len()))?.pair;
        }
        Some(pair)
    }

    fn knows(&self, pair: Pair) -> bool {
        // What was found in this call comes after what was known.
        let known = &self.minima[..self.minima.len() - self.found.len()];
        known.binary_search_by_key(&pair, |m| m.pair).is_ok() || self.found.binary_search(&pair).is_ok()
    }

    /// Keeps a pair that is near.
    fn keep(&mut self, walk: &Walk, pair: Pair, left: &mut u32) {
        let Some(Candidate { vertices, .. }) = walk.candidate(pair) else { return };
        // Once where they are, once at rest.
        if *left < 2 {
            *left = 0;
            return;
        }
        *left -= 2;
        let things = [vertices[0], vertices[3]].map(|v| self.things[v as usize]);
        let rule = walk.rules.place(things[0].min(things[1]), things[0].max(things[1]));
        let mut skin = walk.rules.at(rule).skin;
        if things[0] == things[1] {
            let at_rest = walk.distances(pair.kind, walk.vertices.rest, &[Candidate { pair, vertices }])[0];
            skin = skin.min(REST_SHARE * at_rest);
        }
        // What lies on each other at rest has no sides to be kept on.
        if skin < ROUNDING * walk.skin {
            return;
        }
        let apart = Separation { vertices, first_side: 1 + pair.kind, normal: [0.0; 3], distance: 0.0, skin };
        let contact = Contact { apart, weights: [0.0; 4], gap: 0.0, way: [0.0; 3], rule: rule as u32 };
        let mut minimum = [Minimum { pair, contact, gone: false }];
        walk.measure(&mut minimum);
        if walk.is_near(&minimum[0].contact)
            && let Err(place) = self.found.binary_search(&pair)
        {
            self.found.insert(place, pair);
            self.minima.extend(minimum);
        }
    }

    /// Goes from a pair to its nearest neighbour until none is nearer.
    fn descend(
        &mut self,
        walk: &Walk,
        start: Pair,
        distance: f32,
        left: &mut u32,
        only_new: bool,
    ) -> Descent {
        let (mut pair, mut distance) = (start, distance);
        loop {
            let mut moved = false;
            for side in 0..2 {
                self.look_around(walk, pair, side);
                let Some(rest) = left.checked_sub(self.candidates.len() as u32) else {
                    return Descent::Spent;
                };
                *left = rest;
                for eight in self.candidates.chunks(WIDTH) {
                    let distances = walk.distances(pair.kind, walk.vertices.before, eight);
                    for (candidate, d) in eight.iter().zip(distances) {
                        if d < distance {
                            (pair, distance, moved) = (candidate.pair, d, true);
                        }
                    }
                }
                if moved && only_new && self.knows(pair) {
                    return Descent::Known;
                }
            }
            if !moved {
                return Descent::Ended(pair);
            }
        }
    }

    /// Lists the pairs in which one side is replaced by a feature that shares a vertex with it.
    fn look_around(&mut self, walk: &Walk, pair: Pair, side: usize) {
        let Stochastic { triangles, edges, candidates, .. } = self;
        candidates.clear();
        let own = pair.features[side];
        let mut put = |feature: u32| candidates.extend(walk.candidate(pair.with(side, feature)));
        match (pair.kind, side) {
            (0, 0) => {
                for [a, b] in edges.of(own).iter().map(|&e| walk.edge(e)) {
                    put(if a == own { b } else { a });
                }
            }
            (0, _) => {
                let corners = walk.triangle(own);
                for (k, &v) in corners.iter().enumerate() {
                    // Those around two corners are listed once.
                    let listed = |t: &u32| walk.triangle(*t).iter().any(|c| corners[..k].contains(c));
                    triangles.of(v).iter().filter(|t| **t != own && !listed(t)).for_each(|&t| put(t));
                }
            }
            _ => {
                let ends = walk.edge(own);
                ends.iter().flat_map(|&v| edges.of(v)).filter(|e| **e != own).for_each(|&e| put(e));
            }
        }
    }
}

/// How a descent ended.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Descent {
    /// At a local minimum.
    Ended(Pair),
    /// At one that is known.
    Known,
    /// The budget did not do.
    Spent,
}

/// What pairs are measured by.
#[derive(Clone, Copy)]
struct Walk<'a> {
    surface: &'a Surface,
    rules: &'a Rules,
    vertices: &'a Vertices<'a>,
    /// The largest skin, m.
    skin: f32,
    instructions: Instructions,
}

impl Walk<'_> {
    fn triangle(&self, id: u32) -> [u32; 3] {
        self.surface.triangles(id as usize / WIDTH)[id as usize % WIDTH]
    }

    fn edge(&self, id: u32) -> [u32; 2] {
        self.surface.edges(id as usize / WIDTH)[id as usize % WIDTH]
    }

    /// A pair with its vertices; none if its features share one.
    fn candidate(&self, pair: Pair) -> Option<Candidate> {
        let [first, second] = pair.features;
        if pair.kind == 0 {
            let [a, b, c] = self.triangle(second);
            let apart = first != a && first != b && first != c;
            return apart.then_some(Candidate { pair, vertices: [first, a, b, c] });
        }
        let ([a, b], [c, d]) = (self.edge(first), self.edge(second));
        let apart = a != c && a != d && b != c && b != d;
        apart.then_some(Candidate { pair, vertices: [a, b, c, d] })
    }

    /// Vectors between the closest points of up to eight pairs of one kind, and their weights.
    fn closest(
        &self,
        kind: u8,
        places: &[Point],
        pairs: impl Fn(usize) -> [u32; 4],
    ) -> ([Eight; 3], [Eight; 4]) {
        let rows: [[u32; 4]; WIDTH] = std::array::from_fn(pairs);
        self.instructions.run(Closest(kind.into(), places, &Rows::new(&rows)))
    }

    /// Distances of up to eight pairs of one kind, m.
    fn distances(&self, kind: u8, places: &[Point], pairs: &[Candidate]) -> Eight {
        let ([x, y, z], _) = self.closest(kind, places, |l| pairs[l.min(pairs.len() - 1)].vertices);
        std::array::from_fn(|l| (x[l] * x[l] + y[l] * y[l] + z[l] * z[l]).sqrt())
    }

    /// Measures up to eight minima of one kind.
    fn measure(&self, minima: &mut [Minimum]) {
        let Some(last) = minima.len().checked_sub(1) else { return };
        let kind = minima[0].pair.kind;
        let (vectors, weights) =
            self.closest(kind, self.vertices.before, |l| minima[l.min(last)].contact.apart.vertices);
        for (l, Minimum { contact, .. }) in minima.iter_mut().enumerate() {
            let vector = [vectors[0][l], vectors[1][l], vectors[2][l]];
            let weights = [weights[0][l], weights[1][l], weights[2][l], weights[3][l]];
            let distance = (vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]).sqrt();
            let inverse = 1.0 / distance.max(f32::MIN_POSITIVE);
            let normal = vector.map(|c| c * inverse);
            let mut now = [0.0; 3];
            for k in 0..4 {
                let place = self.vertices.now[contact.apart.vertices[k] as usize];
                (0..3).for_each(|c| now[c] += place[c] * weights[k]);
            }
            let gap = normal[0] * now[0] + normal[1] * now[1] + normal[2] * now[2];
            let way = [now[0] - vector[0], now[1] - vector[1], now[2] - vector[2]];
            let apart = Separation { normal, distance, ..contact.apart };
            *contact = Contact { apart, weights, gap, way, ..*contact };
        }
    }

    /// Whether a minimum is worth following: it touches, or may soon.
    fn is_near(&self, contact: &Contact) -> bool {
        let [x, y, z] = contact.way;
        let square = x * x + y * y + z * z;
        let Separation { first_side, distance, skin, .. } = contact.apart;
        let margin = (1.0 + KEEP) * skin + SLOP * self.skin + square.sqrt();
        // Edges that are nearest at an end: the vertex there meets triangles. But for those that go far.
        let [a, b, c, d] = contact.weights;
        let inside = first_side == 1 || a.min(b).min(-c).min(-d) > 0.0;
        distance < margin && (inside || 4.0 * square > distance * distance)
    }

    /// Whether a minimum is a contact: as for pairs that are all looked at.
    fn is_active(&self, contact: &Contact) -> bool {
        contact.gap < contact.apart.skin + EMIT * SLOP * self.skin
    }
}

/// One of `n` numbers, by chance; 0 if there is none.
fn chosen(seed: u64, number: u64, n: usize) -> usize {
    ((uniform(seed, number) * n as f64) as usize).min(n.saturating_sub(1))
}

/// Whether all triangles of two leaves face within 45° of the same direction.
fn face_alike(a: &Leaf, b: &Leaf, surface: &Surface, normals: &[[f32; 3]]) -> bool {
    let [x, y, z] = [0, 1, 2].map(|k: usize| a.facing[k] + b.facing[k]);
    let limit = ALIKE * (x * x + y * y + z * z).sqrt();
    let alike = |p: usize| {
        let triangles = surface.triangles(p).iter().zip(&normals[p * WIDTH..]);
        triangles.filter(|(t, _)| t[0] != NONE).all(|(_, n)| x * n[0] + y * n[1] + z * n[2] > limit)
    };
    a.patches.clone().chain(b.patches.clone()).all(alike)
}

struct Closest<'a>(usize, &'a [Point], &'a Rows<'a>);

impl Kernel for Closest<'_> {
    type Output = ([Eight; 3], [Eight; 4]);

    #[inline(always)]
    fn run<L: Lanes>(self) -> ([Eight; 3], [Eight; 4]) {
        let Closest(kind, places, at) = self;
        let (vector, weights) = closest::<L>(kind, places, at);
        let mut out = ([[0.0; WIDTH]; 3], [[0.0; WIDTH]; 4]);
        vector.store(&mut out.0);
        for k in 0..4 {
            weights[k].store(&mut out.1[k]);
        }
        out
    }
}

struct Meet<'a> {
    tree: &'a Tree,
    i: usize,
    hulls: &'a [Hull],
    meetings: &'a mut Vec<[u32; 2]>,
}

impl Kernel for Meet<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Meet { tree, i, hulls, meetings } = self;
        tree.meet::<L>(i, hulls[i], |j| meetings.push([i as u32, j as u32]));
    }
}
