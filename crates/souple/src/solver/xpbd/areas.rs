//! Areas of triangles in the same sweep: the energy of [`crate::energy::Area`] as constraints.
//!
//! Lengths are in units of √A₀ of each triangle, so that all numbers are about 1 whatever the mesh. There C = A/A₀ − 1 has
//! the energy ½ k A₀ C². With the gradient g of C in those units: Δ = −C / (Σ w |g|² + 1/(k h²)), x += √A₀ w Δ g.
//!
//! As for links, what is compared is a square: |N|² − 4, with N twice the area vector. Its value when the frame began is
//! taken in 64 bits, and only its change in 32.

use glam::DVec3;

use super::strips::Strips;
use crate::lanes::{Eight, Kernel, Lanes, Places, Point, Vectors, WIDTH};

/// A triangle to be packed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// Its corners.
    pub vertices: [u32; 3],
    /// Area at rest, m²; positive.
    pub rest_area: f64,
}

/// Eight triangles.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Areas8 {
    vertices: [Places; 3],
    /// Sides from the first corner to the others when the frame began, in units.
    sides: [[Eight; 3]; 2],
    /// N = e × f when the frame began, in units.
    normal: [Eight; 3],
    /// |N|² − 4 when the frame began, in units.
    excess: Eight,
    /// √A₀, m.
    unit: Eight,
    inverse_unit: Eight,
}

/// Packed triangles of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct AreaSet {
    /// All triangles.
    pub areas: Strips<Areas8>,
    /// 1/k, m/N.
    pub compliance: f32,
    empty: bool,
}

/// Normals shorter than this, in units, have no direction.
const SHORTEST: f32 = 1e-12;

impl AreaSet {
    /// Packs triangles of `count` vertices; none without stiffness, N/m.
    pub fn new(count: usize, triangles: &[Triangle], stiffness: f64) -> AreaSet {
        let triangles = if stiffness > 0.0 { triangles } else { &[] };
        let vertices: Vec<[u32; 3]> = triangles.iter().map(|t| t.vertices).collect();
        let eight = |numbers: &[u32; WIDTH], start: u32| {
            let own = numbers.map(|n| triangles[n as usize]);
            Areas8 {
                vertices: [0, 1, 2].map(|k| Places::new(own.map(|t| t.vertices[k] - start))),
                sides: [[[0.0; WIDTH]; 3]; 2],
                normal: [[0.0; WIDTH]; 3],
                excess: [0.0; WIDTH],
                unit: own.map(|t| t.rest_area.sqrt() as f32),
                inverse_unit: own.map(|t| (1.0 / t.rest_area.sqrt()) as f32),
            }
        };
        AreaSet {
            areas: Strips::new(count, &vertices, eight),
            compliance: (1.0 / stiffness) as f32,
            empty: triangles.is_empty(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// Takes sides and areas from positions when the frame begins, m.
    pub fn begin_frame(&mut self, x: &[DVec3]) {
        for (eight, start) in self.areas.eights_mut() {
            for l in 0..WIDTH {
                let [a, b, c] = [0, 1, 2].map(|k| x[start + eight.vertices[k].at()[l] as usize]);
                let unit = f64::from(eight.inverse_unit[l]);
                let (e, f) = ((b - a) * unit, (c - a) * unit);
                let normal = e.cross(f);
                eight.excess[l] = (normal.length_squared() - 4.0) as f32;
                let [ours_e, ours_f] = &mut eight.sides;
                for (ours, v) in [(ours_e, e), (ours_f, f), (&mut eight.normal, normal)] {
                    ours.iter_mut().zip(v.to_array()).for_each(|(ours, v)| ours[l] = v as f32);
                }
            }
        }
    }
}

/// One visit of all triangles of a strip.
pub struct Spread<'a> {
    /// The triangles.
    pub areas: &'a [Areas8],
    /// Displacements of the strip's vertices, m.
    pub displacements: &'a mut [Point],
    /// 1/(k h²), 1/kg.
    pub softness: f32,
}

impl Kernel for Spread<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self) {
        let softness = L::splat(self.softness);
        // The two of a pair share no vertex, or repeat each other: both are read before anything of both is written.
        for [one, two] in self.areas.as_chunks::<2>().0 {
            let moved_one = resized(one, self.displacements, softness);
            let moved_two = resized(two, self.displacements, softness);
            put(one, moved_one, self.displacements);
            put(two, moved_two, self.displacements);
        }
    }
}

/// Displacements and inverse masses of the corners of eight triangles.
type Three<L> = [(Vectors<L>, L); 3];

/// Cross products.
#[inline(always)]
fn cross<L: Lanes>(a: Vectors<L>, b: Vectors<L>) -> Vectors<L> {
    Vectors { x: a.y * b.z - a.z * b.y, y: a.z * b.x - a.x * b.z, z: a.x * b.y - a.y * b.x }
}

