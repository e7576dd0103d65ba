//! Metadata, one line per entry.

use bitgrain::formats::gguf::{Array, Value};
use bitgrain::nn::model::ModelMetadata;

use crate::printable::{printable, shortened};

/// Maximum number of characters shown of a value.
const MOST: usize = 72;

/// Maximum number of list elements formatted; more do not fit on a line.
const FIRST: usize = 24;

/// Returns keys and shortened values, in the order of the file.
pub(super) fn lines(metadata: &ModelMetadata) -> Vec<(String, String)> {
    let keys = metadata.gguf.iter().map(|(key, value)| (key, one_line(value)));
    let strings = metadata.user_strings().map(|(key, value)| (key, shortened(value, MOST)));
    keys.chain(strings).map(|(key, value)| (printable(key).into_owned(), value)).collect()
}

fn one_line(value: &Value) -> String {
    match value {
        Value::U8(v) => v.to_string(),
        Value::I8(v) => v.to_string(),
        Value::U16(v) => v.to_string(),
        Value::I16(v) => v.to_string(),
        Value::U32(v) => v.to_string(),
        Value::I32(v) => v.to_string(),
        Value::F32(v) => v.to_string(),
        Value::Bool(v) => v.to_string(),
        Value::String(v) => shortened(v, MOST),
        Value::U64(v) => v.to_string(),
        Value::I64(v) => v.to_string(),
        Value::F64(v) => v.to_string(),
        Value::Array(array) => match array {
            Array::U8(v) => list("u8", v.len(), v.iter()),
            Array::I8(v) => list("i8", v.len(), v.iter()),
            Array::U16(v) => list("u16", v.len(), v.iter()),
            Array::I16(v) => list("i16", v.len(), v.iter()),
            Array::U32(v) => list("u32", v.len(), v.iter()),
            Array::I32(v) => list("i32", v.len(), v.iter()),
            Array::F32(v) => list("f32", v.len(), v.iter()),
            Array::Bool(v) => list("booleans", v.len(), v.iter()),
            // A token can be very long.
            Array::String(v) => list("strings", v.len(), v.iter().map(|text| format!("{:?}", shortened(text, MOST)))),
            Array::U64(v) => list("u64", v.len(), v.iter()),
            Array::I64(v) => list("i64", v.len(), v.iter()),
            Array::F64(v) => list("f64", v.len(), v.iter()),
        },
    }
}

/// Formats a list as `[151936 strings] "!", "\"", …`: its length, and the first elements that fit.
fn list(kind: &str, count: usize, elements: impl Iterator<Item = impl ToString>) -> String {
    let mut line = format!("[{count} {kind}]");
    for (i, element) in elements.take(FIRST).enumerate() {
        let element = element.to_string();
        if line.chars().count() + element.chars().count() + 4 > MOST {
            break;
        }
        line.push_str(if i == 0 { " " } else { ", " });
        line.push_str(&element);
        if i + 1 == count {
            return line;
        }
    }
    if count > 0 { line + ", …" } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_start_with_their_length() {
        assert_eq!(list("i32", 3, [1, 2, 3].iter()), "[3 i32] 1, 2, 3");
        assert_eq!(list("i32", 0, [0; 0].iter()), "[0 i32]");
        let many = list("u8", 1000, vec![255_u8; 1000].iter());
        assert!(many.starts_with("[1000 u8] 255, 255") && many.ends_with(", …"), "{many}");
        assert!(many.chars().count() <= MOST, "{many}");
    }
}
