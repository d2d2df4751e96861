//! The JSON of a glTF 2.0 file, as far as it is read. What is not known is passed over, as the format asks for.

use serde::Deserialize;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: Option<Asset>,
    pub scene: Option<u32>,
    pub scenes: Vec<Scene>,
    pub nodes: Vec<Node>,
    pub meshes: Vec<Mesh>,
    pub skins: Vec<Skin>,
    pub animations: Vec<Animation>,
    pub accessors: Vec<Accessor>,
    pub buffer_views: Vec<BufferView>,
    pub buffers: Vec<Buffer>,
    pub extensions_required: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Asset {
    pub version: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Scene {
    pub nodes: Vec<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub name: Option<String>,
    pub children: Vec<u32>,
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
    pub mesh: Option<u32>,
    pub skin: Option<u32>,
    pub weights: Option<Vec<f64>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Mesh {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
    pub weights: Vec<f64>,
    pub extras: serde_json::Value,
}

impl Mesh {
    /// The name of a morph, which many programs write though the format does not know it.
    pub fn morph_name(&self, morph: usize) -> Option<&str> {
        self.extras.get("targetNames")?.get(morph)?.as_str()
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<u32>,
    #[serde(default = "triangles")]
    pub mode: u32,
    #[serde(default)]
    pub targets: Vec<Target>,
}

fn triangles() -> u32 {
    4
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) struct Attributes {
    pub position: Option<u32>,
    #[serde(rename = "TEXCOORD_0")]
    pub uv: Option<u32>,
    #[serde(rename = "COLOR_0")]
    pub colour: Option<u32>,
    #[serde(rename = "JOINTS_0")]
    pub joints_0: Option<u32>,
    #[serde(rename = "WEIGHTS_0")]
    pub weights_0: Option<u32>,
    #[serde(rename = "JOINTS_1")]
    pub joints_1: Option<u32>,
    #[serde(rename = "WEIGHTS_1")]
    pub weights_1: Option<u32>,
    #[serde(rename = "JOINTS_2")]
    pub joints_2: Option<u32>,
    #[serde(rename = "WEIGHTS_2")]
    pub weights_2: Option<u32>,
    #[serde(rename = "JOINTS_3")]
    pub joints_3: Option<u32>,
    #[serde(rename = "WEIGHTS_3")]
    pub weights_3: Option<u32>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) struct Target {
    pub position: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Skin {
    pub name: Option<String>,
    pub joints: Vec<u32>,
    pub inverse_bind_matrices: Option<u32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Animation {
    pub name: Option<String>,
    pub channels: Vec<Channel>,
    pub samplers: Vec<Sampler>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Channel {
    pub sampler: u32,
    pub target: ChannelTarget,
}

#[derive(Debug, Deserialize)]
pub(super) struct ChannelTarget {
    pub node: Option<u32>,
    pub path: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sampler {
    pub input: u32,
    pub output: u32,
    pub interpolation: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<u32>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub kind: String,
    pub sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseIndices {
    pub buffer_view: u32,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SparseValues {
    pub buffer_view: u32,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BufferView {
    pub buffer: u32,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Buffer {
    pub uri: Option<String>,
    pub byte_length: u64,
}
