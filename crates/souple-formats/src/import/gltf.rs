//! glTF 2.0, `.glb` and `.gltf` (Khronos, *glTF 2.0 Specification*, 2021): characters as a [`Rig`], and their surface as a mesh.
//!
//! Read: nodes; meshes of triangles, strips and fans, indexed or not, with positions, first texture coordinates and colours, up to sixteen bones
//! per vertex and morphs of positions; skins; animations of nodes and morph weights, `LINEAR`, `STEP` and `CUBICSPLINE`; sparse accessors,
//! normalised integers (`KHR_mesh_quantization` too); buffers in the file, in `data:` addresses, and in files beside it, which the caller
//! hands over. Of several scenes the one that is marked, or the first. Points, lines, cameras, lights, normals, materials and pictures are passed
//! over. Texture coordinates are turned upside down, so that (0, 0) is the lower left corner as in the other formats.
//!
//! The reader is our own: the crate `gltf`, which the tests compare it with, reads accessors by iterators that panic on indices and lengths that
//! its validation does not look at, and allocates what a file announces; JSON we read anyway. Promises as in [`super`]; a result passed
//! [`CompiledRig::new`], which says what is repaired (weights that do not sum to 1, vertices without weights) and what is refused (rings of
//! nodes, numbers that are not finite, keys out of order, more than 65,536 nodes). Refused, too: required extensions that are not known, such as
//! compressed meshes, and matrices with shear.

use std::borrow::Cow;

use glam::{DMat3, DQuat, DVec3};
use serde_json::error::Category;
use souple::math::polar;
use souple::mesh::{MeshError, TriMesh};
use souple::scene::{
    ChannelTarget, KeyInterpolation, Rig, RigChannel, RigClip, RigMesh, RigMorph, RigNode, RigSkin,
};
use souple::skin::{CompiledRig, MAX_NODES, RigError};

use super::gltf_accessor::{Accessors, Numbers, quotable};
use super::gltf_json::{Animation, Attributes, Document, Mesh, Node, Primitive, Target};
use super::{ImportError, Limits, MeshFormat, Place, check_bytes, cut_short, finite_uv, malformed};

/// Most bones of a vertex that are read and written: four sets of four. Files with more are rare, and viewers read one set or two.
pub(crate) const MAX_INFLUENCES: usize = 16;

const FORMAT: MeshFormat = MeshFormat::Gltf;
const EXPORT_AGAIN: &str = "the file is not whole or its exporter is wrong; export it again";
const MAGIC: &[u8] = b"glTF";
/// "JSON" and "BIN\0" as numbers.
const JSON_CHUNK: u32 = 0x4e4f_534a;
const BIN_CHUNK: u32 = 0x004e_4942;
/// Entries off the diagonal of the stretch of a matrix without shear, as a share of the largest: 32-bit rounding.
const SHEAR: f64 = 1e-3;

/// How many primitives are asked for vertices that another may share: looking at all would take long where there are many.
const LATEST: usize = 16;

/// What a file beside a `.gltf` file holds, by the address in it; or why it cannot be read.
pub type ReadBeside<'a> = dyn FnMut(&str) -> Result<Vec<u8>, String> + 'a;

/// Reads a rig. `beside` is given the address of each buffer that is a file of its own, as it stands there, without `%` codes; it decides which are allowed.
pub fn read_rig(bytes: &[u8], limits: &Limits, beside: &mut ReadBeside) -> Result<Rig, ImportError> {
    Ok(read_both(bytes, limits, beside)?.0)
}

/// The surface of all meshes as they stand if no clip is played; `beside` as for [`read_rig`].
pub fn read_gltf_surface(
    bytes: &[u8],
    limits: &Limits,
    beside: &mut ReadBeside,
) -> Result<TriMesh, ImportError> {
    let surface = read_both(bytes, limits, beside)?.1.rest_surface();
    match surface.validate() {
        Ok(()) => Ok(surface),
        Err(MeshError::Empty) => Err(ImportError::NoVertices { format: FORMAT }),
        Err(source) => Err(ImportError::Mesh { format: FORMAT, source }),
    }
}

