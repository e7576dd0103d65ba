//! Columns of a streamed table by their role.

use super::{BinnedTableError, TableBlocks};
use crate::table::piece::joined;
use crate::table::training::RoleColumns;
use crate::table::{Column, ColumnData, ColumnRoles, Table, TableError};

/// Places of the features among the columns, and whether each one's numbers are category codes.
pub(super) struct FeaturePlaces {
    pub(super) places: Vec<usize>,
    pub(super) names: Vec<String>,
}

/// Returns the places of the role columns.
fn role_places(blocks: &dyn TableBlocks, roles: &ColumnRoles) -> Result<Vec<usize>, TableError> {
    let found = || blocks.columns().iter().map(|column| column.name.clone()).collect::<Vec<_>>();
    let Some(target) = &roles.target else { return Err(TableError::NoTarget { found: found() }) };
    let mut places = Vec::new();
    for name in
        [Some(target), roles.weight.as_ref(), roles.group.as_ref(), roles.position.as_ref()].into_iter().flatten()
    {
        match blocks.columns().iter().position(|column| column.name == *name) {
            Some(place) => places.push(place),
            None => return Err(TableError::MissingColumns { missing: vec![name.clone()], found: found() }),
        }
    }
    Ok(places)
}

/// Reads the role columns into memory. `read` is called with the number of rows read so far.
pub(super) fn read_roles(
    blocks: &mut dyn TableBlocks,
    roles: &ColumnRoles,
    read: &mut dyn FnMut(usize) -> Result<(), BinnedTableError>,
) -> Result<Table, BinnedTableError> {
    let mut places = role_places(blocks, roles)?;
    // One column may have two roles only if reading it fails later, as for a table in memory.
    places.sort_unstable();
    places.dedup();
    let mut pieces: Vec<Vec<ColumnData>> = places.iter().map(|_| Vec::new()).collect();
    let mut rows = 0;
    blocks.read(&places, &mut |block| {
        rows += block.n_rows();
        for (pieces, column) in pieces.iter_mut().zip(block.into_columns()) {
            pieces.push(column.data);
        }
        read(rows)
    })?;
    let column = |(&place, pieces): (&usize, Vec<ColumnData>)| {
        let data = if pieces.is_empty() { ColumnData::F32(Vec::new()) } else { joined(pieces) };
        Column { name: blocks.columns()[place].name.clone(), data }
    };
    Ok(Table::new(places.iter().zip(pieces).map(column).collect())?)
}

/// Returns the columns that are features.
pub(super) fn feature_places(blocks: &dyn TableBlocks, roles: &ColumnRoles) -> Result<FeaturePlaces, BinnedTableError> {
    let taken = role_places(blocks, roles)?;
    let places: Vec<usize> = (0..blocks.columns().len()).filter(|place| !taken.contains(place)).collect();
    let names: Vec<String> = places.iter().map(|&place| blocks.columns()[place].name.clone()).collect();
    let missing: Vec<String> = roles.categorical.iter().filter(|name| !names.contains(name)).cloned().collect();
    if !missing.is_empty() {
        return Err(TableError::MissingColumns { missing, found: names }.into());
    }
    Ok(FeaturePlaces { places, names })
}

/// Rows that a binned table stores besides the codes.
pub(super) struct Rows {
    pub(super) roles: RoleColumns,
    /// Weights, with those of the classes.
    pub(super) weights: Option<Vec<f32>>,
}
