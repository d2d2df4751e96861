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
use super::dissection;
use super::incomplete::Incomplete;
use super::multigrid::{Multigrid, lattice};
use super::panels::Panels;
use crate::energy::{Configuration, PairBlock};
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::math::four::{Four, nearest_rotation};
use crate::math::{inner, polar};
use crate::scene::{Cg, Preconditioner};

/// Bodies whose nodes lie on a lattice have multigrid by themselves if so many of them are free: from there on it was faster in each step, and in the first
/// by far.
const MULTIGRID_FROM: usize = 3_000;

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
    /// The free particles, which are solved for.
    free: Vec<u32>,
    /// What it was factored for: topology, step, and which particles are free.
    known: Option<(u64, u64, Vec<bool>)>,
    factored: bool,
    neighbours: Neighbours,
    rotations: Vec<DMat3>,
    /// Right-hand side and solution of the free particles.
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
        let (place, free) = places_of_free(problem);
        self.neighbours = Neighbours::new(&problem.topology.rest_positions, &pairs, &free);
        self.free = free;
        let is_large = self.free.len() >= MULTIGRID_FROM;
        match self.settings.preconditioner {
            Preconditioner::IncompleteCholesky => {
                let mut incomplete = Incomplete::default();
                let matrix = BlockRows::assemble(self.free.len(), &place, &diagonal, &pairs);
                let factored = incomplete.factor(&matrix);
                self.inner = Inner::Incomplete(incomplete);
                return factored;
            }
            Preconditioner::Auto if is_large => {}
            Preconditioner::Multigrid => {}
            _ => return self.factor_wholly(problem, &place, &diagonal, &pairs),
        }
        // Corners that are on no lattice: there are no nested grids.
        let Some(places) = lattice(problem.topology, &self.free) else {
            return self.factor_wholly(problem, &place, &diagonal, &pairs);
        };
        let matrix = BlockRows::assemble(self.free.len(), &place, &diagonal, &pairs);
        let mut multigrid = Box::<Multigrid>::default();
        let factored = multigrid.build(self.settings.multigrid, matrix, places);
        self.inner = Inner::Multigrid(multigrid);
        factored
    }

    fn factor_wholly(
        &mut self,
        problem: &Problem,
        place: &[Option<u32>],
        diagonal: &[DMat3],
        pairs: &[PairBlock],
    ) -> bool {
        let free = &self.free;
        let between: Vec<(u32, u32, &DMat3)> = pairs
            .iter()
            .filter_map(|p| Some((place[p.i as usize]?, place[p.j as usize]?, &p.block)))
            .collect();
        let names: Vec<(u32, u32)> = between.iter().map(|&(i, j, _)| (i, j)).collect();
        let rest: Vec<DVec3> = free.iter().map(|v| problem.topology.rest_positions[*v as usize]).collect();
        let order = dissection::order(&rest, &names);
        // Dissection is better for what is round, the least degree for what is long: whichever leaves less.
        let (mut cholesky, mut dissected) = (BlockCholesky::default(), BlockCholesky::default());
        let learned = cholesky.learn(free.len(), &names);
        if dissected.learn_in_order(free.len(), &names, Some(&order)) && dissected.len() < cholesky.len() {
            cholesky = dissected;
        }
        let factored = learned
            && cholesky.factor(
                free.iter().map(|v| diagonal[*v as usize].to_cols_array_2d()),
                between.iter().map(|&(i, j, block)| (i, j, block.to_cols_array_2d())),
                |_| false,
            );
        let panels = cholesky.panels();
        self.inner = Inner::Cholesky(Box::new(cholesky), panels.map(Box::new));
        factored
    }

    /// How the surroundings of each free particle are turned against the shape at rest: the rotation nearest to what maps its edges.
    fn turn(&mut self, problem: &Problem, x: &[DVec3]) {
        let (neighbours, free, instructions) = (&self.neighbours, &self.free, Instructions::detect());
        self.rotations.resize(free.len(), DMat3::IDENTITY);
        problem.parallel.heavy_blocks(&mut self.rotations, |start, out| {
            instructions.run(Turn { neighbours, free, start, x, out });
        });
    }

    /// The particles that are solved for.
    pub(super) fn free(&self) -> &[u32] {
        &self.free
    }

    /// R A₀⁻¹ Rᵀ r, to be read by [`Warped::at`].
    pub(super) fn solve(&mut self, residual: impl Fn(usize) -> DVec3, problem: &Problem) {
        let Warped { free, rotations, unknown, .. } = self;
        let load = |row: usize| rotations[row].transpose() * residual(free[row] as usize);
        match &mut self.inner {
            Inner::Cholesky(cholesky, panels) => {
                unknown.clear();
                unknown.extend((0..free.len()).flat_map(|row| load(row).to_array()));
                match panels {
                    Some(panels) => panels.solve(unknown),
                    None => cholesky.solve(unknown, 1),
                }
            }
            Inner::Multigrid(multigrid) => multigrid.solve(load, problem.parallel),
            Inner::Incomplete(incomplete) => incomplete.solve(load),
        }
    }

    /// What [`Warped::solve`] found for a free particle, by its place among these.
    #[inline(always)]
    pub(super) fn at(&self, row: usize) -> DVec3 {
        let found = match &self.inner {
            Inner::Cholesky(..) => DVec3::from_slice(&self.unknown[3 * row..]),
            Inner::Multigrid(multigrid) => multigrid.at(row),
            Inner::Incomplete(incomplete) => incomplete.at(row),
        };
        self.rotations[row] * found
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

/// The place of each particle among the free ones, and which these are.
fn places_of_free(problem: &Problem) -> (Vec<Option<u32>>, Vec<u32>) {
    let is_free = |i: &u32| problem.inverse_masses[*i as usize] != 0.0;
    let free: Vec<u32> = (0..problem.inverse_masses.len() as u32).filter(is_free).collect();
    let mut place = vec![None; problem.inverse_masses.len()];
    free.iter().zip(0u32..).for_each(|(v, row)| place[*v as usize] = Some(row));
    (place, free)
}

/// The rows and columns of free particles, and which these are.
#[cfg(test)]
pub(super) fn free_rows(problem: &Problem, diagonal: &[DMat3], pairs: &[PairBlock]) -> (BlockRows, Vec<u32>) {
    let (place, free) = places_of_free(problem);
    (BlockRows::assemble(free.len(), &place, diagonal, pairs), free)
}

/// The edges of free particles at rest.
#[derive(Debug, Default)]
struct Neighbours {
    /// Where those of each begin, and the end.
    starts: Vec<usize>,
    /// The other particle and the edge to it at rest.
    edges: Vec<(u32, DVec3)>,
}

impl Neighbours {
    fn new(rest: &[DVec3], pairs: &[PairBlock], free: &[u32]) -> Neighbours {
        let mut names: Vec<(u32, u32)> = pairs.iter().flat_map(|p| [(p.i, p.j), (p.j, p.i)]).collect();
        names.sort_unstable();
        names.dedup();
        let mut neighbours = Neighbours { starts: vec![0], edges: Vec::new() };
        for &i in free {
            let own = names.partition_point(|(a, _)| *a < i)..names.partition_point(|(a, _)| *a <= i);
            let edge = |&(_, b): &(u32, u32)| (b, rest[b as usize] - rest[i as usize]);
            neighbours.edges.extend(names[own].iter().map(edge));
            neighbours.starts.push(neighbours.edges.len());
        }
        neighbours
    }

    /// Σ e e₀ᵀ over the edges of a particle, of any size.
    #[inline(always)]
    fn map(&self, row: usize, i: u32, x: &[DVec3]) -> DMat3 {
        let mut map = DMat3::ZERO;
        for (j, then) in &self.edges[self.starts[row]..self.starts[row + 1]] {
            let now = x[*j as usize] - x[i as usize];
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
    free: &'a [u32],
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
                let map = self.neighbours.map(first + l, self.free[first + l], self.x);
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
                    *out = polar(self.neighbours.map(first + l, self.free[first + l], self.x));
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
        let free: Vec<u32> = (0..62).filter(|i| i % 7 != 3).collect();
        let neighbours = Neighbours::new(&rest, &pairs, &free);
        let turn = rotation(DVec3::new(40.0, 100.0, -70.0));
        // Strained, flat, inside out, and all in one point.
        let maps: [fn(DVec3) -> DVec3; 4] =
            [|p| p * 1.1, |p| DVec3::new(p.x, 0.0, p.z), |p| DVec3::new(p.x, p.y, -p.z), |_| DVec3::X];
        for map in maps {
            let shaken = |(i, p): (usize, &DVec3)| turn * map(*p) * (1.0 + 0.1 * uniform(3, i as u64));
            let x: Vec<DVec3> = rest.iter().enumerate().map(shaken).collect();
            for instructions in [Instructions::Plain, Instructions::detect()] {
                let mut out = vec![DMat3::ZERO; free.len()];
                instructions.run(Turn {
                    neighbours: &neighbours,
                    free: &free,
                    start: 0,
                    x: &x,
                    out: &mut out,
                });
                for (i, found) in out.iter().enumerate() {
                    let error = *found - polar(neighbours.map(i, free[i], &x));
                    assert!(error.to_cols_array().iter().all(|e| e.abs() < 1e-12), "{i}: {error}");
                }
            }
        }
    }
}
