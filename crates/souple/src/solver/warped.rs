//! A preconditioner for soft solids: the system at rest, factored once, in frames that turn with the body.
//!
//! Stiff solids at long steps have a matrix whose largest eigenvalue is a million times the smallest; blocks on the diagonal are then of little
//! help. But what changes from step to step is mostly how parts are turned. With A₀ the matrix of the body at rest and R the rotation of
//! each particle's surroundings, R A₀⁻¹ Rᵀ is nearly A⁻¹ (stiffness warping, Müller et al. 2002, here only to precondition: the
//! solution is that of the true matrix). A few iterations are enough, as long as elements are strained by less than about one.
//!
//! A₀⁻¹ itself is one of three: a sparse Cholesky factor; a cycle of multigrid ([`super::multigrid`]), whose memory and time grow
//! no faster than the body; an incomplete factor ([`super::incomplete`]), which is cheap to make and helps the least.
//!
//! Promised: a function of the body at rest, its supports, the length of the step and the places of now, and of nothing else, so that
//! a run that is restored goes on the same.

use glam::{DMat3, DVec3};

use super::Problem;
use super::block_rows::BlockRows;
use super::cholesky::BlockCholesky;
use super::incomplete::Incomplete;
use super::multigrid::{Multigrid, lattice};
use crate::energy::PairBlock;
use crate::math::polar;
use crate::scene::{Cg, Preconditioner};

/// Bodies of so many hexahedra have multigrid by themselves: from there on it was faster in each step, and in the first by far.
const MULTIGRID_FROM: usize = 2_000;

const HEXAHEDRON_EDGES: [(usize, usize); 12] =
    [(0, 1), (2, 3), (4, 5), (6, 7), (0, 2), (1, 3), (4, 6), (5, 7), (0, 4), (1, 5), (2, 6), (3, 7)];

/// How the system at rest is solved.
#[derive(Debug)]
enum Inner {
    Cholesky(BlockCholesky<3>),
    Multigrid(Box<Multigrid>),
    Incomplete(Incomplete),
}

/// The factored system at rest, and how particles are turned now.
#[derive(Debug)]
pub(super) struct Warped {
    settings: Cg,
    inner: Inner,
    /// The free particles, which the grids of multigrid and incomplete factors are made of.
    free: Vec<u32>,
    /// What it was factored for: topology, step, and which particles are free.
    known: Option<(u64, u64, Vec<bool>)>,
    factored: bool,
    rotations: Vec<DMat3>,
    unknown: Vec<f64>,
}

