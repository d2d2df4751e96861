//! Geometric multigrid for bodies of hexahedra on nested grids (FAU-28, FAU-29, FAU-30, FAU-31; Brandt 1977, Briggs et al. 2000).
//!
//! The system at rest is smoothed on the grid of the cells, what is left is taken to a grid of cells twice as large, and so on down to a
//! grid that is small enough to be factored. Between grids values are interpolated along the edges of the larger cells (L), and a coarse
//! matrix is the fine one seen through them, LᵀAL: so that forces and stiffness of partly filled cells are averaged by themselves. The
//! smoother is Gauss and Seidel's, colour by colour, forth on the way down and back on the way up, which makes a V-cycle a symmetric matrix, or a few
//! conjugate gradients, the seed's, which do not; the full cycle starts on the coarsest grid and goes up by V-cycles. All of it is done in 32-bit numbers, with a
//! right-hand side that is made as large as 1 first: a cycle is a preconditioner in any case, and matrices are read twice in each.
//!
//! Promised: a function of the matrix, the lattice and the settings alone; the same bits for any number of threads. Memory and time per cycle
//! grow with the number of nodes, the number of iterations hardly. Bodies with cells of several sizes have their own grids: as the smallest cells are joined,
//! nodes of larger ones stay as they are (T-nodes are no unknowns, and balanced octrees have no coarse node that is not one of theirs). Not offered: tetrahedra
//! that were not cut from cells.

use glam::{DMat3, DVec3};

use super::block_rows::{
    BlockRows, Columns, Single, SingleRows, Weights, colours, single, times_symmetric, widened,
};
use super::cholesky::BlockCholesky;
use super::conjugate_gradient::inverse_spd;
use super::panels::Panels;
use crate::mesh::Topology;
use crate::parallel::Parallel;
use crate::scene::{Multigrid as Settings, MultigridCycle, Smoother};

/// A node's place in its lattice.
pub(super) type Place = [i32; 3];

/// Grids of fewer nodes are factored.
const COARSEST: usize = 100;

/// What the coarsest matrix gets on its diagonal, relative to it: beside supports two coarse nodes may move the same fine ones.
const SHIFT: f64 = 1e-10;

/// Conjugate gradients as smoother end early when the residual fell to this share, squared.
const ENOUGH: f64 = 1e-4;

/// One grid.
#[derive(Debug, Default)]
struct Level {
    matrix: SingleRows,
    /// Inverse blocks of the diagonal, symmetric, by row.
    inverse: Vec<[f32; 6]>,
    /// From the next grid to this one, and back.
    up: Weights,
    down: Weights,
    /// Right-hand side, solution, residual.
    b: Vec<Single>,
    x: Vec<Single>,
    r: Vec<Single>,
    /// Scratch of the smoother; products stand by row.
    d: Vec<Single>,
    products: Vec<Single>,
    partial: Vec<f64>,
}

/// A hierarchy of grids.
#[derive(Debug, Default)]
pub(super) struct Multigrid {
    settings: Settings,
    levels: Vec<Level>,
    cholesky: BlockCholesky<3>,
    /// The same in a faster form.
    panels: Option<Panels>,
    unknown: Vec<f64>,
    /// What is solved for, and how large that is.
    given: Vec<DVec3>,
    size: f64,
}

/// Three edges of the smallest cells of a body, where the lattice begins, and how many of them an edge of the largest has: of its hexahedra, or of its first
/// tetrahedron that has three edges across each other, as those have that a cell was cut into.
fn cell_edges(topology: &Topology) -> Option<(DVec3, DMat3, i32)> {
    let at = |v: u32| topology.rest_positions[v as usize];
    let edge = |cell: &[u32; 8]| at(cell[0]).distance_squared(at(cell[1]));
    let by_edge = |a: &&[u32; 8], b: &&[u32; 8]| edge(a).total_cmp(&edge(b));
    let cells = || topology.hexahedra.iter();
    if let (Some(smallest), Some(largest)) = (cells().min_by(by_edge), cells().max_by(by_edge)) {
        let ratio = (edge(largest) / edge(smallest)).sqrt().round().max(1.0) as i32;
        let edges = [1, 2, 4].map(|c| at(smallest[c]) - at(smallest[0]));
        return Some((at(largest[0]), DMat3::from_cols(edges[0], edges[1], edges[2]), ratio));
    }
    topology.tetrahedra.iter().find_map(|t| {
        let [a, b, c, d] = t.map(at);
        let edges = [b - a, c - a, d - a, c - b, d - b, d - c];
        let are_across = |p: DVec3, q: DVec3| p.dot(q).abs() < 1e-6 * p.length() * q.length();
        let triples = (0..6).flat_map(|i| (0..i).flat_map(move |j| (0..j).map(move |k| [i, j, k])));
        let mut found = triples.map(|t| t.map(|e| edges[e]));
        let [p, q, r] =
            found.find(|[p, q, r]| are_across(*p, *q) && are_across(*q, *r) && are_across(*r, *p))?;
        Some((a, DMat3::from_cols(p, q, r), 1))
    })
}

