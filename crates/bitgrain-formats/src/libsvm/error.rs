//! Errors of the libsvm reader.

/// Reason why bytes are not a libsvm file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LibsvmError {
    /// The label is not a number.
    #[error("line {line}: label `{found}` is not a number")]
    Label {
        /// 1-based line number.
        line: usize,
        /// The first token of the line.
        found: String,
    },
    /// The weight after the label is not a number.
    #[error("line {line}: weight `{found}` is not a number; write labels with weights as `label:weight`")]
    Weight {
        /// 1-based line number.
        line: usize,
        /// The token after the colon.
        found: String,
    },
    /// Only some lines have weights.
    #[error("line {line}: weights must be given on all lines or on none")]
    SomeWeights {
        /// 1-based number of the first line that differs from the lines before it.
        line: usize,
    },
    /// Only some lines have a query.
    #[error("line {line}: `qid` must be given on all lines or on none")]
    SomeQueries {
        /// 1-based number of the first line that differs from the lines before it.
        line: usize,
    },
    /// A line with two queries.
    #[error("line {line}: `qid` is given twice; a row belongs to one query")]
    TwoQueries {
        /// 1-based line number.
        line: usize,
    },
    /// A token that is not `index:value`.
    #[error("line {line}: `{found}` is not of the form `index:value`")]
    Pair {
        /// 1-based line number.
        line: usize,
        /// The token.
        found: String,
    },
    /// A feature index above the limit.
    #[error("line {line}: feature index {index} exceeds the maximum of {most}")]
    Index {
        /// 1-based line number.
        line: usize,
        /// The index.
        index: u64,
        /// Largest supported index.
        most: u32,
    },
    /// The largest index is out of proportion to the number of entries.
    #[error(
        "the largest feature index is {index}, but the file has only {entries} entries; number the features \
         consecutively from 1"
    )]
    Gaps {
        /// Largest index.
        index: usize,
        /// Number of entries in all rows.
        entries: usize,
    },
    /// Indices of a line that are not in ascending order.
    #[error("line {line}: index {index} follows index {before}; indices must ascend within a line")]
    Order {
        /// 1-based line number.
        line: usize,
        /// The index.
        index: u32,
        /// The index before it.
        before: u32,
    },
}
