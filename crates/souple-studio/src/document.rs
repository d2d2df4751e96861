//! The scene that is edited: as it was written, with undo, and its file on the disk.
//!
//! Mesh files, images and shaders stay paths. Every change goes through [`Document::edit`], which keeps the whole scene
//! before it: undo and redo cannot forget a part. Edits with one key that follow each other (a slider that is dragged)
//! are one step until [`Document::finish_edit`]. Ways to build a scene without a text editor (ESSI-02) are in
//! `building.rs`; files are written whole or not at all (`souple-files`).
//!
//! Saving writes every setting; comments and layout of a file that a person wrote are not kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use souple::scene::{ColliderShape, InlineMesh, RigMesh, RigSource, Scene, Shape};
pub use souple_files::FileChange;
use souple_files::{FileError, FileWatch, disk, read_scene_file, scene_for_recording, size};
use souple_formats::import::Limits;
use souple_formats::scene::{MAX_SCENE_BYTES, write_scene_toml};

pub use crate::building::{ClothKind, ColliderKind, Mechanics, MeshUse, Object};
pub use crate::file_kinds::{FileKind, file_kind, unknown_kind};
pub use crate::scene_files::{BuildJob, Compiled};
use crate::scene_files::{SceneFiles, for_each_path};

/// Most steps that can be undone.
const MAX_STEPS: usize = 256;
/// Most memory that steps take, bytes: scenes with large meshes inside have fewer of them.
const MAX_STEP_BYTES: usize = 256 << 20;
/// The last revision that was given out: no two scenes share one, also not of two documents.
static LAST_REVISION: AtomicU64 = AtomicU64::new(0);

fn next_revision() -> u64 {
    LAST_REVISION.fetch_add(1, Ordering::Relaxed) + 1
}

/// A scene on the other side of a change.
#[derive(Clone, Debug)]
struct Step {
    key: String,
    scene: Arc<Scene>,
}

/// What saving did besides writing the scene.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// Files that were copied next to the scene, because it names them and they lay elsewhere.
    pub copied: Vec<PathBuf>,
    /// Files that the scene names and that could not be found; their paths are kept as they are written.
    pub missing: Vec<String>,
    /// Paths that are written differently now, by what they were.
    pub renamed: BTreeMap<String, String>,
}

/// The scene that is edited.
#[derive(Debug)]
pub struct Document {
    pub(crate) scene: Arc<Scene>,
    pub(crate) files: SceneFiles,
    path: Option<PathBuf>,
    /// The scene as it is on the disk.
    saved: Option<Arc<Scene>>,
    is_dirty: bool,
    watch: Option<FileWatch>,
    /// Another program wrote the file since it was read or written here.
    is_overtaken: bool,
    undo: Vec<Step>,
    redo: Vec<Step>,
    /// Whether the last step may take in more edits with its key.
    is_open: bool,
    first_revision: u64,
    revision: u64,
}

impl Default for Document {
    fn default() -> Self {
        Document::new()
    }
}

impl Document {
    /// An empty scene without a file.
    pub fn new() -> Document {
        let scene = Arc::new(Scene::default());
        Document { saved: Some(Arc::clone(&scene)), is_dirty: false, ..Document::unsaved(scene) }
    }

    fn unsaved(scene: Arc<Scene>) -> Document {
        let revision = next_revision();
        Document {
            scene,
            files: SceneFiles::default(),
            path: None,
            saved: None,
            is_dirty: true,
            watch: None,
            is_overtaken: false,
            undo: Vec::new(),
            redo: Vec::new(),
            is_open: false,
            first_revision: revision,
            revision,
        }
    }

    /// Reads a scene file, TOML or JSON.
    pub fn open(path: &Path) -> Result<Document, FileError> {
        // Watched from before it is read: a change in between is told.
        let watch = FileWatch::new(path);
        let scene = Arc::new(read_scene_file(path)?.scene);
        Ok(Document {
            saved: Some(Arc::clone(&scene)),
            is_dirty: false,
            path: Some(path.to_path_buf()),
            watch: Some(watch),
            files: SceneFiles::of_scene(path),
            ..Document::unsaved(scene)
        })
    }

    /// Reads its file again, as one step that can be undone. Does nothing without a file.
    pub fn reload(&mut self) -> Result<(), FileError> {
        let Some(path) = self.path.clone() else { return Ok(()) };
        let watch = FileWatch::new(&path);
        let scene = read_scene_file(&path)?.scene;
        self.step("reload", |old| *old = scene);
        self.saved = Some(Arc::clone(&self.scene));
        (self.is_dirty, self.is_overtaken) = (false, false);
        self.watch = Some(watch);
        Ok(())
    }

