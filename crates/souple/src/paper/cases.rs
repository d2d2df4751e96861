//! Borders to try sheets on: those of the seed's figures, made again from their descriptions (ROH-99, table 4.1), and others.
//!
//! The seed took its borders from simulations and does not give them. These are exact where a closed form exists: cylinders,
//! cones and surfaces of tangents are isometric to the plane, so their borders fit their patterns. The longest side is 1 m, as there.

use std::f64::consts::{PI, TAU};

use glam::{DMat3, DVec2, DVec3};

use super::border::along;
use super::{Border, PaperError, Pattern};
use crate::math::{cos, exp, ln, sin};

/// A border that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Figure 4.15: a rectangle, slightly bent: a cylinder across its corners.
    Bent,
    /// Figure 4.16: a strip that waves.
    Strip,
    /// Figure 4.17: a sheet that hangs between its ends: a cylinder over a catenary.
    Hanging,
    /// Figure 4.18: a rectangle pinched on one side: a cone with its apex inside, where the crease ends.
    Pinched,
    /// Figure 4.20: strongly folded, the middle far outside the hull of the border: a cone with three folds.
    Folded,
    /// Figure 4.21: folds that are not plane: the pinched one twisted, its lengths mended.
    Twisted,
    /// Figure 4.23: the side of a can, crushed and turned; its seam is two sides of the pattern.
    Can,
    /// A cylinder along one side.
    Cylinder,
    /// A cone with its apex outside.
    Cone,
    /// The surface of tangents of a helix.
    Tangents,
}

