//! Errors of the LightGBM model reader.

/// Reason why bytes are not a supported LightGBM model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LightgbmError {
    /// The first line is not `tree`.
    #[error("not a LightGBM model: the first line is not `tree`")]
    Magic,
    /// Unsupported model version.
    #[error("unsupported LightGBM model version `{version}`; supported versions: v2, v3 and v4")]
    Version {
        /// Version in the file.
        version: String,
    },
    /// A line that is not UTF-8.
    #[error("line {line} is not UTF-8")]
    NotUtf8 {
        /// 1-based line number.
        line: usize,
    },
    /// A required line is missing.
    #[error("{place}: missing line `{field}=`")]
    Missing {
        /// Header of the file, or a tree.
        place: String,
        /// Name of the line.
        field: &'static str,
    },
    /// A value that is not a number or does not fit its type.
    #[error("line {line}: value `{text}` of `{field}` is not a valid number")]
    Number {
        /// 1-based line number.
        line: usize,
        /// Name of the line.
        field: &'static str,
        /// The value, cut to 40 characters.
        text: String,
    },
    /// A list of the wrong length.
    #[error("{place}: `{field}` has {found} values, expected {expected}")]
    Length {
        /// Header of the file, or a tree.
        place: String,
        /// Name of the line.
        field: &'static str,
        /// Expected number of values.
        expected: usize,
        /// Number of values found.
        found: usize,
    },
    /// Trees that are not numbered consecutively from 0.
    #[error("line {line}: expected `Tree={expected}`")]
    TreeOrder {
        /// 1-based line number.
        line: usize,
        /// Expected tree number.
        expected: usize,
    },
    /// The file ends before its last tree.
    #[error("the file ends after {trees} trees, before the line `end of trees`")]
    Truncated {
        /// Number of trees read.
        trees: usize,
    },
}
