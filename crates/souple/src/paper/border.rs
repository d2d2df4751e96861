//! The border of a sheet in space: matched with the outline of the pattern, judged, mended, pulled by handles (ROH-89 to
//! ROH-91, ROH-98).
//!
//! Three criteria are necessary for a sheet without stretch: (i) each piece of the border has the length it has in the pattern; (ii) no two
//! points that see each other through the pattern are further apart than there; (iii) no angle between the sides at a corner is larger
//! than there, which follows from the others. The seed meets (i) by walks forwards and backwards, whose mean is off again.
//! Here it is Newton's method for all lengths at once, p − Jᵀ (J Jᵀ)⁻¹ C, whose matrix is tridiagonal but for its corners
//! (Goldenthal 2007): exact, closed, in a few steps.

use glam::{DVec2, DVec3};

use super::pattern::Sight;
use super::{MAX_POINTS, PaperError, Pattern};
use crate::math;

/// Times that lengths and chords are mended in turn.
const MAX_ROUNDS: usize = 60;
/// Rounds that make a border that is pulled smooth.
const FAIRINGS: usize = 20;
/// Error of lengths, as a share, that is left.
const GOOD: f64 = 1e-6;
/// Excess of chords, as a share, and of angles, rad, that is left: below what a sheet is off itself.
const ENOUGH: f64 = 1e-4;

/// A closed border, sampled where vertices of the sheet will be.
#[derive(Clone, Debug, PartialEq)]
pub struct Border {
    /// Share of the outline of each sample, ascending from 0.
    pub shares: Vec<f64>,
    /// The samples in the pattern, m.
    pub pattern: Vec<DVec2>,
    /// The samples in space, m.
    pub places: Vec<DVec3>,
}

/// A point of the border that is held somewhere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Handle {
    /// Which, by its share of the outline, 0 to 1.
    pub share: f64,
    /// Where to, m.
    pub place: DVec3,
}

/// How far a border is from what a sheet can have, all as shares but for the angle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Criteria {
    /// Length in space over length in the pattern, less 1.
    pub whole_length: f64,
    /// Largest |l / l̄ − 1| of a piece between samples.
    pub length: f64,
    /// Largest excess of a chord over the pattern; 0 if none exceeds.
    pub chord: f64,
    /// Largest excess of the angle at a corner, rad; 0 if none exceeds.
    pub angle: f64,
}

/// What was done to a border.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repair {
    /// How it was.
    pub before: Criteria,
    /// How it is.
    pub after: Criteria,
    /// Furthest that a point was moved, m.
    pub moved: f64,
}

/// Checks a closed curve given by points; the first may be given again at the end.
fn closed(points: &[DVec3]) -> Result<&[DVec3], PaperError> {
    if points.len() > MAX_POINTS {
        return Err(PaperError::ManyPoints(points.len()));
    }
    if let Some(k) = points.iter().position(|p| !p.is_finite() || p.abs().max_element() > 1e6) {
        return Err(PaperError::PointNotFinite(k));
    }
    let points = match points {
        [first, rest @ .., last] if !rest.is_empty() && first == last => &points[..points.len() - 1],
        _ => points,
    };
    let n = points.len();
    if n < 3 {
        return Err(PaperError::FewPoints(n));
    }
    let longest = points.windows(2).map(|pair| pair[0].distance(pair[1])).fold(0.0, f64::max);
    let gap = points[n - 1].distance(points[0]);
    // A coarse polygon may have one long side at the end; a fine curve with a hole is open.
    if n >= 8 && gap > 4.0 * longest {
        return Err(PaperError::NotClosed { gap, longest });
    }
    Ok(points)
}

