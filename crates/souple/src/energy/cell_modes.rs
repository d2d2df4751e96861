//! The stiffness of a cell seen by the modes of its corners (FAU-20): what solvers multiply with again and again.
//!
//! What moves the corners of a cell is a sum of eight modes: the same everywhere, or of other sign at both ends of some axes (Walsh's functions; Flanagan and
//! Belytschko 1981 call those beyond the linear ones hourglass modes). To move a cell as a whole is the first of them, which costs nothing and is left out:
//! exactly, whatever is rounded. Turning it costs nothing either, so that of two shears that differ by a turn one number is left: 18 numbers of 24.
//!
//! A cell that looks the same in the mirrors across its axes, as all that are full do, joins only modes that these mirrors change alike: eight blocks of three
//! numbers, a tenth of the work of the whole matrix. It is told from its numbers.

use std::fmt;

use glam::DVec3;

use super::cell::{CORNERS, ROWS};
use super::hexahedra::Corners;
use crate::math::four::{Four, Number, Symmetric, Vector, symmetric_times};

/// A vector for each mode; the bits of a mode are the axes along which its sign changes. The first is not of use.
pub(super) type Modes<N> = [Vector<N>; CORNERS];

/// Numbers of a cell that may cost something.
const STRAINS: usize = ROWS - 6;

/// Whole fours of these numbers.
const FOURS: usize = STRAINS / 4;

/// Those that are left over.
const LEFT: usize = STRAINS % 4;

/// Where the columns of each four begin in [`Lower::square`].
const BEGINS: [usize; FOURS] = [0, 16, 28, 36];

/// How much of a matrix may join modes that mirrors change differently, relative to the largest number, if it is taken for none: rounding.
const MIRRORED: f64 = 1e-13;

/// The modes that shear the planes across x, y and z: mode and axis of both parts.
const SHEARS: [[(usize, usize); 2]; 3] = [[(4, 1), (2, 2)], [(4, 0), (1, 2)], [(2, 0), (1, 1)]];

/// The modes that neither stretch nor shear.
const HOURGLASSES: [usize; 4] = [3, 5, 6, 7];

/// The matrix of a cell by modes.
#[derive(Clone, PartialEq)]
pub struct PackedMatrix {
    /// Of what shears a plane, how much each part counts.
    shares: [[f64; 2]; 3],
    /// Of stretches along the axes, shears across them, and the modes 3, 5, 6 and 7 along each axis.
    lower: Box<Lower>,
    /// Blocks of what mirrors change alike, if there is nothing else: block p joins the modes p ^ 1, p ^ 2 and p ^ 4 along x, y and z.
    mirrored: Option<Box<[Symmetric<f64>; CORNERS]>>,
}

/// A symmetric matrix, of which little is there twice: border cells differ from each other, and to read their numbers takes longer than to work with them.
#[derive(Clone, PartialEq)]
struct Lower {
    /// The first sixteen columns, in each the fours from its own down.
    square: [[f64; 4]; 40],
    /// The first sixteen numbers of the rows that are left.
    strips: [[[f64; 4]; FOURS]; LEFT],
    /// The last two numbers of these rows.
    corner: [[f64; LEFT]; LEFT],
}

impl Lower {
    /// Of a matrix that is given by its numbers.
    fn new(number: impl Fn(usize, usize) -> f64) -> Lower {
        let four = |r: usize, c: usize| std::array::from_fn(|k| number(4 * r + k, c));
        let mut square = [[0.0; 4]; 40];
        for c in 0..4 * FOURS {
            let (j, k) = (c / 4, c % 4);
            for r in j..FOURS {
                square[BEGINS[j] + k * (FOURS - j) + r - j] = four(r, c);
            }
        }
        let strips = std::array::from_fn(|e| std::array::from_fn(|r| four(r, 4 * FOURS + e)));
        let last = |e: usize| std::array::from_fn(|f| number(4 * FOURS + e, 4 * FOURS + f));
        Lower { square, strips, corner: std::array::from_fn(last) }
    }

