//! Bundles: exclusive features that share a byte. See `docs/decisions/027-sparse.md`.
//!
//! A one-hot column is nearly always in its usual bin, and of the columns that encode one variable at most one is not.
//! Such columns form a bundle, which takes one byte per row and one histogram, however many columns it has. Bundles are
//! proposed from a sample of the rows; a feature that turns out not to be exclusive leaves its bundle when all rows are
//! read. The result depends on the bins alone, so that a sparse matrix and the equal dense one train the same model.

use std::collections::BTreeSet;
use std::ops::Range;

use super::unusual::{Unusual, Usual};
use crate::feature::{BinMap, BinSource};
use crate::narrow::narrow;

/// Ranges of the rows in which sparse features are found.
const RANGES: usize = 64;

/// Ranges of the rows in which exclusive features are found: a column that is set in a row of a thousand has 32 of them.
const MORE_RANGES: usize = 512;

/// Rows of a range.
const RUN: usize = 64;

/// A feature is sparse if at most one row of this many is outside its usual bin.
const RARE: usize = 4;

/// Largest byte of a slot.
const LAST: u32 = 255;

/// Features with at most this many bins share bytes.
const FEW_BINS: u32 = 16;

/// Bits of a row that make it worthwhile to store features by entry.
const MANY_BITS: usize = 512;

/// A bundle has an entry in at least one of this many rows, or its features are stored by entry.
const LEAST_USED: usize = 8;

/// Number of recent bundles that a feature is tried with.
const TRIES: usize = 64;

/// Features read at a time from a dense source.
const FEATURES: usize = 256;

/// Exclusive features, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bundle {
    pub(crate) members: Vec<Usual>,
}

/// Bundle under construction.
struct Open {
    members: Vec<Usual>,
    /// Product of the numbers of bins, up to the number of values of a byte.
    states: u32,
    /// Bytes in use.
    last: u32,
    /// Rows of the sample in which some member is outside its usual bin.
    rows: Vec<u64>,
}

/// Sparse features of a source.
#[derive(Debug, Default)]
pub(super) struct Proposal {
    pub(super) bundles: Vec<Bundle>,
    /// Features without a bundle.
    pub(super) loose: Vec<Usual>,
    /// Number of sampled rows.
    sampled: usize,
}

/// Returns the ranges of rows that [`propose`] reads.
pub(super) fn probed_ranges(n_rows: usize) -> Vec<Range<usize>> {
    [sample(n_rows, RANGES), sample(n_rows, MORE_RANGES)].concat()
}

/// Returns bundles of features that are exclusive in a sample of the rows.
pub(super) fn propose(source: &dyn BinSource) -> Proposal {
    let map = source.map();
    let narrow: Vec<usize> = (0..map.n_features()).filter(|&f| (2..=LAST + 1).contains(&map.n_bins(f))).collect();
    // Eight features of two bins share a byte anyway.
    if narrow.len() <= 8 {
        return Proposal::default();
    }
    let ranges = sample(source.n_rows(), RANGES);
    let sparse = sparse_features(source, &narrow, &ranges);
    let rows = rows_of(source, &sparse, &sample(source.n_rows(), MORE_RANGES));
    let mut open: Vec<Open> = Vec::new();
    let mut previous = 0;
    for (feature, rows) in sparse.into_iter().zip(rows) {
        let bins = map.n_bins(feature.feature as usize);
        // Columns of one variable are usually neighbors, so the bundle of the previous feature comes first.
        let recent = open.len().saturating_sub(TRIES)..open.len();
        let tried = std::iter::once(previous).chain(recent).filter(|&at| at < open.len());
        let found = tried.into_iter().find(|&at| open[at].has_room(bins, &rows));
        previous = found.unwrap_or_else(|| {
            open.push(Open {
                members: Vec::new(),
                states: 1,
                last: 0,
                rows: vec![0; (MORE_RANGES * RUN).div_ceil(64)],
            });
            open.len() - 1
        });
        open[previous].add(feature, bins, &rows);
    }
    let mut proposal = Proposal { sampled: ranges.iter().map(Range::len).sum(), ..Proposal::default() };
    // Features that fit one mixed-radix byte gain nothing from a bundle.
    let (pays, others): (Vec<Open>, Vec<Open>) = open.into_iter().partition(|bundle| bundle.states > LAST + 1);
    proposal.loose.extend(others.into_iter().flat_map(|bundle| bundle.members));
    // A byte that is 0 in nearly all rows pays only if its features would not be stored by entry.
    let used = |bundle: &Open| bundle.members.iter().map(|member| member.others as usize).sum::<usize>();
    let (full, empty): (Vec<Open>, Vec<Open>) =
        pays.into_iter().partition(|bundle| used(bundle) * LEAST_USED >= proposal.sampled);
    let bundle = |open: Open| Bundle { members: open.members };
    proposal.bundles.extend(full.into_iter().map(bundle));
    let n_loose = proposal.loose.len();
    proposal.loose.extend(empty.iter().flat_map(|bundle| &bundle.members));
    if proposal.by_entry(map).is_empty() {
        proposal.loose.truncate(n_loose);
        proposal.bundles.extend(empty.into_iter().map(bundle));
    }
    proposal
}

