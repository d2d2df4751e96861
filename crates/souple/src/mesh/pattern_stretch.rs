//! How a triangle of a flat pattern is stretched by where its corners are in space (ROH-72, ROH-94).
//!
//! T is the linear map from pattern to space, 3×2; its singular values λ1 ≥ λ2 are the principal stretches: 1 and 1
//! if the triangle is as in the pattern, wherever it has been moved and turned to. All by closed forms of the 2×2
//! matrix C = TᵀT.

use glam::{DVec2, DVec3};

/// The map from pattern to space as its two columns, the images of the axes of the pattern; nothing if the triangle has
/// no area in the pattern.
pub fn deformation(pattern: [DVec2; 3], places: [DVec3; 3]) -> Option<[DVec3; 2]> {
    let (a, b) = (pattern[1] - pattern[0], pattern[2] - pattern[0]);
    let twice_area = a.perp_dot(b);
    if twice_area == 0.0 || !twice_area.is_finite() {
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

/// λ1 ≥ λ2 ≥ 0 of a triangle; nothing if it has no area in the pattern.
pub fn principal_stretches(pattern: [DVec2; 3], places: [DVec3; 3]) -> Option<[f64; 2]> {
    let (trace, area) = trace_and_area(deformation(pattern, places)?);
    // (λ1 ± λ2)² = trace ± 2 λ1 λ2; the difference is zero or above but for rounding.
    let (sum, difference) = ((trace + 2.0 * area).sqrt(), (trace - 2.0 * area).max(0.0).sqrt());
    Some([0.5 * (sum + difference), 0.5 * (sum - difference).max(0.0)])
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

    const FLAT: [DVec2; 3] = [DVec2::new(0.1, 0.2), DVec2::new(1.3, 0.1), DVec2::new(0.4, 0.9)];

    #[test]
    fn stretches_are_those_put_in() {
        // Two axes at right angles in space, scaled by 1.5 and 0.25, on axes of the pattern turned by 30°.
        let (e, f) = (DVec2::new(0.75f64.sqrt(), 0.5), DVec2::new(-0.5, 0.75f64.sqrt()));
        let (u, v) = (DVec3::new(2.0, 1.0, 2.0) / 3.0 * 1.5, DVec3::new(1.0, 2.0, -2.0) / 3.0 * 0.25);
        let places = FLAT.map(|p| DVec3::new(7.0, -3.0, 1.0) + u * p.dot(e) + v * p.dot(f));
        let [high, low] = principal_stretches(FLAT, places).unwrap();
        assert!((high - 1.5).abs() < 1e-14 && (low - 0.25).abs() < 1e-14);
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
        assert_eq!(principal_stretches(FLAT, [DVec3::ONE; 3]), Some([0.0, 0.0]));
        let flattened = FLAT.map(|p| DVec3::X * p.x);
        let [p, q] = nearest_rotation(deformation(FLAT, flattened).unwrap());
        assert!(
            (p.length() - 1.0).abs() < 1e-14 && (q.length() - 1.0).abs() < 1e-14 && p.dot(q).abs() < 1e-14
        );
    }
}
