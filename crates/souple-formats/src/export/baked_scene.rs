//! What a glTF file gets beside what became of its skin ([`super::baked`]): a clip that it does not have, as a run mixes clips and moves the whole, and
//! bodies that are no part of the character, each a node with a morph target per frame.
//!
//! Nothing that the file has is renumbered: nodes, meshes, materials and animations are added at the end of their lists.

use serde_json::{Value, json};
use souple::scene::Rig;
use souple::skin::Transform;

use super::baked::{Additions, BakedClip, Played, with_list};
use super::glb::base_color;
use super::rig::{F32, INDICES, U32, VERTICES};
use super::{ExportError, frame_times};
use crate::animation::BodyAnimation;

/// A clip that the file does not have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewClip {
    /// Name.
    pub name: String,
    /// Where each node of the file is in what carries it, frame by frame, in lengths of the file.
    pub locals: Vec<Vec<Transform>>,
    /// Where the character is as a whole, frame by frame; bodies are not carried along.
    pub whole: Vec<Transform>,
}

/// A part of a transform by its name in the format, and how many numbers it has.
const PARTS: [(&str, usize); 3] = [("translation", 3), ("rotation", 4), ("scale", 3)];

fn part(transform: &Transform, name: &str) -> Vec<f64> {
    match name {
        "translation" => transform.translation.to_array().to_vec(),
        "rotation" => transform.rotation.to_array().to_vec(),
        _ => transform.scale.to_array().to_vec(),
    }
}

impl Additions {
    /// Adds the clips that the file does not have; the number of the animation of each, none of what plays nothing.
    pub(super) fn add_clips(
        &mut self,
        rig: &Rig,
        clips: &[BakedClip],
    ) -> Result<Vec<Option<usize>>, ExportError> {
        let mut numbers = Vec::new();
        for clip in clips {
            numbers.push(match &clip.clip {
                Played::Nothing => None,
                Played::Clip(number) => Some(*number),
                Played::New(new) => Some(self.add_clip(rig, new, clip.fps)?),
            });
        }
        Ok(numbers)
    }

    /// Leaves out what was added after the first `own` animations and moves nothing: the format has no empty ones.
    pub(super) fn drop_clips_in_which_nothing_moves(&mut self, own: usize) {
        let is_empty = |animation: &Value| animation["channels"].as_array().is_none_or(Vec::is_empty);
        let left = with_list(&mut self.json, "animations", |animations| {
            let mut number = 0;
            animations.retain(|animation| {
                number += 1;
                number <= own || !is_empty(animation)
            });
            animations.len()
        });
        if left == 0
            && let Some(json) = self.json.as_object_mut()
        {
            json.remove("animations");
        }
    }

    fn add_clip(&mut self, rig: &Rig, new: &NewClip, fps: f64) -> Result<usize, ExportError> {
        let number = with_list(&mut self.json, "animations", |animations| {
            animations.push(json!({ "name": new.name, "samplers": [], "channels": [] }));
            animations.len() - 1
        });
        let times: Vec<f64> = frame_times(fps, 0..new.locals.len())?.into_iter().map(f64::from).collect();
        let input = self.binary.add(&times, 1, F32, None, true);
        for (n, node) in rig.nodes.iter().enumerate() {
            let poses: Vec<&Transform> = new.locals.iter().filter_map(|frame| frame.get(n)).collect();
            let stands =
                json!({ "translation": node.translation, "rotation": node.rotation, "scale": node.scale });
            let written = &mut self.json["nodes"][n];
            // What is written as a matrix cannot be animated.
            if let Some(object) = written.as_object_mut()
                && object.remove("matrix").is_some()
            {
                PARTS.iter().for_each(|(name, _)| drop(object.insert((*name).into(), stands[*name].clone())));
            }
            self.move_node(number, n, input, &poses, Some(&stands));
        }
        let Some(first) = new.whole.first() else { return Ok(number) };
        let whole = self.wrap(&new.name, first);
        self.move_node(number, whole, input, &new.whole.iter().collect::<Vec<_>>(), None);
        Ok(number)
    }

