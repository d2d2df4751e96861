//! Numbers of files that are text or binary, read the same way: what Gmsh and VTK files share.
//!
//! In text every number is the next word, on whatever line; in binary it has a type and a byte order. Nothing here allocates:
//! counts that a file announces are held against the bytes that are left by [`Numbers::room`] before anything is kept for them.

use super::reader::{Words, excerpt, parse_number};
use super::{ImportError, MeshFormat, Place, cut_short, malformed};

/// The type of a binary number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F32,
    F64,
}

impl Scalar {
    /// Size of a number, bytes.
    pub(super) fn bytes(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// The value of bytes; none if there are too few. Whole numbers beyond 2^53 lose digits, and are no index of anything.
    pub(super) fn value(self, bytes: &[u8], big_endian: bool) -> Option<f64> {
        fn ordered<const N: usize>(bytes: &[u8], big_endian: bool) -> Option<[u8; N]> {
            let mut bytes: [u8; N] = *bytes.first_chunk()?;
            if big_endian {
                bytes.reverse();
            }
            Some(bytes)
        }
        Some(match self {
            Scalar::I8 => f64::from(i8::from_le_bytes(*bytes.first_chunk()?)),
            Scalar::U8 => f64::from(*bytes.first()?),
            Scalar::I16 => f64::from(i16::from_le_bytes(ordered(bytes, big_endian)?)),
            Scalar::U16 => f64::from(u16::from_le_bytes(ordered(bytes, big_endian)?)),
            Scalar::I32 => f64::from(i32::from_le_bytes(ordered(bytes, big_endian)?)),
            Scalar::U32 => f64::from(u32::from_le_bytes(ordered(bytes, big_endian)?)),
            Scalar::I64 => i64::from_le_bytes(ordered(bytes, big_endian)?) as f64,
            Scalar::U64 => u64::from_le_bytes(ordered(bytes, big_endian)?) as f64,
            Scalar::F32 => f64::from(f32::from_le_bytes(ordered(bytes, big_endian)?)),
            Scalar::F64 => f64::from_le_bytes(ordered(bytes, big_endian)?),
        })
    }
}

/// The whole number that a value is, if it is one and not negative.
pub(super) fn whole(value: f64) -> Option<u64> {
    const LARGEST: f64 = 9_007_199_254_740_992.0; // 2^53: beyond it not every whole number has a float
    ((0.0..=LARGEST).contains(&value) && value.trunc() == value).then_some(value as u64)
}

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    Binary { big_endian: bool },
}

/// Walks through the numbers of a file; its words are there for what is text in binary files too.
pub(super) struct Numbers<'a> {
    pub(super) words: Words<'a>,
    pub(super) encoding: Encoding,
    format: MeshFormat,
}

impl<'a> Numbers<'a> {
    pub(super) fn new(words: Words<'a>, format: MeshFormat) -> Self {
        Numbers { words, encoding: Encoding::Text, format }
    }

    /// Where the next number stands: lines cannot be counted through binary data.
    pub(super) fn place(&self) -> Place {
        match self.encoding {
            Encoding::Text => self.words.place(),
            Encoding::Binary { .. } => Place::Byte(self.words.offset()),
        }
    }

