//! Characters played frame by frame and written as files: what `souple bake`, `souple run` and the studio share.
//!
//! A recipe is a scene with a character: bodies of it are simulated while a clip plays, and the character is baked with those that are layers of it. Each clip
//! starts from its first pose, in which layers come to rest before the first frame. A `.glb` is the file of the character itself with the result as morph
//! targets ([`souple_formats::export::baked`]), and with bodies that are no part of it beside; where the skin has other vertices than the file, all is written as
//! positions per frame, and it is told why.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use souple::model::{BodyModel, Carrier};
use souple::scene::{Character, PlayedClip, Rig, RigFile, RigSource, Scene};
use souple::skin::{CharacterModel, PlayedModel};
use souple::{Model, ModelBuilder, Simulation};
use souple_formats::animation::{Animation, BodyAnimation};
use souple_formats::export::baked::{BakedClip, Baking, Played, write_baked_glb};
use souple_formats::export::baked_scene::NewClip;
use souple_formats::export::glb::{GlbOptions, write_glb};
use souple_formats::export::point_cache::{write_mdd, write_pc2};
use souple_formats::export::rig::write_rig_glb;
use souple_formats::export::{ExportError, safe_file_stem};
use souple_formats::import::Limits;
use souple_formats::scene::{Source, beside_path};

pub use crate::takes::{
    BodyTake, ClipVolume, JointChange, PlainCharacter, SkinRecorder, Take, bake_clip, bake_simulated,
};
use crate::{FileError, FrameRecorder, MEMORY_LIMIT, SceneFolder, disk, read_scene_file, size};

/// Endings of files that characters are baked to.
pub const ENDINGS: [&str; 3] = ["glb", "pc2", "mdd"];

/// Number of the frame that a point cache begins with: that of the state at the start.
const FIRST_CACHE_FRAME: i32 = 0;
/// Bytes that a vertex of a frame takes, kept and written as a morph target.
const BYTES_PER_PLACE: f64 = 36.0;
/// Most frames of one clip.
const MAX_FRAMES: f64 = 1e6;
/// Time in which layers come to rest before a clip starts, s.
const SETTLING: f64 = 1.0;

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

/// A character of a scene, and the file that it came from.
pub struct Recipe<'a> {
    /// The scene with all that its files hold.
    pub scene: Scene,
    /// Number of the character.
    pub character: usize,
    /// Where it came from, for messages.
    pub path: PathBuf,
    /// The bytes of its glTF file; none of what was made otherwise, as of a mesh and a skeleton.
    pub file: Option<Vec<u8>>,
    /// Reads what lies beside that file.
    pub beside: Box<dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a>,
    /// The text of the scene, to show lines of it.
    pub source: Option<Source>,
}

/// What is to be baked, and to where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakeOrder {
    /// Numbers and names of clips; no number: the character as it stands.
    pub clips: Vec<(Option<usize>, String)>,
    /// Frames per second.
    pub fps: f64,
    /// Files to write; their endings tell what.
    pub outputs: Vec<PathBuf>,
}

/// A clip that was baked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakedTake {
    /// Its name.
    pub name: String,
    /// How many frames.
    pub frames: usize,
    /// What became of the volume.
    pub volume: ClipVolume,
    /// Bodies that were simulated, layers among them.
    pub bodies: Vec<BodyTake>,
    /// What the simulation had to tell.
    pub warnings: Vec<String>,
}

/// What became of a character.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baked {
    /// What was played.
    pub clips: Vec<BakedTake>,
    /// The files that were written.
    pub files: Vec<PathBuf>,
    /// Why a `.glb` holds positions alone, if one does.
    pub positions_only: Option<String>,
    /// Vertices, counted in each frame, that bones squeeze so flat that no morph target can move them.
    pub not_baked: usize,
}

/// The ending of a path, in small letters.
pub fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// All clips of a character, or its pose if it has none.
pub fn all_clips(character: &CharacterModel) -> Vec<(Option<usize>, String)> {
    let clips = character.rig.clips.iter().enumerate().map(|(k, clip)| (Some(k), clip.name.clone()));
    if character.rig.clips.is_empty() { vec![(None, "rest".to_owned())] } else { clips.collect() }
}

impl BakeOrder {
    fn frames(&self, character: &CharacterModel, clip: Option<usize>) -> f64 {
        let duration = clip.and_then(|clip| character.rig.clips.get(clip)).map_or(0.0, |clip| clip.duration);
        (duration * self.fps).ceil() + 1.0
    }

