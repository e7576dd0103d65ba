//! Tensors at rest.
//!
//! | file | what it has |
//! |---|---|
//! | `tensor_store.rs` | an open store |
//! | `snapshot.rs` | a store as it was at one moment |
//! | `reading.rs` | methods that both have |
//! | `batch.rs` | changes that are made together |
//! | `clock.rs` | a clock that Python sets |
//! | `moves.rs` | lists of a tick, as far as they are looked at |
//! | `handle.rs` | what is open, shared by threads, closed once |
//! | `id.rs` | names and numbers |
//! | `settings.rs` | choices, from Python's values |
//! | `recipe.rs` | how tensors without data come back |
//! | `values.rs` | arrays of what was read |
//! | `report.rs` | what is known, as tuples and dicts |
//! | `error.rs` | which exception an error becomes |

mod batch;
mod clock;
mod error;
mod handle;
mod id;
mod moves;
mod reading;
mod recipe;
mod report;
mod settings;
mod snapshot;
mod tensor_store;
mod values;

use pyo3::prelude::*;

/// Adds what this module offers.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<tensor_store::Store>()?;
    module.add_class::<batch::StoreBatch>()?;
    module.add_class::<snapshot::StoreSnapshot>()?;
    module.add_class::<clock::StoreClock>()?;
    module.add_class::<moves::StoreMoves>()?;
    module.add_class::<moves::StoreWishes>()?;
    module.add_function(wrap_pyfunction!(settings::default_policy, module)?)
}
