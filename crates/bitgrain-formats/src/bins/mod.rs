//! Binned tables: the bins, targets and weights of a table, ready for training. Spec: `spec/bins.md`.
//!
//! A file is a [`Header`] of fixed size, [`Metadata`] with cuts and categories, chunks of codes, and the
//! [`RowColumns`]. Each part has a checksum, and the header determines the length of the file.
//!
//! ```
//! use bitgrain_formats::bins::{BinCode, BinFeature, BinMember, FeatureCuts, Header, Metadata};
//! let size = BinFeature { name: "size".into(), missing: false, cuts: FeatureCuts::F32(vec![1.5, 3.0]) };
//! let member = BinMember { feature: 0, bins: 3, code: BinCode::Digit { stride: 1 } };
//! let metadata = Metadata { features: vec![size], tiles: vec![vec![vec![member]]], ..Metadata::default() };
//! let bytes = metadata.to_bytes();
//! let header = Header::new(10, 1024, bytes.len() as u64, &metadata);
//! assert_eq!((header.row_bytes, header.n_chunks()), (4, 1)); // a record of one slot is padded to four bytes
//! assert_eq!(Header::parse(&header.to_bytes())?, header);
//! # Ok::<(), bitgrain_formats::bins::BinsError>(())
//! ```

mod columns;
mod cursor;
mod error;
mod header;
mod metadata;
mod writer;

pub use columns::RowColumns;
pub use error::BinsError;
pub use header::Header;
pub use metadata::{BinCode, BinFeature, BinMember, FeatureCuts, Metadata};

/// Usual extension of binned tables.
pub const EXTENSION: &str = "bins";

/// Magic number at the start of a file.
const MAGIC: [u8; 8] = *b"BGTABLE\0";

/// Supported version.
const VERSION: u32 = 1;

/// Returns whether bytes start with the magic number of a binned table.
#[must_use]
pub fn detect(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}
