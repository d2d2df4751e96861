//! Souple: an engine for everything that bends.
//!
//! ```
//! use souple::scene::{Body, Pin, Scene, Select};
//! use souple::{ModelBuilder, Simulation};
//!
//! // A square metre of cotton, held at one corner.
//! let body = Body {
//!     name: "cloth".into(),
//!     fabric: Some("cotton".into()),
//!     pins: vec![Pin { select: Select::Near([0.0, 0.0, 0.0]), ..Pin::default() }],
//!     ..Body::default()
//! };
//! let scene = Scene { bodies: vec![body], ..Scene::default() };
//! let model = ModelBuilder::new(&scene).build()?;
//! let mut simulation = Simulation::new(model);
//! for _ in 0..10 {
//!     simulation.step();
//! }
//! assert!(simulation.measures().lowest < 0.0);
//! # Ok::<(), souple::SceneError>(())
//! ```
//!
//! The nouns: a [`scene::Scene`] is what the user wrote, [`ModelBuilder`] checks and compiles it to an immutable
//! [`Model`], [`State`] is all that changes and all that a snapshot saves, [`Control`] is what is imposed from outside
//! during a step, [`contact::Contacts`] what was touched. [`Simulation::step`] is one page.
//!
//! Units are SI everywhere. The same scene gives the same bits for any number of threads.

mod adopt;
mod advance;
mod builder;
mod bytes;
pub mod check;
mod command;
pub mod contact;
mod control;
mod coupled;
pub mod energy;
mod error;
pub mod fabrics;
pub mod graph;
pub mod health;
mod island;
mod lanes;
pub mod mapping;
pub mod math;
pub mod measure;
pub mod mesh;
pub mod model;
pub mod motion;
pub mod paper;
pub mod parallel;
mod profile;
mod recording;
pub mod refine;
pub mod rigid;
pub mod scene;
mod simulation;
pub mod skin;
pub mod snapshot;
pub mod solver;
mod state;
pub mod wrinkles;

pub use adopt::Misfit;
pub use builder::ModelBuilder;
pub use command::{Command, MAX_SELECTION};
pub use control::{Control, PinTarget};
pub use error::{Error, SceneError};
pub use health::{Warning, WarningKind};
pub use measure::Measures;
pub use model::Model;
pub use profile::{Profile, Stage};
pub use recording::{LoggedCommand, Recording};
pub use simulation::Simulation;
pub use state::{BodyState, Fan, Grab, PinnedVertex, State};
