//! Pairs of features that could cross on their ways through a substep, with no regard to skins, rests or what was near before: the
//! plain, wary twin of `pairs.rs`, for contact that promises (FAU-44: motion is limited before an impact).
//!
//! Boxes around the ways of all features, less what all move on average; those that meet are held against each other eight at a time: a pair stays if its distance
//! when the substep began is not more than its vertices have moved, and a tenth of the skin.
//!
//! Promised: every vertex and triangle, and every two edges, that meet on straight ways and share no vertex are among the pairs, if
//! their things touch at all; in an order that depends on nothing but the surface and its motion.

use crate::contact::bvh::{Boxes, Tree};
use crate::contact::closest::closest;
use crate::contact::rules::Rules;
use crate::contact::surface::{NONE, Surface, around};
use crate::lanes::{Instructions, Kernel, Lanes, Point, Rows, Vectors, WIDTH};
use crate::parallel::Parallel;

/// Patches whose pairs are kept together: work is shared among threads by these.
const PATCHES_PER_BLOCK: usize = 32;

/// Closest points in 32 bits are off by up to this share of the size of a thin feature (a test of `closest.rs` says so), and more.
const ROUNDING: f32 = 5e-3;

/// Two features that could cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Vertex and triangle, or two edges.
    pub vertices: [u32; 4],
    /// How many of them are on the first side: 1 or 2.
    pub first_side: u8,
    /// The rule of their things, by its place.
    pub rule: u32,
}

/// Corners of a box.
type Corners = ([f32; 3], [f32; 3]);

/// Boxes around the ways of the features of a patch.
#[derive(Clone, Debug, Default)]
struct Ways {
    triangles: Boxes,
    edges: [Boxes; 3],
    hull: Corners,
}

/// Pairs that could cross.
#[derive(Clone, Debug, Default)]
pub struct Swept {
    tree: Tree,
    ways: Vec<Ways>,
    /// Where vertices are now, less what all move on average, m.
    carried: Vec<Point>,
    blocks: Vec<Block>,
}

/// The pairs of some patches with those after them.
#[derive(Clone, Debug, Default)]
struct Block {
    /// Patches that one of them meets.
    near: Vec<u32>,
    candidates: Vec<Candidate>,
}

impl Swept {
    /// Finds all pairs that could cross while vertices go from `before` to `now`.
    pub fn find(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        surface: &Surface,
        rules: &Rules,
        before: &[Point],
        now: &[Point],
    ) {
        let n = surface.len();
        // Two things cross or do not, wherever both are carried.
        let mean = mean_way(before, now);
        self.carried.clear();
        self.carried.extend(now.iter().map(|p| [p[0] - mean[0], p[1] - mean[1], p[2] - mean[2], 0.0]));
        let now = &self.carried[..];
        self.ways.resize_with(n, Ways::default);
        parallel.heavy_blocks(&mut self.ways, |first, block| {
            for (i, ways) in block.iter_mut().enumerate() {
                ways.fit(surface, first + i, before, now);
            }
        });
        let Swept { tree, ways, blocks, .. } = self;
        tree.fit(n, |p| ways[p].hull);
        blocks.resize_with(n.div_ceil(PATCHES_PER_BLOCK), Block::default);
        let (tree, ways) = (&*tree, &ways[..]);
        parallel.each_of(WIDTH * n, blocks, |b, block| {
            let patches = b * PATCHES_PER_BLOCK..n.min((b + 1) * PATCHES_PER_BLOCK);
            block.candidates.clear();
            instructions.run(Meet { patches, block, surface, rules, tree, ways, before, now });
        });
    }

    /// What [`Swept::find`] found.
    pub fn candidates(&self) -> impl Iterator<Item = &Candidate> {
        self.blocks.iter().flat_map(|b| &b.candidates)
    }
}

/// What all vertices move on average, m.
fn mean_way(before: &[Point], now: &[Point]) -> [f32; 3] {
    let mut sum = [0.0f64; 3];
    for (from, to) in before.iter().zip(now) {
        (0..3).for_each(|k| sum[k] += f64::from(to[k] - from[k]));
    }
    sum.map(|s| (s / before.len().max(1) as f64) as f32)
}

/// A box around the ways of some vertices.
#[inline(always)]
fn way(vertices: &[u32], before: &[Point], now: &[Point]) -> Corners {
    let (a, b) = (around(vertices, before), around(vertices, now));
    let mut both = a;
    for k in 0..3 {
        both.0[k] = a.0[k].min(b.0[k]);
        both.1[k] = a.1[k].max(b.1[k]);
    }
    both
}

