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
use crate::contact::closest::closest;
use crate::contact::listing::{Eights, Meeting, NOWHERE, ROUNDING, list};
use crate::contact::nearest::{are_nearest_edges, is_nearest_triangle};
use crate::contact::rules::Rules;
use crate::contact::surface::{Features, Surface};
use crate::contact::ways::{Ways, against, furthest, is_within};
use crate::lanes::{Instructions, Kernel, Lanes, Point, Rows, Vectors, WIDTH};
use crate::parallel::Parallel;

/// Patches whose pairs are kept together: work is shared among threads by these.
const PATCHES_PER_BLOCK: usize = 32;

/// A search does until patches have moved against each other by so many skins, in the mean.
const FAR_IN_SKINS: f32 = 3.0;

/// The meetings of some patches with those after them.
#[derive(Clone, Debug, Default)]
struct Block {
    meetings: Vec<Meeting>,
    /// The patches of each meeting again, and how far they may move before a pair can touch, m: all that is asked of the most.
    free: Vec<([u32; 2], f32)>,
    /// Meetings to be looked at in this substep.
    open: Vec<Open>,
    /// Room for those of the next.
    spare: Vec<Open>,
    /// Eights of all meetings.
    eights: Vec<Eights>,
    /// Contacts of this substep.
    contacts: Vec<Contact>,
    /// Those that were found before, while they are looked for again.
    former: Vec<Contact>,
}

/// A meeting whose pairs may touch in this substep.
#[derive(Clone, Copy, Debug)]
struct Open {
    meeting: u32,
    /// First of its contacts, and the one after the last.
    contacts: [u32; 2],
    /// Whether they are those that were found before.
    known: bool,
}

/// Two features that touch or may touch in this substep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// Vertex and triangle, or two edges.
    pub vertices: [u32; 4],
    /// How many of them are on the first side: 1 or 2.
    pub first_side: u8,
    /// What makes the vector from one closest point to the other of the four places: positive on the first side, negative
    /// on the second, 0 in all.
    pub weights: [f32; 4],
    /// Direction of that vector when the substep began.
    pub normal: [f32; 3],
    /// Its length then, m.
    pub distance: f32,
    /// How far the same points are apart now along the normal, m.
    pub gap: f32,
    /// What they have moved against each other in this substep, m.
    pub way: [f32; 3],
    /// Distance that is kept, m.
    pub skin: f32,
    /// The rule of their things, by its place.
    pub rule: u32,
    /// Whether nothing beside them is nearer, so that they push each other; others may only not cross.
    pub nearest: bool,
}

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
    /// Whether a vertex of each was held back since contacts were found.
    held: Vec<bool>,
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
    /// For how many times the motion since the search a list of near pairs should do, at most.
    pub ahead: f32,
    /// Distance that a pair is looked at beyond the skin in any case, m.
    pub slop: f32,
}

impl Pairs {
    /// Forgets all pairs: they are looked for when next asked.
    pub fn forget(&mut self) {
        self.searched = false;
    }

    /// Finds all contacts of a substep, and tells them: one list after the other, in an order that depends on nothing, while others
    /// are still looked for.
    pub fn find(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
        tell: impl FnMut(&[Contact]) + Send,
    ) {
        self.prepare(parallel, instructions, surface, vertices, search);
        self.examine(parallel, instructions, surface, vertices, search, None, tell);
    }

    /// Finds those contacts again that have a vertex in a patch of which `is_held` holds for one; others are as they were found.
    pub fn find_again(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
        is_held: impl Fn(u32) -> bool,
    ) {
        let new = self.prepare(parallel, instructions, surface, vertices, search);
        let mut held = std::mem::take(&mut self.held);
        held.clear();
        held.extend((0..surface.len()).map(|p| surface.corners(p).iter().any(|v| is_held(*v))));
        let only = (!new).then_some(&held[..]);
        self.examine(parallel, instructions, surface, vertices, search, only, |_| ());
        self.held = held;
    }

    /// Finds out how patches move, and which may meet if that is not known; tells whether it was not.
    fn prepare(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
    ) -> bool {
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
        again
    }

    /// Looks at the meetings that may touch by now, or `only` at those of patches that are marked.
    fn examine(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        vertices: &Vertices,
        search: &Search,
        only: Option<&[bool]>,
        mut tell: impl FnMut(&[Contact]) + Send,
    ) {
        // No list has to do for longer than the search does.
        let since = self.searched_at.saturating_sub(search.left) + 1;
        let ahead = search.ahead.min((self.ahead as f32 / since as f32).max(1.0));
        let search = &Search { ahead, ..*search };
        let Pairs { ways, reaches, features, reference, blocks, .. } = self;
        let (ways, reaches) = (&ways[..], &reaches[..]);
        let (features, reference) = (&features[..], &reference[..]);
        let look = |_, block: &mut Block| {
            block.open_meetings(ways, reaches, only);
            instructions.run(Examine { block, surface, features, reference, ways, vertices, search });
        };
        parallel.each_then(WIDTH * surface.len(), blocks, look, |block| tell(&block.contacts));
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
        self.lists().flatten()
    }

