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
use crate::contact::rules::Rules;
use crate::contact::surface::{Features, NONE, Surface};
use crate::lanes::{Eight, Instructions, Kernel, Lanes, Places, Point, Vectors, WIDTH};
use crate::parallel::Parallel;

/// Patches whose pairs are kept together: work is shared among threads by these.
const PATCHES_PER_BLOCK: usize = 32;

/// Eight pairs, of vertex and triangle or of edges.
#[derive(Clone, Debug)]
struct Eights {
    vertices: [Places; 4],
    /// Distance that is kept, m; minus infinity for what fills up.
    skin: Eight,
    /// No pair touches before its patches have moved this far against each other, m.
    free: f32,
}

/// Two patches that may come near each other, and their near pairs.
#[derive(Clone, Debug)]
struct Meeting {
    patches: [u32; 2],
    /// How far they have moved against each other since the search, m.
    moved: f32,
    /// No pair touches before they have moved this far, m.
    free: f32,
    /// The list of near pairs is complete until they have moved this far, m.
    listed: f32,
    /// First of its eights, how many of vertex and triangle, and how many of edges.
    eights: [u32; 3],
}

/// The meetings of some patches with those after them.
#[derive(Clone, Debug, Default)]
struct Block {
    meetings: Vec<Meeting>,
    /// Meetings to be looked at in this substep.
    open: Vec<u32>,
    /// Eights of all meetings.
    eights: Vec<Eights>,
    /// Contacts of this substep.
    contacts: Vec<Contact>,
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
}

