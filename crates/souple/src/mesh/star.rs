//! Stars: the patches of sheets. A star is a vertex with the triangles around it; its second derivatives are weighted sums of
//! the angles at its spokes, the edges from the vertex to its neighbours.
//!
//! What makes an energy of angles right on any mesh: where the angles are those of a quadratic surface, the moment across
//! each edge is the true one. Then such a surface has its true energy, and as moments that are the same everywhere add up to
//! no force on any vertex inside, it is in balance: no other shape of the mesh is softer. With W the weights of a star and c_K
//! the angles of the surface of second derivatives K, this says, for each edge e between the stars a and b and for all K
//! (t along the edge, n across it),
//!
//!   W_a,e · W_a c_K + W_b,e · W_b c_K = |e| K_nn
//!
//! The mean over the star of the angles times |e| n nᵀ (Cohen-Steiner, Morvan 2003) is that on regular meshes. Elsewhere the
//! weights are changed, by as little as will do, edge by edge, a few times around (Kaczmarz 1937, on the tangent of the
//! squares). Squares cannot be negative, so the matrix of the energy never is.
//!
//! Why not something simpler: single hinges cannot do it (Grinspun, Gingold, Reisman, Zorin 2006), whatever their weights, nor
//! can patches of a triangle and its neighbours, which would have to be negative on rectangles cut along alternating
//! diagonals. The mixed method of Hellan, Herrmann and Johnson does it, but joins every edge with every other.
//! `docs/src/forces.md` has the figures.
//!
//! Promised: within a few thousandths of a plate however it is bent, on any mesh; nothing that bends is free. At a border
//! nothing is asked of surfaces with a moment across it, as free borders have none. Not promised: that the weights have
//! settled where triangles are hundreds of times longer than wide (measured: 4 % too stiff), and right forces under stretch of
//! tens of per cent.

use std::f64::consts::SQRT_2;
use std::sync::Arc;

use glam::{DMat3, DVec3};

use super::hinges::{Fan, Hinge, Hinges};
use super::patch::{Patch, SIZE};
use super::topology::Rows;

/// Rounds over all edges at most.
const ROUNDS: u32 = 20;

/// So many edges from a tear nothing of it is felt any more.
const FAR: u32 = 3;

/// Moments are right when they are off by less than this share.
const RIGHT: f64 = 1e-3;

/// The most spokes of a star whose ends are not joined: it has two more vertices than spokes around its own.
const MOST_SPOKES: usize = SIZE - 3;

/// Second derivatives are triples (K_uu, K_vv, √2 K_uv) everywhere here, so that lengths are those of tensors.
type Triple = DVec3;

/// An edge as seen from a star.
#[derive(Clone, Copy, Debug)]
struct Spoke {
    hinge: u32,
    /// Where the edge goes, in the frame of the star.
    direction: (f64, f64),
    /// −1 if the way across the edge is to the right of where it goes.
    sign: f64,
    /// The angles of the edge, in the frame of the star, m.
    angles: Triple,
    /// What the angle adds to the three second derivatives, times the root of the area.
    weights: DVec3,
}

impl Spoke {
    /// From second derivatives in the frame of the edge to those in the frame of the star.
    fn rotation(&self) -> DMat3 {
        let (cos, sin) = self.direction;
        let both = self.sign * SQRT_2 * cos * sin;
        DMat3::from_cols(
            DVec3::new(cos * cos, sin * sin, SQRT_2 * cos * sin),
            across(cos, sin),
            DVec3::new(-both, both, self.sign * (cos * cos - sin * sin)),
        )
    }
}

/// A vertex with what is around it.
#[derive(Clone, Debug)]
struct Star {
    vertex: u32,
    /// Its spokes are `first..end`.
    first: usize,
    end: usize,
    /// m².
    area: f64,
    /// Σ weights ⊗ angles: what the star makes of second derivatives.
    measured: DMat3,
    /// Σ angles ⊗ angles.
    squares: DMat3,
    /// Second derivative across the border that it lies at.
    border: Option<Triple>,
}

