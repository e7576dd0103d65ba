//! Conversion of boosting errors to exceptions.

use bitgrain::gbdt::distributed::CommunicationError;
use bitgrain::gbdt::explain::ExplainError;
use bitgrain::gbdt::feature::{ColumnMismatch, FeatureError};
use bitgrain::gbdt::metric::MetricError;
use bitgrain::gbdt::model::{ExportError, FileError, ImportError, LoadError, ModelError, SaveError};
use bitgrain::gbdt::objective::ObjectiveError;
use bitgrain::gbdt::predict::{ImportanceError, PredictError};
use bitgrain::gbdt::report::ReportError;
use bitgrain::gbdt::train::TrainError;

use pyo3::PyErr;

use super::columns::ColumnError;
use crate::error::{self, Raised, WorkerError};

impl From<TrainError> for Raised {
    fn from(error: TrainError) -> Self {
        match error {
            TrainError::OtherCuts => {
                Self::input("the validation data is binned differently from the training data; use data.like(X, y)")
            }
            TrainError::Communication(error) => error.into(),
            error => Self::input(error),
        }
    }
}

impl From<CommunicationError> for Raised {
    fn from(error: CommunicationError) -> Self {
        match &error {
            CommunicationError::Mismatch { .. } => Self::input(error),
            CommunicationError::Worker { rank, message } => {
                PyErr::new::<WorkerError, _>((error.to_string(), *rank, message.clone())).into()
            }
            _ => Self::new::<WorkerError>(error),
        }
    }
}

impl From<FeatureError> for Raised {
    fn from(error: FeatureError) -> Self {
        Self::input(error)
    }
}

impl From<ObjectiveError> for Raised {
    fn from(error: ObjectiveError) -> Self {
        Self::input(error)
    }
}

impl From<MetricError> for Raised {
    fn from(error: MetricError) -> Self {
        Self::input(error)
    }
}

impl From<PredictError> for Raised {
    fn from(error: PredictError) -> Self {
        Self::input(error)
    }
}

impl From<ExplainError> for Raised {
    fn from(error: ExplainError) -> Self {
        Self::input(error)
    }
}

impl From<ImportanceError> for Raised {
    fn from(error: ImportanceError) -> Self {
        Self::input(error)
    }
}

impl From<ReportError> for Raised {
    fn from(error: ReportError) -> Self {
        Self::input(error)
    }
}

impl From<ModelError> for Raised {
    fn from(error: ModelError) -> Self {
        Self::input(error)
    }
}

impl From<ColumnError> for Raised {
    fn from(error: ColumnError) -> Self {
        Self::dtype(error)
    }
}

impl From<ColumnMismatch> for Raised {
    fn from(error: ColumnMismatch) -> Self {
        match error {
            // The wording of scikit-learn.
            ColumnMismatch::Missing { missing, unknown } => Self::input(format!(
                "The feature names should match those of the training data. Missing: {}; unknown: {}",
                listed(&missing),
                listed(&unknown)
            )),
            error => Self::input(error),
        }
    }
}

fn listed(names: &[String]) -> String {
    const SHOWN: usize = 5;
    let mut list: Vec<String> = names.iter().take(SHOWN).map(|name| format!("'{name}'")).collect();
    if list.is_empty() {
        list.push("none".to_owned());
    }
    let more = if names.len() > SHOWN { format!(" and {} more", names.len() - SHOWN) } else { String::new() };
    list.join(", ") + &more
}

impl From<ImportError> for Raised {
    fn from(error: ImportError) -> Self {
        import(&error, error.to_string())
    }
}

impl From<LoadError> for Raised {
    fn from(error: LoadError) -> Self {
        match &error {
            LoadError::Import { source, .. } => import(source, error.to_string()),
            LoadError::Io { path, source } => Self::file(path, source),
            _ => Self::new::<error::FileError>(error),
        }
    }
}

impl From<ExportError> for Raised {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Unsupported { .. } => Self::new::<error::FormatError>(error),
            error => Self::input(error),
        }
    }
}

impl From<SaveError> for Raised {
    fn from(error: SaveError) -> Self {
        match error {
            SaveError::Io { path, source } => Self::file(path, &source),
            SaveError::Model(error) => error.into(),
            SaveError::Export(error) => error.into(),
            _ => Self::new::<error::FileError>(error),
        }
    }
}

/// Converts to a `DamagedError` if a checksum does not match, otherwise to a `FormatError`.
fn import(error: &ImportError, message: String) -> Raised {
    match error {
        ImportError::File(FileError::Checksum { .. } | FileError::Length { .. }) => {
            Raised::new::<error::DamagedError>(message)
        }
        _ => Raised::new::<error::FormatError>(message),
    }
}
