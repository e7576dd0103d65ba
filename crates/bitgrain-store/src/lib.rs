//! Tensors at rest: bits where the reads are, a bound for every tensor, nothing lost in a crash.
//!
//! | module | what it does |
//! |---|---|
//! | [`storage`] | where the files are: a folder, or anything that can do the same few things |
//! | [`policy`] | which tier a tensor should have: pure functions of its use and the time |
//! | [`reconstruct`] | tensors without data: what is added to a base, or made of a source |
//! | [`temporal`] | frames that share scales and are differences where that is smaller |

mod blocks;
mod clock;
mod compaction;
mod config;
mod error;
mod file_name;
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
pub use store::{
    Changes, CompactOptions, CompactReport, Dependents, Frame, FrameProvenance, PutOptions, Scan, Snapshot, StoreStats,
    StoredTensor, TensorStore, TickPlan, TickReport, TierMove, TierStats, VerifyReport, WriteBatch,
};
pub use tier::Tier;
