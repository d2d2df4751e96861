//! Vertex block descent (Chen, Liu, Yang, Yuksel 2024): backward Euler, one vertex at a time.
//!
//! Goes down the function G of [`super::incremental_potential`]: each vertex takes a step of Newton's method with its
//! neighbours held, a system of 3×3. Vertices of one colour share no spring and no patch and are visited side by side; colours
//! follow from the mesh alone and each block reads only other colours, so the bits do not depend on the threads.
//!
//! The block of a spring is its positive part, as in [`crate::energy::spring_tangent`]; that of its damping and of flat
//! bending is exact. A step that would raise G is replaced by one with every spring as stiff across as along, which cannot.
//! The paper's acceleration by Chebyshev's recurrence is left out, as it would give that promise away.
//!
//! Promised: G falls in every visit; energy does not grow, so any step, stiffness and start is stable; linear momentum of
//! free pieces; backward Euler with enough iterations. Not promised: motion. A pull goes a few vertices further per round, so
//! fine stiff cloth would stretch and gain energy, and is slowed down instead, unless steps are short.

use glam::{DMat3, DVec3};

use super::conjugate_gradient::inverse_spd;
use super::incremental_potential::{Cap, IncrementalPotential, joined_pairs};
use super::{Capabilities, Problem, Solver};
use crate::energy::{outer, patch_curvatures, patch_energy, patch_forces};
use crate::mesh::{Patch, Rows, Topology, neighbours};
use crate::scene::Descent;

/// Springs shorter than this have no direction, m.
const SHORTEST: f64 = 1e-12;

/// Vertex block descent.
#[derive(Debug)]
pub(super) struct VertexBlockDescent {
    settings: Descent,
    potential: IncrementalPotential,
    colours: Colours,
    /// Steps of the vertices of one colour, m.
    steps: Vec<DVec3>,
    iterations: u32,
}

impl VertexBlockDescent {
    pub(super) fn new(settings: Descent) -> Self {
        VertexBlockDescent {
            settings,
            potential: IncrementalPotential::default(),
            colours: Colours::default(),
            steps: Vec::new(),
            iterations: 0,
        }
    }
}

/// Vertices by colour, and the patches of each vertex.
#[derive(Debug, Default)]
struct Colours {
    /// Vertices, those of a colour one after the other, ascending.
    order: Vec<u32>,
    /// Where each colour begins in `order`, and its end.
    start: Vec<usize>,
    /// For each vertex, its numbers in `shares`.
    vertex_shares: Rows,
    shares: Vec<Share>,
    /// Version and size of the body.
    known: Option<(u64, usize)>,
}

/// The part of a vertex in a patch.
#[derive(Clone, Copy, Debug)]
struct Share {
    patch: u32,
    /// Weights of the vertex in the three second derivatives, 1/m².
    weights: [f64; 3],
}

impl Colours {
    fn find(&mut self, topology: &Topology) {
        let n = topology.len();
        if self.known == Some((topology.version, n)) {
            return;
        }
        self.known = Some((topology.version, n));
        let around = neighbours(n, &joined_pairs(topology));
        let mut colour = vec![u32::MAX; n];
        let mut used: Vec<bool> = Vec::new();
        for v in 0..n {
            used.fill(false);
            for &w in around.row(v) {
                if let Some(used) = used.get_mut(colour[w as usize] as usize) {
                    *used = true;
                }
            }
            let free = used.iter().position(|u| !*u).unwrap_or(used.len());
            if free == used.len() {
                used.push(false);
            }
            colour[v] = free as u32;
        }
        let by_colour = Rows::from_pairs(used.len(), colour.iter().copied().zip(0u32..));
        self.order.clear();
        self.start.clear();
        self.start.push(0);
        for c in 0..used.len() {
            self.order.extend_from_slice(by_colour.row(c));
            self.start.push(self.order.len());
        }
        self.shares.clear();
        let mut owners = Vec::new();
        for (p, patch) in topology.patches.iter().enumerate() {
            for (a, &v) in patch.vertices.iter().enumerate() {
                let mut weights = patch.weights.map(|w| w[a]);
                // A vertex that stands at several places of a patch has one share of it.
                if patch.vertices[..a].contains(&v) {
                    continue;
                }
                for b in (a + 1..patch.vertices.len()).filter(|&b| patch.vertices[b] == v) {
                    weights.iter_mut().zip(&patch.weights).for_each(|(sum, w)| *sum += w[b]);
                }
                owners.push((v, self.shares.len() as u32));
                self.shares.push(Share { patch: p as u32, weights });
            }
        }
        self.vertex_shares = Rows::from_pairs(n, owners.iter().copied());
    }
}

