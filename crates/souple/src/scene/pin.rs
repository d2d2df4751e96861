//! Choices of particles, and what is done to them: supports, pulls.

use serde::{Deserialize, Serialize};

use super::{Follow, Motion, Vec3};

scene_type! {
    /// A set of supported particles (GRI-07, ESSI-11).
    #[serde(default)]
    pub struct Pin {
        /// Name, for control streams; `left` and `right` say more than `0` and `1`.
        pub name: String,
        /// Which particles.
        pub select: Select,
        /// How they move; fixed without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub motion: Option<Motion>,
        /// The character that carries them, by a bone or by its skin, from where they are at the start.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub follow: Option<Follow>,
        /// The sheet of paper whose border they follow, along the outline of a body that lies flat as its pattern does.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub paper: Option<String>,
        /// When they are let go, s; never without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub until: Option<f64>,
    }
}

impl Default for Pin {
    fn default() -> Self {
        Pin {
            name: "pin".into(),
            select: Select::Vertices(Vec::new()),
            motion: None,
            follow: None,
            paper: None,
            until: None,
        }
    }
}

scene_type! {
    /// A choice of particles.
    pub enum Select {
        /// By index.
        Vertices(Vec<u32>),
        /// The one nearest to a point of the world, m.
        Near(Vec3),
        /// All inside a box of the world, m.
        Within(Region),
        /// A border of a grid.
        Border(Border),
        /// The first two vertices of a rope or of each strand: they hold its place and its direction.
        Roots,
        /// Every particle.
        All,
    }
}

scene_type! {
    /// A box of the world.
    #[derive(Copy)]
    pub struct Region {
        /// Lowest corner, m.
        pub min: Vec3,
        /// Highest corner, m.
        pub max: Vec3,
    }
}

scene_type! {
    /// A border of a grid.
    #[derive(Copy, Eq)]
    pub enum Border {
        /// First column.
        U0,
        /// Last column.
        U1,
        /// First row (the top of a hanging grid).
        V0,
        /// Last row.
        V1,
    }
}

scene_type! {
    /// A constant force shared by chosen particles (ESSI-29).
    #[serde(default)]
    pub struct Pull {
        /// Which particles.
        pub select: Select,
        /// Total force, N.
        pub force: Vec3,
        /// When it begins, s.
        pub from: f64,
        /// When it ends, s; never without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub until: Option<f64>,
    }
}

impl Default for Pull {
    fn default() -> Self {
        Pull { select: Select::Vertices(Vec::new()), force: [0.0; 3], from: 0.0, until: None }
    }
}
