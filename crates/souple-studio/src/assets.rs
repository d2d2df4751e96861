//! Images and shaders that a scene names: read once, watched, and read again when they change (ESSI-54).
//!
//! A file that cannot be read, or a shader that does not compile, is told; what worked before stays in use.

use std::collections::BTreeMap;
use std::sync::Arc;

use souple::scene::{Look, Scene, Style};
use souple_files::{FileChange, FileWatch};
use souple_formats::picture::{Picture, PictureLimits, read_picture};
use souple_viewer::style::{MAX_STYLE_BYTES, StyleSheet};

use crate::document::Document;

/// News of one file: what is wrong with it, or that all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNews {
    /// The file, as written in the scene.
    pub file: String,
    /// What is wrong; `None` when it was read and works.
    pub problem: Option<String>,
}

/// The files of one scene that are needed to draw it.
#[derive(Debug, Default)]
pub struct Assets {
    images: BTreeMap<String, Asset>,
    shaders: BTreeMap<String, Asset>,
}

#[derive(Debug)]
struct Asset {
    picture: Option<Arc<Picture>>,
    watch: Option<FileWatch>,
}

impl Assets {
    /// The image of a path, if it could be read.
    pub fn image(&self, written: &str) -> Option<Arc<Picture>> {
        self.images.get(written)?.picture.clone()
    }

    /// Forgets everything: another scene is edited, and the same path may be another file.
    pub fn clear(&mut self) {
        *self = Assets::default();
    }

    /// Reads what the scene names and is not known yet. Shaders go into the styles.
    pub fn update(&mut self, document: &Document, scene: &Scene, styles: &mut StyleSheet) -> Vec<FileNews> {
        let mut news = Vec::new();
        for look in looks(scene) {
            if let Some(path) = look.texture.as_ref().filter(|path| !self.images.contains_key(*path)) {
                news.push(self.read_image(document, path));
            }
            if let Style::Shader(path) = &look.style
                && !self.shaders.contains_key(path)
            {
                news.push(self.read_shader(document, path, styles));
            }
        }
        news
    }

    /// Looks at all files and reads those that changed; returns news of them.
    pub fn poll(&mut self, document: &Document, styles: &mut StyleSheet) -> Vec<FileNews> {
        let (images, shaders) = (changed(&mut self.images), changed(&mut self.shaders));
        let images: Vec<FileNews> = images.iter().map(|path| self.read_image(document, path)).collect();
        images
            .into_iter()
            .chain(shaders.iter().map(|path| self.read_shader(document, path, styles)))
            .collect()
    }

    fn read_image(&mut self, document: &Document, written: &str) -> FileNews {
        let limits = PictureLimits::default();
        let read = document
            .read_file(written, limits.max_bytes, "texture")
            .and_then(|bytes| read_picture(&bytes, &limits).map_err(|error| error.to_string()));
        let old = self.images.remove(written);
        let (picture, problem) = match read {
            Ok(picture) => (Some(Arc::new(picture)), None),
            Err(problem) => (old.and_then(|old| old.picture), Some(format!("image '{written}': {problem}"))),
        };
        self.images.insert(written.to_owned(), Asset { picture, watch: watch(document, written, "texture") });
        FileNews { file: written.to_owned(), problem }
    }

    fn read_shader(&mut self, document: &Document, written: &str, styles: &mut StyleSheet) -> FileNews {
        let text = document
            .read_file(written, MAX_STYLE_BYTES, "shader")
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not text (UTF-8)".to_owned()));
        let problem = match text {
            Ok(text) => styles.set(written, &text).err().map(|error| format!("shader {error}")),
            Err(problem) => Some(format!("shader '{written}': {problem}")),
        };
        self.shaders
            .insert(written.to_owned(), Asset { picture: None, watch: watch(document, written, "shader") });
        FileNews { file: written.to_owned(), problem }
    }
}

fn looks(scene: &Scene) -> impl Iterator<Item = &Look> {
    let bodies = scene.bodies.iter().filter_map(|body| body.look.as_ref());
    bodies.chain(scene.colliders.iter().filter_map(|collider| collider.look.as_ref()))
}

fn watch(document: &Document, written: &str, what: &str) -> Option<FileWatch> {
    document.file_path(written, what).ok().map(FileWatch::new)
}

/// Paths of those that changed or came back; one that is gone is kept as it was.
fn changed(assets: &mut BTreeMap<String, Asset>) -> Vec<String> {
    let changed = assets.iter_mut().filter_map(|(path, asset)| {
        let change = asset.watch.as_mut().map(FileWatch::poll);
        (change == Some(FileChange::Changed)).then(|| path.clone())
    });
    changed.collect()
}