/// Where nodes lie in the lattice of the smallest cells of a body, relative to the lowest of them; none if a corner is off it. Grids of larger cells
/// have the largest of the body among their cells.
pub(super) fn lattice(topology: &Topology, nodes: &[u32]) -> Option<Vec<Place>> {
    let rest = &topology.rest_positions;
    let (origin, edges, ratio) = cell_edges(topology)?;
    let inverse = edges.inverse();
    let place = |v: u32| {
        let exact = inverse * (rest[v as usize] - origin);
        let near = exact.round();
        let on = (exact - near).abs().max_element() < 1e-3 && near.abs().max_element() < 1e9;
        on.then(|| near.to_array().map(|a| a as i32))
    };
    let mut lowest = [0; 3];
    for v in topology.hexahedra.as_flattened().iter().chain(topology.tetrahedra.as_flattened()) {
        let p = place(*v)?;
        lowest = std::array::from_fn(|k| lowest[k].min(p[k]));
    }
    let lowest = lowest.map(|a: i32| a.div_euclid(ratio) * ratio);
    nodes.iter().map(|v| place(*v).map(|p| std::array::from_fn(|k| p[k] - lowest[k]))).collect()
}

/// The coarse nodes that a fine one lies between, with its shares of them.
fn parents(place: Place) -> impl Iterator<Item = (Place, f64)> {
    let even = place.map(|p| p % 2 == 0);
    (0..8).filter_map(move |c: i32| {
        let high = [c & 1, c >> 1 & 1, c >> 2 & 1];
        // A node at an even place lies on a coarse one, which is counted once.
        if (0..3).any(|k| even[k] && high[k] == 1) {
            return None;
        }
        let share = even.iter().map(|even| if *even { 1.0 } else { 0.5 }).product();
        Some((std::array::from_fn(|k| place[k] / 2 + high[k]), share))
    })
}

/// The next coarser lattice, and the weights from it to this one. Nodes that would move nothing are not in it.
fn coarsen(fine: &[Place]) -> (Vec<Place>, Weights) {
    let key = |p: &Place| [p[2], p[1], p[0]];
    let mut coarse: Vec<Place> = fine.iter().flat_map(|p| parents(*p).map(|(p, _)| p)).collect();
    coarse.sort_unstable_by_key(key);
    coarse.dedup();
    let name = |p: Place| coarse.binary_search_by_key(&key(&p), key).ok().map(|i| i as u32);
    let row = |p: &Place| parents(*p).filter_map(|(p, w)| Some((name(p)?, w))).collect::<Vec<_>>();
    let rows: Vec<Vec<(u32, f64)>> = fine.iter().map(row).collect();
    let weights = Weights::from_rows(rows.iter().map(|r| &r[..]));
    (coarse, weights)
}

/// A colour for each row, so that rows that are joined differ: by whether places are odd, so that what lies around a node is coloured alike everywhere; where cells
/// differ in size that is not enough.
fn colours_at(matrix: &BlockRows, places: &[Place]) -> Vec<usize> {
    let odd = |p: &Place| p.iter().enumerate().map(|(k, p)| (*p as usize & 1) << k).sum::<usize>();
    let found: Vec<usize> = places.iter().map(odd).collect();
    let differ = |r: usize| matrix.row(r).all(|(c, _)| c as usize == r || found[c as usize] != found[r]);
    if (0..matrix.len()).all(differ) { found } else { colours(matrix) }
}

