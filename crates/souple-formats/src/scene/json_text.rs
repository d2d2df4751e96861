//! JSON text into a tree (RFC 8259). `serde_json` judges the syntax and decodes strings; the walk below only finds
//! where the values stand, which `serde_json` does not tell.

use serde::de::IgnoredAny;

use super::error::quotable;
use super::tree::{Budget, Entry, Node, Span, SyntaxError, Value};

/// Reads JSON.
pub(super) fn parse(text: &str) -> Result<Node, SyntaxError> {
    serde_json::from_str::<IgnoredAny>(text).map_err(|error| explain(text, &error))?;
    let mut walk = Walk { text, at: 0, budget: Budget::default() };
    walk.node(0)
}

struct Walk<'a> {
    text: &'a str,
    at: usize,
    budget: Budget,
}

impl Walk<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The next byte that is not white space, stepped over.
    fn next(&mut self) -> Option<u8> {
        self.skip_space();
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn unreadable(&self, start: usize) -> SyntaxError {
        SyntaxError::new(
            start..self.at.max(start + 1),
            "this is not JSON",
            "check quotes, commas and brackets here",
        )
    }

    fn node(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        self.skip_space();
        let start = self.at;
        self.budget.enter(depth, self.peek() == Some(b'{'), start..start + 1)?;
        let value = match self.peek() {
            Some(b'{') => self.table(depth)?,
            Some(b'[') => self.list(depth)?,
            Some(b'"') => Value::Text(self.string()?),
            _ => self.literal()?,
        };
        Ok(Node { span: Span::from(start..self.at), value })
    }

    fn table(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        let start = self.at;
        self.at += 1;
        let mut entries = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                Some(b',') => self.at += 1,
                Some(b'"') => {
                    let key_start = self.at;
                    let key = self.string()?;
                    let key_span = Span::from(key_start..self.at);
                    if self.next() != Some(b':') {
                        return Err(self.unreadable(key_start));
                    }
                    entries.push(Entry { key, key_span, node: self.node(depth + 1)? });
                }
                _ => return Err(self.unreadable(start)),
            }
        }
        refuse_duplicates(&entries)?;
        Ok(Value::Table(entries))
    }

    fn list(&mut self, depth: usize) -> Result<Value, SyntaxError> {
        self.at += 1;
        let mut nodes = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                Some(b']') => {
                    self.at += 1;
                    return Ok(Value::List(nodes));
                }
                Some(b',') => self.at += 1,
                _ => nodes.push(self.node(depth + 1)?),
            }
        }
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let start = self.at;
        self.at += 1;
        loop {
            let byte = self.peek();
            self.at += 1;
            match byte {
                Some(b'"') => break,
                Some(b'\\') => self.at += 1,
                Some(_) => {}
                None => return Err(self.unreadable(start)),
            }
        }
        let quoted = self.text.get(start..self.at).unwrap_or_default();
        serde_json::from_str(quoted).map_err(|_| self.unreadable(start))
    }

    /// A number, `true`, `false` or `null`.
    fn literal(&mut self) -> Result<Value, SyntaxError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.')) {
            self.at += 1;
        }
        let word = self.text.get(start..self.at).unwrap_or_default();
        match word {
            "null" => Ok(Value::Null),
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => match (word.parse(), word.parse()) {
                (Ok(whole), _) => Ok(Value::Integer(whole)),
                (_, Ok(number)) => Ok(Value::Float(number)),
                _ => Err(self.unreadable(start)),
            },
        }
    }
}

/// JSON allows a key twice and leaves open which counts; a person who wrote it twice did not mean it.
fn refuse_duplicates(entries: &[Entry]) -> Result<(), SyntaxError> {
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|a, b| a.key.cmp(&b.key).then(a.key_span.cmp(&b.key_span)));
    let pairs = sorted.iter().zip(sorted.iter().skip(1));
    let twice =
        pairs.filter(|(a, b)| a.key == b.key).map(|(_, second)| second).min_by_key(|entry| entry.key_span);
    twice.map_or(Ok(()), |second| {
        let message = format!("duplicate key '{}'", quotable(&second.key));
        let help = "this was already written above: keep one of the two, or merge them";
        Err(SyntaxError::new(second.key_span, message, help))
    })
}

/// Says in plain words what the parser of JSON found.
fn explain(text: &str, error: &serde_json::Error) -> SyntaxError {
    let full = error.to_string();
    let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message);
    let line_start = match error.line() {
        0 | 1 => 0,
        line => text.match_indices('\n').nth(line - 2).map_or(text.len(), |(newline, _)| newline + 1),
    };
    // serde_json counts the column in bytes, from 1 at the byte that was read last.
    let at = (line_start + error.column().saturating_sub(1)).min(text.len());
    if error.is_eof() {
        let help = "a brace, bracket or quote is still open";
        return SyntaxError::new(at..at + 1, "the file ends too early", help);
    }
    let help = "check quotes, commas and brackets near here; JSON allows no comments and no comma after the last item";
    SyntaxError::new(at..at + 1, message, help)
}
