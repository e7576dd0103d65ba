//! `Layout`: storage plan of a table whose rows are read one chunk at a time, as a binned table stores it.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use bitgrain_formats::bins::{BinCode, BinMember, Metadata};

use super::bundles::{Proposal, probed_ranges, propose};
use super::plan::{Code, Member, Plan, TilePlan};
use super::{Slots, Wide};
use crate::feature::{BinMap, BinSource};

/// Plan of a table, and the proposal that it results from.
#[derive(Debug)]
pub(crate) struct Layout {
    proposal: Proposal,
    plan: Arc<Plan>,
    n_rows: usize,
}

impl Layout {
    /// Returns the ranges of the rows that a plan is made from.
    pub(crate) fn probed_ranges(n_rows: usize) -> Vec<Range<usize>> {
        probed_ranges(n_rows)
    }

    /// Plans the storage of a table from a source that knows the probed rows. Fails with the number of features that
    /// training would store by entry.
    pub(crate) fn new(source: &dyn BinSource) -> Result<Self, usize> {
        let (map, n_rows) = (source.map(), source.n_rows());
        let proposal = propose(source);
        match proposal.by_entry(map).len() {
            0 => Ok(Self { plan: Arc::new(Plan::new(map, n_rows, &proposal.bundles, &[])), proposal, n_rows }),
            sparse => Err(sparse),
        }
    }

    /// Removes features that are not exclusive from their bundles. Fails as [`new`](Self::new).
    pub(crate) fn loosen(&mut self, map: &BinMap, conflicts: &BTreeSet<u32>) -> Result<(), usize> {
        self.proposal.loosen(conflicts);
        match self.proposal.by_entry(map).len() {
            0 => {
                self.plan = Arc::new(Plan::new(map, self.n_rows, &self.proposal.bundles, &[]));
                Ok(())
            }
            sparse => Err(sparse),
        }
    }

    pub(crate) fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }
}

impl Plan {
    /// Appends the codes of some rows in the order of a binned table. Fails with the features that are not exclusive in
    /// their bundle.
    pub(crate) fn encode(self: &Arc<Self>, source: &dyn BinSource, out: &mut Vec<u8>) -> Result<(), BTreeSet<u32>> {
        let slots = Slots::fill(source, Arc::clone(self))?;
        slots.tiles.iter().for_each(|tile| out.extend_from_slice(tile));
        for column in &slots.wide {
            match column {
                Wide::U16(bins) => out.extend(bins.iter().flat_map(|bin| bin.to_le_bytes())),
                Wide::U32(bins) => out.extend(bins.iter().flat_map(|bin| bin.to_le_bytes())),
            }
        }
        Ok(())
    }

    /// Stores the plan in the metadata of a binned table.
    pub(crate) fn store(&self, metadata: &mut Metadata) {
        let member = |member: &Member| BinMember {
            feature: member.feature,
            bins: member.bins,
            code: match member.code {
                Code::Digit { stride } => BinCode::Digit { stride },
                Code::Range { first, usual } => BinCode::Range { first, usual },
            },
        };
        let slot = |members: &Vec<Member>| members.iter().map(member).collect();
        metadata.tiles = self.tiles.iter().map(|tile| tile.slots.iter().map(slot).collect()).collect();
        metadata.wide.clone_from(&self.wide);
    }

    /// Reads the plan from the metadata of a binned table, whose parser has checked it.
    pub(crate) fn stored(metadata: &Metadata, map: &BinMap) -> Self {
        let member = |member: &BinMember| Member {
            feature: member.feature,
            bins: member.bins,
            code: match member.code {
                BinCode::Digit { stride } => Code::Digit { stride },
                BinCode::Range { first, usual } => Code::Range { first, usual },
            },
        };
        let slot = |members: &Vec<BinMember>| members.iter().map(member).collect();
        let tile = |slots: &Vec<Vec<BinMember>>| TilePlan {
            width: Metadata::tile_width(slots.len()),
            slots: slots.iter().map(slot).collect(),
        };
        let wide = metadata.wide.iter().map(|&feature| feature as usize).collect();
        Self::of_tiles(metadata.tiles.iter().map(tile).collect(), wide, &[], map)
    }

    /// Reads codes that [`encode`](Self::encode) wrote into memory: the content of each chunk in order.
    pub(crate) fn decode<'c, E>(
        self: Arc<Self>,
        map: &BinMap,
        n_rows: usize,
        chunks: impl Iterator<Item = Result<(usize, &'c [u8]), E>>,
    ) -> Result<Slots, E> {
        let mut tiles: Vec<Vec<u8>> = self.tiles.iter().map(|tile| Vec::with_capacity(n_rows * tile.width)).collect();
        let bins: Vec<u32> = self.wide.iter().map(|&feature| map.n_bins(feature as usize)).collect();
        let mut wide: Vec<Wide> = bins.iter().map(|&bins| Wide::of(bins, std::iter::empty())).collect();
        for chunk in chunks {
            let (rows, mut rest) = chunk?;
            let mut take = |len: usize| {
                let (taken, after) = rest.split_at(len.min(rest.len()));
                rest = after;
                taken
            };
            for (tile, plan) in tiles.iter_mut().zip(&self.tiles) {
                tile.extend_from_slice(take(rows * plan.width));
            }
            for (column, &bins) in wide.iter_mut().zip(&bins) {
                // A corrupt file may hold larger codes, which count as the last bin, as when the file is mapped.
                match column {
                    Wide::U16(column) => {
                        let codes = take(2 * rows).as_chunks().0.iter().map(|code| u16::from_le_bytes(*code));
                        let last = u16::try_from(bins - 1).unwrap_or(u16::MAX);
                        column.extend(codes.map(|code| code.min(last)));
                    }
                    Wide::U32(column) => {
                        let codes = take(4 * rows).as_chunks().0.iter().map(|code| u32::from_le_bytes(*code));
                        column.extend(codes.map(|code| code.min(bins - 1)));
                    }
                }
            }
        }
        Ok(Slots::in_memory(self, n_rows, tiles, wide))
    }
}

impl Plan {
    /// Joins the codes of two groups of rows to those of one, each a number of rows with their encoding.
    pub(crate) fn joined(&self, (before, first): (usize, &[u8]), (after, second): (usize, &[u8])) -> Vec<u8> {
        let mut out = Vec::with_capacity(first.len() + second.len());
        let (mut first, mut second) = (first, second);
        for width in self.widths() {
            for (rows, rest) in [(before, &mut first), (after, &mut second)] {
                let (taken, left) = rest.split_at((rows * width).min(rest.len()));
                out.extend_from_slice(taken);
                *rest = left;
            }
        }
        out
    }
}
