//! Characters from glTF: round trips, an independent reader (the `gltf` crate), odd but valid files, and input that must be refused or repaired.

use base64_of::base64;
use glam::{DVec3, Mat4};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use souple::math::Pose;
use souple::scene::{
    ChannelTarget, KeyInterpolation, Rig, RigChannel, RigClip, RigMorph, RigSource, Scene, Skinning,
};
use souple::skin::generate::{Limb, add_turns, limb};
use souple::skin::{CharacterModel, CompiledRig, PlayedModel, Posed};
use souple_formats::export::rig::write_rig_glb;
use souple_formats::import::{ImportError, Limits, MeshFormat, read_mesh, read_rig};
use souple_formats::scene::resolve_meshes;

/// An encoder that is not the code under test.
mod base64_of {
    pub fn base64(bytes: &[u8]) -> String {
        let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let group = |chunk: &[u8]| {
            let at = |k: usize| u32::from(chunk.get(k).copied().unwrap_or(0));
            let bits = at(0) << 16 | at(1) << 8 | at(2);
            let letter = |k: u32| char::from(letters[(bits >> (18 - 6 * k) & 63) as usize]);
            (0..4).map(move |k| if k as usize <= chunk.len() { letter(k) } else { '=' }).collect::<String>()
        };
        bytes.chunks(3).map(group).collect()
    }
}

fn read(bytes: &[u8]) -> Result<Rig, ImportError> {
    read_rig(bytes, &Limits::default(), &mut |_| Err("no files here".into()))
}

/// A limb of three bones with a turning clip, a cubic one, steps, morphs and colours.
fn example() -> Rig {
    let mut rig = limb(&Limb { length: 2.0, radii: [0.5, 0.25], sides: 5, rings: 4, cap_rings: 2, bones: 3 });
    add_turns(&mut rig, "wave", 3, &[0.0, 0.5, 1.25], |bone, t| DVec3::Z * (20.0 * f64::from(bone) * t));
    let mesh = &mut rig.meshes[0];
    let count = mesh.positions.len();
    mesh.colours = (0..count).map(|v| [0.5, v as f64 / count as f64, 0.25, 1.0]).collect();
    let fat = (0..count).map(|v| [mesh.positions[v][0] * 0.5, 0.0, mesh.positions[v][2] * 0.5]).collect();
    mesh.morphs = vec![RigMorph { name: "fat".into(), weight: 0.25, offsets: fat }];
    let node = mesh.node;
    let channel = |node, target, interpolation, values: Vec<f64>| RigChannel {
        node,
        target,
        interpolation,
        times: vec![0.0, 1.0],
        values,
    };
    rig.clips.push(RigClip {
        name: "rest".into(),
        channels: vec![
            channel(node, ChannelTarget::MorphWeights, KeyInterpolation::Linear, vec![0.0, 1.0]),
            channel(0, ChannelTarget::Translation, KeyInterpolation::Cubic, (0..18).map(f64::from).collect()),
            channel(1, ChannelTarget::Scale, KeyInterpolation::Step, vec![1.0, 1.0, 1.0, 2.0, 0.5, 1.0]),
        ],
    });
    rig
}

/// Every number with 32 bits, as files have them.
fn rounded(mut rig: Rig) -> Rig {
    let round = |list: &mut [f64]| list.iter_mut().for_each(|x| *x = f64::from(*x as f32));
    for mesh in &mut rig.meshes {
        round(mesh.positions.as_flattened_mut());
        // Upside down in files.
        mesh.uvs
            .iter_mut()
            .for_each(|uv| *uv = [f64::from(uv[0] as f32), 1.0 - f64::from((1.0 - uv[1]) as f32)]);
        round(mesh.colours.as_flattened_mut());
        round(&mut mesh.weights);
        mesh.morphs.iter_mut().for_each(|morph| round(morph.offsets.as_flattened_mut()));
        // Bones without weight have number 0.
        mesh.joints.iter_mut().zip(&mesh.weights).for_each(|(j, w)| *j = if *w == 0.0 { 0 } else { *j });
    }
    rig.skins.iter_mut().for_each(|skin| round(skin.inverse_binds.as_flattened_mut()));
    for channel in rig.clips.iter_mut().flat_map(|clip| &mut clip.channels) {
        round(&mut channel.times);
        round(&mut channel.values);
    }
    rig
}

