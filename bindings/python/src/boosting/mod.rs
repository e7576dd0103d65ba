//! Gradient-boosted trees.
//!
//! | module | what it is |
//! |---|---|
//! | `source` | matrices as Python has them, borrowed |
//! | `columns` | tables of other libraries, through Arrow's capsules |
//! | `text` | columns of text on their way to codes |
//! | `binned` | binned features with their targets |
//! | `settings` | hyper-parameters |
//! | `objective`, `metric` | Python's own losses and measures |
//! | `training` | growing trees, and the folds of a cross-validation |
//! | `booster` | models: prediction, files |
//! | `pool` | threads, and how Ctrl-C reaches them |
//! | `error` | what becomes which exception |

mod binned;
mod booster;
mod columns;
mod error;
mod metric;
mod objective;
mod pool;
mod settings;
mod source;
mod text;
mod training;

use pyo3::prelude::*;

/// Adds what this module offers.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<binned::BinnedData>()?;
    module.add_class::<booster::Booster>()?;
    module.add_class::<columns::Columns>()?;
    module.add_function(wrap_pyfunction!(columns::match_columns, module)?)?;
    module.add_function(wrap_pyfunction!(objective::infer_objective, module)?)?;
    module.add_function(wrap_pyfunction!(objective::objective_kind, module)?)?;
    module.add_function(wrap_pyfunction!(settings::parameters, module)?)?;
    module.add_function(wrap_pyfunction!(settings::resolve_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(settings::check_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(training::train, module)?)?;
    module.add_function(wrap_pyfunction!(training::cross_validate, module)?)
}
