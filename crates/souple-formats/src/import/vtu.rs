//! VTK XML unstructured grids, `.vtu` (FAU-01), after "VTK XML Formats" of the VTK documentation.
//!
//! Read: all pieces of the file as one mesh; arrays as text (`ascii`), as base64 in their place (`binary`), or appended at the end
//! (`appended`, base64 or raw), of either byte order, with headers of 32 or 64 bits. Tetrahedra (cell type 10) and the corners of
//! those of second order (24) are kept. Labels come from the first cell array with a name for them (see `vtk.rs`). Compressed
//! arrays are refused, with what to do. Parallel files (`.pvtu`) name others and are not read.

use std::cell::Cell;

use super::numbers::{Scalar, whole};
use super::reader::{Words, excerpt, find, parse_number};
use super::solid::{Found, label};
use super::vtk::{Piece, is_label_name, out_of_range};
use super::xml::{Tag, Tags};
use super::{ImportError, Limits, MeshFormat, Place, cut_short, malformed};

const FORMAT: MeshFormat = MeshFormat::Vtu;

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Found, ImportError> {
    let mut tags = Tags::new(bytes);
    let Some(root) = tags.next_tag().filter(|tag| tag.name == b"VTKFile") else {
        let what = "a VTU file is XML and begins with <VTKFile>, this one does not";
        return Err(ImportError::WrongFormat { format: FORMAT, what });
    };
    let file = File::new(bytes, &root)?;
    let mut found = Found::default();
    let mut piece: Option<Arrays<'_>> = None;
    let mut parent: &[u8] = b"";
    while let Some(tag) = tags.next_tag() {
        match tag.name {
            b"Piece" if tag.is_empty => {}
            b"Piece" => piece = Some(Arrays::new(&tag)?),
            b"Points" | b"Cells" | b"CellData" | b"PointData" => parent = tag.name,
            b"DataArray" => {
                let content = if tag.is_empty { &[] } else { tags.content() };
                let array = Array { content, at: tags.offset(), tag };
                if let Some(piece) = &mut piece {
                    piece.keep(parent, array);
                }
            }
            b"/Piece" => {
                if let Some(piece) = piece.take() {
                    piece.read(&file, &mut found, limits)?;
                }
            }
            b"AppendedData" => break,
            _ => {}
        }
    }
    match piece {
        None => Ok(found),
        Some(_) => {
            let fix = "the file is cut short: export or copy it again";
            Err(malformed(FORMAT, Place::Byte(bytes.len()), "the file ends within a <Piece>", fix))
        }
    }
}

/// What holds for all arrays.
struct File<'a> {
    bytes: &'a [u8],
    big_endian: bool,
    /// Type of the number of bytes before binary data.
    header: Scalar,
    /// Whether the arrays are compressed.
    compressed: bool,
    /// Where appended data begins, and whether it is raw.
    appended: Option<(usize, bool)>,
    /// Bytes of arrays so far. Arrays that share appended bytes could ask for any amount of memory by a small file.
    spent: Cell<usize>,
}

