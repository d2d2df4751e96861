//! Characters played frame by frame and written as files: what `souple bake` and the studio share.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use glam::DVec3;
use souple::Simulation;
use souple::skin::character::PosedCharacter;
use souple::skin::{CharacterModel, PlayedModel, Posed, SkinMesh};
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export::baked::BakedFrame;
use souple_formats::export::glb::{GlbOptions, write_glb};
use souple_formats::export::point_cache::{write_mdd, write_pc2};
use souple_formats::export::{ExportError, safe_file_stem};

use crate::{FileError, MEMORY_LIMIT, disk, size};

/// Endings of files that characters are baked to.
pub const ENDINGS: [&str; 3] = ["glb", "pc2", "mdd"];

/// Number of the frame that a point cache begins with: that of the state at the start.
const FIRST_CACHE_FRAME: i32 = 0;
/// Bytes that a vertex of a frame takes, kept and written as a morph target.
const BYTES_PER_PLACE: f64 = 36.0;

/// The volume of a skin over a clip, relative to what it would be if no joint were bent, percent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClipVolume {
    /// Of skinning alone: the mean over frames.
    pub skinned_mean_percent: f64,
    /// And where it is furthest from 0.
    pub skinned_worst_percent: f64,
    /// Of the result: the mean over frames.
    pub kept_mean_percent: f64,
    /// And where it is furthest from 0.
    pub kept_worst_percent: f64,
    /// What each joint does, of those that do anything.
    pub joints: Vec<JointChange>,
}

/// What a joint does to the volume of a skin over a clip, percent of what it would be if no joint were bent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointChange {
    /// The bone that turns.
    pub bone: String,
    /// What bending it changes, frame by frame.
    pub changed_percent: Vec<f64>,
    /// What its bulge gives back, frame by frame.
    pub given_percent: Vec<f64>,
}

impl JointChange {
    /// What bending it changes where that is furthest from 0.
    pub fn worst_percent(&self) -> f64 {
        worst(self.changed_percent.iter().copied())
    }
}

/// The number that is furthest from 0.
fn worst(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, |worst: f64, p| if p.abs() > worst.abs() { p } else { worst })
}

/// Volumes of the frames that were played.
struct Volumes {
    frames: usize,
    /// By skinning alone, and of the result, percent.
    changes: Vec<[f64; 2]>,
    /// By the bone that turns.
    joints: BTreeMap<u32, JointChange>,
}

impl Volumes {
    fn new(frames: usize) -> Volumes {
        Volumes { frames, changes: Vec::new(), joints: BTreeMap::new() }
    }

    fn add(&mut self, frame: usize, character: &CharacterModel, posed: &PosedCharacter) {
        let (Some(told), Some(volume)) = (posed.volume.as_ref(), posed.skin_volume(character)) else {
            return;
        };
        let of_rest = |volume: f64| if told.rest == 0.0 { 0.0 } else { 100.0 * volume / told.rest };
        self.changes.push([told.skinned, volume].map(|volume| of_rest(volume - told.rest)));
        for joint in posed.joint_volumes() {
            let change = self.joints.entry(joint.node).or_insert_with(|| JointChange {
                bone: character.rig.skeleton.names[joint.node as usize].clone(),
                changed_percent: vec![0.0; self.frames],
                given_percent: vec![0.0; self.frames],
            });
            change.changed_percent[frame] = of_rest(joint.changed);
            change.given_percent[frame] = of_rest(joint.given);
        }
    }

    fn finish(self) -> ClipVolume {
        let changes = &self.changes;
        let mean = |k: usize| changes.iter().map(|c| c[k]).sum::<f64>() / changes.len().max(1) as f64;
        let worst = |k: usize| worst(changes.iter().map(|c| c[k]));
        ClipVolume {
            skinned_mean_percent: mean(0),
            skinned_worst_percent: worst(0),
            kept_mean_percent: mean(1),
            kept_worst_percent: worst(1),
            joints: self.joints.into_values().collect(),
        }
    }
}

