//! `souple scenes`: lists the scene library.

use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;
use souple_files::library::{SceneEntry, find_library, scene_files};

use crate::args::ScenesArgs;
use crate::failure::{Failure, Outcome};
use crate::report::{count, note, say, say_json};

/// Runs the command.
pub fn run(args: &ScenesArgs) -> Outcome {
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => nearest_library()?,
    };
    let paths =
        scene_files(&folder).map_err(|error| error.with_help("name a folder of scenes with --dir"))?;
    let scenes: Vec<SceneEntry> = paths.iter().map(|path| SceneEntry::read(path)).collect();
    if args.json {
        say_json(&Library { folder: folder.display().to_string(), scenes })?;
        return Ok(ExitCode::SUCCESS);
    }
    let width =
        scenes.iter().map(|scene| scene.path.display().to_string().chars().count()).max().unwrap_or(0);
    for scene in &scenes {
        let path = scene.path.display().to_string();
        match &scene.error {
            None => say(&format!("{:width$}  {:>8}  {}", path, scene.vertices, scene.title()))?,
            Some(_) => say(&format!("{:width$}  {:>8}  cannot be read", path, "-"))?,
        }
    }
    for (scene, error) in scenes.iter().filter_map(|scene| Some((scene, scene.error.as_ref()?))) {
        let path = scene.path.display();
        note(&format!("warning: {path}: {error}; see `souple check {path}`"));
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

/// The nearest folder called `scenes`, from the current one upwards, as a path from here where that is short.
fn nearest_library() -> Result<PathBuf, Failure> {
    let here = std::env::current_dir()
        .map_err(|error| Failure::input(format!("cannot tell the current folder: {error}"), "give --dir"))?;
    match find_library(&here) {
        Some(found) if found == here.join("scenes") => Ok(PathBuf::from("scenes")),
        Some(found) => Ok(found),
        None => {
            let problem = format!("there is no folder called `scenes` in {} or above it", here.display());
            Err(Failure::input(problem, "go to the project's folder, or name the folder with --dir"))
        }
    }
}
