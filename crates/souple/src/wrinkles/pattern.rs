//! The pattern that cloth is cut from, as flat triangles glued edge to edge (ROH-71, ROH-84).
//!
//! The seed flattens each near-developable piece, and its curves stop at seams. Here every triangle has a flat chart of its own, and every inner
//! edge knows the rigid motion that leads from one chart to the next: the identity inside a flat piece, a turn and a shift at a seam. Walking
//! straight ahead, unfolding and measuring distances need no more, so nothing is distorted by flattening, seams are crossed like any other edge,
//! and a tube or a sphere is a pattern as good as a rectangle. Around corners where a surface does not lie flat the way taken matters a little.
//!
//! Repairs: triangles that the pattern has mirrored are turned over (halves of garments often share their texture). Refused: triangles without
//! area, numbers that are not finite, triangles of another size than those of the mesh.

use glam::{DVec2, DVec3};
use thiserror::Error;

use crate::mesh::pattern_stretch::principal_stretches;

/// Triangles of the mesh may be this many times longer or shorter than in the pattern; beyond, the two are not of one garment.
pub const LARGEST_MISMATCH: f64 = 2.0;

/// Edges crossed by one straight step, at most.
const MOST_CROSSINGS: usize = 256;

/// What makes a pattern unusable.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PatternError {
    /// Not one place per corner, or an index out of range.
    #[error("the pattern has {found} {what}, but the mesh needs {expected}")]
    Count {
        /// "triangles", "texture coordinates" or "vertices".
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
    },
    /// A number that is not finite.
    #[error("triangle {triangle} of the pattern has a corner that is not a finite number")]
    NonFinite {
        /// The triangle.
        triangle: usize,
    },
    /// A triangle without area.
    #[error("triangle {triangle} has no area in the pattern")]
    NoArea {
        /// The triangle.
        triangle: usize,
    },
    /// A triangle of another size than that of the mesh.
    #[error(
        "triangle {triangle} of the mesh is {ratio:.2} times as long as in the pattern, more than {LARGEST_MISMATCH} or less than 1/{LARGEST_MISMATCH}"
    )]
    Mismatch {
        /// The triangle.
        triangle: usize,
        /// Its stretch that is farthest from 1.
        ratio: f64,
    },
}

/// A turn, as cosine and sine, and a shift of the plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Glide {
    /// Cosine and sine of the turn.
    pub turn: DVec2,
    /// Shift after it, m.
    pub shift: DVec2,
}

impl Glide {
    /// No motion.
    pub const IDENTITY: Glide = Glide { turn: DVec2::X, shift: DVec2::ZERO };

    /// Where a point goes.
    pub fn apply(&self, p: DVec2) -> DVec2 {
        turned(self.turn, p) + self.shift
    }

    /// Where a vector goes.
    pub fn rotate(&self, v: DVec2) -> DVec2 {
        turned(self.turn, v)
    }

    /// Where a vector comes from.
    pub fn rotate_back(&self, v: DVec2) -> DVec2 {
        turned(DVec2::new(self.turn.x, -self.turn.y), v)
    }

    /// This one, then another.
    pub fn then(&self, next: &Glide) -> Glide {
        Glide { turn: turned(next.turn, self.turn), shift: turned(next.turn, self.shift) + next.shift }
    }
}

/// A vector turned by an angle given as cosine and sine.
fn turned(turn: DVec2, v: DVec2) -> DVec2 {
    DVec2::new(turn.x * v.x - turn.y * v.y, turn.y * v.x + turn.x * v.y)
}

/// What lies across an edge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Across {
    /// The triangle there.
    pub triangle: u32,
    /// The edge of it that is this one.
    pub edge: u8,
    /// From the chart on this side to the one there.
    pub glide: Glide,
}

/// A point of the pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// The triangle it is in.
    pub triangle: u32,
    /// Where, in the chart of that triangle, m.
    pub p: DVec2,
}

