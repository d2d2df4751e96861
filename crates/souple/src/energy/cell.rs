//! The stiffness and mass of one box-shaped cell that may be filled in part, with several materials (FAU-14, FAU-21, FAU-31).
//!
//! A cell is divided into parts, each with a material of its own or none. Its matrix is the integral of Bᵀ D B over what is filled, with the shape
//! functions of the whole cell. That is the same as K = Σ Lᵀ K L over small cells (FAU-21), as trilinear functions of a cell are trilinear in
//! each of its parts; [`condense`] is that sum, and a test compares the two. Where material fills a corner, only that corner is stiff:
//! an average over the cell would make all of it soft.
//!
//! Trilinear cells lock: they cannot bend without shear, nor at ν near ½ without a change of volume. So three more shape functions 1 − ξ² bend
//! the cell from inside (Wilson et al. 1973; Taylor, Beresford and Wilson 1976); they join nothing, and are eliminated here once and
//! for all: K = Kuu − Kua Kaa⁻¹ Kau. The mean of their gradients over what is filled is taken away, so that a constant stress does
//! no work on them, which the patch test asks for. [`CellMatrix::compatible`] leaves them out.

use std::fmt;

use glam::{DMat3, DVec3};

use super::cell_modes::PackedMatrix;

/// A part of a cell, from 0 to 1 along its axes, and its material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// Lowest corner.
    pub low: DVec3,
    /// Highest corner.
    pub high: DVec3,
    /// Lamé's first modulus λ, Pa.
    pub lambda: f64,
    /// Shear modulus μ, Pa.
    pub mu: f64,
    /// Mass per volume, kg/m³.
    pub density: f64,
}

/// Corners of a cell.
pub const CORNERS: usize = 8;

/// Rows of the matrix of a cell: three per corner.
pub const ROWS: usize = 3 * CORNERS;

/// Shape functions: those of the corners, then those of inside.
const SHAPES: usize = CORNERS + 3;

/// Rows of the shape functions of inside.
const ROWS_INSIDE: usize = 3 * SHAPES - ROWS;

/// The symmetric stiffness matrix of a cell, N/m.
#[derive(Clone, Debug, PartialEq)]
pub struct CellMatrix {
    /// Row by row.
    pub rows: Box<[[f64; ROWS]; ROWS]>,
    /// The same as products read it.
    pub(super) packed: PackedMatrix,
}

/// How far the shape functions of inside move as the corners of a cell do, which is needed to tell the strain in it.
#[derive(Clone, PartialEq)]
pub struct Inside {
    /// For each axis and then each direction: shares of the moves of the corners.
    rows: Box<[[f64; ROWS]; ROWS_INSIDE]>,
    /// What was taken away from their slopes, 1/m.
    mean: DVec3,
}

/// Its numbers follow from what fills the cell, as those of its matrix do: models are told apart by these.
impl fmt::Debug for Inside {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Inside")
    }
}

/// Where corner c of a cell is, from 0 to 1: at x, y, z by its bits 0, 1, 2.
pub fn corner(c: usize) -> DVec3 {
    DVec3::new((c & 1) as f64, (c >> 1 & 1) as f64, (c >> 2 & 1) as f64)
}

/// Gradients of the shape functions of a cell of that size, 1/m, at a place from 0 to 1.
pub fn gradients(size: DVec3, at: DVec3) -> [DVec3; CORNERS] {
    let value = |c: usize, axis: usize| if c >> axis & 1 == 1 { at[axis] } else { 1.0 - at[axis] };
    let slope = |c: usize, axis: usize| if c >> axis & 1 == 1 { 1.0 } else { -1.0 };
    std::array::from_fn(|c| {
        DVec3::new(
            slope(c, 0) * value(c, 1) * value(c, 2),
            value(c, 0) * slope(c, 1) * value(c, 2),
            value(c, 0) * value(c, 1) * slope(c, 2),
        ) / size
    })
}

/// Slopes of the shape functions of inside, 1/m: that of axis k is along k. 1 − ξ² with ξ from −1 to 1.
fn inner_slopes(size: DVec3, at: DVec3) -> DVec3 {
    (at * 2.0 - 1.0) * -4.0 / size
}

