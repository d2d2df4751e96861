//! Animated glTF 2.0 in one binary file (`.glb`), by morph targets with weights.
//!
//! Each body is a node with a mesh. Its base shape is frame 0, and every later frame that is kept is one morph target
//! with the differences of positions and of smooth normals. One animation moves the weights, linearly, such that at the
//! time of a kept frame exactly its target has weight 1: in between, viewers show the straight line between two frames.
//!
//! Viewers hold all targets of a mesh on the graphics card. WebGL 2 promises 256 layers of a texture array and 256
//! uniform vectors in a vertex shader, so at most [`GlbOptions::max_targets`] frames are kept: every n-th and always the
//! last, each at its own time. Bodies that never move get no targets.
//!
//! Promises: the file passes the Khronos validator without errors or warnings, base + target gives each kept frame up to
//! the rounding of 32-bit floats, and the same animation gives the same bytes. Not done: compression, skins, textures.

use super::{ExportError, frame_times, reserve};
use crate::animation::{Animation, BodyAnimation, Frame, FrameNormals};
use serde::Serialize;

const MODE_POINTS: u32 = 0;
const MODE_LINES: u32 = 1;
const MODE_TRIANGLES: u32 = 4;
const COMPONENT_U32: u32 = 5125;
const COMPONENT_F32: u32 = 5126;
const TARGET_VERTICES: u32 = 34962;
const TARGET_INDICES: u32 = 34963;
/// Header of the file and of its two chunks.
const HEADER_BYTES: usize = 12;
const CHUNK_HEADER_BYTES: usize = 8;

/// How a GLB is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlbOptions {
    /// Most morph targets per mesh, that is, most kept frames besides frame 0. Browsers promise 256.
    pub max_targets: usize,
    /// Whether to write smooth normals, for the base shape and for every target. Without them files are half as large,
    /// and viewers draw flat triangles.
    pub normals: bool,
}

impl Default for GlbOptions {
    /// 200 targets, with normals.
    fn default() -> Self {
        Self { max_targets: 200, normals: true }
    }
}

/// The frames that a GLB with at most `max_targets` targets shows: 0, every n-th, and the last.
pub fn kept_frames(frame_count: usize, max_targets: usize) -> Vec<usize> {
    let Some(last) = frame_count.checked_sub(1) else { return Vec::new() };
    let stride = last.div_ceil(max_targets.max(1)).max(1);
    let mut kept: Vec<usize> = (0..last).step_by(stride).collect();
    kept.push(last);
    kept
}

/// GLB bytes of the whole animation.
pub fn write_glb(animation: &Animation, options: &GlbOptions) -> Result<Vec<u8>, ExportError> {
    animation.validate()?;
    if options.max_targets == 0 {
        return Err(ExportError::NoTargets);
    }
    let kept = kept_frames(animation.frame_count(), options.max_targets);
    let times = frame_times(animation.fps, kept.iter().copied())?;
    let targets: Vec<&[usize]> = animation.bodies.iter().map(|body| target_frames(body, &kept)).collect();
    let size = binary_bytes(animation, options, &targets, kept.len());
    check_size(size)?;

    let mut buffer = Buffer { bytes: reserve("GLB", size)?, views: Vec::new(), accessors: Vec::new() };
    let mut meshes = Vec::new();
    for (index, body) in animation.bodies.iter().enumerate() {
        meshes.push(add_mesh(&mut buffer, body, index, targets[index], options)?);
    }
    let moving: Vec<usize> = (0..targets.len()).filter(|&body| !targets[body].is_empty()).collect();
    let animations = add_animation(&mut buffer, &times, &moving);
    let names = animation.bodies.iter().map(|body| body.name.as_str());
    let document = Document {
        asset: Asset { version: "2.0", generator: concat!("Souple ", env!("CARGO_PKG_VERSION")) },
        scene: 0,
        scenes: vec![SceneNodes { nodes: (0..meshes.len()).collect() }],
        nodes: names.clone().enumerate().map(|(mesh, name)| Node { name, mesh }).collect(),
        materials: names.enumerate().map(|(body, name)| Material::new(name, body)).collect(),
        meshes,
        animations,
        buffers: vec![BufferInfo { byte_length: buffer.bytes.len() }],
        buffer_views: buffer.views,
        accessors: buffer.accessors,
    };
    container(serde_json::to_vec(&document)?, buffer.bytes)
}

