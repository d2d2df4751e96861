//! The simulation on a thread of its own, so that the window never waits for it.
//!
//! The window sends [`Request`]s through a channel without end and reads [`Shown`], plain data behind a pointer: the lock
//! around it is held for as long as it takes to copy or to swap that pointer, never while anything is computed, so
//! neither [`Worker::send`] nor [`Worker::shown`] can wait for a step. What is done is in `player.rs`.
//!
//! Requests are done in the order they are sent. Commands act in the next step after them; particles that were moved by
//! hand are freed one step later, or they would not have moved. A panic inside the simulation becomes a note, and the
//! scene starts anew.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use souple::graph::Graph;
use souple::scene::{Scene, SolverKind};
use souple::{Command, Fan, Grab, Measures, PinnedVertex, Stage, Warning};
use souple_viewer::Moment;

use crate::characters::CharacterInfo;
use crate::document::BuildJob;
use crate::history::History;
use crate::keys::Support;
use crate::player::Player;

/// Most warnings and notes that are shown at once; older ones are let go.
pub const MAX_WARNINGS: usize = 100;

/// How fast it plays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// Times real time, never faster; slower where the machine is.
    Times(f64),
    /// As fast as it goes.
    Fastest,
}

/// What happens at the last frame of the scene.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEnd {
    /// It stops.
    #[default]
    Stop,
    /// It begins again.
    Loop,
    /// It goes on for as long as somebody looks.
    GoOn,
}

/// What a compiled scene is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// It takes the place of another scene. If it does not compile, nothing runs: the other scene is not what is edited.
    Open {
        /// Plays at once.
        play: bool,
    },
    /// It starts from its beginning.
    Load {
        /// Plays at once if it was playing.
        keep_playing: bool,
    },
    /// It takes the place of the running one without a start; [`Shown::needs_restart`] says when that cannot be.
    Adopt,
}

/// What the window asks for.
#[derive(Debug)]
pub enum Request {
    /// Compiles a scene on the worker's thread, and then loads or adopts it. Of several in a row the last one is done.
    Build {
        /// What to compile.
        job: BuildJob,
        /// What for.
        then: Then,
    },
    /// Plays; from the beginning when it stopped at the end.
    Play,
    /// Pauses.
    Pause,
    /// Takes one step, and is paused then.
    Step,
    /// Goes back to the beginning of the scene or of the recording; what was done by hand is gone. Plays on if it played.
    Reset,
    /// Says what happens at the last frame.
    SetAtEnd(AtEnd),
    /// Says how fast it plays.
    SetSpeed(Speed),
    /// Gives commands for the next step, in order.
    Do(Vec<Command>),
    /// Begins a recording.
    StartRecording,
    /// Ends the recording and writes it. One that could not be written is kept: try another file.
    StopRecording(PathBuf),
    /// Ends the recording; it waits to be saved.
    EndRecording,
    /// Ends the recording and forgets it.
    DropRecording,
    /// Plays a recording from the disk (ESSI-16).
    Replay(PathBuf),
    /// Keeps the state: in a file, or in memory without one.
    SaveSnapshot(Option<PathBuf>),
    /// Goes back to a kept state.
    Restore(Option<PathBuf>),
    /// Uses that many threads; 0 for one per core.
    SetThreads(usize),
    /// Ends the thread.
    Quit,
    /// Panics, for tests.
    #[cfg(test)]
    Panic,
    /// Keeps the worker busy until the other end is dropped, for tests.
    #[cfg(test)]
    Block(Receiver<()>),
}

/// How serious a note is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Something was done.
    Info,
    /// Something could not be done.
    Problem,
}

/// Something to tell the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Rises with every note: those above the last one that was seen are new.
    pub serial: u64,
    /// How serious it is.
    pub kind: NoteKind,
    /// What to say.
    pub text: String,
}

/// What is known of one body.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyInfo {
    /// Name.
    pub name: String,
    /// Particles now.
    pub vertices: usize,
    /// Name of its group.
    pub group: String,
    /// How it is integrated.
    pub solver: SolverKind,
    /// Substeps per frame.
    pub substeps: u32,
    /// Iterations of the solver in its last substep; 0 if it does not iterate.
    pub iterations: u32,
    /// Whether it diverged for good; [`Command::Thaw`] wakes it.
    pub frozen: bool,
    /// How often it was torn or cut.
    pub tears: u64,
    /// Names of its pin sets, by [`PinnedVertex::set`].
    pub pin_sets: Vec<String>,
}