/// The eight points of Gauss in a part, and the share of the cell that each stands for.
fn points(part: &Part) -> impl Iterator<Item = (DVec3, f64)> {
    let (low, extent) = (part.low, part.high - part.low);
    let weight = extent.x * extent.y * extent.z / 8.0;
    let offset = 0.5 / 3.0f64.sqrt();
    (0..CORNERS).map(move |c| {
        let at = (corner(c) * 2.0 - 1.0) * offset + 0.5;
        (low + extent * at, weight)
    })
}

type Full = [[f64; 3 * SHAPES]; 3 * SHAPES];

/// Adds λ a bᵀ + μ b aᵀ + μ (a·b) I for every pair of shape functions: Bᵀ D B in blocks.
fn add_point(all: &mut Full, g: &[DVec3; SHAPES], lambda: f64, mu: f64) {
    for i in 0..SHAPES {
        let a = g[i].to_array();
        for j in 0..=i {
            let b = g[j].to_array();
            let shear = mu * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            for r in 0..3 {
                for c in 0..3 {
                    all[3 * i + r][3 * j + c] += lambda * a[r] * b[c] + mu * b[r] * a[c];
                }
                all[3 * i + r][3 * j + r] += shear;
            }
        }
    }
}

impl CellMatrix {
    fn from_rows(size: DVec3, rows: Box<[[f64; ROWS]; ROWS]>) -> CellMatrix {
        let packed = PackedMatrix::new(size, &rows);
        CellMatrix { rows, packed }
    }

    /// The block of two corners, of which the first corner gets what the others leave over, as in products.
    pub(super) fn block(&self, a: usize, b: usize) -> DMat3 {
        let others = |of: usize| if of == 0 { 1..CORNERS } else { of..of + 1 };
        let mut block = DMat3::ZERO;
        for (a, b) in others(a).flat_map(|a| others(b).map(move |b| (a, b))) {
            let column = |k: usize| DVec3::from([0, 1, 2].map(|r| self.rows[3 * a + r][3 * b + k]));
            block += DMat3::from_cols(column(0), column(1), column(2));
        }
        if (a == 0) == (b == 0) { block } else { -block }
    }

    /// That of a cell of that size, m, with what fills it: does not lock.
    pub fn new(size: DVec3, parts: &[Part]) -> CellMatrix {
        CellMatrix::with_inside(size, parts).0
    }

    /// The same, with what bends inside.
    pub fn with_inside(size: DVec3, parts: &[Part]) -> (CellMatrix, Inside) {
        let mean = mean_slopes(size, parts);
        let mut all = integrate(size, parts, mean);
        let rows = eliminate(&mut all);
        (from_lower(size, |r, c| all[r][c]), Inside { rows, mean })
    }

    /// The same without the shape functions of inside: locks, and is exactly what condensation makes of smaller cells.
    pub fn compatible(size: DVec3, parts: &[Part]) -> CellMatrix {
        let all = integrate(size, parts, DVec3::ZERO);
        from_lower(size, |r, c| all[r][c])
    }
}

impl Inside {
    /// Of a cell without these shape functions.
    pub fn none() -> Inside {
        Inside { rows: Box::new([[0.0; ROWS]; ROWS_INSIDE]), mean: DVec3::ZERO }
    }

    /// The gradient of displacements at a place of a cell of that size, from 0 to 1, whose corners moved by `moved`, m.
    pub fn gradient(&self, size: DVec3, at: DVec3, moved: &[DVec3; CORNERS]) -> DMat3 {
        let dyad = |u: DVec3, g: DVec3| DMat3::from_cols(u * g.x, u * g.y, u * g.z);
        let corners = gradients(size, at);
        let outer = moved.iter().zip(corners).fold(DMat3::ZERO, |sum, (u, g)| sum + dyad(*u, g));
        let slopes = inner_slopes(size, at) - self.mean;
        let share = |row: &[f64; ROWS]| -> f64 {
            row.iter().zip(moved.iter().flat_map(|u| u.to_array())).map(|(w, u)| w * u).sum()
        };
        (0..3).fold(outer, |sum, axis| {
            let u = DVec3::from([0, 1, 2].map(|k| share(&self.rows[3 * axis + k])));
            sum + dyad(u, DVec3::AXES[axis] * slopes[axis])
        })
    }
}

