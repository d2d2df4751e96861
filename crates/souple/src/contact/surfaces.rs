//! Contact between surfaces, inside any solver: cloth on itself, bodies on each other, bodies on colliders that are meshes (FAU-46,
//! FAU-45's stiff interactions as constraints, SIM-27, SIM-30, SIM-33, SIM-34, ESSI-46).
//!
//! The surfaces of all things that may touch are one list of vertices; those of colliders have no mobility. A solver moves its
//! vertices by a substep, tells where they were and are, and takes what contact adds to that. Two stages, each one loop:
//!
//! 1. [`Surfaces::respond`]: features that come nearer than the skin are pushed apart along the direction they had when the substep
//!    began, one contact after the other, each shared among its four vertices by weight and mass; what they slid is shortened by
//!    at most the friction coefficient times the push. What was nearer than the skin already is let out slowly and
//!    without speed.
//!    What had crossed when the frame began is pulled apart instead of being held ([`super::untangle`], SIM-36).
//! 2. [`Surfaces::guard`]: what would cross all the same, as it is pushed from all sides, keeps that share of its motion up to which
//!    nothing surely crosses. Or [`Surfaces::promise`], which looks at all that could cross, and lets supports wait, too.

use glam::DVec3;

use crate::contact::continuous;
use crate::contact::examine::{Contact, Separation};
use crate::contact::pairs::{EDGE_SHARE, Pairs, Search, Vertices};
use crate::contact::proximity;
use crate::contact::rules::{Rule, Rules};
use crate::contact::stochastic::Stochastic;
use crate::contact::sunk::Sunk;
use crate::contact::surface::Surface;
use crate::contact::swept::Swept;
use crate::contact::untangle::Tangle;
use crate::lanes::{Instructions, Point};
use crate::parallel::Parallel;

/// What was too near is let out at this speed, m/s.
const RECOVERY_SPEED: f32 = 0.2;

/// For how many substeps a search should do.
const AHEAD: f32 = 3.0;

/// Pairs are looked at this much beyond the skin, as a share of it.
pub(super) const SLOP: f32 = 0.25;

/// What has crossed is pulled apart by so many edges per second.
const UNTANGLED: f32 = 8.0;

/// What vertices do that a scene leads, when something is in their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Supports {
    /// They wait for what is there.
    Wait,
    /// They go where they are led.
    GoOn,
}

/// What a thing that may touch is made of.
#[derive(Clone, Debug, Default)]
pub struct Thing {
    /// Places at rest, m.
    pub rest: Vec<Point>,
    /// Its triangles; one that names a vertex twice is a segment.
    pub triangles: Vec<[u32; 3]>,
    /// Whether what is inside is led out; its triangles are closed and face outwards.
    pub solid: bool,
}

/// The surfaces of things that may touch.
#[derive(Debug, Default)]
pub struct Surfaces {
    surface: Surface,
    pairs: Pairs,
    /// Looks for pairs instead, by chance, and how many distances it may compute per substep.
    sampled: Option<(Box<Stochastic>, u32)>,
    rules: Rules,
    /// First vertex of each thing, and the number of all.
    firsts: Vec<usize>,
    /// Places at rest, m.
    rest: Vec<Point>,
    /// Places when the substep began, m.
    before: Vec<Point>,
    /// Places now, m, and inverse mass.
    now: Vec<Point>,
    /// What contact adds to places, m, and inverse mass.
    pushes: Vec<Point>,
    /// What it adds to places before, m: motion that is not to become speed.
    shifts: Vec<Point>,
    /// The direction against which each vertex cannot be pushed, as something that does not give way is there; shorter than 1
    /// where that gives way a little.
    holds: Vec<[f32; 3]>,
    /// The round in which each vertex was last held back.
    changed: Vec<u32>,
    /// How far each vertex has moved in this substep, m.
    ways: Vec<f32>,
    /// What moves so far that it could cross.
    risky: Vec<Separation>,
    /// Pairs that could cross, for [`Surfaces::promise`].
    swept: Swept,
    /// What had crossed when the frame began.
    tangle: Tangle,
    /// What was inside of solid things then.
    sunk: Sunk,
}

