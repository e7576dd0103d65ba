//! `RowColumns`: targets, weights and queries of all rows.

use super::header::checked;
use super::{BinsError, Header, Metadata};

/// Columns with a role other than a feature.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RowColumns {
    /// Target of each row; class indices for classification.
    pub targets: Vec<f32>,
    /// Weight of each row.
    pub weights: Option<Vec<f32>>,
    /// Number of rows of each query; empty without queries.
    pub group_sizes: Vec<u32>,
    /// Position at which each row was displayed.
    pub positions: Option<Vec<u32>>,
}

impl RowColumns {
    /// Decodes the columns, which their checksum follows.
    ///
    /// # Errors
    /// Returns [`BinsError::Truncated`] or [`BinsError::Checksum`].
    pub fn parse(bytes: &[u8], header: &Header, metadata: &Metadata) -> Result<Self, BinsError> {
        let mut rest = checked("the row columns", bytes, header.column_bytes)?.as_chunks::<4>().0;
        let mut take = |count: u64| {
            let count = usize::try_from(count).unwrap_or(usize::MAX).min(rest.len());
            let (taken, after) = rest.split_at(count);
            rest = after;
            taken
        };
        let floats = |words: &[[u8; 4]]| words.iter().map(|word| f32::from_le_bytes(*word)).collect::<Vec<f32>>();
        let integers = |words: &[[u8; 4]]| words.iter().map(|word| u32::from_le_bytes(*word)).collect::<Vec<u32>>();
        Ok(Self {
            targets: floats(take(header.n_rows)),
            weights: metadata.weighted.then(|| floats(take(header.n_rows))),
            group_sizes: integers(take(metadata.n_groups.into())),
            positions: metadata.positions.then(|| integers(take(header.n_rows))),
        })
    }
}