    #[inline(always)]
    fn times(&self, x: &[f64; STRAINS]) -> [f64; STRAINS] {
        let mut fours = [Four([0.0; 4]); FOURS];
        for r in 0..FOURS {
            fours[r] = Four([x[4 * r], x[4 * r + 1], x[4 * r + 2], x[4 * r + 3]]);
        }
        let mut sums = [Four([0.0; 4]); FOURS];
        for j in 0..FOURS {
            // What is below the diagonal counts for its column, too.
            let mut across = [Four([0.0; 4]); 4];
            for k in 0..4 {
                let (at, own) = (BEGINS[j] + k * (FOURS - j), Four::splat(x[4 * j + k]));
                sums[j] = sums[j] + Four(self.square[at]) * own;
                for r in j + 1..FOURS {
                    let numbers = Four(self.square[at + r - j]);
                    sums[r] = sums[r] + numbers * own;
                    across[k] = across[k] + numbers * fours[r];
                }
            }
            sums[j] = sums[j] + sums_of_each(across);
        }
        let mut out = [0.0; STRAINS];
        for e in 0..LEFT {
            let own = Four::splat(x[4 * FOURS + e]);
            let mut across = Four([0.0; 4]);
            for r in 0..FOURS {
                let numbers = Four(self.strips[e][r]);
                sums[r] = sums[r] + numbers * own;
                across = across + numbers * fours[r];
            }
            let [a, b, c, d] = across.0;
            let corner = self.corner[e][0] * x[4 * FOURS] + self.corner[e][1] * x[4 * FOURS + 1];
            out[4 * FOURS + e] = (a + b) + (c + d) + corner;
        }
        for r in 0..FOURS {
            for k in 0..4 {
                out[4 * r + k] = sums[r].0[k];
            }
        }
        out
    }
}

/// The sum of the numbers of each.
#[inline(always)]
fn sums_of_each([p, q, r, s]: [Four; 4]) -> Four {
    let (p, q, r, s) = (p.0, q.0, r.0, s.0);
    let (a, b) = (Four([p[0], q[0], r[0], s[0]]), Four([p[1], q[1], r[1], s[1]]));
    let (c, d) = (Four([p[2], q[2], r[2], s[2]]), Four([p[3], q[3], r[3], s[3]]));
    (a + b) + (c + d)
}

/// Its numbers are those of the matrix it was made of: models are told apart by that.
impl fmt::Debug for PackedMatrix {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("PackedMatrix")
    }
}

/// The sign of a mode at a corner.
fn sign(mode: usize, corner: usize) -> f64 {
    if (mode & !corner).count_ones().is_multiple_of(2) { 1.0 } else { -1.0 }
}

/// The matrix of a cell by modes and axes: forces are sums of modes, and modes of displacements are sums over corners. The first corner gets what the others leave
/// over, so that moving all of them costs nothing.
fn by_modes(rows: &[[f64; ROWS]; ROWS]) -> Box<[[f64; ROWS]; ROWS]> {
    let weight = |mode: usize, corner: usize| (sign(mode, corner) - sign(mode, 0)) / CORNERS as f64;
    let (mut half, mut all) = (Box::new([[0.0; ROWS]; ROWS]), Box::new([[0.0; ROWS]; ROWS]));
    for (m, c) in (1..CORNERS).flat_map(|m| (1..CORNERS).map(move |c| (m, c))) {
        for a in 0..3 {
            let (to, from) = (&mut half[3 * m + a], &rows[3 * c + a]);
            to.iter_mut().zip(from).for_each(|(to, from)| *to += weight(m, c) * from);
        }
    }
    for (to, from) in all.iter_mut().zip(half.iter()) {
        for (n, d) in (1..CORNERS).flat_map(|n| (1..CORNERS).map(move |d| (n, d))) {
            (0..3).for_each(|b| to[3 * n + b] += weight(n, d) * from[3 * d + b]);
        }
    }
    all
}

impl PackedMatrix {
    /// Of the symmetric matrix of a cell of that size whose rows and columns go by corner.
    pub(super) fn new(size: DVec3, rows: &[[f64; ROWS]; ROWS]) -> PackedMatrix {
        let shares = [(1, 2), (0, 2), (0, 1)].map(|(a, b)| {
            let both = size[a] + size[b];
            [size[a] / both, size[b] / both]
        });
        let all = by_modes(rows);
        let number = |r: usize, c: usize| {
            let (left, right) = (parts(r, &shares), parts(c, &shares));
            let joined = |&(p, w): &(usize, f64), &(q, v): &(usize, f64)| w * v * all[p][q];
            left.iter().flat_map(|p| right.iter().map(move |q| joined(p, q))).sum()
        };
        let lower = Box::new(Lower::new(number));
        PackedMatrix { shares, lower, mirrored: mirrored(&all) }
    }

