//! Images and shaders that a scene names: read once, watched, and read again when they change (ESSI-54).
//!
//! Images are read and decoded on a thread of their own; until one is there, things are drawn without it. A file that
//! cannot be read, or a shader that does not compile, is told; what worked before stays in use. A file that is not there
//! is read once it appears.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

use souple::scene::{Look, Scene, Style};
use souple_files::{FileChange, FileWatch};
use souple_formats::picture::{Picture, PictureLimits, read_picture};
use souple_viewer::style::{MAX_STYLE_BYTES, StyleSheet};

use crate::scene_files::SceneFiles;

/// News of one file: what is wrong with it, or that all is well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileNews {
    /// The file, as written in the scene.
    pub file: String,
    /// What is wrong; `None` when it was read and works.
    pub problem: Option<String>,
}

/// The files of one scene that are needed to draw it.
pub struct Assets {
    images: BTreeMap<String, Image>,
    shaders: BTreeMap<String, Option<FileWatch>>,
    /// To the thread that decodes; none before the first image.
    orders: Option<Sender<Order>>,
    decoded: (Sender<Decoded>, Receiver<Decoded>),
    last_order: u64,
    wake: Arc<dyn Fn() + Send + Sync>,
}

struct Image {
    picture: Option<Arc<Picture>>,
    /// None while its path leads nowhere.
    watch: Option<FileWatch>,
    /// The last time that it was asked for: what was asked for before is out of date.
    order: u64,
}

/// An image to be decoded.
struct Order {
    number: u64,
    file: String,
    files: SceneFiles,
}

struct Decoded {
    number: u64,
    file: String,
    picture: Result<Picture, String>,
}

impl Assets {
    /// Nothing yet. `wake` is called when an image was decoded.
    pub fn new(wake: Arc<dyn Fn() + Send + Sync>) -> Assets {
        Assets {
            images: BTreeMap::new(),
            shaders: BTreeMap::new(),
            orders: None,
            decoded: channel(),
            last_order: 0,
            wake,
        }
    }

    /// The image of a path, if it could be read.
    pub fn image(&self, written: &str) -> Option<Arc<Picture>> {
        self.images.get(written)?.picture.clone()
    }

    /// Forgets everything: another scene is shown, and the same path may be another file.
    pub fn clear(&mut self) {
        self.images.clear();
        self.shaders.clear();
    }

    /// Asks for what the scene names and is not known yet. Shaders go into the styles.
    pub(crate) fn update(
        &mut self,
        files: &SceneFiles,
        scene: &Scene,
        styles: &mut StyleSheet,
    ) -> Vec<FileNews> {
        let mut news = Vec::new();
        for look in looks(scene) {
            if let Some(path) = look.texture.as_ref().filter(|path| !self.images.contains_key(*path)) {
                news.extend(self.order_image(files, path));
            }
            if let Style::Shader(path) = &look.style
                && !self.shaders.contains_key(path)
            {
                news.push(self.read_shader(files, path, styles));
            }
        }
        news
    }

    /// Looks at all files and asks for those that changed or appeared; returns news of shaders.
    pub(crate) fn poll(&mut self, files: &SceneFiles, styles: &mut StyleSheet) -> Vec<FileNews> {
        let images = self.images.iter_mut().map(|(path, image)| (path, &mut image.watch));
        let images = changed(images, files, "texture");
        let shaders = changed(self.shaders.iter_mut(), files, "shader");
        let mut news: Vec<FileNews> =
            images.iter().filter_map(|path| self.order_image(files, path)).collect();
        news.extend(shaders.iter().map(|path| self.read_shader(files, path, styles)));
        news
    }

    /// Takes over images that were decoded; returns news of them.
    pub fn take_decoded(&mut self) -> Vec<FileNews> {
        let mut news = Vec::new();
        for Decoded { number, file, picture } in self.decoded.1.try_iter() {
            let Some(image) = self.images.get_mut(&file).filter(|image| image.order == number) else {
                continue;
            };
            let problem = match picture {
                Ok(picture) => {
                    image.picture = Some(Arc::new(picture));
                    None
                }
                Err(problem) => Some(format!("image '{file}': {problem}")),
            };
            news.push(FileNews { file, problem });
        }
        news
    }

    /// Asks for an image; there is news only when nobody can be asked.
    fn order_image(&mut self, files: &SceneFiles, written: &str) -> Option<FileNews> {
        self.last_order += 1;
        let number = self.last_order;
        // Watched from before it is read: a change in between is seen.
        let watch = watch(files, written, "texture");
        let picture = self.images.remove(written).and_then(|old| old.picture);
        self.images.insert(written.to_owned(), Image { picture, watch, order: number });
        let order = Order { number, file: written.to_owned(), files: files.clone() };
        let problem = self.send(order).err()?;
        Some(FileNews { file: written.to_owned(), problem: Some(format!("image '{written}': {problem}")) })
    }

