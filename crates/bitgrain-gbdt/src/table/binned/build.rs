//! Creation of a binned table.

use std::collections::{BTreeSet, HashMap};
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use bitgrain_files::PartFile;
use bitgrain_formats::bins::{Header, Metadata, RowColumns};
use bitgrain_formats::crc32c;

use super::roles::{FeaturePlaces, Rows, feature_places, read_roles};
use super::{BinnedTable, BinnedTableError, TableBlocks};
use crate::feature::{
    BinCuts, CutStream, Features, Quantizer, Schema, StreamColumn, StreamKind, Streamed, stored_features,
};
use crate::groups::Groups;
use crate::narrow::narrow;
use crate::table::piece::rounded;
use crate::table::{Column, ColumnData, ColumnRoles, Numbers, ReadOptions, StringColumn, Table};
use crate::train::TrainError;
use crate::train::slots::{Layout, Plan};

/// Number of values of a chunk, roughly: chunks of wide tables have fewer rows.
const CHUNK_VALUES: usize = 1 << 22;

/// Settings of a binned table.
#[derive(Debug, Clone, Default)]
pub struct BinOptions {
    /// Roles of the columns.
    pub roles: ColumnRoles,
    /// Settings of the cuts.
    pub quantizer: Quantizer,
}

impl BinOptions {
    /// Creates settings with the default cuts.
    #[must_use]
    pub fn new(roles: ColumnRoles) -> Self {
        Self { roles, quantizer: Quantizer::default() }
    }

    /// Returns options for reading files as training does: numbers are rounded to f32.
    #[must_use]
    pub fn read_options() -> ReadOptions {
        ReadOptions { numbers: Numbers::F32, ..ReadOptions::default() }
    }
}

/// Pass over the rows of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinPass {
    /// Reads targets, weights and queries.
    Roles,
    /// Collects the statistics that the cuts are computed from.
    Cuts,
    /// Writes the codes.
    Codes,
}

/// Progress of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BinProgress {
    /// Current pass.
    pub pass: BinPass,
    /// Rows read in this pass.
    pub rows: usize,
    /// Number of rows; `None` in the first pass.
    pub n_rows: Option<usize>,
}

/// Callback with the progress, which can stop the work.
pub(super) type OnProgress<'a> = &'a mut dyn FnMut(&BinProgress) -> ControlFlow<()>;

/// Reports progress; fails if the callback stops the work.
pub(super) fn report(
    on: OnProgress<'_>,
    pass: BinPass,
    rows: usize,
    n_rows: Option<usize>,
) -> Result<(), BinnedTableError> {
    if on(&BinProgress { pass, rows, n_rows }).is_break() { Err(BinnedTableError::Interrupted) } else { Ok(()) }
}

impl BinnedTable {
    /// Bins a table of any size into a file. The file gets its name when it is complete.
    ///
    /// # Errors
    /// Returns a [`BinnedTableError`] if the source cannot be read or used for training, or the file cannot be written.
    pub fn create(
        path: &Path,
        blocks: &mut dyn TableBlocks,
        options: &BinOptions,
        on_progress: &mut dyn FnMut(&BinProgress) -> ControlFlow<()>,
    ) -> Result<Self, BinnedTableError> {
        let mut part = PartFile::create(path).map_err(BinnedTableError::io(path))?;
        let table = read_roles(blocks, &options.roles, &mut |rows| report(on_progress, BinPass::Roles, rows, None))?;
        let n_rows = table.n_rows();
        let rows = Rows::of(table, &options.roles)?;
        let places = feature_places(blocks, &options.roles)?;
        let streamed = statistics(blocks, &places, options, &rows, n_rows, on_progress)?;
        let mut layout = streamed
            .with_probe(n_rows, |source| Layout::new(source))?
            .map_err(|features| BinnedTableError::SparseFeatures { features })?;
        let mut metadata = rows.metadata(&options.roles, &options.quantizer, n_rows)?;
        metadata.features = stored_features(&streamed.cuts, &streamed.schema);
        let (cuts, schema) = (Arc::new(streamed.cuts), streamed.schema);
        loop {
            layout.plan().store(&mut metadata);
            let header = header_of(&metadata, n_rows, schema.n_features());
            let mut writer = ChunkWriter::new(path, &mut part, &cuts, &schema, Arc::clone(layout.plan()), header);
            writer.start(&metadata)?;
            let mut done = 0;
            blocks.read(&places.places, &mut |block| {
                done += block.n_rows();
                if done > n_rows {
                    return Err(BinnedTableError::Rows { expected: n_rows, found: done });
                }
                writer.add(block.into_columns(), NewStrings::Refused)?;
                report(on_progress, BinPass::Codes, done, Some(n_rows))
            })?;
            if done != n_rows {
                return Err(BinnedTableError::Rows { expected: n_rows, found: done });
            }
            match writer.finish()? {
                conflicts if conflicts.is_empty() => break,
                // The remaining features are exclusive in every row, so the next pass succeeds.
                conflicts => layout
                    .loosen(cuts.map(), &conflicts)
                    .map_err(|features| BinnedTableError::SparseFeatures { features })?,
            }
        }
        let header = header_of(&metadata, n_rows, schema.n_features());
        publish(path, part, &header, &rows.columns())?;
        Self::open(path)
    }
}

