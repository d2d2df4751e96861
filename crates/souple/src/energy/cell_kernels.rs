//! What solvers ask of hexahedra again and again, with wide registers: frames, forces, products (FAU-20).
//!
//! Four cells are worked on at a time, by the modes of their corners ([`super::cell_modes`]). In a block of cells those that look the same in mirrors come first, and
//! then all others, so that fours are of one kind as often as can be; what is found stands in the order of the cells in any case.
//!
//! Promised: the same bits with any instructions, and whatever cells a cell is worked on with. Cells that have flowed, and forces in frames along edges (QR), go the
//! plain way of [`super::hexahedra`].

use glam::{DMat3, DVec3};

use super::cell::CORNERS;
use super::cell_modes::{Modes, times_four, to_corners, to_modes};
use super::hexahedra::{CellKind, Corners, Unflow, forces_in_frame, is_safe};
use crate::lanes::{Instructions, Kernel, Lanes};
use crate::math::four::{
    Four, Matrix, Number, Symmetric, Vector, cross, dot, nearest_rotation, symmetric_cofactors,
    symmetric_times, times,
};
use crate::math::{ROUND, polar};
use crate::scene::SolidLaw;

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

    #[inline(always)]
    fn kind(self, cell: usize) -> &'a CellKind {
        &self.kinds[self.kind[cell] as usize]
    }

    /// How a cell that has flowed is put back; none of one that has not.
    #[inline(always)]
    fn unflow(self, cell: usize) -> Option<Unflow> {
        self.has_flowed(cell).then(|| Unflow::new(self.kind(cell), self.plastic[cell]))
    }

    #[inline(always)]
    fn has_flowed(self, cell: usize) -> bool {
        self.plastic.get(cell).is_some_and(|plastic| *plastic != DMat3::IDENTITY)
    }

    /// The kinds of four cells.
    #[inline(always)]
    fn four_kinds(self, cells: &[usize; 4]) -> [&'a CellKind; 4] {
        let [a, b, c, d] = *cells;
        [self.kind(a), self.kind(b), self.kind(c), self.kind(d)]
    }

    /// Vectors at the corners of four cells, by modes.
    #[inline(always)]
    fn modes(self, cells: &[usize; 4], d: &[DVec3]) -> Modes<Four> {
        let [p, q, r, s] = *cells;
        let [p, q, r, s] = [&self.corners[p], &self.corners[q], &self.corners[r], &self.corners[s]];
        // From the first corner: what moves all of them costs exactly nothing.
        let first = [d[p[0] as usize], d[q[0] as usize], d[r[0] as usize], d[s[0] as usize]];
        let mut modes = [[Four([0.0; 4]); 3]; CORNERS];
        for c in 1..CORNERS {
            let (p, q) = (d[p[c] as usize] - first[0], d[q[c] as usize] - first[1]);
            let (r, s) = (d[r[c] as usize] - first[2], d[s[c] as usize] - first[3]);
            modes[c] = [Four([p.x, q.x, r.x, s.x]), Four([p.y, q.y, r.y, s.y]), Four([p.z, q.z, r.z, s.z])];
        }
        to_modes(&mut modes);
        modes
    }
}

/// Cells of a block.
const BLOCK: usize = 64;

/// The cells of a block in the order in which they are worked on, four at a time: those that are alike in mirrors, and then the others, of which the last is repeated
/// until fours are full.
struct Fours {
    cells: [usize; BLOCK + 8],
    count: usize,
}

impl Fours {
    /// Those from `first` on, so many; cells that have flowed are left out.
    #[inline(always)]
    fn new(cells: Cells, first: usize, count: usize) -> Fours {
        let mut fours = Fours { cells: [0; BLOCK + 8], count: 0 };
        for is_mirrored in [true, false] {
            for cell in first..first + count {
                if cells.kind(cell).matrix.packed.is_mirrored() == is_mirrored && !cells.has_flowed(cell) {
                    fours.cells[fours.count] = cell;
                    fours.count += 1;
                }
            }
            while !fours.count.is_multiple_of(4) {
                fours.cells[fours.count] = fours.cells[fours.count - 1];
                fours.count += 1;
            }
        }
        fours
    }