impl Border {
    /// Matches a closed curve in space with a pattern by relative arc length, its first point with the first corner. Samples are `step` apart,
    /// and at corners of both.
    pub fn matched(pattern: &Pattern, points: &[DVec3], step: f64) -> Result<Border, PaperError> {
        let points = closed(points)?;
        let curve = Curve::new(points, pattern.is_reversed());
        let (border, outline) = (curve.length(), pattern.length());
        if !(border > 0.25 * outline && border < 4.0 * outline) {
            return Err(PaperError::Length { border, pattern: outline });
        }
        let shares = pattern.samples(step, &curve.corners());
        let places = shares.iter().map(|&share| curve.at(share)).collect();
        let flat = shares.iter().map(|&share| pattern.at(share)).collect();
        Ok(Border { shares, pattern: flat, places })
    }

    /// The border of the flat sheet in the plane z = 0, or wherever `place` puts it.
    pub fn flat(pattern: &Pattern, step: f64, place: impl Fn(DVec2) -> DVec3) -> Border {
        let shares = pattern.samples(step, &[]);
        let flat: Vec<DVec2> = shares.iter().map(|&share| pattern.at(share)).collect();
        Border { places: flat.iter().map(|p| place(*p)).collect(), shares, pattern: flat }
    }

    /// The same samples of another curve in space.
    pub fn follow(&mut self, pattern: &Pattern, points: &[DVec3]) -> Result<(), PaperError> {
        let points = closed(points)?;
        let curve = Curve::new(points, pattern.is_reversed());
        let (border, outline) = (curve.length(), pattern.length());
        if !(border > 0.25 * outline && border < 4.0 * outline) {
            return Err(PaperError::Length { border, pattern: outline });
        }
        self.places.iter_mut().zip(&self.shares).for_each(|(place, &share)| *place = curve.at(share));
        Ok(())
    }

    /// Length in the pattern from each sample to the next, m.
    fn lengths(&self) -> Vec<f64> {
        let n = self.pattern.len();
        (0..n).map(|k| self.pattern[k].distance(self.pattern[(k + 1) % n])).collect()
    }

    /// Whether the outline has a corner at a sample.
    fn is_corner(&self, k: usize) -> bool {
        let n = self.pattern.len();
        let (a, b) =
            (self.pattern[k] - self.pattern[(k + n - 1) % n], self.pattern[(k + 1) % n] - self.pattern[k]);
        a.perp_dot(b).abs() > 1e-6 * a.length() * b.length()
    }

    /// Angle at a sample in the pattern, through the sheet, and in space, rad. Over 180° in the pattern nothing is asked.
    fn corner_angles(&self, k: usize) -> [f64; 2] {
        let n = self.pattern.len();
        let (before, after) = ((k + n - 1) % n, (k + 1) % n);
        let (a, b) = (self.pattern[before] - self.pattern[k], self.pattern[after] - self.pattern[k]);
        let flat = math::atan2(b.perp_dot(a), b.dot(a));
        let flat = if flat < 0.0 { flat + std::f64::consts::TAU } else { flat };
        let (p, q) = (self.places[before] - self.places[k], self.places[after] - self.places[k]);
        [flat, math::atan2(p.cross(q).length(), p.dot(q))]
    }

    /// How far it is from what a sheet can have.
    pub fn criteria(&self) -> Criteria {
        let n = self.places.len();
        let lengths = self.lengths();
        let side = |k: usize| self.places[k].distance(self.places[(k + 1) % n]);
        let mut sight = Sight::default();
        sight.look(self.pattern.iter().copied());
        let mut criteria = Criteria {
            whole_length: (0..n).map(side).sum::<f64>() / lengths.iter().sum::<f64>() - 1.0,
            length: (0..n).map(|k| (side(k) / lengths[k] - 1.0).abs()).fold(0.0, f64::max),
            ..Criteria::default()
        };
        for (i, j) in pairs(n) {
            let excess =
                self.places[i].distance(self.places[j]) / self.pattern[i].distance(self.pattern[j]) - 1.0;
            if excess > criteria.chord && sight.sees(i, j) {
                criteria.chord = excess;
            }
        }
        for k in (0..n).filter(|&k| self.is_corner(k)) {
            let [flat, angle] = self.corner_angles(k);
            criteria.angle = criteria.angle.max(angle - flat);
        }
        criteria
    }

