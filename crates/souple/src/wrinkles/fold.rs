//! The section of a fold: how wide, how deep, and how cloth lies on it (ROH-80, ROH-81; Rohmer 2011, section 3.4 and appendix C.1).
//!
//! A fold is an arc of radius R whose centre lies β below the cloth. Its curvature grows with the compression v, R = (1 − 2/π) R_min / v, and its
//! depth makes up for the lost length: the chord 2r becomes the arc 2r/(1 − v). That has an answer up to v = 1 − 2/π, a half circle; the seed
//! prints 2/π. Beyond, the tube stays a half circle.
//!
//! Beyond the seed, a [`Profile`] corrects what blending adds and takes: it solves for the strength of the field at which folds side by side, blended
//! with the cloth, have exactly the wanted length, and tells where each point of the cloth lies so that it is stretched evenly and not only on
//! average. As heights are no longer those of an arc it also goes beyond the half circle, up to [`MOST_COMPRESSION`]; crests are then sharper than
//! the smallest radius. What is compressed still more keeps the rest, and the measures say so.

use super::field::{NearFold, height};
use crate::math::acos;

/// The largest compression that an arc can make up for: a half circle, 1 − 2/π.
pub const HALF_CIRCLE: f64 = 1.0 - 2.0 / std::f64::consts::PI;

/// The least compression that sections are made for.
pub const LEAST_COMPRESSION: f64 = 0.01;

/// The largest compression that compensated folds make up for.
pub const MOST_COMPRESSION: f64 = 0.6;

/// Share of the half width of a fold that is 1/s of its field.
pub const SOFTNESS: f64 = 0.25;

/// Share of the half width of a fold that is d₀ of the cloth beside it.
pub const SHEET_DEPTH: f64 = 0.5;

/// Distance from its axis from which a fold has no field any more, in half widths, and up to which it has all of it.
pub const REACH: f64 = 1.1;
const INNER: f64 = 0.0;

/// Radius of a fold at that compression, m: never below the smallest one.
pub fn radius(smallest: f64, compression: f64) -> f64 {
    smallest * (HALF_CIRCLE / compression.max(LEAST_COMPRESSION)).max(1.0)
}

/// Depth of the axis over the radius, x = β/R: the root in [0, 1 − v) of (1 − v) acos x − √(1 − x²); 0 beyond the half circle.
pub fn depth_ratio(compression: f64) -> f64 {
    if compression >= HALF_CIRCLE {
        return 0.0;
    }
    let left = 1.0 - compression.max(LEAST_COMPRESSION);
    let mut x = 0.0f64;
    // From 0 Newton's method rises to the root without passing it.
    for _ in 0..50 {
        let root = (1.0 - x * x).sqrt();
        let step = (left * acos(x) - root) * root / (left - x);
        x = (x + step).clamp(0.0, left);
        if step.abs() < 1e-13 {
            break;
        }
    }
    x
}

/// Half the width of a fold where it leaves the cloth, m: √(R² − β²).
pub fn half_width(smallest: f64, compression: f64) -> f64 {
    let x = depth_ratio(compression);
    radius(smallest, compression) * (1.0 - x * x).sqrt()
}

/// Share of the field of a fold that counts at a distance of its axis, given in half widths: all of it near the axis, none from [`REACH`] on
/// (ROH-84). The seed cuts at 2 R; folds side by side would then fill the valleys between them.
pub fn window(distance: f64) -> f64 {
    let s = ((distance - INNER) / (REACH - INNER)).clamp(0.0, 1.0);
    1.0 - s * s * (3.0 - 2.0 * s)
}

/// Compressions that sections are made for, and points across half of each.
const ROWS: usize = 64;
const ACROSS: usize = 48;

/// A section for half width 1.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Section {
    radius: f64,
    depth: f64,
    strength: f64,
    /// Height of a fold by itself at REACH i/ACROSS from its axis.
    lone: [f64; ACROSS + 1],
    /// Where the cloth that is i/ACROSS of the way from axis to rim lies, minus i/ACROSS.
    slide: [f64; ACROSS + 1],
}

/// Sections for all compressions, scaled to half width 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    sections: Vec<Section>,
}

impl Default for Profile {
    fn default() -> Self {
        Profile::new(true)
    }
}

impl Profile {
    /// The sections; without compensation they are the seed's: depths of bare arcs, points that move along normals only.
    pub fn new(compensated: bool) -> Profile {
        let sections = (0..=ROWS).map(|row| section(compression_of(row), compensated));
        Profile { sections: sections.collect() }
    }

