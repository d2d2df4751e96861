//! The flat sheet: a simple polygon, and whether points of an outline see each other inside it (ROH-91, ROH-92).

use glam::DVec2;

use super::PaperError;
use super::mesh::{STRAIGHT, orientation, turns_left, turns_right};

/// Most corners of a pattern.
pub const MAX_CORNERS: usize = 1000;

/// A simple polygon, its corners counter-clockwise, with the length along its outline.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    corners: Vec<DVec2>,
    /// Length along the outline at which each side begins, m, and the whole at the end.
    starts: Vec<f64>,
    reversed: bool,
}

impl Pattern {
    /// From its corners in either sense. The first stays the first.
    pub fn new(corners: &[DVec2]) -> Result<Pattern, PaperError> {
        let n = corners.len();
        if n < 3 {
            return Err(PaperError::FewCorners(n));
        }
        if n > MAX_CORNERS {
            return Err(PaperError::ManyCorners(n));
        }
        if let Some(corner) = corners.iter().position(|c| !c.is_finite() || c.abs().max_element() > 1e6) {
            return Err(PaperError::CornerNotFinite(corner));
        }
        if let Some(k) = (0..n).find(|&k| corners[k].distance(corners[(k + 1) % n]) <= 1e-9) {
            return Err(PaperError::SideWithoutLength(k));
        }
        let twice_area: f64 =
            (0..n).map(|k| (corners[k] - corners[0]).perp_dot(corners[(k + 1) % n] - corners[0])).sum();
        for i in 0..n {
            for j in i + 1..n {
                let adjacent = j == i + 1 || (i == 0 && j == n - 1);
                let (a, b, c, d) = (corners[i], corners[(i + 1) % n], corners[j], corners[(j + 1) % n]);
                if !adjacent && meet(a, b, c, d) || adjacent && folds_back(a, b, c, d) {
                    return Err(PaperError::SidesCross(i, j));
                }
            }
        }
        let reversed = twice_area < 0.0;
        let mut corners = corners.to_vec();
        if reversed {
            corners[1..].reverse();
        }
        let mut starts = vec![0.0];
        let mut length = 0.0;
        for k in 0..n {
            length += corners[k].distance(corners[(k + 1) % n]);
            starts.push(length);
        }
        Ok(Pattern { corners, starts, reversed })
    }

    /// A rectangle with one corner at the origin, m.
    pub fn rectangle(width: f64, height: f64) -> Result<Pattern, PaperError> {
        Pattern::new(&[
            DVec2::ZERO,
            DVec2::new(width, 0.0),
            DVec2::new(width, height),
            DVec2::new(0.0, height),
        ])
    }

    /// Its corners, counter-clockwise.
    pub fn corners(&self) -> &[DVec2] {
        &self.corners
    }

    /// Length of its outline, m.
    pub fn length(&self) -> f64 {
        self.starts[self.corners.len()]
    }

    /// Whether the corners were given clockwise: a border given in the same sense has to be turned round too.
    pub fn is_reversed(&self) -> bool {
        self.reversed
    }

    /// Share of the outline at which a corner is.
    pub fn corner_share(&self, corner: usize) -> f64 {
        self.starts[corner.min(self.corners.len())] / self.length()
    }

    /// Its area, m².
    pub fn area(&self) -> f64 {
        let n = self.corners.len();
        let from = self.corners[0];
        0.5 * (0..n).map(|k| (self.corners[k] - from).perp_dot(self.corners[(k + 1) % n] - from)).sum::<f64>()
    }