/// How a substep is to be seen by contact.
#[derive(Clone, Copy, Debug)]
pub struct Substep {
    /// Its length, s.
    pub h: f32,
    /// Substeps that are left in this frame, this one among them.
    pub left: u32,
    /// Approach speed up to which nothing bounces, m/s.
    pub rest_speed: f32,
    /// Of random numbers, where contacts are found by chance.
    pub seed: u64,
    /// The share of its skin that a contact may be pressed to, unless it bounces: less than 1 where the solver itself holds contacts.
    pub slack: f32,
    /// Whether it is long: [`Search::around`].
    pub around: bool,
}

impl Surfaces {
    /// Of things, and what each two do when they touch.
    pub fn new(things: &[Thing], rules: Rules) -> Surfaces {
        let mut firsts = vec![0];
        let (mut rest, mut triangles) = (Vec::new(), Vec::new());
        for thing in things {
            let first = rest.len();
            rest.extend_from_slice(&thing.rest);
            triangles
                .push(thing.triangles.iter().map(|t| t.map(|v| v + first as u32)).collect::<Vec<[u32; 3]>>());
            firsts.push(rest.len());
        }
        let lists: Vec<&[[u32; 3]]> = triangles.iter().map(|t| &t[..]).collect();
        let n = rest.len();
        let nothing = vec![[0.0; 4]; n];
        Surfaces {
            surface: Surface::of_things(&rest, &lists),
            sunk: Sunk::new(&triangles, &firsts, |thing| things[thing].solid),
            rules,
            firsts,
            rest,
            before: nothing.clone(),
            now: nothing.clone(),
            pushes: nothing.clone(),
            shifts: nothing,
            holds: vec![[0.0; 3]; n],
            changed: vec![0; n],
            ..Surfaces::default()
        }
    }

    /// Finds contacts by chance, with so many distances per substep; without a budget all are found.
    pub fn with_budget(mut self, budget: Option<u32>) -> Surfaces {
        self.sampled = budget.map(|b| (Box::new(Stochastic::new(&self.surface, self.rest.len())), b));
        self
    }

    /// Mean length of edges at rest, m.
    pub fn edge_length(&self) -> f32 {
        self.surface.edge_length()
    }

    /// Forgets what was near.
    pub fn begin_frame(&mut self) {
        self.pairs.forget();
        self.holds.fill([0.0; 3]);
        if let Some((stochastic, _)) = &mut self.sampled {
            stochastic.forget();
        }
    }

    /// Where the vertices of a thing were when the substep began, m, and where they are, m, with their inverse mass: to be
    /// written before each stage.
    pub fn places(&mut self, thing: usize) -> (&mut [Point], &mut [Point]) {
        let range = self.firsts[thing]..self.firsts[thing + 1];
        (&mut self.before[range.clone()], &mut self.now[range])
    }

    /// By what each vertex of a thing is held: colliders that hold some are to be written before [`Surfaces::respond`].
    pub fn holds(&mut self, thing: usize) -> &mut [[f32; 3]] {
        let range = self.firsts[thing]..self.firsts[thing + 1];
        &mut self.holds[range]
    }

    /// What contact adds to the places of a thing, m, and what of it is not to become speed.
    pub fn pushes(&self, thing: usize) -> (&[Point], &[Point]) {
        let range = self.firsts[thing]..self.firsts[thing + 1];
        (&self.pushes[range.clone()], &self.shifts[range])
    }

    /// Which vertices of a thing the guard held back (not 0), and where all are now, m.
    pub fn held_back(&self, thing: usize) -> (&[u32], &[Point]) {
        let range = self.firsts[thing]..self.firsts[thing + 1];
        (&self.changed[range.clone()], &self.now[range])
    }

    /// Finds what has crossed as a frame begins, and what is inside of something solid, where vertices are now.
    pub fn find_tangles(&mut self, parallel: &Parallel, instructions: Instructions) {
        let Surfaces { surface, tangle, sunk, rules, firsts, now, .. } = self;
        let thing = |v: u32| firsts.partition_point(|f| *f <= v as usize) - 1;
        let touch = |a: usize, b: usize| rules.at(rules.place(a as u16, b as u16)).touch;
        tangle.find(parallel, instructions, surface, |a, b| touch(thing(a), thing(b)), now);
        let crossings = tangle.crossings().iter().map(|c| [c.ends[0], c.corners[0]]);
        sunk.find(touch, crossings, now, UNTANGLED * surface.edge_length());
        if sunk.any() && !tangle.crossings().is_empty() {
            let touch = |a: u32, b: u32| touch(thing(a), thing(b)) && !sunk.ignores(a, b);
            tangle.find(parallel, instructions, surface, touch, now);
        }
    }