/// Where a straight step ended.
#[derive(Clone, Copy, Debug)]
pub struct Stepped {
    /// The point.
    pub point: Point,
    /// The direction of the step in the chart there.
    pub direction: DVec2,
    /// How much of the length was not walked as the border was met, m.
    pub left: f64,
}

/// A pattern: flat triangles and how they are glued. Edge k of a triangle leads from corner k to corner k + 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// Vertices of the mesh at the corners of each triangle.
    pub triangles: Vec<[u32; 3]>,
    /// Corners of each triangle in its chart, m, counter-clockwise.
    pub corners: Vec<[DVec2; 3]>,
    /// What lies across each edge; nothing at the border.
    pub across: Vec<[Option<Across>; 3]>,
    /// For each corner the turn from the frame of its vertex, which is the chart of its first triangle, to the chart of the triangle.
    pub corner_turn: Vec<[DVec2; 3]>,
    /// A triangle of each vertex and the corner it is there; none of vertices without.
    pub home: Vec<Option<(u32, u8)>>,
    /// Triangles that were mirrored, and were turned over.
    pub mirrored: usize,
    /// Twice the area of each triangle, m².
    twice_area: Vec<f64>,
}

impl Pattern {
    /// The pattern of a mesh that is not stretched: triangles as they are, laid flat.
    pub fn of_rest(positions: &[DVec3], triangles: &[[u32; 3]]) -> Result<Pattern, PatternError> {
        check_indices(triangles, positions.len())?;
        let places = |t: &[u32; 3]| t.map(|v| positions[v as usize]);
        let corners = match common_plane(positions) {
            // One chart for all: vectors of different triangles can be compared as they are.
            Some((origin, x, y)) => {
                let flat = |p: DVec3| DVec2::new((p - origin).dot(x), (p - origin).dot(y));
                triangles.iter().map(|t| places(t).map(flat)).collect()
            }
            None => triangles.iter().map(|t| laid_flat(places(t))).collect(),
        };
        Pattern::new(positions.len(), triangles, corners)
    }

    /// The pattern that texture coordinates draw, all enlarged by one factor: the one at which the longest direction of triangles has, in the median, the
    /// length of the pattern. Cloth hardly stretches, so what the mesh lacks across is gathered.
    pub fn of_uvs(
        positions: &[DVec3],
        triangles: &[[u32; 3]],
        uvs: &[[f64; 2]],
    ) -> Result<Pattern, PatternError> {
        check_indices(triangles, positions.len())?;
        if uvs.len() != positions.len() {
            let (found, expected) = (uvs.len(), positions.len());
            return Err(PatternError::Count { what: "texture coordinates", found, expected });
        }
        let flat = |t: &[u32; 3]| t.map(|v| DVec2::from_array(uvs[v as usize]));
        let area = |[a, b, c]: [DVec2; 3]| 0.5 * (b - a).perp_dot(c - a).abs();
        let drawn: f64 = triangles.iter().map(|t| area(flat(t))).sum();
        let made: f64 = triangles.iter().map(|t| area(laid_flat(t.map(|v| positions[v as usize])))).sum();
        let scale = (made / drawn).sqrt();
        if !scale.is_finite() {
            return Err(PatternError::NoArea { triangle: 0 });
        }
        let places = |t: &[u32; 3]| t.map(|v| positions[v as usize]);
        let stretches =
            triangles.iter().filter_map(|t| principal_stretches(flat(t).map(|p| p * scale), places(t)));
        let mut longest: Vec<f64> = stretches.map(|found| found.most).collect();
        longest.sort_by(f64::total_cmp);
        let scale = scale * longest.get(longest.len() / 2).copied().unwrap_or(1.0);
        let corners = triangles.iter().map(|t| flat(t).map(|p| p * scale)).collect();
        let pattern = Pattern::new(positions.len(), triangles, corners)?;
        pattern.check_fit(positions)?;
        Ok(pattern)
    }

