//! Stereolithography STL, text and binary (ESSI-13), after the 3D Systems specification of 1989.
//!
//! A file is binary if its size is what its triangle count says (84 + 50 n bytes), whatever its first word is: some
//! programs begin binary files with "solid" too. STL repeats every vertex in every triangle; vertices with the same
//! coordinates are welded here so that the mesh is connected. Normals and attribute bytes are not read. Several
//! solids in one text become one mesh.

use std::collections::HashMap;

use glam::DVec3;
use souple::mesh::TriMesh;

use super::reader::{Cursor, Words, excerpt, parse_number};
use super::{ImportError, Limits, MeshFormat, Place, cut_short, finite_position, malformed};

const FORMAT: MeshFormat = MeshFormat::Stl;
const HEADER_BYTES: usize = 80;
const COUNT_BYTES: usize = 4;
const TRIANGLE_BYTES: usize = 50;
const NORMAL_BYTES: usize = 12;
const ATTRIBUTE_BYTES: usize = 2;

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriMesh, ImportError> {
    if is_text(bytes, bytes.len() as u64) { read_text(bytes, limits) } else { read_binary(bytes, limits) }
}

/// Whether a file of this size that starts so is text. The size is apart so that it can be tried without the bytes.
fn is_text(start: &[u8], file_bytes: u64) -> bool {
    let count = Cursor::new(start, HEADER_BYTES).u32();
    let is_whole_binary = count.is_some_and(|count| file_bytes == binary_size(count));
    !is_whole_binary && looks_like_text(start)
}

fn binary_size(count: u32) -> u64 {
    (HEADER_BYTES + COUNT_BYTES) as u64 + u64::from(count) * TRIANGLE_BYTES as u64
}

/// Text starts with "solid" and has no zero bytes; the header of a binary file that starts so has some, in its
/// padding or in its count.
fn looks_like_text(bytes: &[u8]) -> bool {
    let start = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let head = bytes.get(..HEADER_BYTES + COUNT_BYTES).unwrap_or(bytes);
    start.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) && !head.contains(&0)
}

fn read_binary(bytes: &[u8], limits: &Limits) -> Result<TriMesh, ImportError> {
    let mut cursor = Cursor::new(bytes, HEADER_BYTES);
    let Some(count) = cursor.u32() else {
        let what =
            "neither a text that begins with 'solid' nor long enough for the 84-byte header of a binary STL";
        return Err(cut_short(FORMAT, 0, what, (HEADER_BYTES + COUNT_BYTES) as u64, bytes.len()));
    };
    let start = cursor.offset();
    let needed = u64::from(count) * TRIANGLE_BYTES as u64;
    let left = cursor.left().len();
    if needed > left as u64 {
        let there = left / TRIANGLE_BYTES;
        let what =
            format!("the file announces {count} triangles ({needed} bytes) but has {there} ({left} bytes)");
        return Err(cut_short(FORMAT, start, what, needed, left));
    }
    let beyond = left as u64 - needed;
    if beyond >= TRIANGLE_BYTES as u64 {
        let what = format!("the file announces {count} triangles, but {beyond} more bytes follow them");
        return Err(malformed(FORMAT, Place::Byte(start), what, "the count is wrong: export the file again"));
    }
    limits.check_triangles(FORMAT, Place::Byte(HEADER_BYTES), count as usize)?;

    let mut welder = Welder::default();
    welder.mesh.triangles.reserve_exact(count as usize);
    for _ in 0..count {
        cursor.take(NORMAL_BYTES);
        let mut triangle = [0; 3];
        for corner in &mut triangle {
            let place = Place::Byte(cursor.offset());
            let position = cursor.floats::<3>().unwrap_or([f64::NAN; 3]); // there: the size was checked
            *corner = welder.vertex(DVec3::from_array(position), place, limits)?;
        }
        cursor.take(ATTRIBUTE_BYTES);
        welder.mesh.triangles.push(triangle);
    }
    Ok(welder.mesh)
}

/// Which part of the text is being read.
#[derive(Clone, Copy, PartialEq)]
enum Part {
    File,
    Solid,
    Facet,
    Loop,
}

