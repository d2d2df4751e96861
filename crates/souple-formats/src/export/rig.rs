//! A character as glTF 2.0 in one binary file (`.glb`): nodes, skins, morphs and clips, as [`crate::import::read_rig`] reads them.
//!
//! Numbers are written with 32 bits, weights and bones four by four: of a vertex with more than sixteen bones the heaviest sixteen, as no reader knows more. A
//! node of the format has one mesh: where a rig has several on one, each gets a node of its own below it. Promises: the file passes the Khronos validator without errors, and the
//! same rig gives the same bytes. Rigs that were not checked ([`CompiledRig::new`]) are refused. Not done: materials, pictures, normals.

use serde_json::{Value, json};
use souple::scene::{ChannelTarget, KeyInterpolation, Rig, RigClip, RigMesh};
use souple::skin::CompiledRig;

use super::ExportError;
use super::glb::container;
use crate::import::MAX_INFLUENCES;

const U16: u32 = 5123;
pub(super) const U32: u32 = 5125;
pub(super) const F32: u32 = 5126;
pub(super) const VERTICES: u32 = 34962;
pub(super) const INDICES: u32 = 34963;

/// What is written to the binary part, and the lists that tell what it is.
#[derive(Default)]
pub(super) struct Binary {
    pub bytes: Vec<u8>,
    pub views: Vec<Value>,
    pub accessors: Vec<Value>,
}

