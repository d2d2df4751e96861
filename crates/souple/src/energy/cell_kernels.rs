//! What solvers ask of hexahedra again and again, with wide registers: frames, forces, products (FAU-20).
//!
//! Frames are found four cells at a time. A product takes differences from the first corner, which gets the sum of what the others leave over, so that
//! moving a cell as a whole costs exactly nothing; the corners of a cell stand side by side, by axis.
//!
//! Promised: the same bits with any instructions. Cells that have flowed, and frames along edges (QR), go the plain way of [`super::hexahedra`].

use std::fmt;

use glam::{DMat3, DVec3};

use super::cell::{CORNERS, ROWS};
use super::hexahedra::{CellKind, Corners, Unflow, forces_in_frame};
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::math::four::{Four, Matrix, Number, nearest_rotation};
use crate::math::{ROUND, polar};
use crate::scene::SolidLaw;

/// Columns of all corners but the first.
const COLUMNS: usize = ROWS - 3;

/// Eight corners are two fours.
type Eight = [Four; 2];

/// The matrix of a cell as products read it: columns of the corners after the first, by axis; in each the rows of all corners, by axis.
#[derive(Clone, PartialEq)]
pub struct PackedMatrix {
    columns: Box<[[[f64; 4]; 6]; COLUMNS]>,
}

/// Its numbers are those of the matrix it was made of: models are told apart by that.
impl fmt::Debug for PackedMatrix {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("PackedMatrix")
    }
}

impl PackedMatrix {
    /// Of a symmetric matrix whose rows and columns go by corner.
    pub(super) fn new(rows: &[[f64; ROWS]; ROWS]) -> PackedMatrix {
        let mut columns = Box::new([[[0.0; 4]; 6]; COLUMNS]);
        for (k, column) in columns.iter_mut().enumerate() {
            let (axis, corner) = (k / 7, 1 + k % 7);
            for (r, number) in column.as_flattened_mut().iter_mut().enumerate() {
                *number = rows[3 * (r % 8) + r / 8][3 * corner + axis];
            }
        }
        PackedMatrix { columns }
    }

    /// The matrix times what moves the corners.
    #[inline(always)]
    pub(super) fn times(&self, moved: &Corners) -> Corners {
        corners_of(times_packed(self, &from_first(|c| moved[c])))
    }

    /// The number at a row and a column that go by corner, but of the first corner, which gets what is left over.
    fn at(&self, row: usize, column: usize) -> f64 {
        let (r, c) = (8 * (row % 3) + row / 3, 7 * (column % 3) + column / 3 - 1);
        self.columns[c].as_flattened()[r]
    }

    /// The block of two corners.
    pub(super) fn block(&self, a: usize, b: usize) -> DMat3 {
        let others = |of: usize| if of == 0 { 1..CORNERS } else { of..of + 1 };
        let mut block = DMat3::ZERO;
        for (a, b) in others(a).flat_map(|a| others(b).map(move |b| (a, b))) {
            let column = |k: usize| DVec3::from([0, 1, 2].map(|r| self.at(3 * a + r, 3 * b + k)));
            block += DMat3::from_cols(column(0), column(1), column(2));
        }
        if (a == 0) == (b == 0) { block } else { -block }
    }
}

/// What moves the corners of a cell, from the first of them: along each axis.
#[inline(always)]
fn from_first(d: impl Fn(usize) -> DVec3) -> [Eight; 3] {
    let first = d(0);
    let mut out = [[Four([0.0; 4]); 2]; 3];
    for c in 1..CORNERS {
        let moved = d(c) - first;
        out[0][c / 4].0[c % 4] = moved.x;
        out[1][c / 4].0[c % 4] = moved.y;
        out[2][c / 4].0[c % 4] = moved.z;
    }
    out
}

/// A matrix, given by rows, times eight vectors.
#[inline(always)]
fn turn(rows: [[f64; 3]; 3], v: &[Eight; 3]) -> [Eight; 3] {
    let mut out = [[Four([0.0; 4]); 2]; 3];
    for k in 0..3 {
        let [x, y, z] = [Four::splat(rows[k][0]), Four::splat(rows[k][1]), Four::splat(rows[k][2])];
        for half in 0..2 {
            out[k][half] = v[0][half] * x + v[1][half] * y + v[2][half] * z;
        }
    }
    out
}

