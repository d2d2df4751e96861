//! A glTF file with bones or clips as a scene of its own: the character is drawn and plays its first clip at once (SIM-01, ROH-07).
//!
//! A character is neither seen nor touched by itself, so it comes with a collider that is its skin. Files in centimetres or millimetres, which is
//! common, are scaled to metres.

use std::path::Path;

use glam::DVec3;
use souple::scene::{
    Character, Collider, ColliderShape, PlayedClip, Rig, RigFile, RigSource, Scene, SkinShape,
};
use souple::skin::Posed;
use souple::{ModelBuilder, mesh};
use souple_formats::import::{Limits, MeshFormat, read_rig};
use souple_formats::scene::{SceneFile, read_scene, write_scene_toml};

use crate::{FileError, SceneFolder, disk};

/// Sizes of characters whose files are in metres, m.
const LIKELY: std::ops::RangeInclusive<f64> = 0.05..=5.0;
/// Scales of files that are in metres, centimetres or millimetres.
const UNITS: [f64; 3] = [1.0, 0.01, 0.001];
/// Most frames of such a scene: a minute.
const MAX_FRAMES: f64 = 3600.0;

/// Whether a file may hold a character, by its ending.
pub fn may_be_character(path: &Path) -> bool {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    MeshFormat::from_extension(end) == Some(MeshFormat::Gltf)
}

/// Whether a rig is more than a surface: bones bend it, or clips move it.
pub fn is_alive(rig: &Rig) -> bool {
    let is_moved = rig.clips.iter().any(|clip| !clip.channels.is_empty());
    let has_surface = rig.meshes.iter().any(|mesh| !mesh.triangles.is_empty());
    has_surface && (is_moved || rig.meshes.iter().any(|mesh| mesh.skin.is_some()))
}

/// Names that clips of a rig are played by, and are shown as: its number stands for one without a name of its own.
pub fn clip_names(rig: &Rig) -> Vec<(String, String)> {
    let shown = |k: usize, name: &str| match name.is_empty() {
        true => (k.to_string(), format!("clip {k}")),
        false if rig.clips.iter().filter(|clip| clip.name == *name).count() > 1 => {
            (k.to_string(), format!("{name} ({k})"))
        }
        false => (name.to_owned(), name.to_owned()),
    };
    rig.clips.iter().enumerate().map(|(k, clip)| shown(k, &clip.name)).collect()
}

/// A character that plays the first clip of its rig, in metres; says why its skin cannot be shown otherwise.
pub fn first_character(name: &str, rig: &Rig) -> Result<Character, String> {
    let first = clip_names(rig).into_iter().next();
    let clips = first.map(|(name, _)| PlayedClip { name, ..PlayedClip::default() });
    let inline = RigSource::Inline(rig.clone());
    let mut character = Character {
        name: name.to_owned(),
        rig: inline,
        clips: Vec::from_iter(clips),
        ..Character::default()
    };
    let (low, high) = character_bounds(&character, 1)?;
    let extent = (high - low).max_element();
    let to_a_metre = || format!("{:.2e}", 1.0 / extent).parse().unwrap_or(1.0);
    character.scale =
        UNITS.into_iter().find(|unit| LIKELY.contains(&(unit * extent))).unwrap_or_else(to_a_metre);
    Ok(character)
}

/// The skin of a character, to be seen and touched.
pub fn skin_collider(character: &str, name: String) -> Collider {
    let skin = SkinShape { character: character.to_owned(), meshes: None };
    Collider { name, shape: ColliderShape::Skin(skin), ..Collider::default() }
}

/// Box around the skin of a character at so many times of the first clip that it plays, m, where it stands.
pub fn character_bounds(character: &Character, times: u32) -> Result<(DVec3, DVec3), String> {
    let scene = Scene { characters: vec![character.clone()], ..Scene::default() };
    let model = ModelBuilder::new(&scene).build().map_err(|error| match error.help.is_empty() {
        true => error.problem,
        false => format!("{}; {}", error.problem, error.help),
    })?;
    let Some(one) = model.characters.first() else { return Err("there is no character".into()) };
    let duration = one.clips.first().map_or(0.0, |played| one.rig.clips[played.clip].duration);
    let mut places = Vec::new();
    for k in 0..times {
        let posed = Posed::at(&model.characters, duration * f64::from(k) / f64::from(times));
        let Some(posed) = posed.characters.first() else { continue };
        for (m, mesh) in (0u32..).zip(&one.rig.meshes) {
            let place = |v: u32| posed.pose.apply(posed.vertex(one, m, v));
            places.extend((0..mesh.mesh.positions.len() as u32).map(place));
        }
    }
    let (low, high) = mesh::bounds(&places);
    let extent = (high - low).max_element();
    if extent.is_finite() && extent > 0.0 { Ok((low, high)) } else { Err("the skin has no size".into()) }
}

