//! What the person can do: keys, menus and buttons end here, and so do file dialogs, questions and dropped files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use souple::Command;
use souple::scene::{Scene, Shape};
use souple_files::character_scene::may_be_character;
use souple_formats::export::safe_file_stem;
use souple_viewer::style::StyleSheet;

use crate::app::StudioApp;
use crate::characters::is_empty;
use crate::document::{
    ClothKind, ColliderKind, Document, FileKind, Mechanics, MeshUse, Object, Saved, file_kind, unknown_kind,
};
use crate::exports::{Drawing, Export, steady};
use crate::keys::{Action, Direction, Held, support_moves};
use crate::panels::files::{FileDialog, Mode};
use crate::panels::messages::{Remedy, Severity};
use crate::playback::Showing;
use crate::sight::see_all;
use crate::tools::Pointer;
use crate::worker::{AtEnd, Request};

/// Ending of states.
const STATES: [&str; 1] = ["soupsnap"];

/// What a file dialog is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Any file that can be opened.
    Open,
    /// A mesh to add.
    Mesh(MeshUse),
    /// A character to add.
    Character,
    /// An image for the look of an object.
    Texture(Object),
    /// A shader for the look of an object.
    Shader(Object),
    /// The scene.
    SaveScene,
    /// The scene, and then what was interrupted by the question about it.
    SaveSceneThen,
    /// The recording that is being made.
    SaveRecording,
    /// A picture.
    SavePicture,
    /// An animation.
    SaveAnimation,
    /// A character, baked.
    Bake(usize),
    /// The graph of the scene.
    SaveGraph,
    /// The state of the simulation.
    SaveState,
    /// A state to go back to.
    OpenState,
    /// The folder of the library.
    Library,
}

/// An open file dialog.
#[derive(Clone, Debug)]
pub struct Dialog {
    /// What it is for.
    pub purpose: Purpose,
    /// The dialog itself.
    pub files: FileDialog,
}

/// What waits for an answer about unsaved changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum After {
    /// Begin an empty scene.
    New,
    /// Open a scene.
    Open(PathBuf),
    /// Close the window.
    Quit,
}

/// A question to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The scene has changes that are not on the disk.
    Unsaved(After),
    /// What a mesh is to become.
    MeshUse(PathBuf),
    /// The file has comments, which are lost when it is written anew; then what was asked for before.
    Comments(Option<After>),
    /// Another program wrote the file, which would be lost; then what was asked for before.
    Overtaken(Option<After>),
    /// The window is to close, and something is not finished.
    Unfinished,
}

impl StudioApp {
    /// Does what a key or a menu asks for. `held` are the keys that choose supports.
    pub fn perform(&mut self, action: Action, held: Held) {
        match action {
            Action::PlayPause => self.play_or_pause(),
            Action::Step => {
                self.showing = Showing::Live;
                self.worker.send(Request::Step);
            }
            Action::Reset => self.reset(),
            Action::Loop => self.toggle_loop(),
            Action::Wireframe => self.toggle_wireframe(),
            Action::Cells => self.show_cells = !self.show_cells,
            Action::Focus => self.camera = self.with_seen(|hands, seen| hands.focus(seen)),
            Action::ShowAll => self.camera = self.with_seen(|_, seen| see_all(seen)),
            Action::View(preset) => self.camera.look_from(preset),
            Action::Style(k) => {
                if let Some(name) = StyleSheet::built_in_names().nth(k) {
                    self.set_style(Some(name));
                }
            }
            Action::Tool(tool) => {
                let reaction = self.hands.set_tool(tool);
                self.react(reaction);
            }
            Action::PinSelection => self.pin_or_free(true),
            Action::UnpinSelection => self.pin_or_free(false),
            Action::SelectAll => self.select_all(),
            Action::Remove => self.remove_selected(),
            Action::Undo => self.undo_or_redo(true),
            Action::Redo => self.undo_or_redo(false),
            Action::Save => self.save(),
            Action::SaveAs => self.ask_file(Purpose::SaveScene),
            Action::Open => self.ask_file(Purpose::Open),
            Action::New => self.unless_unsaved(After::New),
            Action::Clear => self.clear(),
            Action::Help => self.layout.help = !self.layout.help,
            Action::MoveSupport(direction) => self.move_supports(held, direction),
        }
    }

