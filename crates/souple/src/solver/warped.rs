//! A preconditioner for soft solids: the system at rest, factored once, in frames that turn with the body.
//!
//! Stiff solids at long steps have a matrix whose largest eigenvalue is a million times the smallest; blocks on the diagonal are then of little
//! help. But what changes from step to step is mostly how parts are turned. With A₀ the matrix of the body at rest and R the rotation of
//! each particle's surroundings, R A₀⁻¹ Rᵀ is nearly A⁻¹ (stiffness warping, Müller et al. 2002, here only to precondition: the
//! solution is that of the true matrix). A few iterations are enough, as long as elements are strained by less than about one.
//!
//! Promised: a function of the body at rest, its supports, the length of the step and the places of now, and of nothing else, so that
//! a run that is restored goes on the same.

use glam::{DMat3, DVec3};

use super::Problem;
use super::cholesky::BlockCholesky;
use crate::energy::PairBlock;
use crate::math::polar;

const HEXAHEDRON_EDGES: [(usize, usize); 12] =
    [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)];

/// The factored system at rest, and how particles are turned now.
#[derive(Debug, Default)]
pub(super) struct Warped {
    cholesky: BlockCholesky<3>,
    /// What it was factored for: topology, step, and which particles are free.
    known: Option<(u64, u64, Vec<bool>)>,
    factored: bool,
    rotations: Vec<DMat3>,
    unknown: Vec<f64>,
}

impl Warped {
    /// Gets ready for a step; tells whether it can be used: of bodies that are not solid it cannot.
    pub(super) fn prepare(&mut self, problem: &Problem, x: &[DVec3], t: f64, h: f64) -> bool {
        if !problem.topology.is_solid() {
            return false;
        }
        let free = problem.inverse_masses.iter().map(|w| *w != 0.0);
        let is_known = self.known.as_ref().is_some_and(|(version, step, known)| {
            *version == problem.topology.version
                && *step == h.to_bits()
                && known.iter().copied().eq(free.clone())
        });
        if !is_known {
            self.factored = self.factor(problem, t, h);
            self.known = Some((problem.topology.version, h.to_bits(), free.collect()));
        }
        if self.factored {
            self.turn(problem, x);
        }
        self.factored
    }

    /// Factors the matrix of the body at rest.
    fn factor(&mut self, problem: &Problem, t: f64, h: f64) -> bool {
        let rest = &problem.topology.rest_positions;
        let still = vec![DVec3::ZERO; rest.len()];
        let q = problem.configuration(rest, &still, t);
        let mass = |m: &f64| DMat3::from_diagonal(DVec3::splat(*m));
        let mut diagonal: Vec<DMat3> = problem.topology.masses.iter().map(mass).collect();
        let mut pairs: Vec<PairBlock> = Vec::new();
        let mut elements = Vec::new();
        for energy in problem.energies.iter().filter(|e| e.joins_particles()) {
            energy.linearise(&q, h * h, h, &mut elements);
            energy.add_diagonal(&q, &elements, &mut diagonal);
            energy.add_pairs(&q, &elements, &mut pairs);
        }
        problem.topology.mapping.condense(&mut diagonal, &mut pairs);
        self.cholesky.forget();
        let names: Vec<(u32, u32)> = pairs.iter().map(|p| (p.i, p.j)).collect();
        self.cholesky.learn(rest.len(), &names)
            && self.cholesky.factor(
                diagonal.iter().map(|m| m.to_cols_array_2d()),
                pairs.iter().map(|p| (p.i, p.j, p.block.to_cols_array_2d())),
                |i| problem.inverse_masses[i] == 0.0,
            )
    }

    /// How the surroundings of each particle are turned against the shape at rest: the rotation nearest to what maps its edges.
    fn turn(&mut self, problem: &Problem, x: &[DVec3]) {
        let rest = &problem.topology.rest_positions;
        self.rotations.clear();
        self.rotations.resize(x.len(), DMat3::ZERO);
        let edges = |corners: &[u32], pairs: &[(usize, usize)], rotations: &mut [DMat3]| {
            for (a, b) in pairs {
                let (i, j) = (corners[*a] as usize, corners[*b] as usize);
                let (now, then) = (x[j] - x[i], rest[j] - rest[i]);
                let map = DMat3::from_cols(now * then.x, now * then.y, now * then.z);
                rotations[i] += map;
                rotations[j] += map;
            }
        };
        for t in &problem.topology.tetrahedra {
            edges(t, &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)], &mut self.rotations);
        }
        for h in &problem.topology.hexahedra {
            edges(h, &HEXAHEDRON_EDGES, &mut self.rotations);
        }
        problem
            .parallel
            .blocks(&mut self.rotations, |_, block| block.iter_mut().for_each(|m| *m = polar(*m)));
    }

    /// R A₀⁻¹ Rᵀ r, to be read by [`Warped::at`].
    pub(super) fn solve(&mut self, residuals: impl Iterator<Item = DVec3>, inverse_masses: &[f64]) {
        self.unknown.clear();
        for ((r, turn), w) in residuals.zip(&self.rotations).zip(inverse_masses) {
            let r = if *w == 0.0 { DVec3::ZERO } else { r };
            self.unknown.extend((turn.transpose() * r).to_array());
        }
        self.cholesky.solve(&mut self.unknown, 1);
    }

    /// What [`Warped::solve`] found for a particle.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> DVec3 {
        self.rotations[i] * DVec3::from_slice(&self.unknown[3 * i..])
    }
}
