//! What can be wrong with the text of a LightGBM model.

/// Why bytes are not a LightGBM model this crate reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LightgbmError {
    /// The first line is another one.
    #[error("not a LightGBM model: the first line is not `tree`")]
    Magic,
    /// A version this crate does not read.
    #[error("LightGBM model version {version} is not supported, v2, v3 and v4 are")]
    Version {
        /// What the file says.
        version: String,
    },
    /// A line that is not UTF-8.
    #[error("line {line} is not UTF-8")]
    NotUtf8 {
        /// The line, counted from 1.
        line: usize,
    },
    /// A line that must be there.
    #[error("{place} has no line `{field}=`")]
    Missing {
        /// The head of the file, or a tree.
        place: String,
        /// The name of the line.
        field: &'static str,
    },
    /// A number that is none.
    #[error("line {line}: `{text}` of `{field}` is not a number that fits")]
    Number {
        /// The line, counted from 1.
        line: usize,
        /// The name of the line.
        field: &'static str,
        /// What stands there, cut to 40 characters.
        text: String,
    },
    /// A list that is too short or too long.
    #[error("{place} has {found} values of `{field}`, {expected} are needed")]
    Length {
        /// The head of the file, or a tree.
        place: String,
        /// The name of the line.
        field: &'static str,
        /// Values needed.
        expected: usize,
        /// Values there.
        found: usize,
    },
    /// Trees that are not numbered from 0 on.
    #[error("line {line}: tree {expected} is due here")]
    TreeOrder {
        /// The line, counted from 1.
        line: usize,
        /// The number it should have.
        expected: usize,
    },
    /// The file ends before its trees do.
    #[error("the file ends before `end of trees`, behind {trees} trees")]
    Truncated {
        /// Trees that were read.
        trees: usize,
    },
}
