//! VTK legacy `.vtk` unstructured grids, text and binary (FAU-01), after "VTK File Formats" of the VTK User's Guide.
//!
//! Read: `POINTS`, `CELLS` in the old form (a count before each cell) and in that of version 5 (`OFFSETS`, `CONNECTIVITY`),
//! `CELL_TYPES`, of which tetrahedra (10) and the corners of those of second order (24) are kept. The label of a cell comes from
//! the first array of the `CELL_DATA` (`SCALARS` or in a `FIELD`) whose name is one of [`LABEL_NAMES`]. Other arrays are
//! passed over, and nothing is looked at from the first of an unknown kind on. Binary numbers are big-endian, as the format says.

use super::numbers::{Encoding, Numbers, Scalar, whole};
use super::reader::{Words, excerpt};
use super::solid::{Found, label};
use super::{ImportError, Limits, MeshFormat, Place, malformed};

const FORMAT: MeshFormat = MeshFormat::Vtk;

/// Names, in lower case, of cell arrays that are taken for labels: what Souple, Gmsh, MEDIT, meshio, SimVascular and 3D Slicer write.
pub(super) const LABEL_NAMES: [&str; 10] = [
    "label",
    "labels",
    "region",
    "material",
    "materials",
    "cellentityids",
    "physical",
    "gmsh:physical",
    "medit:ref",
    "modelregionid",
];

/// Whether a cell array of this name has labels.
pub(super) fn is_label_name(name: &[u8]) -> bool {
    LABEL_NAMES.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// Tetrahedra of first and of second order.
fn is_tetrahedron(kind: f64) -> bool {
    kind == 10.0 || kind == 24.0
}

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Found, ImportError> {
    let mut words = Words::new(bytes, 0, 1);
    if (words.word(), words.word()) != (Some(b"#"), Some(b"vtk")) {
        let what = "a VTK file begins with '# vtk DataFile Version', this one does not";
        return Err(ImportError::WrongFormat { format: FORMAT, what });
    }
    words.skip_line_before_binary();
    words.skip_line_before_binary(); // the title, any text
    let mut numbers = Numbers::new(words, FORMAT);
    let encoding = numbers.word("ASCII or BINARY")?;
    let binary = match encoding.to_ascii_uppercase().as_slice() {
        b"ASCII" => false,
        b"BINARY" => true,
        _ => return Err(numbers.unexpected(encoding, "ASCII or BINARY")),
    };
    expect(&mut numbers, b"DATASET")?;
    let kind = numbers.word("the kind of the data")?;
    if !kind.eq_ignore_ascii_case(b"UNSTRUCTURED_GRID") {
        let what = format!("the file holds '{}', not an unstructured grid", excerpt(kind));
        return Err(malformed(
            FORMAT,
            numbers.words.place(),
            what,
            "save a mesh of tetrahedra as UNSTRUCTURED_GRID",
        ));
    }
    if binary {
        numbers.encoding = Encoding::Binary { big_endian: true };
    }
    let mut grid =
        Grid { numbers, limits, found: Found::default(), cells: Cells::default(), kinds: Vec::new() };
    grid.read_sections()?;
    grid.assemble()
}

fn expect(numbers: &mut Numbers<'_>, keyword: &[u8]) -> Result<(), ImportError> {
    let word = numbers.word("a keyword")?;
    match word.eq_ignore_ascii_case(keyword) {
        true => Ok(()),
        false => Err(numbers.unexpected(word, &format!("'{}'", excerpt(keyword)))),
    }
}

/// Corners of cells: those of cell i are from `ends[i - 1]` to `ends[i]`.
#[derive(Default)]
struct Cells {
    corners: Vec<u32>,
    ends: Vec<usize>,
}

struct Grid<'a> {
    numbers: Numbers<'a>,
    limits: &'a Limits,
    found: Found,
    cells: Cells,
    kinds: Vec<u8>,
}

impl<'a> Grid<'a> {
    fn read_sections(&mut self) -> Result<(), ImportError> {
        // How many values attributes have, and whether they are those of cells.
        let (mut rows, mut of_cells) = (0, false);
        while let Some(word) = self.numbers.words.first_word() {
            match word.to_ascii_uppercase().as_slice() {
                b"POINTS" => self.read_points()?,
                b"CELLS" => self.read_cells()?,
                b"CELL_TYPES" => self.read_kinds()?,
                b"METADATA" => self.skip_metadata(),
                b"CELL_DATA" | b"POINT_DATA" => {
                    of_cells = word.eq_ignore_ascii_case(b"CELL_DATA");
                    rows = self.numbers.text_count(1, "rows of data")?;
                }
                b"SCALARS" => self.read_scalars(rows, of_cells)?,
                b"VECTORS" | b"NORMALS" => {
                    self.numbers.word("the name of an array")?;
                    let scalar = self.scalar()?;
                    self.begin_rows();
                    self.read_array(b"", scalar, 3, rows, false)?;
                }
                b"FIELD" => self.read_field(of_cells)?,
                // Data of other kinds comes after all that makes the grid, and is no label.
                _ if !self.kinds.is_empty() => break,
                _ => {
                    return Err(self
                        .numbers
                        .unexpected(word, "a section such as POINTS, CELLS or CELL_TYPES"));
                }
            }
        }
        Ok(())
    }

