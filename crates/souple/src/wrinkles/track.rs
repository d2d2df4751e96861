//! Folds that live through time: they are born, slide, grow, shrink and die without a jump (ROH-77 to ROH-79).
//!
//! Each curve hangs on a generator, the point it was born at. In every frame a generator whose compression falls climbs to more of it; its curve is
//! traced anew; and the points of the curve follow what was traced through a low-pass filter. Both move by at most [`SPEED`] smallest radii per
//! second, and one per frame, which is the seed's limit. The seed lets ends move by at most the smallest radius, and trusts that folds fade by themselves
//! as compression does, but their height hardly
//! depends on it (its own table says so): here every point has a strength that rises and falls at a limited rate, from 0 when it is born to 0
//! before it dies. New curves begin beside others, two half widths from them, so that folds lie side by side; where no fold is near, at the vertex that
//! is compressed most.

use glam::DVec2;

use super::fold;
use super::pattern::{Pattern, Point, Walk};
use super::tensor::{Strain, StretchField};
use super::trace::{Rules, Trace, Traced, trace};
use super::{Settings, Spacing};
use crate::math::{exp, pow};
use crate::state::Hasher;

/// Time in which a fold rises from nothing to its full strength, s.
pub const RISE_TIME: f64 = 0.25;

/// Time constant of the low-pass filter of places, widths and compression, s.
pub const FILTER_TIME: f64 = 0.08;

/// Share of its width by which a fold may widen or narrow while it could rise from nothing.
const WIDENING: f64 = 0.5;

/// Smallest radii that a fold may move along the cloth in a second; never more than one per frame.
pub const SPEED: f64 = 8.0;

/// Curves die below this share of the compression they are born at.
const HYSTERESIS: f64 = 0.7;

/// Strengths below this are none.
const NOTHING: f64 = 1e-3;

/// Frames in which all curves and all vertices have once been looked around, for what is beside them and for new folds.
const TURNS: usize = 4;

/// Natural half widths that a new fold must be away from others.
const ROOM: f64 = 1.7;

/// Up to how many natural half widths between two folds their widths fill the gap, and from how many on they do not care.
const WIDE: f64 = 3.4;
const FARTHEST: f64 = 4.0;

/// Half widths over which the ends of a fold fade, and the most points that takes.
const TAPER: f64 = 2.0;
const MOST_FADING: f64 = 8.0;

/// Vertices that are tried as seeds of new curves in a frame.
const MOST_ATTEMPTS: usize = 64;

/// Most curves of a body: beyond, no more are born.
const MOST_CURVES: usize = 4096;

/// Most points of a curve on each side of its generator.
const MOST_POINTS: usize = 512;

/// One point of a fold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Knot {
    /// Where, in the pattern.
    pub at: Point,
    /// Compression across it.
    pub compression: f64,
    /// Half its width in the pattern, m.
    pub half_width: f64,
    /// The half width it is on its way to, m.
    pub wanted_half_width: f64,
    /// Strength, from 0 to 1.
    pub strength: f64,
}

/// One fold: points from its back end to its front end.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The points.
    pub knots: Vec<Knot>,
    /// Which of them it hangs on.
    pub generator: usize,
    /// Compression there in the last frame.
    pub last_compression: f64,
    /// Whether it closes on itself.
    pub ring: bool,
    /// Whether it is fading away.
    pub dying: bool,
}

/// All folds of a body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Folds {
    /// The folds, the oldest first.
    pub curves: Vec<Curve>,
    /// Frames so far: what is beside folds is looked at in turn.
    pub round: u32,
}

