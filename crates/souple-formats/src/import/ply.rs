//! Stanford PLY, text and binary of either byte order (ESSI-13), after Greg Turk's description of 1994.
//!
//! Read: element `vertex` with scalar properties x y z of any type and, if there, u v, s t, or texture_u texture_v;
//! element `face` with the list property `vertex_indices` or `vertex_index` of any types. Other elements and
//! properties are skipped. Elements may stand in any order. Triangle strips (`tristrips`) are not read.
//!
//! The header is checked against the size of the file before anything is allocated. In text, each row is one line.

use glam::DVec3;
use souple::mesh::TriMesh;

use super::reader::{Cursor, Words, excerpt, parse_number};
use super::{ImportError, Limits, MeshFormat, Place, fan, finite_position, finite_uv, malformed};

const FORMAT: MeshFormat = MeshFormat::Ply;

/// Pairs of property names that are texture coordinates.
const UV_NAMES: [[&[u8]; 2]; 3] = [[b"u", b"v"], [b"s", b"t"], [b"texture_u", b"texture_v"]];

/// Names of the list of a face's corners.
const INDEX_NAMES: [&[u8]; 2] = [b"vertex_indices", b"vertex_index"];

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<TriMesh, ImportError> {
    let header = Header::parse(bytes)?;
    header.check_size(bytes.len())?;
    let vertices = header.elements.iter().find(|element| element.name == b"vertex");
    let Some(vertices) = vertices.filter(|vertices| vertices.count > 0) else {
        return Err(ImportError::NoVertices { format: FORMAT });
    };
    limits.check_vertices(FORMAT, Place::Line(vertices.line), vertices.count)?;

    let mut mesh = TriMesh::default();
    let mut body = match header.encoding {
        Encoding::Text => Body::Text(Words::new(bytes, header.bytes, header.lines + 1)),
        Encoding::LittleEndian => {
            Body::Binary { cursor: Cursor::new(bytes, header.bytes), big_endian: false }
        }
        Encoding::BigEndian => Body::Binary { cursor: Cursor::new(bytes, header.bytes), big_endian: true },
    };
    for element in &header.elements {
        match element.name {
            b"vertex" => read_vertices(&mut body, element, &mut mesh)?,
            b"face" => read_faces(&mut body, element, vertices.count, limits, &mut mesh)?,
            _ => skip_element(&mut body, element)?,
        }
    }
    body.expect_end()?;
    Ok(mesh)
}

#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Text,
    LittleEndian,
    BigEndian,
}

#[derive(Clone, Copy)]
enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Scalar {
    fn from_name(name: &[u8]) -> Option<Scalar> {
        Some(match name {
            b"char" | b"int8" => Scalar::I8,
            b"uchar" | b"uint8" => Scalar::U8,
            b"short" | b"int16" => Scalar::I16,
            b"ushort" | b"uint16" => Scalar::U16,
            b"int" | b"int32" => Scalar::I32,
            b"uint" | b"uint32" => Scalar::U32,
            b"float" | b"float32" => Scalar::F32,
            b"double" | b"float64" => Scalar::F64,
            _ => return None,
        })
    }

    fn bytes(self) -> usize {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::F64 => 8,
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Scalar(Scalar),
    List { count: Scalar, item: Scalar },
}

struct Property<'a> {
    name: &'a [u8],
    kind: Kind,
}

struct Element<'a> {
    name: &'a [u8],
    count: usize,
    /// Line of the header that announces it.
    line: usize,
    properties: Vec<Property<'a>>,
}

impl Element<'_> {
    /// Fewest bytes that one row can take.
    fn smallest_row(&self, encoding: Encoding) -> usize {
        let bytes = |property: &Property<'_>| match (encoding, property.kind) {
            (Encoding::Text, _) => 2, // a digit and a separator
            (_, Kind::Scalar(scalar) | Kind::List { count: scalar, .. }) => scalar.bytes(),
        };
        self.properties.iter().map(bytes).sum()
    }

    /// Whether all rows have the same size, and none needs a look.
    fn is_scalar_only(&self) -> bool {
        self.properties.iter().all(|property| matches!(property.kind, Kind::Scalar(_)))
    }

    fn scalar_index(&self, name: &[u8]) -> Option<usize> {
        self.properties.iter().position(|p| p.name == name && matches!(p.kind, Kind::Scalar(_)))
    }
}