/// Frames that become targets of this body: all kept ones but the first, or none if it stays where it is.
fn target_frames<'a>(body: &BodyAnimation, kept: &'a [usize]) -> &'a [usize] {
    let Some((&first, later)) = kept.split_first() else { return &[] };
    let moves = later.iter().any(|&frame| body.frames[frame].positions != body.frames[first].positions);
    if moves { later } else { &[] }
}

/// Bytes of all vertex, index and animation data: known before any of it is made.
fn binary_bytes(animation: &Animation, options: &GlbOptions, targets: &[&[usize]], keys: usize) -> u128 {
    let mut size = 0;
    for (body, frames) in animation.bodies.iter().zip(targets) {
        let with_normals = options.normals && !body.triangles.is_empty();
        let shape = body.vertex_count() as u128 * if with_normals { 24 } else { 12 };
        size += shape * (1 + frames.len() as u128);
        size += 8 * body.uvs.len() as u128 + 12 * body.triangles.len() as u128 + 8 * body.lines.len() as u128;
    }
    if targets.iter().any(|frames| !frames.is_empty()) {
        let keys = keys as u128;
        size += 4 * keys + 4 * keys * (keys - 1);
    }
    size
}

/// All lengths in a GLB are 32-bit.
fn check_size(bytes: u128) -> Result<(), ExportError> {
    let limit = u128::from(u32::MAX);
    if bytes <= limit {
        return Ok(());
    }
    let remedy = "keep fewer frames with a smaller max_targets, leave out normals, or export a point cache";
    Err(ExportError::TooLarge { format: "GLB", bytes, limit, remedy })
}

/// Header, JSON chunk padded with spaces, binary chunk padded with zeros.
pub(super) fn container(mut json: Vec<u8>, mut binary: Vec<u8>) -> Result<Vec<u8>, ExportError> {
    json.resize(json.len().next_multiple_of(4), b' ');
    binary.resize(binary.len().next_multiple_of(4), 0);
    let total = HEADER_BYTES + 2 * CHUNK_HEADER_BYTES + json.len() + binary.len();
    check_size(total as u128)?;
    let mut bytes = reserve("GLB", total as u128)?;
    bytes.extend_from_slice(b"glTF");
    bytes.extend_from_slice(&2u32.to_le_bytes());
    bytes.extend_from_slice(&(total as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &binary)] {
        bytes.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
        bytes.extend_from_slice(kind);
        bytes.extend_from_slice(chunk);
    }
    Ok(bytes)
}

fn add_mesh(
    buffer: &mut Buffer,
    body: &BodyAnimation,
    material: usize,
    targets: &[usize],
    options: &GlbOptions,
) -> Result<Mesh, ExportError> {
    let base = &body.frames[0];
    let with_normals = options.normals && !body.triangles.is_empty();
    let mut scratch = FrameNormals::default();
    let base_normals: Vec<[f32; 3]> =
        if with_normals { scratch.compute(base, &body.triangles).collect() } else { Vec::new() };
    let mut shape = Attributes { position: buffer.add_vectors(base.positions.iter().copied(), true), ..NONE };
    if !body.uvs.is_empty() {
        // glTF counts v from the top of the image, we from the bottom.
        shape.texcoord_0 = Some(buffer.add_vectors(body.uvs.iter().map(|&[u, v]| [u, 1.0 - v]), false));
    }
    if with_normals {
        shape.normal = Some(buffer.add_vectors(base_normals.iter().copied(), false));
    }
    let mut morphs = Vec::with_capacity(targets.len());
    for &index in targets {
        let frame = &body.frames[index];
        check_displacements(body, index, base, frame)?;
        let position = buffer.add_vectors(differences(&frame.positions, &base.positions), true);
        let mut morph = Attributes { position, ..NONE };
        if with_normals {
            let normals: Vec<[f32; 3]> = scratch.compute(frame, &body.triangles).collect();
            morph.normal = Some(buffer.add_vectors(differences(&normals, &base_normals), false));
        }
        morphs.push(morph);
    }

    let mut primitives = Vec::new();
    if !body.triangles.is_empty() {
        let indices = Some(buffer.add_indices(body.triangles.as_flattened()));
        primitives.push(Primitive {
            attributes: shape,
            indices,
            material,
            mode: MODE_TRIANGLES,
            targets: morphs.clone(),
        });
    }
    // Lines and points have no surface, hence no normals.
    let shape = Attributes { normal: None, ..shape };
    let targets_without_normals: Vec<_> = morphs.iter().map(|m| Attributes { normal: None, ..*m }).collect();
    if !body.lines.is_empty() {
        let indices = Some(buffer.add_indices(body.lines.as_flattened()));
        let targets = targets_without_normals.clone();
        primitives.push(Primitive { attributes: shape, indices, material, mode: MODE_LINES, targets });
    }
    if primitives.is_empty() {
        let targets = targets_without_normals;
        primitives.push(Primitive { attributes: shape, indices: None, material, mode: MODE_POINTS, targets });
    }
    let target_names: Vec<String> = targets.iter().map(|frame| format!("frame_{frame}")).collect();
    let extras = if target_names.is_empty() { None } else { Some(MeshExtras { target_names }) };
    Ok(Mesh { name: body.name.clone(), primitives, extras })
}

