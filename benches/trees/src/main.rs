//! Souple's tree of boxes and those of other crates on the same cloth, in one run on one thread.
//!
//!     souple run scenes/bench/pile.toml --frames 120 --format obj -o out/pile
//!     cd benches/trees
//!     cargo run --release --locked -- ../../out/pile/obj/pile_0000.obj ../../out/pile/obj/pile_0120.obj 1 3
//!
//! The two files are the cloth at rest and crumpled; each triangle is cut into k² for every k given. Every tree is made for the
//! cloth at rest, fitted to the crumpled one, and asked for all pairs of boxes that meet, each once: boxes around single
//! triangles, and around eight neighbours as Souple has them. A second row of a crate is its tree made for the crumpled cloth.
//! The pairs that are found must be the same, else it ends with an error. Times are the
//! least of several rounds on a core, ms; on a busy machine they still vary.

// The engine's own files: its tree is not part of its interface.
#[allow(dead_code, unused_imports)]
#[path = "../../../crates/souple/src/contact/bvh.rs"]
mod bvh;
#[allow(dead_code, unused_imports)]
#[path = "../../../crates/souple/src/lanes/mod.rs"]
mod lanes;

use cpu_time::ThreadTime;
use obvhs::aabb::Aabb as WideBox;
use obvhs::bvh2::Bvh2;
use obvhs::ploc::{PlocBuilder, PlocSearchDistance, SortPrecision};
use parry3d::bounding_volume::Aabb;
use parry3d::math::Vector;
use parry3d::partitioning::{Bvh, BvhBuildStrategy, BvhWorkspace};

use crate::bvh::Tree;
use crate::lanes::{Instructions, Kernel, Lanes};

type Box3 = ([f32; 3], [f32; 3]);

/// Half of the distance that layers keep, as a share of an edge: by this much boxes are larger than what they hold.
const MARGIN: f32 = 0.2;
/// How often everything is timed.
const ROUNDS: usize = 9;

/// The pairs that were found: how many, and a sum that does not depend on their order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Found {
    pairs: u64,
    sum: u64,
}

