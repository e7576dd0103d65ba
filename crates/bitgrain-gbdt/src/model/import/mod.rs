//! Import of LightGBM and XGBoost models. Their formats are described in `spec/model.md`.

mod lightgbm;
mod objective;
mod xgboost;

use bitgrain_formats::lightgbm::LightgbmError;
use bitgrain_formats::xgboost::XgboostError;

use super::{FileError, Model, ModelError};

/// Maximum number of outputs of a model without trees.
const MAX_GROUPS: usize = 1 << 16;

/// Reason why a file cannot be imported.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// An unknown format.
    #[error("not a model file; expected a Bitgrain model, a LightGBM text file, or XGBoost JSON or UBJSON")]
    Kind,
    /// An invalid Bitgrain model file.
    #[error(transparent)]
    File(#[from] FileError),
    /// An invalid LightGBM file.
    #[error("LightGBM model: {0}")]
    Lightgbm(#[from] LightgbmError),
    /// An invalid XGBoost file.
    #[error("XGBoost model: {0}")]
    Xgboost(#[from] XgboostError),
    /// An unsupported feature.
    #[error("{what} is not supported")]
    Unsupported {
        /// Description of the feature.
        what: String,
    },
    /// An invalid node of a tree.
    #[error("node {node} of tree {tree} {wrong}")]
    Node {
        /// Index of the tree.
        tree: usize,
        /// Index of the node in the file.
        node: usize,
        /// Description of the problem.
        wrong: &'static str,
    },
    /// A count that is implausible for the size of the file.
    #[error("too many {what}: {found}, but a file of this size can have at most {limit}")]
    TooMany {
        /// Description of the items.
        what: &'static str,
        /// Number of items in the file.
        found: u64,
        /// Maximum number.
        limit: u64,
    },
    /// An inconsistent model.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Model {
    /// Imports a Bitgrain model file, LightGBM text, or XGBoost JSON or UBJSON.
    ///
    /// # Errors
    /// Returns an [`ImportError`] if the format is unknown or the file is invalid.
    pub fn import(bytes: &[u8]) -> Result<Self, ImportError> {
        use bitgrain_formats::{lightgbm, xgboost};
        if Self::detect(bytes) {
            Ok(Self::from_bytes(bytes)?)
        } else if is_own_json(bytes) {
            Err(unsupported("loading a JSON export (load the .bitgrain file instead)"))
        } else if lightgbm::detect(bytes) {
            Self::from_lightgbm(bytes)
        } else if xgboost::detect_json(bytes) || xgboost::detect_ubjson(bytes) {
            Self::from_xgboost(bytes)
        } else {
            Err(ImportError::Kind)
        }
    }
}

/// Returns whether bytes start like the output of [`Model::to_json`].
fn is_own_json(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    start.starts_with(b"{") && start.windows(16).any(|word| word == b"\"bitgrain_model\"")
}

fn unsupported(what: impl Into<String>) -> ImportError {
    ImportError::Unsupported { what: what.into() }
}

/// Checks that the number of outputs is plausible for the number of trees.
fn checked_outputs(outputs: usize, trees: usize) -> Result<usize, ImportError> {
    let limit = trees.max(MAX_GROUPS);
    if outputs == 0 || outputs > limit {
        return Err(ImportError::TooMany { what: "scores per row", found: outputs as u64, limit: limit as u64 });
    }
    Ok(outputs)
}

/// Returns numbered class labels, for classifiers.
fn classes(objective: &str, outputs: usize) -> Vec<String> {
    let count = match objective.split(':').next() {
        Some("binary" | "hinge") if outputs == 1 => 2,
        Some("multiclass" | "multiclassova") => outputs,
        _ => 0,
    };
    (0..count).map(|class| class.to_string()).collect()
}