/// A scene with the character of a glTF file, which stays on the disk, and its text as if somebody had written it.
pub fn read_character_scene(path: &Path) -> Result<SceneFile, FileError> {
    let limits = Limits::default();
    let bytes = disk::read(path, limits.max_bytes, "character")?;
    let folder = SceneFolder::of_scene(path, false);
    let mut beside = |uri: &str| folder.read(uri, limits.max_bytes, "buffer");
    let rig = read_rig(&bytes, &limits, &mut beside).map_err(|error| FileError::file(path, error, ""))?;
    if !is_alive(&rig) {
        let help = "name it in a scene: `shape = { file = { path = \"…\" } }` of a body or a collider";
        return Err(FileError::file(path, "it has neither bones nor clips, only a surface", help));
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let mut character = first_character(&stem, &rig).map_err(|problem| FileError::file(path, problem, ""))?;
    let written = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    character.rig = RigSource::File(RigFile { path: written, skeleton: None });
    let keys =
        rig.clips.first().into_iter().flat_map(|clip| &clip.channels).flat_map(|channel| &channel.times);
    let duration = keys.fold(0.0, |last: f64, time| last.max(*time));
    let mut scene = Scene { name: stem.clone(), ..Scene::default() };
    scene.time.frames = (duration * scene.time.fps).ceil().clamp(1.0, MAX_FRAMES) as u32;
    scene.colliders.push(skin_collider(&character.name, stem));
    scene.characters.push(character);
    let text = write_scene_toml(&scene).map_err(|error| FileError::file(path, error.problem, error.help))?;
    Ok(read_scene(&text, &path.display().to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters").join(name)
    }

    /// The file of a character is as good as a scene that shows it.
    #[test]
    fn a_character_file_is_a_scene() {
        let loaded = crate::load(&own("arm.glb"), false).unwrap();
        assert_eq!((loaded.model.characters.len(), loaded.model.colliders.len()), (1, 1));
        let character = &loaded.scene.characters[0];
        assert_eq!(
            (character.name.as_str(), character.clips[0].name.as_str(), character.scale),
            ("arm", "wave", 1.0)
        );
        // Six seconds of it.
        assert_eq!(loaded.scene.time.frames, 360);
        assert!(loaded.source.text().contains("path = \"arm.glb\""));
    }

    /// A fox of 150 units is in centimetres.
    #[test]
    fn sizes_tell_the_unit_of_a_file() {
        let bytes = std::fs::read(own("arm.glb")).unwrap();
        let mut rig = read_rig(&bytes, &Limits::default(), &mut |_| Err(String::new())).unwrap();
        for (grown, scale) in [(1.0, 1.0), (100.0, 0.01), (1000.0, 0.001)] {
            let mut large = rig.clone();
            large.meshes.iter_mut().flat_map(|mesh| &mut mesh.positions).flatten().for_each(|c| *c *= grown);
            large.nodes.iter_mut().flat_map(|node| &mut node.translation).for_each(|c| *c *= grown);
            large.clips.clear();
            let matrices = large.skins.iter_mut().flat_map(|skin| &mut skin.inverse_binds);
            matrices.flat_map(|matrix| &mut matrix[9..]).for_each(|c| *c *= grown);
            assert_eq!(first_character("arm", &large).unwrap().scale, scale);
        }
        rig.clips.clear();
        rig.meshes.iter_mut().for_each(|mesh| mesh.skin = None);
        assert!(!is_alive(&rig));
    }

    #[test]
    fn what_is_no_character_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.glb");
        std::fs::write(&path, b"glTF").unwrap();
        let error = crate::load(&path, false).unwrap_err().to_string();
        assert!(error.contains("x.glb"), "{error}");
    }
}