    /// Longest side, m.
    pub fn longest_side(&self) -> f64 {
        self.starts.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max)
    }

    /// The point at a share of the outline, 0 to 1, from the first corner on.
    pub fn at(&self, share: f64) -> DVec2 {
        let n = self.corners.len();
        let along = share.clamp(0.0, 1.0) * self.length();
        let side = self.starts.partition_point(|&start| start <= along).clamp(1, n) - 1;
        let part = (along - self.starts[side]) / (self.starts[side + 1] - self.starts[side]);
        self.corners[side].lerp(self.corners[(side + 1) % n], part.clamp(0.0, 1.0))
    }

    /// The share of the outline that is nearest to a point, and how far from it that is, m.
    pub fn nearest(&self, point: DVec2) -> (f64, f64) {
        let n = self.corners.len();
        let on_side = |k: usize| {
            let (a, way) = (self.corners[k], self.corners[(k + 1) % n] - self.corners[k]);
            let part = ((point - a).dot(way) / way.length_squared()).clamp(0.0, 1.0);
            let along = self.starts[k] + part * (self.starts[k + 1] - self.starts[k]);
            (along / self.length(), point.distance(a + way * part))
        };
        (0..n).map(on_side).min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or((0.0, f64::INFINITY))
    }

    /// Shares of the outline at every corner and at equal distances of about `step` in between, and at the `extra` ones that are
    /// not as near as a quarter of a step to one of those.
    pub(super) fn samples(&self, step: f64, extra: &[f64]) -> Vec<f64> {
        let (n, length) = (self.corners.len(), self.length());
        let mut shares = Vec::new();
        for side in 0..n {
            let (from, to) = (self.starts[side], self.starts[side + 1]);
            let pieces = ((to - from) / step).round().max(1.0);
            let mut k = 0.0;
            while k < pieces {
                shares.push((from + (to - from) * (k / pieces)) / length);
                k += 1.0;
            }
        }
        let corners: Vec<f64> = self.starts.iter().map(|start| start / length).collect();
        let near = 0.25 * step / length;
        for &share in extra {
            if !corners.iter().any(|corner| (corner - share).abs() < near) {
                // It takes the place of a sample that is near, so that no side gets very short.
                shares.retain(|s| corners.contains(s) || (s - share).abs() >= near);
                shares.push(share);
            }
        }
        shares.sort_by(f64::total_cmp);
        shares.dedup();
        shares
    }
}

