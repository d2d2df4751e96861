//! Pairs of features that are near each other: a vertex and a triangle, or two edges (FAU-47, SIM-B8, FAU-42).
//!
//! A search finds the patches of a surface that may meet until the end of the frame, by a tree of the boxes they sweep. From
//! then on each two that meet know how far they have moved against each other since, by boxes around the ways of
//! their vertices. Their near pairs are listed, with the distance they had at the search, when they have moved far enough to touch; a pair is
//! looked at only when they have moved further than it was apart. Most pairs of a pile of cloth at rest are listed once per
//! frame and never looked at.
//!
//! A contact is told by its four vertices with weights that sum to 0, and a direction: both as they were when the substep
//! began, where nothing had crossed yet, so that the direction is on the right side however fast things are.
//!
//! Promised: each vertex and triangle, and each two edges that are nearest inside both, that come within the skin on straight
//! ways are told, except those that share a vertex; in an order that depends on nothing but the surface and its motion.

use crate::contact::bvh::Tree;
use crate::contact::closest::{closest, edge_edge, point_triangle};
use crate::contact::examine::{Contact, EMIT, Eights, List, Look, Separation};
use crate::contact::rules::Rules;
use crate::contact::surface::{Edges, Features, Surface, around};
use crate::contact::ways::{Ways, against, furthest, gap, is_within, reach, reversed};
use crate::lanes::{Eight, Instructions, Kernel, Lanes, Point, Rows, Vectors, WIDTH};
use crate::parallel::Parallel;

/// Patches whose pairs are kept together: work is shared among threads by these.
const PATCHES_PER_BLOCK: usize = 32;

/// A search does until patches have moved against each other by so many skins, in the mean.
const FAR_IN_SKINS: f32 = 3.0;

/// Two patches that may come near each other, and their near pairs.
#[derive(Clone, Debug)]
struct Meeting {
    patches: [u32; 2],
    /// How far they have moved against each other since the search, m.
    moved: f32,
    /// The list of near pairs is complete as long as the second moves against the first within this, m.
    listed: Ways,
    /// First of its eights, how many of vertex and triangle, and how many of edges.
    eights: [u32; 3],
}

/// The meetings of some patches with those after them.
#[derive(Clone, Debug, Default)]
struct Block {
    meetings: Vec<Meeting>,
    /// The patches of each meeting again, and how far they may move before a pair can touch, m: all that is asked of the most.
    free: Vec<([u32; 2], f32)>,
    /// Meetings to be looked at in this substep.
    open: Vec<u32>,
    /// Eights of all meetings.
    eights: List,
    told: Told,
    /// What was told by [`Pairs::find_again`].
    again: Told,
    /// What of it could cross.
    risky: Vec<Separation>,
}

/// What is told of some pairs.
#[derive(Clone, Debug, Default)]
struct Told {
    /// Those that push,
    contacts: Vec<Contact>,
    /// and those that are near, but not the nearest there.
    others: Vec<Separation>,
}

/// No motion at all is within it.
const NOWHERE: Ways = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);

/// Near pairs of the features of a surface, kept from substep to substep.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    tree: Tree,
    blocks: Vec<Block>,
    /// Where vertices were at the last search, m.
    reference: Vec<Point>,
    /// Boxes around features there.
    features: Vec<Features>,
    /// Where each patch is until the next search, m.
    swept: Vec<Ways>,
    /// How far each may move until then, m.
    allowed: Vec<Ways>,
    /// How far each has moved, until the end of this substep and in it, m.
    ways: Vec<(Ways, Ways)>,
    /// How far each has moved at most, against the mean of all, m.
    reaches: Vec<f32>,
    /// Which patches have changed since pairs were found in this substep, and whether they were found again.
    changed: Vec<bool>,
    is_again: bool,
    /// Whether there was a search since [`Pairs::forget`].
    searched: bool,
    /// How many substeps were left then, that one among them,
    searched_at: u32,
    /// and for how many of them it does.
    ahead: u32,
}

/// What is known about the vertices of a surface.
pub struct Vertices<'a> {
    /// Places at rest, m; the fourth number is the skin.
    pub rest: &'a [Point],
    /// When the substep began.
    pub before: &'a [Point],
    /// Now; the fourth number is the inverse mass.
    pub now: &'a [Point],
}

