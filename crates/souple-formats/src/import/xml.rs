//! As much of XML as VTU files need: tags with their attributes, and the text between them, as bytes.
//!
//! Comments, declarations and processing instructions are passed over. Entities are not resolved, nesting is not checked, and
//! the bytes between tags may be anything: appended raw data is not XML. Nothing is allocated but a list of attributes.

use super::reader::find;

/// A tag.
pub(super) struct Tag<'a> {
    /// Its name; that of a closing tag begins with `/`.
    pub(super) name: &'a [u8],
    attributes: Vec<(&'a [u8], &'a [u8])>,
    /// Where its `<` stands in the file.
    pub(super) at: usize,
    /// Whether it ends with `/>` and has no content.
    pub(super) is_empty: bool,
}

impl<'a> Tag<'a> {
    /// The value of an attribute.
    pub(super) fn get(&self, name: &str) -> Option<&'a [u8]> {
        self.attributes.iter().find(|(key, _)| *key == name.as_bytes()).map(|(_, value)| *value)
    }

    /// The same as text; none if it is not text.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        self.get(name).and_then(|value| std::str::from_utf8(value).ok())
    }
}

/// Walks through the tags of a file.
pub(super) struct Tags<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tags<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Tags { bytes, at: 0 }
    }

    /// Offset of the first byte after the last tag.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// The next tag; none at the end, or if one does not end.
    pub(super) fn next_tag(&mut self) -> Option<Tag<'a>> {
        loop {
            let left = self.bytes.get(self.at..)?;
            let at = self.at + find(left, b"<")?;
            let left = self.bytes.get(at..)?;
            let end = match left {
                [b'<', b'!', b'-', b'-', ..] => find(left, b"-->")? + 3,
                [b'<', b'?', ..] => find(left, b"?>")? + 2,
                _ => end_of_tag(left)?,
            };
            self.at = at + end;
            if !matches!(left.get(1), Some(b'!' | b'?')) {
                return Some(parse_tag(left.get(1..end - 1).unwrap_or_default(), at));
            }
        }
    }

    /// The bytes up to the next tag.
    pub(super) fn content(&self) -> &'a [u8] {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        left.get(..find(left, b"<").unwrap_or(left.len())).unwrap_or_default()
    }
}

/// Length of a tag, up to its `>`; those in quotes do not end it.
fn end_of_tag(tag: &[u8]) -> Option<usize> {
    let mut quote = None;
    for (i, &byte) in tag.iter().enumerate() {
        match (quote, byte) {
            (None, b'>') => return Some(i + 1),
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), _) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// Takes apart what is between `<` and `>`.
fn parse_tag(inside: &[u8], at: usize) -> Tag<'_> {
    let (inside, is_empty) = match inside.strip_suffix(b"/") {
        Some(inside) if !inside.is_empty() => (inside, true),
        _ => (inside, false),
    };
    let end = inside.iter().position(u8::is_ascii_whitespace).unwrap_or(inside.len());
    let (name, mut rest) = inside.split_at_checked(end).unwrap_or((inside, &[]));
    let mut attributes = Vec::new();
    while let Some(equals) = find(rest, b"=") {
        let (key, value) = rest.split_at_checked(equals).unwrap_or_default();
        let value = value.get(1..).unwrap_or_default().trim_ascii_start();
        let Some((quote @ (b'"' | b'\''), value)) = value.split_first() else { break };
        let Some(end) = value.iter().position(|byte| byte == quote) else { break };
        attributes.push((key.trim_ascii(), value.get(..end).unwrap_or_default()));
        rest = value.get(end + 1..).unwrap_or_default();
    }
    Tag { name, attributes, at, is_empty }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_have_names_and_attributes() {
        let text = b"<?xml version='1'?><!-- <no> --><a x=\"1 > 0\" y = 'z'>text<b/></a><c";
        let mut tags = Tags::new(text);
        let a = tags.next_tag().unwrap();
        assert_eq!(
            (a.name, a.text("x"), a.get("y"), a.get("w")),
            (&b"a"[..], Some("1 > 0"), Some(&b"z"[..]), None)
        );
        assert!(!a.is_empty && tags.content() == b"text");
        let b = tags.next_tag().unwrap();
        assert!(b.is_empty && b.name == b"b" && text[b.at] == b'<');
        assert_eq!(tags.next_tag().unwrap().name, b"/a");
        assert!(tags.next_tag().is_none(), "it has no end");
    }
}
