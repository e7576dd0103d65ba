//! Metadata of a tensor.

use crate::{TensorId, Tier};

/// Tier and error of values that were read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Provenance {
    /// Tier of the stored data.
    pub tier: Tier,
    /// Bits per stored value.
    pub bits: u8,
    /// Error bound: no value is further from what was put. It is the sum of the bounds of all encodings since the put.
    pub bound: f32,
    /// Largest error measured while encoding, summed in the same way; at most `bound`.
    pub measured: f32,
    /// Number of reconstructions between the tensor and stored data: 0 if its own data is stored.
    pub depth: u8,
}

/// Metadata of a tensor. Times are in milliseconds since 1970.
#[derive(Debug, Clone, PartialEq)]
pub struct TensorMeta {
    /// Id of the tensor.
    pub id: TensorId,
    /// Length of each axis; of one frame if the tensor is temporal.
    pub shape: Vec<usize>,
    /// Tier, bits and errors of the stored data. For a temporal tensor: the tier with the fewest bits and the largest
    /// errors of its frames.
    pub provenance: Provenance,
    /// Pinned tier, or else the wanted tier of the last tick. The next write uses at least these bits,
    /// and by default at least the bits of [`first_tier`](crate::policy::PolicyConfig::first_tier).
    pub wanted: Tier,
    /// Size of its records in bytes.
    pub stored_bytes: u64,
    /// Time of the first put of the id.
    pub created: u64,
    /// Time of the last put or append.
    pub updated: u64,
    /// Time of the last read or write.
    pub accessed: u64,
    /// Number of reads and writes. A crash loses the accesses since the last tick.
    pub accesses: u64,
    /// Use score, from 0 to 1024.
    pub score: f32,
    /// Tier that the tensor is pinned to.
    pub pinned: Option<Tier>,
    /// Largest error bound allowed.
    pub max_error: Option<f32>,
    /// Number of frames, if the tensor is temporal.
    pub frames: Option<u64>,
    /// Whether the tensor can be reconstructed when its data is evicted.
    pub reconstructable: bool,
    /// User metadata pairs, in the order given.
    pub user: Vec<(String, String)>,
}
