//! Four numbers of 64 bits at a time, and small vectors and symmetric matrices of numbers or of fours.
//!
//! What is written over [`Number`] runs for one number, as the plain twin, and for [`Four`]: four elements of a body at once. A four is an
//! array; a kernel of [`crate::lanes`] has it compiled for the wide registers of the machine at hand. The four operations and the square
//! root are exact by IEEE 754 and nothing is fused, so that all of these give the same bits.
//!
//! Not promised: anything about numbers that are not finite, but that each of the four minds its own.

use std::ops::{Add, Div, Mul, Sub};

/// A number, or some.
pub trait Number:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// The same number everywhere.
    fn splat(value: f64) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// The larger; `other` where one is not a number.
    fn max(self, other: Self) -> Self;
    /// The smaller; `other` where one is not a number.
    fn min(self, other: Self) -> Self;
    /// With the sign of another.
    fn with_sign_of(self, other: Self) -> Self;
    /// Whether all are below `limit`.
    fn all_below(self, limit: f64) -> bool;
}

impl Number for f64 {
    #[inline(always)]
    fn splat(value: f64) -> f64 {
        value
    }
    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    #[inline(always)]
    fn max(self, other: f64) -> f64 {
        if self > other { self } else { other }
    }
    #[inline(always)]
    fn min(self, other: f64) -> f64 {
        if self < other { self } else { other }
    }
    #[inline(always)]
    fn with_sign_of(self, other: f64) -> f64 {
        self.copysign(other)
    }
    #[inline(always)]
    fn all_below(self, limit: f64) -> bool {
        self < limit
    }
}

/// Four numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(32))]
pub struct Four(pub [f64; 4]);

macro_rules! four_operator {
    ($name:ident, $function:ident, $op:tt) => {
        impl $name for Four {
            type Output = Four;
            #[inline(always)]
            fn $function(self, other: Four) -> Four {
                let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
                Four([a $op e, b $op f, c $op g, d $op h])
            }
        }
    };
}
four_operator!(Add, add, +);
four_operator!(Sub, sub, -);
four_operator!(Mul, mul, *);
four_operator!(Div, div, /);

impl Number for Four {
    #[inline(always)]
    fn splat(value: f64) -> Four {
        Four([value; 4])
    }
    #[inline(always)]
    fn sqrt(self) -> Four {
        let [a, b, c, d] = self.0;
        Four([a.sqrt(), b.sqrt(), c.sqrt(), d.sqrt()])
    }
    #[inline(always)]
    fn max(self, other: Four) -> Four {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Four([Number::max(a, e), Number::max(b, f), Number::max(c, g), Number::max(d, h)])
    }
    #[inline(always)]
    fn min(self, other: Four) -> Four {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Four([Number::min(a, e), Number::min(b, f), Number::min(c, g), Number::min(d, h)])
    }
    #[inline(always)]
    fn with_sign_of(self, other: Four) -> Four {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, other.0);
        Four([a.copysign(e), b.copysign(f), c.copysign(g), d.copysign(h)])
    }
    #[inline(always)]
    fn all_below(self, limit: f64) -> bool {
        let [a, b, c, d] = self.0;
        (a < limit) & (b < limit) & (c < limit) & (d < limit)
    }
}

/// A vector.
pub type Vector<N> = [N; 3];

