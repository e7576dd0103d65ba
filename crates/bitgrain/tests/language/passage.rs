//! A passage of prose and its place, on which some rules depend.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// First paragraph of a doc comment or docstring.
    Doc,
    /// Further paragraph, or a comment.
    Comment,
    /// Message of a typed error.
    Error,
    /// Other string literal outside tests.
    Literal,
    /// Line of a document.
    Document,
}

#[derive(Debug)]
pub(crate) struct Passage {
    pub(crate) place: Place,
    /// First line, or the last line of a string literal; 1-based.
    pub(crate) line: usize,
    pub(crate) text: String,
}
