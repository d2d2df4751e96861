//! One body by one frame, on a copy: the stages that [`crate::island`] calls for each body.

use glam::DVec3;

use crate::contact::held::{self, Meeting};
use crate::contact::{ContactPoint, Contacts, surfaces};
use crate::control::{Control, PinTarget};
use crate::energy::ContactSprings;
use crate::health::{Symptom, examine};
use crate::lanes::Point;
use crate::mesh::tear::{TearScratch, tear};
use crate::model::Model;
use crate::parallel::Parallel;
use crate::rigid::RigidFrame;
use crate::scene::{ContactMode, SolverKind};
use crate::solver::xpbd::{CATCH_UP, FrameTask};
use crate::solver::{Method, Problem, limits};
use crate::state::BodyState;

/// How often parents are moved towards where contact wants what follows them.
const LEADING: u32 = 10;

/// How often parents are moved towards where followers are supported, at most.
const SUPPORTING: u32 = 2000;

/// What all bodies share during a step.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub model: &'a Model,
    pub control: &'a Control,
    /// Threads that may work on one body.
    pub parallel: &'a Parallel,
}

impl<'a> Frame<'a> {
    /// What the real-time solver knows of it.
    fn task(&self, b: usize, inverse_masses: &'a [f64]) -> FrameTask<'a> {
        let Frame { model, control, parallel } = *self;
        FrameTask { model, control, parallel, b, inverse_masses }
    }
}

/// A vector in 32 bits, and a fourth number.
pub(crate) fn single(v: DVec3, w: f32) -> Point {
    [v.x as f32, v.y as f32, v.z as f32, w]
}

fn double(p: &Point) -> DVec3 {
    DVec3::new(p[0].into(), p[1].into(), p[2].into())
}

/// Scratch memory of one body: the solver works on a copy, which is kept only if it is healthy.
#[derive(Debug)]
pub(crate) struct Workspace {
    /// Index of the body.
    pub b: usize,
    pub candidate: BodyState,
    pub method: Method,
    pub contacts: Contacts,
    /// What is wrong with the candidate.
    pub symptom: Option<Symptom>,
    /// 1/m, 1/kg; 0 for supported particles and for those that follow others.
    inverse_masses: Vec<f64>,
    /// What the two lists around this were made for: the topology, and which particles are supported.
    weighed: Option<(u64, usize)>,
    weighed_pins: Vec<u32>,
    /// How easily particles that are seen give way to contact, 1/kg: the same, but for those that follow others.
    mobilities: Vec<f64>,
    /// Followers that were put somewhere, and what their parents had before.
    wanted: Vec<(u32, DVec3)>,
    led: Vec<DVec3>,
    /// Where particles were, and their velocities, when followers last came along; not kept if what they follow is not touched.
    followed: [Vec<DVec3>; 2],
    /// Contacts with colliders that the system held in this substep.
    lay: Vec<ContactPoint>,
    rigid: Option<RigidFrame>,
    /// Where particles were when the substep began, m, and their velocities, m/s.
    x0: Vec<DVec3>,
    v0: Vec<DVec3>,
    /// kg.
    mass: f64,
    /// Length of the substeps of this frame, s.
    h: f64,
    /// Supported particles of this step, with those that a tear adds.
    pins: Vec<PinTarget>,
    tear: TearScratch,
}

impl Workspace {
    /// For a body of a model.
    pub(crate) fn new(model: &Model, b: usize, state: &BodyState) -> Workspace {
        let body = &model.bodies[b];
        Workspace {
            b,
            candidate: state.clone(),
            method: Method::of(&model.groups[body.group]),
            contacts: Contacts {
                deepest_first: model.groups[body.group].solver == SolverKind::Goals,
                ..Contacts::new(body, model.colliders.len())
            },
            symptom: None,
            inverse_masses: Vec::new(),
            weighed: None,
            weighed_pins: Vec::new(),
            mobilities: Vec::new(),
            wanted: Vec::new(),
            led: Vec::new(),
            followed: Default::default(),
            lay: Vec::new(),
            rigid: body.rigid,
            x0: Vec::new(),
            v0: Vec::new(),
            mass: 0.0,
            h: 0.0,
            pins: Vec::new(),
            tear: TearScratch::default(),
        }
    }

