//! What can be wrong with a libsvm file.

/// Why bytes are not a libsvm file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LibsvmError {
    /// Not a label.
    #[error("line {line} begins with `{found}`, not with a label that is a number")]
    Label {
        /// Where, counted from 1.
        line: usize,
        /// What it begins with.
        found: String,
    },
    /// A weight behind the label that is none.
    #[error("line {line}: `{found}` is no weight; a label may be followed by a colon and a number")]
    Weight {
        /// Where, counted from 1.
        line: usize,
        /// What follows the colon.
        found: String,
    },
    /// Some lines have weights, this one differs.
    #[error("line {line}: some lines have a weight behind the label, some have none")]
    SomeWeights {
        /// The first that differs from those before it, counted from 1.
        line: usize,
    },
    /// Not `index:value`.
    #[error("line {line}: `{found}` is not an index, a colon and a number")]
    Pair {
        /// Where, counted from 1.
        line: usize,
        /// What there is.
        found: String,
    },
    /// An index larger than any feature has.
    #[error("line {line}: index {index} is larger than {most}")]
    Index {
        /// Where, counted from 1.
        line: usize,
        /// The index.
        index: u64,
        /// The largest that is read.
        most: u32,
    },
    /// Far more features than entries.
    #[error(
        "the largest index is {index}, and there are {entries} entries in all: number the features from 1 on \
         without large gaps"
    )]
    Gaps {
        /// The largest index.
        index: usize,
        /// Entries of all rows.
        entries: usize,
    },
    /// Indices of a line that do not ascend.
    #[error("line {line}: index {index} follows index {before}; the indices of a line ascend")]
    Order {
        /// Where, counted from 1.
        line: usize,
        /// The index.
        index: u32,
        /// The one before.
        before: u32,
    },
}
