//! Bins in the layout of training: one byte record per row and tile of features.

mod bundles;
mod layout;
mod mapped;
mod plan;
mod sparse;
mod unusual;
mod wide;

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

#[cfg(feature = "csv")]
pub(crate) use layout::Layout;
#[cfg(feature = "csv")]
pub(crate) use mapped::ChunkLayout;
pub(crate) use mapped::MappedCodes;
pub(crate) use plan::{Code, Member, Place, Plan, TilePlan};
pub(crate) use sparse::{SparseBins, SparseFeature};
use unusual::{Unusual, Usual};
pub(crate) use wide::{Wide, WideMut};

use super::places::Places;
use super::team::Team;
use crate::feature::BinSource;

/// Rows filled at a time: their records stay in cache while one slot after another is written.
const BLOCK: usize = 4096;

/// Fewest rows filled at a time.
const MIN_BLOCK: usize = 64;

/// Bytes of the bins of a block, if it has more than [`MIN_BLOCK`] rows.
const BLOCK_BYTES: usize = 1 << 22;

/// Bins of some rows.
#[derive(Debug, Clone)]
pub(crate) struct Slots {
    pub(crate) plan: Arc<Plan>,
    pub(crate) n_rows: usize,
    /// Records of each tile, row by row.
    pub(crate) tiles: Vec<Vec<u8>>,
    /// Columns of wide features.
    pub(crate) wide: Vec<Wide>,
    /// Entries of sparse features, by row and not by position.
    pub(crate) sparse: Arc<SparseBins>,
    /// Codes in a file, instead of `tiles` and `wide`, which are then empty.
    pub(crate) mapped: Option<Arc<MappedCodes>>,
}

impl Slots {
    /// Reads the bins of a source.
    pub(crate) fn new(source: &dyn BinSource) -> Self {
        let (map, n_rows) = (source.map(), source.n_rows());
        let mut proposal = bundles::propose(source);
        loop {
            let sparse = proposal.by_entry(map);
            match Self::fill(source, Arc::new(Plan::new(map, n_rows, &proposal.bundles, &sparse))) {
                Ok(slots) => return slots,
                // The remaining features are exclusive in every row, so the next attempt succeeds.
                Err(conflicts) => proposal.loosen(&conflicts),
            }
        }
    }

    /// Reads the bins of a source into the layout of a plan. Fails with the features that are not exclusive in their
    /// bundle: of several features outside their usual bin in a row, all but the first.
    fn fill(source: &dyn BinSource, plan: Arc<Plan>) -> Result<Self, BTreeSet<u32>> {
        let n_rows = source.n_rows();
        let mut tiles: Vec<Vec<u8>> = plan.tiles.iter().map(|tile| vec![0; n_rows * tile.width]).collect();
        let usual = |member: &Member| match member.code {
            Code::Digit { .. } => None,
            Code::Range { usual, .. } => Some(Usual { feature: member.feature, bin: usual, others: 0 }),
        };
        let bundled: Vec<Usual> = plan.members().filter_map(usual).collect();
        let unusual = Unusual::new(source, &bundled);
        let digits: Vec<usize> =
            plan.members().filter(|m| usual(m).is_none()).map(|member| member.feature as usize).collect();
        // Fewer rows of a wide table, so that a block stays small.
        let block = (BLOCK_BYTES / digits.len().max(1)).clamp(MIN_BLOCK, BLOCK);
        let mut blocks: Vec<_> =
            tiles.iter_mut().zip(&plan.tiles).map(|(tile, plan)| tile.chunks_mut(block * plan.width)).collect();
        let blocks: Vec<(usize, Vec<&mut [u8]>)> = (0..n_rows)
            .step_by(block)
            .map(|start| (start, blocks.iter_mut().filter_map(Iterator::next).collect()))
            .collect();
        let of_block = |bins: &mut Vec<u8>, (start, mut records): (usize, Vec<&mut [u8]>)| {
            let rows = start..n_rows.min(start + block);
            bins.resize(rows.len() * digits.len(), 0);
            source.fill_u8(&digits, rows.clone(), bins);
            let mut columns = bins.chunks_exact(rows.len());
            for (tile, records) in plan.tiles.iter().zip(&mut records) {
                for (slot, members) in tile.slots.iter().enumerate() {
                    let digits = members.iter().filter_map(|member| match member.code {
                        Code::Digit { stride } => Some(stride),
                        Code::Range { .. } => None,
                    });
                    digits
                        .zip(&mut columns)
                        .for_each(|(stride, column)| add_digits(column, stride, records, tile.width, slot));
                }
            }
            let mut conflicts = BTreeSet::new();
            unusual.for_each(rows, &mut |row, feature, bin| {
                let Place::Slot { tile, slot, member: Member { code: Code::Range { first, usual }, .. }, .. } =
                    plan.places[feature]
                else {
                    return;
                };
                let byte = &mut records[tile][(row - start) * plan.tiles[tile].width + slot];
                #[expect(clippy::cast_possible_truncation, reason = "the bytes of a bundle are numbered up to 255")]
                let code = (first + bin - u32::from(bin > usual)) as u8;
                // The smaller byte belongs to the feature with the smaller index.
                let (kept, lost) = (code.min(*byte), code.max(*byte));
                *byte = if kept == 0 { lost } else { kept };
                if kept > 0 {
                    let owner = plan.tiles[tile].slots[slot]
                        .iter()
                        .rev()
                        .find(|m| matches!(m.code, Code::Range { first, .. } if first <= lost.into()));
                    conflicts.extend(owner.map(|member| member.feature));
                }
            });
            conflicts
        };
        let conflicts = blocks.into_par_iter().map_init(Vec::new, of_block).reduce(BTreeSet::new, |mut a, mut b| {
            a.append(&mut b);
            a
        });
        if !conflicts.is_empty() {
            return Err(conflicts);
        }
        let wide = plan.wide.par_iter().map(|&feature| Wide::fill(source, feature as usize)).collect();
        let sparse = Arc::new(SparseBins::fill(source, &plan.sparse));
        Ok(Self { plan, n_rows, tiles, wide, sparse, mapped: None })
    }

