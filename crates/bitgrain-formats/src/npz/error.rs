//! What can be wrong with an npz archive.

/// Why bytes are not an archive this crate reads, or a member of it cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NpzError {
    /// No directory at the end of the file.
    #[error("not a ZIP archive, or one that was cut off: no directory ends the {len} bytes")]
    NoDirectory {
        /// Bytes of the file.
        len: u64,
    },
    /// The archive is one part of several.
    #[error("the archive is spread over several files")]
    MultiPart,
    /// Something that is not where the directory says.
    #[error("{what} is not at offset {offset}")]
    Misplaced {
        /// What should be there.
        what: &'static str,
        /// Where.
        offset: u64,
    },
    /// Something that does not fit into the bytes it should be in.
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
    /// More members than the directory has room for.
    #[error("{count} members need more than the {bytes} bytes of the directory")]
    Count {
        /// Members the archive claims to have.
        count: u64,
        /// Bytes of its directory.
        bytes: u64,
    },
    /// A name that is not UTF-8.
    #[error("the name of member {index} is not UTF-8")]
    NotUtf8 {
        /// Its place in the directory.
        index: u64,
    },
    /// A name that is there twice.
    #[error("member `{member}` is there twice")]
    DuplicateMember {
        /// The name.
        member: String,
    },
    /// A member whose content is encrypted.
    #[error("member `{member}` is encrypted")]
    Encrypted {
        /// The name.
        member: String,
    },
    /// A compression other than deflate.
    #[error("member `{member}` is compressed with method {method}, only 0 (stored) and 8 (deflated) are supported")]
    Method {
        /// The name.
        member: String,
        /// The number of the method.
        method: u16,
    },
    /// A member whose bytes are not all there.
    #[error("member `{member}` needs {needed} bytes at offset {start}, {left} are left")]
    PastEnd {
        /// The name.
        member: String,
        /// Where its bytes begin.
        start: u64,
        /// How many they are.
        needed: u64,
        /// Bytes there are.
        left: u64,
    },
    /// Two members that share bytes.
    #[error("member `{member}` begins at {start}, before {expected} where another one ends")]
    Overlap {
        /// The name of the later one.
        member: String,
        /// Where it begins.
        start: u64,
        /// Where the other one ends.
        expected: u64,
    },
    /// A size that the bytes of the member cannot inflate to, or that storing does not have.
    #[error("member `{member}` of {compressed} bytes cannot come to {size}")]
    Size {
        /// The name.
        member: String,
        /// Bytes in the archive.
        compressed: u64,
        /// Bytes it claims to come to.
        size: u64,
    },
    /// A member that is larger than the caller wants.
    #[error("member `{member}` comes to {size} bytes, the limit is {limit}")]
    OverLimit {
        /// The name.
        member: String,
        /// Bytes it comes to.
        size: u64,
        /// Bytes that are allowed.
        limit: u64,
    },
    /// Bytes that do not inflate to what the directory says.
    #[error("member `{member}` does not inflate to {size} bytes")]
    Inflate {
        /// The name.
        member: String,
        /// Bytes it should come to.
        size: u64,
    },
    /// Content that is not what was put in.
    #[error("member `{member}` has the checksum {found:08x}, not {expected:08x}")]
    Checksum {
        /// The name.
        member: String,
        /// The checksum in the directory.
        expected: u32,
        /// The checksum of the content.
        found: u32,
    },
}