    fn send(&mut self, order: Order) -> Result<(), String> {
        let order = match &self.orders {
            None => order,
            Some(orders) => match orders.send(order) {
                Ok(()) => return Ok(()),
                // The thread is gone; another one takes its place.
                Err(back) => back.0,
            },
        };
        let (orders, inbox) = channel::<Order>();
        let (decoded, wake) = (self.decoded.0.clone(), Arc::clone(&self.wake));
        let thread = std::thread::Builder::new().name("images".into());
        let begun = thread.spawn(move || {
            for Order { number, file, files } in inbox {
                let picture = decode(&files, &file);
                // Nobody listens any more when the window is closed.
                let _ = decoded.send(Decoded { number, file, picture });
                wake();
            }
        });
        begun.map_err(|error| format!("it cannot be read: {error}; close other programs and try again"))?;
        // The other end was made just now.
        let _ = orders.send(order);
        self.orders = Some(orders);
        Ok(())
    }

    fn read_shader(&mut self, files: &SceneFiles, written: &str, styles: &mut StyleSheet) -> FileNews {
        let watch = watch(files, written, "shader");
        let text = files
            .read(written, MAX_STYLE_BYTES, "shader")
            .and_then(|bytes| String::from_utf8(bytes).map_err(|_| "it is not text (UTF-8)".to_owned()));
        let problem = match text {
            Ok(text) => styles.set(written, &text).err().map(|error| format!("shader {error}")),
            Err(problem) => Some(format!("shader '{written}': {problem}")),
        };
        self.shaders.insert(written.to_owned(), watch);
        FileNews { file: written.to_owned(), problem }
    }
}

fn decode(files: &SceneFiles, written: &str) -> Result<Picture, String> {
    let limits = PictureLimits::default();
    let bytes = files.read(written, limits.max_bytes, "texture")?;
    read_picture(&bytes, &limits).map_err(|error| error.to_string())
}

fn looks(scene: &Scene) -> impl Iterator<Item = &Look> {
    let bodies = scene.bodies.iter().filter_map(|body| body.look.as_ref());
    let papers = scene.papers.iter().filter_map(|paper| paper.look.as_ref());
    bodies.chain(papers).chain(scene.colliders.iter().filter_map(|collider| collider.look.as_ref()))
}

fn watch(files: &SceneFiles, written: &str, what: &str) -> Option<FileWatch> {
    files.path(written, what).ok().map(FileWatch::new)
}

/// Paths of those that changed, came back or appeared; one that is gone is kept as it was.
fn changed<'a>(
    watches: impl Iterator<Item = (&'a String, &'a mut Option<FileWatch>)>,
    files: &SceneFiles,
    what: &str,
) -> Vec<String> {
    let changed = watches.filter_map(|(path, watch)| {
        let is_new = match watch {
            Some(watch) => watch.poll() == FileChange::Changed,
            None => files.path(path, what).is_ok(),
        };
        is_new.then(|| path.clone())
    });
    changed.collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use souple::scene::Body;

    use super::*;

    fn scene(look: Look) -> Scene {
        Scene { bodies: vec![Body { look: Some(look), ..Body::default() }], ..Scene::default() }
    }

    fn assets() -> (Assets, Receiver<()>) {
        let (ring, decoded) = channel();
        let wake = move || {
            let _ = ring.send(());
        };
        (Assets::new(Arc::new(wake)), decoded)
    }

    #[test]
    fn an_image_that_appears_later_is_read_then() {
        let folder = tempfile::tempdir().unwrap();
        let files = SceneFiles::of_scene(&folder.path().join("scene.toml"));
        let scene = scene(Look { texture: Some("a.png".into()), ..Look::default() });
        let (mut styles, (mut assets, decoded)) = (StyleSheet::built_in(), assets());
        assert_eq!(assets.update(&files, &scene, &mut styles), []);
        decoded.recv().unwrap();
        let news = assets.take_decoded();
        assert!(news[0].problem.as_ref().unwrap().starts_with("image 'a.png': "), "{news:?}");
        assert_eq!(assets.poll(&files, &mut styles), []);

        let red = Picture { width: 1, height: 1, rgba: vec![255, 0, 0, 255] };
        fs::write(folder.path().join("a.png"), souple_formats::picture::write_png(&red).unwrap()).unwrap();
        assets.poll(&files, &mut styles);
        decoded.recv().unwrap();
        assert_eq!(assets.take_decoded(), [FileNews { file: "a.png".into(), problem: None }]);
        assert_eq!(assets.image("a.png").unwrap().rgba, red.rgba);
        // What is decoded for a scene that is no longer shown is dropped.
        assets.order_image(&files, "a.png");
        assets.clear();
        decoded.recv().unwrap();
        assert_eq!(assets.take_decoded(), []);
        assert!(assets.image("a.png").is_none());
    }

    #[test]
    fn a_shader_that_appears_later_is_read_then() {
        let folder = tempfile::tempdir().unwrap();
        let files = SceneFiles::of_scene(&folder.path().join("scene.toml"));
        let scene = scene(Look { style: Style::Shader("my.wgsl".into()), ..Look::default() });
        let (mut styles, (mut assets, _)) = (StyleSheet::built_in(), assets());
        assert!(assets.update(&files, &scene, &mut styles)[0].problem.is_some());
        assert_eq!(assets.poll(&files, &mut styles), [], "told once");
        let text = "//! Red.\nfn shade(s: Surface) -> vec4<f32> {\n    return vec4(1.0, 0.0, 0.0, 1.0);\n}\n";
        fs::write(folder.path().join("my.wgsl"), text).unwrap();
        let news = assets.poll(&files, &mut styles);
        assert_eq!(news, [FileNews { file: "my.wgsl".into(), problem: None }]);
        assert!(styles.get("my.wgsl").is_ok());
    }
}
