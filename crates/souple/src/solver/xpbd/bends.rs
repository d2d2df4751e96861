//! Bending in the same sweep: the patches of [`crate::energy::Bending`] as constraints.
//!
//! Each second derivative c = Σ w_k x_k − r n (a vector) has the energy ½ k |c|². As a constraint with compliance 1/k:
//! Δ = −c / (Σ m_k⁻¹ w_k² + 1/(k h²)), x_k += m_k⁻¹ w_k Δ. It is linear: no root, no direction. What c was when the frame began
//! is taken in 64 bits; in 32 it would be noise, as bending forces are a millionth of the others.
//!
//! Patches are visited by size, so that small ones cost no more than they must: vertices of four, six and eight neighbours, and
//! ropes. The bend of a rope that is curved at rest, by κ₀, may point any way: there |c| is compared with κ₀ in each visit.
//!
//! Lengths are in units of the patch, so that weights and compliances stay in the range of 32 bits.

use glam::DVec3;

use super::strips::Strips;
use crate::energy::{patch_curvatures, second_derivatives};
use crate::lanes::{Eight, Instructions, Kernel, Lanes, Places, Point, Vectors, WIDTH};
use crate::mesh::Patch;
use crate::mesh::patch::SIZE;
use crate::parallel::Parallel;

/// Eight patches of up to K vertices with Q second derivatives each.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Bends8<const K: usize, const Q: usize> {
    vertices: [Places; K],
    weights: [[Eight; K]; Q],
    /// c when the frame began.
    start: [[Eight; 3]; Q],
    /// 1/k.
    compliance: Eight,
    /// κ₀ of ropes; 0 for others.
    curl: Eight,
    /// Numbers of the patches.
    numbers: [u32; WIDTH],
}

/// A patch as it was given, with vertices in packed order, and the square of the length it is measured in.
type Plain = (Patch, f64);

/// Packed patches of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct BendSet {
    /// Sheets: up to five, seven and nine vertices.
    fives: Strips<Bends8<5, 3>>,
    sevens: Strips<Bends8<7, 3>>,
    nines: Strips<Bends8<SIZE, 3>>,
    /// Ropes.
    ropes: Strips<Bends8<3, 1>>,
    /// Ropes that are curved at rest.
    curls: Strips<Bends8<3, 1>>,
    plain: Vec<Plain>,
}