impl Folds {
    /// Whether they are folds of that pattern, with numbers that make sense.
    pub fn fits(&self, pattern: &Pattern) -> bool {
        let is_inside = |at: Point| {
            let known = (at.triangle as usize) < pattern.triangles.len() && at.p.is_finite();
            known && pattern.shares(at).iter().all(|share| *share > -1e-6)
        };
        let is_share = |value: f64| (0.0..=1.0).contains(&value);
        let is_sound = |knot: &Knot| {
            let wide = [knot.half_width, knot.wanted_half_width].iter().all(|w| w.is_finite() && *w > 0.0);
            is_inside(knot.at) && is_share(knot.compression) && is_share(knot.strength) && wide
        };
        self.curves.len() <= MOST_CURVES
            && self.curves.iter().all(|curve| {
                curve.generator < curve.knots.len()
                    && curve.knots.len() <= 2 * MOST_POINTS + 1
                    && is_share(curve.last_compression)
                    && curve.knots.iter().all(is_sound)
            })
    }

    pub(crate) fn hash(&self, hash: &mut Hasher) {
        hash.word(u64::from(self.round));
        for curve in &self.curves {
            hash.word((curve.generator as u64) << 2 | u64::from(curve.ring) << 1 | u64::from(curve.dying));
            hash.number(curve.last_compression);
            for knot in &curve.knots {
                hash.word(u64::from(knot.at.triangle));
                [
                    knot.at.p.x,
                    knot.at.p.y,
                    knot.compression,
                    knot.half_width,
                    knot.wanted_half_width,
                    knot.strength,
                ]
                .into_iter()
                .for_each(|number| hash.number(number));
            }
        }
    }
}

/// Which points of folds lie in each triangle: of which curve, and where.
#[derive(Debug, Default)]
struct Buckets(Vec<Vec<(u32, DVec2)>>);

impl Buckets {
    fn fill(&mut self, pattern: &Pattern, curves: &[Curve]) {
        self.0.resize(pattern.triangles.len(), Vec::new());
        self.0.iter_mut().for_each(Vec::clear);
        (0u32..).zip(curves).for_each(|(c, curve)| self.add(c, curve));
    }

    fn add(&mut self, c: u32, curve: &Curve) {
        for knot in curve.knots.iter().filter(|_| !curve.dying) {
            self.0[knot.at.triangle as usize].push((c, knot.at.p));
        }
    }

    /// Calls `visit` with curve and vector of every point of a fold within `reach` of a point, until it says that it has seen enough.
    fn near(
        &self,
        pattern: &Pattern,
        walk: &mut Walk,
        from: Point,
        reach: f64,
        mut visit: impl FnMut(u32, DVec2) -> bool,
    ) {
        walk.around(pattern, from, reach, |triangle, glide| {
            let bucket = &self.0[triangle as usize];
            if bucket.is_empty() {
                return false;
            }
            let here = glide.apply(from.p);
            bucket.iter().any(|&(c, p)| {
                let vector = p - here;
                vector.length_squared() < reach * reach && visit(c, glide.rotate_back(vector))
            })
        });
    }

    /// Whether no other fold is within `reach` of a point.
    fn is_free(&self, pattern: &Pattern, walk: &mut Walk, at: Point, reach: f64, but: Option<u32>) -> bool {
        let mut free = true;
        self.near(pattern, walk, at, reach, |c, _| {
            free &= Some(c) == but;
            !free
        });
        free
    }
}

/// Follows the folds of one piece of cloth; keeps its memory, and nothing else, between frames.
#[derive(Debug, Default)]
pub struct Tracker {
    /// The stretch of the cloth in the last frame.
    pub field: StretchField,
    walk: Walk,
    buckets: Buckets,
    order: Vec<usize>,
}

/// Half the width of a fold in the pattern that has that strain, m, if nothing is beside it.
pub fn natural_half_width(settings: &Settings, strain: &Strain) -> f64 {
    let v = strain.compression.clamp(fold::LEAST_COMPRESSION, fold::MOST_COMPRESSION);
    match settings.spacing {
        Spacing::Radius => fold::half_width(settings.smallest_radius, v) / (1.0 - v),
        Spacing::Measured { length, thickness, poisson_ratio } => {
            let wavelength = measured_wavelength(length, thickness, poisson_ratio, strain.along - 1.0);
            (0.5 * wavelength).max(settings.smallest_radius)
        }
    }
}

