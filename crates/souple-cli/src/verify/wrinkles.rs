//! The section of a fold against the circle it is an arc of, fields against their definition, and a compressed sheet against its pattern.

use std::f64::consts::PI;

use glam::DVec3;
use souple::math::{acos, sin};
use souple::wrinkles::field::{line_field, line_weight, segment_field};
use souple::wrinkles::fold::{HALF_CIRCLE, depth_ratio, half_width, lone_height, radius, tiled_height};
use souple::wrinkles::track::measured_wavelength;
use souple::wrinkles::{FineMesh, Pattern, Profile, Projector, Settings, Spacing, Tracker, Wrinkles};

use super::Case;

/// Chord 2 r and arc 2 R acos(β/R): their ratio is what compression left, 1 − v. Newton's method stops at 1e-13.
pub fn section() -> Vec<Case> {
    let mut cases = Vec::new();
    for v in [0.05, 0.1, 0.2, 0.3, 0.36] {
        let (r, x) = (radius(0.01, v), depth_ratio(v));
        let ratio = half_width(0.01, v) / (r * acos(x));
        cases.push(Case::new(
            format!("wrinkles/section/{v}"),
            "chord over arc = 1 - v",
            1.0 - v,
            ratio,
            1e-11,
        ));
    }
    // An arc that is a half circle has a chord of 2 R and an arc of π R.
    cases.push(Case::new("wrinkles/section/limit", "1 - 2/pi", 1.0 - 2.0 / PI, HALF_CIRCLE, 1e-15));
    cases.push(Case::new("wrinkles/section/half-circle", "depth 0", 0.0, depth_ratio(HALF_CIRCLE), 1e-12));
    // θ/sin θ = 1/(1 − v) with θ the half angle: by bisection, without the engine's Newton.
    for v in [0.08, 0.25] {
        let (mut low, mut high) = (1e-6, 0.5 * PI);
        for _ in 0..100 {
            let middle = 0.5 * (low + high);
            if sin(middle) / middle > 1.0 - v { low = middle } else { high = middle }
        }
        let found = acos(depth_ratio(v));
        cases.push(Case::new(format!("wrinkles/section/angle/{v}"), "sin t / t = 1 - v", low, found, 1e-10));
    }
    cases
}

/// Level 1 of a long tube is at its radius: the integral of the kernel along 200 radii misses ∫ 2 dx/(s x)⁴ beyond, less than 1e-5 of it.
pub fn field() -> Vec<Case> {
    let (s, r) = (120.0, 0.01);
    let (a, b) = (DVec3::new(-1.0, 0.0, 0.0), DVec3::new(1.0, 0.0, 0.0));
    let at = |d: f64| line_weight(r, s) * segment_field(a, b, DVec3::new(0.0, d, 0.0), s);
    vec![
        Case::new("wrinkles/field/level", "omega F(R) = 1", 1.0, at(r), 1e-5),
        Case::relative(
            "wrinkles/field/line",
            "(1 + s^2 R^2)^1.5/(1 + s^2 d^2)^1.5",
            line_field(r, 1.0 / s, 0.0009),
            at(0.03),
            1e-4,
        ),
        // Width 1 m, thickness 0.1 mm, ν = 0.5, strain 10 %: (2π·1e-4)^½/(3·0.75·0.1)^¼.
        Case::relative(
            "wrinkles/wavelength",
            "sqrt(2 pi L h)/(3(1 - nu^2)e)^1/4",
            0.036_395_216,
            measured_wavelength(1.0, 1e-4, 0.5, 0.1),
            1e-5,
        ),
    ]
}

/// Folds side by side are as long as the cloth that lies on them, from crest to valley; the table has 64 rows and 96 pieces across, which leave 1e-3.
pub fn length() -> Vec<Case> {
    let profile = Profile::default();
    let mut cases = Vec::new();
    for v in [0.06, 0.15, 0.25, 0.35, 0.5] {
        let tube = profile.tube(v);
        const PIECES: usize = 2000;
        let heights: Vec<f64> = (0..=PIECES).map(|i| tiled_height(&tube, i as f64 / PIECES as f64)).collect();
        let run = 1.0 / PIECES as f64;
        let way: f64 = heights.windows(2).map(|h| (run * run + (h[1] - h[0]) * (h[1] - h[0])).sqrt()).sum();
        cases.push(Case::relative(format!("wrinkles/length/{v}"), "1/(1 - v)", 1.0 / (1.0 - v), way, 2e-3));
    }
    // A fold by itself comes down to the cloth.
    cases.push(Case::new("wrinkles/length/rim", "0", 0.0, lone_height(&profile.tube(0.2), 1.1), 1e-9));
    cases
}

/// A sheet of 11 × 11 vertices pressed together by 36 % across: the mean length across folds, away from the border, is that of the pattern. Edges of
/// 3.6 mm on folds of 15 mm cut their crests by about (3.6/15)²/8 = 0.7 %.
pub fn sheet() -> Vec<Case> {
    let n = 11u32;
    let rest: Vec<DVec3> =
        (0..n * n).map(|k| DVec3::new(f64::from(k % n) / 10.0, 0.0, f64::from(k / n) / 10.0)).collect();
    let mut triangles = Vec::new();
    for a in (0..n - 1).flat_map(|i| (0..n - 1).map(move |j| i * n + j)) {
        triangles.extend([[a, a + n, a + n + 1], [a, a + n + 1, a + 1]]);
    }
    let Ok(pattern) = Pattern::of_rest(&rest, &triangles) else { return Vec::new() };
    let fine = FineMesh::new(&pattern, 28);
    let settings = Settings { smallest_radius: 0.015, threshold: 0.05, side: 1.0, spacing: Spacing::Radius };
    let wrinkles = Wrinkles { settings, pattern, fine, profile: Profile::default() };
    let places: Vec<DVec3> = rest.iter().map(|p| DVec3::new(0.64 * p.x, 0.0, p.z)).collect();
    let mut tracker = Tracker::default();
    let folds = wrinkles.settled(&mut tracker, &places);
    let mut out = Vec::new();
    wrinkles.surface(&mut Projector::default(), &folds, &places, &mut out);
    let inner = |t: u32| {
        let corners = wrinkles.pattern.triangles[t as usize].iter().map(|v| rest[*v as usize]);
        corners.into_iter().all(|p| [p.x, p.z].iter().all(|c| (0.09..0.91).contains(c)))
    };
    let found =
        souple::wrinkles::isometry(&wrinkles.pattern, &tracker.field, &wrinkles.fine, &out, 0.05, inner);
    vec![
        Case::new("wrinkles/sheet/across", "no elongation", 1.0, found.mean_across, 0.012),
        Case::new("wrinkles/sheet/worst", "error across at most 2 % (thesis)", 0.0, found.across, 0.02),
        Case::new("wrinkles/sheet/along", "no elongation", 0.0, found.along, 1e-9),
    ]
}