    /// Whether files can be written so.
    pub fn check_outputs(&self) -> Result<(), FileError> {
        if let Some(path) = self.outputs.iter().find(|path| !ENDINGS.contains(&ending(path).as_str())) {
            let problem = format!("a character cannot be baked as '.{}'", ending(path));
            return Err(FileError::file(path, problem, "end its name in one of .glb .pc2 .mdd"));
        }
        Ok(())
    }

    /// Whether what is played fits into the memory.
    pub fn check_frames(&self, character: &CharacterModel) -> Result<(), FileError> {
        let vertices: usize = character.rig.meshes.iter().map(|mesh| mesh.mesh.positions.len()).sum();
        for (clip, name) in &self.clips {
            let frames = self.frames(character, *clip);
            let needed = frames * vertices as f64 * BYTES_PER_PLACE;
            if !(frames <= MAX_FRAMES && needed <= MEMORY_LIMIT as f64) {
                let problem =
                    format!("clip '{name}' would be {frames} frames, about {}", size(needed as u128));
                return Err(FileError::new("", problem, "give a smaller number of frames per second"));
            }
        }
        Ok(())
    }
}

/// Frames in which layers come to rest before a clip starts.
fn settling(fps: f64) -> u64 {
    (SETTLING * fps).ceil() as u64
}

