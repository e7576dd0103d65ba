//! Import of LightGBM and XGBoost models. Their formats are described in `spec/model.md`.

mod lightgbm;
mod objective;
mod xgboost;

use bitgrain_formats::lightgbm::LightgbmError;
use bitgrain_formats::xgboost::XgboostError;

use super::{CategorySet, FileError, Model, ModelError, json};

/// Maximum number of outputs of a model without trees.
const MAX_GROUPS: usize = 1 << 16;
/// Memory of category sets in bytes, in addition to sixteen per byte of the file.
const SET_BYTES: u64 = 64 << 20;

/// Reason why a file cannot be imported.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// An unknown format.
    #[error("not a model file; expected a Bitgrain model or its JSON, a LightGBM text file, or XGBoost JSON or UBJSON")]
    Kind,
    /// Invalid JSON, or JSON that is not a Bitgrain model.
    #[error("JSON model: line {line}, column {column}: {message}")]
    Json {
        /// 1-based line number.
        line: usize,
        /// 1-based column.
        column: usize,
        /// Message of the parser.
        message: String,
    },
    /// A version of JSON models that is not supported.
    #[error("unsupported JSON model version {version}, expected 1; update bitgrain to read newer files")]
    JsonVersion {
        /// Version in the file.
        version: u64,
    },
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
    /// Imports a Bitgrain model file or its JSON, LightGBM text, or XGBoost JSON or UBJSON.
    ///
    /// # Errors
    /// Returns an [`ImportError`] if the format is unknown or the file is invalid.
    pub fn import(bytes: &[u8]) -> Result<Self, ImportError> {
        use bitgrain_formats::{lightgbm, xgboost};
        if Self::detect(bytes) {
            Ok(Self::from_bytes(bytes)?)
        } else if lightgbm::detect(bytes) {
            Self::from_lightgbm(bytes)
        } else if xgboost::detect_json(bytes) || xgboost::detect_ubjson(bytes) {
            Self::from_xgboost(bytes)
        } else if json::detect(bytes) {
            Self::from_json(bytes)
        } else {
            Err(ImportError::Kind)
        }
    }
}

fn unsupported(what: impl Into<String>) -> ImportError {
    ImportError::Unsupported { what: what.into() }
}

/// Memory budget of category sets: ten characters of a file can encode a code that takes megabytes.
pub(super) struct SetBudget {
    left: u64,
}

impl SetBudget {
    /// Creates the budget for a file of the given length.
    pub(super) const fn for_file(bytes: usize) -> Self {
        Self { left: SET_BYTES.saturating_add(bytes as u64 * 16) }
    }

    pub(super) fn set(&mut self, codes: &[u32]) -> Result<CategorySet, ImportError> {
        let bytes = codes.iter().max().map_or(0, |&code| u64::from(code) / 8 + 8);
        let what = "bytes of category sets";
        let too_many = ImportError::TooMany { what, found: bytes, limit: self.left };
        self.left = self.left.checked_sub(bytes).ok_or(too_many)?;
        Ok(codes.iter().copied().collect())
    }
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