#[test]
fn a_rig_is_read_back_as_it_was_written() {
    let rig = example();
    let bytes = write_rig_glb(&rig).unwrap();
    assert_eq!(bytes, write_rig_glb(&rig).unwrap());
    assert_eq!(read(&bytes).unwrap(), rounded(rig));
}

fn character(rig: &Rig) -> CharacterModel {
    let clips = (0..rig.clips.len().min(1)).map(|clip| PlayedModel {
        clip,
        weight: 1.0,
        start: 0.0,
        speed: 1.0,
        repeat: false,
    });
    CharacterModel {
        name: "it".into(),
        rig: std::sync::Arc::new(CompiledRig::new(rig).unwrap()),
        clips: clips.collect(),
        skinning: Skinning::LinearBlend,
        volume: None,
        stance: Vec::new(),
        maps: Vec::new(),
        pose: Pose::IDENTITY,
        scale: 1.0,
        motion: None,
        pivot: DVec3::ZERO,
    }
}

/// Nodes, bones, weights and animated skin as the crate `gltf` and its own arithmetic have them.
fn compare_with_independent_reader(bytes: &[u8], name: &str) {
    let rig = read(bytes).unwrap();
    let file = gltf::Gltf::from_slice(bytes).unwrap();
    let blob = file.blob.as_deref();
    assert_eq!(rig.nodes.len(), file.nodes().len(), "{name}");
    assert_eq!(rig.clips.len(), file.animations().len(), "{name}");
    let mut globals = vec![Mat4::IDENTITY; rig.nodes.len()];
    let mut stack: Vec<(gltf::Node, Mat4)> =
        file.default_scene().unwrap().nodes().map(|node| (node, Mat4::IDENTITY)).collect();
    while let Some((node, parent)) = stack.pop() {
        let global = parent * Mat4::from_cols_array_2d(&node.transform().matrix());
        globals[node.index()] = global;
        stack.extend(node.children().map(|child| (child, global)));
    }
    let mut still = character(&rig);
    still.clips.clear();
    let posed = Posed::at(std::slice::from_ref(&still), 0.0);
    let mut meshes = 0;
    for node in file.nodes().filter(|node| node.mesh().is_some()) {
        let m = rig.meshes.iter().position(|mesh| mesh.node as usize == node.index()).unwrap();
        let mesh = &rig.meshes[m];
        meshes += 1;
        let mut first = 0;
        for primitive in node.mesh().unwrap().primitives() {
            let reader = primitive.reader(|buffer| match buffer.source() {
                gltf::buffer::Source::Bin => blob,
                gltf::buffer::Source::Uri(_) => None,
            });
            let positions: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
            let weights: Vec<[f32; 4]> =
                reader.read_weights(0).map(|w| w.into_f32().collect()).unwrap_or_default();
            let joints: Vec<[u16; 4]> =
                reader.read_joints(0).map(|j| j.into_u16().collect()).unwrap_or_default();
            let bones: Vec<Mat4> = node.skin().map_or(Vec::new(), |skin| {
                let inverse = skin.reader(|_| blob).read_inverse_bind_matrices().unwrap();
                let pairs = skin.joints().zip(inverse);
                pairs.map(|(joint, m)| globals[joint.index()] * Mat4::from_cols_array_2d(&m)).collect()
            });
            for (v, p) in positions.iter().enumerate() {
                assert_eq!(mesh.positions[first + v], p.map(f64::from), "{name}");
                if mesh.morphs.iter().any(|morph| morph.weight != 0.0) {
                    continue;
                }
                let at = glam::Vec3::from(*p);
                let sum: f32 = weights.get(v).map_or(1.0, |w| w.iter().sum());
                let expected = match weights.get(v) {
                    Some(w) => {
                        let part = |k: usize| w[k] / sum * bones[joints[v][k] as usize].transform_point3(at);
                        (0..4).filter(|&k| w[k] > 0.0).map(part).sum()
                    }
                    None => globals[node.index()].transform_point3(at),
                };
                let found = posed.characters[0].vertex(&still, m as u32, (first + v) as u32).as_vec3();
                let size = expected.abs().max_element().max(1.0);
                assert!(found.distance(expected) < 1e-4 * size, "{name}: {found} {expected}");
            }
            first += positions.len();
        }
    }
    assert_eq!(meshes, rig.meshes.len(), "{name}");
    // Key frames, number by number.
    for (clip, animation) in rig.clips.iter().zip(file.animations()) {
        for (channel, other) in clip.channels.iter().zip(animation.channels()) {
            let reader = other.reader(|_| blob);
            let times: Vec<f64> = reader.read_inputs().unwrap().map(f64::from).collect();
            assert_eq!((channel.node as usize, &channel.times), (other.target().node().index(), &times));
            use gltf::animation::util::ReadOutputs;
            let values: Vec<f64> = match reader.read_outputs().unwrap() {
                ReadOutputs::Translations(list) => list.flatten().map(f64::from).collect(),
                ReadOutputs::Scales(list) => list.flatten().map(f64::from).collect(),
                ReadOutputs::Rotations(list) => list.into_f32().flatten().map(f64::from).collect(),
                ReadOutputs::MorphTargetWeights(list) => list.into_f32().map(f64::from).collect(),
            };
            assert_eq!(channel.values, values, "{name}");
        }
    }
}

