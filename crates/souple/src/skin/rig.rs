//! A rig as it was read, checked and compiled: indices in range, no rings, finite numbers, keys in order, weights that sum to 1.
//!
//! Repaired and counted in [`RigRepairs`]: weights that do not sum to 1 are divided by their sum; negative ones count as none; a vertex without
//! any follows the first bone of its skin; a bone of zero weight is dropped; a quaternion of any length is normalised, one of length 0 turns
//! nothing. Bones of zero scale are told of, and used: what hangs on them shrinks to a point, as their author wanted. Everything else is refused.

use glam::{DAffine3, DQuat, DVec3, DVec4};
use thiserror::Error;

use super::clip::{Clip, LocalPose, Track};
use super::skeleton::{Skeleton, Transform};
use super::skinning::{BoneMotion, Influence, skin};
use crate::mesh::{MeshError, TriMesh};
use crate::scene::{ChannelTarget, KeyInterpolation, Rig, RigChannel, RigMesh, Skinning};

/// Most frames of a rig: far more than any character has.
pub const MAX_NODES: usize = 1 << 16;

/// Largest number in a rig: beyond it products of some are no longer finite.
const LARGEST: f64 = 1e30;

/// Weights that differ from 1 by more than 32-bit rounding of some of them are told of.
const ROUNDING: f64 = 1e-4;

/// A rig that can be posed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompiledRig {
    /// Its frames.
    pub skeleton: Skeleton,
    /// Sets of bones that surfaces are bound to: the frame of each, and what leads from the surface to it where they were bound.
    pub bindings: Vec<Vec<(u32, DAffine3)>>,
    /// Its surfaces.
    pub meshes: Vec<SkinMesh>,
    /// What it can play.
    pub clips: Vec<Clip>,
    /// How much of each morph of each mesh is added where no clip says.
    pub morph_weights: Vec<f64>,
    /// Smallest box around it as it stands if nothing is played, in lengths of its file.
    pub rest_bounds: (DVec3, DVec3),
    /// What was done to it as it was given.
    pub repairs: RigRepairs,
}

/// A surface that follows bones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SkinMesh {
    /// Name.
    pub name: String,
    /// The surface where it was bound.
    pub mesh: TriMesh,
    /// Colours, one per vertex, or empty.
    pub colours: Vec<[f64; 4]>,
    /// Number of the set of its bones.
    pub binding: usize,
    /// Where the influences of each vertex begin, and the number of all.
    pub starts: Vec<u32>,
    /// Bones of vertices, as numbers in that set, heaviest first, with weights that sum to 1.
    pub influences: Vec<Influence>,
    /// What each morph adds to each vertex, m.
    pub morphs: Vec<Vec<DVec3>>,
    /// Where its weights begin in [`LocalPose::morphs`].
    pub first_morph: usize,
}

/// What was done to a rig so that it can be used, and what stayed odd.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RigRepairs {
    /// Vertices whose weights did not sum to 1, or were negative; they were divided by their sum.
    pub normalised_vertices: usize,
    /// Vertices without a weight; they follow the first bone of their skin.
    pub unweighted_vertices: usize,
    /// Vertices of meshes without any weight, which were found though nobody asked for it.
    pub found_vertices: usize,
    /// Rotations of length 0; they turn nothing.
    pub null_rotations: usize,
    /// Frames that are scaled to nothing along an axis; they stay.
    pub flat_nodes: usize,
}

/// Why a rig cannot be used: what is wrong, and where.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum RigError {
    /// More frames than can be used.
    #[error("the rig has {0} nodes, or joints of a skin; at most {MAX_NODES} are possible")]
    TooManyNodes(usize),
    /// Frames carry each other in a ring.
    #[error("node {0} carries itself, through others or not")]
    Ring(u32),
    /// Something names something that is not there.
    #[error("{what} names {kind} {index}, but there are only {count}")]
    OutOfRange {
        /// What names it.
        what: String,
        /// "node", "skin", "bone" or "mesh".
        kind: &'static str,
        /// The number it gives.
        index: u32,
        /// How many there are.
        count: usize,
    },
    /// A number is not finite, or too large.
    #[error("{0} is not a finite number, or beyond {LARGEST:e}")]
    NonFinite(String),
    /// A list has another length than it must have.
    #[error("{what}: {found} numbers, but {expected} are needed")]
    Count {
        /// The list.
        what: String,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// Keys are not in order of time.
    #[error("clip '{clip}', channel {channel}: key {key} is earlier than the one before")]
    KeyOrder {
        /// The clip.
        clip: String,
        /// Its channel.
        channel: usize,
        /// The key.
        key: usize,
    },
    /// A surface is not usable.
    #[error("mesh '{mesh}': {source}")]
    Mesh {
        /// Its name.
        mesh: String,
        /// What is wrong with it.
        source: MeshError,
    },
}

