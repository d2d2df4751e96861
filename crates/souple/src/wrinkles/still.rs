//! A mesh along the folds of a still frame (ROH-85): vertices on their crests, small triangles beside them, the coarse ones where there are none.
//!
//! The thesis removes the triangles near curves, inserts the vertices of curves and fills the holes by constrained Delaunay triangles in the pattern. A pattern here is triangles glued edge to
//! edge, so each is filled by itself: points on its edges, which it shares with its neighbours, points of curves, then points of a lattice wherever none is near. Points of
//! curves are nearer to each other than to any other, so that Delaunay's triangles have the curves as edges.
//!
//! For one picture or one file. From frame to frame curves move, and so would all vertices: animations have the fixed mesh of `fine.rs`.

use glam::DVec2;

use super::fine::FineMesh;
use super::fold::REACH;
use super::pattern::{Pattern, Point, Walk, point_segment};
use super::track::Folds;
use crate::paper::Triangulator;

/// Triangles nearer to a curve than so many smallest radii are cut, as in the thesis.
const NEAR: f64 = 4.0;
/// Points of curves are not nearer to each other, and to edges of triangles, than this share of the length of fine edges.
const APART: f64 = 0.4;
/// Other points are not nearer to points of curves.
const BESIDE: f64 = 0.75;

/// Pieces of folds in the charts of the triangles that they reach.
struct Crests {
    /// By triangle: ends of each piece, m; none of triangles that stay whole.
    pieces: Vec<Vec<[DVec2; 2]>>,
}

impl Crests {
    fn new(pattern: &Pattern, folds: &Folds, smallest_radius: f64) -> Crests {
        let mut pieces = vec![Vec::new(); pattern.triangles.len()];
        let mut walk = Walk::default();
        for curve in &folds.curves {
            let knots = &curve.knots;
            let closing = curve.ring.then(|| knots.last().zip(knots.first())).flatten();
            for (a, b) in knots.windows(2).map(|pair| (&pair[0], &pair[1])).chain(closing) {
                let Some(way) = walk.vector(pattern, a.at, b.at, 4.0 * smallest_radius) else { continue };
                let reach = (REACH * a.half_width.max(b.half_width)).max(NEAR * smallest_radius);
                walk.around_segment(pattern, a.at, a.at.p + way, reach, |triangle, glide| {
                    pieces[triangle as usize].push([glide.apply(a.at.p), glide.apply(a.at.p + way)]);
                    false
                });
            }
        }
        Crests { pieces }
    }
}

/// Where two segments cross, as a share of the first.
fn crossing([a, b]: [DVec2; 2], [c, d]: [DVec2; 2]) -> Option<f64> {
    let (e, f) = (b - a, d - c);
    let turn = e.perp_dot(f);
    let (s, t) = ((c - a).perp_dot(f) / turn, (c - a).perp_dot(e) / turn);
    ((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)).then_some(s)
}

/// Shares of an edge, ascending, at which it is cut: where folds cross it, and evenly in between.
fn cuts(ends: [DVec2; 2], pieces: &[[DVec2; 2]], edge: f64) -> Vec<f64> {
    let length = ends[0].distance(ends[1]);
    let apart = APART * edge / length;
    let mut found: Vec<f64> = pieces.iter().filter_map(|piece| crossing(ends, *piece)).collect();
    found.sort_by(f64::total_cmp);
    found.retain(|s| *s > apart && *s < 1.0 - apart);
    found.dedup_by(|b, a| *b - *a < apart);
    let count = (length / edge).ceil().max(1.0) as u32;
    let even = (1..count).map(|k| f64::from(k) / f64::from(count));
    let beside = BESIDE * edge / length;
    let free: Vec<f64> = even.filter(|s| found.iter().all(|f| (s - f).abs() > beside)).collect();
    found.extend(free);
    found.sort_by(f64::total_cmp);
    found
}

