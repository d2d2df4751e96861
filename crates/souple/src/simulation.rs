//! The running scene and its one-page step.

use std::sync::Arc;
use std::time::Instant;

use glam::DVec3;

use crate::adopt::{Misfit, carry_over};
use crate::contact::Contacts;
use crate::control::{self, Command, Control, PinTarget};
use crate::energy::FanDrag;
use crate::error::Error;
use crate::health::{MAX_HALVINGS, Symptom, Warning, WarningKind, examine};
use crate::math::Pose;
use crate::measure::{self, Measures};
use crate::mesh::tear::{TearLimits, TearScratch, tear};
use crate::mesh::vertex_normals;
use crate::model::{BodyModel, Model};
use crate::parallel::Parallel;
use crate::profile::{Profile, Stage};
use crate::recording::{LoggedCommand, Recording};
use crate::scene::SolverKind;
use crate::snapshot;
use crate::solver::xpbd::FrameTask;
use crate::solver::{Method, Problem, limits};
use crate::state::{BodyState, State};

/// A scene that runs.
#[derive(Debug)]
pub struct Simulation {
    model: Arc<Model>,
    state: State,
    /// The state after the last step: what bad input is replaced by.
    last_good: State,
    control: Control,
    contacts: Contacts,
    workspaces: Vec<Workspace>,
    normals: Vec<Vec<DVec3>>,
    parallel: Parallel,
    profile: Profile,
    warnings: Vec<Warning>,
    pending: Vec<Command>,
    recording: Option<Recording>,
    fault: Option<Stage>,
}

/// Scratch memory of one body: the solver works on a copy, which is kept only if it is healthy.
#[derive(Debug)]
struct Workspace {
    candidate: BodyState,
    method: Method,
    inverse_masses: Vec<f64>,
    x0: Vec<DVec3>,
    /// Supported particles of this step, with those that a tear adds.
    pins: Vec<PinTarget>,
    tear: TearScratch,
}

impl Simulation {
    /// A simulation of that model, at its start, on one thread.
    pub fn new(mut model: Model) -> Simulation {
        // The fan is a hand of the person who runs the scene, not part of it: its model, and what snapshots know it by,
        // are those of the scene alone.
        for body in model.bodies.iter_mut().filter(|b| !b.topology.triangles.is_empty() && !b.feels_air()) {
            body.energies.push(Box::new(FanDrag::default()));
        }
        let model = Arc::new(model);
        let state = State::new(&model);
        let workspaces = model
            .bodies
            .iter()
            .zip(&state.bodies)
            .map(|(body, state)| Workspace {
                candidate: state.clone(),
                method: Method::of(&model.groups[body.group]),
                inverse_masses: Vec::new(),
                x0: Vec::new(),
                pins: Vec::new(),
                tear: TearScratch::default(),
            })
            .collect();
        let mut simulation = Simulation {
            last_good: state.clone(),
            control: Control::new(&model),
            contacts: Contacts::new(&model),
            workspaces,
            normals: vec![Vec::new(); model.bodies.len()],
            parallel: Parallel::default(),
            profile: Profile::default(),
            warnings: Vec::new(),
            pending: Vec::new(),
            recording: None,
            fault: None,
            state,
            model,
        };
        simulation.control.settle(&simulation.model, &simulation.state);
        simulation.update_mappings();
        simulation
    }

    /// Uses that many threads; 0 for one per core. The result does not depend on it.
    pub fn with_threads(mut self, threads: usize) -> Result<Simulation, Error> {
        self.parallel = Parallel::new(threads)?;
        Ok(self)
    }