    /// Whether it joins only what mirrors change alike.
    #[inline(always)]
    pub(super) fn is_mirrored(&self) -> bool {
        self.mirrored.is_some()
    }

    /// The matrix times what moves the corners.
    #[inline(always)]
    pub(super) fn times(&self, moved: &Corners) -> Corners {
        let first = moved[0];
        let mut modes = [[0.0; 3]; CORNERS];
        for c in 1..CORNERS {
            modes[c] = (moved[c] - first).to_array();
        }
        to_modes(&mut modes);
        let mut forces = self.times_modes(&modes);
        to_corners(&mut forces);
        let mut out = [DVec3::ZERO; CORNERS];
        for c in 0..CORNERS {
            out[c] = DVec3::from_array(forces[c]);
        }
        out
    }

    /// The same for modes.
    #[inline(always)]
    fn times_modes(&self, modes: &Modes<f64>) -> Modes<f64> {
        if let Some(blocks) = &self.mirrored {
            return times_mirrored(blocks, modes);
        }
        let strains = strains_of(modes, self.shares);
        from_stresses(&self.lower.times(&strains), self.shares)
    }
}

/// Which modes along axes a number of a cell stands for, and their shares, where shears are free of turns.
fn parts(number: usize, shares: &[[f64; 2]; 3]) -> Vec<(usize, f64)> {
    match number {
        0..3 => vec![(3 * (1 << number) + number, 1.0)],
        // What is seen as a shear of 1: each part half of it.
        3..6 => {
            let k = number - 3;
            SHEARS[k].iter().zip(shares[k]).map(|((m, a), share)| (3 * m + a, 0.5 / share)).collect()
        }
        _ => vec![(3 * HOURGLASSES[(number - 6) / 3] + number % 3, 1.0)],
    }
}

/// The blocks of a matrix, by modes, that joins only what mirrors change alike.
fn mirrored(all: &[[f64; ROWS]; ROWS]) -> Option<Box<[Symmetric<f64>; CORNERS]>> {
    let largest = (0..ROWS).map(|r| all[r][r]).fold(0.0, f64::max);
    let class = |row: usize| (row / 3) ^ (1 << (row % 3));
    let is_rounding = |r: usize, c: usize| class(r) == class(c) || all[r][c].abs() <= MIRRORED * largest;
    if !(0..ROWS).all(|r| (0..ROWS).all(|c| is_rounding(r, c))) {
        return None;
    }
    let row = |p: usize, a: usize| 3 * (p ^ (1 << a)) + a;
    let pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    Some(Box::new(std::array::from_fn(|p| pairs.map(|(a, b)| all[row(p, a)][row(p, b)]))))
}

/// Corners, from the first of them, to modes.
#[inline(always)]
pub(super) fn to_modes<N: Number>(of: &mut Modes<N>) {
    for k in 0..3 {
        let [a, b, c, d, e, f, g, h] =
            [of[0][k], of[1][k], of[2][k], of[3][k], of[4][k], of[5][k], of[6][k], of[7][k]];
        // Sums and differences along x, then y, then z.
        let (a, b, c, d, e, f, g, h) = (a + b, b - a, c + d, d - c, e + f, f - e, g + h, h - g);
        let (a, b, c, d, e, f, g, h) = (a + c, b + d, c - a, d - b, e + g, f + h, g - e, h - f);
        of[0][k] = a + e;
        of[1][k] = b + f;
        of[2][k] = c + g;
        of[3][k] = d + h;
        of[4][k] = e - a;
        of[5][k] = f - b;
        of[6][k] = g - c;
        of[7][k] = h - d;
    }
}

/// Modes of forces to corners: the transpose.
#[inline(always)]
pub(super) fn to_corners<N: Number>(of: &mut Modes<N>) {
    for k in 0..3 {
        let [a, b, c, d, e, f, g, h] =
            [of[0][k], of[1][k], of[2][k], of[3][k], of[4][k], of[5][k], of[6][k], of[7][k]];
        let (a, b, c, d, e, f, g, h) = (a - b, a + b, c - d, c + d, e - f, e + f, g - h, g + h);
        let (a, b, c, d, e, f, g, h) = (a - c, b - d, a + c, b + d, e - g, f - h, e + g, f + h);
        of[0][k] = a - e;
        of[1][k] = b - f;
        of[2][k] = c - g;
        of[3][k] = d - h;
        of[4][k] = a + e;
        of[5][k] = b + f;
        of[6][k] = c + g;
        of[7][k] = d + h;
    }
}

