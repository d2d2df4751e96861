//! Cutting a sheet into regions, again and again (ROH-92, ROH-93, ROH-94, ROH-96).
//!
//! A region is a loop of vertices. r = |G(u1) − G(u2)| / |Ḡ(u1) − Ḡ(u2)| − 1 says how much shorter a chord is in space than in the
//! pattern. The seed takes the chord with the largest r. A short chord across a curved sheet has hardly less than a ruling has that ends
//! half a step beside its samples, so here it is the chord with the largest r / L², which is −κ²/24 for a chord
//! along which the sheet is curved by κ: the least curved. A region is left as it is when its plain triangulation is isometric.

use glam::{DVec2, DVec3};

use super::Settings;
use super::apex::{Tip, find_tip};
use super::cubic::Cubic;
use super::measure::{Element, energy};
use super::mesh::Triangulator;
use super::pattern::Sight;

/// Relative shortening that is taken for rounding.
const ROUNDING: f64 = 1e-6;
/// Directions around a chord in which folds are begun.
const DIRECTIONS: usize = 8;
/// Steps of the search for a fold at most.
const MAX_STEPS: usize = 12;
/// Share of E that a step must gain for the search to go on: relaxation does the rest better.
const WORTHWHILE: f64 = 0.03;
/// Cuts of one sheet at most, so that odd settings end too.
const MAX_CUTS: usize = 4000;
/// Straight cuts made at once at most.
const STRAIGHT_CUTS: usize = 12;
/// Least area of a half over step and length of its cut: thinner ones are finer than the sampling.
const LEAST_WIDTH: f64 = 0.2;

/// Regions with more than this share of the sheet try more chords: what is cut first decides most.
const LARGE: f64 = 0.5;
/// Times as many.
const FIRST_TIMES: usize = 3;
/// Vertices that the outline of a cone has at least.
const LEAST_CONE: usize = 8;
/// A cone is taken if it has less than this share of the E of the best fold, which will be cut further.
const TIP_SHARE: f64 = 0.1;
/// And only if its mean strain is below this: nothing is cut inside it any more.
const TIP_STRAIN: f64 = 0.01;
/// A search is left out that would begin with so many times the E of the best fold.
const HOPELESS: f64 = 2.0;

/// A cut through a sheet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Cut {
    /// Its vertices from end to end.
    pub(super) vertices: Vec<u32>,
    /// Whether it was cut along a straight line.
    pub(super) straight: bool,
}

/// A piece of the sheet that is not cut any further.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Region {
    /// Its vertices, counter-clockwise in the pattern.
    pub(super) outline: Vec<u32>,
    /// Compressed, but no fold was found that helps.
    pub(super) incomplete: bool,
}

/// A sheet while it is cut.
#[derive(Debug)]
pub(super) struct Cutter {
    pub(super) points: Vec<DVec2>,
    pub(super) places: Vec<DVec3>,
    pub(super) cuts: Vec<Cut>,
    pub(super) regions: Vec<Region>,
    /// Vertices from which on nothing is cut any more.
    pub(super) most_points: usize,
    /// Area of the pattern, m².
    whole: f64,
    step: f64,
    settings: Settings,
    triangulator: Triangulator,
    sight: Sight,
}

#[derive(Clone, Copy, Debug)]
struct Chord {
    /// Places in the loop.
    i: usize,
    j: usize,
    /// Length in the pattern, m.
    length: f64,
    /// Relative elongation.
    r: f64,
}

impl Chord {
    /// Larger is better, first things first: how little it is curved, how much it is stretched, how long it is.
    fn rank(&self) -> [f64; 3] {
        let bent = (self.r + ROUNDING).min(0.0) / (self.length * self.length);
        let stretched = if self.r > ROUNDING { self.r * self.length } else { 0.0 };
        [bent, stretched, self.length]
    }

    fn beats(&self, other: &Chord) -> bool {
        let (a, b) = (self.rank(), other.rank());
        a.partial_cmp(&b) == Some(std::cmp::Ordering::Greater)
    }
}

/// A fold that was tried.
struct Trial {
    chord: Chord,
    points: Vec<DVec2>,
    places: Vec<DVec3>,
    energy: f64,
}

impl Cutter {
    pub(super) fn new(points: Vec<DVec2>, places: Vec<DVec3>, step: f64, settings: &Settings) -> Cutter {
        let whole = Region { outline: (0..points.len() as u32).collect(), incomplete: true };
        let n = points.len();
        let swept = (1..n).map(|k| (points[k] - points[0]).perp_dot(points[(k + 1) % n] - points[0]));
        Cutter {
            whole: 0.5 * swept.sum::<f64>(),
            points,
            places,
            most_points: usize::MAX,
            cuts: Vec::new(),
            regions: vec![whole],
            step,
            settings: *settings,
            triangulator: Triangulator::default(),
            sight: Sight::default(),
        }
    }