    /// Forgets all scratch memory.
    pub(crate) fn forget(&mut self, model: &Model) {
        self.method = Method::of(&model.groups[model.bodies[self.b].group]);
        self.weighed = None;
        self.contacts.points.clear();
    }

    /// Whether nothing happens to a body that is still: nothing moves that holds it, touches it or pushes it.
    pub(crate) fn is_left_alone(&self, model: &Model, control: &Control) -> bool {
        let moves = |c: &u32| !control.stands(*c as usize);
        control.pins[self.b].iter().all(|pin| pin.start == pin.end)
            && control.rides[self.b].stands()
            && !self.contacts.pairs.iter().any(moves)
            && !model.bodies[self.b].energies.iter().any(|e| e.is_restless(control, self.b as u32))
    }

    /// Root mean square speed of a body over a frame of `dt` that takes it from `before` to the candidate, m/s, by mass.
    /// Not that of its velocities: those of the last substep may go to and fro where the body does not.
    pub(crate) fn frame_speed(&self, before: &BodyState, dt: f64) -> f64 {
        let masses = &self.candidate.topology.masses;
        let ways = before.x.iter().zip(&self.candidate.x).zip(masses);
        let (sum, mass) = ways.fold((0.0, 0.0), |(sum, mass), ((from, to), m)| {
            (sum + m * from.distance_squared(*to), mass + m)
        });
        (sum / mass).sqrt() / dt
    }

    /// What is wrong with the candidate.
    pub(crate) fn examine(&self, model: &Model) -> Option<Symptom> {
        examine(&self.candidate.x, &self.candidate.v, &model.health)
    }

    // ---- one frame, in the order in which an island calls it ----

    /// Makes the copy that is advanced; cells are divided and joined.
    pub(crate) fn copy(&mut self, model: &Model, state: &BodyState, control: &Control) {
        self.candidate.copy_from(state);
        if let Some(refining) = model.bodies[self.b].refining.as_ref().filter(|_| !state.frozen) {
            refining.adapt(&mut self.candidate);
        }
        self.pins.clone_from(&control.pins[self.b]);
        self.weigh();
    }

    /// Into how many substeps it wants a frame cut, with 2^halvings times the usual ones.
    pub(crate) fn prepare(&mut self, frame: &Frame, halvings: u32) -> u32 {
        let substeps = frame.model.groups[frame.model.bodies[self.b].group].substeps << halvings;
        let Workspace { b, method, candidate, inverse_masses, .. } = self;
        match method {
            Method::Substeps(_) => substeps,
            Method::RealTime(solver) => solver.prepare(&frame.task(*b, inverse_masses), substeps, candidate),
        }
    }

    /// Begins a frame of so many substeps; an `origin` where 32-bit places are counted from, m, if its surface may touch.
    pub(crate) fn begin(&mut self, frame: &Frame, substeps: u32, origin: Option<DVec3>) {
        self.h = frame.model.frame_dt() / f64::from(substeps);
        let Workspace { b, method, candidate, inverse_masses, pins, contacts, .. } = self;
        if let Method::RealTime(solver) = method {
            let task = frame.task(*b, inverse_masses);
            solver.begin(&task, substeps, pins, &contacts.pairs, origin, candidate);
        }
    }

    /// Begins a substep that ends at share `s1` of the frame.
    pub(crate) fn begin_substep(&mut self, model: &Model, s1: f64) {
        if matches!(self.method, Method::Substeps(_)) {
            self.lead_supports(model, s1);
            self.v0.clone_from(&self.candidate.v);
            self.lay.clear();
            self.contacts.lies = self.lies();
        }
    }

    /// Moves the body by a substep between two shares of the frame, as if there were no contact.
    pub(crate) fn substep(&mut self, frame: &Frame, substep: u32, shares: (f64, f64)) {
        if let Method::RealTime(solver) = &mut self.method {
            solver.substep(frame.parallel, substep);
            return;
        }
        self.solve(frame, shares.0, &ContactSprings::default(), None);
        self.follow(frame.model);
    }

