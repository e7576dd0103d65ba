//! Errors of segments and manifests.

/// Reason why bytes are not a valid segment or manifest, or why one cannot be written. Offsets are relative to the
/// start of the file, or of the given bytes if the file is unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// Wrong magic number.
    #[error("not a {what}: it starts with `{}`", found.escape_ascii())]
    Foreign {
        /// Expected kind of file.
        what: &'static str,
        /// First eight bytes.
        found: [u8; 8],
    },
    /// Unsupported format version.
    #[error("unsupported {what} version {found}: this build supports at most {known}; update bitgrain")]
    FutureVersion {
        /// Kind of file.
        what: &'static str,
        /// Version of the file.
        found: u16,
        /// Newest supported version.
        known: u16,
    },
    /// The bytes end too early.
    #[error("{what} needs {needed} bytes at offset {offset}, but only {left} are left")]
    Truncated {
        /// Field being read.
        what: &'static str,
        /// Offset of the field.
        offset: u64,
        /// Size of the field in bytes.
        needed: u64,
        /// Bytes left.
        left: u64,
    },
    /// The bytes do not match their checksum.
    #[error("checksum mismatch in {what} at offset {offset}: stored {stored:08x}, computed {computed:08x}")]
    Checksum {
        /// Part covered by the checksum.
        what: &'static str,
        /// Offset of that part.
        offset: u64,
        /// Checksum in the file.
        stored: u32,
        /// Checksum of the bytes.
        computed: u32,
    },
    /// A value that a writer does not produce.
    #[error("invalid {what} at offset {offset}")]
    Value {
        /// Name of the field.
        what: &'static str,
        /// Offset of the field.
        offset: u64,
    },
    /// Lengths that contradict each other.
    #[error("length mismatch: {what} at offset {offset} has {found} bytes instead of {expected}")]
    Length {
        /// Part with the wrong length.
        what: &'static str,
        /// Offset of that part.
        offset: u64,
        /// Expected length in bytes.
        expected: u64,
        /// Actual length in bytes.
        found: u64,
    },
    /// Input that exceeds a limit of the format.
    #[error("{what} is too long: {len} bytes; at most {limit} are allowed")]
    TooLong {
        /// Name of the input.
        what: &'static str,
        /// Length in bytes.
        len: usize,
        /// Maximum length in bytes.
        limit: usize,
    },
    /// Input that a reader would reject.
    #[error("cannot write {what}: it must be {must}")]
    Unwritable {
        /// Name of the input.
        what: &'static str,
        /// Condition that it violates.
        must: &'static str,
    },
}
