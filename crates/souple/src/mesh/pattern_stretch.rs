//! How a triangle of a flat pattern is stretched by where its corners are in space (ROH-72, ROH-80, ROH-94).
//!
//! T is the linear map from pattern to space, 3×2; C = TᵀT is its metric, U = √C the right stretch tensor (Rohmer 2011, section 3.2). The
//! singular values of T are the principal stretches: both are 1 if the triangle is as in the pattern, wherever it has been moved
//! and turned to. All by closed forms.

use glam::{DVec2, DVec3};

/// Stretches along the two principal directions of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretches {
    /// The smaller one, λ₁.
    pub least: f64,
    /// The larger one, λ₂.
    pub most: f64,
    /// Unit vector of the pattern along which it is the larger one.
    pub along_most: DVec2,
}

/// The map from pattern to space as its two columns, the images of the axes of the pattern; nothing if the triangle has
/// no area in the pattern.
pub fn deformation(pattern: [DVec2; 3], places: [DVec3; 3]) -> Option<[DVec3; 2]> {
    let (a, b) = (pattern[1] - pattern[0], pattern[2] - pattern[0]);
    let twice_area = a.perp_dot(b);
    let has_area = twice_area.abs() > 1e-14 * a.length_squared().max(b.length_squared());
    if !(has_area && twice_area.is_finite()) {
        return None;
    }
    let (f, g) = (places[1] - places[0], places[2] - places[0]);
    Some([(f * b.y - g * a.y) / twice_area, (g * a.x - f * b.x) / twice_area])
}

/// Trace and root of the determinant of C = TᵀT: λ1² + λ2² and λ1 λ2.
fn trace_and_area(columns: [DVec3; 2]) -> (f64, f64) {
    let [u, v] = columns;
    (u.length_squared() + v.length_squared(), u.cross(v).length())
}

/// The metric C = TᵀT of a triangle as (xx, xy, yy) in the axes of the pattern; none if it has no area there.
pub fn metric(pattern: [DVec2; 3], places: [DVec3; 3]) -> Option<[f64; 3]> {
    let [x, y] = deformation(pattern, places)?;
    Some([x.dot(x), x.dot(y), y.dot(y)])
}

/// Principal stretches of a triangle of the pattern; none if it has no area there.
pub fn principal_stretches(pattern: [DVec2; 3], places: [DVec3; 3]) -> Option<Stretches> {
    let [x, y] = deformation(pattern, places)?;
    let (trace, area) = trace_and_area([x, y]);
    // (λ2 ± λ1)² = trace ± 2 λ1 λ2; the difference is zero or above but for rounding.
    let (sum, difference) = ((trace + 2.0 * area).sqrt(), (trace - 2.0 * area).max(0.0).sqrt());
    let along_most = larger_axis(0.5 * (x.dot(x) - y.dot(y)), x.dot(y));
    Some(Stretches { least: 0.5 * (sum - difference).max(0.0), most: 0.5 * (sum + difference), along_most })
}

/// Unit eigenvector of the larger eigenvalue of a symmetric matrix, by half the difference of its diagonal and its other number.
pub fn larger_axis(half: f64, xy: f64) -> DVec2 {
    let radius = (half * half + xy * xy).sqrt();
    if radius == 0.0 {
        return DVec2::X;
    }
    // Half the angle whose cosine and sine are half / radius and xy / radius; the larger part first, so that none is lost.
    let cosine = half / radius;
    let (x, y) = ((0.5 * (1.0 + cosine)).max(0.0).sqrt(), (0.5 * (1.0 - cosine)).max(0.0).sqrt());
    let axis = if xy < 0.0 { DVec2::new(x, -y) } else { DVec2::new(x, y) };
    axis.normalize_or(DVec2::X)
}

/// (λ1 − 1)² + (λ2 − 1)² of a map.
pub fn misfit(columns: [DVec3; 2]) -> f64 {
    let (trace, area) = trace_and_area(columns);
    (trace - 2.0 * (trace + 2.0 * area).sqrt() + 2.0).max(0.0)
}

