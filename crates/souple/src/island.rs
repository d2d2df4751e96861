//! Bodies that are advanced together, substep by substep, because their surfaces may touch; most bodies are alone in theirs.
//!
//! One loop for all solvers: each body takes a substep and is put out of colliders, then surfaces act on all of them at once
//! (FAU-39's three stages: detect, model the contact, respond), then each body ends its substep. The bodies of an island belong to one
//! group, so that they have the same substeps; the body that needs the most decides for all.

use std::time::Instant;

use glam::DVec3;

use crate::advance::{Frame, Workspace, single};
use crate::contact::held::{self, Key, Meeting};
use crate::contact::rules::{Rules, Thing};
use crate::contact::surfaces::{self, Substep, Surfaces};
use crate::coupled::Coupled;
use crate::lanes::{Instructions, Point};
use crate::math::random_bits;
use crate::measure::intersections;
use crate::mesh::bounds;
use crate::model::{LinkModel, Model};
use crate::parallel::Parallel;
use crate::profile::{Profile, Stage};
use crate::scene::ContactMode;
use crate::solver::{CutShort, SolveWork};
use crate::state::BodyState;

/// Colliders go no further than this share of an edge in a substep,
const WAY_OF_COLLIDERS: f64 = 0.5;

/// unless that takes more than this many times the usual substeps.
const MOST_FOR_COLLIDERS: u32 = 16;

/// Bodies that are advanced together, each on a copy that is kept only if all are healthy.
#[derive(Debug)]
pub(crate) struct Island {
    pub works: Vec<Workspace>,
    /// Those of them that are solved as one.
    pub coupled: Vec<Coupled>,
    touching: Option<Touching>,
    /// Whether it is not advanced in this step.
    pub rests: bool,
    /// Time booked inside the last step.
    pub profile: Profile,
    /// What of the promise of safe contact was not kept in the last step: how many pairs cross, and whether any did before.
    pub crossed: Option<(usize, bool)>,
    /// One thread, for an island that is advanced beside others.
    alone: Parallel,
}

impl Island {
    /// All islands of a model.
    pub(crate) fn all(model: &Model, bodies: &[BodyState]) -> Vec<Island> {
        let mut islands: Vec<Island> = Vec::new();
        let mut seen = vec![false; model.bodies.len()];
        for first in 0..model.bodies.len() {
            if std::mem::replace(&mut seen[first], true) {
                continue;
            }
            let mut members = vec![first];
            let mut next = 0;
            while let Some(&a) = members.get(next) {
                next += 1;
                for b in 0..model.bodies.len() {
                    let linked = |link: &LinkModel| link.is_strong && [[a, b], [b, a]].contains(&link.bodies);
                    let touch = model.rule(Thing::Body(a), Thing::Body(b)).touch;
                    if !seen[b] && (touch || model.links.iter().any(linked)) {
                        seen[b] = true;
                        members.push(b);
                    }
                }
            }
            members.sort_unstable();
            let touching = Touching::of(model, &members);
            let works = members.iter().map(|&b| Workspace::new(model, b, &bodies[b])).collect();
            islands.push(Island {
                works,
                coupled: Coupled::all(model, &members),
                touching,
                rests: false,
                profile: Profile::default(),
                crossed: None,
                alone: Parallel::default(),
            });
        }
        islands
    }

    /// The most items that a loop over one of its bodies has.
    pub(crate) fn largest_count(&self, bodies: &[BodyState]) -> usize {
        self.works.iter().map(|w| bodies[w.b].topology.largest_count()).max().unwrap_or(0)
    }

    /// Whether nothing happens to bodies that are still: nothing moves that holds, touches or pushes one of them.
    pub(crate) fn is_left_alone(&self, frame: &Frame) -> bool {
        let still = |c: &u32| frame.control.stands(*c as usize);
        let meshes_stand = self.touching.as_ref().is_none_or(|t| t.colliders.iter().all(still));
        meshes_stand && self.works.iter().all(|w| w.is_left_alone(frame.model, frame.control))
    }

