//! Closest points of eight pairs of features at once: what [`crate::contact::proximity`] does in 64 bits for one.

use crate::lanes::{Lanes, Point, Rows, Vectors};

/// Vectors between the closest points of eight pairs, and the weights that make them of the four places.
#[inline(always)]
pub fn closest<L: Lanes>(kind: usize, places: &[Point], at: &Rows) -> (Vectors<L>, [L; 4]) {
    let a = Vectors::<L>::gather_column(places, at, 0);
    let b = Vectors::<L>::gather_column(places, at, 1);
    let c = Vectors::<L>::gather_column(places, at, 2);
    let d = Vectors::<L>::gather_column(places, at, 3);
    if kind == 0 { point_triangle(a, b, c, d) } else { edge_edge(a, b, c, d) }
}

/// From the closest point of a triangle to a point.
#[inline(always)]
pub fn point_triangle<L: Lanes>(
    p: Vectors<L>,
    a: Vectors<L>,
    b: Vectors<L>,
    c: Vectors<L>,
) -> (Vectors<L>, [L; 4]) {
    let (zero, one, tiny) = (L::splat(0.0), L::splat(1.0), L::splat(f32::MIN_POSITIVE));
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d00, d01, d11) = (ab.dot(ab), ab.dot(ac), ac.dot(ac));
    let (d20, d21) = (ap.dot(ab), ap.dot(ac));
    let whole = d00 * d11 - d01 * d01;
    let part_b = d11 * d20 - d01 * d21;
    let part_c = d00 * d21 - d01 * d20;
    let part_a = whole - part_b - part_c;
    let inside = part_a.min(part_b).min(part_c);
    // Beside it: the nearest of the three sides.
    let on_ab = (d20 / d00.max(tiny)).max(zero).min(one);
    let on_ac = (d21 / d11.max(tiny)).max(zero).min(one);
    let bc = c - b;
    let bp = p - b;
    let on_bc = (bp.dot(bc) / bc.dot(bc).max(tiny)).max(zero).min(one);
    let (from_ab, from_ac, from_bc) = (ap - ab * on_ab, ap - ac * on_ac, bp - bc * on_bc);
    let (r_ab, r_ac, r_bc) = (from_ab.dot(from_ab), from_ac.dot(from_ac), from_bc.dot(from_bc));
    let mut weight_b = on_ab;
    let mut weight_c = zero;
    weight_b = r_ac.where_below(r_ab, zero, weight_b);
    weight_c = r_ac.where_below(r_ab, on_ac, weight_c);
    let nearest = r_ab.min(r_ac);
    weight_b = r_bc.where_below(nearest, one - on_bc, weight_b);
    weight_c = r_bc.where_below(nearest, on_bc, weight_c);
    let inverse = one / whole.max(tiny);
    // A triangle without area has no inside.
    let inside = whole.where_below(tiny, zero - one, inside);
    weight_b = inside.where_below(zero, weight_b, part_b * inverse);
    weight_c = inside.where_below(zero, weight_c, part_c * inverse);
    let vector = ap - ab * weight_b - ac * weight_c;
    (vector, [one, zero - (one - weight_b - weight_c), zero - weight_b, zero - weight_c])
}

/// From the closest point of the second edge to that of the first.
#[inline(always)]
pub fn edge_edge<L: Lanes>(
    a: Vectors<L>,
    b: Vectors<L>,
    c: Vectors<L>,
    d: Vectors<L>,
) -> (Vectors<L>, [L; 4]) {
    let (zero, one, tiny) = (L::splat(0.0), L::splat(1.0), L::splat(f32::MIN_POSITIVE));
    let (u, v, r) = (b - a, d - c, a - c);
    let (uu, vv, uv) = (u.dot(u), v.dot(v), u.dot(v));
    let (ur, vr) = (u.dot(r), v.dot(r));
    let whole = uu * vv - uv * uv;
    // Parallel edges: from the end of the first.
    let s = ((uv * vr - ur * vv) / whole.max(tiny)).max(zero).min(one);
    let parallel = uu * vv * L::splat(1e-6);
    let s = whole.where_below(parallel, zero, s);
    let t = ((uv * s + vr) / vv.max(tiny)).max(zero).min(one);
    let s = ((uv * t - ur) / uu.max(tiny)).max(zero).min(one);
    let vector = r + u * s - v * t;
    (vector, [one - s, s, zero - (one - t), zero - t])
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;
    use crate::contact::proximity;
    use crate::lanes::{Eight, Instructions, Kernel, WIDTH};
    use crate::math::uniform;

    struct Closest<'a>(usize, &'a [Point], &'a [[u32; 4]; WIDTH]);

    impl Kernel for Closest<'_> {
        type Output = ([Eight; 3], [Eight; 4]);
        #[inline(always)]
        fn run<L: Lanes>(self) -> ([Eight; 3], [Eight; 4]) {
            let Closest(kind, places, at) = self;
            let (vector, weights) = closest::<L>(kind, places, &Rows::new(at));
            let mut out = ([[0.0; WIDTH]; 3], [[0.0; WIDTH]; 4]);
            vector.store(&mut out.0);
            for k in 0..4 {
                weights[k].store(&mut out.1[k]);
            }
            out
        }
    }

    #[test]
    fn distances_are_those_of_the_plain_twin() {
        // Corners on a coarse lattice meet every special case: parallel, touching, without area or length.
        for (seed, lattice) in [(1, 0.0f32), (2, 4.0)] {
            let points: Vec<Point> = (0..4000)
                .map(|i| {
                    let number = |k: u64| uniform(seed, 4 * i + k) as f32;
                    let place = |n: f32| if lattice > 0.0 { (n * lattice).floor() / lattice } else { n };
                    [place(number(0)), place(number(1)), place(number(2)), 0.0]
                })
                .collect();
            let wide = |i: u32| DVec3::from_array([0, 1, 2].map(|k| f64::from(points[i as usize][k])));
            for first in (0..points.len() as u32).step_by(4 * WIDTH) {
                let at: [[u32; 4]; WIDTH] =
                    std::array::from_fn(|l| [0, 1, 2, 3].map(|k| first + 4 * l as u32 + k));
                for kind in 0..2 {
                    let (vector, weights) = Instructions::detect().run(Closest(kind, &points, &at));
                    assert_eq!(Instructions::Plain.run(Closest(kind, &points, &at)), (vector, weights));
                    for l in 0..WIDTH {
                        let x = at[l].map(wide);
                        let exact = match kind {
                            0 => proximity::point_triangle(x[0], [x[1], x[2], x[3]]).vector,
                            _ => proximity::edge_edge([x[0], x[1]], [x[2], x[3]]).vector,
                        };
                        let length = DVec3::from_array([0, 1, 2].map(|k| f64::from(vector[k][l]))).length();
                        // Thin triangles and flat angles lose half the digits of 32 bits.
                        assert!(
                            (length - exact.length()).abs() < 2e-3,
                            "{kind} {x:?}: {length} {}",
                            exact.length()
                        );
                        assert!(length > exact.length() - 1e-6, "nearer than the nearest");
                        let sides = if kind == 0 { 1 } else { 2 };
                        let sum = |r: std::ops::Range<usize>| r.map(|k| weights[k][l]).sum::<f32>();
                        assert!((sum(0..sides) - 1.0).abs() < 1e-5 && (sum(sides..4) + 1.0).abs() < 1e-5);
                        assert!((0..sides).all(|k| weights[k][l] >= -1e-6));
                        assert!((sides..4).all(|k| weights[k][l] <= 1e-6));
                    }
                }
            }
        }
    }
}