/// How motion of a patch differs among its vertices: corners of a box around their ways.
pub(super) type Ways = ([f32; 3], [f32; 3]);

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
    /// How far each has moved, until the end of this substep, m.
    ways: Vec<Ways>,
    /// Whether there was a search since [`Pairs::forget`].
    searched: bool,
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
    /// Substeps that are left in this frame, this one among them: a search should do for all.
    pub left: f32,
    /// For how many substeps a list of near pairs should do.
    pub ahead: f32,
    /// Distance that a pair is looked at beyond the skin in any case, m.
    pub slop: f32,
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
        let n = surface.len();
        let nothing = ([0.0; 3], [0.0; 3]);
        for list in [&mut self.ways, &mut self.allowed, &mut self.swept] {
            list.resize(n, nothing);
        }
        self.features.resize_with(n, Features::default);
        let mut again = !self.searched;
        if !again {
            self.measure_ways(parallel, surface, vertices);
            for (ways, allowed) in self.ways.iter().zip(&self.allowed) {
                for k in 0..3 {
                    again |= !(ways.0[k] >= allowed.0[k] && ways.1[k] <= allowed.1[k]);
                }
            }
        }
        if again {
            self.look(parallel, instructions, surface, vertices, search);
        }
        let Pairs { ways, features, reference, blocks, .. } = self;
        let (ways, features, reference) = (&ways[..], &features[..], &reference[..]);
        parallel.each_of(WIDTH * n, blocks, |_, block| {
            block.open_meetings(ways);
            instructions.run(Examine { block, surface, features, reference, vertices, search });
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
        let n = surface.len();
        let reference = &self.reference[..];
        parallel.heavy_blocks(&mut self.features, |first, block| {
            for (i, features) in block.iter_mut().enumerate() {
                features.fit(surface, first + i, reference);
            }
        });
        for p in 0..n {
            let (ways, hull) = (&self.ways[p], &self.features[p].hull);
            for k in 0..3 {
                self.allowed[p].0[k] = (search.left * ways.0[k]).min(0.0) - search.skin;
                self.allowed[p].1[k] = (search.left * ways.1[k]).max(0.0) + search.skin;
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
        self.blocks.iter().flat_map(|b| &b.contacts)
    }
}

fn ways_of(corners: &[u32], reference: &[Point], vertices: &Vertices) -> Ways {
    let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for &v in corners {
        let (from, before, now) =
            (reference[v as usize], vertices.before[v as usize], vertices.now[v as usize]);
        for k in 0..3 {
            low[k] = low[k].min(before[k].min(now[k]) - from[k]);
            high[k] = high[k].max(before[k].max(now[k]) - from[k]);
        }
    }
    (low, high)
}

/// The longest way of a point of one box against one of another.
#[inline(always)]
fn furthest(a: &Ways, b: &Ways) -> f32 {
    let mut square = 0.0;
    for k in 0..3 {
        let most = (a.1[k] - b.0[k]).max(b.1[k] - a.0[k]);
        square += most * most;
    }
    square.sqrt()
}

/// The distance between two boxes, m.
#[inline(always)]
pub(super) fn gap(a: &Ways, b: &Ways) -> f32 {
    let mut square = 0.0;
    for k in 0..3 {
        let between = (a.0[k] - b.1[k]).max(b.0[k] - a.1[k]).max(0.0);
        square += between * between;
    }
    square.sqrt()
}

/// Whether two boxes do not meet.
#[inline(always)]
fn apart(a: &Ways, b: &Ways) -> bool {
    (0..3).any(|k| a.0[k] > b.1[k] || b.0[k] > a.1[k])
}

impl Block {
    /// Lists the meetings whose pairs may touch by now.
    fn open_meetings(&mut self, ways: &[Ways]) {
        self.open.clear();
        for (m, meeting) in self.meetings.iter_mut().enumerate() {
            let [p, q] = meeting.patches.map(|p| p as usize);
            meeting.moved = furthest(&ways[p], &ways[q]);
            // What is not a number is looked at, too.
            let is_free = meeting.moved < meeting.free;
            if !is_free {
                self.open.push(m as u32);
            }
        }
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
        block.eights.clear();
        for p in patches {
            tree.meet::<L>(p, swept[p], |q| {
                if !rules.at(rules.place(surface.thing(p), surface.thing(q))).touch {
                    return;
                }
                let patches = [p as u32, q as u32];
                let never = f32::NEG_INFINITY;
                block.meetings.push(Meeting {
                    patches,
                    moved: 0.0,
                    free: never,
                    listed: never,
                    eights: [0; 3],
                });
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
    far: f32,
    eights: &'a mut Vec<Eights>,
}

impl Lister<'_> {
    /// Vertices of patch `p` and triangles of patch `q`.
    #[inline(always)]
    fn points_and_triangles<L: Lanes>(&mut self, p: usize, q: usize, open: &mut [Filling; 2]) {
        let Lister { surface, features, reference, far, .. } = *self;
        let other = &features[q];
        for &v in surface.vertices(p) {
            let [x, y, z, _] = reference[v as usize];
            let low = [x - far, y - far, z - far];
            let high = [x + far, y + far, z + far];
            if apart(&other.hull, &(low, high)) {
                continue;
            }
            let mut mask = other.triangles.meet::<L>((low, high));
            if mask == 0 {
                continue;
            }
            let [a, b, c] = [&other.corners[0], &other.corners[1], &other.corners[2]];
            let (vector, _) = point_triangle::<L>(
                Vectors::splat([x, y, z]),
                Vectors::load(a),
                Vectors::load(b),
                Vectors::load(c),
            );
            let distance = vector.length();
            mask &= distance.mask_below(L::splat(far));
            let mut distances = [0.0; WIDTH];
            distance.store(&mut distances);
            while mask != 0 {
                let l = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                let [a, b, c] = surface.triangles(q)[l];
                if a != v && b != v && c != v {
                    self.put::<L>(0, [v, a, b, c], distances[l], open);
                }
            }
        }
    }

    /// Edges of two patches.
    #[inline(always)]
    fn edges_and_edges<L: Lanes>(&mut self, p: usize, q: usize, open: &mut [Filling; 2]) {
        let Lister { surface, features, reference, far, .. } = *self;
        for (i, own) in surface.eights_of_edges(p).enumerate() {
            for (l, &[a, b]) in surface.edges(own).iter().enumerate() {
                if a == NONE {
                    break;
                }
                let (low, high) = features[p].edges[i].get(l);
                let wide = (low.map(|c| c - far), high.map(|c| c + far));
                if apart(&features[q].hull, &wide) {
                    continue;
                }
                let place = |v: u32| {
                    let [x, y, z, _] = reference[v as usize];
                    Vectors::<L>::splat([x, y, z])
                };
                let (from, to) = (place(a), place(b));
                for (j, other) in surface.eights_of_edges(q).enumerate() {
                    let mut mask = features[q].edges[j].meet::<L>(wide);
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
                    let [c, d] = &features[q].ends[j];
                    let (c, d) = (Vectors::load(c), Vectors::load(d));
                    let distance = edge_edge::<L>(from, to, c, d).0.length();
                    mask &= distance.mask_below(L::splat(far));
                    let mut distances = [0.0; WIDTH];
                    distance.store(&mut distances);
                    while mask != 0 {
                        let l = mask.trailing_zeros() as usize;
                        mask &= mask - 1;
                        let [c, d] = surface.edges(other)[l];
                        if a != c && a != d && b != c && b != d {
                            self.put::<L>(1, [a, b, c, d], distances[l], open);
                        }
                    }
                }
            }
        }
    }

    #[inline(always)]
    fn put<L: Lanes>(&mut self, kind: usize, vertices: [u32; 4], distance: f32, open: &mut [Filling; 2]) {
        let filling = &mut open[usize::from(distance > self.near)];
        if filling.put(vertices, distance) {
            self.eights.push(filling.take::<L>(kind, self.skin, self.rest));
        }
    }

    /// Keeps what is left; returns the number of eights so far.
    #[inline(always)]
    fn close<L: Lanes>(&mut self, kind: usize, open: &mut [Filling; 2]) -> usize {
        for filling in open {
            if filling.filled > 0 {
                self.eights.push(filling.take::<L>(kind, self.skin, self.rest));
            }
        }
        self.eights.len()
    }
}

/// An eight that is being filled.
#[derive(Clone, Copy)]
struct Filling {
    vertices: [[u32; WIDTH]; 4],
    distances: Eight,
    filled: usize,
}

impl Filling {
    const NONE: Filling = Filling { vertices: [[0; WIDTH]; 4], distances: [f32::INFINITY; WIDTH], filled: 0 };

    /// Puts a pair in it; tells whether it is full.
    #[inline(always)]
    fn put(&mut self, vertices: [u32; 4], distance: f32) -> bool {
        for k in 0..4 {
            if self.filled == 0 {
                // What fills up must name vertices, too.
                self.vertices[k] = [vertices[k]; WIDTH];
            }
            self.vertices[k][self.filled] = vertices[k];
        }
        self.distances[self.filled] = distance;
        self.filled += 1;
        self.filled == WIDTH
    }

    #[inline(always)]
    fn take<L: Lanes>(&mut self, kind: usize, widest: f32, rest: Option<&[Point]>) -> Eights {
        let Filling { vertices: [a, b, c, d], distances, filled } = std::mem::replace(self, Filling::NONE);
        let vertices = [Places::new(a), Places::new(b), Places::new(c), Places::new(d)];
        let mut skin = [widest; WIDTH];
        if let Some(rest) = rest {
            let (vector, _) = closest::<L>(kind, rest, &vertices);
            (vector.length() * L::splat(REST_SHARE)).min(L::splat(widest)).store(&mut skin);
        }
        let mut free = f32::INFINITY;
        for l in 0..filled {
            // What lies on each other at rest, as at a seam that is not welded, has no sides to be kept on.
            if skin[l] < ROUNDING * widest {
                skin[l] = f32::NEG_INFINITY;
            }
            free = free.min(distances[l] - skin[l]);
        }
        skin[filled..].fill(f32::NEG_INFINITY);
        Eights { vertices, skin, free }
    }
}

/// Contacts are told when they are this share of the slop from touching: others may push them together.
pub(super) const EMIT: f32 = 0.5;

/// Distances are rounded by no more than this share of the skin.
pub(super) const ROUNDING: f32 = 1e-3;

/// A piece that is hardly bent touches itself only after its parts have moved by this share of an edge.
const BENT: f32 = 0.25;

/// Neighbours in a surface keep at most this share of their distance at rest.
pub(super) const REST_SHARE: f32 = 0.7;

/// Looks at the pairs of a block that may touch.
struct Examine<'a> {
    block: &'a mut Block,
    surface: &'a Surface,
    features: &'a [Features],
    reference: &'a [Point],
    vertices: &'a Vertices<'a>,
    search: &'a Search<'a>,
}

impl Kernel for Examine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Examine { block, surface, features, reference, vertices, search } = self;
        let Block { meetings, open, eights, contacts } = block;
        contacts.clear();
        for &m in open.iter() {
            let meeting = &mut meetings[m as usize];
            let is_listed = meeting.moved < meeting.listed;
            if !is_listed {
                list::<L>(meeting, surface, features, reference, vertices.rest, search, eights);
            }
            let [first, of_triangles, of_edges] = meeting.eights.map(|n| n as usize);
            let [p, q] = meeting.patches.map(|p| surface.thing(p as usize));
            let rule = search.rules.place(p, q) as u32;
            for (k, eight) in eights[first..first + of_triangles + of_edges].iter().enumerate() {
                if eight.free <= meeting.moved {
                    let kind = usize::from(k >= of_triangles);
                    examine::<L>(kind, eight, search.slop, rule, vertices, contacts);
                }
            }
        }
    }
}

/// Lists the near pairs of a meeting anew.
#[inline(always)]
fn list<L: Lanes>(
    meeting: &mut Meeting,
    surface: &Surface,
    features: &[Features],
    reference: &[Point],
    rest: &[Point],
    search: &Search,
    eights: &mut Vec<Eights>,
) {
    let [p, q] = meeting.patches.map(|p| p as usize);
    meeting.listed = search.ahead * meeting.moved + search.slop;
    meeting.eights = [eights.len() as u32, 0, 0];
    let things = [p, q].map(|p| surface.thing(p));
    let one = things[0] == things[1];
    let skin = search.rules.at(search.rules.place(things[0], things[1])).skin;
    let far = skin + meeting.listed;
    let mut between = gap(&features[p].hull, &features[q].hull);
    if between <= far && p != q {
        between = between.max(features[p].layered::<L>(&features[q]) - ROUNDING * skin);
    }
    if between > far {
        meeting.listed = between - skin;
        meeting.free = meeting.listed;
        return;
    }
    // Only within a thing is the distance at rest one that is meant.
    let between_at_rest = if one { gap(&surface.rest_hull(p), &surface.rest_hull(q)) } else { f32::INFINITY };
    // Neighbours that face the same way are one piece, which must bend before it touches itself.
    let bent = BENT * surface.edge_length();
    if between_at_rest < far && meeting.moved < bent && features[p].face_alike::<L>(&features[q]) {
        meeting.listed = bent;
        meeting.free = bent;
        return;
    }
    // Only neighbours are so near at rest that they cannot keep the whole distance.
    let rest = (between_at_rest * REST_SHARE < skin).then_some(rest);
    let near = skin + 0.5 * search.slop + meeting.moved;
    let first = eights.len();
    let mut lister = Lister { surface, features, reference, rest, skin, near, far, eights };
    let mut open = [Filling::NONE; 2];
    lister.points_and_triangles::<L>(p, q, &mut open);
    if p != q {
        lister.points_and_triangles::<L>(q, p, &mut open);
    }
    let of_triangles = lister.close::<L>(0, &mut open);
    lister.edges_and_edges::<L>(p, q, &mut open);
    let all = lister.close::<L>(1, &mut open);
    meeting.eights = [first, of_triangles - first, all - of_triangles].map(|n| n as u32);
    meeting.free = eights[first..].iter().fold(meeting.listed, |free, eight| free.min(eight.free));
}

/// Looks at eight pairs that may touch.
#[inline(always)]
fn examine<L: Lanes>(
    kind: usize,
    eight: &Eights,
    slop: f32,
    rule: u32,
    vertices: &Vertices,
    contacts: &mut Vec<Contact>,
) {
    let skin = L::load(&eight.skin);
    let (vector, weights) = closest::<L>(kind, vertices.before, &eight.vertices);
    let distance = vector.length();
    // Where are they now, along the same direction?
    let normal = vector * (L::splat(1.0) / distance.max(L::splat(f32::MIN_POSITIVE)));
    let mut now = Vectors::splat([0.0; 3]);
    for k in 0..4 {
        let (place, _) = Vectors::<L>::gather(vertices.now, &eight.vertices[k]);
        now = now + place * weights[k];
    }
    let gap = normal.dot(now);
    let mut touching = gap.mask_below(skin + L::splat(EMIT * slop));
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
        contacts.push(Contact {
            first_side: 1 + kind as u8,
            vertices: [
                eight.vertices[0].at()[l],
                eight.vertices[1].at()[l],
                eight.vertices[2].at()[l],
                eight.vertices[3].at()[l],
            ],
            weights: [each[0][l], each[1][l], each[2][l], each[3][l]],
            normal: [normals[0][l], normals[1][l], normals[2][l]],
            distance: distances[l],
            gap: gaps[l],
            way: [ways[0][l], ways[1][l], ways[2][l]],
            skin: eight.skin[l],
            rule,
        });
    }
}
