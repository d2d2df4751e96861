//! What the thread of the simulation does: plays a scene or a recording, and says what there is to see.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use souple::graph::{Graph, scene_graph};
use souple::parallel::Parallel;
use souple::scene::Scene;
use souple::{Command, Measures, Model, ModelBuilder, PinnedVertex, Recording, Simulation, Stage, Warning};
use souple_files::{FileError, MAX_STATE_BYTES, Played, Replay, disk, scene_for_recording};
use souple_formats::control_log::write_control_log;
use souple_viewer::{Capture, Moment};

use crate::characters::CharacterInfo;
use crate::document::{BuildJob, Compiled};
use crate::history::Sample;
use crate::keys::Support;
use crate::pending::{add_command, take_ready};
use crate::worker::{AtEnd, BodyInfo, MAX_WARNINGS, Note, NoteKind, Request, Shared, Shown, Speed, Then};

/// Longest time between two steps, s: somebody who asks for a millionth of real time can still change their mind.
const LONGEST_PAUSE: f64 = 3600.0;
/// Steps within this time make the rate that is shown.
const RATE_WINDOW: Duration = Duration::from_secs(1);

/// What is played.
enum Source {
    Empty,
    Live(Box<Simulation>),
    Replay(Box<Replay>),
}

/// What is read off the simulation after each change of it.
#[derive(Default)]
struct Reading {
    moment: Arc<Moment>,
    measures: Option<Measures>,
    bodies: Vec<BodyInfo>,
    characters: Vec<CharacterInfo>,
    pinned: Arc<Vec<Vec<PinnedVertex>>>,
    warnings: Arc<Vec<Warning>>,
    warning_count: u64,
}

/// Plays.
pub(crate) struct Player {
    shared: Arc<Shared>,
    source: Source,
    capture: Option<Capture>,
    scene: Option<Arc<Scene>>,
    /// The file of the recording that is played.
    replayed_file: Option<Arc<Path>>,
    revision: Option<u64>,
    graph: Arc<Graph>,
    supports: Arc<Vec<Support>>,
    reading: Reading,
    playing: bool,
    at_end_rule: AtEnd,
    speed: Speed,
    threads: usize,
    due: Option<Instant>,
    waiting: Vec<Command>,
    is_recording: bool,
    /// A recording that is done and not written yet.
    recorded: Option<Recording>,
    snapshot: Option<Vec<u8>>,
    step_ms: f64,
    stage_ms: [f64; Stage::ALL.len()],
    step_times: VecDeque<Instant>,
    /// Whether it was told that a replay differs.
    differs: bool,
    /// Why a command of the last step was refused.
    refused: Option<String>,
    notes: Arc<Vec<Note>>,
    serial: u64,
    generation: u64,
    run: u64,
    build_error: Option<String>,
    failed_builds: u64,
    needs_restart: Option<String>,
}

impl Player {
    pub(crate) fn new(shared: Arc<Shared>) -> Player {
        Player {
            shared,
            source: Source::Empty,
            capture: None,
            scene: None,
            replayed_file: None,
            revision: None,
            graph: Arc::default(),
            supports: Arc::default(),
            reading: Reading::default(),
            playing: false,
            at_end_rule: AtEnd::default(),
            speed: Speed::Times(1.0),
            threads: 0,
            due: None,
            waiting: Vec::new(),
            is_recording: false,
            recorded: None,
            snapshot: None,
            step_ms: 0.0,
            stage_ms: [0.0; Stage::ALL.len()],
            step_times: VecDeque::new(),
            differs: false,
            refused: None,
            notes: Arc::default(),
            serial: 0,
            generation: 0,
            run: 0,
            build_error: None,
            failed_builds: 0,
            needs_restart: None,
        }
    }