/// How pairs are looked for.
#[derive(Clone, Copy, Debug)]
pub struct Search<'a> {
    /// What things do when they touch.
    pub rules: &'a Rules,
    /// The largest skin, m.
    pub skin: f32,
    /// Substeps that are left in this frame, this one among them: a search should do for all, unless parts move far against each
    /// other.
    pub left: u32,
    /// For how many substeps a list of near pairs should do.
    pub ahead: f32,
    /// Distance that a pair is looked at beyond the skin in any case, m.
    pub slop: f32,
    /// Whether substeps are long, so that things slide further than they are apart: then what is around vertices is looked at, too.
    pub around: bool,
}

impl Pairs {
    /// Forgets all pairs: they are looked for when next asked.
    pub fn forget(&mut self) {
        self.searched = false;
    }

    /// Finds all contacts of a substep.
    pub fn find(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
    ) {
        self.renew(parallel, instructions, surface, vertices, search);
        self.examine(parallel, instructions, surface, vertices, search, None);
    }

    /// Finds those pairs of the same substep that may cross as some vertices are elsewhere now than [`Pairs::find`] was told: told by
    /// [`Pairs::risky`] alone.
    pub fn find_again(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
        is_changed: impl Fn(u32) -> bool + Sync,
    ) {
        self.renew(parallel, instructions, surface, vertices, search);
        let has_changed = |p: usize| surface.corners(p).iter().any(|v| is_changed(*v));
        let mut changed = std::mem::take(&mut self.changed);
        changed.clear();
        changed.extend((0..surface.len()).map(has_changed));
        self.examine(parallel, instructions, surface, vertices, search, Some(&changed));
        self.changed = changed;
    }

    /// Measures how far patches have moved, and looks for those that may meet if they have moved too far.
    fn renew(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
    ) {
        let n = surface.len();
        self.ways.resize(n, Default::default());
        for list in [&mut self.allowed, &mut self.swept] {
            list.resize(n, Ways::default());
        }
        self.features.resize_with(n, Features::default);
        let mut again = !self.searched || self.searched_at.saturating_sub(search.left) >= self.ahead;
        if !again {
            self.measure_ways(parallel, surface, vertices);
            for ((ways, _), allowed) in self.ways.iter().zip(&self.allowed) {
                for k in 0..3 {
                    again |= !(ways.0[k] >= allowed.0[k] && ways.1[k] <= allowed.1[k]);
                }
            }
        }
        if again {
            self.look(parallel, instructions, surface, vertices, search);
        }
        self.measure_reaches();
    }

    /// Looks at the pairs that may touch: all, or those of patches that have changed.
    fn examine(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
        changed: Option<&[bool]>,
    ) {
        let Pairs { ways, reaches, features, reference, blocks, is_again, .. } = self;
        *is_again = changed.is_some();
        let (ways, reaches) = (&ways[..], &reaches[..]);
        let (features, reference) = (&features[..], &reference[..]);
        parallel.each_of(WIDTH * surface.len(), blocks, |_, block| {
            block.open_meetings(ways, reaches);
            let mut told = match changed {
                None => std::mem::take(&mut block.told),
                Some(changed) => {
                    block.open_changed(changed);
                    std::mem::take(&mut block.again)
                }
            };
            instructions.run(Examine {
                block,
                told: &mut told,
                surface,
                features,
                reference,
                ways,
                vertices,
                search,
            });
            *(if changed.is_some() { &mut block.again } else { &mut block.told }) = told;
        });
    }

    fn measure_ways(&mut self, parallel: &Parallel, surface: &Surface, vertices: &Vertices) {
        let reference = &self.reference[..];
        parallel.heavy_blocks(&mut self.ways, |first, block| {
            for (i, ways) in block.iter_mut().enumerate() {
                *ways = ways_of(surface.corners(first + i), reference, vertices);
            }
        });
    }

    fn measure_reaches(&mut self) {
        let mut mean = [0.0; 3];
        for ((low, high), _) in &self.ways {
            for k in 0..3 {
                mean[k] += 0.5 * (low[k] + high[k]);
            }
        }
        let mean = mean.map(|c| c / self.ways.len().max(1) as f32);
        self.reaches.clear();
        // More than enough for what is rounded.
        self.reaches.extend(self.ways.iter().map(|(ways, _)| 1.001 * furthest(ways, &(mean, mean))));
    }

