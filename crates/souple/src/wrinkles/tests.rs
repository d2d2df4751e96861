use super::*;
use crate::math::{cos, sin};

/// A flat sheet in the plane of x and z, of so many vertices, that faces upwards.
pub(crate) fn sheet(columns: u32, rows: u32, width: f64, height: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut x = Vec::new();
    for i in 0..rows {
        for j in 0..columns {
            let (u, v) = (f64::from(j) / f64::from(columns - 1), f64::from(i) / f64::from(rows - 1));
            x.push(DVec3::new(u * width, 0.0, v * height));
        }
    }
    let mut t = Vec::new();
    for i in 0..rows - 1 {
        for j in 0..columns - 1 {
            let a = i * columns + j;
            let (b, c, d) = (a + columns, a + columns + 1, a + 1);
            if (i + j) % 2 == 0 { t.extend([[a, b, c], [a, c, d]]) } else { t.extend([[a, b, d], [b, c, d]]) }
        }
    }
    (x, t)
}

/// A tube around y, closed all around, that faces outwards.
pub(crate) fn tube(around: u32, rows: u32, radius: f64, height: f64) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let mut x = Vec::new();
    for i in 0..rows {
        for j in 0..around {
            let a = std::f64::consts::TAU * f64::from(j) / f64::from(around);
            let y = height * f64::from(i) / f64::from(rows - 1);
            x.push(DVec3::new(radius * cos(a), y, radius * sin(a)));
        }
    }
    let mut t = Vec::new();
    for i in 0..rows - 1 {
        for j in 0..around {
            let k = (j + 1) % around;
            let (a, b, c, d) = (i * around + j, i * around + k, (i + 1) * around + k, (i + 1) * around + j);
            t.extend([[a, c, b], [a, d, c]]);
        }
    }
    (x, t)
}

pub(crate) fn wrinkles(x: &[DVec3], t: &[[u32; 3]], smallest_radius: f64, pieces: u32) -> Wrinkles {
    let pattern = Pattern::of_rest(x, t).unwrap();
    let fine = FineMesh::new(&pattern, pieces);
    let settings = Settings { smallest_radius, threshold: 0.05, side: 1.0, spacing: Spacing::Radius };
    Wrinkles { settings, pattern, fine, profile: Profile::default() }
}

/// How near a flat sheet of a metre is to its pattern before and after, away from its border, where folds end.
fn isometry_inside(w: &Wrinkles, x: &[DVec3], places: &[DVec3]) -> [Isometry; 2] {
    let mut tracker = Tracker::default();
    let folds = w.settled(&mut tracker, places);
    let mut out = Vec::new();
    w.surface(&mut Projector::default(), &folds, places, &mut out);
    let is_inner = |v: &u32| [x[*v as usize].x, x[*v as usize].z].iter().all(|c| (0.09..0.91).contains(c));
    let inner = |t: u32| w.pattern.triangles[t as usize].iter().all(is_inner);
    let whole = FineMesh::new(&w.pattern, 1);
    [(&whole, places), (&w.fine, &out[..])]
        .map(|(mesh, x)| isometry(&w.pattern, &tracker.field, mesh, x, 0.05, inner))
}

/// S12, figure 3.21 of the thesis: a sheet compressed by 36 % across. There: 36 % to 2 % across folds, less than 5 % along, 20 % less compression.
#[test]
fn a_compressed_sheet_gets_its_length_back() {
    let (x, t) = sheet(11, 11, 1.0, 1.0);
    for (v, r, worst) in [(0.36, 0.015, 0.02), (0.2, 0.015, 0.02), (0.1, 0.01, 0.02), (0.5, 0.015, 0.05)] {
        let w = wrinkles(&x, &t, r, 28);
        let places: Vec<DVec3> = x.iter().map(|p| DVec3::new(p.x * (1.0 - v), p.y, p.z)).collect();
        let [before, after] = isometry_inside(&w, &x, &places);
        assert!((before.across - v).abs() < 1e-9 && (before.compression - v).abs() < 1e-9);
        assert!(after.across < worst, "{v}: {after:?}");
        assert!(after.along < 0.01, "{v}: {after:?}");
        assert!(after.compression < 0.3 * before.compression, "{v}: {after:?}");
    }
}