impl Ways {
    fn fit(&mut self, surface: &Surface, p: usize, before: &[Point], now: &[Point]) {
        for (l, t) in surface.triangles(p).iter().enumerate().filter(|(_, t)| t[0] != NONE) {
            self.triangles.set(l, way(t, before, now));
        }
        self.hull = self.triangles.hull();
        for (j, eight) in surface.eights_of_edges(p).enumerate() {
            for (l, e) in surface.edges(eight).iter().enumerate().filter(|(_, e)| e[0] != NONE) {
                self.edges[j].set(l, way(e, before, now));
            }
        }
    }
}

/// Finds the pairs of some patches with those after them.
struct Meet<'a> {
    patches: std::ops::Range<usize>,
    block: &'a mut Block,
    surface: &'a Surface,
    rules: &'a Rules,
    tree: &'a Tree,
    ways: &'a [Ways],
    before: &'a [Point],
    now: &'a [Point],
}

impl Kernel for Meet<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Meet { patches, block, surface, rules, tree, ways, before, now } = self;
        let Block { near, candidates } = block;
        let mut open = [Filling::default(), Filling::default()];
        for p in patches {
            near.clear();
            tree.meet::<L>(p, ways[p].hull, |q| near.push(q as u32));
            // Outside of the closure: those are not compiled for the instructions at hand.
            for &q in near.iter() {
                let q = q as usize;
                let rule = rules.place(surface.thing(p), surface.thing(q));
                if !rules.at(rule).touch {
                    continue;
                }
                let rule = rule as u32;
                let sides = [(p, q), (q, p)];
                for &(p, q) in &sides[..if p == q { 1 } else { 2 }] {
                    for &v in surface.vertices(p) {
                        let mut mask = ways[q].triangles.meet::<L>(way(&[v], before, now));
                        while mask != 0 {
                            let [a, b, c] = surface.triangles(q)[mask.trailing_zeros() as usize];
                            mask &= mask - 1;
                            if a != v && b != v && c != v && open[0].put([v, a, b, c], rule) {
                                open[0].sift::<L>(0, before, now, rules, candidates);
                            }
                        }
                    }
                }
                for (i, own) in surface.eights_of_edges(p).enumerate() {
                    for (l, &[a, b]) in surface.edges(own).iter().enumerate() {
                        if a == NONE {
                            break;
                        }
                        let wanted = ways[p].edges[i].get(l);
                        for (j, other) in surface.eights_of_edges(q).enumerate() {
                            let mut mask = ways[q].edges[j].meet::<L>(wanted);
                            while mask != 0 {
                                let m = mask.trailing_zeros() as usize;
                                mask &= mask - 1;
                                let [c, d] = surface.edges(other)[m];
                                // Each pair once.
                                let again = p == q && (j, m) <= (i, l);
                                let apart = a != c && a != d && b != c && b != d;
                                if !again && apart && open[1].put([a, b, c, d], rule) {
                                    open[1].sift::<L>(1, before, now, rules, candidates);
                                }
                            }
                        }
                    }
                }
            }
        }
        open[0].sift::<L>(0, before, now, rules, candidates);
        open[1].sift::<L>(1, before, now, rules, candidates);
    }
}

/// An eight of pairs that is being filled.
#[derive(Default)]
struct Filling {
    vertices: [[u32; 4]; WIDTH],
    rules: [u32; WIDTH],
    filled: usize,
}

impl Filling {
    /// Puts a pair in it; tells whether it is full.
    #[inline(always)]
    fn put(&mut self, vertices: [u32; 4], rule: u32) -> bool {
        self.rules[self.filled] = rule;
        self.vertices[self.filled] = vertices;
        self.filled += 1;
        self.filled == WIDTH
    }

