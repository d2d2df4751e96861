//! The window: what is open, what is shown, and how the parts work together.
//!
//! [`StudioApp`] owns the document, the simulation's thread and the hands, and is drawn by the panels. It can be made
//! without a window and without a graphics driver, for tests. It does not wait for anything that takes long: scenes are
//! compiled and simulated on the worker's thread, images are decoded and thumbnails and exports made on threads of their
//! own, and each wakes the window. What it does itself, once each time: it reads and writes scene files and shaders, lists
//! folders, and reads a mesh file when that is added to the scene, to know its size.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use eframe::egui;
use souple::scene::{Scene, SolverKind};
use souple_viewer::style::StyleSheet;
use souple_viewer::{Camera, Extent, Looks, Moment, WhichRenderer};

use crate::actions::{After, Dialog, Question};
use crate::assets::{Assets, FileNews};
use crate::document::{Document, FileChange, Object};
use crate::exports::Exports;
use crate::painting::Easel;
use crate::panels::browser::Browser;
use crate::panels::docs::Docs;
use crate::panels::fields::Changes;
use crate::panels::messages::{Messages, Remedy, Severity};
use crate::panels::{self, Layout};
use crate::playback::Showing;
use crate::ranges::Ranges;
use crate::report::Reporter;
use crate::scene_files::{SceneFiles, for_each_path};
use crate::start::{bodies_differ, start_difference};
use crate::tools::{Hands, Reaction, Seen};
use crate::viewport::{Viewport, opening_camera};
use crate::worker::{BodyInfo, NoteKind, Request, Shown, Speed, Then, Worker};

/// How often files on the disk are looked at, s.
const DISK_SECONDS: f64 = 0.7;
/// Time between frames that nobody asked for with the mouse or a key, where drawing costs simulation time.
const GENTLE_PERIOD: Duration = Duration::from_millis(40);
/// Frames of the window that the frame rate is the mean of.
const FRAMES_OF_RATE: usize = 60;
/// Most scenes that are remembered while the simulation has not taken them over.
const MAX_SENT: usize = 64;

/// How the studio is started.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Scene or recording that is opened at once.
    pub file: Option<PathBuf>,
    /// Folder of scenes for the browser; looked for around the current folder without it.
    pub library: Option<PathBuf>,
    /// Whether the browser makes pictures of its scenes, and with what.
    pub thumbnails: Option<WhichRenderer>,
    /// What pictures in files are drawn with.
    pub renderer: WhichRenderer,
    /// File that the state of the window is written to whenever it changes, for tests.
    pub report: Option<PathBuf>,
}

