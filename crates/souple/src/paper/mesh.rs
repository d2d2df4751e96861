//! Triangles of simple polygons of the pattern: Delaunay with the polygon's edges kept (ROH-97).
//!
//! A sheet is cut into regions, each a loop of vertices without any inside. Edges between regions are constraints, so
//! the constrained Delaunay triangulation of the whole is that of each region by itself: ears are cut off (Meisters
//! 1975), then edges are flipped until no circle around a triangle holds the opposite corner (Lawson 1977). Signs come
//! from exact arithmetic. Runs of vertices on one straight side are common; no triangle lies on one.
//!
//! Promises: no panic on any loop; n − 2 triangles for a simple loop of n with positive area, fewer for one that is not.

use glam::DVec2;
use robust::{Coord, incircle, orient2d};

/// Sine of an angle below which three points count as on one line.
pub(super) const STRAIGHT: f64 = 1e-7;

fn coord(p: DVec2) -> Coord<f64> {
    Coord { x: p.x, y: p.y }
}

/// Twice the signed area, exact in sign.
pub(super) fn orientation(a: DVec2, b: DVec2, c: DVec2) -> f64 {
    orient2d(coord(a), coord(b), coord(c))
}

/// Whether b is a left turn on the way from a to c, by more than rounding.
pub(super) fn turns_left(a: DVec2, b: DVec2, c: DVec2) -> bool {
    (b - a).perp_dot(c - b) > STRAIGHT * (b - a).length() * (c - b).length()
}

/// Whether b is a right turn on the way from a to c, by more than rounding.
pub(super) fn turns_right(a: DVec2, b: DVec2, c: DVec2) -> bool {
    turns_left(c, b, a)
}

/// Whether a point is in the triangle, its edges and what is as near to them as rounding included.
fn covers(t: [DVec2; 3], p: DVec2) -> bool {
    let [a, b, c] = t;
    let not_right = |a: DVec2, b: DVec2| {
        (b - a).perp_dot(p - a)
            >= -STRAIGHT * (b - a).length() * (p - a).length().max(STRAIGHT * (b - a).length())
    };
    not_right(a, b) && not_right(b, c) && not_right(c, a)
}

/// Triangulates loops again and again with the same memory.
#[derive(Debug, Default)]
pub struct Triangulator {
    next: Vec<u32>,
    previous: Vec<u32>,
    /// Quality of the ear at a vertex of the loop; below zero if it is none.
    ears: Vec<f64>,
    blockers: Vec<u32>,
    /// Corners as places in the loop.
    triangles: Vec<[u32; 3]>,
    /// Across from each corner: the triangle there, or none.
    neighbours: Vec<[u32; 3]>,
    /// (low, high, triangle, corner) of each edge.
    edges: Vec<(u32, u32, u32, u32)>,
    waiting: Vec<(u32, u32)>,
}

const NONE: u32 = u32::MAX;

impl Triangulator {
    /// Adds the triangles of a loop of vertices, counter-clockwise in the pattern.
    pub fn add(&mut self, points: &[DVec2], outline: &[u32], out: &mut Vec<[u32; 3]>) {
        let n = outline.len();
        if n < 3 {
            return;
        }
        if n == 3 {
            out.push([outline[0], outline[1], outline[2]]);
            return;
        }
        let at = |k: u32| points[outline[k as usize] as usize];
        self.cut_ears(n, at);
        self.flip(at);
        out.extend(self.triangles.iter().map(|t| t.map(|k| outline[k as usize])));
    }

    /// The same with vertices inside the loop; those in the place of another are left out.
    pub fn add_with(&mut self, points: &[DVec2], outline: &[u32], inside: &[u32], out: &mut Vec<[u32; 3]>) {
        let n = outline.len();
        if n < 3 {
            return;
        }
        let all: Vec<u32> = outline.iter().chain(inside).copied().collect();
        let at = |k: u32| points[all[k as usize] as usize];
        self.cut_ears(n, at);
        for k in n as u32..all.len() as u32 {
            self.insert(k, at);
        }
        self.flip(at);
        out.extend(self.triangles.iter().map(|t| t.map(|k| all[k as usize])));
    }

