//! Cloth that went through itself is pulled apart again: global intersection analysis (SIM-B11), self-recovery (SIM-36).
//!
//! Contacts keep features on the side on which they were; what has crossed once they would hold crossed for ever. So crossings
//! are found from nothing but the places of now: every edge that pierces a triangle. They follow each other in contours, of
//! which [`crate::contact::contours`] says what went astray. For each crossing there is a [`Pull`], along which the edge is to
//! be moved against the triangle; [`Tangle::spread`] makes smooth motion of all pulls; [`Tangle::ignores`] names the contacts
//! that would fight it.
//!
//! **What is astray goes back.** Edges of the strand that is to move, and what is around them, move through the triangles that
//! they pierce, along the normals, so that the astray side gets smaller, and a little so that the contour gets shorter.
//!
//! **Length.** Contours that cut nothing off, as between two sheets that are stuck into each other half way, are shortened from
//! their ends (Volino and Magnenat-Thalmann, "Resolving surface collisions through intersection contour minimization", 2006).
//! At a crossing of an edge E and a triangle with normal N the contour goes on in each triangle at the edge, in direction R. If
//! the edge moves by x and the triangle by y, the crossing moves by x − E (N·(x − y)) / (E·N), and the contour gets longer by
//! −R of that. With x = −y this is −½ G·(x − y), where G = Σ R − 2 (E·R)/(E·N) N: to move the edge along +G shortens it. The
//! sum over a contour moves it as a whole. A straight contour from border to border has no such direction; there is always a
//! side that is astray.
//!
//! **Which edges.** Patches that may cross are found by the tree of boxes. Neighbours that face alike are one piece, which does
//! not cross itself (Volino and Magnenat-Thalmann, 1994). Of the others eight triangles at a time are held against an edge in
//! 32 bits; what may pierce is decided by signs of volumes in 64 bits.
//!
//! Promised: an edge that meets two triangles in their common edge pierces one of them, so that contours have no gaps. Edges
//! that have a vertex in common with a triangle, or a place to the bit, do not pierce it. Vertices exactly in the plane of a
//! triangle count as above it, so that what touches exactly may count as crossing, until it is moved. What is not finite
//! pierces nothing. The same bits for any number of threads and any instructions; no memory is asked for once lists have grown.
//! Nothing is remembered from call to call but what depends on the triangles.
//!
//! Not promised: that everything gets free. The side with less far to go is taken for the one that is astray, which a sleeve
//! through a small sheet is not. Cloth that is crushed so that a few triangles around a vertex cross each other has nothing
//! that is astray; some of that stays. Panels that are sewn but not welded cross each other in their seam like anything else.

use glam::DVec3;

use crate::contact::bvh::Tree;
use crate::contact::contours::{Contours, Links};
use crate::contact::surface::{Features, NONE, Surface, around};
use crate::lanes::{Instructions, Kernel, Lanes, Point, Vectors, WIDTH};
use crate::parallel::Parallel;

/// Patches whose crossings are kept together: work is shared among threads by these.
const PATCHES_PER_BLOCK: usize = 32;

/// Numbers of 32 bits are wrong by less than this: volumes as a share of the cube of the distances they are made of, distances
/// as a share of places.
const ROUNDING: f32 = 1e-6;

/// How much shortening the contour counts where a side is to be moved back.
const LENGTH_SHARE: f64 = 0.2;

/// Where an edge lies so flat on a triangle that the contour runs this many times as fast as it moves, faster does not count.
const FASTEST: f64 = 100.0;

/// Around a crossing at least so many rings of vertices go along,
const LEAST_RINGS: f32 = 2.0;

/// and this many times those that it is to be moved.
const RINGS: f32 = 1.5;

/// An edge that pierces a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// The edge, in the list of [`Links`].
    pub edge: u32,
    /// Its ends, the lower first.
    pub ends: [u32; 2],
    /// The triangle, by its place in the surface.
    pub triangle: u32,
    /// Its corners.
    pub corners: [u32; 3],
    /// Where on the edge, from 0 at the first end to 1.
    pub along: f32,
    /// Where in the triangle: weights of its corners.
    pub inside: [f32; 3],
    /// Whether the second end is the one above the triangle.
    pub rises: bool,
}

