//! Skeleton files as the user writes them: bones for meshes that have none (ROH-07).

use serde::{Deserialize, Serialize};

use super::{KeyInterpolation, Vec3};

scene_type! {
    /// Bones of a mesh that has none, and clips that turn them.
    #[serde(default)]
    pub struct SkeletonFile {
        /// Version of the format: 1.
        pub format: u32,
        /// Its bones, in any order.
        #[serde(rename = "bone")]
        pub bones: Vec<SkeletonBone>,
        /// What it can play.
        #[serde(rename = "clip", skip_serializing_if = "Vec::is_empty")]
        pub clips: Vec<SkeletonClip>,
    }
}

impl Default for SkeletonFile {
    fn default() -> Self {
        SkeletonFile { format: 1, bones: Vec::new(), clips: Vec::new() }
    }
}

scene_type! {
    /// A bone where the mesh is at rest. It turns about its head; its axes are those of the mesh.
    pub struct SkeletonBone {
        /// Name, unique.
        pub name: String,
        /// Where it begins, in the lengths and axes of the mesh.
        pub head: Vec3,
        /// Where it ends.
        pub tail: Vec3,
        /// Name of the bone that carries it; none for a root.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub parent: Option<String>,
    }
}

scene_type! {
    /// Bones that turn.
    #[serde(default)]
    #[derive(Default)]
    pub struct SkeletonClip {
        /// Name.
        pub name: String,
        /// The bones that turn; others stay as they are.
        #[serde(rename = "turn")]
        pub turns: Vec<SkeletonTurn>,
    }
}

scene_type! {
    /// How a bone turns against the one that carries it.
    pub struct SkeletonTurn {
        /// Name of the bone.
        pub bone: String,
        /// Times of the keys, s, ascending.
        pub times: Vec<f64>,
        /// Rotation at each key: unit axis times angle in degrees. From key to key the short way is taken: less than half a turn.
        pub rotate_deg: Vec<Vec3>,
        /// How it goes from key to key: `linear` or `step`.
        #[serde(default)]
        pub interpolation: KeyInterpolation,
    }
}
