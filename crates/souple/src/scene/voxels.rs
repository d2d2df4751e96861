//! Bodies from labelled voxels, as the user writes them (FAU-14, FAU-84).

use serde::{Deserialize, Serialize};

use super::Vec3;
use crate::mesh::VoxelVolume;

scene_type! {
    /// A solid of the labelled voxels of a segmented picture: cells of several voxels are its mechanics, and a smooth surface around the voxels
    /// follows them.
    pub struct VoxelShape {
        /// Volume file, path relative to the scene: .nrrd, .nhdr, .nii or .nii.gz.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub path: String,
        /// How many voxels along each axis make one cell of the mechanics.
        #[serde(default = "two")]
        pub group: u32,
        /// Labels of the voxels that are the body; all but 0 without it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub labels: Vec<u32>,
        /// The voxels, written in the scene itself instead of a path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub volume: Option<InlineVolume>,
    }
}

impl Default for VoxelShape {
    fn default() -> Self {
        VoxelShape { path: String::new(), group: two(), labels: Vec::new(), volume: None }
    }
}

fn two() -> u32 {
    2
}

scene_type! {
    /// A box of labelled voxels.
    #[derive(Default)]
    pub struct InlineVolume {
        /// Number of voxels along x, y and z.
        pub size: [u32; 3],
        /// Edges of a voxel, m.
        pub spacing: Vec3,
        /// Centre of the first voxel, m.
        #[serde(default)]
        pub origin: Vec3,
        /// Pairs of a label and how many voxels in a row have it; x runs fastest, then y.
        pub runs: Vec<[u32; 2]>,
    }
}

impl InlineVolume {
    /// A volume with its labels as runs.
    pub fn new(volume: &VoxelVolume) -> InlineVolume {
        let runs = volume.labels.chunk_by(|a, b| a == b).flat_map(|run| {
            let label = run.first().copied().map_or(0, u32::from);
            run.chunks(u32::MAX as usize).map(move |part| [label, part.len() as u32])
        });
        InlineVolume {
            size: volume.size.map(|n| u32::try_from(n).unwrap_or(u32::MAX)),
            spacing: volume.spacing,
            origin: volume.origin,
            runs: runs.collect(),
        }
    }

    /// How many voxels have a label that is kept: any but 0 if there are none to choose from.
    pub fn count(&self, labels: &[u32]) -> u64 {
        let kept = |label: u32| label != 0 && (labels.is_empty() || labels.contains(&label));
        self.runs.iter().filter(|run| kept(run[0])).map(|run| u64::from(run[1])).sum()
    }
}
