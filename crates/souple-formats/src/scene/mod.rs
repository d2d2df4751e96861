//! Scene files: TOML for people, JSON for programs, into the same [`Scene`] (ESSI-01, ESSI-02, GRI-01).
//!
//! [`read_scene`] takes text and gives a scene, or an error that shows the file, the line, the offending text and what
//! would be right. It is strict: `format = 1` is required, unknown fields are refused with the nearest known name,
//! numbers must be finite, a key may be written once. Integers are good where any number is wanted. [`Source::explain`]
//! does the same for what the engine finds wrong later. TOML is 1.0 with the inline tables of 1.1; JSON is RFC 8259.
//! A `$schema` at the top is allowed and ignored, so that editors can find [`scene_schema`].
//!
//! Promises, for any text at all: no panic, memory in proportion to the text. It does not open files (the caller reads
//! them, see [`resolve_meshes`]) and does not judge whether the scene makes sense (the engine's `ModelBuilder` does).

mod de;
mod error;
mod json_text;
mod mesh_files;
mod schema;
mod skeleton;
mod toml_text;
mod tree;
mod write;

pub use error::{Excerpt, SceneFileError};
pub use mesh_files::{
    PathProblem, beside_path, read_mesh_file, read_paints, read_rig_file, read_volume_file, resolve_meshes,
    safe_relative_path, tetgen_pair,
};
pub use schema::scene_schema;
pub use skeleton::{MAX_SKELETON_BYTES, read_skeleton};
pub use write::write_scene_toml;

use serde::de::DeserializeOwned;
use souple::SceneError;
use souple::scene::{SCENE_FORMAT, Scene};

use error::{Problem, printable};
use tree::{Node, Span, SyntaxError, Value};

/// Largest scene file that is read, bytes: room for a mesh of 200 000 vertices; larger ones belong in mesh files. The
/// parsers need up to 90 times the size of the text, so that the worst file takes 1.4 GB for a moment.
pub const MAX_SCENE_BYTES: usize = 16 << 20;

/// A scene and the text it came from.
#[derive(Clone, Debug)]
pub struct SceneFile {
    /// The scene, not yet validated by the engine.
    pub scene: Scene,
    /// The text, to show where later errors are.
    pub source: Source,
}

/// The text of a scene file, kept to show lines of it in errors.
#[derive(Clone, Debug)]
pub struct Source {
    file_name: String,
    text: String,
    syntax: Syntax,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Syntax {
    Toml,
    Json,
}

impl Syntax {
    fn of(file_name: &str) -> Self {
        let is_json = file_name.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("json"));
        if is_json { Syntax::Json } else { Syntax::Toml }
    }

    /// The least that a scene needs.
    fn format_line(self) -> &'static str {
        match self {
            Syntax::Toml => "format = 1",
            Syntax::Json => "\"format\": 1",
        }
    }
}

/// Reads a scene. A file name that ends in `.json` means JSON, any other means TOML.
///
/// ```
/// use souple_formats::scene::read_scene;
/// let file = read_scene("format = 1\nname = 'flag'\n", "flag.toml").unwrap();
/// assert_eq!(file.scene.name, "flag");
/// let error = read_scene("format = 1\nnam = 'flag'\n", "flag.toml").unwrap_err();
/// assert_eq!((error.line, error.column), (2, 1));
/// assert_eq!(error.help, "did you mean 'name'?");
/// ```
pub fn read_scene(text: &str, file_name: &str) -> Result<SceneFile, SceneFileError> {
    let (scene, source) = read_text(text, file_name)?;
    Ok(SceneFile { scene, source })
}

fn read_text<T: DeserializeOwned>(text: &str, file_name: &str) -> Result<(T, Source), SceneFileError> {
    check_size(text.len(), file_name)?;
    // Some editors of Windows put a byte order mark in front, which is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let source =
        Source { file_name: file_name.to_owned(), text: text.to_owned(), syntax: Syntax::of(file_name) };
    let mut root = source.tree().map_err(|error| source.error(error.span, error.problem))?;
    source.check_format(&mut root)?;
    match de::from_node(&root) {
        Ok(read) => Ok((read, source)),
        Err(error) => Err(source.error(error.span, error.into_problem(source.syntax))),
    }
}

