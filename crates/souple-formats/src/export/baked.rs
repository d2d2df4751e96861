//! A character as its file has it, with what was made of its skin on top: all that the glTF file holds stays (skins, bones, clips, materials, pictures, texture
//! coordinates, colours, extensions), and each frame of each clip that was played becomes a morph target, which the clip turns on at its time.
//!
//! Morph targets are added before bones move a vertex, so that a viewer which blends matrices linearly, as glTF asks for, shows the result: at each frame
//! exactly, between two frames by a blend of both. Meshes whose skin was left as it was get no targets. Weights that were found are put in place of those of
//! the file. Buffers and pictures beside the file are taken into it. Normals are not changed: viewers turn those of the file with the bones. Bodies beside the
//! skin, and clips that the file does not have, are added by `baked_scene`.
//!
//! Promises: the file passes the Khronos validator wherever the source does; the same input gives the same bytes.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use souple::scene::{ChannelTarget, KeyInterpolation, Rig, RigChannel, RigMesh};

use super::baked_scene::NewClip;
use super::glb::container;
use super::rig::{Binary, F32, VERTICES, add_influences};
use super::{ExportError, frame_times, reserve};
use crate::animation::BodyAnimation;
use crate::import::{Limits, MeshPlace, Opened, ReadBeside, open_gltf};

/// Offsets below this share of the size of a mesh are rounding.
const ROUNDING: f64 = 1e-6;

/// Largest file that is made: that is as much as the format can say.
const LARGEST: u128 = u32::MAX as u128;

/// A clip as it was played.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakedClip {
    /// Which one.
    pub clip: Played,
    /// Frames per second, Hz; the first is at time 0.
    pub fps: f64,
    /// Each frame.
    pub frames: Vec<BakedFrame>,
}

/// What a character plays while it is baked.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Played {
    /// Nothing: it stands.
    #[default]
    Nothing,
    /// A clip of the file, by its number.
    Clip(usize),
    /// What no clip of the file is, as a mixture of several.
    New(NewClip),
}

/// What is put on top of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baking {
    /// Clips as they were played.
    pub clips: Vec<BakedClip>,
    /// The rig of the file with other weights, if it has got some.
    pub weighted: Option<Rig>,
    /// What is there beside the skin, in the frame and the lengths of the file: frames of all clips, one clip after the other.
    pub bodies: Vec<BodyAnimation>,
}

/// A frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BakedFrame {
    /// What is added to each vertex of each mesh of the rig before bones move it, in lengths of the file.
    pub offsets: Vec<Vec<[f32; 3]>>,
    /// How much of its own morphs is added: of all meshes, one after the other.
    pub morphs: Vec<f64>,
}

/// GLB bytes of a glTF file with what became of its skin.
pub fn write_baked_glb(
    source: &[u8],
    limits: &Limits,
    beside: &mut ReadBeside,
    baking: &Baking,
) -> Result<Vec<u8>, ExportError> {
    let Baking { clips, weighted, bodies } = baking;
    let opened = open_gltf(source, limits, beside).map_err(Box::new)?;
    let mut file = Additions::new(&opened)?;
    file.take_pictures(limits, beside);
    check_size(&opened.rig, clips, bodies, file.binary.bytes.len())?;
    let animations = file.add_clips(&opened.rig, clips)?;
    let mut first_morph = 0;
    for (m, mesh) in opened.rig.meshes.iter().enumerate() {
        let moved = is_moved(m, mesh, clips);
        let weighted = weighted.as_ref().and_then(|rig| rig.meshes.get(m)).filter(|other| {
            (other.influences, &other.joints, &other.weights)
                != (mesh.influences, &mesh.joints, &mesh.weights)
        });
        if moved || weighted.is_some() {
            let own = file.own_mesh(mesh.node as usize, opened.places[m].mesh);
            if let Some(weighted) = weighted {
                file.replace_weights(own, &opened.places[m], weighted);
            }
            if moved {
                let targets = file.add_targets(own, m, &opened.places[m], clips);
                file.animate(&opened.rig, m, first_morph, targets, clips, &animations)?;
            }
        }
        first_morph += mesh.morphs.len();
    }
    file.add_bodies(bodies, clips, &animations)?;
    file.drop_clips_in_which_nothing_moves(opened.rig.clips.len());
    file.finish()
}