    fn row(&self, compression: f64) -> (usize, f64) {
        let share = (compression - LEAST_COMPRESSION) / (MOST_COMPRESSION - LEAST_COMPRESSION);
        let row = share.clamp(0.0, 1.0).sqrt() * ROWS as f64;
        let low = (row as usize).min(ROWS - 1);
        // Inside a row compression is quadratic; radii and depths are taken as linear in it.
        let (a, b) = (compression_of(low), compression_of(low + 1));
        (low, ((compression - a) / (b - a)).clamp(0.0, 1.0))
    }

    /// The tube of a fold of half width 1.
    pub fn tube(&self, compression: f64) -> Tube {
        let (row, share) = self.row(compression);
        let (a, b) = (&self.sections[row], &self.sections[row + 1]);
        let between = |a: f64, b: f64| a + share * (b - a);
        Tube {
            radius: between(a.radius, b.radius),
            depth: between(a.depth, b.depth),
            strength: between(a.strength, b.strength),
        }
    }

    /// How far cloth slides outwards, over the half width, that is at that share of the way from axis to rim.
    pub fn slide(&self, compression: f64, share_of_way: f64) -> f64 {
        if share_of_way.is_nan() || share_of_way >= 1.0 {
            return 0.0;
        }
        let (row, share) = self.row(compression);
        let place = share_of_way.max(0.0) * ACROSS as f64;
        let i = (place as usize).min(ACROSS - 1);
        let between = |s: &Section| s.slide[i] + (place - i as f64) * (s.slide[i + 1] - s.slide[i]);
        let (a, b) = (between(&self.sections[row]), between(&self.sections[row + 1]));
        a + share * (b - a)
    }
}

impl Profile {
    /// Height over the half width of a fold of full strength that has the place for itself, at a distance of its axis in half widths: what
    /// [`lone_height`] gives, between points of a table.
    pub fn lone_height(&self, compression: f64, distance: f64) -> f64 {
        let place = distance / REACH * ACROSS as f64;
        if place.is_nan() || place >= ACROSS as f64 {
            return 0.0;
        }
        let (row, share) = self.row(compression);
        let i = place as usize;
        let between = |s: &Section| s.lone[i] + (place - i as f64) * (s.lone[i + 1] - s.lone[i]);
        let (a, b) = (between(&self.sections[row]), between(&self.sections[row + 1]));
        a + share * (b - a)
    }
}

fn compression_of(row: usize) -> f64 {
    let share = row as f64 / ROWS as f64;
    LEAST_COMPRESSION + share * share * (MOST_COMPRESSION - LEAST_COMPRESSION)
}

/// The tube whose level is a fold of half width 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tube {
    /// Its radius.
    pub radius: f64,
    /// How far its axis is below the cloth.
    pub depth: f64,
    /// What its field is multiplied by, to make up for blending.
    pub strength: f64,
}

fn near(tube: &Tube, aside: f64) -> NearFold {
    NearFold {
        radius: tube.radius,
        depth: tube.depth,
        softness: SOFTNESS,
        aside_squared: aside * aside,
        strength: tube.strength * window(aside.abs()),
    }
}

/// Height over the half width of a fold by itself, at a distance of its axis in half widths.
pub fn lone_height(tube: &Tube, distance: f64) -> f64 {
    height(SHEET_DEPTH, SOFTNESS, &[near(tube, distance)])
}

/// Height over the half width of folds side by side, two half widths apart, at a place between axis (0) and rim (1).
pub fn tiled_height(tube: &Tube, place: f64) -> f64 {
    height(SHEET_DEPTH, SOFTNESS, &[near(tube, place), near(tube, 2.0 - place), near(tube, 2.0 + place)])
}

fn section(compression: f64, compensated: bool) -> Section {
    let x = depth_ratio(compression);
    let radius = 1.0 / (1.0 - x * x).sqrt();
    let depth = radius * x;
    if !compensated {
        let tube = Tube { radius, depth, strength: 1.0 };
        return Section { radius, depth, strength: 1.0, lone: lone_table(&tube), slide: [0.0; ACROSS + 1] };
    }
    const STEPS: usize = 96;
    let outline = |strength: f64| {
        let tube = Tube { radius, depth, strength };
        let mut ways = [0.0; STEPS + 1];
        let mut before = tiled_height(&tube, 0.0);
        for i in 1..=STEPS {
            let now = tiled_height(&tube, i as f64 / STEPS as f64);
            let run = 1.0 / STEPS as f64;
            ways[i] = ways[i - 1] + (run * run + (now - before) * (now - before)).sqrt();
            before = now;
        }
        ways
    };
    // The stronger the field the longer the way over the fold.
    let wanted = 1.0 / (1.0 - compression);
    let (mut low, mut high) = (0.0, 64.0);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if outline(middle)[STEPS] < wanted { low = middle } else { high = middle }
    }
    let strength = 0.5 * (low + high);
    let ways = outline(strength);
    let slide = std::array::from_fn(|i| {
        let target = ways[STEPS] * i as f64 / ACROSS as f64;
        let k = ways.partition_point(|w| *w < target).clamp(1, STEPS);
        let share = (target - ways[k - 1]) / (ways[k] - ways[k - 1]);
        (k as f64 - 1.0 + share) / STEPS as f64 - i as f64 / ACROSS as f64
    });
    Section { radius, depth, strength, lone: lone_table(&Tube { radius, depth, strength }), slide }
}

