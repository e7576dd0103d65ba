//! Tensors at rest: bits where the reads are, a bound for every tensor, nothing lost in a crash.
//!
//! | module | what it does |
//! |---|---|
//! | [`backend`] | where the files are: a folder, or anything that can do the same few things |
//! | [`policy`] | which tier a tensor should have: pure functions of its use and the time |
//! | [`reconstruct`] | tensors without data: what is added to a base, or made of a source |
//! | [`temporal`] | frames that share scales and are differences where that is smaller |

pub mod backend;
mod body;
mod clock;
mod compaction;
mod config;
mod error;
mod id;
mod index;
mod log;
mod manifest;
mod meta;
mod names;
pub mod policy;
mod read;
pub mod reconstruct;
mod recovery;
mod segment;
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
    Batch, Changes, CompactOptions, CompactReport, Dependents, Frame, FrameProvenance, PutOptions, Scan, Snapshot,
    Stats, Tensor, TensorStore, TickPlan, TickReport, TierMove, TierStats, VerifyReport,
};
pub use tier::Tier;