    /// Lets an animation move a node, in what changes or is not as it stands.
    fn move_node(
        &mut self,
        animation: usize,
        node: usize,
        input: usize,
        poses: &[&Transform],
        stands: Option<&Value>,
    ) {
        for (name, width) in PARTS {
            let values: Vec<f64> = poses.iter().flat_map(|pose| part(pose, name)).collect();
            let first: Vec<f64> = match stands {
                Some(stands) => {
                    stands[name].as_array().into_iter().flatten().filter_map(Value::as_f64).collect()
                }
                None => values.iter().copied().take(width).collect(),
            };
            if values.chunks_exact(width).all(|value| *value == first[..]) {
                continue;
            }
            let output = self.binary.add(&values, width, F32, None, false);
            let animation = &mut self.json["animations"][animation];
            let sampler = with_list(animation, "samplers", |samplers| {
                samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
                samplers.len() - 1
            });
            with_list(animation, "channels", |channels| {
                channels.push(json!({ "sampler": sampler, "target": { "node": node, "path": name } }));
            });
        }
    }

    /// Hangs all that is shown on a new node; its number. Surfaces that bones move do not follow what carries them, and stay at the top: a validator warns
    /// of those that do not.
    fn wrap(&mut self, name: &str, pose: &Transform) -> usize {
        let roots = self.roots();
        let skinned: Vec<Value> = with_list(&mut self.json, "nodes", |nodes| {
            let is_leaf = |node: &Value| node["children"].as_array().is_none_or(Vec::is_empty);
            let is_skinned = |node: &Value| node["mesh"].is_u64() && node["skin"].is_u64() && is_leaf(node);
            let skinned: Vec<Value> =
                (0..nodes.len()).filter(|n| is_skinned(&nodes[*n])).map(Value::from).collect();
            for node in nodes.iter_mut().filter_map(Value::as_object_mut) {
                let Some(Value::Array(children)) = node.get_mut("children") else { continue };
                children.retain(|child| !skinned.contains(child));
                // Empty lists are not allowed.
                if children.is_empty() {
                    node.remove("children");
                }
            }
            skinned
        });
        let roots: Vec<Value> = roots.into_iter().filter(|root| !skinned.contains(root)).collect();
        let mut written = json!({ "name": name });
        PARTS.iter().for_each(|(name, _)| written[*name] = part(pose, name).into());
        if !roots.is_empty() {
            written["children"] = roots.into();
        }
        let node = with_list(&mut self.json, "nodes", |nodes| {
            nodes.push(written);
            nodes.len() - 1
        });
        self.set_roots([node.into()].into_iter().chain(skinned).collect());
        node
    }

