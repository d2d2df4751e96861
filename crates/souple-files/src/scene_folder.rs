//! Files that a scene names: meshes, images, shaders.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use souple_formats::scene::safe_relative_path;

use crate::disk::read_limited;
use crate::size;

/// Reads the files that one scene names. They are kept inside the folder of the scene, symbolic links included, unless
/// the user allows more.
#[derive(Clone, Debug)]
pub struct SceneFolder {
    folder: PathBuf,
    allow_outside: bool,
}

impl SceneFolder {
    /// The folder that a scene file lies in.
    pub fn of_scene(scene: &Path, allow_outside: bool) -> SceneFolder {
        let parent = scene.parent().filter(|folder| !folder.as_os_str().is_empty());
        SceneFolder { folder: parent.unwrap_or(Path::new(".")).to_path_buf(), allow_outside }
    }

    /// Reads a file of at most `limit` bytes by the path that is written in the scene; says why not otherwise. `what`
    /// says what is expected, as in "mesh".
    pub fn read(&self, written: &str, limit: usize, what: &str) -> Result<Vec<u8>, String> {
        let path = self.path(written, what)?;
        let file = File::open(&path).map_err(|error| plain(&error))?;
        let bytes = read_limited(file, limit).map_err(|error| plain(&error))?;
        bytes.ok_or_else(|| format!("it is larger than {}; simplify the {what}", size(limit as u128)))
    }

    /// Where a file lies that the scene names, to watch it; says why it may not be read otherwise.
    pub fn path(&self, written: &str, what: &str) -> Result<PathBuf, String> {
        let remedy = || {
            format!(
                "copy the {what} into the folder of the scene, or pass --allow-outside if you trust the scene"
            )
        };
        let path = if self.allow_outside {
            self.folder.join(written)
        } else {
            let inside = safe_relative_path(written).map_err(|problem| format!("{problem}; {}", remedy()))?;
            let folder = fs::canonicalize(&self.folder).map_err(|error| plain(&error))?;
            // Links are followed first, so that none of them leads out of the folder.
            let real = fs::canonicalize(folder.join(inside)).map_err(|error| plain(&error))?;
            if !real.starts_with(&folder) {
                return Err(format!("a link leads out of the folder of the scene; {}", remedy()));
            }
            real
        };
        // Not a pipe or a device, which could block or never end.
        let data = fs::metadata(&path).map_err(|error| plain(&error))?;
        if data.is_file() { Ok(path) } else { Err("it is not a file".to_owned()) }
    }
}

fn plain(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file".to_owned(),
        ErrorKind::PermissionDenied => "you may not read it".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `outside.png`, `scene/scene.toml`, `scene/a.png`.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("scene")).unwrap();
        fs::write(folder.path().join("outside.png"), b"secret").unwrap();
        fs::write(folder.path().join("scene/a.png"), b"12345").unwrap();
        folder
    }

    #[test]
    fn files_inside_are_read_up_to_the_limit() {
        let folder = folder();
        let scene = SceneFolder::of_scene(&folder.path().join("scene/scene.toml"), false);
        assert_eq!(scene.read("./a.png", 5, "texture").unwrap(), b"12345");
        let refused = scene.read("a.png", 4, "texture").unwrap_err();
        assert_eq!(refused, "it is larger than 4 bytes; simplify the texture");
        assert_eq!(scene.read("b.png", 5, "texture").unwrap_err(), "there is no such file");
        assert_eq!(
            scene.read(".//a.png/..", 5, "texture").unwrap_err(),
            "the path names no file; copy the texture into the folder of the scene, or pass --allow-outside if you trust the scene"
        );
        assert!(scene.path("a.png", "texture").unwrap().ends_with("scene/a.png"));
    }

    #[test]
    fn files_outside_need_leave() {
        let folder = folder();
        let path = folder.path().join("scene/scene.toml");
        let outside = folder.path().join("outside.png");
        for written in ["../outside.png", outside.to_str().unwrap()] {
            let refused = SceneFolder::of_scene(&path, false).read(written, 99, "texture").unwrap_err();
            assert!(refused.contains("copy the texture into the folder"), "{refused}");
            let allowed = SceneFolder::of_scene(&path, true).read(written, 99, "texture");
            assert_eq!(allowed.unwrap(), b"secret");
        }
        let folders = SceneFolder::of_scene(&path, true).read("..", 99, "texture");
        assert_eq!(folders.unwrap_err(), "it is not a file");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_do_not_lead_out() {
        let folder = folder();
        let path = folder.path().join("scene/scene.toml");
        std::os::unix::fs::symlink("../outside.png", folder.path().join("scene/link.png")).unwrap();
        let refused = SceneFolder::of_scene(&path, false).read("link.png", 99, "shader").unwrap_err();
        assert!(
            refused.starts_with("a link leads out of the folder of the scene; copy the shader"),
            "{refused}"
        );
        let device = SceneFolder::of_scene(&path, true).read("/dev/zero", 99, "shader");
        assert_eq!(device.unwrap_err(), "it is not a file");
    }
}