    fn play_or_pause(&mut self) {
        match &mut self.showing {
            Showing::Replay { running, step } => {
                let at_end = self.worker.history().range().is_some_and(|(_, last)| *step >= last as f64);
                if at_end && !*running {
                    self.showing = Showing::replay(&self.worker.history());
                } else {
                    *running = !*running;
                }
            }
            Showing::Past { .. } => {
                self.showing = Showing::Live;
                self.worker.send(Request::Play);
            }
            Showing::Live if self.shown.playing => self.worker.send(Request::Pause),
            Showing::Live => {
                self.send_pending();
                self.worker.send(Request::Play);
            }
        }
    }

    /// Plays the past again, in the look of now.
    pub fn replay_past(&mut self) {
        self.worker.send(Request::Pause);
        self.showing = Showing::replay(&self.worker.history());
    }

    fn toggle_loop(&mut self) {
        let rule = if self.shown.at_end_rule == AtEnd::Loop { AtEnd::Stop } else { AtEnd::Loop };
        self.worker.send(Request::SetAtEnd(rule));
    }

    /// Shows all bodies in one style, or each in its own.
    pub fn set_style(&mut self, style: Option<&str>) {
        self.style_override = style.map(Arc::from);
    }

    fn toggle_wireframe(&mut self) {
        if self.style_override.as_deref() == Some("wireframe") {
            self.style_override = self.style_before.take();
        } else {
            self.style_before = self.style_override.take();
            self.style_override = Some("wireframe".into());
        }
    }

    fn pin_or_free(&mut self, pin: bool) {
        let commands =
            self.with_seen(
                |hands, seen| {
                    if pin { hands.pin_selection(seen) } else { hands.unpin_selection(seen) }
                },
            );
        if commands.is_empty() {
            let text = match self.hands.selection.values().all(|v| v.is_empty()) {
                true => "Select vertices first: Shift-click, or Shift-drag a box.",
                false => "The past and recordings cannot be touched.",
            };
            self.messages.news("selection", text);
        } else {
            self.worker.send(Request::Do(commands));
        }
    }

    fn select_all(&mut self) {
        let moment = self.moment();
        let only = if let Object::Body(b) = self.selected { Some(b) } else { None };
        self.hands.select_all(&moment, only);
    }

    fn remove_selected(&mut self) {
        if self.shown.replaying {
            self.messages.news("remove", "A recording is played; leave it to change the scene.");
            return;
        }
        let Some(name) = self.document.name_of(self.selected).filter(|_| self.selected != Object::Scene)
        else {
            self.messages.news("remove", "Select an object first, in the tree or in the picture.");
            return;
        };
        if self.document.remove(self.selected) {
            self.document.finish_edit();
            self.selected = Object::Scene;
            self.messages.news("remove", format!("Removed {name}. Undo brings it back."));
            self.build();
        }
    }

    fn undo_or_redo(&mut self, undo: bool) {
        self.document.finish_edit();
        let (done, verb) =
            if undo { (self.document.undo(), "Undid") } else { (self.document.redo(), "Did again") };
        match done {
            Some(key) => {
                self.messages.news("undo", format!("{verb}: {key}"));
                self.select(self.selected);
                self.build();
            }
            None => {
                self.messages.news("undo", if undo { "Nothing to undo." } else { "Nothing to do again." })
            }
        }
    }

    fn clear(&mut self) {
        if self.hands.is_dragging() {
            let reaction = self.with_seen(|hands, seen| hands.handle(Pointer::Cancel, seen));
            self.react(reaction);
        } else if !self.hands.selection.is_empty() {
            self.hands.selection.clear();
        } else if self.showing != Showing::Live {
            self.showing = Showing::Live;
        } else {
            self.selected = Object::Scene;
        }
    }

    fn move_supports(&mut self, held: Held, direction: Direction) {
        if !self.is_live() {
            return;
        }
        let names = |scene: &Scene| match self.selected {
            Object::Pin(b, p) => {
                let body = scene.bodies.get(b)?;
                Some((body.name.clone(), body.pins.get(p)?.name.clone()))
            }
            _ => None,
        };
        // One that was renamed since the start still goes by its old name.
        let runs = |(body, pin): &(String, String)| {
            self.shown.supports.iter().any(|s| s.body == *body && s.pin == *pin)
        };
        let names =
            names(self.document.scene()).filter(runs).or_else(|| self.shown.scene.as_deref().and_then(names));
        let selected = names.as_ref().map(|(body, pin)| (body.as_str(), pin.as_str()));
        let commands = support_moves(&self.shown.supports, selected, held, direction);
        if commands.is_empty() {
            self.messages.news("supports", "There is no pin set to move; add one to a body first.");
        } else {
            self.worker.send(Request::Do(commands));
        }
    }