fn differences(values: &[[f32; 3]], base: &[[f32; 3]]) -> impl Iterator<Item = [f32; 3]> {
    values.iter().zip(base).map(|(a, b)| [a[0] - b[0], a[1] - b[1], a[2] - b[2]])
}

/// Two finite floats may be further apart than any finite float.
fn check_displacements(
    body: &BodyAnimation,
    index: usize,
    base: &Frame,
    frame: &Frame,
) -> Result<(), ExportError> {
    match differences(&frame.positions, &base.positions).position(|d| d.iter().any(|c| !c.is_finite())) {
        Some(vertex) => {
            Err(ExportError::DisplacementTooLarge { body: body.name.clone(), frame: index, vertex })
        }
        None => Ok(()),
    }
}

/// One sampler for all bodies that move: their keys and weights are the same.
fn add_animation(buffer: &mut Buffer, times: &[f32], moving: &[usize]) -> Vec<AnimationInfo> {
    if moving.is_empty() {
        return Vec::new();
    }
    let input = buffer.add_scalars(times.iter().copied(), true);
    let targets = times.len() - 1;
    // Row k has the weights at key k: target k - 1 alone, and none at key 0.
    let weight = |key: usize, target: usize| if key == target + 1 { 1.0 } else { 0.0 };
    let weights = (0..times.len()).flat_map(|key| (0..targets).map(move |target| weight(key, target)));
    let output = buffer.add_scalars(weights, false);
    let channel = |&node: &usize| Channel { sampler: 0, target: ChannelTarget { node, path: "weights" } };
    vec![AnimationInfo {
        name: "simulation",
        samplers: vec![Sampler { input, output, interpolation: "LINEAR" }],
        channels: moving.iter().map(channel).collect(),
    }]
}

/// The binary chunk under construction; every accessor has a view of its own, aligned to 4 bytes since all
/// components have 4.
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<BufferView>,
    accessors: Vec<Accessor>,
}

impl Buffer {
    /// Vertex data.
    fn add_vectors<const N: usize>(&mut self, values: impl Iterator<Item = [f32; N]>, bounds: bool) -> usize {
        let kind = if N == 2 { "VEC2" } else { "VEC3" };
        self.add_floats(values, kind, Some(TARGET_VERTICES), bounds)
    }

    /// Animation data, which is no vertex data and has no target.
    fn add_scalars(&mut self, values: impl Iterator<Item = f32>, bounds: bool) -> usize {
        self.add_floats(values.map(|v| [v]), "SCALAR", None, bounds)
    }

    fn add_indices(&mut self, indices: &[u32]) -> usize {
        let start = self.bytes.len();
        for index in indices {
            self.bytes.extend_from_slice(&index.to_le_bytes());
        }
        let view = Some(TARGET_INDICES);
        self.add_accessor(start, view, COMPONENT_U32, indices.len(), "SCALAR", Vec::new(), Vec::new())
    }