fn number(value: f64, what: impl Fn() -> String) -> Result<f64, RigError> {
    // NaN is not below anything.
    if value.abs() <= LARGEST { Ok(value) } else { Err(RigError::NonFinite(what())) }
}

fn vector(v: [f64; 3], what: impl Fn() -> String) -> Result<DVec3, RigError> {
    v.iter().try_for_each(|c| number(*c, &what).map(|_| ()))?;
    Ok(DVec3::from(v))
}

fn in_range(what: impl Fn() -> String, kind: &'static str, index: u32, count: usize) -> Result<(), RigError> {
    if (index as usize) < count {
        Ok(())
    } else {
        Err(RigError::OutOfRange { what: what(), kind, index, count })
    }
}

fn count(what: impl Fn() -> String, found: usize, expected: usize) -> Result<(), RigError> {
    if found == expected { Ok(()) } else { Err(RigError::Count { what: what(), found, expected }) }
}

impl CompiledRig {
    /// Checks and compiles a rig.
    pub fn new(rig: &Rig) -> Result<CompiledRig, RigError> {
        let mut repairs = RigRepairs::default();
        let skeleton = compile_skeleton(rig, &mut repairs)?;
        let nodes = skeleton.len();
        let mut bindings: Vec<Vec<(u32, DAffine3)>> = Vec::new();
        for (s, skin) in rig.skins.iter().enumerate() {
            let what = || format!("skin {s}");
            if skin.joints.len() > MAX_NODES {
                return Err(RigError::TooManyNodes(skin.joints.len()));
            }
            skin.joints.iter().try_for_each(|&joint| in_range(what, "node", joint, nodes))?;
            if !skin.inverse_binds.is_empty() {
                count(
                    || format!("inverse bind matrices of skin {s}"),
                    skin.inverse_binds.len(),
                    skin.joints.len(),
                )?;
            }
            for (j, inverse) in skin.inverse_binds.iter().enumerate() {
                let what = || format!("inverse bind matrix {j} of skin {s}");
                inverse.iter().try_for_each(|c| number(*c, what).map(|_| ()))?;
            }
            let inverse =
                |j: usize| skin.inverse_binds.get(j).map_or(DAffine3::IDENTITY, DAffine3::from_cols_array);
            bindings.push(skin.joints.iter().enumerate().map(|(j, joint)| (*joint, inverse(j))).collect());
        }
        let (mut meshes, mut morph_weights) = (Vec::new(), Vec::new());
        let mut carried: Vec<Vec<usize>> = vec![Vec::new(); nodes];
        for (m, mesh) in rig.meshes.iter().enumerate() {
            in_range(|| format!("mesh {m} ('{}')", mesh.name), "node", mesh.node, nodes)?;
            carried[mesh.node as usize].push(m);
            let binding = match mesh.skin {
                Some(skin) => {
                    in_range(|| format!("mesh {m} ('{}')", mesh.name), "skin", skin, rig.skins.len())?;
                    skin as usize
                }
                None => {
                    bindings.push(vec![(mesh.node, DAffine3::IDENTITY)]);
                    bindings.len() - 1
                }
            };
            let bones = bindings[binding].len();
            let made = compile_mesh(m, mesh, binding, bones, morph_weights.len(), &mut repairs)?;
            meshes.push(made);
            for (k, morph) in mesh.morphs.iter().enumerate() {
                morph_weights.push(number(morph.weight, || format!("weight of morph {k} of mesh {m}"))?);
            }
        }
        let mut clips = Vec::new();
        for clip in &rig.clips {
            let channels = clip.channels.iter().enumerate();
            let tracks: Vec<Track> = channels
                .map(|(c, channel)| compile_track(&clip.name, c, channel, &meshes, &carried))
                .collect::<Result<_, _>>()?;
            let ends = tracks.iter().filter_map(|track| track.times.last().copied());
            clips.push(Clip { name: clip.name.clone(), duration: ends.fold(0.0, f64::max), tracks });
        }
        let rest_bounds = (DVec3::ZERO, DVec3::ZERO);
        let mut made = CompiledRig { skeleton, bindings, meshes, clips, morph_weights, rest_bounds, repairs };
        let (low, high) = made.rest_surface().bounds();
        if low.cmple(high).all() {
            made.rest_bounds = (low, high);
        }
        Ok(made)
    }

