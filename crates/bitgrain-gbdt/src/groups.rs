//! `Groups`: the queries of a ranking task, as runs of adjacent rows.

use std::collections::HashMap;
use std::fmt::Display;
use std::hash::Hash;
use std::ops::Range;

/// Queries of a ranking task: each is a run of adjacent rows, the documents of the query.
///
/// ```
/// use bitgrain_gbdt::Groups;
/// let groups = Groups::from_ids(["a", "a", "b"])?;
/// assert_eq!(groups, Groups::from_sizes(&[2, 1], 3)?);
/// assert_eq!(groups.range(1), 2..3);
/// assert!(Groups::from_ids([7, 8, 7]).is_err()); // the rows of query 7 are not adjacent
/// # Ok::<(), bitgrain_gbdt::GroupError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// First row of each group, then the number of rows.
    starts: Vec<usize>,
    positions: Option<Positions>,
}

/// Position at which each row was displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Positions {
    /// Index of each row's position among the distinct ones.
    of_row: Vec<u32>,
    /// Distinct positions in ascending order.
    distinct: Vec<u32>,
}

impl Groups {
    /// Maximum number of rows of a group: the cost of a group grows with the square of its rows.
    pub const MAX_ROWS: usize = 1 << 16;

    /// Creates groups from the number of rows of each.
    ///
    /// # Errors
    /// Returns [`GroupError::Empty`], [`GroupError::TooLarge`], or [`GroupError::SizeSum`] if the sizes do not sum to
    /// `rows`.
    pub fn from_sizes(sizes: &[usize], rows: usize) -> Result<Self, GroupError> {
        let mut starts = Vec::with_capacity(sizes.len() + 1);
        let mut start = 0_usize;
        starts.push(start);
        for (group, &size) in sizes.iter().enumerate() {
            match size {
                0 => return Err(GroupError::Empty { group }),
                1..=Self::MAX_ROWS => start = start.saturating_add(size),
                _ => return Err(GroupError::TooLarge { row: start, rows: size }),
            }
            starts.push(start);
        }
        if start == rows {
            Ok(Self { starts, positions: None })
        } else {
            Err(GroupError::SizeSum { groups: sizes.len(), sum: start, rows })
        }
    }

    /// Creates groups from the query of each row.
    ///
    /// # Errors
    /// Returns [`GroupError::NotAdjacent`] or [`GroupError::TooLarge`].
    pub fn from_ids<T: Eq + Hash + Display>(ids: impl IntoIterator<Item = T>) -> Result<Self, GroupError> {
        let mut seen: HashMap<T, usize> = HashMap::new();
        let mut starts = Vec::new();
        let mut row = 0;
        for id in ids {
            match seen.get(&id).copied() {
                Some(group) if group + 1 == starts.len() => {}
                Some(_) => return Err(GroupError::NotAdjacent { id: id.to_string(), row }),
                None => {
                    seen.insert(id, starts.len());
                    starts.push(row);
                }
            }
            row += 1;
        }
        starts.push(row);
        match starts.windows(2).find(|ends| ends[1] - ends[0] > Self::MAX_ROWS) {
            Some(ends) => Err(GroupError::TooLarge { row: ends[0], rows: ends[1] - ends[0] }),
            None => Ok(Self { starts, positions: None }),
        }
    }

    /// Sets the position at which each row was displayed, from which `lambdarank` estimates the bias of clicks.
    ///
    /// # Errors
    /// Returns [`GroupError::PositionCount`] unless there is one position per row.
    pub fn with_positions(mut self, positions: &[u32]) -> Result<Self, GroupError> {
        if positions.len() != self.n_rows() {
            return Err(GroupError::PositionCount { positions: positions.len(), rows: self.n_rows() });
        }
        let mut distinct = positions.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let index = |position: &u32| crate::narrow::narrow(distinct.binary_search(position).unwrap_or_default());
        let of_row = positions.iter().map(index).collect();
        self.positions = Some(Positions { of_row, distinct });
        Ok(self)
    }

    pub(crate) fn has_positions(&self) -> bool {
        self.positions.is_some()
    }

    /// Number of groups.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns whether there are no groups.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows of all groups.
    #[must_use]
    pub fn n_rows(&self) -> usize {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Rows of a group.
    ///
    /// # Panics
    /// If the group is out of range.
    #[must_use]
    pub fn range(&self, group: usize) -> Range<usize> {
        self.starts[group]..self.starts[group + 1]
    }

    /// Rows of each group, in order.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.starts.windows(2).map(|ends| ends[0]..ends[1])
    }

    /// Number of rows of the largest group.
    #[must_use]
    pub fn largest(&self) -> usize {
        self.ranges().map(|rows| rows.len()).max().unwrap_or_default()
    }

    /// Distinct positions in ascending order, and the index of each row's position among them.
    pub(crate) fn positions(&self) -> Option<(&[u32], &[u32])> {
        self.positions.as_ref().map(|positions| (&positions.distinct[..], &positions.of_row[..]))
    }