/// Points inside a triangle: of folds, then of a lattice.
fn inner(corners: &[DVec2; 3], pieces: &[[DVec2; 2]], edge: f64) -> Vec<DVec2> {
    let depth = |p: DVec2| {
        let off = |k: usize| {
            let (a, b) = (corners[k], corners[(k + 1) % 3]);
            (b - a).perp_dot(p - a) / a.distance(b)
        };
        off(0).min(off(1)).min(off(2))
    };
    let far = |points: &[DVec2], p: DVec2, distance: f64| points.iter().all(|q| q.distance(p) > distance);
    let mut points: Vec<DVec2> = Vec::new();
    for [a, b] in pieces {
        let count = (a.distance(*b) / (0.5 * edge)).ceil().max(1.0) as u32;
        for k in 0..=count {
            let p = a.lerp(*b, f64::from(k) / f64::from(count));
            if depth(p) > APART * edge && far(&points, p, APART * edge) {
                points.push(p);
            }
        }
    }
    let crests = points.len();
    let longest = (0..3).map(|k| corners[k].distance(corners[(k + 1) % 3])).fold(0.0, f64::max);
    let n = (longest / edge).ceil().max(1.0) as u32;
    for i in 1..n {
        for j in 1..n - i {
            let (b, c) = (f64::from(i) / f64::from(n), f64::from(j) / f64::from(n));
            let p = corners[0] * (1.0 - b - c) + corners[1] * b + corners[2] * c;
            let clear = |[a, b]: &[DVec2; 2]| point_segment(p, *a, *b).0.sqrt() > BESIDE * edge;
            if depth(p) > APART * edge && far(&points[..crests], p, BESIDE * edge) && pieces.iter().all(clear)
            {
                points.push(p);
            }
        }
    }
    points
}