impl Case {
    /// All of them, those of the seed's table first.
    pub const ALL: [Case; 10] = [
        Case::Bent,
        Case::Strip,
        Case::Hanging,
        Case::Pinched,
        Case::Folded,
        Case::Twisted,
        Case::Can,
        Case::Cylinder,
        Case::Cone,
        Case::Tangents,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Case::Bent => "bent",
            Case::Strip => "strip",
            Case::Hanging => "hanging",
            Case::Pinched => "pinched",
            Case::Folded => "folded",
            Case::Twisted => "twisted",
            Case::Can => "can",
            Case::Cylinder => "cylinder",
            Case::Cone => "cone",
            Case::Tangents => "tangents",
        }
    }

    /// The one of that name.
    pub fn named(name: &str) -> Option<Case> {
        Case::ALL.into_iter().find(|case| case.name() == name)
    }

    /// E_angle, rad, and E_area, m², and time, s, that the seed gives for it. Its row 4.20 is a copy of 4.18 but for the time.
    pub fn printed(self) -> Option<[f64; 3]> {
        match self {
            Case::Bent => Some([0.35, 1.3e-4, 0.1]),
            Case::Strip => Some([0.16, 0.7e-4, 0.1]),
            Case::Hanging => Some([2.60, 5.0e-4, 0.1]),
            Case::Pinched => Some([2.89, 8.0e-4, 0.2]),
            Case::Folded => Some([2.89, 8.0e-4, 0.6]),
            Case::Twisted => Some([2.80, 8.0e-4, 0.6]),
            _ => None,
        }
    }

    /// Its pattern and its border, closed, from the first corner on.
    pub fn make(self) -> Result<(Pattern, Vec<DVec3>), PaperError> {
        self.bent(1.0)
    }

    /// Its pattern, flat in the plane z = 0, and its border in so many steps from there, each isometric to the pattern.
    pub fn growing(self, steps: u32) -> Result<(Pattern, Vec<Vec<DVec3>>), PaperError> {
        let mut borders = Vec::new();
        for step in 0..=steps {
            // Not quite flat: a circle without end has no centre.
            let share = (f64::from(step) / f64::from(steps)).max(1e-6);
            borders.push(self.bent(share)?.1);
        }
        let pattern = self.bent(1.0)?.0;
        // All as it is needed for the first to lie on the pattern.
        let shares = [0, 1, 2].map(|corner| pattern.corner_share(corner));
        let there = along(&pattern, &borders[0], &shares)?;
        let axes = |a: DVec3, b: DVec3, c: DVec3| {
            let (x, z) = ((b - a).normalize_or(DVec3::X), (b - a).cross(c - a).normalize_or(DVec3::Z));
            DMat3::from_cols(x, z.cross(x), z)
        };
        let [p, q, r] = shares.map(|share| pattern.at(share).extend(0.0));
        let turn = axes(p, q, r) * axes(there[0], there[1], there[2]).transpose();
        for place in borders.iter_mut().flatten() {
            *place = p + turn * (*place - there[0]);
        }
        Ok((pattern, borders))
    }

    /// Its pattern and a border on the way from flat, at 0, to its own, at 1: curved by that share as much.
    fn bent(self, share: f64) -> Result<(Pattern, Vec<DVec3>), PaperError> {
        let sheet = Pattern::rectangle(1.0, 0.707)?;
        let lower = |bumps: &[(f64, f64, f64)]| -> Vec<(f64, f64, f64)> {
            bumps.iter().map(|&(middle, height, width)| (middle, share * height, width)).collect()
        };
        match self {
            Case::Bent => border(sheet, |p| rolled(p, 0.3, |s| arc(s, 0.8 / share))),
            Case::Strip => {
                let strip = Pattern::rectangle(1.0, 0.2)?;
                border(strip, |p| rolled(p, 0.0, |s| waving(s, 9.0 * share, 1.5 * TAU)))
            }
            Case::Hanging => border(sheet, |p| rolled(p, 0.0, |s| catenary(s - 0.5, 0.3 / share))),
            Case::Pinched => border(sheet, cone(DVec2::new(0.5, 0.33), &lower(&[(0.75, 0.9, 0.3)]))),
            Case::Folded => border(
                sheet,
                cone(
                    DVec2::new(0.47, 0.36),
                    &lower(&[(0.73, 1.0, 0.35), (0.13, 0.8, 0.35), (0.42, 0.6, 0.4)]),
                ),
            ),
            Case::Twisted => {
                let (pattern, points) = Case::Pinched.bent(share)?;
                let twist = |p: &DVec3| {
                    let angle = 0.3 * share * p.x;
                    DVec3::new(p.x, p.y * cos(angle) - p.z * sin(angle), p.y * sin(angle) + p.z * cos(angle))
                };
                let twisted: Vec<DVec3> = points.iter().map(twist).collect();
                let mut border = Border::matched(&pattern, &twisted, 0.02)?;
                border.repair();
                Ok((pattern, border.places))
            }
            Case::Can => can((2.0 * share).min(1.0), (2.0 * share - 1.0).max(0.0)),
            Case::Cylinder => border(sheet, |p| rolled(p, 0.0, |s| arc(s, 0.5 / share))),
            Case::Cone => {
                // In the pattern seen from its apex under an angle θ, in space under 2θ: sin of the half angle is 1/2.
                let times = 1.0 + share;
                let (half, height) = (1.0 / times, (1.0 - 1.0 / (times * times)).sqrt());
                border(sheet, |p| {
                    let away = p - DVec2::new(-0.3, 0.3);
                    let angle = times * crate::math::atan2(away.y, away.x);
                    DVec3::new(half * cos(angle), half * sin(angle), height) * away.length()
                })
            }
            Case::Tangents => tangents(share),
        }
    }
}

/// The outline of a pattern, put in place point by point, corners included.
fn border(pattern: Pattern, place: impl Fn(DVec2) -> DVec3) -> Result<(Pattern, Vec<DVec3>), PaperError> {
    let corners = pattern.corners();
    let n = corners.len();
    let mut points = Vec::new();
    for k in 0..n {
        let (a, b) = (corners[k], corners[(k + 1) % n]);
        let pieces = (a.distance(b) * 200.0).ceil().max(2.0) as usize;
        points.extend((0..pieces).map(|i| place(a.lerp(b, i as f64 / pieces as f64))));
    }
    Ok((pattern, points))
}

