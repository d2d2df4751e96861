//! A step of backward Euler as a minimisation: the function that projective dynamics and vertex block descent go down.
//!
//! With z the displacement of the step, ẑ the one that nothing but inertia and outer forces would cause, and W the masses
//! over h², the step is the z with the least
//!
//! G(z) = ½ (z − ẑ)ᵀ W (z − ẑ) + E(x + z) + Σ ½ (c/h) (u·(z_j − z_i))²,
//!
//! with E the energy of springs and bending and the last sum the damping of springs along their direction u when the
//! step begins (Martin, Thomaszewski, Grinspun, Gross 2011; Bouaziz et al. 2014). Outer forces (weight, air) are taken
//! at the start of the step, implicitly in the velocity; dissipation and hands are linear and are part of W and ẑ.
//!
//! A search that ends early is set right twice. Each piece without a support is shifted so that its linear momentum is
//! exact. And a body that would end with more energy than it began with is slowed down until it has not; what counts as
//! that energy is up to the method, see [`Cap`].
//!
//! Everything is kept as displacements, so that velocities do not suffer from the rounding of positions.

use glam::{DMat3, DVec3};

use super::Problem;
use crate::energy::{Energy, Part};
use crate::mesh::{Topology, neighbours};

/// Rounding of G, relative: what looks like more by less than this is none.
pub(super) const ROUNDING: f64 = 1e-14;

/// Rounds of the search for a speed at which no energy is gained.
const MAX_BRAKES: u32 = 6;

/// What may not be more after a step than all energy before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cap {
    /// Kinetic energy: for a search that lets go of the energy of springs by itself.
    Kinetic,
    /// Kinetic energy and that of springs and bending. Without supports that move and outer forces, energy then never
    /// grows, whatever the step, the stiffness, the start and the iterations.
    Total,
}

/// The function of one step, and where the search for its least value stands.
#[derive(Debug, Default)]
pub(super) struct IncrementalPotential {
    /// Step, s.
    h: f64,
    /// W: mass over h², with dissipation and hands, N/m.
    pub(super) weights: Vec<f64>,
    /// ẑ: displacement of particles that nothing joins, m.
    pub(super) inertial: Vec<DVec3>,
    /// z: displacement now, m. Supported particles have theirs from the start.
    pub(super) moved: Vec<DVec3>,
    /// x + z, m.
    pub(super) x: Vec<DVec3>,
    /// Positions when the step began, m.
    start: Vec<DVec3>,
    /// Where the search starts, as displacement, m.
    guess: Vec<DVec3>,
    /// Directions of the springs when the step began; empty when none is damped.
    directions: Vec<DVec3>,
    pieces: Pieces,
    velocities: Vec<DVec3>,
    forces: Vec<DVec3>,
    products: Vec<DVec3>,
    blocks: Vec<DMat3>,
    elements: Vec<f64>,
}

/// Energies of springs and bending.
fn joining<'a>(problem: &Problem<'a>) -> impl Iterator<Item = &'a dyn Energy> {
    problem.energies.iter().map(|e| &**e).filter(|e| e.joins_particles())
}

impl IncrementalPotential {
    /// The function of the step from `t` by `h`, s, for positions and velocities when it begins.
    pub(super) fn begin(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64, h: f64) {
        let n = x.len();
        self.h = h;
        self.start.clear();
        self.start.extend_from_slice(x);
        self.feel_outer_forces(problem, x, v, t);
        self.feel_own_forces(problem, x, t);
        self.directions.clear();
        if problem.topology.springs.iter().any(|s| s.damping > 0.0) {
            let ends = problem.topology.spring_ends.iter();
            let direction = |&[i, j]: &[u32; 2]| (x[j as usize] - x[i as usize]).normalize_or_zero();
            self.directions.extend(ends.map(direction));
        }
        self.pieces.find(problem.topology);
        self.predict(problem, x, v, t);
        self.moved.resize(n, DVec3::ZERO);
        self.x.resize(n, DVec3::ZERO);
    }