impl FineMesh {
    /// A mesh along folds, with edges of about `edge` (m) near them. It is cut into no equal pieces: for drawing, not for measuring.
    pub fn along_folds(pattern: &Pattern, folds: &Folds, smallest_radius: f64, edge: f64) -> FineMesh {
        let crests = Crests::new(pattern, folds, smallest_radius);
        let coarse = pattern.home.len();
        let mut mesh = FineMesh { pieces: 0, ..FineMesh::default() };
        mesh.shares.extend((0..coarse as u32).map(|v| ([v; 3], [1.0, 0.0, 0.0])));
        mesh.at.extend((0..coarse).map(|v| pattern.at_vertex(v).unwrap_or_default()));
        let mut owner: Vec<u32> = (0..coarse).map(|v| pattern.home[v].map_or(0, |(t, _)| t)).collect();
        // Of each side of each triangle, the vertices in between, from its first corner on.
        let mut sides: Vec<[Vec<u32>; 3]> = vec![Default::default(); pattern.triangles.len()];
        for (t, v) in (0u32..).zip(&pattern.triangles) {
            for k in 0..3usize {
                let across = pattern.across[t as usize][k];
                if across.is_some_and(|other| (other.triangle, usize::from(other.edge)) < (t, k)) {
                    continue;
                }
                let touched = |t: u32| !crests.pieces[t as usize].is_empty();
                if !touched(t) && !across.is_some_and(|other| touched(other.triangle)) {
                    continue;
                }
                let corners = &pattern.corners[t as usize];
                let ends = [corners[k], corners[(k + 1) % 3]];
                let first = mesh.shares.len() as u32;
                for share in cuts(ends, &crests.pieces[t as usize], edge) {
                    let (i, j) = (v[k], v[(k + 1) % 3]);
                    mesh.shares.push(([i, j, i], [1.0 - share, share, 0.0]));
                    mesh.at.push(Point { triangle: t, p: ends[0].lerp(ends[1], share) });
                    owner.push(t);
                }
                let between: Vec<u32> = (first..mesh.shares.len() as u32).collect();
                if let Some(other) = across {
                    // The other triangle goes along the edge the other way.
                    sides[other.triangle as usize][usize::from(other.edge)] =
                        between.iter().rev().copied().collect();
                }
                sides[t as usize][k] = between;
            }
        }
        let mut triangulator = Triangulator::default();
        let mut flat: Vec<DVec2> = vec![DVec2::ZERO; mesh.shares.len()];
        for (t, v) in (0u32..).zip(&pattern.triangles) {
            let corners = &pattern.corners[t as usize];
            let mut outline: Vec<u32> = Vec::new();
            for k in 0..3 {
                outline.push(v[k]);
                flat[v[k] as usize] = corners[k];
                outline.extend(&sides[t as usize][k]);
                for &w in &sides[t as usize][k] {
                    let (of, shares) = &mesh.shares[w as usize];
                    let share = if of[0] == v[k] { shares[1] } else { shares[0] };
                    flat[w as usize] = corners[k].lerp(corners[(k + 1) % 3], share);
                }
            }
            let pieces = &crests.pieces[t as usize];
            let points = if pieces.is_empty() { Vec::new() } else { inner(corners, pieces, edge) };
            let first = mesh.shares.len() as u32;
            for p in points {
                let point = Point { triangle: t, p };
                mesh.shares.push((*v, pattern.shares(point)));
                mesh.at.push(point);
                owner.push(t);
                flat.push(p);
            }
            let inside: Vec<u32> = (first..mesh.shares.len() as u32).collect();
            triangulator.add_with(&flat, &outline, &inside, &mut mesh.triangles);
        }
        mesh.own(&owner, pattern.triangles.len());
        mesh
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::wrinkles::tests::{sheet, tube, wrinkles};
    use crate::wrinkles::{Projector, Tracker, Wrinkles};

    /// How often each edge has a triangle at its most, and how many have one alone.
    fn edges(triangles: &[[u32; 3]]) -> (usize, usize) {
        let mut sides: Vec<(u32, u32)> = triangles
            .iter()
            .flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])])
            .map(|(a, b)| (a.min(b), a.max(b)))
            .collect();
        sides.sort_unstable();
        let runs: Vec<usize> = sides.chunk_by(|a, b| a == b).map(<[_]>::len).collect();
        (runs.iter().copied().max().unwrap_or(0), runs.iter().filter(|n| **n == 1).count())
    }

    fn check(w: &Wrinkles, rest: &[DVec3], places: &[DVec3], radius: f64) -> (FineMesh, Vec<DVec3>) {
        let folds = w.settled(&mut Tracker::default(), places);
        assert!(!folds.curves.is_empty());
        let mesh = FineMesh::along_folds(&w.pattern, &folds, radius, 0.5 * radius);
        // The same surface: its area, every triangle the same way round, no edge with three, no crack.
        let at: Vec<DVec3> = (0..mesh.shares.len()).map(|v| mesh.mixed(v, rest)).collect();
        let normal = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| at[v as usize]);
            0.5 * (b - a).cross(c - a).length()
        };
        let area: f64 = mesh.triangles.iter().map(normal).sum();
        assert!((area / w.pattern.area() - 1.0).abs() < 1e-9, "{area}");
        assert!(mesh.triangles.iter().all(|t| normal(t) > 0.0));
        let uniform = edges(&w.fine.triangles).1;
        let (most, open) = edges(&mesh.triangles);
        assert_eq!(most, 2);
        assert!(open <= uniform, "{open} {uniform}");
        // Every visible point of a crest has a vertex beside it.
        for knot in folds.curves.iter().flat_map(|c| &c.knots) {
            let p = w.pattern.place(knot.at, rest);
            let nearest = at.iter().map(|q| q.distance(p)).fold(f64::INFINITY, f64::min);
            assert!(nearest < 0.5 * radius, "{nearest}");
        }
        let mut drawn = Vec::new();
        let Wrinkles { pattern, profile, .. } = w;
        Projector::default().surface(pattern, &mesh, profile, &folds, radius, 1.0, places, &mut drawn);
        assert!(drawn.iter().all(|p| p.is_finite()));
        (mesh, drawn)
    }

    #[test]
    fn a_still_mesh_follows_folds_and_is_whole() {
        let (x, t) = sheet(11, 11, 1.0, 1.0);
        let radius = 0.015;
        let w = wrinkles(&x, &t, radius, 14);
        // One side is pressed together, the other is not.
        let press = |p: &DVec3| DVec3::new(if p.x < 0.4 { 0.75 * p.x } else { p.x - 0.1 }, 0.0, p.z);
        let places: Vec<DVec3> = x.iter().map(press).collect();
        let (mesh, drawn) = check(&w, &x, &places, radius);
        assert!(mesh.shares.len() < w.fine.shares.len(), "{} {}", mesh.shares.len(), w.fine.shares.len());
        // As high as with the fixed mesh.
        let mut fixed = Vec::new();
        let folds = w.settled(&mut Tracker::default(), &places);
        w.surface(&mut Projector::default(), &folds, &places, &mut fixed);
        let top = |places: &[DVec3]| places.iter().map(|p| p.y).fold(0.0, f64::max);
        assert!((top(&drawn) / top(&fixed) - 1.0).abs() < 0.05, "{} {}", top(&drawn), top(&fixed));
        // Without folds it is the coarse mesh.
        let plain = FineMesh::along_folds(&w.pattern, &Folds::default(), radius, 0.5 * radius);
        assert_eq!((plain.shares.len(), plain.triangles.len()), (x.len(), t.len()));
    }

    #[test]
    fn rings_around_a_tube_are_followed_across_seams() {
        let (x, t) = tube(24, 9, 0.15, 0.6);
        let w = wrinkles(&x, &t, 0.01, 8);
        let places: Vec<DVec3> = x.iter().map(|p| DVec3::new(p.x, 0.8 * p.y, p.z)).collect();
        check(&w, &x, &places, 0.01);
    }
}