    // ---- what a caller reads ----

    /// The scene as it was written: mesh files are paths.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The same, to be kept.
    pub fn shared_scene(&self) -> Arc<Scene> {
        Arc::clone(&self.scene)
    }

    /// Changes whenever the scene does; no other scene has it, also not of another document.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Whether a revision is one of this document, now or before.
    pub fn has_revision(&self, revision: u64) -> bool {
        (self.first_revision..=self.revision).contains(&revision)
    }

    /// Its file.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Name for the title bar: of the file, else of the scene.
    pub fn title(&self) -> String {
        let file = self.path.as_ref().and_then(|path| path.file_name());
        match file {
            Some(name) => name.to_string_lossy().into_owned(),
            None if !self.scene.name.is_empty() => self.scene.name.clone(),
            None => "untitled".to_owned(),
        }
    }

    /// Whether there is anything that is not on the disk.
    pub fn is_dirty(&self) -> bool {
        self.is_dirty
    }

    /// Whether another program wrote its file since it was read or written here, as far as [`Document::poll_disk`] saw.
    pub fn is_overtaken(&self) -> bool {
        self.is_overtaken
    }

    // ---- changes ----

    /// Changes the scene; says whether anything is different now. Edits with the same key that follow each other without
    /// [`Document::finish_edit`] are one step of undo. The key is what people read in the menu, as in "stiffness of
    /// 'cloth'".
    pub fn edit(&mut self, key: &str, change: impl FnOnce(&mut Scene)) -> bool {
        let mut scene = (*self.scene).clone();
        change(&mut scene);
        if scene == *self.scene {
            return false;
        }
        let goes_on = self.is_open && self.undo.last().is_some_and(|step| step.key == key);
        if !goes_on {
            self.close_step();
        }
        let before = std::mem::replace(&mut self.scene, Arc::new(scene));
        if !goes_on {
            self.undo.push(Step { key: key.to_owned(), scene: before });
            self.is_open = true;
            forget_oldest(&mut self.undo);
        }
        self.redo.clear();
        self.changed();
        true
    }

    /// Ends a drag: the next edit is a step of its own. A drag that came back to where it began leaves no step.
    pub fn finish_edit(&mut self) {
        self.close_step();
    }

    fn close_step(&mut self) {
        if self.is_open && self.undo.last().is_some_and(|step| *step.scene == *self.scene) {
            self.undo.pop();
        }
        self.is_open = false;
    }

    /// One change that is a step of its own.
    pub(crate) fn step(&mut self, key: &str, change: impl FnOnce(&mut Scene)) -> bool {
        self.finish_edit();
        let changed = self.edit(key, change);
        self.finish_edit();
        changed
    }

    fn changed(&mut self) {
        self.revision = next_revision();
        self.is_dirty = self.saved.as_ref().is_none_or(|saved| **saved != *self.scene);
    }

    /// Takes the last step back; returns its key.
    pub fn undo(&mut self) -> Option<String> {
        self.finish_edit();
        let Step { key, scene } = self.undo.pop()?;
        let after = std::mem::replace(&mut self.scene, scene);
        self.redo.push(Step { key: key.clone(), scene: after });
        self.changed();
        Some(key)
    }

    /// Does the step again that was taken back last; returns its key.
    pub fn redo(&mut self) -> Option<String> {
        self.finish_edit();
        let Step { key, scene } = self.redo.pop()?;
        let before = std::mem::replace(&mut self.scene, scene);
        self.undo.push(Step { key: key.clone(), scene: before });
        self.changed();
        Some(key)
    }

    /// Key of the step that undo would take back.
    pub fn undo_label(&self) -> Option<&str> {
        self.undo.last().map(|step| step.key.as_str())
    }

    /// Key of the step that redo would do.
    pub fn redo_label(&self) -> Option<&str> {
        self.redo.last().map(|step| step.key.as_str())
    }

    // ---- the disk ----

    /// Writes its file; see [`Document::save_as`]. Fails without one.
    pub fn save(&mut self) -> Result<Saved, FileError> {
        match self.path.clone() {
            Some(path) => self.save_as(&path),
            None => Err(FileError::new("", "the scene has no file yet", "choose a name with \"Save as\"")),
        }
    }