    /// Cuts the triangle that a point is in into three, or both at an edge that it is on into two.
    fn insert(&mut self, k: u32, at: impl Fn(u32) -> DVec2) {
        let p = at(k);
        let Some(t) = self.triangles.iter().position(|t| covers(t.map(&at), p)) else { return };
        let corners = self.triangles[t];
        let on = |e: usize| !turns_left(at(corners[e]), at(corners[(e + 1) % 3]), p);
        match [0, 1, 2].map(on) {
            [false, false, false] => {
                let [a, b, c] = corners;
                self.triangles[t] = [a, b, k];
                self.triangles.extend([[b, c, k], [c, a, k]]);
            }
            edges if edges.iter().filter(|on| **on).count() == 1 => {
                let e = edges.iter().position(|on| *on).unwrap_or(0);
                let [a, b, c] = [0, 1, 2].map(|o| corners[(e + o) % 3]);
                // The other triangle has the edge from b to a.
                let beyond = self.triangles.iter().enumerate().find_map(|(s, other)| {
                    let k = (0..3).find(|&k| other[k] == b && other[(k + 1) % 3] == a)?;
                    Some((s, other[(k + 2) % 3]))
                });
                let Some((s, d)) = beyond else { return };
                self.triangles[t] = [k, b, c];
                self.triangles[s] = [k, a, d];
                self.triangles.extend([[k, c, a], [k, d, b]]);
            }
            _ => {}
        }
    }

    fn cut_ears(&mut self, n: usize, at: impl Fn(u32) -> DVec2) {
        let count = n as u32;
        self.triangles.clear();
        self.next.clear();
        self.next.extend((0..count).map(|k| (k + 1) % count));
        self.previous.clear();
        self.previous.extend((0..count).map(|k| (k + count - 1) % count));
        // Only what is not a left turn can be in the way of an ear, and a vertex that is one stays one.
        self.blockers.clear();
        let blockers =
            (0..count).filter(|&k| !turns_left(at((k + count - 1) % count), at(k), at((k + 1) % count)));
        self.blockers.extend(blockers);
        self.ears.clear();
        self.ears.resize(n, -1.0);
        for k in 0..count {
            self.ears[k as usize] = self.ear(k, &at);
        }
        let mut left = n;
        let mut live = 0;
        while left > 3 {
            let (mut best, mut quality, mut k) = (NONE, 0.0, live);
            for _ in 0..left {
                if self.ears[k as usize] > quality {
                    (best, quality) = (k, self.ears[k as usize]);
                }
                k = self.next[k as usize];
            }
            if best == NONE {
                return;
            }
            let (before, after) = (self.previous[best as usize], self.next[best as usize]);
            self.triangles.push([before, best, after]);
            self.next[before as usize] = after;
            self.previous[after as usize] = before;
            live = before;
            left -= 1;
            for k in [before, after] {
                self.ears[k as usize] = self.ear(k, &at);
            }
        }
        let t = [live, self.next[live as usize], self.previous[live as usize]];
        if turns_left(at(t[0]), at(t[1]), at(t[2])) {
            self.triangles.push(t);
        }
    }

    /// How good a triangle the ear at k is, as its area over its squared sides; −1 if there is none.
    fn ear(&self, k: u32, at: impl Fn(u32) -> DVec2) -> f64 {
        let (before, after) = (self.previous[k as usize], self.next[k as usize]);
        let t = [at(before), at(k), at(after)];
        if !turns_left(t[0], t[1], t[2]) {
            return -1.0;
        }
        let in_the_way = |&b: &u32| {
            b != before
                && b != k
                && b != after
                // Cut off already: its neighbours no longer know it.
                && self.next[self.previous[b as usize] as usize] == b
                && covers(t, at(b))
        };
        if self.blockers.iter().any(in_the_way) {
            return -1.0;
        }
        let sides = t[0].distance_squared(t[1]) + t[1].distance_squared(t[2]) + t[2].distance_squared(t[0]);
        (t[1] - t[0]).perp_dot(t[2] - t[0]) / sides
    }