    /// Cuts all regions that are incomplete until none can be cut. With `least_bad`, folds that make things worse at first are taken too.
    /// Whether anything was cut.
    pub(super) fn cut(&mut self, least_bad: bool) -> bool {
        let before = self.cuts.len();
        let (mut waiting, done): (Vec<Region>, Vec<Region>) =
            std::mem::take(&mut self.regions).into_iter().partition(|region| region.incomplete);
        self.regions = done;
        waiting.reverse();
        while let Some(region) = waiting.pop() {
            match self.cut_one(&region.outline, least_bad) {
                Outcome::Done => self.regions.push(Region { incomplete: false, ..region }),
                Outcome::Stuck => self.regions.push(Region { incomplete: true, ..region }),
                Outcome::Parts(parts) => {
                    waiting
                        .extend(parts.into_iter().rev().map(|outline| Region { outline, incomplete: true }));
                }
            }
        }
        self.cuts.len() > before
    }

    /// Tags regions anew: those whose plain triangulation is not isometric are incomplete. Whether any is.
    pub(super) fn tag(&mut self) -> bool {
        let mut regions = std::mem::take(&mut self.regions);
        for region in &mut regions {
            let elements = self.triangulate(&region.outline);
            region.incomplete = !self.is_isometric(&elements);
        }
        self.regions = regions;
        self.regions.iter().any(|region| region.incomplete)
    }

    fn triangulate(&mut self, outline: &[u32]) -> Vec<Element> {
        let mut triangles = Vec::new();
        self.triangulator.add(&self.points, outline, &mut triangles);
        triangles.iter().filter_map(|t| Element::new(&self.points, *t)).collect()
    }

    fn is_isometric(&self, elements: &[Element]) -> bool {
        let area: f64 = elements.iter().map(|e| e.area).sum();
        energy(elements, &self.places) <= 2.0 * self.settings.tolerance * self.settings.tolerance * area
    }

    fn cut_one(&mut self, outline: &[u32], least_bad: bool) -> Outcome {
        if outline.len() < 4 || self.cuts.len() >= MAX_CUTS {
            return Outcome::Done;
        }
        if self.points.len() >= self.most_points {
            return Outcome::Stuck;
        }
        let plain = self.triangulate(outline);
        if self.is_isometric(&plain) {
            return Outcome::Done;
        }
        let chords = self.best_chords(outline);
        let Some(best) = chords.first() else { return Outcome::Done };
        if best.r >= -self.settings.taut {
            return self.cut_straight(outline, &chords);
        }
        let mut found: Option<Trial> = None;
        for chord in chords.into_iter().take(self.chords_of(outline)) {
            let most = found.as_ref().map_or(f64::INFINITY, |best| HOPELESS * best.energy);
            let Some(trial) = self.try_fold(outline, chord, most) else { continue };
            if found.as_ref().is_none_or(|best| trial.energy < best.energy) {
                found = Some(trial);
            }
        }
        if let Some((tip, energy)) = self.try_tip(outline)
            && found.as_ref().is_none_or(|best| energy < TIP_SHARE * best.energy)
            && energy < 2.0 * TIP_STRAIN * TIP_STRAIN * self.area(outline)
        {
            return self.fan(outline, tip);
        }
        let Some(trial) = found else { return Outcome::Stuck };
        let gain = energy(&plain, &self.places) / trial.energy.max(f64::MIN_POSITIVE);
        if gain < 1.0 && !least_bad {
            return Outcome::Stuck;
        }
        let chord = trial.chord;
        self.fold(outline, chord, trial.points, trial.places)
    }

    /// The tip of a cone over a region, and the E of that cone, m².
    fn try_tip(&self, outline: &[u32]) -> Option<(Tip, f64)> {
        if outline.len() < LEAST_CONE {
            return None;
        }
        let flat: Vec<DVec2> = outline.iter().map(|&v| self.points[v as usize]).collect();
        let there: Vec<DVec3> = outline.iter().map(|&v| self.places[v as usize]).collect();
        let starts = if self.area(outline) > LARGE * self.whole { 4 } else { 2 };
        let tip = find_tip(&flat, &there, newell(outline, &self.places), starts)?;
        let n = flat.len();
        let energy = (0..n).map(|k| {
            let next = (k + 1) % n;
            let places = [there[k], there[next], tip.there];
            Element::new(&[flat[k], flat[next], tip.flat], [0, 1, 2]).map_or(0.0, |e| e.energy(&places))
        });
        Some((tip, energy.sum()))
    }