    /// Solves the system of a substep that begins at share `s0` of the frame, with these contacts; again from some velocities on, if it was with others.
    /// Returns [`crate::solver::Solver::slopes`] of the way from there.
    pub(crate) fn solve(
        &mut self,
        frame: &Frame,
        s0: f64,
        springs: &ContactSprings,
        again: Option<&[DVec3]>,
    ) -> [f64; 2] {
        let Frame { model, control, parallel } = *frame;
        let Workspace { b, method: Method::Substeps(solver), candidate, inverse_masses, h, x0, v0, .. } =
            self
        else {
            return [0.0; 2];
        };
        let BodyState { x, v, topology, plastic, .. } = candidate;
        let problem = Problem {
            energies: &model.bodies[*b].energies,
            system: &[],
            topology,
            plastic,
            control,
            parallel,
            body: *b as u32,
            inverse_masses,
            layer: model.bodies[*b].layer.as_ref(),
            contacts: solver.takes_contacts().then_some(springs),
            again,
        };
        let t = control.t0 + s0 * (control.t1 - control.t0);
        solver.advance(&problem, x, v, t, *h);
        topology.mapping.apply(x);
        topology.mapping.apply_j(v);
        if again.is_some() { solver.slopes(&problem, (x0, v0), v, t) } else { [0.0; 2] }
    }

    /// Ends what solves began, after which followers are in place: a rigid body gets its shape, stretch limits are kept.
    pub(crate) fn follow(&mut self, model: &Model) {
        let Workspace { b, candidate, inverse_masses, h, .. } = self;
        let body = &model.bodies[*b];
        let BodyState { x, v, topology, .. } = candidate;
        if let Some(rigid) = body.rigid.filter(|rigid| inverse_masses[rigid.first] != 0.0) {
            rigid.project(&topology.rest_positions, x, v);
            topology.mapping.apply(x);
            topology.mapping.apply_j(v);
        }
        if let Some(limit) = &body.limits {
            limits::apply(limit, topology, inverse_masses, *h, x, v);
        }
        self.remember_followers();
    }

    /// Keeps where followers are if contact may move what they follow: else it could not be told which of them contact has moved.
    fn remember_followers(&mut self) {
        let BodyState { x, v, topology, .. } = &self.candidate;
        if !topology.mapping.is_empty() && topology.hidden == 0 {
            self.followed[0].clone_from(x);
            self.followed[1].clone_from(v);
        }
    }

    /// Whether it may lie on colliders by springs of its system: solids do.
    pub(crate) fn lies(&self) -> bool {
        self.takes_contacts() && self.candidate.topology.is_solid() && !self.contacts.pairs.is_empty()
    }

    /// Finds where it lies on colliders if it goes where it is now.
    pub(crate) fn meet_colliders(
        &self,
        frame: &Frame,
        (s0, s1): (f64, f64),
        meet: impl FnMut(u32, u32, Meeting),
    ) {
        let of = (frame.model, frame.control, self.b);
        let ease = (&self.mobilities[..], self.weight(frame.model));
        held::meet_colliders(&self.contacts, of, (s0, s1, self.h), ease, &self.candidate.x, meet);
    }

    /// Its weight, N, if it is solid: what contacts may have to carry.
    pub(crate) fn weight(&self, model: &Model) -> f64 {
        let is_solid = self.candidate.topology.is_solid() || self.rigid.is_some();
        if is_solid { self.mass * model.gravity.length() } else { 0.0 }
    }

    /// Whether a particle follows cells.
    pub(crate) fn is_in_cells(&self, v: u32) -> bool {
        self.rigid.is_none() && self.candidate.topology.mapping.follows(v)
    }

    /// Tells of a contact with a collider that the system held.
    pub(crate) fn lies_on(&mut self, point: ContactPoint) {
        self.lay.push(point);
    }

    /// Where its particles were when the substep began, and their velocities.
    pub(crate) fn start(&self) -> (&[DVec3], &[DVec3]) {
        (&self.x0, &self.v0)
    }

    /// 1/m, 1/kg; 0 for supported particles and for those that follow others.
    pub(crate) fn inverse_masses(&self) -> &[f64] {
        &self.inverse_masses
    }

