//! What the parts of a solid are made of, as the user writes it (FAU-04).

use serde::{Deserialize, Serialize};

scene_type! {
    /// What the tetrahedra or voxels of one label are made of: a physical group, a region or a reference of the mesh file, a label of the volume.
    /// What is not written is that of the body.
    #[derive(Copy, Default)]
    pub struct Material {
        /// Label of the tetrahedra or voxels.
        pub label: u32,
        /// Young's modulus, Pa.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub young_modulus: Option<f64>,
        /// Poisson's ratio, above −1 and below 0.5.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub poisson_ratio: Option<f64>,
        /// Mass per volume, kg/m³.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub density: Option<f64>,
    }
}
