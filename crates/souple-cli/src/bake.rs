//! `souple bake`: the clips of a character with a skin that keeps its volume, as morph targets per frame or as point caches.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Serialize;
use souple::scene::{Character, RigSource, Scene, SkinVolume};
use souple::skin::{CharacterModel, PlayedModel, Posed};
use souple::{Model, ModelBuilder};
use souple_files::{MEMORY_LIMIT, SceneFolder, disk, read_scene_file, size};
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export::safe_file_stem;
use souple_formats::import::{Limits, MeshFormat, read_rig};

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
    let model = load(args)?;
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
        let mut played = character.clone();
        played.clips = Vec::from_iter(clip.map(|clip| PlayedModel {
            clip,
            weight: 1.0,
            start: 0.0,
            speed: 1.0,
            repeat: false,
        }));
        let duration = clip.map_or(0.0, |clip| character.rig.clips[clip].duration);
        let frames = frame_count(args, name, duration, vertices)?;
        let (animation, told) = bake(&played, name, frames, args.fps);
        if !args.json {
            say(&told.line())?;
        }
        report.clips.push(told);
        let mut writer = Writer::new();
        for output in &args.output {
            let path = if clips.len() == 1 { output.clone() } else { named(output, name, &mut names) };
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

/// The character as the recipe has it, with the rig of the file.
fn load(args: &BakeArgs) -> Result<Model, Failure> {
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
    let only = Scene { characters: std::mem::take(&mut scene.characters), ..Scene::default() };
    let model = ModelBuilder::new(&only).build().map_err(|error| match &source {
        Some(source) => Failure::from(source.explain(&error)),
        None => Failure::file(&args.input, &error, error.help.clone()),
    })?;
    Ok(model)
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
    let mut joints: BTreeMap<u32, JointReport> = BTreeMap::new();
    for frame in 0..frames {
        posed.set(std::slice::from_ref(character), frame as f64 / fps);
        let one = &posed.characters[0];
        if let (Some(told), Some(volume)) = (&one.volume, one.skin_volume(character)) {
            let percent =
                |volume: f64| if told.rest == 0.0 { 0.0 } else { 100.0 * (volume / told.rest - 1.0) };
            skinned.push(percent(told.skinned));
            kept.push(percent(volume));
            for joint in one.joint_volumes() {
                let of_rest = |volume: f64| if told.rest == 0.0 { 0.0 } else { 100.0 * volume / told.rest };
                let report = joints.entry(joint.node).or_insert_with(|| JointReport {
                    bone: character.rig.skeleton.names[joint.node as usize].clone(),
                    changed_worst_percent: 0.0,
                    changed_percent: vec![0.0; frames],
                    given_percent: vec![0.0; frames],
                });
                report.changed_percent[frame] = of_rest(joint.changed);
                report.given_percent[frame] = of_rest(joint.given);
            }
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
    for joint in joints.values_mut() {
        joint.changed_worst_percent = worst(&joint.changed_percent);
    }
    let told = ClipReport {
        clip: clip.to_owned(),
        frames,
        skinned_mean_percent: mean(&skinned),
        skinned_worst_percent: worst(&skinned),
        kept_mean_percent: mean(&kept),
        kept_worst_percent: worst(&kept),
        joints: joints.into_values().collect(),
    };
    (Animation { fps, bodies }, told)
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