impl Multigrid {
    /// Makes the grids of a matrix whose rows lie at these places; tells whether it could.
    pub(super) fn build(&mut self, settings: Settings, matrix: BlockRows, places: Vec<Place>) -> bool {
        let most = settings.levels.map_or(usize::MAX, |n| n as usize);
        self.settings = settings;
        self.levels.clear();
        let (mut matrix, mut places) = (matrix, places);
        loop {
            let enough = settings.levels.is_none() && matrix.len() < COARSEST;
            let is_last = enough || self.levels.len() + 1 >= most;
            let (coarse, up) = if is_last { Default::default() } else { coarsen(&places) };
            // Where coarser grids are hardly smaller they help no more.
            if is_last || 10 * coarse.len() > 9 * places.len() {
                break;
            }
            let down = up.transposed(coarse.len());
            let next = matrix.galerkin(&up, &down);
            self.levels.push(Level::new(&matrix, &places, up, down));
            (matrix, places) = (next, coarse);
        }
        let factored = self.factor(&matrix) && self.levels.iter().all(|level| level.matrix.is_finite());
        self.panels = self.cholesky.panels();
        self.levels.push(Level { b: vec![[0.0; 4]; matrix.len()], ..Level::default() });
        self.given = vec![DVec3::ZERO; self.levels[0].b.len()];
        factored
    }

    /// Factors the matrix of the coarsest grid.
    fn factor(&mut self, matrix: &BlockRows) -> bool {
        let rows = || 0..matrix.len();
        let upper = |r: usize| {
            matrix.row(r).filter(move |(c, _)| *c as usize > r).map(move |(c, block)| (r as u32, c, block))
        };
        let names: Vec<(u32, u32)> = rows().flat_map(upper).map(|(i, j, _)| (i, j)).collect();
        self.cholesky.forget();
        self.cholesky.learn(matrix.len(), &names)
            && self.cholesky.factor(
                rows().map(|r| {
                    let mut block = matrix.diagonal(r);
                    block.x_axis.x *= 1.0 + SHIFT;
                    block.y_axis.y *= 1.0 + SHIFT;
                    block.z_axis.z *= 1.0 + SHIFT;
                    block.to_cols_array_2d()
                }),
                rows().flat_map(upper).map(|(i, j, block)| (i, j, block.to_cols_array_2d())),
                |_| false,
            )
    }

    /// Whether a cycle is a symmetric matrix: else the search around it has to be a flexible one.
    pub(super) fn is_symmetric(settings: Settings) -> bool {
        settings.cycle == MultigridCycle::V && settings.smoother == Smoother::GaussSeidel
    }

    /// How many grids there are.
    #[cfg(test)]
    fn depth(&self) -> usize {
        self.levels.len()
    }

    /// One cycle for the right-hand side that `load` gives per row; the solution is read by [`Multigrid::at`].
    pub(super) fn solve(&mut self, load: impl Fn(usize) -> DVec3, parallel: &Parallel) {
        let Some(first) = self.levels.first_mut() else { return };
        self.size = 0.0;
        for (i, given) in self.given.iter_mut().enumerate() {
            *given = load(i);
            self.size = self.size.max(given.abs().max_element());
        }
        let share = if self.size > 0.0 { 1.0 / self.size } else { 1.0 };
        first.b.iter_mut().zip(&self.given).for_each(|(b, given)| *b = single(*given, share));
        let Multigrid { cholesky, panels, unknown, .. } = self;
        let mut bottom = Bottom { cholesky, panels: panels.as_mut(), unknown };
        match self.settings.cycle {
            MultigridCycle::V => v_cycle(&mut self.levels, self.settings, &mut bottom, true, parallel),
            MultigridCycle::Full => full_cycle(&mut self.levels, self.settings, &mut bottom, parallel),
        }
    }

    /// What [`Multigrid::solve`] found for a row.
    #[inline(always)]
    pub(super) fn at(&self, row: usize) -> DVec3 {
        self.levels.first().map_or(DVec3::ZERO, |level| widened(level.x[row], self.size))
    }
}

/// The factor of the coarsest grid.
struct Bottom<'a> {
    cholesky: &'a BlockCholesky<3>,
    panels: Option<&'a mut Panels>,
    unknown: &'a mut Vec<f64>,
}

