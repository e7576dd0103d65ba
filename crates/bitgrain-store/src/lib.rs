//! Tensors at rest: bits where the reads are, a bound for every tensor, nothing lost in a crash.
//!
//! | module | what it does |
//! |---|---|
//! | [`backend`] | where the files are: a folder, or anything that can do the same few things |
//! | [`reconstruct`] | tensors without data: what is added to a base, or made of a source |
//! | [`temporal`] | frames that share scales and are differences where that is smaller |

pub mod backend;
mod clock;
mod error;
mod id;
mod meta;
pub mod reconstruct;
pub mod temporal;
mod tier;

pub use clock::{Clock, SystemClock};
pub use error::StoreError;
pub use id::TensorId;
pub use meta::{Provenance, TensorMeta};
pub use tier::Tier;