    /// Moves it, as little as is easy, to where lengths hold to a millionth and the other criteria to 1e-4, or as near as it gets.
    pub fn repair(&mut self) -> Repair {
        let given = self.places.clone();
        let before = self.criteria();
        if before.length > GOOD || before.chord > ENOUGH || before.angle > ENOUGH {
            // One that is of the wrong size as a whole is scaled first: chord by chord it would crumple.
            if before.whole_length.abs() > 0.01 {
                let middle = self.places.iter().sum::<DVec3>() / given.len() as f64;
                let scale = 1.0 / (1.0 + before.whole_length);
                self.places.iter_mut().for_each(|place| *place = middle + (*place - middle) * scale);
            }
            self.project(&vec![1.0; given.len()]);
        }
        let moved = given.iter().zip(&self.places).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        Repair { before, after: self.criteria(), moved }
    }

    /// Pulls points to where they are wanted; the rest follows with the lengths it has in the pattern. What is wanted may be too far: then the
    /// lengths win. Says how far the criteria are met.
    pub fn pull(&mut self, handles: &[Handle]) -> Result<Criteria, PaperError> {
        let n = self.places.len();
        let mut freedom = vec![1.0; n];
        let mut held: Vec<(usize, DVec3)> = Vec::with_capacity(handles.len());
        for (k, handle) in handles.iter().enumerate() {
            let share_known = (0.0..=1.0).contains(&handle.share);
            if !share_known || !handle.place.is_finite() || handle.place.abs().max_element() > 1e6 {
                return Err(PaperError::Handle(k));
            }
            let nearest = self.nearest(handle.share);
            held.retain(|(other, _)| *other != nearest);
            held.push((nearest, handle.place - self.places[nearest]));
            freedom[nearest] = 0.0;
        }
        held.sort_by_key(|(k, _)| *k);
        // What is between two handles goes along with both, each as much as it is near: left to the lengths alone, only what is beside a
        // handle would give way, and crumple.
        for (h, &(from, first)) in held.iter().enumerate() {
            let (to, second) = held[(h + 1) % held.len()];
            let count = if to > from { to - from } else { to + n - from };
            for step in 0..count {
                self.places[(from + step) % n] += first.lerp(second, step as f64 / count as f64);
            }
        }
        self.fair(&freedom);
        self.project(&freedom);
        let criteria = self.criteria();
        if criteria.length > 1e-3 {
            // Held too far apart: the handles give way.
            self.project(&vec![1.0; self.places.len()]);
            return Ok(self.criteria());
        }
        Ok(criteria)
    }

    /// Where a share of the outline is in space, between samples in a straight line, m.
    pub fn at(&self, share: f64) -> DVec3 {
        let n = self.shares.len();
        let next = self.shares.partition_point(|&s| s <= share).clamp(1, n);
        let (from, to) = (self.shares[next - 1], self.shares.get(next).copied().unwrap_or(1.0));
        let part = if to > from { ((share - from) / (to - from)).clamp(0.0, 1.0) } else { 0.0 };
        self.places[next - 1].lerp(self.places[next % n], part)
    }

    /// The sample nearest to a share of the outline, either way round.
    pub fn nearest(&self, share: f64) -> usize {
        let away = |s: f64| (s - share).abs().min(1.0 - (s - share).abs());
        let nearer = |a: &usize, b: &usize| away(self.shares[*a]).total_cmp(&away(self.shares[*b]));
        (0..self.shares.len()).min_by(nearer).unwrap_or(0)
    }

    /// Takes zigzags out: lengths alone do not tell one wide bend from many narrow ones, and paper resists narrow ones. Down the sum of
    /// |p₋ − 2 p + p₊|² but at corners, with the lengths kept in turn.
    fn fair(&mut self, freedom: &[f64]) {
        let lengths = self.lengths();
        let n = self.places.len();
        let smooth: Vec<usize> = (0..n).filter(|&k| !self.is_corner(k)).collect();
        for _ in 0..FAIRINGS {
            let mut moves = vec![DVec3::ZERO; n];
            for &k in &smooth {
                let (before, after) = ((k + n - 1) % n, (k + 1) % n);
                // The largest factor that is stable is 1/16.
                let bend = (self.places[before] - self.places[k] * 2.0 + self.places[after]) / 16.0;
                moves[before] -= bend;
                moves[k] += bend * 2.0;
                moves[after] -= bend;
            }
            self.places
                .iter_mut()
                .zip(&moves)
                .zip(freedom)
                .for_each(|((place, by), free)| *place += *by * *free);
            keep_lengths(&mut self.places, &lengths, freedom, 2);
        }
    }

