//! Projective dynamics (Bouaziz, Martin, Liu, Kavan, Pauly 2014): backward Euler by solves with one constant matrix.
//!
//! Local step: each spring takes its rest length in the direction that it has, d = l₀ u. Global step: all particles
//! settle between inertia and those wishes, (M/h² + Σ k AᵀA) x = M/h² y + Σ k Aᵀ d. The matrix is the same for x, y and z
//! and for every iteration; its sparse Cholesky factor is kept until the body tears or the step, the supports, the
//! dissipation or the hands change. Written as a search, which is the same thing (Liu, Bouaziz, Kavan 2017): the global step
//! solves (M/h² + L) δ = −∂G/∂z, with G the function of [`super::incremental_potential`]. Flat bending is quadratic and
//! stands in the matrix as it is. Damping of a spring is a projection too, to the plane where its length does not change.
//!
//! Promised: G falls in every iteration; kinetic energy is never more than all energy before the step; any step, stiffness
//! and start is stable (tested at random; what springs hold too much after a search that ended early is lost in the next
//! steps, not given back as motion); linear momentum of free pieces. With enough iterations the step is that of backward Euler. Not promised: motion. The matrix holds springs as stiffly
//! across as along, so each iteration turns them too little: stiff cloth falls as through honey at long steps
//! (`docs/src/methods.md` has the figures).
//!
//! Bending of curved rest shapes turns with the triangles, which no constant matrix knows: those bodies search along δ
//! for a lower G. faer's kernels choose SIMD instructions at run time, see [`super::cholesky`].

use glam::DVec3;

use super::cholesky::BlockCholesky;
use super::incremental_potential::{Cap, IncrementalPotential, ROUNDING, joined_pairs};
use super::{Capabilities, Problem, Solver};
use crate::mesh::Patch;
use crate::scene::Descent;

/// Halvings of a step that did not lead down.
const MAX_HALVINGS: u32 = 10;

/// Projective dynamics.
#[derive(Debug)]
pub(super) struct ProjectiveDynamics {
    settings: Descent,
    potential: IncrementalPotential,
    matrix: ConstantMatrix,
    forces: Vec<DVec3>,
    /// x of all particles, then y, then z.
    columns: Vec<f64>,
    iterations: u32,
}

impl ProjectiveDynamics {
    pub(super) fn new(settings: Descent) -> Self {
        ProjectiveDynamics {
            settings,
            potential: IncrementalPotential::default(),
            matrix: ConstantMatrix::default(),
            forces: Vec::new(),
            columns: Vec::new(),
            iterations: 0,
        }
    }
}

/// The factored matrix W + Σ k AᵀA, and what it was made for.
#[derive(Debug, Default)]
struct ConstantMatrix {
    cholesky: BlockCholesky<1>,
    /// Version and size of the body.
    pattern: Option<(u64, usize)>,
    /// Step, s, supports and weights that the numbers belong to.
    h: f64,
    supported: Vec<bool>,
    weights: Vec<f64>,
}

impl ConstantMatrix {
    /// Makes the factor fit the problem. Returns false if there is none: numbers that are not finite, or no memory.
    fn prepare(&mut self, problem: &Problem, weights: &[f64], h: f64) -> bool {
        let topology = problem.topology;
        let key = (topology.version, topology.len());
        let held = || problem.inverse_masses.iter().map(|w| *w == 0.0);
        if self.pattern == Some(key)
            && self.h == h
            && self.weights == weights
            && self.supported.iter().copied().eq(held())
        {
            return true;
        }
        if self.pattern != Some(key) {
            self.cholesky.forget();
            self.pattern = self.cholesky.learn(topology.len(), &joined_pairs(topology)).then_some(key);
        }
        self.h = h;
        self.supported.clear();
        self.supported.extend(held());
        self.weights.clear();
        self.weights.extend_from_slice(weights);
        let mut diagonal = weights.to_vec();
        for spring in &topology.springs {
            let stiffness = spring.stiffness + spring.damping / h;
            diagonal[spring.i as usize] += stiffness;
            diagonal[spring.j as usize] += stiffness;
        }
        for patch in &topology.patches {
            for (a, &v) in patch.vertices.iter().enumerate() {
                diagonal[v as usize] += patch_entry(patch, a, a);
                // A vertex that stands at two places of a patch meets itself.
                for b in (0..a).filter(|&b| patch.vertices[b] == v) {
                    diagonal[v as usize] += 2.0 * patch_entry(patch, a, b);
                }
            }
        }
        // In the order of `joined_pairs`.
        let springs = topology
            .springs
            .iter()
            .map(|s| (s.i, s.j, [[-(s.stiffness + s.damping / h)]]))
            .collect::<Vec<_>>();
        let patches = topology.patches.iter().flat_map(|patch| {
            let pairs = (0..patch.vertices.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
            let distinct = pairs.filter(|&(a, b)| patch.vertices[a] != patch.vertices[b]);
            distinct.map(|(a, b)| (patch.vertices[a], patch.vertices[b], [[patch_entry(patch, a, b)]]))
        });
        let supported = &self.supported;
        let factored =
            self.cholesky.factor(diagonal.iter().map(|d| [[*d]]), springs.into_iter().chain(patches), |i| {
                supported[i]
            });
        if !factored {
            self.pattern = None;
        }
        factored
    }
}

/// Entry of a patch's matrix for two of its places, N/m.
fn patch_entry(patch: &Patch, a: usize, b: usize) -> f64 {
    patch.stiffness * patch.weights.iter().map(|w| w[a] * w[b]).sum::<f64>()
}

/// Moves all particles by a share of the solution.
fn shift(potential: &mut IncrementalPotential, problem: &Problem, columns: &[f64], share: f64) {
    let n = columns.len() / 3;
    for i in (0..n).filter(|&i| problem.inverse_masses[i] != 0.0) {
        potential.shift(i, DVec3::new(columns[i], columns[n + i], columns[2 * n + i]) * share);
    }
}

impl Solver for ProjectiveDynamics {
    fn capabilities(&self) -> Capabilities {
        Capabilities { order: 1, unconditionally_stable: true, symplectic: false }
    }

    fn iterations(&self) -> u32 {
        self.iterations
    }

    fn advance(&mut self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3], t: f64, h: f64) {
        let n = x.len();
        let ProjectiveDynamics { settings, potential, matrix, forces, columns, iterations } = self;
        potential.begin(problem, x, v, t, h);
        if !matrix.prepare(problem, &potential.weights, h) {
            // Health has to see it.
            v.fill(DVec3::NAN);
            return;
        }
        let curved = problem.topology.patches.iter().any(|p| p.rest != [0.0; 3]);
        *iterations = 0;
        potential.minimise(problem, Cap::Kinetic, |potential| {
            for _ in 0..settings.iterations {
                *iterations += 1;
                potential.forces(problem, forces);
                columns.clear();
                columns.resize(3 * n, 0.0);
                for (i, f) in forces.iter().enumerate() {
                    (columns[i], columns[n + i], columns[2 * n + i]) = (f.x, f.y, f.z);
                }
                matrix.cholesky.solve(columns, 3);
                let before = if curved { potential.value(problem) } else { f64::INFINITY };
                shift(potential, problem, columns, 1.0);
                let mut share = 1.0;
                for _ in 0..if curved { MAX_HALVINGS } else { 0 } {
                    if potential.value(problem) <= before * (1.0 + ROUNDING) {
                        break;
                    }
                    share *= 0.5;
                    shift(potential, problem, columns, -share);
                }
            }
        });
        potential.end(problem, x, v);
    }
}
