//! Tensor store.
//!
//! | file | contents |
//! |---|---|
//! | `tensor_store.rs` | an open store |
//! | `snapshot.rs` | snapshots |
//! | `reading.rs` | methods of both |
//! | `batch.rs` | atomic batches |
//! | `clock.rs` | simulated clock |
//! | `moves.rs` | lazily converted lists of a tick |
//! | `handle.rs` | handles shared by threads |
//! | `id.rs` | conversion of tensor ids |
//! | `settings.rs` | conversion of settings |
//! | `recipe.rs` | conversion of reconstructions |
//! | `values.rs` | conversion of values to arrays |
//! | `search.rs` | conversion of searches |
//! | `report.rs` | conversion of metadata and reports |
//! | `error.rs` | conversion of errors to exceptions |

mod batch;
mod clock;
mod error;
mod handle;
mod id;
mod moves;
mod reading;
mod recipe;
mod report;
mod search;
mod settings;
mod snapshot;
mod tensor_store;
mod values;

use pyo3::prelude::*;

/// Adds the classes and functions of this module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<tensor_store::Store>()?;
    module.add_class::<batch::StoreBatch>()?;
    module.add_class::<snapshot::StoreSnapshot>()?;
    module.add_class::<clock::StoreClock>()?;
    module.add_class::<moves::StoreMoves>()?;
    module.add_class::<moves::StoreWantedTiers>()?;
    module.add_function(wrap_pyfunction!(settings::named_policy, module)?)
}
