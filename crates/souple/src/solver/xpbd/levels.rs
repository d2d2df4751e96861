//! Coarse levels: the same cloth with ever fewer vertices, so that a pull travels far in one sweep.
//!
//! A level keeps a quarter of the vertices of the one below: no two are neighbours, each that is left out has one
//! that is kept beside it (a maximal independent set, as in algebraic multigrid). A left-out vertex takes its motion from its
//! kept neighbours, by weights that reproduce its place at rest (P); a kept one stands for the mass-weighted mean of those
//! it moves (R = M_c⁻¹ Pᵀ M, so momentum is kept). On a grid that is bilinear interpolation; nothing else is asked
//! of a mesh than its edges, so garments, tubes, ropes and torn pieces need nothing of their own.
//!
//! Links of a level join means whose parts are neighbours and only resist being longer than at rest: no isometry takes
//! two means further apart, but folds bring them together. Between means of a curved shape the rest length is that of the
//! arc, and what the cloth may stretch by itself is added (`softness.rs`).
//! Supports are kept on all levels and move as they do.

use glam::DVec3;

use super::links::{Link, LinkSet};
use crate::lanes::{Instructions, Point};
use crate::mesh::{Rows, neighbours};
use crate::parallel::Parallel;

/// A level below this many vertices is not made coarser.
const FEWEST: usize = 24;
/// Most levels.
const MOST: usize = 10;

/// Rows of a sparse matrix.
#[derive(Clone, Debug, Default, PartialEq)]
struct Sparse {
    start: Vec<u32>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    column: u32,
    weight: f32,
}

impl Sparse {
    /// From (row, column, weight), in ascending order of rows.
    fn new(rows: usize, entries: &[(u32, u32, f64)]) -> Sparse {
        let mut start = vec![0u32; rows + 1];
        entries.iter().for_each(|e| start[e.0 as usize + 1] += 1);
        for r in 0..rows {
            start[r + 1] += start[r];
        }
        let entries = entries.iter().map(|e| Entry { column: e.1, weight: e.2 as f32 }).collect();
        Sparse { start, entries }
    }

    /// The columns and weights of one row.
    fn row(&self, r: usize) -> impl Iterator<Item = (usize, f32)> {
        let range = self.start[r] as usize..self.start[r + 1] as usize;
        self.entries[range].iter().map(|e| (e.column as usize, e.weight))
    }

    /// Calls `f` with the weighted sum of `of` for each row from `first` on.
    #[inline(always)]
    fn sums<T>(&self, first: usize, of: &[Point], rows: &mut [T], f: impl Fn(usize, &mut T, Point)) {
        let mut begin = self.start[first] as usize;
        for (k, (row, &end)) in rows.iter_mut().zip(&self.start[first + 1..]).enumerate() {
            let mut sum = [0.0f32; 4];
            for e in &self.entries[begin..end as usize] {
                let p = &of[e.column as usize];
                for c in 0..4 {
                    sum[c] += e.weight * p[c];
                }
            }
            begin = end as usize;
            f(k, row, sum);
        }
    }
}

/// A graph with places and masses: the cloth, or a level of it.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// Places at rest, m.
    pub rest: Vec<DVec3>,
    /// Unit normals at rest, or zero where there is none.
    pub normals: Vec<DVec3>,
    /// Masses, kg.
    pub masses: Vec<f64>,
    /// Strain that links leave to the cloth itself.
    pub slack: Vec<f64>,
    /// Which are supported.
    pub held: Vec<bool>,
    /// Pairs of neighbours, each once, sorted.
    pub edges: Vec<(u32, u32)>,
}

/// One level, and how it hangs together with the one below.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Links between its vertices.
    pub links: LinkSet,
    /// Displacements since the frame began, m, and inverse masses.
    pub displacements: Vec<Point>,
    /// The same before the links were visited.
    before: Vec<Point>,
    /// P: from vertices of this level to those below.
    prolongation: Sparse,
    /// R: from vertices below to those of this level.
    restriction: Sparse,
    /// Places when the frame began, m.
    places: Vec<DVec3>,
    /// Inverse masses of free vertices, 1/kg; 0 for supports.
    inverse_masses: Vec<f32>,
    /// Share of each that is free to move: contact may hold some of the vertices it stands for.
    pub mobility: Vec<f32>,
}

