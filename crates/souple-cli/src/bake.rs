//! `souple bake`: the clips of a character with a skin that keeps its volume and with elastic layers, as its own glTF file with a morph target per
//! frame, or as point caches. How it is done is in [`souple_files::bake`].

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use souple::check::{Lint, lint_rig, lint_size};
use souple::scene::{Character, Rig, RigFile, RigSource, Scene, SkinVolume};
use souple::skin::CharacterModel;
use souple_files::bake::{BakeOrder, BakedTake, BodyTake, JointChange, Recipe, all_clips, ending};
use souple_files::{SceneFolder, disk, read_scene_file, resolve_files};
use souple_formats::import::{Limits, MeshFormat, read_rig};
use souple_formats::scene::{MAX_SKELETON_BYTES, SceneFile, read_rig_file};

use crate::args::{BakeArgs, Format};
use crate::failure::{Failure, Outcome};
use crate::report::{note, say, say_json};

#[derive(Serialize)]
struct BakeReport {
    input: String,
    vertices: usize,
    /// Vertices of pieces that joints bend, but that have no inside.
    left_alone: usize,
    /// Borders that are closed by fans to have a volume.
    open_borders: usize,
    /// Vertices, counted in each frame, that bones squeeze so flat that no morph target can move them.
    not_baked: usize,
    clips: Vec<ClipReport>,
    /// Why a .glb holds positions alone, without the skin and the materials of the file; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    positions_only: Option<String>,
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
    /// What was simulated while it played.
    bodies: Vec<BodyReport>,
}

/// A body of the recipe over a clip.
#[derive(Serialize)]
struct BodyReport {
    name: String,
    /// Whether it is an elastic layer of the character, not a body beside it.
    layer: bool,
    /// Those that move.
    particles: usize,
    /// By how much the edge that was stretched most was longer than at rest; of a layer, than where the skin has it.
    stretch_max_percent: f64,
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
    let mut recipe = load(args)?;
    let model = recipe.build()?;
    let Some(character) = model.characters.first() else {
        return Err(Failure::file(&args.input, "the file holds no character", ""));
    };
    let vertices: usize = character.rig.meshes.iter().map(|mesh| mesh.mesh.positions.len()).sum();
    if vertices == 0 {
        return Err(Failure::file(&args.input, "the character has no surface", "bake a file with a mesh"));
    }
    let order = BakeOrder { clips: chosen_clips(args, character)?, fps: args.fps, outputs };
    order.check_outputs()?;
    order
        .check_frames(character)
        .map_err(|error| error.with_help("give a smaller --fps, or choose other clips with --clip"))?;
    order.outputs.iter().try_for_each(|path| disk::check_writable(path))?;
    // Without bodies its size does not matter.
    let size = if model.bodies.is_empty() { None } else { lint_size(0, character) };
    for Lint { message, help, .. } in lint_rig(0, character).into_iter().chain(size) {
        let place = if help.contains('`') { " in the [[character]] of a --recipe" } else { "" };
        note(&format!("warning: {message}\nhelp: {help}{place}"));
    }
    if character.volume.as_ref().is_some_and(|volume| volume.is_idle()) {
        note("warning: no part of the skin has an inside and a joint that bends it: nothing is corrected");
    }
    let mut silent = None;
    let mut told = |take: &BakedTake| {
        take.warnings.iter().for_each(|warning| note(&format!("warning: {warning}")));
        if !args.json {
            silent = say(&line(take)).err();
        }
        silent.is_none()
    };
    let baked = recipe.bake(&model, &order, &mut told);
    if let Some(failure) = silent {
        return Err(failure);
    }
    let baked = baked?;
    if let Some(why) = &baked.positions_only {
        note(&format!(
            "note: {why}: .glb gets positions per frame, without the skin and the materials of the file"
        ));
    }
    if baked.not_baked > 0 {
        note(&format!(
            "warning: {} places of vertices are squeezed flat by bones and stay as the file's skin has them in .glb; point caches have them",
            baked.not_baked
        ));
    }
    let report = BakeReport {
        input: args.input.display().to_string(),
        vertices,
        left_alone: character.volume.as_ref().map_or(0, |volume| volume.open.left_alone),
        open_borders: character.volume.as_ref().map_or(0, |volume| volume.open.borders),
        not_baked: baked.not_baked,
        clips: baked.clips.into_iter().map(ClipReport::from).collect(),
        positions_only: baked.positions_only,
        files: baked.files.iter().map(|path| path.display().to_string()).collect(),
    };
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
    Ok(outputs)
}

