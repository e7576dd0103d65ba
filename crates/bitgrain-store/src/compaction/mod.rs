//! Compaction: what still counts of some segments is copied to new ones, which then count instead.
//!
//! Segments are ordered by their records, and a compaction takes some that follow each other: so what it writes has the same
//! place in the order, and reading a store is reading its segments one after another. Of the log it takes whole beginnings.
//! The new segments are durable before the manifest that names them, and that one before anything is removed.

mod copy;
mod select;

pub(crate) use copy::Copier;
pub(crate) use select::select_runs;