impl Binary {
    /// Goes on at a multiple of four.
    pub fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    /// Adds bytes; returns the number of their view.
    pub fn add_bytes(&mut self, bytes: &[u8]) -> usize {
        self.align();
        self.views.push(json!({ "buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len() }));
        self.bytes.extend_from_slice(bytes);
        self.views.len() - 1
    }

    /// Adds numbers, `width` per element; returns the number of the accessor.
    pub fn add(
        &mut self,
        values: &[f64],
        width: usize,
        component: u32,
        target: Option<u32>,
        bounds: bool,
    ) -> usize {
        self.align();
        let start = self.bytes.len();
        for &value in values {
            match component {
                U16 => self.bytes.extend_from_slice(&(value as u16).to_le_bytes()),
                U32 => self.bytes.extend_from_slice(&(value as u32).to_le_bytes()),
                _ => self.bytes.extend_from_slice(&(value as f32).to_le_bytes()),
            }
        }
        let mut view = json!({ "buffer": 0, "byteOffset": start, "byteLength": self.bytes.len() - start });
        if let Some(target) = target {
            view["target"] = target.into();
        }
        self.views.push(view);
        let kind = match width {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            _ => "MAT4",
        };
        let mut accessor = json!({
            "bufferView": self.views.len() - 1,
            "componentType": component,
            "count": values.len() / width,
            "type": kind,
        });
        if bounds {
            let part = |k: usize| values.iter().skip(k).step_by(width).map(|value| f64::from(*value as f32));
            let least: Vec<f64> = (0..width).map(|k| part(k).fold(f64::INFINITY, f64::min)).collect();
            let most: Vec<f64> = (0..width).map(|k| part(k).fold(f64::NEG_INFINITY, f64::max)).collect();
            accessor["min"] = least.into();
            accessor["max"] = most.into();
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }
}

/// GLB bytes of a rig.
pub fn write_rig_glb(rig: &Rig) -> Result<Vec<u8>, ExportError> {
    CompiledRig::new(rig)?;
    let mut binary = Binary::default();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rig.nodes.len()];
    let mut roots = Vec::new();
    for (n, node) in rig.nodes.iter().enumerate() {
        match node.parent {
            Some(parent) => children[parent as usize].push(n),
            None => roots.push(n),
        }
    }
    let mut nodes: Vec<Value> = Vec::new();
    for (node, children) in rig.nodes.iter().zip(children) {
        let mut written = json!({
            "name": node.name,
            "translation": node.translation,
            "rotation": node.rotation,
            "scale": node.scale,
        });
        if !children.is_empty() {
            written["children"] = children.into();
        }
        nodes.push(written);
    }
    let carriers = mesh_nodes(rig, &mut nodes);
    let mut meshes = Vec::new();
    for (mesh, carrier) in rig.meshes.iter().zip(&carriers) {
        let node = &mut nodes[*carrier];
        node["mesh"] = meshes.len().into();
        if let Some(skin) = mesh.skin {
            node["skin"] = skin.into();
        }
        meshes.push(add_mesh(&mut binary, mesh));
    }
    let mut skins = Vec::new();
    for skin in &rig.skins {
        let mut written = json!({ "name": skin.name, "joints": skin.joints });
        if !skin.inverse_binds.is_empty() {
            let whole = |m: &[f64; 12]| {
                [m[0], m[1], m[2], 0.0, m[3], m[4], m[5], 0.0, m[6], m[7], m[8], 0.0, m[9], m[10], m[11], 1.0]
            };
            let matrices: Vec<f64> = skin.inverse_binds.iter().flat_map(whole).collect();
            written["inverseBindMatrices"] = binary.add(&matrices, 16, F32, None, false).into();
        }
        skins.push(written);
    }
    let animations: Vec<Value> =
        rig.clips.iter().map(|clip| add_clip(&mut binary, rig, &carriers, clip)).collect();
    let mut document = json!({
        "asset": { "version": "2.0", "generator": concat!("Souple ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": roots }],
        "nodes": nodes,
        "meshes": meshes,
    });
    for (name, list) in [
        ("skins", skins),
        ("animations", animations),
        ("accessors", binary.accessors),
        ("bufferViews", binary.views),
    ] {
        // Empty lists are not allowed.
        if !list.is_empty() {
            document[name] = list.into();
        }
    }
    document["buffers"] = json!([{ "byteLength": binary.bytes.len() }]);
    let json = serde_json::to_vec(&document)?;
    container(json, binary.bytes)
}

fn add_mesh(binary: &mut Binary, mesh: &RigMesh) -> Value {
    let positions = mesh.positions.as_flattened();
    let mut attributes = json!({ "POSITION": binary.add(positions, 3, F32, Some(VERTICES), true) });
    if !mesh.uvs.is_empty() {
        let uvs: Vec<f64> = mesh.uvs.iter().flat_map(|uv| [uv[0], 1.0 - uv[1]]).collect();
        attributes["TEXCOORD_0"] = binary.add(&uvs, 2, F32, Some(VERTICES), false).into();
    }
    if !mesh.colours.is_empty() {
        attributes["COLOR_0"] = binary.add(mesh.colours.as_flattened(), 4, F32, Some(VERTICES), false).into();
    }
    if let Value::Object(influences) = add_influences(binary, mesh, [0, mesh.positions.len() as u32])
        && let Some(attributes) = attributes.as_object_mut()
    {
        attributes.extend(influences);
    }
    let corners: Vec<f64> = mesh.triangles.as_flattened().iter().map(|v| f64::from(*v)).collect();
    let mut primitive = json!({ "attributes": attributes });
    if !corners.is_empty() {
        primitive["indices"] = binary.add(&corners, 1, U32, Some(INDICES), false).into();
    }
    let mut written = json!({ "name": mesh.name });
    if !mesh.morphs.is_empty() {
        let target = |offsets: &[[f64; 3]], binary: &mut Binary| json!({ "POSITION": binary.add(offsets.as_flattened(), 3, F32, Some(VERTICES), true) });
        let targets: Vec<Value> = mesh.morphs.iter().map(|morph| target(&morph.offsets, binary)).collect();
        primitive["targets"] = targets.into();
        let names: Vec<&str> = mesh.morphs.iter().map(|morph| morph.name.as_str()).collect();
        written["weights"] = mesh.morphs.iter().map(|morph| morph.weight).collect::<Vec<_>>().into();
        written["extras"] = json!({ "targetNames": names });
    }
    written["primitives"] = json!([primitive]);
    written
}

/// The node of each mesh: its own, or, if one has several or they are not in the order of nodes, in which readers find them, a new one below it.
fn mesh_nodes(rig: &Rig, nodes: &mut Vec<Value>) -> Vec<usize> {
    let own: Vec<usize> = rig.meshes.iter().map(|mesh| mesh.node as usize).collect();
    if own.is_sorted_by(|a, b| a < b) {
        return own;
    }
    let below = |(mesh, node): (&RigMesh, usize)| {
        nodes.push(json!({ "name": mesh.name }));
        let new = nodes.len() - 1;
        match nodes[node]["children"].as_array_mut() {
            Some(children) => children.push(new.into()),
            None => nodes[node]["children"] = json!([new]),
        }
        new
    };
    rig.meshes.iter().zip(own).map(below).collect()
}

/// The heaviest bones of a vertex, as many as are written, in the order they are given; with what the others had shared out among them.
fn heaviest(mesh: &RigMesh, v: usize) -> Vec<(u32, f64)> {
    let own = v * mesh.influences as usize..(v + 1) * mesh.influences as usize;
    let all: Vec<(u32, f64)> =
        mesh.joints[own.clone()].iter().copied().zip(mesh.weights[own].iter().copied()).collect();
    if all.len() <= MAX_INFLUENCES {
        return all;
    }
    let mut order: Vec<usize> = (0..all.len()).collect();
    order.sort_by(|a, b| all[*b].1.total_cmp(&all[*a].1).then(a.cmp(b)));
    order.truncate(MAX_INFLUENCES);
    order.sort_unstable();
    let total = |list: &mut dyn Iterator<Item = f64>| list.filter(|w| *w > 0.0).sum::<f64>();
    let before = total(&mut all.iter().map(|(_, w)| *w));
    let kept = total(&mut order.iter().map(|k| all[*k].1));
    let share = if kept > 0.0 { before / kept } else { 1.0 };
    order.iter().map(|k| (all[*k].0, all[*k].1 * share)).collect()
}

/// Bones and weights of some vertices, the first and how many, as attributes: four by four, at most [`MAX_INFLUENCES`].
pub(super) fn add_influences(binary: &mut Binary, mesh: &RigMesh, [first, count]: [u32; 2]) -> Value {
    let mut attributes = json!({});
    let own: Vec<Vec<(u32, f64)>> =
        (first as usize..(first + count) as usize).map(|v| heaviest(mesh, v)).collect();
    for set in 0..(mesh.influences as usize).min(MAX_INFLUENCES).div_ceil(4) {
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        for of in &own {
            for k in 4 * set..4 * set + 4 {
                let (joint, weight) = of.get(k).copied().unwrap_or((0, 0.0));
                // Bones without weight are to be number 0.
                joints.push(if weight != 0.0 { f64::from(joint) } else { 0.0 });
                weights.push(weight);
            }
        }
        attributes[format!("JOINTS_{set}")] = binary.add(&joints, 4, U16, Some(VERTICES), false).into();
        attributes[format!("WEIGHTS_{set}")] = binary.add(&weights, 4, F32, Some(VERTICES), false).into();
    }
    attributes
}

fn add_clip(binary: &mut Binary, rig: &Rig, carriers: &[usize], clip: &RigClip) -> Value {
    let (mut channels, mut samplers) = (Vec::new(), Vec::new());
    for channel in &clip.channels {
        let (path, width) = match channel.target {
            ChannelTarget::Translation => ("translation", 3),
            ChannelTarget::Rotation => ("rotation", 4),
            ChannelTarget::Scale => ("scale", 3),
            ChannelTarget::MorphWeights => ("weights", 1),
        };
        let interpolation = match channel.interpolation {
            KeyInterpolation::Linear => "LINEAR",
            KeyInterpolation::Step => "STEP",
            KeyInterpolation::Cubic => "CUBICSPLINE",
        };
        let input = binary.add(&channel.times, 1, F32, None, true);
        let output = binary.add(&channel.values, width, F32, None, false);
        // Morphs are turned where the mesh is.
        let carried = rig.meshes.iter().zip(carriers).filter(|(mesh, _)| mesh.node == channel.node);
        let nodes: Vec<usize> = match channel.target {
            ChannelTarget::MorphWeights => {
                let most = carried.clone().map(|(mesh, _)| mesh.morphs.len()).max();
                carried.filter(|(mesh, _)| Some(mesh.morphs.len()) == most).map(|(_, node)| *node).collect()
            }
            _ => vec![channel.node as usize],
        };
        for node in nodes {
            channels.push(json!({ "sampler": samplers.len(), "target": { "node": node, "path": path } }));
        }
        samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
    }
    json!({ "name": clip.name, "channels": channels, "samplers": samplers })
}

#[cfg(test)]
mod tests {
    use souple::scene::{RigChannel, RigMorph, RigNode, RigSkin};

    use super::*;
    use crate::import::{Limits, read_rig};

    fn back(rig: &Rig) -> Rig {
        let bytes = write_rig_glb(rig).unwrap();
        read_rig(&bytes, &Limits::default(), &mut |_| Err("alone".into())).unwrap()
    }

    fn triangle(name: &str, node: u32, at: f64) -> RigMesh {
        let positions = vec![[at, 0.0, 0.0], [at + 1.0, 0.0, 0.0], [at, 1.0, 0.0]];
        let name = name.to_owned();
        RigMesh { name, node, positions, triangles: vec![[0, 1, 2]], ..RigMesh::default() }
    }

    /// Two meshes of one node, the second with a morph that a clip turns: both are there again, in their order.
    #[test]
    fn meshes_of_one_node_are_all_written() {
        let mut second = triangle("second", 0, 2.0);
        second.morphs.push(RigMorph { name: "up".into(), weight: 0.0, offsets: vec![[0.0, 1.0, 0.0]; 3] });
        let channel = RigChannel {
            target: ChannelTarget::MorphWeights,
            times: vec![0.0, 1.0],
            values: vec![0.0, 1.0],
            ..RigChannel::default()
        };
        let rig = Rig {
            nodes: vec![RigNode { name: "body".into(), translation: [0.0, 0.0, 3.0], ..RigNode::default() }],
            meshes: vec![triangle("first", 0, 0.0), second],
            clips: vec![RigClip { name: "rise".into(), channels: vec![channel] }],
            ..Rig::default()
        };
        let made = back(&rig);
        let named = |rig: &Rig| rig.meshes.iter().map(|mesh| mesh.name.clone()).collect::<Vec<_>>();
        assert_eq!(named(&made), named(&rig));
        let seen = |rig: &Rig, t: f64| {
            let rig = CompiledRig::new(rig).unwrap();
            let mut pose = rig.rest_pose();
            rig.clips[0].apply(t, &mut pose);
            let mut places = Vec::new();
            rig.skeleton.place(&pose.locals, &mut places);
            let motions = rig.bone_motions(&places, souple::scene::Skinning::LinearBlend);
            let mesh = &rig.meshes[1];
            mesh.vertex(2, &pose.morphs, &motions[mesh.binding], souple::scene::Skinning::LinearBlend)
        };
        assert!(seen(&made, 0.5).distance(glam::DVec3::new(2.0, 1.5, 3.0)) < 1e-6);
        assert!(seen(&made, 0.5).distance(seen(&rig, 0.5)) < 1e-6);
    }

    /// Up to sixteen bones are written as they are; of more, the heaviest, whose weights sum to what all of them did.
    #[test]
    fn more_than_eight_bones_are_written() {
        for bones in [3u32, 9, 16, 20] {
            let nodes: Vec<RigNode> =
                (0..=bones).map(|n| RigNode { name: format!("n{n}"), ..RigNode::default() }).collect();
            let mut mesh = triangle("skin", bones, 0.0);
            let weights: Vec<f64> = (0..bones).map(|b| f64::from(1 + (b * 7) % bones)).collect();
            let sum: f64 = weights.iter().sum();
            mesh.skin = Some(0);
            mesh.influences = bones;
            mesh.joints = (0..3).flat_map(|_| 0..bones).collect();
            mesh.weights = (0..3).flat_map(|_| weights.iter().map(|w| w / sum)).collect();
            let skins = vec![RigSkin { joints: (0..bones).collect(), ..RigSkin::default() }];
            let made = back(&Rig { nodes, meshes: vec![mesh.clone()], skins, ..Rig::default() });
            let made = &made.meshes[0];
            let total: f64 = made.weights[..made.influences as usize].iter().sum();
            assert!((total - 1.0).abs() < 1e-6, "{bones}: {total}");
            if bones <= 16 {
                assert_eq!((made.influences, &made.joints), (mesh.influences, &mesh.joints));
                made.weights.iter().zip(&mesh.weights).for_each(|(a, b)| assert!((a - b).abs() < 1e-7));
            } else {
                let least = mesh.weights[..20].iter().copied().fold(1.0, f64::min);
                assert!(made.influences == 16 && made.weights.iter().all(|w| *w > 2.0 * least), "{made:?}");
            }
        }
    }
}
