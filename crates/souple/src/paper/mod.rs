//! Crumpled paper: a sheet that does not stretch, given by its flat pattern and by where its border is in space (ROH-89 to
//! ROH-99; Rohmer 2011, chapter 4).
//!
//! Pattern and border are matched by relative arc length. Regions are cut along the chord that is most nearly taut: along a
//! straight line if it is, as all of a ruling is in the surface; else along a cubic curve that is found by minimising the
//! misfit E to the pattern ([`measure`]). Then everything is relaxed by rigid parts, and regions that could not be cut are tried again.
//! What comes out is a mesh with few triangles and edges along the creases, each vertex with its place in the pattern.
//!
//! Beyond the seed: patterns that are not convex; several chords tried for a fold; starts all around the chord; rounds of relaxation that
//! cannot make E worse; borders repaired by Newton's method; creases that persist from frame to frame ([`Crumple`]).
//!
//! Promises: the same bits for the same input on one machine (relaxation solves by faer, see `solver/cholesky.rs`); ends always; no panic. It does not promise isometry: [`Sheet::isometry`] says how
//! far it is off. Nothing keeps a sheet from crossing itself.

mod apex;
mod border;
mod cases;
mod cubic;
mod flip;
mod live;
pub mod measure;
mod mesh;
mod pattern;
mod played;
mod relax;
mod sheet;
mod slide;
mod split;

use thiserror::Error;

pub use crate::scene::Folding as Settings;
pub use border::{Border, Criteria, Handle, Repair, along, outline};
pub use cases::Case;
pub use cubic::Cubic;
pub use live::{Change, Crumple, Live, Rules, Scratch};
pub use measure::Isometry;
pub use mesh::Triangulator;
pub use pattern::{MAX_CORNERS, Pattern};
pub use played::{BorderSource, HandleModel, PaperModel, PaperState, laid_flat};
pub(crate) use played::{between, follow_borders};
pub use sheet::{Crease, Edge, Sheet};

/// Most points of a border.
pub const MAX_POINTS: usize = 100_000;
/// Most vertices along the outline of a sheet.
pub const MAX_SAMPLES: usize = 2000;

/// Weight of the springs that draw a border back which may give way, as a share of what holds a vertex in the mesh.
const SPRING: f64 = 0.02;

/// Why there is no sheet.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum PaperError {
    /// Not a polygon.
    #[error("the pattern has {0} corners; give at least 3")]
    FewCorners(usize),
    /// Too many corners.
    #[error("the pattern has {0} corners; at most {MAX_CORNERS} are possible")]
    ManyCorners(usize),
    /// A corner is not a usable number.
    #[error("corner {0} of the pattern is not finite, or further than 1000 km away; give metres")]
    CornerNotFinite(usize),
    /// Two corners in the same place.
    #[error("side {0} of the pattern has no length; leave out one of its corners")]
    SideWithoutLength(usize),
    /// The outline crosses or touches itself.
    #[error(
        "sides {0} and {1} of the pattern cross or touch; give the corners in order around a simple polygon"
    )]
    SidesCross(usize, usize),
    /// Not a closed curve.
    #[error("the border has {0} points; give at least 3, in order around the sheet")]
    FewPoints(usize),
    /// Too many points.
    #[error("the border has {0} points; at most {MAX_POINTS} are possible")]
    ManyPoints(usize),
    /// A point is not a usable number.
    #[error("point {0} of the border is not finite, or further than 1000 km away; give metres")]
    PointNotFinite(usize),
    /// The last point is far from the first.
    #[error(
        "the border does not close: from its last point to its first it is {gap} m, and {longest} m at most between others; \
         add the points that are missing"
    )]
    NotClosed {
        /// From the last to the first, m.
        gap: f64,
        /// Longest of the other distances, m.
        longest: f64,
    },
    /// Another length than the outline of the pattern, beyond repair.
    #[error(
        "the border is {border} m long and the outline of the pattern {pattern} m; they must be alike: check the units of both"
    )]
    Length {
        /// Of the border, m.
        border: f64,
        /// Of the pattern, m.
        pattern: f64,
    },
    /// Finer than is possible.
    #[error(
        "a step of {step} m would put {samples} vertices on the outline; give a step of {least} m or more"
    )]
    FineStep {
        /// What was asked, m.
        step: f64,
        /// What comes of it.
        samples: usize,
        /// Least possible, m.
        least: f64,
    },
    /// A setting is not a usable number.
    #[error("{name} is {value}; give a number {range}")]
    Setting {
        /// Which.
        name: &'static str,
        /// What was given.
        value: f64,
        /// What is possible.
        range: &'static str,
    },
    /// A handle that is not on the outline.
    #[error("handle {0} is at no share of the outline from 0 to 1, or is pulled to no finite place")]
    Handle(usize),
    /// The border of a body that has none.
    #[error("{0}")]
    NoBorder(String),
}

impl Settings {
    fn check(&self) -> Result<(), PaperError> {
        let bad = |name, value, range| Err(PaperError::Setting { name, value, range });
        match self {
            s if !s.step.is_none_or(|step| step.is_finite() && step > 0.0) => {
                bad("step", s.step.unwrap_or(f64::NAN), "above 0, m")
            }
            s if !(s.tolerance > 0.0 && s.tolerance <= 1.0) => {
                bad("tolerance", s.tolerance, "above 0, at most 1")
            }
            s if !(0.0..=1.0).contains(&s.taut) => bad("taut", s.taut, "from 0 to 1"),
            s if s.chords > 64 => bad("chords", s.chords as f64, "up to 64"),
            s if s.restarts > 100 => bad("restarts", s.restarts as f64, "up to 100"),
            s if s.rounds > 10_000 => bad("rounds", s.rounds as f64, "up to 10000"),
            s if !(s.crease_deg > 0.0 && s.crease_deg <= 180.0) => {
                bad("crease_deg", s.crease_deg, "above 0, up to 180")
            }
            _ => Ok(()),
        }
    }

    /// What becomes of the border while a sheet is relaxed.
    fn hold(&self) -> relax::Hold {
        if self.repair { relax::Hold::Drawn(SPRING) } else { relax::Hold::Pinned }
    }

    /// The step that is used for a pattern, m.
    fn step_for(&self, pattern: &Pattern) -> Result<f64, PaperError> {
        self.check()?;
        let step = self.step.unwrap_or(pattern.longest_side() / 20.0);
        let (samples, least) = (pattern.length() / step, pattern.length() / MAX_SAMPLES as f64);
        if samples > MAX_SAMPLES as f64 {
            // Saturates: only for the message.
            return Err(PaperError::FineStep { step, samples: samples as usize, least });
        }
        Ok(step)
    }
}
