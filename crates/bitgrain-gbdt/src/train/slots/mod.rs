//! The bins of all rows as training reads them: records of bytes, a tile of features after another.

mod plan;

use std::sync::Arc;

use rayon::prelude::*;

pub(crate) use plan::{Member, Place, Plan, TilePlan};

use crate::feature::{BinColumn, QuantizedMatrix, Storage};

/// Rows that are filled at a time: their records stay in cache while one slot after another is written.
const BLOCK: usize = 2048;

/// The bins of some rows.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    pub(crate) plan: Arc<Plan>,
    pub(crate) n_rows: usize,
    /// The records of each tile, row after row.
    pub(crate) tiles: Vec<Vec<u8>>,
    /// Columns of the wide features.
    pub(crate) wide: Vec<Vec<u32>>,
}

impl Slots {
    /// From bins in columns.
    pub(crate) fn from_matrix(matrix: &QuantizedMatrix, plan: Arc<Plan>) -> Self {
        let Storage::Columns(columns) = matrix.storage() else {
            return Self::from_matrix(&matrix.to_layout(crate::feature::Layout::Columns), plan);
        };
        let n_rows = matrix.n_rows();
        let fill_tile = |tile: &TilePlan| {
            let mut bytes = vec![0_u8; n_rows * tile.width];
            bytes.par_chunks_mut(BLOCK * tile.width).enumerate().for_each(|(block, records)| {
                for (slot, members) in tile.slots.iter().enumerate() {
                    for member in members {
                        let column = columns.col(member.feature as usize);
                        add_bins(&column, block * BLOCK, *member, records, tile.width, slot);
                    }
                }
            });
            bytes
        };
        let tiles = plan.tiles.iter().map(fill_tile).collect();
        let wide = plan.wide.iter().map(|&feature| {
            let column = columns.col(feature as usize);
            (0..n_rows).map(|row| column.get(row)).collect()
        });
        let wide = wide.collect();
        Self { plan, n_rows, tiles, wide }
    }

    /// The bin of a feature in a row.
    pub(crate) fn bin(&self, row: usize, feature: usize) -> u32 {
        match self.plan.places[feature] {
            Place::Constant => 0,
            Place::Slot { tile, slot, member } => {
                member.bin(u32::from(self.tiles[tile][row * self.plan.tiles[tile].width + slot]))
            }
            Place::Wide { column } => self.wide[column][row],
        }
    }

    /// Moves every row back to its own place.
    pub(crate) fn restore(&mut self, order: &mut [u32]) {
        for place in 0..order.len() {
            // Follows a cycle until its first row is in place.
            while order[place] as usize != place {
                let other = order[place] as usize;
                order.swap(place, other);
                for (plan, tile) in self.plan.tiles.iter().zip(&mut self.tiles) {
                    let (low, high) = (place.min(other) * plan.width, place.max(other) * plan.width);
                    let (before, behind) = tile.split_at_mut(high);
                    before[low..low + plan.width].swap_with_slice(&mut behind[..plan.width]);
                }
                self.wide.iter_mut().for_each(|column| column.swap(place, other));
            }
        }
    }

    /// Bytes of the bins.
    pub(crate) fn bytes(&self) -> usize {
        self.n_rows * self.plan.row_bytes()
    }
}

/// Adds a feature's part to its byte of each record.
fn add_bins(column: &BinColumn<'_>, first: usize, member: Member, records: &mut [u8], width: usize, slot: usize) {
    for (row, record) in records.chunks_exact_mut(width).enumerate() {
        // The product of all features of a slot fits its byte.
        record[slot] += u8::try_from(column.get(first + row) * member.stride).unwrap_or(u8::MAX);
    }
}
