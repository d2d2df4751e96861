//! How near cloth is to its pattern: elongation across and along folds, and what compression is left (ROH-87).

use glam::{DVec2, DVec3};

use super::fine::FineMesh;
use super::pattern::Pattern;
use super::tensor::StretchField;
use crate::mesh::pattern_stretch::metric;

/// How far cloth is from its pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Isometry {
    /// Largest elongation error across folds: the mean over the triangles of a coarse vertex that is inside compressed cloth, against 1.
    pub across: f64,
    /// Largest elongation error along folds, the same way.
    pub along: f64,
    /// Root of the mean square of compression over the area, 1 − λ₁ where that is positive.
    pub compression: f64,
    /// Mean elongation across folds over all compressed coarse triangles, by area; 1 if nothing is lost.
    pub mean_across: f64,
}

/// Measures the triangles of a fine mesh, or of the coarse one if it is cut into one piece, against the pattern. `field` is the stretch of the coarse
/// mesh, which says where folds run; coarse triangles compressed by less than `threshold`, or for which `counts` says no, are left out of elongations.
pub fn isometry(
    pattern: &Pattern,
    field: &StretchField,
    fine: &FineMesh,
    places: &[DVec3],
    threshold: f64,
    counts: impl Fn(u32) -> bool,
) -> Isometry {
    let per = (fine.pieces * fine.pieces) as usize;
    let mut found = Isometry::default();
    let (mut squares, mut area, mut sums, mut weight) = (0.0, 0.0, 0.0, 0.0);
    // Of each coarse vertex: elongations across and along, area; a negative one if a triangle does not count.
    let mut around = vec![[0.0f64; 3]; pattern.home.len()];
    for (t, group) in (0u32..).zip(fine.triangles.chunks_exact(per)) {
        let log = field.of_triangle(t as usize);
        let along = log.larger_axis();
        let across = DVec2::new(-along.y, along.x);
        let part = pattern.triangle_area(t) / per as f64;
        let (mut sum_across, mut sum_along) = (0.0, 0.0);
        for (i, corners) in group.iter().enumerate() {
            let flat = fine_corners(pattern, fine.pieces, t, i);
            let Some([xx, xy, yy]) = metric(flat, corners.map(|v| places[v as usize])) else { continue };
            let length = |d: DVec2| (xx * d.x * d.x + 2.0 * xy * d.x * d.y + yy * d.y * d.y).max(0.0).sqrt();
            sum_across += length(across);
            sum_along += length(along);
            let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
            let least = (mean - (half * half + xy * xy).sqrt()).max(0.0).sqrt();
            let lost = (1.0 - least).max(0.0);
            squares += part * lost * lost;
            area += part;
        }
        let (low, _) = log.eigenvalues();
        let is_compressed = 1.0 - crate::math::exp(low) >= threshold && counts(t);
        if is_compressed {
            sums += part * sum_across;
            weight += part * per as f64;
        }
        for v in pattern.triangles[t as usize] {
            let sum = &mut around[v as usize];
            let whole = if is_compressed { part * per as f64 } else { f64::NEG_INFINITY };
            *sum = [sum[0] + part * sum_across, sum[1] + part * sum_along, sum[2] + whole];
        }
    }
    for [across, along, area] in around.into_iter().filter(|sum| sum[2] > 0.0) {
        found.across = found.across.max((across / area - 1.0).abs());
        found.along = found.along.max((along / area - 1.0).abs());
    }
    found.compression = (squares / f64::max(area, f64::MIN_POSITIVE)).sqrt();
    found.mean_across = if weight > 0.0 { sums / weight } else { 1.0 };
    found
}

/// Corners of the i-th piece of a coarse triangle in its chart, m, in the order of [`FineMesh`].
pub(super) fn fine_corners(pattern: &Pattern, pieces: u32, t: u32, i: usize) -> [DVec2; 3] {
    let n = pieces as usize;
    let (mut row, mut left) = (0, i);
    // Row r has 2 (n − r) − 1 pieces: two per column but for the last.
    while left >= 2 * (n - row) - 1 {
        left -= 2 * (n - row) - 1;
        row += 1;
    }
    let (column, upper) = (left / 2, left % 2 == 1);
    let c = &pattern.corners[t as usize];
    let at = |i: usize, j: usize| {
        c[0] + (c[1] - c[0]) * (i as f64 / n as f64) + (c[2] - c[0]) * (j as f64 / n as f64)
    };
    match upper {
        false => [at(row, column), at(row + 1, column), at(row, column + 1)],
        true => [at(row + 1, column), at(row + 1, column + 1), at(row, column + 1)],
    }
}