    /// Whether a part of one of two things is inside of the other, which is solid, and on its way out.
    pub fn is_sunk(&self, a: usize, b: usize) -> bool {
        self.sunk.between(a, b)
    }

    /// Finds what will touch if vertices go where they are said to be now.
    pub fn predict(&mut self, parallel: &Parallel, instructions: Instructions, substep: &Substep) {
        let Surfaces { surface, pairs, sampled, rules, rest, before, now, .. } = self;
        let vertices = Vertices { rest, before, now };
        let skin = rules.widest();
        match sampled {
            None => pairs.find(parallel, instructions, surface, &vertices, &search_of(rules, substep)),
            Some((stochastic, budget)) => {
                stochastic.find(surface, rules, &vertices, skin, *budget, substep.seed);
            }
        }
    }

    /// The contacts that were found last, but for those that hold what has crossed, and their rules.
    pub fn contacts(&self) -> impl Iterator<Item = (&Contact, &Rule)> {
        let all = all_contacts(&self.pairs, &self.sampled);
        let held = all.filter(|c| !is_ignored(&self.tangle, &self.sunk, &c.apart));
        held.map(|c| (c, self.rules.at(c.rule as usize)))
    }

    /// The thing that a vertex is of, and its number there.
    pub fn owner(&self, v: u32) -> (usize, u32) {
        let thing = self.firsts.partition_point(|f| *f <= v as usize) - 1;
        (thing, v - self.firsts[thing] as u32)
    }

    /// Where a vertex was when the substep began, and where it is now, m.
    pub fn way(&self, v: u32) -> ([f64; 3], [f64; 3]) {
        let place = |p: &Point| [p[0].into(), p[1].into(), p[2].into()];
        (place(&self.before[v as usize]), place(&self.now[v as usize]))
    }

    /// Finds what touches after a substep and pushes it apart.
    pub fn respond(&mut self, parallel: &Parallel, instructions: Instructions, substep: &Substep) {
        self.predict(parallel, instructions, substep);
        let Surfaces { surface, pairs, sampled, rules, now, pushes, shifts, holds, tangle, sunk, .. } = self;
        for (push, now) in pushes.iter_mut().zip(now.iter()) {
            *push = [0.0, 0.0, 0.0, now[3]];
        }
        shifts.fill([0.0; 4]);
        if !tangle.crossings().is_empty() {
            tangle.spread(UNTANGLED * surface.edge_length() * substep.h, pushes);
        }
        sunk.lead(substep.h, pushes);
        if sunk.any() || !tangle.crossings().is_empty() {
            // What is pulled out is no motion.
            for (shift, push) in shifts.iter_mut().zip(pushes.iter()) {
                *shift = [push[0], push[1], push[2], 0.0];
            }
        }
        let near = all_contacts(pairs, sampled).filter(|c| !is_ignored(tangle, sunk, &c.apart));
        near.for_each(|c| press(c, rules.at(c.rule as usize), substep, pushes, shifts, holds));
        holds.iter_mut().for_each(|hold| *hold = hold.map(|c| STILL_HELD * c));
    }

    /// How many pairs [`Surfaces::respond`] found that touch, or may only not cross.
    pub fn contact_count(&self) -> usize {
        self.pairs.contacts().count() + self.pairs.others().count()
    }

    /// Holds back what would cross all the same, because it is pushed from all sides: vertices of a contact keep that share of
    /// their motion up to which nothing surely crosses. What stood still crosses nothing, so that this ends; what is left after
    /// [`GUARDS`] rounds is what is still to be measured. What flew along with something that was held back is looked at again. Things
    /// from `colliders` on go where they are led.
    pub fn guard(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        substep: &Substep,
        colliders: usize,
    ) {
        if self.longest_way() > VIOLENT * self.surface.edge_length() {
            self.hold_all(parallel, instructions, colliders, Supports::GoOn);
            return;
        }
        self.changed.fill(0);
        let mut rounds = 0;
        for pass in 1..=GUARD_PASSES {
            let untold = 0.5 * EDGE_SHARE * self.rules.narrowest();
            let (furthest, last) = self.hold_back(parallel, rounds);
            if furthest <= untold || pass == GUARD_PASSES || self.sampled.is_some() {
                break;
            }
            let Surfaces { surface, pairs, rules, rest, before, now, changed, .. } = self;
            let vertices = Vertices { rest, before, now };
            let search = search_of(rules, substep);
            // Only what was held back in this pass may cross something that it did not cross before.
            let is_changed = |v: u32| changed[v as usize] > rounds;
            pairs.find_again(parallel, instructions, surface, &vertices, &search, is_changed);
            rounds = last;
        }
    }