    /// Advances the scene by one frame.
    pub fn step(&mut self) {
        let mut clock = Instant::now();
        let commands = std::mem::take(&mut self.pending);
        self.begin();
        self.profile.lap(Stage::Begin, &mut clock);
        self.apply_control(&commands);
        self.profile.lap(Stage::ApplyControl, &mut clock);
        self.broad_phase();
        self.profile.lap(Stage::BroadPhase, &mut clock);
        self.find_contacts();
        self.profile.lap(Stage::FindContacts, &mut clock);
        self.solve(); // limits, contact response and tearing inside its substeps; contact books its own time
        self.profile.lap(Stage::Solve, &mut clock);
        self.check_health();
        self.profile.lap(Stage::CheckHealth, &mut clock);
        self.update_mappings();
        self.profile.lap(Stage::UpdateMappings, &mut clock);
        self.record(commands);
        self.profile.lap(Stage::Record, &mut clock);
        self.profile.steps += 1;
    }

    /// Rejects input that is not finite: puts back the last good state of the body.
    fn begin(&mut self) {
        if self.injects(Stage::Begin) {
            self.state.bodies[0].x[0] = DVec3::NAN;
        }
        for (b, body) in self.state.bodies.iter_mut().enumerate() {
            if !is_sound(body, &self.model.bodies[b]) {
                body.copy_from(&self.last_good.bodies[b]);
                self.warnings.push(Warning {
                    step: self.state.step,
                    body: self.model.bodies[b].name.clone(),
                    stage: Stage::Begin,
                    kind: WarningKind::BadInput,
                    remedy: "Write finite positions and velocities into the state, one per particle.".into(),
                });
            }
        }
    }

    /// Evaluates pins, colliders, wind and hands for this step.
    fn apply_control(&mut self, commands: &[Command]) {
        self.control.evaluate(&self.model, &mut self.state, commands, self.model.frame_dt());
        if self.injects(Stage::ApplyControl) {
            self.control.wind.velocity[0] = f64::NAN;
            self.control.pins[0].iter_mut().for_each(|p| p.end = DVec3::NAN);
        }
        for b in 0..self.state.bodies.len() {
            if !self.control.is_finite(b) {
                self.control.hold_still(b, &self.model, &self.state);
                self.warnings.push(Warning {
                    step: self.state.step,
                    body: self.model.bodies[b].name.clone(),
                    stage: Stage::ApplyControl,
                    kind: WarningKind::BadControl,
                    remedy:
                        "Check the key frames and velocities of its pins, of the colliders and of the wind."
                            .into(),
                });
            }
        }
    }

    /// Finds the colliders that each body may meet.
    fn broad_phase(&mut self) {
        for (b, body) in self.state.bodies.iter().enumerate() {
            self.contacts.estimate_reach(b, body, self.model.gravity, self.model.frame_dt());
        }
        if self.injects(Stage::BroadPhase) {
            self.contacts.reach[0] = (DVec3::NAN, DVec3::NAN);
        }
        for b in 0..self.state.bodies.len() {
            self.contacts.broad_phase(b, &self.model, &self.control);
        }
    }

    /// Forgets the contacts of the last step; those of this one are found in its substeps, where particles move.
    fn find_contacts(&mut self) {
        self.contacts.points.iter_mut().for_each(Vec::clear);
        if self.injects(Stage::FindContacts) {
            self.contacts.pairs.iter_mut().for_each(Vec::clear);
            self.contacts.reach[0] = (DVec3::NAN, DVec3::NAN);
        }
    }

    /// Advances every body of every group by its solver, on a copy.
    fn solve(&mut self) {
        for group in 0..self.model.groups.len() {
            for b in 0..self.model.bodies.len() {
                if self.model.bodies[b].group == group && !self.state.bodies[b].frozen {
                    self.advance_body(b, 0);
                }
            }
        }
        if self.injects(Stage::Solve) {
            self.workspaces[0].candidate.x[0] = DVec3::NAN;
        }
    }

