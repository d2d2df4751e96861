//! Volumes of labelled voxels: what a scanner saw and a person or a program said what it is (FAU-14).

use glam::DVec3;

/// A box of voxels along the axes, each with a label; 0 is usually nothing. Lengths are in metres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VoxelVolume {
    /// Number of voxels along x, y and z.
    pub size: [usize; 3],
    /// Size of a voxel along x, y and z, m; positive.
    pub spacing: [f64; 3],
    /// Centre of the first voxel, m.
    pub origin: [f64; 3],
    /// Label of voxel (i, j, k), at i + nx·(j + ny·k).
    pub labels: Vec<u16>,
}

impl VoxelVolume {
    /// The label of a voxel; none beyond the volume.
    pub fn label(&self, [i, j, k]: [usize; 3]) -> Option<u16> {
        let [nx, ny, nz] = self.size;
        let inside = i < nx && j < ny && k < nz;
        if inside { self.labels.get(i + nx * (j + ny * k)).copied() } else { None }
    }

    /// Centre of a voxel, m.
    pub fn centre(&self, index: [usize; 3]) -> DVec3 {
        let at = |axis: usize| self.origin[axis] + self.spacing[axis] * index[axis] as f64;
        DVec3::new(at(0), at(1), at(2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn voxels_are_found_by_their_indices() {
        let labels = (0..24).collect();
        let volume =
            VoxelVolume { size: [2, 3, 4], spacing: [0.1, 0.2, 0.5], origin: [1.0, 0.0, -1.0], labels };
        assert_eq!(volume.label([1, 2, 3]), Some(23));
        assert_eq!(volume.label([0, 1, 2]), Some(14));
        assert_eq!(
            (volume.label([2, 0, 0]), volume.label([0, 3, 0]), volume.label([0, 0, 4])),
            (None, None, None)
        );
        assert_eq!(volume.centre([1, 2, 3]), DVec3::new(1.1, 0.4, 0.5));
    }
}