    /// Some of its meshes as one surface, and the mesh and vertex of each of its vertices; `place` tells where those are, m.
    pub fn surface(
        &self,
        meshes: impl Iterator<Item = u32>,
        mut place: impl FnMut(u32, u32) -> DVec3,
    ) -> (TriMesh, Vec<(u32, u32)>) {
        let (mut surface, mut vertices) = (TriMesh::default(), Vec::new());
        for m in meshes {
            let TriMesh { positions, triangles, uvs } = &self.meshes[m as usize].mesh;
            let first = vertices.len() as u32;
            vertices.extend((0..positions.len() as u32).map(|v| (m, v)));
            surface.positions.extend((0..positions.len() as u32).map(|v| place(m, v)));
            surface.triangles.extend(triangles.iter().map(|t| t.map(|v| v + first)));
            if !uvs.is_empty() {
                // Meshes before it may have none.
                surface.uvs.resize(first as usize, [0.0; 2]);
                surface.uvs.extend(uvs);
            }
        }
        if !surface.uvs.is_empty() {
            surface.uvs.resize(vertices.len(), [0.0; 2]);
        }
        (surface, vertices)
    }

    /// All of it as it stands if nothing is played, in lengths of its file.
    pub fn rest_surface(&self) -> TriMesh {
        let mut places = Vec::new();
        self.skeleton.place(&self.skeleton.rest, &mut places);
        let skinning = Skinning::LinearBlend;
        let motions = self.bone_motions(&places, skinning);
        let place = |m: u32, v: u32| {
            let mesh = &self.meshes[m as usize];
            mesh.vertex(v as usize, &self.morph_weights, &motions[mesh.binding], skinning)
        };
        self.surface(0..self.meshes.len() as u32, place).0
    }

    /// How the bones of each set have moved since surfaces were bound to them, from where all frames are.
    pub fn bone_motions(&self, places: &[DAffine3], skinning: Skinning) -> Vec<Vec<BoneMotion>> {
        let mut motions = Vec::new();
        self.bone_motions_into(places, skinning, &mut motions);
        motions
    }

    pub(super) fn bone_motions_into(
        &self,
        places: &[DAffine3],
        skinning: Skinning,
        motions: &mut Vec<Vec<BoneMotion>>,
    ) {
        motions.resize_with(self.bindings.len(), Vec::new);
        for (bones, motions) in self.bindings.iter().zip(motions) {
            motions.clear();
            let motion = |(node, inverse): &(u32, DAffine3)| {
                BoneMotion::new(places[*node as usize] * *inverse, skinning)
            };
            motions.extend(bones.iter().map(motion));
        }
    }

    /// The rig it was made of, with its own weights: repaired ones, or those that were found.
    pub fn with_weights(&self, rig: &Rig) -> Rig {
        let mut made = rig.clone();
        for (mesh, own) in made.meshes.iter_mut().zip(&self.meshes).filter(|(mesh, _)| mesh.skin.is_some()) {
            let lists: Vec<&[Influence]> = (0..own.mesh.positions.len()).map(|v| own.influences(v)).collect();
            mesh.set_influences(&lists);
        }
        made
    }

    /// Where everything is if nothing is played.
    pub fn rest_pose(&self) -> LocalPose {
        LocalPose { locals: self.skeleton.rest.clone(), morphs: self.morph_weights.clone() }
    }
}

impl RigMesh {
    /// Gives its vertices bones and weights, a list for each.
    pub(super) fn set_influences(&mut self, lists: &[impl AsRef<[Influence]>]) {
        let most = lists.iter().map(|list| list.as_ref().len()).max().unwrap_or(0).max(1);
        let padded = |list: &[Influence]| {
            list.iter().copied().chain(std::iter::repeat((0, 0.0))).take(most).collect::<Vec<_>>()
        };
        self.influences = most as u32;
        (self.joints, self.weights) = lists.iter().flat_map(|list| padded(list.as_ref())).unzip();
    }
}