    /// How far a vertex has moved in this substep at most, against the mean of all, m.
    fn longest_way(&self) -> f32 {
        let way = |(from, to): (&Point, &Point)| [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
        let ways = || self.before.iter().zip(&self.now).map(way);
        let sum = ways().fold([0.0f32; 3], |sum, way| [sum[0] + way[0], sum[1] + way[1], sum[2] + way[2]]);
        let mean = sum.map(|c| c / self.now.len().max(1) as f32);
        let square = |way: [f32; 3]| (0..3).map(|k| (way[k] - mean[k]) * (way[k] - mean[k])).sum::<f32>();
        ways().map(square).fold(0.0, f32::max).sqrt()
    }

    /// One pass of [`Surfaces::guard`] after so many rounds: returns how far a vertex was held back at most, m, and the last round.
    fn hold_back(&mut self, parallel: &Parallel, so_far: u32) -> (f32, u32) {
        let Surfaces { pairs, sampled, before, now, changed, ways, risky, tangle, sunk, .. } = self;
        ways.clear();
        ways.extend(before.iter().zip(now.iter()).map(|(from, to)| {
            let [x, y, z] = [to[0] - from[0], to[1] - from[1], to[2] - from[2]];
            (x * x + y * y + z * z).sqrt()
        }));
        let may_cross = |apart: &Separation| {
            let way = apart.vertices.map(|v| ways[v as usize]);
            let first = if apart.first_side == 1 { way[0] } else { way[0].max(way[1]) };
            let second = way[2].max(way[3]);
            let second = if apart.first_side == 1 { second.max(way[1]) } else { second };
            let room = apart.distance - held_apart(apart);
            let surely_not = first + second < (1.0 - KEPT) * room;
            !surely_not
        };
        risky.clear();
        let sampled = sampled.iter().flat_map(|(stochastic, _)| stochastic.contacts());
        let sampled = sampled.map(|c| &c.apart).filter(|apart| may_cross(apart));
        let all = pairs.risky(parallel, may_cross).chain(sampled);
        risky.extend(all.filter(|apart| !is_ignored(tangle, sunk, apart)));
        let mut furthest = 0.0f32;
        // Rounds count on over all passes, so that what an earlier one has changed is not taken for new.
        let mut last = so_far;
        for round in so_far + 1..=so_far + GUARDS {
            last = round;
            let is_first = round == so_far + 1;
            let mut all_apart = true;
            for apart in risky.iter() {
                let vertices = apart.vertices.map(|v| v as usize);
                // Later rounds look at what the round before has changed.
                if !is_first && vertices.iter().all(|&v| changed[v] < round - 1) {
                    continue;
                }
                if stay_apart(apart, before, now) {
                    continue;
                }
                let Some(share) = until(apart.first_side, apart.vertices, apart.skin, before, now) else {
                    continue;
                };
                let share = if round < so_far + STOPS { 0.9 * share } else { 0.0 };
                all_apart = false;
                // Supports go where they are led.
                for v in vertices {
                    if now[v][3] == 0.0 {
                        continue;
                    }
                    changed[v] = round;
                    let mut square = 0.0;
                    for k in 0..3 {
                        let way = now[v][k] - before[v][k];
                        now[v][k] = before[v][k] + share * way;
                        square += way * way;
                    }
                    furthest = furthest.max((1.0 - share) * square.sqrt());
                }
            }
            if all_apart {
                break;
            }
        }
        (furthest, last)
    }
}

impl Surfaces {
    /// Holds back all that would cross, supports too, until nothing does: what stands still crosses nothing. Vertices of the things
    /// from `colliders` on go where they are led, whatever is in their way.
    pub fn promise(&mut self, parallel: &Parallel, instructions: Instructions, colliders: usize) {
        self.hold_all(parallel, instructions, colliders, Supports::Wait);
    }