impl BendSet {
    /// Packs patches of `count` vertices.
    pub fn new(count: usize, patches: Vec<Patch>) -> BendSet {
        // Weights are about one over the square of the size of a patch.
        let unit = |p: &Patch| {
            let largest = p.weights.iter().flatten().fold(0.0f64, |m, w| m.max(w.abs()));
            if largest > 0.0 { 1.0 / largest } else { 1.0 }
        };
        let plain: Vec<Plain> = patches.into_iter().map(|p| (p, unit(&p))).collect();
        let sheets =
            |least: usize, most: usize| move |p: &Patch| !p.rope && (least..=most).contains(&p.used());
        BendSet {
            fives: packed(count, &plain, sheets(0, 5)),
            sevens: packed(count, &plain, sheets(6, 7)),
            nines: packed(count, &plain, sheets(8, SIZE)),
            ropes: packed(count, &plain, |p| p.rope && !is_curl(p)),
            curls: packed(count, &plain, is_curl),
            plain,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// Takes second derivatives from positions when the frame begins, m.
    pub fn begin_frame(&mut self, parallel: &Parallel, x: &[DVec3]) {
        begin(&mut self.fives, parallel, &self.plain, x);
        begin(&mut self.sevens, parallel, &self.plain, x);
        begin(&mut self.nines, parallel, &self.plain, x);
        begin(&mut self.ropes, parallel, &self.plain, x);
        begin(&mut self.curls, parallel, &self.plain, x);
    }

    /// One visit of all patches.
    pub fn visit(
        &self,
        parallel: &Parallel,
        instructions: Instructions,
        displacements: &mut [Point],
        inverse_h2: f32,
    ) {
        visit(&self.fives, parallel, instructions, displacements, inverse_h2, false);
        visit(&self.sevens, parallel, instructions, displacements, inverse_h2, false);
        visit(&self.nines, parallel, instructions, displacements, inverse_h2, false);
        visit(&self.ropes, parallel, instructions, displacements, inverse_h2, false);
        visit(&self.curls, parallel, instructions, displacements, inverse_h2, true);
    }
}

fn is_curl(patch: &Patch) -> bool {
    patch.rope && patch.rest[0] > 0.0
}

/// The patches that are `own`, in the order of visits.
fn packed<const K: usize, const Q: usize>(
    count: usize,
    plain: &[Plain],
    own: impl Fn(&Patch) -> bool,
) -> Strips<Bends8<K, Q>> {
    let own: Vec<u32> = (0u32..).zip(plain).filter(|(_, (p, _))| own(p)).map(|(n, _)| n).collect();
    let corners: Vec<[u32; K]> = own
        .iter()
        .map(|&n| {
            let mut corners = [0; K];
            corners.copy_from_slice(&plain[n as usize].0.vertices[..K]);
            corners
        })
        .collect();
    Strips::new(count, &corners, |numbers, start| {
        let numbers = numbers.map(|n| own[n as usize]);
        let own = numbers.map(|n| &plain[n as usize]);
        let mut eight = Bends8 {
            vertices: [Places::new([0; WIDTH]); K],
            weights: [[[0.0; WIDTH]; K]; Q],
            start: [[[0.0; WIDTH]; 3]; Q],
            compliance: own.map(|(p, unit)| (unit * unit / p.stiffness) as f32),
            curl: own.map(|(p, unit)| if is_curl(p) { (p.rest[0] * unit) as f32 } else { 0.0 }),
            numbers,
        };
        for k in 0..K {
            eight.vertices[k] = Places::new(own.map(|(p, _)| p.vertices[k] - start));
            for q in 0..Q {
                eight.weights[q][k] = own.map(|(p, unit)| (p.weights[q][k] * unit) as f32);
            }
        }
        eight
    })
}

fn begin<const K: usize, const Q: usize>(
    bends: &mut Strips<Bends8<K, Q>>,
    parallel: &Parallel,
    plain: &[Plain],
    x: &[DVec3],
) {
    bends.each(parallel, |eight, _| {
        for l in 0..WIDTH {
            let (patch, unit) = &plain[eight.numbers[l] as usize];
            let bent = if is_curl(patch) { second_derivatives(x, patch) } else { patch_curvatures(x, patch) };
            for (start, c) in eight.start.iter_mut().zip(bent) {
                for (start, c) in start.iter_mut().zip((c * *unit).to_array()) {
                    start[l] = c as f32;
                }
            }
        }
        0.0
    });
}

fn visit<const K: usize, const Q: usize>(
    bends: &Strips<Bends8<K, Q>>,
    parallel: &Parallel,
    instructions: Instructions,
    displacements: &mut [Point],
    inverse_h2: f32,
    curled: bool,
) {
    bends.visit(parallel, displacements, |bends, displacements| {
        instructions.run(Bend { bends, displacements, inverse_h2, curled });
    });
}

/// One visit of all patches of a strip.
struct Bend<'a, const K: usize, const Q: usize> {
    /// The patches.
    bends: &'a [Bends8<K, Q>],
    /// Displacements of the strip's vertices, m.
    displacements: &'a mut [Point],
    /// 1/h², 1/s².
    inverse_h2: f32,
    /// Whether they are of ropes that are curved at rest.
    curled: bool,
}

impl<const K: usize, const Q: usize> Kernel for Bend<'_, K, Q> {
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
type Moved<L, const K: usize> = ([Vectors<L>; K], [L; K]);

/// Where the vertices are after one visit.
#[inline(always)]
fn straightened<L: Lanes, const K: usize, const Q: usize>(
    bends: &Bends8<K, Q>,
    displacements: &[Point],
    inverse_h2: L,
    curled: bool,
) -> Moved<L, K> {
    let zero = L::splat(0.0);
    let mut p = [Vectors { x: zero, y: zero, z: zero }; K];
    let mut w = [zero; K];
    for k in 0..K {
        (p[k], w[k]) = Vectors::<L>::gather(displacements, &bends.vertices[k]);
    }
    let soft = L::load(&bends.compliance) * inverse_h2;
    for q in 0..Q {
        let mut moves = [zero; K];
        let mut sum = zero;
        let mut bent = Vectors::load(&bends.start[q]);
        for k in 0..K {
            let c = L::load(&bends.weights[q][k]);
            moves[k] = w[k] * c;
            sum = sum + moves[k] * c;
            bent = bent + p[k] * c;
        }
        // Half of what overlaps is visited later and bends it again: as with links, that is taken off the compliance.
        let softness = sum + (soft - L::splat(0.5) * sum).max(zero);
        if curled {
            // A rope that is straight knows no way to bend: it is left alone.
            let curl = L::load(&bends.curl);
            let length = bent.length().max(curl * L::splat(1e-6)).max(L::splat(f32::MIN_POSITIVE));
            bent = bent * (L::splat(1.0) - curl / length);
        }
        let delta = bent * (L::splat(-1.0) / softness.max(L::splat(f32::MIN_POSITIVE)));
        for k in 0..K {
            p[k] = p[k] + delta * moves[k];
        }
    }
    (p, w)
}

/// Writes the vertices. Places that are not needed name the first vertex again, with weight 0: written before it, they do no
/// harm.
#[inline(always)]
fn put<L: Lanes, const K: usize, const Q: usize>(
    bends: &Bends8<K, Q>,
    (p, w): Moved<L, K>,
    displacements: &mut [Point],
) {
    for k in (0..K).rev() {
        p[k].scatter(w[k], displacements, &bends.vertices[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::patch_forces;
    use crate::math::uniform;
    use crate::mesh::generate;
    use crate::mesh::patch::rope_patches;
    use crate::mesh::star::sheet_patches;
    use crate::scene::Grid;

    /// For substeps so short that patches do not feel each other, a visit moves vertices by h² f / m.
    #[test]
    fn a_visit_is_the_force_of_the_energy() {
        let mesh = generate::grid(&Grid { vertices: [9, 7], ..Grid::default() });
        let n = mesh.positions.len();
        let mut patches = sheet_patches(&mesh.positions, &mesh.triangles, 0.01, &[], &mut None);
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
        set.begin_frame(&Parallel::default(), &x);
        let mut runs = Vec::new();
        for instructions in [Instructions::Plain, Instructions::detect()] {
            let mut displacements = vec![[0.0, 0.0, 0.0, 1.0 / mass]; n];
            set.visit(&Parallel::default(), instructions, &mut displacements, 1.0 / (h * h));
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
