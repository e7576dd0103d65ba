//! Native extension of the Python package: converts arguments and results; all computation is in `bitgrain`.
//!
//! | module | contents |
//! |---|---|
//! | `boosting` | datasets, training, models |
//! | `weights` | quantized tensors, weight stores, networks, model files |
//! | `store` | tensor store |
//! | `error` | conversion of errors to exceptions |
//! | `panic` | conversion of panics to exceptions |
//! | `process` | thread pools of forked processes |
//! | `command` | `python -m bitgrain` |
//!
//! The public API is in `python/bitgrain/`; `_native.pyi` there has the signatures of the types in this crate.

mod boosting;
mod command;
mod error;
mod panic;
mod process;
mod store;
mod weights;

use pyo3::prelude::*;

/// The native extension of bitgrain.
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
    // PyO3 adds an `__all__`, but the public names are defined in `python/bitgrain/`.
    module.delattr("__all__")
}