    /// Chords, angles and lengths in turn, each point as free to move as is said, 0 to 1.
    fn project(&mut self, freedom: &[f64]) {
        let lengths = self.lengths();
        let mut sight = Sight::default();
        sight.look(self.pattern.iter().copied());
        let n = self.places.len();
        let seen: Vec<(usize, usize, f64)> = pairs(n)
            .filter(|&(i, j)| sight.sees(i, j))
            .map(|(i, j)| (i, j, self.pattern[i].distance(self.pattern[j])))
            .collect();
        let corners: Vec<usize> = (0..n).filter(|&k| self.is_corner(k)).collect();
        for _ in 0..MAX_ROUNDS {
            let chords = self.shorten_chords(&seen, freedom);
            let angles = self.close_angles(&corners, freedom);
            let off = keep_lengths(&mut self.places, &lengths, freedom, 3);
            if chords <= ENOUGH && angles <= ENOUGH && off <= GOOD.max(0.1 * ENOUGH) {
                break;
            }
        }
        keep_lengths(&mut self.places, &lengths, freedom, 20);
    }

    /// Draws the ends of each chord that is too long together. The largest excess before, as a share.
    fn shorten_chords(&mut self, seen: &[(usize, usize, f64)], freedom: &[f64]) -> f64 {
        let mut worst: f64 = 0.0;
        for &(i, j, length) in seen {
            let way = self.places[j] - self.places[i];
            let distance = way.length();
            let excess = distance - length;
            let both = freedom[i] + freedom[j];
            if excess > 0.0 && both > 0.0 {
                worst = worst.max(excess / length);
                let share = way * (excess / distance / both);
                self.places[i] += share * freedom[i];
                self.places[j] -= share * freedom[j];
            }
        }
        worst
    }

    /// Draws the neighbours of each corner that is too wide together, which is what turning its two sides does. The largest excess before, rad.
    fn close_angles(&mut self, corners: &[usize], freedom: &[f64]) -> f64 {
        let n = self.places.len();
        let mut worst: f64 = 0.0;
        for &k in corners {
            let [flat, angle] = self.corner_angles(k);
            if angle <= flat {
                continue;
            }
            worst = worst.max(angle - flat);
            let (i, j) = ((k + n - 1) % n, (k + 1) % n);
            let (a, b) = (self.places[i].distance(self.places[k]), self.places[j].distance(self.places[k]));
            let wanted = (a * a + b * b - 2.0 * a * b * math::cos(flat)).max(0.0).sqrt();
            let way = self.places[j] - self.places[i];
            let (distance, both) = (way.length(), freedom[i] + freedom[j]);
            if distance > wanted && both > 0.0 {
                let share = way * ((distance - wanted) / distance / both);
                self.places[i] += share * freedom[i];
                self.places[j] -= share * freedom[j];
            }
        }
        worst
    }
}

/// Where shares of the outline are on a closed curve in space, which is matched with it by relative arc length, m.
pub fn along(pattern: &Pattern, points: &[DVec3], shares: &[f64]) -> Result<Vec<DVec3>, PaperError> {
    let curve = Curve::new(closed(points)?, pattern.is_reversed());
    Ok(shares.iter().map(|&share| curve.at(share)).collect())
}