/// The studio.
pub struct StudioApp {
    /// The scene that is edited.
    pub document: Document,
    /// The simulation.
    pub worker: Worker,
    /// The newest of it.
    pub shown: Arc<Shown>,
    /// Tool, selection, drags.
    pub hands: Hands,
    /// Where the scene is seen from.
    pub camera: Camera,
    /// The selected object.
    pub selected: Object,
    /// The newest moment, or one of the past.
    pub showing: Showing,
    /// All styles, those of the user included.
    pub styles: StyleSheet,
    /// One style for all bodies, in place of those of the scene.
    pub style_override: Option<Arc<str>>,
    /// Whether the elements of all solids are drawn, whatever their looks say.
    pub show_cells: bool,
    /// The style that was before the wireframe.
    pub style_before: Option<Arc<str>>,
    /// How everything is drawn now.
    pub looks: Looks,
    /// What the person should know.
    pub messages: Messages,
    /// An open file dialog.
    pub dialog: Option<Dialog>,
    /// An open question.
    pub question: Option<Question>,
    /// Questions that wait for the open one to be answered.
    pub questions: VecDeque<Question>,
    /// What is done once the scene was saved in the dialog that is open.
    pub waiting: Option<After>,
    /// Which panels are open.
    pub layout: Layout,
    /// The library.
    pub browser: Browser,
    /// The picture in the middle.
    pub viewport: Viewport,
    /// Files that are being written.
    pub exports: Exports,
    /// Texts of fields.
    pub docs: Arc<Docs>,
    /// Options it was started with.
    pub options: Options,
    /// Folder that file dialogs begin in.
    pub folder: PathBuf,
    /// Size of saved pictures, pixels.
    pub picture_size: (u32, u32),
    /// Frames per second of baked characters.
    pub bake_fps: f64,
    /// The window is to close.
    pub closing: bool,
    /// Clock of the window, s.
    pub now: f64,
    /// Whether a field was being typed into at the end of the last frame.
    pub typing: bool,
    pub(crate) wake: Arc<dyn Fn() + Send + Sync>,
    /// What painting needs to know.
    pub(crate) easel: Easel,
    /// A driver in software draws on the processor that simulates: it gets no more frames than the eye needs.
    gentle: Arc<AtomicBool>,
    assets: Assets,
    ranges: Ranges,
    /// The scene as written when the simulation last started, with its revision.
    started: (u64, Arc<Scene>),
    /// The running scene and those that were sent after it, by revision.
    sent: VecDeque<(u64, Arc<Scene>)>,
    /// What differs from the start, of two revisions: large meshes are not compared in every frame.
    difference: RefCell<Option<((u64, u64), Option<String>)>>,
    sent_revision: u64,
    looks_of: Option<LooksKey>,
    looks_version: u64,
    /// What ground and shadows are made for, and the run it belongs to.
    extent: Option<(u64, Extent)>,
    assets_version: u64,
    pub(crate) fit: Option<Fit>,
    last_note: u64,
    last_warnings: u64,
    next_disk_look: f64,
    frame_seconds: Vec<f64>,
    title: String,
    reporter: Option<Reporter>,
}

/// What the camera is to see all of, once it is there.
pub(crate) enum Fit {
    /// The scene that is edited.
    Scene,
    /// A recording, in place of what was shown when it was asked for.
    Recording(Option<Arc<Scene>>),
}

/// What looks were made of.
#[derive(Clone, Debug, PartialEq)]
struct LooksKey {
    revision: u64,
    replayed: Option<usize>,
    style: Option<Arc<str>>,
    cells: bool,
    /// The map that is painted.
    painted: Option<String>,
    assets: u64,
}

impl StudioApp {
    /// The studio in a window.
    pub fn new(cc: &eframe::CreationContext<'_>, options: Options) -> StudioApp {
        let mut app = StudioApp::new_for_tests(&cc.egui_ctx, options);
        if let Some(state) = &cc.wgpu_render_state {
            app.viewport.use_driver(state);
            app.gentle.store(app.viewport.is_software(), Ordering::Relaxed);
        }
        app
    }

    /// The studio without a graphics driver: everything works but the picture itself.
    pub fn new_for_tests(ctx: &egui::Context, options: Options) -> StudioApp {
        panels::theme::install(ctx);
        let gentle = Arc::new(AtomicBool::new(false));
        let (own, own_gentle) = (ctx.clone(), Arc::clone(&gentle));
        let wake: Arc<dyn Fn() + Send + Sync> = Arc::new(move || match own_gentle.load(Ordering::Relaxed) {
            true => own.request_repaint_after(GENTLE_PERIOD),
            false => own.request_repaint(),
        });
        let waker = |wake: &Arc<dyn Fn() + Send + Sync>| {
            let wake = Arc::clone(wake);
            move || wake()
        };
        let worker = Worker::spawn(waker(&wake));
        let document = Document::new();
        let library = options.library.clone().or_else(find_library);
        let browser = Browser::new(library, options.thumbnails, waker(&wake));
        let looks = Looks::of_scene(document.scene(), |_| None);
        let mut app = StudioApp {
            shown: worker.shown(),
            hands: Hands::default(),
            camera: Camera::default(),
            selected: Object::Scene,
            showing: Showing::Live,
            styles: StyleSheet::built_in(),
            style_override: None,
            show_cells: false,
            style_before: None,
            looks,
            messages: Messages::default(),
            dialog: None,
            question: None,
            questions: VecDeque::new(),
            waiting: None,
            layout: Layout::default(),
            browser,
            viewport: Viewport::default(),
            exports: Exports::default(),
            docs: Arc::new(Docs::new()),
            folder: std::env::current_dir().unwrap_or_default(),
            picture_size: (1920, 1080),
            bake_fps: 30.0,
            closing: false,
            now: 0.0,
            typing: false,
            easel: Easel::default(),
            assets: Assets::new(Arc::clone(&wake)),
            ranges: Ranges::default(),
            started: (document.revision(), document.shared_scene()),
            sent: VecDeque::new(),
            difference: RefCell::new(None),
            sent_revision: document.revision(),
            looks_of: None,
            looks_version: 0,
            extent: None,
            assets_version: 0,
            fit: Some(Fit::Scene),
            last_note: 0,
            last_warnings: 0,
            next_disk_look: 0.0,
            frame_seconds: Vec::new(),
            title: String::new(),
            reporter: options.report.clone().map(|path| Reporter::new(path, ctx)),
            wake,
            gentle,
            document,
            worker,
            options,
        };
        if let Some(file) = app.options.file.clone() {
            app.open_file(&file);
        }
        app
    }

