//! Animated characters as the user writes them (SIM-01, ROH-07): a rig, the clips it plays, where it stands. Colliders, supports and
//! other things of a scene refer to a character by its name.

use serde::{Deserialize, Serialize};

use super::{Motion, SkinWeights, Vec3};

scene_type! {
    /// A rig that plays clips. It is neither seen nor touched by itself: colliders are (`shape = { skin = … }`, `follow`).
    #[serde(default)]
    pub struct Character {
        /// Name, unique in the scene.
        pub name: String,
        /// Its skeleton, meshes and clips.
        pub rig: RigSource,
        /// Bones that are put into the rig, in this order.
        #[serde(rename = "insert_bone", skip_serializing_if = "Vec::is_empty")]
        pub inserted: Vec<InsertedBone>,
        /// What is played; several are blended by their weights. Without any, it stands as its file has it.
        #[serde(rename = "clip", skip_serializing_if = "Vec::is_empty")]
        pub clips: Vec<PlayedClip>,
        /// How bones stand on top of what is played: poses made by hand (ROH-63).
        #[serde(rename = "pose", skip_serializing_if = "Vec::is_empty")]
        pub poses: Vec<BonePose>,
        /// How bones move its skin.
        pub skinning: Skinning,
        /// How bones get weights that nobody painted. Without it, a mesh without any weights gets those of `weights = {}`, and a single vertex without
        /// any follows the first bone of its skin.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub weights: Option<SkinWeights>,
        /// How its skin keeps its volume where joints bend; without it, it does not.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub volume: Option<SkinVolume>,
        /// Numbers painted on its skin, by name.
        #[serde(rename = "map", skip_serializing_if = "Vec::is_empty")]
        pub maps: Vec<PaintedMap>,
        /// Where its origin is put, m.
        pub position: Vec3,
        /// How it is turned: unit axis times angle in degrees.
        pub rotate_deg: Vec3,
        /// Scale of its lengths, if they are not metres.
        pub scale: f64,
        /// How it moves as a whole, on top of its clips.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub motion: Option<Motion>,
    }
}

impl Default for Character {
    fn default() -> Self {
        Character {
            name: "character".into(),
            rig: RigSource::default(),
            inserted: Vec::new(),
            clips: Vec::new(),
            poses: Vec::new(),
            skinning: Skinning::default(),
            weights: None,
            volume: None,
            maps: Vec::new(),
            position: [0.0; 3],
            rotate_deg: [0.0; 3],
            scale: 1.0,
            motion: None,
        }
    }
}

scene_type! {
    /// Where a rig comes from.
    pub enum RigSource {
        /// A glTF 2.0 file, `.glb` or `.gltf`, or any mesh file with a skeleton of its own.
        File(RigFile),
        /// Written in the scene itself.
        Inline(Rig),
    }
}

impl Default for RigSource {
    fn default() -> Self {
        RigSource::Inline(Rig::default())
    }
}

scene_type! {
    /// A file with a rig, or a mesh and a file with its bones.
    #[serde(default)]
    #[derive(Default)]
    pub struct RigFile {
        /// Path relative to the scene file.
        pub path: String,
        /// Path of the bones of a mesh that has none, relative to the scene file: a [skeleton file](files.md#skeletons), `.toml`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub skeleton: Option<String>,
    }
}

scene_type! {
    /// A bone that is put into a rig (ROH-65): it splits another, or branches off it to a point. Lengths are those of the file.
    #[serde(default)]
    pub struct InsertedBone {
        /// Its name.
        pub name: String,
        /// Name of the bone that it is put on.
        pub on: String,
        /// Where on that: from 0, its joint, to 1, its end.
        pub at: f64,
        /// Where a branch leads to, where the mesh was bound; without it the bone is split.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub to: Option<Vec3>,
        /// Of a split: weights change over this share of the bone before and after.
        pub blend: f64,
        /// How it is turned: unit axis times angle in degrees, in the frame of the bone.
        pub rotate_deg: Vec3,
        /// How it is shifted, in the frame of the bone.
        pub shift: Vec3,
        /// Of a split: share of how clips turn the bone that its second part takes, 0 to 1: the turn is spread along it.
        pub turn_share: f64,
        /// Of a split: share of how clips make the bone longer that its first part takes, times `at`, 0 to 1: at 1 both parts get longer alike.
        pub stretch_share: f64,
        /// How it moves while a clip is played, by the time of the clip, instead of how it stands.
        #[serde(rename = "key", skip_serializing_if = "Vec::is_empty")]
        pub keys: Vec<InsertedKey>,
    }
}

scene_type! {
    /// How a bone that was put in is turned and shifted at a time of a clip.
    #[serde(default)]
    #[derive(Default)]
    pub struct InsertedKey {
        /// Time of the clip, s.
        pub t: f64,
        /// How it is turned: unit axis times angle in degrees, in the frame of the bone.
        pub rotate_deg: Vec3,
        /// How it is shifted, in the frame of the bone.
        pub shift: Vec3,
    }
}