/// Numbers of the meshes of a character that have vertices.
fn meshes(character: &CharacterModel) -> Vec<u32> {
    let meshes = (0u32..).zip(&character.rig.meshes);
    meshes.filter(|(_, mesh)| !mesh.mesh.positions.is_empty()).map(|(m, _)| m).collect()
}

/// A mesh of a character, without frames.
fn empty(mesh: &SkinMesh) -> BodyAnimation {
    BodyAnimation {
        name: mesh.name.clone(),
        triangles: mesh.mesh.triangles.clone(),
        uvs: mesh.mesh.uvs.iter().map(|uv| uv.map(|c| c as f32)).collect(),
        ..BodyAnimation::default()
    }
}

fn frame(places: impl IntoIterator<Item = DVec3>) -> Frame {
    let positions = places.into_iter().map(|x| x.as_vec3().to_array()).collect();
    Frame { positions, velocities: Vec::new() }
}

/// A clip that was played.
#[derive(Clone, Debug, Default)]
pub struct Take {
    /// Meshes of the character frame by frame, then bodies that are none of its layers.
    pub animation: Animation,
    /// What becomes of its volume.
    pub volume: ClipVolume,
    /// The same frames as what is added to vertices before bones move them.
    pub offsets: Vec<BakedFrame>,
    /// Vertices, counted in each frame, that bones squeeze so flat that nothing can be added.
    pub not_baked: usize,
}

/// A clip while it is played.
struct Recorder<'a> {
    character: &'a CharacterModel,
    meshes: Vec<u32>,
    take: Take,
    volumes: Volumes,
}

impl Recorder<'_> {
    fn new(character: &CharacterModel, frames: usize, fps: f64) -> Recorder<'_> {
        let meshes = meshes(character);
        let bodies = meshes.iter().map(|m| empty(&character.rig.meshes[*m as usize])).collect();
        let take = Take { animation: Animation { fps, bodies }, ..Take::default() };
        Recorder { character, meshes, take, volumes: Volumes::new(frames) }
    }

    /// Adds a frame: where the vertices of a mesh are in the world, m.
    fn add(&mut self, posed: &PosedCharacter, places: impl Fn(u32) -> Vec<DVec3>) {
        let mut offsets = vec![Vec::new(); self.character.rig.meshes.len()];
        for (&m, body) in self.meshes.iter().zip(&mut self.take.animation.bodies) {
            let places = places(m);
            offsets[m as usize] = (0u32..)
                .zip(&places)
                .map(|(v, x)| {
                    let found = posed.before_bones(self.character, m, v, posed.pose.apply_inverse(*x));
                    self.take.not_baked += usize::from(found.is_none());
                    found.unwrap_or_default().as_vec3().to_array()
                })
                .collect();
            body.frames.push(frame(places));
        }
        self.volumes.add(self.take.offsets.len(), self.character, posed);
        self.take.offsets.push(BakedFrame { offsets, morphs: posed.morphs().to_vec() });
    }

    fn finish(self) -> Take {
        Take { volume: self.volumes.finish(), ..self.take }
    }
}

/// Plays a character.
pub fn bake_clip(character: &CharacterModel, frames: usize, fps: f64) -> Take {
    let (mut posed, mut recorder) = (Posed::default(), Recorder::new(character, frames, fps));
    for k in 0..frames {
        posed.set(std::slice::from_ref(character), k as f64 / fps);
        let one = &posed.characters[0];
        recorder.add(one, |m| {
            let count = character.rig.meshes[m as usize].mesh.positions.len() as u32;
            (0..count).map(|v| one.pose.apply(one.vertex(character, m, v))).collect()
        });
    }
    recorder.finish()
}

