//! Tables of measures (energies, momentum, strain per frame) as CSV (RFC 4180) and JSON.
//!
//! Promises: numbers are printed with the fewest digits that read back to the same 64-bit float, and a table that is not
//! rectangular is refused. Values that are not finite are kept, since a table of a run that went wrong is worth most:
//! CSV says `NaN`, `inf`, `-inf`, which numpy and pandas read; JSON has no such numbers and says `null`.

use super::ExportError;
use serde::Serialize;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// CSV with a line of column names, commas, `\n` at the end of each line.
pub fn write_csv(columns: &[&str], rows: &[Vec<f64>]) -> Result<Vec<u8>, ExportError> {
    check(columns, rows)?;
    let mut text = String::new();
    for (i, name) in columns.iter().enumerate() {
        push_comma(&mut text, i);
        push_csv_field(&mut text, name);
    }
    text.push('\n');
    for row in rows {
        for (i, &value) in row.iter().enumerate() {
            push_comma(&mut text, i);
            push_number(&mut text, value);
        }
        text.push('\n');
    }
    Ok(text.into_bytes())
}

/// JSON object `{"columns": [names], "data": [[values of row 0], ...]}`, which is what
/// `pandas.read_json(path, orient="split")` reads.
pub fn write_json(columns: &[&str], rows: &[Vec<f64>]) -> Result<Vec<u8>, ExportError> {
    #[derive(Serialize)]
    struct Table<'a> {
        columns: &'a [&'a str],
        data: &'a [Vec<f64>],
    }
    check(columns, rows)?;
    let mut bytes = serde_json::to_vec(&Table { columns, data: rows })?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn check(columns: &[&str], rows: &[Vec<f64>]) -> Result<(), ExportError> {
    if columns.is_empty() {
        return Err(ExportError::NoColumns);
    }
    let mut names = BTreeSet::new();
    if let Some(name) = columns.iter().find(|&&name| !names.insert(name)) {
        return Err(ExportError::DuplicateColumn((*name).to_owned()));
    }
    match rows.iter().position(|row| row.len() != columns.len()) {
        Some(row) => Err(ExportError::RowLength { row, found: rows[row].len(), expected: columns.len() }),
        None => Ok(()),
    }
}

fn push_comma(text: &mut String, column: usize) {
    if column > 0 {
        text.push(',');
    }
}

fn push_csv_field(text: &mut String, field: &str) {
    if field.contains([',', '"', '\n', '\r']) {
        text.push('"');
        text.push_str(&field.replace('"', "\"\""));
        text.push('"');
    } else {
        text.push_str(field);
    }
}

/// Both forms of `f64` printing give the fewest digits; the exponent keeps very small and large numbers short.
fn push_number(text: &mut String, value: f64) {
    let plain = value == 0.0 || (1e-5..1e16).contains(&value.abs()) || !value.is_finite();
    // Writing to a String cannot fail.
    let _ = if plain { write!(text, "{value}") } else { write!(text, "{value:e}") };
}
