//! A character as glTF 2.0 in one binary file (`.glb`): nodes, skins, morphs and clips, as [`crate::import::read_rig`] reads them.
//!
//! Numbers are written with 32 bits, weights and bones four by four. Promises: the file passes the Khronos validator without errors, and the
//! same rig gives the same bytes. Rigs that were not checked ([`CompiledRig::new`]) are refused. Not done: materials, pictures, normals.

use serde_json::{Value, json};
use souple::scene::{ChannelTarget, KeyInterpolation, Rig, RigMesh};
use souple::skin::CompiledRig;

use super::ExportError;
use super::glb::container;

const U16: u32 = 5123;
const U32: u32 = 5125;
pub(super) const F32: u32 = 5126;
pub(super) const VERTICES: u32 = 34962;
const INDICES: u32 = 34963;

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
    let mut meshes = Vec::new();
    for mesh in &rig.meshes {
        let node = &mut nodes[mesh.node as usize];
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
    let animations: Vec<Value> = rig.clips.iter().map(|clip| add_clip(&mut binary, clip)).collect();
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

/// Bones and weights of some vertices, the first and how many, as attributes: four by four, at most eight.
pub(super) fn add_influences(binary: &mut Binary, mesh: &RigMesh, [first, count]: [u32; 2]) -> Value {
    let mut attributes = json!({});
    let per_vertex = mesh.influences as usize;
    for set in 0..per_vertex.div_ceil(4).min(2) {
        let (mut joints, mut weights) = (Vec::new(), Vec::new());
        for v in first as usize..(first + count) as usize {
            for k in 4 * set..4 * set + 4 {
                let at = (k < per_vertex).then_some(v * per_vertex + k);
                let weight = at.map_or(0.0, |at| mesh.weights[at]);
                // Bones without weight are to be number 0.
                joints.push(at.filter(|_| weight != 0.0).map_or(0.0, |at| f64::from(mesh.joints[at])));
                weights.push(weight);
            }
        }
        attributes[format!("JOINTS_{set}")] = binary.add(&joints, 4, U16, Some(VERTICES), false).into();
        attributes[format!("WEIGHTS_{set}")] = binary.add(&weights, 4, F32, Some(VERTICES), false).into();
    }
    attributes
}

fn add_clip(binary: &mut Binary, clip: &souple::scene::RigClip) -> Value {
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
        channels.push(json!({ "sampler": samplers.len(), "target": { "node": channel.node, "path": path } }));
        samplers.push(json!({ "input": input, "output": output, "interpolation": interpolation }));
    }
    json!({ "name": clip.name, "channels": channels, "samplers": samplers })
}
