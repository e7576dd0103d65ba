//! `record!`: dictionaries behind the dataclasses of the Python package.

/// Creates a dictionary of named values. For functions that return a `PyResult` or a `Result` of this crate.
macro_rules! record {
    ($py:expr, { $($name:ident: $value:expr),* $(,)? }) => {{
        let record = pyo3::types::PyDict::new($py);
        $(pyo3::types::PyDictMethods::set_item(&record, stringify!($name), $value)?;)*
        record
    }};
}

pub(super) use record;
