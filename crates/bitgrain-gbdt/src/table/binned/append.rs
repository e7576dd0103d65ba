//! Appending rows to a binned table.

use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

use bitgrain_files::PartFile;
use bitgrain_formats::bins::{Header, RowColumns};

use super::build::{BinPass, BinProgress, ChunkWriter, NewStrings, publish, report};
use super::roles::{Rows, read_roles};
use super::{BinnedTable, BinnedTableError, TableBlocks};
use crate::feature::ColumnMismatch;
use crate::narrow::narrow;
use crate::table::{ColumnRoles, TableError};
use crate::train::TrainError;

impl BinnedTable {
    /// Appends the rows of a source, binned with the cuts of this table, and replaces the file.
    ///
    /// Strings that are not categories of the table are missing values. Queries must not continue one of the table.
    ///
    /// # Errors
    /// Returns [`BinnedTableError::Append`] if the rows do not match the table, and the errors of
    /// [`create`](Self::create). The file is then unchanged.
    pub fn append(
        &self,
        blocks: &mut dyn TableBlocks,
        roles: &ColumnRoles,
        on_progress: &mut dyn FnMut(&BinProgress) -> ControlFlow<()>,
    ) -> Result<Self, BinnedTableError> {
        let refused = |reason: String| BinnedTableError::Append { reason };
        let found: Vec<String> = blocks.columns().iter().map(|column| column.name.clone()).collect();
        let names: Vec<&str> = found.iter().map(String::as_str).collect();
        let places = self.schema().match_columns(&names, true).map_err(|mismatch| match mismatch {
            ColumnMismatch::Missing { missing, .. } => TableError::MissingColumns { missing, found: found.clone() },
            ColumnMismatch::Duplicate { name } => TableError::DuplicateColumn { name },
        })?;
        for (feature, &place) in places.iter().enumerate() {
            if blocks.columns()[place].strings && self.schema().labels(feature).is_empty() {
                return Err(refused(format!("column `{}` holds strings, but the table has numbers", found[place])));
            }
            if !blocks.columns()[place].strings && !self.schema().labels(feature).is_empty() {
                return Err(refused(format!("column `{}` holds numbers, but the table has strings", found[place])));
            }
        }
        let roles = ColumnRoles {
            objective: Some(self.metadata().objective.clone()),
            target: roles.target.clone().or_else(|| Some(self.metadata().target.clone())),
            ..roles.clone()
        };
        let mut table = read_roles(blocks, &roles, &mut |rows| report(on_progress, BinPass::Roles, rows, None))?;
        let added = table.n_rows();
        let total = self.n_rows().saturating_add(added);
        if u32::try_from(total).is_err() {
            return Err(TrainError::TooManyRows { rows: total }.into());
        }
        let read = table.take_role_columns(&roles, Some(&self.metadata().classes))?;
        if roles.balanced {
            return Err(refused("class weights depend on all rows; bin all rows together".to_owned()));
        }
        let rows = Rows { weights: read.weights.clone(), roles: read }.columns();
        if rows.weights.is_some() != self.metadata().weighted {
            return Err(refused("only one of table and rows has weights".to_owned()));
        }
        if rows.group_sizes.is_empty() != (self.metadata().n_groups == 0) && added > 0 {
            return Err(refused("only one of table and rows has queries".to_owned()));
        }
        if rows.positions.is_some() != self.metadata().positions && added > 0 {
            return Err(refused("only one of table and rows has positions".to_owned()));
        }
        let mut all = self.row_columns()?;
        extend(&mut all, rows);
        let mut metadata = self.metadata().clone();
        metadata.n_groups = narrow(all.group_sizes.len());
        let header = Header {
            n_rows: total as u64,
            column_bytes: metadata.column_bytes(total as u64),
            metadata_bytes: metadata.to_bytes().len() as u64,
            ..*self.header()
        };
        let path = self.path();
        let mut part = PartFile::create(path).map_err(BinnedTableError::io(path))?;
        let mut writer = ChunkWriter::new(path, &mut part, self.cuts(), self.schema(), Arc::clone(self.plan()), header);
        writer.start(&metadata)?;
        self.for_each_chunk(&mut |rows, codes| writer.copy(rows, codes))?;
        let mut done = 0;
        blocks.read(&places, &mut |block| {
            done += block.n_rows();
            if done > added {
                return Err(BinnedTableError::Rows { expected: added, found: done });
            }
            writer.add(block.into_columns(), NewStrings::Missing)?;
            report(on_progress, BinPass::Codes, done, Some(added))
        })?;
        if done != added {
            return Err(BinnedTableError::Rows { expected: added, found: done });
        }
        let conflicts = writer.finish()?;
        if let Some(name) = name_of(self, &conflicts) {
            return Err(refused(format!(
                "column `{name}` shares bytes with columns that it excluded until now; bin all rows together"
            )));
        }
        publish(path, part, &header, &all)?;
        Self::open(path)
    }
}

fn name_of<'a>(table: &'a BinnedTable, conflicts: &BTreeSet<u32>) -> Option<&'a str> {
    conflicts.first().map(|&feature| table.schema().names()[feature as usize].as_str())
}

fn extend(all: &mut RowColumns, rows: RowColumns) {
    all.targets.extend(rows.targets);
    if let (Some(all), Some(own)) = (&mut all.weights, rows.weights) {
        all.extend(own);
    }
    all.group_sizes.extend(rows.group_sizes);
    if let (Some(all), Some(own)) = (&mut all.positions, rows.positions) {
        all.extend(own);
    }
}
