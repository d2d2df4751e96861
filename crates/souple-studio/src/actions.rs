//! What the person can do: keys, menus and buttons end here, and so do file dialogs, questions and dropped files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use souple::Command;
use souple_formats::export::safe_file_stem;
use souple_viewer::style::StyleSheet;

use crate::app::StudioApp;
use crate::document::{
    ClothKind, ColliderKind, Document, Dropped, FileKind, MeshUse, Object, Saved, file_kind,
};
use crate::exports::{Drawing, Export, steady};
use crate::keys::{Action, Direction, Held, support_moves};
use crate::panels::files::{FileDialog, Mode};
use crate::panels::messages::{Remedy, Severity};
use crate::playback::Showing;
use crate::tools::{self, Pointer};
use crate::worker::{AtEnd, Request};

/// Endings of scenes.
const SCENES: [&str; 2] = ["toml", "json"];
/// Endings of meshes.
const MESHES: [&str; 4] = ["obj", "ply", "stl", "3ds"];
/// Endings of images.
const IMAGES: [&str; 3] = ["png", "jpg", "jpeg"];
/// Ending of shaders.
const SHADERS: [&str; 1] = ["wgsl"];
/// Ending of recordings.
const RECORDINGS: [&str; 1] = ["souprec"];
/// Ending of states.
const STATES: [&str; 1] = ["soupsnap"];

