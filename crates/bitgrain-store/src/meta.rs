//! What is known about a tensor without its values.

use crate::{TensorId, Tier};

/// Where values that were read come from and how far they can be from the original.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provenance {
    /// Tier of the stored data.
    pub tier: Tier,
    /// Bits of a stored value.
    pub bits: u8,
    /// No value is further from what was put than this: the bounds of all encodings since then, added up.
    pub bound: f32,
    /// Largest error measured while encoding, added up likewise: at most `bound`.
    pub measured: f32,
    /// Reconstructions that were followed: 0 if the tensor's own data was read.
    pub depth: u8,
}

/// A tensor without its values. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorMeta {
    /// Name.
    pub id: TensorId,
    /// Lengths of the axes; of one frame if the tensor is temporal.
    pub shape: Vec<usize>,
    /// Tier, bits and errors of the stored data. If the tensor is temporal: the tier with the fewest bits and the largest
    /// errors among its frames.
    pub provenance: Provenance,
    /// The pin, or else the tier that its use asked for at the last tick. The next write has at least these bits, and by
    /// default at least those of [`first_tier`](crate::policy::PolicyConfig::first_tier).
    pub wanted: Tier,
    /// Bytes of its records.
    pub stored_bytes: u64,
    /// When the id was first put.
    pub created: u64,
    /// When its values were last put or appended.
    pub updated: u64,
    /// When it was last read or written.
    pub accessed: u64,
    /// Reads and writes so far. Those since the last tick are forgotten in a crash.
    pub accesses: u64,
    /// Score of its use, from 0 to 1024.
    pub score: f32,
    /// Tier it is held at.
    pub pinned: Option<Tier>,
    /// Largest bound it may get.
    pub max_error: Option<f32>,
    /// Frames, if it is temporal.
    pub frames: Option<u64>,
    /// True if it can be reconstructed when its data is gone.
    pub reconstructable: bool,
    /// What the user wrote down, in the order given.
    pub user: Vec<(String, String)>,
}