/// How one crossing is to be undone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// Both ends of the edge, and the corners of the triangle.
    pub vertices: [u32; 5],
    /// What makes the motion of the edge against the triangle, where they cross, of the motions of the five: positive for
    /// the ends, negative for the corners, 0 in all.
    pub weights: [f32; 5],
    /// Where the edge should move against the triangle; no longer than 1.
    pub direction: [f32; 3],
}

/// Nothing moves.
const STILL: Hull = ([0.0; 3], [0.0; 3]);

/// Lowest and highest corner of a box, m.
type Hull = ([f32; 3], [f32; 3]);

/// What of a surface has crossed.
#[derive(Clone, Debug, Default)]
pub struct Tangle {
    /// The triangles for which `links` was made.
    triangles: Vec<[u32; 3]>,
    links: Links,
    /// Patches of which all triangles are joined, each with itself and with those it shares a corner with, in rising order.
    kin: Vec<[u32; 2]>,
    features: Vec<Features>,
    /// The box around each patch, m.
    hulls: Vec<Hull>,
    tree: Tree,
    blocks: Vec<Block>,
    crossings: Vec<Crossing>,
    contours: Contours,
    pulls: Vec<Pull>,
    /// By pull: over how many rings of vertices it draws others along.
    reaches: Vec<f32>,
    /// By contour: how the first strand should move against the second to shorten it.
    ways: Vec<DVec3>,
    /// Scratch: how each vertex goes along.
    drags: Vec<Drag>,
    /// Scratch: vertices at crossings, those around them, and so on.
    rings: Vec<u32>,
}

/// The crossings of the edges of some patches.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Patches that one of them meets.
    near: Vec<u32>,
    crossings: Vec<Crossing>,
}

impl Tangle {
    /// Finds what has crossed, where vertices are now, m, of things that touch, told by a vertex of each. The fourth number of a
    /// place is not looked at.
    pub fn find(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        touch: impl Fn(u32, u32) -> bool,
        places: &[Point],
    ) {
        self.learn(surface);
        let n = surface.len();
        parallel.heavy_blocks(&mut self.features, |first, block| {
            for (i, features) in block.iter_mut().enumerate() {
                features.fit(surface, first + i, places);
            }
        });
        let Tangle { features, hulls, tree, blocks, crossings, kin, .. } = self;
        hulls.clear();
        hulls.extend(features.iter().map(|features| features.hull));
        tree.fit(n, |p| hulls[p]);
        let (tree, features, hulls, kin) = (&*tree, &features[..], &hulls[..], &kin[..]);
        blocks.resize_with(n.div_ceil(PATCHES_PER_BLOCK), Block::default);
        parallel.each_of(WIDTH * n, blocks, |b, block| {
            let patches = b * PATCHES_PER_BLOCK..n.min((b + 1) * PATCHES_PER_BLOCK);
            instructions.run(Pierce { patches, block, surface, features, hulls, tree, kin, places });
        });
        crossings.clear();
        for block in blocks.iter() {
            crossings.extend_from_slice(&block.crossings);
        }
        self.pulls.clear();
        if self.crossings.is_empty() {
            return;
        }
        let edges = &self.links.edges;
        self.crossings.retain_mut(|crossing| {
            // Each edge of a surface is one of its triangles', or of a rope, which has no sides.
            let edge = edges.partition_point(|edge| *edge < crossing.ends);
            crossing.edge = edge as u32;
            edges.get(edge) == Some(&crossing.ends) && touch(crossing.ends[0], crossing.corners[0])
        });
        if self.crossings.is_empty() {
            return;
        }
        self.contours.find(&self.links, &self.crossings);
        self.pull(places);
    }