    /// Iterations of the last linear solve of one of its bodies, alone or with others.
    pub(crate) fn iterations(&self, place: usize) -> u32 {
        let system = self.coupled.iter().find(|c| c.members.len() > 1 && c.members.contains(&place));
        system.map_or_else(|| self.works[place].method.iterations(), Coupled::iterations)
    }

    /// What of the linear solves of one of its bodies was cut short since it was last asked; of several that are solved as one it is
    /// told for the first.
    pub(crate) fn take_cut_short(&mut self, place: usize) -> CutShort {
        match self.coupled.iter_mut().find(|c| c.members.len() > 1 && c.members[0] == place) {
            Some(system) => system.take_cut_short(),
            None => self.works[place].method.take_cut_short(),
        }
    }

    /// What all its linear solves have cost since it was last asked.
    pub(crate) fn take_work(&mut self) -> SolveWork {
        let mut work = SolveWork::default();
        self.works.iter_mut().for_each(|w| work.add(w.method.take_work()));
        self.coupled.iter_mut().for_each(|c| work.add(c.take_work()));
        work
    }

    /// Forgets all scratch memory, so that what follows depends on the state alone.
    pub(crate) fn forget(&mut self, model: &Model) {
        self.works.iter_mut().for_each(|w| w.forget(model));
        self.coupled.iter_mut().for_each(|c| c.forget(model, &self.works));
        if let Some(touching) = &mut self.touching {
            touching.made_for.clear();
        }
    }

    /// Advances all bodies by one frame on the thread that calls.
    pub(crate) fn advance_alone(&mut self, frame: &Frame, bodies: &[BodyState]) {
        let alone = std::mem::take(&mut self.alone);
        self.advance(&Frame { parallel: &alone, ..*frame }, 0, bodies);
        self.alone = alone;
    }

    /// Advances all bodies by one frame, with 2^halvings times the usual substeps.
    pub(crate) fn advance(&mut self, frame: &Frame, halvings: u32, bodies: &[BodyState]) {
        frame.parallel.run_awake(|| {
            // A body that went further than expected may have met colliders nobody looked at: once more with them.
            let went_far = self.advance_once(frame, halvings, bodies);
            if went_far {
                self.advance_once(frame, halvings, bodies);
            }
            self.crossed = None;
            if self.touching.as_ref().is_some_and(|t| t.mode == ContactMode::Safe) {
                let mut clock = Instant::now();
                self.keep_promise(frame, bodies);
                self.profile.lap_inside(Stage::FindContacts, &mut clock);
            }
        });
    }

    /// Looks whether anything crosses at the end of a frame, exactly. What does is put back to where it was when the frame began, and
    /// more and more around it: all of it was clean then.
    fn keep_promise(&mut self, frame: &Frame, bodies: &[BodyState]) {
        let Island { works, touching: Some(touching), .. } = self else { return };
        let Frame { model, control, .. } = *frame;
        let obstacles: Vec<Vec<DVec3>> = touching
            .colliders
            .iter()
            .map(|&c| control.mesh_places(model, c as usize, 1.0).collect())
            .collect();
        let meshes = touching.colliders.iter().filter_map(|&c| model.colliders[c as usize].form.mesh());
        let obstacles: Vec<(&[DVec3], &[[u32; 3]])> =
            obstacles.iter().zip(meshes).map(|(x, mesh)| (&x[..], &mesh.triangles[..])).collect();
        let crossing = |x: &[&[DVec3]], works: &[Workspace]| {
            let soft = works.iter().zip(x).map(|(w, x)| (*x, &w.candidate.topology.triangles[..]));
            let all: Vec<_> = soft.chain(obstacles.iter().copied()).collect();
            let mut pairs = intersections::between(&all);
            pairs.retain(|pair| touching.is_ruled(works.len(), pair.map(|t| t.body as usize)));
            pairs
        };
        let mut marks: Vec<Vec<bool>> = works.iter().map(|w| vec![false; w.candidate.x.len()]).collect();
        for round in 0.. {
            let now: Vec<&[DVec3]> = works.iter().map(|w| &w.candidate.x[..]).collect();
            let pairs = crossing(&now, works);
            if pairs.is_empty() {
                return;
            }
            if round == 0 {
                let before: Vec<&[DVec3]> = works.iter().map(|w| &bodies[w.b].x[..]).collect();
                let torn = works.iter().any(|w| w.candidate.x.len() != bodies[w.b].x.len());
                if torn || !crossing(&before, works).is_empty() {
                    self.crossed = Some((pairs.len(), true));
                    return;
                }
            }
            let mut more = false;
            for t in pairs.iter().flatten().filter(|t| (t.body as usize) < works.len()) {
                let b = t.body as usize;
                for v in works[b].candidate.topology.triangles[t.triangle as usize] {
                    more |= !std::mem::replace(&mut marks[b][v as usize], true);
                }
            }
            for (work, marks) in works.iter_mut().zip(&mut marks).filter(|_| round > 0) {
                more |= grow(&work.candidate.topology.triangles, marks);
            }
            if !more {
                self.crossed = Some((pairs.len(), false));
                return;
            }
            for (work, marks) in works.iter_mut().zip(&marks) {
                work.take_back(&bodies[work.b], marks);
            }
        }
    }

