//! What can be wrong with an XGBoost model.

/// Why bytes are not an XGBoost model this crate reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum XgboostError {
    /// Neither JSON nor UBJSON.
    #[error("not an XGBoost model in JSON or UBJSON; files of the old binary format must be saved anew by XGBoost")]
    Magic,
    /// JSON that is not that of a model.
    #[error("line {line}, column {column}: {message}")]
    Json {
        /// The line, counted from 1.
        line: usize,
        /// The column, counted from 1.
        column: usize,
        /// What the parser said.
        message: String,
    },
    /// UBJSON that is not that of a model.
    #[error("byte {offset}: {message}")]
    Ubjson {
        /// Where reading ended.
        offset: usize,
        /// What is wrong there.
        message: String,
    },
    /// A number in quotes that is none.
    #[error("`{field}` is `{text}`, not a number that fits")]
    Number {
        /// The name of the field.
        field: &'static str,
        /// What stands there, cut to 40 characters.
        text: String,
    },
    /// A list that is too short or too long.
    #[error("{place} has {found} values of `{field}`, {expected} are needed")]
    Length {
        /// The model, or a tree.
        place: String,
        /// The name of the list.
        field: &'static str,
        /// Values needed.
        expected: usize,
        /// Values there.
        found: usize,
    },
}
