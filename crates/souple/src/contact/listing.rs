//! Lists of the near pairs of two patches: what may touch while one moves against the other within a box (FAU-42, FAU-47).
//!
//! Pairs are kept eight at a time, each eight with how far its patches may move before one of its pairs can touch.

use crate::contact::closest::{closest, edge_edge, point_triangle};
use crate::contact::pairs::{EDGE_SHARE, EMIT, Search};
use crate::contact::surface::{Edges, Features, Surface, around};
use crate::contact::ways::{Ways, gap, reach, reversed};
use crate::lanes::{Eight, Lanes, Point, Rows, Vectors, WIDTH};

/// Eight pairs, of vertex and triangle or of edges.
#[derive(Clone, Debug)]
pub(super) struct Eights {
    /// Vertices of each.
    pub rows: [[u32; 4]; WIDTH],
    /// Places in the surface: of the triangle, or of both edges.
    pub features: [[u32; 2]; WIDTH],
    /// Distance that is kept, m; minus infinity for what fills up.
    pub skin: Eight,
    /// No pair touches before its patches have moved this far against each other, m.
    pub free: f32,
}

/// Two patches that may come near each other, and their near pairs.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    pub patches: [u32; 2],
    /// How far they have moved against each other since the search, m.
    pub moved: f32,
    /// The list of near pairs is complete as long as the second moves against the first within this, m.
    pub listed: Ways,
    /// First of its eights, how many of vertex and triangle, and how many of edges.
    pub eights: [u32; 3],
}

/// No motion at all is within it.
pub(super) const NOWHERE: Ways = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);

/// Distances are rounded by no more than this share of the skin.
pub(super) const ROUNDING: f32 = 1e-3;

/// A piece that is hardly bent touches itself only after its parts have moved by this share of an edge.
const BENT: f32 = 0.25;

/// Neighbours in a surface keep at most this share of their distance at rest.
pub(super) const REST_SHARE: f32 = 0.7;

/// Lists the near pairs of a meeting anew, whose second patch has moved against the first within `moves`; returns how far its patches
/// may move before a pair can touch, or the list is not complete, m.
#[inline(always)]
pub(super) fn list<L: Lanes>(
    meeting: &mut Meeting,
    moves: Ways,
    surface: &Surface,
    features: &[Features],
    reference: &[Point],
    rest: &[Point],
    search: &Search,
    eights: &mut Vec<Eights>,
) -> f32 {
    let [p, q] = meeting.patches.map(|p| p as usize);
    // On in the same direction, and a little in all, unless the list is for this substep alone.
    let aside = (search.slop + ASIDE * meeting.moved) * (search.ahead - 1.0).min(1.0);
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
    eights[first..].iter().fold(aside, |free, eight| free.min(eight.free))
}

/// A list does for motion in other directions than that of now by this share of what there was.
const ASIDE: f32 = 0.5;

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
    eights: &'a mut Vec<Eights>,
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

    /// Takes what is in it.
    #[inline(always)]
    fn take<L: Lanes>(&mut self, kind: usize, widest: f32, rest: Option<&[Point]>) -> Eights {
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
        Eights { rows: *rows, features: *features, skin, free }
    }
}