    #[inline(always)]
    fn each(&self) -> &[[usize; 4]] {
        self.cells[..self.count].as_chunks().0
    }
}

/// The columns of the frames of four cells.
#[inline(always)]
fn four_frames(cells: &[usize; 4], frames: &[[f64; 9]]) -> Matrix<Four> {
    let [a, b, c, d] = *cells;
    let [a, b, c, d] = [&frames[a], &frames[b], &frames[c], &frames[d]];
    let mut out = [[Four([0.0; 4]); 3]; 3];
    for n in 0..9 {
        out[n / 3][n % 3] = Four([a[n], b[n], c[n], d[n]]);
    }
    out
}

/// Rᵀ of all modes but the first.
#[inline(always)]
fn turn_back(frame: Matrix<Four>, modes: &mut Modes<Four>) {
    for m in 1..CORNERS {
        let v = modes[m];
        modes[m] = [dot(frame[0], v), dot(frame[1], v), dot(frame[2], v)];
    }
}

/// R of all modes but the first, times a factor.
#[inline(always)]
fn turn_forth(frame: Matrix<Four>, scale: f64, modes: &mut Modes<Four>) {
    let mut scaled = frame;
    for c in 0..3 {
        for k in 0..3 {
            scaled[c][k] = frame[c][k] * Four::splat(scale);
        }
    }
    for m in 1..CORNERS {
        modes[m] = times(scaled, modes[m]);
    }
}