/// The packed matrix times what moves the corners; what the first corner gets is not of use.
#[inline(always)]
fn times_packed(matrix: &PackedMatrix, v: &[Eight; 3]) -> [Eight; 3] {
    let mut sums = [Four([0.0; 4]); 6];
    let mut next = matrix.columns.iter();
    for axis in v {
        let numbers = [axis[0].0, axis[1].0];
        for &number in &numbers.as_flattened()[1..] {
            let Some(column) = next.next() else { break };
            let number = Four::splat(number);
            for r in 0..6 {
                sums[r] = sums[r] + Four(column[r]) * number;
            }
        }
    }
    [[sums[0], sums[1]], [sums[2], sums[3]], [sums[4], sums[5]]]
}

/// R K Rᵀ d of one cell, times a factor.
#[inline(always)]
fn product_of_cell(kind: &CellKind, r: &[f64; 9], moved: &[Eight; 3], scale: f64) -> Corners {
    let [a, b, c] = [[r[0], r[1], r[2]], [r[3], r[4], r[5]], [r[6], r[7], r[8]]];
    let within = times_packed(&kind.matrix.packed, &turn([a, b, c], moved));
    let s = scale;
    let forth =
        [[a[0] * s, b[0] * s, c[0] * s], [a[1] * s, b[1] * s, c[1] * s], [a[2] * s, b[2] * s, c[2] * s]];
    corners_of(turn(forth, &within))
}

/// Forces of the corners; the first gets what the others leave over.
#[inline(always)]
fn corners_of([x, y, z]: [Eight; 3]) -> Corners {
    let mut out = [DVec3::ZERO; CORNERS];
    let mut left = DVec3::ZERO;
    for c in 1..CORNERS {
        out[c] = DVec3::new(x[c / 4].0[c % 4], y[c / 4].0[c % 4], z[c / 4].0[c % 4]);
        left -= out[c];
    }
    out[0] = left;
    out
}

/// The cells that a kernel works on.
#[derive(Clone, Copy)]
pub(super) struct Cells<'a> {
    pub corners: &'a [[u32; 8]],
    pub kind: &'a [u32],
    pub kinds: &'a [CellKind],
    /// What they have flowed to; none if none ever does.
    pub plastic: &'a [DMat3],
}

impl<'a> Cells<'a> {
    /// Those from one on.
    pub(super) fn from(self, first: usize) -> Cells<'a> {
        let plastic = self.plastic.get(first..).unwrap_or(&[]);
        Cells { corners: &self.corners[first..], kind: &self.kind[first..], kinds: self.kinds, plastic }
    }

    /// How a cell that has flowed is put back; none of one that has not.
    #[inline(always)]
    fn unflow(self, cell: usize, kind: &CellKind) -> Option<Unflow> {
        let plastic = *self.plastic.get(cell)?;
        (plastic != DMat3::IDENTITY).then(|| Unflow::new(kind, plastic))
    }

    #[inline(always)]
    fn each(self) -> impl Iterator<Item = (&'a [u32; 8], &'a CellKind)> {
        self.corners.iter().zip(self.kind).map(move |(corners, kind)| (corners, &self.kinds[*kind as usize]))
    }
}

struct Product<'a> {
    cells: Cells<'a>,
    frames: &'a [[f64; 9]],
    d: &'a [DVec3],
    scale: f64,
    out: &'a mut [Corners],
}

impl Kernel for Product<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Product { cells, frames, d, scale, out } = self;
        for (e, (((corners, kind), r), out)) in cells.each().zip(frames).zip(out).enumerate() {
            let at = |c: usize| d[corners[c] as usize];
            match cells.unflow(e, kind) {
                None => *out = product_of_cell(kind, r, &from_first(at), scale),
                Some(unflow) => {
                    let seen = unflow.apply(corners.map(|v| d[v as usize]));
                    *out = unflow.transposed(product_of_cell(kind, r, &from_first(|c| seen[c]), scale));
                }
            }
        }
    }
}

/// Products of cells in these frames, at their corners, times a factor.
pub(super) fn products(cells: Cells, frames: &[[f64; 9]], d: &[DVec3], scale: f64, out: &mut [Corners]) {
    Instructions::detect().run(Product { cells, frames, d, scale, out });
}

struct Forces<'a> {
    cells: Cells<'a>,
    law: SolidLaw,
    frames: &'a [[f64; 9]],
    x: &'a [DVec3],
    damping: Option<(&'a [DVec3], f64)>,
    out: &'a mut [Corners],
}