/// The mean of the slopes of inside over what is filled, 1/m.
fn mean_slopes(size: DVec3, parts: &[Part]) -> DVec3 {
    let mut mean = DVec3::ZERO;
    let mut total = 0.0;
    for part in parts {
        for (at, share) in points(part) {
            mean += inner_slopes(size, at) * (share * part.mu);
            total += share * part.mu;
        }
    }
    if total > 0.0 { mean / total } else { DVec3::ZERO }
}

fn integrate(size: DVec3, parts: &[Part], mean: DVec3) -> Box<Full> {
    let volume = size.x * size.y * size.z;
    let mut all: Box<Full> = Box::new([[0.0; 3 * SHAPES]; 3 * SHAPES]);
    for part in parts {
        for (at, share) in points(part) {
            let outer = gradients(size, at);
            let inner = inner_slopes(size, at) - mean;
            let g: [DVec3; SHAPES] = std::array::from_fn(|k| match k {
                0..CORNERS => outer[k],
                _ => DVec3::AXES[k - CORNERS] * inner[k - CORNERS],
            });
            let weight = share * volume;
            add_point(&mut all, &g, part.lambda * weight, part.mu * weight);
        }
    }
    all
}

/// Eliminates the rows of inside, last first: each is free to move so that nothing pulls at it. Returns how far each moves with the corners.
fn eliminate(all: &mut Full) -> Box<[[f64; ROWS]; ROWS_INSIDE]> {
    let largest = (0..3 * SHAPES).map(|r| all[r][r]).fold(0.0, f64::max);
    for pivot in (ROWS..3 * SHAPES).rev() {
        let row = all[pivot];
        // A cell with next to nothing in it has directions inside that nothing resists.
        if row[pivot] <= 1e-12 * largest {
            continue;
        }
        for r in 0..pivot {
            let factor = row[r] / row[pivot];
            for c in 0..=r {
                all[r][c] -= factor * row[c];
            }
        }
    }
    let mut inside: Box<[[f64; ROWS]; ROWS_INSIDE]> = Box::new([[0.0; ROWS]; ROWS_INSIDE]);
    for k in 0..ROWS_INSIDE {
        let row = all[ROWS + k];
        let pivot = row[ROWS + k];
        if pivot <= 1e-12 * largest {
            continue;
        }
        let mut shares: [f64; ROWS] = std::array::from_fn(|c| -row[c] / pivot);
        for (earlier, factor) in inside[..k].iter().zip(&row[ROWS..]) {
            shares.iter_mut().zip(earlier).for_each(|(share, e)| *share -= factor / pivot * e);
        }
        inside[k] = shares;
    }
    inside
}

fn from_lower(size: DVec3, at: impl Fn(usize, usize) -> f64) -> CellMatrix {
    let mut rows = Box::new([[0.0; ROWS]; ROWS]);
    for r in 0..ROWS {
        for c in 0..ROWS {
            rows[r][c] = at(r.max(c), r.min(c));
        }
    }
    CellMatrix::from_rows(size, rows)
}

/// The weights L of the corners of a cell at the corners of its child in an octant: u_child = L u_parent.
pub fn octant_weights(octant: usize) -> [[f64; CORNERS]; CORNERS] {
    std::array::from_fn(|c| crate::mapping::rows::trilinear((corner(octant) + corner(c)) * 0.5))
}

/// K = Σ Lᵀ K L over the children of a cell of that size, m, of which some may be empty (FAU-21).
pub fn condense(size: DVec3, children: &[Option<CellMatrix>; 8]) -> CellMatrix {
    let mut rows = Box::new([[0.0; ROWS]; ROWS]);
    for (octant, child) in children.iter().enumerate() {
        let Some(child) = child else { continue };
        let l = octant_weights(octant);
        for a in 0..CORNERS {
            for b in 0..CORNERS {
                for i in 0..CORNERS {
                    for j in 0..CORNERS {
                        let weight = l[a][i] * l[b][j];
                        for r in 0..3 {
                            for c in 0..3 {
                                rows[3 * i + r][3 * j + c] += weight * child.rows[3 * a + r][3 * b + c];
                            }
                        }
                    }
                }
            }
        }
    }
    CellMatrix::from_rows(size, rows)
}

