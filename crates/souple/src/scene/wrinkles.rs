//! Folds drawn on coarse cloth (ROH-70 to ROH-88).

use serde::{Deserialize, Serialize};

scene_type! {
    /// Folds on the surface that is drawn and exported, where the simulated one is compressed against its pattern. They change nothing about how the
    /// body moves.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Wrinkling {
        /// Radius of the smallest folds of the fabric, m; that of `fabric` without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub smallest_radius: Option<f64>,
        /// Compression per length from which there are folds, above 0 and below 0.36.
        pub threshold: f64,
        /// To which side folds rise.
        pub side: FoldSide,
        /// What decides how wide folds are.
        pub spacing: FoldSpacing,
        /// What cloth is compared with.
        pub pattern: FoldPattern,
        /// Longest edge of the mesh that is drawn, m; half the smallest radius without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub edge: Option<f64>,
    }
}

impl Default for Wrinkling {
    fn default() -> Self {
        Wrinkling {
            smallest_radius: None,
            threshold: 0.05,
            side: FoldSide::Out,
            spacing: FoldSpacing::Radius,
            pattern: FoldPattern::Rest,
            edge: None,
        }
    }
}

scene_type! {
    /// To which side folds rise.
    #[derive(Copy, Eq, Default)]
    pub enum FoldSide {
        /// To the side that triangles face: never into a character that wears it.
        #[default]
        Out,
        /// To the other side.
        In,
    }
}

scene_type! {
    /// What decides how wide folds are.
    #[derive(Copy, Eq, Default)]
    pub enum FoldSpacing {
        /// The smallest radius: the stronger the compression the nearer to it.
        #[default]
        Radius,
        /// The wavelength of wrinkles of stretched sheets, by thickness, Poisson's ratio and tension.
        Measured,
    }
}

scene_type! {
    /// What cloth is compared with.
    #[derive(Copy, Eq, Default)]
    pub enum FoldPattern {
        /// Its own triangles at rest.
        #[default]
        Rest,
        /// Its texture coordinates, enlarged to the length of the mesh: for garments that are gathered, or whose mesh is not at rest.
        Uv,
    }
}
