//! Weights of bones that nobody painted (ROH-12…19), as the user writes them.

use serde::{Deserialize, Serialize};

scene_type! {
    /// How much each vertex of a skin follows which bones, found from their places alone.
    #[serde(default)]
    pub struct SkinWeights {
        /// How they are found.
        pub method: WeightMethod,
        /// Which vertices get them.
        pub vertices: WeightedVertices,
        /// Of `voxel_geodesic` and `heat`: cells along the longest side of the skin. Parts that are nearer to each other than a cell count as one.
        pub resolution: u32,
        /// Of `inverse_distance` and `normal_test`: exponent of the distance; the larger, the sharper bones are told apart.
        pub exponent: f64,
        /// Of all but `inverse_distance`: over which length weights go over from bone to bone, times the distance from skin to bone; 0 lets each vertex follow the bone
        /// that was found for it.
        pub smoothing: f64,
        /// Most bones of one vertex.
        pub influences: u32,
        /// Names of bones that get none, such as a root on the ground.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub without: Vec<String>,
    }
}

impl Default for SkinWeights {
    fn default() -> Self {
        SkinWeights {
            method: WeightMethod::default(),
            vertices: WeightedVertices::default(),
            resolution: 128,
            exponent: 4.0,
            smoothing: 1.0,
            influences: 4,
            without: Vec::new(),
        }
    }
}

scene_type! {
    /// How weights are found.
    #[derive(Copy, Default, Eq)]
    pub enum WeightMethod {
        /// By the inverse of the straight distance to each bone (ROH-12): parts that lie beside each other are mixed up.
        InverseDistance,
        /// The same, of bones that are behind the surface as seen from the vertex (ROH-14), made smooth: fast.
        NormalTest,
        /// The nearest bone that is seen from the vertex through the inside (ROH-13), made smooth.
        Heat,
        /// The bone that is nearest by ways through the inside (ROH-15…19), made smooth.
        #[default]
        VoxelGeodesic,
    }
}

scene_type! {
    /// Which vertices get weights.
    #[derive(Copy, Default, Eq)]
    pub enum WeightedVertices {
        /// Those that have none.
        #[default]
        Missing,
        /// All: those of the file are forgotten.
        All,
    }
}