    /// Keeps healthy candidates; retries others with smaller steps; freezes what diverges all the same.
    fn check_health(&mut self) {
        if self.injects(Stage::CheckHealth) {
            self.workspaces[0].candidate.v[0] = DVec3::NAN;
        }
        for b in 0..self.model.bodies.len() {
            if self.state.bodies[b].frozen {
                continue;
            }
            let Some(symptom) = self.symptom(b) else {
                self.state.bodies[b].copy_from(&self.workspaces[b].candidate);
                continue;
            };
            let cured = (1..=MAX_HALVINGS).find(|&halvings| {
                self.advance_body(b, halvings);
                self.symptom(b).is_none()
            });
            let kind = match cured {
                Some(halvings) => {
                    self.state.bodies[b].copy_from(&self.workspaces[b].candidate);
                    WarningKind::Retried { halvings, symptom }
                }
                None => {
                    let body = &mut self.state.bodies[b];
                    body.frozen = true;
                    body.v.iter_mut().for_each(|v| *v = DVec3::ZERO);
                    WarningKind::Frozen { symptom }
                }
            };
            self.warn_of_divergence(b, kind);
        }
        self.state.time = self.control.t1;
        self.state.step += 1;
        self.last_good.copy_from(&self.state);
    }

    fn symptom(&self, b: usize) -> Option<Symptom> {
        let candidate = &self.workspaces[b].candidate;
        examine(&candidate.x, &candidate.v, &self.model.health)
    }

    fn warn_of_divergence(&mut self, b: usize, kind: WarningKind) {
        let body = &self.model.bodies[b];
        let group = &self.model.groups[body.group];
        let dt = self.model.frame_dt() / f64::from(group.substeps);
        let other = match group.solver {
            SolverKind::ImplicitEulerCg | SolverKind::ImplicitEulerCholesky => "",
            _ => ", or use solver `implicit_euler_cg`",
        };
        let remedy = format!(
            "Lower `dt` of group '{}' (now {dt:.3e} s) or the stiffness of '{}'{other}.",
            group.name, body.name
        );
        let (step, stage) = (self.state.step, Stage::CheckHealth);
        self.warnings.push(Warning { step, body: body.name.clone(), stage, kind, remedy });
    }

    /// Updates what is seen: smooth normals.
    fn update_mappings(&mut self) {
        let injects = self.injects(Stage::UpdateMappings);
        for (body, normals) in self.state.bodies.iter().zip(&mut self.normals) {
            vertex_normals(&body.x, &body.topology.triangles, normals);
            if injects {
                normals[0] = DVec3::NAN;
            }
            normals.iter_mut().filter(|n| !n.is_finite()).for_each(|n| *n = DVec3::Y);
        }
    }

    /// Writes the control log and the hash of the state.
    fn record(&mut self, mut commands: Vec<Command>) {
        if self.recording.is_some() {
            let mut hash = self.state.hash();
            if self.injects(Stage::Record) {
                hash ^= 1;
            }
            let step = self.state.step - 1;
            if let Some(recording) = &mut self.recording {
                recording.commands.extend(commands.drain(..).map(|command| LoggedCommand { step, command }));
                recording.hashes.push(hash);
            }
        }
        // The list itself goes back, so that a steady scene allocates nothing.
        commands.clear();
        commands.append(&mut self.pending);
        self.pending = commands;
    }