/// The vertices around a mesh that is one sheet with one border, in order, counter-clockwise where its triangles are (ROH-90).
pub fn outline(triangles: &[[u32; 3]]) -> Result<Vec<u32>, PaperError> {
    let mut sides: Vec<(u32, u32)> =
        triangles.iter().flat_map(|t| [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])]).collect();
    sides.sort_unstable();
    let open: Vec<(u32, u32)> =
        sides.iter().copied().filter(|&(a, b)| sides.binary_search(&(b, a)).is_err()).collect();
    let none = |what: &str| PaperError::NoBorder(what.to_owned());
    let Some(&(first, mut next)) = open.first() else {
        return Err(none("the mesh has no border; take an open sheet"));
    };
    let mut around = vec![first];
    while next != first {
        around.push(next);
        let from = open.partition_point(|side| side.0 < next);
        match open.get(from) {
            Some(&(a, b)) if a == next && around.len() <= open.len() => next = b,
            _ => {
                return Err(none(
                    "the border of the mesh is not one closed curve; take a sheet without cuts",
                ));
            }
        }
    }
    if around.len() != open.len() {
        return Err(none("the mesh has several borders; take a sheet without holes"));
    }
    Ok(around)
}

/// Pairs of samples that are not neighbours.
fn pairs(n: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..n).flat_map(move |i| (i + 2..n).filter(move |&j| !(i == 0 && j == n - 1)).map(move |j| (i, j)))
}

/// Newton's method for the lengths of a closed curve, so many steps at most. The largest |l / l̄ − 1| before the first step.
fn keep_lengths(places: &mut [DVec3], lengths: &[f64], freedom: &[f64], steps: usize) -> f64 {
    let n = places.len();
    let mut first = None;
    for _ in 0..steps {
        let ways: Vec<DVec3> = (0..n).map(|k| places[(k + 1) % n] - places[k]).collect();
        let off: Vec<f64> = (0..n).map(|k| ways[k].length() - lengths[k]).collect();
        let worst = (0..n).map(|k| (off[k] / lengths[k]).abs()).fold(0.0, f64::max);
        first.get_or_insert(worst);
        if worst <= 0.1 * GOOD {
            break;
        }
        let directions: Vec<DVec3> = ways.iter().map(|w| w.try_normalize().unwrap_or(DVec3::X)).collect();
        // Piece k ends at sample k + 1, where the next begins. A little on the diagonal: a straight line held at both ends has no solution.
        let diagonal: Vec<f64> = (0..n).map(|k| freedom[k] + freedom[(k + 1) % n] + 1e-6).collect();
        let next: Vec<f64> =
            (0..n).map(|k| -freedom[(k + 1) % n] * directions[k].dot(directions[(k + 1) % n])).collect();
        let Some(pulls) = solve_cyclic(&diagonal, &next, &off) else { break };
        // No step longer than the pieces are: far from the solution Newton's may be.
        let largest = pulls.iter().zip(lengths).map(|(p, l)| (p / l).abs()).fold(0.0, f64::max);
        let damping = if largest > 0.5 { 0.5 / largest } else { 1.0 };
        for k in 0..n {
            let before = (k + n - 1) % n;
            places[k] +=
                (directions[k] * pulls[k] - directions[before] * pulls[before]) * (freedom[k] * damping);
        }
    }
    first.unwrap_or(0.0)
}