    fn hold_all(
        &mut self,
        parallel: &Parallel,
        instructions: Instructions,
        colliders: usize,
        supports: Supports,
    ) {
        self.changed.fill(0);
        let mut round = 0;
        loop {
            let Surfaces { surface, swept, rules, before, now, .. } = self;
            swept.find(parallel, instructions, surface, rules, before, now);
            let first = round + 1;
            round = self.stop_crossings(colliders, supports, first);
            if round == first {
                return;
            }
            // What flew along with something that was held back may cross it now.
        }
    }

    /// Holds back what of the candidates would cross, in rounds from `first` on, until none does; returns the last of them.
    fn stop_crossings(&mut self, colliders: usize, supports: Supports, first: u32) -> u32 {
        let Surfaces { swept, rules, before, now, changed, firsts, tangle, sunk, .. } = self;
        let may_wait =
            |v: usize, now: &Point| v < firsts[colliders] && (supports == Supports::Wait || now[3] != 0.0);
        for round in first.. {
            let mut any = false;
            let held =
                swept.candidates().filter(|c| !holds_what_crossed(tangle, sunk, c.vertices, c.first_side));
            for candidate in held {
                let vertices = candidate.vertices.map(|v| v as usize);
                // Later rounds look at what the round before has changed, and this one.
                if round > first && vertices.iter().all(|&v| changed[v] + 1 < round) {
                    continue;
                }
                let skin = rules.at(candidate.rule as usize).skin;
                let time = until(candidate.first_side, candidate.vertices, skin, before, now);
                let Some(time) = time else { continue };
                let share = if round < STOPS_AFTER { 0.9 * time } else { 0.0 };
                let mut moves = false;
                for v in vertices {
                    if !may_wait(v, &now[v]) {
                        continue;
                    }
                    let from = before[v];
                    // By bits: what is not a number stops, too.
                    if (0..3).any(|k| now[v][k].to_bits() != from[k].to_bits()) {
                        moves = true;
                        changed[v] = round;
                        let part = |k: usize| {
                            if share > 0.0 { from[k] + share * (now[v][k] - from[k]) } else { from[k] }
                        };
                        now[v] = [part(0), part(1), part(2), now[v][3]];
                    }
                }
                any |= moves;
            }
            if !any {
                return round;
            }
        }
        first
    }
}

/// How pairs are looked for in a substep.
fn search_of<'a>(rules: &'a Rules, substep: &Substep) -> Search<'a> {
    let skin = rules.widest();
    let Substep { left, around, .. } = *substep;
    Search { rules, skin, left, ahead: AHEAD, slop: SLOP * skin, around }
}

/// Whether two features are held that are to be pulled or led out of each other.
#[inline(always)]
fn is_ignored(tangle: &Tangle, sunk: &Sunk, apart: &Separation) -> bool {
    holds_what_crossed(tangle, sunk, apart.vertices, apart.first_side)
}

/// The same of the first `first_side` of four vertices and the others.
#[inline(always)]
fn holds_what_crossed(tangle: &Tangle, sunk: &Sunk, vertices: [u32; 4], first_side: u8) -> bool {
    tangle.ignores(vertices, first_side) || sunk.ignores(vertices[0], vertices[3])
}

/// Contacts, whichever way they were found: the other way has none.
fn all_contacts<'a>(
    pairs: &'a Pairs,
    sampled: &'a Option<(Box<Stochastic>, u32)>,
) -> impl Iterator<Item = &'a Contact> {
    pairs.contacts().chain(sampled.iter().flat_map(|(stochastic, _)| stochastic.contacts()))
}

/// From this round on what would still cross is stopped at once: each round stops another vertex, so that it ends.
const STOPS_AFTER: u32 = 20;

/// How often what would still cross is held back.
const GUARDS: u32 = 60;

/// From this round on it is stopped.
const STOPS: u32 = 50;

/// If a vertex moves by more than this share of an edge in a substep, all that could cross is looked at, whatever was near.
const VIOLENT: f32 = 1.0;

/// How often it is looked at what flew along with what was held back.
const GUARD_PASSES: u32 = 3;

/// Features that were apart stay apart by this share of their distance, beyond what they are held apart.
const KEPT: f32 = 0.1;

/// Features are held apart by this share of the skin.
const HELD_APART: f64 = 0.02;

/// Features that were nearer already are held apart by this share of their distance,
const CLOSEST: f64 = 0.9;

/// or by this, if they are nearer than
const CLOSEST_OF_ALL: f64 = 0.99;

/// this share of the skin: layers that are pressed together in each substep would soon be less apart than what is rounded.
const LEAST_APART: f64 = 2e-3;