/// Wavelength of the wrinkles of a stretched sheet, m: λ = √(2π L h) / [3 (1 − ν²) ε]^¼ (Cerda, Mahadevan 2003). Strains below 0.1 % count as 0.1 %.
pub fn measured_wavelength(length: f64, thickness: f64, poisson_ratio: f64, strain: f64) -> f64 {
    let tension = 3.0 * (1.0 - poisson_ratio * poisson_ratio) * strain.max(1e-3);
    (std::f64::consts::TAU * length * thickness).sqrt() / pow(tension, 0.25)
}

impl Tracker {
    /// Carries folds on by a frame of `dt` seconds, to cloth whose vertices are at those places, m. An endless frame settles them.
    pub fn advance(
        &mut self,
        pattern: &Pattern,
        settings: &Settings,
        folds: &mut Folds,
        places: &[glam::DVec3],
        dt: f64,
    ) {
        self.field.measure(pattern, places);
        folds.round = folds.round.wrapping_add(1);
        let pace = Pace::of(dt, settings.smallest_radius, folds.round);
        let curves = &mut folds.curves;
        self.buckets.fill(pattern, curves);
        let mut order = std::mem::take(&mut self.order);
        order.clear();
        order.extend(0..curves.len());
        order.sort_by(|&a, &b| curves[b].last_compression.total_cmp(&curves[a].last_compression));
        for &c in &order {
            self.update(pattern, settings, curves, c, &pace);
        }
        self.order = order;
        curves.retain(|curve| !curve.knots.is_empty());
        self.buckets.fill(pattern, curves);
        self.set_widths(pattern, settings, curves, &pace);
        self.give_birth(pattern, settings, curves, &pace);
    }

    fn rules(settings: &Settings) -> Rules {
        Rules { spacing: settings.smallest_radius, threshold: settings.threshold, most: MOST_POINTS }
    }