    /// When the next step is to be taken; none while it is paused.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.playing)
    }

    /// Does what is asked.
    pub(crate) fn handle(&mut self, request: Request) {
        match request {
            Request::Build { job, then } => self.build(&job, then),
            Request::Play => self.play(),
            Request::Pause => self.playing = false,
            Request::Step => {
                self.playing = false;
                self.step();
            }
            Request::Reset => self.reset(),
            Request::SetAtEnd(rule) => self.at_end_rule = rule,
            Request::SetSpeed(speed) => self.set_speed(speed),
            Request::Do(commands) => self.take_commands(commands),
            Request::StartRecording => self.start_recording(),
            Request::StopRecording(path) => self.stop_recording(&path),
            Request::EndRecording => self.end_recording(None),
            Request::DropRecording => {
                self.end_recording(None);
                self.recorded = None;
            }
            Request::Replay(path) => self.replay(&path),
            Request::SaveSnapshot(path) => self.save_snapshot(path),
            Request::Restore(path) => self.restore(path),
            Request::SetThreads(threads) => self.set_threads(threads),
            Request::Quit => {}
            #[cfg(test)]
            Request::Panic => panic!("asked to"),
            #[cfg(test)]
            Request::Block(until) => {
                let _ = until.recv();
            }
        }
    }

    /// The next frame of what is played, at its time.
    pub(crate) fn advance(&mut self) {
        let now = Instant::now();
        if self.is_at_end() && self.at_end_rule == AtEnd::Loop {
            self.reset();
        } else if self.stops_here() {
            self.playing = false;
        } else {
            self.step();
            self.playing &= !self.stops_here();
        }
        // A frame after this one was due, so never faster than asked; time that was lost is not made up for.
        let next = self.due.unwrap_or(now) + self.interval();
        self.due = Some(next.max(Instant::now()));
    }

    // ---- scenes ----

    fn build(&mut self, job: &BuildJob, then: Then) {
        let Compiled { scene, model, revision } = match job.run() {
            Ok(compiled) => compiled,
            Err(problem) => {
                if matches!(then, Then::Open { .. }) {
                    self.unload();
                }
                self.build_error = Some(problem);
                self.failed_builds += 1;
                return;
            }
        };
        let scene = Arc::new(scene);
        match then {
            Then::Open { play } => {
                self.revision = Some(revision);
                self.load(scene, model, false);
                if play {
                    self.play();
                }
            }
            Then::Load { keep_playing } => {
                self.revision = Some(revision);
                self.load(scene, model, keep_playing);
            }
            Then::Adopt => self.adopt(scene, model, revision),
        }
    }

    /// Lets the scene go that runs, with all that is seen of it.
    fn unload(&mut self) {
        self.end_recording(Some("another scene was opened"));
        self.give_up();
        (self.scene, self.revision, self.capture, self.snapshot) = (None, None, None, None);
        (self.graph, self.supports) = (Arc::default(), Arc::default());
        self.needs_restart = None;
        self.begin_run();
    }

    fn load(&mut self, scene: Arc<Scene>, model: Model, keep_playing: bool) {
        self.end_recording(Some("another scene was loaded"));
        self.playing &= keep_playing;
        self.forget_snapshot();
        (self.build_error, self.needs_restart) = (None, None);
        self.scene = Some(scene);
        self.begin(model);
    }

    /// Starts a model from its beginning.
    fn begin(&mut self, model: Model) {
        let simulation = match Simulation::new(model).with_threads(self.threads) {
            Ok(simulation) => simulation,
            Err(error) => {
                self.give_up();
                self.note(NoteKind::Problem, format!("{error}; ask for fewer threads"));
                return;
            }
        };
        self.source = Source::Live(Box::new(simulation));
        self.begin_run();
    }

    /// What is new when a run begins, live or not.
    fn begin_run(&mut self) {
        self.run += 1;
        self.waiting.clear();
        self.step_times.clear();
        self.differs = false;
        self.step_ms = 0.0;
        self.stage_ms = [0.0; Stage::ALL.len()];
        self.due = Some(Instant::now());
        let gone = self.shared.history().clear();
        drop(gone);
        self.reading = Reading::default();
        self.look_anew();
        self.read();
    }

    /// Gets ready to read another model or scene.
    fn look_anew(&mut self) {
        let (Some(scene), Some(simulation)) = (&self.scene, simulation_of(&self.source)) else { return };
        let model = simulation.model();
        self.capture = Some(Capture::new(scene, model));
        self.graph = Arc::new(scene_graph(scene, model));
        self.supports = Arc::new(Support::of_model(model));
    }

    fn adopt(&mut self, scene: Arc<Scene>, model: Model, revision: u64) {
        self.build_error = None;
        match &mut self.source {
            Source::Empty => {
                self.revision = Some(revision);
                self.load(scene, model, true);
            }
            Source::Replay(_) => {
                let reason = "a recording is played, and a recording cannot be changed: restart the scene";
                self.needs_restart = Some(reason.to_owned());
            }
            // Another look or name of the scene: nothing moves differently, so a recording goes on.
            Source::Live(simulation) if moves_alike(simulation.model(), &model) => {
                self.needs_restart = None;
                self.scene = Some(scene);
                self.revision = Some(revision);
                self.look_anew();
                self.read();
            }
            Source::Live(simulation) => match simulation.adopt(model) {
                Ok(recording) => {
                    if recording.is_some() {
                        self.is_recording = false;
                        self.recorded = recording;
                        let text = "the recording ended, as the scene was changed; it can still be saved";
                        self.note(NoteKind::Info, text.to_owned());
                    }
                    self.needs_restart = None;
                    self.scene = Some(scene);
                    self.revision = Some(revision);
                    self.forget_snapshot();
                    self.look_anew();
                    self.read();
                }
                Err(misfit) => self.needs_restart = Some(misfit.to_string()),
            },
        }
    }

    /// A kept state belongs to the model as it was.
    fn forget_snapshot(&mut self) {
        if self.snapshot.take().is_some() {
            let text = "the kept state is gone, as the scene was changed; one in a file stays";
            self.note(NoteKind::Info, text.to_owned());
        }
    }

    fn reset(&mut self) {
        self.end_recording(Some("it was reset"));
        match &mut self.source {
            Source::Empty => {}
            Source::Replay(replay) => match replay.rewind() {
                Ok(()) => self.begin_run(),
                Err(error) => self.fail(&error),
            },
            Source::Live(_) => {
                let Some(scene) = self.scene.clone() else { return };
                match ModelBuilder::new(&scene).build() {
                    Ok(model) => self.begin(model),
                    Err(error) => self.note(NoteKind::Problem, format!("{error}; {}", error.help)),
                }
            }
        }
    }

    fn replay(&mut self, path: &Path) {
        match Replay::open(path, self.threads) {
            Ok(replay) => {
                self.end_recording(Some("another recording is played"));
                self.scene = Some(Arc::new(replay.scene.clone()));
                self.source = Source::Replay(Box::new(replay));
                self.replayed_file = Some(Arc::from(path));
                self.playing = true;
                self.revision = None;
                self.snapshot = None;
                (self.build_error, self.needs_restart) = (None, None);
                self.begin_run();
            }
            Err(error) => self.fail(&error),
        }
    }

    // ---- playing ----

    fn play(&mut self) {
        if matches!(self.source, Source::Empty) {
            return;
        }
        if self.stops_here() {
            self.reset();
        }
        if !self.playing {
            self.playing = true;
            self.step_times.clear();
            self.due = Some(Instant::now());
        }
    }

    fn set_speed(&mut self, speed: Speed) {
        match speed {
            Speed::Times(times) if !(times.is_finite() && times > 0.0) => {
                self.note(NoteKind::Problem, format!("a speed of {times} times real time makes no sense"));
            }
            speed => {
                self.speed = speed;
                self.due = Some(Instant::now());
            }
        }
    }

    /// Real time from step to step.
    fn interval(&self) -> Duration {
        let (Some(scene), Speed::Times(times)) = (&self.scene, self.speed) else { return Duration::ZERO };
        let seconds = 1.0 / (scene.time.fps * times);
        Duration::from_secs_f64(if seconds.is_finite() { seconds.min(LONGEST_PAUSE) } else { LONGEST_PAUSE })
    }

    /// Number of the last step.
    fn last_step(&self) -> u64 {
        match &self.source {
            Source::Empty => 0,
            Source::Live(simulation) => u64::from(simulation.model().frames),
            Source::Replay(replay) => {
                let left = replay.steps().saturating_sub(replay.played()) as u64;
                replay.simulation.state().step + left
            }
        }
    }

    fn is_at_end(&self) -> bool {
        simulation_of(&self.source).is_some_and(|simulation| simulation.state().step >= self.last_step())
    }

    /// Whether playing ends at this frame. A recording has nothing to go on with.
    fn stops_here(&self) -> bool {
        let goes_on = match self.at_end_rule {
            AtEnd::Stop => false,
            AtEnd::Loop => true,
            AtEnd::GoOn => !matches!(self.source, Source::Replay(_)),
        };
        self.is_at_end() && !goes_on
    }

    /// One step of whatever is played.
    fn step(&mut self) {
        let clock = Instant::now();
        let mut told = None;
        match &mut self.source {
            Source::Empty => return,
            Source::Live(simulation) => {
                let mut refused = Vec::new();
                for command in take_ready(&mut self.waiting) {
                    refused.extend(simulation.command(command).err());
                }
                simulation.reset_profile();
                simulation.step();
                // Of a hundred commands of one drag, one refusal says it all, and a drag that goes on says it once.
                let refused = refused.first().map(ToString::to_string);
                if refused != self.refused {
                    told = refused.clone().map(|text| (NoteKind::Problem, text));
                    self.refused = refused;
                }
            }
            Source::Replay(replay) => {
                replay.simulation.reset_profile();
                match replay.step() {
                    Ok(Played::Same) => {}
                    Ok(Played::End) => return,
                    Ok(Played::Differs(difference)) if !self.differs => {
                        self.differs = true;
                        let step = difference.step;
                        let text = format!(
                            "from step {step} on this run differs from the recording: another machine or version made it"
                        );
                        told = Some((NoteKind::Problem, text));
                    }
                    Ok(Played::Differs(_)) => {}
                    Err(error) => {
                        self.playing = false;
                        self.fail(&error);
                        return;
                    }
                }
            }
        }
        let now = Instant::now();
        self.step_ms = milliseconds(now - clock);
        if let Some(simulation) = simulation_of(&self.source) {
            self.stage_ms = Stage::ALL.map(|stage| milliseconds(simulation.profile().time(stage)));
        }
        self.step_times.push_back(now);
        while self.step_times.front().is_some_and(|first| now - *first > RATE_WINDOW) {
            self.step_times.pop_front();
        }
        if let Some((kind, text)) = told {
            self.note(kind, text);
        }
        self.read();
    }

    fn take_commands(&mut self, commands: Vec<Command>) {
        match &self.source {
            Source::Empty => {}
            Source::Replay(_) => {
                let text = "a recording is played and cannot be touched; restart the scene to play with it";
                self.note(NoteKind::Problem, text.to_owned());
            }
            Source::Live(_) => {
                commands.into_iter().for_each(|command| add_command(&mut self.waiting, command))
            }
        }
    }

    // ---- recordings and states ----

    fn start_recording(&mut self) {
        let (Source::Live(simulation), Some(scene)) = (&mut self.source, &self.scene) else {
            self.note(NoteKind::Problem, "there is nothing to record: load a scene".to_owned());
            return;
        };
        match scene_for_recording(scene, Path::new("the scene")) {
            Ok(text) => {
                if let Err(error) = simulation.start_recording(text) {
                    return self.note(NoteKind::Problem, error.to_string());
                }
                self.is_recording = true;
                self.recorded = None;
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Takes the recording out of the simulation, to be saved later. Says why, if it was not asked for.
    fn end_recording(&mut self, why: Option<&str>) {
        let Source::Live(simulation) = &mut self.source else { return };
        let Some(recording) = simulation.finish_recording() else { return };
        self.recorded = Some(recording);
        if let Some(why) = why {
            self.note(NoteKind::Info, format!("the recording ended, as {why}; it can still be saved"));
        }
        self.is_recording = false;
    }

    fn stop_recording(&mut self, path: &Path) {
        self.end_recording(None);
        let Some(recording) = &self.recorded else {
            self.note(NoteKind::Problem, "there is no recording to save".to_owned());
            return;
        };
        let steps = recording.hashes.len();
        match disk::write(path, &recording.to_bytes(write_control_log)) {
            Ok(()) => {
                self.recorded = None;
                self.note(NoteKind::Info, format!("recorded {steps} steps in {}", path.display()));
            }
            Err(error) => self.fail(&error),
        }
    }

    fn save_snapshot(&mut self, path: Option<PathBuf>) {
        let Source::Live(simulation) = &self.source else {
            self.note(NoteKind::Problem, "there is no state to keep: load a scene".to_owned());
            return;
        };
        let (bytes, step) = (simulation.snapshot(), simulation.state().step);
        match path {
            None => {
                self.snapshot = Some(bytes);
                self.note(NoteKind::Info, format!("kept the state of step {step}"));
            }
            Some(path) => match disk::write(&path, &bytes) {
                Ok(()) => {
                    self.note(NoteKind::Info, format!("kept the state of step {step} in {}", path.display()))
                }
                Err(error) => self.fail(&error),
            },
        }
    }

    fn restore(&mut self, path: Option<PathBuf>) {
        let bytes = match path {
            None => self.snapshot.clone().ok_or_else(|| FileError::new("", "no state was kept", "")),
            Some(path) => disk::read(&path, MAX_STATE_BYTES, "snapshot"),
        };
        let bytes = match bytes {
            Ok(bytes) => bytes,
            Err(error) => return self.fail(&error),
        };
        let Source::Live(simulation) = &mut self.source else {
            self.note(NoteKind::Problem, "there is no scene for this state: load it first".to_owned());
            return;
        };
        match simulation.restore(&bytes) {
            Ok(()) => {
                // A recording has no jumps; a state that does not fit is none.
                self.end_recording(Some("an earlier state was restored"));
                self.waiting.clear();
                self.read();
            }
            Err(error) => self.note(NoteKind::Problem, format!("{error}; it may belong to another scene")),
        }
    }

    fn set_threads(&mut self, threads: usize) {
        // Tried first: a simulation that failed to get its threads would be lost.
        if let Err(error) = Parallel::new(threads) {
            self.note(NoteKind::Problem, error.to_string());
            return;
        }
        self.threads = threads;
        match std::mem::replace(&mut self.source, Source::Empty) {
            Source::Live(simulation) => match simulation.with_threads(threads) {
                Ok(simulation) => self.source = Source::Live(Box::new(simulation)),
                Err(error) => {
                    self.give_up();
                    self.note(NoteKind::Problem, error.to_string());
                }
            },
            // A recording keeps the threads it was opened with.
            other => self.source = other,
        }
    }

    // ---- when something goes wrong ----

    fn fail(&mut self, error: &FileError) {
        let text = match error.help() {
            "" => error.message(),
            help => format!("{}; {help}", error.message()),
        };
        self.note(NoteKind::Problem, text);
    }

    fn note(&mut self, kind: NoteKind, text: String) {
        self.serial += 1;
        let notes = Arc::make_mut(&mut self.notes);
        notes.push(Note { serial: self.serial, kind, text });
        if notes.len() > MAX_WARNINGS {
            notes.remove(0);
        }
    }

    /// After a panic: throws away what may be half done and starts the scene anew, paused.
    pub(crate) fn recover(&mut self, problem: &str) {
        let had_scene = !matches!(self.source, Source::Empty);
        self.give_up();
        if had_scene && let Some(scene) = self.scene.clone() {
            match ModelBuilder::new(&scene).build() {
                Ok(model) => self.begin(model),
                Err(error) => self.note(NoteKind::Problem, format!("{error}; {}", error.help)),
            }
        }
        let text =
            format!("the simulation met an error of its own ({problem}) and started anew; please report it");
        self.note(NoteKind::Problem, text);
    }

    /// Lets everything go that runs.
    pub(crate) fn give_up(&mut self) {
        self.source = Source::Empty;
        self.playing = false;
        self.is_recording = false;
        self.waiting.clear();
    }

    // ---- what is seen ----

    /// Reads everything off the simulation that changed with it, and keeps it in the history.
    fn read(&mut self) {
        let (Some(simulation), Some(capture)) = (simulation_of(&self.source), &mut self.capture) else {
            return;
        };
        let moment = Arc::new(capture.moment(simulation));
        let measures = simulation.measures();
        let model = simulation.model();
        let bodies = model.bodies.iter().zip(&simulation.state().bodies).enumerate();
        let bodies = bodies.map(|(b, (body, state))| {
            let group = &model.groups[body.group];
            BodyInfo {
                name: body.name.clone(),
                vertices: state.x.len(),
                group: group.name.clone(),
                solver: group.solver,
                substeps: group.substeps,
                iterations: simulation.solver_iterations(b),
                frozen: state.frozen,
                tears: if state.topology.is_torn() { state.topology.version } else { 0 },
                pin_sets: body.pins.iter().map(|pin| pin.name.clone()).collect(),
            }
        });
        let warnings = simulation.warnings();
        let warning_count = warnings.len() as u64;
        let latest = match warning_count == self.reading.warning_count {
            true => Arc::clone(&self.reading.warnings),
            false => Arc::new(warnings[warnings.len().saturating_sub(MAX_WARNINGS)..].to_vec()),
        };
        let pinned = simulation.state().bodies.iter().map(|body| body.pinned.clone()).collect();
        let sample = Sample {
            step_ms: self.step_ms,
            stage_ms: self.stage_ms,
            warnings: warning_count,
            ..Sample::new(&moment, &measures)
        };
        self.reading = Reading {
            moment: Arc::clone(&moment),
            measures: Some(measures),
            bodies: bodies.collect(),
            characters: CharacterInfo::of(simulation),
            pinned: Arc::new(pinned),
            warnings: latest,
            warning_count,
        };
        let gone = self.shared.history().push(moment, sample);
        // Freed here, where nobody waits for the lock.
        drop(gone);
    }

    /// Shows how things stand.
    pub(crate) fn publish(&mut self) {
        self.generation += 1;
        let simulation = simulation_of(&self.source);
        let state = simulation.map(Simulation::state);
        let shown = Shown {
            generation: self.generation,
            run: self.run,
            revision: self.revision,
            scene: self.scene.clone(),
            graph: Arc::clone(&self.graph),
            moment: Arc::clone(&self.reading.moment),
            fps: self.scene.as_ref().map_or(60.0, |scene| scene.time.fps),
            frames: self.last_step(),
            playing: self.playing,
            at_end: self.is_at_end(),
            at_end_rule: self.at_end_rule,
            speed: self.speed,
            steps_per_second: self.rate(),
            step_ms: self.step_ms,
            stage_ms: self.stage_ms,
            measures: self.reading.measures,
            warnings: Arc::clone(&self.reading.warnings),
            warning_count: self.reading.warning_count,
            bodies: self.reading.bodies.clone(),
            characters: self.reading.characters.clone(),
            pinned: Arc::clone(&self.reading.pinned),
            grabs: state.map(|state| state.grabs.clone()).unwrap_or_default(),
            fan: state.and_then(|state| state.fan),
            supports: Arc::clone(&self.supports),
            waiting: self.waiting.len(),
            recording: self.is_recording,
            recorded: self.recorded.is_some(),
            replaying: matches!(self.source, Source::Replay(_)),
            replayed_file: self.replayed_file.clone().filter(|_| matches!(self.source, Source::Replay(_))),
            has_snapshot: self.snapshot.is_some(),
            threads: self.threads,
            build_error: self.build_error.clone(),
            failed_builds: self.failed_builds,
            needs_restart: self.needs_restart.clone(),
            notes: Arc::clone(&self.notes),
        };
        self.shared.publish(shown);
    }

    /// Steps per second of late.
    fn rate(&self) -> f64 {
        match (self.playing, self.step_times.front(), self.step_times.back()) {
            (true, Some(first), Some(last)) if last > first => {
                (self.step_times.len() - 1) as f64 / (*last - *first).as_secs_f64()
            }
            _ => 0.0,
        }
    }
}

fn simulation_of(source: &Source) -> Option<&Simulation> {
    match source {
        Source::Empty => None,
        Source::Live(simulation) => Some(simulation),
        Source::Replay(replay) => Some(&replay.simulation),
    }
}

/// Whether two models move alike and have the same names and frames.
fn moves_alike(a: &Model, b: &Model) -> bool {
    let names = |model: &Model| {
        let bodies = model.bodies.iter().map(|body| body.name.clone());
        bodies.chain(model.groups.iter().map(|group| group.name.clone())).collect::<Vec<_>>()
    };
    // Names of pins and colliders are part of the fingerprint.
    a.fingerprint == b.fingerprint && a.frames == b.frames && names(a) == names(b)
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