/// The consistent mass matrix of a cell, kg, the same for each axis.
pub fn mass_matrix(size: DVec3, parts: &[Part]) -> [[f64; CORNERS]; CORNERS] {
    let volume = size.x * size.y * size.z;
    let mut mass = [[0.0; CORNERS]; CORNERS];
    for part in parts {
        for (at, share) in points(part) {
            let n = crate::mapping::rows::trilinear(at);
            for i in 0..CORNERS {
                for j in 0..CORNERS {
                    mass[i][j] += part.density * share * volume * n[i] * n[j];
                }
            }
        }
    }
    mass
}

/// M = Σ Lᵀ M L over the children of a cell (FAU-21).
pub fn condense_mass(children: &[Option<[[f64; CORNERS]; CORNERS]>; 8]) -> [[f64; CORNERS]; CORNERS] {
    let mut mass = [[0.0; CORNERS]; CORNERS];
    for (octant, child) in children.iter().enumerate() {
        let Some(child) = child else { continue };
        let l = octant_weights(octant);
        for i in 0..CORNERS {
            for j in 0..CORNERS {
                for a in 0..CORNERS {
                    for b in 0..CORNERS {
                        mass[i][j] += l[a][i] * child[a][b] * l[b][j];
                    }
                }
            }
        }
    }
    mass
}