    /// Writes a file, which becomes its own: JSON when its name ends in `.json`, TOML otherwise. Files that the scene
    /// names and that lie outside the new folder are copied into it, so that the scene works there.
    pub fn save_as(&mut self, path: &Path) -> Result<Saved, FileError> {
        self.finish_edit();
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let real_folder = fs::canonicalize(folder).map_err(|error| disk::cannot_write(path, &error))?;
        disk::check_writable(path)?;
        let stays = self.path.as_ref().is_some_and(|old| old.parent() == path.parent());
        let mut scene = (*self.scene).clone();
        let saved = self.collect_files(&mut scene, &real_folder, stays)?;
        disk::write(path, scene_text(&scene, path)?.as_bytes())?;

        self.watch = Some(FileWatch::new(path));
        if !stays {
            self.rebase_steps(&saved.renamed);
        }
        self.files = self.files.moved_to(path);
        self.path = Some(path.to_path_buf());
        if scene != *self.scene {
            self.scene = Arc::new(scene);
            self.revision = next_revision();
        }
        self.saved = Some(Arc::clone(&self.scene));
        (self.is_dirty, self.is_overtaken) = (false, false);
        Ok(saved)
    }

    /// Gives every file that the scene names a path relative to `folder`; copies those that lie elsewhere.
    fn collect_files(&self, scene: &mut Scene, folder: &Path, stays: bool) -> Result<Saved, FileError> {
        let (mut saved, mut failed) = (Saved::default(), None);
        for_each_path(scene, &mut |written, what| {
            if failed.is_some() || (stays && Path::new(written.as_str()).is_relative()) {
                return;
            }
            if let Some(known) = saved.renamed.get(written.as_str()) {
                *written = String::clone(known);
                return;
            }
            let found = self.files.path(written, what).ok().and_then(|path| fs::canonicalize(path).ok());
            let Some(found) = found else {
                saved.missing.push(written.clone());
                return;
            };
            let relative = match found.strip_prefix(folder) {
                Ok(inside) => slashed(inside),
                Err(_) => match copy_into(&found, folder, what) {
                    Ok((target, is_new)) => {
                        let name = target.strip_prefix(folder).ok().and_then(slashed);
                        saved.copied.extend(is_new.then_some(target));
                        name
                    }
                    Err(error) => {
                        failed = Some(error);
                        return;
                    }
                },
            };
            match relative {
                Some(relative) => {
                    saved.renamed.insert(std::mem::replace(written, relative.clone()), relative);
                }
                None => failed = Some(not_text(&found)),
            }
        });
        match failed {
            Some(error) => Err(error),
            None => Ok(saved),
        }
    }

    /// Keeps the files of scenes in the undo list readable after the scene went to another folder.
    fn rebase_steps(&mut self, new_paths: &BTreeMap<String, String>) {
        let mut files = self.files.clone();
        for step in self.undo.iter_mut().chain(&mut self.redo) {
            let mut scene = (*step.scene).clone();
            for_each_path(&mut scene, &mut |written, what| {
                if let Some(path) = new_paths.get(written.as_str()) {
                    path.clone_into(written);
                } else if let Ok(path) = self.files.path(written, what)
                    && let Ok(path) = fs::canonicalize(path)
                    && let Some(text) = path.to_str()
                {
                    files.choose(&path);
                    text.clone_into(written);
                }
            });
            if scene != *step.scene {
                step.scene = Arc::new(scene);
            }
        }
        self.files = files;
    }

    /// Whether its file changed on the disk since it was read or written here; each change is told once. When it is gone,
    /// the document is all there is, and dirty.
    pub fn poll_disk(&mut self) -> FileChange {
        let change = self.watch.as_mut().map_or(FileChange::Same, FileWatch::poll);
        match change {
            FileChange::Same => {}
            FileChange::Changed => self.is_overtaken = true,
            FileChange::Vanished => {
                self.saved = None;
                (self.is_dirty, self.is_overtaken) = (true, false);
            }
        }
        change
    }

    /// A job that compiles the scene as it is now, on any thread.
    pub fn job(&self) -> BuildJob {
        BuildJob { scene: Arc::clone(&self.scene), files: self.files.clone(), revision: self.revision }
    }

    /// Compiles at once, on this thread. The message names the field that is wrong.
    #[cfg(test)]
    pub(crate) fn compile(&self) -> Result<Compiled, String> {
        self.job().run()
    }

    /// The files that the scene names.
    pub(crate) fn files(&self) -> &SceneFiles {
        &self.files
    }

    /// How the scene names a file that the person chose: relative inside its folder, absolute elsewhere until it is
    /// saved.
    pub(crate) fn name_file(&mut self, path: &Path) -> Result<String, String> {
        let problem = |error: std::io::Error| format!("{}: {error}", path.display());
        let real = fs::canonicalize(path).map_err(problem)?;
        if !fs::metadata(&real).map_err(problem)?.is_file() {
            return Err(format!("{}: it is not a file", path.display()));
        }
        let folder = self
            .path
            .as_ref()
            .and_then(|path| path.parent())
            .map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let folder = folder.and_then(|folder| fs::canonicalize(folder).ok());
        if let Some(inside) = folder.and_then(|folder| real.strip_prefix(folder).ok().and_then(slashed)) {
            return Ok(inside);
        }
        let text = real.to_str().ok_or_else(|| not_text(&real).message())?;
        self.files.choose(&real);
        Ok(text.to_owned())
    }
}

