//! The running scene and its one-page step.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use glam::DVec3;

use crate::adopt::{Misfit, carry_over};
use crate::advance::{Frame, Workspace};
use crate::command::{self, Command};
use crate::contact::ContactPoint;
use crate::control::{Control, collider_pose};
use crate::energy::FanDrag;
use crate::error::Error;
use crate::health::{MAX_HALVINGS, Symptom, Warning, WarningKind};
use crate::island::Island;
use crate::math::Pose;
use crate::measure::{self, Measures};
use crate::mesh::vertex_normals;
use crate::model::{BodyModel, Model};
use crate::paper;
use crate::parallel::Parallel;
use crate::profile::{Profile, Stage};
use crate::recording::{LoggedCommand, Recording};
use crate::scene::{Cg, SolverKind};
use crate::skin::Posed;
use crate::snapshot;
use crate::solver::CutShort;
use crate::state::{BodyState, State};
use crate::wrinkles::{self, Isometry, SceneFolds};

/// A linear solve that was stopped is told of from so many times its tolerance on.
const WORTH_TELLING: f64 = 3.0;

/// A scene that runs.
#[derive(Debug)]
pub struct Simulation {
    model: Arc<Model>,
    state: State,
    /// The state after the last step, if it was changed by hand since: what bad input is replaced by.
    before_hand: Option<State>,
    control: Control,
    /// Bodies that are advanced together.
    islands: Vec<Island>,
    /// The island of each body, and its place there.
    home: Vec<(usize, usize)>,
    normals: Vec<OnceLock<Vec<DVec3>>>,
    /// What is drawn of folds, and scratch memory of what follows them.
    folds: SceneFolds,
    /// Scratch memory of sheets of paper, and whether it was told that a border was lost.
    papers: Vec<(paper::Scratch, bool)>,
    parallel: Parallel,
    profile: Profile,
    warnings: Vec<Warning>,
    /// Of each collider: whether it was told that it jumps.
    jumped: Vec<bool>,
    pending: Vec<Command>,
    recording: Option<Recording>,
    fault: Option<Stage>,
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
        let islands = Island::all(&model, &state.bodies);
        let mut home = vec![(0, 0); model.bodies.len()];
        for (i, island) in islands.iter().enumerate() {
            island.works.iter().enumerate().for_each(|(k, work)| home[work.b] = (i, k));
        }
        let mut simulation = Simulation {
            before_hand: None,
            control: Control::new(&model),
            islands,
            home,
            normals: vec![OnceLock::new(); model.bodies.len()],
            folds: SceneFolds::new(&model),
            papers: model.papers.iter().map(|_| Default::default()).collect(),
            parallel: Parallel::default(),
            profile: Profile::default(),
            warnings: Vec::new(),
            jumped: vec![false; model.colliders.len()],
            pending: Vec::new(),
            recording: None,
            fault: None,
            state,
            model,
        };
        simulation.control.settle(&simulation.model, &simulation.state);
        let skins = simulation.folded_skins();
        simulation.folds.settle(&simulation.model, &mut simulation.state, &skins);
        simulation.forget_mappings();
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
            self.state_mut().bodies[0].x[0] = DVec3::NAN;
        }
        let Some(good) = self.before_hand.take() else { return };
        for ((b, body), good) in self.state.bodies.iter_mut().enumerate().zip(&good.bodies) {
            if body.x != good.x || body.v != good.v {
                body.still_frames = 0;
            }
            if !is_sound(body, &self.model.bodies[b]) {
                body.copy_from(good);
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
        if !commands.is_empty() {
            self.state.bodies.iter_mut().for_each(|b| b.still_frames = 0);
        }
        if self.injects(Stage::ApplyControl) {
            self.control.wind.velocity[0] = f64::NAN;
            self.control.pins[0].iter_mut().for_each(|p| p.end = DVec3::NAN);
        }
        let shared_is_finite = self.control.is_finite_for_all();
        for b in 0..self.state.bodies.len() {
            if !shared_is_finite || !self.control.is_finite_for(b) {
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
        self.warn_of_jumps();
    }

    /// Tells once of each collider that moves by more than its own size in this step.
    fn warn_of_jumps(&mut self) {
        for (c, collider) in self.model.colliders.iter().enumerate() {
            if self.jumped[c] || self.control.stands(c) {
                continue;
            }
            let Some(found) = self.control.jump(&self.model, c) else { continue };
            self.jumped[c] = true;
            self.warnings.push(Warning {
                step: self.state.step,
                body: collider.name.clone(),
                stage: Stage::ApplyControl,
                kind: WarningKind::Jumped(found),
                remedy: format!(
                    "What it meets is hit at {:.1} m/s. Move it in smaller steps, or give its keys more time.",
                    found.distance * self.model.fps
                ),
            });
        }
    }

    /// Finds the colliders that each body may meet.
    fn broad_phase(&mut self) {
        let injects = self.injects(Stage::BroadPhase);
        let Simulation { model, state, control, islands, parallel, .. } = self;
        parallel.each_of(state.particle_count(), islands, |_, island| {
            for work in &mut island.works {
                work.contacts.estimate_reach(&state.bodies[work.b], model.gravity, model.frame_dt());
                if injects && work.b == 0 {
                    work.contacts.reach = (DVec3::NAN, DVec3::NAN);
                }
                work.contacts.broad_phase(work.b, model, control);
            }
        });
    }

    /// Forgets the contacts of the last step; those of this one are found in its substeps, where particles move.
    fn find_contacts(&mut self) {
        self.works_mut().for_each(|w| w.contacts.points.clear());
        if self.injects(Stage::FindContacts) {
            self.works_mut().for_each(|w| w.contacts.pairs.clear());
            self.work_mut(0).contacts.reach = (DVec3::NAN, DVec3::NAN);
        }
    }

    /// Advances every island by the solver of its group, on copies: small ones at once, each on a thread, large ones one
    /// after the other, each on all threads.
    fn solve(&mut self) {
        self.find_sleepers();
        let Simulation { model, state, control, islands, parallel, profile, .. } = self;
        let frame = Frame { model, control, parallel };
        // A few islands cannot keep all threads busy, each on one.
        let few = islands.iter().filter(|i| !i.rests).count() < parallel.threads();
        let is_large = |island: &Island| parallel.shares_body(island.largest_count(&state.bodies), few);
        let mut small = 0;
        for island in islands.iter_mut().filter(|i| !i.rests) {
            if is_large(island) {
                island.advance(&frame, 0, &state.bodies);
                profile.take_inside(&mut island.profile, 1.0);
            } else {
                small += island.works.iter().map(|w| state.bodies[w.b].x.len()).sum::<usize>();
            }
        }
        parallel.each_of(small, islands, |_, island| {
            if !island.rests && !is_large(island) {
                island.advance_alone(&frame, &state.bodies);
            }
        });
        // What they booked at the same time took less.
        let share = if parallel.shares(small) { 1.0 / parallel.threads() as f64 } else { 1.0 };
        islands.iter_mut().for_each(|i| profile.take_inside(&mut i.profile, share));
        if self.injects(Stage::Solve) {
            self.work_mut(0).candidate.x[0] = DVec3::NAN;
        }
    }

    /// Finds which islands are not advanced: those all of whose bodies are frozen, or sleep and are left alone.
    fn find_sleepers(&mut self) {
        let Simulation { model, state, control, islands, parallel, .. } = self;
        let frame = Frame { model, control, parallel };
        for island in islands {
            let asleep = |w: &Workspace| is_asleep(model, w.b, &state.bodies[w.b]);
            let rests = island.works.iter().all(|w| state.bodies[w.b].frozen || asleep(w));
            let all_frozen = island.works.iter().all(|w| state.bodies[w.b].frozen);
            island.rests = rests && (all_frozen || island.is_left_alone(&frame));
            for work in &mut island.works {
                let body = &mut state.bodies[work.b];
                if island.rests {
                    work.candidate.copy_from(body);
                } else if rests {
                    body.still_frames = 0;
                }
            }
        }
    }

    /// Keeps healthy candidates; retries others with smaller steps; freezes what diverges all the same.
    fn check_health(&mut self) {
        if self.injects(Stage::CheckHealth) {
            self.work_mut(0).candidate.v[0] = DVec3::NAN;
        }
        let Simulation { model, state, islands, parallel, .. } = self;
        parallel.each_of(state.particle_count(), islands, |_, island| {
            for work in &mut island.works {
                work.symptom = work.examine(model);
                let before = &state.bodies[work.b];
                let still = is_still(model, work.b, before, work);
                work.candidate.still_frames = if still { before.still_frames.saturating_add(1) } else { 0 };
            }
        });
        for i in 0..self.islands.len() {
            let island = &self.islands[i];
            let is_ill = |w: &Workspace| w.symptom.is_some() && !self.state.bodies[w.b].frozen;
            let ill: Vec<(usize, Symptom)> =
                island.works.iter().filter(|w| is_ill(w)).filter_map(|w| Some((w.b, w.symptom?))).collect();
            if !ill.is_empty() {
                self.retry(i, &ill);
            } else if !island.rests {
                self.keep(i);
            }
            self.warn_of_crossings(i);
            self.warn_of_cut_short(i);
            self.profile.solves.add(self.islands[i].take_work());
        }
        self.state.time = self.control.t1;
        self.state.step += 1;
    }

    /// Takes over the candidates of an island.
    fn keep(&mut self, i: usize) {
        let Simulation { model, state, islands, .. } = self;
        for work in &mut islands[i].works {
            let body = &mut state.bodies[work.b];
            if !body.frozen {
                std::mem::swap(body, &mut work.candidate);
                if is_asleep(model, work.b, body) {
                    body.v.fill(DVec3::ZERO);
                }
            }
        }
    }

    /// Advances an island in which bodies diverged with smaller and smaller steps, or freezes those bodies.
    fn retry(&mut self, i: usize, ill: &[(usize, Symptom)]) {
        let Simulation { model, state, control, islands, parallel, profile, .. } = self;
        let island = &mut islands[i];
        let frame = Frame { model, control, parallel };
        let is_well = |island: &Island, bodies: &[BodyState]| {
            island.works.iter().all(|w| bodies[w.b].frozen || w.examine(model).is_none())
        };
        let cured = (1..=MAX_HALVINGS).find(|&halvings| {
            island.advance(&frame, halvings, &state.bodies);
            is_well(island, &state.bodies)
        });
        let mut frozen: Vec<(usize, Symptom)> = Vec::new();
        if cured.is_none() {
            // Those that diverge stand; the others go on around them, if they can.
            let mut sick = ill.to_vec();
            while !sick.is_empty() {
                for &(b, _) in &sick {
                    state.bodies[b].frozen = true;
                    state.bodies[b].v.fill(DVec3::ZERO);
                }
                frozen.append(&mut sick);
                if island.works.iter().any(|w| !state.bodies[w.b].frozen) {
                    island.advance(&frame, 0, &state.bodies);
                    let others = island.works.iter().filter(|w| !state.bodies[w.b].frozen);
                    sick.extend(others.filter_map(|w| Some((w.b, w.examine(model)?))));
                }
            }
        }
        profile.take_inside(&mut island.profile, 1.0);
        self.keep(i);
        match cured {
            Some(halvings) => {
                for &(b, symptom) in ill {
                    self.warn_of_divergence(b, WarningKind::Retried { halvings, symptom });
                }
            }
            None => {
                for (b, symptom) in frozen {
                    self.warn_of_divergence(b, WarningKind::Frozen { symptom });
                }
            }
        }
    }

    /// Tells once when safe contact begins to hold no longer, and for a start that is not clean.
    fn warn_of_crossings(&mut self, i: usize) {
        let island = &self.islands[i];
        let Some((pairs, before)) = island.crossed.filter(|_| !island.rests) else { return };
        if before && self.state.step > 0 {
            return;
        }
        let remedy = if before {
            "Start from a state without crossings: `souple run --intersections` counts them."
        } else {
            "Give what is moved by a script more room or more time: it goes where it is led, whatever is in its way."
        };
        let body = self.model.bodies[island.works[0].b].name.clone();
        let (step, stage) = (self.state.step, Stage::CheckHealth);
        let kind = WarningKind::Crossed { pairs, before };
        self.warnings.push(Warning { step, body, stage, kind, remedy: remedy.into() });
    }

    /// Counts the solves that were stopped early, and tells once of each body that had some.
    fn warn_of_cut_short(&mut self, i: usize) {
        for place in 0..self.islands[i].works.len() {
            let CutShort { solves, residual } = self.islands[i].take_cut_short(place);
            self.profile.cut_short += solves;
            let body = &self.model.bodies[self.islands[i].works[place].b];
            let is_told = |w: &Warning| matches!(w.kind, WarningKind::CutShort { .. }) && w.body == body.name;
            let group = &self.model.groups[body.group];
            let Cg { tolerance, max_iterations, max_ms, .. } = group.cg;
            // What hardly misses its tolerance is counted, and not worth a word.
            let is_near = residual < WORTH_TELLING * tolerance;
            if solves == 0 || is_near || self.warnings.iter().any(is_told) {
                continue;
            }
            self.warnings.push(Warning {
                step: self.state.step,
                body: body.name.clone(),
                stage: Stage::Solve,
                kind: WarningKind::CutShort { residual },
                remedy: format!(
                    "Raise {} of group '{}', so that solves reach its `cg.tolerance` ({tolerance:e}), or lower its `dt`.",
                    match max_ms {
                        Some(ms) if group.is_timed() =>
                            format!("`cg.max_ms` (now {ms}) or `cg.max_iterations` (now {max_iterations})"),
                        _ => format!("`cg.max_iterations` (now {max_iterations})"),
                    },
                    group.name
                ),
            });
        }
    }

    fn warn_of_divergence(&mut self, b: usize, kind: WarningKind) {
        let body = &self.model.bodies[b];
        let group = &self.model.groups[body.group];
        let dt = self.model.frame_dt() / f64::from(group.substeps);
        let other = match group.solver {
            SolverKind::ImplicitEulerCg | SolverKind::ImplicitEulerCholesky | SolverKind::QuasiStatic => "",
            _ => ", or use solver `implicit_euler_cg`",
        };
        let remedy = format!(
            "Lower `dt` of group '{}' (now {dt:.3e} s) or the stiffness of '{}'{other}.",
            group.name, body.name
        );
        let (step, stage) = (self.state.step, Stage::CheckHealth);
        self.warnings.push(Warning { step, body: body.name.clone(), stage, kind, remedy });
    }

    /// Carries folds on; what is seen of them, and normals, are made when somebody looks.
    fn update_mappings(&mut self) {
        let skins = self.folded_skins();
        let Simulation { model, state, folds, papers, warnings, .. } = self;
        folds.advance(model, state, &skins);
        paper::follow_borders(model, state, papers, warnings);
        self.forget_mappings();
    }

    /// Where the vertices of skins with folds are, in the frames of their characters; nothing without any.
    fn folded_skins(&self) -> Vec<Vec<DVec3>> {
        let colliders = &self.model.colliders;
        if colliders.iter().all(|collider| collider.wrinkles.is_none()) {
            return Vec::new();
        }
        let places =
            |c: usize| if colliders[c].wrinkles.is_some() { self.skin_places(c) } else { Vec::new() };
        (0..colliders.len()).map(places).collect()
    }

    /// Forgets what was seen of the last state: it is made anew when somebody looks.
    fn forget_mappings(&mut self) {
        self.normals.iter_mut().for_each(|n| *n = OnceLock::new());
        self.folds.forget();
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

    // ---- what a caller reads and does ----

    /// The compiled scene.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The compiled scene, to be kept: measures of a state that is looked at later need the model it was made with.
    pub fn shared_model(&self) -> Arc<Model> {
        Arc::clone(&self.model)
    }

    /// The state now.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state, to be changed by hand; what is not finite is rejected when the next step begins.
    pub fn state_mut(&mut self) -> &mut State {
        self.before_hand.get_or_insert_with(|| self.state.clone());
        self.forget_mappings();
        &mut self.state
    }

    /// What was imposed in the last step.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// Where a collider is now.
    pub fn collider_pose(&self, collider: usize) -> Pose {
        let offset = &self.state.collider_offsets[collider];
        collider_pose(&self.model.colliders[collider], offset, &self.posed())
    }

    /// Where the vertices of a collider that is a skin are now, its elastic layers included, in its own frame, m; none of what is rigid.
    pub fn skin_places(&self, collider: usize) -> Vec<DVec3> {
        let mut places = Vec::new();
        self.model.colliders[collider].skin_places(&self.model.characters, &self.posed(), &mut places);
        let layers = self.model.bodies.iter().zip(&self.state.bodies);
        for (layer, body) in layers.filter_map(|(b, state)| Some((b.layer.as_ref()?, state))) {
            let pose = self.collider_pose(collider);
            let shows = layer.shown_by.iter().filter(|wearer| wearer.collider == collider);
            for (v, particle) in shows.flat_map(|wearer| &wearer.vertices) {
                places[*v as usize] = pose.apply_inverse(body.x[*particle as usize]);
            }
        }
        places
    }

    /// Where all vertices of a mesh of a character are now, its elastic layers included, m.
    pub fn character_places(&self, character: usize, mesh: u32) -> Vec<DVec3> {
        let (model, posed) = (&self.model.characters[character], self.posed());
        let posed = &posed.characters[character];
        let count = model.rig.meshes[mesh as usize].mesh.positions.len() as u32;
        let mut places: Vec<DVec3> =
            (0..count).map(|v| posed.pose.apply(posed.vertex(model, mesh, v))).collect();
        for (body, state) in self.model.bodies.iter().zip(&self.state.bodies) {
            let Some(layer) = body.layer.as_ref().filter(|layer| layer.character == character) else {
                continue;
            };
            for (_, v, particle) in layer.worn.iter().filter(|(m, _, _)| *m == mesh) {
                places[*v as usize] = state.x[*particle as usize];
            }
        }
        places
    }

    /// Where characters are now.
    pub fn posed(&self) -> Cow<'_, Posed> {
        let last = &self.control.characters[1];
        if last.time == self.state.time && last.turns == self.state.bone_turns {
            Cow::Borrowed(last)
        } else {
            Cow::Owned(Posed::turned(&self.model.characters, &self.state.bone_turns, self.state.time))
        }
    }

    /// Contacts of a body in the last step.
    pub fn contacts(&self, body: usize) -> &[ContactPoint] {
        &self.work(body).contacts.points
    }

    /// Whether a body sleeps: it has been still, and is not advanced until something is done to it.
    pub fn is_asleep(&self, body: usize) -> bool {
        is_asleep(&self.model, body, &self.state.bodies[body])
    }

    /// Smooth normals of a body, one per particle.
    pub fn normals(&self, body: usize) -> &[DVec3] {
        let BodyState { x, topology, .. } = &self.state.bodies[body];
        self.normals[body].get_or_init(|| {
            let mut normals = Vec::new();
            // Positions written by hand may be too few, until the next step refuses them.
            let triangles = if x.len() == topology.len() { &topology.triangles[..] } else { &[] };
            vertex_normals(x, triangles, &mut normals);
            normals
        })
    }

    /// The surface of a body with folds, which is drawn instead of its own: the vertices of [`Wrinkles::fine`](crate::wrinkles::Wrinkles::fine), m. None of bodies without folds, and of
    /// those that were cut since.
    pub fn wrinkled(&self, body: usize) -> Option<&[DVec3]> {
        let keep_out =
            |coarse: &[DVec3], places: &mut [DVec3]| wrinkles::keep_body_out(self, body, coarse, places);
        self.folds.body(&self.model, &self.state, body, keep_out)
    }

    /// The surface of a collider that is a skin with folds, in the frame of its character, m: the vertices of [`Wrinkles::fine`](crate::wrinkles::Wrinkles::fine).
    pub fn wrinkled_skin(&self, collider: usize) -> Option<&[DVec3]> {
        let keep_out =
            |coarse: &[DVec3], places: &mut [DVec3]| wrinkles::keep_skin_out(self, collider, coarse, places);
        self.folds.skin(&self.model, &self.state, collider, || self.skin_places(collider), keep_out)
    }

    /// How near the surface that is simulated, and the one that is drawn with folds, are to the pattern of a body.
    pub fn isometry(&self, body: usize) -> Option<[Isometry; 2]> {
        SceneFolds::isometry(&self.model, &self.state, body, self.wrinkled(body)?)
    }

    /// The same of a collider that is a skin with folds.
    pub fn skin_isometry(&self, collider: usize) -> Option<[Isometry; 2]> {
        let fine = self.wrinkled_skin(collider)?;
        let wrinkles = self.model.colliders.get(collider)?.wrinkles.as_ref()?;
        Some(wrinkles.isometry(&self.skin_places(collider), fine))
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
        command::check(&command, &self.model, &self.state, &self.pending)?;
        self.pending.push(command);
        Ok(())
    }

    /// Measures of the whole scene.
    pub fn measures(&self) -> Measures {
        measure::scene(&self.model, &self.state, &self.control)
    }

    /// By which share of its length the edge of a body that is stretched most is longer than at rest; of elastic layers, than where the skin has it.
    pub fn largest_stretch(&self, body: usize) -> f64 {
        measure::largest_stretch(body, &self.model.bodies[body], &self.state.bodies[body], &self.control)
    }

    /// Measures of one body.
    pub fn body_measures(&self, body: usize) -> Measures {
        measure::body(body, &self.model.bodies[body], &self.state.bodies[body], &self.control)
    }

    /// Iterations that the solver of a body needed in its last substep; 0 if it does not iterate.
    pub fn solver_iterations(&self, body: usize) -> u32 {
        let (island, place) = self.home[body];
        self.islands[island].iterations(place)
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
        self.before_hand = None;
        self.pending.clear();
        let model = &self.model;
        self.islands.iter_mut().for_each(|island| island.forget(model));
        self.papers.iter_mut().for_each(|paper| *paper = Default::default());
        self.control.settle(&self.model, &self.state);
        self.forget_mappings();
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
            state,
            parallel: std::mem::take(&mut self.parallel),
            profile: self.profile,
            warnings: std::mem::take(&mut self.warnings),
            ..Simulation::new(model)
        };
        self.control.settle(&self.model, &self.state);
        self.forget_mappings();
        for command in pending {
            // What does not fit any more is dropped.
            let _ = self.command(command);
        }
        Ok(recording)
    }

    /// Begins a recording; `scene` is kept with it so that it can be played again by itself. Refused if the run hangs on the clock.
    pub fn start_recording(&mut self, scene: String) -> Result<(), Error> {
        if let Some(group) = self.model.groups.iter().find(|group| group.is_timed()) {
            return Err(Error::Command(format!(
                "group '{}' has a time budget (`cg.max_ms`), so that the run cannot be played again; leave it out, or give \
                 `cg.max_iterations` instead",
                group.name
            )));
        }
        let snapshot = self.snapshot();
        self.recording = Some(Recording { scene, snapshot, ..Recording::default() });
        Ok(())
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

    fn work(&self, body: usize) -> &Workspace {
        let (island, place) = self.home[body];
        &self.islands[island].works[place]
    }

    fn work_mut(&mut self, body: usize) -> &mut Workspace {
        let (island, place) = self.home[body];
        &mut self.islands[island].works[place]
    }

    fn works_mut(&mut self) -> impl Iterator<Item = &mut Workspace> {
        self.islands.iter_mut().flat_map(|island| &mut island.works)
    }

    fn injects(&mut self, stage: Stage) -> bool {
        let now = self.fault == Some(stage) && !self.state.bodies.is_empty();
        if now {
            self.fault = None;
        }
        now
    }
}

/// Whether a body has been still for so long that it sleeps.
fn is_asleep(model: &Model, b: usize, body: &BodyState) -> bool {
    let sleep = &model.groups[model.bodies[b].group].sleep;
    sleep.is_some_and(|s| f64::from(body.still_frames) * model.frame_dt() >= s.after)
}

/// Whether a frame moved a body so little that it counts as still.
fn is_still(model: &Model, b: usize, before: &BodyState, work: &Workspace) -> bool {
    let sleep = &model.groups[model.bodies[b].group].sleep;
    let same_mesh = work.candidate.x.len() == before.x.len();
    sleep.is_some_and(|s| same_mesh && work.frame_speed(before, model.frame_dt()) < s.speed)
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
        && body.plastic.len() == model.plastic_elements()
        && body.plastic.iter().all(|shape| shape.is_finite())
}