    /// The pattern whose triangles have these corners, each in a chart of its own or several in a common one, m.
    pub fn new(
        vertices: usize,
        triangles: &[[u32; 3]],
        mut corners: Vec<[DVec2; 3]>,
    ) -> Result<Pattern, PatternError> {
        check_indices(triangles, vertices)?;
        if corners.len() != triangles.len() {
            let (found, expected) = (corners.len(), triangles.len());
            return Err(PatternError::Count { what: "triangles", found, expected });
        }
        let mut mirrored = 0;
        let mut twice_area = Vec::with_capacity(corners.len());
        for (triangle, c) in corners.iter_mut().enumerate() {
            if !c.iter().all(|p| p.is_finite()) {
                return Err(PatternError::NonFinite { triangle });
            }
            let (a, b) = (c[1] - c[0], c[2] - c[0]);
            let twice = a.perp_dot(b);
            let has_area = twice.abs() > 1e-10 * a.length_squared().max(b.length_squared());
            if !has_area {
                return Err(PatternError::NoArea { triangle });
            }
            if twice < 0.0 {
                mirrored += 1;
                c.iter_mut().for_each(|p| p.x = -p.x);
            }
            twice_area.push(twice.abs());
        }
        let across = glue(triangles, &corners);
        let (corner_turn, home) = vertex_frames(vertices, triangles, &across);
        Ok(Pattern {
            triangles: triangles.to_vec(),
            corners,
            across,
            corner_turn,
            home,
            mirrored,
            twice_area,
        })
    }

    /// Refuses a mesh whose triangles are of another size than those of the pattern.
    pub fn check_fit(&self, positions: &[DVec3]) -> Result<(), PatternError> {
        for (triangle, (t, c)) in self.triangles.iter().zip(&self.corners).enumerate() {
            let Some(found) = principal_stretches(*c, t.map(|v| positions[v as usize])) else {
                return Err(PatternError::NoArea { triangle });
            };
            let ratio = if found.most * found.least > 1.0 { found.most } else { found.least };
            if !(found.most <= LARGEST_MISMATCH && found.least >= 1.0 / LARGEST_MISMATCH) {
                return Err(PatternError::Mismatch { triangle, ratio });
            }
        }
        Ok(())
    }

    /// Area, m².
    pub fn area(&self) -> f64 {
        0.5 * self.twice_area.iter().sum::<f64>()
    }

    /// Area of a triangle, m².
    pub fn triangle_area(&self, triangle: u32) -> f64 {
        0.5 * self.twice_area[triangle as usize]
    }

    /// Shares of the corners in a point of a triangle; they sum to 1.
    pub fn shares(&self, point: Point) -> [f64; 3] {
        let [a, b, c] = self.corners[point.triangle as usize];
        let twice = self.twice_area[point.triangle as usize];
        let share = |from: DVec2, to: DVec2| (to - from).perp_dot(point.p - from) / twice;
        let (sa, sb) = (share(b, c), share(c, a));
        [sa, sb, 1.0 - sa - sb]
    }

    /// Where a point of the pattern is in space, m, given the places of the vertices.
    pub fn place(&self, point: Point, places: &[DVec3]) -> DVec3 {
        let shares = self.shares(point);
        let t = self.triangles[point.triangle as usize];
        (0..3).map(|k| places[t[k] as usize] * shares[k]).sum()
    }

    /// The point at a vertex; none if no triangle has it.
    pub fn at_vertex(&self, vertex: usize) -> Option<Point> {
        let (triangle, corner) = (*self.home.get(vertex)?)?;
        Some(Point { triangle, p: self.corners[triangle as usize][corner as usize] })
    }