impl<'a> File<'a> {
    fn new(bytes: &'a [u8], root: &Tag<'a>) -> Result<File<'a>, ImportError> {
        let wrong = |what: String, fix| Err(malformed(FORMAT, Place::Byte(root.at), what, fix));
        if root.get("type") != Some(b"UnstructuredGrid") {
            let kind = excerpt(root.get("type").unwrap_or_default());
            return wrong(
                format!("the file holds '{kind}', not an UnstructuredGrid"),
                "save a mesh of tetrahedra",
            );
        }
        let big_endian = root.get("byte_order") == Some(b"BigEndian");
        let header = match root.get("header_type") {
            None | Some(b"UInt32") => Scalar::U32,
            Some(b"UInt64") => Scalar::U64,
            Some(other) => {
                return wrong(format!("header_type '{}' is not known", excerpt(other)), "use UInt64");
            }
        };
        let appended = find_appended(bytes);
        Ok(File {
            bytes,
            big_endian,
            header,
            compressed: root.get("compressor").is_some(),
            appended,
            spent: Cell::new(0),
        })
    }

    /// The numbers of an array.
    fn values(&self, array: &Array<'a>) -> Result<Vec<f64>, ImportError> {
        let scalar = array.scalar()?;
        if array.tag.get("format") == Some(b"ascii") {
            return self.text_values(array);
        }
        if self.compressed {
            return Err(array.wrong(
                "the array is compressed".into(),
                "save it uncompressed: in ParaView set Data Mode to Ascii or Compressor Type to None; in meshio use compression=None",
            ));
        }
        let data = match array.tag.get("format") {
            Some(b"binary") => Data::Base64(array.content),
            Some(b"appended") => self.appended(array)?,
            other => {
                let what =
                    format!("format '{}' of an array is not known", excerpt(other.unwrap_or_default()));
                return Err(array.wrong(what, "use ascii, binary or appended"));
            }
        };
        let bytes = self.sized_bytes(array, &data)?;
        self.spent.set(self.spent.get() + bytes.len());
        if self.spent.get() > self.bytes.len() {
            return Err(
                array.wrong("arrays share their bytes".into(), "the file is damaged: export it again")
            );
        }
        let size = scalar.bytes();
        if bytes.len() % size != 0 {
            let what = format!("{} bytes are not a whole number of values of {size} bytes", bytes.len());
            return Err(array.wrong(what, "the file is damaged: export it again"));
        }
        Ok(bytes.chunks_exact(size).filter_map(|value| scalar.value(value, self.big_endian)).collect())
    }

    fn text_values(&self, array: &Array<'a>) -> Result<Vec<f64>, ImportError> {
        let mut words = Words::new(array.content, 0, 1);
        let mut values = Vec::new();
        while let Some(word) = words.first_word() {
            let place = Place::Byte(array.at + words.offset() - word.len());
            values.push(parse_number(word, FORMAT, place)?);
        }
        Ok(values)
    }

    /// The bytes of an array, without the number of bytes before them.
    fn sized_bytes(&self, array: &Array<'a>, data: &Data<'a>) -> Result<Vec<u8>, ImportError> {
        let header = self.header.bytes();
        let (mut bytes, at) = match *data {
            Data::Base64(text) => (decode_base64(text, None), array.at),
            Data::Raw(at) => {
                // No more than is announced is copied.
                let left = self.bytes.get(at..).unwrap_or_default();
                let announced = self.header.value(left, self.big_endian).and_then(whole).unwrap_or_default();
                let end = usize::try_from(announced).unwrap_or(usize::MAX).saturating_add(header);
                (left.get(..end.min(left.len())).unwrap_or_default().to_vec(), at)
            }
        };
        let announced = self.header.value(&bytes, self.big_endian).and_then(whole);
        let Some(announced) = announced else {
            let what = "the number of bytes of an array is missing";
            return Err(cut_short(FORMAT, at, what, header as u64, bytes.len()));
        };
        let has = bytes.len().saturating_sub(header);
        match usize::try_from(announced).ok().filter(|&announced| announced <= has) {
            Some(announced) => {
                bytes.drain(..header);
                bytes.truncate(announced);
                Ok(bytes)
            }
            None => {
                let what = format!("an array announces {announced} bytes but has {has}");
                Err(cut_short(FORMAT, at, what, announced, has))
            }
        }
    }

    fn appended(&self, array: &Array<'a>) -> Result<Data<'a>, ImportError> {
        let Some((start, raw)) = self.appended else {
            let fix = "the file is cut short: export or copy it again";
            return Err(array.wrong("the file has no <AppendedData>".into(), fix));
        };
        let offset = array.tag.text("offset").and_then(|text| text.trim().parse::<usize>().ok());
        let at = offset.and_then(|offset| start.checked_add(offset)).filter(|&at| at < self.bytes.len());
        let Some(at) = at else {
            let what = "the offset of an appended array is missing or beyond the file".into();
            return Err(array.wrong(what, "the file is cut short or damaged: export or copy it again"));
        };
        if raw {
            return Ok(Data::Raw(at));
        }
        // Arrays follow each other: only as much is decoded as the first bytes announce.
        let left = self.bytes.get(at..).unwrap_or_default();
        let first = decode_base64(left, Some(self.header.bytes()));
        let announced = self.header.value(&first, self.big_endian).and_then(whole).unwrap_or_default();
        let needed = announced.saturating_add(self.header.bytes() as u64);
        // Three bytes are four letters; blanks and padding make it a little more.
        let letters = usize::try_from(needed.saturating_mul(2).saturating_add(16)).unwrap_or(usize::MAX);
        Ok(Data::Base64(left.get(..letters.min(left.len())).unwrap_or_default()))
    }
}