    /// Velocities after weight and air: (M + h C) (v̂ − v) = h f.
    fn feel_outer_forces(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64) {
        let q = problem.configuration(x, v, t);
        reset(&mut self.forces, x.len());
        self.blocks.clear();
        for energy in problem.energies.iter().filter(|e| !e.inside_substeps()) {
            energy.add_force(&q, &mut self.forces);
            energy.linearise(&q, 0.0, self.h, &mut self.elements);
            if !self.elements.is_empty() {
                self.blocks.resize(x.len(), DMat3::ZERO);
                energy.add_diagonal(&q, &self.elements, &mut self.blocks);
            }
        }
        self.velocities.clear();
        self.velocities.extend_from_slice(v);
        for (i, (v, w)) in self.velocities.iter_mut().zip(problem.inverse_masses).enumerate() {
            let kick = self.forces[i] * (self.h * w);
            *v += match self.blocks.get(i) {
                Some(drag) if *drag != DMat3::ZERO => (DMat3::IDENTITY + *drag * *w).inverse() * kick,
                _ => kick,
            };
        }
    }

    /// W and ẑ, with the forces that act on each particle by itself: (m + h² K + h C) (v′ − v̂) = h f − h² K v̂. These are
    /// linear and the same in all directions, so their blocks are numbers.
    fn feel_own_forces(&mut self, problem: &Problem, x: &[DVec3], t: f64) {
        let h = self.h;
        let q = problem.configuration(x, &self.velocities, t);
        reset(&mut self.forces, x.len());
        reset(&mut self.products, x.len());
        self.blocks.clear();
        self.blocks.resize(x.len(), DMat3::ZERO);
        for energy in problem.energies.iter().filter(|e| e.inside_substeps() && !e.joins_particles()) {
            energy.add_force(&q, &mut self.forces);
            energy.linearise(&q, h * h, h, &mut self.elements);
            energy.add_diagonal(&q, &self.elements, &mut self.blocks);
            energy.add_product(&q, &self.elements, Part::Stiffness, &self.velocities, &mut self.products);
        }
        self.weights.clear();
        self.inertial.clear();
        for (i, v) in self.velocities.iter().enumerate() {
            let inertia = problem.topology.masses[i] + self.blocks[i].x_axis.x;
            let change = (self.forces[i] * h - self.products[i]) / inertia;
            self.weights.push(inertia / (h * h));
            self.inertial.push((*v + change) * h);
        }
    }

    /// Where the search starts: on at the velocity that a particle has, and with as much of the outer forces as springs
    /// and bending now leave of them (Chen et al. 2024 ask the step before, but a solver keeps nothing of that).
    fn predict(&mut self, problem: &Problem, x: &[DVec3], v: &[DVec3], t: f64) {
        let q = problem.configuration(x, v, t);
        reset(&mut self.forces, x.len());
        for energy in joining(problem) {
            energy.add_force(&q, &mut self.forces);
        }
        self.guess.clear();
        for (i, v) in v.iter().enumerate() {
            let coasting = *v * self.h;
            if problem.inverse_masses[i] == 0.0 {
                self.guess.push(coasting);
                continue;
            }
            let outer = self.inertial[i] - coasting;
            let both = outer + self.forces[i] / self.weights[i];
            let square = outer.length_squared();
            let share = if square > 0.0 { (both.dot(outer) / square).clamp(0.0, 1.0) } else { 0.0 };
            self.guess.push(coasting + outer * share);
        }
    }

    /// Goes down by `descend` from the guess, then sees to it that momentum is kept and that the energy named by `cap` is
    /// no more than all that the body had.
    pub(super) fn minimise(&mut self, problem: &Problem, cap: Cap, descend: impl FnOnce(&mut Self)) {
        self.stand_still(problem);
        // G here is the kinetic energy after the outer forces and the energy of springs and bending.
        let most = self.value(problem) * (1.0 + ROUNDING);
        self.moved.clone_from(&self.guess);
        self.place();
        descend(self);
        self.keep_momentum(problem);
        self.brake(problem, cap, most);
    }

    /// Slows the body down, about the motion of its centres of mass, until it has no more than `most` energy.
    fn brake(&mut self, problem: &Problem, cap: Cap, most: f64) {
        let mut energy = self.energy(problem, cap);
        // Numbers that are not finite are left for health to see.
        if energy <= most || !most.is_finite() {
            return;
        }
        self.sum_pieces(problem, |potential, i| potential.moved[i]);
        self.guess.clone_from(&self.moved);
        self.place_share(problem, 0.0);
        let least = self.energy(problem, cap);
        let mut share = 1.0;
        // One round is enough where the energy is convex between the two.
        for _ in 0..MAX_BRAKES {
            share *= ((most - least) / (energy - least)).max(0.0);
            self.place_share(problem, share);
            energy = self.energy(problem, cap);
            if energy <= most {
                return;
            }
        }
        self.place_share(problem, 0.0);
    }

