//! Vertices that slide inside a sheet, in the pattern and in space at once, to where they bend it best (beyond the seed).
//!
//! Where creases run was decided by the first cubics, one after the other. Afterwards a vertex may do better a little beside its place in the pattern: it is tried at four places around
//! it, moved in space as the triangles around it are, and goes to the least of the parabolas through them if E is less there.

use glam::{DVec2, DVec3};

use super::flip::shape;
use super::measure::Element;

/// How far a vertex is tried, and how far it goes at most, as a share of the shortest edge at it.
const TRIED: f64 = 0.1;
const FARTHEST: f64 = 0.3;
/// Least shape of a triangle that is made, unless it was worse before.
const LEAST_SHAPE: f64 = 0.03;
/// Share of E of the triangles around it that a vertex must gain.
const WORTHWHILE: f64 = 1e-3;

/// The triangles around each vertex.
fn stars(count: usize, triangles: &[[u32; 3]]) -> (Vec<u32>, Vec<u32>) {
    let mut starts = vec![0u32; count + 1];
    triangles.iter().flatten().for_each(|&v| starts[v as usize + 1] += 1);
    (0..count).for_each(|v| starts[v + 1] += starts[v]);
    let mut at = starts.clone();
    let mut of = vec![0; 3 * triangles.len()];
    for (t, corners) in (0u32..).zip(triangles) {
        for &v in corners {
            of[at[v as usize] as usize] = t;
            at[v as usize] += 1;
        }
    }
    (starts, of)
}

/// Lets every vertex that is not on the border slide once. How many did.
pub(super) fn slide_vertices(
    points: &mut [DVec2],
    places: &mut [DVec3],
    border: usize,
    triangles: &[[u32; 3]],
) -> usize {
    let (starts, of) = stars(points.len(), triangles);
    let mut slid = 0;
    for v in border..points.len() {
        let star = &of[starts[v] as usize..starts[v + 1] as usize];
        slid += usize::from(slide_one(points, places, v, star, triangles));
    }
    slid
}

fn slide_one(
    points: &mut [DVec2],
    places: &mut [DVec3],
    v: usize,
    star: &[u32],
    triangles: &[[u32; 3]],
) -> bool {
    let (from, start) = (points[v], places[v]);
    let (mut nearest, mut worst_shape) = (f64::INFINITY, f64::INFINITY);
    let (mut along, mut across, mut areas, mut energy) = (DVec3::ZERO, DVec3::ZERO, 0.0, 0.0);
    for &t in star {
        let corners = triangles[t as usize];
        let Some(e) = Element::new(points, corners) else { return false };
        let [a, b] = e.map(places);
        (along, across, areas) = (along + a * e.area, across + b * e.area, areas + e.area);
        energy += e.energy(places);
        let [p, q, r] = corners.map(|c| points[c as usize]);
        worst_shape = worst_shape.min(shape(p, q, r));
        for c in corners.iter().filter(|&&c| c as usize != v) {
            nearest = nearest.min(points[*c as usize].distance(from));
        }
    }
    if star.len() < 3 || areas <= 0.0 || energy <= 0.0 {
        return false;
    }
    let least = LEAST_SHAPE.min(worst_shape);
    let mut at = |off: DVec2| {
        points[v] = from + off;
        places[v] = start + (along * off.x + across * off.y) / areas;
        let mut sum = 0.0;
        for &t in star {
            let corners = triangles[t as usize];
            let [p, q, r] = corners.map(|c| points[c as usize]);
            match Element::new(points, corners) {
                Some(e) if shape(p, q, r) >= least => sum += e.energy(places),
                _ => return f64::INFINITY,
            }
        }
        sum
    };
    let h = TRIED * nearest;
    let step = |axis: DVec2, at: &mut dyn FnMut(DVec2) -> f64| {
        let (less, more) = (at(-axis * h), at(axis * h));
        let (slope, curvature) = (0.5 * (more - less), more + less - 2.0 * energy);
        if !(slope.is_finite() && curvature.is_finite()) {
            return DVec2::ZERO;
        }
        let most = FARTHEST / TRIED;
        let steps = if curvature > 0.0 { -slope / curvature } else { -slope.signum() * most };
        axis * (h * steps.clamp(-most, most))
    };
    let mut off = step(DVec2::X, &mut at) + step(DVec2::Y, &mut at);
    for _ in 0..3 {
        if off != DVec2::ZERO && at(off) < (1.0 - WORTHWHILE) * energy {
            return true;
        }
        off *= 0.5;
    }
    (points[v], places[v]) = (from, start);
    false
}

#[cfg(test)]
mod tests {
    use super::super::measure::isometry;
    use super::super::{Case, Settings, Sheet};
    use super::*;

    #[test]
    fn vertices_slide_where_e_is_less_and_the_border_stays() {
        let (pattern, points) = Case::Can.make().unwrap();
        let settings = Settings { rounds: 3, ..Settings::default() };
        let Sheet { pattern: mut flat, mut places, triangles, border, .. } =
            Sheet::new(&pattern, &points, &settings).unwrap();
        let (before, rim) = ((flat.clone(), places.clone()), isometry(&flat, &places, &triangles).energy);
        let mut energy = rim;
        let mut slid = 0;
        for _ in 0..5 {
            slid += slide_vertices(&mut flat, &mut places, border, &triangles);
            let now = isometry(&flat, &places, &triangles).energy;
            assert!(now <= energy * (1.0 + 1e-12), "{energy} → {now}");
            energy = now;
        }
        assert!(slid > 0 && energy < rim);
        assert_eq!((&flat[..border], &places[..border]), (&before.0[..border], &before.1[..border]));
        // Still all of the pattern, each part once.
        let areas: Vec<f64> =
            triangles.iter().map(|t| Element::new(&flat, *t).map_or(0.0, |e| e.area)).collect();
        assert!(areas.iter().all(|area| *area > 0.0));
        assert!((areas.iter().sum::<f64>() / pattern.area() - 1.0).abs() < 1e-9);
    }
}
