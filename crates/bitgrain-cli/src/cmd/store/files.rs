//! Tensors from and to files: npy, npz, safetensors, GGUF and the number columns of tables in; npy, npz, safetensors and
//! Parquet out.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use bitgrain::formats::npy::f32_header;
use bitgrain::formats::npz;
use bitgrain::formats::safetensors::{Dtype, TensorSpec, Writer};
use bitgrain::gbdt::table::{Column, ColumnData, Table};
use bitgrain::nn::Model;

use crate::error::CliError;

/// A tensor on its way in or out.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
    pub(super) values: Vec<f32>,
}

/// A file whose tensors can be read one by one.
pub(super) enum Source {
    Tensors(Model),
    Columns(Table),
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Self, CliError> {
        let is_table = ending(path).is_some_and(|ending| ["parquet", "csv", "tsv", "gz"].contains(&&*ending));
        if is_table { Ok(Self::Columns(Table::read(path)?)) } else { Ok(Self::Tensors(Model::open(path)?)) }
    }

    /// Tensors in it.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Tensors(model) => model.tensors().len(),
            Self::Columns(table) => table.columns().len(),
        }
    }

    /// The values of one, as f32; `None` for a column of texts.
    pub(super) fn read(&self, at: usize) -> Result<Option<Named>, CliError> {
        match self {
            Self::Tensors(model) => {
                let tensor = &model.tensors()[at];
                let shape = tensor.shape.iter().map(|&axis| usize::try_from(axis).unwrap_or(usize::MAX)).collect();
                Ok(Some(Named { name: tensor.name.clone(), shape, values: tensor.values()? }))
            }
            Self::Columns(table) => {
                let Column { name, data } = &table.columns()[at];
                let values = match data {
                    ColumnData::F32(values) => values.clone(),
                    #[expect(clippy::cast_possible_truncation, reason = "the store keeps f32")]
                    ColumnData::F64(values) => values.iter().map(|&value| value as f32).collect(),
                    ColumnData::Text(_) => return Ok(None),
                };
                Ok(Some(Named { name: name.clone(), shape: vec![values.len()], values }))
            }
        }
    }

    /// The only tensor of a file, or the one of a name.
    pub(super) fn one(&self, path: &Path, name: Option<&str>) -> Result<Named, CliError> {
        let names: Vec<&str> = match self {
            Self::Tensors(model) => model.tensors().iter().map(|tensor| tensor.name.as_str()).collect(),
            Self::Columns(table) => table.columns().iter().map(|column| column.name.as_str()).collect(),
        };
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

/// Writes tensors to a file that gets its name when it is complete.
pub(super) fn write(path: &Path, tensors: Vec<Named>) -> Result<(), CliError> {
    let axes = |tensor: &Named| tensor.shape.iter().map(|&axis| axis as u64).collect::<Vec<u64>>();
    let bytes = |tensor: &Named| tensor.values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    match ending(path).as_deref() {
        Some("parquet") => {
            let column = |tensor: Named| Column { name: tensor.name, data: ColumnData::F32(tensor.values) };
            if tensors.iter().any(|tensor| tensor.shape.len() != 1) {
                return Err(CliError::OnlyColumns { path: path.to_owned() });
            }
            Ok(Table::new(tensors.into_iter().map(column).collect())?.write(path)?)
        }
        Some("npy") => match &tensors[..] {
            [tensor] => whole(path, |out| {
                out.write_all(&f32_header(&axes(tensor)))?;
                Ok(out.write_all(&bytes(tensor))?)
            }),
            _ => Err(CliError::OnlyOne { path: path.to_owned(), tensors: tensors.len() }),
        },
        Some("npz") => whole(path, |out| {
            let mut writer = npz::Writer::new(out);
            tensors.iter().try_for_each(|tensor| writer.add(&tensor.name, &axes(tensor), &tensor.values))?;
            writer.finish()?;
            Ok(())
        }),
        Some("safetensors") => whole(path, |out| {
            let spec =
                |tensor: &Named| TensorSpec { name: tensor.name.clone(), dtype: Dtype::F32, shape: axes(tensor) };
            let mut writer = Writer::new(out, &[], &tensors.iter().map(spec).collect::<Vec<_>>())?;
            tensors.iter().try_for_each(|tensor| writer.write(&bytes(tensor)))?;
            writer.finish()?;
            Ok(())
        }),
        _ => Err(CliError::TensorFile { path: path.to_owned() }),
    }
}

/// Writes a file beside its place, and moves it there.
fn whole(path: &Path, fill: impl FnOnce(&mut BufWriter<&File>) -> Result<(), CliError>) -> Result<(), CliError> {
    let failed = |source| CliError::File { path: path.to_owned(), source };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut out = BufWriter::new(file.as_file());
    fill(&mut out)?;
    out.flush().map_err(failed)?;
    drop(out);
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}