struct Header<'a> {
    encoding: Encoding,
    elements: Vec<Element<'a>>,
    /// Offset of the first byte after the header.
    bytes: usize,
    lines: usize,
}

impl<'a> Header<'a> {
    fn parse(bytes: &'a [u8]) -> Result<Self, ImportError> {
        let first_end = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(bytes.len());
        if bytes.get(..first_end).map(<[u8]>::trim_ascii) != Some(b"ply") {
            let what = "a PLY file begins with a line 'ply', this one does not";
            return Err(ImportError::WrongFormat { format: FORMAT, what });
        }
        // The first line tells how lines end, or a binary body whose first byte is LF would lose it after a CR.
        let terminator = match (bytes.get(first_end), bytes.get(first_end + 1)) {
            (Some(b'\r'), next) if next != Some(&b'\n') => b'\r',
            _ => b'\n',
        };
        let mut encoding = None;
        let mut elements: Vec<Element<'a>> = Vec::new();
        let mut at = 0;
        let mut lines = 0;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let end = rest.iter().position(|&byte| byte == terminator);
            let line = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
            at += end.map_or(rest.len(), |end| end + 1);
            lines += 1;
            let place = Place::Line(lines);
            let words: Vec<&'a [u8]> =
                line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).take(6).collect();
            match words.as_slice() {
                [] | [b"comment" | b"obj_info", ..] => {}
                [b"ply"] if lines == 1 => {}
                [b"format", name, b"1.0"] => encoding = Some(parse_encoding(name, place)?),
                [b"format", _, version] => {
                    let what = format!("version '{}' of PLY is not known", excerpt(version));
                    return Err(malformed(FORMAT, place, what, "export the file as version 1.0"));
                }
                [b"element", name, count] => elements.push(parse_element(name, count, lines, &elements)?),
                [b"property", b"list", count, item, name] => {
                    let kind =
                        Kind::List { count: parse_type(count, place)?, item: parse_type(item, place)? };
                    last(&mut elements, place)?.properties.push(Property { name, kind });
                }
                [b"property", scalar, name] => {
                    let kind = Kind::Scalar(parse_type(scalar, place)?);
                    last(&mut elements, place)?.properties.push(Property { name, kind });
                }
                [b"end_header"] => {
                    let Some(encoding) = encoding else {
                        let what = "the header has no 'format' line";
                        return Err(malformed(FORMAT, place, what, "add a line like: format ascii 1.0"));
                    };
                    return Ok(Header { encoding, elements, bytes: at, lines });
                }
                _ => {
                    let what = format!("the header line '{}' is not understood", excerpt(line.trim_ascii()));
                    return Err(malformed(FORMAT, place, what, "see that the header ends with 'end_header'"));
                }
            }
        }
        let what = "the file ends before 'end_header'";
        Err(malformed(FORMAT, Place::Line(lines), what, "the file is cut short: export or copy it again"))
    }

    /// Refuses counts that the rest of the file cannot hold, before anything is allocated for them.
    fn check_size(&self, file_bytes: usize) -> Result<(), ImportError> {
        let left = file_bytes.saturating_sub(self.bytes) as u64;
        // The last row of a text needs no line end.
        let room = left + u64::from(self.encoding == Encoding::Text);
        let mut needed: u64 = 0;
        for element in &self.elements {
            let rows = element.smallest_row(self.encoding) as u64;
            needed = needed.saturating_add(rows.saturating_mul(element.count as u64));
            if needed > room {
                let (count, name) = (element.count, excerpt(element.name));
                return Err(ImportError::Truncated {
                    format: FORMAT,
                    place: Place::Line(element.line),
                    what: format!(
                        "{count} rows of element '{name}' are announced, but only {left} bytes follow the header"
                    ),
                    missing: needed - room,
                    unit: "bytes or more",
                });
            }
        }
        Ok(())
    }
}

fn parse_encoding(name: &[u8], place: Place) -> Result<Encoding, ImportError> {
    match name {
        b"ascii" => Ok(Encoding::Text),
        b"binary_little_endian" => Ok(Encoding::LittleEndian),
        b"binary_big_endian" => Ok(Encoding::BigEndian),
        _ => {
            let what = format!("'{}' is not a format of PLY", excerpt(name));
            Err(malformed(FORMAT, place, what, "use ascii, binary_little_endian or binary_big_endian"))
        }
    }
}

