//! CSV dialect: delimiter and header.

use std::collections::HashSet;
use std::ops::Range;
use std::path::Path;

use bitgrain_formats::csv::{Field, Records};

use super::cell::{flag, number};
use crate::table::{ReadOptions, TableError};

/// UTF-8 byte order mark.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Candidate delimiters, most common first.
const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

#[derive(Debug)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    /// Name of each column.
    pub(super) names: Vec<String>,
    /// Whether the names come from the file.
    pub(super) named: bool,
    /// Offset of the first record of values.
    start: usize,
}

impl Dialect {
    pub(super) fn of(bytes: &[u8], path: &Path, options: &ReadOptions) -> Result<Self, TableError> {
        let begin = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let delimiter = options.delimiter.unwrap_or_else(|| delimiter_of(&bytes[begin..]));
        let mut records = Records::new(bytes, delimiter).within(begin..bytes.len());
        let mut first = Vec::new();
        let found =
            records.next_into(&mut first).map_err(|source| TableError::Csv { path: path.to_owned(), source })?;
        if found.is_none() {
            return Err(TableError::Empty { path: path.to_owned() });
        }
        let named = options.header.unwrap_or_else(|| names_columns(&first));
        let name = |(at, field): (usize, &Field<'_>)| match field.bytes.trim_ascii() {
            b"" => Ok(format!("f{at}")),
            bytes if named => std::str::from_utf8(bytes).map(str::to_owned).map_err(|_| TableError::NotUtf8 {
                path: path.to_owned(),
                line: 1,
                column: format!("f{at}"),
            }),
            _ => Ok(format!("f{at}")),
        };
        let names: Vec<String> = first.iter().enumerate().map(name).collect::<Result<_, _>>()?;
        let mut seen = HashSet::new();
        if let Some(name) = names.iter().find(|name| !seen.insert(name.as_str())) {
            return Err(TableError::DuplicateColumn { name: name.clone() });
        }
        let start = if named { records.position() } else { begin };
        Ok(Self { delimiter, names, named, start })
    }

    /// Splits the file into parts of about `size` bytes at record boundaries. Returns one part if quotes may hide line
    /// ends.
    pub(super) fn parts(&self, bytes: &[u8], size: usize) -> Vec<Range<usize>> {
        let mut start = self.start;
        let size = if bytes[start..].contains(&b'"') { bytes.len() } else { size };
        let mut parts = Vec::new();
        while start < bytes.len() {
            let least = bytes.len().min(start + size);
            let end = bytes[least..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| least + at + 1);
            parts.push(start..end);
            start = end;
        }
        parts
    }
}

/// Returns the delimiter that occurs most often in the first line, outside quotes.
fn delimiter_of(bytes: &[u8]) -> u8 {
    let mut counts = [0_usize; DELIMITERS.len()];
    let mut quoted = false;
    let line = bytes.iter().skip_while(|byte| matches!(byte, b'\n' | b'\r'));
    for byte in line.take_while(|byte| **byte != b'\n') {
        quoted ^= *byte == b'"';
        if let Some(at) = DELIMITERS.iter().position(|delimiter| delimiter == byte).filter(|_| !quoted) {
            counts[at] += 1;
        }
    }
    // `max_by_key` returns the last maximum; reversed, that is the most common delimiter.
    let best = (0..DELIMITERS.len()).rev().max_by_key(|at| counts[*at]).unwrap_or_default();
    DELIMITERS[best]
}

/// Returns whether a record is a header: none of its fields is a number, and at least one is not empty.
fn names_columns(first: &[Field<'_>]) -> bool {
    let value = |field: &Field<'_>| number(&field.bytes).is_some() || flag(&field.bytes).is_some();
    !first.iter().any(value) && first.iter().any(|field| !field.bytes.is_empty())
}
