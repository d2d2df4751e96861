//! `souple bake`: the clips of a character with a skin that keeps its volume, as its own glTF file with a morph target per frame, or as point
//! caches.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use souple::scene::{Character, Rig, RigFile, RigSource, Scene, SkinVolume};
use souple::skin::{CharacterModel, PlayedModel, Posed, RigRepairs};
use souple::{Model, ModelBuilder};
use souple_files::{MEMORY_LIMIT, SceneFolder, disk, read_scene_file, size};
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export::baked::{BakedClip, BakedFrame, write_baked_glb};
use souple_formats::export::rig::write_rig_glb;
use souple_formats::export::safe_file_stem;
use souple_formats::import::{Limits, MeshFormat, read_rig};
use souple_formats::scene::{MAX_SKELETON_BYTES, read_rig_file};

use crate::args::{BakeArgs, Format};
use crate::failure::{Failure, Outcome};
use crate::outputs::{Writer, estimate_bytes};
use crate::report::{note, say, say_json};

/// Most frames of one clip.
const MAX_FRAMES: f64 = 1e6;

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
}

/// Runs the command.
pub fn run(args: &BakeArgs) -> Outcome {
    let outputs = outputs(args)?;
    let Loaded { model, source, weighted } = load(args)?;
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
    let (whole, caches): (Vec<&PathBuf>, Vec<&PathBuf>) = outputs.iter().partition(|p| ending(p) == "glb");
    let mut names = BTreeSet::new();
    let (mut writer, mut baked) = (Writer::new(), Vec::new());
    for (clip, name) in &clips {
        let mut played = character.clone();
        played.clips = Vec::from_iter(clip.map(|clip| PlayedModel {
            clip,
            weight: 1.0,
            start: 0.0,
            speed: 1.0,
            repeat: false,
        }));
        let duration = clip.map_or(0.0, |clip| character.rig.clips[clip].duration);
        let frames = frame_count(args, &outputs, name, duration, vertices)?;
        let (animation, told) = bake(&played, name, frames, args.fps);
        if !args.json {
            say(&told.line())?;
        }
        report.clips.push(told);
        if !whole.is_empty() {
            let (frames, missed) = offsets(&played, frames, args.fps);
            report.not_baked += missed;
            baked.push(BakedClip { clip: *clip, fps: args.fps, frames });
        }
        for output in &caches {
            let path = if clips.len() == 1 { output.to_path_buf() } else { named(output, name, &mut names) };
            writer.animation_file(&path, &ending(output), &animation);
        }
    }
    if !whole.is_empty() {
        let folder = SceneFolder::of_scene(&args.input, false);
        let limits = Limits::default();
        let mut beside = |uri: &str| folder.read(uri, limits.max_bytes, "buffer");
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

/// A character that is to be baked.
struct Loaded {
    model: Model,
    /// A glTF file with it.
    source: Vec<u8>,
    /// Its rig with the weights it has got, if they are not those of the file.
    weighted: Option<Rig>,
}

/// The character as the recipe has it, with the rig of the file.
fn load(args: &BakeArgs) -> Result<Loaded, Failure> {
    let (mut scene, source) = match &args.recipe {
        Some(path) => {
            let file = read_scene_file(path)?;
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
    let found = character.weights.is_some();
    let only = Scene { characters: std::mem::take(&mut scene.characters), ..Scene::default() };
    let model = ModelBuilder::new(&only).build().map_err(|error| match &source {
        Some(source) => Failure::from(source.explain(&error)),
        None => Failure::file(&args.input, &error, error.help.clone()),
    })?;
    let repaired = |repairs: &RigRepairs| repairs.normalised_vertices + repairs.unweighted_vertices > 0;
    let weighted = model
        .characters
        .first()
        .filter(|character| found || bytes.is_none() || repaired(&character.rig.repairs))
        .map(|character| character.rig.with_weights(&rig));
    let source = match bytes {
        Some(bytes) => bytes,
        None => write_rig_glb(weighted.as_ref().unwrap_or(&rig))
            .map_err(|error| Failure::file(&args.input, error, "repair the mesh or the skeleton"))?,
    };
    Ok(Loaded { model, source, weighted })
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

/// Plays a character: its meshes frame by frame, and what becomes of its volume.
fn bake(character: &CharacterModel, clip: &str, frames: usize, fps: f64) -> (Animation, ClipReport) {
    let mut bodies: Vec<BodyAnimation> = character
        .rig
        .meshes
        .iter()
        .filter(|mesh| !mesh.mesh.positions.is_empty())
        .map(|mesh| BodyAnimation {
            name: mesh.name.clone(),
            triangles: mesh.mesh.triangles.clone(),
            uvs: mesh.mesh.uvs.iter().map(|uv| uv.map(|c| c as f32)).collect(),
            ..BodyAnimation::default()
        })
        .collect();
    let (mut posed, mut skinned, mut kept) = (Posed::default(), Vec::new(), Vec::new());
    for frame in 0..frames {
        posed.set(std::slice::from_ref(character), frame as f64 / fps);
        let one = &posed.characters[0];
        if let (Some(told), Some(volume)) = (&one.volume, one.skin_volume(character)) {
            let percent =
                |volume: f64| if told.rest == 0.0 { 0.0 } else { 100.0 * (volume / told.rest - 1.0) };
            skinned.push(percent(told.skinned));
            kept.push(percent(volume));
        }
        let meshes = (0u32..).zip(&character.rig.meshes).filter(|(_, mesh)| !mesh.mesh.positions.is_empty());
        for ((m, mesh), body) in meshes.zip(&mut bodies) {
            let place = |v: u32| one.pose.apply(one.vertex(character, m, v)).as_vec3().to_array();
            let positions = (0..mesh.mesh.positions.len() as u32).map(place).collect();
            body.frames.push(Frame { positions, velocities: Vec::new() });
        }
    }
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len().max(1) as f64;
    let worst =
        |list: &[f64]| list.iter().fold(0.0, |worst: f64, p| if p.abs() > worst.abs() { *p } else { worst });
    let told = ClipReport {
        clip: clip.to_owned(),
        frames,
        skinned_mean_percent: mean(&skinned),
        skinned_worst_percent: worst(&skinned),
        kept_mean_percent: mean(&kept),
        kept_worst_percent: worst(&kept),
    };
    (Animation { fps, bodies }, told)
}

/// What must be added to each vertex before bones move it, frame by frame, and of how many that cannot be told.
fn offsets(character: &CharacterModel, frames: usize, fps: f64) -> (Vec<BakedFrame>, usize) {
    let (mut posed, mut missed) = (Posed::default(), 0);
    let mut made = Vec::with_capacity(frames);
    for frame in 0..frames {
        posed.set(std::slice::from_ref(character), frame as f64 / fps);
        let one = &posed.characters[0];
        let mut offset = |m: u32, v: u32| {
            let found = one.before_bones(character, m, v);
            missed += usize::from(found.is_none());
            found.unwrap_or_default().as_vec3().to_array()
        };
        let meshes = (0u32..).zip(&character.rig.meshes);
        let offsets = meshes
            .map(|(m, mesh)| (0..mesh.mesh.positions.len() as u32).map(|v| offset(m, v)).collect())
            .collect();
        made.push(BakedFrame { offsets, morphs: one.morphs().to_vec() });
    }
    (made, missed)
}

impl ClipReport {
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

/// A path with the name of a clip in it, which no other has.
fn named(path: &Path, clip: &str, taken: &mut BTreeSet<String>) -> PathBuf {
    let (stem, ending) = (
        path.file_stem().unwrap_or_default().to_string_lossy(),
        path.extension().unwrap_or_default().to_string_lossy(),
    );
    let name = safe_file_stem(clip);
    let mut free = format!("{stem}-{name}.{ending}");
    let mut number = 2;
    // Some disks do not tell upper from lower case.
    while !taken.insert(free.to_lowercase()) {
        free = format!("{stem}-{name}-{number}.{ending}");
        number += 1;
    }
    path.with_file_name(free)
}