/// Binary data as it stands in the file.
enum Data<'a> {
    Base64(&'a [u8]),
    /// Raw, from this byte on.
    Raw(usize),
}

/// Where appended data begins: after the underscore, which stands for nothing.
fn find_appended(bytes: &[u8]) -> Option<(usize, bool)> {
    let at = find(bytes, b"<AppendedData")?;
    let left = bytes.get(at..)?;
    let end = find(left, b">")?;
    let raw = find(left.get(..end)?, b"base64").is_none();
    let underscore = find(left.get(end..)?, b"_")?;
    Some((at + end + underscore + 1, raw))
}

/// The bytes that letters stand for, up to the first that is none; at most about `most`. Padding may stand in the middle:
/// some programs encode the number of bytes on its own.
fn decode_base64(text: &[u8], most: Option<usize>) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0u32);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                (bits, count) = (0, 0);
                continue;
            }
            _ if byte.is_ascii_whitespace() => continue,
            _ => break,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
            bits &= (1 << count) - 1;
        }
        if most.is_some_and(|most| out.len() >= most) {
            break;
        }
    }
    out
}

/// An array as it stands in the file.
struct Array<'a> {
    tag: Tag<'a>,
    content: &'a [u8],
    /// Where the content begins.
    at: usize,
}

impl Array<'_> {
    fn wrong(&self, what: String, fix: &'static str) -> ImportError {
        malformed(FORMAT, Place::Byte(self.tag.at), what, fix)
    }

    fn scalar(&self) -> Result<Scalar, ImportError> {
        Ok(match self.tag.get("type").unwrap_or_default() {
            b"Int8" => Scalar::I8,
            b"UInt8" => Scalar::U8,
            b"Int16" => Scalar::I16,
            b"UInt16" => Scalar::U16,
            b"Int32" => Scalar::I32,
            b"UInt32" => Scalar::U32,
            b"Int64" => Scalar::I64,
            b"UInt64" => Scalar::U64,
            b"Float32" => Scalar::F32,
            b"Float64" => Scalar::F64,
            other => {
                let what = format!("type '{}' of an array is not known", excerpt(other));
                return Err(self.wrong(what, "use Float64 for points and Int64 for cells"));
            }
        })
    }
}

/// The arrays of a piece that are needed.
struct Arrays<'a> {
    at: usize,
    announced: [u64; 2],
    points: Option<Array<'a>>,
    connectivity: Option<Array<'a>>,
    offsets: Option<Array<'a>>,
    types: Option<Array<'a>>,
    labels: Option<Array<'a>>,
}

