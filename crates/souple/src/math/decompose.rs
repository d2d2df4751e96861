//! Frames of a 3×3 matrix: singular values with rotations on both sides, polar, and QR (FAU-01).
//!
//! All give right-handed frames, whatever the matrix: of one that turns space inside out the smallest singular value, or the last
//! entry of the triangle, is negative, so that an element that was turned inside out is seen as one that is strained a lot, and is
//! pushed back (FAU-03).

use glam::{DMat3, DVec3};

/// Columns that are shorter than this share of the longest have no direction.
const NO_LENGTH: f64 = 1e-14;

/// Sweeps of rotations: each squares what is left to do, so that some are enough for all 16 digits.
const SWEEPS: usize = 12;

/// F = U Σ Vᵀ with rotations U and V.
#[derive(Clone, Copy, Debug)]
pub struct Svd {
    /// Left rotation.
    pub u: DMat3,
    /// Singular values, falling; the last is negative if F turns space inside out.
    pub sigma: DVec3,
    /// Right rotation.
    pub v: DMat3,
}

/// Singular values by rotations from the right that make the columns orthogonal (Hestenes 1958), which is as exact for small ones as for
/// large ones.
pub fn svd(f: DMat3) -> Svd {
    let mut columns = [f.x_axis, f.y_axis, f.z_axis];
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
    for _ in 0..SWEEPS {
        let mut turned = false;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (a, b) = (columns[p].length_squared(), columns[q].length_squared());
            let both = columns[p].dot(columns[q]);
            // Not where something is not a number.
            let is_askew = both * both > 1e-32 * a * b;
            if !is_askew {
                continue;
            }
            turned = true;
            let zeta = (b - a) / (2.0 * both);
            let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = c * t;
            for side in [&mut columns, &mut v] {
                (side[p], side[q]) = (side[p] * c - side[q] * s, side[p] * s + side[q] * c);
            }
        }
        if !turned {
            break;
        }
    }
    // Longest first; two swapped columns would mirror V, so that one is turned round.
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        if columns[p].length_squared() < columns[q].length_squared() {
            for side in [&mut columns, &mut v] {
                (side[p], side[q]) = (side[q], -side[p]);
            }
        }
    }
    let u = frame(columns[0], columns[1], columns[0].length() * NO_LENGTH);
    let sigma = DVec3::new(u.x_axis.dot(columns[0]), u.y_axis.dot(columns[1]), u.z_axis.dot(columns[2]));
    Svd { u, sigma, v: DMat3::from_cols(v[0], v[1], v[2]) }
}

/// The rotation R that is nearest to F (polar decomposition; of a matrix that turns space inside out, the nearest rotation, too).
pub fn polar(f: DMat3) -> DMat3 {
    // Newton's iteration (Higham 1986) takes some steps for what is not flat; it ends where a step no longer changes more than rounding.
    let size = inner(f, f);
    let mut r = f;
    if f.determinant() > ROUND * size * size.sqrt() {
        for _ in 0..NEWTON_STEPS {
            let inverse = cofactors(r) * (1.0 / r.determinant());
            let next = (r + inverse) * 0.5;
            let change = next - r;
            r = next;
            if inner(change, change) < 1e-16 {
                // It converges quadratically: the next would change 1e-16 of it.
                return (r + cofactors(r) * (1.0 / r.determinant())) * 0.5;
            }
        }
    }
    let Svd { u, v, .. } = svd(f);
    u * v.transpose()
}

/// The volume of what is round enough for Newton's iteration, as a share of the cube of its size.
pub(crate) const ROUND: f64 = 1e-3;

/// Steps it has at most.
const NEWTON_STEPS: usize = 12;

/// Sum of the products of entries.
#[inline(always)]
pub fn inner(a: DMat3, b: DMat3) -> f64 {
    a.x_axis.dot(b.x_axis) + a.y_axis.dot(b.y_axis) + a.z_axis.dot(b.z_axis)
}

/// The derivative of the determinant.
#[inline(always)]
pub fn cofactors(f: DMat3) -> DMat3 {
    DMat3::from_cols(f.y_axis.cross(f.z_axis), f.z_axis.cross(f.x_axis), f.x_axis.cross(f.y_axis))
}

/// F = Q U with a rotation Q and an upper triangle U, which is returned, too: the first axis along the first column, the second in
/// the plane of the first two.
pub fn qr(f: DMat3) -> (DMat3, DMat3) {
    let least = NO_LENGTH * f.x_axis.length().max(f.y_axis.length()).max(f.z_axis.length());
    let q = frame(f.x_axis, f.y_axis, least);
    let mut u = q.transpose() * f;
    // What is rounded there is not.
    (u.x_axis.y, u.x_axis.z, u.y_axis.z) = (0.0, 0.0, 0.0);
    (q, u)
}