    fn add_floats<const N: usize>(
        &mut self,
        values: impl Iterator<Item = [f32; N]>,
        kind: &'static str,
        target: Option<u32>,
        bounds: bool,
    ) -> usize {
        let start = self.bytes.len();
        let mut count = 0;
        let (mut min, mut max) = ([f32::INFINITY; N], [f32::NEG_INFINITY; N]);
        for value in values {
            count += 1;
            for i in 0..N {
                min[i] = min[i].min(value[i]);
                max[i] = max[i].max(value[i]);
                self.bytes.extend_from_slice(&value[i].to_le_bytes());
            }
        }
        let (min, max) = if bounds { (min.to_vec(), max.to_vec()) } else { (Vec::new(), Vec::new()) };
        self.add_accessor(start, target, COMPONENT_F32, count, kind, min, max)
    }

    fn add_accessor(
        &mut self,
        byte_offset: usize,
        target: Option<u32>,
        component_type: u32,
        count: usize,
        kind: &'static str,
        min: Vec<f32>,
        max: Vec<f32>,
    ) -> usize {
        let byte_length = self.bytes.len() - byte_offset;
        self.views.push(BufferView { buffer: 0, byte_offset, byte_length, target });
        let buffer_view = self.views.len() - 1;
        // Exact in f64, so that the JSON text has the very value of the data.
        let exact = |bounds: Vec<f32>| bounds.into_iter().map(f64::from).collect();
        let (min, max) = (exact(min), exact(max));
        self.accessors.push(Accessor { buffer_view, component_type, count, kind, min, max });
        self.accessors.len() - 1
    }
}

// The JSON part. Structs, since their fields are written in the order they stand here.

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    asset: Asset,
    scene: usize,
    scenes: Vec<SceneNodes>,
    nodes: Vec<Node<'a>>,
    meshes: Vec<Mesh>,
    materials: Vec<Material<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    animations: Vec<AnimationInfo>,
    buffers: Vec<BufferInfo>,
    buffer_views: Vec<BufferView>,
    accessors: Vec<Accessor>,
}

#[derive(Serialize)]
struct Asset {
    version: &'static str,
    generator: &'static str,
}

#[derive(Serialize)]
struct SceneNodes {
    nodes: Vec<usize>,
}

#[derive(Serialize)]
struct Node<'a> {
    name: &'a str,
    mesh: usize,
}

