//! What ends a command early: the scene or another input is wrong, or the command line itself.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use souple_files::FileError;
use souple_formats::scene::SceneFileError;

/// How a command ends: its exit code, or why it could not do its work.
pub type Outcome = Result<ExitCode, Failure>;

/// Exit code of a command whose check failed.
pub const CHECK_FAILED: u8 = 3;

/// Why a command could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// A scene is wrong, at a place in its file.
    Scene(Box<SceneFileError>),
    /// Anything else that was given is wrong, or a file cannot be read or written.
    Input {
        /// What is wrong, with the file it is about.
        message: String,
        /// What to do about it; empty when the message says all.
        help: String,
    },
    /// Options that do not go together.
    Usage(String),
}

impl Failure {
    /// Something that was given is wrong.
    pub fn input(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Input { message: message.into(), help: help.into() }
    }

    /// Something is wrong with a file.
    pub fn file(path: &Path, problem: impl std::fmt::Display, help: impl Into<String>) -> Failure {
        Failure::input(format!("{}: {problem}", path.display()), help)
    }

    /// The exit code that goes with it.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Failure::Scene(_) | Failure::Input { .. } => ExitCode::from(1),
            Failure::Usage(_) => ExitCode::from(2),
        }
    }

    /// What is wrong, in one line.
    pub fn message(&self) -> String {
        match self {
            Failure::Scene(error) => error.message.clone(),
            Failure::Input { message, .. } | Failure::Usage(message) => message.clone(),
        }
    }

    /// For programs: `{"error": {...}}`.
    pub fn to_json(&self) -> Value {
        match self {
            Failure::Scene(error) => json!({ "error": error }),
            Failure::Input { message, help } => json!({ "error": { "message": message, "help": help } }),
            Failure::Usage(message) => json!({ "error": { "message": message, "help": "" } }),
        }
    }
}

impl From<SceneFileError> for Failure {
    fn from(error: SceneFileError) -> Failure {
        Failure::Scene(Box::new(error))
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Failure {
        match error {
            FileError::Scene(error) => Failure::Scene(error),
            other => Failure::input(other.message(), other.help()),
        }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Failure::Scene(error) => error.fmt(f),
            Failure::Input { message, help } if help.is_empty() => write!(f, "error: {message}"),
            Failure::Input { message, help } => write!(f, "error: {message}\nhelp: {help}"),
            Failure::Usage(message) => {
                write!(f, "error: {message}\n\nFor more information, try '--help'.")
            }
        }
    }
}
