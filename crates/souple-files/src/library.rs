//! Folders of scenes: which ones there are, and what each says of itself.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::error::FileError;
use crate::load::{read_whole_scene, vertex_count};

/// Folders of folders that are looked into; a library has two.
const MAX_DEPTH: usize = 8;

/// A scene of a library, as a list shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SceneEntry {
    /// The scene file.
    #[serde(serialize_with = "as_text")]
    pub path: PathBuf,
    /// What the scene is called; may be empty.
    pub name: String,
    /// What the scene shows; may be empty.
    pub description: String,
    /// Vertices of all bodies at the start.
    pub vertices: u64,
    /// Why the scene cannot be read.
    pub error: Option<String>,
}

/// A path need not be valid text, an answer must be.
fn as_text<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

impl SceneEntry {
    /// Reads a scene with its meshes; one that cannot be read is an entry that says why.
    pub fn read(path: &Path) -> SceneEntry {
        let mut entry = SceneEntry {
            path: path.to_path_buf(),
            name: String::new(),
            description: String::new(),
            vertices: 0,
            error: None,
        };
        match read_whole_scene(path, false) {
            Ok(file) => {
                entry.vertices = file.scene.bodies.iter().map(|body| vertex_count(&body.shape)).sum();
                entry.name = file.scene.name;
                entry.description = file.scene.description;
            }
            Err(error) => entry.error = Some(error.message()),
        }
        entry
    }

    /// Name and description in one line.
    pub fn title(&self) -> String {
        match (self.name.is_empty(), self.description.is_empty()) {
            (false, false) => format!("{}: {}", self.name, self.description),
            (false, true) => self.name.clone(),
            _ => self.description.clone(),
        }
    }
}

/// The nearest folder called `scenes`, from a folder upwards.
pub fn find_library(from: &Path) -> Option<PathBuf> {
    from.ancestors().map(|folder| folder.join("scenes")).find(|folder| folder.is_dir())
}

/// All TOML and JSON files of a folder and the folders in it, by name. Links to folders are not followed, so this ends.
pub fn scene_files(folder: &Path) -> Result<Vec<PathBuf>, FileError> {
    let mut found = Vec::new();
    collect(folder, MAX_DEPTH, &mut found)?;
    Ok(found)
}

fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), FileError> {
    let fail = |error: std::io::Error| {
        FileError::file(folder, format!("cannot read this folder: {error}"), "name a folder of scenes")
    };
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        entries.push((entry.path(), entry.file_type().map_err(fail)?.is_dir()));
    }
    entries.sort();
    for (path, is_folder) in entries {
        let is_skeleton = path.to_string_lossy().ends_with(".skeleton.toml");
        let is_scene = !is_skeleton && path.extension().is_some_and(|end| end == "toml" || end == "json");
        if is_folder && depth > 0 {
            collect(&path, depth - 1, found)?;
        } else if !is_folder && is_scene {
            found.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_and_listed() {
        let folder = tempfile::tempdir().unwrap();
        let scenes = folder.path().join("scenes");
        fs::create_dir_all(scenes.join("b")).unwrap();
        fs::create_dir_all(folder.path().join("deep/down")).unwrap();
        fs::write(scenes.join("b/one.toml"), "format = 1\nname = 'One'\ndescription = 'it'\n[[body]]\n")
            .unwrap();
        fs::write(scenes.join("c.json"), "{").unwrap();
        fs::write(scenes.join("notes.txt"), "x").unwrap();

        let library = find_library(&folder.path().join("deep/down")).unwrap();
        assert_eq!(library, scenes);
        let entries: Vec<_> = scene_files(&library).unwrap().iter().map(|p| SceneEntry::read(p)).collect();
        assert_eq!(entries.len(), 2);
        assert_eq!(entries[0].path, scenes.join("b/one.toml"));
        assert_eq!((entries[0].title().as_str(), &entries[0].error), ("One: it", &None));
        assert!(entries[0].vertices > 0);
        assert!(entries[1].error.is_some());
        assert!(
            scene_files(&scenes.join("none")).unwrap_err().to_string().contains("cannot read this folder")
        );
    }
}