impl Found {
    #[inline(always)]
    fn add(&mut self, a: u32, b: u32) {
        let key = (u64::from(a.min(b)) << 32) | u64::from(a.max(b));
        self.pairs += 1;
        self.sum = self.sum.wrapping_add((key ^ (key >> 29)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
}

/// A tree that can be timed. Boxes have the same number in all of them.
trait Peer {
    fn fit(&mut self, boxes: &[Box3]);
    fn pairs(&mut self, boxes: &[Box3]) -> Found;
}

/// Boxes are numbered in the order of the tree, as the engine stores them.
struct Souple(Tree);

struct Pairs<'a>(&'a Tree, &'a [Box3]);

impl Kernel for Pairs<'_> {
    type Output = Found;
    #[inline(always)]
    fn run<L: Lanes>(self) -> Found {
        let mut found = Found::default();
        for (i, wanted) in self.1.iter().enumerate() {
            self.0.meet::<L>(i + 1, *wanted, |j| {
                // A box of eight may hold places before `i + 1`.
                if j > i {
                    found.add(i as u32, j as u32);
                }
            });
        }
        found
    }
}

impl Peer for Souple {
    fn fit(&mut self, boxes: &[Box3]) {
        self.0.fit(boxes.len(), |i| boxes[i]);
    }

    fn pairs(&mut self, boxes: &[Box3]) -> Found {
        Instructions::detect().run(Pairs(&self.0, boxes))
    }
}

struct Parry(Bvh, BvhWorkspace);

fn parry_box((low, high): &Box3) -> Aabb {
    Aabb::new(Vector::from(*low), Vector::from(*high))
}

impl Parry {
    fn new(boxes: &[Box3]) -> Parry {
        let boxes: Vec<Aabb> = boxes.iter().map(parry_box).collect();
        Parry(Bvh::from_leaves(BvhBuildStrategy::Binned, &boxes), BvhWorkspace::default())
    }
}

impl Peer for Parry {
    fn fit(&mut self, boxes: &[Box3]) {
        for (i, b) in boxes.iter().enumerate() {
            self.0.insert_or_update_partially(parry_box(b), i as u32, 0.0);
        }
        self.0.refit_without_opt();
    }

    fn pairs(&mut self, _: &[Box3]) -> Found {
        let mut found = Found::default();
        self.0.traverse_bvtt_single_tree::<false>(&mut self.1, &mut |a, b| found.add(a, b));
        found
    }
}

struct Obvhs(Bvh2);

fn wide_box((low, high): &Box3) -> WideBox {
    WideBox::new((*low).into(), (*high).into())
}

impl Obvhs {
    fn new(boxes: &[Box3]) -> Obvhs {
        let boxes: Vec<WideBox> = boxes.iter().map(wide_box).collect();
        let all = (0..boxes.len() as u32).collect();
        let (distance, precision) = (PlocSearchDistance::Medium, SortPrecision::U64);
        let mut tree = PlocBuilder::new().build(distance, &boxes, all, precision, 0);
        tree.reorder_in_stack_traversal_order();
        tree.init_primitives_to_nodes_if_uninit();
        Obvhs(tree)
    }
}

impl Peer for Obvhs {
    fn fit(&mut self, boxes: &[Box3]) {
        for (i, b) in boxes.iter().enumerate() {
            let node = self.0.primitives_to_nodes[i] as usize;
            self.0.nodes[node].set_aabb(wide_box(b));
        }
        self.0.refit_all();
    }

    // It has no search of a tree in itself: one for each box.
    fn pairs(&mut self, boxes: &[Box3]) -> Found {
        let mut found = Found::default();
        for (i, b) in boxes.iter().enumerate() {
            self.0.aabb_traverse(wide_box(b), |tree, node| {
                let other = tree.primitive_indices[tree.nodes[node as usize].first_index as usize];
                if other > i as u32 {
                    found.add(i as u32, other);
                }
                true
            });
        }
        found
    }
}

fn least_ms<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut timed = || {
        let clock = ThreadTime::now();
        let result = work();
        (clock.elapsed().as_secs_f64() * 1e3, result)
    };
    let first = timed();
    (1..ROUNDS).fold(first, |best, _| {
        let next = timed();
        if next.0 < best.0 { next } else { best }
    })
}

/// Vertices and triangles of an OBJ file.
fn read(path: &str) -> (Vec<[f32; 3]>, Vec<[usize; 3]>) {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| stop(&format!("{path}: {e}")));
    let (mut places, mut triangles) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let kind = words.next();
        let number = |word: &str| word.split('/').next().and_then(|n| n.parse::<f32>().ok());
        let numbers: Vec<f32> = words.filter_map(number).collect();
        match (kind, &numbers[..]) {
            (Some("v"), &[x, y, z, ..]) => places.push([x, y, z]),
            // Indices are whole numbers far below 2^24, which 32 bits hold exactly.
            (Some("f"), &[a, b, c]) => triangles.push([a, b, c].map(|v| v as usize - 1)),
            _ => {}
        }
    }
    if triangles.is_empty() || triangles.iter().flatten().any(|v| *v >= places.len()) {
        stop(&format!("{path}: not a mesh of triangles"));
    }
    (places, triangles)
}

fn stop(message: &str) -> ! {
    eprintln!("{message}");
    std::process::exit(1)
}

/// Corners of the k² parts of every triangle.
fn parts(places: &[[f32; 3]], triangles: &[[usize; 3]], k: usize) -> Vec<[[f32; 3]; 3]> {
    let mut parts = Vec::with_capacity(triangles.len() * k * k);
    for &[a, b, c] in triangles {
        let at = |i: usize, j: usize| {
            let (u, v) = (i as f32 / k as f32, j as f32 / k as f32);
            [0, 1, 2].map(|d| places[a][d] * (1.0 - u - v) + places[b][d] * u + places[c][d] * v)
        };
        for i in 0..k {
            for j in 0..k - i {
                parts.push([at(i, j), at(i + 1, j), at(i, j + 1)]);
                if i + j + 1 < k {
                    parts.push([at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)]);
                }
            }
        }
    }
    parts
}

