//! Embedded, crash-safe tensor store: the precision of each tensor follows its use, within a known error bound.
//!
//! | module | content |
//! |---|---|
//! | [`storage`] | file access: a folder, memory, object storage, or an implementation of your own |
//! | [`policy`] | the tier of each tensor, as pure functions of its use and the time |
//! | [`reconstruct`] | tensors without data: a delta on a base, or a factor of a source |
//! | [`temporal`] | frames that share scales and are stored as differences where that is smaller |

mod blocks;
mod clock;
mod compaction;
mod config;
mod error;
mod file_name;
mod half;
mod id;
mod index;
mod log;
mod manifest;
mod memory_len;
mod meta;
pub mod policy;
pub mod reconstruct;
mod record;
mod recovery;
mod search;
mod segment;
pub mod storage;
mod store;
pub mod temporal;
mod tier;

pub use clock::{Clock, SimulatedClock, SystemClock};
pub use config::{AbsentReads, OnDamage, StoreConfig, SyncMode};
pub use error::StoreError;
pub use id::TensorId;
pub use meta::{Provenance, TensorMeta};
pub use recovery::{Damage, RecoveryReport};
pub use search::SearchMetric;
#[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
pub use store::SyncReport;
pub use store::{
    Changes, CompactOptions, CompactReport, Dependents, Frame, FrameProvenance, PutOptions, Scan, SearchHit,
    SearchOptions, SearchResult, Snapshot, StoreStats, StoredTensor, TensorStore, TickPlan, TickReport, TierMove,
    TierStats, VerifyReport, WriteBatch,
};
pub use tier::Tier;