fn lone_table(tube: &Tube) -> [f64; ACROSS + 1] {
    std::array::from_fn(|i| lone_height(tube, REACH * i as f64 / ACROSS as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The table of the seed's extract, in units of the smallest radius: compression, radius, depth over radius, half width, height.
    const ORACLE: [[f64; 5]; 5] = [
        [0.05, 7.268, 0.8515, 3.811, 1.079],
        [0.10, 3.634, 0.7062, 2.573, 1.068],
        [0.20, 1.817, 0.4257, 1.644, 1.044],
        [0.30, 1.211, 0.1599, 1.196, 1.018],
        [0.363, 1.001, 0.0009, 1.001, 1.000],
    ];

    #[test]
    fn sections_are_those_of_the_table() {
        for [v, r, x, w, h] in ORACLE {
            assert!((radius(1.0, v) - r).abs() < 6e-4, "{v}");
            assert!((depth_ratio(v) - x).abs() < 6e-5, "{v}: {}", depth_ratio(v));
            assert!((half_width(1.0, v) - w).abs() < 6e-4, "{v}");
            assert!((radius(1.0, v) * (1.0 - depth_ratio(v)) - h).abs() < 6e-4, "{v}");
        }
    }

    #[test]
    fn the_arc_has_the_length_that_was_lost() {
        for i in 2..36 {
            let v = 0.01 * f64::from(i);
            let (r, x) = (radius(0.02, v), depth_ratio(v));
            let (chord, arc) = (2.0 * half_width(0.02, v), 2.0 * r * acos(x));
            assert!((arc * (1.0 - v) - chord).abs() < 1e-12, "{v}");
        }
        assert_eq!(depth_ratio(0.5), 0.0);
        assert_eq!(radius(0.02, 0.9), 0.02);
    }

    #[test]
    fn heights_between_points_of_the_table_are_those_of_the_fields() {
        let (profile, mut worst) = (Profile::default(), 0.0f64);
        for i in 0..40 {
            for k in 0..45 {
                let (v, q) = (0.02 + 0.012 * f64::from(i), 0.025 * f64::from(k));
                let (fast, plain) = (profile.lone_height(v, q), lone_height(&profile.tube(v), q));
                worst = worst.max((fast - plain).abs());
            }
        }
        assert!(worst < 0.006, "{worst}");
    }

    #[test]
    fn compensated_folds_side_by_side_have_the_wanted_length_and_even_stretch() {
        let (bare, profile) = (Profile::new(false), Profile::default());
        for v in [0.03, 0.07, 0.12, 0.2, 0.28, 0.34, 0.45, 0.55] {
            let length = |p: &Profile| {
                let tube = p.tube(v);
                let points: Vec<(f64, f64)> = (0..=200)
                    .map(|i| {
                        let q = f64::from(i) / 200.0;
                        let y = q + p.slide(v, q);
                        (y, tiled_height(&tube, y))
                    })
                    .collect();
                let pieces: Vec<f64> = points
                    .windows(2)
                    .map(|w| glam::DVec2::new(w[1].0 - w[0].0, w[1].1 - w[0].1).length() * 200.0 * (1.0 - v))
                    .collect();
                let even = pieces.iter().fold(0.0f64, |m, p| m.max((p - 1.0).abs()));
                (pieces.iter().sum::<f64>() / 200.0, even)
            };
            let ((compensated, even), (_, uneven)) = (length(&profile), length(&bare));
            assert!((compensated - 1.0).abs() < 0.005, "{v}: {compensated}");
            let limit = if v < HALF_CIRCLE { 0.12 } else { 0.3 };
            assert!(even < limit && even < uneven, "{v}: {even} {uneven}");
        }
    }
}