    /// Moves the generator of a curve, traces it anew and lets its points follow.
    fn update(
        &mut self,
        pattern: &Pattern,
        settings: &Settings,
        curves: &mut [Curve],
        c: usize,
        pace: &Pace,
    ) {
        let r = settings.smallest_radius;
        let Some(generator) = curves[c].knots.get(curves[c].generator).copied() else { return };
        let mut seed = generator.at;
        let mut strain = self.field.at(pattern, seed);
        if strain.compression < curves[c].last_compression && !curves[c].dying {
            (seed, strain) = self.climb(pattern, settings, c, seed, pace);
        }
        let Tracker { field, walk, buckets, .. } = self;
        // Curves that were driven together: the weaker one goes.
        let half = natural_half_width(settings, &strain);
        let mut crowded = false;
        buckets.near(pattern, walk, seed, 0.5 * half, |other, _| {
            let theirs = &curves[other as usize];
            let is_stronger = (theirs.last_compression, c as f64) > (strain.compression, f64::from(other));
            crowded |= other as usize != c && is_stronger;
            crowded
        });
        let dying = curves[c].dying || crowded || strain.compression < HYSTERESIS * settings.threshold;
        let curve = &curves[c];
        let traced = if dying {
            Trace::default()
        } else {
            let forward = forward_direction(pattern, walk, curve, seed, strain.direction, 4.0 * r);
            let rules = Rules { threshold: HYSTERESIS * settings.threshold, ..Tracker::rules(settings) };
            trace(pattern, field, walk, &rules, seed, forward, |walk, at| {
                !buckets.is_free(pattern, walk, at, 0.5 * r, Some(c as u32))
            })
        };
        let curve = &mut curves[c];
        // A ring that opens would lose the piece that closes it at once: it fades as a ring, and others are born in its place.
        let dying = dying || curve.ring && !traced.ring;
        curve.dying = dying;
        curve.last_compression = strain.compression;
        if dying {
            curve.knots.iter_mut().for_each(|knot| knot.strength = pace.toward(knot.strength, 0.0));
            if curve.knots.iter().all(|knot| knot.strength < NOTHING) {
                curve.knots.clear();
            }
            return;
        }
        curve.ring = traced.ring;
        let fading = fading_points(settings, &strain);
        let at = curve.generator;
        let here = Traced { at: seed, compression: strain.compression, along: strain.along };
        let follow = |walk: &mut Walk, knots: &mut dyn Iterator<Item = Knot>, side: &[Traced]| {
            let mut out: Vec<Knot> = knots.collect();
            let kept = out.len();
            for (k, knot) in out.iter_mut().enumerate() {
                let share =
                    end_share(k, side.len(), traced.ring, fading) * strength_of(side.get(k), settings);
                follow_point(pattern, walk, knot, side.get(k), share, pace, 4.0 * r);
            }
            for (k, point) in side.iter().enumerate().skip(kept) {
                let share =
                    end_share(k, side.len(), traced.ring, fading) * strength_of(Some(point), settings);
                out.push(born(settings, point, pace.toward(0.0, share)));
            }
            while out.len() > side.len() && out.last().is_some_and(|knot| knot.strength < NOTHING) {
                out.pop();
            }
            out
        };
        let back = follow(walk, &mut curve.knots[..at].iter().rev().copied(), &traced.back);
        let front = follow(walk, &mut curve.knots[at + 1..].iter().copied(), &traced.front);
        let mut middle = generator;
        let reached = (traced.front.len(), traced.back.len());
        let share = if traced.ring { 1.0 } else { end_share(0, 1 + reached.0.max(reached.1), false, fading) };
        follow_point(
            pattern,
            walk,
            &mut middle,
            Some(&here),
            share * strength_of(Some(&here), settings),
            pace,
            4.0 * r,
        );
        // The generator itself is exact: the filter is for what is seen of the others.
        middle.at = seed;
        curve.knots.clear();
        curve.knots.extend(back.into_iter().rev());
        curve.generator = curve.knots.len();
        curve.knots.push(middle);
        curve.knots.extend(front);
    }

    /// Leads a generator up the slope of compression, by at most the smallest radius, and not to where another curve is.
    fn climb(
        &mut self,
        pattern: &Pattern,
        settings: &Settings,
        c: usize,
        from: Point,
        pace: &Pace,
    ) -> (Point, Strain) {
        let r = settings.smallest_radius;
        let most = pace.most.min(r);
        let Tracker { field, walk, buckets, .. } = self;
        let probe = |direction: DVec2, length: f64| {
            let stepped = pattern.step(from, direction, length);
            let strain = field.at(pattern, stepped.point);
            (stepped.left == 0.0).then_some((stepped.point, strain))
        };
        let mut best = (from, field.at(pattern, from));
        // Only across the fold: along it, every point of the curve is as good a generator.
        let line = best.1.direction;
        let across = DVec2::new(-line.y, line.x);
        let value = |d: DVec2| probe(d, 0.25 * r).map_or(0.0, |(_, s)| s.compression);
        let (left, right) = (value(across), value(-across));
        let uphill = if left >= right { across } else { -across };
        for quarter in 1..=4 {
            let Some((point, strain)) = probe(uphill, 0.25 * most * f64::from(quarter)) else { break };
            if strain.compression <= best.1.compression
                || !buckets.is_free(pattern, walk, point, 2.0 * r, Some(c as u32))
            {
                break;
            }
            best = (point, strain);
        }
        best
    }