/// The map of the same kind that stretches nothing and is nearest: T (TᵀT)^(−1/2), the rotation of its polar
/// decomposition. A map that flattens the triangle to a line gets some right angle to that line.
pub fn nearest_rotation(columns: [DVec3; 2]) -> [DVec3; 2] {
    let [u, v] = columns;
    let (trace, area) = trace_and_area(columns);
    let sum = (trace + 2.0 * area).sqrt();
    if area <= 1e-12 * trace || sum == 0.0 || !sum.is_finite() {
        let along = if u.length_squared() >= v.length_squared() { u } else { v };
        let along = along.try_normalize().unwrap_or(DVec3::X);
        let across = along.any_orthonormal_vector();
        return if u.length_squared() >= v.length_squared() { [along, across] } else { [across, along] };
    }
    // √C = (C + λ1 λ2 I) / (λ1 + λ2), whose determinant is λ1 λ2.
    let (a, b, c) = ((u.length_squared() + area) / sum, u.dot(v) / sum, (v.length_squared() + area) / sum);
    [(u * c - v * b) / area, (v * a - u * b) / area]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_stretches_come_back_whatever_the_axes_and_the_turn() {
        let pattern = [DVec2::new(0.3, 0.1), DVec2::new(1.2, 0.4), DVec2::new(0.5, 1.3)];
        for k in 0..40 {
            let angle = 0.17 * f64::from(k);
            let (c, s) = (crate::math::cos(angle), crate::math::sin(angle));
            let (e1, e2) = (DVec2::new(c, s), DVec2::new(-s, c));
            let (least, most) = (0.4 + 0.01 * f64::from(k), 1.0 + 0.02 * f64::from(k));
            // Two orthogonal directions of space, not along its axes.
            let (p, q) = (DVec3::new(2.0, -1.0, 0.5).normalize(), DVec3::new(1.0, 2.0, 0.0).normalize());
            let places =
                pattern.map(|x| p * (least * x.dot(e1)) + q * (most * x.dot(e2)) + DVec3::splat(3.0));
            let found = principal_stretches(pattern, places).unwrap();
            assert!((found.least - least).abs() < 1e-12 && (found.most - most).abs() < 1e-12, "{found:?}");
            assert!(found.along_most.dot(e2).abs() > 1.0 - 1e-9, "{found:?}");
        }
    }

    #[test]
    fn a_triangle_without_area_has_none_and_a_collapsed_one_is_told() {
        let flat = [DVec2::ZERO, DVec2::X, DVec2::X * 2.0];
        assert_eq!(principal_stretches(flat, [DVec3::ZERO, DVec3::X, DVec3::Y]), None);
        let pattern = [DVec2::ZERO, DVec2::X, DVec2::Y];
        let found = principal_stretches(pattern, [DVec3::ZERO, DVec3::X, DVec3::X]).unwrap();
        assert_eq!(found.least, 0.0);
    }

    const FLAT: [DVec2; 3] = [DVec2::new(0.1, 0.2), DVec2::new(1.3, 0.1), DVec2::new(0.4, 0.9)];

    #[test]
    fn stretches_are_those_put_in() {
        // Two axes at right angles in space, scaled by 1.5 and 0.25, on axes of the pattern turned by 30°.
        let (e, f) = (DVec2::new(0.75f64.sqrt(), 0.5), DVec2::new(-0.5, 0.75f64.sqrt()));
        let (u, v) = (DVec3::new(2.0, 1.0, 2.0) / 3.0 * 1.5, DVec3::new(1.0, 2.0, -2.0) / 3.0 * 0.25);
        let places = FLAT.map(|p| DVec3::new(7.0, -3.0, 1.0) + u * p.dot(e) + v * p.dot(f));
        let found = principal_stretches(FLAT, places).unwrap();
        assert!((found.most - 1.5).abs() < 1e-14 && (found.least - 0.25).abs() < 1e-14);
        let columns = deformation(FLAT, places).unwrap();
        assert!((misfit(columns) - (0.25 + 0.5625)).abs() < 1e-14);
        let [p, q] = nearest_rotation(columns);
        assert!(
            (p.length() - 1.0).abs() < 1e-14 && (q.length() - 1.0).abs() < 1e-14 && p.dot(q).abs() < 1e-14
        );
        // What is lost on the way to the nearest is the misfit.
        let lost = (columns[0] - p).length_squared() + (columns[1] - q).length_squared();
        assert!((lost - misfit(columns)).abs() < 1e-14);
    }

    #[test]
    fn degenerate_triangles_are_told() {
        let line = [DVec2::ZERO, DVec2::X, DVec2::X * 2.0];
        assert!(principal_stretches(line, [DVec3::ZERO; 3]).is_none());
        let gone = principal_stretches(FLAT, [DVec3::ONE; 3]).unwrap();
        assert_eq!((gone.least, gone.most), (0.0, 0.0));
        let flattened = FLAT.map(|p| DVec3::X * p.x);
        let [p, q] = nearest_rotation(deformation(FLAT, flattened).unwrap());
        assert!(
            (p.length() - 1.0).abs() < 1e-14 && (q.length() - 1.0).abs() < 1e-14 && p.dot(q).abs() < 1e-14
        );
    }
}
