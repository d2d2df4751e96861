//! How far a sheet is from isometric to its pattern (ROH-94, ROH-99).
//!
//! E = Σ A [(λ1 − 1)² + (λ2 − 1)²] over triangles, A in the pattern: zero if and only if nothing is stretched, the same for a
//! finer mesh of the same shape. It is min Σ A |T − R|² over rotations R, which relaxation goes down. Sums of angles and areas
//! grow with the number of triangles, so means are given too.

use glam::{DVec2, DVec3};

use crate::math;
use crate::mesh::pattern_stretch::{deformation, misfit, principal_stretches};

/// A triangle of the pattern, ready to be measured at many places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Element {
    pub(super) corners: [u32; 3],
    /// Gradients of the weights of its corners in the pattern, 1/m.
    pub(super) gradients: [DVec2; 3],
    /// Area in the pattern, m².
    pub(super) area: f64,
}

impl Element {
    /// Nothing if it has no area.
    pub(super) fn new(points: &[DVec2], corners: [u32; 3]) -> Option<Element> {
        let [p, q, r] = corners.map(|c| points[c as usize]);
        let twice = (q - p).perp_dot(r - p);
        let gradients = [q - r, r - p, p - q].map(|e| DVec2::new(e.y, -e.x) / twice);
        (twice > 0.0 && gradients.iter().all(|g| g.is_finite())).then_some(Element {
            corners,
            gradients,
            area: 0.5 * twice,
        })
    }

    /// Columns of the map from pattern to space.
    pub(super) fn map(&self, places: &[DVec3]) -> [DVec3; 2] {
        let [p, q, r] = self.corners.map(|c| places[c as usize]);
        let [a, b, c] = self.gradients;
        [p * a.x + q * b.x + r * c.x, p * a.y + q * b.y + r * c.y]
    }

    /// A [(λ1 − 1)² + (λ2 − 1)²], m².
    pub(super) fn energy(&self, places: &[DVec3]) -> f64 {
        self.area * misfit(self.map(places))
    }
}

/// E of elements, m².
pub(super) fn energy(elements: &[Element], places: &[DVec3]) -> f64 {
    elements.iter().map(|e| e.energy(places)).sum()
}

/// How far a mesh is from its pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Isometry {
    /// E, m².
    pub energy: f64,
    /// √(E / 2A): the mean strain, as a share.
    pub strain: f64,
    /// Largest |λ − 1| of all triangles.
    pub worst_strain: f64,
    /// Σ |α − ᾱ| over all corners of triangles, rad.
    pub angle: f64,
    /// Mean of |α − ᾱ|, each triangle weighed by its area, rad.
    pub angle_mean: f64,
    /// Σ |A − Ā|, m².
    pub area: f64,
    /// Σ |A − Ā| over the whole area, as a share.
    pub area_mean: f64,
}

fn angles(edge: impl Fn(usize) -> f64, dot: impl Fn(usize) -> f64) -> [f64; 3] {
    [0, 1, 2].map(|k| {
        let both = edge(k) * edge((k + 2) % 3);
        if both > 0.0 { math::acos((dot(k) / both).clamp(-1.0, 1.0)) } else { 0.0 }
    })
}

/// Measures a mesh. Triangles without area in the pattern, or with corners that are not there, are left out.
pub fn isometry(pattern: &[DVec2], places: &[DVec3], triangles: &[[u32; 3]]) -> Isometry {
    let mut sum = Isometry::default();
    let mut whole = 0.0;
    for t in triangles {
        let [Some(&p), Some(&q), Some(&r)] = t.map(|v| pattern.get(v as usize)) else { continue };
        let [Some(&x), Some(&y), Some(&z)] = t.map(|v| places.get(v as usize)) else { continue };
        let (flat, there) = ([p, q, r], [x, y, z]);
        let (Some(columns), Some(stretches)) = (deformation(flat, there), principal_stretches(flat, there))
        else {
            continue;
        };
        let flat_area = 0.5 * (q - p).perp_dot(r - p).abs();
        let area = 0.5 * (y - x).cross(z - x).length();
        let edge = |k: usize| flat[(k + 1) % 3] - flat[k];
        let side = |k: usize| there[(k + 1) % 3] - there[k];
        let before = angles(|k| edge(k).length(), |k| -edge(k).dot(edge((k + 2) % 3)));
        let after = angles(|k| side(k).length(), |k| -side(k).dot(side((k + 2) % 3)));
        let turned: f64 = before.iter().zip(after).map(|(a, b)| (a - b).abs()).sum();
        sum.energy += flat_area * misfit(columns);
        sum.worst_strain = [stretches.least, stretches.most]
            .iter()
            .fold(sum.worst_strain, |worst, l| worst.max((l - 1.0).abs()));
        sum.angle += turned;
        sum.angle_mean += flat_area * turned / 3.0;
        sum.area += (area - flat_area).abs();
        whole += flat_area;
    }
    if whole > 0.0 {
        sum.strain = (0.5 * sum.energy / whole).sqrt();
        sum.angle_mean /= whole;
        sum.area_mean = sum.area / whole;
    }
    sum
}