    fn read_points(&mut self) -> Result<(), ImportError> {
        if !self.found.positions.is_empty() {
            return Err(self.numbers.wrong("a second list of points", "save one grid per file"));
        }
        let count = self.numbers.text_count(12, "points")?;
        self.limits.check_vertices(FORMAT, self.numbers.words.place(), count)?;
        let scalar = self.scalar()?;
        self.begin_rows();
        for _ in 0..count {
            let place = self.numbers.place();
            let mut p = [0.0; 3];
            for coordinate in &mut p {
                *coordinate = self.numbers.number(scalar, "a coordinate of a point")?;
            }
            self.found.vertex(p, FORMAT, place, self.limits)?;
        }
        Ok(())
    }

    fn read_cells(&mut self) -> Result<(), ImportError> {
        if !self.cells.ends.is_empty() {
            return Err(self.numbers.wrong("a second list of cells", "save one grid per file"));
        }
        let count = self.numbers.text_count(4, "cells")?;
        let size = self.numbers.text_count(4, "numbers of cells")?;
        self.begin_rows();
        let before = self.numbers.words.clone();
        if self.numbers.words.first_word().is_some_and(|word| word.eq_ignore_ascii_case(b"OFFSETS")) {
            return self.read_offsets(count, size);
        }
        self.numbers.words = before;
        for _ in 0..count {
            let corners = self.numbers.whole(Scalar::I32, "a count of corners")?;
            let corners = self.numbers.room(corners, 4, "corners")?;
            for _ in 0..corners {
                let corner = self.corner(Scalar::I32)?;
                self.cells.corners.push(corner);
            }
            self.cells.ends.push(self.cells.corners.len());
        }
        Ok(())
    }

    /// Cells as version 5 of the format has them: `count` is one more than there are cells.
    fn read_offsets(&mut self, count: usize, size: usize) -> Result<(), ImportError> {
        let scalar = self.scalar()?;
        self.begin_rows();
        for i in 0..count {
            let place = self.numbers.place();
            let offset = self.numbers.whole(scalar, "an offset")?;
            let last = self.cells.ends.last().copied().unwrap_or_default();
            let offset = usize::try_from(offset).unwrap_or(usize::MAX);
            if offset < last || offset > size || (i == 0 && offset != 0) {
                let what =
                    format!("offset {offset} of cell {i} is below the last or beyond the {size} corners");
                return Err(malformed(FORMAT, place, what, "the file is damaged: export it again"));
            }
            if i > 0 {
                self.cells.ends.push(offset);
            }
        }
        let keyword = self.numbers.word("'CONNECTIVITY'")?;
        if !keyword.eq_ignore_ascii_case(b"CONNECTIVITY") {
            return Err(self.numbers.unexpected(keyword, "'CONNECTIVITY'"));
        }
        let scalar = self.scalar()?;
        self.begin_rows();
        for _ in 0..size {
            let corner = self.corner(scalar)?;
            self.cells.corners.push(corner);
        }
        Ok(())
    }

    fn corner(&mut self, scalar: Scalar) -> Result<u32, ImportError> {
        let place = self.numbers.place();
        let index = self.numbers.signed(scalar, "a corner of a cell")?;
        let count = self.found.positions.len();
        match u32::try_from(index) {
            Ok(corner) if (corner as usize) < count => Ok(corner),
            _ => Err(out_of_range(FORMAT, place, index, count)),
        }
    }

    fn read_kinds(&mut self) -> Result<(), ImportError> {
        let count = self.numbers.text_count(4, "types of cells")?;
        self.begin_rows();
        for _ in 0..count {
            // No type is beyond a byte; one that is counts as unknown.
            self.kinds.push(self.numbers.number(Scalar::I32, "the type of a cell")? as u8);
        }
        Ok(())
    }

    fn read_scalars(&mut self, rows: usize, of_cells: bool) -> Result<(), ImportError> {
        let name = self.numbers.word("the name of an array")?;
        let scalar = self.scalar()?;
        let parts = match self.numbers.words.word() {
            Some(parts) => small(parts).ok_or_else(|| self.numbers.unexpected(parts, "a count of parts"))?,
            None => 1,
        };
        self.begin_rows();
        let before = self.numbers.words.clone();
        if self.numbers.words.first_word().is_some_and(|word| word.eq_ignore_ascii_case(b"LOOKUP_TABLE")) {
            self.numbers.word("the name of a table")?;
            self.begin_rows();
        } else {
            self.numbers.words = before; // some programs leave it out
        }
        self.read_array(name, scalar, parts, rows, of_cells)
    }

    /// Reads arrays with their own names and sizes.
    fn read_field(&mut self, of_cells: bool) -> Result<(), ImportError> {
        self.numbers.word("the name of a field")?;
        let arrays = self.numbers.text_count(8, "arrays")?;
        for _ in 0..arrays {
            let mut name = self.numbers.word("the name of an array")?;
            while name.eq_ignore_ascii_case(b"METADATA") {
                self.skip_metadata();
                name = self.numbers.word("the name of an array")?;
            }
            let parts = self.numbers.text_count(0, "parts")?;
            let rows = self.numbers.text_count(0, "rows")?;
            let scalar = self.scalar()?;
            self.begin_rows();
            self.read_array(name, scalar, parts, rows, of_cells)?;
        }
        Ok(())
    }