impl Bottom<'_> {
    fn solve(&mut self, level: &mut Level) {
        self.unknown.clear();
        self.unknown.extend(level.b.iter().flat_map(|b| widened(*b, 1.0).to_array()));
        match &mut self.panels {
            Some(panels) => panels.solve(self.unknown),
            None => self.cholesky.solve(self.unknown, 1),
        }
        level.x.clear();
        level.x.extend(self.unknown.chunks_exact(3).map(|x| single(DVec3::from_slice(x), 1.0)));
    }
}

/// Smooths, corrects by the grids below, smooths: from 0 or from the `x` that is there.
fn v_cycle(
    levels: &mut [Level],
    settings: Settings,
    bottom: &mut Bottom,
    from_zero: bool,
    parallel: &Parallel,
) {
    let Some((fine, coarse)) = levels.split_first_mut() else { return };
    let Some(next) = coarse.first_mut() else { return bottom.solve(fine) };
    fine.smooth_down(settings, from_zero, parallel);
    fine.restrict_residual(next, parallel);
    v_cycle(coarse, settings, bottom, true, parallel);
    fine.add_correction(&coarse[0].x, parallel);
    fine.smooth_up(settings, parallel);
}

/// Nested iteration: from the coarsest grid up, each solution is where the V-cycle of the next finer grid starts.
fn full_cycle(levels: &mut [Level], settings: Settings, bottom: &mut Bottom, parallel: &Parallel) {
    for l in 1..levels.len() {
        let (fine, coarse) = levels.split_at_mut(l);
        fine[l - 1].restrict_load(&mut coarse[0], parallel);
    }
    for l in (0..levels.len()).rev() {
        let (fine, coarse) = levels[l..].split_at_mut(1);
        if let Some(next) = coarse.first() {
            fine[0].interpolate(&next.x, parallel);
        }
        v_cycle(&mut levels[l..], settings, bottom, false, parallel);
    }
}

#[inline(always)]
fn minus(a: Single, b: Single) -> Single {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2], 0.0]
}

/// a + b s.
#[inline(always)]
fn along(a: Single, b: Single, s: f32) -> Single {
    [a[0] + b[0] * s, a[1] + b[1] * s, a[2] + b[2] * s, 0.0]
}

#[inline(always)]
fn inner(a: Single, b: Single) -> f64 {
    f64::from(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])
}

impl Level {
    fn new(matrix: &BlockRows, places: &[Place], up: Weights, down: Weights) -> Level {
        let matrix = SingleRows::new(matrix, &colours_at(matrix, places));
        let n = matrix.len();
        let zero = || vec![[0.0; 4]; n];
        let inverse =
            (0..n).map(|row| inverse_spd(matrix.diagonal(row)).map(|number| number as f32)).collect();
        let (b, x, r, d, products) = (zero(), zero(), zero(), zero(), zero());
        Level { matrix, inverse, up, down, b, x, r, d, products, ..Level::default() }
    }

    /// Improves `x`, or what is found from 0, and leaves its residual.
    fn smooth_down(&mut self, settings: Settings, from_zero: bool, parallel: &Parallel) {
        if from_zero {
            self.x.fill([0.0; 4]);
        }
        match settings.smoother {
            Smoother::GaussSeidel => {
                for sweep in 0..settings.sweeps {
                    let is_first = from_zero && sweep == 0;
                    // What comes later is 0 in the first sweep.
                    let columns = if is_first { Columns::Lower } else { Columns::Others };
                    for c in 0..self.matrix.colours() {
                        self.relax(c, columns, parallel);
                    }
                }
                if from_zero && settings.sweeps == 1 {
                    // Each row was right when it was solved: what has come later is all that is left.
                    self.matrix.multiply(0, Columns::Higher, &self.x, &mut self.products, parallel);
                    for (v, product) in self.matrix.nodes().iter().zip(&self.products) {
                        self.r[*v as usize] = product.map(|p| -p);
                    }
                } else {
                    self.find_residual(parallel);
                }
            }
            Smoother::ConjugateGradient => {
                self.find_residual(parallel);
                self.conjugate_gradients(settings.sweeps, parallel);
            }
        }
    }

    /// Improves `x`, after which its residual is not known.
    fn smooth_up(&mut self, settings: Settings, parallel: &Parallel) {
        match settings.smoother {
            Smoother::GaussSeidel => {
                for _ in 0..settings.sweeps {
                    for c in (0..self.matrix.colours()).rev() {
                        self.relax(c, Columns::Others, parallel);
                    }
                }
            }
            Smoother::ConjugateGradient => {
                self.find_residual(parallel);
                self.conjugate_gradients(settings.sweeps, parallel);
            }
        }
    }

