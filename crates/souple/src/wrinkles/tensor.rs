//! The stretch of cloth against its pattern as a smooth field, and the lines that folds follow (ROH-72 to ROH-74).
//!
//! Each triangle has a right stretch tensor U in the axes of its chart. A vertex gets the mean of its triangles in the affine-invariant metric
//! (Pennec 2006), weighted by area, which keeps anisotropy where a plain mean loses it. Inside triangles the logarithms of the corners are mixed:
//! one exponential per point instead of an iteration; a test compares it with the affine-invariant mean.

use glam::{DVec2, DVec3};

use super::pattern::{Pattern, Point};
use crate::math::{exp, ln};
use crate::mesh::pattern_stretch::{larger_axis, metric};

/// Stretches are held between these, so that collapsed triangles have a logarithm.
const STRETCH_RANGE: (f64, f64) = (0.02, 50.0);

/// Steps of the affine-invariant mean, at most.
const MOST_STEPS: usize = 20;

/// A symmetric matrix of two rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sym2 {
    /// First row and column.
    pub xx: f64,
    /// Off the diagonal.
    pub xy: f64,
    /// Second row and column.
    pub yy: f64,
}

impl Sym2 {
    /// The matrix 1.
    pub const IDENTITY: Sym2 = Sym2 { xx: 1.0, xy: 0.0, yy: 1.0 };

    /// Its eigenvalues, the smaller one first.
    pub fn eigenvalues(&self) -> (f64, f64) {
        let (mean, radius) = self.mean_and_radius();
        (mean - radius, mean + radius)
    }

    /// Unit eigenvector of the larger eigenvalue.
    pub fn larger_axis(&self) -> DVec2 {
        larger_axis(0.5 * (self.xx - self.yy), self.xy)
    }

    fn mean_and_radius(&self) -> (f64, f64) {
        let (mean, half) = (0.5 * (self.xx + self.yy), 0.5 * (self.xx - self.yy));
        (mean, (half * half + self.xy * self.xy).sqrt())
    }

    /// A function of the matrix: the same axes, the function of each eigenvalue.
    fn map(&self, f: impl Fn(f64) -> f64) -> Sym2 {
        let (mean, radius) = self.mean_and_radius();
        let (low, high) = (f(mean - radius), f(mean + radius));
        let middle = 0.5 * (low + high);
        let slope = if radius > 1e-300 { 0.5 * (high - low) / radius } else { 0.0 };
        let (xx, yy) = (middle + slope * (self.xx - mean), middle + slope * (self.yy - mean));
        Sym2 { xx, xy: slope * self.xy, yy }
    }

    /// Its exponential.
    pub fn exp(&self) -> Sym2 {
        self.map(exp)
    }

    /// Its logarithm; it must be positive.
    pub fn ln(&self) -> Sym2 {
        self.map(ln)
    }

    /// A M A for symmetric A.
    fn sandwiched(&self, a: &Sym2) -> Sym2 {
        // The columns of M A, then those of A (M A).
        let (p, q) = (self.xx * a.xx + self.xy * a.xy, self.xy * a.xx + self.yy * a.xy);
        let (r, s) = (self.xx * a.xy + self.xy * a.yy, self.xy * a.xy + self.yy * a.yy);
        Sym2 { xx: a.xx * p + a.xy * q, xy: a.xx * r + a.xy * s, yy: a.xy * r + a.yy * s }
    }

    /// In axes turned by an angle given as cosine and sine.
    pub fn turned(&self, turn: DVec2) -> Sym2 {
        if turn == DVec2::X {
            return *self;
        }
        let (c, s) = (turn.x, turn.y);
        let (cc, cs, ss) = (c * c, c * s, s * s);
        Sym2 {
            xx: cc * self.xx - 2.0 * cs * self.xy + ss * self.yy,
            xy: cs * (self.xx - self.yy) + (cc - ss) * self.xy,
            yy: ss * self.xx + 2.0 * cs * self.xy + cc * self.yy,
        }
    }

    fn scaled_add(&mut self, share: f64, other: &Sym2) {
        self.xx += share * other.xx;
        self.xy += share * other.xy;
        self.yy += share * other.yy;
    }

    fn norm(&self) -> f64 {
        (self.xx * self.xx + 2.0 * self.xy * self.xy + self.yy * self.yy).sqrt()
    }
}

