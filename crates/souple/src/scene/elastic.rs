//! Elastic layers as the user writes them (SIM-05…15): parts of a skin that become particles, and dials without units that say how they hold to it; dials of
//! other bodies.

use serde::{Deserialize, Serialize};

use super::{Select, Vec3};

scene_type! {
    /// How a part of a skin gives way. Dials go from 0 to 1, and mean the same at any frame rate and on any mesh (SIM-11).
    #[serde(default)]
    pub struct Elastic {
        /// How firmly particles hold to the skin (SIM-07, 08): 1 is fixed to it, 0 is held by its neighbours alone; between, a spring of
        /// 0.5 · 64^d Hz: 4 Hz at a half.
        pub attachment: f64,
        /// How far attached particles move before that spring acts, times `reach`.
        pub amplitude: f64,
        /// What an amplitude of 1 is, m; without it a tenth of the size of the layer.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reach: Option<f64>,
        /// Stiffness of mesh edges: under its own weight the layer stretches by 10^(−4 d), 1 % at a half; at 0 nothing joins particles, at 1 they
        /// do not stretch at all.
        pub stiffness: f64,
        /// Share of its velocity against the skin that a particle loses in a tenth of a second.
        pub damping: f64,
        /// Share of its velocity against the air that a particle loses in a tenth of a second (SIM-20).
        pub drag: f64,
        /// What the friction of colliders is multiplied by (SIM-12).
        pub friction: f64,
        /// How much of its weight it feels: 0 if the skin was modelled as it hangs.
        pub weight: f64,
        /// Where dials are different: each entry goes over those before.
        #[serde(rename = "paint", skip_serializing_if = "Vec::is_empty")]
        pub paints: Vec<ElasticPaint>,
    }
}

impl Default for Elastic {
    fn default() -> Self {
        Elastic {
            attachment: 1.0,
            amplitude: 0.0,
            reach: None,
            stiffness: 0.5,
            damping: 0.3,
            drag: 0.0,
            friction: 1.0,
            weight: 1.0,
            paints: Vec::new(),
        }
    }
}

scene_type! {
    /// Paints over a dial: it stays where the paint is 0, and becomes `to` where the paint is 1.
    pub struct ElasticPaint {
        /// Which dial.
        pub dial: ElasticDial,
        /// What it becomes, 0 to 1.
        pub to: f64,
        /// Where the paint is.
        pub with: PaintSource,
    }
}

scene_type! {
    /// A dial of an elastic layer.
    #[derive(Copy, Eq)]
    pub enum ElasticDial {
        /// How firmly particles hold to the skin.
        Attachment,
        /// How far they move before that acts.
        Amplitude,
        /// Stiffness of mesh edges.
        Stiffness,
        /// Loss of velocity against the skin.
        Damping,
        /// Loss of velocity against the air.
        Drag,
        /// What friction is multiplied by.
        Friction,
    }
}

scene_type! {
    /// A number from 0 to 1 at each vertex of a skin.
    pub enum PaintSource {
        /// A map of the character, by its name.
        Map(String),
        /// A channel of the colours of vertices (SIM-12).
        Colour(ColourChannel),
        /// A picture by the texture coordinates of vertices (SIM-14): how bright it is there.
        Picture(PaintPicture),
        /// What bones carry: the sum of their weights.
        Bones(Vec<String>),
        /// 1 in the middle of a ball, 0 outside, gently between.
        Ball(PaintBall),
        /// 1 at chosen vertices of the skin where the scene begins, 0 elsewhere. Numbers of `vertices` are those of the meshes, one after the other.
        Select(Select),
    }
}

scene_type! {
    /// A channel of a colour.
    #[derive(Copy, Eq)]
    pub enum ColourChannel {
        /// Red.
        Red,
        /// Green.
        Green,
        /// Blue.
        Blue,
        /// Opacity.
        Alpha,
    }
}

scene_type! {
    /// A ball of paint.
    #[derive(Copy)]
    pub struct PaintBall {
        /// Its centre in the world where the scene begins, m.
        pub centre: Vec3,
        /// Where the paint ends, m.
        pub radius: f64,
        /// Up to which share of the radius it is full.
        #[serde(default)]
        pub full: f64,
    }
}

scene_type! {
    /// A picture of paint, PNG or JPEG.
    #[serde(default)]
    #[derive(Default)]
    pub struct PaintPicture {
        /// Path relative to the scene file.
        pub path: String,
        /// Columns and rows, once it was read.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub size: Option<[u32; 2]>,
        /// How bright it is, 0 to 1, row after row from the top.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub values: Vec<f64>,
    }
}

scene_type! {
    /// Stiffness without units (SIM-11): 0 has no effect, 1 is practically stiff, against the weight of the body itself.
    /// They mean the same at any step and on any mesh.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct Dials {
        /// Along threads or mesh edges: under its own weight the body stretches by 10^(−4 d), 1 % at a half.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub stretch: Option<f64>,
        /// Across the cells of a grid, in the same measure.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub shear: Option<f64>,
        /// Bending: the length that stands out by itself is 10^(2 (d − 1)) of the body, a tenth at a half.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub bend: Option<f64>,
        /// Change of area, in the measure of `stretch`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub area: Option<f64>,
    }
}
