//! Why a file could not be read, written or understood.

use std::fmt;
use std::path::Path;

use souple_formats::scene::SceneFileError;
use thiserror::Error;

/// Why a file could not be read, written or understood: what, where, and what to do about it.
///
/// `Display` prints all of it, in several lines, as the command line and the studio show it.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum FileError {
    /// A scene is wrong, at a place in its text.
    #[error(transparent)]
    Scene(#[from] Box<SceneFileError>),
    /// Anything else.
    #[error("error: {}{}", self.message(), HelpLine(help))]
    Other {
        /// The file, or a place in it; empty when the problem says all.
        place: String,
        /// What is wrong.
        problem: String,
        /// What to do about it; empty when the problem says all.
        help: String,
    },
}

/// The line with the remedy, if there is one.
struct HelpLine<'a>(&'a str);

impl fmt::Display for HelpLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "\nhelp: {}", self.0) }
    }
}

impl FileError {
    /// Something is wrong at a place, or nowhere in particular when `place` is empty.
    pub fn new(place: impl Into<String>, problem: impl fmt::Display, help: impl Into<String>) -> FileError {
        FileError::Other { place: place.into(), problem: problem.to_string(), help: help.into() }
    }

    /// Something is wrong with a file.
    pub fn file(path: &Path, problem: impl fmt::Display, help: impl Into<String>) -> FileError {
        FileError::new(path.display().to_string(), problem, help)
    }

    /// What is wrong, in one line, with the file it is about. The place in a scene is not part of it.
    pub fn message(&self) -> String {
        match self {
            FileError::Scene(error) => error.message.clone(),
            FileError::Other { place, problem, .. } if place.is_empty() => problem.clone(),
            FileError::Other { place, problem, .. } => format!("{place}: {problem}"),
        }
    }

    /// What to do about it; may be empty.
    pub fn help(&self) -> &str {
        match self {
            FileError::Scene(error) => &error.help,
            FileError::Other { help, .. } => help,
        }
    }

    /// The same with another remedy, for a program that knows a better one, such as a flag of its own.
    pub fn with_help(mut self, remedy: &str) -> FileError {
        match &mut self {
            FileError::Scene(error) => error.help = remedy.to_owned(),
            FileError::Other { help, .. } => *help = remedy.to_owned(),
        }
        self
    }
}

impl From<SceneFileError> for FileError {
    fn from(error: SceneFileError) -> FileError {
        FileError::Scene(Box::new(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_what_where_and_what_to_do() {
        let error = FileError::file(Path::new("a.obj"), "is a folder", "name a file");
        assert_eq!(error.to_string(), "error: a.obj: is a folder\nhelp: name a file");
        assert_eq!((error.message().as_str(), error.help()), ("a.obj: is a folder", "name a file"));
        assert_eq!(error.with_help("").to_string(), "error: a.obj: is a folder");
        assert_eq!(FileError::new("", "no folder", "").to_string(), "error: no folder");
    }

    #[test]
    fn an_error_of_a_scene_shows_its_line() {
        let error = souple_formats::scene::read_scene("format = 1\nnam = 'x'\n", "x.toml").unwrap_err();
        let error = FileError::from(error);
        assert!(error.to_string().contains("--> x.toml:2:1"), "{error}");
        assert_eq!(error.help(), "did you mean 'name'?");
        assert!(error.message().contains("'nam'") && !error.message().contains('\n'));
    }
}
