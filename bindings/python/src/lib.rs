//! The Python package's native half: arrays in, arrays out, every number from `bitgrain`.
//!
//! | module | what it is |
//! |---|---|
//! | `boosting` | datasets, training, models of trees |
//! | `weights` | quantized tensors, weight stores, networks, model files |
//! | `store` | tensors at rest |
//! | `error` | the tree of exceptions |
//! | `panic` | panics as exceptions |
//! | `process` | work in processes that were forked |
//! | `command` | `python -m bitgrain` |
//!
//! What users see is Python: `python/bitgrain/`. The types here are described in `_native.pyi` beside it.

mod boosting;
mod command;
mod error;
mod panic;
mod process;
mod store;
mod weights;

use pyo3::prelude::*;

/// The native half of bitgrain.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    panic::raise_as_internal_error(module.py())?;
    module.add_function(wrap_pyfunction!(panic::panic_on_purpose, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)?;
    process::remember();
    boosting::register(module)?;
    weights::register(module)?;
    store::register(module)?;
    // What is offered is said in `python/bitgrain/`; a list of names here would only be one more to keep.
    module.delattr("__all__")
}