/// Solves a symmetric system that is tridiagonal but for its two corners: `next[k]` couples k and k + 1, the last one the last and the
/// first. Nothing if a pivot is not positive.
fn solve_cyclic(diagonal: &[f64], next: &[f64], right: &[f64]) -> Option<Vec<f64>> {
    let n = diagonal.len();
    let corner = next[n - 1];
    // A = B + s w wᵀ with w = (1, 0, …, 0, ±1) takes the corners away (Sherman and Morrison 1950).
    let size = corner.abs();
    let sign = if corner < 0.0 { -1.0 } else { 1.0 };
    let mut diagonal = diagonal.to_vec();
    diagonal[0] -= size;
    diagonal[n - 1] -= size;
    let (mut pivots, mut ratios) = (vec![0.0; n], vec![0.0; n]);
    for k in 0..n {
        pivots[k] = diagonal[k] - if k > 0 { ratios[k] * next[k - 1] } else { 0.0 };
        if pivots[k].abs() < 1e-14 {
            return None;
        }
        if k + 1 < n {
            ratios[k + 1] = next[k] / pivots[k];
        }
    }
    let solve = |mut x: Vec<f64>| {
        for k in 1..n {
            x[k] -= ratios[k] * x[k - 1];
        }
        x[n - 1] /= pivots[n - 1];
        for k in (0..n - 1).rev() {
            x[k] = x[k] / pivots[k] - ratios[k + 1] * x[k + 1];
        }
        x
    };
    let mut w = vec![0.0; n];
    (w[0], w[n - 1]) = (1.0, sign);
    let (mut x, z) = (solve(right.to_vec()), solve(w));
    let scale = 1.0 + size * (z[0] + sign * z[n - 1]);
    if scale.abs() < 1e-14 {
        return None;
    }
    let share = size * (x[0] + sign * x[n - 1]) / scale;
    x.iter_mut().zip(&z).for_each(|(x, z)| *x -= share * z);
    x.iter().all(|x| x.is_finite()).then_some(x)
}

/// A closed curve through points, by share of its length.
struct Curve {
    points: Vec<DVec3>,
    starts: Vec<f64>,
}

impl Curve {
    fn new(points: &[DVec3], reversed: bool) -> Curve {
        let mut points = points.to_vec();
        if reversed {
            points[1..].reverse();
        }
        let n = points.len();
        let mut starts = vec![0.0];
        let mut length = 0.0;
        for k in 0..n {
            length += points[k].distance(points[(k + 1) % n]);
            starts.push(length);
        }
        Curve { points, starts }
    }

    fn length(&self) -> f64 {
        self.starts[self.points.len()]
    }

    fn at(&self, share: f64) -> DVec3 {
        let n = self.points.len();
        let along = share * self.length();
        let piece = self.starts.partition_point(|&start| start <= along).clamp(1, n) - 1;
        let length = self.starts[piece + 1] - self.starts[piece];
        let part = if length > 0.0 { ((along - self.starts[piece]) / length).clamp(0.0, 1.0) } else { 0.0 };
        self.points[piece].lerp(self.points[(piece + 1) % n], part)
    }

