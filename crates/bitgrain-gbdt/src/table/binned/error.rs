//! Errors of binned tables.

use std::io;
use std::path::{Path, PathBuf};

use bitgrain_formats::bins::BinsError;

use crate::feature::FeatureError;
use crate::objective::ObjectiveError;
use crate::table::TableError;
use crate::train::TrainError;

/// Reason why a binned table cannot be written or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BinnedTableError {
    /// A table that cannot be read, or columns that do not match their roles.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Features, targets or weights that cannot be used for training.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// A file that is not a valid binned table.
    #[error("{}: {source}", path.display())]
    Format {
        /// Path of the file.
        path: PathBuf,
        /// Reason why the content is not valid.
        source: BinsError,
    },
    /// A file that cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// No input.
    #[error("no files to read; name at least one")]
    NoFiles,
    /// Files with other columns than the first one.
    #[error("{}: {reason}; all files must have the columns of {}", path.display(), first.display())]
    Columns {
        /// Path of the file.
        path: PathBuf,
        /// Path of the first file.
        first: PathBuf,
        /// Difference.
        reason: String,
    },
    /// A file in a format without blocks of rows.
    #[error("{}: a libsvm file cannot be read in blocks; train on it directly, or convert it to Parquet", path.display())]
    Sparse {
        /// Path of the file.
        path: PathBuf,
    },
    /// Features that training stores by entry.
    #[error(
        "{features} features nearly always have the same value; a binned table cannot store such a sparse table, \
         train on it directly"
    )]
    SparseFeatures {
        /// Number of such features.
        features: usize,
    },
    /// A source that gave other rows when it was read again.
    #[error(
        "the source has {found} rows in a later pass instead of {expected}; it must return the same rows in every pass"
    )]
    Rows {
        /// Number of rows in the first pass.
        expected: usize,
        /// Number of rows in a later pass.
        found: usize,
    },
    /// A string that the first pass over a source did not have.
    #[error(
        "column `{column}` has the new string `{value}` in a later pass; the source must return the same rows in every pass"
    )]
    NewString {
        /// Name of the column.
        column: String,
        /// The string.
        value: String,
    },
    /// Rows to append that do not match the table.
    #[error("cannot append to the binned table: {reason}")]
    Append {
        /// Mismatch.
        reason: String,
    },
    /// The caller stopped the work.
    #[error("interrupted; no file was written")]
    Interrupted,
    /// An error of a source that is not a file.
    #[error("{0}")]
    Source(Box<dyn std::error::Error + Send + Sync>),
}

impl From<FeatureError> for BinnedTableError {
    fn from(error: FeatureError) -> Self {
        Self::Train(error.into())
    }
}

impl From<ObjectiveError> for BinnedTableError {
    fn from(error: ObjectiveError) -> Self {
        Self::Train(error.into())
    }
}

impl BinnedTableError {
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }

    pub(super) fn format(path: &Path) -> impl FnOnce(BinsError) -> Self + '_ {
        |source| Self::Format { path: path.to_owned(), source }
    }
}
