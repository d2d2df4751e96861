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
use super::panels::Panels;
use crate::energy::PairBlock;
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::math::four::{Four, nearest_rotation};
use crate::math::{inner, polar};

/// The factored system at rest, and how particles are turned now.
#[derive(Debug, Default)]
pub(super) struct Warped {
    cholesky: BlockCholesky<3>,
    /// What it was factored for: topology, step, and which particles are free.
    known: Option<(u64, u64, Vec<bool>)>,
    factored: bool,
    /// The factor in a faster form, if that is near enough.
    panels: Option<Panels>,
    neighbours: Neighbours,
    rotations: Vec<DMat3>,
    unknown: Vec<f64>,
}

impl Warped {
    /// Whether it is for a body: for those that are solid.
    pub(super) fn suits(problem: &Problem) -> bool {
        problem.topology.is_solid()
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
            self.panels = self.cholesky.panels(|i| problem.inverse_masses[i] != 0.0);
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
        for energy in problem.all_energies().filter(|e| e.joins_particles()) {
            energy.linearise(&q, h * h, h, &mut elements);
            energy.add_diagonal(&q, &elements, &mut diagonal);
            energy.add_pairs(&q, &elements, &mut pairs);
        }
        problem.topology.mapping.condense(&mut diagonal, &mut pairs);
        self.neighbours = Neighbours::new(rest, &pairs);
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
        let (neighbours, instructions) = (&self.neighbours, Instructions::detect());
        self.rotations.resize(x.len(), DMat3::IDENTITY);
        problem.parallel.heavy_blocks(&mut self.rotations, |start, out| {
            instructions.run(Turn { neighbours, start, x, out });
        });
    }

    /// R A₀⁻¹ Rᵀ r, to be read by [`Warped::at`].
    pub(super) fn solve(&mut self, residuals: impl Iterator<Item = DVec3>, inverse_masses: &[f64]) {
        self.unknown.clear();
        for ((r, turn), w) in residuals.zip(&self.rotations).zip(inverse_masses) {
            let r = if *w == 0.0 { DVec3::ZERO } else { r };
            self.unknown.extend((turn.transpose() * r).to_array());
        }
        match &mut self.panels {
            Some(panels) => panels.solve(&mut self.unknown),
            None => self.cholesky.solve(&mut self.unknown, 1),
        }
    }

    /// What [`Warped::solve`] found for a particle.
    #[inline(always)]
    pub(super) fn at(&self, i: usize) -> DVec3 {
        self.rotations[i] * DVec3::from_slice(&self.unknown[3 * i..])
    }
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
