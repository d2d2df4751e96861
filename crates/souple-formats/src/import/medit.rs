//! MEDIT `.mesh`, text (FAU-01), after P. J. Frey, "MEDIT: An interactive mesh visualization software", 2001.
//!
//! Read: `Dimension 3`, `Vertices` (x y z reference) and `Tetrahedra` (four corners from 1, reference), which become labels.
//! Other sections (triangles, edges, normals, required vertices) are passed over. Comments begin with `#`. The binary form,
//! `.meshb`, is not read.

use super::numbers::{Numbers, Scalar};
use super::reader::Words;
use super::solid::{Found, label};
use super::{ImportError, Limits, MeshFormat, Place};

const FORMAT: MeshFormat = MeshFormat::Medit;

pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Found, ImportError> {
    let mut numbers = Numbers::new(Words::with_comments(bytes), FORMAT);
    let begins = numbers.words.first_word();
    if !begins.is_some_and(|word| word.eq_ignore_ascii_case(b"MeshVersionFormatted")) {
        let what = "a MEDIT text begins with 'MeshVersionFormatted', this one does not";
        return Err(ImportError::WrongFormat { format: FORMAT, what });
    }
    numbers.whole(Scalar::F64, "the version")?;
    let mut found = Found::default();
    let mut rows: Vec<([u64; 4], f64, Place)> = Vec::new();
    while let Some(word) = numbers.words.first_word() {
        match word.to_ascii_lowercase().as_slice() {
            b"dimension" => check_dimension(&mut numbers)?,
            b"vertices" => read_vertices(&mut numbers, &mut found, limits)?,
            b"tetrahedra" => read_tetrahedra(&mut numbers, &mut rows, limits)?,
            b"end" => break,
            // Numbers of a section that is not needed, or its name.
            _ => {}
        }
    }
    // Corners are checked at the end: the vertices may come after.
    let count = found.positions.len();
    for (row, (corners, reference, place)) in (1u64..).zip(rows) {
        let mut kept = [0; 4];
        for (slot, corner) in kept.iter_mut().zip(corners) {
            if corner == 0 || corner > count as u64 {
                return Err(ImportError::IndexOutOfRange {
                    format: FORMAT,
                    place,
                    what: "vertex",
                    index: i64::try_from(corner).unwrap_or(i64::MAX),
                    count,
                    counting: "MEDIT counts from 1",
                });
            }
            *slot = (corner - 1) as u32; // fits: the count is at most MAX_VERTICES
        }
        found.tetrahedron(kept, label(reference), row, FORMAT, place, limits)?;
    }
    Ok(found)
}

fn check_dimension(numbers: &mut Numbers<'_>) -> Result<(), ImportError> {
    match numbers.whole(Scalar::F64, "the dimension")? {
        3 => Ok(()),
        _ => Err(numbers.wrong("the mesh is not of three dimensions", "export a mesh of a volume")),
    }
}

fn read_vertices(numbers: &mut Numbers<'_>, found: &mut Found, limits: &Limits) -> Result<(), ImportError> {
    if !found.positions.is_empty() {
        return Err(numbers.wrong("a second list of vertices", "keep one list of vertices"));
    }
    let count = numbers.text_count(32, "vertices")?;
    limits.check_vertices(FORMAT, numbers.place(), count)?;
    for _ in 0..count {
        numbers.words.skip_empty_lines();
        let place = numbers.place();
        let mut p = [0.0; 3];
        for coordinate in &mut p {
            *coordinate = numbers.number(Scalar::F64, "a coordinate of a vertex")?;
        }
        numbers.number(Scalar::F64, "the reference of a vertex")?;
        found.vertex(p, FORMAT, place, limits)?;
    }
    Ok(())
}

fn read_tetrahedra(
    numbers: &mut Numbers<'_>,
    rows: &mut Vec<([u64; 4], f64, Place)>,
    limits: &Limits,
) -> Result<(), ImportError> {
    let count = numbers.text_count(40, "tetrahedra")?;
    limits.check_tetrahedra(FORMAT, numbers.place(), rows.len() + count)?;
    for _ in 0..count {
        numbers.words.skip_empty_lines();
        let place = numbers.place();
        let mut corners = [0; 4];
        for corner in &mut corners {
            *corner = numbers.whole(Scalar::F64, "a corner of a tetrahedron")?;
        }
        rows.push((corners, numbers.number(Scalar::F64, "the reference of a tetrahedron")?, place));
    }
    Ok(())
}