/// Writes the row columns and names the file.
pub(super) fn publish(
    path: &Path,
    mut part: PartFile,
    header: &Header,
    columns: &RowColumns,
) -> Result<(), BinnedTableError> {
    part.write_all(&columns.to_bytes()).map_err(BinnedTableError::io(path))?;
    part.seal(header.file_bytes()).map_err(BinnedTableError::io(path))?;
    part.publish().map_err(BinnedTableError::io(path))
}

/// Returns the header of a file; chunks of wide tables have fewer rows.
fn header_of(metadata: &Metadata, n_rows: usize, n_features: usize) -> Header {
    let rows = (CHUNK_VALUES / n_features.max(1)).clamp(1 << 10, 1 << 16);
    let chunk_rows = narrow((rows + 1).next_power_of_two() / 2);
    Header::new(n_rows as u64, chunk_rows, metadata.to_bytes().len() as u64, metadata)
}

impl Rows {
    /// Reads targets, weights and queries.
    pub(super) fn of(mut table: Table, roles: &ColumnRoles) -> Result<Self, BinnedTableError> {
        if u32::try_from(table.n_rows()).is_err() {
            return Err(TrainError::TooManyRows { rows: table.n_rows() }.into());
        }
        let read = table.take_role_columns(roles, None)?;
        let weights = read.training_weights(roles.balanced)?;
        Ok(Self { roles: read, weights })
    }

    fn metadata(
        &self,
        roles: &ColumnRoles,
        quantizer: &Quantizer,
        n_rows: usize,
    ) -> Result<Metadata, BinnedTableError> {
        if u32::try_from(n_rows).is_err() {
            return Err(TrainError::TooManyRows { rows: n_rows }.into());
        }
        let groups = self.roles.groups.as_ref();
        Ok(Metadata {
            target: roles.target.clone().unwrap_or_default(),
            objective: self.roles.objective.clone(),
            reason: self.roles.reason.clone().unwrap_or_default(),
            classes: self.roles.target.labels.clone(),
            weighted: self.weights.is_some(),
            n_groups: groups.map_or(0, |groups| narrow(groups.len())),
            positions: groups.is_some_and(|groups| groups.positions().is_some()),
            max_bin: quantizer.max_bin(),
            sample_rows: quantizer.sample_rows() as u64,
            seed: quantizer.seed(),
            ..Metadata::default()
        })
    }

    /// Returns the row columns of the file.
    pub(super) fn columns(self) -> RowColumns {
        let groups = self.roles.groups.as_ref();
        let sizes = |groups: &Groups| groups.ranges().map(|rows| narrow(rows.len())).collect();
        let positions = groups.and_then(Groups::positions);
        let positions = positions.map(|(distinct, of_row)| of_row.iter().map(|&at| distinct[at as usize]).collect());
        RowColumns {
            group_sizes: groups.map(sizes).unwrap_or_default(),
            positions,
            targets: self.roles.target.values,
            weights: self.weights,
        }
    }
}

