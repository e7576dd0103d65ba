//! The npm package: converts typed arrays, options and results; all computation is in `bitgrain`.
//!
//! | module | contents |
//! |---|---|
//! | `codec` | quantized tensors and blocks |
//! | `booster` | tables, training, boosted trees (feature `gbdt`) |
//! | `model` | model files (feature `nn`) |
//! | `network` | networks (feature `nn`) |
//! | `store` | tensor store, in memory or in the browser's private file system (feature `store`) |
//! | `callback` | JavaScript functions that the engine calls |
//! | `options` | options and reports as JavaScript objects |
//! | `error` | conversion of errors and panics to JavaScript errors |
//!
//! Without features, the package holds only `codec`.

#[cfg(feature = "gbdt")]
mod booster;
#[cfg(feature = "json")]
mod callback;
pub mod codec;
mod error;
#[cfg(feature = "nn")]
mod model;
#[cfg(feature = "nn")]
mod network;
#[cfg(feature = "json")]
mod options;
#[cfg(feature = "nn")]
mod source;
#[cfg(feature = "store")]
mod store;