/// Whether a frame moves a vertex of a mesh.
fn is_moved(m: usize, mesh: &RigMesh, clips: &[BakedClip]) -> bool {
    let largest = mesh.positions.iter().flatten().fold(0.0f64, |most, c| most.max(c.abs()));
    let mut offsets =
        clips.iter().flat_map(|clip| &clip.frames).filter_map(|frame| frame.offsets.get(m)).flatten();
    offsets.any(|offset| offset.iter().any(|c| f64::from(c.abs()) > ROUNDING * largest))
}

fn check_size(
    rig: &Rig,
    clips: &[BakedClip],
    bodies: &[BodyAnimation],
    before: usize,
) -> Result<(), ExportError> {
    let frames: u128 = clips.iter().map(|clip| clip.frames.len() as u128).sum();
    let of_meshes: u128 = rig.meshes.iter().map(|mesh| mesh.positions.len() as u128).sum();
    let vertices = of_meshes + bodies.iter().map(|body| body.vertex_count() as u128).sum::<u128>();
    let keys = frames * frames * (rig.meshes.len() + bodies.len()) as u128;
    let bytes = before as u128 + 12 * vertices * frames + 4 * keys;
    if bytes > LARGEST {
        let remedy = "bake fewer clips or fewer frames per second";
        return Err(ExportError::TooLarge { format: "GLB", bytes, limit: LARGEST, remedy });
    }
    // Whether there is so much memory is better known before than in the midst.
    reserve("GLB", bytes).map(drop)
}

/// A file that is added to.
pub(super) struct Additions {
    pub(super) json: Value,
    pub(super) binary: Binary,
}

/// Changes a list of the file; an empty one if there is none.
pub(super) fn with_list<R>(json: &mut Value, name: &str, change: impl FnOnce(&mut Vec<Value>) -> R) -> R {
    let mut list = match json[name].take() {
        Value::Array(list) => list,
        _ => Vec::new(),
    };
    let result = change(&mut list);
    json[name] = list.into();
    result
}

/// Whether all that is changed here is written as objects, as the format asks for; a list in their place can be read, but not added to.
fn is_of_objects(json: &Value) -> bool {
    fn all(json: &Value, name: &str, more: &dyn Fn(&Value) -> bool) -> bool {
        match json.get(name) {
            None => true,
            Some(Value::Array(list)) => list.iter().all(|item| item.is_object() && more(item)),
            Some(_) => false,
        }
    }
    let no_more = |_: &Value| true;
    let lists = ["nodes", "buffers", "bufferViews", "accessors", "images", "skins"];
    json.is_object()
        && lists.iter().all(|name| all(json, name, &no_more))
        && all(json, "meshes", &|mesh| {
            all(mesh, "primitives", &|primitive| {
                primitive["attributes"].is_object() && all(primitive, "targets", &no_more)
            })
        })
        && all(json, "animations", &|animation| {
            all(animation, "samplers", &no_more)
                && all(animation, "channels", &|channel| channel["target"].is_object())
        })
}