    /// Advances one body from the state by one frame into its workspace, with 2^halvings times the usual substeps.
    fn advance_body(&mut self, b: usize, halvings: u32) {
        let Simulation { model, state, control, contacts, workspaces, parallel, profile, .. } = self;
        let body = &model.bodies[b];
        let group = &model.groups[body.group];
        let work = &mut workspaces[b];
        let substeps = group.substeps << halvings;
        let h = model.frame_dt() / f64::from(substeps);
        work.candidate.copy_from(&state.bodies[b]);
        work.pins.clone_from(&control.pins[b]);
        if let Method::RealTime(solver) = &mut work.method {
            work.inverse_masses.clear();
            work.inverse_masses.extend(work.candidate.topology.masses.iter().map(|m| 1.0 / m));
            work.candidate.pinned.iter().for_each(|p| work.inverse_masses[p.vertex as usize] = 0.0);
            for attempt in 0..2 {
                parallel.run(|| {
                    solver.advance(FrameTask {
                        model,
                        control,
                        contacts,
                        parallel,
                        profile,
                        b,
                        substeps,
                        pins: &work.pins,
                        inverse_masses: &work.inverse_masses,
                        state: &mut work.candidate,
                    });
                });
                // A body that went further than expected may have met colliders nobody looked at: once more with them.
                let known = contacts.pairs[b].len();
                if attempt > 0 || contacts.within_reach(b, &work.candidate.x) {
                    break;
                }
                contacts.widen_reach(b, &state.bodies[b].x, &work.candidate.x, model, control);
                if contacts.pairs[b].len() == known {
                    break;
                }
                work.candidate.copy_from(&state.bodies[b]);
            }
            work.place_pins(1.0);
            if let Some(limits) = &body.tear {
                work.tear(limits);
            }
            return;
        }
        parallel.run(|| {
            for substep in 0..substeps {
                let share = |s: u32| f64::from(s) / f64::from(substeps);
                let (s0, s1) = (share(substep), share(substep + 1));
                let t = control.t0 + s0 * (control.t1 - control.t0);
                work.begin_substep(s1, h);
                let BodyState { x, v, topology, .. } = &mut work.candidate;
                let problem = Problem {
                    energies: &body.energies,
                    topology,
                    control,
                    parallel,
                    body: b as u32,
                    inverse_masses: &work.inverse_masses,
                };
                if let Method::Substeps(solver) = &mut work.method {
                    solver.advance(&problem, x, v, t, h);
                }
                if let Some(limit) = &body.limits {
                    limits::apply(limit, topology, &work.inverse_masses, h, x, v);
                }
                let mut clock = Instant::now();
                if !contacts.within_reach(b, x) {
                    contacts.widen_reach(b, &work.x0, x, model, control);
                }
                profile.lap_inside(Stage::BroadPhase, &mut clock);
                contacts.collide(b, model, control, (s0, s1), h, &work.inverse_masses, &work.x0, x, v);
                profile.lap_inside(Stage::FindContacts, &mut clock);
                work.place_pins(s1);
                if let Some(limits) = &body.tear {
                    work.tear(limits);
                }
            }
        });
    }

    // ---- what a caller reads and does ----

    /// The compiled scene.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The state now.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state, to be changed by hand; what is not finite is rejected when the next step begins.
    pub fn state_mut(&mut self) -> &mut State {
        &mut self.state
    }

    /// What was imposed in the last step.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Where a collider is now.
    pub fn collider_pose(&self, collider: usize) -> Pose {
        let offset = &self.state.collider_offsets[collider];
        control::collider_pose(&self.model.colliders[collider], offset, self.state.time)
    }

    /// Contacts of the last step.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// Smooth normals of a body, one per particle.
    pub fn normals(&self, body: usize) -> &[DVec3] {
        &self.normals[body]
    }

    /// Time spent in each stage.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// Starts the profile anew.
    pub fn reset_profile(&mut self) {
        self.profile = Profile::default();
    }

    /// What went wrong so far.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// Gives a command that takes effect in the next step; refused if it does not fit the scene.
    pub fn command(&mut self, command: Command) -> Result<(), Error> {
        control::check(&command, &self.model, &self.state, &self.pending)?;
        self.pending.push(command);
        Ok(())
    }

    /// Measures of the whole scene.
    pub fn measures(&self) -> Measures {
        measure::scene(&self.model, &self.state, &self.control)
    }

    /// Measures of one body.
    pub fn body_measures(&self, body: usize) -> Measures {
        measure::body(body, &self.model.bodies[body], &self.state.bodies[body], &self.control)
    }

    /// Iterations that the solver of a body needed in its last substep; 0 if it does not iterate.
    pub fn solver_iterations(&self, body: usize) -> u32 {
        self.workspaces[body].method.iterations()
    }