/// A sheet rolled along a direction at an angle to x: a point of the pattern on the cylinder over a plane curve by arc length.
fn rolled(p: DVec2, angle: f64, curve: impl Fn(f64) -> DVec2) -> DVec3 {
    let along = DVec2::new(cos(angle), sin(angle));
    let (x, z) = curve(p.dot(along)).into();
    DVec3::new(x, along.perp_dot(p), z)
}

/// An arc of that radius by arc length.
fn arc(s: f64, radius: f64) -> DVec2 {
    DVec2::new(sin(s / radius), 1.0 - cos(s / radius)) * radius
}

/// A catenary from its lowest point by arc length: x = a asinh(s/a), z = √(a² + s²) − a.
fn catenary(s: f64, a: f64) -> DVec2 {
    let root = (a * a + s * s).sqrt();
    DVec2::new(a * ln((s + root) / a), root - a)
}

/// A curve of curvature k cos(ω s), by summing up its directions.
fn waving(s: f64, k: f64, omega: f64) -> DVec2 {
    let steps = 400;
    let h = s / f64::from(steps);
    let direction = |i: u32| {
        let angle = k / omega * sin(omega * h * (f64::from(i) + 0.5));
        DVec2::new(cos(angle), sin(angle))
    };
    (0..steps).map(direction).sum::<DVec2>() * h
}

/// A cone with its apex in the pattern: a closed curve of length 2π on the unit sphere, seen from the apex, with bumps in its latitude:
/// where, as a share of the way round, how high and how wide, both rad. How far below the equator all of it is follows from the length.
fn cone(apex: DVec2, bumps: &[(f64, f64, f64)]) -> impl Fn(DVec2) -> DVec3 {
    const PIECES: usize = 2000;
    let bumps = bumps.to_vec();
    let at = move |k: usize, base: f64| {
        let around = k as f64 / PIECES as f64;
        let bump = |&(middle, height, width): &(f64, f64, f64)| {
            let off = (around - middle - (around - middle).round()) * TAU / width;
            height * exp(-off * off)
        };
        let latitude = base + bumps.iter().map(bump).sum::<f64>();
        let longitude = TAU * around;
        DVec3::new(cos(latitude) * cos(longitude), cos(latitude) * sin(longitude), sin(latitude))
    };
    let length = |base: f64| (0..PIECES).map(|k| at(k, base).distance(at(k + 1, base))).sum::<f64>();
    let (mut low, mut high) = (-0.5 * PI, 0.0);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        if length(middle) < TAU { low = middle } else { high = middle }
    }
    let points: Vec<DVec3> = (0..=PIECES).map(|k| at(k, low)).collect();
    let mut along = vec![0.0];
    for pair in points.windows(2) {
        along.push(along.last().copied().unwrap_or(0.0) + pair[0].distance(pair[1]));
    }
    move |p: DVec2| {
        let away = p - apex;
        let angle = crate::math::atan2(away.y, away.x);
        let s = (angle / TAU).rem_euclid(1.0) * along[PIECES];
        let k = along.partition_point(|&l| l <= s).clamp(1, PIECES) - 1;
        let part = ((s - along[k]) / (along[k + 1] - along[k])).clamp(0.0, 1.0);
        points[k].lerp(points[k + 1], part) * away.length()
    }
}