fn read_both(
    bytes: &[u8],
    limits: &Limits,
    beside: &mut ReadBeside,
) -> Result<(Rig, CompiledRig), ImportError> {
    let opened = open(bytes, limits, beside)?;
    Ok((opened.rig, opened.compiled))
}

/// A file with what was read of it: for those who add to it.
pub(crate) struct Opened<'a> {
    pub json: &'a [u8],
    pub buffers: Vec<Cow<'a, [u8]>>,
    pub rig: Rig,
    pub compiled: CompiledRig,
    /// Where the meshes of the rig are in the file.
    pub places: Vec<MeshPlace>,
}

/// Where a mesh of a rig is in a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MeshPlace {
    /// The mesh; the node is that of the rig.
    pub mesh: usize,
    /// The first vertex of each primitive, and how many it has; none of those that were passed over.
    pub ranges: Vec<Option<[u32; 2]>>,
}

/// Reads a file; see [`read_rig`].
pub(crate) fn open<'a>(
    bytes: &'a [u8],
    limits: &Limits,
    beside: &mut ReadBeside,
) -> Result<Opened<'a>, ImportError> {
    check_bytes(bytes, FORMAT, limits)?;
    let (json, binary) = chunks(bytes)?;
    let document: Document = serde_json::from_slice(json).map_err(|error| {
        let what = match error.classify() {
            Category::Eof => "the JSON ends too early".to_owned(),
            _ => format!("the JSON is not that of a glTF file: {error}"),
        };
        malformed(FORMAT, Place::Line(error.line()), what, EXPORT_AGAIN)
    })?;
    check_version(&document)?;
    let buffers = buffers(&document, binary, limits, beside)?;
    let accessors = Accessors::new(&document, &buffers, bytes.len());
    let mut file = File { accessors, document: &document, limits, triangles: 0, places: Vec::new() };
    let rig = file.rig()?;
    let compiled = CompiledRig::new(&rig).map_err(|source| ImportError::Rig { format: FORMAT, source })?;
    let places = file.places;
    Ok(Opened { json, buffers, rig, compiled, places })
}