fn compile_skeleton(rig: &Rig, repairs: &mut RigRepairs) -> Result<Skeleton, RigError> {
    let nodes = rig.nodes.len();
    if nodes > MAX_NODES {
        return Err(RigError::TooManyNodes(nodes));
    }
    let (mut names, mut parents, mut rest) = (Vec::new(), Vec::new(), Vec::new());
    for (n, node) in rig.nodes.iter().enumerate() {
        if let Some(parent) = node.parent {
            in_range(|| format!("node {n}"), "node", parent, nodes)?;
        }
        node.rotation.iter().try_for_each(|c| number(*c, || format!("rotation of node {n}")).map(|_| ()))?;
        let scale = vector(node.scale, || format!("scale of node {n}"))?;
        repairs.flat_nodes += usize::from(scale.to_array().contains(&0.0));
        let rotation = DVec4::from_array(node.rotation).try_normalize();
        repairs.null_rotations += usize::from(rotation.is_none());
        names.push(node.name.clone());
        parents.push(node.parent);
        rest.push(Transform {
            translation: vector(node.translation, || format!("translation of node {n}"))?,
            rotation: rotation.map_or(DQuat::IDENTITY, DQuat::from_vec4),
            scale,
        });
    }
    Skeleton::new(names, parents, rest).map_err(RigError::Ring)
}

fn compile_mesh(
    m: usize,
    mesh: &RigMesh,
    binding: usize,
    bones: usize,
    first_morph: usize,
    repairs: &mut RigRepairs,
) -> Result<SkinMesh, RigError> {
    let list = |list: &str| format!("{list} of mesh {m} ('{}')", mesh.name);
    let positions: Vec<DVec3> = mesh.positions.iter().map(|p| DVec3::from(*p)).collect();
    let surface = TriMesh { positions, triangles: mesh.triangles.clone(), uvs: mesh.uvs.clone() };
    surface.validate().map_err(|source| RigError::Mesh { mesh: mesh.name.clone(), source })?;
    let vertices = surface.positions.len();
    for p in &surface.positions {
        vector(p.to_array(), || list("a position"))?;
    }
    if !mesh.colours.is_empty() {
        count(|| list("colours"), mesh.colours.len(), vertices)?;
        mesh.colours.iter().flatten().try_for_each(|c| number(*c, || list("a colour")).map(|_| ()))?;
    }
    let mut morphs = Vec::new();
    for morph in &mesh.morphs {
        count(|| list("offsets of a morph"), morph.offsets.len(), vertices)?;
        let offsets = morph.offsets.iter().map(|o| vector(*o, || list("an offset of a morph")));
        morphs.push(offsets.collect::<Result<Vec<DVec3>, _>>()?);
    }
    let mut made = SkinMesh {
        name: mesh.name.clone(),
        mesh: surface,
        colours: mesh.colours.clone(),
        morphs,
        first_morph,
        binding,
        ..SkinMesh::default()
    };
    match mesh.skin {
        None => {
            made.starts = (0..=vertices as u32).collect();
            made.influences = vec![(0, 1.0); vertices];
        }
        Some(s) => {
            if bones == 0 {
                return Err(RigError::Count { what: format!("bones of skin {s}"), found: 0, expected: 1 });
            }
            bind(mesh, bones, &list, &mut made, repairs)?;
        }
    }
    Ok(made)
}

/// Takes over bones and weights of vertices, repaired.
fn bind(
    mesh: &RigMesh,
    bones: usize,
    list: &impl Fn(&str) -> String,
    made: &mut SkinMesh,
    repairs: &mut RigRepairs,
) -> Result<(), RigError> {
    let (vertices, per_vertex) = (made.mesh.positions.len(), mesh.influences as usize);
    let expected = vertices.saturating_mul(per_vertex);
    count(|| list("bones"), mesh.joints.len(), expected)?;
    count(|| list("weights"), mesh.weights.len(), expected)?;
    made.starts.push(0);
    let mut own: Vec<Influence> = Vec::new();
    for v in 0..vertices {
        own.clear();
        let mut is_odd = false;
        for k in v * per_vertex..(v + 1) * per_vertex {
            let weight = number(mesh.weights[k], || list("a weight"))?;
            is_odd |= weight < 0.0;
            if weight <= 0.0 {
                // Bones without weight may have any number.
                continue;
            }
            let bone = mesh.joints[k];
            in_range(|| list("a vertex"), "bone", bone, bones)?;
            match own.iter_mut().find(|(b, _)| *b == bone) {
                Some((_, sum)) => *sum += weight,
                None => own.push((bone, weight)),
            }
        }
        let sum: f64 = own.iter().map(|(_, weight)| weight).sum();
        if own.is_empty() {
            repairs.unweighted_vertices += 1;
            own.push((0, 1.0));
        } else {
            repairs.normalised_vertices += usize::from(is_odd || (sum - 1.0).abs() > ROUNDING);
            own.iter_mut().for_each(|(_, weight)| *weight /= sum);
        }
        own.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        made.influences.extend_from_slice(&own);
        made.starts.push(made.influences.len() as u32);
    }
    Ok(())
}

