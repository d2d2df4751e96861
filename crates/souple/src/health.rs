//! What is done about numbers that go wrong: noticed, rolled back, retried with smaller steps, frozen, and told.

use glam::DVec3;

use crate::motion::Jump;
use crate::paper::PaperError;
use crate::profile::Stage;
use crate::scene::Health;

/// How often a diverging body is retried, each time with half the step.
pub const MAX_HALVINGS: u32 = 4;

/// Something the person should know, with what to change.
#[derive(Clone, Debug, PartialEq)]
pub struct Warning {
    /// Step at which it happened.
    pub step: u64,
    /// Body it happened to; of a [`WarningKind::Jumped`] the collider, of a [`WarningKind::NoBorder`] the paper.
    pub body: String,
    /// Stage in which it was noticed.
    pub stage: Stage,
    /// What happened.
    pub kind: WarningKind,
    /// Which setting to change.
    pub remedy: String,
}

/// What happened to a body or a collider.
#[derive(Clone, Debug, PartialEq)]
pub enum WarningKind {
    /// Its state was not finite when the step began; the last good state was put back.
    BadInput,
    /// What is imposed on it was not finite; it was held where it was.
    BadControl,
    /// It diverged and went on with smaller steps.
    Retried {
        /// How often the step was halved.
        halvings: u32,
        /// What was wrong.
        symptom: Symptom,
    },
    /// Surfaces cross although contact is to be safe.
    Crossed {
        /// Pairs of triangles of its island that cross.
        pairs: usize,
        /// Whether they did when the step began, so that nothing was promised.
        before: bool,
    },
    /// It diverged at every step size and is frozen.
    Frozen {
        /// What was wrong.
        symptom: Symptom,
    },
    /// A linear solve was stopped before it reached its tolerance; told once of each body.
    CutShort {
        /// The residual that was left, as a share of the first.
        residual: f64,
    },
    /// A collider moved by more than its own size in one frame; told once of each.
    Jumped(Jump),
    /// The border of a sheet of paper cannot be followed, and the sheet stays as it was; told once of each.
    NoBorder(PaperError),
}

/// What is wrong with numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Symptom {
    /// Not a finite number, at a particle.
    NonFinite {
        /// The particle.
        vertex: u32,
    },
    /// Faster than the scene allows.
    TooFast {
        /// The particle.
        vertex: u32,
        /// Its speed, m/s.
        speed: f64,
    },
    /// Further away than the scene allows.
    TooFar {
        /// The particle.
        vertex: u32,
        /// Its distance from the origin, m.
        distance: f64,
    },
}

impl std::fmt::Display for Symptom {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Symptom::NonFinite { vertex } => write!(f, "vertex {vertex} has no finite position or velocity"),
            Symptom::TooFast { vertex, speed } => write!(f, "vertex {vertex} moves at {speed:.3e} m/s"),
            Symptom::TooFar { vertex, distance } => write!(f, "vertex {vertex} is {distance:.3e} m away"),
        }
    }
}

impl std::fmt::Display for Warning {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let Warning { step, body, stage, .. } = self;
        let what = match self.kind {
            WarningKind::Jumped(_) => "collider",
            WarningKind::NoBorder(_) => "paper",
            _ => "body",
        };
        write!(f, "step {step}, {what} '{body}', {}: ", stage.name())?;
        match &self.kind {
            WarningKind::BadInput => write!(f, "its state was not finite; the last good state was put back")?,
            WarningKind::BadControl => write!(f, "what moves it was not finite; it was held still")?,
            WarningKind::Retried { halvings, symptom } => {
                write!(f, "it diverged ({symptom}); went on with a step {} times smaller", 1u32 << halvings)?;
            }
            WarningKind::Crossed { pairs, before: true } => {
                write!(
                    f,
                    "{pairs} pairs of triangles cross and did when the step began; safe contact promises nothing"
                )?;
            }
            WarningKind::Crossed { pairs, before: false } => {
                write!(f, "{pairs} pairs of triangles cross in spite of safe contact")?;
            }
            WarningKind::Frozen { symptom } => {
                write!(f, "it diverged ({symptom}) at every step size; frozen")?
            }
            WarningKind::CutShort { residual } => {
                write!(f, "its linear solve was stopped with {residual:.1e} of the residual left")?;
            }
            WarningKind::Jumped(Jump { distance, size }) => {
                write!(f, "it moved by {distance:.3} m in one frame, more than its size of {size:.3} m")?;
            }
            WarningKind::NoBorder(error) => write!(f, "it stays as it was: {error}")?,
        }
        write!(f, ". {}", self.remedy)
    }
}

/// What is wrong with positions and velocities, if anything.
pub fn examine(x: &[DVec3], v: &[DVec3], limits: &Health) -> Option<Symptom> {
    // One pass that is cheap when all is well: NaN fails every comparison.
    let (far, fast) = (limits.max_extent * limits.max_extent, limits.max_speed * limits.max_speed);
    let bad =
        x.iter().zip(v).position(|(x, v)| !(x.length_squared() <= far && v.length_squared() <= fast))?;
    let vertex = bad as u32;
    Some(if !x[bad].is_finite() || !v[bad].is_finite() {
        Symptom::NonFinite { vertex }
    } else if x[bad].length_squared() > far {
        Symptom::TooFar { vertex, distance: x[bad].length() }
    } else {
        Symptom::TooFast { vertex, speed: v[bad].length() }
    })
}