    /// Gives points half widths by what is beside them: half the way to the next fold, or what is natural where there is none.
    fn set_widths(&mut self, pattern: &Pattern, settings: &Settings, curves: &mut [Curve], pace: &Pace) {
        for c in 0..curves.len() {
            let count = curves[c].knots.len();
            let mut before: Option<usize> = None;
            // Some points are looked around; those between get what lies between.
            for k in (0..count).filter(|&k| pace.has_turn(c) && (k % pace.stride() == 0 || k + 1 == count)) {
                let wanted = self.wanted_half_width(pattern, settings, curves, c, k);
                let knots = &mut curves[c].knots;
                let first = before.map_or(wanted, |b| knots[b].wanted_half_width);
                let from = before.unwrap_or(k);
                for between in from..=k {
                    let share = (between - from) as f64 / ((k - from).max(1)) as f64;
                    let share = if between == k { 1.0 } else { share };
                    knots[between].wanted_half_width = first + share * (wanted - first);
                }
                before = Some(k);
            }
            for knot in &mut curves[c].knots {
                let most = WIDENING * pace.strength * knot.half_width;
                let change = pace.filter * (knot.wanted_half_width - knot.half_width);
                knot.half_width += change.clamp(-most, most);
            }
        }
    }

    /// Half the way to the folds on both sides of a point, in the mean.
    fn wanted_half_width(
        &mut self,
        pattern: &Pattern,
        settings: &Settings,
        curves: &[Curve],
        c: usize,
        k: usize,
    ) -> f64 {
        let Tracker { field, walk, buckets, .. } = self;
        let knot = &curves[c].knots[k];
        let strain = field.at(pattern, knot.at);
        let natural = natural_half_width(settings, &Strain { compression: knot.compression, ..strain });
        let mut beside = [f64::INFINITY; 2];
        let slack = 1.5 * settings.smallest_radius;
        buckets.near(pattern, walk, knot.at, FARTHEST * natural, |other, vector| {
            let (along, side) = (vector.dot(strain.direction), strain.direction.perp_dot(vector));
            if other as usize != c && along.abs() < slack {
                let nearest = &mut beside[usize::from(side > 0.0)];
                *nearest = nearest.min(side.abs());
            }
            false
        });
        0.5 * (half_beside(beside[0], natural) + half_beside(beside[1], natural))
    }

    /// Lets new curves begin where cloth is compressed and no fold is.
    fn give_birth(&mut self, pattern: &Pattern, settings: &Settings, curves: &mut Vec<Curve>, pace: &Pace) {
        // Beside the folds that are there, the new ones included.
        let mut c = 0;
        while c < curves.len() {
            let mut beside = Vec::new();
            for knot in
                curves[c].knots.iter().step_by(pace.stride()).filter(|_| !curves[c].dying && pace.has_turn(c))
            {
                let strain = self.field.at(pattern, knot.at);
                let natural = natural_half_width(settings, &strain);
                // Side by side, or a little nearer where that just fits between two.
                for &reach in pace.reaches() {
                    let across = DVec2::new(-strain.direction.y, strain.direction.x);
                    let stepped = pattern.step(knot.at, across * f64::signum(reach), reach.abs() * natural);
                    let there = self.field.at(pattern, stepped.point);
                    if stepped.left == 0.0 && there.compression >= settings.threshold {
                        beside.push((there.compression, stepped.point));
                    }
                }
            }
            beside.sort_by(|a, b| b.0.total_cmp(&a.0));
            for (_, point) in beside {
                self.try_birth(pattern, settings, curves, point, pace);
            }
            c += 1;
            if c == curves.len() {
                // Then where cloth is compressed most.
                self.birth_at_vertices(pattern, settings, curves, pace);
            }
        }
        if curves.is_empty() {
            self.birth_at_vertices(pattern, settings, curves, pace);
            if !curves.is_empty() {
                self.give_birth(pattern, settings, curves, pace);
            }
        }
    }