/// The JSON of a file, and the buffer that comes with it in a `.glb` file.
fn chunks(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), ImportError> {
    if !bytes.starts_with(MAGIC) {
        // Text, which JSON says is UTF-8.
        let begins = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if begins != Some(&b'{') {
            let what = "it begins neither with 'glTF' as a .glb file nor with '{' as a .gltf file";
            return Err(ImportError::WrongFormat { format: FORMAT, what });
        }
        return Ok((bytes, None));
    }
    let word = |at: usize| {
        let word = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    };
    let short = || cut_short(FORMAT, 0, "a .glb file begins with 20 bytes", 20, bytes.len());
    let (version, length) = (word(4).ok_or_else(short)?, word(8).ok_or_else(short)? as usize);
    if version != 2 {
        let what = format!("version {version} is not read, 2 is");
        return Err(malformed(FORMAT, Place::Byte(4), what, "export it as glTF 2.0"));
    }
    if length > bytes.len() {
        return Err(cut_short(
            FORMAT,
            8,
            format!("{length} bytes are announced"),
            length as u64,
            bytes.len(),
        ));
    }
    let (mut at, mut json, mut binary) = (12, None, None);
    while let (Some(size), Some(kind)) = (word(at), word(at + 4)) {
        let (start, size) = (at + 8, size as usize);
        let end = start.saturating_add(size);
        let Some(chunk) = bytes.get(start..end) else {
            let what = format!("a chunk of {size} bytes is announced");
            return Err(cut_short(FORMAT, at, what, size as u64, bytes.len() - start));
        };
        match kind {
            JSON_CHUNK if json.is_none() => json = Some(chunk),
            BIN_CHUNK if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        // Chunks end at multiples of four.
        at = end.saturating_add(3) & !3;
    }
    match json {
        Some(json) => Ok((json, binary)),
        None => Err(malformed(FORMAT, Place::Byte(12), "it has no JSON chunk", EXPORT_AGAIN)),
    }
}

fn check_version(document: &Document) -> Result<(), ImportError> {
    let Some(asset) = &document.asset else {
        return Err(malformed(
            FORMAT,
            Place::Line(1),
            "it has no `asset`, which every glTF file has",
            EXPORT_AGAIN,
        ));
    };
    if !asset.version.starts_with("2.") {
        let what = format!("version '{}' is not read, 2.0 is", quotable(&asset.version));
        return Err(malformed(FORMAT, Place::Item("asset", 0), what, "export it as glTF 2.0"));
    }
    // Those that change no number that is read here.
    let is_known = |name: &&String| {
        name.as_str() == "KHR_mesh_quantization"
            || ["KHR_materials_", "KHR_texture_", "KHR_lights_", "EXT_texture_"]
                .iter()
                .any(|known| name.starts_with(known))
    };
    match document.extensions_required.iter().find(|name| !is_known(name)) {
        Some(name) => {
            let what = format!("it needs the extension '{}', which is not known", quotable(name));
            Err(malformed(
                FORMAT,
                Place::Line(1),
                what,
                "export it without, for instance without compression",
            ))
        }
        None => Ok(()),
    }
}

fn buffers<'a>(
    document: &Document,
    binary: Option<&'a [u8]>,
    limits: &Limits,
    beside: &mut ReadBeside,
) -> Result<Vec<Cow<'a, [u8]>>, ImportError> {
    let mut buffers: Vec<Cow<[u8]>> = Vec::new();
    let mut total = 0usize;
    for (index, buffer) in document.buffers.iter().enumerate() {
        let place = Place::Item("buffer", index);
        let bytes = match &buffer.uri {
            None if index == 0 => Cow::Borrowed(binary.unwrap_or_default()),
            None => Cow::Borrowed(&[][..]),
            Some(uri) if uri.starts_with("data:") => match data_uri(uri) {
                Some(bytes) => Cow::Owned(bytes),
                None => return Err(malformed(FORMAT, place, "its data is not base64", EXPORT_AGAIN)),
            },
            Some(uri) => {
                let path = without_percent(uri);
                Cow::Owned(beside(&path).map_err(|problem| {
                    let what = format!("cannot read '{}': {problem}", quotable(&path));
                    malformed(
                        FORMAT,
                        place,
                        what,
                        "put the file beside the other, or export all as one .glb file",
                    )
                })?)
            }
        };
        total = total.saturating_add(bytes.len());
        if total > limits.max_bytes {
            return Err(ImportError::FileTooLarge { format: FORMAT, bytes: total, limit: limits.max_bytes });
        }
        if buffer.byte_length > bytes.len() as u64 {
            let what =
                format!("buffer {index} is to have {} bytes, and has {}", buffer.byte_length, bytes.len());
            return Err(cut_short(FORMAT, 0, what, buffer.byte_length, bytes.len()));
        }
        buffers.push(bytes);
    }
    Ok(buffers)
}

/// The bytes of `data:…;base64,…`.
fn data_uri(uri: &str) -> Option<Vec<u8>> {
    let (head, text) = uri.split_once(',')?;
    head.ends_with(";base64").then(|| base64(text.as_bytes()))?
}