/// What the seed does without compensation, by the same measures.
#[test]
fn without_compensation_length_and_evenness_are_worse() {
    let (x, t) = sheet(11, 11, 1.0, 1.0);
    let places: Vec<DVec3> = x.iter().map(|p| DVec3::new(p.x * 0.64, p.y, p.z)).collect();
    let compensated = wrinkles(&x, &t, 0.015, 28);
    let bare = Wrinkles { profile: Profile::new(false), ..compensated.clone() };
    let ([_, good], [_, plain]) =
        (isometry_inside(&compensated, &x, &places), isometry_inside(&bare, &x, &places));
    assert!(plain.compression > 2.0 * good.compression && plain.compression < 0.8 * 0.36);
}

/// The same sheet pressed together little by little: folds that were born wide get neighbours and narrow.
#[test]
fn folds_that_grow_give_length_back_too() {
    let (x, t) = sheet(11, 11, 1.0, 1.0);
    let w = wrinkles(&x, &t, 0.015, 14);
    let at = |v: f64| -> Vec<DVec3> { x.iter().map(|p| DVec3::new(p.x * (1.0 - v), p.y, p.z)).collect() };
    let mut tracker = Tracker::default();
    let mut folds = w.settled(&mut tracker, &at(0.0));
    for frame in 1..=180 {
        let v = 0.36 * (f64::from(frame) / 90.0).min(1.0);
        w.advance(&mut tracker, &mut folds, &at(v), 1.0 / 60.0);
    }
    let mut out = Vec::new();
    w.surface(&mut Projector::default(), &folds, &at(0.36), &mut out);
    let [before, after] = w.isometry(&at(0.36), &out);
    assert!(after.compression < 0.45 * before.compression, "{} {after:?}", folds.curves.len());
    assert!((after.mean_across - 1.0).abs() < 0.08, "{} {after:?}", folds.curves.len());
}

/// A tube pressed together along its axis: folds are rings that close, across the seam of the charts as elsewhere.
#[test]
fn folds_close_to_rings_around_a_tube() {
    let (x, t) = tube(24, 9, 0.15, 0.6);
    let w = wrinkles(&x, &t, 0.01, 8);
    let places: Vec<DVec3> = x.iter().map(|p| DVec3::new(p.x, 0.8 * p.y, p.z)).collect();
    let folds = w.settled(&mut Tracker::default(), &places);
    let rings = folds.curves.iter().filter(|c| c.ring).count();
    assert!(rings >= 8 && rings + 2 >= folds.curves.len(), "{rings} of {}", folds.curves.len());
    // Each goes around once.
    for ring in folds.curves.iter().filter(|c| c.ring) {
        let length = ring.knots.len() as f64 * 0.01;
        assert!((length - std::f64::consts::TAU * 0.15).abs() < 0.03, "{length}");
    }
    // And outwards.
    let mut out = Vec::new();
    w.surface(&mut Projector::default(), &folds, &places, &mut out);
    let radius = |p: &DVec3| (p.x * p.x + p.z * p.z).sqrt();
    let widest = out.iter().map(radius).fold(0.0, f64::max);
    assert!(widest > 0.158 && widest < 0.18, "{widest}");
}