    /// Reads an array: the labels of the cells, if it has their name and size, or else passes over it.
    fn read_array(
        &mut self,
        name: &[u8],
        scalar: Scalar,
        parts: usize,
        rows: usize,
        of_cells: bool,
    ) -> Result<(), ImportError> {
        let count = (parts as u64).saturating_mul(rows as u64);
        let count = self.numbers.room(count, scalar.bytes(), "values of an array")?;
        let fits = parts == 1 && rows == self.cells.ends.len();
        if !(of_cells && is_label_name(name) && fits && self.found.labels.is_empty()) {
            return self.numbers.skip(scalar, count, "a value of an array");
        }
        for _ in 0..count {
            self.found.labels.push(label(self.numbers.number(scalar, "a label")?));
        }
        Ok(())
    }

    /// Metadata ends with an empty line, and so does whatever is left of the data before it.
    fn skip_metadata(&mut self) {
        self.numbers.words.next_line();
        while self.numbers.words.word().is_some() {
            self.numbers.words.next_line();
        }
    }

    fn scalar(&mut self) -> Result<Scalar, ImportError> {
        let word = self.numbers.word("the type of numbers")?;
        Ok(match word.to_ascii_lowercase().as_slice() {
            b"char" | b"signed_char" | b"vtktypeint8" => Scalar::I8,
            b"unsigned_char" | b"vtktypeuint8" => Scalar::U8,
            b"short" | b"vtktypeint16" => Scalar::I16,
            b"unsigned_short" | b"vtktypeuint16" => Scalar::U16,
            b"int" | b"vtktypeint32" => Scalar::I32,
            b"unsigned_int" | b"vtktypeuint32" => Scalar::U32,
            b"long" | b"long_long" | b"vtkidtype" | b"vtktypeint64" => Scalar::I64,
            b"unsigned_long" | b"unsigned_long_long" | b"vtktypeuint64" => Scalar::U64,
            b"float" => Scalar::F32,
            b"double" => Scalar::F64,
            _ => return Err(self.numbers.unexpected(word, "a type such as float, double or int")),
        })
    }

    /// Binary rows begin on the next line.
    fn begin_rows(&mut self) {
        if self.numbers.encoding != Encoding::Text {
            self.numbers.words.skip_line_before_binary();
        }
    }

    fn assemble(self) -> Result<Found, ImportError> {
        let Grid { numbers, limits, mut found, cells, kinds } = self;
        let labels = std::mem::take(&mut found.labels);
        let kinds: Vec<f64> = kinds.into_iter().map(f64::from).collect();
        let piece = Piece { corners: &cells.corners, ends: &cells.ends, kinds: &kinds, labels: &labels };
        piece.add_to(&mut found, FORMAT, numbers.place(), limits)?;
        Ok(found)
    }
}

/// Cells whose corners are in range.
pub(super) struct Piece<'a> {
    pub(super) corners: &'a [u32],
    /// Those of cell i are from `ends[i - 1]` to `ends[i]`.
    pub(super) ends: &'a [usize],
    pub(super) kinds: &'a [f64],
    /// One per cell, or none.
    pub(super) labels: &'a [u32],
}

impl Piece<'_> {
    /// Adds the tetrahedra among the cells.
    pub(super) fn add_to(
        &self,
        found: &mut Found,
        format: MeshFormat,
        place: Place,
        limits: &Limits,
    ) -> Result<(), ImportError> {
        if self.ends.len() != self.kinds.len() {
            let what =
                format!("there are {} cells, but {} types of cells", self.ends.len(), self.kinds.len());
            return Err(malformed(format, place, what, "the file is damaged: export it again"));
        }
        let mut start = 0;
        for (i, (&end, &kind)) in self.ends.iter().zip(self.kinds).enumerate() {
            let cell = self.corners.get(start..end).unwrap_or_default();
            start = end;
            if !is_tetrahedron(kind) {
                continue;
            }
            let &[a, b, c, d, ..] = cell else {
                let what = format!("cell {i} is a tetrahedron of {} corners", cell.len());
                return Err(malformed(format, place, what, "a tetrahedron has 4: export the file again"));
            };
            let label = self.labels.get(i).copied().unwrap_or_default();
            found.tetrahedron([a, b, c, d], label, i as u64, format, place, limits)?;
        }
        Ok(())
    }
}

/// A corner beyond the points.
pub(super) fn out_of_range(format: MeshFormat, place: Place, index: i64, count: usize) -> ImportError {
    let counting = "VTK counts from 0";
    ImportError::IndexOutOfRange { format, place, what: "vertex", index, count, counting }
}

fn small(word: &[u8]) -> Option<usize> {
    whole(std::str::from_utf8(word).ok()?.parse().ok()?).and_then(|n| usize::try_from(n).ok())
}
