//! The list of scenes of a library with a small picture of each, made on a thread of its own.
//!
//! First all scenes are read, so that the list is there at once; then each is simulated for a moment and drawn. The thread
//! rests as long as it works, so that it takes half a core at most and the running scene is not held up.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use souple::Simulation;
use souple_files::SceneFolder;
use souple_files::library::{SceneEntry, scene_files};
use souple_formats::picture::{Picture, PictureLimits, read_picture};
use souple_viewer::{Artist, Capture, Looks, Marks, WhichRenderer};

use crate::viewport::opening_camera;

/// Width and height of the pictures, pixels.
pub const SIZE: (u32, u32) = (320, 200);
/// How much of a scene is simulated, s.
const SCENE_SECONDS: f64 = 1.5;
/// How long that may take, of which half is rest.
const PATIENCE: Duration = Duration::from_secs(8);

/// What the thread found.
#[derive(Debug)]
pub enum Found {
    /// A scene of the library.
    Scene(SceneEntry),
    /// Its picture.
    Picture(PathBuf, Picture),
    /// The folder cannot be read.
    Problem(String),
    /// Nothing more comes.
    Done,
}

/// The thread that looks through a library. Dropping it waits for the step or the drawing that it is at: let it
/// [`Search::end`] first where nobody may wait.
pub struct Search {
    found: Receiver<Found>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Search {
    fn drop(&mut self) {
        self.end();
        if let Some(thread) = self.thread.take() {
            // A driver must not go away under a thread that draws. A panic in it was told as nothing found.
            let _ = thread.join();
        }
    }
}

impl Search {
    /// Begins to look through a folder; `wake` is called for everything that is found. Without a renderer only the list
    /// is made.
    pub fn start(folder: &Path, renderer: Option<WhichRenderer>, wake: impl Fn() + Send + 'static) -> Search {
        let (sender, found) = channel();
        let stop = Arc::new(AtomicBool::new(false));
        let (own_stop, folder) = (Arc::clone(&stop), folder.to_path_buf());
        let thread = std::thread::spawn(move || {
            let tell = |found: Found| {
                // Nobody listens any more when the window is closed.
                let _ = sender.send(found);
                wake();
            };
            search(&folder, renderer, &own_stop, &tell);
            tell(Found::Done);
        });
        Search { found, stop, thread: Some(thread) }
    }

    /// Asks it to end soon.
    pub fn end(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it has ended.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// What was found since the last call.
    pub fn found(&self) -> impl Iterator<Item = Found> + '_ {
        self.found.try_iter()
    }
}

fn search(folder: &Path, renderer: Option<WhichRenderer>, stop: &AtomicBool, tell: &dyn Fn(Found)) {
    let paths = match scene_files(folder) {
        Ok(paths) => paths,
        Err(error) => return tell(Found::Problem(error.to_string())),
    };
    let mut entries = Vec::new();
    for path in paths {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let entry = SceneEntry::read(&path);
        tell(Found::Scene(entry.clone()));
        entries.push(entry);
    }
    let Some(renderer) = renderer else { return };
    let Ok(mut artist) = Artist::new(renderer) else { return };
    // Small scenes first: most pictures are there soon.
    entries.sort_by_key(|entry| entry.vertices);
    for entry in entries.iter().filter(|entry| entry.error.is_none()) {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        match catch_unwind(AssertUnwindSafe(|| picture_of(&entry.path, &mut artist, stop))) {
            Ok(Some(picture)) => tell(Found::Picture(entry.path.clone(), picture)),
            Ok(None) => {}
            // One scene without a picture is no reason for the others to have none. What drew it may be half done.
            Err(_) => match Artist::new(renderer) {
                Ok(fresh) => artist = fresh,
                Err(_) => return,
            },
        }
    }
}

/// The picture of a scene a moment after its start; none when it cannot be made.
fn picture_of(path: &Path, artist: &mut Artist, stop: &AtomicBool) -> Option<Picture> {
    let loaded = souple_files::load(path, false).ok()?;
    let mut capture = Capture::new(&loaded.scene, &loaded.model);
    let steps = (SCENE_SECONDS * loaded.model.fps).ceil() as u64;
    let steps = steps.min(u64::from(loaded.model.frames));
    let mut simulation = Simulation::new(loaded.model);
    let start = Instant::now();
    for _ in 0..steps {
        if stop.load(Ordering::Relaxed) {
            return None;
        }
        if start.elapsed() > PATIENCE {
            break;
        }
        let clock = Instant::now();
        simulation.step();
        std::thread::sleep(clock.elapsed());
    }
    let moment = capture.moment(&simulation);
    let folder = SceneFolder::of_scene(path, false);
    let limits = PictureLimits::default();
    let mut looks = Looks::of_scene(&loaded.scene, |written| {
        let bytes = folder.read(written, limits.max_bytes, "texture").ok()?;
        read_picture(&bytes, &limits).ok().map(Arc::new)
    });
    looks.fit_ranges(&artist.styles, std::slice::from_ref(&moment));
    let aspect = SIZE.0 as f32 / SIZE.1 as f32;
    let camera = opening_camera(&loaded.scene, &moment, aspect);
    artist.draw(&moment, &looks, &Marks::default(), &camera, SIZE).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenes_and_their_pictures_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let text =
            "format = 1\nname = 'One'\n[[body]]\nfabric = 'silk'\nshape = { grid = { vertices = [5, 5] } }\n";
        std::fs::write(folder.path().join("one.toml"), text).unwrap();
        std::fs::write(folder.path().join("broken.toml"), "format = 9").unwrap();
        let search = Search::start(folder.path(), Some(WhichRenderer::Cpu), || ());
        let (mut scenes, mut pictures) = (Vec::new(), Vec::new());
        while let Ok(found) = search.found.recv() {
            match found {
                Found::Scene(entry) => scenes.push(entry),
                Found::Picture(path, picture) => pictures.push((path, picture)),
                Found::Problem(problem) => panic!("{problem}"),
                Found::Done => break,
            }
        }
        assert_eq!(scenes.len(), 2);
        assert!(scenes[0].error.is_some() && scenes[1].error.is_none());
        assert_eq!(pictures.len(), 1);
        assert!(pictures[0].0.ends_with("one.toml"));
        let picture = &pictures[0].1;
        assert_eq!((picture.width, picture.height), SIZE);
        let first = &picture.rgba[..4];
        assert!(picture.rgba.chunks_exact(4).any(|pixel| pixel != first), "something must be drawn");
    }

    #[test]
    fn a_folder_that_is_not_there_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let search = Search::start(&folder.path().join("none"), None, || ());
        match search.found.recv().unwrap() {
            Found::Problem(problem) => assert!(problem.contains("cannot read this folder"), "{problem}"),
            other => panic!("{other:?}"),
        }
    }
}
