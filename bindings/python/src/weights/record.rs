//! `record!`: a dictionary of named values, as dataclasses of the Python half take it.

/// A new dictionary with an entry for each name. In functions that return a `PyResult` or a `Result` of this crate.
macro_rules! record {
    ($py:expr, { $($name:ident: $value:expr),* $(,)? }) => {{
        let record = pyo3::types::PyDict::new($py);
        $(pyo3::types::PyDictMethods::set_item(&record, stringify!($name), $value)?;)*
        record
    }};
}

pub(super) use record;
