//! One body by one frame, on a copy: what [`crate::Simulation`] does for each body, on whatever thread.

use std::time::Instant;

use glam::DVec3;

use crate::contact::Contacts;
use crate::control::{Control, PinTarget};
use crate::health::{Symptom, examine};
use crate::mesh::tear::{TearLimits, TearScratch, tear};
use crate::model::{BodyModel, Model};
use crate::parallel::Parallel;
use crate::profile::{Profile, Stage};
use crate::solver::xpbd::{FrameTask, Xpbd};
use crate::solver::{Method, Problem, Solver, limits};
use crate::state::BodyState;

/// What all bodies share during a step.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub model: &'a Model,
    pub control: &'a Control,
    /// Threads that may work on one body.
    pub parallel: &'a Parallel,
}

/// Scratch memory of one body: the solver works on a copy, which is kept only if it is healthy.
#[derive(Debug)]
pub(crate) struct Workspace {
    pub candidate: BodyState,
    pub method: Method,
    pub contacts: Contacts,
    /// Whether it is not advanced in this step.
    pub rests: bool,
    /// What is wrong with the candidate.
    pub symptom: Option<Symptom>,
    /// Time booked inside the last step.
    pub profile: Profile,
    /// 1/m, 1/kg; 0 for supported particles.
    inverse_masses: Vec<f64>,
    x0: Vec<DVec3>,
    /// Supported particles of this step, with those that a tear adds.
    pins: Vec<PinTarget>,
    tear: TearScratch,
    /// One thread, for a body that is advanced beside others.
    alone: Parallel,
}

impl Workspace {
    /// For a body of a model.
    pub(crate) fn new(model: &Model, body: &BodyModel, state: &BodyState) -> Workspace {
        Workspace {
            candidate: state.clone(),
            method: Method::of(&model.groups[body.group]),
            contacts: Contacts::new(body, model.colliders.len()),
            rests: false,
            symptom: None,
            profile: Profile::default(),
            inverse_masses: Vec::new(),
            x0: Vec::new(),
            pins: Vec::new(),
            tear: TearScratch::default(),
            alone: Parallel::default(),
        }
    }