    /// Keeps those that have moved as far as they were apart.
    #[inline(always)]
    fn sift<L: Lanes>(
        &mut self,
        kind: usize,
        before: &[Point],
        now: &[Point],
        rules: &Rules,
        candidates: &mut Vec<Candidate>,
    ) {
        let filled = std::mem::take(&mut self.filled);
        if filled == 0 {
            return;
        }
        let row = self.vertices[0];
        self.vertices[filled..].fill(row);
        let at = Rows::new(&self.vertices);
        let distance = closest::<L>(kind, before, &at).0.length();
        let mut ways = [Vectors::<L>::splat([0.0; 3]); 4];
        let first = Vectors::<L>::gather_column(before, &at, 0);
        let mut size = L::splat(0.0);
        let mut mean = Vectors::<L>::splat([0.0; 3]);
        for k in 0..4 {
            let from = Vectors::<L>::gather_column(before, &at, k);
            let to = Vectors::<L>::gather_column(now, &at, k);
            ways[k] = to - from;
            mean = mean + ways[k] * L::splat(0.25);
            let reach = from - first;
            size = size.max(reach.dot(reach));
        }
        let mut moved = [L::splat(0.0); 4];
        for k in 0..4 {
            moved[k] = (ways[k] - mean).length();
        }
        let (one, other) = match kind {
            0 => (moved[0], moved[1].max(moved[2]).max(moved[3])),
            _ => (moved[0].max(moved[1]), moved[2].max(moved[3])),
        };
        let mut skins = [0.0; WIDTH];
        for l in 0..filled {
            skins[l] = rules.at(self.rules[l] as usize).skin;
        }
        // Those that only come within a tenth of their skin stay, too, and so does what is not a number.
        let reach = size.sqrt() * L::splat(ROUNDING) + L::load(&skins) * L::splat(0.1);
        let apart = (one + other).mask_below(distance - reach);
        let mut mask = !apart & (0xffu8 >> (WIDTH - filled));
        while mask != 0 {
            let l = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            candidates.push(Candidate {
                vertices: self.vertices[l],
                first_side: 1 + kind as u8,
                rule: self.rules[l],
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::contact::continuous;
    use crate::contact::rules::Rule;
    use crate::math::uniform;
    use crate::mesh::generate;
    use crate::scene::Grid;

    fn wide(p: &Point) -> DVec3 {
        DVec3::new(p[0].into(), p[1].into(), p[2].into())
    }

    #[test]
    fn all_that_meet_on_their_ways_are_among_them_for_any_threads() {
        let mesh = generate::grid(&Grid { vertices: [9, 9], ..Grid::default() });
        let rest: Vec<Point> =
            mesh.positions.iter().map(|x| [x.x as f32, x.y as f32, x.z as f32, 0.0]).collect();
        let surface = Surface::new(&rest, &mesh.triangles);
        let rules = Rules::new(1, |_, _| Rule { touch: true, ..Rule::default() });
        let mut edges: Vec<[u32; 2]> = mesh
            .triangles
            .iter()
            .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
            .map(|[a, b]| [a.min(b), a.max(b)])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        let mut crossed = 0;
        for round in 0..6u64 {
            let crumple = |seed: u64, by: f32| -> Vec<Point> {
                let noise = |i: usize, k: u64| by * (uniform(seed, 4 * i as u64 + k) - 0.5) as f32;
                let place = |(i, p): (usize, &Point)| {
                    [p[0] + noise(i, 0), p[1] + noise(i, 1), p[2] + noise(i, 2), 1.0]
                };
                rest.iter().enumerate().map(place).collect()
            };
            let (before, now) = (crumple(round, 0.3), crumple(round + 50, 0.1 * round as f32));
            let find = |threads: usize, instructions: Instructions| {
                let mut swept = Swept::default();
                let parallel = Parallel::new(threads).unwrap();
                swept.find(&parallel, instructions, &surface, &rules, &before, &now);
                swept.candidates().copied().collect::<Vec<_>>()
            };
            let found = find(1, Instructions::detect());
            assert_eq!(found, find(2, Instructions::Plain));
            let mut named: Vec<([u32; 4], u8)> = found.iter().map(|c| (c.vertices, c.first_side)).collect();
            named.sort_unstable();
            let total = named.len();
            named.dedup();
            assert_eq!(named.len(), total, "each once");
            let is_named = |v: [u32; 4], side: u8| {
                let swapped = [v[2], v[3], v[0], v[1]];
                named.binary_search(&(v, side)).is_ok()
                    || (side == 2 && named.binary_search(&(swapped, 2)).is_ok())
            };
            let at = |v: [u32; 4], x: &[Point]| v.map(|v| wide(&x[v as usize]));
            for v in 0..rest.len() as u32 {
                for t in mesh.triangles.iter().filter(|t| !t.contains(&v)) {
                    let pair = [v, t[0], t[1], t[2]];
                    if continuous::vertex_face(at(pair, &before), at(pair, &now), 0.0).is_some() {
                        crossed += 1;
                        let turned = [[v, t[0], t[1], t[2]], [v, t[1], t[2], t[0]], [v, t[2], t[0], t[1]]];
                        assert!(turned.iter().any(|p| is_named(*p, 1)), "{pair:?} is missed");
                    }
                }
            }
            for (i, a) in edges.iter().enumerate() {
                for b in edges[i + 1..].iter().filter(|b| !b.contains(&a[0]) && !b.contains(&a[1])) {
                    let pair = [a[0], a[1], b[0], b[1]];
                    if continuous::edge_edge(at(pair, &before), at(pair, &now), 0.0).is_some() {
                        crossed += 1;
                        assert!(is_named(pair, 2), "{pair:?} is missed");
                    }
                }
            }
        }
        assert!(crossed > 300, "the test has too few cases: {crossed}");
    }
}