    /// Advances all bodies by one frame; tells whether one of them may have met a collider that it did not know.
    fn advance_once(&mut self, frame: &Frame, halvings: u32, bodies: &[BodyState]) -> bool {
        let Island { works, touching, profile, coupled, .. } = self;
        for work in works.iter_mut() {
            work.copy(frame.model, &bodies[work.b], frame.control);
        }
        let substeps = moving(works).map(|w| w.prepare(frame, halvings)).max().unwrap_or(1);
        let origin = touching.as_mut().map(|touching| touching.begin_frame(frame, works));
        let for_colliders = touching.as_ref().map_or(1, |t| t.substeps_for_colliders(frame, works));
        let substeps = substeps.max(for_colliders);
        moving(works).for_each(|w| w.begin(frame, substeps, origin));
        if let Some(touching) = touching {
            touching.find_tangles(frame, works);
        }
        let share = |s: u32| f64::from(s) / f64::from(substeps);
        for substep in 0..substeps {
            let shares = (share(substep), share(substep + 1));
            moving(works).for_each(|w| w.begin_substep(frame.model, shares.1));
            substep_all(frame, works, coupled, touching, substep, shares, substeps);
            let mut clock = Instant::now();
            moving(works).for_each(|w| w.collide(frame, shares));
            if let Some(touching) = touching {
                touching.touch(frame, works, shares, substeps, substeps - substep);
                profile.contacts += touching.surfaces.contact_count() as u64;
                profile.contact_rounds += 1;
            }
            profile.lap_inside(Stage::FindContacts, &mut clock);
            moving(works).for_each(|w| w.end_substep(frame, shares.1));
        }
        let mut mended = false;
        for work in moving(works) {
            mended |= work.settle(frame);
        }
        if mended && let Some(touching) = touching {
            touching.touch(frame, works, (1.0, 1.0), substeps, 1);
        }
        let mut went_far = false;
        for work in moving(works) {
            went_far |= work.finish(frame, &bodies[work.b]);
        }
        went_far
    }
}

/// Marks the neighbours of marked vertices; tells whether there were any.
fn grow(triangles: &[[u32; 3]], marks: &mut [bool]) -> bool {
    let marked = |t: &&[u32; 3]| {
        let count = t.iter().filter(|v| marks[**v as usize]).count();
        (1..3).contains(&count)
    };
    let border: Vec<[u32; 3]> = triangles.iter().filter(marked).copied().collect();
    border.iter().flatten().for_each(|v| marks[*v as usize] = true);
    !border.is_empty()
}