/// Cloth folded over, its layers 2 mm apart: folds of the upper layer leave the lower one alone.
#[test]
fn folds_leave_other_layers_alone() {
    let (x, t) = sheet(21, 11, 1.0, 0.5);
    let w = wrinkles(&x, &t, 0.015, 4);
    // The right half lies under the left one, and is not compressed.
    let lay = |p: &DVec3| match p.x < 0.5 {
        true => DVec3::new(0.8 * p.x, 0.002, p.z),
        false => DVec3::new(0.4 - (p.x - 0.5), 0.0, p.z),
    };
    let places: Vec<DVec3> = x.iter().map(lay).collect();
    let folds = w.settled(&mut Tracker::default(), &places);
    assert!(!folds.curves.is_empty());
    let mut out = Vec::new();
    w.surface(&mut Projector::default(), &folds, &places, &mut out);
    let mut upper = 0.0f64;
    for (v, p) in out.iter().enumerate() {
        let at = w.fine.mixed(v, &x).x;
        if at > 0.62 {
            assert!((p.y).abs() < 1e-12, "{p}");
        } else if at < 0.4 {
            upper = upper.max(p.y);
        }
    }
    assert!(upper > 0.012, "{upper}");
}

/// 300 frames in which compression comes, wanders and goes: no point of a fold moves by more than the smallest radius per frame, and no vertex of the
/// surface moves against the coarse one by more than half of it.
#[test]
fn folds_come_and_go_without_a_jump() {
    let (x, t) = sheet(13, 13, 1.0, 1.0);
    let r = 0.015;
    let w = wrinkles(&x, &t, r, 6);
    let at = |frame: u32| -> Vec<DVec3> {
        let time = f64::from(frame) / 60.0;
        let (strength, centre) = (0.25 * sin(0.6 * time), 0.5 + 0.25 * sin(0.9 * time));
        let turn = 0.3 * sin(0.5 * time);
        let place = |p: &DVec3| {
            // Compressed along a slowly turning direction, most in the middle of a band that wanders.
            let d = DVec3::new(cos(turn), 0.0, sin(turn));
            let s = (*p - DVec3::new(centre, 0.0, 0.5)).dot(d);
            *p - d * (strength.max(0.0) * 0.3 * (1.0 - 2.0 / (1.0 + crate::math::exp(s / 0.15))))
        };
        x.iter().map(place).collect()
    };
    let mut tracker = Tracker::default();
    let mut folds = w.settled(&mut tracker, &at(0));
    let mut projector = Projector::default();
    let (mut before, mut out) = (Vec::new(), Vec::new());
    let (mut fastest, mut highest, mut most, mut worst) = (0.0f64, 0.0f64, 0, 0.0f64);
    for frame in 1..=300 {
        let places = at(frame);
        let last = folds.clone();
        w.advance(&mut tracker, &mut folds, &places, 1.0 / 60.0);
        most = most.max(folds.curves.len());
        assert!(folds.fits(&w.pattern), "frame {frame}");
        if frame % 6 > 1 {
            continue;
        }
        // Every point that can be seen was near a point of a fold in the last frame, or nobody saw it.
        let seen = |folds: &Folds, least: f64| -> Vec<DVec3> {
            let knots = folds.curves.iter().flat_map(|c| &c.knots).filter(|k| k.strength > least);
            knots.map(|k| w.pattern.place(k.at, &x)).collect()
        };
        let old = seen(&last, 0.1);
        for p in seen(&folds, 0.2) {
            let nearest = old.iter().map(|q| q.distance_squared(p)).fold(f64::INFINITY, f64::min);
            fastest = fastest.max(nearest.sqrt());
        }
        w.surface(&mut projector, &folds, &places, &mut out);
        let base: Vec<DVec3> = (0..out.len()).map(|v| w.fine.mixed(v, &places)).collect();
        let lift: Vec<DVec3> = out.iter().zip(&base).map(|(a, b)| *a - *b).collect();
        if frame % 6 == 1 && !before.is_empty() {
            let change = |(a, b): (&DVec3, &DVec3)| a.distance(*b);
            worst = worst.max(lift.iter().zip(&before).map(change).fold(0.0, f64::max));
        }
        highest = highest.max(lift.iter().map(|l| l.y).fold(0.0, f64::max));
        before = lift;
    }
    assert!(most > 5 && highest > 0.8 * r, "{most} {highest}");
    assert!(fastest <= r * (1.0 + 1e-9), "{fastest}");
    assert!(worst < 0.5 * r, "{worst}");
}