/// A box around corners, larger by a margin on all sides.
fn around<'a>(corners: impl Iterator<Item = &'a [f32; 3]>, margin: f32) -> Box3 {
    let mut hull = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
    for x in corners {
        for d in 0..3 {
            hull.0[d] = hull.0[d].min(x[d] - margin);
            hull.1[d] = hull.1[d].max(x[d] + margin);
        }
    }
    hull
}

fn length([a, b]: [[f32; 3]; 2]) -> f32 {
    (0..3).map(|d| (a[d] - b[d]).powi(2)).sum::<f32>().sqrt()
}

fn compare(rest: &[[[f32; 3]; 3]], now: &[[[f32; 3]; 3]]) {
    let edge = rest.iter().map(|t| length([t[0], t[1]])).sum::<f32>() / rest.len() as f32;
    let margin = MARGIN * edge;
    let centre = |t: &[[f32; 3]; 3]| [0, 1, 2].map(|d| (t[0][d] + t[1][d] + t[2][d]) / 3.0);
    let order = bvh::order(&rest.iter().map(centre).collect::<Vec<_>>());
    for size in [8, 1] {
        let boxes = |parts: &[[[f32; 3]; 3]]| -> Vec<Box3> {
            let leaf = |ids: &[u32]| around(ids.iter().flat_map(|&i| &parts[i as usize]), margin);
            order.chunks(size).map(leaf).collect()
        };
        let (at_rest, crumpled) = (boxes(rest), boxes(now));
        let what = if size == 1 { "triangles" } else { "eights" };
        let mut expected = None;
        let mut row = |name: &str, build: Option<f64>, tree: &mut dyn Peer| {
            // From somewhere else each time, so that boxes change.
            let mut turn = 0;
            let (fit, ()) = least_ms(|| {
                turn += 1;
                tree.fit(if turn % 2 == 0 { &crumpled } else { &at_rest });
            });
            tree.fit(&crumpled);
            let (query, found) = least_ms(|| tree.pairs(&crumpled));
            if *expected.get_or_insert(found) != found {
                stop(&format!("{name} found other pairs: {found:?} and {expected:?}"));
            }
            println!(
                "| {:>7} | {what:<9} | {name:<23} | {:>8} | {fit:>8.3} | {query:>8.3} | {:>9} |",
                rest.len(),
                build.map_or("–".into(), |ms| format!("{ms:.2}")),
                found.pairs
            );
        };
        row("souple", None, &mut Souple(Tree::default()));
        let (ms, mut tree) = least_ms(|| Parry::new(&at_rest));
        row("parry3d, made at rest", Some(ms), &mut tree);
        let (ms, mut tree) = least_ms(|| Parry::new(&crumpled));
        row("parry3d, made crumpled", Some(ms), &mut tree);
        let (ms, mut tree) = least_ms(|| Obvhs::new(&at_rest));
        row("obvhs, made at rest", Some(ms), &mut tree);
        let (ms, mut tree) = least_ms(|| Obvhs::new(&crumpled));
        row("obvhs, made crumpled", Some(ms), &mut tree);
    }
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [rest, now, cuts @ ..] = &args[..] else { stop("usage: souple-trees REST.obj NOW.obj [K]...") };
    let (at_rest, triangles) = read(rest);
    let (crumpled, same) = read(now);
    if triangles != same {
        stop("the two files are not of one cloth");
    }
    println!(
        "|  number | boxes of  | tree                    | build ms |   fit ms | pairs ms |     pairs |"
    );
    println!("|{}", "---|".repeat(7));
    let cuts: Vec<usize> = cuts.iter().filter_map(|k| k.parse().ok()).filter(|k| *k > 0).collect();
    for &k in if cuts.is_empty() { &[1, 3][..] } else { &cuts } {
        compare(&parts(&at_rest, &triangles, k), &parts(&crumpled, &triangles, k));
    }
}