impl Recipe<'_> {
    /// Compiles the scene.
    pub fn build(&self) -> Result<Model, FileError> {
        self.build_scene(&self.scene)
    }

    fn build_scene(&self, scene: &Scene) -> Result<Model, FileError> {
        ModelBuilder::new(scene).build().map_err(|error| match &self.source {
            Some(source) => FileError::from(source.explain(&error)),
            None => FileError::file(&self.path, &error, error.help.clone()),
        })
    }

    /// The scene as it is simulated while a clip plays.
    fn playing(&self, clip: Option<usize>, fps: f64) -> Result<Simulation, FileError> {
        let mut scene = self.scene.clone();
        scene.time.fps = fps;
        if let Some(character) = scene.characters.get_mut(self.character) {
            // By its number, as names may be there twice. Before its start a clip holds its first pose.
            let start = -(settling(fps) as f64) / fps;
            let play = |clip: usize| PlayedClip {
                name: clip.to_string(),
                start,
                repeat: false,
                ..PlayedClip::default()
            };
            character.clips = Vec::from_iter(clip.map(play));
        }
        Ok(Simulation::new(self.build_scene(&scene)?))
    }

    fn take(
        &self,
        model: &Model,
        plain: Option<&PlainCharacter>,
        clip: Option<usize>,
        frames: usize,
        fps: f64,
    ) -> Result<(Take, Vec<String>), FileError> {
        if model.bodies.is_empty() {
            let mut played = model.characters[self.character].clone();
            let play = |clip| PlayedModel { clip, weight: 1.0, start: 0.0, speed: 1.0, repeat: false };
            played.clips = Vec::from_iter(clip.map(play));
            return Ok((bake_clip(&played, plain, frames, fps), Vec::new()));
        }
        let mut run = self.playing(clip, fps)?;
        (0..settling(fps)).for_each(|_| run.step());
        let take = bake_simulated(&mut run, self.character, plain, frames);
        Ok((take, run.warnings().iter().map(ToString::to_string).collect()))
    }

    /// Plays each clip by itself and writes what came of it; `told` gets each of them, and says whether to go on.
    pub fn bake(
        &mut self,
        model: &Model,
        order: &BakeOrder,
        told: &mut dyn FnMut(&BakedTake) -> bool,
    ) -> Result<Baked, FileError> {
        let Some(character) = model.characters.get(self.character) else {
            return Err(FileError::file(&self.path, "there is no such character", ""));
        };
        order.check_outputs()?;
        order.check_frames(character)?;
        let is_glb = |path: &&PathBuf| ending(path) == "glb";
        let mut baked = Baked::default();
        let plain = PlainCharacter::new(&self.scene, self.character, character, self.file.is_some());
        let plain = plain.map_err(|why| baked.positions_only = Some(why)).ok();
        let mut takes = Vec::new();
        for (clip, name) in &order.clips {
            let frames = order.frames(character, *clip) as usize;
            let (take, warnings) = self.take(model, plain.as_ref(), *clip, frames, order.fps)?;
            let told_of = BakedTake {
                name: name.clone(),
                frames,
                volume: take.volume.clone(),
                bodies: take.simulated.clone(),
                warnings,
            };
            let go_on = told(&told_of);
            baked.clips.push(told_of);
            if !go_on {
                return Err(FileError::new("", "stopped before all was written", ""));
            }
            takes.push(take);
        }
        let bodies = joined(&takes).map_err(|why| baked.positions_only.get_or_insert(why)).ok();
        let in_file = |path: &&PathBuf| is_glb(path) && baked.positions_only.is_none();
        let (whole, others): (Vec<&PathBuf>, Vec<&PathBuf>) = order.outputs.iter().partition(in_file);
        let mut files: Vec<(PathBuf, Result<Vec<u8>, FileError>)> = Vec::new();
        let (mut names, mut clips) = (BTreeSet::new(), Vec::new());
        for ((clip, name), take) in order.clips.iter().zip(takes) {
            for output in &others {
                let path = match order.clips.len() {
                    1 => output.to_path_buf(),
                    _ => clip_path(output, name, &mut names),
                };
                for (path, bytes) in animation_files(&path, &ending(output), &take.animation) {
                    let bytes = bytes.map_err(|e| FileError::file(&path, format!("not written: {e}"), ""));
                    files.push((path, bytes));
                }
            }
            baked.not_baked += if whole.is_empty() { 0 } else { take.not_baked };
            let clip = clip.map_or(Played::Nothing, Played::Clip);
            clips.push(BakedClip { clip, fps: order.fps, frames: take.offsets });
        }
        if let (false, Some(plain), Some(bodies)) = (whole.is_empty(), plain, bodies) {
            let bytes = self.write(clips, plain.weighted, bodies)?;
            files.extend(whole.iter().map(|path| (path.to_path_buf(), Ok(bytes.clone()))));
        }
        if !order.outputs.iter().any(|path| is_glb(&path)) {
            baked.positions_only = None;
        }
        // What fails does not take the others with it.
        let mut failed = None;
        for (path, bytes) in files {
            match bytes.and_then(|bytes| disk::write(&path, &bytes)) {
                Ok(()) => baked.files.push(path),
                Err(error) => drop(failed.get_or_insert(error)),
            }
        }
        failed.map_or(Ok(baked), Err)
    }

    /// The file of the character with what became of it.
    fn write(
        &mut self,
        clips: Vec<BakedClip>,
        weighted: Option<Rig>,
        bodies: Vec<BodyAnimation>,
    ) -> Result<Vec<u8>, FileError> {
        let failed = |path: &Path, error: ExportError| {
            FileError::file(path, error, "bake other clips, or repair the file")
        };
        let made = match (&self.file, &weighted) {
            (None, Some(rig)) => Some(write_rig_glb(rig).map_err(|error| failed(&self.path, error))?),
            _ => None,
        };
        let source = self.file.as_ref().or(made.as_ref()).map(Vec::as_slice).unwrap_or_default();
        let baking = Baking { clips, weighted, bodies };
        write_baked_glb(source, &Limits::default(), &mut self.beside, &baking)
            .map_err(|error| failed(&self.path, error))
    }

    /// The file of the character with a run of its scene as a clip of that name, and all else that was run beside it.
    pub fn write_run(
        &mut self,
        skin: SkinRecorder,
        bodies: FrameRecorder,
        simulation: &Simulation,
        name: &str,
    ) -> Result<Vec<u8>, FileError> {
        let own = self.character;
        let other = |body: &BodyModel| {
            body.layer.as_ref().map_or(!body.is_worn(), |layer| layer.character != own && !body.is_worn())
        };
        let Animation { fps, bodies } = bodies.finish_some(simulation, other, |_| false);
        let SkinRecorder { plain, offsets, locals, whole, .. } = skin;
        let clip = Played::New(NewClip { name: name.to_owned(), locals, whole });
        let weighted = plain.and_then(|plain| plain.weighted);
        self.write(vec![BakedClip { clip, fps, frames: offsets }], weighted, bodies)
    }
}

/// The only character of a scene that is written to a `.glb`: its recipe and what it is like without what is baked; or why its file is not kept. Nothing of
/// scenes that show none.
pub fn character_of_run<'a>(
    path: &Path,
    scene: &Scene,
    model: &Model,
    allow_outside: bool,
) -> Option<Result<(Recipe<'a>, PlainCharacter), String>> {
    let shown = |c: usize| {
        let of = |carrier: &Carrier| matches!(carrier, Carrier::Skin { character, .. } if *character == c);
        model.colliders.iter().any(|collider| of(&collider.carrier))
            || model.bodies.iter().any(|body| body.layer.as_ref().is_some_and(|layer| layer.character == c))
    };
    let seen: Vec<usize> = (0..model.characters.len()).filter(|c| shown(*c)).collect();
    let character = match seen[..] {
        [] => return None,
        [one] => one,
        _ => return Some(Err(format!("the scene shows {} characters, and a file has one", seen.len()))),
    };
    let find = || {
        let written = read_scene_file(path).map_err(|error| error.message())?.scene;
        let Some(Character { rig: RigSource::File(RigFile { path: file, skeleton: None }), .. }) =
            written.characters.get(character)
        else {
            return Err("the character does not come from a glTF file".to_owned());
        };
        let plain = PlainCharacter::new(scene, character, &model.characters[character], true)?;
        let (folder, limit) = (SceneFolder::of_scene(path, allow_outside), Limits::default().max_bytes);
        let bytes = folder.read(file, limit, "character")?;
        let name = file.clone();
        let beside = Box::new(move |uri: &str| folder.read(&beside_path(&name, uri), limit, "buffer"));
        let (path, file) = (PathBuf::from(file), Some(bytes));
        Ok((Recipe { scene: Scene::default(), character, path, file, beside, source: None }, plain))
    };
    Some(find())
}