    /// Length of its substeps in this frame, s.
    pub(crate) fn step_length(&self) -> f64 {
        self.h
    }

    /// Whether contacts can be springs of the system of its solver.
    pub(crate) fn takes_contacts(&self) -> bool {
        self.method.takes_contacts()
    }

    /// Goes back to where the substep began.
    pub(crate) fn begin_again(&mut self) {
        self.candidate.x.clone_from(&self.x0);
        self.candidate.v.clone_from(&self.v0);
    }

    /// Moves particles on with the velocity they have for a substep, and a fall: a guess of where they will be.
    pub(crate) fn guess(&mut self, gravity: DVec3) {
        let fall = gravity * (self.h * self.h);
        let BodyState { x, v, frozen, .. } = &mut self.candidate;
        for ((x, v), w) in x.iter_mut().zip(v).zip(&self.mobilities).filter(|_| !*frozen) {
            *x += *v * self.h + if *w > 0.0 { fall } else { DVec3::ZERO };
        }
    }

    /// 1/m of a particle, 1/kg.
    pub(crate) fn inverse_mass(&self, v: u32) -> f64 {
        self.mobilities[v as usize]
    }

    /// Puts the body out of colliders.
    pub(crate) fn collide(&mut self, frame: &Frame, shares: (f64, f64)) {
        let Frame { model, control, .. } = *frame;
        let Workspace { b, method, candidate, inverse_masses, mobilities, contacts, x0, h, .. } = self;
        match method {
            Method::RealTime(solver) => solver.collide(&frame.task(*b, inverse_masses), shares, true),
            Method::Substeps(_) => {
                let BodyState { x, v, topology, .. } = candidate;
                if !contacts.within_reach(x) {
                    contacts.widen_reach(x0, x, *b, model, control);
                }
                contacts.collide(*b, model, control, shares, *h, topology, mobilities, x0, x, v);
                contacts.points.append(&mut self.lay);
                self.lead_parents();
            }
        }
    }

    /// Puts the body out of colliders that surfaces pushed it into.
    pub(crate) fn collide_again(&mut self, frame: &Frame, shares: (f64, f64)) {
        let Frame { model, control, .. } = *frame;
        let Workspace { b, method, candidate, inverse_masses, mobilities, contacts, x0, h, .. } = self;
        match method {
            Method::RealTime(solver) => solver.collide(&frame.task(*b, inverse_masses), shares, false),
            Method::Substeps(_) => {
                let BodyState { x, v, topology, .. } = candidate;
                contacts.push_out(*b, model, control, shares, *h, topology, mobilities, x0, x, v);
                self.lead_parents();
            }
        }
    }

    /// Ends a substep at share `s1` of the frame: supports are exactly in place, and what is pulled too far tears or flows.
    pub(crate) fn end_substep(&mut self, frame: &Frame, s1: f64) {
        if matches!(self.method, Method::Substeps(_)) {
            self.place_pins(frame.model, s1);
            self.tear(frame.model);
            self.flow(frame.model);
        }
    }

    /// Ends the motion of a frame; tells whether places were changed after the last substep.
    pub(crate) fn settle(&mut self, frame: &Frame) -> bool {
        let Workspace { b, method, inverse_masses, .. } = self;
        match method {
            Method::RealTime(solver) => {
                let task = frame.task(*b, inverse_masses);
                let mended = solver.settle(&task);
                if mended {
                    solver.collide(&task, (1.0, 1.0), false);
                }
                mended
            }
            Method::Substeps(_) => false,
        }
    }

    /// Ends the frame of a body that began it as `state`; tells whether it may have met a collider that it did not know.
    pub(crate) fn finish(&mut self, frame: &Frame, state: &BodyState) -> bool {
        let Frame { model, control, .. } = *frame;
        let Workspace { b, method, candidate, inverse_masses, contacts, .. } = self;
        let Method::RealTime(solver) = method else { return false };
        solver.finish(&frame.task(*b, inverse_masses), candidate, &mut contacts.points);
        let known = contacts.pairs.len();
        if !contacts.within_reach(&candidate.x) {
            contacts.widen_reach(&state.x, &candidate.x, *b, model, control);
        }
        let met_more = contacts.pairs.len() > known;
        self.place_pins(model, 1.0);
        self.tear(model);
        met_more
    }