fn compile_track(
    clip: &str,
    c: usize,
    channel: &RigChannel,
    meshes: &[SkinMesh],
    carried: &[Vec<usize>],
) -> Result<Track, RigError> {
    let what = || format!("clip '{clip}', channel {c}");
    in_range(what, "node", channel.node, carried.len())?;
    let carried = || carried[channel.node as usize].iter().copied();
    let width = match channel.target {
        ChannelTarget::Translation | ChannelTarget::Scale => 3,
        ChannelTarget::Rotation => 4,
        ChannelTarget::MorphWeights => carried().map(|m| meshes[m].morphs.len()).max().unwrap_or(0),
    };
    let morphs = match channel.target {
        ChannelTarget::MorphWeights => {
            let same = carried().filter(|&m| meshes[m].morphs.len() == width);
            same.map(|m| meshes[m].first_morph).collect()
        }
        _ => Vec::new(),
    };
    if channel.times.is_empty() {
        return Err(RigError::Count { what: format!("{}: times", what()), found: 0, expected: 1 });
    }
    let per_key = if channel.interpolation == KeyInterpolation::Cubic { 3 * width } else { width };
    count(
        || format!("{}: values", what()),
        channel.values.len(),
        channel.times.len().saturating_mul(per_key),
    )?;
    let mut last = f64::NEG_INFINITY;
    for (key, &t) in channel.times.iter().enumerate() {
        // Two at one time are a jump.
        if number(t, || format!("{}: time of key {key}", what()))? < last {
            return Err(RigError::KeyOrder { clip: clip.to_owned(), channel: c, key });
        }
        last = t;
    }
    for (k, value) in channel.values.iter().enumerate() {
        number(*value, || format!("{}: value {k}", what()))?;
    }
    Ok(Track {
        node: channel.node,
        target: channel.target,
        interpolation: channel.interpolation,
        times: channel.times.clone(),
        values: channel.values.clone(),
        width,
        morphs,
    })
}

impl SkinMesh {
    /// The bones of a vertex.
    #[inline]
    pub fn influences(&self, v: usize) -> &[Influence] {
        &self.influences[self.starts[v] as usize..self.starts[v + 1] as usize]
    }

    /// Where a vertex was bound, with its morphs.
    #[inline]
    pub fn morphed(&self, v: usize, morphs: &[f64]) -> DVec3 {
        let mut p = self.mesh.positions[v];
        for (offsets, weight) in self.morphs.iter().zip(morphs.iter().skip(self.first_morph)) {
            if *weight != 0.0 {
                p += *weight * offsets[v];
            }
        }
        p
    }

    /// Where a vertex is, in the frame of the character: morphed, then carried by bones.
    #[inline]
    pub fn vertex(&self, v: usize, morphs: &[f64], bones: &[BoneMotion], skinning: Skinning) -> DVec3 {
        skin(self.morphed(v, morphs), self.influences(v), bones, skinning)
    }

    /// A number for each vertex, the same for those that morphs and bones move alike.
    pub fn bound_alike(&self) -> Vec<u32> {
        let count = self.mesh.positions.len();
        let compare = |a: &u32, b: &u32| {
            let (a, b) = (*a as usize, *b as usize);
            let bits = |v: usize| self.influences(v).iter().map(|(bone, weight)| (*bone, weight.to_bits()));
            let offsets = |v: usize| self.morphs.iter().map(move |m| m[v].to_array().map(f64::to_bits));
            bits(a).cmp(bits(b)).then_with(|| offsets(a).cmp(offsets(b)))
        };
        let mut order: Vec<u32> = (0..count as u32).collect();
        order.sort_by(compare);
        let mut classes = vec![0; count];
        for (class, run) in (0u32..).zip(order.chunk_by(|a, b| compare(a, b).is_eq())) {
            run.iter().for_each(|&v| classes[v as usize] = class);
        }
        classes
    }
}