/// Simulates the first character of a scene with all that is in it: its skin with elastic layers, and bodies that are no layers of it.
pub fn bake_simulated(simulation: &mut Simulation, frames: usize) -> Take {
    let model = simulation.shared_model();
    let mut recorder = Recorder::new(&model.characters[0], frames, model.fps);
    let own = |b: &usize| model.bodies[*b].layer.as_ref().is_none_or(|layer| layer.character != 0);
    let others: Vec<usize> = (0..model.bodies.len()).filter(own).collect();
    let mut bodies: Vec<BodyAnimation> = others
        .iter()
        .map(|b| BodyAnimation {
            name: model.bodies[*b].name.clone(),
            triangles: model.bodies[*b].topology.triangles.clone(),
            lines: model.bodies[*b].topology.segments.clone(),
            ..BodyAnimation::default()
        })
        .collect();
    for k in 0..frames {
        if k > 0 {
            simulation.step();
        }
        let posed = &simulation.control().characters[1].characters[0];
        recorder.add(posed, |m| simulation.character_places(0, m));
        for (&b, body) in others.iter().zip(&mut bodies) {
            let visible = model.bodies[b].topology.visible();
            body.frames.push(frame(simulation.state().bodies[b].x[..visible].iter().copied()));
        }
    }
    let mut take = recorder.finish();
    take.animation.bodies.append(&mut bodies);
    take
}

/// The files of an animation by the ending of a path: one glTF file, or a point cache per body.
pub fn animation_files(path: &Path, ending: &str, animation: &Animation) -> Vec<(PathBuf, Encoded)> {
    if ending == "glb" {
        return vec![(path.to_path_buf(), write_glb(animation, &GlbOptions::default()))];
    }
    let encode = |body: &BodyAnimation| match ending {
        "pc2" => write_pc2(body, FIRST_CACHE_FRAME),
        _ => write_mdd(body, animation.fps),
    };
    animation
        .bodies
        .iter()
        .zip(cache_paths(path, animation))
        .map(|(body, path)| (path, encode(body)))
        .collect()
}

/// The bytes of a file, or why there are none.
pub type Encoded = Result<Vec<u8>, ExportError>;