    /// The moment on the screen: the newest one, or one of the past.
    pub fn moment(&self) -> Arc<Moment> {
        let past = self.showing.step().and_then(|step| self.worker.history().at(step).cloned());
        past.unwrap_or_else(|| Arc::clone(&self.shown.moment))
    }

    /// Whether hands can touch what is on the screen.
    pub fn is_live(&self) -> bool {
        self.showing == Showing::Live && self.runs_document()
    }

    /// Whether what runs is the scene that is edited: not a recording, and not the scene that was open before.
    pub fn runs_document(&self) -> bool {
        let of_document = |revision| self.document.has_revision(revision);
        !self.shown.replaying && self.shown.revision.is_some_and(of_document)
    }

    /// Does something with what hands act on.
    pub fn with_seen<R>(&mut self, act: impl FnOnce(&mut Hands, &Seen) -> R) -> R {
        let moment = self.moment();
        let (camera, size, live) = (self.camera, self.viewport.size_pixels(), self.is_live());
        act(&mut self.hands, &Seen { shown: &self.shown, moment: &moment, camera, size, live })
    }

    /// Does what hands ask for.
    pub fn react(&mut self, reaction: Reaction) {
        if !reaction.commands.is_empty() {
            self.worker.send(Request::Do(reaction.commands));
        }
        if let Some(camera) = reaction.camera {
            self.camera = camera;
        }
        self.paint(&reaction.dabs);
        if reaction.stroke_ended {
            self.end_stroke();
        }
        match reaction.clicked.filter(|_| self.runs_document()) {
            Some(Some(souple_viewer::ItemKind::Body(b))) => self.select(Object::Body(b)),
            Some(Some(souple_viewer::ItemKind::Paper(p))) => self.select(Object::Paper(p)),
            Some(Some(souple_viewer::ItemKind::Collider(c))) => self.select(Object::Collider(c)),
            Some(None) => self.select(Object::Scene),
            None => {}
        }
    }

    /// Selects an object; one that is not there selects the scene.
    pub fn select(&mut self, object: Object) {
        let there = self.document.name_of(object).is_some();
        self.selected = if there { object } else { Object::Scene };
    }

    /// Takes over what a form of the inspector changed.
    pub fn apply_form(&mut self, changes: &Changes, edit: impl FnOnce(&mut Scene)) {
        if let Some(field) = &changes.field
            && self.document.edit(field, edit)
        {
            self.messages.clear("field");
            if changes.looks {
                // What is edited must be seen.
                self.style_override = None;
            }
            if changes.moves {
                self.build();
            }
        }
        if let Some(problem) = &changes.problem {
            self.messages.error("field", problem.clone());
        }
        if changes.finished {
            self.document.finish_edit();
        }
    }

    /// Sends the scene to the simulation after a change: live where that can be, from its start where it must be.
    pub fn build(&mut self) {
        let at_start = self.shown.moment.step == 0 && !self.shown.playing;
        let other_bodies = bodies_differ(&self.started.1, self.document.scene());
        if at_start || other_bodies || self.shown.replaying {
            if other_bodies && !at_start {
                let text = "Bodies were added or removed: the scene started again.";
                self.messages.news("started again", text);
            }
            self.start_scene(self.shown.playing);
        } else {
            self.send_build(Then::Adopt);
        }
    }

