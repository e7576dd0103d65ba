//! Bytes that JavaScript passes as a typed array, a buffer or a blob.

use js_sys::{ArrayBuffer, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::error::{Result, js};

#[wasm_bindgen]
extern "C" {
    /// A blob or a file.
    type Blob;

    #[wasm_bindgen(method, js_name = arrayBuffer)]
    fn array_buffer(this: &Blob) -> Promise;
}

/// Reads the bytes of a typed array, an `ArrayBuffer`, a `Blob` or a `File`.
pub(crate) async fn read(source: JsValue) -> Result<Vec<u8>> {
    let buffer = if let Some(bytes) = source.dyn_ref::<Uint8Array>() {
        return Ok(bytes.to_vec());
    } else if source.is_instance_of::<ArrayBuffer>() {
        source
    } else if js_sys::Reflect::get(&source, &"arrayBuffer".into()).is_ok_and(|member| member.is_function()) {
        JsFuture::from(source.unchecked_into::<Blob>().array_buffer()).await?
    } else {
        return Err(js("cannot read bytes: expected a Uint8Array, an ArrayBuffer, a Blob or a File"));
    };
    Ok(Uint8Array::new(&buffer).to_vec())
}

/// Returns the name of a `File`, or the default.
pub(crate) fn name(source: &JsValue, default: &str) -> String {
    let name = js_sys::Reflect::get(source, &"name".into()).ok().and_then(|name| name.as_string());
    name.unwrap_or_else(|| default.to_owned())
}
