//! `Header`: sizes of all parts of the file.

use super::{BinsError, MAGIC, Metadata, VERSION};
use crate::crc32c;

/// Sizes of a binned table. They determine the offsets of all parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Number of rows, from 1 to 2^32 - 1.
    pub n_rows: u64,
    /// Rows per chunk of codes, a power of two; the last chunk has the remaining rows.
    pub chunk_rows: u32,
    /// Size in bytes of the codes of a row.
    pub row_bytes: u32,
    /// Size in bytes of the metadata, without its checksum.
    pub metadata_bytes: u64,
    /// Size in bytes of the row columns, without their checksum.
    pub column_bytes: u64,
}

impl Header {
    /// Size of a header in bytes.
    pub const BYTES: usize = 64;

    /// Size of a checksum in bytes.
    pub const CHECKSUM: u64 = 4;

    /// Smallest and largest numbers of rows per chunk.
    pub const CHUNK_ROWS: [u32; 2] = [1 << 10, 1 << 20];

    /// Creates the header of a file.
    #[must_use]
    pub fn new(n_rows: u64, chunk_rows: u32, metadata_bytes: u64, metadata: &Metadata) -> Self {
        let row_bytes = u32::try_from(metadata.row_bytes()).unwrap_or(u32::MAX);
        Self { n_rows, chunk_rows, row_bytes, metadata_bytes, column_bytes: metadata.column_bytes(n_rows) }
    }

    /// Encodes the header.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.chunk_rows.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.n_rows.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.metadata_bytes.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.column_bytes.to_le_bytes());
        bytes[40..44].copy_from_slice(&self.row_bytes.to_le_bytes());
        let checksum = crc32c(&bytes[..60]);
        bytes[60..].copy_from_slice(&checksum.to_le_bytes());
        bytes
    }

    /// Decodes the header at the start of a file.
    ///
    /// # Errors
    /// Returns a [`BinsError`] if the bytes are not the header of a binned table of this version.
    pub fn parse(bytes: &[u8]) -> Result<Self, BinsError> {
        let (needed, left) = (Self::BYTES as u64, bytes.len() as u64);
        let Some(&bytes) = bytes.first_chunk::<{ Self::BYTES }>() else {
            if let Some(&found) = bytes.first_chunk::<8>().filter(|found| **found != MAGIC) {
                return Err(BinsError::Foreign { found });
            }
            return Err(BinsError::Truncated { what: "the header", offset: 0, needed, left });
        };
        let field = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let short = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let found = std::array::from_fn(|byte| bytes[byte]);
        if found != MAGIC {
            return Err(BinsError::Foreign { found });
        }
        let (stored, computed) = (short(60), crc32c(&bytes[..60]));
        if stored != computed {
            return Err(BinsError::Checksum { what: "the header", stored, computed });
        }
        if short(8) != VERSION {
            return Err(BinsError::Version { found: short(8), known: VERSION });
        }
        let header = Self {
            chunk_rows: short(12),
            n_rows: field(16),
            metadata_bytes: field(24),
            column_bytes: field(32),
            row_bytes: short(40),
        };
        let invalid = |what, offset| Err(BinsError::Value { what, offset });
        let [least, most] = Self::CHUNK_ROWS;
        if !header.chunk_rows.is_power_of_two() || !(least..=most).contains(&header.chunk_rows) {
            return invalid("number of rows per chunk", 12);
        }
        if header.n_rows == 0 || u32::try_from(header.n_rows).is_err() {
            return invalid("number of rows", 16);
        }
        if bytes[44..60].iter().any(|byte| *byte != 0) {
            return invalid("reserved bytes", 44);
        }
        // Sums of these sizes stay below 2^64.
        if header.metadata_bytes >> 40 != 0 {
            return invalid("size of the metadata", 24);
        }
        if header.column_bytes >> 48 != 0 {
            return invalid("size of the row columns", 32);
        }
        if header.row_bytes >> 28 != 0 {
            return invalid("size of a row", 40);
        }
        Ok(header)
    }

    /// Number of chunks.
    #[must_use]
    pub const fn n_chunks(&self) -> u64 {
        self.n_rows.div_ceil(self.chunk_rows as u64)
    }

    /// Number of rows of a chunk.
    #[must_use]
    pub fn rows_of(&self, chunk: u64) -> u64 {
        let first = chunk.saturating_mul(self.chunk_rows.into());
        self.n_rows.saturating_sub(first).min(self.chunk_rows.into())
    }

    /// Offset of the first chunk.
    #[must_use]
    pub const fn chunks_start(&self) -> u64 {
        Self::BYTES as u64 + self.metadata_bytes + Self::CHECKSUM
    }

    /// Distance of two chunks in bytes: the codes of a full chunk and their checksum.
    #[must_use]
    pub const fn chunk_stride(&self) -> u64 {
        self.chunk_rows as u64 * self.row_bytes as u64 + Self::CHECKSUM
    }

    /// Offset of a chunk.
    #[must_use]
    pub const fn chunk_start(&self, chunk: u64) -> u64 {
        self.chunks_start() + chunk * self.chunk_stride()
    }

    /// Size in bytes of the codes of a chunk, without their checksum.
    #[must_use]
    pub fn chunk_bytes(&self, chunk: u64) -> u64 {
        self.rows_of(chunk) * u64::from(self.row_bytes)
    }

    /// Offset of the row columns.
    #[must_use]
    pub fn columns_start(&self) -> u64 {
        self.chunks_start() + self.n_rows * u64::from(self.row_bytes) + self.n_chunks() * Self::CHECKSUM
    }

    /// Length of the file.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.columns_start() + self.column_bytes + Self::CHECKSUM
    }
}

/// Checks bytes that are followed by their checksum, and returns them without it.
pub(super) fn checked<'a>(what: &'static str, bytes: &'a [u8], len: u64) -> Result<&'a [u8], BinsError> {
    let needed = len.saturating_add(Header::CHECKSUM);
    let short = || BinsError::Truncated { what, offset: 0, needed, left: bytes.len() as u64 };
    let len = usize::try_from(len).map_err(|_| short())?;
    let (content, rest) = bytes.split_at_checked(len).ok_or_else(short)?;
    let stored = u32::from_le_bytes(*rest.first_chunk().ok_or_else(short)?);
    let computed = crc32c(content);
    if stored == computed { Ok(content) } else { Err(BinsError::Checksum { what, stored, computed }) }
}

impl Header {
    /// Checks a chunk that is followed by its checksum, and returns its codes.
    ///
    /// # Errors
    /// Returns [`BinsError::Truncated`] or [`BinsError::Checksum`].
    pub fn checked_chunk<'a>(&self, chunk: u64, bytes: &'a [u8]) -> Result<&'a [u8], BinsError> {
        checked("a chunk of codes", bytes, self.chunk_bytes(chunk))
    }
}