/// What four cells do at their corners, from its modes.
#[inline(always)]
fn write(cells: &[usize; 4], mut modes: Modes<Four>, out: &mut [Corners]) {
    to_corners(&mut modes);
    for (l, cell) in cells.iter().enumerate() {
        let out = &mut out[*cell];
        for c in 0..CORNERS {
            out[c] = DVec3::new(modes[c][0].0[l], modes[c][1].0[l], modes[c][2].0[l]);
        }
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
        for first in (0..out.len()).step_by(BLOCK) {
            let count = BLOCK.min(out.len() - first);
            let fours = Fours::new(cells, first, count);
            for four in fours.each() {
                let frame = four_frames(four, frames);
                let mut modes = cells.modes(four, d);
                turn_back(frame, &mut modes);
                let [a, b, c, d] = cells.four_kinds(four);
                let matrices = [&a.matrix.packed, &b.matrix.packed, &c.matrix.packed, &d.matrix.packed];
                let mut forces = times_four(matrices, &modes);
                turn_forth(frame, scale, &mut forces);
                write(four, forces, out);
            }
            for cell in first..first + count {
                let Some(unflow) = cells.unflow(cell) else { continue };
                let r = DMat3::from_cols_array(&frames[cell]);
                let mut moved = unflow.apply(cells.corners[cell].map(|v| d[v as usize]));
                for v in &mut moved {
                    *v = r.transpose() * *v;
                }
                let mut forces = cells.kind(cell).matrix.packed.times(&moved);
                for f in &mut forces {
                    *f = r * *f * scale;
                }
                out[cell] = unflow.transposed(forces);
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
        let is_plain = law == SolidLaw::Qr;
        for first in (0..out.len()).step_by(BLOCK) {
            let count = BLOCK.min(out.len() - first);
            if !is_plain {
                let fours = Fours::new(cells, first, count);
                for four in fours.each() {
                    write(four, four_forces(cells, four, frames, x, damping), out);
                }
            }
            for cell in first..first + count {
                let unflow = cells.unflow(cell);
                if !is_plain && unflow.is_none() {
                    continue;
                }
                let seen = |x: &[DVec3]| {
                    let own = cells.corners[cell].map(|v| x[v as usize]);
                    unflow.as_ref().map_or(own, |unflow| unflow.apply(own))
                };
                let damping = damping.map(|(v, damping)| (seen(v), damping));
                let frame = DMat3::from_cols_array(&frames[cell]);
                let forces = forces_in_frame(cells.kind(cell), law, frame, seen(x), damping);
                out[cell] = unflow.as_ref().map_or(forces, |unflow| unflow.transposed(forces));
            }
        }
    }
}

/// The modes of the forces of four cells whose frames are the nearest rotations.
#[inline(always)]
fn four_forces(
    cells: Cells,
    four: &[usize; 4],
    frames: &[[f64; 9]],
    x: &[DVec3],
    damping: Option<(&[DVec3], f64)>,
) -> Modes<Four> {
    let (frame, kinds) = (four_frames(four, frames), cells.four_kinds(four));
    let [a, b, c, d] = kinds;
    let matrices = [&a.matrix.packed, &b.matrix.packed, &c.matrix.packed, &d.matrix.packed];
    let edges = four_edges(kinds);
    let mut y = cells.modes(four, x);
    turn_back(frame, &mut y);
    let mut moved = y;
    for k in 0..3 {
        moved[1 << k][k] = moved[1 << k][k] - edges[k];
    }
    let mut pull = times_four(matrices, &moved);
    // What the frame would have to turn by for stretches to leave nothing over, as each corner moves.
    let mut torque = [Four([0.0; 4]); 3];
    for m in 1..CORNERS {
        let more = cross(y[m], pull[m]);
        torque = [torque[0] + more[0], torque[1] + more[1], torque[2] + more[2]];
    }
    let axis = per_turn(&y, edges, torque);
    if let Some((v, damping)) = damping {
        let mut speeds = cells.modes(four, v);
        turn_back(frame, &mut speeds);
        let (rub, damping) = (times_four(matrices, &speeds), Four::splat(damping));
        for m in 1..CORNERS {
            for k in 0..3 {
                pull[m][k] = pull[m][k] + rub[m][k] * damping;
            }
        }
    }
    for k in 0..3 {
        let mut along = [Four([0.0; 4]); 3];
        along[k] = Four::splat(1.0) / edges[k];
        let turn = cross(axis, along);
        let to = &mut pull[1 << k];
        *to = [to[0] - turn[0], to[1] - turn[1], to[2] - turn[2]];
    }
    turn_forth(frame, -1.0, &mut pull);
    pull
}

/// Of four cells at rest the linear modes: four times their edges, m.
#[inline(always)]
fn four_edges([a, b, c, d]: [&CellKind; 4]) -> Vector<Four> {
    let (x, y) =
        (Four([a.size.x, b.size.x, c.size.x, d.size.x]), Four([a.size.y, b.size.y, c.size.y, d.size.y]));
    let (z, four) = (Four([a.size.z, b.size.z, c.size.z, d.size.z]), Four::splat(4.0));
    [x * four, y * four, z * four]
}

/// (tr(S) I − S)⁻¹ τ of four cells, with the stretch S from their modes in the frame; 0 where the frame may jump.
#[inline(always)]
fn per_turn(y: &Modes<Four>, edges: Vector<Four>, torque: Vector<Four>) -> Vector<Four> {
    let (x, z) = (y[1][0] / edges[0], y[4][2] / edges[2]);
    let middle = y[2][1] / edges[1];
    let half = Four::splat(0.5);
    let zero = Four([0.0; 4]);
    let xy = (y[1][1] / edges[0] + y[2][0] / edges[1]) * half;
    let xz = (y[1][2] / edges[0] + y[4][0] / edges[2]) * half;
    let yz = (y[2][2] / edges[1] + y[4][1] / edges[2]) * half;
    let g: Symmetric<Four> = [middle + z, zero - xy, zero - xz, x + z, zero - yz, x + middle];
    let (cofactors, determinant) = symmetric_cofactors(g);
    let found = symmetric_times(cofactors, torque);
    let minor = g[0] * g[3] - g[1] * g[1];
    let mut axis = [found[0] / determinant, found[1] / determinant, found[2] / determinant];
    for l in 0..4 {
        if !is_safe(g[0].0[l], minor.0[l], determinant.0[l]) {
            axis[0].0[l] = 0.0;
            axis[1].0[l] = 0.0;
            axis[2].0[l] = 0.0;
        }
    }
    axis
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

struct Frames<'a> {
    cells: Cells<'a>,
    x: &'a [DVec3],
    out: &'a mut [[f64; 9]],
}

impl Kernel for Frames<'_> {
    type Output = ();
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let last = self.out.len().saturating_sub(1);
        for (k, out) in self.out.chunks_mut(4).enumerate() {
            let four = [4 * k, (4 * k + 1).min(last), (4 * k + 2).min(last), (4 * k + 3).min(last)];
            let (modes, edges) = (self.cells.modes(&four, self.x), four_edges(self.cells.four_kinds(&four)));
            // The mean deformation: how edges, averaged in each direction, have changed.
            let mut f: Matrix<Four> = [modes[1], modes[2], modes[4]];
            for c in 0..3 {
                let share = Four::splat(1.0) / edges[c];
                f[c] = [f[c][0] * share, f[c][1] * share, f[c][2] * share];
            }
            let (r, change) = nearest_rotation(f);
            for (l, out) in out.iter_mut().enumerate() {
                let mut map = [0.0; 9];
                for n in 0..9 {
                    out[n] = r[n / 3][n % 3].0[l];
                    map[n] = f[n / 3][n % 3].0[l];
                }
                let map = DMat3::from_cols_array(&map);
                let size = crate::math::inner(map, map);
                let is_round = map.determinant() > ROUND * size * size.sqrt();
                if !(is_round && change.0[l] < 1e-16) {
                    *out = polar(map).to_cols_array();
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
    use crate::energy::cell::{CellMatrix, Inside, Part, corner, gradients};
    use crate::energy::{Content, lame};
    use crate::math::{rotation, uniform};

    /// Cells with corners of their own, full and half empty, at rest and after a map that differs from cell to cell.
    fn setup(
        count: u32,
        map: impl Fn(u32, DVec3) -> DVec3,
    ) -> (Vec<[u32; 8]>, Vec<u32>, [CellKind; 3], Vec<DVec3>) {
        let size = DVec3::new(0.1, 0.12, 0.09);
        let (lambda, mu) = lame(1e5, 0.45);
        let part = |(high, mu)| Part { low: DVec3::ZERO, high, lambda, mu, density: 1.0 };
        let parts = [(DVec3::ONE, mu), (DVec3::new(0.5, 1.0, 0.25), mu), (DVec3::ONE, 3.0 * mu)].map(part);
        let kinds = parts.map(|part| CellKind {
            size,
            matrix: CellMatrix::new(size, &[part]),
            content: Content { volume: 1e-3, lambda, mu, inside: Inside::none(), middle: None },
        });
        let corners = (0..count).map(|e| std::array::from_fn(|c| 8 * e + c as u32)).collect();
        let x = (0..count).flat_map(|e| (0..8).map(move |c| (e, c)));
        let x = x.map(|(e, c)| map(e, corner(c) * size)).collect();
        (corners, (0..count).map(|e| [0, 1, 0, 2, 0][e as usize % 5]).collect(), kinds, x)
    }

    /// How the edges of a cell, averaged in each direction, have changed.
    fn mean_deformation(cells: Cells, cell: usize, x: &[DVec3]) -> DMat3 {
        let slopes = gradients(cells.kind(cell).size, DVec3::splat(0.5));
        let dyad = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
        cells.corners[cell].iter().zip(slopes).map(|(v, g)| dyad(x[*v as usize], g)).sum()
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
            for (cell, found) in found.into_iter().enumerate() {
                let right = polar(mean_deformation(cells, cell, &x));
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
        for (cell, (r, out)) in found.iter().zip(&out).enumerate() {
            let (r, matrix) = (DMat3::from_cols_array(r), &cells.kind(cell).matrix);
            let moved = corners[cell].map(|v| r.transpose() * d[v as usize]);
            let size = matrix.rows[0][0];
            for a in 0..8 {
                let exact = |b: usize| {
                    let entry = |i: usize, j: usize| matrix.rows[3 * a + i][3 * b + j];
                    DMat3::from_cols_array(&std::array::from_fn(|n| entry(n % 3, n / 3)))
                };
                let right: DVec3 = (0..8).map(|b| exact(b) * moved[b]).sum();
                let error = (r * right * 0.5 - out[a]).length();
                assert!(error < 1e-13 * size, "{error} of {size}");
                // Blocks are those of the product, to rounding.
                let blocks: DVec3 = (0..8).map(|b| matrix.block(a, b) * moved[b]).sum();
                assert!((r * blocks * 0.5 - out[a]).length() < 1e-13 * size);
            }
            assert!(out.iter().sum::<DVec3>().length() < 1e-15 * size);
            // Alone as together with others.
            let mut alone = [[DVec3::ZERO; 8]];
            products(cells.from(cell), &found[cell..], &d, 0.5, &mut alone);
            assert_eq!(alone[0], *out, "its neighbours change bits");
        }
        let same = vec![DVec3::new(0.3, -0.2, 7.0); x.len()];
        products(cells, &found, &same, 1.0, &mut out);
        assert!(out.iter().flatten().all(|f| *f == DVec3::ZERO));
    }
    #[test]
    fn full_cells_are_mirrored_and_others_are_not() {
        let (_, _, kinds, _) = setup(1, strained(0.0));
        assert_eq!(kinds.map(|kind| kind.matrix.packed.is_mirrored()), [true, false, true]);
    }

    #[test]
    fn forces_four_at_a_time_are_those_of_one() {
        for size in [0.0, 0.05, 0.4] {
            let (corners, kind, kinds, x) = setup(27, strained(size));
            let cells = Cells { corners: &corners, kind: &kind, kinds: &kinds, plastic: &[] };
            let mut found = vec![[0.0; 9]; 27];
            frames(cells, &x, &mut found);
            let v: Vec<DVec3> = (0..x.len() as u64)
                .map(|i| DVec3::from([0, 1, 2].map(|c| uniform(i, 7 + c) - 0.5)))
                .collect();
            for damping in [None, Some((&v[..], 0.02))] {
                let (mut out, mut plain) = (vec![[DVec3::ZERO; 8]; 27], vec![[DVec3::ZERO; 8]; 27]);
                forces(cells, SolidLaw::Polar, &found, &x, damping, &mut out);
                let law = SolidLaw::Polar;
                let kernel = Forces { cells, law, frames: &found, x: &x, damping, out: &mut plain };
                Instructions::Plain.run(kernel);
                assert_eq!(out, plain, "instructions change bits");
                for (cell, out) in out.iter().enumerate() {
                    let own = |of: &[DVec3]| corners[cell].map(|v| of[v as usize]);
                    let damping = damping.map(|(v, damping)| (own(v), damping));
                    let r = DMat3::from_cols_array(&found[cell]);
                    let right = forces_in_frame(cells.kind(cell), law, r, own(&x), damping);
                    let scale = cells.kind(cell).matrix.rows[0][0] * 0.1;
                    for (a, b) in out.iter().zip(right) {
                        assert!((*a - b).length() < 1e-11 * scale, "{a} {b} of {scale}");
                    }
                }
            }
        }
    }
}
