//! Errors of the npy reader.

/// Reason why bytes are not a supported npy file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpyError {
    /// Wrong magic number.
    #[error("not an npy file: it starts with `{}` instead of `\\x93NUMPY`", found.escape_ascii())]
    Magic {
        /// First six bytes of the file.
        found: [u8; 6],
    },
    /// Unsupported format version.
    #[error("unsupported npy version {major}.{minor}; supported versions: 1.0, 2.0 and 3.0")]
    Version {
        /// Major version of the file.
        major: u8,
        /// Minor version of the file.
        minor: u8,
    },
    /// The file ends inside its header.
    #[error("{what} needs {needed} bytes at offset {offset}, but only {left} are left")]
    Truncated {
        /// Field being read.
        what: &'static str,
        /// Offset of the field.
        offset: u64,
        /// Size of the field in bytes.
        needed: u64,
        /// Bytes left in the file.
        left: u64,
    },
    /// The header is not the expected Python literal.
    #[error("expected {expected} at offset {offset} of the header, found {}", shown(*found))]
    Syntax {
        /// Expected token.
        expected: &'static str,
        /// Offset from the first byte of the literal.
        offset: u64,
        /// Byte found; `None` at the end.
        found: Option<u8>,
    },
    /// Unknown header key.
    #[error("unknown header key `{key}`")]
    UnknownKey {
        /// The key.
        key: String,
    },
    /// Duplicate header key.
    #[error("duplicate header key `{key}`")]
    DuplicateKey {
        /// The key.
        key: &'static str,
    },
    /// Missing header key.
    #[error("missing header key `{key}`")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// Unsupported element type.
    #[error("elements of type `{descr}` are not supported: {reason}")]
    Dtype {
        /// Element type as NumPy writes it.
        descr: String,
        /// Kind of the type.
        reason: &'static str,
    },
    /// Structured arrays.
    #[error("structured arrays are not supported")]
    Structured,
    /// The number of bytes overflows.
    #[error("an array of shape {shape:?} is too large")]
    TooLarge {
        /// The shape.
        shape: Vec<u64>,
    },
    /// The elements extend past the end of the file.
    #[error("the array data needs {needed} bytes at offset {start}, but only {left} are left")]
    PastEnd {
        /// Offset of the data.
        start: u64,
        /// Size of the data in bytes.
        needed: u64,
        /// Bytes left in the file.
        left: u64,
    },
}

fn shown(found: Option<u8>) -> String {
    found.map_or_else(|| "its end".into(), |byte| format!("`{}`", byte.escape_ascii()))
}
