//! `CheckpointError`: reasons why the packed weights of another quantizer cannot be read.

use std::io;
use std::path::PathBuf;

/// Reason why a quantized checkpoint could not be read. Messages name the file or array and the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The configuration could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A configuration that is not valid JSON, or not an object.
    #[error("{}: not valid JSON: {reason}", path.display())]
    Json {
        /// Path of the file.
        path: PathBuf,
        /// The parser's message.
        reason: String,
    },
    /// Packed weights without a description.
    #[error(
        "{}: `{array}` holds {method} codes, but `quantization_config` is missing; put the model's config.json next to the \
         weights",
        path.display()
    )]
    NoConfig {
        /// Path of the weights.
        path: PathBuf,
        /// Name of the array.
        array: String,
        /// The method that its name suggests.
        method: &'static str,
    },
    /// An unknown value of `quant_method`.
    #[error("{}: unknown quantization method `{method}`; supported: {supported}", path.display())]
    Method {
        /// Path of the configuration.
        path: PathBuf,
        /// The method.
        method: String,
        /// Supported methods.
        supported: &'static str,
    },
    /// A variant of a known method that is not read.
    #[error("{}: unsupported quantization: `{key}` is `{found}`, expected {expected}", path.display())]
    Scheme {
        /// Path of the configuration.
        path: PathBuf,
        /// Name of the entry.
        key: String,
        /// Its value.
        found: String,
        /// Supported values.
        expected: &'static str,
    },
    /// A missing entry of the configuration.
    #[error("{}: missing `{key}` in `quantization_config`", path.display())]
    MissingKey {
        /// Path of the configuration.
        path: PathBuf,
        /// Name of the entry.
        key: &'static str,
    },
    /// A configuration without any weights that it describes.
    #[error(
        "{}: `quantization_config` says {method}, but no tensor is stored that way; remove the entry if the weights are \
         not quantized",
        path.display()
    )]
    NothingPacked {
        /// Path of the configuration.
        path: PathBuf,
        /// The quantization method.
        method: String,
    },
    /// Two files that describe different quantizations.
    #[error("{}: {found} contradicts {}: {expected}; remove the file that does not describe the weights", path.display(), first.display())]
    Files {
        /// Path of the second configuration.
        path: PathBuf,
        /// Path of the first one.
        first: PathBuf,
        /// Settings in the second one.
        found: String,
        /// Settings in the first one.
        expected: String,
    },
    /// Arrays that contradict the configuration.
    #[error("tensor `{tensor}`: {found} contradicts `quantization_config`: {expected}")]
    Contradiction {
        /// Name of the array.
        tensor: String,
        /// Property of the array.
        found: String,
        /// Property in the configuration.
        expected: String,
    },
    /// A model without the file that describes it.
    #[error(
        "{}: not found; a scheme requires the Hugging Face folder of a model, with config.json and safetensors files",
        path.display()
    )]
    NoModelConfig {
        /// Path of the missing `config.json`.
        path: PathBuf,
    },
    /// A tensor in a quantized format that is not part of the scheme.
    #[error(
        "tensor `{tensor}`: {format} cannot be combined with scheme {scheme}; keep the tensor or use a float format"
    )]
    NotInScheme {
        /// Name of the tensor.
        tensor: String,
        /// The format.
        format: String,
        /// The scheme.
        scheme: &'static str,
    },
    /// A model without a layer that can be quantized.
    #[error("{}: no linear layer can be stored as {scheme}; use another --group or scheme", path.display())]
    NoLayer {
        /// Path of the weights.
        path: PathBuf,
        /// The scheme.
        scheme: &'static str,
    },
    /// A missing array.
    #[error("tensor `{tensor}`: missing `{array}`; download the model again")]
    MissingArray {
        /// Name of the array of codes.
        tensor: String,
        /// Name of the missing array.
        array: String,
    },
    /// An array of the wrong dtype or shape.
    #[error("tensor `{tensor}`: found {found}, expected {expected}")]
    Array {
        /// Name of the array.
        tensor: String,
        /// Its dtype and shape.
        found: String,
        /// Expected dtype and shape.
        expected: String,
    },
    /// A value in an array that is out of range.
    #[error("tensor `{tensor}`: {reason}")]
    Value {
        /// Name of the array.
        tensor: String,
        /// The value and its range.
        reason: String,
    },
}
