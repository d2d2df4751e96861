//! How a scene is seen: camera, light, and the look of every object (ESSI-15, ESSI-58…70).
//!
//! Nothing here changes how a scene moves, so a recording can be played again in another look (ESSI-16).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Vec3;

scene_type! {
    /// How the scene is seen.
    #[serde(default)]
    #[derive(Copy)]
    pub struct View {
        /// Where it is seen from; fitted to what there is to see without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub camera: Option<Camera>,
        /// Colour behind everything, sRGB from 0 to 1; a soft sky without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub background: Option<Vec3>,
        /// Whether a ground with a grid of metres is drawn, under the lowest thing or on a floor.
        pub ground: bool,
        /// Direction from the scene towards the main light, any length.
        pub light: Vec3,
    }
}

impl Default for View {
    fn default() -> Self {
        View { camera: None, background: None, ground: true, light: [0.5, 1.0, 0.6] }
    }
}

scene_type! {
    /// A camera.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Camera {
        /// Where it stands, m.
        pub position: Vec3,
        /// What it looks at, m.
        pub target: Vec3,
        /// Vertical field of view, degrees.
        pub field_of_view_deg: f64,
    }
}

impl Default for Camera {
    fn default() -> Self {
        Camera { position: [2.0, 1.5, 3.0], target: [0.0; 3], field_of_view_deg: 35.0 }
    }
}

scene_type! {
    /// The look of a body or a collider.
    #[serde(default)]
    #[derive(Default)]
    pub struct Look {
        /// How its surface is shaded.
        pub style: Style,
        /// Colour of the material, sRGB from 0 to 1; one of a series without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub colour: Option<Vec3>,
        /// Colour of the other side of a cloth; a darker one of the same hue without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub back_colour: Option<Vec3>,
        /// Image file, relative to the scene: .png or .jpg. What it means depends on the style: a texture for most,
        /// heights for `bump`, surroundings (twice as wide as high) for `cube_map`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub texture: Option<String>,
        /// Numbers of the style by name, instead of its own; `souple styles` lists them.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        pub parameters: BTreeMap<String, f64>,
        /// Values at both ends of the colour map of `strain`, `stress`, `velocity`, `curvature`, `contact`, `crossing`, `gain`, `painted`, `compression` and `isometry`; fitted without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub range: Option<[f64; 2]>,
        /// Whether the elements of a solid are drawn as lines, with whatever style its surface has (FAU-13).
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub cells: bool,
        /// Whether creases of paper and crests of folds are drawn as lines: mountains red, valleys blue.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub creases: bool,
        /// Whether it is not drawn: a collider inside a skin, say.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub hidden: bool,
    }
}

scene_type! {
    /// How a surface is shaded.
    #[derive(Default)]
    pub enum Style {
        /// Matt cloth with a soft highlight (ESSI-58).
        #[default]
        Standard,
        /// Plastic with a sharp highlight (ESSI-59).
        Phong,
        /// Dark in front, bright at the rim, after Minnaert (ESSI-60).
        Velvet,
        /// Highlights along the threads (ESSI-61).
        Satin,
        /// Polished metal that reflects the surroundings (ESSI-62).
        Chrome,
        /// Lacquer that reflects a cube map or an image of the surroundings (ESSI-63).
        CubeMap,
        /// Relief from an image of heights, or a weave without one (ESSI-64).
        Bump,
        /// A few flat tones and dark outlines (ESSI-65).
        Toon,
        /// Bright edges, dark in the middle: a curtain on a stage (ESSI-66).
        Silhouette,
        /// Transparent but for its edges (ESSI-67).
        Glass,
        /// Edges of the mesh alone (SIM-38).
        Wireframe,
        /// Direction of the surface as a colour (ESSI-69).
        Normal,
        /// An image on the surface (ESSI-70).
        Texture,
        /// Squares, to judge texture coordinates and stretch.
        Checker,
        /// Strain of the edges around each vertex, or of the inside of a solid, as a colour.
        Strain,
        /// Stress of a solid as a colour, by von Mises.
        Stress,
        /// Speed as a colour.
        Velocity,
        /// Mean curvature as a colour.
        Curvature,
        /// Where colliders are touched.
        Contact,
        /// Where bodies cross themselves or each other.
        Crossing,
        /// Where the skin of a character has gained and lost volume: how far it has come out, or gone in, seen from its bones (ROH-23).
        Gain,
        /// The first map that is painted on the skin of a character; in the studio, the one in hand.
        Painted,
        /// What cloth has lost of its length against its pattern, which folds make up for.
        Compression,
        /// How far what is drawn, folds and paper, is from isometric to its pattern.
        Isometry,
        /// A WGSL file of your own, relative to the scene (ESSI-54).
        Shader(String),
    }
}
