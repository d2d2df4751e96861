//! `souple bake`: the clips of a character with a skin that keeps its volume and with elastic layers, as morph targets per frame or as point caches.
//!
//! A recipe is a scene: its bodies are simulated while a clip plays, and the character is baked with those that are layers of it, followed by those
//! that are not. Each clip starts from its first pose, in which layers come to rest before the first frame.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use serde::Serialize;
use souple::scene::{Character, PlayedClip, RigSource, Scene, SkinVolume};
use souple::skin::{CharacterModel, PlayedModel};
use souple::{Model, ModelBuilder, Simulation};
use souple_files::bake::{ClipVolume, JointChange, bake_clip, bake_simulated, clip_path};
use souple_files::{MEMORY_LIMIT, SceneFolder, disk, read_scene_file, resolve_files, size};
use souple_formats::import::{Limits, MeshFormat, read_rig};
use souple_formats::scene::{SceneFile, Source};

use crate::args::{BakeArgs, Format};
use crate::failure::{Failure, Outcome};
use crate::outputs::{Writer, estimate_bytes};
use crate::report::{note, say, say_json};

/// Most frames of one clip.
const MAX_FRAMES: f64 = 1e6;

/// Time in which layers come to rest before a clip starts, s.
const SETTLING: f64 = 1.0;

#[derive(Serialize)]
struct BakeReport {
    input: String,
    vertices: usize,
    /// Vertices of pieces that joints bend, but that have no inside.
    left_alone: usize,
    clips: Vec<ClipReport>,
    files: Vec<String>,
}

/// The volume of a skin over a clip, relative to what it would be if no joint were bent, percent.
#[derive(Serialize)]
struct ClipReport {
    clip: String,
    frames: usize,
    /// Of skinning alone: the mean over frames, and where it is furthest from 0.
    skinned_mean_percent: f64,
    skinned_worst_percent: f64,
    /// Of the result.
    kept_mean_percent: f64,
    kept_worst_percent: f64,
    /// What each joint does, by the bone that turns.
    joints: Vec<JointReport>,
}

/// What a joint does to the volume of a skin over a clip, percent of what it would be if no joint were bent.
#[derive(Serialize)]
struct JointReport {
    bone: String,
    /// What bending it changes: where it is furthest from 0, and frame by frame.
    changed_worst_percent: f64,
    changed_percent: Vec<f64>,
    /// What its bulge gives back, frame by frame.
    given_percent: Vec<f64>,
}

