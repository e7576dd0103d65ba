//! Segments: the files in which a store keeps tensors, frames, deletions and usage. Spec: `spec/segment.md`.
//!
//! A segment is a [`SegmentHeader`], consecutive records and, once it is sealed, an index of the records and a
//! [`Trailer`]. A record is a [`Head`], a checksum for each [`CHUNK`] of the body, and the body. The head has its own
//! checksum, which also covers the chunk checksums, so a reader can verify the head alone and then only the chunks it
//! needs. The checksum of a head is seeded with that of the segment's header, so a record of another segment is never
//! accepted.
//!
//! A [`Manifest`] lists the segments of a store, and a [`Catalog`] the files of a store in object storage.
//!
//! | writing | reading |
//! |---|---|
//! | [`Draft`] encodes a body in place and writes the head before it; [`write_record`] copies a body | [`RecordView`], [`Records`], [`ValuesView`] |
//! | [`IndexBuilder`] | [`Trailer`], [`Index`], [`Entries`] |
//! | [`UsageList`] | [`UsageEntries`], [`FrameUsageEntries`], [`WantedTierEntries`] |
//!
//! ```
//! use bitgrain_formats::segment::*;
//! let header = SegmentHeader { kind: SegmentKind::Log, store: [7; 16], number: 1, previous: 0, base_sequence: 1, base_time: 5 };
//! let mut segment = header.encode().to_vec();
//! let stamp = Stamp { sequence: 1, batch_left: 0, pending: None, time: 9 };
//! let head = Head { stamp, content: Content::Delete(IdRef::Name("gone")) };
//! let len = write_record(&mut segment, &header, &head, &[])?;
//!
//! let mut records = Records::new(&segment, &header);
//! let (offset, record) = records.next().expect("one record");
//! assert_eq!((offset, record.head), (64, head));
//! assert!(records.next().is_none());
//! assert_eq!(records.end(), &End::Clean { offset: 64 + len as u64 });
//! # Ok::<(), SegmentError>(())
//! ```

mod accuracy;
mod catalog;
mod cursor;
mod draft;
mod entry;
mod error;
mod form;
mod frame;
mod frame_usage;
mod head;
mod header;
mod id;
mod index;
mod manifest;
mod prefix;
mod put;
mod reconstruct;
mod record;
mod records;
mod shape;
mod signed;
mod tensor;
mod trailer;
mod usage;
mod values;
mod wanted_tiers;

pub use accuracy::Accuracy;
pub use catalog::{Catalog, CatalogFile, DeadObject, Fence, ObjectPart};
pub use draft::{Draft, write_record};
pub use entry::{Entry, EntryKind};
pub use error::SegmentError;
pub use form::{Encoding, Form};
pub use frame::{FrameHead, FrameValues, Role, ScaleType};
pub use frame_usage::{FRAMES_PER_COUNT, FrameUsageEntries, FrameUsageEntry};
pub use head::{Content, Head, Stamp};
pub use header::{SegmentHeader, SegmentKind};
pub use id::IdRef;
pub use index::{Entries, Index, IndexBuilder};
pub use manifest::{LogEnd, Manifest, SealedSegment};
pub use reconstruct::Reconstruct;
pub use record::{Needed, RecordView};
pub use records::{End, Records, find_record};
pub use tensor::{BodyParts, TensorHead};
pub use trailer::Trailer;
pub use usage::{UsageEntries, UsageEntry, UsageList};
pub use values::ValuesView;
pub use wanted_tiers::{WantedTierEntries, WantedTierEntry};

/// Size in bytes of the part of a body that shares a checksum.
pub const CHUNK: usize = 16 * 1024;

/// Maximum size of a head in bytes. Heads contain ids and user metadata, but no values.
pub const MAX_HEAD: usize = 1 << 20;

/// Maximum number of axes of a shape.
pub const MAX_RANK: usize = 64;

/// Version of segments and manifests that this crate writes, and the newest it reads.
pub const VERSION: u16 = 1;
