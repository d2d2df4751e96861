//! Bending in the same sweep: the patches of [`crate::energy::Bending`] as constraints.
//!
//! Each second derivative c = Σ w_k x_k − r n (a vector) has the energy ½ k |c|². As a constraint with compliance 1/k:
//! Δ = −c / (Σ m_k⁻¹ w_k² + 1/(k h²)), x_k += m_k⁻¹ w_k Δ. It is linear: no root, no direction. What c was when the frame began
//! is taken in 64 bits; in 32 it would be noise, as bending forces are a millionth of the others.
//!
//! The bend of a rope that is curved at rest, by κ₀, may point any way: there |c| is compared with κ₀ in each visit.
//!
//! Lengths are in units of the patch, so that weights and compliances stay in the range of 32 bits.

use glam::DVec3;

use super::lanes::{Eight, Kernel, Lanes, Places, Point, Vectors, WIDTH};
use super::strips::Strips;
use crate::energy::{patch_curvatures, second_derivatives};
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
    /// κ₀ of ropes; 0 for others.
    curl: Eight,
    /// Numbers of the patches.
    numbers: [u32; WIDTH],
}

/// Packed patches of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct BendSet {
    /// All patches but those of curved ropes.
    pub bends: Strips<Bends8>,
    /// Patches of ropes that are curved at rest.
    pub curls: Strips<Bends8>,
    /// The patches as they were given, with vertices in packed order, and the square of the length each is measured in.
    plain: Vec<(Patch, f64)>,
}