/// Reads a scene from the bytes of a file, which must be UTF-8; see [`read_scene`].
pub fn read_scene_bytes(bytes: &[u8], file_name: &str) -> Result<SceneFile, SceneFileError> {
    check_size(bytes.len(), file_name)?;
    read_scene(utf8(bytes, file_name)?, file_name)
}

fn utf8<'a>(bytes: &'a [u8], file_name: &str) -> Result<&'a str, SceneFileError> {
    str::from_utf8(bytes).map_err(|error| {
        let text = String::from_utf8_lossy(bytes);
        let at = error.valid_up_to();
        let problem = Problem::new("this byte is not UTF-8 text", "save the scene as UTF-8");
        SceneFileError::new(file_name, &text, Some(at..at + 1), problem)
    })
}

fn check_size(bytes: usize, file_name: &str) -> Result<(), SceneFileError> {
    if bytes <= MAX_SCENE_BYTES {
        return Ok(());
    }
    let message = format!("the scene has {bytes} bytes; at most {MAX_SCENE_BYTES} are read");
    let help =
        "put large meshes in files of their own and name them with `shape = { file = { path = \"...\" } }`";
    Err(SceneFileError::new(file_name, "", None, Problem::new(message, help)))
}

impl Source {
    /// Name of the file, as given to [`read_scene`].
    pub fn file_name(&self) -> &str {
        &self.file_name
    }

    /// The whole text, without a byte order mark.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Shows where in the file a field stands that the engine finds wrong. A field left at its default is not in the
    /// file: then the innermost table around it is shown, and without any the file as a whole.
    pub fn explain(&self, error: &SceneError) -> SceneFileError {
        // Parsing once more costs less than keeping the tree of every scene for an error that may never come.
        let span = self.tree().ok().and_then(|root| root.locate(&error.field));
        let message = if error.field.is_empty() { error.problem.clone() } else { error.to_string() };
        let (message, help, field) = (printable(&message), printable(&error.help), printable(&error.field));
        self.error(span, Problem { message, help, field })
    }

    fn tree(&self) -> Result<Node, SyntaxError> {
        if self.text.trim().is_empty() {
            return Err(SyntaxError { span: None, problem: self.empty() });
        }
        match self.syntax {
            Syntax::Toml => toml_text::parse(&self.text),
            Syntax::Json => json_text::parse(&self.text),
        }
    }

    fn empty(&self) -> Problem {
        Problem::new("the scene is empty", format!("a scene needs at least `{}`", self.syntax.format_line()))
    }

    /// Checks the version before anything else, as a later format may have other fields. Takes `$schema` away.
    fn check_format(&self, root: &mut Node) -> Result<(), SceneFileError> {
        let Value::Table(entries) = &mut root.value else {
            let problem = Problem::new("a scene is an object", "write it in braces: { \"format\": 1, ... }");
            return Err(self.error(Some(root.span), problem));
        };
        entries.retain(|entry| !(entry.key == "$schema" && matches!(entry.node.value, Value::Text(_))));
        if entries.is_empty() {
            return Err(self.error(None, self.empty()));
        }
        let Some(format) = root.entry("format") else {
            let first = match self.syntax {
                Syntax::Toml => "line",
                Syntax::Json => "entry",
            };
            let help = format!("add `{}` as the first {first}", self.syntax.format_line());
            let problem =
                Problem { field: "format".into(), ..Problem::new("the scene does not say its format", help) };
            return Err(self.error(None, problem));
        };
        let message = match format.node.value {
            Value::Integer(version) if version == i64::from(SCENE_FORMAT) => return Ok(()),
            Value::Integer(version) => {
                format!("the scene is of format {version}; this program reads format {SCENE_FORMAT}")
            }
            _ => format!("format: this program reads format {SCENE_FORMAT}"),
        };
        let help = match format.node.value {
            Value::Integer(version) if version > i64::from(SCENE_FORMAT) => {
                "use a newer version of the program".into()
            }
            _ => format!("write `{}`", self.syntax.format_line()),
        };
        let problem = Problem { field: "format".into(), ..Problem::new(message, help) };
        Err(self.error(Some(format.node.span), problem))
    }

    fn error(&self, span: Option<Span>, problem: Problem) -> SceneFileError {
        SceneFileError::new(&self.file_name, &self.text, span.map(Span::range), problem)
    }
}