/// The mass of each corner, kg: rows of the consistent matrix added up.
pub fn lumped(mass: &[[f64; CORNERS]; CORNERS]) -> [f64; CORNERS] {
    mass.map(|row| row.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::lame;
    use crate::math::uniform;

    const SIZE: DVec3 = DVec3::new(0.3, 0.2, 0.5);

    fn part(low: DVec3, high: DVec3, young: f64, poisson: f64) -> Part {
        let (lambda, mu) = lame(young, poisson);
        Part { low, high, lambda, mu, density: young * 0.01 }
    }

    fn whole() -> Part {
        part(DVec3::ZERO, DVec3::ONE, 2e4, 0.4)
    }

    /// The octants of a cell, with materials of their own; some are empty.
    fn octants(seed: u64) -> Vec<Option<Part>> {
        (0..8)
            .map(|o| {
                let young = 1e4 * uniform(seed, o as u64);
                (young > 3e3).then(|| part(corner(o) * 0.5, corner(o) * 0.5 + 0.5, young, 0.3))
            })
            .collect()
    }

    fn difference(a: &CellMatrix, b: &CellMatrix) -> f64 {
        let largest = a.rows.as_flattened().iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let pairs = a.rows.as_flattened().iter().zip(b.rows.as_flattened());
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / largest
    }

    fn child(size: DVec3, of: &Part) -> (CellMatrix, [[f64; 8]; 8]) {
        let all = Part { low: DVec3::ZERO, high: DVec3::ONE, ..*of };
        (CellMatrix::compatible(size * 0.5, &[all]), mass_matrix(size * 0.5, &[all]))
    }

    #[test]
    fn eight_full_children_are_the_parent() {
        let (k, m) = child(SIZE, &whole());
        let condensed = condense(SIZE, &std::array::from_fn(|_| Some(k.clone())));
        assert!(difference(&CellMatrix::compatible(SIZE, &[whole()]), &condensed) < 1e-12);
        let mass = condense_mass(&std::array::from_fn(|_| Some(m)));
        let parent = mass_matrix(SIZE, &[whole()]);
        for (a, b) in mass.as_flattened().iter().zip(parent.as_flattened()) {
            assert!((a - b).abs() < 1e-12 * parent[0][0]);
        }
    }

    #[test]
    fn a_cell_filled_in_part_is_the_sum_over_its_children() {
        for seed in 0..5 {
            let octants = octants(seed);
            let parts: Vec<Part> = octants.iter().flatten().copied().collect();
            let children: Vec<_> = octants.iter().map(|o| o.map(|p| child(SIZE, &p))).collect();
            let k = condense(SIZE, &std::array::from_fn(|o| children[o].as_ref().map(|c| c.0.clone())));
            assert!(difference(&CellMatrix::compatible(SIZE, &parts), &k) < 1e-12);
            let m = condense_mass(&std::array::from_fn(|o| children[o].as_ref().map(|c| c.1)));
            let parent = mass_matrix(SIZE, &parts);
            for (a, b) in m.as_flattened().iter().zip(parent.as_flattened()) {
                assert!((a - b).abs() < 1e-12 * parent[0][0].max(parent[7][7]));
            }
        }
    }

    /// What a field of displacements costs: u·K u.
    fn cost(matrix: &CellMatrix, u: impl Fn(DVec3) -> DVec3) -> f64 {
        let u: Vec<f64> = (0..8).flat_map(|c| u(corner(c) * SIZE).to_array()).collect();
        matrix
            .rows
            .iter()
            .zip(&u)
            .map(|(row, a)| a * row.iter().zip(&u).map(|(k, b)| k * b).sum::<f64>())
            .sum()
    }

    #[test]
    fn rigid_motion_costs_nothing_and_constant_strain_what_it_should() {
        let (lambda, mu) = lame(2e4, 0.4);
        for parts in [vec![whole()], octants(3).into_iter().flatten().collect::<Vec<_>>()] {
            let matrix = CellMatrix::new(SIZE, &parts);
            let scale = matrix.rows[0][0] * 0.01;
            assert!(cost(&matrix, |_| DVec3::new(0.1, 0.2, -0.3)).abs() < 1e-12 * scale);
            assert!(cost(&matrix, |x| DVec3::new(0.1, 0.2, -0.3).cross(x)).abs() < 1e-12 * scale);
        }
        let stretch = cost(&CellMatrix::new(SIZE, &[whole()]), |x| DVec3::X * (0.1 * x.x));
        let volume = SIZE.x * SIZE.y * SIZE.z;
        assert!((stretch / ((lambda + 2.0 * mu) * 0.01 * volume) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn strain_inside_is_that_of_a_bent_beam_everywhere() {
        let (kappa, nu) = (0.1, 0.4);
        let (_, inside) = CellMatrix::with_inside(SIZE, &[part(DVec3::ZERO, DVec3::ONE, 2e4, nu)]);
        // ε = κ y along x, −ν κ y across, no shear: u = κ (xy, −x²/2 − ν (y² − z²)/2, −ν yz).
        let moved: [DVec3; 8] = std::array::from_fn(|c| {
            let p = (corner(c) - 0.5) * SIZE;
            let y = -0.5 * (p.x * p.x + nu * (p.y * p.y - p.z * p.z));
            DVec3::new(p.x * p.y, y, -nu * p.y * p.z) * kappa
        });
        for c in 0..8 {
            let y = (corner(c).y - 0.5) * SIZE.y;
            let h = inside.gradient(SIZE, corner(c), &moved);
            let strain = (h + h.transpose()) * 0.5;
            let expected = DMat3::from_diagonal(DVec3::new(1.0, -nu, -nu) * (kappa * y));
            assert!((strain - expected).abs_diff_eq(DMat3::ZERO, 1e-12), "{strain} instead of {expected}");
            // Without them the cell is sheared instead.
            let locked = Inside::none().gradient(SIZE, corner(c), &moved);
            assert!((locked + locked.transpose()).x_axis.y.abs() > 0.1 * kappa * SIZE.x);
        }
    }

    #[test]
    fn bending_costs_what_a_beam_costs_and_not_its_shear() {
        // Pure bending of a beam of no width in z: ε = κ y along x, ν = 0: E κ²/2 ∫ y² dV is ½ u·K u.
        let (kappa, cell) = (0.1, part(DVec3::ZERO, DVec3::ONE, 2e4, 0.0));
        let half = SIZE * 0.5;
        let bent = |p: DVec3| {
            let c = p - half;
            DVec3::new(kappa * c.x * c.y, -0.5 * kappa * c.x * c.x, 0.0)
        };
        let beam = 2e4 * kappa * kappa * SIZE.x * SIZE.z * SIZE.y * SIZE.y * SIZE.y / 12.0;
        assert!((cost(&CellMatrix::new(SIZE, &[cell]), bent) / beam - 1.0).abs() < 1e-9);
        assert!(cost(&CellMatrix::compatible(SIZE, &[cell]), bent) > 1.5 * beam);
    }
}
