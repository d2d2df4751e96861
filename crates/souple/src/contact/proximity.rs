//! Closest points of a point and a triangle, and of two edges (SIM-30, FAU-39, FAU-47): where they are on both sides, and the
//! vector between them.
//!
//! The closest point is inside the face (between the ends of both edges), where one formula gives it, or on the border, where
//! the best of all border candidates is taken (Ericson, "Real-Time Collision Detection", 2005, chapter 5). Triangles without
//! area, edges without length and parallel edges have no inside and are their borders.
//!
//! What is promised, with *size* the largest distance between two of the points given: weights are never negative and sum
//! to 1; the distance is that of a real pair of points and exceeds the least one by less than 1e-13 size, or 1e-11 size where
//! a triangle or the angle of two edges is flatter than 1 : 100. The vector is made perpendicular to the face or the edges it
//! leaves, so that its direction is good even where it is very short. Sizes up to 1e70 m are fine; two points closer than
//! 1e-70 m or so count as one. Numbers that are not finite give numbers that are not finite, and no panic.

use glam::DVec3;

/// Squares of lengths and of areas below this are 0: what is divided by is far from where numbers lose digits.
const SMALLEST_SQUARE: f64 = 1e-280;

/// Square of the sine of an angle below which one solution of the equations is not good enough.
const FLAT: f64 = 1e-4;

/// How often the equations are solved for what is left over, where angles are flat. The error falls to ε/sine of itself each
/// time, and the border is closer than sine × size: the worst that is left is at a sine of about 1e-12.
const REFINEMENTS: usize = 4;

/// A point of an edge, and what lies between it and the point it is closest to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointEdge {
    /// Shares of the ends of the edge in the closest point; their sum is 1.
    pub weights: [f64; 2],
    /// From the edge to the point, m.
    pub vector: DVec3,
}

/// A point of a triangle, and what lies between it and the point it is closest to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointTriangle {
    /// Shares of the corners in the closest point; their sum is 1.
    pub weights: [f64; 3],
    /// From the triangle to the point, m.
    pub vector: DVec3,
}

/// The points of two edges that are closest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EdgeEdge {
    /// Shares of the ends of the first edge in its point; their sum is 1.
    pub first: [f64; 2],
    /// Shares of the ends of the second edge in its point; their sum is 1.
    pub second: [f64; 2],
    /// From the second edge to the first, m.
    pub vector: DVec3,
}

/// The point of an edge that is closest to `p`.
pub fn point_edge(p: DVec3, [a, b]: [DVec3; 2]) -> PointEdge {
    let (ab, ap) = (b - a, p - a);
    let square = ab.length_squared();
    if square < SMALLEST_SQUARE {
        return PointEdge { weights: [1.0, 0.0], vector: ap };
    }
    let t = (ap.dot(ab) / square).clamp(0.0, 1.0);
    // From the nearer end, where less is rounded away.
    let vector = if t < 0.5 { ap - ab * t } else { (p - b) + ab * (1.0 - t) };
    let inside = t > 0.0 && t < 1.0;
    let along = if inside { vector.dot(ab) / square } else { 0.0 };
    PointEdge { weights: [1.0 - t, t], vector: vector - ab * along }
}

/// The point of a triangle that is closest to `p`.
pub fn point_triangle(p: DVec3, [a, b, c]: [DVec3; 3]) -> PointTriangle {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let normal = ab.cross(ac);
    let square = normal.length_squared();
    if square < SMALLEST_SQUARE {
        return point_border(p, [a, b, c]);
    }
    let flat = square < FLAT * ab.length_squared() * ac.length_squared();
    let (mut v, mut w, mut left) = (0.0, 0.0, ap);
    for _ in 0..if flat { REFINEMENTS } else { 1 } {
        v += normal.dot(left.cross(ac)) / square;
        w += normal.dot(ab.cross(left)) / square;
        left = ap - ab * v - ac * w;
    }
    if !(v >= 0.0 && w >= 0.0 && v + w <= 1.0) {
        return point_border(p, [a, b, c]);
    }
    let weights = [(1.0 - v - w).max(0.0), v, w];
    if !flat {
        return PointTriangle { weights, vector: normal * (normal.dot(ap) / square) };
    }
    let (face, border) = (PointTriangle { weights, vector: left }, point_border(p, [a, b, c]));
    if face.vector.length_squared() < border.vector.length_squared() { face } else { border }
}

