//! Compaction: copies the live records of some segments to new ones, which replace them.
//!
//! Segments are ordered by their records, and a compaction takes consecutive segments, so its output has the same
//! position in the order, and reading a store means reading its segments in sequence. The log is compacted from its
//! start. The new segments are durable before the manifest that names them, and the manifest before any file is
//! deleted.

mod copy;
mod select;

pub(crate) use copy::Copier;
pub(crate) use select::select_runs;