impl<'a> Arrays<'a> {
    fn new(piece: &Tag<'a>) -> Result<Arrays<'a>, ImportError> {
        let mut announced = [0; 2];
        for (count, name) in announced.iter_mut().zip(["NumberOfPoints", "NumberOfCells"]) {
            let value = piece.text(name).and_then(|text| text.trim().parse().ok());
            *count = value.ok_or_else(|| {
                let what = format!("a <Piece> has no whole number as {name}");
                malformed(FORMAT, Place::Byte(piece.at), what, "the file is damaged: export it again")
            })?;
        }
        let (points, connectivity, offsets, types, labels) = (None, None, None, None, None);
        Ok(Arrays { at: piece.at, announced, points, connectivity, offsets, types, labels })
    }

    fn keep(&mut self, parent: &[u8], array: Array<'a>) {
        let name = array.tag.get("Name").unwrap_or_default();
        let slot = match (parent, name) {
            (b"Points", _) => &mut self.points,
            (b"Cells", b"connectivity") => &mut self.connectivity,
            (b"Cells", b"offsets") => &mut self.offsets,
            (b"Cells", b"types") => &mut self.types,
            (b"CellData", name) if is_label_name(name) => &mut self.labels,
            _ => return,
        };
        slot.get_or_insert(array);
    }

    fn read(&self, file: &File<'a>, found: &mut Found, limits: &Limits) -> Result<(), ImportError> {
        let place = Place::Byte(self.at);
        let [points, cells] = self.announced;
        if points == 0 && cells == 0 {
            return Ok(());
        }
        let needed = |array: &Option<Array<'a>>, name: &str| -> Result<Vec<f64>, ImportError> {
            match array {
                Some(array) => file.values(array),
                None => {
                    let what = format!("a <Piece> has no array of {name}");
                    Err(malformed(FORMAT, place, what, "the file is damaged: export it again"))
                }
            }
        };
        let first = found.positions.len();
        let coordinates = needed(&self.points, "points")?;
        self.check_count("coordinates", coordinates.len(), points.saturating_mul(3))?;
        limits.check_vertices(FORMAT, place, first + coordinates.len() / 3)?;
        let (triples, _) = coordinates.as_chunks::<3>();
        for &p in triples {
            found.vertex(p, FORMAT, place, limits)?;
        }
        let offsets = needed(&self.offsets, "offsets")?;
        let kinds = needed(&self.types, "types")?;
        self.check_count("offsets", offsets.len(), cells)?;
        self.check_count("types", kinds.len(), cells)?;
        let corners =
            self.corners(&needed(&self.connectivity, "connectivity")?, first, found.positions.len())?;
        let ends = self.ends(&offsets, corners.len())?;
        let labels = match &self.labels {
            Some(array) => file.values(array)?.into_iter().map(label).collect(),
            None => Vec::new(),
        };
        Piece { corners: &corners, ends: &ends, kinds: &kinds, labels: &labels }
            .add_to(found, FORMAT, place, limits)
    }

    fn check_count(&self, what: &str, found: usize, announced: u64) -> Result<(), ImportError> {
        if found as u64 == announced {
            return Ok(());
        }
        let what = format!("the piece announces {announced} {what} but has {found}");
        Err(malformed(
            FORMAT,
            Place::Byte(self.at),
            what,
            "the file is cut short or damaged: export or copy it again",
        ))
    }

    /// Corners counted from the first vertex of all pieces; those of this one are from `first` to `end`.
    fn corners(&self, values: &[f64], first: usize, end: usize) -> Result<Vec<u32>, ImportError> {
        let corner = |&value: &f64| match whole(value) {
            Some(corner) if corner < (end - first) as u64 => Ok((first as u64 + corner) as u32), // fits: below MAX_VERTICES
            _ if value.trunc() != value => {
                let what = format!("a cell names vertex {value}");
                Err(malformed(
                    FORMAT,
                    Place::Byte(self.at),
                    what,
                    "an index is a whole number: export the file again",
                ))
            }
            _ => Err(out_of_range(FORMAT, Place::Byte(self.at), value as i64, end - first)),
        };
        values.iter().map(corner).collect()
    }

    fn ends(&self, offsets: &[f64], corners: usize) -> Result<Vec<usize>, ImportError> {
        let mut last = 0;
        let mut ends = Vec::with_capacity(offsets.len());
        for (cell, &offset) in offsets.iter().enumerate() {
            match whole(offset) {
                Some(end) if (last..=corners as u64).contains(&end) => last = end,
                _ => {
                    let what = format!(
                        "offset {offset} of cell {cell} is below the last or beyond the {corners} corners"
                    );
                    let fix = "the file is damaged: export it again";
                    return Err(malformed(FORMAT, Place::Byte(self.at), what, fix));
                }
            }
            ends.push(last as usize);
        }
        Ok(ends)
    }
}
