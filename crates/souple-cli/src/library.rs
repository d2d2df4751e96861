//! `souple scenes`: lists the scene library.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;

use crate::args::ScenesArgs;
use crate::failure::{Failure, Outcome};
use crate::load::{read_whole_scene, vertex_count};
use crate::report::{count, note, say, say_json};

/// Folders of folders that are looked into; a library has two.
const MAX_DEPTH: usize = 8;

/// Runs the command.
pub fn run(args: &ScenesArgs) -> Outcome {
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => find_library()?,
    };
    let mut paths = Vec::new();
    collect(&folder, MAX_DEPTH, &mut paths)?;
    let scenes: Vec<SceneEntry> = paths.iter().map(|path| SceneEntry::read(path)).collect();
    if args.json {
        say_json(&Library { folder: folder.display().to_string(), scenes })?;
        return Ok(ExitCode::SUCCESS);
    }
    let width = scenes.iter().map(|scene| scene.path.chars().count()).max().unwrap_or(0);
    for scene in &scenes {
        match &scene.error {
            None => say(&format!("{:width$}  {:>8}  {}", scene.path, scene.vertices, scene.title()))?,
            Some(_) => say(&format!("{:width$}  {:>8}  cannot be read", scene.path, "-"))?,
        }
    }
    for (scene, error) in scenes.iter().filter_map(|scene| Some((scene, scene.error.as_ref()?))) {
        note(&format!("warning: {}: {error}; see `souple check {}`", scene.path, scene.path));
    }
    say(&format!(
        "{} in {} (path, vertices, what it shows)",
        count(scenes.len(), "scene", "scenes"),
        folder.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Library {
    folder: String,
    scenes: Vec<SceneEntry>,
}

#[derive(Serialize)]
struct SceneEntry {
    path: String,
    name: String,
    description: String,
    vertices: u64,
    /// Why the scene cannot be read.
    error: Option<String>,
}

impl SceneEntry {
    fn read(path: &Path) -> SceneEntry {
        let mut entry = SceneEntry {
            path: path.display().to_string(),
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
            Err(failure) => entry.error = Some(failure.message()),
        }
        entry
    }

    fn title(&self) -> String {
        match (self.name.is_empty(), self.description.is_empty()) {
            (false, false) => format!("{}: {}", self.name, self.description),
            (false, true) => self.name.clone(),
            _ => self.description.clone(),
        }
    }
}

/// The nearest folder called `scenes`, from the current one upwards, as a path from here where that is short.
fn find_library() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::input(format!("cannot tell the current folder: {error}"), "give --dir"))?;
    if Path::new("scenes").is_dir() {
        return Ok(PathBuf::from("scenes"));
    }
    let found = here.ancestors().map(|folder| folder.join("scenes")).find(|folder| folder.is_dir());
    found.ok_or_else(|| {
        let problem = format!("there is no folder called `scenes` in {} or above it", here.display());
        Failure::input(problem, "go to the project's folder, or name the folder with --dir")
    })
}

/// All TOML and JSON files of a folder and the folders in it, by name. Links to folders are not followed, so this ends.
fn collect(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::file(
            folder,
            format!("cannot read this folder: {error}"),
            "name a folder of scenes with --dir",
        )
    };
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        entries.push((entry.path(), entry.file_type().map_err(fail)?.is_dir()));
    }
    entries.sort();
    for (path, is_folder) in entries {
        let is_scene = path.extension().is_some_and(|end| end == "toml" || end == "json");
        if is_folder && depth > 0 {
            collect(&path, depth - 1, found)?;
        } else if !is_folder && is_scene {
            found.push(path);
        }
    }
    Ok(())
}