    /// Compiles the scene as it is written and starts it from its beginning.
    pub fn start_scene(&mut self, playing: bool) {
        self.showing = Showing::Live;
        self.send_build(Then::Load { keep_playing: playing });
    }

    fn send_build(&mut self, then: Then) {
        self.sent_revision = self.document.revision();
        if self.sent.back().is_none_or(|(revision, _)| *revision != self.sent_revision) {
            self.sent.push_back((self.sent_revision, self.document.shared_scene()));
        }
        if self.sent.len() > MAX_SENT {
            // The first one runs.
            self.sent.remove(1);
        }
        self.worker.send(Request::Build { job: self.document.job(), then });
    }

    /// Sends changes that only concern the look, so that recordings have them, too.
    pub fn send_pending(&mut self) {
        if self.sent_revision != self.document.revision() && !self.shown.replaying {
            self.send_build(Then::Adopt);
        }
    }

    /// What holds only after the next start, if anything.
    pub fn restart_reason(&self) -> Option<String> {
        if self.shown.replaying || self.shown.moment.step == 0 {
            return None;
        }
        self.start_difference().or_else(|| self.shown.needs_restart.clone())
    }

    /// What differs from the scene that was started, compared once.
    fn start_difference(&self) -> Option<String> {
        let key = (self.started.0, self.document.revision());
        let mut known = self.difference.borrow_mut();
        match &*known {
            Some((of, difference)) if *of == key => difference.clone(),
            _ => {
                let difference = start_difference(&self.started.1, self.document.scene());
                *known = Some((key, difference.clone()));
                difference
            }
        }
    }

    /// Files of the scene are written differently now, as it was saved.
    pub(crate) fn rename_files(&mut self, renamed: &BTreeMap<String, String>) {
        if renamed.is_empty() {
            return;
        }
        let scenes = self.sent.iter_mut().chain([&mut self.started]);
        for (_, scene) in scenes {
            for_each_path(Arc::make_mut(scene), &mut |written, _| {
                if let Some(new) = renamed.get(written.as_str()) {
                    written.clone_from(new);
                }
            });
        }
    }

    /// Reads all images and shaders anew.
    pub(crate) fn forget_assets(&mut self) {
        self.assets.clear();
        self.assets_version += 1;
    }

    /// The files that what is shown names.
    fn shown_files(&self) -> SceneFiles {
        match &self.shown.replayed_file {
            Some(recording) => SceneFiles::of_scene(recording),
            None => self.document.files().clone(),
        }
    }

    /// Goes back to the start; with all changes.
    pub fn reset(&mut self) {
        let pending = self.restart_reason().is_some() || self.shown.build_error.is_some();
        self.showing = Showing::Live;
        if pending {
            self.start_scene(self.shown.playing);
        } else {
            self.worker.send(Request::Reset);
        }
    }

    /// Makes another scene the one that is edited.
    pub fn replace_document(&mut self, document: Document, playing: bool) {
        self.document = document;
        self.forget_assets();
        self.styles = StyleSheet::built_in();
        self.hands.forget();
        self.selected = Object::Scene;
        (self.style_override, self.style_before) = (None, None);
        self.messages.clear_starting("");
        self.fit = Some(Fit::Scene);
        if let Some(folder) = self.document.path().and_then(Path::parent) {
            self.folder = folder.to_path_buf();
        }
        self.showing = Showing::Live;
        let scene = self.document.scene();
        let play =
            playing && !(scene.bodies.is_empty() && scene.characters.is_empty() && scene.papers.is_empty());
        self.send_build(Then::Open { play });
    }

    /// The scene whose looks are shown: the edited one, or that of the recording that is played.
    pub fn shown_scene(&self) -> &Scene {
        match (&self.shown.scene, self.shown.replaying) {
            (Some(scene), true) => scene,
            _ => self.document.scene(),
        }
    }

