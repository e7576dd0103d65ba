//! CSV writer: shortest round-trip numbers, quotes only where needed.

use std::borrow::Cow;
use std::io::{self, Write};

use crate::table::{ColumnData, Table};

pub(super) fn write(table: &Table, delimiter: u8, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    for (at, column) in table.columns().iter().enumerate() {
        separate(&mut line, delimiter, at);
        line.extend_from_slice(quoted(&column.name, delimiter).as_bytes());
    }
    line.push(b'\n');
    for row in 0..table.n_rows() {
        // Flush a few thousand bytes at a time.
        if line.len() > 32 << 10 {
            out.write_all(&line)?;
            line.clear();
        }
        for (at, column) in table.columns().iter().enumerate() {
            separate(&mut line, delimiter, at);
            match &column.data {
                ColumnData::F32(values) if values[row].is_nan() => {}
                ColumnData::F64(values) if values[row].is_nan() => {}
                ColumnData::F32(values) => line.extend_from_slice(short(values[row]).as_bytes()),
                ColumnData::F64(values) => line.extend_from_slice(number(values[row]).as_bytes()),
                ColumnData::Strings(text) => {
                    line.extend_from_slice(quoted(text.get(row).unwrap_or_default(), delimiter).as_bytes());
                }
            }
        }
        line.push(b'\n');
    }
    out.write_all(&line)?;
    out.flush()
}

fn separate(line: &mut Vec<u8>, delimiter: u8, at: usize) {
    if at > 0 {
        line.push(delimiter);
    }
}

/// Formats a number: integers without a decimal point, very large and very small numbers with an exponent.
pub(in crate::table) fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:?}") }
}

/// Like [`number`], with the digits of an f32.
fn short(value: f32) -> String {
    if value.fract() == 0.0 && value.abs() < 1e7 { format!("{value:.0}") } else { format!("{value:?}") }
}

fn quoted(text: &str, delimiter: u8) -> Cow<'_, str> {
    let blank = |c: Option<char>| c.is_some_and(|c| c.is_ascii_whitespace());
    let special = text.bytes().any(|byte| byte == delimiter || matches!(byte, b'"' | b'\n' | b'\r'));
    if special || blank(text.chars().next()) || blank(text.chars().last()) {
        return Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")));
    }
    Cow::Borrowed(text)
}
