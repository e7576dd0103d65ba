//! Tensors at rest: bits where the reads are, a bound for every tensor, nothing lost in a crash.
//!
//! | module | what it does |
//! |---|---|
//! | [`backend`] | where the files are: a folder, or anything that can do the same few things |
//! | [`policy`] | which tier a tensor should have: pure functions of its use and the time |

pub mod backend;
mod clock;
mod error;
mod id;
mod meta;
pub mod policy;
mod tier;

pub use clock::{Clock, SystemClock};
pub use error::StoreError;
pub use id::TensorId;
pub use meta::{Provenance, TensorMeta};
pub use tier::Tier;
