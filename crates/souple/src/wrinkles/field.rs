//! Fields whose level 1 is cloth with folds on it (ROH-82, ROH-83).
//!
//! A fold is a curve under the cloth convolved with Cauchy's kernel κ(x) = 1/(1 + s² x²)² (McCormack, Sherstyuk 1998), weighted so that the level is a
//! tube of a wanted radius around a long straight curve. The cloth itself is the field of its tangent plane, f = (1 + s² d₀²)/(1 + s² (d + d₀)²),
//! which is 1 on it; the seed prints π/(s² (1 + s² (d + d₀)²)), which is 1 nowhere if s > √π. Fields add up, so folds that meet become one that is
//! wider and hardly higher. [`segment_field`] is the exact integral along a piece of curve; [`line_field`] is that of a long straight curve, which
//! needs one root, and which deforms meshes. A test compares the two.

use glam::DVec3;

use crate::math::atan;

/// Integral of the kernel along a straight piece from `a` to `b`, at `p`; s in 1/m. In metres.
pub fn segment_field(a: DVec3, b: DVec3, p: DVec3, s: f64) -> f64 {
    let length = a.distance(b);
    if length == 0.0 {
        return 0.0;
    }
    let along = (p - a).dot(b - a) / length;
    let q2 = 1.0 + s * s * (p.distance_squared(a) - along * along).max(0.0);
    let q = q2.sqrt();
    let rest = length - along;
    let ends = along / (q2 + s * s * along * along) + rest / (q2 + s * s * rest * rest);
    0.5 * ends / q2 + 0.5 * (atan(s * along / q) + atan(s * rest / q)) / (s * q2 * q)
}

/// Weight with which a long straight curve has level 1 at that radius, m: ω = (2 s/π) (1 + s² R²)^(3/2). In 1/m.
pub fn line_weight(radius: f64, s: f64) -> f64 {
    let q2 = 1.0 + s * s * radius * radius;
    2.0 * s / std::f64::consts::PI * q2 * q2.sqrt()
}

/// Field of a long straight curve of that radius at a squared distance of its axis; `softness` is 1/s. All in m.
pub fn line_field(radius: f64, softness: f64, distance_squared: f64) -> f64 {
    let e = softness * softness;
    let ratio = (e + radius * radius) / (e + distance_squared);
    ratio * ratio.sqrt()
}

/// Field of the cloth at a height above it: 1 on it, less above; `depth` is d₀. All in m.
pub fn sheet_field(depth: f64, softness: f64, height: f64) -> f64 {
    let e = softness * softness;
    (e + depth * depth) / (e + (height + depth) * (height + depth))
}

/// A fold as a point near it sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearFold {
    /// Radius of the tube, m.
    pub radius: f64,
    /// How far its axis is below the cloth, m.
    pub depth: f64,
    /// 1/s, m.
    pub softness: f64,
    /// Distance of the point from the axis along the cloth, squared, m².
    pub aside_squared: f64,
    /// Share of its field that counts here: 0 where it fades out.
    pub strength: f64,
}

/// By how much the fields of cloth and folds exceed 1 at a height, and how that changes with it, 1/m.
fn excess_and_slope(sheet_depth: f64, sheet_softness: f64, folds: &[NearFold], t: f64) -> (f64, f64) {
    let (e, up) = (sheet_softness * sheet_softness, t + sheet_depth);
    let inverse = 1.0 / (e + up * up);
    let of_sheet = (e + sheet_depth * sheet_depth) * inverse;
    let (mut excess, mut slope) = (of_sheet - 1.0, -2.0 * up * of_sheet * inverse);
    for f in folds {
        // The field of a long straight curve, and its derivative by the same quotient.
        let (e, up) = (f.softness * f.softness, t + f.depth);
        let inverse = 1.0 / (e + f.aside_squared + up * up);
        let ratio = (e + f.radius * f.radius) * inverse;
        let field = f.strength * ratio * ratio.sqrt();
        excess += field;
        slope -= 3.0 * up * field * inverse;
    }
    (excess, slope)
}

