use std::fs;
use std::path::PathBuf;

use souple::Simulation;
use souple::scene::{Collider, Follow, Pin, RigClip, RigNode};
use souple_files::character_scene::{clip_names, may_be_character};

use super::*;

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes/characters").join(name)
}

#[test]
fn a_rigged_file_becomes_a_character_with_a_skin_that_moves() {
    let mut document = Document::new();
    let object = document.add_character(&own("elbow.glb")).unwrap().expect("it has bones");
    assert_eq!(object, Object::Character(0));
    let scene = document.scene();
    assert_eq!((scene.name.as_str(), scene.characters[0].clips.len()), ("elbow", 1));
    assert_eq!(scene.characters[0].scale, 1.0);
    assert!(matches!(&scene.colliders[0].shape, ColliderShape::Skin(skin) if skin.character == "elbow"));
    let mut simulation = Simulation::new(document.compile().unwrap().model);
    let before = simulation.skin_places(0);
    for _ in 0..30 {
        simulation.step();
    }
    let after = simulation.skin_places(0);
    let most = before.iter().zip(&after).fold(0.0, |most: f64, (a, b)| most.max(a.distance(*b)));
    assert!(most > 0.05, "the clip plays: {most}");
    // A second one has names of its own, and both are one step of undo each.
    document.add_character(&own("elbow.glb")).unwrap();
    let names: Vec<&str> = document.scene().characters.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["elbow", "elbow-2"]);
    document.compile().unwrap();
    document.undo();
    document.undo();
    assert_eq!(document.scene(), &Scene::default());
}

#[test]
fn a_file_without_bones_and_clips_is_no_character() {
    // A triangle, as other programs export surfaces.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flat.gltf");
    let data = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    let text = format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}}}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}}],
        "bufferViews":[{{"buffer":0,"byteLength":36}}],
        "buffers":[{{"byteLength":36,"uri":"data:application/octet-stream;base64,{data}"}}]}}"#
    );
    fs::write(&path, text).unwrap();
    assert_eq!(Document::new().add_character(&path), Ok(None));
    fs::write(&path, "{").unwrap();
    assert!(Document::new().add_character(&path).is_err());
    assert!(may_be_character(&path) && may_be_character(Path::new("a.GLB")));
    assert!(!may_be_character(Path::new("a.obj")) && !may_be_character(Path::new("glb")));
}

#[test]
fn all_that_names_a_character_follows_its_name_and_its_end() {
    let mut document = Document::new();
    document.add_character(&own("torso.glb")).unwrap();
    let follow =
        || Some(Follow { character: "torso".into(), bone: Some("bone1".into()), ..Follow::default() });
    document.edit("more", |scene| {
        scene.colliders.push(Collider { name: "ball".into(), follow: follow(), ..Collider::default() });
        let select = souple::scene::Select::Vertices(vec![0]);
        let pin = Pin { name: "a".into(), select, follow: follow(), ..Pin::default() };
        scene.bodies.push(Body { fabric: Some("silk".into()), pins: vec![pin], ..Body::default() });
        let skin = souple::scene::SkinShape { character: "torso".into(), meshes: None };
        let elastic = Some(souple::scene::Elastic::default());
        let shape = Shape::Skin(skin);
        scene.bodies.push(Body { name: "belly".into(), shape, elastic, ..Body::default() });
    });
    document.rename(Object::Character(0), "figure").unwrap();
    let scene = document.scene();
    assert_eq!(scene.characters[0].name, "figure");
    assert!(matches!(&scene.colliders[0].shape, ColliderShape::Skin(skin) if skin.character == "figure"));
    assert_eq!(scene.colliders[1].follow.as_ref().unwrap().character, "figure");
    assert_eq!(scene.bodies[0].pins[0].follow.as_ref().unwrap().character, "figure");
    assert!(matches!(&scene.bodies[1].shape, Shape::Skin(skin) if skin.character == "figure"));
    assert!(document.remove(Object::Character(0)));
    let scene = document.scene();
    assert_eq!((scene.characters.len(), scene.colliders.len()), (0, 1), "its skin goes with it");
    assert_eq!(scene.bodies.len(), 1, "and so does its elastic layer");
    assert!(scene.colliders[0].follow.is_none() && scene.bodies[0].pins[0].follow.is_none());
    document.compile().unwrap();
}

