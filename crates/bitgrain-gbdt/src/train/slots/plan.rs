//! Where the bins of each feature are kept: a byte of a row's record, shared with others if they are few, or a column.

use bitgrain_kernels::histograms::MAX_SLOTS;

use super::Wide;
use crate::feature::BinMap;
use crate::narrow::narrow;

/// Codes of a byte.
const CODES: u32 = 256;

/// Fewer rows than this do not pay for taking shared bytes apart again.
const ROWS_TO_SHARE: usize = 20_000;

/// Features of at most this many bins share a byte with others.
const FEW_BINS: u32 = 16;

/// Where the bins of each feature are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) tiles: Vec<TilePlan>,
    /// Features of more bins than a byte has codes: a column each.
    pub(crate) wide: Vec<u32>,
    /// Bytes that the wide bins of a row take.
    wide_bytes: usize,
    /// Where each feature is.
    pub(crate) places: Vec<Place>,
}

/// Slots whose cells fit a cache, as one record for each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TilePlan {
    pub(crate) slots: Vec<Vec<Member>>,
    /// Bytes of a record: the slots, and some zeros to make it a multiple of four.
    pub(crate) width: usize,
}

/// A feature in a slot: the slot's byte is the sum of `bin * stride` over its features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) feature: u32,
    pub(crate) bins: u32,
    pub(crate) stride: u32,
}

impl Member {
    /// The feature's bin in a byte of its slot.
    pub(crate) fn bin(self, byte: u32) -> u32 {
        byte / self.stride % self.bins
    }
}

/// Where a feature is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Nowhere: all rows are in its only bin.
    Constant,
    /// In a byte of a record.
    Slot { tile: usize, slot: usize, member: Member },
    /// In a column of its own.
    Wide { column: usize },
}

impl Plan {
    pub(crate) fn new(map: &BinMap, n_rows: usize) -> Self {
        let bins = |feature: usize| map.n_bins(feature);
        let (narrow, wide): (Vec<_>, Vec<_>) =
            (0..map.n_features()).filter(|&f| bins(f) > 1).partition(|&f| bins(f) <= CODES);
        let share = if n_rows >= ROWS_TO_SHARE { FEW_BINS } else { 0 };
        let (few, many): (Vec<_>, Vec<_>) = narrow.into_iter().partition(|&f| bins(f) <= share);
        let mut slots: Vec<Vec<Member>> = many.into_iter().map(|f| vec![member(f, bins(f), 1)]).collect();
        slots.extend(shared(few, bins));
        let tiles = tiles(slots);
        let mut places = vec![Place::Constant; map.n_features()];
        for (tile, plan) in tiles.iter().enumerate() {
            for (slot, members) in plan.slots.iter().enumerate() {
                for &member in members {
                    places[member.feature as usize] = Place::Slot { tile, slot, member };
                }
            }
        }
        wide.iter().enumerate().for_each(|(column, &feature)| places[feature] = Place::Wide { column });
        let wide_bytes = wide.iter().map(|&feature| Wide::width(bins(feature))).sum();
        let wide = wide.into_iter().map(crate::narrow::narrow).collect();
        Self { tiles, wide, wide_bytes, places }
    }

    /// The features of all slots, in the order of tiles and slots.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.tiles.iter().flat_map(|tile| tile.slots.iter().flatten())
    }

    /// Bytes that the bins of a row take.
    pub(crate) fn row_bytes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.width).sum::<usize>() + self.wide_bytes
    }
}

/// Features of few bins, as many to a byte as it has codes for. Those of many bins first, so that small ones fill up.
fn shared(mut features: Vec<usize>, bins: impl Fn(usize) -> u32) -> Vec<Vec<Member>> {
    features.sort_by_key(|&feature| std::cmp::Reverse(bins(feature)));
    let mut slots: Vec<(u32, Vec<Member>)> = Vec::new();
    for feature in features {
        let bins = bins(feature);
        match slots.iter_mut().find(|(codes, _)| codes * bins <= CODES) {
            Some((codes, members)) => {
                members.push(member(feature, bins, *codes));
                *codes *= bins;
            }
            None => slots.push((bins, vec![member(feature, bins, 1)])),
        }
    }
    slots.into_iter().map(|(_, members)| members).collect()
}

/// As few tiles as hold all slots, of about equal width.
fn tiles(slots: Vec<Vec<Member>>) -> Vec<TilePlan> {
    if slots.is_empty() {
        return Vec::new();
    }
    let count = slots.len().div_ceil(MAX_SLOTS);
    let per_tile = slots.len().div_ceil(count).next_multiple_of(4);
    slots
        .chunks(per_tile)
        .map(|slots| TilePlan { width: slots.len().next_multiple_of(4), slots: slots.to_vec() })
        .collect()
}

fn member(feature: usize, bins: u32, stride: u32) -> Member {
    Member { feature: narrow(feature), bins, stride }
}
