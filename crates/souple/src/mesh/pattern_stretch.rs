//! How a triangle of a flat pattern is stretched where it is in space (ROH-72, ROH-80).
//!
//! T maps vectors of the pattern to space; C = TᵀT is its metric, U = √C the right stretch tensor (Rohmer 2011, section 3.2). The principal
//! stretches are the lengths that the two principal directions of the pattern get; both are 1 where nothing is stretched, whatever the turn.

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

/// The metric C = TᵀT of a triangle as (xx, xy, yy) in the axes of the pattern; none if it has no area there.
pub fn metric(pattern: [DVec2; 3], places: [DVec3; 3]) -> Option<[f64; 3]> {
    let (a, b) = (pattern[1] - pattern[0], pattern[2] - pattern[0]);
    let (p, q) = (places[1] - places[0], places[2] - places[0]);
    let twice_area = a.perp_dot(b);
    let has_area = twice_area.abs() > 1e-14 * a.length_squared().max(b.length_squared());
    if !has_area {
        return None;
    }
    // The columns of T are where the axes of the pattern go.
    let x = (p * b.y - q * a.y) / twice_area;
    let y = (q * a.x - p * b.x) / twice_area;
    Some([x.dot(x), x.dot(y), y.dot(y)])
}

/// Principal stretches of a triangle of the pattern; none if it has no area there.
pub fn principal_stretches(pattern: [DVec2; 3], places: [DVec3; 3]) -> Option<Stretches> {
    let [xx, xy, yy] = metric(pattern, places)?;
    let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
    let radius = (half * half + xy * xy).sqrt();
    let along_most = larger_axis(half, xy);
    Some(Stretches { least: (mean - radius).max(0.0).sqrt(), most: (mean + radius).sqrt(), along_most })
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
}