    /// Adds something and selects it.
    pub fn add(&mut self, add: impl FnOnce(&mut Document) -> Object) {
        let was_empty = is_empty(self.document.scene());
        let object = add(&mut self.document);
        self.document.finish_edit();
        self.select(object);
        if was_empty {
            self.fit_camera();
        }
        self.build();
    }

    /// Adds a cloth.
    pub fn add_cloth(&mut self, kind: ClothKind) {
        self.add(|document| document.add_cloth(kind));
    }

    /// Adds a collider.
    pub fn add_collider(&mut self, kind: ColliderKind) {
        self.add(|document| document.add_collider(kind));
    }

    /// Adds a link between the selected body, or the first one, and the one next to it; or says why not.
    pub fn add_link(&mut self) {
        let added = self.document.add_link(self.selected);
        self.after_change(added);
    }

    /// Gives a body other mechanics, or says why not.
    pub fn set_mechanics(&mut self, body: usize, mechanics: Mechanics) {
        let changed = self.document.set_mechanics(body, mechanics).map(|()| Object::Body(body));
        self.after_change(changed);
    }

    /// Whether a body has a surface that cells can be put around.
    pub fn can_embed(&self, body: usize) -> bool {
        let bodies = &self.document.scene().bodies;
        bodies.get(body).is_some_and(|body| {
            let is_rope = matches!(body.shape, Shape::Rope(_) | Shape::Strands(_));
            !is_rope && body.embed.is_none() && !self.document.has_elements(&body.shape)
        })
    }

    /// Makes a pin set of the selected vertices of each body.
    pub fn add_pin_sets(&mut self) {
        let bodies: Vec<usize> = self.hands.selection.keys().copied().collect();
        if bodies.is_empty() {
            self.messages.news("selection", "Select vertices first: Shift-click, or Shift-drag a box.");
        }
        bodies.into_iter().for_each(|body| self.add_pin_set(body));
    }

    /// Makes a pin set of the selected vertices of a body.
    pub fn add_pin_set(&mut self, body: usize) {
        let chosen = self.hands.selection.get(&body).into_iter().flatten();
        let vertices: Vec<u32> = chosen.copied().collect();
        let added = self.document.add_pin_set(body, &vertices);
        self.after_change(added);
    }

    /// Shows what was added or changed, or says why it was not.
    pub fn after_change(&mut self, added: Result<Object, String>) {
        match added {
            Ok(object) => {
                self.document.finish_edit();
                self.select(object);
                self.build();
            }
            Err(problem) => self.messages.error("change", problem),
        }
    }

    /// Adds a mesh file.
    pub fn add_mesh(&mut self, path: &Path, usage: MeshUse) {
        match self.document.add_mesh(path, usage) {
            Ok(object) => {
                self.document.finish_edit();
                self.select(object);
                self.fit_camera();
                self.build();
            }
            Err(problem) => self.messages.error("mesh", problem),
        }
    }

    /// Opens a file of any kind, after a question when something would be lost.
    pub fn open_file(&mut self, path: &Path) {
        match file_kind(path) {
            Some(FileKind::Scene) => self.unless_unsaved(After::Open(path.to_path_buf())),
            Some(FileKind::Recording) => self.replay_recording(path),
            Some(FileKind::Mesh) if may_be_character(path) && self.open_character(path) => {}
            Some(FileKind::Mesh) => self.ask(Question::MeshUse(path.to_path_buf())),
            Some(FileKind::Image | FileKind::Shader) => {
                match self.document.set_look_file(path, self.selected) {
                    Ok(object) => self.after_look(object, Ok(())),
                    Err(problem) => self.messages.error("open", problem),
                }
            }
            None => self.messages.error("open", unknown_kind(path)),
        }
    }

    /// A file was dropped on the window.
    pub fn drop_file(&mut self, path: &Path) {
        self.open_file(path);
    }

    fn replay_recording(&mut self, path: &Path) {
        self.showing = Showing::Live;
        self.fit_recording();
        self.worker.send(Request::Replay(path.to_path_buf()));
    }