impl Default for InsertedBone {
    fn default() -> Self {
        InsertedBone {
            name: "inserted".into(),
            on: String::new(),
            at: 0.5,
            to: None,
            blend: 0.25,
            rotate_deg: [0.0; 3],
            shift: [0.0; 3],
            turn_share: 0.0,
            stretch_share: 0.0,
            keys: Vec::new(),
        }
    }
}

scene_type! {
    /// A clip as a character plays it.
    #[serde(default)]
    pub struct PlayedClip {
        /// Name of the clip, or its number in the file from 0, in digits.
        pub name: String,
        /// Share of it where several are played; they are made to sum to 1.
        pub weight: f64,
        /// Where in the clip the scene starts, s.
        pub start: f64,
        /// Speed, times that of the file; negative plays backwards.
        pub speed: f64,
        /// Start again at its end; else its last pose is held.
        pub repeat: bool,
    }
}

impl Default for PlayedClip {
    fn default() -> Self {
        PlayedClip { name: String::new(), weight: 1.0, start: 0.0, speed: 1.0, repeat: true }
    }
}

scene_type! {
    /// How a bone stands on top of what is played, in the frame that carries it.
    #[serde(default)]
    #[derive(Default)]
    pub struct BonePose {
        /// Its name.
        pub bone: String,
        /// How it is turned about its joint: unit axis times angle in degrees.
        pub rotate_deg: Vec3,
        /// How its joint is shifted, lengths of the file.
        pub shift: Vec3,
    }
}

scene_type! {
    /// A number from 0 to 1 at each vertex of a mesh of the rig (SIM-12): what a brush paints. What it means, those say that name it.
    #[serde(default)]
    #[derive(Default)]
    pub struct PaintedMap {
        /// Name, unique in the character.
        pub name: String,
        /// Name of the mesh; without it, that of all its meshes, one after the other as the rig has them.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mesh: Option<String>,
        /// From 0 to 1, one per vertex.
        pub values: Vec<f64>,
    }
}

scene_type! {
    /// How bones move a skin.
    #[derive(Copy, Default, Eq)]
    pub enum Skinning {
        /// Each vertex follows the bone of its largest weight (ROH-08).
        Rigid,
        /// Each vertex follows the weighted sum of the matrices of its bones (ROH-09, SIM-02): what glTF means. Loses volume at bent and
        /// twisted joints.
        #[default]
        LinearBlend,
        /// Each vertex follows the weighted sum of dual quaternions (ROH-10): a twist loses no volume.
        DualQuaternion,
    }
}

scene_type! {
    /// How a skin keeps its volume (ROH-20…69): what joints lose by bending comes back as bulges beside them.
    #[serde(default)]
    pub struct SkinVolume {
        /// What bulges look like, of joints of which `joint` says nothing else.
        pub preset: BulgePreset,
        /// How the volume is brought back.
        pub method: VolumeMethod,
        /// Volume, times that at rest, of a skin whose joints give back what they lose.
        pub target: f64,
        /// How much joints give back, times what they lose: 1 keeps the volume, more exaggerates, 0 leaves them alone.
        pub gain: f64,
        /// Rounds in which the area is kept, too (ROH-67): 0 leaves it, 4 are enough. The volume stays exact, and parts are kept from crossing.
        pub area_rounds: u32,
        /// Push parts of the skin that run into each other back to where they touch (ROH-62).
        pub avoid_crossing: bool,
        /// Keep the volume of pieces that are open by more than half of their area, too: that up to lids, fans from the mean of each border.
        pub close_open: bool,
        /// Cut the triangles of bulges into smaller ones (ROH-60).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub subdivide: Option<SubdivideSkin>,
        /// Joints that are different.
        #[serde(rename = "joint", skip_serializing_if = "Vec::is_empty")]
        pub joints: Vec<JointBulge>,
    }
}

impl Default for SkinVolume {
    fn default() -> Self {
        SkinVolume {
            preset: BulgePreset::default(),
            method: VolumeMethod::default(),
            target: 1.0,
            gain: 1.0,
            area_rounds: 0,
            avoid_crossing: false,
            close_open: false,
            subdivide: None,
            joints: Vec::new(),
        }
    }
}

scene_type! {
    /// Where the triangles of a skin are cut into smaller ones: where it was bound, once.
    #[serde(default)]
    pub struct SubdivideSkin {
        /// How often edges are halved, at most.
        pub levels: u32,
        /// Edges longer than this are halved, lengths of the file; 0 for all.
        pub size: f64,
        /// Of triangles with a vertex whose γ is more than this share of the largest of its joint.
        pub gamma: f64,
        /// How many more triangles around them.
        pub margin: u32,
    }
}