/// Patches of all vertices. `rigidity` is the bending rigidity of the sheet, N·m. Across edges of more than two triangles
/// nothing bends, nor do triangles without area. A vertex of very many neighbours has several patches, one for each part of
/// what is around it.
///
/// `whole` are the weights of the mesh before it tore, which `parents` number: most stars of a torn one are settled with them.
/// They are made if there are none yet.
pub fn sheet_patches(
    rest: &[DVec3],
    triangles: &[[u32; 3]],
    rigidity: f64,
    parents: &[u32],
    whole: &mut Option<Arc<StarWeights>>,
) -> Vec<Patch> {
    let hinges = Hinges::new(rest, triangles);
    let mut stars = Stars::new(&hinges);
    let known = whole.as_ref().map(|whole| stars.begin_with(whole, &hinges.hinges, parents));
    stars.settle(&hinges.hinges, &known.unwrap_or_default());
    whole.get_or_insert_with(|| Arc::new(stars.weights(&hinges.hinges)));
    stars.stars.iter().filter_map(|star| stars.patch(star, &hinges, rigidity)).collect()
}

/// Settled weights of all stars of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StarWeights {
    /// The vertex of each star, where its spokes begin, and where the first goes in the frame of the star; by vertex.
    stars: Vec<(u32, u32, (f64, f64))>,
    /// The vertex that each spoke goes to, and its weights.
    spokes: Vec<(u32, DVec3)>,
}

impl StarWeights {
    /// For each star of a vertex, where its first spoke goes and all its spokes.
    fn of(&self, vertex: u32) -> impl Iterator<Item = ((f64, f64), &[(u32, DVec3)])> {
        let begin = self.stars.partition_point(|(v, ..)| *v < vertex);
        let own = (begin..self.stars.len()).take_while(move |&s| self.stars[s].0 == vertex);
        own.map(|s| {
            let (_, first, direction) = self.stars[s];
            let end = self.stars.get(s + 1).map_or(self.spokes.len(), |(_, end, _)| *end as usize);
            (direction, &self.spokes[first as usize..end])
        })
    }
}

/// a bᵀ.
fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

/// The second derivative across a direction.
fn across(cos: f64, sin: f64) -> Triple {
    DVec3::new(sin * sin, cos * cos, -SQRT_2 * cos * sin)
}

/// All stars of a mesh.
struct Stars {
    stars: Vec<Star>,
    spokes: Vec<Spoke>,
    /// For each hinge, the spokes that it is and the stars that these belong to.
    ends: Vec<[(u32, u32); 2]>,
}

impl Stars {
    fn new(hinges: &Hinges) -> Stars {
        let corners = (0u32..).zip(hinges.triangles).flat_map(|(t, c)| c.map(|v| (v, t)));
        let around = Rows::from_pairs(hinges.rest.len(), corners);
        let mut stars =
            Stars { stars: Vec::new(), spokes: Vec::new(), ends: vec![[(0, 0); 2]; hinges.hinges.len()] };
        // The last vertex whose fans each triangle was found in.
        let mut seen = vec![u32::MAX; hinges.triangles.len()];
        let mut fan = Fan::default();
        for v in 0..hinges.rest.len() as u32 {
            for &t in around.row(v as usize) {
                if seen[t as usize] != v && hinges.at[t as usize] != [None; 3] {
                    hinges.find_fan(v, t, &mut fan);
                    fan.triangles.iter().for_each(|(t, ..)| seen[*t as usize] = v);
                    stars.add(hinges, v, &fan);
                }
            }
        }
        stars
    }

    fn add(&mut self, hinges: &Hinges, vertex: u32, fan: &Fan) {
        let count = fan.spokes.len();
        // From the first neighbour to the last is along the border.
        let border = fan.directions.last().filter(|_| !fan.closed).and_then(|(cos, sin)| {
            let (x, y) = (fan.radii[1] * cos - fan.radii[0], fan.radii[1] * sin);
            let length = (x * x + y * y).sqrt();
            (length > 1e-3 * fan.radii[0]).then(|| across(x / length, y / length))
        });
        let whole = count < SIZE && fan.closed;
        let parts = if whole { 1 } else { count.div_ceil(MOST_SPOKES) };
        for part in 0..parts {
            let (begin, end) = (count * part / parts, count * (part + 1) / parts);
            let mut area = 0.0;
            for i in begin..=end {
                // A third of each triangle, a half of that where two parts meet or a whole star ends where it begins.
                let inside = i > begin && i < end;
                let at_border = !fan.closed && (i == 0 || i == count);
                let share = if inside || at_border { 1.0 / 3.0 } else { 1.0 / 6.0 };
                area += share * 0.5 * fan.triangles[i % fan.triangles.len()].2;
            }
            self.add_part(hinges, vertex, fan, (begin, end), (area, border));
        }
    }

