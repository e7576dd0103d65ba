//! Errors of the CSV reader.

/// Reason why bytes are not valid CSV.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// A quote that is never closed.
    #[error("line {line}: the quote that opens here is never closed")]
    OpenQuote {
        /// 1-based line of the opening quote.
        line: usize,
    },
    /// A field that continues after its closing quote.
    #[error("line {line}: unexpected `{}` after a closing quote; double the quotes inside a quoted field", found.escape_ascii())]
    AfterQuote {
        /// 1-based line number.
        line: usize,
        /// The byte after the quote.
        found: u8,
    },
    /// A NUL byte.
    #[error("line {line}: NUL byte in CSV input; convert UTF-16 files to UTF-8 first")]
    Nul {
        /// 1-based line number.
        line: usize,
    },
}