impl Default for SubdivideSkin {
    fn default() -> Self {
        SubdivideSkin { levels: 1, size: 0.0, gamma: 0.1, margin: 1 }
    }
}

scene_type! {
    /// What a bulge looks like.
    #[derive(Copy, Default, Eq)]
    pub enum BulgePreset {
        /// All around, where the weights of two bones meet, and more where the bone is far below the skin (ROH-33, 34).
        #[default]
        Automatic,
        /// All around the joint (ROH-38, 54).
        Isotropic,
        /// Along the axis of the bend, as rubber tubes do (ROH-39, 55).
        Rubber,
        /// On one side of the bone that carries the joint, as biceps do (ROH-40, 56).
        Muscle,
        /// As a muscle, in folds (ROH-41, 57).
        Folds,
        /// All around the bone that carries the joint, across it: a bone that gets longer thins its skin, one that gets shorter swells it (ROH-64).
        Stretch,
    }
}

scene_type! {
    /// How a volume is brought back.
    #[derive(Copy, Default, Eq)]
    pub enum VolumeMethod {
        /// Exactly, all joints at once, by the root of a cubic.
        #[default]
        Exact,
        /// To first order (ROH-27): faster.
        OnePass,
        /// Exactly, joint after joint, along three axes of each (ROH-28): depends on the order.
        ThreePasses,
    }
}

scene_type! {
    /// The bulge of some joints. A joint is named by the bone that turns; lengths are those of the bone that carries it.
    #[serde(default)]
    pub struct JointBulge {
        /// Names of the bones; without any, all of which nothing else is said.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub bones: Vec<String>,
        /// What it looks like; without it, as all others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub preset: Option<BulgePreset>,
        /// How much they give back; without it, as all others.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub gain: Option<f64>,
        /// Name of a map of the character that γ is multiplied by.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub map: Option<String>,
        /// Of `automatic`: exponent of 4 ω (1 − ω), where ω is how much of a vertex the joint carries.
        pub weight_exponent: f64,
        /// Of `automatic`: exponent of the distance to the bone.
        pub distance_exponent: f64,
        /// Of the others: where γ is down to 1/e, lengths of the bone. Without it, that of the preset.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub width: Option<f64>,
        /// Of the others: middle of the bulge along the bone, from the joint, lengths of the bone; negative is before it. Without it, that of
        /// the preset.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub offset: Option<f64>,
        /// How easily the skin goes along the bone, along the axis, and to the side of the bend; without it, that of the preset.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub axes: Option<Vec3>,
        /// Of `folds`: how many folds there are along the bone.
        pub folds: f64,
        /// Curve that γ is multiplied by along the bone: points of place, in lengths of the bone, and factor (ROH-58).
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub profile_x: Vec<[f64; 2]>,
        /// The same along the axis.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub profile_y: Vec<[f64; 2]>,
        /// The same to the side of the bend; instead of that of the preset.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub profile_z: Vec<[f64; 2]>,
    }
}

impl Default for JointBulge {
    fn default() -> Self {
        JointBulge {
            bones: Vec::new(),
            preset: None,
            gain: None,
            map: None,
            weight_exponent: 1.0,
            distance_exponent: 1.0,
            width: None,
            offset: None,
            axes: None,
            folds: 3.0,
            profile_x: Vec::new(),
            profile_y: Vec::new(),
            profile_z: Vec::new(),
        }
    }
}

scene_type! {
    /// The skin of a character as the surface of a collider.
    #[serde(default)]
    #[derive(Default)]
    pub struct SkinShape {
        /// Name of the character.
        pub character: String,
        /// Names of its meshes; all of them without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub meshes: Option<Vec<String>>,
    }
}

scene_type! {
    /// What a collider or supports are carried along by.
    #[serde(default)]
    #[derive(Default)]
    pub struct Follow {
        /// Name of the character.
        pub character: String,
        /// Name of the bone or other node that carries them. Without it supports follow the skin, each the point that is nearest to it at
        /// the start; colliders need a bone.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub bone: Option<String>,
        /// Of a collider: whether its place is that beside the character as it stands if nothing is played, not as it is when the scene begins.
        pub at_rest: bool,
    }
}

scene_type! {
    /// A skeleton, the meshes bound to it, and clips that move it: what glTF files hold.
    #[serde(default)]
    #[derive(Default)]
    pub struct Rig {
        /// Frames that carry each other: bones, and what else moves.
        #[serde(rename = "node", skip_serializing_if = "Vec::is_empty")]
        pub nodes: Vec<RigNode>,
        /// Sets of bones that meshes are bound to.
        #[serde(rename = "skin", skip_serializing_if = "Vec::is_empty")]
        pub skins: Vec<RigSkin>,
        /// Surfaces.
        #[serde(rename = "mesh", skip_serializing_if = "Vec::is_empty")]
        pub meshes: Vec<RigMesh>,
        /// Animations.
        #[serde(rename = "clip", skip_serializing_if = "Vec::is_empty")]
        pub clips: Vec<RigClip>,
    }
}