/// What is seen of the simulation at one instant.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Rises with every change.
    pub generation: u64,
    /// Rises with every load, reset, loop and replay: another timeline begins.
    pub run: u64,
    /// [`crate::document::Document::revision`] of the running scene; none while a recording is played.
    pub revision: Option<u64>,
    /// The running scene with its meshes inside; none before anything is loaded.
    pub scene: Option<Arc<Scene>>,
    /// What it is made of, for the tree.
    pub graph: Arc<Graph>,
    /// What it looks like.
    pub moment: Arc<Moment>,
    /// Frames per second of the scene.
    pub fps: f64,
    /// Frames of the scene, or last step of the recording.
    pub frames: u64,
    /// Whether it plays.
    pub playing: bool,
    /// Whether the last frame is reached.
    pub at_end: bool,
    /// What happens there.
    pub at_end_rule: AtEnd,
    /// How fast it is to play.
    pub speed: Speed,
    /// Steps per second of real time of late; 0 when paused.
    pub steps_per_second: f64,
    /// Time of the last step, ms.
    pub step_ms: f64,
    /// Of that, the time of each stage in the order of [`Stage::ALL`], ms.
    pub stage_ms: [f64; Stage::ALL.len()],
    /// Measures of the whole scene.
    pub measures: Option<Measures>,
    /// The latest warnings of this run, oldest first; at most [`MAX_WARNINGS`].
    pub warnings: Arc<Vec<Warning>>,
    /// How many there were in this run.
    pub warning_count: u64,
    /// What is known of each body.
    pub bodies: Vec<BodyInfo>,
    /// What is known of each character.
    pub characters: Vec<CharacterInfo>,
    /// Supported particles of each body, ascending; `set` is [`PinnedVertex::BY_HAND`] if it was done by hand.
    pub pinned: Arc<Vec<Vec<PinnedVertex>>>,
    /// Particles that are pulled.
    pub grabs: Vec<Grab>,
    /// The fan, if it blows.
    pub fan: Option<Fan>,
    /// Pin sets for the keyboard.
    pub supports: Arc<Vec<Support>>,
    /// Commands that wait for the next step.
    pub waiting: usize,
    /// Whether a recording is being made.
    pub recording: bool,
    /// Whether a recording is done and waits to be written or dropped.
    pub recorded: bool,
    /// Whether a recording is played; nothing can be touched then.
    pub replaying: bool,
    /// The file of the recording that is played.
    pub replayed_file: Option<Arc<Path>>,
    /// Whether a state is kept in memory.
    pub has_snapshot: bool,
    /// Threads that were asked for; 0 for one per core.
    pub threads: usize,
    /// Why the scene that was sent last does not compile; the last good one goes on, unless it was another scene
    /// ([`Then::Open`]).
    pub build_error: Option<String>,
    /// Rises with every build that failed.
    pub failed_builds: u64,
    /// Why the last change cannot be made to the running scene: a [`Then::Load`] would.
    pub needs_restart: Option<String>,
    /// The latest notes, oldest first.
    pub notes: Arc<Vec<Note>>,
}

impl Default for Shown {
    fn default() -> Self {
        Shown {
            generation: 0,
            run: 0,
            revision: None,
            scene: None,
            graph: Arc::default(),
            moment: Arc::default(),
            fps: 60.0,
            frames: 0,
            playing: false,
            at_end: false,
            at_end_rule: AtEnd::default(),
            speed: Speed::Times(1.0),
            steps_per_second: 0.0,
            step_ms: 0.0,
            stage_ms: [0.0; Stage::ALL.len()],
            measures: None,
            warnings: Arc::default(),
            warning_count: 0,
            bodies: Vec::new(),
            characters: Vec::new(),
            pinned: Arc::default(),
            grabs: Vec::new(),
            fan: None,
            supports: Arc::default(),
            waiting: 0,
            recording: false,
            recorded: false,
            replaying: false,
            replayed_file: None,
            has_snapshot: false,
            threads: 0,
            build_error: None,
            failed_builds: 0,
            needs_restart: None,
            notes: Arc::default(),
        }
    }
}