/// Bodies of all takes, one take after the other; or which of them is not the same in all.
fn joined(takes: &[Take]) -> Result<Vec<BodyAnimation>, String> {
    let Some((first, others)) = takes.split_first() else { return Ok(Vec::new()) };
    let mut bodies = first.bodies.clone();
    for (b, body) in bodies.iter_mut().enumerate() {
        for other in others.iter().filter_map(|take| take.bodies.get(b)) {
            let same = (&other.triangles, &other.lines) == (&body.triangles, &body.lines)
                && other.vertex_count() == body.vertex_count();
            if !same {
                return Err(format!("'{}' tears otherwise in each clip: bake one at a time", body.name));
            }
            body.frames.extend(other.frames.iter().cloned());
        }
    }
    Ok(bodies)
}

#[cfg(test)]
mod tests {
    use souple::scene::{
        Body, BonePose, Elastic, ElasticDial, ElasticPaint, Grid, Group, InsertedBone, PaintSource, Shape,
        SkinShape, SkinVolume, SolverKind, SubdivideSkin,
    };
    use souple::skin::CompiledRig;
    use souple_formats::import::read_rig;

    use glam::DVec3;
    use souple::scene::Skinning;

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

    fn elbow() -> (Vec<u8>, Rig) {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters/elbow.glb");
        let limits = Limits::default();
        let bytes = disk::read(&file, limits.max_bytes, "character").unwrap();
        let rig = read_rig(&bytes, &limits, &mut |_| Err("alone".into())).unwrap();
        (bytes, rig)
    }

