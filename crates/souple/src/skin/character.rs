//! A character in a scene, and where it is at a time.

use std::sync::Arc;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::clip::LocalPose;
use super::keeper::{self, JointVolume, KeeperScratch, KeptVolume, VolumeKeeper};
use super::prisms::{LocalGains, local_gains, regions};
use super::rig::{CompiledRig, SkinMesh};
use super::skeleton::{Transform, rigid_part};
use super::skinning::{BoneMotion, linear_blend_all};
use crate::contact::proximity::point_triangle;
use crate::math::Pose;
use crate::mesh::bounds;
use crate::motion::pose_at;
use crate::scene::{Motion, Skinning};
use crate::state::Hasher;

/// A blend of bones whose determinant, for its size, is below this cannot be undone: offsets before it would be a thousand times those after it.
const FLAT: f64 = 1e-3;

/// A compiled character: a rig that stands somewhere and plays something.
#[derive(Clone, Debug, PartialEq)]
pub struct CharacterModel {
    /// Name.
    pub name: String,
    /// What it is made of.
    pub rig: Arc<CompiledRig>,
    /// What it plays; weights sum to 1.
    pub clips: Vec<PlayedModel>,
    /// How its bones stand on top of that, in the order of nodes.
    pub stance: Vec<BoneTurn>,
    /// How bones move its skin.
    pub skinning: Skinning,
    /// What keeps the volume of its skin.
    pub volume: Option<Arc<VolumeKeeper>>,
    /// What is painted on its skin.
    pub maps: Vec<MapModel>,
    /// Where it was put.
    pub pose: Pose,
    /// Scale of its lengths.
    pub scale: f64,
    /// Scripted motion of the whole.
    pub motion: Option<Motion>,
    /// Point that rotations of the whole turn about, m.
    pub pivot: DVec3,
}

impl CharacterModel {
    /// The same as its file was modelled: nothing is played, no bone is posed, no volume kept.
    pub fn unposed(&self) -> CharacterModel {
        CharacterModel { clips: Vec::new(), stance: Vec::new(), volume: None, ..self.clone() }
    }

    /// Adds what decides how it moves to the hash of a model.
    pub(crate) fn hash(&self, hash: &mut Hasher) {
        let CharacterModel {
            name: _,
            rig,
            clips,
            stance,
            skinning,
            volume,
            maps,
            pose,
            scale,
            motion,
            pivot,
        } = self;
        hash.text(&format!("character {clips:?}{skinning:?}{pose:?}{scale:?}{motion:?}{pivot:?}"));
        // Without poses a character is known by what it was known by before there were any.
        if !stance.is_empty() {
            hash.text(&format!("{stance:?}"));
        }
        if let Some(volume) = volume {
            hash.text(&format!("{:?}", volume.written));
        }
        hash.text(&format!("{:?}{:?}{:?}", rig.skeleton.parents, rig.skeleton.rest, rig.morph_weights));
        for mesh in &rig.meshes {
            hash.vectors(&mesh.mesh.positions);
            hash.triangles(&mesh.mesh.triangles);
            mesh.morphs.iter().for_each(|offsets| hash.vectors(offsets));
            for (bone, weight) in &mesh.influences {
                hash.word(u64::from(*bone));
                hash.number(*weight);
            }
        }
        hash.text(&format!("{:?}", rig.bindings));
        for map in maps {
            hash.text(&map.name);
            map.values.iter().flatten().for_each(|value| hash.number(*value));
        }
        for track in rig.clips.iter().flat_map(|clip| &clip.tracks) {
            hash.text(&format!("{} {:?} {:?}", track.node, track.target, track.interpolation));
            track.times.iter().chain(&track.values).for_each(|value| hash.number(*value));
        }
    }
}

/// Numbers from 0 to 1 on the vertices of a skin.
#[derive(Clone, Debug, PartialEq)]
pub struct MapModel {
    /// Name.
    pub name: String,
    /// One per vertex of each mesh of the rig; none for meshes that it was not painted on.
    pub values: Vec<Vec<f64>>,
}

impl MapModel {
    /// What is painted on a vertex of a mesh; 0 where nothing is.
    pub fn at(&self, mesh: u32, v: u32) -> f64 {
        self.values.get(mesh as usize).and_then(|of| of.get(v as usize)).copied().unwrap_or(0.0)
    }
}

