//! How large the cells of a solid are, and where (FAU-24, FAU-26).

use serde::{Deserialize, Serialize};

use super::Region;

scene_type! {
    /// Cells of several sizes in one solid of hexahedra: those that its shape or `embed` give are the smallest.
    #[serde(default)]
    pub struct Resolution {
        /// How often eight cells may be joined into one: the largest are 2^levels times as large as the smallest.
        pub levels: u32,
        /// Where cells are the smallest.
        pub fine_at: FineAt,
        /// Boxes of the world in which they are the smallest too, where the body is at the start.
        #[serde(rename = "region", skip_serializing_if = "Vec::is_empty")]
        pub regions: Vec<Region>,
        /// With `bends`: cells across which the body turns by more than this are divided, rad.
        pub refine_above: f64,
        /// With `bends`: cells are joined if the body turns by less than this across what they become, rad.
        pub join_below: f64,
        /// With `bends`: the most cells there may be.
        pub max_cells: u32,
    }
}

impl Default for Resolution {
    fn default() -> Self {
        Resolution {
            levels: 2,
            fine_at: FineAt::Surface,
            regions: Vec::new(),
            refine_above: 0.2,
            join_below: 0.1,
            max_cells: 2000,
        }
    }
}

scene_type! {
    /// Where cells are the smallest.
    #[derive(Copy, Eq, Default)]
    pub enum FineAt {
        /// At the surface, and larger the deeper inside.
        #[default]
        Surface,
        /// In regions alone.
        Regions,
        /// Where the body bends, which changes as it moves, and around its supports (FAU-26).
        Bends,
    }
}
