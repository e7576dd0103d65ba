//! `Entry`: what the index of a sealed segment says of a record.

use super::{Form, IdRef};

/// What kind of record it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntryKind {
    /// A tensor.
    Tensor,
    /// A frame, with its index.
    Frame(u64),
    /// A deletion.
    Delete,
    /// A list of uses.
    Usage,
    /// Bytes that are no record.
    Hole,
}

/// What the index of a sealed segment says of a record: enough to know of every tensor without reading it. Batches in a
/// sealed segment are complete.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Entry<'a> {
    /// What kind of record it is.
    pub kind: EntryKind,
    /// The tensor it is about; none for lists of uses and holes.
    pub id: Option<IdRef<'a>>,
    /// Where the record begins in the segment.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
    /// Its position in the order of all changes.
    pub sequence: u64,
    /// When it was written.
    pub time: u64,
    /// Tier of tensors and frames, else 0.
    pub tier: u8,
    /// How tensors and frames are stored, else [`Form::Absent`].
    pub form: Form,
    /// Tier it is held at.
    pub pinned: Option<u8>,
    /// Largest bound it may get.
    pub max_error: Option<f32>,
    /// The tensor it would be reconstructed from.
    pub needs: Option<IdRef<'a>>,
}