/// A vertex and everything around it.
#[derive(Clone, Copy)]
struct Block<'a> {
    problem: &'a Problem<'a>,
    potential: &'a IncrementalPotential,
    colours: &'a Colours,
    vertex: usize,
}

impl Block<'_> {
    /// The step of the vertex, m.
    fn step(&self) -> DVec3 {
        let (potential, topology) = (self.potential, self.problem.topology);
        let (x, z) = (potential.x[self.vertex], potential.moved[self.vertex]);
        let weight = potential.weights[self.vertex];
        // What is quadratic: inertia, damping, flat bending. Then springs and curved bending.
        let mut quadratic = (potential.inertial[self.vertex] - z) * weight;
        let mut quadratic_block = DMat3::ZERO;
        let mut isotropic = weight;
        let (mut force, mut block) = (DVec3::ZERO, DMat3::ZERO);
        let mut stiffnesses = 0.0;
        for &s in topology.particle_springs.row(self.vertex) {
            let spring = &topology.springs[s as usize];
            let other = (if spring.i as usize == self.vertex { spring.j } else { spring.i }) as usize;
            stiffnesses += spring.stiffness;
            let d = potential.x[other] - x;
            let length = d.length();
            if length > SHORTEST {
                let u = d / length;
                let ratio = spring.rest_length / length;
                let transverse = spring.stiffness * (1.0 - ratio).max(0.0);
                force += d * (spring.stiffness * (1.0 - ratio));
                block += DMat3::from_diagonal(DVec3::splat(transverse))
                    + outer(u) * (spring.stiffness - transverse);
            }
            if let Some((c, u)) = potential.damper(s as usize, spring.damping) {
                quadratic += u * (c * u.dot(potential.moved[other] - z));
                quadratic_block += outer(u) * c;
                stiffnesses += c;
            }
        }
        for share in self.shares() {
            let patch = &topology.patches[share.patch as usize];
            isotropic += patch.stiffness * share.weights.iter().map(|w| w * w).sum::<f64>();
            if is_flat(patch) {
                for (c, w) in patch_curvatures(&potential.x, patch).iter().zip(share.weights) {
                    quadratic -= *c * (patch.stiffness * w);
                }
            } else {
                let forces = patch_forces(&potential.x, patch);
                let own = patch.vertices.iter().zip(forces).filter(|(v, _)| **v as usize == self.vertex);
                force += own.map(|(_, f)| f).sum::<DVec3>();
            }
        }
        quadratic_block += DMat3::from_diagonal(DVec3::splat(isotropic));
        let total = quadratic + force;
        let newton = solve(block + quadratic_block, total);
        if self.rise(newton, quadratic, quadratic_block) <= 0.0 {
            return newton;
        }
        let bounded = total / (isotropic + stiffnesses);
        if self.rise(bounded, quadratic, quadratic_block) <= 0.0 { bounded } else { DVec3::ZERO }
    }

    /// How much G rises by a step of the vertex, J. Differences of squares are taken as products: near the least G they
    /// would be rounding.
    fn rise(&self, step: DVec3, quadratic: DVec3, quadratic_block: DMat3) -> f64 {
        let (potential, topology) = (self.potential, self.problem.topology);
        let mut rise = step.dot(quadratic_block * step * 0.5 - quadratic);
        for &s in topology.particle_springs.row(self.vertex) {
            let spring = &topology.springs[s as usize];
            let other = if spring.i as usize == self.vertex { spring.j } else { spring.i };
            let d = potential.x[other as usize] - potential.x[self.vertex];
            let (before, after) = (d.length(), (d - step).length());
            let sum = before + after;
            if sum > 0.0 {
                let longer = step.dot(step - d * 2.0) / sum;
                rise += 0.5 * spring.stiffness * longer * (sum - 2.0 * spring.rest_length);
            }
        }
        for share in self.shares() {
            let patch = &topology.patches[share.patch as usize];
            if is_flat(patch) {
                continue;
            }
            let mut places = patch.vertices.map(|v| potential.x[v as usize]);
            let alone = Patch { vertices: std::array::from_fn(|k| k as u32), ..*patch };
            rise -= patch_energy(&places, &alone);
            for (place, v) in places.iter_mut().zip(&patch.vertices) {
                if *v as usize == self.vertex {
                    *place += step;
                }
            }
            rise += patch_energy(&places, &alone);
        }
        rise
    }

    fn shares(&self) -> impl Iterator<Item = &Share> {
        let colours = self.colours;
        colours.vertex_shares.row(self.vertex).iter().map(move |&s| &colours.shares[s as usize])
    }
}