    fn recipe(change: impl FnOnce(&mut Scene)) -> Recipe<'static> {
        let (bytes, rig) = elbow();
        let volume = Some(SkinVolume::default());
        let character = Character { rig: RigSource::Inline(rig), volume, ..Character::default() };
        let mut scene = Scene { characters: vec![character], ..Scene::default() };
        change(&mut scene);
        let beside = Box::new(|_: &str| Err("alone".to_owned()));
        Recipe { scene, character: 0, path: "elbow.glb".into(), file: Some(bytes), beside, source: None }
    }

    fn bake(recipe: &mut Recipe, path: &Path, fps: f64, go_on: bool) -> Result<Baked, FileError> {
        let model = recipe.build().unwrap();
        let clips = all_clips(&model.characters[recipe.character]);
        let order = BakeOrder { clips, fps, outputs: vec![path.to_path_buf()] };
        recipe.bake(&model, &order, &mut |_| go_on)
    }

    /// What a viewer shows of the first mesh of a file at a time of its first clip, or of another.
    fn shown(bytes: &[u8], clip: usize, t: f64) -> Vec<DVec3> {
        let rig = read_rig(bytes, &Limits::default(), &mut |_| Err("alone".into())).unwrap();
        let rig = CompiledRig::new(&rig).unwrap();
        let mut pose = rig.rest_pose();
        rig.clips[clip].apply(t, &mut pose);
        let mut places = Vec::new();
        rig.skeleton.place(&pose.locals, &mut places);
        let motions = rig.bone_motions(&places, Skinning::LinearBlend);
        let mesh = &rig.meshes[0];
        let vertex = |v| mesh.vertex(v, &pose.morphs, &motions[mesh.binding], Skinning::LinearBlend);
        (0..mesh.mesh.positions.len()).map(vertex).collect()
    }

    #[test]
    fn a_character_is_baked_clip_by_clip() {
        let folder = tempfile::tempdir().unwrap();
        for ending in ENDINGS {
            let path = folder.path().join(format!("out.{ending}"));
            let baked = bake(&mut recipe(|_| ()), &path, 12.0, true).unwrap();
            assert_eq!((baked.clips.len(), &baked.positions_only), (1, &None));
            assert!(baked.files.iter().all(|file| file.metadata().unwrap().len() > 100));
            let volume = &baked.clips[0].volume;
            assert!(
                volume.skinned_worst_percent < -0.5 && volume.kept_worst_percent.abs() < 1e-9,
                "{volume:?}"
            );
        }
        assert!(bake(&mut recipe(|_| ()), &folder.path().join("no.glb"), 12.0, false).is_err());
        assert!(!folder.path().join("no.glb").exists());
        assert!(bake(&mut recipe(|_| ()), &folder.path().join("no.txt"), 12.0, true).is_err());
        assert!(bake(&mut recipe(|_| ()), &folder.path().join("no.glb"), 1e12, true).is_err());
    }

    /// A layer, a cloth beside it, and a bone that was put in: all of it is in the file of the character, which keeps its own bones.
    #[test]
    fn what_is_beside_the_skin_does_not_cost_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let change = |scene: &mut Scene| {
            scene.groups = vec![Group { solver: SolverKind::Goals, ..Group::default() }];
            scene.characters[0].scale = 2.0;
            scene.characters[0].position = [0.5, 0.0, 0.0];
            scene.characters[0].inserted = vec![InsertedBone {
                name: "wrist".into(),
                on: "bone1".into(),
                at: 0.7,
                rotate_deg: [0.0, 0.0, -40.0],
                ..InsertedBone::default()
            }];
            // A pose of the scene is not in the clips of the file: it is baked.
            scene.characters[0].poses = vec![BonePose {
                bone: "bone1".into(),
                rotate_deg: [0.0, 20.0, 15.0],
                shift: [0.0, 0.02, 0.0],
            }];
            let soft = ElasticPaint {
                dial: ElasticDial::Attachment,
                to: 0.5,
                with: PaintSource::Bones(vec!["bone1".into()]),
            };
            let skin = SkinShape { character: "character".into(), ..SkinShape::default() };
            let cloth = Body {
                name: "cloth".into(),
                shape: Shape::Grid(Grid { vertices: [4, 4], ..Grid::default() }),
                fabric: Some("cotton".into()),
                ..Body::default()
            };
            let layer = Body {
                name: "soft".into(),
                shape: Shape::Skin(skin),
                elastic: Some(Elastic { paints: vec![soft], ..Elastic::default() }),
                ..Body::default()
            };
            scene.bodies = vec![layer, cloth];
        };
        let path = folder.path().join("out.glb");
        let mut whole = recipe(change);
        let baked = bake(&mut whole, &path, 10.0, true).unwrap();
        assert_eq!((baked.files.len(), &baked.positions_only, baked.not_baked), (1, &None, 0));
        let bytes = std::fs::read(&path).unwrap();
        let made = read_rig(&bytes, &Limits::default(), &mut |_| Err("alone".into())).unwrap();
        let (_, rig) = elbow();
        assert_eq!((&made.skins, made.nodes.len()), (&rig.skins, rig.nodes.len() + 1));
        assert_eq!(made.nodes.last().unwrap().name, "cloth");
        // The same as the positions themselves, at a time when all of it has moved.
        let frames = baked.clips[0].frames;
        let model = whole.build().unwrap();
        let (take, _) = whole.take(&model, None, Some(0), frames, 10.0).unwrap();
        let t = (frames - 1) as f64 / 10.0;
        let seen = shown(&bytes, 0, t);
        let expected = &take.animation.bodies[0].frames[frames - 1].positions;
        for (x, place) in seen.iter().zip(expected) {
            let world = *x * 2.0 + DVec3::X * 0.5;
            assert!(world.distance(DVec3::from(place.map(f64::from))) < 1e-5, "{world} {place:?}");
        }
        let (cloth, fell) = (&made.meshes[1], &take.animation.bodies[1].frames[frames - 1].positions[0]);
        let morph = &cloth.morphs[frames - 2].offsets[0];
        let world: Vec<f64> = (0..3).map(|k| 2.0 * (cloth.positions[0][k] + morph[k])).collect();
        assert!((world[1] - f64::from(fell[1])).abs() < 1e-5 && fell[1] < -0.5, "{world:?} {fell:?}");

        // A skin that is cut finer has no place in the file.
        let finer = |scene: &mut Scene| {
            let volume = scene.characters[0].volume.get_or_insert_default();
            volume.subdivide = Some(SubdivideSkin { levels: 1, ..SubdivideSkin::default() });
        };
        let baked = bake(&mut recipe(finer), &path, 2.0, true).unwrap();
        assert!(baked.positions_only.is_some_and(|why| why.contains("subdivide")));
    }
}