/// All levels of a body, the finest first.
pub fn build(graph: &Graph) -> Vec<Level> {
    let mut levels = Vec::new();
    let mut graph = graph.clone();
    while levels.len() < MOST && graph.rest.len() > FEWEST {
        let (coarse, level) = coarsen(&graph);
        // A graph without edges, or of supports alone, gets no smaller.
        if coarse.rest.len() * 10 > graph.rest.len() * 9 || coarse.edges.is_empty() {
            break;
        }
        levels.push(level);
        graph = coarse;
    }
    levels
}

fn coarsen(graph: &Graph) -> (Graph, Level) {
    let n = graph.rest.len();
    let around = neighbours(n, &graph.edges);
    let (kept, number) = choose(graph, &around);
    let count = kept.len();

    // P, row by row.
    let mut entries: Vec<(u32, u32, f64)> = Vec::new();
    let mut rows: Vec<std::ops::Range<usize>> = Vec::with_capacity(n);
    let mut beside = Vec::new();
    let mut weigher = Weigher::default();
    for i in 0..n {
        let begin = entries.len();
        if number[i] != u32::MAX {
            entries.push((i as u32, number[i], 1.0));
        } else {
            beside.clear();
            beside.extend(around.row(i).iter().copied().filter(|&j| number[j as usize] != u32::MAX));
            let weights = weigher.reproducing(graph.rest[i], &graph.rest, &beside);
            let found = beside.iter().zip(weights).filter(|(_, w)| **w > 0.0);
            entries.extend(found.map(|(&j, &w)| (i as u32, number[j as usize], w)));
        }
        rows.push(begin..entries.len());
    }

    // Masses and means. What a support would move does not move with it.
    let held: Vec<bool> = kept.iter().map(|&k| graph.held[k as usize]).collect();
    let (mut masses, mut rest) = (vec![0.0; count], vec![DVec3::ZERO; count]);
    let (mut normals, mut slack) = (vec![DVec3::ZERO; count], vec![0.0; count]);
    for &(i, c, w) in entries.iter().filter(|e| !graph.held[e.0 as usize] && !held[e.1 as usize]) {
        let share = w * graph.masses[i as usize];
        masses[c as usize] += share;
        rest[c as usize] += graph.rest[i as usize] * share;
        normals[c as usize] += graph.normals[i as usize] * share;
        slack[c as usize] += graph.slack[i as usize] * share;
    }
    for c in 0..count {
        if held[c] {
            rest[c] = graph.rest[kept[c] as usize];
            normals[c] = graph.normals[kept[c] as usize];
            slack[c] = graph.slack[kept[c] as usize];
        } else {
            rest[c] /= masses[c];
            slack[c] /= masses[c];
            normals[c] = normals[c].normalize_or_zero();
        }
    }
    // Pᵀ: the numbers of the entries of each mean.
    let parts = Rows::from_pairs(count, entries.iter().zip(0u32..).map(|(e, k)| (e.1, k)));
    let mut means: Vec<(u32, u32, f64)> = Vec::with_capacity(entries.len());
    for c in 0..count {
        let share = |&k: &u32| {
            let (i, _, w) = entries[k as usize];
            match (held[c], graph.held[i as usize]) {
                (true, _) => (i == kept[c]).then_some((c as u32, i, 1.0)),
                (false, true) => None,
                (false, false) => Some((c as u32, i, w * graph.masses[i as usize] / masses[c])),
            }
        };
        means.extend(parts.row(c).iter().filter_map(share));
    }
    let restriction = Sparse::new(count, &means);

    // Two means are joined if any of their parts are neighbours. Each is listed once, with the lower number first.
    let mut edges: Vec<(u32, u32)> = Vec::new();
    let mut listed_for = vec![u32::MAX; count];
    for a in 0..count as u32 {
        let begin = edges.len();
        for &k in parts.row(a as usize) {
            for &j in around.row(entries[k as usize].0 as usize) {
                for &(_, b, _) in &entries[rows[j as usize].clone()] {
                    let both_held = held[a as usize] && held[b as usize];
                    if b > a && !both_held && std::mem::replace(&mut listed_for[b as usize], a) != a {
                        edges.push((a, b));
                    }
                }
            }
        }
        edges[begin..].sort_unstable();
    }

    let coarse = Graph { rest, normals, masses, slack, held, edges };
    let length = |a: usize, b: usize| {
        // A mean can be as far from a support as its parts are on average: further than the mean at rest.
        let spread = |mean: usize, support: usize| -> f64 {
            let part = |(i, w): (usize, f32)| f64::from(w) * graph.rest[i].distance(coarse.rest[support]);
            restriction.row(mean).map(part).sum()
        };
        let chord = coarse.rest[a].distance(coarse.rest[b]);
        let chord = match (coarse.held[a], coarse.held[b]) {
            (true, false) => chord.max(spread(b, a)),
            (false, true) => chord.max(spread(a, b)),
            _ => chord,
        };
        let arc =
            chord * arc_over_chord(coarse.rest[b] - coarse.rest[a], coarse.normals[a], coarse.normals[b]);
        arc * (1.0 + coarse.slack[a].max(coarse.slack[b]))
    };
    let links: Vec<Link> = coarse
        .edges
        .iter()
        .map(|&(i, j)| Link {
            i,
            j,
            rest_length: length(i as usize, j as usize),
            compliance: 0.0,
            range: (0.0, f64::INFINITY),
            border: false,
            later: 0.0,
        })
        .collect();
    let inverse = |c: usize| if coarse.held[c] { 0.0 } else { (1.0 / coarse.masses[c]) as f32 };
    let displacements: Vec<Point> = (0..count).map(|c| [0.0, 0.0, 0.0, inverse(c)]).collect();
    let level = Level {
        links: LinkSet::new(count, &links),
        before: displacements.clone(),
        displacements,
        prolongation: Sparse::new(n, &entries),
        restriction,
        places: vec![DVec3::ZERO; count],
        inverse_masses: (0..count).map(inverse).collect(),
        mobility: vec![1.0; count],
    };
    (coarse, level)
}