/// The point of the border of a triangle that is closest to `p`.
fn point_border(p: DVec3, [a, b, c]: [DVec3; 3]) -> PointTriangle {
    let (ab, bc, ca) = (point_edge(p, [a, b]), point_edge(p, [b, c]), point_edge(p, [c, a]));
    let [d_ab, d_bc, d_ca] = [ab, bc, ca].map(|e| e.vector.length_squared());
    if d_bc < d_ab && d_bc <= d_ca {
        PointTriangle { weights: [0.0, bc.weights[0], bc.weights[1]], vector: bc.vector }
    } else if d_ca < d_ab {
        PointTriangle { weights: [ca.weights[1], 0.0, ca.weights[0]], vector: ca.vector }
    } else {
        PointTriangle { weights: [ab.weights[0], ab.weights[1], 0.0], vector: ab.vector }
    }
}

/// The points of two edges that are closest. Of parallel edges, which have many, one pair is given.
pub fn edge_edge([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> EdgeEdge {
    let (ab, cd, ac) = (b - a, d - c, c - a);
    let normal = ab.cross(cd);
    let square = normal.length_squared();
    if square < SMALLEST_SQUARE {
        return edge_ends([a, b], [c, d]);
    }
    let flat = square < FLAT * ab.length_squared() * cd.length_squared();
    let (mut s, mut t, mut left) = (0.0, 0.0, ac);
    for _ in 0..if flat { REFINEMENTS } else { 1 } {
        s += normal.dot(left.cross(cd)) / square;
        t += normal.dot(left.cross(ab)) / square;
        left = ac - ab * s + cd * t;
    }
    if !((0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t)) {
        return edge_ends([a, b], [c, d]);
    }
    let (first, second) = ([1.0 - s, s], [1.0 - t, t]);
    if !flat {
        return EdgeEdge { first, second, vector: normal * (-normal.dot(ac) / square) };
    }
    let (inside, ends) = (EdgeEdge { first, second, vector: -left }, edge_ends([a, b], [c, d]));
    if inside.vector.length_squared() < ends.vector.length_squared() { inside } else { ends }
}

/// The closest points of two edges of which at least one is an end.
fn edge_ends([a, b]: [DVec3; 2], [c, d]: [DVec3; 2]) -> EdgeEdge {
    let of_first = |p, first| {
        let PointEdge { weights, vector } = point_edge(p, [c, d]);
        EdgeEdge { first, second: weights, vector }
    };
    let of_second = |p, second| {
        let PointEdge { weights, vector } = point_edge(p, [a, b]);
        EdgeEdge { first: weights, second, vector: -vector }
    };
    let mut best = of_first(a, [1.0, 0.0]);
    for other in [of_first(b, [0.0, 1.0]), of_second(c, [1.0, 0.0]), of_second(d, [0.0, 1.0])] {
        if other.vector.length_squared() < best.vector.length_squared() {
            best = other;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = DVec3> {
        (-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64).prop_map(|(x, y, z)| DVec3::new(x, y, z))
    }

    /// Few places, so that points coincide, and lines and planes through them too.
    fn lattice() -> impl Strategy<Value = DVec3> {
        (-2..=2i32, -2..=2i32, -1..=1i32).prop_map(|(x, y, z)| DVec3::new(x.into(), y.into(), z.into()))
    }

    /// Four points: anywhere; on a lattice; with the last near the line of the two before it, so that triangles of the last
    /// three are slivers; with the last two edges near parallel. Of all sizes, near the origin and far from it.
    fn points() -> impl Strategy<Value = [DVec3; 4]> {
        let tiny = || (-16..0i32, vector()).prop_map(|(k, v)| v * crate::math::pow(10.0, k.into()));
        let shapes = prop_oneof![
            4 => [vector(), vector(), vector(), vector()],
            2 => [lattice(), lattice(), lattice(), lattice()],
            1 => (vector(), vector(), vector(), -1.0..2.0f64, tiny())
                .prop_map(|(p, a, b, s, off)| [p, a, b, a + (b - a) * s + off]),
            1 => (vector(), vector(), vector(), -2.0..2.0f64, tiny())
                .prop_map(|(a, b, c, s, off)| [a, b, c, c + (b - a) * s + off]),
        ];
        (shapes, -9..9i32, prop_oneof![Just(0.0), Just(1.0), Just(1024.0)]).prop_map(|(x, k, far)| {
            let scale = crate::math::pow(10.0, k.into());
            x.map(|x| (x + DVec3::splat(far)) * scale)
        })
    }

    fn size(x: &[DVec3; 4]) -> f64 {
        let pairs = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| x[i].distance(x[j])).fold(0.0, f64::max)
    }

    /// Of the sine between two directions, what the module promises.
    fn share(u: DVec3, v: DVec3) -> f64 {
        let (square, product) = (u.cross(v).length_squared(), u.length_squared() * v.length_squared());
        if square > 1.01 * FLAT * product { 1e-13 } else { 1e-11 }
    }

    /// The least of a convex function of two weights in [0, 1], by grids that close in on the best.
    fn least(f: impl Fn(f64, f64) -> f64) -> f64 {
        let (mut low, mut high) = ([0.0, 0.0], [1.0, 1.0]);
        let mut best = f64::INFINITY;
        for _ in 0..60 {
            let mut at = [0.0, 0.0];
            let mut here = f64::INFINITY;
            for i in 0..=8 {
                for j in 0..=8 {
                    let s = low[0] + (high[0] - low[0]) * i as f64 / 8.0;
                    let t = low[1] + (high[1] - low[1]) * j as f64 / 8.0;
                    let value = f(s, t);
                    if value < here {
                        (here, at) = (value, [s, t]);
                    }
                }
            }
            best = best.min(here);
            for k in 0..2 {
                let half = 0.3 * (high[k] - low[k]);
                (low[k], high[k]) = ((at[k] - half).max(0.0), (at[k] + half).min(1.0));
            }
        }
        best
    }

    fn sums_to_one(weights: &[f64]) -> bool {
        weights.iter().all(|w| *w >= 0.0) && (weights.iter().sum::<f64>() - 1.0).abs() <= 4.0 * f64::EPSILON
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn no_point_of_a_triangle_is_closer(x in points()) {
            let [p, a, b, c] = x;
            let found = point_triangle(p, [a, b, c]);
            let tolerance = share(b - a, c - a) * size(&x);
            prop_assert!(sums_to_one(&found.weights), "{found:?}");
            // Seen from the point, so that far from the origin nothing is rounded away.
            let [u, v, w] = found.weights;
            let there = (p - a) * u + (p - b) * v + (p - c) * w;
            prop_assert!(there.distance(found.vector) <= tolerance, "{there} {found:?}");
            let at = |s: f64, t: f64| ((p - a) * (1.0 - s) + ((p - b) * (1.0 - t) + (p - c) * t) * s).length();
            let least = least(at);
            prop_assert!(found.vector.length() <= least + tolerance, "{} {least}", found.vector.length());
            for turned in [[b, c, a], [c, a, b], [b, a, c]] {
                let tolerance = 1e-11 * size(&x);
                let other = point_triangle(p, turned).vector.length();
                prop_assert!((other - found.vector.length()).abs() <= tolerance);
            }
        }

        #[test]
        fn no_points_of_two_edges_are_closer(x in points()) {
            let [a, b, c, d] = x;
            let found = edge_edge([a, b], [c, d]);
            let tolerance = share(b - a, d - c) * size(&x);
            prop_assert!(sums_to_one(&found.first) && sums_to_one(&found.second), "{found:?}");
            let at = |s: f64, t: f64| ((a - c) * (1.0 - s) + (b - c) * s) * (1.0 - t) + ((a - d) * (1.0 - s) + (b - d) * s) * t;
            let there = at(found.first[1], found.second[1]);
            prop_assert!(there.distance(found.vector) <= tolerance, "{there} {found:?}");
            let least = least(|s, t| at(s, t).length());
            prop_assert!(found.vector.length() <= least + tolerance, "{} {least}", found.vector.length());
            for other in [edge_edge([c, d], [a, b]), edge_edge([b, a], [c, d]), edge_edge([b, a], [d, c])] {
                prop_assert!((other.vector.length() - found.vector.length()).abs() <= 2.0 * tolerance);
            }
        }

        /// The plane through the closest point, across the vector, has all of the other side behind it: what makes a
        /// point of a convex set the closest one, and no search.
        #[test]
        fn the_vector_points_straight_away(x in [vector(), vector(), vector(), vector()]) {
            let [p, a, b, c] = x;
            let face = point_triangle(p, [a, b, c]).vector;
            let tolerance = 1e-11 * size(&x) * size(&x);
            for corner in [a, b, c] {
                prop_assert!(face.dot(p - corner) >= face.length_squared() - tolerance);
            }
            let edges = edge_edge([p, a], [b, c]).vector;
            for (i, j) in [(p, b), (p, c), (a, b), (a, c)] {
                prop_assert!(edges.dot(i - j) >= edges.length_squared() - tolerance);
            }
        }

        /// A nanometre above a face or an edge of a metre, the direction is still right to seven digits.
        #[test]
        fn the_direction_holds_where_things_nearly_touch(x in [vector(), vector(), vector()], s in 0.1..0.4f64, t in 0.1..0.4f64) {
            let [a, b, c] = x;
            let normal = (b - a).cross(c - a);
            prop_assume!(normal.length() > 0.1);
            let normal = normal.normalize();
            let p = a + (b - a) * s + (c - a) * t + normal * 1e-9;
            let found = point_triangle(p, x).vector;
            prop_assert!(found.normalize().dot(normal) > 1.0 - 1e-14);
            // Perpendicular to a single edge: across it nothing can be known better than the rounding of `p`, along it much.
            let p = a + (b - a) * s + normal * 1e-9;
            let found = point_edge(p, [a, b]).vector;
            prop_assert!(found.dot((b - a).normalize()).abs() < 1e-14 * found.length());
        }
    }

    #[test]
    fn what_has_no_inside_is_its_border() {
        let [o, x, y] = [DVec3::ZERO, DVec3::X, DVec3::Y];
        let on_line = point_triangle(y + x * 0.5, [o, x, x * 2.0]);
        assert_eq!(on_line.vector, y);
        let in_point = point_triangle(y, [x, x, x]);
        assert_eq!((in_point.weights.iter().sum::<f64>(), in_point.vector), (1.0, y - x));
        assert_eq!(edge_edge([o, o], [y, y]).vector, -y);
        assert_eq!(edge_edge([o, x], [y, y + x]).vector, -y);
        assert_eq!(edge_edge([o, x], [x * 3.0, x * 2.0]).vector, -x);
        assert_eq!(edge_edge([o, x * 2.0], [x + y, x - y]).vector.length(), 0.0);
    }

    #[test]
    fn odd_numbers_do_not_panic() {
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE, 5e-324] {
            for k in 0..4 {
                let mut x = [DVec3::ZERO, DVec3::X, DVec3::Y, DVec3::Z];
                x[k].y = odd;
                let [a, b, c, d] = x;
                let (face, edges) = (point_triangle(a, [b, c, d]), edge_edge([a, b], [c, d]));
                let finite = face.vector.is_finite() && edges.vector.is_finite();
                assert!(finite || !odd.is_finite() || odd == f64::MAX, "{odd} {face:?} {edges:?}");
            }
        }
    }
}