/// A clip that is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayedModel {
    /// Number of the clip.
    pub clip: usize,
    /// Its share.
    pub weight: f64,
    /// Where in the clip the scene starts, s.
    pub start: f64,
    /// Speed, times that of the file.
    pub speed: f64,
    /// Whether it starts again at its end.
    pub repeat: bool,
}

/// How a hand, or a pose of the scene, has turned and shifted a bone on top of what clips do (ROH-63), in the frame that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoneTurn {
    /// Number of the character.
    pub character: u32,
    /// The bone, or another node.
    pub node: u32,
    /// Its turn about its own joint.
    pub rotation: DQuat,
    /// How its joint is shifted, lengths of the file.
    pub shift: DVec3,
}

/// Where all characters of a scene are at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Posed {
    /// The time, s; not a number if it was never set.
    pub time: f64,
    /// How hands have turned bones then.
    pub turns: Vec<BoneTurn>,
    /// Each of them.
    pub characters: Vec<PosedCharacter>,
}

impl Default for Posed {
    fn default() -> Self {
        Posed { time: f64::NAN, turns: Vec::new(), characters: Vec::new() }
    }
}

impl Posed {
    /// Where characters are at a time by their clips alone.
    pub fn at(characters: &[CharacterModel], t: f64) -> Posed {
        Posed::turned(characters, &[], t)
    }

    /// Where characters are at a time if hands have turned bones.
    pub fn turned(characters: &[CharacterModel], turns: &[BoneTurn], t: f64) -> Posed {
        let mut posed = Posed::default();
        posed.set_turned(characters, turns, t);
        posed
    }

    /// Puts all where they are at a time by their clips alone; nothing is done if they are there already.
    pub fn set(&mut self, characters: &[CharacterModel], t: f64) {
        self.set_turned(characters, &[], t);
    }

    /// Puts all where they are at a time if hands have turned bones; nothing is done if they are there already.
    pub fn set_turned(&mut self, characters: &[CharacterModel], turns: &[BoneTurn], t: f64) {
        if self.time == t && self.characters.len() == characters.len() && self.turns == turns {
            return;
        }
        self.time = t;
        self.turns.clear();
        self.turns.extend_from_slice(turns);
        self.characters.resize_with(characters.len(), PosedCharacter::default);
        for ((c, posed), character) in (0u32..).zip(&mut self.characters).zip(characters) {
            posed.set(character, turns.iter().filter(|turn| turn.character == c), t);
        }
    }
}

/// Where a character is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PosedCharacter {
    /// Where it is as a whole.
    pub pose: Pose,
    scale: f64,
    local: LocalPose,
    /// What its clips say, each by itself.
    parts: Vec<(f64, LocalPose)>,
    /// Where its frames are in its own frame, in lengths of its file.
    places: Vec<DAffine3>,
    /// How the bones of each of its bindings have moved.
    motions: Vec<Vec<BoneMotion>>,
    /// Where all vertices of all its meshes are, in lengths of its file; none if nothing keeps their volume: then each follows from its bones.
    skin: Vec<Vec<DVec3>>,
    /// Volume inside its skin, cubes of lengths of its file; none if nothing keeps it.
    pub volume: Option<KeptVolume>,
    scratch: KeeperScratch,
}