/// The path of each body's point cache: the one given for a single body, with the body's name in it for several.
fn cache_paths(path: &Path, animation: &Animation) -> Vec<PathBuf> {
    if animation.bodies.len() == 1 {
        return vec![path.to_path_buf()];
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let mut taken = BTreeSet::new();
    let names = animation.bodies.iter().map(|body| {
        let name = safe_file_stem(&body.name);
        // Different names may become the same on disk, and some disks do not tell upper from lower case.
        let mut free = name.clone();
        let mut number = 2;
        while !taken.insert(free.to_lowercase()) {
            free = format!("{name}-{number}");
            number += 1;
        }
        path.with_file_name(format!("{stem}_{free}.{extension}"))
    });
    names.collect()
}

/// A path with the name of a clip in it, which no other has.
pub fn clip_path(path: &Path, clip: &str, taken: &mut BTreeSet<String>) -> PathBuf {
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

/// What became of a character.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baked {
    /// Names of the clips and what became of its volume.
    pub clips: Vec<(String, ClipVolume)>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
}

/// Bakes all clips of a character, each by itself, or its pose if it has none: one file per clip, with its name if there are several.
pub fn bake_character(
    character: &CharacterModel,
    path: &Path,
    fps: f64,
    mut go_on: impl FnMut() -> bool,
) -> Result<Baked, FileError> {
    let ending = path.extension().unwrap_or_default().to_string_lossy().to_lowercase();
    if !ENDINGS.contains(&ending.as_str()) {
        let problem = format!("a character cannot be baked as '.{ending}'");
        return Err(FileError::file(path, problem, "end its name in one of .glb .pc2 .mdd"));
    }
    let vertices: usize = character.rig.meshes.iter().map(|mesh| mesh.mesh.positions.len()).sum();
    let clips: Vec<(Option<usize>, String)> = match character.rig.clips.is_empty() {
        true => vec![(None, "rest".to_owned())],
        false => character.rig.clips.iter().enumerate().map(|(k, c)| (Some(k), c.name.clone())).collect(),
    };
    let (mut baked, mut taken) = (Baked::default(), BTreeSet::new());
    for (clip, name) in &clips {
        let duration = clip.map_or(0.0, |clip| character.rig.clips[clip].duration);
        let frames = (duration * fps).ceil() + 1.0;
        let needed = frames * vertices as f64 * BYTES_PER_PLACE;
        if needed.is_nan() || needed > MEMORY_LIMIT as f64 {
            let problem = format!("clip '{name}' would be {frames} frames, about {}", size(needed as u128));
            return Err(FileError::file(path, problem, "give a smaller number of frames per second"));
        }
        if !go_on() {
            return Err(FileError::file(path, "stopped before all was written", ""));
        }
        let mut played = character.clone();
        let play = |clip| PlayedModel { clip, weight: 1.0, start: 0.0, speed: 1.0, repeat: false };
        played.clips = Vec::from_iter(clip.map(play));
        let Take { animation, volume, .. } = bake_clip(&played, frames as usize, fps);
        baked.clips.push((name.clone(), volume));
        let target = if clips.len() == 1 { path.to_path_buf() } else { clip_path(path, name, &mut taken) };
        for (path, bytes) in animation_files(&target, &ending, &animation) {
            let bytes = bytes.map_err(|error| FileError::file(&path, format!("not written: {error}"), ""))?;
            disk::write(&path, &bytes)?;
            baked.files.push(path);
        }
    }
    Ok(baked)
}

#[cfg(test)]
mod tests {
    use souple::ModelBuilder;
    use souple::scene::{Character, RigSource, Scene, SkinVolume};
    use souple_formats::import::{Limits, read_rig};

    use super::*;

    #[test]
    fn bodies_never_share_a_point_cache() {
        let body = |name: &str| BodyAnimation { name: name.into(), ..BodyAnimation::default() };
        let bodies = ["flag", "a/b", "a:b", "A_B", "a_b-2"].map(body).to_vec();
        let animation = Animation { fps: 60.0, bodies };
        let paths = cache_paths(Path::new("out/x.pc2"), &animation);
        let expected = ["flag", "a_b", "a_b-2", "A_B-3", "a_b-2-2"].map(|n| format!("out/x_{n}.pc2"));
        assert_eq!(paths, expected.map(PathBuf::from));
        let one = Animation { fps: 60.0, bodies: vec![body("flag")] };
        assert_eq!(cache_paths(Path::new("out/x.pc2"), &one), [PathBuf::from("out/x.pc2")]);
    }

    #[test]
    fn a_character_is_baked_clip_by_clip() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/elbow.glb");
        let limits = Limits::default();
        let bytes = disk::read(&file, limits.max_bytes, "character").unwrap();
        let rig = read_rig(&bytes, &limits, &mut |_| Err("alone".into())).unwrap();
        let volume = Some(SkinVolume::default());
        let character = Character { rig: RigSource::Inline(rig), volume, ..Character::default() };
        let scene = Scene { characters: vec![character], ..Scene::default() };
        let model = ModelBuilder::new(&scene).build().unwrap();
        let folder = tempfile::tempdir().unwrap();
        for ending in ENDINGS {
            let path = folder.path().join(format!("out.{ending}"));
            let baked = bake_character(&model.characters[0], &path, 12.0, || true).unwrap();
            let clips = model.characters[0].rig.clips.len().max(1);
            assert_eq!((baked.clips.len(), baked.files.len()), (clips, clips));
            assert!(baked.files.iter().all(|file| file.metadata().unwrap().len() > 100));
            let volume = &baked.clips[0].1;
            assert!(
                volume.skinned_worst_percent < -0.5 && volume.kept_worst_percent.abs() < 1e-9,
                "{volume:?}"
            );
        }
        let stopped = bake_character(&model.characters[0], &folder.path().join("no.glb"), 12.0, || false);
        assert!(stopped.is_err() && !folder.path().join("no.glb").exists());
        assert!(bake_character(&model.characters[0], &folder.path().join("no.txt"), 12.0, || true).is_err());
        let endless = bake_character(&model.characters[0], &folder.path().join("no.glb"), 1e12, || true);
        assert!(endless.is_err());
    }
}