/// What a file dialog is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Any file that can be opened.
    Open,
    /// A mesh to add.
    Mesh(MeshUse),
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
            Action::Focus => self.camera = self.with_seen(|hands, seen| hands.focus(seen)),
            Action::ShowAll => self.camera = self.with_seen(|_, seen| tools::see_all(seen)),
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
                false => "There is nothing to do for these vertices.",
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
        let names = match self.selected {
            Object::Pin(b, p) => self
                .document
                .scene()
                .bodies
                .get(b)
                .and_then(|body| Some((body.name.clone(), body.pins.get(p)?.name.clone()))),
            _ => None,
        };
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
        let was_empty = self.document.scene().bodies.is_empty() && self.document.scene().colliders.is_empty();
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

    /// Makes a pin set of the selected vertices.
    pub fn add_pin_set(&mut self) {
        let chosen = self.hands.selection.iter().find(|(_, vertices)| !vertices.is_empty());
        let Some((&body, vertices)) = chosen else {
            self.messages.news("selection", "Select vertices first: Shift-click, or Shift-drag a box.");
            return;
        };
        let vertices: Vec<u32> = vertices.iter().copied().collect();
        match self.document.add_pin_set(body, &vertices) {
            Ok(object) => {
                self.document.finish_edit();
                self.select(object);
                self.build();
            }
            Err(problem) => self.messages.error("pin set", problem),
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
            Some(FileKind::Mesh) => self.question = Some(Question::MeshUse(path.to_path_buf())),
            Some(FileKind::Image | FileKind::Shader) => {
                match self.document.drop_file(path, MeshUse::SoftBody, self.selected) {
                    Ok(dropped) => self.after_drop(dropped),
                    Err(problem) => self.messages.error("open", problem),
                }
            }
            None => {
                let text = format!(
                    "{}: this kind of file is not known; scenes end in .toml or .json, meshes in .obj, .ply, .stl or \
                     .3ds, images in .png or .jpg, shaders in .wgsl, recordings in .souprec",
                    path.display()
                );
                self.messages.error("open", text);
            }
        }
    }

    /// A file was dropped on the window.
    pub fn drop_file(&mut self, path: &Path) {
        self.open_file(path);
    }

    fn after_drop(&mut self, dropped: Dropped) {
        self.document.finish_edit();
        match dropped {
            Dropped::Opened => self.fit_camera(),
            Dropped::Added(object) => {
                self.select(object);
                self.build();
            }
            Dropped::Looked(object) => {
                self.style_override = None;
                self.select(object);
            }
            Dropped::Replay(path) => self.replay_recording(&path),
        }
    }

    fn replay_recording(&mut self, path: &Path) {
        self.showing = Showing::Live;
        self.fit_camera();
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
            self.question = Some(Question::Unsaved(after));
        } else {
            self.go_on(after);
        }
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
            After::Quit => self.closing = true,
        }
    }

    /// Saves the scene, after asking where when it has no file.
    pub fn save(&mut self) {
        self.document.finish_edit();
        if self.document.path().is_none() {
            return self.ask_file(Purpose::SaveScene);
        }
        if !self.document.is_dirty() {
            // Written again it would lose its comments for nothing.
            return self.messages.news("saved", "Nothing has changed since it was saved.");
        }
        self.write_scene(None);
    }

    /// Writes the file of the scene, after a question when that would lose comments, and then goes on.
    fn write_scene(&mut self, after: Option<After>) {
        if self.document.path().is_some_and(has_comments) {
            self.question = Some(Question::Comments(after));
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

    /// Begins a recording, or asks where to keep the one that is being made.
    pub fn record(&mut self) {
        if self.shown.recording {
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
        let all: Vec<&str> =
            [&SCENES[..], &RECORDINGS, &MESHES, &IMAGES, &SHADERS].into_iter().flatten().copied().collect();
        let (mode, title, name, ends): (Mode, &str, String, Vec<&str>) = match purpose {
            Purpose::Open => (Mode::Open, "Open a scene, mesh or recording", String::new(), all),
            Purpose::Mesh(MeshUse::SoftBody) => {
                (Mode::Open, "Mesh for a soft body", String::new(), MESHES.to_vec())
            }
            Purpose::Mesh(MeshUse::BoxCollider) => {
                (Mode::Open, "Mesh for a box collider", String::new(), MESHES.to_vec())
            }
            Purpose::Texture(_) => (Mode::Open, "Image", String::new(), IMAGES.to_vec()),
            Purpose::Shader(_) => (Mode::Open, "Shader", String::new(), SHADERS.to_vec()),
            Purpose::SaveScene | Purpose::SaveSceneThen => {
                (Mode::Save, "Save the scene", named("toml"), vec!["toml"])
            }
            Purpose::SaveRecording => {
                (Mode::Save, "Save the recording", named("souprec"), RECORDINGS.to_vec())
            }
            Purpose::SavePicture => (Mode::Save, "Save a picture", named("png"), vec!["png"]),
            Purpose::SaveAnimation => {
                (Mode::Save, "Save the animation", named("glb"), vec!["glb", "gif", "png"])
            }
            Purpose::SaveGraph => (Mode::Save, "Export the graph (GraphViz)", named("dot"), vec!["dot"]),
            Purpose::SaveState => (Mode::Save, "Save the state", named("soupsnap"), STATES.to_vec()),
            Purpose::OpenState => (Mode::Open, "Go back to a state", String::new(), STATES.to_vec()),
            Purpose::Library => (Mode::Folder, "Folder of scenes", String::new(), vec![]),
        };
        let files = FileDialog::new(mode, title, &self.folder, &name, &ends);
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
            Purpose::Open => self.open_file(path),
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
                let saved = self.document.save_as(path);
                self.tell_saved(saved);
            }
            Purpose::SaveSceneThen => {
                let saved = self.document.save_as(path);
                let waiting = self.waiting.take();
                if self.tell_saved(saved)
                    && let Some(after) = waiting
                {
                    self.go_on(after);
                }
            }
            Purpose::SaveRecording => self.worker.send(Request::StopRecording(path.to_path_buf())),
            Purpose::SavePicture => self.save_picture(path),
            Purpose::SaveAnimation => self.save_animation(path),
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
        let export = Export::Picture { moment: self.moment(), drawing: self.drawing() };
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
        // The worker has compiled the scene already, unless it was changed just now or cannot run.
        let graph = match self.shown.revision == Some(self.document.revision()) {
            true => Ok(self.shown.graph.to_dot()),
            false => self.document.compile().map(|c| souple::graph::scene_graph(&c.scene, &c.model).to_dot()),
        };
        let written = graph
            .and_then(|dot| souple_files::disk::write(path, dot.as_bytes()).map_err(|error| error.message()));
        match written {
            Ok(()) => self.messages.news("graph", format!("Wrote {}; `dot -Tsvg` draws it.", path.display())),
            Err(problem) => self.messages.error("graph", problem),
        }
    }

    /// Does what a message offers.
    pub fn apply_remedy(&mut self, remedy: Remedy) {
        match remedy {
            Remedy::Restart => self.start_scene(self.shown.playing),
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
        self.write_scene(Some(after));
    }
}

/// Whether a scene file has comments. A `#` inside a text counts, too: the question is then asked for nothing.
fn has_comments(path: &Path) -> bool {
    let limit = souple_formats::scene::MAX_SCENE_BYTES;
    let text = souple_files::disk::read(path, limit, "scene").unwrap_or_default();
    String::from_utf8_lossy(&text)
        .lines()
        .any(|line| line.trim_start().starts_with('#') || line.contains(" #"))
}