    fn add_part(
        &mut self,
        hinges: &Hinges,
        vertex: u32,
        fan: &Fan,
        (begin, end): (usize, usize),
        (area, border): (f64, Option<Triple>),
    ) {
        let number = self.stars.len() as u32;
        let first = self.spokes.len();
        let (mut measured, mut squares) = (DMat3::ZERO, DMat3::ZERO);
        for i in begin..end {
            let hinge = &hinges.hinges[fan.spokes[i] as usize];
            let direction @ (cos, sin) = fan.directions[i];
            let left = fan.triangles[(i + 1) % fan.triangles.len()].0;
            // Both the way along the edge and the way across may be the opposite of those of the hinge.
            let sign = if (hinge.vertices[0] == vertex) == (hinge.triangles[0] == left) { 1.0 } else { -1.0 };
            let weights = across(cos, sin) * (0.5 * hinge.length / area.sqrt());
            let mut spoke = Spoke { hinge: fan.spokes[i], direction, sign, angles: hinge.angles, weights };
            spoke.angles = spoke.rotation() * hinge.angles;
            measured += outer(weights, spoke.angles);
            squares += outer(spoke.angles, spoke.angles);
            let end = usize::from(hinge.vertices[0] != vertex);
            self.ends[fan.spokes[i] as usize][end] = (number, self.spokes.len() as u32);
            self.spokes.push(spoke);
        }
        let end = self.spokes.len();
        if end > first {
            self.stars.push(Star { vertex, first, end, area, measured, squares, border });
        }
    }

    /// The vertex that a spoke goes to.
    fn end(&self, vertex: u32, spoke: &Spoke, hinges: &[Hinge]) -> u32 {
        let [a, b, ..] = hinges[spoke.hinge as usize].vertices;
        if a == vertex { b } else { a }
    }

    fn weights(&self, hinges: &[Hinge]) -> StarWeights {
        let mut weights = StarWeights::default();
        for star in &self.stars {
            let direction = self.spokes[star.first].direction;
            weights.stars.push((star.vertex, weights.spokes.len() as u32, direction));
            let spokes = self.spokes[star.first..star.end].iter();
            weights.spokes.extend(spokes.map(|s| (self.end(star.vertex, s, hinges), s.weights)));
        }
        weights
    }

    /// Gives stars that have the same spokes as before the mesh tore the weights that they had. Tells which these are.
    fn begin_with(&mut self, whole: &StarWeights, hinges: &[Hinge], parents: &[u32]) -> Vec<bool> {
        let mut known = vec![false; self.stars.len()];
        for number in 0..self.stars.len() {
            let Star { vertex, first, end, .. } = self.stars[number];
            let spokes = &self.spokes[first..end];
            // Weights are in the frame of the star, which may have turned although its spokes are the same.
            let same = |(direction, before): &((f64, f64), &[(u32, DVec3)])| {
                let ends = spokes.iter().map(|s| parents[self.end(vertex, s, hinges) as usize]);
                *direction == spokes[0].direction && before.iter().map(|(end, _)| *end).eq(ends)
            };
            let Some((_, before)) = whole.of(parents[vertex as usize]).find(same) else { continue };
            let mut measured = DMat3::ZERO;
            for (spoke, (_, weights)) in self.spokes[first..end].iter_mut().zip(before) {
                spoke.weights = *weights;
                measured += outer(*weights, spoke.angles);
            }
            self.stars[number].measured = measured;
            known[number] = true;
        }
        known
    }

    /// Changes the weights until moments are right, near stars whose weights are not `known`.
    fn settle(&mut self, hinges: &[Hinge], known: &[bool]) {
        let near = self.near_unknown(known);
        // When each star was changed and each hinge was right last, in rounds: what has not changed since is left alone.
        let mut changed = vec![1u32; self.stars.len()];
        let mut right = vec![0u32; hinges.len()];
        for round in 1..=ROUNDS {
            let mut all = true;
            for (number, hinge) in hinges.iter().enumerate().filter(|(number, _)| near[*number]) {
                let [a, b] = self.ends[number].map(|(star, _)| star as usize);
                if changed[a].max(changed[b]) < right[number] {
                    continue;
                }
                if self.correct(number, hinge) {
                    right[number] = round;
                } else {
                    (changed[a], changed[b], all) = (round, round, false);
                }
            }
            if all {
                break;
            }
        }
    }