/// Whether two segments have a point in common.
fn meet(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> bool {
    if a.max(b).cmplt(c.min(d)).any() || c.max(d).cmplt(a.min(b)).any() {
        return false;
    }
    let (abc, abd) = (orientation(a, b, c), orientation(a, b, d));
    let (cda, cdb) = (orientation(c, d, a), orientation(c, d, b));
    if abc * abd < 0.0 && cda * cdb < 0.0 {
        return true;
    }
    let on =
        |o: f64, a: DVec2, b: DVec2, p: DVec2| o == 0.0 && a.min(b).cmple(p).all() && a.max(b).cmpge(p).all();
    on(abc, a, b, c) || on(abd, a, b, d) || on(cda, c, d, a) || on(cdb, c, d, b)
}

/// Whether the later of two sides that share a corner goes back along the earlier.
fn folds_back(a: DVec2, b: DVec2, c: DVec2, d: DVec2) -> bool {
    let (from, corner, to) = if b == c { (a, b, d) } else { (c, a, b) };
    let (p, q) = (corner - from, to - corner);
    p.perp_dot(q).abs() <= STRAIGHT * p.length() * q.length() && p.dot(q) < 0.0
}

/// Which vertices of a loop see each other through its inside.
#[derive(Debug, Default)]
pub(super) struct Sight {
    outline: Vec<DVec2>,
    /// Of each vertex the straight run of the loop that it ends and the one that it begins; the same within a run.
    runs: Vec<[u32; 2]>,
    convex: bool,
}

impl Sight {
    /// Looks at a loop, counter-clockwise.
    pub(super) fn look(&mut self, outline: impl Iterator<Item = DVec2>) {
        self.outline.clear();
        self.outline.extend(outline);
        let n = self.outline.len();
        let turn = |k: usize| {
            let (a, b, c) = (self.outline[(k + n - 1) % n], self.outline[k], self.outline[(k + 1) % n]);
            (turns_left(a, b, c), turns_right(a, b, c))
        };
        self.convex = (0..n).all(|k| !turn(k).1);
        self.runs.clear();
        self.runs.resize(n, [0; 2]);
        let corner = |k: usize| turn(k) != (false, false);
        let Some(first) = (0..n).find(|&k| corner(k)) else { return };
        let mut run = 0;
        for k in (first..first + n).map(|k| k % n) {
            if corner(k) {
                self.runs[k] = [run, run + 1];
                run += 1;
            } else {
                self.runs[k] = [run; 2];
            }
        }
        // The last run ends where the first began.
        self.runs[first][0] = run;
    }

    /// Whether a chord between two vertices, which are not neighbours, is inside but for its ends.
    pub(super) fn sees(&self, i: usize, j: usize) -> bool {
        let (a, b) = (self.runs[i], self.runs[j]);
        if a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1] {
            return false;
        }
        self.convex || self.is_inside(i, j)
    }

    fn is_inside(&self, i: usize, j: usize) -> bool {
        let n = self.outline.len();
        let (p, q) = (self.outline[i], self.outline[j]);
        for k in 0..n {
            let next = (k + 1) % n;
            if k == i || k == j || next == i || next == j {
                continue;
            }
            if meet(p, q, self.outline[k], self.outline[next]) {
                return false;
            }
        }
        // Neighbours of the ends may lie on the chord.
        let on = |k: usize| {
            let v = self.outline[k];
            (q - p).perp_dot(v - p).abs() <= STRAIGHT * (q - p).length() * (v - p).length()
                && (v - p).dot(q - p) > 0.0
                && (v - q).dot(p - q) > 0.0
        };
        if [i + 1, i + n - 1, j + 1, j + n - 1].iter().any(|k| on(k % n)) {
            return false;
        }
        let middle = 0.5 * (p + q);
        let mut inside = false;
        for k in 0..n {
            let (a, b) = (self.outline[k], self.outline[(k + 1) % n]);
            if (a.y > middle.y) != (b.y > middle.y) {
                let x = a.x + (middle.y - a.y) / (b.y - a.y) * (b.x - a.x);
                inside ^= x > middle.x;
            }
        }
        inside
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(corners: &[(f64, f64)]) -> Result<Pattern, PaperError> {
        Pattern::new(&corners.iter().map(|&(x, y)| DVec2::new(x, y)).collect::<Vec<_>>())
    }

    #[test]
    fn bad_patterns_are_named() {
        assert!(matches!(pattern(&[(0.0, 0.0), (1.0, 0.0)]), Err(PaperError::FewCorners(2))));
        assert!(matches!(
            pattern(&[(0.0, 0.0), (1.0, f64::NAN), (1.0, 1.0)]),
            Err(PaperError::CornerNotFinite(1))
        ));
        assert!(matches!(
            pattern(&[(0.0, 0.0), (0.0, 0.0), (1.0, 1.0)]),
            Err(PaperError::SideWithoutLength(0))
        ));
        let bow = [(0.0, 0.0), (1.0, 1.0), (1.0, 0.0), (0.0, 1.0)];
        assert!(matches!(pattern(&bow), Err(PaperError::SidesCross(0, 2))));
        let line = [(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)];
        assert!(matches!(pattern(&line), Err(PaperError::SidesCross(..))));
        assert!(matches!(Pattern::new(&vec![DVec2::ZERO; 5000]), Err(PaperError::ManyCorners(5000))));
    }

    #[test]
    fn clockwise_is_turned_round() {
        let p = pattern(&[(0.0, 0.0), (0.0, 1.0), (2.0, 1.0), (2.0, 0.0)]).unwrap();
        assert!(p.is_reversed() && p.area() == 2.0 && p.length() == 6.0);
        assert_eq!(p.at(0.0), DVec2::ZERO);
        assert_eq!(p.at(1.0 / 3.0), DVec2::new(2.0, 0.0));
        assert_eq!(p.at(0.25), DVec2::new(1.5, 0.0));
    }

    #[test]
    fn sight_in_an_angle_ends_at_its_inner_corner() {
        // An L: from one arm the end of the other is hidden.
        let corners = [(0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0)];
        let mut sight = Sight::default();
        sight.look(corners.iter().map(|&(x, y)| DVec2::new(x, y)));
        assert!(!sight.sees(2, 4) && !sight.sees(2, 5) && !sight.sees(1, 4));
        assert!(sight.sees(0, 3) && sight.sees(1, 3) && sight.sees(0, 2));
        // Through the inner corner is not inside.
        assert!(!sight.sees(1, 5));
    }
}