    /// Solves the rows of one colour, each for itself: none is joined with another.
    fn relax(&mut self, colour: usize, columns: Columns, parallel: &Parallel) {
        let rows = self.matrix.rows_of(colour);
        let products = &mut self.products[rows.clone()];
        self.matrix.multiply(rows.start, columns, &self.x, products, parallel);
        let nodes = self.matrix.nodes()[rows.clone()].iter().zip(&self.inverse[rows]);
        for ((v, inverse), product) in nodes.zip(products) {
            self.x[*v as usize] = times_symmetric(*inverse, minus(self.b[*v as usize], *product));
        }
    }

    /// r = b − A x.
    fn find_residual(&mut self, parallel: &Parallel) {
        self.matrix.multiply(0, Columns::All, &self.x, &mut self.products, parallel);
        for (v, product) in self.matrix.nodes().iter().zip(&self.products) {
            self.r[*v as usize] = minus(self.b[*v as usize], *product);
        }
    }

    /// The right-hand side of the next grid from this one's residual.
    fn restrict_residual(&self, next: &mut Level, parallel: &Parallel) {
        parallel.heavy_blocks(&mut next.b, |start, block| {
            block.iter_mut().enumerate().for_each(|(k, b)| *b = self.down.gather_single(start + k, &self.r));
        });
    }

    /// The same from its right-hand side.
    fn restrict_load(&self, next: &mut Level, parallel: &Parallel) {
        parallel.heavy_blocks(&mut next.b, |start, block| {
            block.iter_mut().enumerate().for_each(|(k, b)| *b = self.down.gather_single(start + k, &self.b));
        });
    }

    /// x = L `coarse`.
    fn interpolate(&mut self, coarse: &[Single], parallel: &Parallel) {
        let up = &self.up;
        parallel.heavy_blocks(&mut self.x, |start, block| {
            block.iter_mut().enumerate().for_each(|(k, x)| *x = up.gather_single(start + k, coarse));
        });
    }

    /// x += L `coarse`.
    fn add_correction(&mut self, coarse: &[Single], parallel: &Parallel) {
        let up = &self.up;
        parallel.heavy_blocks(&mut self.x, |start, block| {
            block
                .iter_mut()
                .enumerate()
                .for_each(|(k, x)| *x = along(*x, up.gather_single(start + k, coarse), 1.0));
        });
    }

