//! The tip of a cone inside a region (beyond the seed).
//!
//! Where paper is pushed in, its creases meet in a point, and around it the sheet is a cone: no chord of its border is a ruling, as all rulings end at the tip, and folds from border to
//! border find it only by chance. A cone is isometric if its tip is as far from every point of the border in space as in the pattern, |x − G(u)| = |x̄ − Ḡ(u)|: five unknowns, found by
//! the method of Levenberg and Marquardt from several starts.

use glam::{DMat3, DVec2, DVec3};

/// Steps of a search that is only begun, and of one that is ended.
const FIRST_STEPS: usize = 4;
const LAST_STEPS: usize = 16;
/// Share of the matrix that is added to its diagonal at first.
const DAMPING: f64 = 1e-3;

/// A tip: where it is in the pattern and in space, m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tip {
    pub(super) flat: DVec2,
    pub(super) there: DVec3,
}

/// Sum of the squared differences of distances, and what it is made of: half its derivative and an approximation of half the second one.
struct Misfit {
    value: f64,
    gradient: [f64; 5],
    matrix: [[f64; 5]; 5],
}

fn misfit(flat: &[DVec2], there: &[DVec3], tip: &Tip) -> Misfit {
    let mut sum = Misfit { value: 0.0, gradient: [0.0; 5], matrix: [[0.0; 5]; 5] };
    for (p, q) in flat.iter().zip(there) {
        let (a, b) = (tip.flat - *p, tip.there - *q);
        let (near, far) = (a.length(), b.length());
        let (a, b) = (a / near.max(f64::MIN_POSITIVE), b / far.max(f64::MIN_POSITIVE));
        let row = [-a.x, -a.y, b.x, b.y, b.z];
        let off = far - near;
        sum.value += off * off;
        for i in 0..5 {
            sum.gradient[i] += row[i] * off;
            for j in 0..=i {
                sum.matrix[i][j] += row[i] * row[j];
            }
        }
    }
    sum
}

/// Solves a symmetric positive system of five, of which the lower half is given, by Cholesky's method; nothing if it is not positive.
fn solve(mut m: [[f64; 5]; 5], mut x: [f64; 5]) -> Option<[f64; 5]> {
    for i in 0..5 {
        for j in 0..=i {
            let sum = m[i][j] - (0..j).map(|k| m[i][k] * m[j][k]).sum::<f64>();
            if i == j {
                if sum.is_nan() || sum <= 0.0 {
                    return None;
                }
                m[i][i] = sum.sqrt();
            } else {
                m[i][j] = sum / m[j][j];
            }
        }
        x[i] = (x[i] - (0..i).map(|k| m[i][k] * x[k]).sum::<f64>()) / m[i][i];
    }
    for i in (0..5).rev() {
        x[i] = (x[i] - (i + 1..5).map(|k| m[k][i] * x[k]).sum::<f64>()) / m[i][i];
    }
    Some(x)
}

/// Goes down from a start; the sum where it ends.
fn descend(flat: &[DVec2], there: &[DVec3], tip: &mut Tip, steps: usize) -> f64 {
    let mut now = misfit(flat, there, tip);
    let mut damping = DAMPING;
    for _ in 0..steps {
        let mut matrix = now.matrix;
        let trace: f64 = (0..5).map(|i| matrix[i][i]).sum();
        (0..5).for_each(|i| matrix[i][i] += damping * trace);
        let Some([a, b, x, y, z]) = solve(matrix, now.gradient.map(|g| -g)) else { break };
        let next = Tip { flat: tip.flat + DVec2::new(a, b), there: tip.there + DVec3::new(x, y, z) };
        let then = misfit(flat, there, &next);
        if then.value < now.value {
            let gained = now.value - then.value;
            (*tip, now) = (next, then);
            damping *= 0.1;
            if gained <= 1e-6 * now.value {
                break;
            }
        } else {
            damping = (10.0 * damping).max(1e-6);
        }
    }
    now.value
}

