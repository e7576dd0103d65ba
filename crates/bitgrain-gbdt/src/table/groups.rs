//! Query columns.

use super::write::number;
use super::{Column, ColumnData, ColumnRoles, TableError};
use crate::groups::{GroupError, Groups};
use crate::objective::{self, ObjectiveError, ObjectiveKind};

/// Reads a column as queries: rows with equal numbers or strings, which must be adjacent.
///
/// # Errors
/// Returns [`TableError::Group`] for the first row without a query, or whose query's rows are not adjacent.
pub fn groups(column: &Column) -> Result<Groups, TableError> {
    let missing = |row: usize| GroupError::Missing { row };
    let groups = match &column.data {
        ColumnData::Strings(text) => match (0..text.codes.len()).find(|row| text.get(*row).is_none()) {
            Some(row) => Err(missing(row)),
            None => Groups::from_ids((0..text.codes.len()).filter_map(|row| text.get(row))),
        },
        data => {
            let numbers: Vec<f64> = data.numbers().into_iter().flatten().collect();
            match numbers.iter().position(|number| number.is_nan()) {
                Some(row) => Err(missing(row)),
                // Shown as written in the file, which also makes them comparable.
                None => Groups::from_ids(numbers.into_iter().map(|query| Query(query + 0.0))),
            }
        }
    };
    groups.map_err(|source| TableError::Group { column: column.name.clone(), source })
}

/// Reads the queries. Those of a libsvm file are not required to be valid unless the objective ranks.
pub(super) fn read_groups(
    objective: &str,
    roles: &ColumnRoles,
    group: Option<&Column>,
    position: Option<&Column>,
) -> Result<Option<Groups>, TableError> {
    let ranks = objective::kind_of(objective)? == ObjectiveKind::Ranking;
    let Some(column) = group else {
        let objective = objective.to_owned();
        return if ranks { Err(ObjectiveError::NoGroups { objective }.into()) } else { Ok(None) };
    };
    let is_needed = ranks || roles.group.is_some();
    let groups = match groups(column) {
        Err(_) if !is_needed => return Ok(None),
        other => other?,
    };
    let Some(position) = position else { return Ok(Some(groups)) };
    let refused = |source| TableError::Group { column: position.name.clone(), source };
    Ok(Some(groups.with_positions(&positions(position)?).map_err(refused)?))
}

/// Reads a column as positions.
///
/// # Errors
/// Returns [`TableError::NotNumeric`], or [`TableError::Position`] for the first that is not an integer below 2^32.
fn positions(column: &Column) -> Result<Vec<u32>, TableError> {
    let Some(numbers) = column.data.numbers() else {
        return Err(TableError::NotNumeric { column: column.name.clone(), example: "a string".to_owned() });
    };
    let position = |(row, value): (usize, f64)| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the cast saturates, and is compared"
        )]
        let position = value as u32;
        let refused = || TableError::Position { column: column.name.clone(), row, value };
        if f64::from(position) == value { Ok(position) } else { Err(refused()) }
    };
    numbers.enumerate().map(position).collect()
}

/// A number that identifies a query.
struct Query(f64);

impl PartialEq for Query {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Query {}

impl std::hash::Hash for Query {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl std::fmt::Display for Query {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&number(self.0))
    }
}
