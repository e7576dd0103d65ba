//! Quantized weights: tensors, versions, networks and files.
//!
//! | module | contents |
//! |---|---|
//! | `tensor` | quantized tensors |
//! | `versions` | f32 weights and their quantized versions |
//! | `network`, `training` | networks that run in any format |
//! | `model`, `conversion`, `comparison` | model files: reading, converting, comparing |
//! | `encoder` | sentence embeddings |
//! | `language` | language models |
//! | `format` | formats by name |
//! | `figures`, `record` | conversion to the dictionaries behind dataclasses |
//! | `watch` | progress and interruption of long calls |

mod comparison;
mod conversion;
mod encoder;
mod error;
mod figures;
mod format;
mod language;
mod metadata;
mod model;
mod network;
mod record;
mod tensor;
mod training;
mod versions;
mod watch;

use numpy::{Element, PyReadonlyArray, PyReadonlyArrayDyn};
use pyo3::prelude::*;

use crate::error::{Raised, Result};

/// Adds the classes and functions of this module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(format::weight_formats, module)?)?;
    module.add_function(wrap_pyfunction!(format::weight_format, module)?)?;
    module.add_class::<tensor::WeightTensor>()?;
    module.add_class::<versions::WeightVersions>()?;
    module.add_class::<network::WeightNetwork>()?;
    module.add_class::<model::WeightModel>()?;
    module.add_class::<comparison::WeightComparison>()?;
    module.add_class::<encoder::WeightEncoder>()?;
    module.add_class::<language::WeightLanguageModel>()
}

/// An f32 array of any shape.
type Floats<'py> = PyReadonlyArrayDyn<'py, f32>;

/// Returns the elements of an array, which the Python package made contiguous.
fn elements<'a, T: Element, D: numpy::ndarray::Dimension>(array: &'a PyReadonlyArray<'_, T, D>) -> Result<&'a [T]> {
    array.as_slice().map_err(|_| Raised::input("the array must be contiguous; pass np.ascontiguousarray(x)"))
}

/// Returns the rows and columns of a shape: the product of all dimensions but the last, and the last.
fn matrix(shape: &[usize]) -> (usize, usize) {
    shape.split_last().map_or((1, 1), |(last, outer)| (outer.iter().product(), *last))
}