fn parse_type(name: &[u8], place: Place) -> Result<Scalar, ImportError> {
    Scalar::from_name(name).ok_or_else(|| {
        let what = format!("'{}' is not a type of PLY", excerpt(name));
        malformed(FORMAT, place, what, "use char, uchar, short, ushort, int, uint, float or double")
    })
}

fn parse_element<'a>(
    name: &'a [u8],
    count: &[u8],
    line: usize,
    known: &[Element<'_>],
) -> Result<Element<'a>, ImportError> {
    let place = Place::Line(line);
    let Some(count) = std::str::from_utf8(count).ok().and_then(|text| text.parse().ok()) else {
        let what = format!("'{}' is not a count of rows", excerpt(count));
        return Err(malformed(FORMAT, place, what, "write a whole number that is not negative"));
    };
    // Searched only for these two: a header of many elements would take quadratic time otherwise.
    if [b"vertex" as &[u8], b"face"].contains(&name) && known.iter().any(|element| element.name == name) {
        let what = format!("element '{}' is announced twice", excerpt(name));
        return Err(malformed(FORMAT, place, what, "announce each element once"));
    }
    Ok(Element { name, count, line, properties: Vec::new() })
}

fn last<'e, 'a>(elements: &'e mut [Element<'a>], place: Place) -> Result<&'e mut Element<'a>, ImportError> {
    elements.last_mut().ok_or_else(|| {
        malformed(FORMAT, place, "a property stands before the first element", "announce the element first")
    })
}

/// The rows after the header.
enum Body<'a> {
    Text(Words<'a>),
    Binary { cursor: Cursor<'a>, big_endian: bool },
}

impl<'a> Body<'a> {
    fn place(&self) -> Place {
        match self {
            Body::Text(words) => words.place(),
            Body::Binary { cursor, .. } => Place::Byte(cursor.offset()),
        }
    }

    /// The next value of this row. In text the type does not matter.
    fn value(&mut self, scalar: Scalar) -> Result<f64, ImportError> {
        match self {
            Body::Text(words) => {
                let word = next_word(words)?;
                parse_number(word, FORMAT, words.place())
            }
            Body::Binary { cursor, big_endian } => {
                let at = *cursor;
                binary_value(cursor, scalar, *big_endian).ok_or_else(|| ends_early(&at, scalar.bytes()))
            }
        }
    }

    /// Passes over values of this row.
    fn skip(&mut self, scalar: Scalar, count: usize) -> Result<(), ImportError> {
        match self {
            Body::Text(words) => (0..count).try_for_each(|_| next_word(words).map(|_| ())),
            Body::Binary { cursor, .. } => {
                let needed = count.saturating_mul(scalar.bytes());
                cursor.take(needed).map(|_| ()).ok_or_else(|| ends_early(cursor, needed))
            }
        }
    }

    /// A list's count, checked against the data that is left.
    fn list_count(&mut self, count: Scalar, item: Scalar) -> Result<usize, ImportError> {
        let place = self.place();
        let value = self.value(count)?;
        let left = match self {
            Body::Text(words) => words.bytes_left().div_ceil(2), // an item takes a digit and a separator
            Body::Binary { cursor, .. } => cursor.left().len() / item.bytes(),
        };
        match whole(value) {
            Some(count) if count <= left => Ok(count),
            Some(count) => {
                let what =
                    format!("a list announces {count} items, but the file has room for {left} at most");
                let missing = (count - left) as u64;
                Err(ImportError::Truncated { format: FORMAT, place, what, missing, unit: "items" })
            }
            None => {
                let what = format!("a list has the count {value}");
                Err(malformed(FORMAT, place, what, "a count is a whole number and not negative"))
            }
        }
    }

    fn skip_property(&mut self, property: &Property<'_>) -> Result<(), ImportError> {
        match property.kind {
            Kind::Scalar(scalar) => self.skip(scalar, 1),
            Kind::List { count, item } => {
                let count = self.list_count(count, item)?;
                self.skip(item, count)
            }
        }
    }

    /// Goes to the start of row `row` of the element.
    fn begin_row(&mut self, element: &Element<'_>, row: usize) -> Result<(), ImportError> {
        let Body::Text(words) = self else { return Ok(()) };
        if words.skip_empty_lines() {
            return Ok(());
        }
        let (count, name) = (element.count, excerpt(element.name));
        Err(ImportError::Truncated {
            format: FORMAT,
            place: words.place(),
            what: format!("the file ends after {row} of the {count} rows of element '{name}'"),
            missing: (count - row) as u64,
            unit: "rows",
        })
    }

    /// Checks that the row has no more values than the header says.
    fn end_row(&mut self, element: &Element<'_>) -> Result<(), ImportError> {
        let Body::Text(words) = self else { return Ok(()) };
        let place = words.place();
        if let Some(word) = words.word() {
            let (name, word) = (excerpt(element.name), excerpt(word));
            let what = format!("a row of element '{name}' goes on with '{word}' after its last property");
            return Err(malformed(FORMAT, place, what, "make the header and the rows agree"));
        }
        words.next_line();
        Ok(())
    }

    /// Refuses data that the header does not know of, or a wrong count would lose the rest of the mesh silently.
    fn expect_end(&mut self) -> Result<(), ImportError> {
        let place = self.place();
        let more = match self {
            Body::Text(words) => words.skip_empty_lines(),
            Body::Binary { cursor, .. } => !cursor.left().trim_ascii().is_empty(),
        };
        if !more {
            return Ok(());
        }
        let what = "more data follows the last row that the header announces";
        Err(malformed(FORMAT, place, what, "a count in the header is wrong: export the file again"))
    }
}

fn next_word<'a>(words: &mut Words<'a>) -> Result<&'a [u8], ImportError> {
    let place = words.place();
    words.word().ok_or_else(|| {
        let what = "the row has fewer values than the header announces";
        malformed(FORMAT, place, what, "make the header and the rows agree")
    })
}