/// Collects the statistics of all rows.
fn statistics(
    blocks: &mut dyn TableBlocks,
    FeaturePlaces { places, names }: &FeaturePlaces,
    options: &BinOptions,
    rows: &Rows,
    n_rows: usize,
    on_progress: OnProgress<'_>,
) -> Result<Streamed, BinnedTableError> {
    let kind = |(&place, name): (&usize, &String)| {
        let kind = match blocks.columns()[place].strings {
            true => StreamKind::Words,
            false if options.roles.categorical.contains(name) => StreamKind::Codes,
            false => StreamKind::Numeric,
        };
        (name.clone(), kind)
    };
    let kinds = places.iter().zip(names).map(kind).collect();
    let probed = Layout::probed_ranges(n_rows);
    let mut stream = CutStream::new(options.quantizer, n_rows, rows.weights.as_deref(), kinds, probed)?;
    let mut done = 0;
    blocks.read(places, &mut |block| {
        let first = done;
        done += block.n_rows();
        if done > n_rows {
            return Err(BinnedTableError::Rows { expected: n_rows, found: done });
        }
        let columns: Vec<Column> = block.into_columns().into_iter().map(single).collect();
        stream.add(first, &columns.iter().filter_map(stream_column).collect::<Vec<_>>());
        report(on_progress, BinPass::Cuts, done, Some(n_rows))
    })?;
    if done != n_rows {
        return Err(BinnedTableError::Rows { expected: n_rows, found: done });
    }
    Ok(stream.finish()?)
}

fn stream_column(column: &Column) -> Option<StreamColumn<'_>> {
    match &column.data {
        ColumnData::F32(values) => Some(StreamColumn::Numbers(values)),
        ColumnData::Strings(StringColumn { codes, labels }) => Some(StreamColumn::Words { codes, labels }),
        ColumnData::F64(_) => None,
    }
}

/// Rounds numbers to f32, as training does.
fn single(column: Column) -> Column {
    match column.data {
        ColumnData::F64(values) => {
            Column { name: column.name, data: ColumnData::F32(values.into_iter().map(rounded).collect()) }
        }
        data => Column { name: column.name, data },
    }
}

/// Treatment of strings that are not categories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NewStrings {
    /// The pass that found the categories saw all strings.
    Refused,
    /// They are missing values, as in validation data.
    Missing,
}

/// Writes the codes of rows, one chunk at a time.
pub(super) struct ChunkWriter<'a> {
    path: &'a Path,
    part: &'a mut PartFile,
    cuts: &'a BinCuts,
    schema: &'a Arc<Schema>,
    plan: Arc<Plan>,
    header: Header,
    /// Code of each string of each categorical feature with labels.
    codes: Vec<HashMap<&'a str, f32>>,
    /// Values of the rows of the next chunk, by feature, with room for a whole chunk each.
    values: Vec<f32>,
    filled: usize,
    /// Codes of the rows at the start of the next chunk that are already encoded.
    prefix: (usize, Vec<u8>),
    conflicts: BTreeSet<u32>,
}