    /// Walks straight ahead: `direction` is a unit vector of the chart, `length` in m.
    pub fn step(&self, from: Point, direction: DVec2, length: f64) -> Stepped {
        let (mut point, mut direction, mut left) = (from, direction, length);
        let mut entered = None;
        for _ in 0..MOST_CROSSINGS {
            let corners = &self.corners[point.triangle as usize];
            let mut exit: Option<(usize, f64)> = None;
            for k in (0..3).filter(|&k| entered != Some(k)) {
                let edge = corners[(k + 1) % 3] - corners[k];
                let rate = edge.perp_dot(direction);
                if rate < 0.0 {
                    let way = (edge.perp_dot(point.p - corners[k]) / -rate).max(0.0);
                    if exit.is_none_or(|(_, least)| way < least) {
                        exit = Some((k, way));
                    }
                }
            }
            let Some((k, way)) = exit.filter(|&(_, way)| way < left) else {
                point.p += direction * left;
                return Stepped { point, direction, left: 0.0 };
            };
            point.p += direction * way;
            left -= way;
            let Some(next) = &self.across[point.triangle as usize][k] else {
                return Stepped { point, direction, left };
            };
            point = Point { triangle: next.triangle, p: next.glide.apply(point.p) };
            direction = next.glide.rotate(direction);
            entered = Some(next.edge as usize);
        }
        Stepped { point, direction, left }
    }
}

/// Visits the triangles around points; keeps its memory.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    queue: Vec<(u32, Glide)>,
    seen: Vec<u32>,
    round: u32,
}

impl Walk {
    /// Calls `visit` for every triangle within `reach` (m) of a point, with the motion from the chart of the point to its own, until it says that it has
    /// seen enough.
    pub fn around(
        &mut self,
        pattern: &Pattern,
        from: Point,
        reach: f64,
        visit: impl FnMut(u32, &Glide) -> bool,
    ) {
        self.around_segment(pattern, from, from.p, reach, visit);
    }

    /// The same around the straight line from a point to another place of its chart.
    pub fn around_segment(
        &mut self,
        pattern: &Pattern,
        from: Point,
        to: DVec2,
        reach: f64,
        mut visit: impl FnMut(u32, &Glide) -> bool,
    ) {
        if self.seen.len() != pattern.triangles.len() || self.round == u32::MAX {
            self.seen = vec![0; pattern.triangles.len()];
            self.round = 0;
        }
        self.round += 1;
        self.queue.clear();
        self.queue.push((from.triangle, Glide::IDENTITY));
        self.seen[from.triangle as usize] = self.round;
        let mut next = 0;
        while let Some(&(triangle, glide)) = self.queue.get(next) {
            next += 1;
            if visit(triangle, &glide) {
                return;
            }
            let corners = &pattern.corners[triangle as usize];
            let (a, b) = (glide.apply(from.p), glide.apply(to));
            for (k, across) in pattern.across[triangle as usize].iter().enumerate() {
                let Some(across) = across else { continue };
                let fresh = self.seen[across.triangle as usize] != self.round;
                if fresh && segments_are_near(a, b, corners[k], corners[(k + 1) % 3], reach * reach) {
                    self.seen[across.triangle as usize] = self.round;
                    self.queue.push((across.triangle, glide.then(&across.glide)));
                }
            }
        }
    }

    /// The vector from one point to another in the chart of the first, if they are within `reach` (m).
    pub fn vector(&mut self, pattern: &Pattern, from: Point, to: Point, reach: f64) -> Option<DVec2> {
        if from.triangle == to.triangle {
            return Some(to.p - from.p).filter(|v| v.length_squared() <= reach * reach);
        }
        let mut found = None;
        self.around(pattern, from, reach, |triangle, glide| {
            if triangle == to.triangle {
                found = Some(glide.rotate_back(to.p - glide.apply(from.p)));
            }
            found.is_some()
        });
        found.filter(|v| v.length_squared() <= reach * reach)
    }
}

