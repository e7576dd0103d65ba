//! GGUF values as JSON strings that name their type, and back. Spec: `spec/weights.md`.

use bitgrain_formats::gguf::{Array, Value};
use serde_json::{Map, Value as Json};

/// Encodes a value, for example `{"u32":3}` or `{"array":{"f32":[1.5,"NaN"]}}`.
pub(super) fn to_text(value: &Value) -> String {
    let inner = match value {
        Value::U8(v) => (*v).into(),
        Value::I8(v) => (*v).into(),
        Value::U16(v) => (*v).into(),
        Value::I16(v) => (*v).into(),
        Value::U32(v) => (*v).into(),
        Value::I32(v) => (*v).into(),
        Value::F32(v) => float((*v).into()),
        Value::Bool(v) => (*v).into(),
        Value::String(v) => v.as_str().into(),
        Value::U64(v) => (*v).into(),
        Value::I64(v) => (*v).into(),
        Value::F64(v) => float(*v),
        Value::Array(array) => elements(array),
    };
    named(value.type_name(), inner).to_string()
}

fn elements(array: &Array) -> Json {
    match array {
        Array::U8(v) => named("u8", v.clone().into()),
        Array::I8(v) => named("i8", v.clone().into()),
        Array::U16(v) => named("u16", v.clone().into()),
        Array::I16(v) => named("i16", v.clone().into()),
        Array::U32(v) => named("u32", v.clone().into()),
        Array::I32(v) => named("i32", v.clone().into()),
        Array::F32(v) => named("f32", v.iter().map(|v| float((*v).into())).collect()),
        Array::Bool(v) => named("bool", v.clone().into()),
        Array::String(v) => named("string", v.iter().collect()),
        Array::U64(v) => named("u64", v.clone().into()),
        Array::I64(v) => named("i64", v.clone().into()),
        Array::F64(v) => named("f64", v.iter().copied().map(float).collect()),
    }
}

fn named(kind: &str, inner: Json) -> Json {
    Json::Object(Map::from_iter([(kind.to_owned(), inner)]))
}

/// Non-finite values become strings, because JSON cannot represent them: `"NaN"`, `"inf"`, `"-inf"`.
fn float(value: f64) -> Json {
    if value.is_finite() { value.into() } else { value.to_string().into() }
}

/// Decodes a string of [`to_text`]; `None` for any other string.
pub(super) fn from_text(text: &str) -> Option<Value> {
    let (kind, inner) = only(serde_json::from_str(text).ok()?)?;
    Some(match kind.as_str() {
        "u8" => Value::U8(unsigned(&inner)?),
        "i8" => Value::I8(signed(&inner)?),
        "u16" => Value::U16(unsigned(&inner)?),
        "i16" => Value::I16(signed(&inner)?),
        "u32" => Value::U32(unsigned(&inner)?),
        "i32" => Value::I32(signed(&inner)?),
        "f32" => Value::F32(single(&inner)?),
        "bool" => Value::Bool(inner.as_bool()?),
        "string" => Value::String(inner.as_str()?.to_owned()),
        "u64" => Value::U64(unsigned(&inner)?),
        "i64" => Value::I64(signed(&inner)?),
        "f64" => Value::F64(double(&inner)?),
        "array" => Value::Array(array(inner)?),
        _ => return None,
    })
}

fn array(inner: Json) -> Option<Array> {
    let (kind, list) = only(inner)?;
    let list = list.as_array()?;
    Some(match kind.as_str() {
        "u8" => Array::U8(all(list, unsigned)?),
        "i8" => Array::I8(all(list, signed)?),
        "u16" => Array::U16(all(list, unsigned)?),
        "i16" => Array::I16(all(list, signed)?),
        "u32" => Array::U32(all(list, unsigned)?),
        "i32" => Array::I32(all(list, signed)?),
        "f32" => Array::F32(all(list, single)?),
        "bool" => Array::Bool(all(list, Json::as_bool)?),
        "string" => Array::String(list.iter().map(Json::as_str).collect::<Option<_>>()?),
        "u64" => Array::U64(all(list, unsigned)?),
        "i64" => Array::I64(all(list, signed)?),
        "f64" => Array::F64(all(list, double)?),
        _ => return None,
    })
}

/// Returns the key and value of an object with exactly one entry.
fn only(json: Json) -> Option<(String, Json)> {
    let Json::Object(entries) = json else { return None };
    let mut entries = entries.into_iter();
    entries.next().filter(|_| entries.next().is_none())
}

fn all<T>(list: &[Json], element: impl Fn(&Json) -> Option<T>) -> Option<Vec<T>> {
    list.iter().map(element).collect()
}

fn unsigned<T: TryFrom<u64>>(json: &Json) -> Option<T> {
    T::try_from(json.as_u64()?).ok()
}

fn signed<T: TryFrom<i64>>(json: &Json) -> Option<T> {
    T::try_from(json.as_i64()?).ok()
}

fn double(json: &Json) -> Option<f64> {
    match json.as_str() {
        Some("NaN") => Some(f64::NAN),
        Some("inf") => Some(f64::INFINITY),
        Some("-inf") => Some(f64::NEG_INFINITY),
        Some(_) => None,
        None => json.as_f64(),
    }
}

/// Rejects numbers outside the range of f32, which [`to_text`] cannot have written.
fn single(json: &Json) -> Option<f32> {
    let wide = double(json)?;
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked below")]
    let value = wide as f32;
    (value.is_finite() == wide.is_finite()).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_name_the_type() {
        let array = Value::Array(Array::F32(vec![1.5, f32::NAN, f32::NEG_INFINITY]));
        assert_eq!(to_text(&Value::U32(3)), r#"{"u32":3}"#);
        assert_eq!(to_text(&Value::String("a \"b\"".into())), r#"{"string":"a \"b\""}"#);
        assert_eq!(to_text(&array), r#"{"array":{"f32":[1.5,"NaN","-inf"]}}"#);
    }

    #[test]
    fn any_other_string_is_not_typed_metadata() {
        for text in [
            "",
            "llama",
            "3",
            "\"llama\"",
            "[1.5,-2.0]",
            "{}",
            r#"{"u8":256}"#,
            r#"{"u8":-1}"#,
            r#"{"u32":1.5}"#,
            r#"{"f32":1e300}"#,
            r#"{"f32":"nan"}"#,
            r#"{"bool":1}"#,
            r#"{"u128":1}"#,
            r#"{"u8":1,"i8":1}"#,
            r#"{"array":[1]}"#,
            r#"{"array":{"u8":[1,"2"]}}"#,
            r#"{"array":{"array":[]}}"#,
        ] {
            assert_eq!(from_text(text), None, "{text}");
        }
    }
}