    /// One curve at the vertex that is compressed most, of those where no fold is near.
    fn birth_at_vertices(
        &mut self,
        pattern: &Pattern,
        settings: &Settings,
        curves: &mut Vec<Curve>,
        pace: &Pace,
    ) {
        let mut candidates: Vec<(f64, Point)> = (0..pattern.home.len())
            .filter(|&v| pace.has_turn(v))
            .filter_map(|v| pattern.at_vertex(v))
            .map(|point| (self.field.at(pattern, point).compression, point))
            .filter(|(compression, _)| *compression >= settings.threshold)
            .collect();
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, point) in candidates.into_iter().take(MOST_ATTEMPTS) {
            if self.try_birth(pattern, settings, curves, point, pace) {
                return;
            }
        }
    }

    fn try_birth(
        &mut self,
        pattern: &Pattern,
        settings: &Settings,
        curves: &mut Vec<Curve>,
        seed: Point,
        pace: &Pace,
    ) -> bool {
        let Tracker { field, walk, buckets, .. } = self;
        let strain = field.at(pattern, seed);
        let half = natural_half_width(settings, &strain);
        // At the border a fold would hang over.
        let across = DVec2::new(-strain.direction.y, strain.direction.x);
        let has_room = [across, -across].iter().all(|d| pattern.step(seed, *d, 0.5 * half).left == 0.0);
        if !has_room
            || curves.len() >= MOST_CURVES
            || !buckets.is_free(pattern, walk, seed, ROOM * half, None)
        {
            return false;
        }
        let rules = Tracker::rules(settings);
        let found = trace(pattern, field, walk, &rules, seed, strain.direction, |walk, at| {
            !buckets.is_free(pattern, walk, at, settings.smallest_radius, None)
        });
        let count = found.front.len() + found.back.len() + 1;
        // What is shorter than wide is no fold.
        if (count as f64) * rules.spacing < half {
            return false;
        }
        let here = Traced { at: seed, compression: strain.compression, along: strain.along };
        let fading = fading_points(settings, &strain);
        let ends = |side: &[Traced]| -> Vec<Knot> {
            let knots = side.iter().enumerate().map(|(k, point)| {
                let share = end_share(k, side.len(), found.ring, fading) * strength_of(Some(point), settings);
                born(settings, point, pace.toward(0.0, share))
            });
            knots.collect()
        };
        let (back, front) = (ends(&found.back), ends(&found.front));
        let share = if found.ring { 1.0 } else { end_share(0, count, false, fading) };
        let middle = born(settings, &here, pace.toward(0.0, share * strength_of(Some(&here), settings)));
        let curve = Curve {
            generator: back.len(),
            knots: back.into_iter().rev().chain([middle]).chain(front).collect(),
            last_compression: strain.compression,
            ring: found.ring,
            dying: false,
        };
        buckets.add(curves.len() as u32, &curve);
        curves.push(curve);
        true
    }
}

/// How much may change in a frame.
struct Pace {
    /// Share of the way to the target that the filter goes.
    filter: f64,
    /// Change of a strength.
    strength: f64,
    /// Way of a point, m.
    most: f64,
    /// Which of the curves and vertices have their turn to be looked around; all of them where folds settle.
    turn: Option<usize>,
}

impl Pace {
    fn of(dt: f64, smallest_radius: f64, round: u32) -> Pace {
        let endless = dt == f64::INFINITY;
        Pace {
            filter: 1.0 - exp(-dt / FILTER_TIME),
            strength: dt / RISE_TIME,
            turn: (!endless).then_some(round as usize % TURNS),
            most: if endless { f64::INFINITY } else { smallest_radius * (SPEED * dt).min(1.0) },
        }
    }

    /// How many natural half widths beside a fold new ones are tried.
    fn reaches(&self) -> &'static [f64] {
        if self.turn.is_some() { &[2.0, -2.0, 1.02 * ROOM, -1.02 * ROOM] } else { &[2.0, -2.0] }
    }

    fn has_turn(&self, number: usize) -> bool {
        self.turn.is_none_or(|turn| number % TURNS == turn)
    }

    /// Every so many points of a curve are looked around.
    fn stride(&self) -> usize {
        if self.turn.is_some() { 3 } else { 1 }
    }

    fn toward(&self, from: f64, to: f64) -> f64 {
        from + (to - from).clamp(-self.strength, self.strength)
    }
}

