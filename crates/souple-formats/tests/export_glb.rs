//! GLB against an independent reader, the `gltf` crate.
//!
//! With `SOUPLE_TEST_GLB_DIR` set, the examples and the random files are also written there, for `gltf_validate.mjs`.

mod export_common;

use export_common::{any_animation, example, flag};
use gltf::animation::util::ReadOutputs;
use proptest::prelude::*;
use souple_formats::animation::{Animation, BodyAnimation, Frame};
use souple_formats::export::ExportError;
use souple_formats::export::glb::{GlbOptions, kept_frames, write_glb};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Reads a GLB back and compares all that it shows with the animation it came from.
fn assert_shows(animation: &Animation, options: &GlbOptions, bytes: &[u8]) {
    let file = gltf::Gltf::from_slice(bytes).expect("the independent reader accepts the file");
    let blob = file.blob.as_deref().unwrap();
    let kept = kept_frames(animation.frame_count(), options.max_targets);
    assert!(kept.len() <= options.max_targets + 1);

    assert_eq!(file.default_scene().unwrap().nodes().count(), animation.bodies.len());
    assert_eq!(file.nodes().count(), animation.bodies.len());
    let mut moving = Vec::new();
    for (node, body) in file.nodes().zip(&animation.bodies) {
        assert_eq!(node.name(), Some(body.name.as_str()));
        let moves = kept.iter().any(|&k| body.frames[k].positions != body.frames[0].positions);
        if moves {
            moving.push(node.index());
        }
        let frames = if moves { kept.as_slice() } else { &kept[..1] };
        assert_mesh(&node.mesh().unwrap(), body, frames, options, blob);
    }

    assert_eq!(file.animations().count(), usize::from(!moving.is_empty()));
    for motion in file.animations() {
        assert_eq!(motion.channels().map(|c| c.target().node().index()).collect::<Vec<_>>(), moving);
        for channel in motion.channels() {
            assert_eq!(channel.sampler().interpolation(), gltf::animation::Interpolation::Linear);
            let reader = channel.reader(|_| Some(blob));
            let times: Vec<f32> = reader.read_inputs().unwrap().collect();
            let expected: Vec<f32> = kept.iter().map(|&k| (k as f64 / animation.fps) as f32).collect();
            assert_eq!(times, expected);
            let input = channel.sampler().input();
            let bound = |v: Option<gltf::json::Value>| v.unwrap()[0].as_f64().unwrap() as f32;
            assert_eq!(bound(input.min()), times[0]);
            assert_eq!(bound(input.max()), times[times.len() - 1]);
            let Some(ReadOutputs::MorphTargetWeights(weights)) = reader.read_outputs() else {
                panic!("the channel moves no weights")
            };
            let weights: Vec<f32> = weights.into_f32().collect();
            let targets = kept.len() - 1;
            assert_eq!(weights.len(), kept.len() * targets);
            for (key, row) in weights.chunks(targets).enumerate() {
                let unit = |target: usize| if key == target + 1 { 1.0 } else { 0.0 };
                assert_eq!(row, (0..targets).map(unit).collect::<Vec<f32>>());
            }
        }
    }
}