    /// For how many substeps a search does: until patches have moved against the mean of all by some skins, as the number of pairs
    /// that are that near grows with the square of it.
    fn horizon(&self, search: &Search) -> u32 {
        let middle = |(low, high): &Ways| [0, 1, 2].map(|k| 0.5 * (low[k] + high[k]));
        let n = self.ways.len().max(1) as f32;
        let (mut sum, mut squares) = ([0.0f32; 3], 0.0);
        for (_, step) in &self.ways {
            let [x, y, z] = middle(step);
            sum = [sum[0] + x, sum[1] + y, sum[2] + z];
            squares += x * x + y * y + z * z;
        }
        let mean = (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) / (n * n);
        let moved = (squares / n - mean).max(0.0).sqrt();
        let most = (FAR_IN_SKINS * search.skin / moved.max(f32::MIN_POSITIVE)).min(search.left as f32);
        (most as u32).clamp(1, search.left.max(1))
    }

    /// Looks for patches that may meet until the end of the frame.
    fn look(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
    ) {
        self.searched = true;
        self.reference.clear();
        self.reference.extend_from_slice(vertices.before);
        self.measure_ways(parallel, surface, vertices);
        (self.searched_at, self.ahead) = (search.left, self.horizon(search));
        let n = surface.len();
        let ahead = self.ahead as f32;
        let reference = &self.reference[..];
        parallel.heavy_blocks(&mut self.features, |first, block| {
            for (i, features) in block.iter_mut().enumerate() {
                features.fit(surface, first + i, reference);
            }
        });
        for p in 0..n {
            let ((ways, _), hull) = (&self.ways[p], &self.features[p].hull);
            for k in 0..3 {
                self.allowed[p].0[k] = (ahead * ways.0[k]).min(0.0) - search.skin;
                self.allowed[p].1[k] = (ahead * ways.1[k]).max(0.0) + search.skin;
                self.swept[p].0[k] = hull.0[k] + self.allowed[p].0[k] - 0.5 * search.skin;
                self.swept[p].1[k] = hull.1[k] + self.allowed[p].1[k] + 0.5 * search.skin;
            }
        }
        let Pairs { tree, blocks, swept, .. } = self;
        tree.fit(n, |p| swept[p]);
        blocks.resize_with(n.div_ceil(PATCHES_PER_BLOCK), Block::default);
        let (tree, swept) = (&*tree, &swept[..]);
        parallel.each_of(WIDTH * n, blocks, |b, block| {
            let patches = b * PATCHES_PER_BLOCK..n.min((b + 1) * PATCHES_PER_BLOCK);
            instructions.run(Meet { patches, block, tree, swept, surface, rules: search.rules });
        });
    }

    /// The contacts that [`Pairs::find`] found.
    pub fn contacts(&self) -> impl Iterator<Item = &Contact> {
        self.blocks.iter().flat_map(|b| &b.told.contacts)
    }

    /// The pairs that it found to be near, but beside something nearer.
    pub fn others(&self) -> impl Iterator<Item = &Separation> {
        self.blocks.iter().flat_map(|b| &b.told.others)
    }

    /// All of both that may cross, of what was found last.
    pub fn risky(
        &mut self,
        parallel: &Parallel,
        may_cross: impl Fn(&Separation) -> bool + Sync + Send,
    ) -> impl Iterator<Item = &Separation> {
        let (n, is_again) = (self.reference.len(), self.is_again);
        parallel.each_of(n, &mut self.blocks, |_, Block { told, again, risky, .. }| {
            risky.clear();
            let Told { contacts, others } = if is_again { again } else { told };
            let all = contacts.iter().map(|c| &c.apart).chain(&*others);
            risky.extend(all.filter(|apart| may_cross(apart)));
        });
        self.blocks.iter().flat_map(|b| &b.risky)
    }
}

/// Boxes around the ways of some vertices since the search, and around those in this substep.
fn ways_of(corners: &[u32], reference: &[Point], vertices: &Vertices) -> (Ways, Ways) {
    let (mut since, mut step) = (Span::NONE, Span::NONE);
    for &v in corners {
        let (from, before, now) =
            (&reference[v as usize], &vertices.before[v as usize], &vertices.now[v as usize]);
        since.add(from, before);
        since.add(from, now);
        step.add(before, now);
    }
    (since.ways(), step.ways())
}

/// A box around ways, in whole registers.
#[derive(Clone, Copy)]
struct Span(Point, Point);

