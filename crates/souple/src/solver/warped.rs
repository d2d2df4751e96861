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
use super::panels::Panels;
use crate::energy::{Configuration, PairBlock};
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::math::four::{Four, nearest_rotation};
use crate::math::{inner, polar};
use crate::scene::{Cg, Preconditioner};

/// Bodies of so many hexahedra have multigrid by themselves: from there on it was faster in each step, and in the first by far.
const MULTIGRID_FROM: usize = 2_000;

/// How the system at rest is solved.
#[derive(Debug)]
enum Inner {
    /// The factor, and the same in a faster form if that is near enough.
    Cholesky(Box<BlockCholesky<3>>, Option<Box<Panels>>),
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
    neighbours: Neighbours,
    rotations: Vec<DMat3>,
    unknown: Vec<f64>,
}

impl Warped {
    pub(super) fn new(settings: Cg) -> Warped {
        Warped {
            settings,
            inner: Inner::Cholesky(Box::default(), None),
            free: Vec::new(),
            known: None,
            factored: false,
            neighbours: Neighbours::default(),
            rotations: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Whether it is for a body: for those that are solid, unless another preconditioner is asked for.
    pub(super) fn suits(settings: &Cg, problem: &Problem) -> bool {
        problem.topology.is_solid() && settings.preconditioner != Preconditioner::Blocks
    }

    /// Gets ready for a step; tells whether it can be used.
    pub(super) fn prepare(&mut self, problem: &Problem, x: &[DVec3], t: f64, h: f64) -> bool {
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
            Inner::Cholesky(..) | Inner::Incomplete(_) => true,
        }
    }

    /// Factors the matrix of the body at rest.
    fn factor(&mut self, problem: &Problem, t: f64, h: f64) -> bool {
        let (diagonal, pairs) = at_rest(problem, t, h);
        self.neighbours = Neighbours::new(&problem.topology.rest_positions, &pairs);
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
        let panels = cholesky.panels(|i| problem.inverse_masses[i] != 0.0);
        self.inner = Inner::Cholesky(Box::new(cholesky), panels.map(Box::new));
        factored
    }

    /// How the surroundings of each particle are turned against the shape at rest: the rotation nearest to what maps its edges.
    fn turn(&mut self, problem: &Problem, x: &[DVec3]) {
        let (neighbours, instructions) = (&self.neighbours, Instructions::detect());
        self.rotations.resize(x.len(), DMat3::IDENTITY);
        problem.parallel.heavy_blocks(&mut self.rotations, |start, out| {
            instructions.run(Turn { neighbours, start, x, out });
        });
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
            Inner::Cholesky(_, Some(panels)) => panels.solve(unknown),
            Inner::Cholesky(cholesky, None) => cholesky.solve(unknown, 1),
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
    // Also of a body that has flowed: what is factored must not hang on when it was.
    let q = Configuration { plastic: &[], ..problem.configuration(rest, &still, t) };
    let mass = |m: &f64| DMat3::from_diagonal(DVec3::splat(*m));
    let mut diagonal: Vec<DMat3> = problem.topology.masses.iter().map(mass).collect();
    let mut pairs: Vec<PairBlock> = Vec::new();
    let mut elements = Vec::new();
    for energy in problem.all_energies().filter(|e| e.joins_particles()) {
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

/// The edges of each particle at rest.
#[derive(Debug, Default)]
struct Neighbours {
    /// Where those of each particle begin, and the end.
    starts: Vec<usize>,
    /// The other particle and the edge to it at rest.
    edges: Vec<(u32, DVec3)>,
}

impl Neighbours {
    fn new(rest: &[DVec3], pairs: &[PairBlock]) -> Neighbours {
        let mut names: Vec<(u32, u32)> = pairs.iter().flat_map(|p| [(p.i, p.j), (p.j, p.i)]).collect();
        names.sort_unstable();
        names.dedup();
        let starts = (0..=rest.len()).map(|i| names.partition_point(|(a, _)| (*a as usize) < i)).collect();
        let edges = names.iter().map(|&(a, b)| (b, rest[b as usize] - rest[a as usize])).collect();
        Neighbours { starts, edges }
    }

    /// Σ e e₀ᵀ over the edges of a particle, of any size.
    #[inline(always)]
    fn map(&self, i: usize, x: &[DVec3]) -> DMat3 {
        let mut map = DMat3::ZERO;
        for (j, then) in &self.edges[self.starts[i]..self.starts[i + 1]] {
            let now = x[*j as usize] - x[i];
            map.x_axis += now * then.x;
            map.y_axis += now * then.y;
            map.z_axis += now * then.z;
        }
        map
    }
}

/// Finds the rotations of four particles at a time.
struct Turn<'a> {
    neighbours: &'a Neighbours,
    start: usize,
    x: &'a [DVec3],
    out: &'a mut [DMat3],
}

impl Kernel for Turn<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (k, out) in self.out.chunks_mut(4).enumerate() {
            let first = self.start + 4 * k;
            let mut maps = [[0.0; 9]; 4];
            for (l, to) in maps.iter_mut().enumerate().take(out.len()) {
                let map = self.neighbours.map(first + l, self.x);
                // As large as a rotation, for which the search is fastest.
                *to = (map * (3.0 / inner(map, map)).sqrt()).to_cols_array();
            }
            let mut f = [[Four([0.0; 4]); 3]; 3];
            for c in 0..9 {
                f[c / 3][c % 3] = Four([maps[0][c], maps[1][c], maps[2][c], maps[3][c]]);
            }
            let (r, change) = nearest_rotation(f);
            for (l, out) in out.iter_mut().enumerate() {
                let [a, b, c] = [r[0], r[1], r[2]].map(|[x, y, z]| DVec3::new(x.0[l], y.0[l], z.0[l]));
                *out = DMat3::from_cols(a, b, c);
                // Also of what is turned inside out Newton's iteration finds something: not a rotation.
                if !(change.0[l] < 1e-16 && out.determinant() > 0.0) {
                    *out = polar(self.neighbours.map(first + l, self.x));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{rotation, uniform};

    #[test]
    fn four_rotations_at_a_time_are_those_of_the_polar_decomposition() {
        let place = |i: u32| DVec3::new(f64::from(i % 4), f64::from(i / 4 % 4), f64::from(i / 16)) * 1e-3;
        let rest: Vec<DVec3> = (0..62).map(place).collect();
        let pairs: Vec<PairBlock> = (0..62u32)
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .filter(|&(i, j)| place(i).distance(place(j)) < 1.5e-3)
            .map(|(i, j)| PairBlock { i, j, block: DMat3::ZERO })
            .collect();
        let neighbours = Neighbours::new(&rest, &pairs);
        let turn = rotation(DVec3::new(40.0, 100.0, -70.0));
        // Strained, flat, inside out, and all in one point.
        let maps: [fn(DVec3) -> DVec3; 4] =
            [|p| p * 1.1, |p| DVec3::new(p.x, 0.0, p.z), |p| DVec3::new(p.x, p.y, -p.z), |_| DVec3::X];
        for map in maps {
            let shaken = |(i, p): (usize, &DVec3)| turn * map(*p) * (1.0 + 0.1 * uniform(3, i as u64));
            let x: Vec<DVec3> = rest.iter().enumerate().map(shaken).collect();
            for instructions in [Instructions::Plain, Instructions::detect()] {
                let mut out = vec![DMat3::ZERO; rest.len()];
                instructions.run(Turn { neighbours: &neighbours, start: 0, x: &x, out: &mut out });
                for (i, found) in out.iter().enumerate() {
                    let error = *found - polar(neighbours.map(i, &x));
                    assert!(error.to_cols_array().iter().all(|e| e.abs() < 1e-12), "{i}: {error}");
                }
            }
        }
    }
}