/// Inner product.
#[inline(always)]
pub fn dot<N: Number>(a: Vector<N>, b: Vector<N>) -> N {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// Cross product.
#[inline(always)]
pub fn cross<N: Number>(a: Vector<N>, b: Vector<N>) -> Vector<N> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

/// The columns of a matrix.
pub type Matrix<N> = [Vector<N>; 3];

/// The derivative of the determinant.
#[inline(always)]
pub fn cofactor_columns<N: Number>(m: Matrix<N>) -> Matrix<N> {
    [cross(m[1], m[2]), cross(m[2], m[0]), cross(m[0], m[1])]
}

/// A matrix times a vector.
#[inline(always)]
pub fn times<N: Number>(m: Matrix<N>, v: Vector<N>) -> Vector<N> {
    [
        m[0][0] * v[0] + m[1][0] * v[1] + m[2][0] * v[2],
        m[0][1] * v[0] + m[1][1] * v[1] + m[2][1] * v[2],
        m[0][2] * v[0] + m[1][2] * v[1] + m[2][2] * v[2],
    ]
}

/// Most steps of Newton's iteration.
const STEPS: usize = 8;

/// The rotation nearest to a matrix by Newton's iteration (Higham 1986), and the square of the last change, which is below 1e-16 where it was
/// found: not for what is nearly flat, inside out or far from size 1.
#[inline(always)]
pub fn nearest_rotation<N: Number>(f: Matrix<N>) -> (Matrix<N>, N) {
    let (mut r, mut change) = (f, N::splat(1.0));
    for _ in 0..STEPS {
        (r, change) = newton(r);
        if change.all_below(1e-16) {
            break;
        }
    }
    // It converges quadratically: what is left to change is 1e-16 of it.
    (newton(r).0, change)
}

/// The mean of a matrix and its inverse on its side, and the square of what that changes.
#[inline(always)]
fn newton<N: Number>(r: Matrix<N>) -> (Matrix<N>, N) {
    let half = N::splat(0.5);
    let cofactors = cofactor_columns(r);
    let inverse = half / dot(r[0], cofactors[0]);
    let (mut next, mut change) = (r, N::splat(0.0));
    for c in 0..3 {
        for k in 0..3 {
            next[c][k] = r[c][k] * half + cofactors[c][k] * inverse;
            let moved = next[c][k] - r[c][k];
            change = change + moved * moved;
        }
    }
    (next, change)
}

/// A symmetric matrix: xx, xy, xz, yy, yz, zz.
pub type Symmetric<N> = [N; 6];

/// A symmetric matrix times a vector.
#[inline(always)]
pub fn symmetric_times<N: Number>(m: Symmetric<N>, v: Vector<N>) -> Vector<N> {
    [
        m[0] * v[0] + m[1] * v[1] + m[2] * v[2],
        m[1] * v[0] + m[3] * v[1] + m[4] * v[2],
        m[2] * v[0] + m[4] * v[1] + m[5] * v[2],
    ]
}

/// The cofactors of a symmetric matrix, which are its inverse times its determinant, and the determinant.
#[inline(always)]
pub fn symmetric_cofactors<N: Number>([xx, xy, xz, yy, yz, zz]: Symmetric<N>) -> (Symmetric<N>, N) {
    let first = [yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy];
    let determinant = xx * first[0] + xy * first[1] + xz * first[2];
    let others = [xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy];
    ([first[0], first[1], first[2], others[0], others[1], others[2]], determinant)
}

/// Less than any difference that matters, to be divided by.
const TINY: f64 = 1e-200;

/// A symmetric matrix without its negative eigenvalues, without eigenvectors: eigenvalues from the cubic, then max(0, ·) of the matrix as
/// the polynomial that takes these values there (Newton's form, in rising order, where no difference is divided by a smaller one).
///
/// Eigenvalues that are nearly the same are found to half of all digits only. That changes the result where they are as near to 0 as to each
/// other, by as little.
#[inline(always)]
pub fn without_negative<N: Number>(m: Symmetric<N>) -> Symmetric<N> {
    let n = N::splat;
    let [xx, xy, xz, yy, yz, zz] = m;
    let mean = (xx + yy + zz) * n(1.0 / 3.0);
    let d = [xx - mean, xy, xz, yy - mean, yz, zz - mean];
    let across = d[1] * d[1] + d[2] * d[2] + d[4] * d[4];
    let along = d[0] * d[0] + d[3] * d[3] + d[5] * d[5];
    let size = ((along + across + across) * n(1.0 / 6.0)).sqrt();
    let scale = n(1.0) / size.max(n(1e-100));
    let (_, determinant) = symmetric_cofactors([
        d[0] * scale,
        d[1] * scale,
        d[2] * scale,
        d[3] * scale,
        d[4] * scale,
        d[5] * scale,
    ]);
    // Eigenvalues are mean + size t with t³ − 3 t = det; the root that stands alone is of the sign of det.
    let det = determinant.max(n(-2.0)).min(n(2.0));
    let half = det.max(n(0.0) - det) * n(0.5);
    let mut t = n(1.732_050_807_568_877_2) + half * n(1.0 / 3.0) - half * half * n(0.065_384_140_902_21);
    for _ in 0..3 {
        let square = t * t;
        t = t - (t * (square - n(3.0)) - half - half) / (n(3.0) * square - n(3.0));
    }
    let spread = (n(12.0) - n(3.0) * t * t).max(n(0.0)).sqrt();
    // Mirrored if det is negative; the one between follows, as they sum to 0.
    let (one, other) = (t.with_sign_of(det) * size, ((spread + t) * n(0.5)).with_sign_of(det) * size);
    let (low, high) = (one.min(n(0.0) - other), one.max(n(0.0) - other));
    let middle = n(0.0) - low - high;
    let kept = |e: N| (mean + e).max(n(0.0));
    let slope = |a: N, b: N| (kept(b) - kept(a)) / (b - a).max(n(TINY));
    let (first, second) = (slope(low, middle), slope(middle, high));
    let bend = (second - first) / (high - low).max(n(TINY));
    // kept(low) + first (D − low) + bend (D − low)(D − middle).
    let constant = kept(low) - first * low + bend * low * middle;
    let linear = first - bend * (low + middle);
    let square = [
        d[0] * d[0] + d[1] * d[1] + d[2] * d[2],
        d[0] * d[1] + d[1] * d[3] + d[2] * d[4],
        d[0] * d[2] + d[1] * d[4] + d[2] * d[5],
        d[1] * d[1] + d[3] * d[3] + d[4] * d[4],
        d[1] * d[2] + d[3] * d[4] + d[4] * d[5],
        d[2] * d[2] + d[4] * d[4] + d[5] * d[5],
    ];
    [
        constant + linear * d[0] + bend * square[0],
        linear * d[1] + bend * square[1],
        linear * d[2] + bend * square[2],
        constant + linear * d[3] + bend * square[3],
        linear * d[4] + bend * square[4],
        constant + linear * d[5] + bend * square[5],
    ]
}

#[cfg(test)]
mod tests {
    use glam::{DMat3, DVec3};

    use super::*;
    use crate::math::{polar, rotation, uniform};

    fn random(seed: u64) -> [f64; 9] {
        std::array::from_fn(|k| 2.0 * uniform(seed, k as u64) - 1.0)
    }

    #[test]
    fn negative_eigenvalues_are_left_out_and_others_kept() {
        let cases =
            [[1.0, 2.0, 3.0], [-1.0, 2.0, 3.0], [-1.0, -2.0, 3.0], [-1.0, -2.0, -3.0], [1.0, 1.0, -2.0]];
        let close =
            [[1.0, 1.0, 1.0], [-1.0, -1.0, -1.0], [0.0, 0.0, 0.0], [-1e-9, 1e-9, 1.0], [5.0, 0.0, 0.0]];
        for (k, values) in cases.into_iter().chain(close).cycle().take(400).enumerate() {
            let turn = DMat3::from_quat(rotation(DVec3::new(31.0, -17.0, 55.0) * k as f64));
            let with = |values: DVec3| turn * DMat3::from_diagonal(values) * turn.transpose();
            let values = DVec3::from(values) * (1.0 + k as f64);
            let (m, right) = (with(values), with(values.max(DVec3::ZERO)));
            let six = |m: DMat3| [m.x_axis.x, m.x_axis.y, m.x_axis.z, m.y_axis.y, m.y_axis.z, m.z_axis.z];
            let found = without_negative(six(m));
            let size = values.abs().max_element();
            for (a, b) in found.into_iter().zip(six(right)) {
                assert!((a - b).abs() <= 3e-8 * size, "{values}: {found:?} {right}");
            }
            // Four are found as one is.
            let [a, b, c, d, e, f] = six(m).map(Four::splat);
            for (four, one) in without_negative([a, b, c, d, e, f]).into_iter().zip(found) {
                assert_eq!(four, Four::splat(one));
            }
        }
    }

    #[test]
    fn newtons_rotation_is_that_of_the_polar_decomposition() {
        for seed in 0..200 {
            let turn = DMat3::from_quat(rotation(DVec3::new(3.0, 1.0, -2.0) * seed as f64));
            let f = turn * (DMat3::IDENTITY + DMat3::from_cols_array(&random(seed)) * 0.2);
            let (r, change) = nearest_rotation(f.to_cols_array_2d());
            let error = DMat3::from_cols_array_2d(&r) - polar(f);
            assert!(change < 1e-16 && error.to_cols_array().iter().all(|e| e.abs() < 1e-14), "{error}");
        }
    }
}