impl Span {
    const NONE: Span = Span([f32::INFINITY; 4], [f32::NEG_INFINITY; 4]);

    #[inline(always)]
    fn add(&mut self, from: &Point, to: &Point) {
        for k in 0..4 {
            let way = to[k] - from[k];
            self.0[k] = if way < self.0[k] { way } else { self.0[k] };
            self.1[k] = if way > self.1[k] { way } else { self.1[k] };
        }
    }

    fn ways(self) -> Ways {
        let Span(low, high) = self;
        ([low[0], low[1], low[2]], [high[0], high[1], high[2]])
    }
}

impl Block {
    /// Lists the meetings whose pairs may touch by now.
    fn open_meetings(&mut self, ways: &[(Ways, Ways)], reaches: &[f32]) {
        let Block { meetings, free, open, .. } = self;
        // Without branches, as nobody can guess them. What is not a number is looked at, too.
        open.resize(free.len(), 0);
        let mut count = 0;
        for (m, &([p, q], free)) in (0u32..).zip(&*free) {
            open[count] = m;
            let is_free = reaches[p as usize] + reaches[q as usize] < free;
            count += usize::from(!is_free);
        }
        open.truncate(count);
        open.retain(|&m| {
            let ([p, q], free) = free[m as usize];
            let moved = furthest(&ways[p as usize].0, &ways[q as usize].0);
            meetings[m as usize].moved = moved;
            let is_free = moved < free;
            !is_free
        });
    }
}

impl Block {
    /// Keeps those of the listed meetings that have a patch which has changed.
    fn open_changed(&mut self, changed: &[bool]) {
        let Block { free, open, .. } = self;
        open.retain(|&m| free[m as usize].0.iter().any(|p| changed[*p as usize]));
    }
}

/// Finds the patches that some patches may meet.
struct Meet<'a> {
    patches: std::ops::Range<usize>,
    block: &'a mut Block,
    tree: &'a Tree,
    swept: &'a [Ways],
    surface: &'a Surface,
    rules: &'a Rules,
}

impl Kernel for Meet<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Meet { patches, block, tree, swept, surface, rules } = self;
        block.meetings.clear();
        block.free.clear();
        block.eights.clear();
        for p in patches {
            tree.meet::<L>(p, swept[p], |q| {
                if !rules.at(rules.place(surface.thing(p), surface.thing(q))).touch {
                    return;
                }
                let patches = [p as u32, q as u32];
                let never = f32::NEG_INFINITY;
                block.meetings.push(Meeting { patches, moved: 0.0, listed: NOWHERE, eights: [0; 3] });
                block.free.push((patches, never));
            });
        }
    }
}

/// Lists the near pairs of two patches in eights: those nearer than `near` apart from others, which may not have to be looked at
/// soon.
struct Lister<'a> {
    surface: &'a Surface,
    features: &'a [Features],
    reference: &'a [Point],
    /// Places at rest, where pairs are so near there that they cannot keep the whole skin.
    rest: Option<&'a [Point]>,
    skin: f32,
    near: f32,
    /// What comes within this is listed, m,
    far: f32,
    /// as the second patch moves against the first within this, m.
    moves: Ways,
    /// Whether the patches may have vertices in common.
    are_kin: bool,
    eights: &'a mut List,
}