fn assert_mesh(
    mesh: &gltf::Mesh<'_>,
    body: &BodyAnimation,
    frames: &[usize],
    options: &GlbOptions,
    blob: &[u8],
) {
    let mut modes = Vec::new();
    for primitive in mesh.primitives() {
        modes.push(primitive.mode());
        assert!(primitive.material().double_sided());
        let reader = primitive.reader(|_| Some(blob));
        let base: Vec<[f32; 3]> = reader.read_positions().unwrap().collect();
        assert_eq!(base, body.frames[0].positions);
        let uvs: Vec<[f32; 2]> =
            reader.read_tex_coords(0).map(|uvs| uvs.into_f32().collect()).unwrap_or_default();
        assert_eq!(uvs, body.uvs.iter().map(|&[u, v]| [u, 1.0 - v]).collect::<Vec<_>>());
        let indices: Vec<u32> = reader.read_indices().map(|i| i.into_u32().collect()).unwrap_or_default();
        let (expected, surface) = match primitive.mode() {
            gltf::mesh::Mode::Triangles => (body.triangles.as_flattened(), true),
            gltf::mesh::Mode::Lines => (body.lines.as_flattened(), false),
            _ => (&[][..], false),
        };
        assert_eq!(indices, expected);
        let normals: Option<Vec<[f32; 3]>> = reader.read_normals().map(Iterator::collect);
        assert_eq!(normals.is_some(), surface && options.normals);

        let targets: Vec<_> = reader.read_morph_targets().collect();
        assert_eq!(targets.len(), frames.len() - 1);
        for ((positions, normal_deltas, _), &k) in targets.into_iter().zip(&frames[1..]) {
            let deltas: Vec<[f32; 3]> = positions.unwrap().collect();
            assert_eq!(deltas.len(), base.len());
            for v in 0..base.len() {
                for axis in 0..3 {
                    let (b, d) = (base[v][axis], deltas[v][axis]);
                    let x = body.frames[k].positions[v][axis];
                    // Half a unit in the last place for the difference, half for the sum.
                    let rounding = f32::EPSILON * (x.abs() + b.abs());
                    assert!((b + d - x).abs() <= rounding, "frame {k} vertex {v}: {b} + {d} is not {x}");
                }
            }
            assert_eq!(normal_deltas.is_some(), normals.is_some());
            if let (Some(normals), Some(normal_deltas)) = (&normals, normal_deltas) {
                for (n, d) in normals.iter().zip(normal_deltas) {
                    for n in [*n, [n[0] + d[0], n[1] + d[1], n[2] + d[2]]] {
                        let length = n.iter().map(|c| c * c).sum::<f32>().sqrt();
                        assert!((length - 1.0).abs() < 1e-5, "normal {n:?}");
                    }
                }
            }
        }
    }
    let mut expected = Vec::new();
    if !body.triangles.is_empty() {
        expected.push(gltf::mesh::Mode::Triangles);
    }
    if !body.lines.is_empty() {
        expected.push(gltf::mesh::Mode::Lines);
    }
    if expected.is_empty() {
        expected.push(gltf::mesh::Mode::Points);
    }
    assert_eq!(modes, expected);
}

/// The JSON chunk, read without the help of any glTF library.
fn json_of(bytes: &[u8]) -> serde_json::Value {
    assert_eq!(&bytes[..8], b"glTF\x02\0\0\0");
    assert_eq!(u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize, bytes.len());
    assert_eq!(&bytes[16..20], b"JSON");
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    assert_eq!(length % 4, 0);
    assert_eq!(&bytes[24 + length..28 + length], b"BIN\0");
    serde_json::from_slice(&bytes[20..20 + length]).unwrap()
}

#[test]
fn the_example_is_shown_whole() {
    let animation = example(12);
    for normals in [true, false] {
        let options = GlbOptions { normals, ..GlbOptions::default() };
        let bytes = write_glb(&animation, &options).unwrap();
        assert_shows(&animation, &options, &bytes);
    }
}

#[test]
fn long_animations_are_thinned_and_keep_their_end() {
    let animation = example(1001);
    let options = GlbOptions::default();
    let bytes = write_glb(&animation, &options).unwrap();
    assert_shows(&animation, &options, &bytes);
    let json = json_of(&bytes);
    let names = json["meshes"][0]["extras"]["targetNames"].as_array().unwrap();
    assert_eq!(names.len(), 200);
    assert_eq!((&names[0], &names[199]), (&"frame_5".into(), &"frame_1000".into()));
    assert_eq!(json["meshes"][0]["primitives"][0]["targets"].as_array().unwrap().len(), 200);
}

#[test]
fn json_has_what_the_specification_demands() {
    let bytes = write_glb(&example(4), &GlbOptions::default()).unwrap();
    let json = json_of(&bytes);
    assert_eq!(json["asset"]["version"], "2.0");
    let accessors = json["accessors"].as_array().unwrap();
    let views = json["bufferViews"].as_array().unwrap();
    for view in views {
        assert_eq!(view["byteOffset"].as_u64().unwrap() % 4, 0);
    }
    let target = |accessor: &serde_json::Value| {
        let accessor = &accessors[accessor.as_u64().unwrap() as usize];
        views[accessor["bufferView"].as_u64().unwrap() as usize]["target"].as_u64()
    };
    for primitive in
        json["meshes"].as_array().unwrap().iter().flat_map(|m| m["primitives"].as_array().unwrap())
    {
        let shapes = primitive["targets"].as_array().into_iter().flatten().chain([&primitive["attributes"]]);
        for shape in shapes {
            let position = &accessors[shape["POSITION"].as_u64().unwrap() as usize];
            assert_eq!(position["min"].as_array().unwrap().len(), 3);
            assert_eq!(position["max"].as_array().unwrap().len(), 3);
            assert!(shape.as_object().unwrap().values().all(|a| target(a) == Some(34962)));
        }
        assert!(primitive["indices"].is_null() || target(&primitive["indices"]) == Some(34963));
    }
    let sampler = &json["animations"][0]["samplers"][0];
    assert_eq!((target(&sampler["input"]), target(&sampler["output"])), (None, None));
    // The floor never moves: no targets, no names, no channel.
    assert!(json["meshes"][3]["primitives"][0]["targets"].is_null());
    assert!(json["meshes"][3]["extras"].is_null());
    assert_eq!(json["animations"][0]["channels"].as_array().unwrap().len(), 4);
    let color = |i: usize| json["materials"][i]["pbrMetallicRoughness"]["baseColorFactor"].clone();
    assert_ne!(color(0), color(1));
}

