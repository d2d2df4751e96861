//! `souple bake`: the clips of a character with a skin that keeps its volume and with elastic layers, as its own glTF file with a morph target per
//! frame, or as point caches.
//!
//! A recipe is a scene: its bodies are simulated while a clip plays, and the character is baked with those that are layers of it. Each clip
//! starts from its first pose, in which layers come to rest before the first frame. What has other vertices than the file, as skins that are cut finer and
//! bodies that are no layers, is no part of it: then all is written as positions per frame.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use souple::scene::{Character, PlayedClip, Rig, RigFile, RigSource, Scene, SkinVolume};
use souple::skin::{CharacterModel, PlayedModel, RigRepairs};
use souple::{Model, ModelBuilder, Simulation};
use souple_files::bake::{ClipVolume, JointChange, bake_clip, bake_simulated, clip_path};
use souple_files::{MEMORY_LIMIT, SceneFolder, disk, read_scene_file, resolve_files, size};
use souple_formats::export::baked::{BakedClip, write_baked_glb};
use souple_formats::export::rig::write_rig_glb;
use souple_formats::import::{Limits, MeshFormat, read_rig};
use souple_formats::scene::{MAX_SKELETON_BYTES, SceneFile, Source, read_rig_file};

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
    /// Vertices, counted in each frame, that bones squeeze so flat that no morph target can move them.
    not_baked: usize,
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
    let outputs = outputs(args)?;
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
    outputs.iter().try_for_each(|path| disk::check_writable(path))?;
    let mut report = BakeReport {
        input: args.input.display().to_string(),
        vertices,
        left_alone: character.volume.as_ref().map_or(0, |volume| volume.left_alone),
        not_baked: 0,
        clips: Vec::new(),
        files: Vec::new(),
    };
    if character.volume.as_ref().is_some_and(|volume| volume.is_idle()) {
        note("warning: no part of the skin has an inside and a joint that bends it: nothing is corrected");
    }
    let as_file = recipe.has_the_vertices_of_the_file(&model);
    if !as_file && outputs.iter().any(|path| ending(path) == "glb") {
        note(
            "note: the recipe makes other vertices than the file has: .glb gets positions per frame, without the skin and the materials of the file",
        );
    }
    let in_file = |path: &&PathBuf| as_file && ending(path) == "glb";
    let (whole, others): (Vec<&PathBuf>, Vec<&PathBuf>) = outputs.iter().partition(in_file);
    let mut names = BTreeSet::new();
    let (mut writer, mut baked) = (Writer::new(), Vec::new());
    for (clip, name) in &clips {
        let duration = clip.map_or(0.0, |clip| character.rig.clips[clip].duration);
        let frames = frame_count(args, &outputs, name, duration, vertices)?;
        let take = if model.bodies.is_empty() {
            let mut played = character.clone();
            let play = |clip| PlayedModel { clip, weight: 1.0, start: 0.0, speed: 1.0, repeat: false };
            played.clips = Vec::from_iter(clip.map(play));
            bake_clip(&played, frames, args.fps)
        } else {
            let mut run = playing(&recipe, args, *clip)?;
            (0..settling(args.fps)).for_each(|_| run.step());
            let take = bake_simulated(&mut run, frames);
            run.warnings().iter().for_each(|warning| note(&format!("warning: {warning}")));
            take
        };
        let told = ClipReport::new(name, frames, take.volume);
        if !args.json {
            say(&told.line())?;
        }
        report.clips.push(told);
        if !whole.is_empty() {
            report.not_baked += take.not_baked;
            baked.push(BakedClip { clip: *clip, fps: args.fps, frames: take.offsets });
        }
        for output in &others {
            let path =
                if clips.len() == 1 { output.to_path_buf() } else { clip_path(output, name, &mut names) };
            writer.animation_file(&path, &ending(output), &take.animation);
        }
    }
    if !whole.is_empty() {
        let folder = SceneFolder::of_scene(&args.input, false);
        let limits = Limits::default();
        let mut beside = |uri: &str| folder.read(uri, limits.max_bytes, "buffer");
        let weighted = recipe.weighted(character);
        let source = recipe.source_file(args, weighted.as_ref())?;
        let bytes = write_baked_glb(&source, &limits, &mut beside, &baked, weighted.as_ref())
            .map_err(|error| Failure::file(&args.input, error, "bake other clips, or repair the file"))?;
        whole.iter().for_each(|path| writer.write(path, Ok(bytes.clone())));
    }
    if report.not_baked > 0 {
        note(&format!(
            "warning: {} places of vertices are squeezed flat by bones and stay as the file's skin has them in .glb; point caches have them",
            report.not_baked
        ));
    }
    if let Some(failure) = writer.failures.into_iter().next() {
        return Err(failure);
    }
    report.files.extend(writer.written.iter().map(|path| path.display().to_string()));
    if args.json {
        say_json(&report)?;
    } else {
        report.files.iter().try_for_each(|file| say(&format!("wrote {file}")))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The files to write: those that are named, and those of other formats beside the first.
fn outputs(args: &BakeArgs) -> Result<Vec<PathBuf>, Failure> {
    let mut outputs = args.output.clone();
    let first = args.output.first().cloned().unwrap_or_default();
    for format in &args.format {
        let ending = match format {
            Format::Glb => "glb",
            Format::Pc2 => "pc2",
            Format::Mdd => "mdd",
            _ => {
                let problem = "a character cannot be baked in one of these formats";
                return Err(Failure::file(&first, problem, "--format has glb, pc2 and mdd"));
            }
        };
        let path = first.with_extension(ending);
        if !outputs.contains(&path) {
            outputs.push(path);
        }
    }
    match outputs.iter().find(|output| !["glb", "pc2", "mdd"].contains(&ending(output).as_str())) {
        Some(output) => {
            let problem = format!("a character cannot be baked as '.{}'", ending(output));
            Err(Failure::file(output, problem, "end its name in one of .glb .pc2 .mdd"))
        }
        None => Ok(outputs),
    }
}

fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// The scene of a recipe with the rig of the file, and where both were read from.
struct Recipe {
    scene: Scene,
    source: Option<Source>,
    /// The rig as the file has it.
    rig: Rig,
    /// The bytes of a glTF file; none of a mesh with a skeleton.
    bytes: Option<Vec<u8>>,
}

impl Recipe {
    fn build(&self, args: &BakeArgs) -> Result<Model, Failure> {
        self.build_scene(&self.scene, args)
    }

    fn build_scene(&self, scene: &Scene, args: &BakeArgs) -> Result<Model, Failure> {
        ModelBuilder::new(scene).build().map_err(|error| match &self.source {
            Some(source) => Failure::from(source.explain(&error)),
            None => Failure::file(&args.input, &error, error.help.clone()),
        })
    }

    /// Whether what is baked are the vertices of the file, and nothing else.
    fn has_the_vertices_of_the_file(&self, model: &Model) -> bool {
        let is_layer =
            |body: &souple::model::BodyModel| body.layer.as_ref().is_some_and(|layer| layer.character == 0);
        let same_bones = self.scene.characters.iter().all(|character| character.inserted.is_empty());
        let meshes = model.characters.iter().flat_map(|character| &character.rig.meshes);
        let counts: Vec<usize> = meshes.map(|mesh| mesh.mesh.positions.len()).collect();
        let same_meshes = counts.iter().eq(self
            .rig
            .meshes
            .iter()
            .map(|mesh| mesh.positions.len())
            .collect::<Vec<_>>()
            .iter());
        same_bones && same_meshes && model.bodies.iter().all(is_layer)
    }

    /// The rig of the file with the weights that the character has got, if they are not those of the file.
    fn weighted(&self, character: &CharacterModel) -> Option<Rig> {
        let found = self.scene.characters.iter().any(|character| character.weights.is_some());
        let repaired = |repairs: &RigRepairs| repairs.normalised_vertices + repairs.unweighted_vertices > 0;
        let other = found || self.bytes.is_none() || repaired(&character.rig.repairs);
        other.then(|| character.rig.with_weights(&self.rig))
    }

    /// A glTF file with the character: its own, or one that is made of a mesh and its bones.
    fn source_file(&self, args: &BakeArgs, weighted: Option<&Rig>) -> Result<Vec<u8>, Failure> {
        match &self.bytes {
            Some(bytes) => Ok(bytes.clone()),
            None => write_rig_glb(weighted.unwrap_or(&self.rig))
                .map_err(|error| Failure::file(&args.input, error, "repair the mesh or the skeleton")),
        }
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
    Ok(Simulation::new(recipe.build_scene(&scene, args)?))
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
    let (rig, bytes) = read_character(args)?;
    let character = &mut scene.characters[0];
    character.rig = RigSource::Inline(rig.clone());
    // Each clip is baked by itself, where the character stands.
    character.clips.clear();
    character.volume.get_or_insert_with(SkinVolume::default);
    Ok(Recipe { scene, source, rig, bytes })
}

/// A recipe with its files inside; the rig of its character, if it names one, is not read.
fn read_recipe(path: &Path) -> Result<SceneFile, Failure> {
    let mut file = read_scene_file(path)?;
    file.scene.characters.iter_mut().for_each(|character| character.rig = RigSource::default());
    resolve_files(&mut file, path, false)?;
    Ok(file)
}

/// The rig of the file, and its bytes if they are a glTF file.
fn read_character(args: &BakeArgs) -> Result<(Rig, Option<Vec<u8>>), Failure> {
    let limits = Limits::default();
    if let Some(skeleton) = &args.skeleton {
        // Both are named by the user, wherever they are.
        let file = RigFile {
            path: args.input.to_string_lossy().into_owned(),
            skeleton: Some(skeleton.to_string_lossy().into_owned()),
        };
        let mut read = |path: &str| {
            let (limit, what) = match Path::new(path) == skeleton {
                true => (MAX_SKELETON_BYTES, "skeleton"),
                false => (limits.max_bytes, "mesh"),
            };
            disk::read(Path::new(path), limit, what).map_err(|error| error.to_string())
        };
        let rig = read_rig_file(&file, "path", &mut read)
            .map_err(|error| Failure::file(&args.input, &error.problem, error.help.clone()))?;
        return Ok((rig, None));
    }
    if MeshFormat::from_extension(&ending(&args.input)) != Some(MeshFormat::Gltf) {
        let help = "convert it to .glb or .gltf, which Blender and most others write, or give a mesh its bones by --skeleton";
        return Err(Failure::file(&args.input, "not a character that can be read", help));
    }
    let bytes = disk::read(&args.input, limits.max_bytes, "character")?;
    let folder = SceneFolder::of_scene(&args.input, false);
    let mut beside = |uri: &str| folder.read(uri, limits.max_bytes, "buffer");
    let rig = read_rig(&bytes, &limits, &mut beside)
        .map_err(|error| Failure::file(&args.input, error, "repair the file, or export it again"))?;
    Ok((rig, Some(bytes)))
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

fn frame_count(
    args: &BakeArgs,
    outputs: &[PathBuf],
    clip: &str,
    duration: f64,
    vertices: usize,
) -> Result<usize, Failure> {
    let frames = (duration * args.fps).ceil() + 1.0;
    let formats: Vec<Format> =
        outputs.iter().map(|path| if ending(path) == "glb" { Format::Glb } else { Format::Pc2 }).collect();
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