/// What both threads see.
pub(crate) struct Shared {
    shown: Mutex<Arc<Shown>>,
    history: Mutex<History>,
    wake: Box<dyn Fn() + Send + Sync>,
}

impl Shared {
    /// The history; nothing is computed while it is held.
    pub(crate) fn history(&self) -> MutexGuard<'_, History> {
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Shows something new.
    pub(crate) fn publish(&self, shown: Shown) {
        let new = Arc::new(shown);
        let mut place = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *place, new);
        // What was shown before may be large: it goes when nobody can wait for it any more.
        drop(place);
        drop(old);
        (self.wake)();
    }
}

/// The thread of the simulation. Dropped, it ends after what was sent before.
pub struct Worker {
    requests: Sender<Request>,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread. `wake` is called from there after every change of what is shown, and must not wait for anything.
    ///
    /// Where the system has no thread left, nothing is ever simulated, and a note says so.
    pub fn spawn(wake: impl Fn() + Send + Sync + 'static) -> Worker {
        let (requests, inbox) = channel();
        let shared =
            Arc::new(Shared { shown: Mutex::default(), history: Mutex::default(), wake: Box::new(wake) });
        let player = Player::new(Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("simulation".into());
        let thread = thread.spawn(move || run(player, inbox)).map_err(|error| {
            let text = format!("the simulation cannot start: {error}; close other programs and try again");
            let notes = Arc::new(vec![Note { serial: 1, kind: NoteKind::Problem, text }]);
            shared.publish(Shown { generation: 1, notes, ..Shown::default() });
        });
        Worker { requests, shared, thread: thread.ok() }
    }

    /// Asks for something. Never waits.
    pub fn send(&self, request: Request) {
        // The other end lives for as long as this one, but for a request to quit: then there is nothing to ask for.
        let _ = self.requests.send(request);
    }

    /// What is seen now. Never waits.
    pub fn shown(&self) -> Arc<Shown> {
        Arc::clone(&self.shared.shown.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What was shown so far in this run. The thread waits while the guard lives: copy the pointers that you need.
    pub fn history(&self) -> MutexGuard<'_, History> {
        self.shared.history()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.send(Request::Quit);
        if let Some(thread) = self.thread.take() {
            // A recording that is being written is finished first. The thread catches its panics: there is no other end.
            let _ = thread.join();
        }
    }
}

/// The life of the thread: does what is asked, and steps when it is time.
fn run(mut player: Player, inbox: Receiver<Request>) {
    loop {
        let first = match player.due() {
            None => match inbox.recv() {
                Ok(request) => Some(request),
                Err(_) => return,
            },
            Some(due) => match inbox.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(request) => Some(request),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => return,
            },
        };
        for request in without_outdated_builds(first.into_iter().chain(inbox.try_iter())) {
            if matches!(request, Request::Quit) {
                return;
            }
            guarded(&mut player, |player| player.handle(request));
            player.publish();
        }
        if player.due().is_some_and(|due| due <= Instant::now()) {
            guarded(&mut player, Player::advance);
            player.publish();
        }
    }
}

/// Of several builds in a row, the last one. It starts the scene anew if any of them was to, and takes the place of
/// another scene if any of them was to.
fn without_outdated_builds(requests: impl Iterator<Item = Request>) -> Vec<Request> {
    let mut kept: Vec<Request> = Vec::new();
    for mut request in requests {
        if let (Some(Request::Build { then: before, .. }), Request::Build { then, .. }) =
            (kept.last(), &mut request)
        {
            if matches!((*before, *then), (_, Then::Adopt) | (Then::Open { .. }, Then::Load { .. })) {
                *then = *before;
            }
            kept.pop();
        }
        kept.push(request);
    }
    kept
}

/// Does something to the player; a panic becomes a note and a fresh start.
fn guarded(player: &mut Player, work: impl FnOnce(&mut Player)) {
    // What a panic may have left half done is thrown away by `recover`.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work(player))) {
        let problem = text_of(&*payload);
        if catch_unwind(AssertUnwindSafe(|| player.recover(&problem))).is_err() {
            player.give_up();
        }
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "unknown".to_owned())
}

#[cfg(test)]
#[path = "worker_tests.rs"]
mod tests;
