//! Bending in the same sweep: the patches of [`crate::energy::Bending`] as constraints.
//!
//! Each second derivative c = Σ w_k x_k − r n (a vector) has the energy ½ k |c|². As a constraint with compliance 1/k:
//! Δ = −c / (Σ m_k⁻¹ w_k² + 1/(k h²)), x_k += m_k⁻¹ w_k Δ. It is linear: no root, no direction. What c was when the frame began
//! is taken in 64 bits; in 32 it would be noise, as bending forces are a millionth of the others.
//!
//! Lengths are in units of the patch, so that weights and compliances stay in the range of 32 bits.

use glam::DVec3;

use super::lanes::{Eight, Kernel, Lanes, Places, Point, Vectors, WIDTH};
use super::strips::Strips;
use crate::energy::patch_curvatures;
use crate::mesh::Patch;

/// Eight patches.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Bends8 {
    vertices: [Places; 6],
    weights: [[Eight; 6]; 3],
    /// c when the frame began.
    start: [[Eight; 3]; 3],
    /// 1/k.
    compliance: Eight,
    /// Numbers of the patches.
    numbers: [u32; WIDTH],
}

/// Packed patches of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct BendSet {
    /// All patches.
    pub bends: Strips<Bends8>,
    /// The patches as they were given, with vertices in packed order, and the square of the length each is measured in.
    plain: Vec<(Patch, f64)>,
}

impl BendSet {
    /// Packs patches of `count` vertices.
    pub fn new(count: usize, patches: Vec<Patch>) -> BendSet {
        let vertices: Vec<[u32; 6]> = patches.iter().map(|p| p.vertices).collect();
        // Weights are about one over the square of the size of a patch.
        let unit = |p: &Patch| {
            let largest = p.weights.iter().flatten().fold(0.0f64, |m, w| m.max(w.abs()));
            if largest > 0.0 { 1.0 / largest } else { 1.0 }
        };
        let plain: Vec<(Patch, f64)> = patches.iter().map(|p| (*p, unit(p))).collect();
        let eight = |numbers: &[u32; WIDTH], start: u32| {
            let own = numbers.map(|n| &plain[n as usize]);
            Bends8 {
                vertices: [0, 1, 2, 3, 4, 5].map(|k| Places::new(own.map(|(p, _)| p.vertices[k] - start))),
                weights: [0, 1, 2].map(|q| {
                    [0, 1, 2, 3, 4, 5].map(|k| own.map(|(p, unit)| (p.weights[q][k] * unit) as f32))
                }),
                start: [[[0.0; WIDTH]; 3]; 3],
                compliance: own.map(|(p, unit)| (unit * unit / p.stiffness) as f32),
                numbers: *numbers,
            }
        };
        BendSet { bends: Strips::new(count, &vertices, eight), plain }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Takes second derivatives from positions when the frame begins, m.
    pub fn begin_frame(&mut self, x: &[DVec3]) {
        for (eight, _) in self.bends.eights_mut() {
            for l in 0..WIDTH {
                let (patch, unit) = &self.plain[eight.numbers[l] as usize];
                for (start, c) in eight.start.iter_mut().zip(patch_curvatures(x, patch)) {
                    for (start, c) in start.iter_mut().zip((c * *unit).to_array()) {
                        start[l] = c as f32;
                    }
                }
            }
        }
    }
}

/// One visit of all patches of a strip.
pub struct Bend<'a> {
    /// The patches.
    pub bends: &'a [Bends8],
    /// Displacements of the strip's vertices, m.
    pub displacements: &'a mut [Point],
    /// 1/h², 1/s².
    pub inverse_h2: f32,
}

impl Kernel for Bend<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let inverse_h2 = L::splat(self.inverse_h2);
        for eight in self.bends {
            project(eight, self.displacements, inverse_h2);
        }
    }
}

#[inline(always)]
fn project<L: Lanes>(bends: &Bends8, displacements: &mut [Point], inverse_h2: L) {
    let at = &bends.vertices;
    let (mut p0, w0) = Vectors::<L>::gather(displacements, &at[0]);
    let (mut p1, w1) = Vectors::<L>::gather(displacements, &at[1]);
    let (mut p2, w2) = Vectors::<L>::gather(displacements, &at[2]);
    let (mut p3, w3) = Vectors::<L>::gather(displacements, &at[3]);
    let (mut p4, w4) = Vectors::<L>::gather(displacements, &at[4]);
    let (mut p5, w5) = Vectors::<L>::gather(displacements, &at[5]);
    let soft = L::load(&bends.compliance) * inverse_h2;
    for q in 0..3 {
        let c = &bends.weights[q];
        let (c0, c1, c2) = (L::load(&c[0]), L::load(&c[1]), L::load(&c[2]));
        let (c3, c4, c5) = (L::load(&c[3]), L::load(&c[4]), L::load(&c[5]));
        let (m0, m1, m2) = (w0 * c0, w1 * c1, w2 * c2);
        let (m3, m4, m5) = (w3 * c3, w4 * c4, w5 * c5);
        let softness = (m0 * c0 + m1 * c1 + m2 * c2) + (m3 * c3 + m4 * c4 + m5 * c5) + soft;
        let bent =
            Vectors::load(&bends.start[q]) + ((p0 * c0 + p1 * c1 + p2 * c2) + (p3 * c3 + p4 * c4 + p5 * c5));
        let delta = bent * (L::splat(-1.0) / softness.max(L::splat(f32::MIN_POSITIVE)));
        (p0, p1, p2) = (p0 + delta * m0, p1 + delta * m1, p2 + delta * m2);
        (p3, p4, p5) = (p3 + delta * m3, p4 + delta * m4, p5 + delta * m5);
    }
    // Places that are not needed name an earlier vertex again, with weight 0: written first, they do no harm.
    p5.scatter(w5, displacements, &at[5]);
    p4.scatter(w4, displacements, &at[4]);
    p3.scatter(w3, displacements, &at[3]);
    p2.scatter(w2, displacements, &at[2]);
    p1.scatter(w1, displacements, &at[1]);
    p0.scatter(w0, displacements, &at[0]);
}