    /// Makes what depends on the triangles only, if they are others than before.
    fn learn(&mut self, surface: &Surface) {
        let mut known = self.triangles.chunks(WIDTH);
        if (0..surface.len()).all(|p| known.next() == Some(surface.triangles(p))) && known.next().is_none() {
            return;
        }
        self.triangles.clear();
        for p in 0..surface.len() {
            self.triangles.extend_from_slice(surface.triangles(p));
        }
        let real = self.triangles.iter().zip(0u32..).filter(|(t, _)| t[0] != NONE && t[1] != t[2]);
        self.links = Links::new(real.map(|(corners, t)| (t, *corners)));
        let mut at: Vec<[u32; 2]> = Vec::new();
        for p in (0..surface.len()).filter(|&p| is_joined(surface.triangles(p))) {
            at.extend(surface.corners(p).iter().map(|&v| [v, p as u32]));
        }
        at.sort_unstable();
        self.kin.clear();
        for shared in at.chunk_by(|a, b| a[0] == b[0]) {
            self.kin.extend(shared.iter().flat_map(|a| shared.iter().map(|b| [a[1], b[1]])));
        }
        self.kin.sort_unstable();
        self.kin.dedup();
        self.features.clear();
        self.features.resize_with(surface.len(), Features::default);
    }

    /// Says how each crossing is to be undone.
    fn pull(&mut self, places: &[Point]) {
        let Tangle { links, crossings, contours, pulls, reaches, ways, .. } = self;
        let at = |v: u32| wide(places[v as usize]);
        ways.clear();
        ways.resize(contours.verdicts.len(), DVec3::ZERO);
        reaches.clear();
        for (i, crossing) in crossings.iter().enumerate() {
            let Crossing { ends, corners, along, inside, .. } = *crossing;
            let normal = unit_normal(corners.map(at));
            let apexes = links.sides(crossing.edge).iter().map(|side| at(side[1]));
            let (into, slope) = contour(ends.map(at), apexes, normal);
            let gradient = into - 2.0 * slope * normal;
            let shorter = gradient / (gradient.length_squared() + 1.0).sqrt();
            let verdict = contours.verdicts[contours.of[i] as usize];
            let direction = match verdict.astray {
                None => {
                    let sign = if contours.strands[i] == 0 { 1.0 } else { -1.0 };
                    ways[contours.of[i] as usize] += sign * shorter;
                    shorter
                }
                // The side below moves up, the side above down.
                Some((strand, side)) if strand == contours.strands[i] => {
                    let back = if side == 0 { normal } else { -normal };
                    (back + LENGTH_SHARE * shorter) / (1.0 + LENGTH_SHARE)
                }
                Some(_) => DVec3::ZERO,
            };
            let [a, b, c] = inside;
            pulls.push(Pull {
                vertices: [ends[0], ends[1], corners[0], corners[1], corners[2]],
                weights: [1.0 - along, along, -a, -b, -c],
                direction: direction.to_array().map(|x| x as f32),
            });
            reaches.push((RINGS * verdict.rings as f32).max(LEAST_RINGS));
        }
        // A contour that is to be shortened moves as a whole, too.
        for (i, pull) in pulls.iter_mut().enumerate() {
            let contour = contours.of[i] as usize;
            if contours.verdicts[contour].astray.is_none() {
                let sign = if contours.strands[i] == 0 { 1.0 } else { -1.0 };
                let way = sign * ways[contour] / (ways[contour].length_squared() + 1.0).sqrt();
                pull.direction = ((way + DVec3::from_array(pull.direction.map(f64::from))) * 0.5)
                    .to_array()
                    .map(|x| x as f32);
            }
        }
    }

    /// Every edge that pierces a triangle.
    pub fn crossings(&self) -> &[Crossing] {
        &self.crossings
    }

    /// One for each crossing, in the same order.
    #[cfg(test)]
    pub fn pulls(&self) -> &[Pull] {
        &self.pulls
    }

    /// Whether a contact between the first `first_side` of four vertices and the others would hold what is to be pulled out. One
    /// test if nothing has crossed.
    #[inline(always)]
    pub fn ignores(&self, vertices: [u32; 4], first_side: u8) -> bool {
        !self.crossings.is_empty() && self.contours.ignores(vertices, first_side)
    }