scene_type! {
    /// A frame in the frame of its parent: scale, then rotation, then translation.
    #[serde(default)]
    pub struct RigNode {
        /// Name.
        pub name: String,
        /// Number of the node that carries it; none for a root.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub parent: Option<u32>,
        /// Translation, m.
        pub translation: Vec3,
        /// Rotation as a quaternion x, y, z, w.
        pub rotation: [f64; 4],
        /// Scale along its own axes.
        pub scale: Vec3,
    }
}

impl Default for RigNode {
    fn default() -> Self {
        RigNode {
            name: String::new(),
            parent: None,
            translation: [0.0; 3],
            rotation: [0.0, 0.0, 0.0, 1.0],
            scale: [1.0; 3],
        }
    }
}

scene_type! {
    /// A set of bones.
    #[serde(default)]
    #[derive(Default)]
    pub struct RigSkin {
        /// Name.
        pub name: String,
        /// Numbers of the nodes that are its bones.
        pub joints: Vec<u32>,
        /// For each bone, what leads from the mesh to the frame of the bone where they were bound: columns x, y, z, then the translation.
        /// Without any, all are the identity.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub inverse_binds: Vec<[f64; 12]>,
        /// For each bone, where it ends, m, in the frame of the mesh where they were bound. Without any, bones end where those that they carry begin.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub tails: Vec<Vec3>,
    }
}

scene_type! {
    /// A surface that follows a node, or bones.
    #[serde(default)]
    #[derive(Default)]
    pub struct RigMesh {
        /// Name.
        pub name: String,
        /// Number of the node that carries it, if it has no skin.
        pub node: u32,
        /// Number of its skin.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub skin: Option<u32>,
        /// Vertex positions, m.
        pub positions: Vec<Vec3>,
        /// Three vertices per triangle, counter-clockwise seen from outside.
        pub triangles: Vec<[u32; 3]>,
        /// Texture coordinates, one per vertex, or empty.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub uvs: Vec<[f64; 2]>,
        /// Colours, red, green, blue and opacity from 0 to 1, one per vertex, or empty.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub colours: Vec<[f64; 4]>,
        /// How many bones each vertex has.
        pub influences: u32,
        /// Bones, as numbers in the list of the skin, `influences` per vertex.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub joints: Vec<u32>,
        /// Their weights.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub weights: Vec<f64>,
        /// Shapes that are added before the bones move it.
        #[serde(rename = "morph", skip_serializing_if = "Vec::is_empty")]
        pub morphs: Vec<RigMorph>,
    }
}

scene_type! {
    /// A shape that is added to a mesh.
    #[serde(default)]
    #[derive(Default)]
    pub struct RigMorph {
        /// Name.
        pub name: String,
        /// How much of it is added where no clip says.
        pub weight: f64,
        /// What is added to each vertex, m.
        pub offsets: Vec<Vec3>,
    }
}

scene_type! {
    /// An animation.
    #[serde(default)]
    #[derive(Default)]
    pub struct RigClip {
        /// Name.
        pub name: String,
        /// What it moves.
        #[serde(rename = "channel")]
        pub channels: Vec<RigChannel>,
    }
}

scene_type! {
    /// One quantity of one node over time.
    #[serde(default)]
    #[derive(Default)]
    pub struct RigChannel {
        /// Number of the node; of morph weights, the one that carries the mesh.
        pub node: u32,
        /// What of it changes.
        pub target: ChannelTarget,
        /// How it goes from key to key.
        pub interpolation: KeyInterpolation,
        /// Times of the keys, s, ascending.
        pub times: Vec<f64>,
        /// Values, key after key: 3 numbers, 4 of a rotation, one per morph of weights; of `cubic` keys the tangent that arrives, the
        /// value, and the tangent that leaves.
        pub values: Vec<f64>,
    }
}

scene_type! {
    /// What of a node changes.
    #[derive(Copy, Default, Eq)]
    pub enum ChannelTarget {
        /// Its translation, m.
        #[default]
        Translation,
        /// Its rotation, a quaternion x, y, z, w.
        Rotation,
        /// Its scale.
        Scale,
        /// How much of each morph of its mesh is added.
        MorphWeights,
    }
}

scene_type! {
    /// How a quantity goes from key to key.
    #[derive(Copy, Default, Eq)]
    pub enum KeyInterpolation {
        /// Straight, rotations at constant angular speed.
        #[default]
        Linear,
        /// It stays until the next key.
        Step,
        /// Along a cubic with the tangents of the keys.
        Cubic,
    }
}
