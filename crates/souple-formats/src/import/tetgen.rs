//! TetGen `.node` and `.ele`, text (FAU-01), after the manual of TetGen 1.6, section 5.2.
//!
//! Read: the places of the nodes, the first four nodes of every tetrahedron (those of second order have ten), and as label the
//! first attribute of a tetrahedron, which is its region. Nodes are counted from 0 or from 1: the first row of the `.node` file
//! says which. Comments begin with `#`. Attributes and boundary markers of nodes are passed over. Errors say which of the two
//! files is meant.

use super::numbers::{Numbers, Scalar};
use super::reader::Words;
use super::solid::{Found, label};
use super::{ImportError, Limits, MeshFormat};

const FORMAT: MeshFormat = MeshFormat::TetGen;

pub(super) fn read(node: &[u8], ele: &[u8], limits: &Limits) -> Result<Found, ImportError> {
    let mut found = Found::default();
    let first = read_nodes(node, &mut found, limits)?;
    read_tetrahedra(ele, first, &mut found, limits)?;
    Ok(found)
}

/// Reads the nodes and returns the number of the first.
fn read_nodes(node: &[u8], found: &mut Found, limits: &Limits) -> Result<u64, ImportError> {
    let mut numbers = Numbers::new(Words::with_comments(node), FORMAT);
    let count = numbers.text_count(32, "nodes of the .node file")?;
    limits.check_vertices(FORMAT, numbers.place(), count)?;
    let [dimension, attributes, markers] = header(&mut numbers, [3, 0, 0], ".node")?;
    if dimension != 3 {
        let what = format!("the .node file has {dimension} dimensions");
        return Err(numbers.wrong(what, "a mesh of a volume has 3"));
    }
    let more = attributes + markers.min(1);
    let mut first = 0;
    for row in 0..count as u64 {
        numbers.words.skip_empty_lines();
        let place = numbers.place();
        let index = numbers.whole(Scalar::F64, "the number of a node of the .node file")?;
        if row == 0 {
            first = index;
        }
        if index != first + row || first > 1 {
            let what =
                format!("node {index} of the .node file stands where {} is expected", first.min(1) + row);
            return Err(numbers.wrong(what, "number the nodes from 0 or from 1, in order"));
        }
        let mut p = [0.0; 3];
        for coordinate in &mut p {
            *coordinate = numbers.number(Scalar::F64, "a coordinate of the .node file")?;
        }
        numbers.skip(Scalar::F64, more, "an attribute of the .node file")?;
        found.vertex(p, FORMAT, place, limits)?;
    }
    Ok(first)
}

fn read_tetrahedra(ele: &[u8], first: u64, found: &mut Found, limits: &Limits) -> Result<(), ImportError> {
    let mut numbers = Numbers::new(Words::with_comments(ele), FORMAT);
    let count = numbers.text_count(40, "tetrahedra of the .ele file")?;
    limits.check_tetrahedra(FORMAT, numbers.place(), count)?;
    let [nodes, attributes, _] = header(&mut numbers, [4, 0, 0], ".ele")?;
    if nodes != 4 && nodes != 10 {
        let what = format!("the .ele file has {nodes} nodes per tetrahedron");
        return Err(numbers.wrong(what, "they have 4, or 10 with nodes between the corners"));
    }
    for _ in 0..count {
        numbers.words.skip_empty_lines();
        let place = numbers.place();
        let name = numbers.whole(Scalar::F64, "the number of a tetrahedron of the .ele file")?;
        let mut corners = [0; 4];
        for corner in &mut corners {
            let index = numbers.whole(Scalar::F64, "a corner of the .ele file")?;
            let vertices = found.positions.len();
            *corner = match index.checked_sub(first) {
                Some(from_zero) if from_zero < vertices as u64 => from_zero as u32,
                _ => {
                    return Err(ImportError::IndexOutOfRange {
                        format: FORMAT,
                        place,
                        what: "vertex",
                        index: i64::try_from(index).unwrap_or(i64::MAX),
                        count: vertices,
                        counting: "as the .node file counts, from 0 or from 1",
                    });
                }
            };
        }
        numbers.skip(Scalar::F64, nodes - 4, "a node of the .ele file")?;
        let region =
            if attributes > 0 { numbers.number(Scalar::F64, "a region of the .ele file")? } else { 0.0 };
        numbers.skip(Scalar::F64, attributes.saturating_sub(1), "an attribute of the .ele file")?;
        found.tetrahedron(corners, label(region), name, FORMAT, place, limits)?;
    }
    Ok(())
}

/// What follows the count on the first line; what is not there is as given.
fn header(numbers: &mut Numbers<'_>, mut values: [usize; 3], file: &str) -> Result<[usize; 3], ImportError> {
    for value in &mut values {
        let Some(word) = numbers.words.word() else { break };
        let parsed = std::str::from_utf8(word).ok().and_then(|text| text.parse().ok());
        // No attribute takes less than two bytes of each row.
        *value = parsed.filter(|&value: &usize| value < 1 << 16).ok_or_else(|| {
            numbers.unexpected(word, &format!("a small whole number of the {file} file's first line"))
        })?;
    }
    Ok(values)
}
