//! Storage plan of bins: bytes of row records, shared by features with few bins, or columns of wide features.

use bitgrain_kernels::histograms::MAX_SLOTS;

use super::Wide;
use crate::feature::BinMap;
use crate::narrow::narrow;

/// Number of values of a byte.
const CODES: u32 = 256;

/// Minimum number of rows for sharing bytes: below it, splitting them up again costs more than it saves.
const ROWS_TO_SHARE: usize = 20_000;

/// Maximum number of bins of features that share a byte.
const FEW_BINS: u32 = 16;

/// Storage location of the bins of each feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) tiles: Vec<TilePlan>,
    /// Features with more bins than a byte holds; each has a column.
    pub(crate) wide: Vec<u32>,
    /// Size in bytes of the wide bins of a row.
    wide_bytes: usize,
    /// Location of each feature.
    pub(crate) places: Vec<Place>,
}

/// Slots that are stored in one record per row, few enough that their histogram cells fit in cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TilePlan {
    pub(crate) slots: Vec<Vec<Member>>,
    /// Size of a record in bytes: one per slot, padded with zeros to a multiple of four.
    pub(crate) width: usize,
}

/// Feature in a slot. The slot's byte is a mixed-radix number, the sum of `bin * stride` over its features.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) feature: u32,
    pub(crate) bins: u32,
    pub(crate) stride: u32,
}

impl Member {
    /// Extracts the feature's bin from a byte of its slot.
    pub(crate) fn bin(self, byte: u32) -> u32 {
        byte / self.stride % self.bins
    }
}

/// Location of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// Not stored: the feature has a single bin.
    Constant,
    /// A byte of a record. The sums of the feature's bins start at index `first` of its tile's sums.
    Slot { tile: usize, slot: usize, member: Member, first: usize },
    /// A separate column.
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
            let mut first = 0;
            for (slot, members) in plan.slots.iter().enumerate() {
                for &member in members {
                    places[member.feature as usize] = Place::Slot { tile, slot, member, first };
                    first += member.bins as usize;
                }
            }
        }
        wide.iter().enumerate().for_each(|(column, &feature)| places[feature] = Place::Wide { column });
        let wide_bytes = wide.iter().map(|&feature| Wide::width(bins(feature))).sum();
        let wide = wide.into_iter().map(crate::narrow::narrow).collect();
        Self { tiles, wide, wide_bytes, places }
    }

    /// Iterates over the features of all slots, by tile and slot.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.tiles.iter().flat_map(|tile| tile.slots.iter().flatten())
    }

    /// Size in bytes of the bins of a row.
    pub(crate) fn row_bytes(&self) -> usize {
        self.tiles.iter().map(|tile| tile.width).sum::<usize>() + self.wide_bytes
    }
}

/// Packs features with few bins into shared bytes by first fit, largest first, so that small ones fill the gaps.
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

/// Distributes slots over as few tiles as possible, of about equal width.
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