    /// Cuts a region from the tip of a cone to all of its vertices.
    fn fan(&mut self, outline: &[u32], tip: Tip) -> Outcome {
        let number = self.points.len() as u32;
        self.points.push(tip.flat);
        self.places.push(tip.there);
        let n = outline.len();
        self.cuts.extend(outline.iter().map(|&v| Cut { vertices: vec![v, number], straight: true }));
        Outcome::Parts((0..n).map(|k| vec![outline[k], outline[(k + 1) % n], number]).collect())
    }

    /// How many chords are tried for a fold of a region: with none nothing is folded.
    fn chords_of(&self, outline: &[u32]) -> usize {
        let times = if self.area(outline) > LARGE * self.whole { FIRST_TIMES } else { 1 };
        self.settings.chords * times
    }

    /// The chords that are least curved, best first, no two of them near each other; one if it is taut.
    fn best_chords(&mut self, outline: &[u32]) -> Vec<Chord> {
        let n = outline.len();
        let flat: Vec<DVec2> = outline.iter().map(|&v| self.points[v as usize]).collect();
        let there: Vec<DVec3> = outline.iter().map(|&v| self.places[v as usize]).collect();
        self.sight.look(flat.iter().copied());
        let mut best: Vec<Chord> = Vec::new();
        let wanted = self.chords_of(outline).max(STRAIGHT_CUTS);
        let apart = (n / 8).max(1);
        let gap = |a: usize, b: usize| a.abs_diff(b).min(n - a.abs_diff(b));
        // Twice the area of the part of the loop up to each vertex, seen from the first: that of both halves by a chord follows.
        let mut swept = vec![0.0; n];
        for k in 1..n {
            swept[k] = swept[k - 1] + (flat[k - 1] - flat[0]).perp_dot(flat[k] - flat[0]);
        }
        for i in 0..n {
            for j in i + 2..n {
                let length = flat[i].distance(flat[j]);
                if length < self.step {
                    continue;
                }
                let chord = Chord { i, j, length, r: there[i].distance(there[j]) / length - 1.0 };
                if best.len() == wanted && !best.last().is_none_or(|last| chord.beats(last)) {
                    continue;
                }
                let half = 0.5 * (swept[j] - swept[i] + (flat[j] - flat[0]).perp_dot(flat[i] - flat[0]));
                let thin = half.min(0.5 * swept[n - 1] - half) < LEAST_WIDTH * self.step * length;
                if thin || !self.sight.sees(i, j) {
                    continue;
                }
                let near = |other: &Chord| {
                    gap(i, other.i) + gap(j, other.j) <= apart || gap(i, other.j) + gap(j, other.i) <= apart
                };
                if best.iter().any(|other| near(other) && !chord.beats(other)) {
                    continue;
                }
                best.retain(|other| !near(other));
                let at = best.partition_point(|other| !chord.beats(other));
                best.insert(at, chord);
                best.truncate(wanted);
            }
        }
        best
    }

    /// Cuts along all of the chords that are taut and do not cross, best first.
    fn cut_straight(&mut self, outline: &[u32], chords: &[Chord]) -> Outcome {
        let mut parts: Vec<Vec<u32>> = vec![outline.to_vec()];
        for chord in chords.iter().filter(|chord| chord.r >= -self.settings.taut) {
            let ends = [outline[chord.i], outline[chord.j]];
            let place = |part: &Vec<u32>| {
                let i = part.iter().position(|&v| v == ends[0])?;
                let j = part.iter().position(|&v| v == ends[1])?;
                let between = (i.max(j) - i.min(j)).min(part.len() - (i.max(j) - i.min(j)));
                (between > 1).then_some([i.min(j), i.max(j)])
            };
            let Some((k, [i, j])) = parts.iter().enumerate().find_map(|(k, part)| Some((k, place(part)?)))
            else {
                continue;
            };
            let [one, other] = Cutter::halves(&parts[k], Chord { i, j, ..*chord }, 0, 0);
            let least = LEAST_WIDTH * self.step * chord.length;
            if self.area(&one) < least || self.area(&other) < least {
                continue;
            }
            self.cuts.push(Cut { vertices: ends.to_vec(), straight: true });
            parts[k] = one;
            parts.insert(k + 1, other);
        }
        Outcome::Parts(parts)
    }