impl Additions {
    /// All buffers of a file as one.
    fn new(opened: &Opened) -> Result<Additions, ExportError> {
        let mut json: Value = serde_json::from_slice(opened.json)?;
        if !is_of_objects(&json) {
            return Err(ExportError::NotAddable);
        }
        let mut binary = Binary::default();
        let mut begins = Vec::new();
        let length = |buffer: &Value| buffer["byteLength"].as_u64().unwrap_or(0) as usize;
        let lengths: Vec<usize> = with_list(&mut json, "buffers", |list| list.iter().map(length).collect());
        for (bytes, length) in opened.buffers.iter().zip(lengths) {
            binary.align();
            begins.push(binary.bytes.len());
            binary.bytes.extend_from_slice(bytes.get(..length).unwrap_or(bytes));
        }
        binary.views = with_list(&mut json, "bufferViews", std::mem::take);
        binary.accessors = with_list(&mut json, "accessors", std::mem::take);
        for view in &mut binary.views {
            let buffer = view["buffer"].as_u64().unwrap_or(0) as usize;
            let offset = view["byteOffset"].as_u64().unwrap_or(0) as usize;
            view["byteOffset"] = (begins.get(buffer).copied().unwrap_or(0) + offset).into();
            view["buffer"] = 0.into();
        }
        Ok(Additions { json, binary })
    }