/// Logarithm of the right stretch tensor of a triangle: half that of its metric. Collapsed and enormous stretches are held in bounds.
pub fn log_stretch(corners: [DVec2; 3], places: [DVec3; 3]) -> Sym2 {
    let Some([xx, xy, yy]) = metric(corners, places) else { return Sym2::default() };
    let held = |squared: f64| {
        0.5 * ln(squared.clamp(STRETCH_RANGE.0 * STRETCH_RANGE.0, STRETCH_RANGE.1 * STRETCH_RANGE.1))
    };
    Sym2 { xx, xy, yy }.map(held)
}

/// Weighted mean of tensors, given and returned as logarithms, in the affine-invariant metric (ROH-73):
/// U ← U^½ exp( Σ wⱼ log( U^-½ Uⱼ U^-½ ) ) U^½. Weights sum to 1.
pub fn affine_mean(logs: impl Iterator<Item = (f64, Sym2)> + Clone) -> Sym2 {
    // From the mean of the logarithms, which is the answer where all have the same axes.
    let mut log = Sym2::default();
    logs.clone().for_each(|(weight, l)| log.scaled_add(weight, &l));
    for _ in 0..MOST_STEPS {
        let (root, inverse) = (log.map(|l| exp(0.5 * l)), log.map(|l| exp(-0.5 * l)));
        let mut step = Sym2::default();
        logs.clone().for_each(|(weight, l)| step.scaled_add(weight, &l.exp().sandwiched(&inverse).ln()));
        if step.norm() < 1e-9 {
            break;
        }
        log = step.exp().sandwiched(&root).ln();
    }
    log
}

/// What the field says at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Strain {
    /// Compression per length across folds, 1 − λ₁; 0 where there is none.
    pub compression: f64,
    /// Stretch along folds, λ₂.
    pub along: f64,
    /// Unit vector along folds in the chart; its sign means nothing.
    pub direction: DVec2,
}

/// The stretch of a whole piece of cloth, in logarithms: of each triangle at its three corners, in its own chart.
#[derive(Clone, Debug, Default)]
pub struct StretchField {
    corners: Vec<[Sym2; 3]>,
    triangles: Vec<Sym2>,
    fans: Vec<(u32, u32)>,
    starts: Vec<usize>,
}

impl StretchField {
    /// Measures cloth whose vertices are at those places, m.
    pub fn measure(&mut self, pattern: &Pattern, places: &[DVec3]) {
        let count = pattern.triangles.len();
        self.triangles.clear();
        self.triangles.extend(
            (0..count)
                .map(|t| log_stretch(pattern.corners[t], pattern.triangles[t].map(|v| places[v as usize]))),
        );
        self.list_fans(pattern);
        self.corners.resize(count, [Sym2::default(); 3]);
        for v in 0..pattern.home.len() {
            let fan = &self.fans[self.starts[v]..self.starts[v + 1]];
            let area: f64 = fan.iter().map(|&(t, _)| pattern.triangle_area(t)).sum();
            let in_frame = fan.iter().map(|&(t, k)| {
                let turn = pattern.corner_turn[t as usize][k as usize];
                let back = DVec2::new(turn.x, -turn.y);
                (pattern.triangle_area(t) / area, self.triangles[t as usize].turned(back))
            });
            let mean = affine_mean(in_frame);
            for &(t, k) in fan {
                let turn = pattern.corner_turn[t as usize][k as usize];
                self.corners[t as usize][k as usize] = mean.turned(turn);
            }
        }
    }

    /// The corners at each vertex, made once.
    fn list_fans(&mut self, pattern: &Pattern) {
        if self.starts.len() == pattern.home.len() + 1 && self.fans.len() == 3 * pattern.triangles.len() {
            return;
        }
        self.fans.clear();
        for t in 0..pattern.triangles.len() as u32 {
            (0..3).for_each(|k| self.fans.push((t, k)));
        }
        self.fans.sort_by_key(|&(t, k)| (pattern.triangles[t as usize][k as usize], t, k));
        self.starts.clear();
        let of = |&(t, k): &(u32, u32)| pattern.triangles[t as usize][k as usize] as usize;
        self.starts
            .extend((0..=pattern.home.len()).map(|v| self.fans.partition_point(|corner| of(corner) < v)));
    }