/// The scene as the recipe has it, with the rig of the file.
fn load(args: &BakeArgs) -> Result<Recipe<'static>, Failure> {
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
        None => {
            let name = args.input.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            (Scene { characters: vec![Character { name, ..Character::default() }], ..Scene::default() }, None)
        }
    };
    let (rig, file) = read_character(args)?;
    let character = &mut scene.characters[0];
    character.rig = RigSource::Inline(rig);
    // Each clip is baked by itself, where the character stands.
    character.clips.clear();
    character.volume.get_or_insert_with(SkinVolume::default);
    let folder = SceneFolder::of_scene(&args.input, false);
    let beside = Box::new(move |uri: &str| folder.read(uri, Limits::default().max_bytes, "buffer"));
    Ok(Recipe { scene, character: 0, path: args.input.clone(), file, beside, source })
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
    let rig =
        read_rig(&bytes, &limits, &mut beside).map_err(|error| Failure::file(&args.input, error, ""))?;
    Ok((rig, Some(bytes)))
}

/// Numbers and names of what is baked: all clips, those that are named, or the pose of a file without any.
fn chosen_clips(
    args: &BakeArgs,
    character: &CharacterModel,
) -> Result<Vec<(Option<usize>, String)>, Failure> {
    let clips = &character.rig.clips;
    let all = all_clips(character);
    if args.clip.is_empty() {
        return Ok(all);
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

impl From<BakedTake> for ClipReport {
    fn from(take: BakedTake) -> ClipReport {
        let BakedTake { name, frames, volume, bodies, warnings: _ } = take;
        ClipReport {
            clip: name,
            frames,
            skinned_mean_percent: volume.skinned_mean_percent,
            skinned_worst_percent: volume.skinned_worst_percent,
            kept_mean_percent: volume.kept_mean_percent,
            kept_worst_percent: volume.kept_worst_percent,
            joints: volume.joints.into_iter().map(JointReport::from).collect(),
            bodies: bodies.into_iter().map(BodyReport::from).collect(),
        }
    }
}

impl From<BodyTake> for BodyReport {
    fn from(body: BodyTake) -> BodyReport {
        let BodyTake { name, is_layer, particles, stretch_percent } = body;
        BodyReport { name, layer: is_layer, particles, stretch_max_percent: stretch_percent }
    }
}

/// What became of a clip, for people.
fn line(take: &BakedTake) -> String {
    let volume = &take.volume;
    let bodies = take.bodies.iter().map(|body| {
        let (kind, rest) = match body.is_layer {
            true => ("layer", "where the skin has it"),
            false => ("body", "at rest"),
        };
        let (name, particles, stretch) = (&body.name, body.particles, body.stretch_percent);
        format!("\n  {kind} '{name}': {particles} particles, at most {stretch:.2} % longer than {rest}")
    });
    let volume = format!(
        "clip '{}', {} frames: volume {:+.3} % at worst ({:+.3} % in the mean) by skinning, {:+.3e} % ({:+.3e} %) kept",
        take.name,
        take.frames,
        volume.skinned_worst_percent,
        volume.skinned_mean_percent,
        volume.kept_worst_percent,
        volume.kept_mean_percent
    );
    std::iter::once(volume).chain(bodies).collect()
}