fn base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut count) = (0u32, 0);
    for &letter in text.iter().filter(|letter| !letter.is_ascii_whitespace()) {
        let value = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

/// An address with its `%20` and their like as letters.
pub(crate) fn without_percent(uri: &str) -> String {
    let bytes = uri.as_bytes();
    let (mut plain, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while let Some(&byte) = bytes.get(at) {
        let code = bytes.get(at + 1..at + 3).filter(|_| byte == b'%');
        let code = code.and_then(|code| u8::from_str_radix(std::str::from_utf8(code).ok()?, 16).ok());
        plain.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&plain).into_owned()
}

/// A file that is being read.
struct File<'a> {
    document: &'a Document,
    accessors: Accessors<'a>,
    limits: &'a Limits,
    /// Of the meshes that were read.
    triangles: usize,
    places: Vec<MeshPlace>,
}

/// Vertices of a mesh as they are gathered from its primitives.
#[derive(Default)]
struct Gathered {
    mesh: RigMesh,
    /// Bones and weights of each vertex.
    bones: Vec<[(u32, f64); MAX_INFLUENCES]>,
    /// What vertices were made of, the first of them and their number: primitives often share them.
    made: Vec<(Attributes, Vec<Target>, [u32; 2])>,
}

impl File<'_> {
    fn rig(&mut self) -> Result<Rig, ImportError> {
        let nodes = self.document.nodes.len();
        if nodes > MAX_NODES {
            return Err(ImportError::Rig { format: FORMAT, source: RigError::TooManyNodes(nodes) });
        }
        let mut rig = Rig { nodes: self.nodes()?, ..Rig::default() };
        for (s, skin) in self.document.skins.iter().enumerate() {
            let inverse_binds = match skin.inverse_bind_matrices {
                Some(accessor) => {
                    let matrices = self.accessors.read(accessor, &[16], false)?;
                    let matrix = |m: &[f64]| {
                        [m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10], m[12], m[13], m[14]]
                    };
                    matrices.values.chunks_exact(16).map(matrix).take(skin.joints.len()).collect()
                }
                None => Vec::new(),
            };
            let name = skin.name.clone().unwrap_or_else(|| format!("skin{s}"));
            let joints = skin.joints.clone();
            rig.skins.push(RigSkin { name, joints, inverse_binds, ..RigSkin::default() });
        }
        let mut vertices = 0usize;
        for n in self.seen_nodes()? {
            let node = &self.document.nodes[n];
            let Some(mesh) = node.mesh else { continue };
            let Some(written) = self.document.meshes.get(mesh as usize) else {
                return Err(out_of_range(Place::Item("node", n), "mesh", mesh, self.document.meshes.len()));
            };
            if let Some(found) = self.mesh(n as u32, node, mesh as usize, written, vertices)? {
                vertices += found.positions.len();
                self.triangles += found.triangles.len();
                rig.meshes.push(found);
            }
        }
        for (c, clip) in self.document.animations.iter().enumerate() {
            rig.clips.push(self.clip(c, clip)?);
        }
        Ok(rig)
    }

    fn nodes(&self) -> Result<Vec<RigNode>, ImportError> {
        let nodes = &self.document.nodes;
        let mut made = Vec::with_capacity(nodes.len());
        for (n, node) in nodes.iter().enumerate() {
            let name = node.name.clone().unwrap_or_else(|| format!("node{n}"));
            let mut own = RigNode { name, ..RigNode::default() };
            match &node.matrix {
                Some(matrix) => take_apart(matrix, n, &mut own)?,
                None => {
                    own.translation = node.translation.unwrap_or(own.translation);
                    own.rotation = node.rotation.unwrap_or(own.rotation);
                    own.scale = node.scale.unwrap_or(own.scale);
                }
            }
            made.push(own);
        }
        for (n, node) in nodes.iter().enumerate() {
            for &child in &node.children {
                let Some(child_node) = made.get_mut(child as usize) else {
                    return Err(out_of_range(Place::Item("node", n), "node", child, nodes.len()));
                };
                if let Some(other) = child_node.parent.replace(n as u32) {
                    let what = format!("node {child} is a child of node {other} and of node {n}");
                    return Err(malformed(FORMAT, Place::Item("node", n), what, EXPORT_AGAIN));
                }
            }
        }
        Ok(made)
    }

    /// The nodes of the scene that is shown, rising; all if there are no scenes.
    fn seen_nodes(&self) -> Result<Vec<usize>, ImportError> {
        let Document { scene, scenes, nodes, .. } = self.document;
        let index = scene.unwrap_or(0);
        let Some(shown) = scenes.get(index as usize) else {
            return match scene {
                Some(_) => {
                    Err(out_of_range(Place::Item("scene", index as usize), "scene", index, scenes.len()))
                }
                None => Ok((0..nodes.len()).collect()),
            };
        };
        let mut seen = vec![false; nodes.len()];
        let mut left = shown.nodes.clone();
        while let Some(n) = left.pop() {
            let Some(node) = nodes.get(n as usize) else {
                return Err(out_of_range(Place::Item("scene", index as usize), "node", n, nodes.len()));
            };
            if !std::mem::replace(&mut seen[n as usize], true) {
                left.extend(&node.children);
            }
        }
        Ok((0..nodes.len()).filter(|&n| seen[n]).collect())
    }

    /// A mesh as a node carries it; none if it has no triangles.
    fn mesh(
        &mut self,
        n: u32,
        node: &Node,
        index: usize,
        mesh: &Mesh,
        before: usize,
    ) -> Result<Option<RigMesh>, ImportError> {
        let mut gathered = Gathered::default();
        let mut place = MeshPlace { mesh: index, ranges: Vec::new() };
        for primitive in &mesh.primitives {
            let is_read = matches!(primitive.mode, 4..=6) && primitive.attributes.position.is_some();
            place.ranges.push(match is_read {
                true => Some(self.primitive(index, primitive, before, &mut gathered)?),
                false => None,
            });
        }
        let Gathered { mesh: mut made, bones, .. } = gathered;
        if made.positions.is_empty() {
            return Ok(None);
        }
        self.places.push(place);
        let name = mesh.name.as_ref().or(node.name.as_ref());
        // Each node that carries it has its names.
        let morph_names: usize =
            (0..made.morphs.len()).filter_map(|k| mesh.morph_name(k)).map(str::len).sum();
        let letters = name.map_or(0, String::len).saturating_add(morph_names);
        self.accessors.take(letters as u64, 1, Place::Item("mesh", index))?;
        made.name = name.cloned().unwrap_or_else(|| format!("mesh{index}"));
        (made.node, made.skin) = (n, node.skin);
        let weights = node.weights.as_ref().unwrap_or(&mesh.weights);
        for (k, morph) in made.morphs.iter_mut().enumerate() {
            morph.name = mesh.morph_name(k).map_or_else(|| format!("morph{k}"), str::to_owned);
            morph.weight = weights.get(k).copied().unwrap_or(0.0);
        }
        if node.skin.is_some() {
            // Those after the last that any vertex has are left out: of a mesh without any weight all, so that some are found.
            let used = |of: &[(u32, f64); MAX_INFLUENCES]| {
                of.iter().rposition(|(_, weight)| *weight != 0.0).map_or(0, |k| k + 1)
            };
            let most = bones.iter().map(used).max().unwrap_or(0);
            made.influences = most as u32;
            for of in &bones {
                made.joints.extend(of[..most].iter().map(|(bone, _)| *bone));
                made.weights.extend(of[..most].iter().map(|(_, weight)| *weight));
            }
        }
        Ok(Some(made))
    }

    /// Adds the triangles of a primitive; tells which vertices are its own.
    fn primitive(
        &mut self,
        index: usize,
        primitive: &Primitive,
        before: usize,
        gathered: &mut Gathered,
    ) -> Result<[u32; 2], ImportError> {
        let place = Place::Item("mesh", index);
        let Primitive { attributes, targets, .. } = primitive;
        let mut latest = gathered.made.iter().rev().take(LATEST);
        let [first, count] = match latest.find(|(a, t, _)| a == attributes && t == targets) {
            Some((_, _, range)) => *range,
            None => {
                let first = gathered.mesh.positions.len() as u32;
                let count = self.vertices(place, attributes, targets, before, gathered)?;
                gathered.made.push((*attributes, targets.clone(), [first, count]));
                [first, count]
            }
        };
        let corners: Vec<u32> = match primitive.indices {
            Some(accessor) => {
                let numbers = self.accessors.read(accessor, &[1], false)?;
                let mut corners = Vec::with_capacity(numbers.values.len());
                for index in numbers.values {
                    if !(index >= 0.0 && index < f64::from(count)) {
                        return Err(ImportError::IndexOutOfRange {
                            format: FORMAT,
                            place,
                            what: "vertex",
                            index: index as i64,
                            count: count as usize,
                            counting: "from 0",
                        });
                    }
                    corners.push(first + index as u32);
                }
                corners
            }
            None => {
                self.accessors.take(u64::from(count), 1, place)?;
                (first..first + count).collect()
            }
        };
        let triangles = &mut gathered.mesh.triangles;
        match primitive.mode {
            5 => triangles.extend(corners.windows(3).enumerate().map(|(k, t)| match k % 2 {
                0 => [t[0], t[1], t[2]],
                // Every second triangle of a strip goes the other way round.
                _ => [t[1], t[0], t[2]],
            })),
            6 => triangles.extend(super::fan(&corners)),
            _ => triangles.extend(corners.chunks_exact(3).map(|t| [t[0], t[1], t[2]])),
        }
        self.limits.check_triangles(FORMAT, place, self.triangles.saturating_add(triangles.len()))?;
        Ok([first, count])
    }

    /// Adds the vertices of a primitive; tells how many.
    fn vertices(
        &mut self,
        place: Place,
        attributes: &Attributes,
        targets: &[Target],
        before: usize,
        gathered: &mut Gathered,
    ) -> Result<u32, ImportError> {
        let Gathered { mesh, bones, .. } = gathered;
        let first = mesh.positions.len();
        let position = attributes.position.unwrap_or_default();
        let positions = self.accessors.read(position, &[3], false)?;
        let count = positions.count();
        self.limits.check_vertices(FORMAT, place, before.saturating_add(first).saturating_add(count))?;
        mesh.positions.extend((0..count).map(|v| positions.triple(v)));
        if let Some(numbers) = self.per_vertex(attributes.uv, &[2], false, count, place)? {
            mesh.uvs.resize(first, [0.0; 2]);
            for uv in numbers.values.chunks_exact(2) {
                mesh.uvs.push(finite_uv(FORMAT, place, [uv[0], 1.0 - uv[1]])?);
            }
        }
        if let Some(numbers) = self.per_vertex(attributes.colour, &[3, 4], true, count, place)? {
            mesh.colours.resize(first, [1.0; 4]);
            let colour = |c: &[f64]| [c[0], c[1], c[2], c.get(3).copied().unwrap_or(1.0)];
            mesh.colours.extend(numbers.values.chunks_exact(numbers.width).map(colour));
        }
        let vertices = first + count;
        bones.resize(vertices, [(0, 0.0); MAX_INFLUENCES]);
        let sets: [_; MAX_INFLUENCES / 4] = [
            (attributes.joints_0, attributes.weights_0),
            (attributes.joints_1, attributes.weights_1),
            (attributes.joints_2, attributes.weights_2),
            (attributes.joints_3, attributes.weights_3),
        ];
        for (set, (joints, weights)) in sets.into_iter().enumerate() {
            let joints = self.per_vertex(joints, &[4], false, count, place)?;
            let weights = self.per_vertex(weights, &[4], true, count, place)?;
            let (Some(joints), Some(weights)) = (joints, weights) else { continue };
            for v in 0..count {
                for k in 0..4 {
                    // Whole numbers of at most 32 bits; others are out of every range.
                    let joint = joints.values[4 * v + k];
                    let joint = if joint.fract() == 0.0 { joint as u32 } else { u32::MAX };
                    bones[first + v][4 * set + k] = (joint, weights.values[4 * v + k]);
                }
            }
        }
        for (k, target) in targets.iter().enumerate() {
            if mesh.morphs.len() <= k {
                mesh.morphs.push(RigMorph::default());
            }
            mesh.morphs[k].offsets.resize(first, [0.0; 3]);
            match self.per_vertex(target.position, &[3], false, count, place)? {
                Some(numbers) => mesh.morphs[k].offsets.extend((0..count).map(|v| numbers.triple(v))),
                // It takes as much memory as one that moves something.
                None => drop(self.accessors.take(count as u64, 3, place)?),
            }
        }
        // What other primitives of the mesh have and this one has not.
        if !mesh.uvs.is_empty() {
            mesh.uvs.resize(vertices, [0.0; 2]);
        }
        if !mesh.colours.is_empty() {
            mesh.colours.resize(vertices, [1.0; 4]);
        }
        mesh.morphs.iter_mut().for_each(|morph| morph.offsets.resize(vertices, [0.0; 3]));
        Ok(count as u32)
    }

    /// An attribute, which must have as many elements as there are vertices.
    fn per_vertex(
        &mut self,
        accessor: Option<u32>,
        widths: &[usize],
        as_shares: bool,
        vertices: usize,
        place: Place,
    ) -> Result<Option<Numbers>, ImportError> {
        let Some(accessor) = accessor else { return Ok(None) };
        let numbers = self.accessors.read(accessor, widths, as_shares)?;
        if numbers.count() == vertices {
            return Ok(Some(numbers));
        }
        let what = format!("accessor {accessor} has {} elements for {vertices} vertices", numbers.count());
        Err(malformed(FORMAT, place, what, EXPORT_AGAIN))
    }

    fn clip(&mut self, index: usize, animation: &Animation) -> Result<RigClip, ImportError> {
        let place = Place::Item("animation", index);
        let mut clip = RigClip {
            name: animation.name.clone().unwrap_or_else(|| format!("clip{index}")),
            ..RigClip::default()
        };
        for channel in &animation.channels {
            let target = match channel.target.path.as_str() {
                "translation" => ChannelTarget::Translation,
                "rotation" => ChannelTarget::Rotation,
                "scale" => ChannelTarget::Scale,
                "weights" => ChannelTarget::MorphWeights,
                // Extensions move other things.
                _ => continue,
            };
            let Some(node) = channel.target.node else { continue };
            let Some(sampler) = animation.samplers.get(channel.sampler as usize) else {
                return Err(out_of_range(place, "sampler", channel.sampler, animation.samplers.len()));
            };
            let interpolation = match sampler.interpolation.as_deref() {
                None | Some("LINEAR") => KeyInterpolation::Linear,
                Some("STEP") => KeyInterpolation::Step,
                Some("CUBICSPLINE") => KeyInterpolation::Cubic,
                Some(other) => {
                    let what = format!("'{}' is no kind of interpolation", quotable(other));
                    return Err(malformed(FORMAT, place, what, EXPORT_AGAIN));
                }
            };
            let width = match target {
                ChannelTarget::Translation | ChannelTarget::Scale => 3,
                ChannelTarget::Rotation => 4,
                ChannelTarget::MorphWeights => 1,
            };
            let times = self.accessors.read(sampler.input, &[1], false)?.values;
            let values =
                self.accessors.read(sampler.output, &[width], target != ChannelTarget::Translation)?.values;
            clip.channels.push(RigChannel { node, target, interpolation, times, values });
        }
        Ok(clip)
    }
}