    // ---- contact of surfaces ----

    /// Its surface, in the numbers of its solver.
    pub(crate) fn surface(&self) -> surfaces::Thing {
        let topology = &*self.candidate.topology;
        let n = topology.len();
        let own: Vec<u32> = (0..n as u32).collect();
        let places = match &self.method {
            Method::RealTime(solver) if solver.places().len() == n => solver.places(),
            _ => &own,
        };
        let mut rest = vec![[0.0; 4]; n];
        for (x, &place) in topology.rest_positions.iter().zip(places) {
            rest[place as usize] = single(*x, 0.0);
        }
        let at = |v: u32| places[v as usize];
        let triangles = topology.triangles.iter().map(|t| t.map(at));
        let segments = topology.segments.iter().map(|[a, b]| [at(*a), at(*b), at(*b)]);
        surfaces::Thing { rest, triangles: triangles.chain(segments).collect(), solid: false }
    }

    /// Tells a surface where particles are, from `origin`, and where they were unless it `knows_before`.
    pub(crate) fn show(&self, origin: DVec3, knows_before: bool, before: &mut [Point], now: &mut [Point]) {
        let Workspace { candidate, method, mobilities, x0, .. } = self;
        if candidate.frozen {
            // It stands, whatever its solver knows of it.
            for ((before, now), x) in before.iter_mut().zip(now).zip(&candidate.x) {
                *before = single(*x - origin, 0.0);
                *now = *before;
            }
            return;
        }
        if let Method::RealTime(solver) = method {
            solver.show(knows_before, before, now);
            return;
        }
        if !knows_before {
            before.iter_mut().zip(x0).for_each(|(to, x)| *to = single(*x - origin, 0.0));
        }
        for ((to, x), w) in now.iter_mut().zip(&candidate.x).zip(mobilities) {
            *to = single(*x - origin, *w as f32);
        }
    }

    /// Tells which particles lie on colliders, by their normals.
    pub(crate) fn tell_holds(&self, holds: &mut [[f32; 3]]) {
        if self.candidate.frozen {
            return;
        }
        if let Method::RealTime(solver) = &self.method {
            solver.tell_holds(holds);
            return;
        }
        for point in &self.contacts.points {
            holds[point.vertex as usize] = point.normal.to_array().map(|c| c as f32);
        }
    }

    /// Takes what surfaces add to places in a substep of `h`, and what of it is not to become speed.
    pub(crate) fn take_pushes(&mut self, h: f64, pushes: &[Point], shifts: &[Point]) {
        let BodyState { x, v, frozen: false, .. } = &mut self.candidate else { return };
        if let Method::RealTime(solver) = &mut self.method {
            solver.take_pushes(pushes, shifts);
            return;
        }
        for ((x, v), (push, shift)) in x.iter_mut().zip(v).zip(pushes.iter().zip(shifts)) {
            *x += double(push);
            *v += (double(push) - double(shift)) / h;
        }
        self.lead_parents();
    }

    /// Takes the places of particles that were held back in a substep of `h`.
    pub(crate) fn take_held_back(&mut self, h: f64, origin: DVec3, held: &[u32], places: &[Point]) {
        let BodyState { x, v, frozen: false, .. } = &mut self.candidate else { return };
        if let Method::RealTime(solver) = &mut self.method {
            solver.take_held_back(held, places);
            return;
        }
        let all = x.iter_mut().zip(v).zip(held.iter().zip(places));
        for ((x, v), (_, place)) in all.filter(|(_, (held, _))| **held > 0) {
            let back = double(place) + origin;
            *v += (back - *x) / h;
            *x = back;
        }
        self.lead_parents();
    }

    /// Puts marked particles back to where they were in `state`, at rest.
    pub(crate) fn take_back(&mut self, state: &BodyState, marks: &[bool]) {
        let BodyState { x, v, .. } = &mut self.candidate;
        for (i, _) in marks.iter().enumerate().filter(|(_, marked)| **marked) {
            x[i] = state.x[i];
            v[i] = DVec3::ZERO;
        }
        self.lead_parents();
    }