/// Height above the cloth at which the fields of cloth and folds sum to 1, m: the highest such place.
pub fn height(sheet_depth: f64, sheet_softness: f64, folds: &[NearFold]) -> f64 {
    let at = |t: f64| excess_and_slope(sheet_depth, sheet_softness, folds, t);
    let most = folds.iter().fold(sheet_depth, |most, f| most.max(f.radius));
    let (mut low, mut high) = (0.0, most);
    let mut below = at(low).0;
    if below.is_nan() || below <= 1e-12 {
        return 0.0;
    }
    let mut above = at(high).0;
    while above > 0.0 && high < 64.0 * most {
        (low, below) = (high, above);
        high *= 2.0;
        above = at(high).0;
    }
    // Newton's method, kept between two places that lie on both sides, from where a straight line between them has its zero.
    let mut t = if above < 0.0 { low + (high - low) * below / (below - above) } else { 0.5 * (low + high) };
    for _ in 0..60 {
        let (f, slope) = at(t);
        if f > 0.0 {
            low = t
        } else {
            high = t
        }
        let next = t - f / slope;
        let next = if next > low && next < high { next } else { 0.5 * (low + high) };
        let change = (next - t).abs();
        t = next;
        if change < 1e-6 * most {
            break;
        }
    }
    t
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_integral_of_the_kernel() {
        let (a, b) = (DVec3::new(0.1, -0.2, 0.05), DVec3::new(0.4, 0.1, 0.3));
        for (p, s) in
            [(DVec3::ZERO, 3.0), (DVec3::new(0.3, 0.0, 0.2), 20.0), (DVec3::new(1.0, 0.5, 0.0), 100.0)]
        {
            let n = 20_000;
            let step = a.distance(b) / f64::from(n);
            let sum: f64 = (0..n)
                .map(|i| {
                    let x = a.lerp(b, (f64::from(i) + 0.5) / f64::from(n));
                    let q = 1.0 + s * s * x.distance_squared(p);
                    step / (q * q)
                })
                .sum();
            let exact = segment_field(a, b, p, s);
            assert!((exact - sum).abs() < 1e-6 * sum, "{exact} {sum}");
        }
    }

    #[test]
    fn long_curves_have_the_field_of_lines_and_level_one_at_their_radius() {
        let (radius, s) = (0.02, 150.0);
        let (a, b) = (DVec3::new(-1.0, 0.0, 0.0), DVec3::new(1.0, 0.0, 0.0));
        for d in [0.005, 0.02, 0.05] {
            let exact = line_weight(radius, s) * segment_field(a, b, DVec3::new(0.1, d, 0.0), s);
            let line = line_field(radius, 1.0 / s, d * d);
            assert!((exact - line).abs() < 1e-4 * line, "{exact} {line}");
        }
        assert!((line_field(radius, 1.0 / s, radius * radius) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_sheet_is_its_own_level_and_heights_solve_the_equation() {
        assert_eq!(sheet_field(0.01, 0.003, 0.0), 1.0);
        assert_eq!(height(0.01, 0.003, &[]), 0.0);
        for k in 0..20 {
            let aside = 0.002 * f64::from(k);
            let near = |aside: f64| NearFold {
                radius: 0.015,
                depth: 0.004,
                softness: 0.003,
                aside_squared: aside * aside,
                strength: 0.9,
            };
            let folds = [near(aside), near(0.03 - aside)];
            let t = height(0.01, 0.003, &folds);
            let up = t + 0.004;
            let sum: f64 =
                folds.iter().map(|f| 0.9 * line_field(0.015, 0.003, f.aside_squared + up * up)).sum();
            assert!((sheet_field(0.01, 0.003, t) + sum - 1.0).abs() < 1e-5, "{t}");
        }
    }

    /// S13: the higher of two folds never merges, a sum of displacements doubles; the sum of fields widens and keeps the height.
    #[test]
    fn folds_that_meet_become_one_that_is_wider_and_hardly_higher() {
        let at = |folds: &[f64], x: f64| {
            let near: Vec<NearFold> = folds
                .iter()
                .map(|c| NearFold {
                    radius: 0.01,
                    depth: 0.0,
                    softness: 0.003,
                    aside_squared: (x - c) * (x - c),
                    strength: 1.0,
                })
                .collect();
            height(0.01, 0.003, &near)
        };
        let alone = at(&[0.0], 0.0);
        let both = at(&[-0.004, 0.004], 0.0);
        assert!(both > alone && both < 1.4 * alone, "{both} {alone}");
        let width =
            |folds: &[f64]| (0..200).filter(|i| at(folds, 2e-4 * f64::from(*i)) > 0.5 * alone).count();
        assert!(width(&[-0.004, 0.004]) > width(&[0.0]));
    }
}
