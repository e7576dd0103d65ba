//! JavaScript functions that the engine calls while it works.
//!
//! The engine accepts only callbacks that may move between threads, and JavaScript values may not. The function therefore
//! stays in a variable of the thread, where the engine's callback finds it.

use std::cell::RefCell;

use js_sys::Function;
use wasm_bindgen::prelude::*;

thread_local! {
    static CURRENT: RefCell<Callback> = const { RefCell::new(Callback { function: None, thrown: None }) };
}

/// A function, and the error it threw.
struct Callback {
    function: Option<Function>,
    thrown: Option<JsValue>,
}

/// Runs `work` with a function to call.
///
/// # Errors
/// Returns the error of `work`, or the first that the function threw.
pub(crate) fn with<R>(function: Option<Function>, work: impl FnOnce() -> Result<R, JsValue>) -> Result<R, JsValue> {
    // The function may start another piece of work, so the outer one is kept.
    let outer = CURRENT.replace(Callback { function, thrown: None });
    let result = work();
    let inner = CURRENT.replace(outer);
    match inner.thrown {
        Some(thrown) => Err(thrown),
        None => result,
    }
}

/// Calls the function; returns whether to continue, that is, unless the function returned `false` or threw an error.
pub(crate) fn call(argument: impl FnOnce() -> Result<JsValue, JsValue>) -> bool {
    let function = CURRENT.with_borrow(|current| current.function.clone());
    let Some(function) = function else { return true };
    match argument().and_then(|argument| function.call1(&JsValue::NULL, &argument)) {
        Ok(answer) => answer != JsValue::FALSE,
        Err(thrown) => {
            CURRENT.with_borrow_mut(|current| current.thrown = Some(thrown));
            false
        }
    }
}

/// Returns whether the function threw an error.
#[cfg(feature = "nn")]
pub(crate) fn has_thrown() -> bool {
    CURRENT.with_borrow(|current| current.thrown.is_some())
}

/// Ends the work with an error.
#[cfg(feature = "nn")]
pub(crate) fn throw(error: JsValue) {
    CURRENT.with_borrow_mut(|current| current.thrown = Some(error));
}