/// Squared distance from a point to a segment, and the share of its second end in the closest point.
pub fn point_segment(p: DVec2, a: DVec2, b: DVec2) -> (f64, f64) {
    let edge = b - a;
    let length = edge.length_squared();
    let share = if length > 0.0 { ((p - a).dot(edge) / length).clamp(0.0, 1.0) } else { 0.0 };
    ((a + edge * share).distance_squared(p), share)
}

/// Whether two segments come nearer than the root of `reach_squared` (m²): ends first, as most that are near are near at an end.
fn segments_are_near(a: DVec2, b: DVec2, c: DVec2, d: DVec2, reach_squared: f64) -> bool {
    let is_near = |p: DVec2, from: DVec2, to: DVec2| point_segment(p, from, to).0 < reach_squared;
    if is_near(a, c, d) {
        return true;
    }
    if a == b {
        return false;
    }
    let crosses = || {
        let (ab, cd) = (b - a, d - c);
        ab.perp_dot(c - a) * ab.perp_dot(d - a) < 0.0 && cd.perp_dot(a - c) * cd.perp_dot(b - c) < 0.0
    };
    is_near(b, c, d) || is_near(c, a, b) || is_near(d, a, b) || crosses()
}

fn check_indices(triangles: &[[u32; 3]], vertices: usize) -> Result<(), PatternError> {
    match triangles.iter().flatten().find(|&&v| v as usize >= vertices) {
        Some(&v) => Err(PatternError::Count { what: "vertices", found: vertices, expected: v as usize + 1 }),
        None => Ok(()),
    }
}

/// A triangle of space laid flat, its first edge along x.
pub fn laid_flat([a, b, c]: [DVec3; 3]) -> [DVec2; 3] {
    let (ab, ac) = (b - a, c - a);
    let length = ab.length();
    let x = ab.normalize_or(DVec3::X);
    [DVec2::ZERO, DVec2::new(length, 0.0), DVec2::new(ac.dot(x), ac.cross(x).length())]
}

/// Origin and axes of the plane that all points lie in, if there is one.
fn common_plane(points: &[DVec3]) -> Option<(DVec3, DVec3, DVec3)> {
    let origin = *points.first()?;
    let farthest = |from: &dyn Fn(&DVec3) -> DVec3| {
        points
            .iter()
            .map(from)
            .fold(DVec3::ZERO, |best, v| if v.length_squared() > best.length_squared() { v } else { best })
    };
    let x = farthest(&|p| *p - origin);
    let size = x.length();
    let x = x.try_normalize()?;
    let y = farthest(&|p| (*p - origin) - x * (*p - origin).dot(x)).try_normalize()?;
    let normal = x.cross(y);
    let is_flat = points.iter().all(|p| (*p - origin).dot(normal).abs() <= 1e-9 * size);
    is_flat.then_some((origin, x, y))
}

/// Finds what lies across each edge. Edges of three triangles or more, and of triangles that face opposite sides, are borders.
fn glue(triangles: &[[u32; 3]], corners: &[[DVec2; 3]]) -> Vec<[Option<Across>; 3]> {
    let mut edges: Vec<(u32, u32, u32, u8)> = Vec::with_capacity(3 * triangles.len());
    for (t, v) in (0u32..).zip(triangles) {
        for k in 0..3 {
            let (i, j) = (v[k], v[(k + 1) % 3]);
            edges.push((i.min(j), i.max(j), t, k as u8));
        }
    }
    edges.sort_unstable();
    let mut across = vec![[None; 3]; triangles.len()];
    for run in edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let &[(_, _, t, k), (_, _, u, m)] = run else { continue };
        let opposite = triangles[t as usize][k as usize] == triangles[u as usize][(m as usize + 1) % 3];
        if t == u || !opposite {
            continue;
        }
        let ends = |t: u32, k: u8| {
            let c = &corners[t as usize];
            (c[k as usize], c[(k as usize + 1) % 3])
        };
        let ((a, b), (d, c)) = (ends(t, k), ends(u, m));
        across[t as usize][k as usize] =
            Some(Across { triangle: u, edge: m, glide: glide_between(a, b, c, d) });
        across[u as usize][m as usize] =
            Some(Across { triangle: t, edge: k, glide: glide_between(c, d, a, b) });
    }
    across
}