    /// For each hinge whether it is within a few edges of a star whose weights are not known.
    fn near_unknown(&self, known: &[bool]) -> Vec<bool> {
        let mut reached: Vec<bool> =
            (0..self.stars.len()).map(|s| !known.get(s).copied().unwrap_or(false)).collect();
        let is_near =
            |reached: &[bool], ends: &[(u32, u32); 2]| ends.iter().any(|(s, _)| reached[*s as usize]);
        for _ in 0..FAR {
            let before = reached.clone();
            for ends in self.ends.iter().filter(|ends| is_near(&before, ends)) {
                ends.iter().for_each(|(star, _)| reached[*star as usize] = true);
            }
        }
        self.ends.iter().map(|ends| is_near(&reached, ends)).collect()
    }

    /// By how much the moments across an edge are off, for second derivatives in its frame.
    fn off(&self, number: usize, hinge: &Hinge) -> Triple {
        let mut off = DVec3::new(0.0, hinge.length, 0.0);
        for (star, spoke) in self.ends_of(number) {
            off -= spoke.rotation().transpose() * (star.measured.transpose() * spoke.weights);
        }
        self.borders(number).into_iter().flatten().fold(off, |off, b| off - b * b.dot(off))
    }

    /// How the moments across an edge change with the weights, squared: the gradient of W_e · M K, M = Σ W ⊗ c, by the
    /// weights of any spoke f is W_e (c_f · K), and M K on top for e itself.
    fn square(&self, number: usize, hinge: &Hinge) -> DMat3 {
        let mut square = DMat3::ZERO;
        for (star, spoke) in self.ends_of(number) {
            let rotation = spoke.rotation();
            let back = rotation.transpose();
            let measured = star.measured * rotation;
            let moment = measured.transpose() * spoke.weights;
            square += (back * star.squares * rotation) * spoke.weights.length_squared()
                + outer(moment, hinge.angles)
                + outer(hinge.angles, moment)
                + measured.transpose() * measured;
        }
        for b in self.borders(number).into_iter().flatten() {
            let inside = DMat3::IDENTITY - outer(b, b);
            square = inside * square * inside;
        }
        square
    }

    /// The two stars of an edge, and its spokes there.
    fn ends_of(&self, number: usize) -> [(&Star, &Spoke); 2] {
        self.ends[number].map(|(star, spoke)| (&self.stars[star as usize], &self.spokes[spoke as usize]))
    }

    /// What has a moment across a border that the ends of an edge lie at, in its frame: nothing is asked of these.
    fn borders(&self, number: usize) -> [Option<Triple>; 2] {
        let [a, b] = self
            .ends_of(number)
            .map(|(star, spoke)| star.border.map(|border| spoke.rotation().transpose() * border));
        let (Some(first), Some(second)) = (a, b) else { return [a, b] };
        let other = second - first * first.dot(second);
        // Nearly the same border.
        [a, (other.length() > 0.5).then(|| other.normalize())]
    }

    /// Makes the moments across an edge right, by the smallest change of the weights of its two stars. Whether they were.
    fn correct(&mut self, number: usize, hinge: &Hinge) -> bool {
        let off = self.off(number, hinge);
        if off.abs().max_element() <= RIGHT * hinge.length {
            return true;
        }
        let square = self.square(number, hinge);
        let trace = square.x_axis.x + square.y_axis.y + square.z_axis.z;
        let step = (square + DMat3::IDENTITY * (1e-6 * trace)).inverse() * off;
        if !step.is_finite() {
            return true;
        }
        for (star, spoke) in self.ends[number] {
            let star = &mut self.stars[star as usize];
            let Spoke { angles, weights, .. } = self.spokes[spoke as usize];
            let along = self.spokes[spoke as usize].rotation() * step;
            let own = star.measured * along;
            for spoke in &mut self.spokes[star.first..star.end] {
                spoke.weights += weights * spoke.angles.dot(along);
            }
            self.spokes[spoke as usize].weights += own;
            star.measured += outer(weights, star.squares * along) + outer(own, angles);
        }
        false
    }