    /// The nodes at the top of the scene that is shown; without any scene, all that nothing carries.
    fn roots(&self) -> Vec<Value> {
        if let Some(roots) = self.json["scenes"][self.shown()]["nodes"].as_array() {
            return roots.clone();
        }
        let nodes = self.json["nodes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let carried: Vec<u64> = nodes
            .iter()
            .flat_map(|node| node["children"].as_array().into_iter().flatten().filter_map(Value::as_u64))
            .collect();
        (0..nodes.len() as u64).filter(|n| !carried.contains(n)).map(Value::from).collect()
    }

    fn shown(&self) -> usize {
        self.json["scene"].as_u64().unwrap_or(0) as usize
    }

    fn set_roots(&mut self, roots: Vec<Value>) {
        let shown = self.shown();
        let scenes = self.json["scenes"].as_array().map_or(0, Vec::len);
        if shown < scenes && self.json["scenes"][shown].is_object() {
            self.json["scenes"][shown]["nodes"] = roots.into();
        } else if scenes == 0 {
            self.json["scenes"] = json!([{ "nodes": roots }]);
            self.json["scene"] = 0.into();
        }
    }

    /// Adds bodies, each as a node of its own, with frames of all clips, one clip after the other.
    pub(super) fn add_bodies(
        &mut self,
        bodies: &[BodyAnimation],
        clips: &[BakedClip],
        animations: &[Option<usize>],
    ) -> Result<(), ExportError> {
        for (number, body) in bodies.iter().enumerate() {
            let Some(node) = self.add_body(number, body) else { continue };
            let targets = body.frames.len() - 1;
            let mut start = 0;
            for (clip, animation) in clips.iter().zip(animations) {
                let own = start..(start + clip.frames.len()).min(body.frames.len());
                start += clip.frames.len();
                let (Some(animation), true) = (animation, targets > 0) else { continue };
                let times: Vec<f64> =
                    frame_times(clip.fps, 0..own.len())?.into_iter().map(f64::from).collect();
                // The first frame of all is the mesh itself.
                let values: Vec<f64> =
                    own.flat_map(|f| (1..=targets).map(move |k| if k == f { 1.0 } else { 0.0 })).collect();
                self.play_weights(*animation, node, &times, &values, "LINEAR");
            }
        }
        Ok(())
    }

    /// Adds a body with a morph target for each of its frames but the first; the number of its node, none of one without vertices.
    fn add_body(&mut self, number: usize, body: &BodyAnimation) -> Option<usize> {
        let first = body.frames.first().filter(|frame| !frame.positions.is_empty())?;
        let binary = &mut self.binary;
        let wide =
            |list: &[[f32; 3]]| list.as_flattened().iter().map(|c| f64::from(*c)).collect::<Vec<f64>>();
        let places = wide(&first.positions);
        let mut attributes = json!({ "POSITION": binary.add(&places, 3, F32, Some(VERTICES), true) });
        if body.uvs.len() == first.positions.len() {
            let uvs: Vec<f64> = body.uvs.iter().flat_map(|uv| [uv[0], 1.0 - uv[1]]).map(f64::from).collect();
            attributes["TEXCOORD_0"] = binary.add(&uvs, 2, F32, Some(VERTICES), false).into();
        }
        let mut targets = Vec::new();
        for frame in &body.frames[1..] {
            let offsets: Vec<f64> = wide(&frame.positions).iter().zip(&places).map(|(a, b)| a - b).collect();
            targets.push(json!({ "POSITION": binary.add(&offsets, 3, F32, Some(VERTICES), true) }));
        }
        let mut primitives = Vec::new();
        for (corners, mode) in [(body.triangles.as_flattened(), 4), (body.lines.as_flattened(), 1)] {
            if !corners.is_empty() {
                let corners: Vec<f64> = corners.iter().map(|v| f64::from(*v)).collect();
                let indices = binary.add(&corners, 1, U32, Some(INDICES), false);
                let mut primitive = json!({ "attributes": attributes, "indices": indices, "mode": mode });
                if !targets.is_empty() {
                    primitive["targets"] = targets.clone().into();
                }
                primitives.push(primitive);
            }
        }
        if primitives.is_empty() {
            return None;
        }
        let [r, g, b] = base_color(number);
        let material = with_list(&mut self.json, "materials", |materials| {
            materials.push(json!({
                "name": body.name,
                "doubleSided": true,
                "pbrMetallicRoughness": {
                    "baseColorFactor": [r, g, b, 1.0], "metallicFactor": 0.0, "roughnessFactor": 0.8,
                },
            }));
            materials.len() - 1
        });
        primitives.iter_mut().for_each(|primitive| primitive["material"] = material.into());
        let mut mesh = json!({ "name": body.name, "primitives": primitives });
        if !targets.is_empty() {
            mesh["weights"] = vec![0.0; targets.len()].into();
        }
        let mesh = with_list(&mut self.json, "meshes", |meshes| {
            meshes.push(mesh);
            meshes.len() - 1
        });
        let node = with_list(&mut self.json, "nodes", |nodes| {
            nodes.push(json!({ "name": body.name, "mesh": mesh }));
            nodes.len() - 1
        });
        let mut roots = self.roots();
        // Without any scene all nodes are there already.
        if !roots.contains(&node.into()) {
            roots.push(node.into());
        }
        self.set_roots(roots);
        Some(node)
    }
}
