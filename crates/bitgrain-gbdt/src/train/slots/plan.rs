//! Storage plan of bins: bytes of row records, shared by features with few bins, or columns of wide features.

use bitgrain_kernels::histograms::MAX_SLOTS;

use super::Wide;
use super::bundles::Bundle;
use super::sparse::SparseFeature;
use super::unusual::Usual;
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
    /// Features that are stored by entry.
    pub(crate) sparse: Vec<SparseFeature>,
    /// Size in bytes of a bin of each wide feature.
    wide_widths: Vec<usize>,
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

/// Feature in a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) feature: u32,
    pub(crate) bins: u32,
    pub(crate) code: Code,
}

/// Encoding of a feature's bins in the byte of its slot. All features of a slot have the same kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    /// The byte is a mixed-radix number, the sum of `bin * stride` over its features.
    Digit { stride: u32 },
    /// The features are a bundle: at most one of them is in another bin than its usual one. The byte is 0 if none is;
    /// the other bins of this feature are the bytes from `first` on, in ascending order.
    Range { first: u32, usual: u32 },
}

impl Member {
    /// Extracts the feature's bin from a byte of its slot.
    pub(crate) fn bin(self, byte: u32) -> u32 {
        match self.code {
            Code::Digit { stride } => byte / stride % self.bins,
            Code::Range { first, usual } if (first..first + self.bins - 1).contains(&byte) => {
                byte - first + u32::from(byte - first >= usual)
            }
            Code::Range { usual, .. } => usual,
        }
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
    /// Entries of sparse rows.
    Sparse(SparseFeature),
}

impl Plan {
    pub(crate) fn new(map: &BinMap, n_rows: usize, bundles: &[Bundle], sparse: &[Usual]) -> Self {
        let bins = |feature: usize| map.n_bins(feature);
        let mut is_elsewhere = vec![false; map.n_features()];
        let elsewhere = bundles.iter().flat_map(|bundle| &bundle.members).chain(sparse);
        elsewhere.for_each(|usual| is_elsewhere[usual.feature as usize] = true);
        let (narrow, wide): (Vec<_>, Vec<_>) =
            (0..map.n_features()).filter(|&f| bins(f) > 1 && !is_elsewhere[f]).partition(|&f| bins(f) <= CODES);
        let share = if n_rows >= ROWS_TO_SHARE { FEW_BINS } else { 0 };
        let (few, many): (Vec<_>, Vec<_>) = narrow.into_iter().partition(|&f| bins(f) <= share);
        let mut slots: Vec<Vec<Member>> = many.into_iter().map(|f| vec![digit(f, bins(f), 1)]).collect();
        slots.extend(shared(few, bins));
        slots.extend(bundles.iter().map(|bundle| ranges(bundle, bins)));
        Self::of_tiles(tiles(slots), wide, sparse, map)
    }

    /// Creates the plan of features whose slots are known.
    pub(super) fn of_tiles(tiles: Vec<TilePlan>, wide: Vec<usize>, sparse: &[Usual], map: &BinMap) -> Self {
        let bins = |feature: usize| map.n_bins(feature);
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
        let sparse = SparseFeature::all(sparse, map);
        sparse.iter().for_each(|&own| places[own.feature as usize] = Place::Sparse(own));
        wide.iter().enumerate().for_each(|(column, &feature)| places[feature] = Place::Wide { column });
        let wide_widths = wide.iter().map(|&feature| Wide::width(bins(feature))).collect();
        let wide = wide.into_iter().map(crate::narrow::narrow).collect();
        Self { tiles, wide, sparse, wide_widths, places }
    }

    /// Widths in bytes of a row's part of each tile and of each wide feature.
    pub(super) fn widths(&self) -> impl Iterator<Item = usize> {
        self.tiles.iter().map(|tile| tile.width).chain(self.wide_widths.iter().copied())
    }

    /// Iterates over the features of all slots, by tile and slot.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.tiles.iter().flat_map(|tile| tile.slots.iter().flatten())
    }

    /// Size in bytes of the bins of a row, without those of sparse features.
    pub(super) fn row_bytes(&self) -> usize {
        self.widths().sum()
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
                members.push(digit(feature, bins, *codes));
                *codes *= bins;
            }
            None => slots.push((bins, vec![digit(feature, bins, 1)])),
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

/// Numbers the bytes of a bundle: a feature with a larger index has larger bytes.
fn ranges(bundle: &Bundle, bins: impl Fn(usize) -> u32) -> Vec<Member> {
    let mut first = 1;
    let of_feature = |member: &Usual| {
        let bins = bins(member.feature as usize);
        let code = Code::Range { first, usual: member.bin };
        first += bins - 1;
        Member { feature: member.feature, bins, code }
    };
    bundle.members.iter().map(of_feature).collect()
}

fn digit(feature: usize, bins: u32, stride: u32) -> Member {
    Member { feature: narrow(feature), bins, code: Code::Digit { stride } }
}
