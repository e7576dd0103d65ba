//! `TableBlocks`: a table that is read one block of rows at a time.

use super::BinnedTableError;
use crate::table::Table;

/// Name and type of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockColumn {
    /// Name, unique in the table.
    pub name: String,
    /// Whether the values are strings.
    pub strings: bool,
}

/// A table that is read several times, one block of rows after another.
///
/// Every pass must give the same rows in the same order; the blocks may differ.
pub trait TableBlocks {
    /// Columns of the table.
    fn columns(&self) -> &[BlockColumn];

    /// Passes blocks with the columns `wanted` (indices, in this order) to `visit`, for all rows in order.
    ///
    /// # Errors
    /// Returns the error of the source, or that of `visit`.
    fn read(
        &mut self,
        wanted: &[usize],
        visit: &mut dyn FnMut(Table) -> Result<(), BinnedTableError>,
    ) -> Result<(), BinnedTableError>;
}