fn ends_early(cursor: &Cursor<'_>, needed: usize) -> ImportError {
    let what = "the file ends within a row";
    super::cut_short(FORMAT, cursor.offset(), what, needed as u64, cursor.left().len())
}

fn binary_value(cursor: &mut Cursor<'_>, scalar: Scalar, big_endian: bool) -> Option<f64> {
    fn ordered<const N: usize>(cursor: &mut Cursor<'_>, big_endian: bool) -> Option<[u8; N]> {
        let mut bytes = cursor.array::<N>()?;
        if big_endian {
            bytes.reverse();
        }
        Some(bytes)
    }
    Some(match scalar {
        Scalar::I8 => f64::from(i8::from_le_bytes(cursor.array()?)),
        Scalar::U8 => f64::from(u8::from_le_bytes(cursor.array()?)),
        Scalar::I16 => f64::from(i16::from_le_bytes(ordered(cursor, big_endian)?)),
        Scalar::U16 => f64::from(u16::from_le_bytes(ordered(cursor, big_endian)?)),
        Scalar::I32 => f64::from(i32::from_le_bytes(ordered(cursor, big_endian)?)),
        Scalar::U32 => f64::from(u32::from_le_bytes(ordered(cursor, big_endian)?)),
        Scalar::F32 => f64::from(f32::from_le_bytes(ordered(cursor, big_endian)?)),
        Scalar::F64 => f64::from_le_bytes(ordered(cursor, big_endian)?),
    })
}

/// The whole number that a value is, if it is one and not negative.
fn whole(value: f64) -> Option<usize> {
    const LARGEST: f64 = 9_007_199_254_740_992.0; // 2^53: beyond it not every whole number has a float
    ((0.0..=LARGEST).contains(&value) && value.trunc() == value).then_some(value as usize)
}

