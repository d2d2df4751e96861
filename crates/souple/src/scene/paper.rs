//! Sheets of paper: a pattern, where its border is in space, and how it is folded (ROH-89…99).

use serde::{Deserialize, Serialize};

use super::{Look, Placement, Vec3};

scene_type! {
    /// A sheet of paper, which does not stretch: it is folded into wherever its border is. Nothing of it is simulated.
    #[serde(default)]
    #[derive(Default)]
    pub struct Paper {
        /// Name shown to people and used by commands.
        pub name: String,
        /// Width and height of a rectangle, m.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub size: Option<[f64; 2]>,
        /// Corners of any other pattern in order, m.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        pub pattern: Vec<[f64; 2]>,
        /// Where its border is.
        pub border: PaperBorder,
        /// Where a border that is flat, given by points or known by name is put; handles are where they say.
        #[serde(skip_serializing_if = "Placement::is_default")]
        pub placement: Placement,
        /// Points of the border that are held and moved.
        #[serde(rename = "handle", skip_serializing_if = "Vec::is_empty")]
        pub handles: Vec<PaperHandle>,
        /// How it is folded.
        #[serde(skip_serializing_if = "Folding::is_default")]
        pub folding: Folding,
        /// How it is shaded.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub look: Option<Look>,
    }
}

scene_type! {
    /// Where the border of a sheet is.
    #[derive(Default)]
    pub enum PaperBorder {
        /// Flat on the ground, for handles and hands to pull.
        #[default]
        Flat,
        /// Points in order, the first at the first corner of the pattern, m.
        Points(Vec<Vec3>),
        /// Points that move: key frames, each with as many points as the others.
        Keys(Vec<BorderKey>),
        /// One of those that the program knows, with its own pattern.
        Case(String),
        /// The same, bent little by little from flat on the ground, without stretch all the way.
        Growing(GrowingBorder),
        /// The outline of a body of this scene, which must be flat at rest; that is the pattern. The body is simulated, and the sheet is drawn instead of it.
        Body(String),
    }
}

scene_type! {
    /// A border that the program knows, and how long it takes to get there.
    #[serde(default)]
    pub struct GrowingBorder {
        /// Which.
        pub case: String,
        /// How long, s.
        pub seconds: f64,
    }
}

impl Default for GrowingBorder {
    fn default() -> Self {
        GrowingBorder { case: "bent".into(), seconds: 1.0 }
    }
}

scene_type! {
    /// Where a border is at a time.
    #[serde(default)]
    #[derive(Default)]
    pub struct BorderKey {
        /// When, s.
        pub time: f64,
        /// Points in order, m.
        pub points: Vec<Vec3>,
    }
}

scene_type! {
    /// A point of the border that is held.
    #[serde(default)]
    #[derive(Default)]
    pub struct PaperHandle {
        /// Which corner of the pattern, from 0.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub corner: Option<usize>,
        /// Or which share of the outline from the first corner on, 0 to 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub at: Option<f64>,
        /// Where it is when; in a straight line in between. One key holds it still.
        pub keys: Vec<HandleKey>,
    }
}

scene_type! {
    /// Where a handle is at a time.
    #[serde(default)]
    #[derive(Copy, Default)]
    pub struct HandleKey {
        /// When, s.
        pub time: f64,
        /// Where, m.
        pub place: Vec3,
    }
}

scene_type! {
    /// How a sheet is folded.
    #[serde(default)]
    #[derive(Copy)]
    pub struct Folding {
        /// Distance of vertices along the outline and along folds, m; a 20th of the longest side without it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub step: Option<f64>,
        /// Mean strain below which a region is left as it is.
        pub tolerance: f64,
        /// Relative shortening of a chord up to which it counts as taut.
        pub taut: f64,
        /// Chords tried for a fold; three times as many in what is more than half of the sheet. With 0 nothing is folded.
        pub chords: usize,
        /// Times that regions without a fold are tried again, each after a relaxation.
        pub restarts: usize,
        /// Rounds of each relaxation.
        pub rounds: usize,
        /// Whether folds that do not lower E at once are taken in the last restart (ROH-96).
        pub least_bad: bool,
        /// Whether the border is mended first, to where its length and chords allow a sheet at all, and may give way in relaxations
        /// (ROH-98). Else it stays as given.
        pub repair: bool,
        /// Angle between two triangles from which their edge is a crease, degrees.
        pub crease_deg: f64,
    }
}

impl Default for Folding {
    fn default() -> Self {
        Folding {
            step: None,
            tolerance: 1e-3,
            taut: 2e-4,
            chords: 5,
            restarts: 1,
            rounds: 10,
            least_bad: true,
            repair: true,
            crease_deg: 20.0,
        }
    }
}

impl Folding {
    fn is_default(&self) -> bool {
        *self == Folding::default()
    }
}