    /// Leaves a recording and goes back to the scene.
    pub fn leave_recording(&mut self) {
        self.fit_camera();
        self.start_scene(false);
    }

    fn open_now(&mut self, path: &Path) {
        match Document::open(path) {
            Ok(document) => self.replace_document(document, true),
            Err(error) => self.messages.error("open", error.to_string()),
        }
    }

    /// Does something that forgets the scene, after a question when it has changes that are not saved.
    pub fn unless_unsaved(&mut self, after: After) {
        if self.document.is_dirty() {
            self.ask(Question::Unsaved(after));
        } else {
            self.go_on(after);
        }
    }

    /// Asks something, after what is being asked. The same is not asked twice.
    pub fn ask(&mut self, question: Question) {
        if self.question.is_none() {
            self.question = Some(question);
        } else if self.question.as_ref() != Some(&question) && !self.questions.contains(&question) {
            self.questions.push_back(question);
        }
    }

    /// Asks what waits to be asked, when nothing else is.
    pub fn ask_next(&mut self) {
        if self.question.is_some() || self.dialog.is_some() {
            return;
        }
        match self.questions.pop_front() {
            // The answer before may have saved it, or opened another scene.
            Some(Question::Unsaved(after)) => self.unless_unsaved(after),
            next => self.question = next,
        }
    }

    /// What would be lost if the window closed now, besides changes of the scene. Another scene loses none of it: a
    /// recording that ends waits to be saved.
    pub fn unfinished(&self) -> Vec<String> {
        let recording = match (self.shown.recording, self.shown.recorded) {
            (true, _) => Some("A recording is being made.".to_owned()),
            (false, true) => Some("A recording is not saved.".to_owned()),
            (false, false) => None,
        };
        let exports = self.exports.progress().map(|(name, _)| format!("{name} is being written."));
        recording.into_iter().chain(exports).collect()
    }

    /// Asks to close the window.
    pub fn ask_to_quit(&mut self) {
        self.unless_unsaved(After::Quit);
    }

    /// Does what waited for an answer.
    pub fn go_on(&mut self, after: After) {
        match after {
            After::New => self.replace_document(Document::new(), false),
            After::Open(path) => self.open_now(&path),
            After::Quit if !self.unfinished().is_empty() => self.ask(Question::Unfinished),
            After::Quit => self.closing = true,
        }
    }

    /// Saves the scene, after asking where when it has no file.
    pub fn save(&mut self) {
        self.document.finish_edit();
        if self.document.path().is_none() {
            return self.ask_file(Purpose::SaveScene);
        }
        // It may have been written by another program just now.
        self.document.poll_disk();
        if !self.document.is_dirty() && !self.document.is_overtaken() {
            // Written again it would lose its comments for nothing.
            return self.messages.news("saved", "Nothing has changed since it was saved.");
        }
        self.write_scene(None);
    }

    /// Writes the file of the scene, after a question when that would lose something, and then goes on.
    fn write_scene(&mut self, after: Option<After>) {
        if self.document.is_overtaken() {
            self.ask(Question::Overtaken(after));
        } else if self.document.path().is_some_and(has_comments) {
            self.ask(Question::Comments(after));
        } else {
            self.write_scene_now(after);
        }
    }

    /// Writes the file of the scene, and then goes on.
    pub fn write_scene_now(&mut self, after: Option<After>) {
        let saved = self.document.save();
        if self.tell_saved(saved)
            && let Some(after) = after
        {
            self.go_on(after);
        }
    }

    fn tell_saved(&mut self, saved: Result<Saved, souple_files::FileError>) -> bool {
        match saved {
            Ok(saved) => {
                let path = self.document.path().map_or_else(String::new, |path| path.display().to_string());
                let mut text = format!("Saved {path}");
                if !saved.copied.is_empty() {
                    let names = saved.copied.iter().map(|p| p.display().to_string()).collect::<Vec<_>>();
                    text += &format!(", with copies of what it names: {}", names.join(", "));
                }
                self.rename_files(&saved.renamed);
                self.messages.clear("disk");
                self.messages.news("saved", text);
                if !saved.missing.is_empty() {
                    let text =
                        format!("The scene names files that are not there: {}", saved.missing.join(", "));
                    self.messages.tell("missing", Severity::Warning, text, None);
                }
                true
            }
            Err(error) => {
                self.messages.error("saved", error.to_string());
                false
            }
        }
    }