/// Half the way to the next fold; what is natural where that is so far that another one fits between.
fn half_beside(distance: f64, natural: f64) -> f64 {
    let d = distance / natural;
    // Up to where it is farthest it fades to what is natural.
    let half = if d <= WIDE {
        0.5 * d
    } else {
        (0.5 * WIDE - (d - WIDE) * (0.5 * WIDE - 1.0) / (FARTHEST - WIDE)).max(1.0)
    };
    natural * half.max(0.25)
}

/// Over how many points the ends of a fold fade: more where it is wide, as an end that is shorter than wide is blunt.
fn fading_points(settings: &Settings, strain: &Strain) -> f64 {
    (TAPER * natural_half_width(settings, strain) / settings.smallest_radius).clamp(4.0, MOST_FADING)
}

/// Strength of the k-th point beside the generator of a side of that many: it fades over the last ones.
fn end_share(k: usize, count: usize, ring: bool, fading: f64) -> f64 {
    if ring {
        return 1.0;
    }
    let left = count.saturating_sub(k) as f64;
    (left / fading).min(1.0)
}

/// Strength by compression: none below where folds die, all a little above where they are born.
fn strength_of(point: Option<&Traced>, settings: &Settings) -> f64 {
    let Some(point) = point else { return 0.0 };
    let (low, high) = (HYSTERESIS * settings.threshold, 1.3 * settings.threshold);
    let s = ((point.compression - low) / (high - low)).clamp(0.0, 1.0);
    s * s * (3.0 - 2.0 * s)
}

fn born(settings: &Settings, point: &Traced, strength: f64) -> Knot {
    let strain = Strain { compression: point.compression, along: point.along, direction: DVec2::X };
    let half_width = natural_half_width(settings, &strain);
    let wanted_half_width = half_width;
    Knot { at: point.at, compression: point.compression, half_width, wanted_half_width, strength }
}

/// Lets a point follow what was traced; one that has nothing to follow fades where it is.
fn follow_point(
    pattern: &Pattern,
    walk: &mut Walk,
    knot: &mut Knot,
    target: Option<&Traced>,
    share: f64,
    pace: &Pace,
    reach: f64,
) {
    let Some(target) = target else {
        knot.strength = pace.toward(knot.strength, 0.0);
        return;
    };
    if knot.strength < NOTHING || pace.most == f64::INFINITY {
        // Nobody sees it go.
        (knot.at, knot.compression) = (target.at, target.compression);
        knot.strength = pace.toward(knot.strength, share);
        return;
    }
    match walk.vector(pattern, knot.at, target.at, reach) {
        Some(way) => {
            let length = (pace.filter * way.length()).min(pace.most);
            if let Some(direction) = way.try_normalize() {
                knot.at = pattern.step(knot.at, direction, length).point;
            }
            knot.compression += pace.filter * (target.compression - knot.compression);
            knot.strength = pace.toward(knot.strength, share);
        }
        // Too far to go there: it fades, and comes up again where it belongs.
        None => knot.strength = pace.toward(knot.strength, 0.0),
    }
}

/// The direction along the line at the seed that goes to the front of the curve as it was.
fn forward_direction(
    pattern: &Pattern,
    walk: &mut Walk,
    curve: &Curve,
    seed: Point,
    line: DVec2,
    reach: f64,
) -> DVec2 {
    let neighbour =
        |k: Option<&Knot>, walk: &mut Walk| k.and_then(|k| walk.vector(pattern, seed, k.at, reach));
    let g = curve.generator;
    let ahead = neighbour(curve.knots.get(g + 1), walk)
        .or_else(|| neighbour(g.checked_sub(1).and_then(|k| curve.knots.get(k)), walk).map(|v| -v));
    if ahead.is_some_and(|v| v.dot(line) < 0.0) { -line } else { line }
}
