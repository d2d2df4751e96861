//! Rigid relaxation: every triangle is turned as a whole, all are put together again by one sparse solve (ROH-95; Sumner and
//! Popović 2004, Sorkine and Alexa 2007).
//!
//! For each triangle the rotation R nearest to its map T from the pattern, then places with the least Σ A |T − R|². With
//! the weights A, which the thesis leaves out, both halves of a round lower E itself, so no round can make it worse; nor does going on beyond.
//! The matrix depends on the pattern alone and is factored once for any number of rounds and frames.
//!
//! By themselves such rounds get slow where what is bent spreads over many triangles. As a round is a step down the gradient of E, with the factored matrix for the second
//! derivatives, the steps before tell what that matrix leaves out (L-BFGS; Liu, Bouaziz, Kavan 2017): a round costs the same solve and gets much further. A step that does
//! not lower E is a plain round instead.

use glam::DVec3;

use super::measure::{Element, energy};
use crate::mesh::pattern_stretch::nearest_rotation;
use crate::solver::cholesky::BlockCholesky;

/// How far a round goes towards the places with the least sum, and beyond them. That sum is a parabola along the way, and nowhere below E: with any factor
/// below 2, E is no larger than it was, and what is bent over many triangles gets there in half of the rounds.
const BEYOND: f64 = 1.8;

/// Steps before that are remembered.
const REMEMBERED: usize = 8;
/// Share of what the gradient promises that a step must lower E by.
const ENOUGH: f64 = 1e-4;

/// Share of E that a round must lower it by for another one to follow.
const WORTHWHILE: f64 = 2e-4;

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
        solvable.then(|| Relaxer { cholesky, elements, used, border, pinned, springs, right: Vec::new() })
    }

    /// E, m².
    pub(super) fn energy(&self, places: &[DVec3]) -> f64 {
        energy(&self.elements, places)
    }

    /// Several rounds, or until one fails or hardly lowers E. `wanted` are the places that the border is drawn to.
    pub(super) fn rounds(&mut self, places: &mut [DVec3], wanted: &[DVec3], count: usize) {
        let mut here = self.descent(places, wanted);
        let mut steps: Vec<Step> = Vec::with_capacity(REMEMBERED);
        for _ in 0..count {
            let Some(mut way) = self.way_down(&here.gradient, &steps) else { return };
            let slope = dot(&way, &here.gradient);
            let before = places.to_vec();
            let walk = |places: &mut [DVec3], way: &[DVec3], factor: f64| {
                places.iter_mut().zip(&before).zip(way).for_each(|((p, from), w)| *p = *from + *w * factor);
            };
            walk(places, &way, if steps.is_empty() { BEYOND } else { 1.0 });
            let mut there = self.descent(places, wanted);
            let is_good = slope < 0.0 && there.energy <= here.energy + ENOUGH * slope;
            if !steps.is_empty() && !is_good {
                steps.clear();
                match self.way_down(&here.gradient, &steps) {
                    Some(plain) => way = plain,
                    None => return places.copy_from_slice(&before),
                }
                walk(places, &way, BEYOND);
                there = self.descent(places, wanted);
            }
            if !there.energy.is_finite() {
                return places.copy_from_slice(&before);
            }
            let way: Vec<DVec3> = places.iter().zip(&before).map(|(p, from)| *p - *from).collect();
            let change: Vec<DVec3> =
                there.gradient.iter().zip(&here.gradient).map(|(b, a)| *b - *a).collect();
            let curvature = dot(&way, &change);
            if curvature > 1e-12 * (dot(&way, &way) * dot(&change, &change)).sqrt() {
                if steps.len() == REMEMBERED {
                    steps.remove(0);
                }
                steps.push(Step { way, change, curvature });
            }
            let gained = here.energy - there.energy;
            here = there;
            if gained <= WORTHWHILE * here.energy {
                return;
            }
        }
    }

    /// Half of E, with what draws the border, and its derivative; 0 for what does not move.
    fn descent(&self, places: &[DVec3], wanted: &[DVec3]) -> Descent {
        let mut found = Descent { energy: 0.0, gradient: vec![DVec3::ZERO; places.len()] };
        for e in &self.elements {
            let [a, b] = e.map(places);
            let [u, v] = nearest_rotation([a, b]);
            let (a, b) = (a - u, b - v);
            found.energy += 0.5 * e.area * (a.length_squared() + b.length_squared());
            for k in 0..3 {
                found.gradient[e.corners[k] as usize] +=
                    (a * e.gradients[k].x + b * e.gradients[k].y) * e.area;
            }
        }
        for (i, spring) in self.springs.iter().enumerate() {
            let off = places[i] - wanted[i];
            found.energy += 0.5 * spring * off.length_squared();
            found.gradient[i] += off * *spring;
        }
        if self.pinned {
            found.gradient[..self.border].fill(DVec3::ZERO);
        }
        found
    }

    /// The way down from a place with that gradient, by the matrix and by what the steps before tell; nothing if it is not finite.
    fn way_down(&mut self, gradient: &[DVec3], steps: &[Step]) -> Option<Vec<DVec3>> {
        let n = gradient.len();
        let mut way: Vec<DVec3> = gradient.iter().map(|g| -*g).collect();
        let add = |to: &mut [DVec3], what: &[DVec3], factor: f64| {
            to.iter_mut().zip(what).for_each(|(a, b)| *a += *b * factor);
        };
        let mut shares = [0.0; REMEMBERED];
        for (share, step) in shares.iter_mut().zip(steps).rev() {
            *share = dot(&step.way, &way) / step.curvature;
            add(&mut way, &step.change, -*share);
        }
        self.right.clear();
        for axis in 0..3 {
            self.right.extend(way.iter().map(|w| w[axis]));
        }
        self.cholesky.solve(&mut self.right, 3);
        if self.right.iter().any(|x| !x.is_finite()) {
            return None;
        }
        let first = if self.pinned { self.border } else { 0 };
        for (i, w) in way.iter_mut().enumerate() {
            let moves = i >= first && self.used[i];
            *w = if moves {
                DVec3::new(self.right[i], self.right[n + i], self.right[2 * n + i])
            } else {
                DVec3::ZERO
            };
        }
        for (share, step) in shares.iter().zip(steps) {
            let back = dot(&step.change, &way) / step.curvature;
            add(&mut way, &step.way, share - back);
        }
        Some(way)
    }
}

/// Half of E and its derivative.
struct Descent {
    energy: f64,
    gradient: Vec<DVec3>,
}

/// A step that was made.
struct Step {
    way: Vec<DVec3>,
    /// How the gradient changed on it.
    change: Vec<DVec3>,
    /// Product of both.
    curvature: f64,
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
}