/// Where the corners are after one visit.
#[inline(always)]
fn resized<L: Lanes>(areas: &Areas8, displacements: &[Point], softness: L) -> Three<L> {
    let (a, wa) = Vectors::<L>::gather(displacements, &areas.vertices[0]);
    let (b, wb) = Vectors::<L>::gather(displacements, &areas.vertices[1]);
    let (c, wc) = Vectors::<L>::gather(displacements, &areas.vertices[2]);
    let per_unit = L::load(&areas.inverse_unit);
    let (e0, f0) = (Vectors::<L>::load(&areas.sides[0]), Vectors::<L>::load(&areas.sides[1]));
    let (de, df) = ((b - a) * per_unit, (c - a) * per_unit);
    let (e, f) = (e0 + de, f0 + df);
    // N − N₀ = de × f + e₀ × df, and |N|² − |N₀|² = (N − N₀)·(N + N₀).
    let change = cross(de, f) + cross(e0, df);
    let before = Vectors::load(&areas.normal);
    let normal = before + change;
    let excess = L::load(&areas.excess) + change.dot(before + normal);
    let length = normal.length().max(L::splat(SHORTEST));
    // C = |N|/2 − 1 = (|N|² − 4) / (2 (|N| + 2)).
    let two = L::splat(2.0);
    let c_value = excess / (two * (length + two));
    let n = normal * (L::splat(0.5) / length);
    let (gb, gc) = (cross(f, n), cross(n, e));
    let zero = L::splat(0.0);
    let ga = Vectors { x: zero, y: zero, z: zero } - (gb + gc);
    let sum = wa * ga.dot(ga) + wb * gb.dot(gb) + wc * gc.dot(gc) + softness;
    let share = L::load(&areas.unit) * c_value / sum.max(L::splat(f32::MIN_POSITIVE));
    [(a - ga * (share * wa), wa), (b - gb * (share * wb), wb), (c - gc * (share * wc), wc)]
}

#[inline(always)]
fn put<L: Lanes>(areas: &Areas8, moved: Three<L>, displacements: &mut [Point]) {
    for k in [0, 1, 2] {
        let (p, w) = moved[k];
        p.scatter(w, displacements, &areas.vertices[k]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::area_forces;
    use crate::lanes::Instructions;
    use crate::math::uniform;
    use crate::mesh::{generate, triangle_area};
    use crate::parallel::Parallel;
    use crate::scene::Grid;

    /// For substeps so short that triangles do not feel each other, a visit moves vertices by h² f / m.
    #[test]
    fn a_visit_is_the_force_of_the_energy() {
        for size in [1e-3, 1.0, 1e9] {
            let mesh = generate::grid(&Grid { vertices: [9, 7], size: [size, size], ..Grid::default() });
            let n = mesh.positions.len();
            let r = |i: usize, k: u64| 0.05 * size * (uniform(7, 3 * i as u64 + k) - 0.5);
            let moved = |(i, p): (usize, &DVec3)| *p + DVec3::new(r(i, 0), r(i, 1), r(i, 2));
            let x: Vec<DVec3> = mesh.positions.iter().enumerate().map(moved).collect();
            let stiffness = 20.0;
            let mut expected = vec![DVec3::ZERO; n];
            let mut triangles = Vec::new();
            for t in &mesh.triangles {
                let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
                let rest_area = triangle_area(a, b, c);
                triangles.push(Triangle { vertices: *t, rest_area });
                let forces = area_forces(t.map(|v| x[v as usize]), rest_area, stiffness);
                for (&v, f) in t.iter().zip(forces) {
                    expected[v as usize] += f;
                }
            }
            let (mass, h) = (0.003, 1e-5f32);
            let mut set = AreaSet::new(n, &triangles, stiffness);
            set.begin_frame(&x);
            let softness = set.compliance / (h * h);
            let mut runs = Vec::new();
            for instructions in [Instructions::Plain, Instructions::detect()] {
                let mut displacements = vec![[0.0, 0.0, 0.0, 1.0 / mass]; n];
                set.areas.visit(&Parallel::default(), &mut displacements, |areas, displacements| {
                    instructions.run(Spread { areas, displacements, softness });
                });
                let largest = expected.iter().map(|f| f.length()).fold(0.0, f64::max);
                for (d, f) in displacements.iter().zip(&expected) {
                    let [x, y, z, _] = d.map(f64::from);
                    let found = DVec3::new(x, y, z) * f64::from(mass) / f64::from(h * h);
                    assert!(found.distance(*f) < 1e-3 * largest, "{size}: {found} against {f}");
                }
                runs.push(displacements);
            }
            assert_eq!(runs[0], runs[1], "the same bits with all instructions");
        }
    }
}
