//! Area of triangles: E = ½ k A₀ (A/A₀ − 1)² each, k in N/m.
//!
//! Adds to the springs what they lack: resistance to a change of area whatever the shape, as of a film or a skin; on
//! the sheet a tension k (A/A₀ − 1) per width in all directions, with no shear modulus of its own. Because every triangle
//! counts by its area, k means the same on any mesh.
//!
//! The matrix is k/A₀ ∇A ∇Aᵀ and, where the triangle is larger than at rest, its resistance to being pushed out of its
//! plane; the rest of the second derivatives, which is indefinite, is left out. Triangles without area at rest have none.

use glam::{DMat3, DVec3};

use super::{Configuration, Energy, PairBlock, Part, outer};

/// Resistance of triangles to a change of their area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Area {
    /// k, N/m.
    pub stiffness: f64,
}

/// Area of a triangle, m², its normal, and how its area changes with each corner, m: n × the opposite side, halved.
#[inline(always)]
fn area_gradient([a, b, c]: [DVec3; 3]) -> (f64, DVec3, [DVec3; 3]) {
    let cross = (b - a).cross(c - a);
    let normal = cross.normalize_or_zero();
    let half = |side: DVec3| normal.cross(side) * 0.5;
    (0.5 * cross.length(), normal, [half(c - b), half(a - c), half(b - a)])
}

/// Forces on the corners of a triangle, N.
#[inline(always)]
pub fn area_forces(corners: [DVec3; 3], rest_area: f64, stiffness: f64) -> [DVec3; 3] {
    let (area, _, gradient) = area_gradient(corners);
    gradient.map(|g| g * (-stiffness * (area / rest_area - 1.0)))
}

/// Numbers per triangle in a linearisation: the gradient and the sides for all three corners, and the normal.
const STRIDE: usize = 21;

/// What one triangle adds to A: g gᵀ + (q · q) n nᵀ.
struct Tangent {
    gradient: [DVec3; 3],
    /// A scalar product of two of these is the coupling of two corners along the normal.
    across: [DVec3; 3],
    normal: DVec3,
}

impl Tangent {
    fn read(e: &[f64; STRIDE]) -> Tangent {
        let at = |k: usize| DVec3::from_slice(&e[3 * k..]);
        Tangent { gradient: [at(0), at(1), at(2)], across: [at(3), at(4), at(5)], normal: at(6) }
    }

    fn block(&self, a: usize, b: usize) -> DMat3 {
        let (g, h) = (self.gradient[a], self.gradient[b]);
        DMat3::from_cols(g * h.x, g * h.y, g * h.z) + outer(self.normal) * self.across[a].dot(self.across[b])
    }
}

impl Area {
    /// Triangles that have area at rest, with it.
    fn triangles<'a>(&self, q: &Configuration<'a>) -> impl Iterator<Item = (&'a [u32; 3], f64)> + use<'a> {
        let topology = q.topology;
        topology.triangles.iter().zip(topology.rest_areas.iter().copied()).filter(|(_, area)| *area > 0.0)
    }
}

impl Energy for Area {
    fn name(&self) -> &'static str {
        "area"
    }

    fn inside_substeps(&self) -> bool {
        true
    }

    fn value(&self, q: &Configuration) -> f64 {
        let energy = |(t, rest_area): (&[u32; 3], f64)| {
            let (area, ..) = area_gradient(t.map(|v| q.x[v as usize]));
            let more = area / rest_area - 1.0;
            0.5 * self.stiffness * rest_area * more * more
        };
        self.triangles(q).map(energy).sum()
    }

    fn add_force(&self, q: &Configuration, f: &mut [DVec3]) {
        for (t, rest_area) in self.triangles(q) {
            let forces = area_forces(t.map(|v| q.x[v as usize]), rest_area, self.stiffness);
            for (&v, force) in t.iter().zip(forces) {
                f[v as usize] += force;
            }
        }
    }

    fn linearise(&self, q: &Configuration, hx: f64, _hv: f64, elements: &mut Vec<f64>) {
        elements.clear();
        for (t, rest_area) in self.triangles(q) {
            let corners = t.map(|v| q.x[v as usize]);
            let (area, normal, gradient) = area_gradient(corners);
            let root = (hx * self.stiffness / rest_area).sqrt();
            // Out of the plane a triangle grows by ½ A |∇u|², with the same gradients turned by a right angle.
            let tension = (area / rest_area - 1.0).max(0.0);
            let out = if area > 0.0 { (hx * self.stiffness * tension / area).sqrt() } else { 0.0 };
            for g in gradient {
                elements.extend((g * root).to_array());
            }
            for g in gradient {
                elements.extend((g * out).to_array());
            }
            elements.extend(normal.to_array());
        }
    }

    fn add_product(&self, q: &Configuration, elements: &[f64], _part: Part, d: &[DVec3], out: &mut [DVec3]) {
        for ((t, _), e) in self.triangles(q).zip(elements.as_chunks::<STRIDE>().0) {
            let tangent = Tangent::read(e);
            let (mut along, mut across) = (0.0, DVec3::ZERO);
            for (k, &v) in t.iter().enumerate() {
                let d = d[v as usize];
                along += tangent.gradient[k].dot(d);
                across += tangent.across[k] * tangent.normal.dot(d);
            }
            for (k, &v) in t.iter().enumerate() {
                out[v as usize] +=
                    tangent.gradient[k] * along + tangent.normal * tangent.across[k].dot(across);
            }
        }
    }

    fn add_diagonal(&self, q: &Configuration, elements: &[f64], diagonal: &mut [DMat3]) {
        for ((t, _), e) in self.triangles(q).zip(elements.as_chunks::<STRIDE>().0) {
            let tangent = Tangent::read(e);
            for (k, &v) in t.iter().enumerate() {
                diagonal[v as usize] += tangent.block(k, k);
            }
        }
    }

    fn add_pairs(&self, q: &Configuration, elements: &[f64], pairs: &mut Vec<PairBlock>) {
        for ((t, _), e) in self.triangles(q).zip(elements.as_chunks::<STRIDE>().0) {
            let tangent = Tangent::read(e);
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                pairs.push(PairBlock { i: t[a], j: t[b], block: tangent.block(a, b) });
            }
        }
    }
}