/// Whether two features surely do not cross: a plane between them when the substep began, across their shortest connection, is
/// still between them if all their vertices are on its sides.
#[inline(always)]
fn stay_apart(apart: &Separation, before: &[Point], now: &[Point]) -> bool {
    let Separation { vertices, first_side, normal, distance, .. } = apart;
    let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
    let origin = before[vertices[0] as usize];
    for k in 0..4 {
        let v = vertices[k] as usize;
        let mut along = 0.0;
        for c in 0..3 {
            along += normal[c] * (now[v][c] - origin[c]);
        }
        if k < usize::from(*first_side) {
            least = least.min(along);
        } else {
            most = most.max(along);
        }
    }
    let held_apart = held_apart(apart);
    least - most >= held_apart + KEPT * (distance - held_apart)
}

/// How far two features are held apart, m.
#[inline(always)]
fn held_apart(apart: &Separation) -> f32 {
    separation(apart.distance.into(), apart.skin.into()) as f32
}

/// Until when two features surely do not come nearer than they are to be held apart, as a share of the substep.
fn until(first_side: u8, vertices: [u32; 4], skin: f32, before: &[Point], now: &[Point]) -> Option<f32> {
    let place = |points: &[Point]| {
        vertices.map(|v| {
            let [x, y, z, _] = points[v as usize].map(f64::from);
            DVec3::new(x, y, z)
        })
    };
    let (start, end) = (place(before), place(now));
    let skin = f64::from(skin);
    let vector = closest_vector(first_side, start);
    let distance = vector.length();
    let separation = separation(distance, skin);
    if distance < LEAST_APART * skin {
        // So near that they only may go apart: a plane between them stays between them, or nothing moves.
        let along = end.map(|x| x.dot(vector));
        let (first, second) = along.split_at(first_side.into());
        let least = first.iter().fold(f64::INFINITY, |m, c| c.min(m));
        let most = second.iter().fold(f64::NEG_INFINITY, |m, c| c.max(m));
        let apart = least - most >= separation * distance;
        return if apart { None } else { Some(0.0) };
    }
    let time = match first_side {
        1 => continuous::vertex_face(start, end, separation),
        _ => continuous::edge_edge(start, end, separation),
    };
    time.map(|t| t as f32)
}

/// From the closest point of the second of two features to that of the first.
fn closest_vector(first_side: u8, x: [DVec3; 4]) -> DVec3 {
    match first_side {
        1 => proximity::point_triangle(x[0], [x[1], x[2], x[3]]).vector,
        _ => proximity::edge_edge([x[0], x[1]], [x[2], x[3]]).vector,
    }
}

/// How far features are held apart, m, that were at a distance and keep a skin: if less and less of it were left in each substep, as
/// where layers are pressed together, it would soon be less than what is rounded.
fn separation(distance: f64, skin: f64) -> f64 {
    let least = (CLOSEST_OF_ALL * distance).min(LEAST_APART * skin);
    (HELD_APART * skin).min((CLOSEST * distance).max(least))
}

/// What is held by something keeps this share of that from one substep to the next.
const STILL_HELD: f32 = 0.7;

/// How much of the mobility of a vertex is left along a direction, which may lead against what holds it.
#[inline(always)]
fn free_share(hold: &[f32; 3], normal: &[f32; 3], sign: f32) -> f32 {
    let against = (sign * (hold[0] * normal[0] + hold[1] * normal[1] + hold[2] * normal[2])).min(0.0);
    1.0 - against * against
}

/// Lets vertices be held along a direction by a share of 1, if they are not held more already.
#[inline(always)]
fn hold(hold: &mut [f32; 3], normal: &[f32; 3], sign: f32, share: f32) {
    if hold[0] * hold[0] + hold[1] * hold[1] + hold[2] * hold[2] < share {
        let length = sign * share.sqrt();
        *hold = [length * normal[0], length * normal[1], length * normal[2]];
    }
}

/// How far the features of a contact give way along its normal.
struct Mobility {
    /// Of both sides, 1/kg: if nothing held them.
    all: [f32; 2],
    /// As they are held.
    left: [f32; 2],
    /// Of each vertex.
    of: [f32; 4],
}

