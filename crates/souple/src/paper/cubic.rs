//! Cubic fold curves: between two given ends with two free tangents, sampled at equal shares of their length (ROH-91,
//! ROH-93; Rohmer 2011, appendix D).
//!
//! The length up to t is a Gauss–Legendre sum with 8 nodes; the t of a share of the length is found by Newton's method,
//! begun at the share itself. Printed there without the division by the whole length; it is here.

use glam::DVec3;

/// Nodes and weights of Gauss and Legendre on [−1, 1], eight of them: ± each node.
const NODES: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_47),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// Steps of Newton's method at most; three are common.
const MAX_STEPS: usize = 20;

/// c(t) = A t³ + B t² + C t + D for t from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    a: DVec3,
    b: DVec3,
    c: DVec3,
    d: DVec3,
}

impl Cubic {
    /// From its ends and the tangents there (Hermite).
    pub fn new(ends: [DVec3; 2], tangents: [DVec3; 2]) -> Cubic {
        let ([p, q], [s, t]) = (ends, tangents);
        Cubic { a: (p - q) * 2.0 + s + t, b: (q - p) * 3.0 - s * 2.0 - t, c: s, d: p }
    }

    /// Where it is at t.
    pub fn at(&self, t: f64) -> DVec3 {
        ((self.a * t + self.b) * t + self.c) * t + self.d
    }

    /// |c'(t)|.
    fn speed(&self, t: f64) -> f64 {
        ((self.a * (3.0 * t) + self.b * 2.0) * t + self.c).length()
    }

    /// Length from 0 to t, in four parts: eight nodes for all of a curve that turns round are not enough.
    pub fn length_to(&self, t: f64) -> f64 {
        let half = 0.125 * t;
        let part = |k: usize| {
            let middle = half * (2 * k + 1) as f64;
            let pair =
                |(x, w): &(f64, f64)| w * (self.speed(middle - half * x) + self.speed(middle + half * x));
            NODES.iter().map(pair).sum::<f64>()
        };
        half * (0..4).map(part).sum::<f64>()
    }

    /// Length from s to t, which are near each other: three nodes do.
    fn length_between(&self, s: f64, t: f64) -> f64 {
        let (half, middle) = (0.5 * (t - s), 0.5 * (s + t));
        let off = half * 0.774_596_669_241_483_4;
        half * (5.0 * (self.speed(middle - off) + self.speed(middle + off)) + 8.0 * self.speed(middle)) / 9.0
    }

    /// Points that cut it into `pieces` of equal length, both ends left out: Newton's method for each from where the one before was.
    pub fn samples(&self, pieces: usize, out: &mut Vec<DVec3>) {
        out.clear();
        let each = self.length_to(1.0) / pieces as f64;
        let mut t = 0.0;
        for _ in 1..pieces {
            let from = t;
            // By the speed half way, which is as good as a step of Newton's.
            let ahead = |speed: f64, share: f64| {
                if speed > 1e-9 * each { (from + share * each / speed).min(1.0) } else { from }
            };
            t = ahead(self.speed(ahead(self.speed(from), 0.5)), 1.0);
            let mut length = self.length_between(from, t);
            for _ in 0..MAX_STEPS {
                let (error, speed) = (length - each, self.speed(t));
                if error.abs() <= 1e-6 * each || speed <= 1e-9 * each {
                    break;
                }
                t = (t - error / speed).clamp(from, 1.0);
                length = self.length_between(from, t);
            }
            out.push(self.at(t));
        }
    }

    /// The t at which a share of the length is reached, by Newton's method from the share itself: the plain twin of the samples.
    pub fn parameter(&self, share: f64) -> f64 {
        let length = self.length_to(1.0);
        let mut t = share;
        for _ in 0..MAX_STEPS {
            let speed = self.speed(t);
            let error = self.length_to(t) - share * length;
            if error.abs() <= 1e-9 * length || speed <= 1e-9 * length {
                break;
            }
            t = (t - error / speed).clamp(0.0, 1.0);
        }
        t
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_of_a_parabola() {
        // (t, t²): ∫ √(1 + 4 t²) = √5/2 + asinh(2)/4.
        let parabola =
            Cubic::new([DVec3::ZERO, DVec3::new(1.0, 1.0, 0.0)], [DVec3::X, DVec3::new(1.0, 2.0, 0.0)]);
        let exact = 5.0f64.sqrt() / 2.0 + crate::math::ln(2.0 + 5.0f64.sqrt()) / 4.0;
        assert!((parabola.length_to(1.0) - exact).abs() < 1e-8);
    }

    #[test]
    fn samples_are_equally_far_apart_along_the_curve() {
        let curve =
            Cubic::new([DVec3::ZERO, DVec3::X], [DVec3::new(0.5, 3.0, 1.0), DVec3::new(2.0, -1.0, 2.0)]);
        let mut points = Vec::new();
        let pieces = 400;
        curve.samples(pieces, &mut points);
        points.insert(0, DVec3::ZERO);
        points.push(DVec3::X);
        let length = curve.length_to(1.0);
        for pair in points.windows(2) {
            // Chords are shorter than arcs by (κ s)²/24: 1e-3 of them where it bends most.
            assert!((pair[0].distance(pair[1]) * pieces as f64 / length - 1.0).abs() < 2e-3);
        }
        for (k, point) in points[1..pieces].iter().enumerate() {
            let plain = curve.at(curve.parameter((k + 1) as f64 / pieces as f64));
            assert!(plain.distance(*point) < 1e-5 * length, "{k}: {plain} {point}");
        }
        // A straight line keeps its points in place, and one without length has no panic.
        let line = Cubic::new([DVec3::ZERO, DVec3::X], [DVec3::X, DVec3::X]);
        line.samples(4, &mut points);
        assert!((points[0].x - 0.25).abs() < 1e-12 && points.len() == 3);
        Cubic::new([DVec3::ZERO; 2], [DVec3::ZERO; 2]).samples(4, &mut points);
        assert_eq!(points, [DVec3::ZERO; 3]);
    }
}