    /// Adds to `moves`, one per vertex, how vertices should move, none further than `step`, m. At a crossing that is the mean of
    /// what pulls want. Cloth is drawn, not pushed: around a crossing it goes along, less with each ring of vertices, over somewhat
    /// more rings than it is to be moved. The fourth number of `moves` is the inverse mass, 1/kg: of edge and triangle the lighter
    /// moves more, supports stay. As a change of places that is no motion, it should not become speed.
    pub fn spread(&mut self, step: f32, moves: &mut [Point]) {
        let Tangle { links, pulls, reaches, drags, rings, .. } = self;
        drags.clear();
        drags.resize(links.vertices(), Drag::default());
        rings.clear();
        for (Pull { vertices, weights, direction }, &reach) in pulls.iter().zip(&*reaches) {
            let mobility = |part: std::ops::Range<usize>| {
                let (mut of_mass, mut of_all) = (0.0, f32::MIN_POSITIVE);
                for k in part {
                    let square = weights[k] * weights[k];
                    of_mass += square * moves[vertices[k] as usize][3];
                    of_all += square;
                }
                of_mass / of_all
            };
            let (edge, triangle) = (mobility(0..2), mobility(2..5));
            let both = (edge + triangle).max(f32::MIN_POSITIVE);
            // What hardly wants anything has hardly a say.
            let [x, y, z] = *direction;
            let urgency = (x * x + y * y + z * z).sqrt();
            for k in 0..5 {
                let share = if k < 2 { edge / both } else { triangle / both };
                let wish = direction.map(|d| weights[k].signum() * share * d);
                let weight = weights[k].abs() * urgency;
                drags[vertices[k] as usize].add(vertices[k], wish, weight, reach, 1.0, rings);
            }
        }
        let (mut first, mut end) = (0, rings.len());
        while first < end {
            for &v in &rings[first..end] {
                drags[v as usize].settle();
            }
            for i in first..end {
                let v = rings[i];
                let Drag { wish, reach, left, .. } = drags[v as usize];
                let left = left - 1.0 / reach;
                if left > 0.0 {
                    for &[w, _] in links.around(v) {
                        drags[w as usize].add(w, wish, left, reach, left, rings);
                    }
                }
            }
            (first, end) = (end, rings.len());
        }
        for &v in rings.iter() {
            let to = &mut moves[v as usize];
            if to[3] > 0.0 {
                for c in 0..3 {
                    to[c] += step * drags[v as usize].left * drags[v as usize].wish[c];
                }
            }
        }
    }
}

/// How a vertex goes along.
#[derive(Clone, Copy, Debug, Default)]
struct Drag {
    /// The sum of what is wanted of it, and then the mean.
    wish: [f32; 3],
    weight: f32,
    /// Over how many rings it draws others along.
    reach: f32,
    /// How much of it is left here.
    left: f32,
    is_listed: bool,
    is_settled: bool,
}

impl Drag {
    /// Wants something of vertex `v`.
    fn add(&mut self, v: u32, wish: [f32; 3], weight: f32, reach: f32, left: f32, rings: &mut Vec<u32>) {
        if self.is_settled || weight <= 0.0 {
            return;
        }
        if !self.is_listed {
            self.is_listed = true;
            rings.push(v);
        }
        for c in 0..3 {
            self.wish[c] += weight * wish[c];
        }
        self.weight += weight;
        self.reach = self.reach.max(reach);
        self.left = self.left.max(left);
    }

    fn settle(&mut self) {
        self.is_settled = true;
        self.wish = self.wish.map(|sum| sum / self.weight.max(f32::MIN_POSITIVE));
    }
}

/// Whether triangles are all joined by common corners.
fn is_joined(triangles: &[[u32; 3]]) -> bool {
    let mut joined = 1u8;
    for _ in 0..WIDTH {
        for (i, t) in triangles.iter().enumerate() {
            let meets =
                |(j, other): (usize, &[u32; 3])| joined >> j & 1 == 1 && other.iter().any(|v| t.contains(v));
            if t[0] == NONE || triangles.iter().enumerate().any(meets) {
                joined |= 1 << i;
            }
        }
    }
    joined == u8::MAX
}

/// Finds the triangles that the edges of some patches pierce.
struct Pierce<'a> {
    patches: std::ops::Range<usize>,
    block: &'a mut Block,
    surface: &'a Surface,
    features: &'a [Features],
    hulls: &'a [Hull],
    tree: &'a Tree,
    kin: &'a [[u32; 2]],
    places: &'a [Point],
}

