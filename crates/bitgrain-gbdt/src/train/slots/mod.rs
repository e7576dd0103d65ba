//! Bins in the layout of training: one byte record per row and tile of features.

mod plan;
mod wide;

use std::sync::Arc;

use rayon::prelude::*;

pub(crate) use plan::{Member, Place, Plan, TilePlan};
pub(crate) use wide::{Wide, WideMut};

use crate::feature::BinSource;

/// Rows filled at a time: their records stay in cache while one slot after another is written.
const BLOCK: usize = 4096;

/// Bins of some rows.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    pub(crate) plan: Arc<Plan>,
    pub(crate) n_rows: usize,
    /// Records of each tile, row by row.
    pub(crate) tiles: Vec<Vec<u8>>,
    /// Columns of wide features.
    pub(crate) wide: Vec<Wide>,
}

impl Slots {
    /// Reads the bins of a source into the layout of a plan.
    pub(crate) fn fill(source: &dyn BinSource, plan: Arc<Plan>) -> Self {
        let n_rows = source.n_rows();
        let mut tiles: Vec<Vec<u8>> = plan.tiles.iter().map(|tile| vec![0; n_rows * tile.width]).collect();
        let narrow: Vec<usize> = plan.members().map(|member| member.feature as usize).collect();
        let mut blocks: Vec<_> =
            tiles.iter_mut().zip(&plan.tiles).map(|(tile, plan)| tile.chunks_mut(BLOCK * plan.width)).collect();
        let blocks: Vec<(usize, Vec<&mut [u8]>)> = (0..n_rows)
            .step_by(BLOCK)
            .map(|start| (start, blocks.iter_mut().filter_map(Iterator::next).collect()))
            .collect();
        blocks.into_par_iter().for_each_init(Vec::new, |bins: &mut Vec<u8>, (start, records)| {
            let rows = start..n_rows.min(start + BLOCK);
            bins.resize(rows.len() * narrow.len(), 0);
            source.fill_u8(&narrow, rows.clone(), bins);
            let mut columns = bins.chunks_exact(rows.len());
            for (tile, records) in plan.tiles.iter().zip(records) {
                for (slot, members) in tile.slots.iter().enumerate() {
                    for (member, column) in members.iter().zip(&mut columns) {
                        add_bins(column, *member, records, tile.width, slot);
                    }
                }
            }
        });
        let wide = plan.wide.par_iter().map(|&feature| Wide::fill(source, feature as usize)).collect();
        Self { plan, n_rows, tiles, wide }
    }

    /// Returns a subset of the rows in the given order.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        let records = |(plan, tile): (&TilePlan, &Vec<u8>)| -> Vec<u8> {
            rows.iter().flat_map(|&row| &tile[row * plan.width..(row + 1) * plan.width]).copied().collect()
        };
        Self {
            plan: Arc::clone(&self.plan),
            n_rows: rows.len(),
            tiles: self.plan.tiles.iter().zip(&self.tiles).map(records).collect(),
            wide: self.wide.iter().map(|column| column.rows(rows)).collect(),
        }
    }

    /// Moves every row back to its original position.
    pub(crate) fn restore(&mut self, order: &mut [u32]) {
        for place in 0..order.len() {
            // Follow the cycle of the permutation until its first row is in place.
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
}

/// Adds a feature's digit to its byte of each record.
fn add_bins(column: &[u8], member: Member, records: &mut [u8], width: usize, slot: usize) {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the features of a slot are chosen so that the sum fits a byte"
    )]
    let stride = member.stride as u8;
    for (record, &bin) in records.chunks_exact_mut(width).zip(column) {
        record[slot] += bin * stride;
    }
}
