//! What the readers share: words of a text with line numbers, and a cursor over binary bytes. Neither can panic,
//! whatever the bytes are, and neither needs the text to be UTF-8.

use std::borrow::Cow;

use super::{ImportError, MeshFormat, Place, malformed};

/// Walks through a text word by word and line by line. Lines end with LF, CRLF or CR.
#[derive(Clone)]
pub(super) struct Words<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
    obj_rules: bool,
    comments: bool,
}

impl<'a> Words<'a> {
    /// Starts at byte `at`, which is on line `line`.
    pub(super) fn new(bytes: &'a [u8], at: usize, line: usize) -> Self {
        Words { bytes, at, line, obj_rules: false, comments: false }
    }

    /// Starts at the beginning, with the rules of OBJ: `#` opens a comment, a backslash at the end of a line joins it
    /// to the next one (not in a comment, where paths may end so).
    pub(super) fn with_obj_rules(bytes: &'a [u8]) -> Self {
        Words { obj_rules: true, comments: true, ..Words::new(bytes, 0, 1) }
    }

    /// The line the next word stands on.
    pub(super) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// The next word on this line; none at its end.
    pub(super) fn word(&mut self) -> Option<&'a [u8]> {
        loop {
            match self.peek(0)? {
                b' ' | b'\t' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.is_continuation() => {
                    self.at += 1;
                    self.end_line();
                }
                b'\n' | b'\r' => return None,
                b'#' if self.comments => return None,
                _ => break,
            }
        }
        let start = self.at;
        while let Some(byte) = self.peek(0) {
            match byte {
                b' ' | b'\t' | 0x0b | 0x0c | b'\n' | b'\r' => break,
                b'#' if self.comments => break,
                b'\\' if self.is_continuation() => break,
                _ => self.at += 1,
            }
        }
        self.bytes.get(start..self.at)
    }

    /// Goes to the start of the next line, past what is left of this one. False at the end of the text.
    pub(super) fn next_line(&mut self) -> bool {
        while self.word().is_some() {}
        while !matches!(self.peek(0), None | Some(b'\n' | b'\r')) {
            self.at += 1; // the rest of a comment
        }
        self.end_line();
        self.at < self.bytes.len()
    }

    /// The first word of the next line that has one, this line included if nothing of it was read yet.
    pub(super) fn first_word(&mut self) -> Option<&'a [u8]> {
        loop {
            if let Some(word) = self.word() {
                return Some(word);
            }
            if !self.next_line() {
                return None;
            }
        }
    }

    /// Goes to the next line that has a word, if nothing of this one was read yet. False if no word is left.
    pub(super) fn skip_empty_lines(&mut self) -> bool {
        match self.first_word() {
            Some(word) => {
                self.at -= word.len();
                true
            }
            None => false,
        }
    }

    /// Offset in the file of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// Starts with the rules of most text formats: `#` opens a comment, and nothing joins lines.
    pub(super) fn with_comments(bytes: &'a [u8]) -> Self {
        Words { comments: true, ..Words::new(bytes, 0, 1) }
    }

    /// The next `count` bytes, whatever they are; none if there are fewer. Line ends in them are not counted.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    /// Goes just past the next `needle`, whatever is before it. False, and nothing changes, if there is none.
    pub(super) fn skip_past(&mut self, needle: &[u8]) -> bool {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        match find(left, needle) {
            Some(found) => {
                self.at += found + needle.len();
                true
            }
            None => false,
        }
    }

    /// Goes to the start of the next line, past whatever bytes there are in this one; only LF and CRLF end it.
    pub(super) fn skip_line_before_binary(&mut self) {
        while let Some(byte) = self.peek(0) {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                return;
            }
        }
    }

    /// How many bytes were not read yet.
    pub(super) fn bytes_left(&self) -> usize {
        self.bytes.len().saturating_sub(self.at)
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn is_continuation(&self) -> bool {
        self.obj_rules && matches!(self.peek(1), Some(b'\n' | b'\r'))
    }

    fn end_line(&mut self) {
        match self.peek(0) {
            Some(b'\r') if self.peek(1) == Some(b'\n') => self.at += 2,
            Some(_) => self.at += 1,
            None => return,
        }
        self.line += 1;
    }
}

/// Where `needle` begins in `hay` for the first time.
pub(super) fn find(hay: &[u8], needle: &[u8]) -> Option<usize> {
    let first = *needle.first()?;
    let mut from = 0;
    while let Some(at) = hay.get(from..)?.iter().position(|&byte| byte == first) {
        if hay.get(from + at..)?.starts_with(needle) {
            return Some(from + at);
        }
        from += at + 1;
    }
    None
}

