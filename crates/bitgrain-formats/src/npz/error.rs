//! Errors of the npz reader.

/// Reason why bytes are not a supported archive, or why a member cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpzError {
    /// The central directory is missing.
    #[error("not a ZIP archive, or truncated: no central directory at the end of the {len} bytes")]
    NoDirectory {
        /// Size of the file in bytes.
        len: u64,
    },
    /// The archive is split over several files.
    #[error("multi-volume ZIP archives are not supported")]
    MultiPart,
    /// A record that is not where the directory says.
    #[error("expected {what} at offset {offset}")]
    Misplaced {
        /// Expected record.
        what: &'static str,
        /// Offset in the file.
        offset: u64,
    },
    /// A record that extends past the available bytes.
    #[error("{what} needs {needed} bytes at offset {offset}, but only {left} are left")]
    Truncated {
        /// Record being read.
        what: &'static str,
        /// Offset of the record.
        offset: u64,
        /// Size of the record in bytes.
        needed: u64,
        /// Bytes left.
        left: u64,
    },
    /// More members than the directory can hold.
    #[error("{count} members do not fit the {bytes} bytes of the directory")]
    Count {
        /// Number of members in the end record.
        count: u64,
        /// Size of the directory in bytes.
        bytes: u64,
    },
    /// A name that is not UTF-8.
    #[error("the name of member {index} is not UTF-8")]
    NotUtf8 {
        /// 0-based index in the directory.
        index: u64,
    },
    /// A duplicate member name.
    #[error("duplicate member `{member}`")]
    DuplicateMember {
        /// Name of the member.
        member: String,
    },
    /// An encrypted member.
    #[error("member `{member}` is encrypted, which is not supported")]
    Encrypted {
        /// Name of the member.
        member: String,
    },
    /// Unsupported compression method.
    #[error("member `{member}` uses compression method {method}; only 0 (stored) and 8 (deflate) are supported")]
    Method {
        /// Name of the member.
        member: String,
        /// Number of the method.
        method: u16,
    },
    /// A member that extends past the end of the file.
    #[error("member `{member}` needs {needed} bytes at offset {start}, but only {left} are left")]
    PastEnd {
        /// Name of the member.
        member: String,
        /// Offset of its content.
        start: u64,
        /// Size in bytes.
        needed: u64,
        /// Bytes left in the file.
        left: u64,
    },
    /// Members that overlap.
    #[error("member `{member}` starts at offset {start} and overlaps another member, which ends at {expected}")]
    Overlap {
        /// Name of the second member.
        member: String,
        /// Start offset.
        start: u64,
        /// End offset of the other member.
        expected: u64,
    },
    /// Sizes that contradict the compression method.
    #[error("member `{member}`: {compressed} stored bytes cannot decompress to {size} bytes")]
    Size {
        /// Name of the member.
        member: String,
        /// Compressed size in bytes.
        compressed: u64,
        /// Claimed size in bytes.
        size: u64,
    },
    /// A member above the caller's limit.
    #[error("member `{member}` has {size} bytes; the limit is {limit}")]
    OverLimit {
        /// Name of the member.
        member: String,
        /// Uncompressed size in bytes.
        size: u64,
        /// Limit in bytes.
        limit: u64,
    },
    /// Invalid deflate data, or a wrong uncompressed size.
    #[error("member `{member}` does not decompress to {size} bytes")]
    Inflate {
        /// Name of the member.
        member: String,
        /// Expected size in bytes.
        size: u64,
    },
    /// Checksum mismatch.
    #[error("checksum mismatch in member `{member}`: stored {expected:08x}, computed {found:08x}")]
    Checksum {
        /// Name of the member.
        member: String,
        /// Checksum in the directory.
        expected: u32,
        /// Checksum of the content.
        found: u32,
    },
}
