//! Errors of the XGBoost model reader.

/// Reason why bytes are not a supported XGBoost model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum XgboostError {
    /// Neither JSON nor UBJSON.
    #[error("not an XGBoost model in JSON or UBJSON; re-save models of the old binary format with XGBoost")]
    Magic,
    /// Invalid JSON, or JSON that is not a model.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// 1-based line number.
        line: usize,
        /// 1-based column.
        column: usize,
        /// Message of the parser.
        message: String,
    },
    /// Invalid UBJSON, or UBJSON that is not a model.
    #[error("byte {offset}: {message}")]
    Ubjson {
        /// Offset at which reading stopped.
        offset: usize,
        /// Cause of the error.
        message: String,
    },
    /// A quoted number that is invalid or does not fit its type.
    #[error("value `{text}` of `{field}` is not a valid number")]
    Number {
        /// Name of the field.
        field: &'static str,
        /// The value, cut to 40 characters.
        text: String,
    },
    /// A list of the wrong length.
    #[error("{place}: `{field}` has {found} values, expected {expected}")]
    Length {
        /// The model, or a tree.
        place: String,
        /// Name of the list.
        field: &'static str,
        /// Expected number of values.
        expected: usize,
        /// Number of values found.
        found: usize,
    },
}