impl<'a> ChunkWriter<'a> {
    pub(super) fn new(
        path: &'a Path,
        part: &'a mut PartFile,
        cuts: &'a BinCuts,
        schema: &'a Arc<Schema>,
        plan: Arc<Plan>,
        header: Header,
    ) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "codes up to 2^24 are exact")]
        let codes = |feature: usize| {
            schema.labels(feature).iter().enumerate().map(|(code, label)| (label.as_str(), code as f32)).collect()
        };
        let codes = (0..schema.n_features()).map(codes).collect();
        let values = vec![0.0; header.chunk_rows as usize * schema.n_features()];
        let prefix = (0, Vec::new());
        Self { path, part, cuts, schema, plan, header, codes, values, filled: 0, prefix, conflicts: BTreeSet::new() }
    }

    /// Writes the header and the metadata.
    pub(super) fn start(&mut self, metadata: &Metadata) -> Result<(), BinnedTableError> {
        let metadata = metadata.to_bytes();
        let mut bytes = self.header.to_bytes().to_vec();
        bytes.extend_from_slice(&metadata);
        bytes.extend(crc32c(&metadata).to_le_bytes());
        self.part.write_at(0, &bytes).map_err(BinnedTableError::io(self.path))
    }

    /// Writes a chunk that is already encoded, or keeps it as the start of the next one if it is not full.
    pub(super) fn copy(&mut self, rows: usize, codes: &[u8]) -> Result<(), BinnedTableError> {
        if rows < self.header.chunk_rows as usize {
            self.prefix = (rows, codes.to_vec());
            return Ok(());
        }
        self.write(codes)
    }

    fn write(&mut self, codes: &[u8]) -> Result<(), BinnedTableError> {
        let written = self.part.write_all(codes).and_then(|()| self.part.write_all(&crc32c(codes).to_le_bytes()));
        written.map_err(BinnedTableError::io(self.path))
    }

    /// Adds a block of rows: one column per feature.
    pub(super) fn add(&mut self, columns: Vec<Column>, new_strings: NewStrings) -> Result<(), BinnedTableError> {
        let chunk_rows = self.header.chunk_rows as usize;
        let columns: Vec<Vec<f32>> = columns
            .into_iter()
            .enumerate()
            .map(|(feature, column)| self.numbers(feature, column, new_strings))
            .collect::<Result<_, _>>()?;
        let n_rows = columns.first().map_or(0, Vec::len);
        let mut done = 0;
        while done < n_rows {
            let rows = (n_rows - done).min(chunk_rows - self.prefix.0 - self.filled);
            for (values, column) in self.values.chunks_exact_mut(chunk_rows).zip(&columns) {
                values[self.filled..self.filled + rows].copy_from_slice(&column[done..done + rows]);
            }
            (done, self.filled) = (done + rows, self.filled + rows);
            if self.prefix.0 + self.filled == chunk_rows {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Converts a column to numbers and category codes.
    fn numbers(&self, feature: usize, column: Column, new_strings: NewStrings) -> Result<Vec<f32>, BinnedTableError> {
        let known = &self.codes[feature];
        match column.data {
            ColumnData::F32(values) => Ok(values),
            ColumnData::F64(values) => Ok(values.into_iter().map(rounded).collect()),
            ColumnData::Strings(StringColumn { codes, labels }) => {
                let code = |label: &String| match (known.get(label.as_str()), new_strings) {
                    (Some(code), _) => Ok(*code),
                    (None, NewStrings::Missing) => Ok(f32::NAN),
                    (None, NewStrings::Refused) => {
                        Err(BinnedTableError::NewString { column: column.name.clone(), value: label.clone() })
                    }
                };
                let of_label: Vec<f32> = labels.iter().map(code).collect::<Result<_, _>>()?;
                Ok(codes.iter().map(|code| of_label.get(*code as usize).copied().unwrap_or(f32::NAN)).collect())
            }
        }
    }

    /// Writes the rows of the chunk that are complete.
    fn flush(&mut self) -> Result<(), BinnedTableError> {
        let (rows, chunk_rows) = (self.filled, self.header.chunk_rows as usize);
        let (before, prefix) = std::mem::take(&mut self.prefix);
        let mut codes = Vec::with_capacity(rows * self.header.row_bytes as usize);
        if rows > 0 {
            let n_features = self.schema.n_features();
            for feature in 1..n_features {
                self.values.copy_within(feature * chunk_rows..feature * chunk_rows + rows, feature * rows);
            }
            let features = Features::column_major(&self.values[..rows * n_features], rows, n_features)?;
            match self.plan.encode(&self.cuts.source(&features)?, &mut codes) {
                Ok(()) => {}
                Err(mut conflicts) => self.conflicts.append(&mut conflicts),
            }
            self.filled = 0;
        }
        // After a conflict the pass only looks for others.
        if !self.conflicts.is_empty() {
            return Ok(());
        }
        if before > 0 {
            codes = self.plan.joined((before, &prefix), (rows, &codes));
        }
        self.write(&codes)
    }

    /// Writes the last chunk. Returns the features that are not exclusive in their bundles.
    pub(super) fn finish(mut self) -> Result<BTreeSet<u32>, BinnedTableError> {
        if self.prefix.0 + self.filled > 0 {
            self.flush()?;
        }
        Ok(self.conflicts)
    }
}
