//! `AdapterError`: reasons why a LoRA adapter cannot be merged.

use std::io;
use std::path::PathBuf;

/// Reason why an adapter could not be merged. Messages name the file or tensor and the fix.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AdapterError {
    /// The configuration could not be read.
    #[error("{}: {source}; pass the folder of an adapter, with adapter_config.json", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A configuration that is not valid JSON or lacks an entry.
    #[error("{}: {reason}", path.display())]
    Config {
        /// Path of the file.
        path: PathBuf,
        /// The mismatch.
        reason: String,
    },
    /// An adapter that is not a plain low-rank update.
    #[error("{}: unsupported adapter: `{key}` is `{found}`; merge it with PEFT's merge_and_unload", path.display())]
    Unsupported {
        /// Path of the configuration.
        path: PathBuf,
        /// Name of the entry.
        key: &'static str,
        /// Its value.
        found: String,
    },
    /// A tensor that updates no tensor of the model.
    #[error("{}: `{tensor}` matches no tensor of the model; use the model that the adapter was trained on", path.display())]
    UnknownTensor {
        /// Path of the weights.
        path: PathBuf,
        /// Name of the tensor.
        tensor: String,
    },
    /// A module with only one of its two factors.
    #[error("adapter module `{module}`: one of its two factors is missing; download the adapter again")]
    Unpaired {
        /// Name of the module.
        module: String,
    },
    /// Lengths of rows (DoRA) that cannot be applied.
    #[error("adapter module `{module}`: {reason}; merge it with PEFT's merge_and_unload")]
    Magnitudes {
        /// Name of the module.
        module: String,
        /// The mismatch.
        reason: &'static str,
    },
    /// A factor that does not fit the matrix.
    #[error("tensor `{tensor}`: shape {found:?}, expected {expected}; use the model that the adapter was trained on")]
    Shape {
        /// Name of the tensor.
        tensor: String,
        /// Its shape.
        found: Vec<u64>,
        /// The expected shape.
        expected: String,
    },
    /// An adapter without updates.
    #[error("{}: no low-rank updates found", path.display())]
    Empty {
        /// Path of the weights.
        path: PathBuf,
    },
}
