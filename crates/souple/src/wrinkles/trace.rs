//! Curves that folds follow, traced in the pattern (ROH-75, ROH-76).
//!
//! From a seed both ways along the line field by Euler's method in steps of half the smallest radius, straight across edges and seams; the sign is
//! chosen anew in each step so that a curve never turns back. It ends where compression falls below a threshold, at the border, where another curve is
//! met, or where it comes back to its seed: then it is a ring.

use glam::DVec2;

use super::pattern::{Pattern, Point, Walk};
use super::tensor::StretchField;

/// Steps of Euler's method between two points that are kept.
const SUBSTEPS: usize = 2;

/// One point of a traced curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traced {
    /// Where.
    pub at: Point,
    /// Compression across it.
    pub compression: f64,
    /// Stretch along it.
    pub along: f64,
}

/// A curve from a seed: the points in front of it and behind it, at equal distances, without the seed itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// In front, from the seed on.
    pub front: Vec<Traced>,
    /// Behind, from the seed on.
    pub back: Vec<Traced>,
    /// Whether the front came back to the seed; there is nothing behind then.
    pub ring: bool,
}

/// How curves are traced.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    /// Distance of points, m.
    pub spacing: f64,
    /// Compression below which a curve ends.
    pub threshold: f64,
    /// Most points on each side.
    pub most: usize,
}

/// Traces the curve through a seed. `forward` is the direction that counts as its front; `is_taken` says where other curves are.
pub fn trace(
    pattern: &Pattern,
    field: &StretchField,
    walk: &mut Walk,
    rules: &Rules,
    seed: Point,
    forward: DVec2,
    mut is_taken: impl FnMut(&mut Walk, Point) -> bool,
) -> Trace {
    let mut side = |walk: &mut Walk, heading: DVec2| {
        let (mut at, mut heading) = (seed, heading);
        let mut points = Vec::new();
        while points.len() < rules.most {
            let mut left = 0.0;
            for _ in 0..SUBSTEPS {
                let line = field.at(pattern, at).direction;
                let line = if line.dot(heading) < 0.0 { -line } else { line };
                let stepped = pattern.step(at, line, rules.spacing / SUBSTEPS as f64);
                (at, heading, left) = (stepped.point, stepped.direction, stepped.left);
                if left > 0.0 {
                    break;
                }
            }
            let strain = field.at(pattern, at);
            if left > 0.0 || strain.compression < rules.threshold || is_taken(walk, at) {
                break;
            }
            let near_seed =
                points.len() > 3 && walk.vector(pattern, at, seed, 0.75 * rules.spacing).is_some();
            if near_seed {
                return (points, true);
            }
            points.push(Traced { at, compression: strain.compression, along: strain.along });
        }
        (points, false)
    };
    let (front, ring) = side(walk, forward);
    let back = if ring { Vec::new() } else { side(walk, -forward).0 };
    Trace { front, back, ring }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;

    use super::*;

    /// A square metre whose x is compressed by 20 %: lines run along z, from border to border.
    #[test]
    fn curves_run_across_the_compression_up_to_the_border() {
        let (x, t) = crate::wrinkles::tests::sheet(9, 9, 1.0, 1.0);
        let pattern = Pattern::of_rest(&x, &t).unwrap();
        let places: Vec<DVec3> = x.iter().map(|p| DVec3::new(0.8 * p.x, p.y, p.z)).collect();
        let mut field = StretchField::default();
        field.measure(&pattern, &places);
        let seed = pattern.at_vertex(40).unwrap();
        let strain = field.at(&pattern, seed);
        assert!((strain.compression - 0.2).abs() < 1e-12 && (strain.along - 1.0).abs() < 1e-12);
        let rules = Rules { spacing: 0.02, threshold: 0.05, most: 1000 };
        let found =
            trace(&pattern, &field, &mut Walk::default(), &rules, seed, strain.direction, |_, _| false);
        assert!(!found.ring);
        let ends = [found.front.last().unwrap(), found.back.last().unwrap()];
        for end in ends {
            let place = pattern.place(end.at, &x);
            assert!((place.x - x[40].x).abs() < 1e-9);
            assert!(place.z < 0.021 || place.z > 0.979, "{place}");
        }
        assert_eq!(found.front.len() + found.back.len() + 1, 49);
    }
}
