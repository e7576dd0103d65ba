//! Gradient-boosted trees.
//!
//! | module | contents |
//! |---|---|
//! | `source` | borrowed NumPy arrays and sparse matrices |
//! | `columns` | tables of other libraries, through the Arrow C interface |
//! | `text` | encoding of string columns as category codes |
//! | `binned` | binned features and their targets |
//! | `bins` | binned tables: files with the bins of tables of any size |
//! | `group` | workers connected by Python code |
//! | `groups` | queries of ranking tasks |
//! | `settings` | hyperparameters |
//! | `objective`, `metric` | losses and metrics written in Python |
//! | `training` | training and cross-validation |
//! | `booster` | models: prediction, files |
//! | `explain` | partial dependence, permutation importance, HTML report |
//! | `pool` | thread pools and the handling of Ctrl-C |
//! | `error` | conversion of errors to exceptions |

mod binned;
mod bins;
mod booster;
mod columns;
mod error;
mod explain;
mod group;
mod groups;
mod metric;
mod objective;
mod pool;
mod refit;
mod settings;
mod source;
mod text;
mod training;

use pyo3::prelude::*;

/// Adds the classes and functions of this module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<binned::BinnedData>()?;
    module.add_class::<booster::Booster>()?;
    module.add_class::<columns::Columns>()?;
    module.add_function(wrap_pyfunction!(bins::bin_rows, module)?)?;
    module.add_function(wrap_pyfunction!(columns::match_columns, module)?)?;
    module.add_function(wrap_pyfunction!(groups::query_folds, module)?)?;
    module.add_function(wrap_pyfunction!(groups::query_metric, module)?)?;
    module.add_function(wrap_pyfunction!(metric::describe_metrics, module)?)?;
    module.add_function(wrap_pyfunction!(metric::evaluate_metric, module)?)?;
    module.add_function(wrap_pyfunction!(objective::infer_objective, module)?)?;
    module.add_function(wrap_pyfunction!(objective::objective_kind, module)?)?;
    module.add_function(wrap_pyfunction!(settings::parameters, module)?)?;
    module.add_function(wrap_pyfunction!(settings::resolve_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(settings::check_parameters, module)?)?;
    module.add_function(wrap_pyfunction!(training::train, module)?)?;
    module.add_function(wrap_pyfunction!(training::cross_validate, module)?)
}