/// A right-handed frame with its first axis along `a` and its second in the plane of `a` and `b`. Where they have none, as they are no
/// longer than `least`, any.
fn frame(a: DVec3, b: DVec3, least: f64) -> DMat3 {
    let first = if a.length() > least { a.normalize_or(DVec3::X) } else { DVec3::X };
    let across = b - first * first.dot(b);
    let second = if across.length() > least {
        // Once more: what is left of a component that was much longer.
        let across = across.normalize_or(DVec3::ZERO);
        (across - first * first.dot(across)).normalize_or(first.any_orthonormal_vector())
    } else {
        first.any_orthonormal_vector()
    };
    DMat3::from_cols(first, second, first.cross(second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{rotation, uniform};

    fn random(seed: u64) -> DMat3 {
        DMat3::from_cols_array(&std::array::from_fn(|k| 2.0 * uniform(seed, k as u64) - 1.0))
    }

    fn size(m: DMat3) -> f64 {
        m.to_cols_array().iter().fold(0.0, |size, c| size.max(c.abs()))
    }

    /// Random matrices, and those without volume, area, length, with equal singular values, and very long ones.
    fn matrices() -> Vec<DMat3> {
        let mut all: Vec<DMat3> = (0..400).map(random).collect();
        let thin = |k: u64, s: DVec3| random(k) * DMat3::from_diagonal(s) * random(k + 1);
        for k in 0..60 {
            all.push(thin(k, DVec3::new(1.0, 1.0, 0.0)));
            all.push(thin(k, DVec3::new(1.0, 0.0, 0.0)));
            all.push(thin(k, DVec3::new(1e6, 1.0, 1e-6)));
            all.push(
                DMat3::from_quat(rotation(DVec3::splat(7.0 * k as f64)))
                    * if k % 2 == 0 { 1.0 } else { -2.0 },
            );
        }
        all.extend([
            DMat3::ZERO,
            DMat3::IDENTITY,
            -DMat3::IDENTITY,
            DMat3::from_diagonal(DVec3::new(0.0, 0.0, 3.0)),
        ]);
        all
    }

    fn assert_rotation(r: DMat3) {
        assert!(size(r * r.transpose() - DMat3::IDENTITY) < 1e-14, "{r}");
        assert!((r.determinant() - 1.0).abs() < 1e-14, "{r}");
    }

    #[test]
    fn singular_values_and_their_frames_make_the_matrix() {
        for f in matrices() {
            let Svd { u, sigma, v } = svd(f);
            assert_rotation(u);
            assert_rotation(v);
            let rounded = 1e-14 * sigma.x;
            assert!(sigma.x >= sigma.y - rounded && sigma.y >= sigma.z.abs() - rounded, "{sigma}");
            let again = u * DMat3::from_diagonal(sigma) * v.transpose();
            assert!(size(again - f) <= 1e-14 * size(f), "{f} {again}");
        }
    }

    #[test]
    fn small_singular_values_are_exact_to_all_digits() {
        let (u, v) = (rotation(DVec3::new(10.0, 50.0, -70.0)), rotation(DVec3::new(-30.0, 20.0, 80.0)));
        let f = DMat3::from_quat(u) * DMat3::from_diagonal(DVec3::new(1.0, 1e-3, 1e-6));
        // Columns of very different length keep their digits: the condition that matters is that of the scaled matrix.
        assert!((svd(f).sigma.z / 1e-6 - 1.0).abs() < 1e-13);
        let both = f * DMat3::from_quat(v);
        assert!((svd(both).sigma.z / 1e-6 - 1.0).abs() < 1e-9);
    }

    #[test]
    fn polar_gives_the_rotation_of_what_is_stretched() {
        for k in 0..50u32 {
            let turn = DMat3::from_quat(rotation(DVec3::new(3.0, 1.0, -2.0) * f64::from(k) * 3.0));
            let a = random(k.into());
            let stretch = a * a.transpose() + DMat3::IDENTITY * 0.1;
            assert!(size(polar(turn * stretch) - turn) < 1e-12);
        }
        // Newton's iteration against singular values.
        for f in matrices().into_iter().filter(|f| f.determinant() > 1e-2 * size(*f) * size(*f) * size(*f)) {
            let Svd { u, v, .. } = svd(f);
            assert!(size(polar(f) - u * v.transpose()) < 1e-13, "{f}");
        }
    }

    #[test]
    fn qr_is_a_rotation_times_a_triangle() {
        for f in matrices() {
            let (q, u) = qr(f);
            assert_rotation(q);
            assert!(size(q * u - f) <= 1e-13 * size(f), "{f}");
            assert!(u.x_axis.x >= 0.0 && u.y_axis.y >= -1e-14 * size(f));
            assert!(u.z_axis.z * f.determinant() >= -1e-12 * (size(f) * size(f)) * (size(f) * size(f)));
        }
    }
}
