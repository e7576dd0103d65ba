//! Nearest-neighbor search on stored codes, with an interval for every score.
//!
//! | file | content |
//! |---|---|
//! | `metric.rs` | metrics, and intervals of their scores |
//! | `query.rs` | a query, as floats and as planes of 8-bit codes |
//! | `journal.rs` | records of a segment that became live or dead |
//! | `table.rs` | vectors of a segment: offset, norm and error of each |
//! | `vector.rs` | a vector's norm and error, computed when it enters the table |
//! | `tables.rs` | tables of all segments, updated before each search |
//! | `candidates.rs` | vectors that may be among the best |
//! | `conditions.rs` | cheap test that excludes most vectors |
//! | `rotation.rs` | a rotation that makes all coordinates similar |
//! | `signs.rs` | one bit per value of rotated vectors, and estimates of inner products |
//! | `screen.rs` | first pass of an approximate search: vectors that the estimates cannot exclude |
//! | `scan.rs` | first pass: tasks for all vectors and the queries in 8-bit codes |
//! | `score.rs` | scores of the vectors of a task |
//! | `rescore.rs` | second pass: scores of candidates in f64 |
//! | `certify.rs` | proof that an answer is among the best |

mod candidates;
mod certify;
mod conditions;
mod journal;
mod metric;
mod query;
mod rescore;
mod rotation;
mod scan;
mod score;
mod screen;
mod signs;
mod table;
mod tables;
mod vector;

pub(crate) use certify::{Rated, certify};
pub(crate) use journal::{Event, Journal};
pub(crate) use metric::Goodness;
pub use metric::SearchMetric;
pub(crate) use query::Query;
pub(crate) use rescore::{rescore, score_values};
pub(crate) use scan::{Limits, Selected, scan};
pub(crate) use screen::screen;
pub(crate) use table::SegmentTable;
pub(crate) use tables::Tables;