    /// Whether there is anything to record, or a recording to save.
    pub fn can_record(&self) -> bool {
        !self.shown.replaying || self.shown.recorded
    }

    /// Begins a recording, or asks where to keep the one that is being made or that ended.
    pub fn record(&mut self) {
        if self.shown.recording || self.shown.recorded {
            // Over at once: what happens behind the dialog is not part of it.
            self.worker.send(Request::EndRecording);
            self.ask_file(Purpose::SaveRecording);
        } else {
            self.send_pending();
            self.worker.send(Request::StartRecording);
        }
    }

    /// Opens a file dialog.
    pub fn ask_file(&mut self, purpose: Purpose) {
        let stem = safe_file_stem(self.document.title().trim_end_matches(".toml").trim_end_matches(".json"));
        let named = |end: &str| format!("{stem}.{end}");
        let all: Vec<&str> = FileKind::ALL.iter().flat_map(|kind| kind.endings()).copied().collect();
        let meshes = FileKind::Mesh.endings().to_vec();
        let (mode, title, name, ends): (Mode, &str, String, Vec<&str>) = match purpose {
            Purpose::Open => (Mode::Open, "Open a scene, mesh or recording", String::new(), all),
            Purpose::Mesh(MeshUse::SoftBody) => (Mode::Open, "Mesh for a soft body", String::new(), meshes),
            Purpose::Mesh(MeshUse::Collider) => (Mode::Open, "Mesh for a collider", String::new(), meshes),
            Purpose::Character => (Mode::Open, "Character", String::new(), vec!["glb", "gltf"]),
            Purpose::Texture(_) => (Mode::Open, "Image", String::new(), FileKind::Image.endings().to_vec()),
            Purpose::Shader(_) => (Mode::Open, "Shader", String::new(), FileKind::Shader.endings().to_vec()),
            Purpose::SaveScene | Purpose::SaveSceneThen => {
                (Mode::Save, "Save the scene", named("toml"), vec!["toml"])
            }
            Purpose::SaveRecording => {
                (Mode::Save, "Save the recording", named("souprec"), FileKind::Recording.endings().to_vec())
            }
            Purpose::SavePicture => (Mode::Save, "Save a picture", named("png"), vec!["png"]),
            Purpose::SaveAnimation => {
                (Mode::Save, "Save the animation", named("glb"), vec!["glb", "gif", "png"])
            }
            Purpose::Bake(_) => {
                (Mode::Save, "Bake the character", named("glb"), souple_files::bake::ENDINGS.to_vec())
            }
            Purpose::SaveGraph => (Mode::Save, "Export the graph (GraphViz)", named("dot"), vec!["dot"]),
            Purpose::SaveState => (Mode::Save, "Save the state", named("soupsnap"), STATES.to_vec()),
            Purpose::OpenState => (Mode::Open, "Go back to a state", String::new(), STATES.to_vec()),
            Purpose::Library => (Mode::Folder, "Folder of scenes", String::new(), vec![]),
        };
        let mut files = FileDialog::new(mode, title, &self.folder, &name, &ends);
        files.is_series = purpose == Purpose::SaveAnimation;
        self.dialog = Some(Dialog { purpose, files });
    }

    /// A file was chosen in the dialog.
    pub fn file_chosen(&mut self, purpose: Purpose, path: &Path) {
        if purpose != Purpose::Library
            && let Some(folder) = path.parent()
        {
            self.folder = folder.to_path_buf();
        }
        match purpose {
            Purpose::Open | Purpose::Character => self.open_file(path),
            Purpose::Mesh(usage) => self.add_mesh(path, usage),
            Purpose::Texture(object) => {
                let done = self.document.set_texture(object, path);
                self.after_look(object, done);
            }
            Purpose::Shader(object) => {
                let done = self.document.set_shader(object, path);
                self.after_look(object, done);
            }
            Purpose::SaveScene => {
                self.save_scene_as(path);
            }
            Purpose::SaveSceneThen => {
                let waiting = self.waiting.take();
                if self.save_scene_as(path)
                    && let Some(after) = waiting
                {
                    self.go_on(after);
                }
            }
            Purpose::SaveRecording => self.worker.send(Request::StopRecording(path.to_path_buf())),
            Purpose::SavePicture => self.save_picture(path),
            Purpose::SaveAnimation => self.save_animation(path),
            Purpose::Bake(character) => {
                let (job, fps) = (self.document.job(), self.bake_fps);
                self.start_export(path, Export::Bake { job, character, fps });
            }
            Purpose::SaveGraph => self.save_graph(path),
            Purpose::SaveState => self.worker.send(Request::SaveSnapshot(Some(path.to_path_buf()))),
            Purpose::OpenState => {
                self.showing = Showing::Live;
                self.worker.send(Request::Restore(Some(path.to_path_buf())));
            }
            Purpose::Library => self.browser.look_into(path, self.options.thumbnails, {
                let wake = Arc::clone(&self.wake);
                move || wake()
            }),
        }
    }