    /// Puts particles at a share of the way from where their piece moves as a whole to the guess.
    fn place_share(&mut self, problem: &Problem, share: f64) {
        for (i, &p) in self.pieces.piece.iter().enumerate() {
            if problem.inverse_masses[i] != 0.0 {
                let whole = self.pieces.mean(p);
                self.moved[i] = whole + (self.guess[i] - whole) * share;
            }
        }
        self.place();
    }

    fn stand_still(&mut self, problem: &Problem) {
        for ((moved, guess), w) in self.moved.iter_mut().zip(&self.guess).zip(problem.inverse_masses) {
            *moved = if *w == 0.0 { *guess } else { DVec3::ZERO };
        }
        self.place();
    }

    fn place(&mut self) {
        for ((x, start), moved) in self.x.iter_mut().zip(&self.start).zip(&self.moved) {
            *x = *start + *moved;
        }
    }

    /// Moves a particle by `step`, m.
    #[inline(always)]
    pub(super) fn shift(&mut self, i: usize, step: DVec3) {
        self.moved[i] += step;
        self.x[i] = self.start[i] + self.moved[i];
    }

    /// Damping of spring `s` over the step, c/h, N/m, and its direction when the step began.
    #[inline(always)]
    pub(super) fn damper(&self, s: usize, damping: f64) -> Option<(f64, DVec3)> {
        (damping > 0.0).then(|| (damping / self.h, self.directions[s]))
    }

    /// G, J.
    pub(super) fn value(&self, problem: &Problem) -> f64 {
        self.inertia(problem, |i| self.inertial[i]) + self.elastic(problem)
    }

    /// What `cap` counts of the body's energy, J.
    fn energy(&self, problem: &Problem, cap: Cap) -> f64 {
        let kinetic = self.inertia(problem, |_| DVec3::ZERO);
        match cap {
            Cap::Kinetic => kinetic,
            Cap::Total => kinetic + self.elastic(problem),
        }
    }

    /// ½ (z − ẑ)ᵀ W (z − ẑ) for any ẑ, J: kinetic energy for ẑ = 0.
    fn inertia(&self, problem: &Problem, inertial: impl Fn(usize) -> DVec3) -> f64 {
        let free = problem.inverse_masses.iter().enumerate().filter(|(_, w)| **w != 0.0);
        free.map(|(i, _)| 0.5 * self.weights[i] * self.moved[i].distance_squared(inertial(i))).sum()
    }

    /// Energy of springs, bending and dampers, J.
    fn elastic(&self, problem: &Problem) -> f64 {
        let mut sum = 0.0;
        if !self.directions.is_empty() {
            for (s, spring) in problem.topology.springs.iter().enumerate() {
                if let Some((c, u)) = self.damper(s, spring.damping) {
                    let apart = u.dot(self.moved[spring.j as usize] - self.moved[spring.i as usize]);
                    sum += 0.5 * c * apart * apart;
                }
            }
        }
        let q = problem.configuration(&self.x, &self.moved, 0.0);
        sum + joining(problem).map(|e| e.value(&q)).sum::<f64>()
    }

    /// −∂G/∂z, N, into `f`; 0 for supported particles.
    pub(super) fn forces(&mut self, problem: &Problem, f: &mut Vec<DVec3>) {
        reset(f, self.x.len());
        // Springs damp by velocity; that part is in terms of displacements here.
        reset(&mut self.velocities, self.x.len());
        let q = problem.configuration(&self.x, &self.velocities, 0.0);
        for energy in joining(problem) {
            energy.add_force(&q, f);
        }
        if !self.directions.is_empty() {
            for (s, spring) in problem.topology.springs.iter().enumerate() {
                let (i, j) = (spring.i as usize, spring.j as usize);
                if let Some((c, u)) = self.damper(s, spring.damping) {
                    let force = u * (c * u.dot(self.moved[j] - self.moved[i]));
                    f[i] += force;
                    f[j] -= force;
                }
            }
        }
        for (i, (f, w)) in f.iter_mut().zip(problem.inverse_masses).enumerate() {
            *f = if *w == 0.0 {
                DVec3::ZERO
            } else {
                *f + (self.inertial[i] - self.moved[i]) * self.weights[i]
            };
        }
    }

