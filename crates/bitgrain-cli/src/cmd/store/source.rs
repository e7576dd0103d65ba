//! Reading of tensors from npy, npz, safetensors and GGUF files, and of numeric columns of tables.

use std::path::Path;

use bitgrain::gbdt::table::{Column, ColumnData, Table};
use bitgrain::nn::ModelFile;
use bitgrain::store::StoreError;

use super::arguments::index;
use crate::error::CliError;
use crate::printable::shortened;

/// A tensor read from a file.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
    /// Whether the file stores more than 32 bits per value, so that values may exceed f32.
    wide: bool,
}

/// A file whose tensors can be read one at a time.
pub(super) enum Source {
    Tensors(ModelFile),
    Columns(Table),
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
        let is_table = ending.is_some_and(|ending| ["parquet", "csv", "tsv", "gz"].contains(&&*ending));
        if is_table { Ok(Self::Columns(Table::read(path)?)) } else { Ok(Self::Tensors(ModelFile::open(path)?)) }
    }

    /// Returns the names of the tensors.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Self::Tensors(model) => model.tensors().iter().map(|tensor| tensor.name.as_str()).collect(),
            Self::Columns(table) => table.columns().iter().map(|column| column.name.as_str()).collect(),
        }
    }

    /// Reads one tensor as f32; `None` for a string column.
    pub(super) fn read(&self, at: usize) -> Result<Option<Named>, CliError> {
        match self {
            Self::Tensors(model) => {
                let tensor = &model.tensors()[at];
                let shape = tensor.shape.iter().map(|&axis| index(axis)).collect::<Result<_, _>>()?;
                let wide = tensor.storage.format().is_some_and(|format| format.name() == "float64");
                Ok(Some(Named { name: tensor.name.clone(), shape, values: tensor.values()?, wide }))
            }
            Self::Columns(table) => {
                let Column { name, data } = &table.columns()[at];
                let (values, wide) = match data {
                    ColumnData::F32(values) => (values.clone(), false),
                    #[expect(clippy::cast_possible_truncation, reason = "the store keeps f32")]
                    ColumnData::F64(values) => (values.iter().map(|&value| value as f32).collect(), true),
                    ColumnData::Strings(_) => return Ok(None),
                };
                Ok(Some(Named { name: name.clone(), shape: vec![values.len()], values, wide }))
            }
        }
    }

    /// Reads the only tensor of a file, or the one named.
    pub(super) fn one(&self, path: &Path, name: Option<&str>) -> Result<Named, CliError> {
        let names = self.names();
        let at = match name {
            Some(wanted) => names.iter().position(|name| *name == wanted),
            None => (names.len() == 1).then_some(0),
        };
        if let (Some(name), None) = (name, at) {
            return Err(CliError::NoTensor { path: path.to_owned(), name: name.to_owned() });
        }
        let which = || CliError::WhichTensor {
            path: path.to_owned(),
            names: names.iter().take(20).copied().collect::<Vec<_>>().join(", "),
        };
        self.read(at.ok_or_else(which)?)?.ok_or_else(which)
    }
}

impl Named {
    /// Converts an error of the store about this tensor; `path` is the input file.
    pub(super) fn refused(&self, path: &Path, store: &Path, source: StoreError) -> CliError {
        match source {
            StoreError::NonFinite { index } => self.not_finite(path, index),
            StoreError::NoSpace { .. }
            | StoreError::LittleSpace { .. }
            | StoreError::Io { .. }
            | StoreError::Poisoned
            | StoreError::Damaged { .. } => CliError::store(store)(source),
            source => {
                let (path, name) = (path.to_owned(), shortened(&self.name, 60));
                CliError::OfTensor { path, name, source: Box::new(source) }
            }
        }
    }

    /// Returns the error for the value at `index`.
    pub(super) fn not_finite(&self, path: &Path, index: usize) -> CliError {
        let (path, name) = (path.to_owned(), shortened(&self.name, 60));
        let value = self.values.get(index).copied().unwrap_or(f32::NAN);
        if self.wide && value.is_infinite() {
            CliError::BeyondF32 { path, name, index }
        } else {
            CliError::NotFinite { path, name, index, value }
        }
    }
}