/// Runs the command.
pub fn run(args: &BakeArgs) -> Outcome {
    for output in &args.output {
        if !["glb", "pc2", "mdd"].contains(&ending(output).as_str()) {
            let problem = format!("a character cannot be baked as '.{}'", ending(output));
            return Err(Failure::file(output, problem, "end its name in one of .glb .pc2 .mdd"));
        }
    }
    let recipe = load(args)?;
    let model = recipe.build(args)?;
    let Some(character) = model.characters.first() else {
        return Err(Failure::file(&args.input, "the file holds no character", ""));
    };
    let vertices: usize = character.rig.meshes.iter().map(|mesh| mesh.mesh.positions.len()).sum();
    if vertices == 0 {
        return Err(Failure::file(&args.input, "the character has no surface", "bake a file with a mesh"));
    }
    let clips = chosen_clips(args, character)?;
    args.output.iter().try_for_each(|path| disk::check_writable(path))?;
    let mut report = BakeReport {
        input: args.input.display().to_string(),
        vertices,
        left_alone: character.volume.as_ref().map_or(0, |volume| volume.left_alone),
        clips: Vec::new(),
        files: Vec::new(),
    };
    if character.volume.as_ref().is_some_and(|volume| volume.is_idle()) {
        note("warning: no part of the skin has an inside and a joint that bends it: nothing is corrected");
    }
    let mut names = BTreeSet::new();
    for (clip, name) in &clips {
        let duration = clip.map_or(0.0, |clip| character.rig.clips[clip].duration);
        let frames = frame_count(args, name, duration, vertices)?;
        let (animation, volume) = if model.bodies.is_empty() {
            let mut played = character.clone();
            played.clips = Vec::from_iter(clip.map(|clip| PlayedModel {
                clip,
                weight: 1.0,
                start: 0.0,
                speed: 1.0,
                repeat: false,
            }));
            bake_clip(&played, frames, args.fps)
        } else {
            let mut run = playing(&recipe, args, *clip)?;
            (0..settling(args.fps)).for_each(|_| run.step());
            let baked = bake_simulated(&mut run, frames);
            run.warnings().iter().for_each(|warning| note(&format!("warning: {warning}")));
            baked
        };
        let told = ClipReport::new(name, frames, volume);
        if !args.json {
            say(&told.line())?;
        }
        report.clips.push(told);
        let mut writer = Writer::new();
        for output in &args.output {
            let path = if clips.len() == 1 { output.clone() } else { clip_path(output, name, &mut names) };
            writer.animation_file(&path, &ending(output), &animation);
        }
        if let Some(failure) = writer.failures.into_iter().next() {
            return Err(failure);
        }
        report.files.extend(writer.written.iter().map(|path| path.display().to_string()));
    }
    if args.json {
        say_json(&report)?;
    } else {
        report.files.iter().try_for_each(|file| say(&format!("wrote {file}")))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// The scene of a recipe with the rig of the file, and where it was read from.
struct Recipe {
    scene: Scene,
    source: Option<Source>,
}

impl Recipe {
    fn build(&self, args: &BakeArgs) -> Result<Model, Failure> {
        ModelBuilder::new(&self.scene).build().map_err(|error| match &self.source {
            Some(source) => Failure::from(source.explain(&error)),
            None => Failure::file(&args.input, &error, error.help.clone()),
        })
    }
}

/// The recipe as it is simulated while a clip plays.
fn playing(recipe: &Recipe, args: &BakeArgs, clip: Option<usize>) -> Result<Simulation, Failure> {
    let mut scene = recipe.scene.clone();
    scene.time.fps = args.fps;
    if let (Some(clip), Some(character)) = (clip, scene.characters.first_mut()) {
        // By its number, as names may be there twice. Before its start a clip holds its first pose.
        let (name, start) = (clip.to_string(), -(settling(args.fps) as f64) / args.fps);
        character.clips = vec![PlayedClip { name, start, repeat: false, ..PlayedClip::default() }];
    }
    let model = Recipe { scene, source: recipe.source.clone() }.build(args)?;
    Ok(Simulation::new(model))
}

/// Frames in which layers come to rest before a clip starts.
fn settling(fps: f64) -> u64 {
    (SETTLING * fps).ceil() as u64
}

/// The scene as the recipe has it, with the rig of the file.
fn load(args: &BakeArgs) -> Result<Recipe, Failure> {
    let (mut scene, source) = match &args.recipe {
        Some(path) => {
            let file = read_recipe(path)?;
            if file.scene.characters.len() != 1 {
                let problem =
                    format!("a recipe has one [[character]], this one has {}", file.scene.characters.len());
                return Err(Failure::file(
                    path,
                    problem,
                    "write one, without a rig: that is the file to be baked",
                ));
            }
            (file.scene, Some(file.source))
        }
        None => (Scene { characters: vec![Character::default()], ..Scene::default() }, None),
    };
    if MeshFormat::from_extension(&ending(&args.input)) != Some(MeshFormat::Gltf) {
        let help = "convert it to .glb or .gltf, which Blender and most others write";
        return Err(Failure::file(&args.input, "not a character that can be read", help));
    }
    let limits = Limits::default();
    let bytes = disk::read(&args.input, limits.max_bytes, "character")?;
    let folder = SceneFolder::of_scene(&args.input, false);
    let mut beside = |uri: &str| folder.read(uri, limits.max_bytes, "buffer");
    let rig = read_rig(&bytes, &limits, &mut beside)
        .map_err(|error| Failure::file(&args.input, error, "repair the file, or export it again"))?;
    let character = &mut scene.characters[0];
    character.rig = RigSource::Inline(rig);
    // Each clip is baked by itself, where the character stands.
    character.clips.clear();
    character.volume.get_or_insert_with(SkinVolume::default);
    Ok(Recipe { scene, source })
}

/// A recipe with its files inside; the rig of its character, if it names one, is not read.
fn read_recipe(path: &Path) -> Result<SceneFile, Failure> {
    let mut file = read_scene_file(path)?;
    file.scene.characters.iter_mut().for_each(|character| character.rig = RigSource::default());
    resolve_files(&mut file, path, false)?;
    Ok(file)
}

/// Numbers and names of what is baked: all clips, those that are named, or the pose of a file without any.
fn chosen_clips(
    args: &BakeArgs,
    character: &CharacterModel,
) -> Result<Vec<(Option<usize>, String)>, Failure> {
    let clips = &character.rig.clips;
    let all: Vec<(Option<usize>, String)> =
        clips.iter().enumerate().map(|(k, clip)| (Some(k), clip.name.clone())).collect();
    if args.clip.is_empty() {
        return Ok(if all.is_empty() { vec![(None, "rest".to_owned())] } else { all });
    }
    let find = |name: &String| {
        let by_number = || name.parse().ok().filter(|k: &usize| *k < clips.len());
        clips
            .iter()
            .position(|clip| clip.name == *name)
            .or_else(by_number)
            .map(|k| all[k].clone())
            .ok_or_else(|| {
                let known =
                    clips.iter().map(|clip| format!("'{}'", clip.name)).collect::<Vec<_>>().join(", ");
                let help = if known.is_empty() {
                    "it has none".to_owned()
                } else {
                    format!("it has: {known}; or give its number, from 0")
                };
                Failure::file(&args.input, format!("there is no clip '{name}'"), help)
            })
    };
    args.clip.iter().map(find).collect()
}

fn frame_count(args: &BakeArgs, clip: &str, duration: f64, vertices: usize) -> Result<usize, Failure> {
    let frames = (duration * args.fps).ceil() + 1.0;
    let formats: Vec<Format> = args
        .output
        .iter()
        .map(|path| if ending(path) == "glb" { Format::Glb } else { Format::Pc2 })
        .collect();
    let needed = estimate_bytes(&formats, frames.min(MAX_FRAMES) as u64, vertices as u64);
    if frames > MAX_FRAMES || needed > MEMORY_LIMIT {
        let problem =
            format!("clip '{clip}' of {duration} s would be {frames} frames, about {}", size(needed));
        return Err(Failure::file(
            &args.input,
            problem,
            "give a smaller --fps, or choose other clips with --clip",
        ));
    }
    Ok(frames as usize)
}

impl From<JointChange> for JointReport {
    fn from(joint: JointChange) -> JointReport {
        JointReport {
            changed_worst_percent: joint.worst_percent(),
            bone: joint.bone,
            changed_percent: joint.changed_percent,
            given_percent: joint.given_percent,
        }
    }
}

impl ClipReport {
    fn new(clip: &str, frames: usize, volume: ClipVolume) -> ClipReport {
        ClipReport {
            clip: clip.to_owned(),
            frames,
            skinned_mean_percent: volume.skinned_mean_percent,
            skinned_worst_percent: volume.skinned_worst_percent,
            kept_mean_percent: volume.kept_mean_percent,
            kept_worst_percent: volume.kept_worst_percent,
            joints: volume.joints.into_iter().map(JointReport::from).collect(),
        }
    }

    fn line(&self) -> String {
        format!(
            "clip '{}', {} frames: volume {:+.3} % at worst ({:+.3} % in the mean) by skinning, {:+.3e} % ({:+.3e} %) kept",
            self.clip,
            self.frames,
            self.skinned_worst_percent,
            self.skinned_mean_percent,
            self.kept_worst_percent,
            self.kept_mean_percent
        )
    }
}