/// Where in space the tip of a cone is, by the squares of distances, if it is there in the pattern: on both sides of the border where that is nearly plane.
fn lifted(flat: &[DVec2], there: &[DVec3], normal: DVec3, tip: DVec2) -> [DVec3; 2] {
    let n = there.len() as f64;
    let middle = there.iter().sum::<DVec3>() / n;
    let mut matrix = DMat3::ZERO;
    let (mut right, mut mean) = (DVec3::ZERO, 0.0);
    for (p, q) in flat.iter().zip(there) {
        let q = *q - middle;
        matrix += DMat3::from_cols(q * q.x, q * q.y, q * q.z);
        let off = q.length_squared() - tip.distance_squared(*p);
        right += q * (0.5 * off);
        mean += tip.distance_squared(*p) / n;
    }
    let trace = matrix.x_axis.x + matrix.y_axis.y + matrix.z_axis.z;
    let x = (matrix + DMat3::from_diagonal(DVec3::splat(1e-3 * trace))).inverse() * right;
    let squares: f64 = there.iter().map(|q| (*q - middle - x).length_squared()).sum::<f64>() / n;
    let rise = (mean - squares).max(0.0).sqrt();
    [middle + x + normal * rise, middle + x - normal * rise]
}

/// Whether a point sees all of a loop: all triangles from it to the sides turn left.
fn sees_all(flat: &[DVec2], tip: DVec2) -> bool {
    let n = flat.len();
    (0..n).all(|k| {
        let (a, b) = (flat[k], flat[(k + 1) % n]);
        (a - tip).perp_dot(b - tip) > 1e-3 * a.distance_squared(b)
    })
}

/// The best tip of a cone over a loop that is found, from so many starts in each direction of the pattern.
pub(super) fn find_tip(flat: &[DVec2], there: &[DVec3], normal: DVec3, starts: usize) -> Option<Tip> {
    let normal = normal.try_normalize()?;
    let (low, high) = flat.iter().fold((flat[0], flat[0]), |(low, high), p| (low.min(*p), high.max(*p)));
    let mut best: Option<(f64, Tip)> = None;
    for k in 0..starts * starts {
        let share = |k: usize| (k as f64 + 0.5) / starts as f64;
        let at = low + (high - low) * DVec2::new(share(k % starts), share(k / starts));
        if !sees_all(flat, at) {
            continue;
        }
        for there_at in lifted(flat, there, normal, at) {
            let mut tip = Tip { flat: at, there: there_at };
            let value = descend(flat, there, &mut tip, FIRST_STEPS);
            if best.is_none_or(|(least, _)| value < least) {
                best = Some((value, tip));
            }
        }
    }
    let (_, mut tip) = best?;
    descend(flat, there, &mut tip, LAST_STEPS);
    (sees_all(flat, tip.flat) && tip.there.is_finite()).then_some(tip)
}

#[cfg(test)]
mod tests {
    use super::super::{Border, Case, Settings, Sheet};
    use super::*;

    /// Both borders are those of cones that are known, with the tip in space at the origin.
    #[test]
    fn the_tip_of_a_cone_is_found_from_its_border_alone() {
        for (case, apex) in [(Case::Pinched, DVec2::new(0.5, 0.33)), (Case::Folded, DVec2::new(0.47, 0.36))] {
            let (pattern, points) = case.make().unwrap();
            let border = Border::matched(&pattern, &points, 0.02).unwrap();
            let tip = find_tip(&border.pattern, &border.places, DVec3::Z, 4).unwrap();
            assert!(tip.flat.distance(apex) < 0.01 && tip.there.length() < 0.01, "{tip:?}");
            // And the sheet has it: one vertex inside, and next to no strain.
            let sheet = Sheet::new(&pattern, &points, &Settings::default()).unwrap();
            assert_eq!(sheet.places.len(), sheet.border + 1);
            assert!(sheet.isometry().strain < 1e-3, "{:?}", sheet.isometry());
        }
    }

    #[test]
    fn where_there_is_no_cone_none_is_made_up() {
        // All of it in one place, and a loop that no point sees all of.
        let square = [DVec2::ZERO, DVec2::X, DVec2::ONE, DVec2::Y];
        assert_eq!(find_tip(&square, &[DVec3::ZERO; 4], DVec3::ZERO, 3), None);
        let arrow = [DVec2::ZERO, DVec2::new(1.0, 1.0), DVec2::new(0.0, 0.9), DVec2::new(-1.0, 1.0)];
        let there = arrow.map(|p| p.extend(0.0));
        if let Some(tip) = find_tip(&arrow, &there, DVec3::Z, 3) {
            assert!(sees_all(&arrow, tip.flat));
        }
        let nowhere = [DVec3::NAN; 4];
        assert_eq!(find_tip(&square, &nowhere, DVec3::Z, 3), None);
    }
}