impl PosedCharacter {
    fn set<'a>(&mut self, character: &'a CharacterModel, turns: impl Iterator<Item = &'a BoneTurn>, t: f64) {
        let CharacterModel { rig, clips, stance, skinning, volume, pose, scale, motion, pivot, .. } =
            character;
        self.scale = *scale;
        self.pose = match motion {
            Some(motion) => pose_at(motion, *pivot, t).compose(pose),
            None => *pose,
        };
        self.parts.resize_with(clips.len(), Default::default);
        for ((weight, part), played) in self.parts.iter_mut().zip(clips) {
            let clip = &rig.clips[played.clip];
            *weight = played.weight;
            part.locals.clone_from(&rig.skeleton.rest);
            part.morphs.clone_from(&rig.morph_weights);
            clip.apply(clip.time(played.start, played.speed, played.repeat, t), part);
        }
        if self.parts.is_empty() {
            self.local.locals.clone_from(&rig.skeleton.rest);
            self.local.morphs.clone_from(&rig.morph_weights);
        } else {
            LocalPose::blend(&self.parts, &mut self.local);
        }
        for turn in stance.iter().chain(turns) {
            if let Some(local) = self.local.locals.get_mut(turn.node as usize) {
                local.rotation = turn.rotation * local.rotation;
                local.translation += turn.shift;
            }
        }
        rig.skeleton.place(&self.local.locals, &mut self.places);
        rig.bone_motions_into(&self.places, *skinning, &mut self.motions);
        self.skin.resize_with(if volume.is_some() { rig.meshes.len() } else { 0 }, Vec::new);
        for (mesh, places) in rig.meshes.iter().zip(&mut self.skin) {
            let (morphs, bones) = (&self.local.morphs, &self.motions[mesh.binding]);
            places.clear();
            let all = 0..mesh.mesh.positions.len();
            if *skinning == Skinning::LinearBlend {
                let points = all.map(|v| (mesh.morphed(v, morphs), mesh.influences(v)));
                linear_blend_all(points, bones, 1.0, places);
            } else {
                places.extend(all.map(|v| mesh.vertex(v, morphs, bones, *skinning)));
            }
        }
        self.volume = volume.as_ref().map(|keeper| {
            let pose =
                keeper::Pose { rig, skinning: *skinning, morphs: &self.local.morphs, motions: &self.motions };
            keeper.keep(&pose, &mut self.skin, &mut self.scratch)
        });
    }

    /// Where the frame that carries another is in the world, without its stretch: that of the character for one that nothing carries.
    pub fn carrier(&self, character: &CharacterModel, node: u32) -> Pose {
        match character.rig.skeleton.parents.get(node as usize).copied().flatten() {
            Some(parent) => self.bone(parent),
            None => self.pose,
        }
    }

    /// Where a frame is in the world, without its stretch.
    pub fn bone(&self, node: u32) -> Pose {
        let mut place = rigid_part(&self.places[node as usize]);
        place.translation *= self.scale;
        self.pose.compose(&place)
    }

    /// Volume inside the skin that it has now, measured on it, cubes of lengths of its file; none if nothing keeps it.
    pub fn skin_volume(&self, character: &CharacterModel) -> Option<f64> {
        character.volume.as_ref().map(|keeper| keeper.volume(&self.skin))
    }

    /// What each joint that is bent does to the volume of its skin, by node; none if nothing keeps it.
    pub fn joint_volumes(&self) -> &[JointVolume] {
        if self.volume.is_some() { &self.scratch.joints } else { &[] }
    }

    /// Where the skin of each mesh has gained and lost volume, from where it was bound, by prisms (ROH-21, 23). Lengths are those of the file; bones are
    /// those of the binding of the mesh.
    pub fn local_gains(&self, character: &CharacterModel) -> Vec<LocalGains> {
        let unscaled = 1.0 / self.scale;
        let of_mesh = |(m, mesh): (u32, &SkinMesh)| {
            let vertices = 0..mesh.mesh.positions.len();
            let was: Vec<DVec3> = vertices.clone().map(|v| mesh.morphed(v, &self.local.morphs)).collect();
            let now: Vec<DVec3> = vertices.map(|v| unscaled * self.vertex(character, m, v as u32)).collect();
            let bones: Vec<DAffine3> = self.motions[mesh.binding].iter().map(|bone| bone.matrix).collect();
            local_gains(&mesh.mesh.triangles, &regions(mesh), &was, &now, &bones)
        };
        (0u32..).zip(&character.rig.meshes).map(of_mesh).collect()
    }

    /// Adds where vertices of meshes are in the frame of the character, m: what [`PosedCharacter::vertex`] says of each.
    pub fn vertices(&self, character: &CharacterModel, of: &[(u32, u32)], out: &mut Vec<DVec3>) {
        if !self.skin.is_empty() || character.skinning != Skinning::LinearBlend {
            out.extend(of.iter().map(|&(mesh, v)| self.vertex(character, mesh, v)));
            return;
        }
        for run in of.chunk_by(|a, b| a.0 == b.0) {
            let skin = &character.rig.meshes[run[0].0 as usize];
            let points = run
                .iter()
                .map(|&(_, v)| (skin.morphed(v as usize, &self.local.morphs), skin.influences(v as usize)));
            linear_blend_all(points, &self.motions[skin.binding], self.scale, out);
        }
    }

    /// Where a vertex of a mesh is in the frame of the character, m.
    pub fn vertex(&self, character: &CharacterModel, mesh: u32, v: u32) -> DVec3 {
        if let Some(places) = self.skin.get(mesh as usize) {
            return self.scale * places[v as usize];
        }
        let skin = &character.rig.meshes[mesh as usize];
        self.scale
            * skin.vertex(v as usize, &self.local.morphs, &self.motions[skin.binding], character.skinning)
    }
}