/// The rigid motion that takes a segment to another one, middle to middle if they are not of one length.
fn glide_between(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> Glide {
    if a == c && b == d {
        return Glide::IDENTITY;
    }
    let (from, to) = ((b - a).normalize_or(DVec2::X), (d - c).normalize_or(DVec2::X));
    let turn = DVec2::new(from.dot(to), from.perp_dot(to)).normalize_or(DVec2::X);
    Glide { turn, shift: 0.5 * (c + d) - turned(turn, 0.5 * (a + b)) }
}

/// For each corner the turn from the frame of its vertex, and a triangle of each vertex.
#[expect(clippy::type_complexity, reason = "two lists that are made together")]
fn vertex_frames(
    vertices: usize,
    triangles: &[[u32; 3]],
    across: &[[Option<Across>; 3]],
) -> (Vec<[DVec2; 3]>, Vec<Option<(u32, u8)>>) {
    let mut turns = vec![[DVec2::X; 3]; triangles.len()];
    let mut known = vec![[false; 3]; triangles.len()];
    let mut home = vec![None; vertices];
    let mut queue: Vec<(u32, usize)> = Vec::new();
    for (t, v) in (0u32..).zip(triangles) {
        for k in 0..3 {
            if known[t as usize][k] {
                continue;
            }
            // A vertex where two fans meet has a frame for each; the first counts.
            home[v[k] as usize].get_or_insert((t, k as u8));
            known[t as usize][k] = true;
            queue.clear();
            queue.push((t, k));
            let mut next = 0;
            while let Some(&(triangle, corner)) = queue.get(next) {
                next += 1;
                // The two edges at this corner.
                for edge in [corner, (corner + 2) % 3] {
                    let Some(there) = &across[triangle as usize][edge] else { continue };
                    let at = triangles[there.triangle as usize].iter().position(|&u| u == v[k]);
                    let Some(at) = at.filter(|&at| !known[there.triangle as usize][at]) else { continue };
                    known[there.triangle as usize][at] = true;
                    turns[there.triangle as usize][at] =
                        turned(there.glide.turn, turns[triangle as usize][corner]);
                    queue.push((there.triangle, at));
                }
            }
        }
    }
    (turns, home)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tube around y of that radius and height, its triangles closed all around.
    fn tube(around: u32, rows: u32, radius: f64, height: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
        let mut x = Vec::new();
        for i in 0..rows {
            for j in 0..around {
                let a = std::f64::consts::TAU * f64::from(j) / f64::from(around);
                let y = height * f64::from(i) / f64::from(rows - 1);
                x.push(DVec3::new(radius * crate::math::cos(a), y, radius * crate::math::sin(a)));
            }
        }
        let mut t = Vec::new();
        for i in 0..rows - 1 {
            for j in 0..around {
                let k = (j + 1) % around;
                let (a, b, c, d) =
                    (i * around + j, i * around + k, (i + 1) * around + k, (i + 1) * around + j);
                t.extend([[a, c, b], [a, d, c]]);
            }
        }
        (x, t)
    }

    #[test]
    fn a_straight_step_goes_around_a_tube_and_comes_back() {
        let (x, t) = tube(12, 5, 0.3, 1.0);
        let pattern = Pattern::of_rest(&x, &t).unwrap();
        let girth = 12.0 * x[0].distance(x[1]);
        let start = Point { triangle: 20, p: pattern.corners[20].iter().sum::<DVec2>() / 3.0 };
        let place = pattern.place(start, &x);
        // Horizontally: the direction in the chart that goes along a ring.
        let k = (0..3).find(|&k| {
            let t = pattern.triangles[20];
            x[t[k] as usize].y == x[t[(k + 1) % 3] as usize].y
        });
        let k = k.unwrap();
        let along = (pattern.corners[20][(k + 1) % 3] - pattern.corners[20][k]).normalize();
        let end = pattern.step(start, along, girth);
        assert_eq!(end.left, 0.0);
        assert!(pattern.place(end.point, &x).distance(place) < 1e-9);
        // Straight up one meets the border, after as much as there is above.
        let up = DVec2::new(-along.y, along.x);
        let ends = [up, -up].map(|d| pattern.step(start, d, 10.0));
        let walked: f64 = ends.iter().map(|e| 10.0 - e.left).sum();
        assert!((walked - 1.0).abs() < 1e-9, "{walked}");
        let mut heights = ends.map(|e| pattern.place(e.point, &x).y);
        heights.sort_by(f64::total_cmp);
        assert!(heights[0].abs() < 1e-9 && (heights[1] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn distances_are_those_of_the_unfolded_surface_across_seams() {
        let (x, t) = tube(16, 6, 0.25, 0.8);
        let pattern = Pattern::of_rest(&x, &t).unwrap();
        let edge = x[0].distance(x[1]);
        // Two points of one ring, three corners apart: nearer through space than on the surface.
        let (a, b) = (pattern.at_vertex(16 + 15).unwrap(), pattern.at_vertex(16 + 2).unwrap());
        let found = Walk::default().vector(&pattern, a, b, 1.0).unwrap();
        assert!((found.length() - 3.0 * edge).abs() < 1e-9);
        assert!(x[31].distance(x[18]) < 2.99 * edge);
        assert_eq!(Walk::default().vector(&pattern, a, b, 2.9 * edge), None);
    }

    #[test]
    fn bad_patterns_are_refused_and_mirrored_triangles_are_turned_over() {
        let x = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::new(1.0, 1.0, 0.0)];
        let t = [[0, 1, 2], [1, 3, 2]];
        let uvs = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1]];
        let good = Pattern::of_uvs(&x, &t, &uvs).unwrap();
        assert!((good.area() - 1.0).abs() < 1e-12 && good.mirrored == 0);
        // A mesh that is a quarter narrower than its pattern is gathered, not small.
        let gathered = uvs.map(|[u, v]| [u / 0.75, v]);
        assert!((Pattern::of_uvs(&x, &t, &gathered).unwrap().area() - 1.0 / 0.75).abs() < 1e-9);
        let mirrored = uvs.map(|[u, v]| [-u, v]);
        let turned = Pattern::of_uvs(&x, &t, &mirrored).unwrap();
        assert_eq!(turned.mirrored, 2);
        assert_eq!(turned.corners, good.corners);
        // One half laid over the other.
        let over = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [0.0, 0.0]];
        assert_eq!(Pattern::of_uvs(&x, &t, &over).unwrap().mirrored, 1);
        let thin = [[0.0, 0.0], [0.1, 0.0], [0.2, 0.0], [0.1, 0.1]];
        assert_eq!(Pattern::of_uvs(&x, &t, &thin), Err(PatternError::NoArea { triangle: 0 }));
        let far = [[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [2.0, 2.0]];
        assert!(matches!(Pattern::of_uvs(&x, &t, &far), Err(PatternError::Mismatch { .. })));
        assert!(matches!(Pattern::of_uvs(&x, &t, &uvs[..3]), Err(PatternError::Count { .. })));
        let odd = [[f64::NAN, 0.0], [0.1, 0.0], [0.0, 0.1], [0.1, 0.1]];
        assert!(Pattern::of_uvs(&x, &t, &odd).is_err());
        assert!(matches!(Pattern::of_rest(&x, &[[0, 1, 7]]), Err(PatternError::Count { .. })));
        assert_eq!(Pattern::of_rest(&x, &[[0, 0, 1]]), Err(PatternError::NoArea { triangle: 0 }));
    }
}