impl Kernel for Forces<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let Forces { cells, law, frames, x, damping, out } = self;
        for (e, (((corners, kind), r), out)) in cells.each().zip(frames).zip(out).enumerate() {
            let unflow = cells.unflow(e, kind);
            let seen = |x: &[DVec3]| {
                let own = corners.map(|v| x[v as usize]);
                unflow.as_ref().map_or(own, |unflow| unflow.apply(own))
            };
            let damping = damping.map(|(v, damping)| (seen(v), damping));
            let forces = forces_in_frame(kind, law, DMat3::from_cols_array(r), seen(x), damping);
            *out = unflow.as_ref().map_or(forces, |unflow| unflow.transposed(forces));
        }
    }
}

/// Forces on the corners of cells in these frames, with damping by velocities times a factor.
pub(super) fn forces(
    cells: Cells,
    law: SolidLaw,
    frames: &[[f64; 9]],
    x: &[DVec3],
    damping: Option<(&[DVec3], f64)>,
    out: &mut [Corners],
) {
    Instructions::detect().run(Forces { cells, law, frames, x, damping, out });
}

/// The mean deformation of a cell: how its edges, averaged in each direction, have changed.
#[inline(always)]
fn mean_deformation(kind: &CellKind, corners: &[u32; 8], x: &[DVec3]) -> DMat3 {
    let first = x[corners[0] as usize];
    let mut at = [DVec3::ZERO; CORNERS];
    for c in 1..CORNERS {
        at[c] = x[corners[c] as usize] - first;
    }
    let along_x = (at[1] - at[0]) + (at[3] - at[2]) + ((at[5] - at[4]) + (at[7] - at[6]));
    let along_y = (at[2] - at[0]) + (at[3] - at[1]) + ((at[6] - at[4]) + (at[7] - at[5]));
    let along_z = (at[4] - at[0]) + (at[5] - at[1]) + ((at[6] - at[2]) + (at[7] - at[3]));
    let share = DVec3::splat(0.25) / kind.size;
    DMat3::from_cols(along_x * share.x, along_y * share.y, along_z * share.z)
}

struct Frames<'a> {
    cells: Cells<'a>,
    x: &'a [DVec3],
    out: &'a mut [[f64; 9]],
}

impl Kernel for Frames<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (k, out) in self.out.chunks_mut(4).enumerate() {
            let mut maps = [DMat3::IDENTITY; 4];
            for ((corners, kind), map) in self.cells.from(4 * k).each().take(out.len()).zip(&mut maps) {
                *map = mean_deformation(kind, corners, self.x);
            }
            let [a, b, c, d] = maps.map(|m| m.to_cols_array());
            let mut f: Matrix<Four> = [[Four([0.0; 4]); 3]; 3];
            for n in 0..9 {
                f[n / 3][n % 3] = Four([a[n], b[n], c[n], d[n]]);
            }
            let (r, change) = nearest_rotation(f);
            for (l, (out, map)) in out.iter_mut().zip(&maps).enumerate() {
                for n in 0..9 {
                    out[n] = r[n / 3][n % 3].0[l];
                }
                let size = crate::math::inner(*map, *map);
                let is_round = map.determinant() > ROUND * size * size.sqrt();
                if !(is_round && change.0[l] < 1e-16) {
                    *out = polar(*map).to_cols_array();
                }
            }
        }
    }
}

