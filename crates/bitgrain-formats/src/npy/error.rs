//! What can be wrong with an npy file.

/// Why bytes are not an npy file this crate reads.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// The file begins with something else.
    #[error("not an npy file: it begins with {}, not with \\x93NUMPY", found.escape_ascii())]
    Magic {
        /// The first six bytes.
        found: [u8; 6],
    },
    /// A version nobody has written down.
    #[error("npy version {major}.{minor} is not supported, 1.0, 2.0 and 3.0 are")]
    Version {
        /// The version of the file.
        major: u8,
        /// Its second part.
        minor: u8,
    },
    /// The file ends inside its header.
    #[error("{what} needs {needed} bytes at offset {offset}, {left} are left")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// Bytes it has.
        needed: u64,
        /// Bytes there are.
        left: u64,
    },
    /// The header is not the literal it should be.
    #[error("expected {expected} at offset {offset} of the header, found {}", shown(*found))]
    Syntax {
        /// What should be there.
        expected: &'static str,
        /// Where, counted from the first byte of the literal.
        offset: u64,
        /// The byte that is there; `None` at the end.
        found: Option<u8>,
    },
    /// A key that headers do not have.
    #[error("the header has the unknown key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// A key that is there twice.
    #[error("the key `{key}` is there twice")]
    DuplicateKey {
        /// The key.
        key: &'static str,
    },
    /// A key that is not there.
    #[error("the header has no key `{key}`")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// Elements of a type this crate does not read.
    #[error("elements of type `{descr}` are not supported: {reason}")]
    Dtype {
        /// The type as NumPy writes it.
        descr: String,
        /// What it is.
        reason: &'static str,
    },
    /// A type of several fields.
    #[error("records of several fields are not supported")]
    Structured,
    /// A shape that multiplies to more bytes than can be counted.
    #[error("an array of shape {shape:?} is too large to count")]
    TooLarge {
        /// The shape.
        shape: Vec<u64>,
    },
    /// Elements that are not all there.
    #[error("the elements need {needed} bytes at offset {start}, {left} are left")]
    PastEnd {
        /// Where they begin.
        start: u64,
        /// How many bytes they are.
        needed: u64,
        /// Bytes there are.
        left: u64,
    },
}

fn shown(found: Option<u8>) -> String {
    found.map_or_else(|| "its end".into(), |byte| format!("`{}`", byte.escape_ascii()))
}
