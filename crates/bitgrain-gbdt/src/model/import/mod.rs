//! Models of LightGBM and XGBoost. What their files mean is written in `spec/model.md`.

mod lightgbm;
mod objective;
mod xgboost;

use bitgrain_formats::lightgbm::LightgbmError;
use bitgrain_formats::xgboost::XgboostError;

use super::{FileError, Model, ModelError};

/// Scores of a row that a model without trees may claim to have.
const MAX_GROUPS: usize = 1 << 16;

/// Why a file is not a model that can be used here.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// None of the files that are read.
    #[error("not a model of bitgrain, not a LightGBM text, and not XGBoost's JSON or UBJSON")]
    Kind,
    /// Our own file, and something is wrong with it.
    #[error(transparent)]
    File(#[from] FileError),
    /// LightGBM's text, and something is wrong with it.
    #[error("LightGBM model: {0}")]
    Lightgbm(#[from] LightgbmError),
    /// XGBoost's file, and something is wrong with it.
    #[error("XGBoost model: {0}")]
    Xgboost(#[from] XgboostError),
    /// A model of a kind that has no place here.
    #[error("{what} is not supported")]
    Unsupported {
        /// What it has or is.
        what: String,
    },
    /// A node of a tree that makes no sense.
    #[error("node {node} of tree {tree} {wrong}")]
    Node {
        /// The tree.
        tree: usize,
        /// The node, as the file counts them.
        node: usize,
        /// What is wrong with it.
        wrong: &'static str,
    },
    /// A number that is too large for what the file holds.
    #[error("{what}: {found} are more than the {limit} that a file of this size may have")]
    TooMany {
        /// What there are too many of.
        what: &'static str,
        /// How many.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The parts do not fit together.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl Model {
    /// Reads a model of whichever kind: our own file, LightGBM's text, XGBoost's JSON or UBJSON.
    ///
    /// # Errors
    /// If it is none of these, or what is wrong with it.
    pub fn import(bytes: &[u8]) -> Result<Self, ImportError> {
        use bitgrain_formats::{lightgbm, xgboost};
        if Self::begins(bytes) {
            Ok(Self::from_bytes(bytes)?)
        } else if is_own_json(bytes) {
            Err(unsupported("bitgrain's JSON is to look into; use the model's own file"))
        } else if lightgbm::begins(bytes) {
            Self::from_lightgbm(bytes)
        } else if xgboost::begins_as_json(bytes) || xgboost::begins_as_ubjson(bytes) {
            Self::from_xgboost(bytes)
        } else {
            Err(ImportError::Kind)
        }
    }
}

/// Whether bytes begin as [`Model::to_json`] does.
fn is_own_json(bytes: &[u8]) -> bool {
    let start = &bytes[..bytes.len().min(4096)];
    start.starts_with(b"{") && start.windows(16).any(|word| word == b"\"bitgrain_model\"")
}

fn unsupported(what: impl Into<String>) -> ImportError {
    ImportError::Unsupported { what: what.into() }
}

/// Scores of a row, if the trees or a small number make them believable.
fn checked_outputs(outputs: usize, trees: usize) -> Result<usize, ImportError> {
    let limit = trees.max(MAX_GROUPS);
    if outputs == 0 || outputs > limit {
        return Err(ImportError::TooMany { what: "scores of a row", found: outputs as u64, limit: limit as u64 });
    }
    Ok(outputs)
}

/// The numbers of the classes, for classifiers.
fn classes(objective: &str, outputs: usize) -> Vec<String> {
    let count = match objective.split(':').next() {
        Some("binary" | "hinge") if outputs == 1 => 2,
        Some("multiclass" | "multiclassova") => outputs,
        _ => 0,
    };
    (0..count).map(|class| class.to_string()).collect()
}
