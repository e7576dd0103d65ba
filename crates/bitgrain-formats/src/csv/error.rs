//! What can be wrong with CSV.

/// Why bytes are not CSV.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CsvError {
    /// A quote that is never closed.
    #[error("line {line}: the quote that opens here is never closed")]
    OpenQuote {
        /// Where it opens, counted from 1.
        line: usize,
    },
    /// A field that goes on after its closing quote.
    #[error("line {line}: `{}` follows a closing quote; quotes inside a quoted field are doubled", found.escape_ascii())]
    AfterQuote {
        /// Where it is, counted from 1.
        line: usize,
        /// What follows.
        found: u8,
    },
    /// A NUL byte.
    #[error("line {line} holds a NUL byte: this is no text in UTF-8 (UTF-16 must be converted first)")]
    Nul {
        /// Where it is, counted from 1.
        line: usize,
    },
}