    /// Takes pictures that lie beside the file into it; one that cannot be read stays outside.
    fn take_pictures(&mut self, limits: &Limits, beside: &mut ReadBeside) {
        let Some(Value::Array(images)) = self.json.get_mut("images") else { return };
        for image in images {
            let Some(uri) = image["uri"].as_str().filter(|uri| !uri.starts_with("data:")) else { continue };
            let kind = match uri.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase()).as_deref() {
                Some("png") => "image/png",
                Some("jpg" | "jpeg") => "image/jpeg",
                Some("webp") => "image/webp",
                Some("ktx2") => "image/ktx2",
                _ => continue,
            };
            let Ok(bytes) = beside(&crate::import::without_percent(uri)) else { continue };
            if self.binary.bytes.len().saturating_add(bytes.len()) > limits.max_bytes {
                continue;
            }
            let view = self.binary.add_bytes(&bytes);
            image["bufferView"] = view.into();
            image["mimeType"] = kind.into();
            if let Some(image) = image.as_object_mut() {
                image.remove("uri");
            }
        }
    }

    /// The mesh of a node, which no other node has; that of the file, or a copy.
    fn own_mesh(&mut self, node: usize, mesh: usize) -> usize {
        let has_it = |node: &&Value| node["mesh"].as_u64() == Some(mesh as u64);
        let uses = with_list(&mut self.json, "nodes", |nodes| nodes.iter().filter(has_it).count());
        if uses < 2 {
            return mesh;
        }
        let own = with_list(&mut self.json, "meshes", |meshes| {
            meshes.push(meshes[mesh].clone());
            meshes.len() - 1
        });
        self.json["nodes"][node]["mesh"] = own.into();
        own
    }

    fn replace_weights(&mut self, mesh: usize, place: &MeshPlace, weighted: &RigMesh) {
        let mut made: BTreeMap<[u32; 2], Value> = BTreeMap::new();
        for (p, range) in place.ranges.iter().enumerate() {
            let Some(range) = range else { continue };
            let binary = &mut self.binary;
            let influences =
                made.entry(*range).or_insert_with(|| add_influences(binary, weighted, *range)).clone();
            let Some(attributes) = self.json["meshes"][mesh]["primitives"][p]["attributes"].as_object_mut()
            else {
                continue;
            };
            attributes.retain(|name, _| !name.starts_with("JOINTS_") && !name.starts_with("WEIGHTS_"));
            if let Value::Object(influences) = influences {
                attributes.extend(influences);
            }
        }
    }

    /// Adds a morph target per frame; returns how many there were before.
    fn add_targets(&mut self, mesh: usize, m: usize, place: &MeshPlace, clips: &[BakedClip]) -> usize {
        let Additions { json, binary } = self;
        let written = &mut json["meshes"][mesh];
        let count = |primitive: &Value| primitive["targets"].as_array().map_or(0, Vec::len);
        let before =
            written["primitives"].as_array().map_or(0, |list| list.iter().map(count).max().unwrap_or(0));
        let frames: Vec<&BakedFrame> = clips.iter().flat_map(|clip| &clip.frames).collect();
        let mut made: BTreeMap<[u32; 2], Vec<Value>> = BTreeMap::new();
        for (p, range) in place.ranges.iter().enumerate() {
            let primitive = &mut written["primitives"][p];
            let Some(position) = primitive["attributes"]["POSITION"].as_u64() else { continue };
            let Some(vertices) = binary.accessors.get(position as usize).map(|a| a["count"].clone()) else {
                continue;
            };
            // All primitives of a mesh have as many.
            let mut zeros = None;
            let mut zero = |binary: &mut Binary| {
                let accessor = *zeros.get_or_insert_with(|| {
                    binary.accessors.push(json!({
                        "componentType": F32, "count": vertices, "type": "VEC3",
                        "min": [0.0, 0.0, 0.0], "max": [0.0, 0.0, 0.0],
                    }));
                    binary.accessors.len() - 1
                });
                json!({ "POSITION": accessor })
            };
            let mut targets = primitive["targets"].as_array().cloned().unwrap_or_default();
            while targets.len() < before {
                targets.push(zero(binary));
            }
            match range {
                None => targets.extend((0..frames.len()).map(|_| zero(binary))),
                Some([first, count]) => {
                    let own = made.entry([*first, *count]).or_insert_with(|| {
                        let (first, end) = (*first as usize, (first + count) as usize);
                        let part = |frame: &&BakedFrame| -> Value {
                            let offsets = frame.offsets.get(m).and_then(|list| list.get(first..end));
                            let numbers: Vec<f64> = offsets
                                .unwrap_or_default()
                                .as_flattened()
                                .iter()
                                .map(|c| f64::from(*c))
                                .collect();
                            match numbers.is_empty() || numbers.iter().all(|c| *c == 0.0) {
                                true => zero(binary),
                                false => {
                                    json!({ "POSITION": binary.add(&numbers, 3, F32, Some(VERTICES), true) })
                                }
                            }
                        };
                        frames.iter().map(part).collect()
                    });
                    targets.extend(own.iter().cloned());
                }
            }
            primitive["targets"] = targets.into();
        }
        let mut weights: Vec<Value> = written["weights"].as_array().cloned().unwrap_or_default();
        weights.resize(before, 0.0.into());
        let on = |clip: &BakedClip| if clip.clip == Played::Nothing { 1.0 } else { 0.0 };
        let added: Vec<Value> =
            clips.iter().flat_map(|clip| clip.frames.iter().map(move |_| on(clip).into())).collect();
        weights.extend(added.iter().cloned());
        written["weights"] = weights.into();
        let mut names: Vec<Value> = written["extras"]["targetNames"].as_array().cloned().unwrap_or_default();
        let known = names.len();
        names.extend((known..before).map(|k| format!("morph{k}").into()));
        names.truncate(before);
        for clip in clips {
            let clip_name = match &clip.clip {
                Played::Nothing => "pose".to_owned(),
                Played::Clip(c) => format!("clip{c}"),
                Played::New(new) => new.name.clone(),
            };
            names.extend((0..clip.frames.len()).map(|f| Value::from(format!("{clip_name} frame{f}"))));
        }
        if !written["extras"].is_object() {
            written["extras"] = json!({});
        }
        written["extras"]["targetNames"] = names.into();
        before
    }

    /// Lets clips turn on their frames. Weights of morphs that a clip has already get as many numbers more.
    fn animate(
        &mut self,
        rig: &Rig,
        m: usize,
        first_morph: usize,
        before: usize,
        clips: &[BakedClip],
        animations: &[Option<usize>],
    ) -> Result<(), ExportError> {
        let node = rig.meshes[m].node;
        let added: usize = clips.iter().map(|clip| clip.frames.len()).sum();
        // Weights that a node gives instead of its mesh.
        let own = self.json["nodes"][node as usize].get_mut("weights");
        if let Some(weights) = own.and_then(Value::as_array_mut) {
            weights.resize(before, 0.0.into());
            let on = |clip: &BakedClip| if clip.clip == Played::Nothing { 1.0 } else { 0.0 };
            weights
                .extend(clips.iter().flat_map(|clip| clip.frames.iter().map(move |_| Value::from(on(clip)))));
        }
        let all = rig.clips.len().max(animations.iter().flatten().map(|a| a + 1).max().unwrap_or(0));
        for c in 0..all {
            let mut start = 0;
            let mut played = None;
            for (clip, animation) in clips.iter().zip(animations) {
                if *animation == Some(c) {
                    played = Some((clip, start));
                }
                start += clip.frames.len();
            }
            let is_own =
                |channel: &&RigChannel| channel.node == node && channel.target == ChannelTarget::MorphWeights;
            let old = rig.clips.get(c).and_then(|own| own.channels.iter().find(is_own));
            let (times, values, interpolation) = match (played, old) {
                (Some((clip, start)), _) => {
                    let times = frame_times(clip.fps, 0..clip.frames.len())?;
                    let times: Vec<f64> = times.into_iter().map(f64::from).collect();
                    let mut values = Vec::with_capacity(times.len() * (before + added));
                    for (f, frame) in clip.frames.iter().enumerate() {
                        let morph = |k: usize| frame.morphs.get(first_morph + k).copied().unwrap_or(0.0);
                        values.extend((0..before).map(morph));
                        values.extend((0..added).map(|k| if k == start + f { 1.0 } else { 0.0 }));
                    }
                    (times, values, "LINEAR")
                }
                (None, Some(channel)) => {
                    let parts = if channel.interpolation == KeyInterpolation::Cubic { 3 } else { 1 };
                    let rows = channel.times.len() * parts;
                    let width = channel.values.len().checked_div(rows).unwrap_or(0);
                    let mut values = Vec::new();
                    for row in channel.values.chunks_exact(width.max(1)) {
                        values.extend(row.iter().copied().chain(std::iter::repeat(0.0)).take(before + added));
                    }
                    let interpolation = match channel.interpolation {
                        KeyInterpolation::Linear => "LINEAR",
                        KeyInterpolation::Step => "STEP",
                        KeyInterpolation::Cubic => "CUBICSPLINE",
                    };
                    (channel.times.clone(), values, interpolation)
                }
                (None, None) => continue,
            };
            self.play_weights(c, node as usize, &times, &values, interpolation);
        }
        Ok(())
    }

    /// Lets an animation turn the morphs of a node, instead of what it did with them before.
    pub(super) fn play_weights(
        &mut self,
        animation: usize,
        node: usize,
        times: &[f64],
        values: &[f64],
        interpolation: &str,
    ) {
        let input = self.binary.add(times, 1, F32, None, true);
        let output = self.binary.add(values, 1, F32, None, false);
        let animation = &mut self.json["animations"][animation];
        let sampler = with_list(animation, "samplers", |samplers| {
            samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
            samplers.len() - 1
        });
        with_list(animation, "channels", |channels| {
            channels.retain(|channel| {
                let target = &channel["target"];
                target["path"] != "weights" || target["node"].as_u64() != Some(node as u64)
            });
            channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": "weights" } }));
        });
    }

    fn finish(self) -> Result<Vec<u8>, ExportError> {
        let Additions { mut json, mut binary } = self;
        binary.align();
        json["asset"]["generator"] = concat!("Souple ", env!("CARGO_PKG_VERSION")).into();
        for (name, made) in [("accessors", binary.accessors), ("bufferViews", binary.views)] {
            match made.is_empty() {
                // Empty lists are not allowed.
                true => drop(json.as_object_mut().and_then(|json| json.remove(name))),
                false => json[name] = made.into(),
            }
        }
        json["buffers"] = json!([{ "byteLength": binary.bytes.len() }]);
        container(serde_json::to_vec(&json)?, binary.bytes)
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use souple::math::uniform;
    use souple::scene::{RigMorph, SkinWeights, Skinning, WeightedVertices};
    use souple::skin::CompiledRig;
    use souple::skin::generate::{Limb, add_turns, limb};
    use souple::skin::weights::automatic;

    use super::super::rig::write_rig_glb;
    use super::*;
    use crate::import::read_rig;

    fn beside(uri: &str) -> Result<Vec<u8>, String> {
        if uri == "skin picture.png" { Ok(vec![1, 2, 3]) } else { Err("not there".into()) }
    }

    /// A limb with a morph of its own, which its first clip uses, and two clips.
    fn arm() -> Rig {
        let mut rig =
            limb(&Limb { length: 1.0, radii: [0.1; 2], sides: 5, rings: 6, cap_rings: 2, bones: 3 });
        add_turns(&mut rig, "bend", 3, &[0.0, 1.0], |bone, t| DVec3::Z * (50.0 * t * f64::from(bone)));
        add_turns(&mut rig, "twist", 3, &[0.0, 0.5], |bone, t| DVec3::Y * (90.0 * t * f64::from(bone)));
        let offsets = vec![[0.01, 0.0, 0.02]; rig.meshes[0].positions.len()];
        rig.meshes[0].morphs.push(RigMorph { name: "fat".into(), weight: 0.25, offsets });
        rig.clips[0].channels.push(RigChannel {
            node: 3,
            target: ChannelTarget::MorphWeights,
            times: vec![0.0, 1.0],
            values: vec![0.0, 1.0],
            ..RigChannel::default()
        });
        rig
    }

    /// Its file, with its JSON changed.
    fn file(rig: &Rig, change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let bytes = write_rig_glb(rig).unwrap();
        let opened = open_gltf(&bytes, &Limits::default(), &mut beside).unwrap();
        let mut json: Value = serde_json::from_slice(opened.json).unwrap();
        change(&mut json);
        container(serde_json::to_vec(&json).unwrap(), opened.buffers[0].to_vec()).unwrap()
    }

    fn json_of(bytes: &[u8]) -> Value {
        let opened = open_gltf(bytes, &Limits::default(), &mut beside).unwrap();
        serde_json::from_slice(opened.json).unwrap()
    }

    /// Frames of a clip that add something else to each vertex in each of them.
    fn frames(rig: &Rig, clip: Option<usize>, count: usize, fps: f64, of: &[usize]) -> BakedClip {
        let compiled = CompiledRig::new(rig).unwrap();
        let frame = |f: usize| {
            let mut pose = compiled.rest_pose();
            if let Some(clip) = clip {
                compiled.clips[clip].apply(f as f64 / fps, &mut pose);
            }
            let number = |m: usize, v: usize, k: usize| match of.contains(&m) {
                true => (uniform(f as u64 + 7, (3 * v + k) as u64) - 0.5) as f32 * 0.1,
                false => 0.0,
            };
            let offsets = rig.meshes.iter().enumerate().map(|(m, mesh)| {
                (0..mesh.positions.len()).map(|v| [0, 1, 2].map(|k| number(m, v, k))).collect()
            });
            BakedFrame { offsets: offsets.collect(), morphs: pose.morphs }
        };
        let clip = clip.map_or(Played::Nothing, Played::Clip);
        BakedClip { clip, fps, frames: (0..count).map(frame).collect() }
    }

    /// What a viewer shows of a file at a time of a clip.
    fn shown(rig: &Rig, clip: Option<usize>, t: f64, m: usize) -> Vec<DVec3> {
        let compiled = CompiledRig::new(rig).unwrap();
        let mut pose = compiled.rest_pose();
        if let Some(clip) = clip {
            compiled.clips[clip].apply(t, &mut pose);
        }
        let mut places = Vec::new();
        compiled.skeleton.place(&pose.locals, &mut places);
        let motions = compiled.bone_motions(&places, Skinning::LinearBlend);
        let mesh = &compiled.meshes[m];
        let bones = &motions[mesh.binding];
        (0..mesh.mesh.positions.len())
            .map(|v| mesh.vertex(v, &pose.morphs, bones, Skinning::LinearBlend))
            .collect()
    }

    /// The same of a rig with something added to each vertex.
    fn moved(rig: &Rig, clip: Option<usize>, t: f64, m: usize, frame: &BakedFrame) -> Vec<DVec3> {
        let mut rig = rig.clone();
        for (p, offset) in rig.meshes[m].positions.iter_mut().zip(&frame.offsets[m]) {
            (0..3).for_each(|k| p[k] += f64::from(offset[k]));
        }
        shown(&rig, clip, t, m)
    }

    fn write(source: &[u8], clips: &[BakedClip], weighted: Option<&Rig>) -> Vec<u8> {
        let baking = Baking { clips: clips.to_vec(), weighted: weighted.cloned(), bodies: Vec::new() };
        write_baked_glb(source, &Limits::default(), &mut beside, &baking).unwrap()
    }

    fn read(bytes: &[u8]) -> Rig {
        read_rig(bytes, &Limits::default(), &mut beside).unwrap()
    }

    #[test]
    fn frames_are_shown_and_everything_else_stays() {
        let source = file(&arm(), |json| {
            json["materials"] =
                json!([{ "name": "skin", "pbrMetallicRoughness": { "baseColorTexture": { "index": 0 } } }]);
            json["textures"] = json!([{ "source": 0 }, { "source": 1 }]);
            json["images"] = json!([{ "uri": "skin%20picture.png" }, { "uri": "lost.png" }]);
            json["meshes"][0]["primitives"][0]["material"] = json!(0);
            json["extras"] = json!({ "author": "me" });
        });
        let rig = read(&source);
        let clips = [frames(&rig, Some(0), 4, 3.0, &[0]), frames(&rig, Some(1), 2, 2.0, &[0])];
        let bytes = write(&source, &clips, None);
        assert_eq!(bytes, write(&source, &clips, None));
        let (made, json) = (read(&bytes), json_of(&bytes));
        assert_eq!(made.meshes[0].morphs.len(), 1 + 4 + 2);
        assert_eq!((&made.skins, &made.nodes), (&rig.skins, &rig.nodes));
        assert_eq!(
            (&made.meshes[0].joints, &made.meshes[0].weights, &made.meshes[0].uvs, &made.meshes[0].triangles),
            (&rig.meshes[0].joints, &rig.meshes[0].weights, &rig.meshes[0].uvs, &rig.meshes[0].triangles)
        );
        let before = json_of(&source);
        ["materials", "textures", "extras", "scenes"]
            .iter()
            .for_each(|name| assert_eq!(json[name], before[name]));
        assert_eq!(json["meshes"][0]["primitives"][0]["material"], 0);
        // A picture beside the file is in it now; one that is not there stays named.
        assert_eq!(
            (&json["images"][0]["mimeType"], &json["images"][0]["uri"]),
            (&json!("image/png"), &Value::Null)
        );
        assert_eq!(json["images"][1]["uri"], "lost.png");
        for (c, clip) in clips.iter().enumerate() {
            for (f, frame) in clip.frames.iter().enumerate() {
                let t = f as f64 / clip.fps;
                let (seen, expected) = (shown(&made, Some(c), t, 0), moved(&rig, Some(c), t, 0, frame));
                // Times and numbers are of 32 bits.
                seen.iter().zip(&expected).for_each(|(a, b)| assert!(a.distance(*b) < 1e-5, "{clip:?} {f}"));
            }
        }
        // With nothing played, all is as it was.
        let still = shown(&rig, None, 0.0, 0);
        shown(&made, None, 0.0, 0).iter().zip(&still).for_each(|(a, b)| assert!(a.distance(*b) < 1e-6));
    }

    #[test]
    fn a_clip_that_was_not_played_keeps_its_morphs() {
        let rig = read(&file(&arm(), |_| {}));
        let source = write_rig_glb(&rig).unwrap();
        let made = read(&write(&source, &[frames(&rig, Some(1), 2, 2.0, &[0])], None));
        for t in [0.0, 0.5, 1.0] {
            let (seen, expected) = (shown(&made, Some(0), t, 0), shown(&rig, Some(0), t, 0));
            seen.iter().zip(&expected).for_each(|(a, b)| assert!(a.distance(*b) < 1e-5));
        }
    }

    #[test]
    fn a_pose_is_shown_without_any_clip() {
        let mut rig = arm();
        rig.clips.clear();
        let source = write_rig_glb(&rig).unwrap();
        let rig = read(&source);
        let pose = frames(&rig, None, 1, 30.0, &[0]);
        let made = read(&write(&source, std::slice::from_ref(&pose), None));
        let (seen, expected) = (shown(&made, None, 0.0, 0), moved(&rig, None, 0.0, 0, &pose.frames[0]));
        seen.iter().zip(&expected).for_each(|(a, b)| assert!(a.distance(*b) < 1e-6));
    }

    /// Two nodes with one mesh, of which one is moved: it gets a mesh of its own.
    #[test]
    fn meshes_that_nodes_share_are_told_apart() {
        let source = file(&arm(), |json| {
            with_list(json, "nodes", |nodes| {
                nodes.push(json!({ "mesh": 0, "translation": [1.0, 0.0, 0.0] }))
            });
            with_list(&mut json["scenes"][0], "nodes", |nodes| nodes.push(json!(4)));
        });
        let rig = read(&source);
        assert_eq!(rig.meshes.len(), 2);
        let clip = frames(&rig, Some(0), 2, 1.0, &[0]);
        let bytes = write(&source, std::slice::from_ref(&clip), None);
        let made = read(&bytes);
        assert_eq!(json_of(&bytes)["meshes"].as_array().map(Vec::len), Some(2));
        assert_eq!([made.meshes[0].morphs.len(), made.meshes[1].morphs.len()], [3, 1]);
        let (seen, expected) = (shown(&made, Some(0), 1.0, 0), moved(&rig, Some(0), 1.0, 0, &clip.frames[1]));
        seen.iter().zip(&expected).for_each(|(a, b)| assert!(a.distance(*b) < 1e-5));
    }

    #[test]
    fn weights_are_replaced_and_what_does_not_move_gets_no_targets() {
        let source = file(&arm(), |_| {});
        let rig = read(&source);
        let how = SkinWeights { vertices: WeightedVertices::All, resolution: 32, ..SkinWeights::default() };
        let compiled = CompiledRig::new(&rig).unwrap();
        let weighted = automatic(&rig, &compiled, Some(&how), &Default::default()).unwrap().unwrap();
        let still = frames(&rig, Some(0), 3, 1.0, &[]);
        let made = read(&write(&source, &[still], Some(&weighted)));
        assert_eq!(made.meshes[0].morphs.len(), 1);
        let (a, b) = (CompiledRig::new(&made).unwrap(), CompiledRig::new(&weighted).unwrap());
        for v in 0..rig.meshes[0].positions.len() {
            let near = |(a, b): (&(u32, f64), &(u32, f64))| a.0 == b.0 && (a.1 - b.1).abs() < 1e-6;
            assert!(a.meshes[0].influences(v).iter().zip(b.meshes[0].influences(v)).all(near));
        }
    }

    #[test]
    fn what_cannot_be_added_to_is_refused() {
        let nothing = Baking::default();
        let wrong =
            |bytes: &[u8]| write_baked_glb(bytes, &Limits::default(), &mut beside, &nothing).unwrap_err();
        assert!(matches!(wrong(b"glTF"), ExportError::Source(_)));
        // A primitive as a list of its fields: it can be read.
        let bar = limb(&Limb { length: 1.0, radii: [0.1; 2], sides: 5, rings: 6, cap_rings: 2, bones: 3 });
        let listed = file(&bar, |json| {
            let primitive = &json["meshes"][0]["primitives"][0];
            let as_list = json!([primitive["attributes"], primitive["indices"], 4, []]);
            json["meshes"][0]["primitives"][0] = as_list;
        });
        assert!(matches!(wrong(&listed), ExportError::NotAddable));
    }
}