#[test]
fn every_clip_has_a_name_of_its_own() {
    let clip = |name: &str| RigClip { name: name.into(), ..RigClip::default() };
    let rig = Rig { clips: vec![clip("run"), clip(""), clip("walk"), clip("run")], ..Rig::default() };
    let names: Vec<(String, String)> = clip_names(&rig);
    let names: Vec<(&str, &str)> = names.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    assert_eq!(names, [("0", "run (0)"), ("1", "clip 1"), ("walk", "walk"), ("3", "run (3)")]);
    let node = |name: &str| RigNode { name: name.into(), ..RigNode::default() };
    let skin = souple::scene::RigSkin { joints: vec![2, 1, 7], ..Default::default() };
    let rig = Rig { nodes: vec![node("a"), node("b"), node("c")], skins: vec![skin], ..Rig::default() };
    assert_eq!(bone_names(&rig), ["c", "b"]);
}

#[test]
fn a_character_that_was_read_is_read_again_when_its_file_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.glb");
    fs::copy(own("elbow.glb"), &path).unwrap();
    let mut document = Document::new();
    document.add_character(&path).unwrap();
    let count = |document: &Document| match &document.compile().unwrap().scene.characters[0].rig {
        RigSource::Inline(rig) => rig.meshes[0].positions.len(),
        RigSource::File(_) => 0,
    };
    let before = count(&document);
    fs::copy(own("trunk.glb"), &path).unwrap();
    let later = std::time::SystemTime::now() + std::time::Duration::from_secs(2);
    fs::File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
    // Its clips may be others.
    document.edit("clips", |scene| scene.characters[0].clips.clear());
    assert_ne!(count(&document), before);
    fs::write(&path, b"glTF").unwrap();
    let problem = document.compile().unwrap_err();
    assert!(problem.starts_with("character[0].rig.file.path: "), "{problem}");
}

#[test]
fn colours_and_numbers_show_what_a_bent_joint_loses_and_gets_back() {
    let mut document = Document::new();
    document.add_character(&own("elbow.glb")).unwrap();
    let bent = |document: &Document| {
        let compiled = document.compile().unwrap();
        let mut capture = souple_viewer::Capture::new(&compiled.scene, &compiled.model);
        let mut simulation = Simulation::new(compiled.model);
        for _ in 0..45 {
            simulation.step();
        }
        let moment = capture.moment(&simulation);
        let gains = moment.items[0].gains.values().to_vec();
        (gains, CharacterInfo::of(&simulation).remove(0).volume)
    };
    let mean = |gains: &[f32]| gains.iter().sum::<f32>() / gains.len() as f32;
    let (lost, none) = bent(&document);
    assert!(none.is_none());
    assert!(lost.iter().any(|gain| *gain < -1e-3) && mean(&lost) < 0.0, "{}", mean(&lost));
    document.edit("volume", |scene| scene.characters[0].volume = Some(souple::scene::SkinVolume::default()));
    let (kept, volume) = bent(&document);
    assert!(mean(&kept) > mean(&lost) && kept.iter().any(|gain| *gain > 1e-3));
    let volume = volume.unwrap();
    assert!(volume.skinned < 0.999 * volume.rest && (volume.kept - volume.rest).abs() < 1e-9 * volume.rest);
    assert!(volume.joints.iter().all(|joint| !joint.bone.is_empty()));
    let given: f64 = volume.joints.iter().map(|joint| joint.given).sum();
    assert!((given - (volume.rest - volume.skinned)).abs() < 1e-6 * volume.rest, "{volume:?}");
    // Metres of the world, whatever the lengths of the file.
    document.edit("scale", |scene| scene.characters[0].scale = 2.0);
    let (twice, larger) = bent(&document);
    assert!((larger.unwrap().rest / volume.rest - 8.0).abs() < 1e-9);
    assert!((mean(&twice) / mean(&kept) - 2.0).abs() < 1e-3);
}
