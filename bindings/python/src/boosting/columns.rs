//! Tables of other libraries through the Arrow C interface: Polars, PyArrow, DuckDB and others that export a stream.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use bitgrain::gbdt::feature::{FeatureError, Features, Schema};
use bitgrain::gbdt::table::{BlockColumn, Column, ColumnData, StringColumn, Table, TableError};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;
use rayon::prelude::*;

use super::pool::{self, Jobs};
use super::text::{Codes, MISSING};
use crate::error::{Raised, Result};

/// For each feature, `None` if numeric or the category of each code; the list is empty if the values are codes already.
pub(super) type Categories = Vec<Option<Vec<String>>>;

/// Columns of a table in column-major order: numbers and category codes.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct Columns {
    cells: Cells,
    n_rows: usize,
    #[pyo3(get)]
    names: Vec<String>,
    #[pyo3(get)]
    categories: Categories,
}

enum Cells {
    F32(Vec<f32>),
    F64(Vec<f64>),
}

#[pymethods]
impl Columns {
    /// Reads a table: all columns, or the columns of the features `names`, each with its `categories` if given.
    /// `wide` reads numbers as f64 instead of f32.
    #[staticmethod]
    #[pyo3(signature = (table, *, names=None, categories=None, wide=false, n_jobs=None))]
    pub(super) fn read(
        py: Python<'_>,
        table: AnyRecordBatch,
        names: Option<Vec<String>>,
        categories: Option<Categories>,
        wide: bool,
        n_jobs: Option<Jobs>,
    ) -> Result<Self> {
        let unread = |error| Raised::dtype(format!("the table cannot be read: {}", PyErr::from(error).value(py)));
        let (batches, schema) = table.into_table().map_err(unread)?.into_inner();
        let n_rows = batches.iter().map(|batch| batch.num_rows()).sum();
        let found: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
        let names = names.unwrap_or_else(|| found.iter().map(|name| (*name).to_owned()).collect());
        let places = Schema::new(names.clone())?.match_columns(&found, true)?;
        let wanted = |(at, (name, place)): (usize, (&String, usize))| Wanted {
            name: name.clone(),
            chunks: batches.iter().map(|batch| ArrayRef::clone(batch.column(place))).collect(),
            known: categories.as_ref().and_then(|categories| categories.get(at)).cloned(),
        };
        let wanted: Vec<Wanted> = names.iter().zip(places).enumerate().map(wanted).collect();
        let (cells, categories) = pool::detached(py, n_jobs, || {
            if wide {
                let (values, categories) = read::<Float64Type>(&wanted, n_rows, f64::NAN, f64::from)?;
                Ok::<_, ColumnError>((Cells::F64(values), categories))
            } else {
                #[expect(clippy::cast_precision_loss, reason = "codes of more than 24 bits are rejected later")]
                let (values, categories) = read::<Float32Type>(&wanted, n_rows, f32::NAN, |code| code as f32)?;
                Ok((Cells::F32(values), categories))
            }
        })??;
        Ok(Self { cells, n_rows, names, categories })
    }

    /// Returns the numbers of rows and columns.
    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.n_rows, self.names.len())
    }

    fn __repr__(&self) -> String {
        format!("<Columns: {} rows, {} columns>", self.n_rows, self.names.len())
    }
}

impl Columns {
    pub(super) fn features(&self) -> std::result::Result<Features<'_>, FeatureError> {
        match &self.cells {
            Cells::F32(values) => Features::column_major(&values[..], self.n_rows, self.names.len()),
            Cells::F64(values) => Features::column_major(&values[..], self.n_rows, self.names.len()),
        }
    }

    /// Returns the name of each column, and whether it holds strings.
    pub(super) fn block_columns(&self) -> impl Iterator<Item = BlockColumn> {
        let column = |(name, categories): (&String, &Option<Vec<String>>)| BlockColumn {
            name: name.clone(),
            strings: categories.is_some(),
        };
        self.names.iter().zip(&self.categories).map(column)
    }

    /// Converts the columns to a table.
    pub(super) fn into_table(self) -> std::result::Result<Table, TableError> {
        let Self { cells, n_rows, names, categories } = self;
        let mut columns = Vec::with_capacity(names.len());
        for (at, (name, categories)) in names.into_iter().zip(categories).enumerate() {
            let rows = at * n_rows..(at + 1) * n_rows;
            let data = match (&cells, categories) {
                (Cells::F32(values), None) => ColumnData::F32(values[rows].to_vec()),
                (Cells::F64(values), None) => ColumnData::F64(values[rows].to_vec()),
                (Cells::F32(values), Some(labels)) => strings(values[rows].iter().map(|&code| code.into()), labels),
                (Cells::F64(values), Some(labels)) => strings(values[rows].iter().copied(), labels),
            };
            columns.push(Column { name, data });
        }
        Table::new(columns)
    }

    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }
}

/// Returns strings given by their codes; NaN is missing.
fn strings(codes: impl Iterator<Item = f64>, labels: Vec<String>) -> ColumnData {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "codes below 2^24, or NaN")]
    let code = |code: f64| if code.is_nan() { StringColumn::MISSING } else { code as u32 };
    ColumnData::Strings(StringColumn { codes: codes.map(code).collect(), labels })
}