fn read_vertices(body: &mut Body<'_>, element: &Element<'_>, mesh: &mut TriMesh) -> Result<(), ImportError> {
    let [Some(x), Some(y), Some(z)] = [b"x", b"y", b"z"].map(|name| element.scalar_index(name)) else {
        let what = "element 'vertex' does not have the scalar properties x, y and z";
        return Err(malformed(
            FORMAT,
            Place::Line(element.line),
            what,
            "add them to the header and the rows",
        ));
    };
    let uv = UV_NAMES.iter().find_map(|[u, v]| element.scalar_index(u).zip(element.scalar_index(v)));
    let (u, v) = uv.map_or((None, None), |(u, v)| (Some(u), Some(v)));

    mesh.positions.reserve_exact(element.count);
    mesh.uvs.reserve_exact(if uv.is_some() { element.count } else { 0 });
    for row in 0..element.count {
        body.begin_row(element, row)?;
        let place = body.place();
        let mut position = DVec3::ZERO;
        let mut texture = [0.0; 2];
        for (i, property) in element.properties.iter().enumerate() {
            let target = match i {
                _ if i == x => &mut position.x,
                _ if i == y => &mut position.y,
                _ if i == z => &mut position.z,
                _ if Some(i) == u => &mut texture[0],
                _ if Some(i) == v => &mut texture[1],
                _ => {
                    body.skip_property(property)?;
                    continue;
                }
            };
            if let Kind::Scalar(scalar) = property.kind {
                *target = body.value(scalar)?;
            }
        }
        mesh.positions.push(finite_position(FORMAT, place, position)?);
        if uv.is_some() {
            mesh.uvs.push(finite_uv(FORMAT, place, texture)?);
        }
        body.end_row(element)?;
    }
    Ok(())
}

fn read_faces(
    body: &mut Body<'_>,
    element: &Element<'_>,
    vertex_count: usize,
    limits: &Limits,
    mesh: &mut TriMesh,
) -> Result<(), ImportError> {
    if element.count == 0 {
        return Ok(()); // point clouds announce no faces, some without saying what a face would be
    }
    let is_index_list =
        |p: &Property<'_>| INDEX_NAMES.contains(&p.name) && matches!(p.kind, Kind::List { .. });
    let Some(indices) = element.properties.iter().position(is_index_list) else {
        let what = "element 'face' does not have the list property vertex_indices";
        let fix = "add: property list uchar int vertex_indices";
        return Err(malformed(FORMAT, Place::Line(element.line), what, fix));
    };
    limits.check_triangles(FORMAT, Place::Line(element.line), element.count)?;

    mesh.triangles.reserve_exact(element.count);
    let mut polygon: Vec<u32> = Vec::new();
    for row in 0..element.count {
        body.begin_row(element, row)?;
        let place = body.place();
        for (i, property) in element.properties.iter().enumerate() {
            match property.kind {
                Kind::List { count, item } if i == indices => {
                    let corners = body.list_count(count, item)?;
                    polygon.clear();
                    for _ in 0..corners {
                        polygon.push(read_index(body, item, vertex_count)?);
                    }
                }
                _ => body.skip_property(property)?,
            }
        }
        if polygon.len() < 3 {
            let what = format!("a face needs at least 3 corners, this one has {}", polygon.len());
            return Err(malformed(FORMAT, place, what, "remove the face"));
        }
        limits.check_triangles(FORMAT, place, mesh.triangles.len() + polygon.len() - 2)?;
        mesh.triangles.extend(fan(&polygon));
        body.end_row(element)?;
    }
    Ok(())
}

fn read_index(body: &mut Body<'_>, item: Scalar, vertex_count: usize) -> Result<u32, ImportError> {
    let place = body.place();
    let value = body.value(item)?;
    match whole(value) {
        Some(index) if index < vertex_count => Ok(index as u32), // fits: the count is at most MAX_VERTICES
        _ if value.trunc() == value => Err(ImportError::IndexOutOfRange {
            format: FORMAT,
            place,
            what: "vertex",
            index: value as i64,
            count: vertex_count,
            counting: "PLY counts from 0",
        }),
        _ => {
            let what = format!("a face names vertex {value}");
            Err(malformed(FORMAT, place, what, "an index is a whole number, the first vertex is 0"))
        }
    }
}

fn skip_element(body: &mut Body<'_>, element: &Element<'_>) -> Result<(), ImportError> {
    if element.properties.is_empty() {
        return Ok(()); // rows without values take no space, however many there are
    }
    if let (Body::Binary { cursor, .. }, true) = (&mut *body, element.is_scalar_only()) {
        let needed = element.smallest_row(Encoding::LittleEndian).saturating_mul(element.count);
        return cursor.take(needed).map(|_| ()).ok_or_else(|| ends_early(cursor, needed));
    }
    for row in 0..element.count {
        body.begin_row(element, row)?;
        for property in &element.properties {
            body.skip_property(property)?;
        }
        body.end_row(element)?;
    }
    Ok(())
}