    /// The next word on any line; `what` is missing if there is none.
    pub(super) fn word(&mut self, what: &str) -> Result<&'a [u8], ImportError> {
        self.words.first_word().ok_or_else(|| self.ends_before(what, 1))
    }

    /// The next number.
    pub(super) fn number(&mut self, scalar: Scalar, what: &str) -> Result<f64, ImportError> {
        match self.encoding {
            Encoding::Text => {
                let word = self.word(what)?;
                let value = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
                value.ok_or_else(|| self.unexpected(word, what))
            }
            Encoding::Binary { big_endian } => {
                let bytes = self.words.take(scalar.bytes());
                let value = bytes.and_then(|bytes| scalar.value(bytes, big_endian));
                value.ok_or_else(|| self.ends_before(what, scalar.bytes()))
            }
        }
    }

    /// The next number, which is whole and not negative.
    pub(super) fn whole(&mut self, scalar: Scalar, what: &str) -> Result<u64, ImportError> {
        let place = self.skip_to_number();
        let value = self.number(scalar, what)?;
        whole(value).ok_or_else(|| self.not_whole(place, what, value))
    }

    /// The next number, which is whole.
    pub(super) fn signed(&mut self, scalar: Scalar, what: &str) -> Result<i64, ImportError> {
        let place = self.skip_to_number();
        let value = self.number(scalar, what)?;
        let size = whole(value.abs()).ok_or_else(|| self.not_whole(place, what, value))?;
        Ok(if value < 0.0 { -(size as i64) } else { size as i64 }) // fits: at most 2^53
    }

    /// A count that is written as text even in binary files, checked as by [`Numbers::room`].
    pub(super) fn text_count(&mut self, each: usize, what: &str) -> Result<usize, ImportError> {
        let word = self.word(what)?;
        let place = self.words.place();
        let value = parse_number(word, self.format, place)?;
        let count =
            whole(value).ok_or_else(|| self.not_whole(place, &format!("a count of {what}"), value))?;
        self.room(count, each, what)
    }

    /// Passes over numbers.
    pub(super) fn skip(&mut self, scalar: Scalar, count: usize, what: &str) -> Result<(), ImportError> {
        match self.encoding {
            Encoding::Text => (0..count).try_for_each(|_| self.word(what).map(|_| ())),
            Encoding::Binary { .. } => {
                let needed = count.saturating_mul(scalar.bytes());
                self.words.take(needed).map(|_| ()).ok_or_else(|| self.ends_before(what, needed))
            }
        }
    }

    /// Passes a count on if the file can hold so many items of `each` binary bytes; in text a number of eight bytes takes at least a
    /// digit and a separator.
    pub(super) fn room(&self, count: u64, each: usize, what: &str) -> Result<usize, ImportError> {
        let each = match self.encoding {
            Encoding::Text => 2 * each.div_ceil(8).max(1),
            Encoding::Binary { .. } => each.max(1),
        };
        let left = self.words.bytes_left();
        let needed = count.saturating_mul(each as u64);
        // The last number of a text needs no separator.
        if needed > left as u64 + 1 {
            let told = format!("{count} {what} are announced, but only {left} bytes follow");
            return Err(ImportError::Truncated {
                format: self.format,
                place: self.place(),
                what: told,
                missing: needed - left as u64,
                unit: "bytes or more",
            });
        }
        Ok(usize::try_from(count).unwrap_or(usize::MAX))
    }

    /// An error at the next number.
    pub(super) fn wrong(&self, what: impl Into<String>, fix: &'static str) -> ImportError {
        malformed(self.format, self.place(), what, fix)
    }

    /// The next word is one of a few, or it is not understood.
    pub(super) fn unexpected(&self, word: &[u8], wanted: &str) -> ImportError {
        let what = format!("'{}' stands where {wanted} is expected", excerpt(word));
        malformed(
            self.format,
            self.words.place(),
            what,
            "a count before it is wrong or the file is damaged: export it again",
        )
    }

    /// In text the line of the next number, which may not be this one.
    fn skip_to_number(&mut self) -> Place {
        if self.encoding == Encoding::Text {
            self.words.skip_empty_lines();
        }
        self.place()
    }

    fn not_whole(&self, place: Place, what: &str, value: f64) -> ImportError {
        let what = format!("{value} is no whole number that could be {what}");
        malformed(self.format, place, what, "the file is damaged or of another kind: export it again")
    }

    fn ends_before(&self, what: &str, needed: usize) -> ImportError {
        let told = format!("the file ends before {what}");
        match self.encoding {
            Encoding::Text => ImportError::Truncated {
                format: self.format,
                place: self.place(),
                what: told,
                missing: 1,
                unit: "words or more",
            },
            Encoding::Binary { .. } => {
                cut_short(self.format, self.words.offset(), told, needed as u64, self.words.bytes_left())
            }
        }
    }
}