impl PosedCharacter {
    /// How much of its morphs is added: of all meshes, one after the other.
    pub fn morphs(&self) -> &[f64] {
        &self.local.morphs
    }

    /// Where its frames are in those of their parents, in lengths of its file.
    pub fn locals(&self) -> &[Transform] {
        &self.local.locals
    }

    /// What must be added to a vertex where it was bound, besides its morphs, so that bones, blended linearly, put it at a place of the frame of the
    /// character, m; in lengths of its file. None if they put all that is around it into a plane, a line or a point.
    pub fn before_bones(&self, character: &CharacterModel, mesh: u32, v: u32, place: DVec3) -> Option<DVec3> {
        let skin = &character.rig.meshes[mesh as usize];
        let motions = &self.motions[skin.binding];
        let mut matrix = DAffine3::ZERO;
        for &(bone, weight) in skin.influences(v as usize) {
            let motion = &motions[bone as usize].matrix;
            matrix.matrix3 += motion.matrix3 * weight;
            matrix.translation += motion.translation * weight;
        }
        let size = matrix.matrix3.to_cols_array().iter().fold(0.0f64, |most, c| most.max(c.abs()));
        if matrix.matrix3.determinant().abs() <= FLAT * size * size * size {
            return None;
        }
        Some(
            matrix.inverse().transform_point3(place / self.scale)
                - skin.morphed(v as usize, &self.local.morphs),
        )
    }
}

/// A point that goes along with a triangle of a skin, on it or beside it: whatever moves the skin moves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinPoint {
    /// The mesh.
    pub mesh: u32,
    /// The corners of the triangle.
    pub corners: [u32; 3],
    /// Shares of the corners in the point of the triangle that is nearest.
    pub weights: [f64; 3],
    /// From there to the point, in the frame of the triangle, m.
    pub offset: DVec3,
}

/// Axes along the first side of a triangle, in its plane, and along its normal; none of what has no area.
fn triangle_frame([a, b, c]: [DVec3; 3]) -> Option<DMat3> {
    let normal = (b - a).cross(c - a).try_normalize()?;
    let side = (b - a).try_normalize()?;
    Some(DMat3::from_cols(side, normal.cross(side), normal))
}

impl SkinPoint {
    /// The points of a skin that are nearest to places of the world; none if the skin has no triangle with an area.
    pub fn nearest(
        character: &CharacterModel,
        posed: &PosedCharacter,
        places: &[DVec3],
    ) -> Option<Vec<SkinPoint>> {
        let mut best: Vec<(f64, Option<SkinPoint>)> = vec![(f64::INFINITY, None); places.len()];
        for (m, mesh) in (0u32..).zip(&character.rig.meshes) {
            let count = mesh.mesh.positions.len() as u32;
            let x: Vec<DVec3> = (0..count).map(|v| posed.pose.apply(posed.vertex(character, m, v))).collect();
            for &corners in &mesh.mesh.triangles {
                let triangle = corners.map(|v| x[v as usize]);
                let Some(frame) = triangle_frame(triangle) else { continue };
                let (low, high) = bounds(&triangle);
                for (place, (nearest, point)) in places.iter().zip(&mut best) {
                    if place.distance_squared(place.clamp(low, high)) >= *nearest {
                        continue;
                    }
                    let found = point_triangle(*place, triangle);
                    if found.vector.length_squared() < *nearest {
                        *nearest = found.vector.length_squared();
                        let offset = frame.transpose() * found.vector;
                        *point = Some(SkinPoint { mesh: m, corners, weights: found.weights, offset });
                    }
                }
            }
        }
        best.into_iter().map(|(_, point)| point).collect()
    }

    /// Where it is in the world, m.
    pub fn place(&self, character: &CharacterModel, posed: &PosedCharacter) -> DVec3 {
        let triangle = self.corners.map(|v| posed.vertex(character, self.mesh, v));
        let on: DVec3 = triangle.iter().zip(self.weights).map(|(x, w)| *x * w).sum();
        let frame = triangle_frame(triangle).unwrap_or(DMat3::ZERO);
        posed.pose.apply(on + frame * self.offset)
    }
}
