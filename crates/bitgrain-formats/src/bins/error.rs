//! Errors of binned tables.

/// Reason why bytes are not a valid binned table. Offsets are relative to the start of the part that is named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BinsError {
    /// Wrong magic number.
    #[error("not a binned table: it starts with `{}`", found.escape_ascii())]
    Foreign {
        /// First eight bytes.
        found: [u8; 8],
    },
    /// Unsupported format version.
    #[error("unsupported version {found} of a binned table: this build supports version {known}; update bitgrain")]
    Version {
        /// Version of the file.
        found: u32,
        /// Supported version.
        known: u32,
    },
    /// The bytes end too early.
    #[error("truncated binned table: {what} needs {needed} bytes at offset {offset}, but only {left} are left")]
    Truncated {
        /// Field being read.
        what: &'static str,
        /// Offset of the field in its part.
        offset: usize,
        /// Size of the field in bytes.
        needed: u64,
        /// Bytes left.
        left: u64,
    },
    /// The bytes do not match their checksum.
    #[error("checksum mismatch in {what}: stored {stored:08x}, computed {computed:08x}; bin the table again")]
    Checksum {
        /// Part covered by the checksum.
        what: &'static str,
        /// Checksum in the file.
        stored: u32,
        /// Checksum of the bytes.
        computed: u32,
    },
    /// A value that no writer produces.
    #[error("invalid {what} at offset {offset} of a binned table")]
    Value {
        /// Name of the field.
        what: &'static str,
        /// Offset of the field in its part.
        offset: usize,
    },
    /// A feature that is stored nowhere, twice, or with another number of bins.
    #[error("inconsistent binned table: feature {feature} (0-based) {reason}")]
    Feature {
        /// Index of the feature.
        feature: u32,
        /// Contradiction.
        reason: &'static str,
    },
    /// A length that contradicts the header.
    #[error("length mismatch: the binned table has {found} bytes instead of {expected}")]
    Length {
        /// Length according to the header.
        expected: u64,
        /// Length of the file.
        found: u64,
    },
}