    fn flip(&mut self, at: impl Fn(u32) -> DVec2) {
        self.neighbours.clear();
        self.neighbours.resize(self.triangles.len(), [NONE; 3]);
        self.edges.clear();
        for (t, corners) in (0u32..).zip(&self.triangles) {
            for c in 0..3 {
                let (a, b) = (corners[(c + 1) % 3], corners[(c + 2) % 3]);
                self.edges.push((a.min(b), a.max(b), t, c as u32));
            }
        }
        self.edges.sort_unstable();
        for pair in self.edges.windows(2) {
            let ((a, b, t, c), (d, e, s, k)) = (pair[0], pair[1]);
            if (a, b) == (d, e) {
                self.neighbours[t as usize][c as usize] = s;
                self.neighbours[s as usize][k as usize] = t;
            }
        }
        self.waiting.clear();
        let inner = |&&(_, _, t, c): &&(u32, u32, u32, u32)| self.neighbours[t as usize][c as usize] > t;
        self.waiting.extend(self.edges.iter().filter(inner).map(|&(_, _, t, c)| (t, c)));
        // Flips end by themselves; a bound in case rounding of the turns makes them go round.
        let mut budget = 16 * self.triangles.len() * self.triangles.len();
        while let Some((t, c)) = self.waiting.pop() {
            if budget == 0 {
                return;
            }
            budget -= 1;
            self.flip_one(t, c, &at);
        }
    }