/// The side of a can of radius 1/2π, rolled up by a share, then pressed down by a third and turned by 40° by another: both rims stay round, the seam bows in.
fn can(rolled: f64, crushed: f64) -> Result<(Pattern, Vec<DVec3>), PaperError> {
    let height = 0.7;
    let (pressed, turned) = (height - crushed * (height - 0.47), 0.7 * crushed);
    let radius = 1.0 / TAU;
    let pattern = Pattern::rectangle(1.0, height)?;
    // A circle through (radius, 0) that is wider the less it is rolled up.
    let wide = radius / rolled;
    let rim = |s: f64, y: f64, turned: f64| {
        let angle = s / wide + turned;
        DVec3::new(radius - wide + wide * cos(angle), wide * sin(angle), y)
    };
    // The seam is a cubic towards the axis, as long as the can was high; open, both its sides are.
    let seam = |s: f64| {
        let (low, high) = (rim(s, 0.0, 0.0), rim(s, pressed, turned));
        let bowed = |inwards: f64| {
            let inner = -(low + high).with_z(0.0).normalize_or(DVec3::X) * inwards;
            super::Cubic::new([low, high], [(high - low) + inner, (high - low) - inner])
        };
        let (mut short, mut long) = (0.0, 4.0);
        for _ in 0..50 {
            let middle = 0.5 * (short + long);
            if bowed(middle).length_to(1.0) < height { short = middle } else { long = middle }
        }
        let mut inner = Vec::new();
        bowed(short).samples(60, &mut inner);
        inner
    };
    let mut points: Vec<DVec3> = (0..=100).map(|k| rim(f64::from(k) / 100.0, 0.0, 0.0)).collect();
    points.extend(seam(1.0));
    points.extend((0..=100).rev().map(|k| rim(f64::from(k) / 100.0, pressed, turned)));
    points.extend(seam(0.0).iter().rev());
    Ok((pattern, points))
}

/// Tangents of a helix, x(s) + t x'(s), laid flat: the plane curve with the same curvature is a circle, its tangents the pattern.
/// On the way there a helix has the same curvature and a share of the torsion.
fn tangents(share: f64) -> Result<(Pattern, Vec<DVec3>), PaperError> {
    let (radius, slope): (f64, f64) = (0.35, 0.15);
    let square = radius * radius + slope * slope;
    let (curvature, torsion) = (radius / square, share * slope / square);
    let square = curvature * curvature + torsion * torsion;
    let (radius, slope) = (curvature / square, torsion / square);
    let speed = (radius * radius + slope * slope).sqrt();
    // Curvature of the helix, and so of the circle.
    let flat_radius = 1.0 / curvature;
    let flat = |s: f64, t: f64| {
        let angle = s / flat_radius;
        DVec2::new(flat_radius * sin(angle) + t * cos(angle), -flat_radius * cos(angle) + t * sin(angle))
    };
    let there = |s: f64, t: f64| {
        let angle = s / speed;
        let x = DVec3::new(radius * cos(angle), radius * sin(angle), slope * angle);
        let tangent = DVec3::new(-radius * sin(angle), radius * cos(angle), slope) / speed;
        x + tangent * t
    };
    // A patch between two tangents, away from the edge of regression; its curved sides are polygons in the pattern.
    let (end, near, far, pieces) = (0.9, 0.25, 0.9, 24);
    let share = |k: u32| end * f64::from(k) / f64::from(pieces);
    let outline: Vec<(f64, f64)> = std::iter::once((0.0, near))
        .chain((0..=pieces).map(|k| (share(k), far)))
        .chain((1..=pieces).rev().map(|k| (share(k), near)))
        .collect();
    let corners: Vec<DVec2> = outline.iter().map(|&(s, t)| flat(s, t)).collect();
    let pattern = Pattern::new(&corners)?;
    let n = outline.len();
    // Fine along the two straight sides, where there are no corners in between.
    let mut points = Vec::new();
    for k in 0..n {
        let ((s, t), (u, v)) = (outline[k], outline[(k + 1) % n]);
        let parts = if s == u { 20 } else { 1 };
        points.extend((0..parts).map(|i| there(s, t + (v - t) * f64::from(i) / f64::from(parts))));
    }
    Ok((pattern, points))
}
