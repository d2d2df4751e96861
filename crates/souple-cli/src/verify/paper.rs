//! Sheets of paper: developable surfaces are found again from their borders, a crease has the angle it was folded by, a border that is too
//! large stretches what is in it and no more.

use glam::DVec3;
use souple::paper::{Case as Known, Crease, Cubic, Pattern, Settings, Sheet};

use super::Case;

fn sheet(case: Known, step: f64) -> Option<Sheet> {
    let (pattern, points) = case.make().ok()?;
    Sheet::new(&pattern, &points, &Settings { step: Some(step), ..Settings::default() }).ok()
}

/// Cylinders, cones and surfaces of tangents are isometric to the plane: no strain. Samples s apart on a border of curvature κ leave chords that
/// are shorter by (κ s)²/24: 9e-4 for the strip's κ = 9/m at s = 1/60 m, less for all others.
pub fn developable() -> Vec<Case> {
    let smooth = [Known::Cylinder, Known::Cone, Known::Tangents, Known::Bent, Known::Strip, Known::Hanging];
    let case = |known: Known| {
        let strain = sheet(known, 1.0 / 60.0).map_or(f64::NAN, |sheet| sheet.isometry().strain);
        Case::new(format!("paper/developable/{}", known.name()), "√(E / 2A) = 0", 0.0, strain, 1e-3)
    };
    let mut cases: Vec<Case> = smooth.into_iter().map(case).collect();
    // Every point of the cylinder is as far from its axis, at height 0.5 above the origin; chords cut off s²/8R.
    let (radius, step) = (0.5, 1.0 / 60.0);
    let off = sheet(Known::Cylinder, step).map_or(f64::NAN, |sheet| {
        let middle = |t: &[u32; 3]| t.iter().map(|&v| sheet.places[v as usize]).sum::<DVec3>() / 3.0;
        let distance = |p: DVec3| (DVec3::new(p.x, 0.0, p.z - radius).length() - radius).abs();
        sheet.triangles.iter().map(|t| distance(middle(t))).fold(0.0, f64::max)
    });
    // Regions are left alone at a mean strain of 1e-3: a chord of κ L = √(24e-3) cuts off R (κ L)²/8 = 3e-3 R.
    cases.push(Case::new(
        "paper/developable/on the cylinder",
        "| |p − axis| − R | = 0, m",
        0.0,
        off,
        3e-3 * radius + step * step / (8.0 * radius),
    ));
    cases
}

/// A square folded along its middle, whose halves rise by 4 in 3: each edge of the crease is bent by 2 atan(4/3), and nothing else is.
pub fn crease() -> Vec<Case> {
    let fold = |x: f64, y: f64| DVec3::new((x - 0.1) * 0.6, y, (x - 0.1).abs() * 0.8);
    let points =
        [fold(0.0, 0.0), fold(0.1, 0.0), fold(0.2, 0.0), fold(0.2, 0.2), fold(0.1, 0.2), fold(0.0, 0.2)];
    let made =
        Pattern::rectangle(0.2, 0.2).and_then(|pattern| Sheet::new(&pattern, &points, &Settings::default()));
    let edges = made.map(|sheet| sheet.edges()).unwrap_or_default();
    let expected = 2.0 * (4.0f64 / 3.0).atan();
    let angles = || edges.iter().filter(|edge| edge.crease == Crease::Valley).map(|edge| edge.angle);
    let worst = angles().map(|angle| (angle - expected).abs()).fold(0.0, f64::max);
    let measured = if angles().count() == 0 { f64::NAN } else { expected + worst };
    let others = edges.iter().filter(|edge| edge.crease == Crease::Mountain).count();
    vec![
        // The border is mended to 1e-4 of its length, and angles to as much over the share of a step.
        Case::new("paper/crease/angle", "2 atan(4/3), rad", expected, measured, 0.01),
        Case::new("paper/crease/others", "no mountain", 0.0, others as f64, 0.0),
    ]
}

/// A flat border a twentieth too large, held: the sheet is stretched by as much, evenly, and gets no fold. And the length of a parabola.
pub fn stretched() -> Vec<Case> {
    let settings = Settings { repair: false, ..Settings::default() };
    let made = Pattern::rectangle(0.3, 0.2).and_then(|pattern| {
        let points: Vec<DVec3> = pattern.corners().iter().map(|p| (*p * 1.05).extend(0.0)).collect();
        Sheet::new(&pattern, &points, &settings)
    });
    let (strain, folds) =
        made.map_or((f64::NAN, f64::NAN), |s| (s.isometry().worst_strain, s.cuts[1] as f64));
    let parabola =
        Cubic::new([DVec3::ZERO, DVec3::new(1.0, 1.0, 0.0)], [DVec3::X, DVec3::new(1.0, 2.0, 0.0)]);
    let exact = 5.0f64.sqrt() / 2.0 + (2.0 + 5.0f64.sqrt()).ln() / 4.0;
    vec![
        // √ of a difference of rounding: 1e-16^½.
        Case::new("paper/stretched/strain", "λ − 1 = 0.05", 0.05, strain, 1e-7),
        Case::new("paper/stretched/folds", "none", 0.0, folds, 0.0),
        // Eight nodes on each quarter are exact to far more digits for so smooth a curve.
        Case::new("paper/parabola", "√5/2 + asinh(2)/4", exact, parabola.length_to(1.0), 1e-12),
    ]
}
