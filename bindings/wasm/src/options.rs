//! Options and reports as JavaScript objects, converted through JSON.

use js_sys::JSON;
use serde::Serialize;
use serde::de::DeserializeOwned;
use wasm_bindgen::prelude::*;

use crate::error::{Result, js};

/// Reads options from an object; `undefined` and `null` mean the defaults.
pub(crate) fn read<T: DeserializeOwned + Default>(options: &JsValue) -> Result<T> {
    if options.is_undefined() || options.is_null() {
        return Ok(T::default());
    }
    if !options.is_object() {
        return Err(js("invalid options: not an object; pass an object such as `{ target: \"price\" }`"));
    }
    let text = String::from(JSON::stringify(options)?);
    serde_json::from_str(&text).map_err(|error| js(format!("invalid options: {}", without_place(&error.to_string()))))
}

/// Converts a report to an object. Numbers that JSON lacks, such as infinity, become `null`.
pub(crate) fn write(report: &impl Serialize) -> Result<JsValue> {
    JSON::parse(&serde_json::to_string(report).map_err(js)?)
}

/// Drops the position in the JSON text, which the caller has not seen.
fn without_place(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(cause, _)| cause)
}