    /// Creates slots without sparse features.
    pub(crate) fn in_memory(plan: Arc<Plan>, n_rows: usize, tiles: Vec<Vec<u8>>, wide: Vec<Wide>) -> Self {
        Self { plan, n_rows, tiles, wide, sparse: Arc::new(SparseBins::none(n_rows)), mapped: None }
    }

    /// Creates slots of codes in a file. The plan has no sparse features.
    pub(crate) fn in_file(plan: Arc<Plan>, n_rows: usize, codes: MappedCodes) -> Self {
        let (tiles, wide) = (Vec::new(), Vec::new());
        Self { plan, n_rows, tiles, wide, sparse: Arc::new(SparseBins::none(n_rows)), mapped: Some(Arc::new(codes)) }
    }

    /// Returns a subset of the rows in the given order, in memory.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        if let Some(codes) = &self.mapped {
            return self.copied(codes, rows);
        }
        let records = |(plan, tile): (&TilePlan, &Vec<u8>)| -> Vec<u8> {
            rows.iter().flat_map(|&row| &tile[row * plan.width..(row + 1) * plan.width]).copied().collect()
        };
        Self {
            plan: Arc::clone(&self.plan),
            n_rows: rows.len(),
            tiles: self.plan.tiles.iter().zip(&self.tiles).map(records).collect(),
            wide: self.wide.iter().map(|column| column.rows(rows)).collect(),
            sparse: Arc::new(self.sparse.rows(rows)),
            mapped: None,
        }
    }

    /// Copies some rows from a file.
    fn copied(&self, codes: &MappedCodes, rows: &[usize]) -> Self {
        let records = |(tile, plan): (usize, &TilePlan)| -> Vec<u8> {
            let bytes = |&row: &usize| (0..plan.width).map(move |slot| codes.byte(tile, slot, row));
            rows.iter().flat_map(bytes).collect()
        };
        Self {
            plan: Arc::clone(&self.plan),
            n_rows: rows.len(),
            tiles: self.plan.tiles.iter().enumerate().map(records).collect(),
            wide: (0..self.plan.wide.len()).map(|column| codes.wide_column(column, rows)).collect(),
            sparse: Arc::new(self.sparse.rows(rows)),
            mapped: None,
        }
    }

    /// Average size in bytes of the bins of a row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.plan.row_bytes() + self.sparse.bytes().div_ceil(self.n_rows.max(1))
    }

    /// Moves every row back to its original position.
    pub(in crate::train) fn restore(&mut self, team: &Team<'_>, places: &Places) {
        for (plan, tile) in self.plan.tiles.iter().zip(&mut self.tiles) {
            places.restore_records(team, plan.width, tile);
        }
        self.wide.iter_mut().for_each(|column| column.restore(team, places));
    }
}

/// Adds a feature's digit to its byte of each record.
fn add_digits(column: &[u8], stride: u32, records: &mut [u8], width: usize, slot: usize) {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the features of a slot are chosen so that the sum fits a byte"
    )]
    let stride = stride as u8;
    for (record, &bin) in records.chunks_exact_mut(width).zip(column) {
        record[slot] += bin * stride;
    }
}