    /// Hash of the state: the same for any number of threads.
    pub fn state_hash(&self) -> u64 {
        self.state.hash()
    }

    /// The state as bytes.
    pub fn snapshot(&self) -> Vec<u8> {
        snapshot::save(&self.model, &self.state)
    }

    /// Goes back (or on) to a saved state. Solvers start afresh, so that what follows depends on the snapshot alone.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.state = snapshot::restore(&self.model, bytes)?;
        self.last_good = self.state.clone();
        self.pending.clear();
        for (body, work) in self.model.bodies.iter().zip(&mut self.workspaces) {
            work.method = Method::of(&self.model.groups[body.group]);
        }
        self.control.settle(&self.model, &self.state);
        self.contacts.points.iter_mut().for_each(Vec::clear);
        self.update_mappings();
        Ok(())
    }

    /// Goes on from the state as it is with a changed model: another stiffness, damping, gravity, wind, step, solver,
    /// limit, script, other colliders. What must be the same and what becomes of torn bodies is said at [`Misfit`]; a
    /// model that does not fit changes nothing.
    ///
    /// Time, grabs, fan, wind set by command and offsets of supports and colliders are kept; a support or collider whose
    /// script changed moves on from where it is. Solvers start afresh. A recording cannot go on with another model: it
    /// ends here and is handed out. Commands that wait and do not fit any more are dropped.
    pub fn adopt(&mut self, model: Model) -> Result<Option<Recording>, Misfit> {
        self.begin();
        let state = carry_over(&self.model, &model, &self.state)?;
        let (recording, pending) = (self.recording.take(), std::mem::take(&mut self.pending));
        *self = Simulation {
            last_good: state.clone(),
            state,
            parallel: std::mem::take(&mut self.parallel),
            profile: self.profile,
            warnings: std::mem::take(&mut self.warnings),
            ..Simulation::new(model)
        };
        self.control.settle(&self.model, &self.state);
        self.update_mappings();
        for command in pending {
            // What does not fit any more is dropped.
            let _ = self.command(command);
        }
        Ok(recording)
    }

    /// Begins a recording; `scene` is kept with it so that it can be played again by itself.
    pub fn start_recording(&mut self, scene: String) {
        let snapshot = self.snapshot();
        self.recording = Some(Recording { scene, snapshot, ..Recording::default() });
    }

    /// Ends the recording and hands it out.
    pub fn finish_recording(&mut self) -> Option<Recording> {
        self.recording.take()
    }

    /// Makes the next step write a NaN at the given stage: for tests of health.
    #[doc(hidden)]
    pub fn inject_nan(&mut self, stage: Stage) {
        self.fault = Some(stage);
    }

    fn injects(&mut self, stage: Stage) -> bool {
        let now = self.fault == Some(stage) && !self.state.bodies.is_empty();
        if now {
            self.fault = None;
        }
        now
    }
}

/// Whether numbers of a state that anyone may have written fit together and are finite.
fn is_sound(body: &BodyState, model: &BodyModel) -> bool {
    let n = body.topology.len();
    body.x.len() == n
        && body.v.len() == n
        && body.pin_offsets.len() == model.pins.len()
        && body.pinned.iter().all(|p| (p.vertex as usize) < n)
        && body.pinned.windows(2).all(|w| w[0].vertex < w[1].vertex)
        && body.x.iter().chain(&body.v).chain(&body.pin_offsets).all(|p| p.is_finite())
}

impl Workspace {
    /// Masses of free particles; supported ones get the velocity that takes them to their place at share `s1` of the step.
    fn begin_substep(&mut self, s1: f64, h: f64) {
        let BodyState { x, v, topology, pinned, .. } = &mut self.candidate;
        self.x0.clone_from(x);
        self.inverse_masses.clear();
        self.inverse_masses.extend(topology.masses.iter().map(|m| 1.0 / m));
        for pin in pinned.iter() {
            let i = pin.vertex as usize;
            self.inverse_masses[i] = 0.0;
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
