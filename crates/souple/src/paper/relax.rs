//! Rigid relaxation: every triangle is turned as a whole, all are put together again by one sparse solve (ROH-95; Sumner and
//! Popović 2004, Sorkine and Alexa 2007).
//!
//! For each triangle the rotation R nearest to its map T from the pattern, then places with the least Σ A |T − R|². With
//! the weights A, which the thesis leaves out, both halves of a round lower E itself, so no round can make it worse; nor does going on beyond.
//! The matrix depends on the pattern alone and is factored once for any number of rounds and frames.

use glam::DVec3;

use super::measure::{Element, energy};
use crate::mesh::pattern_stretch::nearest_rotation;
use crate::solver::cholesky::BlockCholesky;

/// How far a round goes towards the places with the least sum, and beyond them. That sum is a parabola along the way, and nowhere below E: with any factor
/// below 2, E is no larger than it was, and what is bent over many triangles gets there in half of the rounds.
const BEYOND: f64 = 1.8;

/// What becomes of the border.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Hold {
    /// It stays where it is.
    Pinned,
    /// It is drawn back to where it was given by springs of this weight, as a share of what holds a vertex in the mesh.
    Drawn(f64),
}

/// One mesh, ready to be relaxed again and again.
#[derive(Debug)]
pub(super) struct Relaxer {
    cholesky: BlockCholesky<1>,
    elements: Vec<Element>,
    edges: Vec<(u32, u32)>,
    weights: Vec<f64>,
    /// Whether a triangle has the vertex.
    used: Vec<bool>,
    /// Vertices 0 to this are the border.
    border: usize,
    pinned: bool,
    /// Weight of the spring that draws each vertex of the border back.
    springs: Vec<f64>,
    right: Vec<f64>,
}

impl Relaxer {
    /// Of a mesh of `count` vertices whose first ones are the border; nothing if there is no memory or no solution.
    pub(super) fn new(elements: Vec<Element>, count: usize, border: usize, hold: Hold) -> Option<Relaxer> {
        let mut couplings: Vec<(u32, u32, f64)> = Vec::with_capacity(3 * elements.len());
        // A vertex that no triangle uses stays where it is.
        let mut diagonal = vec![0.0; count];
        for e in &elements {
            for k in 0..3 {
                let (i, j) = (e.corners[k], e.corners[(k + 1) % 3]);
                couplings.push((i.min(j), i.max(j), e.area * e.gradients[k].dot(e.gradients[(k + 1) % 3])));
                diagonal[i as usize] += e.area * e.gradients[k].length_squared();
            }
        }
        couplings.sort_by_key(|a| (a.0, a.1));
        let mut edges: Vec<(u32, u32)> = Vec::new();
        let mut weights: Vec<f64> = Vec::new();
        for (i, j, w) in couplings {
            match (edges.last(), weights.last_mut()) {
                (Some(&last), Some(sum)) if last == (i, j) => *sum += w,
                _ => {
                    edges.push((i, j));
                    weights.push(w);
                }
            }
        }
        let used = diagonal.iter().map(|d| *d > 0.0).collect();
        let springs: Vec<f64> = match hold {
            Hold::Pinned => Vec::new(),
            Hold::Drawn(share) => diagonal[..border].iter().map(|d| share * d).collect(),
        };
        diagonal.iter_mut().zip(&springs).for_each(|(d, s)| *d += s);
        diagonal.iter_mut().filter(|d| **d == 0.0).for_each(|d| *d = 1.0);
        let pinned = hold == Hold::Pinned;
        let mut cholesky = BlockCholesky::default();
        let pairs = edges.iter().zip(&weights).map(|(&(i, j), &w)| (i, j, [[w]]));
        let solvable = cholesky.learn(count, &edges)
            && cholesky.factor(diagonal.iter().map(|&d| [[d]]), pairs, |i| pinned && i < border);
        solvable.then(|| Relaxer {
            cholesky,
            elements,
            edges,
            weights,
            used,
            border,
            pinned,
            springs,
            right: Vec::new(),
        })
    }

    /// E, m².
    pub(super) fn energy(&self, places: &[DVec3]) -> f64 {
        energy(&self.elements, places)
    }

    /// Several rounds, or until one fails. `wanted` are the places that the border is drawn to.
    pub(super) fn rounds(&mut self, places: &mut [DVec3], wanted: &[DVec3], count: usize) {
        for _ in 0..count {
            if !self.round(places, wanted) {
                break;
            }
        }
    }

    /// One round. False, and nothing moved, if what comes out is not finite.
    fn round(&mut self, places: &mut [DVec3], wanted: &[DVec3]) -> bool {
        let n = places.len();
        self.right.clear();
        self.right.resize(3 * n, 0.0);
        let right = &mut self.right;
        let mut add = |i: usize, value: DVec3| {
            right[i] += value.x;
            right[n + i] += value.y;
            right[2 * n + i] += value.z;
        };
        for e in &self.elements {
            let [u, v] = nearest_rotation(e.map(places));
            for k in 0..3 {
                add(e.corners[k] as usize, (u * e.gradients[k].x + v * e.gradients[k].y) * e.area);
            }
        }
        for (i, spring) in self.springs.iter().enumerate() {
            add(i, wanted[i] * *spring);
        }
        if self.pinned {
            for (&(i, j), &w) in self.edges.iter().zip(&self.weights) {
                let (i, j) = (i as usize, j as usize);
                match (i < self.border, j < self.border) {
                    (true, false) => add(j, places[i] * -w),
                    (false, true) => add(i, places[j] * -w),
                    _ => {}
                }
            }
        }
        self.cholesky.solve(&mut self.right, 3);
        if self.right.iter().any(|x| !x.is_finite()) {
            return false;
        }
        let first = if self.pinned { self.border } else { 0 };
        for i in (first..n).filter(|&i| self.used[i]) {
            let least = DVec3::new(self.right[i], self.right[n + i], self.right[2 * n + i]);
            places[i] += (least - places[i]) * BEYOND;
        }
        true
    }
}