    /// Conjugate gradients with the blocks of the diagonal (FAU-30), which end early where little is left. Supported nodes are not in
    /// the grid at all, which is the filter.
    fn conjugate_gradients(&mut self, sweeps: u32, parallel: &Parallel) {
        let (mut size, mut first) = (0.0, 0.0);
        for sweep in 0..sweeps {
            let before = size;
            let (inverse, r, nodes) = (&self.inverse, &self.r, self.matrix.nodes());
            let z = |row: usize| times_symmetric(inverse[row], r[nodes[row] as usize]);
            size = parallel.sum(r.len(), &mut self.partial, |row| inner(r[nodes[row] as usize], z(row)));
            let turn = if sweep == 0 { 0.0 } else { size / before };
            for (row, v) in nodes.iter().enumerate() {
                let d = &mut self.d[*v as usize];
                // Not `*d * 0`: what is left there from before need not be finite.
                *d = if sweep == 0 { z(row) } else { along(z(row), *d, turn as f32) };
            }
            first = if sweep == 0 { size } else { first };
            // Also if there was nothing to do at all.
            if size == 0.0 || size < ENOUGH * first {
                break;
            }
            self.matrix.multiply(0, Columns::All, &self.d, &mut self.products, parallel);
            let (d, products) = (&self.d, &self.products);
            let curvature = |row: usize| inner(d[nodes[row] as usize], products[row]);
            let step = (size / parallel.sum(products.len(), &mut self.partial, curvature)) as f32;
            for (v, product) in nodes.iter().zip(products) {
                let i = *v as usize;
                self.x[i] = along(self.x[i], self.d[i], step);
                self.r[i] = along(self.r[i], *product, -step);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelBuilder;
    use crate::control::Control;
    use crate::math::uniform;
    use crate::scene::{Block, Body, Cells, Group, Pin, Placement, Region, Scene, Select, Shape};
    use crate::solver::Problem;
    use crate::solver::warped::{at_rest, free_rows};

    /// A beam of 4 : 1 : 1, clamped at one end, with so many cells across.
    fn beam(across: u32) -> Scene {
        let wall = Region { min: [-1e-6, -1.0, -1.0], max: [1e-6, 1.0, 1.0] };
        let body = Body {
            shape: Shape::Block(Block {
                size: [0.4, 0.1, 0.1],
                cells: [4 * across, across, across],
                cut: Cells::Hexahedra,
            }),
            density: Some(1000.0),
            young_modulus: Some(4e4),
            poisson_ratio: Some(0.3),
            pins: vec![Pin { select: Select::Within(wall), ..Pin::default() }],
            ..Body::default()
        };
        Scene { groups: vec![Group::default()], bodies: vec![body], ..Scene::default() }
    }

    /// The system at rest of a scene's body for steps of `h`, and its grids.
    fn grids(scene: &Scene, h: f64, settings: Settings, parallel: &Parallel) -> (BlockRows, Multigrid) {
        let model = ModelBuilder::new(scene).build().unwrap();
        let body = &model.bodies[0];
        let mut inverse_masses: Vec<f64> = body.topology.masses.iter().map(|m| 1.0 / m).collect();
        for pin in body.pins.iter().flat_map(|pin| &pin.vertices) {
            inverse_masses[*pin as usize] = 0.0;
        }
        let control = Control::new(&model);
        let problem = Problem {
            energies: &body.energies,
            system: &[],
            topology: &body.topology,
            plastic: &[],
            control: &control,
            parallel,
            body: 0,
            inverse_masses: &inverse_masses,
            layer: None,
            contacts: None,
            again: None,
        };
        let (diagonal, pairs) = at_rest(&problem, 0.0, h);
        let (matrix, free) = free_rows(&problem, &diagonal, &pairs);
        let (again, _) = free_rows(&problem, &diagonal, &pairs);
        let places = lattice(&body.topology, &free).unwrap();
        let mut multigrid = Multigrid::default();
        assert!(multigrid.build(settings, matrix, places));
        (again, multigrid)
    }

    fn noise(n: usize, seed: u64) -> Vec<DVec3> {
        (0..n as u64).map(|i| DVec3::from([0, 1, 2].map(|k| uniform(seed, 3 * i + k) - 0.5))).collect()
    }

    fn cycle(multigrid: &mut Multigrid, b: &[DVec3], parallel: &Parallel) -> Vec<DVec3> {
        multigrid.solve(|i| b[i], parallel);
        (0..b.len()).map(|i| multigrid.at(i)).collect()
    }

    fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
        a.iter().zip(b).map(|(a, b)| a.dot(*b)).sum()
    }

    /// Cycles until the residual fell to 1e-6, without any search around them.
    fn cycles(scene: &Scene, h: f64, settings: Settings) -> usize {
        let parallel = Parallel::default();
        let (matrix, mut multigrid) = grids(scene, h, settings, &parallel);
        let b = noise(matrix.len(), 7);
        let mut r = b.clone();
        for count in 1..100 {
            let x = cycle(&mut multigrid, &r, &parallel);
            matrix.subtract_product(&x, &mut r, &parallel);
            if dot(&r, &r) < 1e-12 * dot(&b, &b) {
                return count;
            }
        }
        100
    }

    const ALL: [(MultigridCycle, Smoother); 4] = [
        (MultigridCycle::V, Smoother::GaussSeidel),
        (MultigridCycle::Full, Smoother::GaussSeidel),
        (MultigridCycle::V, Smoother::ConjugateGradient),
        (MultigridCycle::Full, Smoother::ConjugateGradient),
    ];

    #[test]
    fn cycles_converge_as_fast_on_fine_grids_as_on_coarse_ones() {
        for (cycle, smoother) in ALL {
            let settings = Settings { cycle, smoother, levels: None, sweeps: 3 };
            let counts = [4, 8, 12].map(|across| cycles(&beam(across), 0.02, settings));
            eprintln!("{cycle:?} {smoother:?} {counts:?}");
            assert!(counts[2] <= counts[0].max(counts[1]) + 4 && counts[2] < 40, "{settings:?}: {counts:?}");
        }
    }

    #[test]
    fn a_v_cycle_of_gauss_and_seidel_is_a_symmetric_positive_matrix() {
        let parallel = Parallel::default();
        let (matrix, mut multigrid) = grids(&beam(6), 0.02, Settings::default(), &parallel);
        assert!(multigrid.depth() > 1);
        let (a, b) = (noise(matrix.len(), 1), noise(matrix.len(), 2));
        let (za, zb) = (cycle(&mut multigrid, &a, &parallel), cycle(&mut multigrid, &b, &parallel));
        let (ab, ba) = (dot(&za, &b), dot(&a, &zb));
        // To rounding, of 32 bits.
        assert!((ab - ba).abs() < 1e-5 * (dot(&za, &a) * dot(&zb, &b)).sqrt(), "{ab} {ba}");
        assert!(dot(&za, &a) > 0.0);
        // And linear.
        let sum: Vec<DVec3> = a.iter().zip(&b).map(|(a, b)| *a + *b * 3.0).collect();
        let z = cycle(&mut multigrid, &sum, &parallel);
        let off = (0..z.len()).map(|i| (z[i] - za[i] - zb[i] * 3.0).length()).fold(0.0, f64::max);
        let most = z.iter().map(|z| z.length()).fold(0.0, f64::max);
        assert!(off < 1e-5 * most, "{off} of {most}");
    }

    #[test]
    fn the_same_bits_for_any_number_of_threads() {
        for (cycle_kind, smoother) in ALL {
            let settings = Settings { cycle: cycle_kind, smoother, ..Settings::default() };
            let found = [1, 2].map(|threads| {
                let parallel = Parallel::new(threads).unwrap();
                let (matrix, mut multigrid) = grids(&beam(8), 0.02, settings, &parallel);
                cycle(&mut multigrid, &noise(matrix.len(), 3), &parallel)
            });
            assert_eq!(found[0], found[1]);
        }
    }

    #[test]
    fn galerkin_is_the_product_of_the_three() {
        let parallel = Parallel::default();
        let (matrix, multigrid) = grids(&beam(6), 0.02, Settings::default(), &parallel);
        let level = &multigrid.levels[0];
        let coarse = matrix.galerkin(&level.up, &level.down);
        let d = noise(coarse.len(), 5);
        let fine: Vec<DVec3> = (0..matrix.len()).map(|i| level.up.gather(i, &d)).collect();
        let mut image = fine.clone();
        matrix.multiply(&fine, &mut image, &parallel);
        let mut found = d.clone();
        coarse.multiply(&d, &mut found, &parallel);
        for (i, found) in found.iter().enumerate() {
            let exact = level.down.gather(i, &image);
            assert!((exact - *found).length() < 1e-12 * (1.0 + exact.length()), "{exact} {found}");
        }
    }

    #[test]
    fn a_lattice_is_found_however_the_block_lies() {
        let mut scene = beam(3);
        scene.bodies[0].pins.clear();
        scene.bodies[0].placement = Placement {
            translate: [3.0, -1.0, 0.2],
            rotate_deg: [20.0, 30.0, -70.0],
            ..Placement::default()
        };
        let model = ModelBuilder::new(&scene).build().unwrap();
        let nodes: Vec<u32> = (0..model.bodies[0].topology.len() as u32).collect();
        let places = lattice(&model.bodies[0].topology, &nodes).unwrap();
        let most: Place = std::array::from_fn(|k| places.iter().map(|p| p[k]).max().unwrap());
        assert_eq!(most, [12, 3, 3]);
        assert!(places.iter().flatten().all(|p| *p >= 0));
    }

    #[test]
    fn thin_bodies_and_few_grids_are_solved_too() {
        // One cell thick, and held at one end: some coarse nodes move the same fine ones.
        let mut scene = beam(1);
        scene.bodies[0].shape =
            Shape::Block(Block { size: [1.0, 0.1, 0.1], cells: [1, 9, 9], cut: Cells::Hexahedra });
        for levels in [Some(1), Some(2), Some(3), None] {
            let settings = Settings { levels, sweeps: 3, ..Settings::default() };
            let count = cycles(&scene, 0.02, settings);
            assert!(count < 60, "{levels:?}: {count}");
        }
    }
}