    /// Shifts every piece without a support to the least G, which springs and bending do not feel: its momentum is then
    /// exact, however early the search ends.
    pub(super) fn keep_momentum(&mut self, problem: &Problem) {
        self.sum_pieces(problem, |potential, i| potential.inertial[i] - potential.moved[i]);
        for i in 0..self.moved.len() {
            if problem.inverse_masses[i] != 0.0 {
                self.shift(i, self.pieces.mean(self.pieces.piece[i]));
            }
        }
    }

    /// Sums of a displacement over the pieces, by weight.
    fn sum_pieces(&mut self, problem: &Problem, displacement: impl Fn(&Self, usize) -> DVec3) {
        let mut sums = std::mem::take(&mut self.pieces.sums);
        sums.fill((DVec3::ZERO, 0.0));
        for (i, &p) in self.pieces.piece.iter().enumerate() {
            let (sum, weight) = &mut sums[p as usize];
            if problem.inverse_masses[i] == 0.0 {
                *weight = f64::INFINITY;
            }
            *sum += displacement(self, i) * self.weights[i];
            *weight += self.weights[i];
        }
        self.pieces.sums = sums;
    }

    /// Takes the result over.
    pub(super) fn end(&self, problem: &Problem, x: &mut [DVec3], v: &mut [DVec3]) {
        for i in 0..x.len() {
            x[i] = self.x[i];
            if problem.inverse_masses[i] != 0.0 {
                v[i] = self.moved[i] / self.h;
            }
        }
    }
}

fn reset(list: &mut Vec<DVec3>, length: usize) {
    list.clear();
    list.resize(length, DVec3::ZERO);
}

/// Pieces of a body that nothing joins: a torn one has several.
#[derive(Debug, Default)]
struct Pieces {
    /// Piece of each particle.
    piece: Vec<u32>,
    /// Weighted sum of displacements and sum of weights of each piece; the latter infinite if a support holds it.
    sums: Vec<(DVec3, f64)>,
    /// Version and size of the body that they belong to.
    known: Option<(u64, usize)>,
}

impl Pieces {
    fn find(&mut self, topology: &Topology) {
        let key = (topology.version, topology.len());
        if self.known == Some(key) {
            return;
        }
        self.known = Some(key);
        let around = neighbours(topology.len(), &joined_pairs(topology));
        self.piece.clear();
        self.piece.resize(topology.len(), u32::MAX);
        let mut pieces = 0;
        let mut stack = Vec::new();
        for first in 0..topology.len() as u32 {
            if self.piece[first as usize] != u32::MAX {
                continue;
            }
            self.piece[first as usize] = pieces;
            stack.push(first);
            while let Some(v) = stack.pop() {
                for &w in around.row(v as usize) {
                    if self.piece[w as usize] == u32::MAX {
                        self.piece[w as usize] = pieces;
                        stack.push(w);
                    }
                }
            }
            pieces += 1;
        }
        self.sums.resize(pieces as usize, (DVec3::ZERO, 0.0));
    }

    /// Mean displacement of a piece, m; 0 for one that a support holds.
    #[inline(always)]
    fn mean(&self, piece: u32) -> DVec3 {
        let (sum, weight) = self.sums[piece as usize];
        if weight.is_finite() { sum / weight } else { DVec3::ZERO }
    }
}

/// Pairs of particles that a spring or a patch joins, each at least once.
pub(super) fn joined_pairs(topology: &Topology) -> Vec<(u32, u32)> {
    let mut pairs: Vec<(u32, u32)> = topology.spring_ends.iter().map(|&[i, j]| (i, j)).collect();
    for patch in &topology.patches {
        for (a, &i) in patch.vertices.iter().enumerate() {
            pairs.extend(patch.vertices[..a].iter().filter(|&&j| j != i).map(|&j| (i, j)));
        }
    }
    pairs
}
