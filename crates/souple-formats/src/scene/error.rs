//! Errors about scene files, shown as a compiler shows them: what, where, the line itself, and what would be right.

use std::fmt;
use std::ops::Range;

use serde::Serialize;

/// Most characters of a source line that an error shows; longer lines are cut around the offending text.
const MAX_SHOWN: usize = 100;
/// How many characters before the offending text stay when a long line is cut.
const SHOWN_BEFORE: usize = 30;
/// Longest piece of the file's own text that is repeated inside a message.
const MAX_QUOTED: usize = 40;

/// A scene file that cannot be read or simulated: where it is wrong, what is wrong, what would be right.
///
/// `Display` prints several lines of plain text in the manner of rustc, without a newline at the end. The parts are
/// fields, so that a program can show them in its own way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SceneFileError {
    /// Name of the file, as given by the caller.
    pub file: String,
    /// Line, counted from 1; 1 when the problem is with the file as a whole.
    pub line: usize,
    /// Column in characters, counted from 1; 1 when the problem is with the file as a whole.
    pub column: usize,
    /// What is wrong, in one line.
    pub message: String,
    /// What would be right; empty when there is nothing to say.
    pub help: String,
    /// Path of the offending field, as in `body[0].springs.stretch.stiffness`; empty when no field is to blame.
    pub field: String,
    /// The offending line, or nothing when the problem is with the file as a whole.
    pub excerpt: Option<Box<Excerpt>>,
}

/// A line of the file with the offending part of it, made safe to print: no tabs, no control characters, not too long.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Excerpt {
    /// The line.
    pub text: String,
    /// How many characters of `text` come before the offending part.
    pub start: usize,
    /// How many characters are offending; at least 1, and possibly just past the end of the line.
    pub length: usize,
}

impl SceneFileError {
    /// An error about the bytes `span` of `text`, or about the whole file without a span.
    pub(super) fn new(file: &str, text: &str, span: Option<Range<usize>>, problem: Problem) -> Self {
        let (line, column, excerpt) = match span {
            Some(span) => {
                let (line, column, excerpt) = excerpt(text, span);
                (line, column, Some(Box::new(excerpt)))
            }
            None => (1, 1, None),
        };
        let Problem { message, help, field } = problem;
        SceneFileError { file: printable(file), line, column, message, help, field, excerpt }
    }
}

impl fmt::Display for SceneFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.message)?;
        match &self.excerpt {
            Some(excerpt) => {
                let number = self.line.to_string();
                let gutter = " ".repeat(number.len());
                write!(f, "\n{gutter}--> {}:{}:{}", self.file, self.line, self.column)?;
                write!(f, "\n{gutter} |")?;
                write!(f, "\n{number} | {}", excerpt.text)?;
                let (blank, carets) = (" ".repeat(excerpt.start), "^".repeat(excerpt.length));
                write!(f, "\n{gutter} | {blank}{carets}")?;
            }
            None => write!(f, "\n --> {}", self.file)?,
        }
        if !self.help.is_empty() {
            write!(f, "\nhelp: {}", self.help)?;
        }
        Ok(())
    }
}

impl std::error::Error for SceneFileError {}

/// What an error says, before it is known where.
#[derive(Clone, Debug, Default)]
pub(super) struct Problem {
    pub message: String,
    pub help: String,
    pub field: String,
}

impl Problem {
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Problem { message: message.into(), help: help.into(), field: String::new() }
    }
}

/// Line and column (from 1, in characters) of a span, and the line to show.
fn excerpt(text: &str, span: Range<usize>) -> (usize, usize, Excerpt) {
    let start = floor_char_boundary(text, span.start);
    let end = floor_char_boundary(text, span.end).max(start);
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_number = text[..line_start].bytes().filter(|&byte| byte == b'\n').count() + 1;
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    let line = text[line_start..line_end].trim_end_matches('\r');

    // Only the first line of a longer span is shown.
    let end = end.min(line_start + line.len());
    let column = text[line_start..start].chars().count();
    let length = text.get(start..end).map_or(0, |part| part.chars().count()).max(1);
    (line_number, column + 1, shorten(line, column, length))
}

/// Cuts a long line around its offending part and replaces what would not print.
fn shorten(line: &str, column: usize, length: usize) -> Excerpt {
    let first = if column + length > MAX_SHOWN { column.saturating_sub(SHOWN_BEFORE) } else { 0 };
    let mut shown = Excerpt { text: String::new(), start: 0, length: 0 };
    if first > 0 {
        shown.text.push_str("... ");
        shown.start += 4;
    }
    let mut rest = line.chars().skip(first);
    for (index, character) in (first..).zip(rest.by_ref().take(MAX_SHOWN)) {
        // A tab is shown as four spaces, as its true width is up to the terminal.
        let width = if character == '\t' { 4 } else { 1 };
        match character {
            '\t' => shown.text.push_str("    "),
            other => shown.text.push(printable_char(other)),
        }
        if index < column {
            shown.start += width;
        } else if index < column + length {
            shown.length += width;
        }
    }
    if rest.next().is_some() {
        shown.text.push_str(" ...");
    }
    shown.length = shown.length.max(1);
    shown
}

/// The largest character boundary of `text` not above `index`.
fn floor_char_boundary(text: &str, index: usize) -> usize {
    let mut index = index.min(text.len());
    while !text.is_char_boundary(index) {
        index -= 1;
    }
    index
}

/// The same character, unless it could move the cursor, colour the terminal or reorder the line.
fn printable_char(character: char) -> char {
    let reorders =
        matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if character.is_control() || reorders || matches!(character, '\u{2028}' | '\u{2029}') {
        '\u{fffd}'
    } else {
        character
    }
}

/// Text of the user made safe to print in one line.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(printable_char).collect()
}

/// Text of the user made safe to print inside a message: printable and not too long.
pub(super) fn quotable(text: &str) -> String {
    let mut quoted: String = text.chars().take(MAX_QUOTED).map(printable_char).collect();
    if text.chars().nth(MAX_QUOTED).is_some() {
        quoted.push_str("...");
    }
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Range<usize>) -> String {
        SceneFileError::new("f.toml", text, Some(span), Problem::new("m", "")).to_string()
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let text = "é = 'ü' # x\r\n";
        let x = text.find('x').unwrap();
        assert_eq!(
            shown(text, x..x + 1),
            "error: m\n --> f.toml:1:11\n  |\n1 | é = 'ü' # x\n  |           ^"
        );
    }

    #[test]
    fn tabs_and_control_characters_do_not_shift_the_carets() {
        let text = "\ta\t= \u{1b}[31m1";
        assert_eq!(
            shown(text, 5..11),
            "error: m\n --> f.toml:1:6\n  |\n1 |     a    = \u{fffd}[31m1\n  |            ^^^^^^"
        );
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let text = format!("{}!{}", "a".repeat(1000), "b".repeat(1000));
        let error = SceneFileError::new("f", &text, Some(1000..1001), Problem::default());
        let excerpt = error.excerpt.unwrap();
        assert_eq!(error.column, 1001);
        assert_eq!(excerpt.text.chars().nth(excerpt.start), Some('!'));
        assert_eq!(excerpt.length, 1);
        assert_eq!(excerpt.text.chars().count(), MAX_SHOWN + 8);
    }

    #[test]
    fn any_span_is_shown_without_panic() {
        let text = "é\r\nü\n\n";
        for start in 0..12 {
            for end in 0..12 {
                assert!(shown(text, start..end).contains('^'));
            }
        }
    }
}
