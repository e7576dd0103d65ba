//! What can be wrong with a segment or a manifest.

/// Why bytes are not what they should be, or something cannot be written. Offsets are counted from the first byte of the
/// file, or of the bytes given where the file is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// The file begins with something else: it is not ours.
    #[error("not a {what}: it begins with {}", found.escape_ascii())]
    Foreign {
        /// What it should be.
        what: &'static str,
        /// The first eight bytes.
        found: [u8; 8],
    },
    /// A later version of this library wrote it.
    #[error("the {what} is of version {found}, this library reads up to {known}: use a newer one")]
    FutureVersion {
        /// What it is.
        what: &'static str,
        /// Its version.
        found: u16,
        /// The latest that is read.
        known: u16,
    },
    /// The bytes end before what they say is there.
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
    /// The bytes are not those that were written.
    #[error("the checksum of {what} at offset {offset} is {computed:08x}, {stored:08x} was stored")]
    Checksum {
        /// What it is the checksum of.
        what: &'static str,
        /// Where that begins.
        offset: u64,
        /// What was written down.
        stored: u32,
        /// What the bytes have.
        computed: u32,
    },
    /// A value that no writer makes.
    #[error("{what} at offset {offset} has a value it cannot have")]
    Value {
        /// What has it.
        what: &'static str,
        /// Where it begins.
        offset: u64,
    },
    /// Lengths that contradict each other.
    #[error("{what} at offset {offset} has {found} bytes, {expected} follow from what is said about it")]
    Length {
        /// What has the length.
        what: &'static str,
        /// Where it begins.
        offset: u64,
        /// Bytes it should have.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },
    /// Something that cannot be written because it is too long.
    #[error("{what} of {len} bytes is longer than {limit}")]
    TooLong {
        /// What it is.
        what: &'static str,
        /// Its bytes.
        len: usize,
        /// The most there may be.
        limit: usize,
    },
    /// Something that cannot be written because no reader would take it.
    #[error("{what} cannot be written: it must be {must}")]
    Unwritable {
        /// What it is.
        what: &'static str,
        /// What it has to be.
        must: &'static str,
    },
}