    /// The logarithm of the tensor at a point.
    pub fn log_at(&self, pattern: &Pattern, point: Point) -> Sym2 {
        let corners = &self.corners[point.triangle as usize];
        let shares = pattern.shares(point);
        let mut log = Sym2::default();
        (0..3).for_each(|k| log.scaled_add(shares[k], &corners[k]));
        log
    }

    /// Compression across folds and their direction at a point (ROH-74).
    pub fn at(&self, pattern: &Pattern, point: Point) -> Strain {
        let log = self.log_at(pattern, point);
        let (low, high) = log.eigenvalues();
        Strain { compression: (1.0 - exp(low)).max(0.0), along: exp(high), direction: log.larger_axis() }
    }

    /// The logarithm of the tensor of a triangle by itself.
    pub fn of_triangle(&self, triangle: usize) -> Sym2 {
        self.triangles[triangle]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{cos, sin, uniform};

    fn random(seed: u64, i: u64) -> Sym2 {
        let angle = 6.0 * uniform(seed, 3 * i);
        let turn = DVec2::new(cos(angle), sin(angle));
        let (a, b) = (0.6 + 0.5 * uniform(seed, 3 * i + 1), 0.9 + 0.5 * uniform(seed, 3 * i + 2));
        Sym2 { xx: ln(a), xy: 0.0, yy: ln(b) }.turned(turn)
    }

    #[test]
    fn functions_of_matrices_are_inverse_and_turn_with_them() {
        for i in 0..50 {
            let m = random(1, i);
            let back = m.exp().ln();
            assert!((back.xx - m.xx).abs() + (back.xy - m.xy).abs() + (back.yy - m.yy).abs() < 1e-12);
            let (low, high) = m.eigenvalues();
            let axis = m.larger_axis();
            let along = m.xx * axis.x * axis.x + 2.0 * m.xy * axis.x * axis.y + m.yy * axis.y * axis.y;
            assert!((along - high).abs() < 1e-12 && low <= high);
        }
    }

    #[test]
    fn the_affine_mean_is_invariant_and_that_of_logarithms_is_close() {
        for trial in 0..20 {
            let logs: Vec<(f64, Sym2)> = (0..6).map(|i| (1.0 / 6.0, random(trial, i))).collect();
            let mean = affine_mean(logs.iter().copied()).exp();
            // A congruence of all tensors is one of the mean; the mean of logarithms does not have this.
            let a = random(99, trial).exp();
            let moved = logs.iter().map(|(w, l)| (*w, l.exp().sandwiched(&a).ln()));
            let expected = mean.sandwiched(&a);
            let found = affine_mean(moved.collect::<Vec<_>>().into_iter()).exp();
            let error = (found.xx - expected.xx).abs()
                + (found.xy - expected.xy).abs()
                + (found.yy - expected.yy).abs();
            assert!(error < 1e-8, "{error}");
            // Between the corners of a triangle the logarithms are mixed instead: stretches differ by less than 1 %.
            let three = &logs[..3];
            let shares = [0.5, 0.3, 0.2];
            let exact = affine_mean(three.iter().zip(shares).map(|((_, l), w)| (w, *l)));
            let mut mixed = Sym2::default();
            three.iter().zip(shares).for_each(|((_, l), w)| mixed.scaled_add(w, l));
            let (e, m) = (exact.exp().eigenvalues(), mixed.exp().eigenvalues());
            assert!((e.0 - m.0).abs() < 0.01 && (e.1 - m.1).abs() < 0.01, "{e:?} {m:?}");
        }
    }

    #[test]
    fn a_plain_mean_loses_what_the_affine_one_keeps() {
        // The same stretches along axes at right angles: determinants stay with the affine mean, and grow with a plain one.
        let (a, b) = (Sym2 { xx: ln(0.5), xy: 0.0, yy: ln(2.0) }, Sym2 { xx: ln(2.0), xy: 0.0, yy: ln(0.5) });
        let mean = affine_mean([(0.5, a), (0.5, b)].into_iter()).exp();
        assert!((mean.xx - 1.0).abs() < 1e-9 && (mean.yy - 1.0).abs() < 1e-9);
    }
}