    /// The same in the lists that they were told in.
    pub fn lists(&self) -> impl Iterator<Item = &[Contact]> {
        self.blocks.iter().map(|b| &b.contacts[..])
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
    /// Lists the meetings whose pairs may touch by now; of patches that are not among the `only` ones those that did before.
    fn open_meetings(&mut self, ways: &[(Ways, Ways)], reaches: &[f32], only: Option<&[bool]>) {
        let former = std::mem::take(&mut self.open);
        let mut known = former.iter().peekable();
        std::mem::swap(&mut self.contacts, &mut self.former);
        self.open = std::mem::take(&mut self.spare);
        self.open.clear();
        for (m, &([p, q], free)) in self.free.iter().enumerate() {
            let (p, q) = (p as usize, q as usize);
            if let Some(only) = only {
                let open = known.next_if(|open| open.meeting == m as u32);
                if !only[p] && !only[q] {
                    self.open.extend(open.map(|open| Open { known: true, ..*open }));
                    continue;
                }
            }
            // What is not a number is looked at, too.
            if reaches[p] + reaches[q] < free {
                continue;
            }
            let moved = furthest(&ways[p].0, &ways[q].0);
            let is_free = moved < free;
            if !is_free {
                self.meetings[m].moved = moved;
                self.open.push(Open { meeting: m as u32, contacts: [0; 2], known: false });
            }
        }
        self.spare = former;
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

/// Contacts are told when they are this share of the slop from touching: others may push them together.
pub(super) const EMIT: f32 = 0.5;

/// Edges of triangles keep this share of the skin from each other: vertices keep all of it from triangles, and edges that are
/// nearer than what is around them, as where two folds cross, stand out by less than the rest. Ropes have nothing but edges.
pub(super) const EDGE_SHARE: f32 = 0.5;

/// Looks at the pairs of a block that may touch.
struct Examine<'a> {
    block: &'a mut Block,
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
        let Examine { block, surface, features, reference, ways, vertices, search } = self;
        let Block { meetings, free, open, eights, contacts, former, .. } = block;
        contacts.clear();
        for open in open.iter_mut() {
            let first_contact = contacts.len() as u32;
            if open.known {
                let [from, to] = open.contacts.map(|c| c as usize);
                contacts.extend_from_slice(&former[from..to]);
                open.contacts = [first_contact, contacts.len() as u32];
                continue;
            }
            let m = open.meeting;
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
            for (k, eight) in eights[first..first + of_triangles + of_edges].iter().enumerate() {
                if eight.free <= meeting.moved {
                    let kind = usize::from(k >= of_triangles);
                    examine::<L>(kind, eight, EMIT * search.slop, step, rule, surface, vertices, contacts);
                }
            }
            open.contacts = [first_contact, contacts.len() as u32];
        }
    }
}

/// Looks at eight pairs that may touch, of patches that move against each other by `step` at most; those are told that come
/// within `reach` of their skin, m.
#[inline(always)]
fn examine<L: Lanes>(
    kind: usize,
    eight: &Eights,
    reach: f32,
    step: f32,
    rule: u32,
    surface: &Surface,
    vertices: &Vertices,
    contacts: &mut Vec<Contact>,
) {
    let skin = L::load(&eight.skin);
    let at = Rows::new(&eight.rows);
    let (vector, weights) = closest::<L>(kind, vertices.before, &at);
    let distance = vector.length();
    // What has further to go than patches move against each other in this substep is not told below.
    if distance.mask_below(skin + L::splat(reach + step)) == 0 {
        return;
    }
    // Where are they now, along the same direction?
    let normal = vector * (L::splat(1.0) / distance.max(L::splat(f32::MIN_POSITIVE)));
    let mut now = Vectors::splat([0.0; 3]);
    for k in 0..4 {
        now = now + Vectors::<L>::gather_column(vertices.now, &at, k) * weights[k];
    }
    let gap = normal.dot(now);
    let mut touching = gap.mask_below(skin + L::splat(reach));
    if kind == 1 {
        // Edges that are nearest at an end: the vertex there meets the triangles of the other edge. But for those that go far.
        let zero = L::splat(0.0);
        let inside = weights[0].min(weights[1]).min(zero - weights[2]).min(zero - weights[3]);
        let way = now - vector;
        let far = way.dot(way) * L::splat(4.0) - distance * distance;
        touching &= zero.mask_below(inside) | zero.mask_below(far);
    }
    if touching == 0 {
        return;
    }
    let (mut normals, mut ways) = ([[0.0; WIDTH]; 3], [[0.0; WIDTH]; 3]);
    let (mut distances, mut gaps) = ([0.0; WIDTH], [0.0; WIDTH]);
    normal.store(&mut normals);
    distance.store(&mut distances);
    gap.store(&mut gaps);
    (now - vector).store(&mut ways);
    let mut each = [[0.0; WIDTH]; 4];
    for k in 0..4 {
        weights[k].store(&mut each[k]);
    }
    while touching != 0 {
        let l = touching.trailing_zeros() as usize;
        touching &= touching - 1;
        let (rows, weights) = (eight.rows[l], [each[0][l], each[1][l], each[2][l], each[3][l]]);
        let normal = [normals[0][l], normals[1][l], normals[2][l]];
        let at = |v: u32| vertices.before[v as usize];
        let (features, ring) = (eight.features[l], |v: u32| surface.ring(v));
        let nearest = match kind {
            0 => is_nearest_triangle(surface.across(features[1]), ring, rows, weights, normal, at),
            _ => are_nearest_edges(features.map(|e| surface.wings(e)), ring, rows, weights, normal, at),
        };
        contacts.push(Contact {
            first_side: 1 + kind as u8,
            vertices: rows,
            weights,
            normal,
            nearest,
            distance: distances[l],
            gap: gaps[l],
            way: [ways[0][l], ways[1][l], ways[2][l]],
            skin: eight.skin[l],
            rule,
        });
    }
}
