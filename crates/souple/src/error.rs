//! Errors that speak to the person who wrote the scene.

use thiserror::Error;

/// A scene that cannot be simulated: which field, what is wrong with it, what would be right.
///
/// `field` is a path like `body[0].springs.stretch.stiffness`, with the names of the scene file, so that a reader of
/// files can show the line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{field}: {problem}")]
pub struct SceneError {
    /// Path of the offending field in the scene.
    pub field: String,
    /// What is wrong with it.
    pub problem: String,
    /// What would be right.
    pub help: String,
}

impl SceneError {
    /// An error about one field.
    pub fn new(field: impl Into<String>, problem: impl Into<String>, help: impl Into<String>) -> Self {
        SceneError { field: field.into(), problem: problem.into(), help: help.into() }
    }
}

/// What can go wrong with a running simulation, apart from the scene.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Error {
    /// The scene is wrong.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Saved bytes are damaged or belong to something else.
    #[error("the {what} cannot be read: {problem}")]
    Bytes {
        /// "snapshot" or "recording".
        what: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// A command was refused.
    #[error("command refused: {0}")]
    Command(String),
}