/// A column to read.
struct Wanted {
    name: String,
    chunks: Vec<ArrayRef>,
    /// Categories of the column in a model or dataset, if known; `Some(None)` for a numeric feature.
    known: Option<Option<Vec<String>>>,
}

/// Returns the column of each feature in `names`; `named` tells whether the columns have names.
#[pyfunction]
pub(crate) fn match_columns(names: Vec<String>, columns: Vec<String>, named: bool) -> Result<Vec<usize>> {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    Ok(Schema::new(names)?.match_columns(&columns, named)?)
}

/// Reads all columns in parallel.
fn read<T: ArrowPrimitiveType>(
    wanted: &[Wanted],
    n_rows: usize,
    nan: T::Native,
    of_code: impl Fn(u32) -> T::Native + Sync,
) -> std::result::Result<(Vec<T::Native>, Categories), ColumnError> {
    let mut values = vec![nan; n_rows * wanted.len()];
    if n_rows == 0 {
        return Ok((values, vec![None; wanted.len()]));
    }
    let columns = wanted.par_iter().zip(values.par_chunks_mut(n_rows));
    let categories =
        columns.map(|(column, out)| column.read::<T>(out, nan, &of_code)).collect::<std::result::Result<_, _>>()?;
    Ok((values, categories))
}

impl Wanted {
    /// Writes the values and returns the categories, if the column is categorical.
    fn read<T: ArrowPrimitiveType>(
        &self,
        out: &mut [T::Native],
        nan: T::Native,
        of_code: impl Fn(u32) -> T::Native,
    ) -> std::result::Result<Option<Vec<String>>, ColumnError> {
        let kind = self.chunks.first().map_or(&DataType::Null, |chunk| chunk.data_type());
        let labels = match (&self.known, is_text(kind)) {
            // Numbers can match the categories of a model only if a category is itself a written number.
            (Some(Some(labels)), false) if *kind != DataType::Null && !labels.iter().any(|label| is_written(label)) => {
                match labels.first() {
                    Some(label) => {
                        return Err(ColumnError::Numbers { name: self.name.clone(), label: label.clone() });
                    }
                    None => None,
                }
            }
            (Some(Some(labels)), _) if !labels.is_empty() => Some(Some(&labels[..])),
            (None, true) => Some(None),
            (_, true) => return Err(ColumnError::Text { name: self.name.clone() }),
            (_, false) => None,
        };
        let Some(labels) = labels else {
            self.read_numbers::<T>(out, nan)?;
            return Ok(self.known.clone().flatten());
        };
        let mut codes = Codes::new(labels, out.len());
        for chunk in &self.chunks {
            codes.add(chunk).map_err(|source| self.failed(source))?;
        }
        let (codes, labels) = codes.finish();
        for (out, code) in out.iter_mut().zip(codes).filter(|(_, code)| *code != MISSING) {
            *out = of_code(code);
        }
        Ok(Some(labels))
    }

    fn read_numbers<T: ArrowPrimitiveType>(
        &self,
        out: &mut [T::Native],
        nan: T::Native,
    ) -> std::result::Result<(), ColumnError> {
        let mut rest = out;
        for chunk in &self.chunks {
            if !is_number(chunk.data_type()) {
                return Err(ColumnError::Type { name: self.name.clone(), kind: chunk.data_type().clone() });
            }
            let numbers = cast(chunk, &T::DATA_TYPE).map_err(|source| self.failed(source))?;
            let numbers = numbers.as_primitive::<T>();
            let (here, behind) = rest.split_at_mut(numbers.len());
            here.copy_from_slice(numbers.values());
            if let Some(nulls) = numbers.nulls() {
                here.iter_mut().zip(nulls).filter(|(_, valid)| !valid).for_each(|(value, _)| *value = nan);
            }
            rest = behind;
        }
        Ok(())
    }

    fn failed(&self, source: ArrowError) -> ColumnError {
        ColumnError::Cast { name: self.name.clone(), source }
    }
}

fn is_number(kind: &DataType) -> bool {
    use DataType::{Boolean, Decimal32, Decimal64, Decimal128, Decimal256, Null};
    kind.is_integer()
        || kind.is_floating()
        || matches!(kind, Boolean | Null | Decimal32(..) | Decimal64(..) | Decimal128(..) | Decimal256(..))
}

/// Returns whether a string is the written form of a number or boolean.
fn is_written(label: &str) -> bool {
    label.parse::<f64>().is_ok() || matches!(label, "true" | "false")
}

fn is_text(kind: &DataType) -> bool {
    matches!(kind, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Dictionary(..))
}

/// Reason why a column cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum ColumnError {
    /// A type other than numbers and strings, such as a date or a list.
    #[error("column {name:?} is of type {kind}; convert it to numbers or strings, or drop it")]
    Type { name: String, kind: DataType },
    /// Strings in a feature that the model knows as numeric.
    #[error("column {name:?} holds strings, but the model was trained on numbers")]
    Text { name: String },
    /// Numbers in a feature that the model knows as categorical.
    #[error("column {name:?} holds numbers, but the model was trained on strings, such as {label:?}")]
    Numbers { name: String, label: String },
    /// Values that Arrow cannot convert.
    #[error("column {name:?}: {source}")]
    Cast { name: String, source: ArrowError },
}