impl Proposal {
    /// Removes features from their bundles.
    pub(super) fn loosen(&mut self, features: &BTreeSet<u32>) {
        for bundle in &mut self.bundles {
            self.loose.extend(bundle.members.extract_if(.., |member| features.contains(&member.feature)));
        }
        self.bundles.retain(|bundle| !bundle.members.is_empty());
    }

    /// Returns the loose features that are stored by entry: an addition to a sum at a random address, by row index, takes
    /// as long as about five additions in a tile, and an entry two to four bytes.
    pub(super) fn by_entry(&self, map: &BinMap) -> Vec<Usual> {
        let is_rare = |usual: &&Usual| {
            let share = if map.n_bins(usual.feature as usize) > FEW_BINS { 8 } else { 64 };
            usual.others as usize * share <= self.sampled
        };
        let mut rare: Vec<Usual> = self.loose.iter().filter(is_rare).copied().collect();
        rare.sort_unstable_by_key(|usual| usual.feature);
        let bits = |usual: &Usual| match map.n_bins(usual.feature as usize) {
            bins @ ..=FEW_BINS => bins.next_power_of_two().trailing_zeros() as usize,
            _ => 8,
        };
        let many = rare.iter().map(bits).sum::<usize>() >= MANY_BITS;
        if many { rare } else { Vec::new() }
    }
}

impl Open {
    fn has_room(&self, bins: u32, rows: &[u32]) -> bool {
        let is_free = |row: &u32| self.rows[*row as usize / 64] >> (row % 64) & 1 == 0;
        self.last + bins - 1 <= LAST && rows.iter().all(is_free)
    }

    fn add(&mut self, feature: Usual, bins: u32, rows: &[u32]) {
        self.members.push(feature);
        self.states = (self.states * bins).min(LAST + 2);
        self.last += bins - 1;
        rows.iter().for_each(|&row| self.rows[row as usize / 64] |= 1 << (row % 64));
    }
}

/// Returns the sampled rows: ranges at equal distances, or all rows if they are few.
fn sample(n_rows: usize, ranges: usize) -> Vec<Range<usize>> {
    if n_rows <= ranges * RUN {
        return std::iter::once(0..n_rows).collect();
    }
    let start = |at: usize| at * ((n_rows - RUN) / (ranges - 1));
    (0..ranges).map(|at| start(at)..start(at) + RUN).collect()
}

/// Returns the features that are in one bin in nearly all sampled rows, with that bin.
fn sparse_features(source: &dyn BinSource, narrow_features: &[usize], ranges: &[Range<usize>]) -> Vec<Usual> {
    let offsets = source.map().feature_offsets();
    let n_rows: usize = ranges.iter().map(Range::len).sum();
    let mut counts = vec![0_u32; source.map().total_bins() as usize];
    if let Some(entries) = source.entries() {
        let mut stored = vec![0_u32; source.map().n_features()];
        for rows in ranges {
            entries.for_each(rows.clone(), &mut |_, feature, bin| {
                counts[(offsets[feature] + bin) as usize] += 1;
                stored[feature] += 1;
            });
        }
        for &feature in narrow_features {
            counts[(offsets[feature] + entries.absent(feature)) as usize] += narrow(n_rows) - stored[feature];
        }
    } else {
        let mut bins = Vec::new();
        for (rows, features) in ranges.iter().flat_map(|rows| narrow_features.chunks(FEATURES).map(move |f| (rows, f)))
        {
            bins.resize(rows.len() * features.len(), 0);
            source.fill_u8(features, rows.clone(), &mut bins);
            for (&feature, column) in features.iter().zip(bins.chunks(rows.len().max(1))) {
                let counts = &mut counts[offsets[feature] as usize..];
                column.iter().for_each(|&bin| counts[usize::from(bin)] += 1);
            }
        }
    }
    let usual = |&feature: &usize| {
        let counts = &counts[offsets[feature] as usize..offsets[feature + 1] as usize];
        // The first of equal counts.
        let (bin, &count) = counts.iter().enumerate().rev().max_by_key(|(_, count)| **count)?;
        let is_sparse = (n_rows - count as usize) * RARE <= n_rows;
        is_sparse.then(|| Usual { feature: narrow(feature), bin: narrow(bin), others: narrow(n_rows - count as usize) })
    };
    narrow_features.iter().filter_map(usual).collect()
}

/// Returns the sampled rows in which each feature is outside its usual bin, numbered within the sample.
fn rows_of(source: &dyn BinSource, features: &[Usual], ranges: &[Range<usize>]) -> Vec<Vec<u32>> {
    let unusual = Unusual::new(source, features);
    let mut rows_of = vec![Vec::new(); features.len()];
    let mut place = vec![0; source.map().n_features()];
    features.iter().enumerate().for_each(|(at, feature)| place[feature.feature as usize] = at);
    let mut before = 0;
    for rows in ranges {
        unusual.for_each(rows.clone(), &mut |row, feature, _| {
            rows_of[place[feature]].push(narrow(before + row - rows.start));
        });
        before += rows.len();
    }
    rows_of
}