fn is_flat(patch: &Patch) -> bool {
    patch.rest == [0.0; 3]
}

/// Solution of a positive definite system.
fn solve(m: DMat3, f: DVec3) -> DVec3 {
    let [xx, xy, xz, yy, yz, zz] = inverse_spd(m);
    DVec3::new(xx * f.x + xy * f.y + xz * f.z, xy * f.x + yy * f.y + yz * f.z, xz * f.x + yz * f.y + zz * f.z)
}

impl Solver for VertexBlockDescent {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 1, unconditionally_stable: true, symplectic: false }
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let VertexBlockDescent { settings, potential, colours, steps, iterations } = self;
        potential.begin(problem, x, v, t, h);
        colours.find(problem.topology);
        *iterations = 0;
        potential.minimise(problem, Cap::Total, |potential| {
            for _ in 0..settings.iterations {
                *iterations += 1;
                for bounds in colours.start.windows(2) {
                    let order = &colours.order[bounds[0]..bounds[1]];
                    steps.clear();
                    steps.resize(order.len(), DVec3::ZERO);
                    let seen = &*potential;
                    problem.parallel.heavy_blocks(steps, |start, steps| {
                        for (step, &vertex) in steps.iter_mut().zip(&order[start..]) {
                            let vertex = vertex as usize;
                            if problem.inverse_masses[vertex] != 0.0 {
                                *step = Block { problem, potential: seen, colours, vertex }.step();
                            }
                        }
                    });
                    for (&vertex, step) in order.iter().zip(steps.iter()) {
                        potential.shift(vertex as usize, *step);
                    }
                }
                potential.keep_momentum(problem);
            }
        });
        potential.end(problem, x, v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelBuilder;
    use crate::scene::{Body, Grid, Scene, Shape};

    #[test]
    fn vertices_of_a_colour_share_no_spring_and_no_patch() {
        for bending in [None, Some(1e-4)] {
            let shape = Shape::Grid(Grid { vertices: [9, 7], ..Grid::default() });
            let fabric = Some("cotton".into());
            let body = Body { name: "cloth".into(), fabric, shape, bending, ..Body::default() };
            let scene = Scene { bodies: vec![body], ..Scene::default() };
            let model = ModelBuilder::new(&scene).build().unwrap();
            let topology = &*model.bodies[0].topology;
            assert_eq!(topology.patches.is_empty(), bending.is_none());
            let mut colours = Colours::default();
            colours.find(topology);
            let mut colour = vec![usize::MAX; topology.len()];
            for (c, bounds) in colours.start.windows(2).enumerate() {
                colours.order[bounds[0]..bounds[1]].iter().for_each(|&v| colour[v as usize] = c);
            }
            assert!(colour.iter().all(|c| *c != usize::MAX));
            assert!(joined_pairs(topology).iter().all(|&(i, j)| colour[i as usize] != colour[j as usize]));
        }
    }
}