    /// Frames of the window per second; 0 while it rests.
    pub fn frame_rate(&self) -> f64 {
        let total: f64 = self.frame_seconds.iter().sum();
        if total > 0.0 { self.frame_seconds.len() as f64 / total } else { 0.0 }
    }

    /// Counts the changes of what is drawn besides moment and camera.
    pub fn looks_version(&self) -> u64 {
        self.looks_version
    }

    /// Sees all of the scene anew when its first moment is there.
    pub fn fit_camera(&mut self) {
        self.fit = Some(Fit::Scene);
    }

    /// Sees all of a recording when it is there.
    pub(crate) fn fit_recording(&mut self) {
        self.fit = Some(Fit::Recording(self.shown.scene.clone()));
    }

    /// All that is done once per frame before anything is drawn.
    fn tick(&mut self, ctx: &egui::Context) {
        let (now, dt) = ctx.input(|input| (input.time, f64::from(input.stable_dt)));
        let passed = (now - self.now).clamp(0.0, 0.25);
        self.now = now;
        // A window that rested is not a slow one.
        if dt < 0.9 {
            self.frame_seconds.push(dt);
            let excess = self.frame_seconds.len().saturating_sub(FRAMES_OF_RATE);
            self.frame_seconds.drain(..excess);
        }
        self.take_shown();
        self.look_at_disk();
        let news = self.assets.take_decoded();
        self.tell_files(news);
        self.take_exports();
        self.browser.take_found(ctx);
        self.advance_replay(ctx, passed);
        self.refresh_looks();
        self.fit_when_ready();
        if self.messages.age(now) {
            ctx.request_repaint_after_secs(0.5);
        }
        ctx.request_repaint_after_secs(1.0);
        self.window_requests(ctx);
    }

    /// Takes over the newest of the simulation, and tells what there is to tell.
    fn take_shown(&mut self) {
        let shown = self.worker.shown();
        if shown.generation == self.shown.generation {
            return;
        }
        let before = std::mem::replace(&mut self.shown, shown);
        if before.replayed_file != self.shown.replayed_file {
            // The same path may be another file.
            self.forget_assets();
        }
        let new_run = self.shown.run != before.run;
        if new_run {
            self.last_warnings = 0;
            // Colour ranges are fitted anew, which takes looks without those that were fitted before.
            self.looks_of = None;
            self.messages.clear_starting("frozen/");
            self.messages.clear_starting("warning/");
            self.showing = Showing::Live;
            self.hands.keep_within(&before.moment, &self.shown.moment);
        }
        self.note_running(new_run);
        let news: Vec<_> = self.shown.notes.iter().filter(|n| n.serial > self.last_note).cloned().collect();
        for note in news {
            self.last_note = note.serial;
            let severity = if note.kind == NoteKind::Problem { Severity::Error } else { Severity::News };
            self.messages.tell(&note.text, severity, note.text.clone(), None);
        }
        match &self.shown.build_error {
            Some(error) => {
                let text = format!("The scene cannot run as it is written. {error}");
                let is_told = self.messages.get("build").is_some_and(|message| message.text == text);
                // Each build is told once, so that the message can be closed.
                if self.shown.failed_builds != before.failed_builds && !is_told {
                    self.messages.error("build", text);
                }
            }
            None => self.messages.clear("build"),
        }
        self.tell_health(if new_run { &[] } else { &before.bodies });
    }

    /// Remembers which scene runs, and which one was started.
    fn note_running(&mut self, new_run: bool) {
        let Some(running) = self.shown.revision else { return };
        while self.sent.front().is_some_and(|(revision, _)| *revision < running) {
            self.sent.pop_front();
        }
        if let Some(sent) = self.sent.front().filter(|(revision, _)| new_run && *revision == running) {
            self.started = sent.clone();
        }
    }