fn read_text(bytes: &[u8], limits: &Limits) -> Result<TriMesh, ImportError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut words = Words::new(bytes, 0, 1);
    let mut welder = Welder::default();
    let mut part = Part::File;
    let mut corners: Vec<u32> = Vec::with_capacity(3);
    while let Some(keyword) = words.first_word() {
        let place = words.place();
        let keyword = keyword.to_ascii_lowercase();
        part = match (part, keyword.as_slice()) {
            (Part::File, b"solid") => Part::Solid,
            (Part::Solid, b"endsolid") => Part::File,
            (Part::Solid, b"facet") => Part::Facet,
            (Part::Facet, b"outer") => Part::Loop,
            (Part::Loop, b"vertex") => {
                corners.push(welder.vertex(read_position(&mut words, place)?, place, limits)?);
                Part::Loop
            }
            (Part::Loop, b"endloop") => {
                let Ok(triangle) = <[u32; 3]>::try_from(corners.as_slice()) else {
                    let what = format!("a facet of STL has 3 vertices, this one has {}", corners.len());
                    return Err(malformed(FORMAT, place, what, "export triangles only"));
                };
                corners.clear();
                limits.check_triangles(FORMAT, place, welder.mesh.triangles.len() + 1)?;
                welder.mesh.triangles.push(triangle);
                Part::Facet
            }
            (Part::Facet, b"endfacet") => Part::Solid,
            _ => {
                let expected = match part {
                    Part::File => "'solid'",
                    Part::Solid => "'facet' or 'endsolid'",
                    Part::Facet => "'outer loop' or 'endfacet'",
                    Part::Loop => "'vertex' or 'endloop'",
                };
                let what = format!("expected {expected}, found '{}'", excerpt(&keyword));
                return Err(malformed(FORMAT, place, what, "export the file again"));
            }
        };
        words.next_line();
    }
    if part != Part::File {
        let what =
            format!("the text ends before 'endsolid', after {} triangles", welder.mesh.triangles.len());
        return Err(malformed(FORMAT, words.place(), what, "the file is cut short: export or copy it again"));
    }
    Ok(welder.mesh)
}

fn read_position(words: &mut Words<'_>, place: Place) -> Result<DVec3, ImportError> {
    let mut p = [0.0; 3];
    for (i, coordinate) in p.iter_mut().enumerate() {
        let word = words.word().ok_or_else(|| {
            let what = format!("a vertex needs 3 coordinates, this one has {i}");
            malformed(FORMAT, place, what, "write it as: vertex x y z")
        })?;
        *coordinate = parse_number(word, FORMAT, place)?;
    }
    Ok(DVec3::from_array(p))
}

/// A mesh in which equal positions become one vertex, numbered in the order they first appear.
#[derive(Default)]
struct Welder {
    mesh: TriMesh,
    known: HashMap<[u64; 3], u32>,
}

impl Welder {
    fn vertex(&mut self, position: DVec3, place: Place, limits: &Limits) -> Result<u32, ImportError> {
        let position = finite_position(FORMAT, place, position)?;
        let key = position.to_array().map(|c| (c + 0.0).to_bits()); // -0 and 0 are the same place
        if let Some(&known) = self.known.get(&key) {
            return Ok(known);
        }
        limits.check_vertices(FORMAT, place, self.mesh.positions.len() + 1)?;
        let new = self.mesh.positions.len() as u32; // fits: the limit is at most MAX_VERTICES
        self.mesh.positions.push(position);
        self.known.insert(key, new);
        Ok(new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_decides_before_the_first_word() {
        // A header and a count without a zero byte look like text; only the size tells.
        let count: u32 = 0x2020_2020;
        let mut start = b"solid made by some program".to_vec();
        start.resize(HEADER_BYTES, b' ');
        start.extend(count.to_le_bytes());
        assert!(looks_like_text(&start));
        assert!(!is_text(&start, binary_size(count)));
        assert!(is_text(&start, binary_size(count) - 1));
        assert!(is_text(&start, binary_size(count) + 1));
    }
}