impl Lister<'_> {
    /// Which of eight pairs may come near, by the vectors from the closest point of the second feature to that of the first: a plane across
    /// it is between the two until one of them has moved through it.
    #[inline(always)]
    fn may_come_near<L: Lanes>(&self, vector: Vectors<L>, distance: L, moves: &Ways) -> u8 {
        let most = |c: L, k: usize| (c * L::splat(moves.0[k])).max(c * L::splat(moves.1[k]));
        let approach = most(vector.x, 0) + most(vector.y, 1) + most(vector.z, 2);
        let tiny = L::splat(1e-6 * self.far * self.far);
        (distance * distance - approach).mask_below(distance * L::splat(self.far) + tiny)
    }

    /// Vertices of patch `p` and triangles of patch `q`, which moves against it within `moves`.
    #[inline(always)]
    fn points_and_triangles<L: Lanes>(&mut self, p: usize, q: usize, moves: &Ways, open: &mut [Filling; 2]) {
        let Lister { surface, features, reference, far, .. } = *self;
        let triangles = features[q].triangles::<L>();
        let all = triangles.meet(reach(&features[p].hull, moves, far));
        if all == 0 {
            return;
        }
        let [a, b, c] = triangles.corners;
        for &v in surface.vertices(p) {
            let [x, y, z, _] = reference[v as usize];
            let mut mask = all & triangles.meet(reach(&([x, y, z], [x, y, z]), moves, far));
            if self.are_kin {
                mask = only(mask, |l| !surface.triangles(q)[l].contains(&v));
            }
            if mask == 0 {
                continue;
            }
            let (vector, _) = point_triangle::<L>(Vectors::splat([x, y, z]), a, b, c);
            let distance = vector.length();
            mask &= self.may_come_near(vector, distance, moves);
            if mask == 0 {
                continue;
            }
            let mut distances = [0.0; WIDTH];
            distance.store(&mut distances);
            while mask != 0 {
                let l = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let [a, b, c] = surface.triangles(q)[l];
                let features = [0, (q * WIDTH + l) as u32];
                self.put::<L>(0, [v, a, b, c], features, distances[l], open);
            }
        }
    }

    /// Edges of two patches.
    #[inline(always)]
    fn edges_and_edges<L: Lanes>(&mut self, p: usize, q: usize, open: &mut [Filling; 2]) {
        let Lister { surface, features, reference, far, moves, .. } = *self;
        let (one, other) = (&features[p], &features[q]);
        let (around_p, around_q) =
            (reach(&one.hull, &moves, far), reach(&other.hull, &reversed(&moves), far));
        let eights: [Edges<L>; 3] = [other.edges(0), other.edges(1), other.edges(2)];
        let all = [eights[0].meet(around_p), eights[1].meet(around_p), eights[2].meet(around_p)];
        for (i, own) in surface.eights_of_edges(p).enumerate() {
            let mut near = one.edges::<L>(i).meet(around_q);
            while near != 0 {
                let l = near.trailing_zeros() as usize;
                near &= near - 1;
                let [a, b] = surface.edges(own)[l];
                let wide = reach(&around(&[a, b], reference), &moves, far);
                let [x, y, z, _] = reference[a as usize];
                let from = Vectors::<L>::splat([x, y, z]);
                let [x, y, z, _] = reference[b as usize];
                let to = Vectors::<L>::splat([x, y, z]);
                for (j, others) in surface.eights_of_edges(q).enumerate() {
                    let mut mask = all[j];
                    if p == q {
                        // Each pair once.
                        mask = match j.cmp(&i) {
                            std::cmp::Ordering::Less => 0,
                            std::cmp::Ordering::Equal => mask & (0xfe_u8 << l),
                            std::cmp::Ordering::Greater => mask,
                        };
                    }
                    if mask == 0 {
                        continue;
                    }
                    mask &= eights[j].meet(wide);
                    if self.are_kin {
                        let ends = surface.edges(others);
                        mask = only(mask, |m| !ends[m].contains(&a) && !ends[m].contains(&b));
                    }
                    if mask == 0 {
                        continue;
                    }
                    let [c, d] = eights[j].ends;
                    let vector = edge_edge::<L>(from, to, c, d).0;
                    let distance = vector.length();
                    mask &= self.may_come_near(vector, distance, &moves);
                    if mask == 0 {
                        continue;
                    }
                    let mut distances = [0.0; WIDTH];
                    distance.store(&mut distances);
                    while mask != 0 {
                        let m = mask.trailing_zeros() as usize;
                        mask &= mask - 1;
                        let [c, d] = surface.edges(others)[m];
                        let features = [(own * WIDTH + l) as u32, (others * WIDTH + m) as u32];
                        self.put::<L>(1, [a, b, c, d], features, distances[m], open);
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn put<L: Lanes>(
        &mut self,
        kind: usize,
        vertices: [u32; 4],
        features: [u32; 2],
        distance: f32,
        open: &mut [Filling; 2],
    ) {
        let filling = &mut open[usize::from(distance > self.near)];
        if filling.put(vertices, features, distance) {
            let (eight, free) = filling.take::<L>(kind, self.skin, self.rest);
            self.eights.push(eight, free);
        }
    }

    /// Keeps what is left; returns the number of eights so far.
    #[inline(always)]
    fn close<L: Lanes>(&mut self, kind: usize, open: &mut [Filling; 2]) -> usize {
        for filling in open {
            if filling.filled > 0 {
                let (eight, free) = filling.take::<L>(kind, self.skin, self.rest);
                self.eights.push(eight, free);
            }
        }
        self.eights.len()
    }
}

/// The bits of a mask that stand for something.
#[inline(always)]
fn only(mask: u8, is: impl Fn(usize) -> bool) -> u8 {
    let (mut left, mut kept) = (mask, 0);
    while left != 0 {
        let l = left.trailing_zeros() as usize;
        left &= left - 1;
        kept |= u8::from(is(l)) << l;
    }
    kept
}

/// An eight that is being filled.
#[derive(Clone, Copy)]
struct Filling {
    rows: [[u32; 4]; WIDTH],
    features: [[u32; 2]; WIDTH],
    distances: Eight,
    filled: usize,
}

impl Filling {
    const NONE: Filling = Filling {
        rows: [[0; 4]; WIDTH],
        features: [[0; 2]; WIDTH],
        distances: [f32::INFINITY; WIDTH],
        filled: 0,
    };

    /// Puts a pair in it; tells whether it is full.
    #[inline(always)]
    fn put(&mut self, row: [u32; 4], features: [u32; 2], distance: f32) -> bool {
        let l = self.filled % WIDTH;
        self.rows[l] = row;
        self.features[l] = features;
        self.distances[l] = distance;
        self.filled = l + 1;
        self.filled == WIDTH
    }

    /// Takes what is in it, and how far its patches may move before a pair of it touches, m.
    #[inline(always)]
    fn take<L: Lanes>(&mut self, kind: usize, widest: f32, rest: Option<&[Point]>) -> (Eights, f32) {
        let Filling { rows, features, distances, filled } = self;
        // What fills up must name vertices, too.
        let first = rows[0];
        rows[*filled..].fill(first);
        distances[*filled..].fill(f32::INFINITY);
        *filled = 0;
        let mut kept = L::splat(widest);
        if let Some(rest) = rest {
            let (vector, _) = closest::<L>(kind, rest, &Rows::new(rows));
            kept = (vector.length() * L::splat(REST_SHARE)).min(kept);
            // What lies on each other at rest, as at a seam that is not welded, has no sides to be kept on.
            kept = kept.where_below(L::splat(ROUNDING * widest), L::splat(f32::NEG_INFINITY), kept);
        }
        let (distance, never) = (L::load(distances), L::splat(f32::INFINITY));
        kept = distance.where_below(never, kept, L::splat(f32::NEG_INFINITY));
        let (mut skin, mut frees) = ([0.0; WIDTH], [0.0; WIDTH]);
        kept.store(&mut skin);
        (distance - kept).store(&mut frees);
        let mut free = f32::INFINITY;
        for l in 0..WIDTH {
            free = if frees[l] < free { frees[l] } else { free };
        }
        (Eights { rows: *rows, features: *features, skin }, free)
    }
}

/// Distances are rounded by no more than this share of the skin.
pub(super) const ROUNDING: f32 = 1e-3;

/// A piece that is hardly bent touches itself only after its parts have moved by this share of an edge.
const BENT: f32 = 0.25;

/// Neighbours in a surface keep at most this share of their distance at rest.
pub(super) const REST_SHARE: f32 = 0.7;

/// Edges of triangles keep this share of the skin from each other: vertices keep all of it from triangles, and edges that are
/// nearer than what is around them, as where two folds cross, stand out by less than the rest. Ropes have nothing but edges.
pub(super) const EDGE_SHARE: f32 = 0.5;

/// Looks at the pairs of a block that may touch.
struct Examine<'a> {
    block: &'a mut Block,
    told: &'a mut Told,
    surface: &'a Surface,
    features: &'a [Features],
    reference: &'a [Point],
    ways: &'a [(Ways, Ways)],
    vertices: &'a Vertices<'a>,
    search: &'a Search<'a>,
}

impl Kernel for Examine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Examine { block, told, surface, features, reference, ways, vertices, search } = self;
        let Block { meetings, free, open, eights, .. } = block;
        let Told { contacts, others } = told;
        contacts.clear();
        others.clear();
        for &m in open.iter() {
            let meeting = &mut meetings[m as usize];
            let [p, q] = meeting.patches.map(|p| p as usize);
            let moves = against(&ways[p].0, &ways[q].0);
            if !is_within(&moves, &meeting.listed) {
                free[m as usize].1 =
                    list::<L>(meeting, moves, surface, features, reference, vertices.rest, search, eights);
            }
            let step = furthest(&ways[p].1, &ways[q].1) + ROUNDING * search.skin;
            let [first, of_triangles, of_edges] = meeting.eights.map(|n| n as usize);
            let [p, q] = meeting.patches.map(|p| surface.thing(p as usize));
            let rule = search.rules.place(p, q) as u32;
            let look =
                Look { surface, vertices, reach: EMIT * search.slop, step, rule, around: search.around };
            for (k, (eight, &free)) in eights.from(first, of_triangles + of_edges).enumerate() {
                if free <= meeting.moved {
                    look.examine::<L>(usize::from(k >= of_triangles), eight, contacts, others);
                }
            }
        }
    }
}

/// Lists the near pairs of a meeting anew, whose second patch has moved against the first within `moves`; returns how far its patches
/// may move before a pair can touch, or the list is not complete, m.
#[inline(always)]
fn list<L: Lanes>(
    meeting: &mut Meeting,
    moves: Ways,
    surface: &Surface,
    features: &[Features],
    reference: &[Point],
    rest: &[Point],
    search: &Search,
    eights: &mut List,
) -> f32 {
    let [p, q] = meeting.patches.map(|p| p as usize);
    // On in the same direction, and a little in all.
    let aside = search.slop + ASIDE * meeting.moved;
    let moves = (
        moves.0.map(|c| (search.ahead * c).min(0.0) - aside),
        moves.1.map(|c| (search.ahead * c).max(0.0) + aside),
    );
    meeting.listed = moves;
    meeting.eights = [eights.len() as u32, 0, 0];
    let things = [p, q].map(|p| surface.thing(p));
    let one = things[0] == things[1];
    let skin = search.rules.at(search.rules.place(things[0], things[1])).skin;
    let far = skin + EMIT * search.slop;
    let (around_p, hull) = (reach(&features[p].hull, &moves, far), &features[q].hull);
    if (0..3).any(|k| around_p.0[k] > hull.1[k] || around_p.1[k] < hull.0[k]) {
        return aside.max(gap(&features[p].hull, hull) - skin);
    }
    if p != q {
        let (now, left) = features[p].layered::<L>(&features[q], &moves);
        if left > far + ROUNDING * skin {
            return aside.max(now - ROUNDING * skin - skin);
        }
    }
    // Only within a thing is the distance at rest one that is meant.
    let between_at_rest = if one { gap(&surface.rest_hull(p), &surface.rest_hull(q)) } else { f32::INFINITY };
    // Neighbours that face the same way are one piece, which must bend before it touches itself.
    let bent = BENT * surface.edge_length();
    if between_at_rest < skin + aside && meeting.moved < bent && features[p].face_alike::<L>(&features[q]) {
        // No further in any direction than it takes.
        let within = bent / 3.0f32.sqrt();
        meeting.listed = ([-within; 3], [within; 3]);
        return bent;
    }
    // Only neighbours are so near at rest that they cannot keep the whole distance.
    let rest = (between_at_rest * REST_SHARE < skin).then_some(rest);
    let near = skin + 0.5 * search.slop + meeting.moved;
    let are_kin = between_at_rest <= 0.0;
    let first = eights.len();
    let mut lister = Lister { surface, features, reference, rest, skin, near, far, moves, are_kin, eights };
    let mut open = [Filling::NONE; 2];
    lister.points_and_triangles::<L>(p, q, &moves, &mut open);
    if p != q {
        lister.points_and_triangles::<L>(q, p, &reversed(&moves), &mut open);
    }
    let of_triangles = lister.close::<L>(0, &mut open);
    if !surface.has_lines(p) && !surface.has_lines(q) {
        let less = (1.0 - EDGE_SHARE) * skin;
        lister.skin -= less;
        lister.near -= less;
        lister.far -= less;
    }
    lister.edges_and_edges::<L>(p, q, &mut open);
    let all = lister.close::<L>(1, &mut open);
    meeting.eights = [first, of_triangles - first, all - of_triangles].map(|n| n as u32);
    eights.from(first, all - first).fold(aside, |least, (_, free)| least.min(*free))
}

/// A list does for motion in other directions than that of now by this share of what there was.
const ASIDE: f32 = 0.5;