#[test]
fn normals_are_those_of_the_frame() {
    // A triangle that turns from facing +z to facing +x.
    let facing_z = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let facing_x = vec![[0.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]];
    let frames = [facing_z, facing_x].map(|positions| Frame { positions, velocities: Vec::new() });
    let body =
        BodyAnimation { triangles: vec![[0, 1, 2]], frames: frames.to_vec(), ..BodyAnimation::default() };
    let bytes = write_glb(&Animation { fps: 24.0, bodies: vec![body] }, &GlbOptions::default()).unwrap();
    let file = gltf::Gltf::from_slice(&bytes).unwrap();
    let blob = file.blob.as_deref().unwrap();
    let primitive = file.meshes().next().unwrap().primitives().next().unwrap();
    let reader = primitive.reader(|_| Some(blob));
    assert_eq!(reader.read_normals().unwrap().collect::<Vec<_>>(), [[0.0, 0.0, 1.0]; 3]);
    let (_, normals, _) = reader.read_morph_targets().next().unwrap();
    assert_eq!(normals.unwrap().collect::<Vec<_>>(), [[1.0, 0.0, -1.0]; 3]);
}

#[test]
fn one_frame_is_a_still() {
    let animation = example(1);
    let bytes = write_glb(&animation, &GlbOptions::default()).unwrap();
    assert_shows(&animation, &GlbOptions::default(), &bytes);
    assert!(json_of(&bytes)["animations"].is_null());
}

#[test]
fn what_cannot_be_written_is_refused() {
    let none = GlbOptions { max_targets: 0, ..GlbOptions::default() };
    assert!(matches!(write_glb(&example(3), &none), Err(ExportError::NoTargets)));

    let mut body = flag(2);
    body.frames[0].positions[7] = [f32::MAX, 0.0, 0.0];
    body.frames[1].positions[7] = [-f32::MAX, 0.0, 0.0];
    let exploded = write_glb(&Animation { fps: 30.0, bodies: vec![body] }, &GlbOptions::default());
    assert!(matches!(exploded, Err(ExportError::DisplacementTooLarge { frame: 1, vertex: 7, .. })));

    let too_fast = Animation { fps: 1e60, bodies: vec![flag(2)] };
    let result = write_glb(&too_fast, &GlbOptions::default());
    assert!(matches!(result, Err(ExportError::TimesNotIncreasing { frame: 1, .. })));
}

/// Leaves a file for the Khronos validator, if somebody asked for it.
fn leave_for_validator(name: &str, bytes: &[u8]) {
    let Some(folder) = std::env::var_os("SOUPLE_TEST_GLB_DIR") else { return };
    let folder = std::path::PathBuf::from(folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), bytes).unwrap();
}

#[test]
fn examples_are_left_for_the_validator() {
    let flat = GlbOptions { normals: false, ..GlbOptions::default() };
    for (name, frames, options) in [
        ("all_kinds.glb", 24, GlbOptions::default()),
        ("without_normals.glb", 24, flat),
        ("thinned.glb", 1001, GlbOptions::default()),
        ("still.glb", 1, GlbOptions::default()),
    ] {
        leave_for_validator(name, &write_glb(&example(frames), &options).unwrap());
    }
}

static RANDOM_FILES: AtomicUsize = AtomicUsize::new(0);

proptest! {
    #[test]
    fn random_animations_are_shown_whole(
        animation in any_animation(),
        max_targets in 1usize..6,
        normals in any::<bool>(),
    ) {
        let options = GlbOptions { max_targets, normals };
        let bytes = write_glb(&animation, &options).unwrap();
        assert_shows(&animation, &options, &bytes);
        prop_assert_eq!(&bytes, &write_glb(&animation, &options).unwrap());
        let number = RANDOM_FILES.fetch_add(1, Ordering::Relaxed);
        leave_for_validator(&format!("random_{number:04}.glb"), &bytes);
    }
}
