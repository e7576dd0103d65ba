//! Concatenation of column pieces from the parts of a file.

use std::collections::BTreeSet;

use super::{ColumnData, Numbers, StringColumn};

/// Stores numbers in f32 if it is exact for all of them or rounding is requested, else in f64.
pub(super) fn narrowed(values: Vec<f64>, numbers: Numbers) -> ColumnData {
    let exact = |value: &f64| value.is_nan() || f64::from(rounded(*value)) == *value;
    if numbers == Numbers::F32 || values.iter().all(exact) {
        return ColumnData::F32(values.into_iter().map(rounded).collect());
    }
    ColumnData::F64(values)
}

/// Concatenates the pieces of a column. Either all or none are strings.
pub(super) fn joined(mut pieces: Vec<ColumnData>) -> ColumnData {
    if pieces.len() == 1 {
        return pieces.remove(0);
    }
    let len = pieces.iter().map(ColumnData::len).sum();
    if pieces.iter().any(|piece| matches!(piece, ColumnData::Strings(_))) {
        return ColumnData::Strings(joined_strings(pieces, len));
    }
    if pieces.iter().any(|piece| matches!(piece, ColumnData::F64(_))) {
        let mut all = Vec::with_capacity(len);
        for piece in pieces {
            match piece {
                ColumnData::F32(values) => all.extend(values.into_iter().map(f64::from)),
                ColumnData::F64(values) => all.extend(values),
                ColumnData::Strings(_) => {}
            }
        }
        return ColumnData::F64(all);
    }
    let mut all = Vec::with_capacity(len);
    for piece in pieces {
        if let ColumnData::F32(values) = piece {
            all.extend(values);
        }
    }
    ColumnData::F32(all)
}

fn joined_strings(pieces: Vec<ColumnData>, len: usize) -> StringColumn {
    let strings: Vec<StringColumn> = pieces.into_iter().map(as_text).collect();
    let labels: BTreeSet<&str> = strings.iter().flat_map(|text| &text.labels).map(String::as_str).collect();
    let labels: Vec<String> = labels.into_iter().map(str::to_owned).collect();
    let mut codes = Vec::with_capacity(len);
    for text in strings {
        let place = |label: &String| labels.binary_search(label).ok().and_then(|code| u32::try_from(code).ok());
        let places: Vec<u32> = text.labels.iter().map(|label| place(label).unwrap_or(StringColumn::MISSING)).collect();
        codes
            .extend(text.codes.iter().map(|code| places.get(*code as usize).copied().unwrap_or(StringColumn::MISSING)));
    }
    StringColumn { codes, labels }
}

/// Converts a piece to strings. Numbers become missing, but no reader mixes them with strings.
fn as_text(piece: ColumnData) -> StringColumn {
    match piece {
        ColumnData::Strings(text) => text,
        numbers => StringColumn { codes: vec![StringColumn::MISSING; numbers.len()], labels: Vec::new() },
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding is intended")]
pub(super) fn rounded(value: f64) -> f32 {
    value as f32
}