    // ---- parts ----

    /// Inverse masses of all particles as they are supported now.
    fn weigh(&mut self) {
        let BodyState { topology, pinned, .. } = &self.candidate;
        let is_known = self.weighed == Some((topology.version, topology.len()))
            && self.weighed_pins.iter().copied().eq(pinned.iter().map(|pin| pin.vertex));
        if is_known {
            return;
        }
        self.weighed = Some((topology.version, topology.len()));
        self.weighed_pins.clear();
        self.weighed_pins.extend(pinned.iter().map(|pin| pin.vertex));
        self.mass = topology.masses.iter().sum();
        self.inverse_masses.clear();
        self.inverse_masses.extend(topology.masses.iter().map(|m| 1.0 / m));
        pinned.iter().for_each(|pin| self.inverse_masses[pin.vertex as usize] = 0.0);
        let mapping = &topology.mapping;
        for pin in pinned.iter().filter(|pin| mapping.follows(pin.vertex)) {
            mapping.parents(pin.vertex).for_each(|(p, _)| self.inverse_masses[p as usize] = 0.0);
        }
        self.mobilities.clone_from(&self.inverse_masses);
        if !mapping.is_empty() {
            mapping.mobilities(&mut self.mobilities);
            if let Some(rigid) = self.rigid.filter(|rigid| self.inverse_masses[rigid.first] != 0.0) {
                let of = rigid.mobility(&topology.rest_positions, topology.masses[rigid.first]);
                for (mobility, rest) in self.mobilities.iter_mut().zip(&topology.rest_positions) {
                    *mobility = of(*rest);
                }
            }
            self.mobilities[topology.visible()..].fill(0.0);
            mapping.rows().for_each(|(child, _)| self.inverse_masses[child as usize] = 0.0);
        }
    }

    /// Contact has put followers somewhere: their parents are moved so that they come there, and with them all others (FAU-64).
    fn lead_parents(&mut self) {
        let Workspace { candidate, inverse_masses, wanted, led, rigid, followed, .. } = self;
        let BodyState { x, v, topology, .. } = candidate;
        if topology.mapping.is_empty() {
            return;
        }
        let rigid = rigid.filter(|rigid| inverse_masses[rigid.first] != 0.0);
        let touches_parents = topology.hidden == 0 && followed.iter().all(|f| f.len() == x.len());
        let mut is_led = touches_parents;
        for places in [true, false] {
            let values = if places { &mut *x } else { &mut *v };
            if touches_parents {
                led.clone_from(&followed[usize::from(!places)]);
            } else {
                led.clone_from(values);
                topology.mapping.apply(led);
            }
            wanted.clear();
            let moved = |child: u32| led[child as usize] != values[child as usize];
            let rows = topology.mapping.rows().map(|(child, _)| child).filter(|child| moved(*child));
            wanted.extend(rows.map(|child| (child, values[child as usize])));
            if wanted.is_empty() {
                continue;
            }
            is_led = true;
            let Some(rigid) = rigid else {
                topology.mapping.lead(wanted, inverse_masses, LEADING, values);
                continue;
            };
            // What a sweep bends is straightened at once, so that the next one knows what is left.
            for _ in 0..LEADING {
                topology.mapping.lead(wanted, inverse_masses, 1, if places { &mut *x } else { &mut *v });
                match places {
                    true => rigid.project(&topology.rest_positions, x, v),
                    false => rigid.project_velocities(x, v),
                }
            }
        }
        if is_led {
            topology.mapping.apply(x);
            topology.mapping.apply_j(v);
        }
        self.remember_followers();
    }

    /// Begins a substep: supported particles get the velocity that takes them to their place at share `s1` of the step; those that
    /// contact made wait catch up slowly.
    fn lead_supports(&mut self, model: &Model, s1: f64) {
        self.weigh();
        let h = self.h;
        let may_wait = model.groups[model.bodies[self.b].group].contact_mode == ContactMode::Safe;
        let BodyState { x, v, pinned, .. } = &mut self.candidate;
        self.x0.clone_from(x);
        for pin in pinned.iter() {
            let i = pin.vertex as usize;
            let Ok(at) = self.pins.binary_search_by_key(&pin.vertex, |p| p.vertex) else {
                v[i] = DVec3::ZERO;
                continue;
            };
            let PinTarget { start, end, .. } = self.pins[at];
            v[i] = (start.lerp(end, s1) - x[i]) / h;
            if may_wait {
                v[i] = v[i].clamp_length_max(CATCH_UP + 2.0 * start.distance(end) * model.fps);
            }
        }
        self.lead_embedded_supports(s1, |x, v, led| *v = (led - *x) / h);
    }