#[derive(Serialize)]
struct Mesh {
    name: String,
    primitives: Vec<Primitive>,
    #[serde(skip_serializing_if = "Option::is_none")]
    extras: Option<MeshExtras>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MeshExtras {
    target_names: Vec<String>,
}

#[derive(Serialize)]
struct Primitive {
    attributes: Attributes,
    #[serde(skip_serializing_if = "Option::is_none")]
    indices: Option<usize>,
    material: usize,
    mode: u32,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    targets: Vec<Attributes>,
}

/// Accessors of a shape or of a morph target.
#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
struct Attributes {
    position: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    normal: Option<usize>,
    #[serde(rename = "TEXCOORD_0", skip_serializing_if = "Option::is_none")]
    texcoord_0: Option<usize>,
}

const NONE: Attributes = Attributes { position: 0, normal: None, texcoord_0: None };

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Material<'a> {
    name: &'a str,
    pbr_metallic_roughness: Surface,
    double_sided: bool,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Surface {
    base_color_factor: [f64; 4],
    metallic_factor: f64,
    roughness_factor: f64,
}

impl<'a> Material<'a> {
    fn new(name: &'a str, body: usize) -> Self {
        let [r, g, b] = base_color(body);
        let surface =
            Surface { base_color_factor: [r, g, b, 1.0], metallic_factor: 0.0, roughness_factor: 0.8 };
        Self { name, pbr_metallic_roughness: surface, double_sided: true }
    }
}

/// A soft colour, linear RGB, different for every body: hues go round by the golden section, which never meets an
/// earlier one and keeps neighbours far apart. The first is a warm red.
pub(super) fn base_color(body: usize) -> [f64; 3] {
    const GOLDEN_SECTION: f64 = 0.618_033_988_749_894_9;
    const FIRST_HUE: f64 = 0.02;
    const SATURATION: f64 = 0.6;
    const VALUE: f64 = 0.9;
    let hue = (FIRST_HUE + body as f64 * GOLDEN_SECTION).fract();
    [0.0, 2.0 / 3.0, 1.0 / 3.0].map(|shift: f64| {
        // Distance on the colour circle from where this channel is full, times 6.
        let distance = 6.0 * (0.5 - ((hue + shift).fract() - 0.5).abs());
        let strength = (2.0 - distance).clamp(0.0, 1.0);
        let display = VALUE * (1.0 - SATURATION * (1.0 - strength));
        // Display to linear with exponent 2, near enough to sRGB and the same bits everywhere; four digits do.
        (display * display * 1e4).round() / 1e4
    })
}

#[derive(Serialize)]
struct AnimationInfo {
    name: &'static str,
    samplers: Vec<Sampler>,
    channels: Vec<Channel>,
}

#[derive(Serialize)]
struct Sampler {
    input: usize,
    output: usize,
    interpolation: &'static str,
}

#[derive(Serialize)]
struct Channel {
    sampler: usize,
    target: ChannelTarget,
}

#[derive(Serialize)]
struct ChannelTarget {
    node: usize,
    path: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BufferInfo {
    byte_length: usize,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct BufferView {
    buffer: usize,
    byte_offset: usize,
    byte_length: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<u32>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Accessor {
    buffer_view: usize,
    component_type: u32,
    count: usize,
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    min: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    max: Vec<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_frames_are_evenly_spaced_and_end_with_the_last() {
        assert_eq!(kept_frames(0, 5), [0usize; 0]);
        assert_eq!(kept_frames(1, 5), [0]);
        assert_eq!(kept_frames(6, 5), [0, 1, 2, 3, 4, 5]);
        assert_eq!(kept_frames(7, 5), [0, 2, 4, 6]);
        assert_eq!(kept_frames(12, 5), [0, 3, 6, 9, 11]);
        assert_eq!(kept_frames(100, 1), [0, 99]);
        for frames in 1..500 {
            for max in 1..40 {
                let kept = kept_frames(frames, max);
                assert!(kept.len() <= max + 1);
                assert_eq!((kept[0], kept[kept.len() - 1]), (0, frames - 1));
                assert!(kept.windows(2).all(|w| w[0] < w[1]));
            }
        }
    }

    #[test]
    fn sizes_above_32_bits_are_refused_with_a_remedy() {
        assert!(check_size(u128::from(u32::MAX)).is_ok());
        let error = check_size(u128::from(u32::MAX) + 1).unwrap_err();
        assert!(error.to_string().contains("keep fewer frames"), "{error}");
    }

    #[test]
    fn the_size_is_known_before_the_data_is_made() {
        let frame = |x: f32| Frame { positions: vec![[x; 3]; 4], velocities: Vec::new() };
        let cloth = BodyAnimation {
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            uvs: vec![[0.0; 2]; 4],
            frames: vec![frame(0.0), frame(1.0), frame(2.0)],
            ..BodyAnimation::default()
        };
        let rope =
            BodyAnimation { triangles: Vec::new(), lines: vec![[0, 1]], uvs: Vec::new(), ..cloth.clone() };
        let rock = BodyAnimation { frames: vec![frame(0.0); 3], ..cloth.clone() };
        let animation = Animation { fps: 1.0, bodies: vec![cloth, rope, rock] };
        for normals in [false, true] {
            let options = GlbOptions { normals, ..GlbOptions::default() };
            let bytes = write_glb(&animation, &options).unwrap();
            let json_bytes = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
            let chunk = bytes.len() - HEADER_BYTES - 2 * CHUNK_HEADER_BYTES - json_bytes;
            let targets: [&[usize]; 3] = [&[1, 2], &[1, 2], &[]];
            assert_eq!(binary_bytes(&animation, &options, &targets, 3), chunk as u128);
        }
    }

    #[test]
    fn colours_differ_and_stay_in_range() {
        let colors: Vec<_> = (0..50).map(base_color).collect();
        for (i, a) in colors.iter().enumerate() {
            assert!(a.iter().all(|c| (0.0..=1.0).contains(c)));
            for b in &colors[..i] {
                assert!(a.iter().zip(b).any(|(x, y)| (x - y).abs() > 0.002), "{a:?} {b:?}");
            }
        }
    }
}