/// Moves all bodies by a substep: those that are coupled as one, others each by itself. Contacts of solvers that take them are part of it.
fn substep_all(
    frame: &Frame,
    works: &mut [Workspace],
    coupled: &mut [Coupled],
    touching: &mut Option<Touching>,
    substep: u32,
    shares: (f64, f64),
    substeps: u32,
) {
    for (k, work) in works.iter_mut().enumerate() {
        let is_alone = !coupled.iter().any(|c| c.members.contains(&k));
        if is_alone && !work.candidate.frozen {
            work.substep(frame, substep, shares);
        }
    }
    if works.iter().all(Workspace::takes_contacts) {
        if let Some(touching) = touching {
            touching.fit(frame.model, works);
        }
        for system in coupled {
            let touches = touching.is_some() || system.members.iter().any(|k| works[*k].lies());
            if !touches {
                system.substep(frame, works, shares.0);
                continue;
            }
            system.substep_with_contacts(frame, works, shares, |works, meet| {
                if let Some(touching) = touching {
                    touching.meet(frame, works, shares, substeps, substeps - substep, meet);
                }
            });
        }
    } else {
        coupled.iter_mut().for_each(|system| system.substep(frame, works, shares.0));
    }
}

/// The bodies that are advanced: those that are not frozen.
fn moving(works: &mut [Workspace]) -> impl Iterator<Item = &mut Workspace> {
    works.iter_mut().filter(|w| !w.candidate.frozen)
}

/// The surfaces of an island, and of the colliders that are meshes.
#[derive(Debug)]
struct Touching {
    surfaces: Surfaces,
    /// Colliders whose surface they may meet.
    colliders: Vec<u32>,
    /// What the bodies were when the surfaces were made: version of the topology, and whether they are advanced.
    made_for: Vec<(u64, bool)>,
    /// Where 32-bit places are counted from, m.
    origin: DVec3,
    mode: ContactMode,
    /// Distances per substep, where contacts are found by chance.
    budget: Option<u32>,
    rules: Rules,
    instructions: Instructions,
}

impl Touching {
    /// For bodies of a model; none if their surfaces meet nothing.
    fn of(model: &Model, members: &[usize]) -> Option<Touching> {
        let meets = |b: &usize, other: Thing| model.rule(Thing::Body(*b), other).touch;
        let meets_collider = |c: &usize| members.iter().any(|b| meets(b, Thing::Collider(*c)));
        let colliders: Vec<u32> =
            (0..model.colliders.len()).filter(meets_collider).map(|c| c as u32).collect();
        let meets_body = |b: &usize| members.iter().any(|other| meets(b, Thing::Body(*other)));
        let any = !colliders.is_empty() || members.iter().any(meets_body);
        any.then(|| Touching {
            surfaces: Surfaces::default(),
            colliders,
            made_for: Vec::new(),
            origin: DVec3::ZERO,
            mode: model.groups[model.bodies[members[0]].group].contact_mode,
            budget: model.groups[model.bodies[members[0]].group].contact_budget,
            rules: Rules::default(),
            instructions: Instructions::detect(),
        })
    }

    /// Makes surfaces anew if a body has torn, and chooses the origin, which is returned.
    fn begin_frame(&mut self, frame: &Frame, works: &[Workspace]) -> DVec3 {
        self.fit(frame.model, works);
        self.surfaces.begin_frame();
        let mut hull = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for work in works {
            let (low, high) = bounds(&work.candidate.x);
            hull = (hull.0.min(low), hull.1.max(high));
        }
        self.origin = 0.5 * (hull.0 + hull.1);
        self.origin
    }

    fn fit(&mut self, model: &Model, works: &[Workspace]) {
        let now = |w: &Workspace| (w.candidate.topology.version, !w.candidate.frozen);
        if self.made_for.iter().copied().eq(works.iter().map(now)) {
            return;
        }
        self.made_for.clear();
        self.made_for.extend(works.iter().map(now));
        let mut names: Vec<Thing> = works.iter().map(|w| Thing::Body(w.b)).collect();
        let mut things: Vec<surfaces::Thing> = works.iter().map(Workspace::surface).collect();
        for &c in &self.colliders {
            names.push(Thing::Collider(c as usize));
            things.push(surface_of_collider(model, c as usize));
        }
        self.rules = Rules::new(names.len(), |a, b| model.rule(names[a], names[b]));
        self.surfaces = Surfaces::new(&things, self.rules.clone()).with_budget(self.budget);
    }