    fn patch(&self, star: &Star, hinges: &Hinges, rigidity: f64) -> Option<Patch> {
        let mut vertices = [star.vertex; SIZE];
        let mut weights = [[0.0; SIZE]; 3];
        let mut used = 1;
        let root = star.area.sqrt();
        for spoke in &self.spokes[star.first..star.end] {
            let hinge = &hinges.hinges[spoke.hinge as usize];
            for (&v, angle) in hinge.vertices.iter().zip(hinge.weights) {
                let place = vertices[..used].iter().position(|&w| w == v).unwrap_or_else(|| {
                    used += 1;
                    used - 1
                });
                vertices[place] = v;
                for (weights, own) in weights.iter_mut().zip(spoke.weights.to_array()) {
                    weights[place] += own * angle / root;
                }
            }
        }
        if !weights.as_flattened().iter().all(|w| w.is_finite()) {
            return None;
        }
        let mut patch = Patch {
            vertices,
            weights,
            stiffness: rigidity * star.area,
            rest: [0.0; 3],
            rest_along: [[0.0; 2]; 3],
            rope: false,
        };
        patch.keep_rest_shape(hinges.rest, used, root);
        Some(patch)
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use proptest::prelude::*;

    use super::*;
    use crate::math::{cos, sin, uniform};
    use crate::mesh::generate;
    use crate::scene::{Diagonals, Grid};

    type Mesh = (Vec<DVec3>, Vec<[u32; 3]>);

    fn patches_of(rest: &[DVec3], triangles: &[[u32; 3]], rigidity: f64) -> Vec<Patch> {
        sheet_patches(rest, triangles, rigidity, &[], &mut None)
    }

    fn grid(vertices: u32, wide: f64, diagonals: Diagonals) -> Mesh {
        let mesh = generate::grid(&Grid {
            size: [wide, 1.0],
            vertices: [vertices, vertices],
            diagonals,
            ..Grid::default()
        });
        (mesh.positions, mesh.triangles)
    }

    /// Vertices moved by up to a quarter of a cell.
    fn irregular(diagonals: Diagonals) -> Mesh {
        let (mut x, triangles) = grid(13, 1.0, diagonals);
        for (i, p) in (0u64..).zip(&mut x) {
            let r = |k: u64| 0.5 / 12.0 * (uniform(7, 2 * i + k) - 0.5);
            *p += DVec3::new(r(0), 0.0, r(1));
        }
        (x, triangles)
    }

    /// A disc with twenty triangles around its middle, in six rings.
    fn disc() -> Mesh {
        let mut x = vec![DVec3::ZERO];
        let mut triangles = Vec::new();
        let at = |ring: u32, k: u32| if ring == 0 { 0 } else { 1 + 20 * (ring - 1) + k % 20 };
        for ring in 1..=6 {
            for k in 0..20 {
                let angle = PI * f64::from(k) / 10.0;
                x.push(DVec3::new(cos(angle), 0.0, sin(angle)) * (1.0 / 6.0 * f64::from(ring)));
                triangles.push([at(ring - 1, k), at(ring, k), at(ring, k + 1)]);
                if ring > 1 {
                    triangles.push([at(ring - 1, k), at(ring, k + 1), at(ring - 1, k + 1)]);
                }
            }
        }
        (x, triangles)
    }

    fn meshes() -> Vec<(&'static str, Mesh)> {
        vec![
            ("regular", grid(13, 1.0, Diagonals::Regular)),
            ("alternating", grid(13, 1.0, Diagonals::Alternating)),
            ("alternating rectangles", grid(13, 2.5, Diagonals::Alternating)),
            ("irregular", irregular(Diagonals::Regular)),
            ("irregular alternating", irregular(Diagonals::Alternating)),
            ("disc", disc()),
        ]
    }

    /// The three quadratic surfaces, of second derivatives of length 1.
    fn quadratic(q: usize, p: DVec3) -> f64 {
        [0.5 * p.x * p.x, 0.5 * p.z * p.z, p.x * p.z / SQRT_2][q]
    }

    fn second(patch: &Patch, height: impl Fn(u32) -> f64) -> [f64; 3] {
        patch.weights.map(|w| patch.vertices.iter().zip(w).map(|(&v, w)| w * height(v)).sum())
    }

    /// The energy of a quadratic surface is off by the mean of what its moments are off by, so at most by the root of the mean
    /// square; 2 % is what may be seen.
    #[test]
    fn moments_are_right_on_any_mesh() {
        for (name, (x, triangles)) in meshes() {
            let hinges = Hinges::new(&x, &triangles);
            let mut stars = Stars::new(&hinges);
            let off = |stars: &Stars| {
                let each = (0..).zip(&hinges.hinges);
                let squares: f64 =
                    each.map(|(n, h)| stars.off(n, h).length_squared() / (h.length * h.length)).sum();
                (squares / hinges.hinges.len() as f64).sqrt()
            };
            let before = off(&stars);
            stars.settle(&hinges.hinges, &[]);
            assert!(off(&stars) < 0.01, "{name}: {before}, then {}", off(&stars));
            assert!(before > 0.05, "{name}: {before}");
        }
    }

    /// A plate that is bent evenly is at rest but for its border.
    #[test]
    fn quadratic_surfaces_are_in_balance_inside() {
        for (name, (x, triangles)) in meshes() {
            let patches = patches_of(&x, &triangles, 3.0);
            let (low, high) = crate::mesh::bounds(&x);
            let margin = (high - low) * 0.21;
            let inside = |p: DVec3| {
                let (a, b) = (p - low - margin, high - margin - p);
                a.x > 0.0 && a.z > 0.0 && b.x > 0.0 && b.z > 0.0
            };
            for q in 0..3 {
                let (mut force, mut size) = (vec![0.0; x.len()], vec![0.0; x.len()]);
                for patch in &patches {
                    let bent = second(patch, |v| quadratic(q, x[v as usize]));
                    for (weights, c) in patch.weights.iter().zip(bent) {
                        for (&v, w) in patch.vertices.iter().zip(weights) {
                            force[v as usize] += patch.stiffness * w * c;
                            size[v as usize] += (patch.stiffness * w * c).abs();
                        }
                    }
                }
                let checked: Vec<usize> = (0..x.len()).filter(|&v| inside(x[v])).collect();
                assert!(checked.len() > 30);
                let mean = |of: &[f64]| checked.iter().map(|&v| of[v] * of[v]).sum::<f64>().sqrt();
                let (force, size) = (mean(&force), mean(&size));
                assert!(force < 0.01 * size, "{name} {q}: {force} of {size}");
            }
        }
    }

    /// Rigidity is the same in all directions: over whole periods of the mesh the energy is that of a plate.
    #[test]
    fn quadratic_surfaces_have_the_energy_of_a_plate() {
        for (diagonals, wide) in
            [(Diagonals::Regular, 1.0), (Diagonals::Alternating, 1.0), (Diagonals::Alternating, 2.5)]
        {
            let (x, triangles) = grid(13, wide, diagonals);
            let patches = patches_of(&x, &triangles, 3.0);
            let cell = wide / 144.0;
            for degrees in (0..180).step_by(15) {
                let (s, c) = crate::math::sin_cos_degrees(f64::from(degrees));
                let height = |v: u32| {
                    let along = x[v as usize].x * c + x[v as usize].z * s;
                    0.5 * along * along
                };
                let own = |p: &&Patch| {
                    let (row, column) = (p.vertices[0] / 13, p.vertices[0] % 13);
                    (4..8).contains(&row) && (4..8).contains(&column)
                };
                let energy: f64 = patches
                    .iter()
                    .filter(own)
                    .map(|p| p.stiffness * second(p, height).iter().map(|c| c * c).sum::<f64>())
                    .sum();
                let plate = 3.0 * 16.0 * cell;
                assert!((energy / plate - 1.0).abs() < 0.005, "{diagonals:?} {degrees}: {energy} {plate}");
            }
        }
    }

    #[test]
    fn the_way_around_of_triangles_does_not_matter() {
        // The middle of the disc is cut in parts elsewhere then, which its two inner rings feel.
        for ((x, mut triangles), first) in [(irregular(Diagonals::Alternating), 0), (disc(), 41)] {
            let energies = |triangles: &[[u32; 3]]| -> Vec<f64> {
                let patches = patches_of(&x, triangles, 1.0);
                let mut each = vec![0.0; x.len()];
                for p in patches {
                    let bent = second(&p, |v| uniform(3, u64::from(v)));
                    each[p.vertices[0] as usize] += p.stiffness * bent.iter().map(|c| c * c).sum::<f64>();
                }
                each
            };
            let before = energies(&triangles);
            triangles.iter_mut().step_by(3).for_each(|t| t.swap(1, 2));
            let after = energies(&triangles);
            let same = |v: usize| (before[v] - after[v]).abs() < 1e-6 * before[v].max(1.0);
            assert!(
                (first..x.len()).all(same),
                "{:?}",
                (0..x.len()).filter(|&v| !same(v)).collect::<Vec<_>>()
            );
        }
    }

    proptest! {
        /// However irregular and full of holes the mesh: a flat sheet, moved and tilted, does not bend.
        #[test]
        fn flat_sheets_do_not_bend(seed in 0u64..1000, most in 0.0f64..0.5, kept in 0.3f64..1.0) {
            let (mut x, mut triangles) = grid(7, 1.0, Diagonals::Alternating);
            for (i, p) in (0u64..).zip(&mut x) {
                let r = |k: u64| most / 6.0 * (uniform(seed, 2 * i + k) - 0.5);
                *p += DVec3::new(r(0), 0.0, r(1));
            }
            let mut number = 1000;
            triangles.retain(|_| {
                number += 1;
                uniform(seed, number) < kept
            });
            for patch in patches_of(&x, &triangles, 1.0) {
                prop_assert!(patch.stiffness > 0.0 && patch.rest == [0.0; 3], "{patch:?}");
                for height in [|_: DVec3| 1.0, |p: DVec3| p.x, |p: DVec3| p.z] {
                    let bent = second(&patch, |v| height(x[v as usize]));
                    let sizes = patch.weights.map(|w| w.iter().fold(0.0f64, |most, w| most.max(w.abs())));
                    prop_assert!(bent.iter().zip(sizes).all(|(b, size)| b.abs() <= 1e-9 * size.max(1.0)));
                }
            }
        }
    }

    #[test]
    fn a_vertex_of_many_neighbours_has_several_patches() {
        let (x, triangles) = disc();
        let patches = patches_of(&x, &triangles, 1.0);
        assert_eq!(patches.iter().filter(|p| p.vertices[0] == 0).count(), 4);
        assert!(patches.iter().all(|p| p.used() <= SIZE));
    }

    /// A triangle without area, as in a seam that was not welded, bends nothing and does not spoil its neighbours.
    #[test]
    fn triangles_without_area_are_left_out() {
        let (mut x, mut triangles) = grid(3, 1.0, Diagonals::Alternating);
        let whole = patches_of(&x, &triangles, 1.0);
        assert!(!whole.is_empty());
        x.push(x[8]);
        x.push(x[8] + DVec3::X);
        triangles.extend([[8, 9, 10], [8, 9, 5]]);
        assert_eq!(patches_of(&x, &triangles, 1.0), whole);
    }

    /// A slit of two edges: stars at it change, those far away keep the bits that they had, and moments are right everywhere.
    #[test]
    fn a_torn_sheet_goes_on_from_the_weights_of_the_whole() {
        let (mut x, mut triangles) = irregular(Diagonals::Alternating);
        let n = x.len();
        let mut whole = None;
        let before = sheet_patches(&x, &triangles, 1.0, &[], &mut whole);
        // The triangles on one side of the way 80 – 81 – 82, in a mesh of rows of 13, get a copy of 81.
        let (rows, middle) = (13, 81);
        x.push(x[middle]);
        let mut parents: Vec<u32> = (0..n as u32).collect();
        parents.push(middle as u32);
        for t in &mut triangles {
            let above = t.iter().map(|v| *v as usize / rows).sum::<usize>() > 3 * (middle / rows);
            if above {
                t.iter_mut().filter(|v| **v as usize == middle).for_each(|v| *v = n as u32);
            }
        }
        let torn = sheet_patches(&x, &triangles, 1.0, &parents, &mut whole);
        let kept = torn.iter().filter(|p| before.contains(p)).count();
        assert!(kept > before.len() / 2 && kept < before.len(), "{kept} of {}", before.len());
        let hinges = Hinges::new(&x, &triangles);
        let mut stars = Stars::new(&hinges);
        let known = stars.begin_with(whole.as_ref().unwrap(), &hinges.hinges, &parents);
        stars.settle(&hinges.hinges, &known);
        let offs = hinges
            .hinges
            .iter()
            .enumerate()
            .map(|(k, h)| stars.off(k, h).length_squared() / (h.length * h.length));
        let mean = (offs.sum::<f64>() / hinges.hinges.len() as f64).sqrt();
        assert!(mean < 0.01, "{mean}");
    }
}