#[test]
fn an_independent_reader_finds_the_same() {
    let mut rig = example();
    compare_with_independent_reader(&write_rig_glb(&rig).unwrap(), "example");
    rig.meshes[0].morphs.clear();
    rig.clips.truncate(1);
    compare_with_independent_reader(&write_rig_glb(&rig).unwrap(), "without morphs");
}

/// Public models beside the project, where they are.
#[test]
fn public_characters_are_read_as_an_independent_reader_does() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !folder.is_dir() {
        eprintln!("skipped: the folder of public models is not there");
        return;
    }
    for name in ["Fox.glb", "CesiumMan.glb", "RiggedFigure.glb", "RiggedSimple.glb"] {
        compare_with_independent_reader(&std::fs::read(folder.join(name)).unwrap(), name);
    }
}

/// A quad on one bone as text; `change` makes it odd.
fn quad(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let floats = |list: &[f32]| list.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
    let positions = floats(&[0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.]);
    let mut bytes = positions.clone(); // 0..48
    bytes.extend([0u8; 16]); // 48..64 joints, u8
    bytes.extend([255u8, 0, 0, 0].repeat(4)); // 64..80 weights, normalised u8
    bytes.extend([0u16, 1, 2, 0, 2, 3].iter().flat_map(|i| i.to_le_bytes())); // 80..92 indices
    bytes.extend(floats(&[0., 1., 0., 0., 0., 1., 0., 0., 0., 0., 0., 0.])); // 92..140 times, values of translations
    let mut document = json!({
        "asset": { "version": "2.0" },
        "scene": 0,
        "scenes": [{ "nodes": [0, 1] }],
        "nodes": [{ "name": "body", "mesh": 0, "skin": 0 }, { "name": "bone" }],
        "meshes": [{ "primitives": [{
            "attributes": { "POSITION": 0, "JOINTS_0": 1, "WEIGHTS_0": 2 },
            "indices": 3,
        }] }],
        "skins": [{ "joints": [1] }],
        "animations": [{
            "channels": [{ "sampler": 0, "target": { "node": 1, "path": "translation" } }],
            "samplers": [{ "input": 4, "output": 5 }],
        }],
        "accessors": [
            { "bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3" },
            { "bufferView": 1, "componentType": 5121, "count": 4, "type": "VEC4" },
            { "bufferView": 2, "componentType": 5121, "normalized": true, "count": 4, "type": "VEC4" },
            { "bufferView": 3, "componentType": 5123, "count": 6, "type": "SCALAR" },
            { "bufferView": 4, "componentType": 5126, "count": 2, "type": "SCALAR" },
            { "bufferView": 4, "byteOffset": 8, "componentType": 5126, "count": 2, "type": "VEC3" },
        ],
        "bufferViews": [
            { "buffer": 0, "byteLength": 48 },
            { "buffer": 0, "byteOffset": 48, "byteLength": 16 },
            { "buffer": 0, "byteOffset": 64, "byteLength": 16 },
            { "buffer": 0, "byteOffset": 80, "byteLength": 12 },
            { "buffer": 0, "byteOffset": 92, "byteLength": 48 },
        ],
        "buffers": [{
            "uri": format!("data:application/octet-stream;base64,{}", base64(&bytes)),
            "byteLength": bytes.len(),
        }],
    });
    change(&mut document);
    serde_json::to_vec(&document).unwrap()
}

