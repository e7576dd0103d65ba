//! `BinnedTable`: an open file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bitgrain_files::MappedFile;
use bitgrain_formats::bins::{BinsError, Header, Metadata, RowColumns};

use super::BinnedTableError;
use crate::Groups;
use crate::feature::{BinCuts, Schema, cuts_of};
use crate::objective::{self, Objective, ObjectiveError};
use crate::table::{ColumnRoles, Table, TableError, TrainingTable};
use crate::train::slots::{ChunkLayout, MappedCodes, Plan, Slots};
use crate::train::{Dataset, TrainError};

/// Takes the number of rows and the codes of a chunk.
type VisitChunk<'a> = &'a mut dyn FnMut(usize, &[u8]) -> Result<(), BinnedTableError>;

/// An open binned table. Its header and metadata were checked, its rows are checked when they are read.
#[derive(Debug)]
pub struct BinnedTable {
    path: PathBuf,
    file: MappedFile,
    header: Header,
    metadata: Metadata,
    cuts: Arc<BinCuts>,
    schema: Arc<Schema>,
    plan: Arc<Plan>,
}

impl BinnedTable {
    /// Opens a file and reads its header and metadata.
    ///
    /// # Errors
    /// Returns [`BinnedTableError::Io`], or [`BinnedTableError::Format`] if it is not a valid binned table.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, BinnedTableError> {
        let path = path.as_ref();
        let file = MappedFile::open(path).map_err(BinnedTableError::io(path))?;
        Self::of_file(path, file)
    }

    fn of_file(path: &Path, file: MappedFile) -> Result<Self, BinnedTableError> {
        let (io, format) = (|| BinnedTableError::io(path), || BinnedTableError::format(path));
        let found = file.len();
        let head = file.window(0..found.min(Header::BYTES as u64)).map_err(io())?;
        let header = Header::parse(&head).map_err(format())?;
        let expected = header.file_bytes();
        if found != expected {
            return Err(format()(BinsError::Length { expected, found }));
        }
        let window = file.window(Header::BYTES as u64..header.chunks_start()).map_err(io())?;
        let metadata = Metadata::parse(&window, &header).map_err(format())?;
        let (cuts, schema) = cuts_of(&metadata.features)?;
        let plan = Arc::new(Plan::stored(&metadata, cuts.map()));
        let (cuts, schema) = (Arc::new(cuts), Arc::new(schema));
        Ok(Self { path: path.to_owned(), file, header, metadata, cuts, schema, plan })
    }

    /// Opens the content of a file.
    ///
    /// # Errors
    /// Returns [`BinnedTableError::Format`] if it is not a valid binned table.
    pub fn from_bytes(name: &Path, bytes: impl Into<Arc<[u8]>>) -> Result<Self, BinnedTableError> {
        Self::of_file(name, MappedFile::from_bytes(name, bytes))
    }

    /// Returns whether a file starts with the magic number of a binned table.
    #[must_use]
    pub fn detect(path: &Path) -> bool {
        let Ok(file) = MappedFile::open(path) else { return false };
        file.window(0..8).is_ok_and(|head| bitgrain_formats::bins::detect(&head))
    }

    /// Reads all rows and compares their checksums.
    ///
    /// # Errors
    /// Returns [`BinnedTableError::Format`] for the first damaged part.
    pub fn verify(&self) -> Result<(), BinnedTableError> {
        self.for_each_chunk(&mut |_, _| Ok(()))?;
        self.row_columns().map(drop)
    }

    /// Reads the table into memory.
    ///
    /// # Errors
    /// Returns [`BinnedTableError::Format`] if the file is damaged.
    pub fn dataset(&self) -> Result<Dataset, BinnedTableError> {
        let file = self.file.map_all().map_err(BinnedTableError::io(&self.path))?;
        let checked = (0..self.header.n_chunks()).map(|chunk| {
            let start = usize::try_from(self.header.chunk_start(chunk)).map_err(|_| self.out_of_address_space())?;
            let codes = self.header.checked_chunk(chunk, &file[start..]);
            Ok::<_, BinnedTableError>((self.rows_of(chunk), codes.map_err(BinnedTableError::format(&self.path))?))
        });
        let slots = Arc::clone(&self.plan).decode(self.cuts.map(), self.n_rows(), checked)?;
        self.with_slots(slots)
    }

    /// Leaves the bins in the file, which is read in place during training. All else is held in memory: per row, 18 to 32
    /// bytes for an objective with one output. With a limit on the resident memory of the process in bytes, pages of
    /// the file are released before they exceed it, and training fails if the rest does not fit.
    ///
    /// All checksums are compared first. The file must not be changed while the dataset exists.
    ///
    /// # Errors
    /// Returns [`BinnedTableError::Format`] if the file is damaged.
    pub fn dataset_mapped(&self, limit: Option<usize>) -> Result<Dataset, BinnedTableError> {
        self.for_each_chunk(&mut |_, _| Ok(()))?;
        let file = self.file.map_all().map_err(BinnedTableError::io(&self.path))?;
        let size = |bytes: u64| usize::try_from(bytes).map_err(|_| self.out_of_address_space());
        let layout = ChunkLayout {
            start: size(self.header.chunks_start())?,
            stride: size(self.header.chunk_stride())?,
            chunk_rows: self.header.chunk_rows as usize,
            n_rows: self.n_rows(),
        };
        let bins = |feature: usize| self.cuts.map().n_bins(feature);
        let codes = MappedCodes::new(file, layout, &self.plan, bins, limit);
        self.with_slots(Slots::in_file(Arc::clone(&self.plan), self.n_rows(), codes))
    }

    fn out_of_address_space(&self) -> BinnedTableError {
        BinnedTableError::io(&self.path)(std::io::ErrorKind::OutOfMemory.into())
    }

    fn with_slots(&self, slots: Slots) -> Result<Dataset, BinnedTableError> {
        let RowColumns { targets, weights, group_sizes, positions } = self.row_columns()?;
        let classes: Arc<[String]> = self.metadata.classes.clone().into();
        let parts = (Arc::clone(&self.cuts), Arc::clone(&self.schema));
        let data = Dataset::stored(parts, slots, targets.into(), classes, weights)?;
        if self.metadata.n_groups == 0 {
            return Ok(data);
        }
        let sizes: Vec<usize> = group_sizes.into_iter().map(|size| size as usize).collect();
        let groups = Groups::from_sizes(&sizes, self.n_rows()).map_err(TrainError::from)?;
        let groups = match positions {
            Some(positions) => groups.with_positions(&positions).map_err(TrainError::from)?,
            None => groups,
        };
        Ok(data.with_groups(groups)?)
    }

    /// Creates the objective that the table was binned for.
    ///
    /// # Errors
    /// Returns [`ObjectiveError`] if this version does not know the objective.
    pub fn objective(&self) -> Result<Box<dyn Objective>, ObjectiveError> {
        objective::by_name(&self.metadata.objective)
    }

    /// Splits another table like this one, for validation: with the same features, classes and objective.
    ///
    /// # Errors
    /// Returns the errors of [`Table::into_training_like`].
    pub fn training_like(&self, table: Table, roles: &ColumnRoles) -> Result<TrainingTable, TableError> {
        table.into_training_as(roles, &self.metadata.objective, &self.metadata.classes, &self.schema)
    }

    fn rows_of(&self, chunk: u64) -> usize {
        // At most 2^20.
        usize::try_from(self.header.rows_of(chunk)).unwrap_or(0)
    }

    fn window(&self, chunk: u64) -> Result<bitgrain_files::FileWindow, BinnedTableError> {
        let start = self.header.chunk_start(chunk);
        let end = start + self.header.chunk_bytes(chunk) + Header::CHECKSUM;
        self.file.window(start..end).map_err(BinnedTableError::io(&self.path))
    }

    /// Passes the number of rows and the codes of each chunk to `visit`, after comparing its checksum.
    pub(super) fn for_each_chunk(&self, visit: VisitChunk<'_>) -> Result<(), BinnedTableError> {
        for chunk in 0..self.header.n_chunks() {
            let window = self.window(chunk)?;
            let codes = self.header.checked_chunk(chunk, &window).map_err(BinnedTableError::format(&self.path))?;
            visit(self.rows_of(chunk), codes)?;
        }
        Ok(())
    }

    /// Reads targets, weights and queries.
    pub(super) fn row_columns(&self) -> Result<RowColumns, BinnedTableError> {
        let window = self.file.window(self.header.columns_start()..self.header.file_bytes());
        let window = window.map_err(BinnedTableError::io(&self.path))?;
        RowColumns::parse(&window, &self.header, &self.metadata).map_err(BinnedTableError::format(&self.path))
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of rows.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        // Checked to be below 2^32.
        usize::try_from(self.header.n_rows).unwrap_or(usize::MAX)
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn file_bytes(&self) -> u64 {
        self.header.file_bytes()
    }

    /// Size in bytes of the codes of a row.
    #[must_use]
    pub fn bytes_per_row(&self) -> usize {
        self.header.row_bytes as usize
    }

    /// Names, kinds and category labels of the features.
    #[must_use]
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// Cuts of every feature.
    #[must_use]
    pub fn cuts(&self) -> &BinCuts {
        &self.cuts
    }

    /// Everything about the table except the rows.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    pub(super) fn header(&self) -> &Header {
        &self.header
    }

    pub(super) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }
}