    fn save_scene_as(&mut self, path: &Path) -> bool {
        let folder = self.document.path().and_then(Path::parent).map(Path::to_path_buf);
        let saved = self.document.save_as(path);
        if folder.as_deref() != self.document.path().and_then(Path::parent) {
            // In another folder the same path is another file.
            self.forget_assets();
        }
        self.tell_saved(saved)
    }

    fn after_look(&mut self, object: Object, done: Result<(), String>) {
        match done {
            Ok(()) => {
                self.document.finish_edit();
                self.style_override = None;
                self.select(object);
            }
            Err(problem) => self.messages.error("look", problem),
        }
    }

    fn drawing(&self) -> Box<Drawing> {
        let (looks, styles) = (self.looks.clone(), self.styles.clone());
        let (camera, size, renderer) = (self.camera, self.picture_size, self.options.renderer);
        Box::new(Drawing { looks, styles, camera, size, renderer })
    }

    /// Saves what is seen as a picture.
    pub fn save_picture(&mut self, path: &Path) {
        let export = Export::Picture { moment: self.painted_moment(), drawing: self.drawing() };
        self.start_export(path, export);
    }

    /// Saves what was shown so far: GLB, GIF or numbered PNG files.
    pub fn save_animation(&mut self, path: &Path) {
        let (moments, fps) = {
            let history = self.worker.history();
            steady(history.moments(), history.stride(), self.shown.fps)
        };
        let export = Export::Animation { moments, fps, drawing: self.drawing() };
        self.start_export(path, export);
    }

    fn start_export(&mut self, path: &Path, export: Export) {
        let wake = Arc::clone(&self.wake);
        self.exports.start(path, export, move || wake());
        self.messages.news("export", format!("Writing {} …", path.display()));
    }

    /// Writes the graph of the scene as text for GraphViz.
    pub fn save_graph(&mut self, path: &Path) {
        let export = Export::Graph { job: self.document.job() };
        self.start_export(path, export);
    }

    /// Does what a message offers.
    pub fn apply_remedy(&mut self, remedy: Remedy) {
        match remedy {
            Remedy::Reload => {
                self.messages.clear("disk");
                match self.document.reload() {
                    Ok(()) => self.build(),
                    Err(error) => self.messages.error("open", error.to_string()),
                }
            }
            Remedy::Save => self.save(),
            Remedy::Thaw => {
                let frozen = self.shown.bodies.iter().filter(|body| body.frozen);
                let commands: Vec<Command> = frozen.map(|b| Command::Thaw { body: b.name.clone() }).collect();
                self.worker.send(Request::Do(commands));
            }
        }
    }
}

impl StudioApp {
    /// Saves the scene and then goes on; asks where first when it has no file.
    pub fn save_then(&mut self, after: After) {
        if self.document.path().is_none() {
            self.ask_file(Purpose::SaveSceneThen);
            self.waiting = Some(after);
            return;
        }
        self.document.poll_disk();
        self.write_scene(Some(after));
    }
}

/// Whether a scene file has comments. A `#` inside a text counts, too: the question is then asked for nothing. JSON has
/// no comments.
fn has_comments(path: &Path) -> bool {
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
        return false;
    }
    let limit = souple_formats::scene::MAX_SCENE_BYTES;
    let text = souple_files::disk::read(path, limit, "scene").unwrap_or_default();
    text.contains(&b'#')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_wherever_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let has = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            has_comments(&path)
        };
        for text in ["# a\na = 1", "a = 1 # c", "a = 1# c", "a = 1\t# c"] {
            assert!(has("a.toml", text), "{text}");
        }
        assert!(!has("a.toml", "a = 1\n") && !has("a.json", "{\"name\": \"#1\"}"));
        assert!(!has_comments(&folder.path().join("none.toml")));
    }
}