impl Kernel for Pierce<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Pierce { patches, block: Block { near, crossings }, surface, features, hulls, tree, kin, places } =
            self;
        crossings.clear();
        for p in patches {
            near.clear();
            tree.meet::<L>(p, hulls[p], |q| near.push(q as u32));
            near.sort_unstable();
            let first = kin.partition_point(|pair| (pair[0] as usize) < p);
            let mut own =
                kin[first..].iter().take_while(|pair| pair[0] as usize == p).map(|pair| pair[1]).peekable();
            let far = furthest(&hulls[p]);
            for &q in near.iter() {
                while own.next_if(|kin| *kin < q).is_some() {}
                // The order of a tree may be another than that of patches.
                let is_kin =
                    own.peek() == Some(&q) || (q as usize) < p && kin.binary_search(&[q, p as u32]).is_ok();
                let q = q as usize;
                let (one, other) = (&features[p], &features[q]);
                // Neighbours that face the same way are one piece, which does not cross itself; layers are apart.
                if is_kin && one.face_alike::<L>(other)
                    || p != q && one.layered::<L>(other, &STILL).0 > ROUNDING * far
                {
                    continue;
                }
                let mut edges = Edges { surface, features, hulls, places, crossings };
                edges.through::<L>(p, q, is_kin);
                if p != q {
                    edges.through::<L>(q, p, is_kin);
                }
            }
        }
    }
}

/// How far from the origin a box reaches along an axis, m.
fn furthest((low, high): &Hull) -> f32 {
    (0..3).fold(0.0, |far: f32, k| far.max(high[k]).max(-low[k]))
}

/// Finds which edges of a patch pierce triangles of another.
struct Edges<'a> {
    surface: &'a Surface,
    features: &'a [Features],
    hulls: &'a [Hull],
    places: &'a [Point],
    crossings: &'a mut Vec<Crossing>,
}

impl Edges<'_> {
    #[inline(always)]
    fn through<L: Lanes>(&mut self, p: usize, q: usize, is_kin: bool) {
        let Edges { surface, features, hulls, places, .. } = *self;
        let (own, other) = (&features[p], &features[q]);
        let triangles = other.triangles::<L>();
        for (j, eight) in surface.eights_of_edges(p).enumerate() {
            let mut edges = own.edges::<L>(j).meet(hulls[q]);
            while edges != 0 {
                let l = edges.trailing_zeros() as usize;
                edges &= edges - 1;
                let ends = surface.edges(eight)[l];
                let mut mask = triangles.meet(around(&ends, places));
                if is_kin && mask != 0 {
                    mask &= !sharing(ends, surface.triangles(q));
                }
                if mask == 0 {
                    continue;
                }
                let (from, to) = (places[ends[0] as usize], places[ends[1] as usize]);
                mask &= may_pierce::<L>(from, to, &triangles.corners);
                while mask != 0 {
                    let t = mask.trailing_zeros() as usize;
                    mask &= mask - 1;
                    let triangle = (q * WIDTH + t) as u32;
                    self.crossings.extend(pierce(ends, triangle, surface.triangles(q)[t], places));
                }
            }
        }
    }
}

/// A bit for each of eight triangles that has a vertex in common with an edge.
#[inline(always)]
fn sharing([a, b]: [u32; 2], triangles: &[[u32; 3]]) -> u8 {
    let mut mask = 0;
    for (t, corners) in triangles.iter().enumerate() {
        let mut shares = false;
        for &v in corners {
            shares |= v == a || v == b;
        }
        mask |= u8::from(shares) << t;
    }
    mask
}

#[inline(always)]
fn cross<L: Lanes>(a: Vectors<L>, b: Vectors<L>) -> Vectors<L> {
    Vectors { x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x }
}