impl Warped {
    pub(super) fn new(settings: Cg) -> Warped {
        Warped {
            settings,
            inner: Inner::Cholesky(BlockCholesky::default()),
            free: Vec::new(),
            known: None,
            factored: false,
            rotations: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Gets ready for a step; tells whether it can be used: of bodies that are not solid it cannot.
    pub(super) fn prepare(&mut self, problem: &Problem, x: &[DVec3], t: f64, h: f64) -> bool {
        if !problem.topology.is_solid() || self.settings.preconditioner == Preconditioner::Blocks {
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

    /// Whether the preconditioner is a symmetric matrix: else the search has to be a flexible one.
    pub(super) fn is_symmetric(&self) -> bool {
        match &self.inner {
            Inner::Multigrid(_) => Multigrid::is_symmetric(self.settings.multigrid),
            Inner::Cholesky(_) | Inner::Incomplete(_) => true,
        }
    }

    /// Factors the matrix of the body at rest.
    fn factor(&mut self, problem: &Problem, t: f64, h: f64) -> bool {
        let (diagonal, pairs) = at_rest(problem, t, h);
        let is_large = problem.topology.hexahedra.len() >= MULTIGRID_FROM;
        match self.settings.preconditioner {
            Preconditioner::IncompleteCholesky => {
                let (matrix, free) = free_rows(problem, &diagonal, &pairs);
                let mut incomplete = Incomplete::default();
                let factored = incomplete.factor(&matrix);
                (self.free, self.inner) = (free, Inner::Incomplete(incomplete));
                return factored;
            }
            Preconditioner::Auto if is_large => {}
            Preconditioner::Multigrid => {}
            _ => return self.factor_wholly(problem, &diagonal, &pairs),
        }
        let (matrix, free) = free_rows(problem, &diagonal, &pairs);
        // Corners that are on no lattice: there are no nested grids.
        let Some(places) = lattice(problem.topology, &free) else {
            return self.factor_wholly(problem, &diagonal, &pairs);
        };
        let mut multigrid = Box::<Multigrid>::default();
        let factored = multigrid.build(self.settings.multigrid, matrix, places, problem.parallel);
        (self.free, self.inner) = (free, Inner::Multigrid(multigrid));
        factored
    }

    fn factor_wholly(&mut self, problem: &Problem, diagonal: &[DMat3], pairs: &[PairBlock]) -> bool {
        let mut cholesky = BlockCholesky::default();
        let names: Vec<(u32, u32)> = pairs.iter().map(|p| (p.i, p.j)).collect();
        let factored = cholesky.learn(diagonal.len(), &names)
            && cholesky.factor(
                diagonal.iter().map(|m| m.to_cols_array_2d()),
                pairs.iter().map(|p| (p.i, p.j, p.block.to_cols_array_2d())),
                |i| problem.inverse_masses[i] == 0.0,
            );
        self.inner = Inner::Cholesky(cholesky);
        factored
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
    pub(super) fn solve(&mut self, residuals: impl Iterator<Item = DVec3>, problem: &Problem) {
        self.unknown.clear();
        for ((r, turn), w) in residuals.zip(&self.rotations).zip(problem.inverse_masses) {
            let r = if *w == 0.0 { DVec3::ZERO } else { r };
            self.unknown.extend((turn.transpose() * r).to_array());
        }
        let (free, unknown) = (&self.free, &mut self.unknown);
        let load = |unknown: &[f64], row: usize| DVec3::from_slice(&unknown[3 * free[row] as usize..]);
        match &mut self.inner {
            Inner::Cholesky(cholesky) => cholesky.solve(unknown, 1),
            Inner::Multigrid(multigrid) => {
                multigrid.solve(|row| load(unknown, row), problem.parallel);
                scatter(free, |row| multigrid.at(row), unknown);
            }
            Inner::Incomplete(incomplete) => {
                incomplete.solve(|row| load(unknown, row));
                scatter(free, |row| incomplete.at(row), unknown);
            }
        }
    }

    /// What [`Warped::solve`] found for a particle.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> DVec3 {
        self.rotations[i] * DVec3::from_slice(&self.unknown[3 * i..])
    }
}

fn scatter(free: &[u32], at: impl Fn(usize) -> DVec3, unknown: &mut [f64]) {
    for (row, v) in free.iter().enumerate() {
        at(row).write_to_slice(&mut unknown[3 * *v as usize..]);
    }
}

/// The matrix of the body at rest: its diagonal and its pairs.
pub(super) fn at_rest(problem: &Problem, t: f64, h: f64) -> (Vec<DMat3>, Vec<PairBlock>) {
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
    (diagonal, pairs)
}

/// The rows and columns of free particles, and which these are.
pub(super) fn free_rows(problem: &Problem, diagonal: &[DMat3], pairs: &[PairBlock]) -> (BlockRows, Vec<u32>) {
    let is_free = |i: &u32| problem.inverse_masses[*i as usize] != 0.0;
    let free: Vec<u32> = (0..diagonal.len() as u32).filter(is_free).collect();
    let mut place = vec![None; diagonal.len()];
    free.iter().zip(0u32..).for_each(|(v, row)| place[*v as usize] = Some(row));
    (BlockRows::assemble(free.len(), &place, diagonal, pairs), free)
}