impl Mobility {
    #[inline(always)]
    fn new(contact: &Contact, pushes: &[Point], holds: &[[f32; 3]]) -> Mobility {
        let Contact { apart: Separation { vertices, first_side, normal, .. }, weights, .. } = contact;
        let mut mobility = Mobility { all: [0.0; 2], left: [0.0; 2], of: [0.0; 4] };
        for k in 0..4 {
            let side = usize::from(k >= usize::from(*first_side));
            let v = vertices[k] as usize;
            let square = weights[k] * weights[k];
            mobility.of[k] = pushes[v][3] * free_share(&holds[v], normal, weights[k].signum());
            mobility.all[side] += square * pushes[v][3];
            mobility.left[side] += square * mobility.of[k];
        }
        mobility
    }

    /// Held from both sides: something has to give way.
    fn is_squeezed(&self) -> bool {
        self.left[0] + self.left[1] < 1e-3 * (self.all[0] + self.all[1])
    }

    /// Each side is held as much as the other is.
    #[inline(always)]
    fn hold(&self, contact: &Contact, holds: &mut [[f32; 3]]) {
        let Contact { apart: Separation { vertices, first_side, normal, .. }, weights, .. } = contact;
        for k in 0..4 {
            let (own, other) = if k < usize::from(*first_side) { (0, 1) } else { (1, 0) };
            // Far corners of a triangle are free.
            if self.all[own] > 0.0 && weights[k].abs() > 0.1 {
                let held = if self.all[other] > 0.0 { 1.0 - self.left[other] / self.all[other] } else { 1.0 };
                hold(&mut holds[vertices[k] as usize], normal, weights[k].signum(), held);
            }
        }
    }
}

/// Pushes two features apart. What holds them is known, and told on: otherwise a heap would sink into itself by as many times the
/// fall of a substep as it has layers, and be let out again for ever.
#[inline(always)]
fn press(
    contact: &Contact,
    rule: &Rule,
    substep: &Substep,
    pushes: &mut [Point],
    shifts: &mut [Point],
    holds: &mut [[f32; 3]],
) {
    let Contact { apart: Separation { vertices, normal, distance, skin, .. }, weights, gap, way, .. } =
        *contact;
    let skin = if rule.restitution > 0.0 { skin } else { skin * substep.slack };
    let mut moved = [0.0f32; 3];
    for k in 0..4 {
        let p = &pushes[vertices[k] as usize];
        for c in 0..3 {
            moved[c] += weights[k] * p[c];
        }
    }
    let along = |v: [f32; 3]| normal[0] * v[0] + normal[1] * v[1] + normal[2] * v[2];
    let gap = gap + along(moved);
    let recovery = RECOVERY_SPEED * substep.h;
    let target = if distance < skin { skin.min(distance + recovery) } else { skin };
    let touches = gap < target;
    if !touches {
        return;
    }
    let mut mobility = Mobility::new(contact, pushes, holds);
    let whole = mobility.all[0] + mobility.all[1];
    if whole <= 0.0 {
        return;
    }
    if mobility.is_squeezed() {
        mobility.left = mobility.all;
        (0..4).for_each(|k| mobility.of[k] = pushes[vertices[k] as usize][3]);
    } else {
        mobility.hold(contact, holds);
    }
    let left = mobility.left[0] + mobility.left[1];
    let approach = -along(way);
    let bounces = rule.restitution > 0.0 && approach > substep.rest_speed * substep.h;
    let target = if bounces { target.max(distance + rule.restitution * approach) } else { target };
    let push = target - gap;
    let let_out = if bounces { 0.0 } else { push.min((target - distance).max(0.0)) };
    let slip = {
        let way = [way[0] + moved[0], way[1] + moved[1], way[2] + moved[2]];
        let a = along(way);
        [way[0] - normal[0] * a, way[1] - normal[1] * a, way[2] - normal[2] * a]
    };
    let length = (slip[0] * slip[0] + slip[1] * slip[1] + slip[2] * slip[2]).sqrt();
    let lost = (rule.friction * (push - let_out) / length.max(f32::MIN_POSITIVE)).min(1.0);
    for k in 0..4 {
        let p = &mut pushes[vertices[k] as usize];
        let (share, share_of_slip) = (weights[k] * mobility.of[k] / left, weights[k] * p[3] / whole);
        for c in 0..3 {
            p[c] += normal[c] * push * share - slip[c] * lost * share_of_slip;
        }
        if let_out > 0.0 {
            let s = &mut shifts[vertices[k] as usize];
            for c in 0..3 {
                s[c] += normal[c] * let_out * share;
            }
        }
    }
}