    fn flip_one(&mut self, t: u32, c: u32, at: impl Fn(u32) -> DVec2) {
        let (ti, ci) = (t as usize, c as usize);
        let s = self.neighbours[ti][ci];
        if s == NONE {
            return;
        }
        let si = s as usize;
        let Some(k) = self.neighbours[si].iter().position(|&n| n == t) else { return };
        let [p, a, b] = [0, 1, 2].map(|o| self.triangles[ti][(ci + o) % 3]);
        let q = self.triangles[si][k];
        let (pp, pa, pb, pq) = (at(p), at(a), at(b), at(q));
        let flippable = turns_left(pp, pa, pq) && turns_left(pq, pb, pp);
        if !flippable || incircle(coord(pp), coord(pa), coord(pb), coord(pq)) <= 0.0 {
            return;
        }
        // t = p a b and s = q b a become p a q and q b p.
        let (across_a, across_b) = (self.neighbours[ti][(ci + 1) % 3], self.neighbours[ti][(ci + 2) % 3]);
        let (beyond_b, beyond_a) = (self.neighbours[si][(k + 1) % 3], self.neighbours[si][(k + 2) % 3]);
        self.triangles[ti] = [p, a, q];
        self.triangles[si] = [q, b, p];
        // Across from p in t is the edge a q, which s had across from b; and so on.
        self.neighbours[ti] = [beyond_b, s, across_b];
        self.neighbours[si] = [across_a, t, beyond_a];
        for (of, old, new) in [(beyond_b, s, t), (across_a, t, s)] {
            if of != NONE {
                self.neighbours[of as usize].iter_mut().filter(|n| **n == old).for_each(|n| *n = new);
            }
        }
        self.waiting.extend([(t, 0), (t, 2), (s, 0), (s, 2)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{cos, sin};

    fn triangulate(points: &[DVec2]) -> Vec<[u32; 3]> {
        let outline: Vec<u32> = (0..points.len() as u32).collect();
        let mut out = Vec::new();
        Triangulator::default().add(points, &outline, &mut out);
        out
    }

    fn area(points: &[DVec2], triangles: &[[u32; 3]]) -> f64 {
        let corner = |v: u32| points[v as usize];
        triangles
            .iter()
            .map(|t| 0.5 * (corner(t[1]) - corner(t[0])).perp_dot(corner(t[2]) - corner(t[0])))
            .sum()
    }

    /// A polygon with `n` points on each side.
    fn with_points_on_sides(corners: &[DVec2], n: usize) -> Vec<DVec2> {
        let next = corners.iter().cycle().skip(1);
        let sides = corners.iter().zip(next);
        sides.flat_map(|(a, b)| (0..n).map(move |k| a.lerp(*b, k as f64 / n as f64))).collect()
    }

    fn check(points: &[DVec2], expected_area: f64) {
        let triangles = triangulate(points);
        assert_eq!(triangles.len(), points.len() - 2);
        assert!((area(points, &triangles) - expected_area).abs() < 1e-12 * expected_area);
        for t in &triangles {
            let [a, b, c] = t.map(|v| points[v as usize]);
            assert!(turns_left(a, b, c), "a triangle without area: {t:?}");
        }
        // The law of Delaunay for a convex polygon: no point in the circle around any triangle.
        let convex = (0..points.len()).all(|k| {
            let n = points.len();
            orientation(points[k], points[(k + 1) % n], points[(k + 2) % n]) >= 0.0
        });
        if convex {
            for t in &triangles {
                let [a, b, c] = t.map(|v| coord(points[v as usize]));
                let inside = points.iter().map(|p| incircle(a, b, c, coord(*p))).fold(0.0, f64::max);
                assert!(inside <= 1e-10, "{t:?} {inside}");
            }
        }
    }

    #[test]
    fn rectangles_with_points_on_their_sides() {
        let corners = [DVec2::ZERO, DVec2::new(0.297, 0.0), DVec2::new(0.297, 0.21), DVec2::new(0.0, 0.21)];
        for n in [1, 2, 3, 10, 31] {
            check(&with_points_on_sides(&corners, n), 0.297 * 0.21);
        }
    }

    #[test]
    fn triangles_turned_and_with_points_on_their_sides() {
        let corners = [0.3f64, 2.5, 4.4].map(|angle| DVec2::new(cos(angle), sin(angle)));
        let whole = 0.5 * (corners[1] - corners[0]).perp_dot(corners[2] - corners[0]);
        for n in 1..12 {
            check(&with_points_on_sides(&corners, n), whole);
        }
    }

    #[test]
    fn polygons_that_are_not_convex() {
        let star: Vec<DVec2> = (0..14)
            .map(|k| {
                let angle = k as f64 / 14.0 * std::f64::consts::TAU;
                DVec2::new(cos(angle), sin(angle)) * if k % 2 == 0 { 1.0 } else { 0.35 }
            })
            .collect();
        let whole = 7.0 * 0.35 * sin(std::f64::consts::TAU / 14.0);
        for n in 1..7 {
            check(&with_points_on_sides(&star, n), whole);
        }
        let comb = [
            (0.0, 0.0),
            (5.0, 0.0),
            (5.0, 3.0),
            (4.0, 3.0),
            (4.0, 1.0),
            (3.0, 1.0),
            (3.0, 3.0),
            (2.0, 3.0),
            (2.0, 1.0),
            (1.0, 1.0),
            (1.0, 3.0),
            (0.0, 3.0),
        ]
        .map(|(x, y)| DVec2::new(x, y));
        for n in 1..7 {
            check(&with_points_on_sides(&comb, n), 11.0);
        }
    }

    #[test]
    fn loops_that_are_none_give_no_panic() {
        assert!(triangulate(&[]).is_empty());
        assert!(triangulate(&[DVec2::ZERO; 5]).is_empty());
        assert!(triangulate(&[0.0, 1.0, 2.0, 3.0].map(|x| DVec2::new(x, 0.0))).is_empty());
        triangulate(&[(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)].map(|(x, y)| DVec2::new(x, y)));
    }
}