    /// Supports of followers (FAU-18): what they follow is moved by the least that brings them to their place at share `s` of the step, which is what
    /// the pseudo-inverse of H says; `take` is told of each place of a parent and of its velocity, and where it is to be.
    fn lead_embedded_supports(&mut self, s: f64, take: impl Fn(&mut DVec3, &mut DVec3, DVec3)) {
        let BodyState { x, v, pinned, topology, .. } = &mut self.candidate;
        let mapping = &topology.mapping;
        if mapping.is_empty() || !pinned.iter().any(|pin| mapping.follows(pin.vertex)) {
            return;
        }
        let mut ease = vec![1.0; x.len()];
        pinned.iter().for_each(|pin| ease[pin.vertex as usize] = 0.0);
        let places = pinned.iter().filter(|pin| mapping.follows(pin.vertex));
        let wanted: Vec<(u32, DVec3)> =
            places.filter_map(|pin| Some((pin.vertex, target(&self.pins, pin.vertex, s)?))).collect();
        let mut led = x.clone();
        mapping.lead(&wanted, &ease, SUPPORTING, &mut led);
        for (x, v, led) in
            x.iter_mut().zip(v).zip(led).map(|((x, v), led)| (x, v, led)).filter(|(x, _, led)| **x != *led)
        {
            take(x, v, led);
        }
    }

    /// Puts supported particles exactly where they belong at share `s` of the step; those that contact made wait, if it may, stay.
    fn place_pins(&mut self, model: &Model, s: f64) {
        let body = &model.bodies[self.b];
        let may_wait = model.groups[body.group].contact_mode == ContactMode::Safe;
        for pin in &self.candidate.pinned {
            if let Some(place) = target(&self.pins, pin.vertex, s) {
                let x = &mut self.candidate.x[pin.vertex as usize];
                let waits = may_wait && x.distance(place) > 1e-3 * body.skin;
                if !waits {
                    *x = place;
                }
            }
        }
        self.lead_embedded_supports(s, |x, _, led| *x = led);
        let BodyState { x, topology, .. } = &mut self.candidate;
        topology.mapping.apply(x);
    }

    /// Lets elements give way for good where they are strained too far.
    fn flow(&mut self, model: &Model) {
        let BodyState { x, topology, plastic, .. } = &mut self.candidate;
        if !plastic.is_empty() {
            model.bodies[self.b].energies.iter().for_each(|e| e.flow(topology, x, self.h, plastic));
        }
    }

    /// Splits the body where springs pass their limits, and keeps the list of supports true.
    fn tear(&mut self, model: &Model) {
        let Some(limits) = &model.bodies[self.b].tear else { return };
        let BodyState { x, v, topology, .. } = &mut self.candidate;
        let inverse_masses = &self.inverse_masses;
        let held = |i: u32| inverse_masses[i as usize] == 0.0;
        let before = x.len() as u32;
        let Some(torn) = tear(topology, x, v, &held, limits, &mut self.tear) else { return };
        for &added in &torn.held {
            // Both lips of a tear through a support go on moving with it.
            if let Ok(at) = self.pins.binary_search_by_key(&torn.source(added, before), |p| p.vertex) {
                self.pins.push(PinTarget { vertex: added, ..self.pins[at] });
            }
        }
        self.candidate.follow_supports(&torn, before);
    }
}

/// Where a supported particle belongs at share `s` of the step.
fn target(pins: &[PinTarget], vertex: u32, s: f64) -> Option<DVec3> {
    let at = pins.binary_search_by_key(&vertex, |p| p.vertex).ok()?;
    Some(pins[at].start.lerp(pins[at].end, s))
}