    /// Area of a loop in the pattern, m².
    fn area(&self, outline: &[u32]) -> f64 {
        let at = |k: usize| self.points[outline[k % outline.len()] as usize];
        let from = at(0);
        0.5 * (0..outline.len()).map(|k| (at(k) - from).perp_dot(at(k + 1) - from)).sum::<f64>()
    }

    /// Both halves of a loop along a chord with vertices `first..` in between.
    fn halves(outline: &[u32], chord: Chord, first: u32, count: u32) -> [Vec<u32>; 2] {
        let inner = first..first + count;
        let one = outline[chord.i..=chord.j].iter().copied().chain(inner.clone().rev()).collect();
        let other = outline[chord.j..].iter().chain(&outline[..=chord.i]).copied().chain(inner).collect();
        [one, other]
    }

    fn fold(&mut self, outline: &[u32], chord: Chord, points: Vec<DVec2>, places: Vec<DVec3>) -> Outcome {
        let first = self.points.len() as u32;
        let count = points.len() as u32;
        self.points.extend(points);
        self.places.extend(places);
        let mut vertices = vec![outline[chord.i]];
        vertices.extend(first..first + count);
        vertices.push(outline[chord.j]);
        self.cuts.push(Cut { vertices, straight: false });
        Outcome::Parts(Cutter::halves(outline, chord, first, count).into())
    }

    /// The best fold along a chord that is found; nothing if the search would begin with more than `most` of E, m².
    fn try_fold(&mut self, outline: &[u32], chord: Chord, most: f64) -> Option<Trial> {
        let pieces = ((chord.length / self.step).round() as usize).max(2);
        let [a, b] = [chord.i, chord.j].map(|k| outline[k] as usize);
        let (first, count) = (self.points.len(), pieces - 1);
        let share = |k: usize| k as f64 / pieces as f64;
        let points: Vec<DVec2> = (1..pieces).map(|k| self.points[a].lerp(self.points[b], share(k))).collect();
        self.points.extend(&points);
        let [one, other] = Cutter::halves(outline, chord, first as u32, count as u32);
        let mut elements = self.triangulate(&one);
        elements.extend(self.triangulate(&other));
        self.points.truncate(first);
        // Triangles that the fold does not move count too, once.
        let moving = |e: &Element| e.corners.iter().any(|&c| c as usize >= first);
        let still: f64 = elements.iter().filter(|e| !moving(e)).map(|e| e.energy(&self.places)).sum();
        elements.retain(moving);
        let mut fold = Fold {
            ends: [self.places[a], self.places[b]],
            pieces,
            first,
            elements,
            places: &mut self.places,
            samples: Vec::with_capacity(count),
        };
        let normal = newell(outline, fold.places);
        let start = fold.best_start(chord.length, normal);
        if start.1 + still > most {
            self.places.truncate(first);
            return None;
        }
        let best = fold.search(start, chord.length);
        let energy = fold.energy(&best);
        let places = fold.samples.clone();
        self.places.truncate(first);
        (energy.is_finite()).then_some(Trial { chord, points, places, energy: energy + still })
    }
}

enum Outcome {
    Done,
    Stuck,
    Parts(Vec<Vec<u32>>),
}

/// The sum of the normals of a loop in space, as long as twice its area.
fn newell(outline: &[u32], places: &[DVec3]) -> DVec3 {
    let at = |k: usize| places[outline[k % outline.len()] as usize];
    let from = at(0);
    (0..outline.len()).map(|k| (at(k) - from).cross(at(k + 1) - from)).sum()
}

/// A fold whose two tangents are looked for.
struct Fold<'a> {
    ends: [DVec3; 2],
    pieces: usize,
    /// Number of its first vertex.
    first: usize,
    /// Triangles that it moves.
    elements: Vec<Element>,
    places: &'a mut Vec<DVec3>,
    samples: Vec<DVec3>,
}

