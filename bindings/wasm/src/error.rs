//! Errors and panics as JavaScript errors.

use std::fmt::Display;

use wasm_bindgen::prelude::*;

/// Result of a function that JavaScript calls.
pub(crate) type Result<T> = std::result::Result<T, JsValue>;

/// Converts an error to a JavaScript `Error` with the same message.
pub(crate) fn js(error: impl Display) -> JsValue {
    js_sys::Error::new(&error.to_string()).into()
}

/// Throws panics as errors. WebAssembly cannot unwind, and the default, a trap, does not say what happened.
#[wasm_bindgen(start)]
fn throw_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        let cause = panic.payload_as_str().unwrap_or("panic");
        wasm_bindgen::throw_str(&format!("internal error: {cause}{place}; please report it and reload the module"));
    }));
}