    /// Tells of bodies that diverge; `before` is how they were before.
    fn tell_health(&mut self, before: &[BodyInfo]) {
        let shown = Arc::clone(&self.shown);
        for body in &shown.bodies {
            let key = format!("frozen/{}", body.name);
            let was_frozen = before.iter().any(|old| old.name == body.name && old.frozen);
            if !body.frozen {
                self.messages.clear(&key);
            } else if !was_frozen {
                let last = shown.warnings.iter().rev().find(|w| w.body == body.name);
                let text = last
                    .map_or_else(|| format!("'{}' diverged and is frozen.", body.name), |w| w.to_string());
                self.messages.tell(&key, Severity::Error, text, Some(Remedy::Thaw));
            }
        }
        if shown.warning_count > self.last_warnings {
            self.last_warnings = shown.warning_count;
            if let Some(warning) = shown.warnings.last()
                && !shown.bodies.iter().any(|body| body.name == warning.body && body.frozen)
            {
                let key = format!("warning/{}", warning.body);
                self.messages.tell(&key, Severity::Warning, warning.to_string(), None);
            }
        }
    }

    /// Looks at the scene file and the files it names now and then.
    fn look_at_disk(&mut self) {
        if self.now < self.next_disk_look {
            return;
        }
        self.next_disk_look = self.now + DISK_SECONDS;
        let name = self.document.title();
        match self.document.poll_disk() {
            FileChange::Same => {}
            FileChange::Changed => {
                let text = format!("{name} was changed by another program.");
                self.messages.tell("disk", Severity::Warning, text, Some(Remedy::Reload));
            }
            FileChange::Vanished => {
                let text = format!("{name} is gone from the disk. The scene is still here and can be saved.");
                self.messages.tell("disk", Severity::Warning, text, Some(Remedy::Save));
            }
        }
        let news = self.assets.poll(&self.shown_files(), &mut self.styles);
        self.tell_files(news);
    }

    fn tell_files(&mut self, news: Vec<FileNews>) {
        for FileNews { file, problem } in news {
            self.assets_version += 1;
            let key = format!("file/{file}");
            match problem {
                Some(problem) => {
                    let text = format!("{problem}\nWhat worked before stays in use.");
                    self.messages.tell(&key, Severity::Error, text, None);
                }
                None => self.messages.clear(&key),
            }
        }
    }

    fn take_exports(&mut self) {
        for finished in self.exports.finished() {
            match finished {
                Ok(text) => self.messages.news(&text, text.clone()),
                Err(problem) => self.messages.error(&problem, problem.clone()),
            }
        }
    }

    fn advance_replay(&mut self, ctx: &egui::Context, passed: f64) {
        if !matches!(self.showing, Showing::Replay { .. }) {
            return;
        }
        let speed = match self.shown.speed {
            Speed::Times(times) => times,
            Speed::Fastest => 4.0,
        };
        let again = self.shown.at_end_rule == crate::worker::AtEnd::Loop;
        let range = self.worker.history().range();
        self.showing.advance(passed, self.shown.fps, speed, again, range);
        if matches!(self.showing, Showing::Replay { running: true, .. }) {
            ctx.request_repaint();
        }
    }

    /// Makes the looks anew when something they depend on has changed, and fits colour maps.
    fn refresh_looks(&mut self) {
        let replayed =
            self.shown.scene.as_ref().filter(|_| self.shown.replaying).map(|s| Arc::as_ptr(s) as usize);
        let scene = match replayed {
            Some(_) => self.shown.scene.clone(),
            None => None,
        };
        let key = |app: &StudioApp| LooksKey {
            revision: app.document.revision(),
            replayed,
            style: app.style_override.clone(),
            cells: app.show_cells,
            painted: app.is_painting().then(|| app.hands.brush.map.clone()),
            assets: app.assets_version,
        };
        if self.looks_of.as_ref() != Some(&key(self)) {
            let scene = scene.as_deref().unwrap_or(self.document.scene());
            let news = self.assets.update(&self.shown_files(), scene, &mut self.styles);
            self.looks = Looks::of_scene(scene, |path| self.assets.image(path));
            if let Some(style) = &self.style_override {
                self.looks.set_style(style);
            }
            if self.show_cells {
                self.looks.show_cells();
            }
            if self.is_painting() {
                self.looks.show_painted();
            }
            self.tell_files(news);
            self.looks_of = Some(key(self));
            self.looks_version += 1;
            self.ranges.clear();
        }
        let moment = self.moment();
        self.keep_extent(&moment);
        if self.ranges.update(&mut self.looks, &self.styles, &moment, self.now) {
            self.looks_version += 1;
        }
    }

