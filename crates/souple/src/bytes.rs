//! Portable bytes: little-endian numbers, counts checked before memory is taken, a checksum at the end.

use std::ops::RangeInclusive;

use glam::DVec3;

use crate::error::Error;
use crate::state::Hasher;

/// Writes a framed block: magic, version, content, checksum.
pub(crate) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn new(magic: &[u8; 8], version: u32) -> Writer {
        let mut w = Writer { bytes: magic.to_vec() };
        w.u32(version);
        w
    }

    pub(crate) fn u8(&mut self, v: u8) {
        self.bytes.push(v);
    }

    pub(crate) fn u32(&mut self, v: u32) {
        self.bytes.extend(v.to_le_bytes());
    }

    pub(crate) fn u64(&mut self, v: u64) {
        self.bytes.extend(v.to_le_bytes());
    }

    pub(crate) fn f64(&mut self, v: f64) {
        self.u64(v.to_bits());
    }

    pub(crate) fn vector(&mut self, v: DVec3) {
        v.to_array().into_iter().for_each(|c| self.f64(c));
    }

    pub(crate) fn block(&mut self, bytes: &[u8]) {
        self.u64(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Writer, &T)) {
        self.u64(items.len() as u64);
        for item in items {
            write(self, item);
        }
    }

    pub(crate) fn finish(self) -> Vec<u8> {
        with_checksum(&self.bytes)
    }
}

/// Reads what [`Writer`] wrote; every mistake is an error, never a panic.
pub(crate) struct Reader<'a> {
    what: &'static str,
    bytes: &'a [u8],
    at: usize,
    version: u32,
}

impl<'a> Reader<'a> {
    /// A reader of bytes of any of these versions.
    pub(crate) fn new(
        what: &'static str,
        magic: &[u8; 8],
        versions: RangeInclusive<u32>,
        bytes: &'a [u8],
    ) -> Result<Reader<'a>, Error> {
        let fail = |problem: String| Err(Error::Bytes { what, problem });
        if bytes.get(..8) != Some(magic) {
            return fail(format!("it does not begin like a {what} of Souple"));
        }
        let Some((content, sum)) = bytes.split_last_chunk::<8>() else {
            return fail("it is cut short".into());
        };
        let mut reader = Reader { what, bytes: content, at: 8, version: 0 };
        reader.version = reader.u32()?;
        if !versions.contains(&reader.version) {
            let newest = versions.end();
            return fail(format!(
                "it has version {}; this program reads versions up to {newest}",
                reader.version
            ));
        }
        if checksum(content) != u64::from_le_bytes(*sum) {
            return fail("its checksum is wrong: the file is damaged or cut short".into());
        }
        Ok(reader)
    }

    /// Version of the bytes.
    pub(crate) fn version(&self) -> u32 {
        self.version
    }

    pub(crate) fn fail<T>(&self, problem: impl Into<String>) -> Result<T, Error> {
        Err(Error::Bytes { what: self.what, problem: problem.into() })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        match self.bytes.get(self.at..).and_then(|rest| rest.first_chunk::<N>()) {
            Some(chunk) => {
                self.at += N;
                Ok(*chunk)
            }
            None => self.fail("it ends too early"),
        }
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.take::<1>()?[0])
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    pub(crate) fn f64(&mut self) -> Result<f64, Error> {
        let value = f64::from_bits(self.u64()?);
        if value.is_finite() { Ok(value) } else { self.fail("it holds a number that is not finite") }
    }

    pub(crate) fn vector(&mut self) -> Result<DVec3, Error> {
        Ok(DVec3::new(self.f64()?, self.f64()?, self.f64()?))
    }

    /// A count of things of at least `size` bytes each, checked against what is left.
    fn count(&mut self, size: usize) -> Result<usize, Error> {
        let count = self.u64()?;
        let left = (self.bytes.len() - self.at) as u64;
        if count.checked_mul(size as u64).is_none_or(|need| need > left) {
            return self.fail(format!("it announces {count} items, more than its size allows"));
        }
        Ok(count as usize)
    }

    pub(crate) fn block(&mut self) -> Result<&'a [u8], Error> {
        let count = self.count(1)?;
        let block = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(block)
    }

    pub(crate) fn list<T>(
        &mut self,
        size: usize,
        mut read: impl FnMut(&mut Reader<'a>) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        let count = self.count(size)?;
        (0..count).map(|_| read(self)).collect()
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        if self.at == self.bytes.len() { Ok(()) } else { self.fail("there are bytes left over at its end") }
    }
}

/// The bytes followed by their checksum.
pub(crate) fn with_checksum(bytes: &[u8]) -> Vec<u8> {
    let mut whole = bytes.to_vec();
    whole.extend(checksum(bytes).to_le_bytes());
    whole
}

fn checksum(bytes: &[u8]) -> u64 {
    let mut hash = Hasher::default();
    hash.word(bytes.len() as u64);
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        hash.word(chunk.iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)));
    }
    hash.word(chunks.remainder().iter().rev().fold(0, |w, &b| w << 8 | u64::from(b)));
    hash.finish()
}