/// Which vertices are kept, and the new number of each or `u32::MAX`. Supports first, then those of many neighbours: on a grid
/// with alternating diagonals that finds every second vertex of every second row.
fn choose(graph: &Graph, around: &Rows) -> (Vec<u32>, Vec<u32>) {
    let n = graph.rest.len();
    // A number sorts faster than a tuple: supports before others, many neighbours before few, then as they are numbered.
    let rank = |i: u32| {
        let few = u64::from(u32::MAX >> 1) - around.row(i as usize).len() as u64;
        (u64::from(!graph.held[i as usize]) << 63) | (few << 32) | u64::from(i)
    };
    let mut order: Vec<u64> = (0..n as u32).map(rank).collect();
    order.sort_unstable();
    let mut covered = vec![false; n];
    let mut keep = vec![false; n];
    for i in order.into_iter().map(|rank| rank as u32) {
        if graph.held[i as usize] || !covered[i as usize] {
            keep[i as usize] = true;
            around.row(i as usize).iter().for_each(|&j| covered[j as usize] = true);
        }
    }
    let kept: Vec<u32> = (0..n as u32).filter(|&i| keep[i as usize]).collect();
    let mut number = vec![u32::MAX; n];
    kept.iter().zip(0u32..).for_each(|(&k, new)| number[k as usize] = new);
    (kept, number)
}

/// Finds weights; keeps its memory between calls.
#[derive(Debug, Default)]
struct Weigher {
    used: Vec<usize>,
    arms: Vec<DVec3>,
    /// n rows of n + 1 numbers.
    matrix: Vec<f64>,
    solved: Vec<f64>,
    weights: Vec<f64>,
}

impl Weigher {
    /// Weights, not negative and 1 in sum, whose mean of places comes closest to `x`; the most even of those.
    fn reproducing(&mut self, x: DVec3, places: &[DVec3], of: &[u32]) -> &[f64] {
        self.weights.clear();
        self.weights.resize(of.len(), 0.0);
        self.used.clear();
        self.used.extend(0..of.len());
        while !self.used.is_empty() {
            self.arms.clear();
            self.arms.extend(self.used.iter().map(|&k| places[of[k] as usize] - x));
            self.most_even();
            let solved = &self.solved;
            let lowest = (0..solved.len()).min_by(|&a, &b| solved[a].total_cmp(&solved[b])).unwrap_or(0);
            if solved.len() > 1 && solved[lowest] <= 1e-6 {
                self.used.remove(lowest);
                continue;
            }
            self.used.iter().zip(solved).for_each(|(&k, w)| self.weights[k] = *w);
            break;
        }
        &self.weights
    }