    /// Returns the groups of some rows in the given order: runs of rows of one group. The rows of a group must stay
    /// adjacent; otherwise it becomes several groups.
    ///
    /// # Panics
    /// If a row index is out of range.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let group_of = |row: usize| self.starts.partition_point(|start| *start <= row) - 1;
        let mut starts = Vec::new();
        let mut last = None;
        for (place, &row) in rows.iter().enumerate() {
            assert!(row < self.n_rows(), "row {row} of {}", self.n_rows());
            let group = group_of(row);
            if last != Some(group) {
                starts.push(place);
                last = Some(group);
            }
        }
        starts.push(rows.len());
        let positions = self.positions.as_ref().map(|Positions { of_row, distinct }| Positions {
            of_row: rows.iter().map(|&row| of_row[row]).collect(),
            distinct: distinct.clone(),
        });
        Self { starts, positions }
    }
}

/// Reason why rows cannot be divided into queries. Row indices are 0-based.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupError {
    /// Group sizes that do not sum to the number of rows.
    #[error(
        "group sizes do not match the rows: {groups} sizes sum to {sum}, but there are {rows} rows; pass the number of rows of each query"
    )]
    SizeSum {
        /// Number of groups.
        groups: usize,
        /// Sum of the sizes.
        sum: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A group without rows.
    #[error("empty group: size 0 of group {group} (0-based); leave out queries without rows")]
    Empty {
        /// Index of the first such group.
        group: usize,
    },
    /// A query whose rows are not adjacent.
    #[error("rows of query `{id}` are not adjacent: row {row} (0-based) follows another query; sort the rows by query")]
    NotAdjacent {
        /// The query.
        id: String,
        /// First row of the query that follows another query.
        row: usize,
    },
    /// A row without a query.
    #[error("missing query in row {row} (0-based); give every row a query")]
    Missing {
        /// Index of the first such row.
        row: usize,
    },
    /// A query with too many rows.
    #[error(
        "query too large: {rows} rows starting at row {row} (0-based), at most {} are allowed; divide the query or sample \
         its rows",
        Groups::MAX_ROWS
    )]
    TooLarge {
        /// First row of the query.
        row: usize,
        /// Number of rows of the query.
        rows: usize,
    },
    /// A number of query ids other than the number of rows.
    #[error("{ids} query ids for {rows} rows; pass one id per row")]
    IdCount {
        /// Number of ids.
        ids: usize,
        /// Number of rows.
        rows: usize,
    },
    /// A number of positions other than the number of rows.
    #[error("{positions} positions for {rows} rows; pass one position per row")]
    PositionCount {
        /// Number of positions.
        positions: usize,
        /// Number of rows.
        rows: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_ids_give_the_same_groups() {
        let groups = Groups::from_sizes(&[3, 1, 2], 6).expect("valid");
        assert_eq!(groups, Groups::from_ids([9_u64, 9, 9, 4, 5, 5]).expect("adjacent"));
        assert_eq!(groups.ranges().collect::<Vec<_>>(), [0..3, 3..4, 4..6]);
        assert_eq!((groups.len(), groups.n_rows(), groups.largest()), (3, 6, 3));
    }

    #[test]
    fn invalid_groups_are_named() {
        let sizes = |sizes: &[usize], rows| Groups::from_sizes(sizes, rows).expect_err("invalid").to_string();
        assert!(
            sizes(&[2, 2], 5).starts_with("group sizes do not match the rows: 2 sizes sum to 4, but there are 5 rows")
        );
        assert!(sizes(&[usize::MAX, 2], 5).starts_with("query too large"));
        assert!(sizes(&[2, 0, 3], 5).starts_with("empty group: size 0 of group 1"));
        let said = Groups::from_ids(["a", "b", "a"]).expect_err("divided").to_string();
        assert!(said.starts_with("rows of query `a` are not adjacent: row 2 (0-based)"), "{said}");
        let ids = std::iter::repeat_n(1, Groups::MAX_ROWS + 1);
        assert_eq!(Groups::from_ids(ids), Err(GroupError::TooLarge { row: 0, rows: Groups::MAX_ROWS + 1 }));
        let groups = Groups::from_sizes(&[2], 2).expect("valid");
        assert_eq!(groups.with_positions(&[1]), Err(GroupError::PositionCount { positions: 1, rows: 2 }));
    }

    #[test]
    fn whole_groups_can_be_selected_in_any_order() {
        let groups = Groups::from_sizes(&[2, 1, 2], 5).expect("valid");
        let groups = groups.with_positions(&[5, 9, 5, 1, 9]).expect("one each");
        assert_eq!(groups.positions(), Some((&[1, 5, 9][..], &[1, 2, 1, 0, 2][..])));
        let chosen = groups.select(&[3, 4, 0, 1]);
        assert_eq!(chosen.ranges().collect::<Vec<_>>(), [0..2, 2..4]);
        assert_eq!(chosen.positions(), Some((&[1, 5, 9][..], &[0, 2, 1, 2][..])));
    }
}
