//! Writing of tensors to npy, npz, safetensors and Parquet files in pieces. A file appears only when it is complete.

use std::io::{BufWriter, Write};
use std::ops::Range;
use std::path::Path;

use bitgrain::files::PartFile;
use bitgrain::formats::npy::f32_header;
use bitgrain::formats::safetensors::{Dtype, TensorSpec, Writer};
use bitgrain::formats::{WriteError, npz};
use bitgrain::gbdt::table::{TableError, write_parquet};

use crate::error::CliError;

/// Number of values read at once, unless a row is longer: 16 MiB.
const PIECE: usize = 4 << 20;

/// A tensor to write.
pub(super) struct Announced {
    pub(super) name: String,
    pub(super) shape: Vec<usize>,
}

impl Announced {
    fn axes(&self) -> Vec<u64> {
        self.shape.iter().map(|&axis| axis as u64).collect()
    }

    /// Returns the length of the first axis.
    fn rows(&self) -> usize {
        self.shape.first().copied().unwrap_or(1)
    }

    /// Iterates over the row ranges of the pieces.
    fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let row: usize = self.shape.iter().skip(1).product();
        let (rows, step) = (self.rows(), (PIECE / row.max(1)).max(1));
        (0..rows).step_by(step).map(move |start| start..rows.min(start.saturating_add(step)))
    }
}

/// Reads rows of a tensor, given its index in the announced list.
pub(super) type Read<'r> = dyn FnMut(usize, Range<usize>) -> Result<Vec<f32>, CliError> + 'r;

/// Checks that the file format can hold these tensors.
pub(super) fn check(path: &Path, tensors: &[Announced]) -> Result<(), CliError> {
    let path = || path.to_owned();
    match ending(&path()).as_deref() {
        Some("npy") if tensors.len() != 1 => Err(CliError::OnlyOne { path: path(), tensors: tensors.len() }),
        Some("parquet") if tensors.iter().any(|tensor| tensor.shape.len() != 1) => {
            Err(CliError::OnlyColumns { path: path() })
        }
        Some("npy" | "parquet" | "npz" | "safetensors") => Ok(()),
        _ => Err(CliError::TensorFile { path: path() }),
    }
}

/// Writes tensors to a file.
pub(super) fn write(path: &Path, tensors: &[Announced], read: &mut Read<'_>) -> Result<(), CliError> {
    check(path, tensors)?;
    match ending(path).as_deref() {
        Some("parquet") => parquet(path, tensors, read),
        Some("npy") => whole(path, |out| {
            tensors.iter().try_for_each(|tensor| out.write_all(&f32_header(&tensor.axes())))?;
            stream(tensors, read, |bytes| Ok(out.write_all(bytes)?))
        }),
        Some("npz") => whole(path, |out| {
            let mut writer = npz::Writer::new(out);
            for (at, tensor) in tensors.iter().enumerate() {
                writer.add(&tensor.name, &tensor.axes(), &read(at, 0..tensor.rows())?)?;
            }
            writer.finish()?;
            Ok(())
        }),
        _ => whole(path, |out| {
            let spec =
                |tensor: &Announced| TensorSpec { name: tensor.name.clone(), dtype: Dtype::F32, shape: tensor.axes() };
            let mut writer = Writer::new(out, &[], &tensors.iter().map(spec).collect::<Vec<_>>())?;
            stream(tensors, read, |bytes| Ok(writer.write(bytes)?))?;
            writer.finish()?;
            Ok(())
        }),
    }
}

/// Streams the bytes of all values, in order.
fn stream(
    tensors: &[Announced],
    read: &mut Read<'_>,
    mut put: impl FnMut(&[u8]) -> Result<(), CliError>,
) -> Result<(), CliError> {
    let mut bytes = Vec::new();
    for (at, tensor) in tensors.iter().enumerate() {
        for rows in tensor.pieces() {
            bytes.clear();
            bytes.extend(read(at, rows)?.into_iter().flat_map(f32::to_le_bytes));
            put(&bytes)?;
        }
    }
    Ok(())
}

/// Writes vectors as columns.
fn parquet(path: &Path, tensors: &[Announced], read: &mut Read<'_>) -> Result<(), CliError> {
    let expected = tensors.first().map_or(0, Announced::rows);
    if let Some(other) = tensors.iter().find(|tensor| tensor.rows() != expected) {
        return Err(TableError::RowCount { name: other.name.clone(), found: other.rows(), expected }.into());
    }
    let names: Vec<&str> = tensors.iter().map(|tensor| tensor.name.as_str()).collect();
    write_parquet(path, &names, expected, read)
}

/// Writes to a temporary file next to `path` and renames it when complete.
fn whole(path: &Path, fill: impl FnOnce(&mut BufWriter<PartFile>) -> Result<(), CliError>) -> Result<(), CliError> {
    let failed = |source| CliError::File { path: path.to_owned(), source };
    let mut out = BufWriter::new(PartFile::create(path).map_err(failed)?);
    fill(&mut out).map_err(|error| match error {
        CliError::Io(source) | CliError::Write(WriteError::Io(source)) => failed(source),
        error => error,
    })?;
    out.into_inner().map_err(|error| failed(error.into_error()))?.publish().map_err(failed)
}

fn ending(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}