    /// Holds ground and shadows still while the cloth moves: they are made anew only when it leaves their box.
    fn keep_extent(&mut self, moment: &Moment) {
        let mut extent =
            self.extent.take().filter(|(run, _)| *run == self.shown.run).map(|(_, extent)| extent);
        match &mut extent {
            Some(extent) => extent.include(moment),
            None => extent = Extent::of([moment]),
        }
        if self.looks.extent != extent {
            self.looks.extent = extent;
            self.looks_version += 1;
        }
        self.extent = extent.map(|extent| (self.shown.run, extent));
    }

    /// Looks at a scene that was just opened: by its own camera, or at all of it.
    fn fit_when_ready(&mut self) {
        let shown = &self.shown;
        let is_here = match &self.fit {
            None => false,
            Some(Fit::Scene) => !shown.replaying && shown.revision == Some(self.document.revision()),
            Some(Fit::Recording(before)) => {
                shown.replaying && before.as_ref().map(Arc::as_ptr) != shown.scene.as_ref().map(Arc::as_ptr)
            }
        };
        if is_here {
            self.fit = None;
            self.camera = opening_camera(self.shown_scene(), &self.shown.moment, self.viewport.aspect());
        }
    }

    /// Title, closing, dropped files.
    fn window_requests(&mut self, ctx: &egui::Context) {
        let mark = if self.document.is_dirty() { " •" } else { "" };
        let title = format!("{}{mark} – Souple studio", self.document.title());
        if title != self.title {
            self.title.clone_from(&title);
            ctx.send_viewport_cmd(egui::ViewportCommand::Title(title));
        }
        let dropped = ctx.input(|input| input.raw.dropped_files.clone());
        for file in dropped {
            self.drop_file(file.path());
        }
        let asks = self.document.is_dirty() || !self.unfinished().is_empty();
        if ctx.input(|input| input.viewport().close_requested()) && !self.closing && asks {
            ctx.send_viewport_cmd(egui::ViewportCommand::CancelClose);
            self.ask_to_quit();
        } else if self.closing {
            ctx.send_viewport_cmd(egui::ViewportCommand::Close);
        }
    }

    /// Everything on the screen.
    fn draw(&mut self, ui: &mut egui::Ui) {
        panels::menu::show(self, ui);
        panels::bottom(self, ui);
        panels::left(self, ui);
        panels::right(self, ui);
        crate::viewport::show(self, ui);
        panels::help::show(self, ui.ctx());
        crate::dialogs::show_dialog(self, ui.ctx());
        crate::dialogs::show_question(self, ui.ctx());
    }

    /// Writes the state for tests, when that was asked for.
    fn report(&mut self, ctx: &egui::Context) {
        if let Some(mut reporter) = self.reporter.take() {
            reporter.write(self, ctx);
            self.reporter = Some(reporter);
        }
    }
}

impl eframe::App for StudioApp {
    fn logic(&mut self, ctx: &egui::Context, _frame: &mut eframe::Frame) {
        self.tick(ctx);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        let size = ui.ctx().content_rect().size();
        // A window without a size shows nothing; laying panels out in it would only stretch them for later.
        if size.x < 1.0 || size.y < 1.0 {
            return;
        }
        crate::dialogs::keyboard(self, ui.ctx());
        self.draw(ui);
        let ctx = ui.ctx().clone();
        self.typing = ctx.text_edit_focused();
        self.report(&ctx);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.panel_fill.to_normalized_gamma_f32()
    }
}

/// The library of scenes around the current folder, or around the program.
fn find_library() -> Option<PathBuf> {
    let here = std::env::current_dir().ok();
    let program = std::env::current_exe().ok().and_then(|path| path.parent().map(Path::to_path_buf));
    [here, program].into_iter().flatten().find_map(|folder| souple_files::library::find_library(&folder))
}

/// Name of a solver for people.
pub fn solver_words(solver: SolverKind) -> String {
    panels::fields::words(souple::solver::solver_name(solver))
}