impl Fold<'_> {
    /// E of what the fold moves, for its two tangents.
    fn energy(&mut self, tangents: &[f64; 6]) -> f64 {
        let [a, b, c, d, e, f] = *tangents;
        Cubic::new(self.ends, [DVec3::new(a, b, c), DVec3::new(d, e, f)])
            .samples(self.pieces, &mut self.samples);
        self.places.truncate(self.first);
        self.places.extend(&self.samples);
        energy(&self.elements, self.places)
    }

    /// Where the search begins: the best of the straight line and of arcs and waves of about the right length in directions all around it.
    /// If the border is flat the straight line is a saddle, and no way down begins there.
    fn best_start(&mut self, length: f64, normal: DVec3) -> ([f64; 6], f64) {
        let way = self.ends[1] - self.ends[0];
        let along =
            way.try_normalize().unwrap_or_else(|| normal.any_orthogonal_vector().normalize_or(DVec3::X));
        let up = normal.reject_from(along).try_normalize().unwrap_or_else(|| along.any_orthonormal_vector());
        let across = along.cross(up);
        let short = (1.0 - way.length() / length).clamp(0.0, 1.0);
        // p + a n t(1 − t) is longer than its chord by about a²/6 of it; from end to end of nothing it needs a = 2 lengths.
        let rise = length * (6.0 * (1.0 - short) * short + 4.0 * short * short).sqrt();
        let straight = pack(way, way);
        let mut best = (straight, self.energy(&straight));
        if !best.1.is_finite() {
            best.1 = f64::INFINITY;
        }
        for k in 0..DIRECTIONS {
            let angle = std::f64::consts::TAU * k as f64 / DIRECTIONS as f64;
            let n = (up * crate::math::cos(angle) + across * crate::math::sin(angle)) * rise;
            for start in [pack(way + n, way - n), pack(way + n * 2.0, way + n * 2.0)] {
                let energy = self.energy(&start);
                if energy < best.1 {
                    best = (start, energy);
                }
            }
        }
        best
    }

    /// Goes down from a start, with E there, by the method of Broyden, Fletcher, Goldfarb and Shanno.
    fn search(&mut self, (start, energy): ([f64; 6], f64), scale: f64) -> [f64; 6] {
        let (mut x, mut value) = (start, energy);
        let mut gradient = self.gradient(&x, value, scale);
        let mut inverse = [[0.0; 6]; 6];
        let mut fresh = true;
        for _ in 0..MAX_STEPS {
            if fresh {
                let size = gradient.iter().map(|g| g * g).sum::<f64>().sqrt();
                if size * scale <= 1e-9 * value || size == 0.0 {
                    break;
                }
                inverse = [[0.0; 6]; 6];
                (0..6).for_each(|k| inverse[k][k] = 0.1 * scale / size);
            }
            let direction: [f64; 6] =
                std::array::from_fn(|r| -(0..6).map(|c| inverse[r][c] * gradient[c]).sum::<f64>());
            let slope: f64 = (0..6).map(|k| direction[k] * gradient[k]).sum();
            let mut reach = 1.0;
            let mut found = None;
            for _ in 0..12 {
                let next: [f64; 6] = std::array::from_fn(|k| x[k] + reach * direction[k]);
                let there = self.energy(&next);
                if there < value + 1e-4 * reach * slope {
                    found = Some((next, there));
                    break;
                }
                reach *= 0.4;
            }
            let Some((next, there)) = found else {
                if fresh {
                    break;
                }
                fresh = true;
                continue;
            };
            if value - there <= WORTHWHILE * there {
                // Another gradient would be for nothing.
                return next;
            }
            let after = self.gradient(&next, there, scale);
            let (s, y): ([f64; 6], [f64; 6]) =
                (std::array::from_fn(|k| next[k] - x[k]), std::array::from_fn(|k| after[k] - gradient[k]));
            (x, value, gradient) = (next, there, after);
            fresh = !update(&mut inverse, &s, &y);
        }
        x
    }

    fn gradient(&mut self, x: &[f64; 6], value: f64, scale: f64) -> [f64; 6] {
        let h = 1e-6 * scale;
        std::array::from_fn(|k| {
            let mut beside = *x;
            beside[k] += h;
            (self.energy(&beside) - value) / h
        })
    }
}

fn pack(s: DVec3, t: DVec3) -> [f64; 6] {
    [s.x, s.y, s.z, t.x, t.y, t.z]
}

/// Learns the curvature along a step s from the change y of the gradient. False if there is none to learn.
fn update(inverse: &mut [[f64; 6]; 6], s: &[f64; 6], y: &[f64; 6]) -> bool {
    let sy: f64 = s.iter().zip(y).map(|(s, y)| s * y).sum();
    if sy <= 0.0 || !sy.is_finite() {
        return false;
    }
    let hy: [f64; 6] = std::array::from_fn(|r| (0..6).map(|c| inverse[r][c] * y[c]).sum());
    let yhy: f64 = y.iter().zip(&hy).map(|(y, h)| y * h).sum();
    for r in 0..6 {
        for c in 0..6 {
            inverse[r][c] += (1.0 + yhy / sy) * s[r] * s[c] / sy - (hy[r] * s[c] + s[r] * hy[c]) / sy;
        }
    }
    true
}