    /// Minimises |Σ w a|² + ε Σ w² for Σ w = 1, with arms in units of their mean length: (A Aᵀ + ε I) w ∝ 1.
    fn most_even(&mut self) {
        const EVEN: f64 = 1e-3;
        let Weigher { arms, matrix, solved, .. } = self;
        let n = arms.len();
        let scale = arms.iter().map(|a| a.length_squared()).sum::<f64>() / n as f64;
        let scale = if scale > 0.0 { scale } else { 1.0 };
        matrix.clear();
        for i in 0..n {
            matrix.extend((0..n).map(|j| arms[i].dot(arms[j]) / scale + if i == j { EVEN } else { 0.0 }));
            matrix.push(1.0);
        }
        // Gauss and Jordan; the matrix is positive definite, so no pivot is needed.
        let at = |r: usize, c: usize| r * (n + 1) + c;
        for i in 0..n {
            for r in (0..n).filter(|r| *r != i) {
                let factor = matrix[at(r, i)] / matrix[at(i, i)];
                for c in 0..=n {
                    matrix[at(r, c)] -= factor * matrix[at(i, c)];
                }
            }
        }
        solved.clear();
        solved.extend((0..n).map(|i| matrix[at(i, n)] / matrix[at(i, i)]));
        let sum: f64 = solved.iter().sum();
        solved.iter_mut().for_each(|w| *w /= sum);
    }
}

/// Length of a circular arc over its chord, from the normals at its ends: (θ/2) / sin(θ/2), with θ the turn of the normal
/// in the plane of the chord.
fn arc_over_chord(chord: DVec3, normal_a: DVec3, normal_b: DVec3) -> f64 {
    let length = chord.length();
    if length <= 0.0 {
        return 1.0;
    }
    // sin(θ/2) = half the change of the normals along the chord; asin(s)/s by its series, good to 1e-3 up to a right angle.
    let s = (0.5 * (normal_b - normal_a).dot(chord / length)).abs().min(1.0);
    let s2 = s * s;
    1.0 + s2 * (1.0 / 6.0 + s2 * (3.0 / 40.0 + s2 * (15.0 / 336.0 + s2 * 105.0 / 3456.0)))
}

impl Level {
    /// Takes the places of the means from those of the level below when the frame begins, m. All are free to move.
    pub fn begin_frame(&mut self, parallel: &Parallel, below: &[DVec3]) {
        let restriction = &self.restriction;
        parallel.blocks(&mut self.places, |start, block| {
            for (place, c) in block.iter_mut().zip(start..) {
                *place = restriction.row(c).map(|(i, w)| below[i] * f64::from(w)).sum();
            }
        });
        for (point, w) in self.displacements.iter_mut().zip(&self.inverse_masses) {
            point[3] = *w;
        }
        self.mobility.fill(1.0);
        self.links.begin_frame(parallel, Instructions::detect(), &self.places, &[]);
    }

    /// Takes what of the means is free to move from what is below: one that contact holds is as heavy as what holds it.
    pub fn hold(&mut self, mobility_below: &[f32]) {
        for c in 0..self.mobility.len() {
            self.mobility[c] = self.restriction.row(c).map(|(i, w)| mobility_below[i] * w).sum();
            self.displacements[c][3] = self.inverse_masses[c] * self.mobility[c];
        }
    }

    /// Places of the means when the frame began, m.
    pub fn places(&self) -> &[DVec3] {
        &self.places
    }

    /// Means of the displacements of the level below.
    pub fn restrict(&mut self, parallel: &Parallel, below: &[Point]) {
        let restriction = &self.restriction;
        parallel.blocks(&mut self.displacements, |start, block| {
            restriction.sums(start, below, block, |_, mean, [x, y, z, _]| *mean = [x, y, z, mean[3]]);
        });
        self.before.copy_from_slice(&self.displacements);
    }

    /// Hands what the means have moved down to the level below, as far as that is free to move.
    pub fn prolong(&mut self, parallel: &Parallel, below: &mut [Point], mobility_below: &[f32]) {
        let Level { displacements, before, prolongation, .. } = self;
        // From here on `before` is the move.
        parallel.blocks(before, |start, block| {
            for (k, moved) in block.iter_mut().enumerate() {
                let now = &displacements[start + k];
                for c in 0..4 {
                    moved[c] = now[c] - moved[c];
                }
            }
        });
        let moves = &before[..];
        parallel.blocks(below, |start, block| {
            // Only supports have weights of supports, which do not move here; the inverse mass has no move either.
            prolongation.sums(start, moves, block, |k, point, moved| {
                let free = mobility_below[start + k];
                for c in 0..4 {
                    point[c] += moved[c] * free;
                }
            });
        });
    }
}
