//! Binned tables: files with the bins of tables of any size, from files or from batches of rows.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use bitgrain::formats::bins::BinsError;
use bitgrain::gbdt::table::{
    BinOptions, BinPass, BinProgress, BinnedTable, BinnedTableError, BlockColumn, ColumnRoles, ReadOptions, Table,
    TableBlocks, TableError, TableFiles,
};
use pyo3::prelude::*;
use pyo3_arrow::input::AnyRecordBatch;

use super::columns::Columns;
use super::pool::{self, Jobs};
use super::settings::Settings;
use crate::error::{self, Raised, Result};

/// Rows to bin: files, or a callable that returns an iterator of batches, the same each time.
#[derive(FromPyObject)]
pub(crate) enum Rows {
    Files(Vec<PathBuf>),
    Batches(Py<PyAny>),
}

/// Bins rows into a file, or appends them to one. Calls `on_progress` with the pass, the rows read in it and the number
/// of rows, if known.
#[pyfunction]
#[pyo3(signature = (
    rows, output, *, target, weight=None, group=None, position=None, categorical=Vec::new(), ignore=Vec::new(),
    objective=None, balanced=false, settings=None, append=false, on_progress=None, n_jobs=None,
))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub(crate) fn bin_rows(
    py: Python<'_>,
    rows: Rows,
    output: PathBuf,
    target: String,
    weight: Option<String>,
    group: Option<String>,
    position: Option<String>,
    categorical: Vec<String>,
    ignore: Vec<String>,
    objective: Option<String>,
    balanced: bool,
    settings: Option<Settings>,
    append: bool,
    on_progress: Option<Py<PyAny>>,
    n_jobs: Option<Jobs>,
) -> Result<()> {
    let read =
        ReadOptions { skip: ignore.clone(), text: group.iter().cloned().collect(), ..BinOptions::read_options() };
    let roles = ColumnRoles { target: Some(target), weight, group, position, categorical, objective, balanced };
    let quantizer = settings.map_or_else(|| Ok(Default::default()), |settings| settings.quantizer())?;
    let stop = AtomicBool::new(false);
    let work = || -> std::result::Result<(), BinnedTableError> {
        let mut blocks: Box<dyn TableBlocks> = match rows {
            Rows::Files(paths) => Box::new(TableFiles::open(&paths, &read)?),
            Rows::Batches(source) => Box::new(Batches::open(source, &ignore)?),
        };
        let mut failed = None;
        let mut show = |progress: &BinProgress| {
            let shown = on_progress.as_ref().map_or(Ok(()), |call| told(call, progress));
            failed = shown.err();
            if failed.is_some() || stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let result = if append {
            BinnedTable::open(&output)?.append(&mut *blocks, &roles, &mut show)
        } else {
            BinnedTable::create(&output, &mut *blocks, &BinOptions { roles, quantizer }, &mut show)
        };
        match failed {
            Some(error) => Err(raised(error)),
            None => result.map(drop),
        }
    };
    let (result, signal) = pool::interruptible(py, n_jobs, &stop, work)?;
    if let Some(signal) = signal {
        return Err(signal.error.into());
    }
    Ok(result?)
}

/// Calls a Python function with the progress.
fn told(call: &Py<PyAny>, progress: &BinProgress) -> PyResult<()> {
    let pass = match progress.pass {
        BinPass::Roles => "targets",
        BinPass::Cuts => "cuts",
        BinPass::Codes => "codes",
    };
    Python::attach(|py| call.call1(py, (pass, progress.rows, progress.n_rows)).map(drop))
}

fn raised(error: PyErr) -> BinnedTableError {
    BinnedTableError::Source(Box::new(error))
}

/// Batches of an iterator.
struct Batches {
    source: Py<PyAny>,
    columns: Vec<BlockColumn>,
}

impl Batches {
    /// Reads the names and types of the columns from the first batch.
    fn open(source: Py<PyAny>, ignore: &[String]) -> std::result::Result<Self, BinnedTableError> {
        let first = Python::attach(|py| -> PyResult<Option<Columns>> {
            let batch = source.bind(py).call0()?.try_iter()?.next().transpose()?;
            batch.map(|batch| columns_of(py, &batch, None)).transpose()
        });
        let Some(first) = first.map_err(raised)? else {
            let error = Raised::input("the source has no batches; it must return a new iterator at each call");
            return Err(raised(error.into()));
        };
        let columns: Vec<BlockColumn> = first.block_columns().filter(|column| !ignore.contains(&column.name)).collect();
        Ok(Self { source, columns })
    }
}

fn columns_of(py: Python<'_>, batch: &Bound<'_, PyAny>, names: Option<Vec<String>>) -> PyResult<Columns> {
    let batch: AnyRecordBatch = batch.extract().map_err(|_| {
        let kind = batch.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
        Raised::dtype(format!("a batch is of type {kind}; use Arrow tables, Polars or pandas data frames"))
    })?;
    Ok(Columns::read(py, batch, names, None, false, None)?)
}

impl TableBlocks for Batches {
    fn columns(&self) -> &[BlockColumn] {
        &self.columns
    }

    fn read(
        &mut self,
        wanted: &[usize],
        visit: &mut dyn FnMut(Table) -> std::result::Result<(), BinnedTableError>,
    ) -> std::result::Result<(), BinnedTableError> {
        let names: Vec<String> = wanted.iter().map(|&at| self.columns[at].name.clone()).collect();
        let iterator =
            Python::attach(|py| self.source.bind(py).call0()?.try_iter().map(Bound::unbind)).map_err(raised)?;
        loop {
            let next = Python::attach(|py| -> PyResult<Option<Columns>> {
                let batch = iterator.bind(py).clone().next().transpose()?;
                batch.map(|batch| columns_of(py, &batch, Some(names.clone()))).transpose()
            });
            let Some(columns) = next.map_err(raised)? else { return Ok(()) };
            for (own, &at) in columns.block_columns().zip(wanted) {
                if own.strings != self.columns[at].strings {
                    let what = if own.strings { "strings" } else { "numbers" };
                    let message =
                        format!("column '{}' contains {what} in a later batch, but not in the first one", own.name);
                    return Err(raised(Raised::dtype(message).into()));
                }
            }
            // Without the GIL.
            visit(columns.into_table()?)?;
        }
    }
}

impl From<BinnedTableError> for Raised {
    fn from(error: BinnedTableError) -> Self {
        match error {
            BinnedTableError::Io { path, source } => Self::file(path, &source),
            BinnedTableError::Table(TableError::Io { path, source }) => Self::file(path, &source),
            BinnedTableError::Table(
                error @ (TableError::Csv { .. }
                | TableError::Ragged { .. }
                | TableError::NotUtf8 { .. }
                | TableError::Parquet { .. }
                | TableError::Empty { .. }),
            ) => Self::new::<error::FormatError>(error),
            BinnedTableError::Format { source: BinsError::Checksum { .. } | BinsError::Length { .. }, .. } => {
                Self::new::<error::DamagedError>(error)
            }
            BinnedTableError::Format { .. } => Self::new::<error::FormatError>(error),
            BinnedTableError::Source(error) => match error.downcast::<PyErr>() {
                Ok(error) => (*error).into(),
                Err(error) => Self::input(error),
            },
            error => Self::input(error),
        }
    }
}