    /// Whether nothing happens to a body that is still: nothing moves that holds it, touches it or pushes it.
    pub(crate) fn is_left_alone(&self, model: &Model, control: &Control, b: usize) -> bool {
        let moves = |c: &u32| {
            let (before, after) = &control.colliders[*c as usize];
            before != after
        };
        control.pins[b].iter().all(|pin| pin.start == pin.end)
            && !self.contacts.pairs.iter().any(moves)
            && !model.bodies[b].energies.iter().any(|e| e.is_restless(control, b as u32))
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

    /// Advances body `b` from `state` by one frame on the thread that calls.
    pub(crate) fn advance_alone(&mut self, model: &Model, control: &Control, b: usize, state: &BodyState) {
        let alone = std::mem::take(&mut self.alone);
        self.advance(&Frame { model, control, parallel: &alone }, b, 0, state);
        self.alone = alone;
    }

    /// Advances body `b` from `state` by one frame, with 2^halvings times the usual substeps.
    pub(crate) fn advance(&mut self, frame: &Frame, b: usize, halvings: u32, state: &BodyState) {
        let group = &frame.model.groups[frame.model.bodies[b].group];
        let substeps = group.substeps << halvings;
        self.candidate.copy_from(state);
        self.pins.clone_from(&frame.control.pins[b]);
        // Taken out while it works on the rest.
        let mut method = std::mem::replace(&mut self.method, Method::Absent);
        frame.parallel.run_awake(|| match &mut method {
            Method::Substeps(solver) => self.in_substeps(&mut **solver, frame, b, substeps),
            Method::RealTime(solver) => self.in_one_go(solver, frame, b, substeps, state),
            Method::Absent => {}
        });
        self.method = method;
    }

    /// By a solver that knows whole frames.
    fn in_one_go(&mut self, solver: &mut Xpbd, frame: &Frame, b: usize, substeps: u32, state: &BodyState) {
        let Frame { model, control, parallel } = *frame;
        let body = &model.bodies[b];
        self.weigh();
        for attempt in 0..2 {
            solver.advance(FrameTask {
                model,
                control,
                contacts: &mut self.contacts,
                parallel,
                profile: &mut self.profile,
                b,
                substeps,
                pins: &self.pins,
                inverse_masses: &self.inverse_masses,
                state: &mut self.candidate,
            });
            // A body that went further than expected may have met colliders nobody looked at: once more with them.
            let known = self.contacts.pairs.len();
            if attempt > 0 || self.contacts.within_reach(&self.candidate.x) {
                break;
            }
            self.contacts.widen_reach(&state.x, &self.candidate.x, body, model, control);
            if self.contacts.pairs.len() == known {
                break;
            }
            self.candidate.copy_from(state);
        }
        self.place_pins(1.0);
        if let Some(limits) = &body.tear {
            self.tear(limits);
        }
    }

    /// By a solver of substeps, with limits, contact and tearing after each.
    fn in_substeps(&mut self, solver: &mut dyn Solver, frame: &Frame, b: usize, substeps: u32) {
        let Frame { model, control, parallel } = *frame;
        let body = &model.bodies[b];
        let h = model.frame_dt() / f64::from(substeps);
        for substep in 0..substeps {
            let share = |s: u32| f64::from(s) / f64::from(substeps);
            let (s0, s1) = (share(substep), share(substep + 1));
            let t = control.t0 + s0 * (control.t1 - control.t0);
            self.begin_substep(s1, h);
            let Workspace { candidate, contacts, profile, inverse_masses, x0, .. } = self;
            let BodyState { x, v, topology, .. } = candidate;
            let problem = Problem {
                energies: &body.energies,
                topology,
                control,
                parallel,
                body: b as u32,
                inverse_masses,
            };
            solver.advance(&problem, x, v, t, h);
            if let Some(limit) = &body.limits {
                limits::apply(limit, topology, inverse_masses, h, x, v);
            }
            let mut clock = Instant::now();
            if !contacts.within_reach(x) {
                contacts.widen_reach(x0, x, body, model, control);
            }
            profile.lap_inside(Stage::BroadPhase, &mut clock);
            contacts.collide(body, model, control, (s0, s1), h, inverse_masses, x0, x, v);
            profile.lap_inside(Stage::FindContacts, &mut clock);
            self.place_pins(s1);
            if let Some(limits) = &body.tear {
                self.tear(limits);
            }
        }
    }

    /// Inverse masses of all particles as they are supported now.
    fn weigh(&mut self) {
        let BodyState { topology, pinned, .. } = &self.candidate;
        self.inverse_masses.clear();
        self.inverse_masses.extend(topology.masses.iter().map(|m| 1.0 / m));
        pinned.iter().for_each(|pin| self.inverse_masses[pin.vertex as usize] = 0.0);
    }

    /// Supported particles get the velocity that takes them to their place at share `s1` of the step.
    fn begin_substep(&mut self, s1: f64, h: f64) {
        self.weigh();
        let BodyState { x, v, pinned, .. } = &mut self.candidate;
        self.x0.clone_from(x);
        for pin in pinned.iter() {
            let i = pin.vertex as usize;
            v[i] = match target(&self.pins, pin.vertex, s1) {
                Some(place) => (place - x[i]) / h,
                None => DVec3::ZERO,
            };
        }
    }

    /// Puts supported particles exactly where they belong at share `s` of the step.
    fn place_pins(&mut self, s: f64) {
        for pin in &self.candidate.pinned {
            if let Some(place) = target(&self.pins, pin.vertex, s) {
                self.candidate.x[pin.vertex as usize] = place;
            }
        }
    }

    /// Splits the body where springs pass their limits, and keeps the list of supports true.
    fn tear(&mut self, limits: &TearLimits) {
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
