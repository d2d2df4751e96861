//! A scene file as a tree of values that know where in the text they stand, whether it was TOML or JSON.

use std::ops::Range;

use super::error::Problem;

/// Deepest nesting of tables and lists; a scene needs fewer than 10.
pub(super) const MAX_DEPTH: usize = 64;

/// Most tables of a file. A table of three bytes can become a body with all its defaults, hundreds of times as large.
pub(super) const MAX_TABLES: usize = 200_000;

/// Bytes of the text. `u32` is enough for the largest file that is read and halves the size of the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

impl From<Range<usize>> for Span {
    fn from(range: Range<usize>) -> Self {
        let clamp = |offset| u32::try_from(offset).unwrap_or(u32::MAX);
        Span { start: clamp(range.start), end: clamp(range.end) }
    }
}

/// A value and where it stands. The span of a TOML table with a header is the header.
#[derive(Debug)]
pub(super) struct Node {
    pub span: Span,
    pub value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    /// A date of TOML, which no field of a scene wants.
    Date,
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<Entry>),
}

#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_span: Span,
    pub node: Node,
}

/// Why a text is not a tree.
#[derive(Debug)]
pub(super) struct SyntaxError {
    pub span: Option<Span>,
    pub problem: Problem,
}

impl SyntaxError {
    pub fn new(span: impl Into<Span>, message: impl Into<String>, help: impl Into<String>) -> Self {
        SyntaxError { span: Some(span.into()), problem: Problem::new(message, help) }
    }

    pub fn too_deep(span: impl Into<Span>) -> Self {
        Self::new(
            span,
            "tables and lists are nested too deeply",
            format!("at most {MAX_DEPTH} levels can be read"),
        )
    }
}

/// Keeps count of what a file may hold.
#[derive(Debug, Default)]
pub(super) struct Budget {
    tables: usize,
}

impl Budget {
    /// Counts a value at a depth; the root is at depth 0.
    pub fn enter(&mut self, depth: usize, is_table: bool, span: impl Into<Span>) -> Result<(), SyntaxError> {
        self.tables += usize::from(is_table);
        if depth > MAX_DEPTH {
            return Err(SyntaxError::too_deep(span));
        }
        if self.tables > MAX_TABLES {
            let help = format!("at most {MAX_TABLES} can be read; large meshes belong in files of their own");
            return Err(SyntaxError::new(span, "the scene has too many tables", help));
        }
        Ok(())
    }
}

impl Node {
    /// The entry of a table with this key.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|entry| entry.key == key),
            _ => None,
        }
    }

    /// The place of a field such as `body[0].pin[1].select`, or of the longest part of its path that is in the file;
    /// nothing when not even the first part is.
    pub fn locate(&self, path: &str) -> Option<Span> {
        let (mut node, mut place) = (self, None);
        for step in steps(path) {
            match (step, &node.value) {
                (Step::Key(key), Value::Table(_)) => {
                    let Some(entry) = node.entry(key) else { break };
                    node = &entry.node;
                    place = Some(match node.value {
                        // The whole of a JSON object says less than its key; TOML tables have their header as span.
                        Value::Table(_) | Value::List(_) if node.span.start > entry.key_span.end => {
                            entry.key_span
                        }
                        _ => node.span,
                    });
                }
                (Step::Index(index), Value::List(nodes)) => {
                    let Some(found) = nodes.get(index) else { break };
                    node = found;
                    place = Some(node.span);
                }
                _ => break,
            }
        }
        place
    }
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

/// The steps of a path; stops at the first part that is not one.
fn steps(path: &str) -> impl Iterator<Item = Step<'_>> {
    path.split('.').flat_map(|part| {
        let (key, indices) = part.split_once('[').unwrap_or((part, ""));
        let key = (!key.is_empty()).then_some(Step::Key(key));
        // An index that is no number leads nowhere, so that the search ends there.
        let indices = indices.split('[').filter(|index| !index.is_empty());
        let indices =
            indices.map(|index| Step::Index(index.trim_end_matches(']').parse().unwrap_or(usize::MAX)));
        key.into_iter().chain(indices)
    })
}