    /// Into how many substeps a frame must be cut so that no collider that may be met goes far in one: a cloth that is hit harder than it
    /// can give way is thrown through itself.
    fn substeps_for_colliders(&self, frame: &Frame, works: &[Workspace]) -> u32 {
        let Frame { model, control, .. } = *frame;
        let met = works.iter().flat_map(|w| &w.contacts.pairs).chain(&self.colliders);
        let ways = met.filter_map(|&c| control.furthest_way(model, c as usize));
        let furthest = ways.fold(0.0, f64::max);
        let usual = works.first().map_or(1, |w| model.groups[model.bodies[w.b].group].substeps);
        let wanted = furthest / (WAY_OF_COLLIDERS * f64::from(self.surfaces.edge_length()));
        wanted.min(f64::from(MOST_FOR_COLLIDERS * usual)).ceil() as u32
    }

    /// Finds what has crossed as the frame begins: every frame, so that a run that is restored goes on the same.
    fn find_tangles(&mut self, frame: &Frame, works: &[Workspace]) {
        for (k, work) in works.iter().enumerate() {
            let (before, now) = self.surfaces.places(k);
            work.show(self.origin, true, before, now);
        }
        for (k, &c) in self.colliders.iter().enumerate() {
            let (_, now) = self.surfaces.places(works.len() + k);
            place_collider(frame, c as usize, 0.0, self.origin, now);
        }
        self.surfaces.find_tangles(frame.parallel, self.instructions);
    }

    /// Tells the surfaces where everything was and is at two shares of the frame.
    fn show(&mut self, frame: &Frame, works: &[Workspace], shares: (f64, f64)) {
        for (k, work) in works.iter().enumerate() {
            let (before, now) = self.surfaces.places(k);
            work.show(self.origin, false, before, now);
        }
        for (k, &c) in self.colliders.iter().enumerate() {
            let (before, now) = self.surfaces.places(works.len() + k);
            place_collider(frame, c as usize, shares.0, self.origin, before);
            place_collider(frame, c as usize, shares.1, self.origin, now);
        }
    }

    /// Finds which surfaces will touch if particles go where they are now (FAU-44), and tells each contact that a system can hold.
    fn meet(
        &mut self,
        frame: &Frame,
        works: &[Workspace],
        shares: (f64, f64),
        substeps: u32,
        left: u32,
        meet: &mut dyn FnMut(Key, [(usize, u32); 4], Meeting),
    ) {
        self.show(frame, works, shares);
        let h = frame.model.frame_dt() / f64::from(substeps);
        let seed = random_bits(frame.control.step, (u64::from(substeps) << 32) | u64::from(left));
        let substep = Substep { h: h as f32, left, rest_speed: 0.0, seed, slack: 1.0, around: true };
        self.surfaces.predict(frame.parallel, self.instructions, &substep);
        for (contact, rule) in self.surfaces.contacts() {
            // For what bounces impulses act.
            if contact.gap >= contact.apart.skin || rule.restitution > 0.0 {
                continue;
            }
            let owners = contact.apart.vertices.map(|v| self.surfaces.owner(v));
            let weights = sides_of_one(contact.weights, contact.apart.first_side.into());
            let mut meeting = Meeting {
                particles: weights.map(|w| (0, w)),
                normal: DVec3::from_array(contact.apart.normal.map(f64::from)).normalize_or_zero(),
                offset: 0.0,
                distance: contact.apart.skin.into(),
                mobility: 0.0,
                weight: 0.0,
                friction: rule.friction.into(),
                drift: DVec3::ZERO,
                is_shared: true,
            };
            for (k, (thing, local)) in owners.into_iter().enumerate() {
                if thing < works.len() {
                    let ease = works[thing].inverse_mass(local);
                    meeting.mobility += weights[k] * weights[k] * ease;
                    // What is held carries itself.
                    if ease > 0.0 {
                        meeting.is_shared &= weights[k] == 0.0 || works[thing].is_in_cells(local);
                        meeting.weight = meeting.weight.max(works[thing].weight(frame.model));
                    }
                } else {
                    // A collider goes where it is led: its share of the gap is known.
                    let (from, to) = self.surfaces.way(contact.apart.vertices[k]);
                    let (from, to) = (DVec3::from_array(from), DVec3::from_array(to) + self.origin);
                    meeting.particles[k].1 = 0.0;
                    meeting.offset -= meeting.normal.dot(to) * weights[k];
                    meeting.drift -= (to - self.origin - from) * (weights[k] / h);
                }
            }
            meet(Key::Surfaces(contact.apart.vertices, contact.apart.first_side), owners, meeting);
        }
    }