/// Drops the oldest steps beyond the limits; the newest stays.
fn forget_oldest(steps: &mut Vec<Step>) {
    let (mut kept, mut bytes) = (0, 0usize);
    for step in steps.iter().rev() {
        bytes = bytes.saturating_add(scene_bytes(&step.scene));
        if kept == MAX_STEPS || (kept > 0 && bytes > MAX_STEP_BYTES) {
            break;
        }
        kept += 1;
    }
    steps.drain(..steps.len() - kept);
}

/// About what a scene takes in memory, bytes.
fn scene_bytes(scene: &Scene) -> usize {
    let of_mesh = |mesh: &InlineMesh| {
        size_of_val(mesh.positions.as_slice())
            + size_of_val(mesh.triangles.as_slice())
            + size_of_val(mesh.uvs.as_slice())
            + size_of_val(mesh.tetrahedra.as_slice())
            + size_of_val(mesh.labels.as_slice())
    };
    let bodies = scene.bodies.iter().map(|body| match &body.shape {
        Shape::Mesh(mesh) => of_mesh(mesh),
        Shape::Voxels(voxels) => voxels.volume.as_ref().map_or(0, |v| size_of_val(v.runs.as_slice())),
        _ => 0,
    });
    let colliders = scene.colliders.iter().map(|collider| match &collider.shape {
        ColliderShape::Mesh(mesh) => of_mesh(mesh),
        _ => 0,
    });
    let characters = scene.characters.iter().map(|character| {
        let maps = character.maps.iter().map(|map| size_of_val(map.values.as_slice())).sum::<usize>();
        let RigSource::Inline(rig) = &character.rig else { return maps };
        let of_mesh = |mesh: &RigMesh| {
            size_of_val(mesh.positions.as_slice())
                + size_of_val(mesh.triangles.as_slice())
                + size_of_val(mesh.uvs.as_slice())
                + size_of_val(mesh.joints.as_slice())
                + size_of_val(mesh.weights.as_slice())
                + mesh.morphs.iter().map(|morph| size_of_val(morph.offsets.as_slice())).sum::<usize>()
        };
        let channels = rig.clips.iter().flat_map(|clip| &clip.channels);
        let keys = channels.map(|channel| size_of_val(channel.values.as_slice())).sum::<usize>();
        maps + keys + rig.meshes.iter().map(of_mesh).sum::<usize>()
    });
    (4 << 10) + bodies.chain(colliders).chain(characters).sum::<usize>()
}

/// The text of a scene file, refused when it could not be read back.
fn scene_text(scene: &Scene, path: &Path) -> Result<String, FileError> {
    let toml = write_scene_toml(scene).map_err(|error| FileError::file(path, &error, error.help.as_str()))?;
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("json")) {
        return scene_for_recording(scene, path);
    }
    if toml.len() > MAX_SCENE_BYTES {
        let (bytes, limit) = (size(toml.len() as u128), size(MAX_SCENE_BYTES as u128));
        return Err(FileError::file(
            path,
            format!("the scene is {bytes} of text; only {limit} can be read back"),
            "put large meshes in files of their own",
        ));
    }
    Ok(toml)
}

/// A relative path as scenes write it on every system.
fn slashed(path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

fn not_text(path: &Path) -> FileError {
    FileError::file(path, "the name of this file is not valid text", "rename the file")
}

/// Copies a file into a folder under its own name, or one like it when another file has that name. Returns where it
/// lies, and whether it was written just now.
fn copy_into(file: &Path, folder: &Path, what: &str) -> Result<(PathBuf, bool), FileError> {
    let limit = Limits::default().max_bytes;
    let bytes = disk::read(file, limit, what)?;
    let stem = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let end = file.extension().map(|end| format!(".{}", end.to_string_lossy())).unwrap_or_default();
    for number in 1..1000 {
        let name = if number == 1 { format!("{stem}{end}") } else { format!("{stem}-{number}{end}") };
        let target = folder.join(name);
        if !target.exists() {
            disk::write(&target, &bytes)?;
            return Ok((target, true));
        }
        if disk::read(&target, limit, what).is_ok_and(|there| there == bytes) {
            return Ok((target, false));
        }
    }
    Err(FileError::file(file, "cannot be copied: its name is taken in the folder of the scene", "rename it"))
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