impl BendSet {
    /// Packs patches of `count` vertices.
    pub fn new(count: usize, patches: Vec<Patch>) -> BendSet {
        let curved = |p: &Patch| p.rope && p.rest[0] > 0.0;
        // Weights are about one over the square of the size of a patch.
        let unit = |p: &Patch| {
            let largest = p.weights.iter().flatten().fold(0.0f64, |m, w| m.max(w.abs()));
            if largest > 0.0 { 1.0 / largest } else { 1.0 }
        };
        let (curls, flat): (Vec<Patch>, Vec<Patch>) = patches.into_iter().partition(curved);
        let plain: Vec<(Patch, f64)> = flat.iter().chain(&curls).map(|p| (*p, unit(p))).collect();
        let eight = |numbers: &[u32; WIDTH], start: u32, before: u32| {
            let numbers = &numbers.map(|n| n + before);
            let own = numbers.map(|n| &plain[n as usize]);
            Bends8 {
                vertices: [0, 1, 2, 3, 4, 5].map(|k| Places::new(own.map(|(p, _)| p.vertices[k] - start))),
                weights: [0, 1, 2].map(|q| {
                    [0, 1, 2, 3, 4, 5].map(|k| own.map(|(p, unit)| (p.weights[q][k] * unit) as f32))
                }),
                start: [[[0.0; WIDTH]; 3]; 3],
                compliance: own.map(|(p, unit)| (unit * unit / p.stiffness) as f32),
                curl: own.map(|(p, unit)| if curved(p) { (p.rest[0] * unit) as f32 } else { 0.0 }),
                numbers: *numbers,
            }
        };
        let corners = |patches: &[Patch]| patches.iter().map(|p| p.vertices).collect::<Vec<_>>();
        BendSet {
            bends: Strips::new(count, &corners(&flat), |numbers, start| eight(numbers, start, 0)),
            curls: Strips::new(count, &corners(&curls), |numbers, start| {
                eight(numbers, start, flat.len() as u32)
            }),
            plain,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Takes second derivatives from positions when the frame begins, m.
    pub fn begin_frame(&mut self, x: &[DVec3]) {
        for (eight, _) in self.bends.eights_mut().chain(self.curls.eights_mut()) {
            for l in 0..WIDTH {
                let (patch, unit) = &self.plain[eight.numbers[l] as usize];
                let curved = eight.curl[l] > 0.0;
                let bent = if curved { second_derivatives(x, patch) } else { patch_curvatures(x, patch) };
                for (start, c) in eight.start.iter_mut().zip(bent) {
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
    /// Whether they are of ropes that are curved at rest.
    pub curled: bool,
}

impl Kernel for Bend<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let inverse_h2 = L::splat(self.inverse_h2);
        // The two of a pair share no vertex, or repeat each other: both are read before anything of both is written.
        for [one, two] in self.bends.as_chunks::<2>().0 {
            let moved_one = straightened(one, self.displacements, inverse_h2, self.curled);
            let moved_two = straightened(two, self.displacements, inverse_h2, self.curled);
            put(one, moved_one, self.displacements);
            put(two, moved_two, self.displacements);
        }
    }
}

/// Displacements and inverse masses of the vertices of eight patches.
type Six<L> = [(Vectors<L>, L); 6];

/// Where the vertices are after one visit.
#[inline(always)]
fn straightened<L: Lanes>(bends: &Bends8, displacements: &[Point], inverse_h2: L, curled: bool) -> Six<L> {
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
        let w = (m0 * c0 + m1 * c1 + m2 * c2) + (m3 * c3 + m4 * c4 + m5 * c5);
        // Half of what overlaps is visited later and bends it again: as with links, that is taken off the compliance.
        let softness = w + (soft - L::splat(0.5) * w).max(L::splat(0.0));
        let bent =
            Vectors::load(&bends.start[q]) + ((p0 * c0 + p1 * c1 + p2 * c2) + (p3 * c3 + p4 * c4 + p5 * c5));
        let bent = if curled {
            // A rope that is straight knows no way to bend: it is left alone.
            let curl = L::load(&bends.curl);
            let length = bent.length().max(curl * L::splat(1e-6)).max(L::splat(f32::MIN_POSITIVE));
            bent * (L::splat(1.0) - curl / length)
        } else {
            bent
        };
        let delta = bent * (L::splat(-1.0) / softness.max(L::splat(f32::MIN_POSITIVE)));
        (p0, p1, p2) = (p0 + delta * m0, p1 + delta * m1, p2 + delta * m2);
        (p3, p4, p5) = (p3 + delta * m3, p4 + delta * m4, p5 + delta * m5);
    }
    [(p0, w0), (p1, w1), (p2, w2), (p3, w3), (p4, w4), (p5, w5)]
}

/// Writes the vertices. Places that are not needed name an earlier vertex again, with weight 0: written first, they do no
/// harm.
#[inline(always)]
fn put<L: Lanes>(bends: &Bends8, moved: Six<L>, displacements: &mut [Point]) {
    for k in [5, 4, 3, 2, 1, 0] {
        let (p, w) = moved[k];
        p.scatter(w, displacements, &bends.vertices[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::patch_forces;
    use crate::math::uniform;
    use crate::mesh::generate;
    use crate::mesh::patch::{rope_patches, sheet_patches};
    use crate::parallel::Parallel;
    use crate::scene::Grid;
    use crate::solver::xpbd::lanes::Instructions;

    /// For substeps so short that patches do not feel each other, a visit moves vertices by h² f / m.
    #[test]
    fn a_visit_is_the_force_of_the_energy() {
        let mesh = generate::grid(&Grid { vertices: [9, 7], ..Grid::default() });
        let n = mesh.positions.len();
        let mut patches = sheet_patches(&mesh.positions, &mesh.triangles, 0.01);
        let segments: Vec<[u32; 2]> = (1..9).map(|i| [i - 1, i]).collect();
        patches.extend(rope_patches(&mesh.positions, &segments, 0.01));
        // One more rope, curved at rest.
        let bowed: Vec<DVec3> = mesh.positions.iter().map(|p| *p + DVec3::Y * (3.0 * p.x * p.x)).collect();
        let segments: Vec<[u32; 2]> = (28..36).map(|i| [i - 1, i]).collect();
        patches.extend(rope_patches(&bowed, &segments, 0.01));
        let r = |i: usize, k: u64| 0.05 * (uniform(7, 3 * i as u64 + k) - 0.5);
        let x: Vec<DVec3> = mesh
            .positions
            .iter()
            .enumerate()
            .map(|(i, p)| *p + DVec3::new(r(i, 0), r(i, 1), r(i, 2)))
            .collect();
        let mut expected = vec![DVec3::ZERO; n];
        for patch in &patches {
            for (&v, f) in patch.vertices.iter().zip(patch_forces(&x, patch)) {
                expected[v as usize] += f;
            }
        }
        let (mass, h) = (0.003, 1e-5f32);
        let mut set = BendSet::new(n, patches);
        set.begin_frame(&x);
        let mut runs = Vec::new();
        for instructions in [Instructions::Plain, Instructions::detect()] {
            let mut displacements = vec![[0.0, 0.0, 0.0, 1.0 / mass]; n];
            for (bends, curled) in [(&set.bends, false), (&set.curls, true)] {
                bends.visit(&Parallel::default(), &mut displacements, |bends, displacements| {
                    instructions.run(Bend { bends, displacements, inverse_h2: 1.0 / (h * h), curled });
                });
            }
            let largest = expected.iter().map(|f| f.length()).fold(0.0, f64::max);
            for (d, f) in displacements.iter().zip(&expected) {
                let [x, y, z, _] = d.map(f64::from);
                let found = DVec3::new(x, y, z) * f64::from(mass) / f64::from(h * h);
                assert!(found.distance(*f) < 1e-3 * largest, "{found} against {f}");
            }
            runs.push(displacements);
        }
        assert_eq!(runs[0], runs[1], "the same bits with all instructions");
    }
}