/// Multiplies what one block joins.
#[inline(always)]
fn add_block<N: Number>(block: usize, numbers: Symmetric<N>, modes: &Modes<N>, out: &mut Modes<N>) {
    let (x, y, z) = (block ^ 1, block ^ 2, block ^ 4);
    let found = symmetric_times(numbers, [modes[x][0], modes[y][1], modes[z][2]]);
    out[x][0] = found[0];
    out[y][1] = found[1];
    out[z][2] = found[2];
}

/// The product of a matrix of blocks.
#[inline(always)]
fn times_mirrored<N: Number>(blocks: &[Symmetric<f64>; CORNERS], modes: &Modes<N>) -> Modes<N> {
    let mut out = [[N::splat(0.0); 3]; CORNERS];
    for (p, b) in blocks.iter().enumerate() {
        let numbers =
            [N::splat(b[0]), N::splat(b[1]), N::splat(b[2]), N::splat(b[3]), N::splat(b[4]), N::splat(b[5])];
        add_block(p, numbers, modes, &mut out);
    }
    out
}

/// The numbers of a cell that may cost something.
#[inline(always)]
fn strains_of<N: Number>(modes: &Modes<N>, shares: [[N; 2]; 3]) -> [N; STRAINS] {
    let mut out = [N::splat(0.0); STRAINS];
    for k in 0..3 {
        out[k] = modes[1 << k][k];
        let [(m, a), (n, b)] = SHEARS[k];
        out[3 + k] = modes[m][a] * shares[k][0] + modes[n][b] * shares[k][1];
    }
    for (h, mode) in HOURGLASSES.into_iter().enumerate() {
        for a in 0..3 {
            out[6 + 3 * h + a] = modes[mode][a];
        }
    }
    out
}

/// The modes of what pulls back: the transpose.
#[inline(always)]
fn from_stresses<N: Number>(stresses: &[N; STRAINS], shares: [[N; 2]; 3]) -> Modes<N> {
    let mut out = [[N::splat(0.0); 3]; CORNERS];
    for k in 0..3 {
        out[1 << k][k] = stresses[k];
        let [(m, a), (n, b)] = SHEARS[k];
        out[m][a] = stresses[3 + k] * shares[k][0];
        out[n][b] = stresses[3 + k] * shares[k][1];
    }
    for (h, mode) in HOURGLASSES.into_iter().enumerate() {
        for a in 0..3 {
            out[mode][a] = stresses[6 + 3 * h + a];
        }
    }
    out
}

/// The matrices of four cells, each times its own modes. Either all of them are mirrored or none: so a cell has the same bits whatever it is worked on with.
#[inline(always)]
pub(super) fn times_four(matrices: [&PackedMatrix; 4], modes: &Modes<Four>) -> Modes<Four> {
    let [a, b, c, d] = matrices;
    if let (Some(p), Some(q), Some(r), Some(s)) = (&a.mirrored, &b.mirrored, &c.mirrored, &d.mirrored) {
        if std::ptr::eq(a, b) && std::ptr::eq(a, c) && std::ptr::eq(a, d) {
            return times_mirrored(p, modes);
        }
        let mut out = [[Four([0.0; 4]); 3]; CORNERS];
        for block in 0..CORNERS {
            let mut numbers = [Four([0.0; 4]); 6];
            for k in 0..6 {
                numbers[k] = Four([p[block][k], q[block][k], r[block][k], s[block][k]]);
            }
            add_block(block, numbers, modes, &mut out);
        }
        return out;
    }
    let mut shares = [[Four([0.0; 4]); 2]; 3];
    for k in 0..3 {
        for part in 0..2 {
            let [a, b, c, d] = [a.shares[k][part], b.shares[k][part], c.shares[k][part], d.shares[k][part]];
            shares[k][part] = Four([a, b, c, d]);
        }
    }
    let strains = strains_of(modes, shares);
    let mut found = [[0.0; STRAINS]; 4];
    for l in 0..4 {
        let mut own = [0.0; STRAINS];
        for k in 0..STRAINS {
            own[k] = strains[k].0[l];
        }
        found[l] = matrices[l].lower.times(&own);
    }
    let mut stresses = [Four([0.0; 4]); STRAINS];
    for k in 0..STRAINS {
        stresses[k] = Four([found[0][k], found[1][k], found[2][k], found[3][k]]);
    }
    from_stresses(&stresses, shares)
}
