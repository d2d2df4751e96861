//! Patches: what bends. A patch is a vertex of a sheet with its neighbours (`mesh/star.rs`), or three vertices of a rope, and the
//! weights that make second derivatives of its positions. The energy is in `energy/bending.rs`.

use glam::DVec3;

/// Vertices of a patch at most.
pub const SIZE: usize = 9;

/// Up to nine vertices whose weighted sums are second derivatives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Patch {
    /// Its vertices, each once. Places that are not needed repeat the first vertex, with weight 0.
    pub vertices: [u32; SIZE],
    /// Weights of ∂²x/∂u², ∂²x/∂v² and √2 ∂²x/∂u∂v, 1/m²; each adds up to 0.
    pub weights: [[f64; SIZE]; 3],
    /// Rigidity times area, N·m³ (rope: times length, N·m³): the energy is half of this times the squares.
    pub stiffness: f64,
    /// Second derivatives of the rest shape along the normal of the first three vertices, 1/m; 0 for a flat one. A rope has no
    /// normal: its rest is the curvature along the way it bends.
    pub rest: [f64; 3],
    /// Those of a sheet along the first side of that triangle and across it, 1/m: a star is flattened, so a curved shape leaves
    /// some.
    pub rest_along: [[f64; 2]; 3],
    /// Whether it is a piece of a rope.
    pub rope: bool,
}

impl Patch {
    /// How many of its vertices count.
    pub fn used(&self) -> usize {
        (1..SIZE).rfind(|&k| self.vertices[k] != self.vertices[0]).map_or(1, |last| last + 1)
    }

    /// Puts the largest triangle of its vertices first: that has the star in its middle, and turns as the star does.
    pub(super) fn lead_with_largest(&mut self, rest: &[DVec3]) {
        let used = self.used();
        let triples =
            (0..used).flat_map(|i| (i + 1..used).flat_map(move |j| (j + 1..used).map(move |k| [i, j, k])));
        let doubled = |[i, j, k]: [usize; 3]| {
            let [a, b, c] = [i, j, k].map(|k| rest[self.vertices[k] as usize]);
            (b - a).cross(c - a).length_squared()
        };
        let Some(largest) = triples.max_by(|s, t| doubled(*s).total_cmp(&doubled(*t))) else { return };
        for (to, from) in largest.into_iter().enumerate() {
            // Ascending, so none is moved away before its turn.
            self.vertices.swap(to, from);
            self.weights.iter_mut().for_each(|w| w.swap(to, from));
        }
        let first = self.vertices[0];
        self.vertices[used..].fill(first);
    }

    /// Takes over the second derivatives of the rest shape of a sheet, whose patch is `size` wide, m. A curvature whose radius
    /// is a million times that is rounding.
    pub(super) fn keep_rest_shape(&mut self, rest: &[DVec3], used: usize, size: f64) {
        let at = |v: u32| rest[v as usize];
        let second = self.weights.map(|weights| -> DVec3 {
            self.vertices[..used].iter().zip(weights).map(|(&v, w)| at(v) * w).sum()
        });
        if second.iter().all(|s| s.length() * size <= 1e-6) {
            return;
        }
        self.lead_with_largest(rest);
        let [a, b, c] = [0, 1, 2].map(|k| at(self.vertices[k]));
        let (Some(u), Some(normal)) = ((b - a).try_normalize(), (b - a).cross(c - a).try_normalize()) else {
            return;
        };
        let v = normal.cross(u);
        let part = |along: f64| if along.abs() * size > 1e-6 { along } else { 0.0 };
        self.rest = second.map(|s| part(s.dot(normal)));
        if self.rest != [0.0; 3] {
            self.rest_along = second.map(|s| [part(s.dot(u)), part(s.dot(v))]);
        }
    }
}

/// One patch for every two segments that share a vertex of no other segment. `rigidity` is E I of the rope, N·m².
pub fn rope_patches(rest: &[DVec3], segments: &[[u32; 2]], rigidity: f64) -> Vec<Patch> {
    let mut ends: Vec<(u32, u32)> = segments.iter().flat_map(|&[i, j]| [(i, j), (j, i)]).collect();
    ends.sort_unstable();
    let mut patches = Vec::new();
    for run in ends.chunk_by(|s, t| s.0 == t.0) {
        if let [(middle, first), (_, last)] = *run {
            let length = |v: u32| rest[v as usize].distance(rest[middle as usize]);
            let (l0, l1) = (length(first), length(last));
            if l0 > 0.0 && l1 > 0.0 {
                let mean = 0.5 * (l0 + l1);
                let mut second = [0.0; SIZE];
                second[..3].copy_from_slice(&[1.0 / l0, -(1.0 / l0 + 1.0 / l1), 1.0 / l1].map(|w| w / mean));
                let mut vertices = [first; SIZE];
                vertices[..3].copy_from_slice(&[first, middle, last]);
                let at = |v: u32| rest[v as usize];
                let curvature =
                    (at(first) * second[0] + at(middle) * second[1] + at(last) * second[2]).length();
                // A radius of a million segments is rounding.
                let curvature = if curvature * mean > 1e-6 { curvature } else { 0.0 };
                patches.push(Patch {
                    vertices,
                    weights: [second, [0.0; SIZE], [0.0; SIZE]],
                    stiffness: rigidity * mean,
                    rest: [curvature, 0.0, 0.0],
                    rest_along: [[0.0; 2]; 3],
                    rope: true,
                });
            }
        }
    }
    patches
}
