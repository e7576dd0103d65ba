//! Errors of exports.

use super::ModelFormat;
use crate::model::ModelError;

/// Reason why a model cannot be exported.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// An inconsistent model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// An unknown format name.
    #[error("unknown model format `{name}`; the formats are {}", ModelFormat::ALL.map(ModelFormat::name).join(", "))]
    UnknownFormat {
        /// The name.
        name: String,
    },
    /// A model that the format cannot represent exactly.
    #[error("format {format} cannot represent {what}; use {instead}")]
    Unsupported {
        /// Name of the format.
        format: &'static str,
        /// Part of the model that cannot be expressed.
        what: String,
        /// Formats that can express it.
        instead: &'static str,
    },
}