fn out_of_range(place: Place, what: &'static str, index: u32, count: usize) -> ImportError {
    ImportError::IndexOutOfRange {
        format: FORMAT,
        place,
        what,
        index: i64::from(index),
        count,
        counting: "from 0",
    }
}

/// Translation, rotation and scale of the matrix of a node.
fn take_apart(matrix: &[f64; 16], n: usize, node: &mut RigNode) -> Result<(), ImportError> {
    let column = |k: usize| DVec3::new(matrix[4 * k], matrix[4 * k + 1], matrix[4 * k + 2]);
    let linear = DMat3::from_cols(column(0), column(1), column(2));
    let largest = linear.to_cols_array().iter().fold(0.0f64, |most, entry| most.max(entry.abs()));
    if !linear.is_finite() || largest > 1e30 {
        return Err(malformed(FORMAT, Place::Item("node", n), "its matrix is not finite", EXPORT_AGAIN));
    }
    let rotation = polar(linear);
    let stretch = rotation.transpose() * linear;
    let scale = DVec3::new(stretch.x_axis.x, stretch.y_axis.y, stretch.z_axis.z);
    let rest = stretch - DMat3::from_diagonal(scale);
    if rest.to_cols_array().iter().any(|entry| entry.abs() > SHEAR * largest) {
        let what = "its matrix has shear, which no bone can have";
        return Err(malformed(
            FORMAT,
            Place::Item("node", n),
            what,
            "apply its transform where the file was made",
        ));
    }
    node.translation = column(3).to_array();
    node.rotation = DQuat::from_mat3(&rotation).to_array();
    node.scale = scale.to_array();
    Ok(())
}