/// Reads a number; NaN and infinity pass, callers that need finite numbers check.
pub(super) fn parse_number(word: &[u8], format: MeshFormat, place: Place) -> Result<f64, ImportError> {
    std::str::from_utf8(word).ok().and_then(|text| text.parse().ok()).ok_or_else(|| {
        let what = format!("'{}' is not a number", excerpt(word));
        malformed(format, place, what, "write numbers like 0.25 or 2.5e-1")
    })
}

/// The start of some text from a file, safe to print in a message.
pub(super) fn excerpt(word: &[u8]) -> String {
    const LONGEST: usize = 32;
    let (shown, more) = match word.get(..LONGEST) {
        Some(start) if word.len() > LONGEST => (start, "..."),
        _ => (word, ""),
    };
    let text: Cow<'_, str> = String::from_utf8_lossy(shown);
    format!("{}{more}", text.escape_debug())
}

/// Walks through binary data.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    left: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// Starts at byte `at` of the file and ends with it.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Cursor { left: bytes.get(at..).unwrap_or_default(), at }
    }

    /// Offset in the file of the next byte.
    pub(super) fn offset(&self) -> usize {
        self.at
    }

    /// What was not read yet.
    pub(super) fn left(&self) -> &'a [u8] {
        self.left
    }

    /// The next `count` bytes, or none if there are fewer.
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.left.split_at_checked(count)?;
        self.left = tail;
        self.at += count;
        Some(head)
    }

    /// A cursor over the next `count` bytes only, which this one passes.
    pub(super) fn split(&mut self, count: usize) -> Option<Cursor<'a>> {
        let at = self.at;
        self.take(count).map(|left| Cursor { left, at })
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.left.split_first_chunk::<N>()?;
        self.left = tail;
        self.at += N;
        Some(*head)
    }

    /// The next two bytes, little-endian.
    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// The next four bytes, little-endian.
    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next `N` little-endian 32-bit floats.
    pub(super) fn floats<const N: usize>(&mut self) -> Option<[f64; N]> {
        let mut values = [0.0; N];
        for value in &mut values {
            *value = f64::from(f32::from_le_bytes(self.array()?));
        }
        Some(values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], obj_rules: bool) -> Vec<(usize, Vec<String>)> {
        let mut words = Words { obj_rules, comments: obj_rules, ..Words::new(text, 0, 1) };
        let mut out = Vec::new();
        while let Some(first) = words.first_word() {
            let Place::Line(line) = words.place() else { unreachable!() };
            let rest = std::iter::from_fn(|| words.word());
            out.push((line, std::iter::once(first).chain(rest).map(excerpt).collect()));
        }
        out
    }

    #[test]
    fn every_kind_of_line_end_counts_once() {
        let expected = [(1, vec!["a".to_string()]), (2, vec!["b".into(), "c".into()]), (4, vec!["d".into()])];
        for end in ["\n", "\r\n", "\r"] {
            let text = ["a", "b \tc", "", "d"].join(end);
            assert_eq!(lines(text.as_bytes(), false), expected, "{end:?}");
        }
    }

    #[test]
    fn backslashes_join_lines_of_obj_but_not_comments() {
        let text = b"f 1\\\r\n 2 \\\n3 # path\\\n# dir\\\nv 1\\2\n\\\n\\";
        let found = lines(text, true).into_iter().map(|(line, words)| (line, words.join(" ")));
        let expected = [(1, "f 1 2 3"), (5, "v 1\\\\2"), (7, "\\\\")];
        assert_eq!(found.collect::<Vec<_>>(), expected.map(|(line, words)| (line, words.to_string())));
        assert_eq!(lines(b"a \\\nb # c", false).len(), 2);
    }

    #[test]
    fn excerpts_are_short_and_printable() {
        assert_eq!(excerpt(b"abc"), "abc");
        assert_eq!(excerpt(b"\x1b[2J\xff\0"), "\\u{1b}[2J\u{fffd}\\0");
        assert!(excerpt(&[b'x'; 5000]).len() < 40);
    }

    #[test]
    fn cursors_stop_at_the_end() {
        let mut cursor = Cursor::new(&[9, 1, 2, 3, 4, 5], 1);
        assert_eq!(cursor.u16(), Some(0x0201));
        assert_eq!(cursor.u32(), None);
        assert_eq!((cursor.offset(), cursor.left()), (3, &[3u8, 4, 5][..]));
        let mut part = cursor.split(2).unwrap();
        assert_eq!((part.offset(), part.u16(), part.u16()), (3, Some(0x0403), None));
        assert_eq!((cursor.offset(), cursor.take(2), cursor.take(1)), (5, None, Some(&[5u8][..])));
        assert!(Cursor::new(&[1], 9).left().is_empty());
    }
}