    /// Shares at which it turns by more than 30°: a crease may end there.
    fn corners(&self) -> Vec<f64> {
        let n = self.points.len();
        let turns = |k: &usize| {
            let (a, b) =
                (self.points[*k] - self.points[(k + n - 1) % n], self.points[(k + 1) % n] - self.points[*k]);
            a.dot(b) < 0.866 * a.length() * b.length()
        };
        (0..n).filter(turns).map(|k| self.starts[k] / self.length()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn a4() -> Pattern {
        Pattern::rectangle(0.297, 0.21).unwrap()
    }

    fn circle(points: usize, radius: f64) -> Vec<DVec3> {
        let angle = |k: usize| k as f64 / points as f64 * std::f64::consts::TAU;
        (0..points).map(|k| DVec3::new(math::cos(angle(k)), math::sin(angle(k)), 0.0) * radius).collect()
    }

    #[test]
    fn bad_borders_are_named() {
        let matched = |points: &[DVec3]| Border::matched(&a4(), points, 0.01);
        assert!(matches!(matched(&[DVec3::ZERO, DVec3::X]), Err(PaperError::FewPoints(2))));
        assert!(matches!(matched(&[DVec3::ZERO, DVec3::X, DVec3::ZERO]), Err(PaperError::FewPoints(2))));
        assert!(matches!(matched(&[DVec3::ZERO, DVec3::NAN, DVec3::X]), Err(PaperError::PointNotFinite(1))));
        let many = vec![DVec3::ZERO; MAX_POINTS + 1];
        assert!(matches!(matched(&many), Err(PaperError::ManyPoints(_))));
        assert!(matches!(matched(&circle(100, 2.0)), Err(PaperError::Length { .. })));
        assert!(matches!(matched(&[DVec3::ZERO; 5]), Err(PaperError::Length { .. })));
        let open: Vec<DVec3> = circle(100, 0.16).into_iter().take(80).collect();
        assert!(matches!(matched(&open), Err(PaperError::NotClosed { .. })));
    }

    #[test]
    fn repair_gives_lengths_and_chords_that_a_sheet_can_have() {
        // The border of the flat sheet, a tenth too large and shaken.
        let pattern = a4();
        let mut border = Border::flat(&pattern, 0.01, |p| p.extend(0.0) * 1.1);
        for (k, place) in (0u64..).zip(&mut border.places) {
            *place +=
                DVec3::new(math::uniform(1, 3 * k), math::uniform(1, 3 * k + 1), math::uniform(1, 3 * k + 2))
                    * 0.01;
        }
        let repair = border.repair();
        assert!((repair.before.whole_length - 0.1).abs() < 0.2 && repair.before.chord > 0.05);
        assert!(repair.after.length < 1e-5, "{repair:?}");
        assert!(repair.after.chord < 5e-3, "{repair:?}");
        assert!(repair.moved < 0.05);
        // What is right already stays to the bit.
        let mut flat = Border::flat(&pattern, 0.01, |p| p.extend(0.0));
        let before = flat.places.clone();
        assert_eq!(flat.repair().moved, 0.0);
        assert_eq!(flat.places, before);
    }

    #[test]
    fn handles_hold_and_lengths_are_kept() {
        let pattern = a4();
        let mut border = Border::flat(&pattern, 0.01, |p| p.extend(0.0));
        let corner = |k: usize, place: DVec3| Handle { share: pattern.corner_share(k), place };
        for step in 1..=20 {
            let lift = 0.004 * f64::from(step);
            let handles = [
                corner(0, DVec3::ZERO),
                corner(1, DVec3::new(0.297, 0.0, 0.0)),
                corner(2, DVec3::new(0.297 - lift, 0.21 - 0.5 * lift, lift)),
            ];
            let criteria = border.pull(&handles).unwrap();
            // The side between two handles that are as far apart as it is long is taut: Newton's method is slow there.
            assert!(criteria.length < ENOUGH && criteria.chord < 2e-3, "{step}: {criteria:?}");
            for handle in &handles {
                assert!(border.places[border.nearest(handle.share)].distance(handle.place) < 1e-12);
            }
        }
        // Torn apart: the lengths win.
        let far = [corner(0, DVec3::ZERO), corner(2, DVec3::X * 3.0)];
        let criteria = border.pull(&far).unwrap();
        assert!(criteria.length < 0.05, "{criteria:?}");
        assert!(matches!(
            border.pull(&[Handle { share: 2.0, place: DVec3::ZERO }]),
            Err(PaperError::Handle(0))
        ));
        let nowhere = Handle { share: 0.0, place: DVec3::NAN };
        assert!(matches!(border.pull(&[nowhere]), Err(PaperError::Handle(0))));
    }

    #[test]
    fn a_cyclic_system_is_solved() {
        let (diagonal, next) = ([4.0, 5.0, 6.0, 7.0, 5.0], [1.0, -2.0, 0.5, 1.5, -1.0]);
        let x = [1.0, -2.0, 3.0, 0.5, 4.0];
        let right: Vec<f64> = (0..5)
            .map(|k| diagonal[k] * x[k] + next[k] * x[(k + 1) % 5] + next[(k + 4) % 5] * x[(k + 4) % 5])
            .collect();
        let solved = solve_cyclic(&diagonal, &next, &right).unwrap();
        assert!(solved.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-12), "{solved:?}");
    }

    #[test]
    fn the_outline_of_a_mesh_is_found_or_refused() {
        let square = [[0, 1, 2], [0, 2, 3]];
        assert_eq!(outline(&square).unwrap(), [0, 1, 2, 3]);
        let closed = [[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]];
        assert!(outline(&closed).is_err() && outline(&[]).is_err());
        assert!(outline(&[[0, 1, 2], [3, 4, 5]]).is_err());
        assert!(outline(&[[0, 1, 2], [2, 3, 4]]).is_err());
    }
}