    /// Whether two things touch, so that they must not cross; what is led out of something solid must.
    fn is_ruled(&self, works: usize, [a, b]: [usize; 2]) -> bool {
        let touch = self.rules.at(self.rules.place(a as u16, b as u16)).touch;
        touch && a.min(b) < works && !self.surfaces.is_sunk(a, b)
    }

    /// Lets surfaces act on what moved between two shares of a frame of so many substeps, of which some are left.
    fn touch(
        &mut self,
        frame: &Frame,
        works: &mut [Workspace],
        shares: (f64, f64),
        substeps: u32,
        left: u32,
    ) {
        self.fit(frame.model, works);
        self.show(frame, works, shares);
        for (k, work) in works.iter().enumerate() {
            work.tell_holds(self.surfaces.holds(k));
        }
        let Touching { surfaces, origin, instructions, mode, .. } = self;
        let h = frame.model.frame_dt() / f64::from(substeps);
        let rest_speed = (2.0 * frame.model.gravity.length() * h) as f32;
        // Known from the frame alone, so that a run that is restored goes on the same.
        let seed = random_bits(frame.control.step, (u64::from(substeps) << 32) | u64::from(left));
        // What the system holds is left to it, but for what it could not hold.
        let around = works.iter().all(Workspace::takes_contacts);
        let slack = if around { held::SLACK as f32 } else { 1.0 };
        let substep = Substep { h: h as f32, left, rest_speed, seed, slack, around };
        surfaces.respond(frame.parallel, *instructions, &substep);
        for (k, work) in works.iter_mut().enumerate() {
            let (pushes, shifts) = surfaces.pushes(k);
            work.take_pushes(h, pushes, shifts);
            work.collide_again(frame, shares);
        }
        for (k, work) in works.iter().enumerate() {
            let (before, now) = surfaces.places(k);
            work.show(*origin, true, before, now);
        }
        match mode {
            ContactMode::Fast => surfaces.guard(frame.parallel, *instructions, &substep, works.len()),
            ContactMode::Safe => surfaces.promise(frame.parallel, *instructions, works.len()),
        }
        for (k, work) in works.iter_mut().enumerate() {
            let (held, places) = surfaces.held_back(k);
            work.take_held_back(h, *origin, held, places);
        }
    }
}

/// The weights of a contact with 32 bits, so that those of each side are 1 in all: a gap must not depend on where the origin is.
fn sides_of_one(weights: [f32; 4], first_side: usize) -> [f64; 4] {
    let mut weights = weights.map(f64::from);
    let (first, second) = weights.split_at_mut(first_side);
    for side in [first, second] {
        let sum: f64 = side.iter().sum::<f64>().abs();
        side.iter_mut().for_each(|w| *w /= sum);
    }
    weights
}

/// The surface of a collider that is a mesh.
fn surface_of_collider(model: &Model, c: usize) -> surfaces::Thing {
    let Some(mesh) = model.colliders[c].form.mesh() else { return surfaces::Thing::default() };
    surfaces::Thing {
        rest: mesh.positions.iter().map(|x| single(*x, 0.0)).collect(),
        triangles: mesh.triangles.clone(),
        solid: model.colliders[c].solid == Some(true),
    }
}

/// Where the vertices of a collider that is a mesh are at a share of the frame, from `origin`.
fn place_collider(frame: &Frame, c: usize, share: f64, origin: DVec3, places: &mut [Point]) {
    for (place, x) in places.iter_mut().zip(frame.control.mesh_places(frame.model, c, share)) {
        *place = single(x - origin, 0.0);
    }
}