/// A bit for each of eight triangles that an edge may pierce, as far as 32 bits can tell.
#[inline(always)]
fn may_pierce<L: Lanes>(from: Point, to: Point, corners: &[Vectors<L>; 3]) -> u8 {
    let [x, y, z, _] = from;
    let from = Vectors::<L>::splat([x, y, z]);
    let way = Vectors::<L>::splat([to[0] - x, to[1] - y, to[2] - z]);
    let (a, b, c) = (corners[0] - from, corners[1] - from, corners[2] - from);
    let across = cross(b, c);
    // Six times the volumes of the edge with each side of the triangle, and of the triangle with each end of the edge.
    let (ab, bc, ca) = (way.dot(cross(a, b)), way.dot(across), way.dot(cross(c, a)));
    let zero = L::splat(0.0);
    let first = zero - a.dot(across);
    let second = first + ab + bc + ca;
    let square = a.dot(a).max(b.dot(b)).max(c.dot(c)).max(way.dot(way));
    let above = square * square.sqrt() * L::splat(ROUNDING);
    let below = zero - above;
    let misses = first.max(second).mask_below(below) | above.mask_below(first.min(second));
    let rises = !ab.min(bc).min(ca).mask_below(below);
    let falls = !above.mask_below(ab.max(bc).max(ca));
    (rises | falls) & !misses
}

pub(super) fn wide(p: Point) -> DVec3 {
    DVec3::new(p[0].into(), p[1].into(), p[2].into())
}

/// What is rounded to 32 bits is in a plane if it rises out of it by this share of how far it is from the origin.
const IN_PLANE: f64 = 4.0 * f32::EPSILON as f64;

/// Where an edge pierces a triangle. Volumes that are 0 are given a side by the numbers of the vertices, the same one in all triangles that
/// ask: an edge through a common edge of two triangles pierces one.
pub(super) fn pierce(ends: [u32; 2], triangle: u32, corners: [u32; 3], places: &[Point]) -> Option<Crossing> {
    if corners.iter().any(|v| *v == NONE || ends.contains(v)) {
        return None;
    }
    let [from, to] = ends.map(|v| wide(places[v as usize]));
    let [a, b, c] = corners.map(|v| wide(places[v as usize]));
    let normal = (b - a).cross(c - a);
    let (first, second) = (normal.dot(from - a), normal.dot(to - a));
    let rises = second >= 0.0;
    if (first >= 0.0) == rises || !(second - first).is_finite() {
        return None;
    }
    // Of an edge in the plane of a triangle, as far as places in 32 bits can tell, sides are rounding alone.
    let far = [from, to, a, b, c].iter().fold(0.0f64, |far, x| far.max(x.abs().max_element()));
    if (second - first).abs() <= IN_PLANE * far * normal.length() {
        return None;
    }
    if [a, b, c].iter().any(|x| *x == from || *x == to) {
        return None;
    }
    let spokes = [a - from, b - from, c - from];
    let mut volumes = [0.0; 3];
    for k in 0..3 {
        let next = (k + 1) % 3;
        let volume = (to - from).dot(spokes[k].cross(spokes[next]));
        let positive = if volume == 0.0 { corners[k] < corners[next] } else { volume > 0.0 };
        if positive != rises {
            return None;
        }
        volumes[k] = volume;
    }
    let whole = volumes[0] + volumes[1] + volumes[2];
    let inside = [volumes[1] / whole, volumes[2] / whole, volumes[0] / whole].map(|w| w as f32);
    let along = (first / (first - second)) as f32;
    let crossing = Crossing { edge: 0, ends, triangle, corners, along, inside, rises };
    inside.iter().all(|w| w.is_finite()).then_some(crossing)
}

pub(super) fn unit_normal([a, b, c]: [DVec3; 3]) -> DVec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

/// Where the contour goes from an edge that pierces a triangle with that normal: the sum of its directions R into the triangles at
/// the edge E, and of (E·R)/(E·N), how fast it moves along itself per motion along the normal.
pub(super) fn contour(
    [from, to]: [DVec3; 2],
    apexes: impl Iterator<Item = DVec3>,
    normal: DVec3,
) -> (DVec3, f64) {
    let edge = to - from;
    let (mut sum, mut slope) = (DVec3::ZERO, 0.0);
    for apex in apexes {
        let line = edge.cross(apex - from).cross(normal).normalize_or_zero();
        let inwards = (apex - from) * edge.length_squared() - edge * edge.dot(apex - from);
        let into = if line.dot(inwards) < 0.0 { -line } else { line };
        let ratio = edge.dot(into) / edge.dot(normal);
        sum += into;
        if ratio.is_finite() {
            slope += ratio.clamp(-FASTEST, FASTEST);
        }
    }
    (sum, slope)
}