/// The rotations nearest to the mean deformations of cells, as columns.
pub(super) fn frames(cells: Cells, x: &[DVec3], out: &mut [[f64; 9]]) {
    Instructions::detect().run(Frames { cells, x, out });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::energy::cell::{CellMatrix, Inside, Part, corner};
    use crate::energy::{Content, lame};
    use crate::math::{rotation, uniform};

    /// Cells with corners of their own, full and half empty, at rest and after a map that differs from cell to cell.
    fn setup(
        count: u32,
        map: impl Fn(u32, DVec3) -> DVec3,
    ) -> (Vec<[u32; 8]>, Vec<u32>, Vec<CellKind>, Vec<DVec3>) {
        let size = DVec3::new(0.1, 0.12, 0.09);
        let (lambda, mu) = lame(1e5, 0.45);
        let part = |high: DVec3| Part { low: DVec3::ZERO, high, lambda, mu, density: 1.0 };
        let kinds = [DVec3::ONE, DVec3::new(0.5, 1.0, 0.25)].map(|high| CellKind {
            size,
            matrix: CellMatrix::new(size, &[part(high)]),
            content: Content { volume: 1e-3, lambda, mu, inside: Inside::none(), middle: None },
        });
        let corners = (0..count).map(|e| std::array::from_fn(|c| 8 * e + c as u32)).collect();
        let x = (0..count).flat_map(|e| (0..8).map(move |c| (e, c)));
        let x = x.map(|(e, c)| map(e, corner(c) * size)).collect();
        (corners, (0..count).map(|e| e % 3 % 2).collect(), kinds.into(), x)
    }

    fn strained(size: f64) -> impl Fn(u32, DVec3) -> DVec3 {
        move |e, p| {
            let shake =
                |k: u64| uniform(u64::from(e), (p.dot(DVec3::new(1e3, 1e5, 1e7)) as u64) * 3 + k) - 0.5;
            rotation(DVec3::new(37.0, 11.0, -23.0) * f64::from(e))
                * (p + DVec3::new(shake(0), shake(1), shake(2)) * size)
        }
    }

    #[test]
    fn frames_four_at_a_time_are_those_of_the_polar_decomposition() {
        let maps: [Box<dyn Fn(u32, DVec3) -> DVec3>; 5] = [
            Box::new(strained(0.0)),
            Box::new(strained(0.05)),
            Box::new(strained(0.4)),
            Box::new(|_, p| DVec3::new(p.x, p.y, -p.z)),
            Box::new(|_, _| DVec3::ZERO),
        ];
        for map in maps {
            let (corners, kind, kinds, x) = setup(21, map);
            let cells = Cells { corners: &corners, kind: &kind, kinds: &kinds, plastic: &[] };
            let (mut found, mut plain) = ([[0.0; 9]; 21], [[0.0; 9]; 21]);
            frames(cells, &x, &mut found);
            Instructions::Plain.run(Frames { cells, x: &x, out: &mut plain });
            assert_eq!(found, plain, "instructions change bits");
            for ((corners, kind), found) in cells.each().zip(found) {
                let right = polar(mean_deformation(kind, corners, &x));
                let error = DMat3::from_cols_array(&found) - right;
                assert!(error.to_cols_array().iter().all(|e| e.abs() < 1e-12), "{error}");
            }
        }
    }

    #[test]
    fn products_are_those_of_the_matrix_and_moves_cost_nothing() {
        let (corners, kind, kinds, x) = setup(13, strained(0.05));
        let cells = Cells { corners: &corners, kind: &kind, kinds: &kinds, plastic: &[] };
        let mut found = vec![[0.0; 9]; 13];
        frames(cells, &x, &mut found);
        let d: Vec<DVec3> =
            (0..x.len() as u64).map(|i| DVec3::from([0, 1, 2].map(|c| uniform(i, c) - 0.5))).collect();
        let (mut out, mut plain) = (vec![[DVec3::ZERO; 8]; 13], vec![[DVec3::ZERO; 8]; 13]);
        products(cells, &found, &d, 0.5, &mut out);
        Instructions::Plain.run(Product { cells, frames: &found, d: &d, scale: 0.5, out: &mut plain });
        assert_eq!(out, plain, "instructions change bits");
        for (((corners, kind), r), out) in cells.each().zip(&found).zip(&out) {
            let r = DMat3::from_cols_array(r);
            let moved = corners.map(|v| r.transpose() * d[v as usize]);
            let size = kind.matrix.rows[0][0];
            for a in 0..8 {
                let exact = |b: usize| {
                    let entry = |i: usize, j: usize| kind.matrix.rows[3 * a + i][3 * b + j];
                    DMat3::from_cols_array(&std::array::from_fn(|n| entry(n % 3, n / 3)))
                };
                let right: DVec3 = (0..8).map(|b| exact(b) * moved[b]).sum();
                let error = (r * right * 0.5 - out[a]).length();
                assert!(error < 1e-13 * size, "{error} of {size}");
                // Blocks are those of the product, to rounding.
                let blocks: DVec3 = (0..8).map(|b| kind.matrix.packed.block(a, b) * moved[b]).sum();
                assert!((r * blocks * 0.5 - out[a]).length() < 1e-13 * size);
            }
            assert!(out.iter().sum::<DVec3>().length() < 1e-15 * size);
        }
        let same = vec![DVec3::new(0.3, -0.2, 7.0); x.len()];
        products(cells, &found, &same, 1.0, &mut out);
        assert!(out.iter().flatten().all(|f| *f == DVec3::ZERO));
    }
}