#[test]
fn text_with_data_in_it_is_read() {
    let rig = read(&quad(|_| ())).unwrap();
    assert_eq!(rig.meshes[0].triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!((rig.meshes[0].influences, &rig.meshes[0].weights[..]), (1, &[1.0; 4][..]));
    assert_eq!(rig.clips[0].channels[0].values, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    let mesh = read_mesh(&quad(|_| ()), MeshFormat::Gltf, &Limits::default()).unwrap();
    assert_eq!(mesh.triangles.len(), 2);
}

#[test]
fn strips_fans_and_lists_without_indices_are_triangles() {
    let triangles = |mode: u32, indexed: bool| {
        let bytes = quad(|d| {
            d["meshes"][0]["primitives"][0]["mode"] = mode.into();
            if !indexed {
                d["meshes"][0]["primitives"][0].as_object_mut().unwrap().remove("indices");
            }
        });
        read(&bytes).map(|rig| rig.meshes.first().map_or(Vec::new(), |mesh| mesh.triangles.clone())).unwrap()
    };
    assert_eq!(triangles(5, false), [[0, 1, 2], [2, 1, 3]]);
    assert_eq!(triangles(6, false), [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(triangles(4, false), [[0, 1, 2]]);
    assert_eq!(triangles(1, true), [[0u32; 3]; 0], "lines are passed over");
}

#[test]
fn primitives_share_vertices_and_sparse_numbers_replace_some() {
    let twice = quad(|d| {
        let one = d["meshes"][0]["primitives"][0].clone();
        d["meshes"][0]["primitives"].as_array_mut().unwrap().push(one);
    });
    let rig = read(&twice).unwrap();
    assert_eq!((rig.meshes[0].positions.len(), rig.meshes[0].triangles.len()), (4, 4));
    // Element 2 of the positions becomes element 1 of the view; the rest of the accessor is zeros.
    let sparse = quad(|d| {
        d["accessors"][0] = json!({
            "componentType": 5126, "count": 4, "type": "VEC3",
            "sparse": {
                "count": 1,
                "indices": { "bufferView": 3, "byteOffset": 4, "componentType": 5123 },
                "values": { "bufferView": 0, "byteOffset": 12 },
            },
        });
    });
    let rig = read(&sparse).unwrap();
    assert_eq!(rig.meshes[0].positions, [[0.0; 3], [0.0; 3], [1.0, 0.0, 0.0], [0.0; 3]]);
}

#[test]
fn buffers_beside_the_file_are_asked_for_by_their_plain_name() {
    let bytes = quad(|d| d["buffers"][0]["uri"] = "my%20rig.bin".into());
    let mut asked = Vec::new();
    let error = read_rig(&bytes, &Limits::default(), &mut |path| {
        asked.push(path.to_owned());
        Err("there is no such file".into())
    });
    assert!(error.unwrap_err().to_string().contains("cannot read 'my rig.bin': there is no such file"));
    assert_eq!(asked, ["my rig.bin"]);
    // In a scene: beside the file, which lies in a folder.
    let source = RigSource::File(souple::scene::RigFile { path: "rigs/quad.gltf".into(), skeleton: None });
    let character = souple::scene::Character { rig: source, ..Default::default() };
    let mut scene = Scene { characters: vec![character], ..Scene::default() };
    let mut asked = Vec::new();
    let error = resolve_meshes(&mut scene, &mut |path| {
        asked.push(path.to_owned());
        if path.ends_with(".gltf") { Ok(bytes.clone()) } else { Ok(vec![0; 20]) }
    })
    .unwrap_err();
    assert_eq!(asked, ["rigs/quad.gltf", "rigs/my rig.bin"]);
    assert!(error.problem.contains("buffer 0 is to have 140 bytes, and has 20"), "{}", error.problem);
    assert_eq!(error.field, "character[0].rig.file.path");
}

#[test]
fn weights_are_repaired_and_told() {
    let none = quad(|d| {
        let attributes = d["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap();
        attributes.remove("WEIGHTS_0");
    });
    let rig = read(&none).unwrap();
    assert_eq!((rig.meshes[0].influences, rig.meshes[0].weights.len()), (0, 0), "so that some are found");
    let repairs = CompiledRig::new(&rig).unwrap().repairs;
    assert_eq!((repairs.unweighted_vertices, repairs.normalised_vertices), (4, 0));
    // Positions as weights: 0, 1, 2 and 1 in sum.
    let odd = quad(|d| {
        d["accessors"][2] = json!({ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC4" });
        for accessor in [0, 1] {
            d["accessors"][accessor]["count"] = 3.into();
        }
        d["accessors"][3]["count"] = 3.into();
    });
    let repairs = CompiledRig::new(&read(&odd).unwrap()).unwrap().repairs;
    assert_eq!(repairs.normalised_vertices, 1, "{repairs:?}");
}

#[test]
fn a_hundred_thousand_joints_are_refused_whether_they_are_there_or_announced() {
    let there = quad(|d| {
        d["nodes"].as_array_mut().unwrap().extend((0..100_000).map(|_| json!({})));
    });
    let error = read(&there).unwrap_err().to_string();
    assert!(error.contains("100002 nodes, or joints of a skin; at most 65536"), "{error}");
    let announced = quad(|d| d["skins"][0]["joints"] = vec![1; 100_000].into());
    let error = read(&announced).unwrap_err().to_string();
    assert!(error.contains("at most 65536"), "{error}");
    let matrices = quad(|d| {
        d["skins"][0]["inverseBindMatrices"] = 6.into();
        let accessor = json!({ "componentType": 5126, "count": 100_000_000_000u64, "type": "MAT4" });
        d["accessors"].as_array_mut().unwrap().push(accessor);
    });
    let error = read(&matrices).unwrap_err().to_string();
    assert!(error.contains("accessor 6: it announces 100000000000 elements"), "{error}");
}

#[test]
fn many_uses_of_one_list_are_refused_before_they_fill_the_memory() {
    let bytes = quad(|d| {
        d["nodes"] = (0..2000).map(|_| json!({ "mesh": 0 })).collect::<Vec<_>>().into();
        d["scenes"][0]["nodes"] = (0..2000).collect::<Vec<_>>().into();
        d["accessors"][0] = json!({ "componentType": 5126, "count": 100_000, "type": "VEC3" });
        d["meshes"][0]["primitives"] = json!([{ "attributes": { "POSITION": 0 } }]);
    });
    let error = read(&bytes).unwrap_err().to_string();
    assert!(error.contains("more than a file of this size may have"), "{error}");
}

/// Reads; what comes out can be posed at any time without a panic.
fn read_and_pose(bytes: &[u8]) {
    if let Ok(rig) = read(bytes) {
        let character = character(&rig);
        for t in [0.0, 0.3, 7.0] {
            let posed = Posed::at(std::slice::from_ref(&character), t);
            for (m, mesh) in (0u32..).zip(&rig.meshes) {
                (0..mesh.positions.len() as u32).for_each(|v| {
                    posed.characters[0].vertex(&character, m, v);
                });
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_never_panic(changes in vec((any::<prop::sample::Index>(), any::<u8>()), 1..8), cut in any::<prop::sample::Index>()) {
        for mut bytes in [write_rig_glb(&example()).unwrap(), quad(|_| ())] {
            for (at, byte) in &changes {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
            read_and_pose(&bytes);
            read_and_pose(&bytes[..cut.index(bytes.len())]);
        }
    }

    /// Numbers of the JSON replaced by odd ones.
    #[test]
    fn changed_numbers_never_panic(at in any::<prop::sample::Index>(), odd in prop::sample::select(vec!["-1", "0", "7", "65536", "4294967295", "18446744073709551615", "1e300", "null", "\"x\"", "[]"])) {
        let text = String::from_utf8(quad(|_| ())).unwrap();
        let head = text.find("base64").unwrap();
        let is_number = |(k, c): &(usize, char)| c.is_ascii_digit() && (*k < head || *k > head + 220);
        let digits: Vec<usize> = text.char_indices().filter(is_number).map(|(k, _)| k).collect();
        let k = digits[at.index(digits.len())];
        read_and_pose(format!("{}{odd}{}", &text[..k], &text[k + 1..]).as_bytes());
    }
}
