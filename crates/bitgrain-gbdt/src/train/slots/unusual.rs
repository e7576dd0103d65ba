//! Values outside the usual bin of their feature.

use std::ops::Range;

use crate::feature::{BinEntries, BinSource};

/// Features read at a time: a block of some thousand rows stays in cache.
const FEATURES: usize = 64;

/// A feature and the bin of nearly all its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usual {
    pub(crate) feature: u32,
    pub(crate) bin: u32,
    /// Sampled rows with another value.
    pub(crate) others: u32,
}

/// Finds the values outside the usual bins of some features.
pub(super) struct Unusual<'s> {
    source: &'s dyn BinSource,
    entries: Option<&'s dyn BinEntries>,
    /// Usual bin of each feature whose absent values are in it, so that its entries suffice; [`OTHER`] for others.
    by_entry: Vec<u32>,
    by_column: Vec<usize>,
    /// Usual bin of each feature in `by_column`.
    usual: Vec<u32>,
}

const OTHER: u32 = u32::MAX;

impl<'s> Unusual<'s> {
    pub(super) fn new(source: &'s dyn BinSource, features: &[Usual]) -> Self {
        let entries = source.entries();
        let mut by_entry = vec![OTHER; if entries.is_some() { source.map().n_features() } else { 0 }];
        let (mut by_column, mut usual) = (Vec::new(), Vec::new());
        for &Usual { feature, bin, .. } in features {
            let feature = feature as usize;
            if entries.is_some_and(|entries| entries.absent(feature) == bin) {
                by_entry[feature] = bin;
            } else {
                by_column.push(feature);
                usual.push(bin);
            }
        }
        let entries = entries.filter(|_| by_column.len() < features.len());
        Self { source, entries, by_entry, by_column, usual }
    }

    /// Calls `visit` with the row, feature and bin of each such value.
    pub(super) fn for_each(&self, rows: Range<usize>, visit: &mut dyn FnMut(usize, usize, u32)) {
        if let Some(entries) = self.entries {
            entries.for_each(rows.clone(), &mut |row, feature, bin| {
                let usual = self.by_entry[feature];
                if usual != OTHER && usual != bin {
                    visit(row, feature, bin);
                }
            });
        }
        let mut bins = Vec::new();
        for (features, usual) in self.by_column.chunks(FEATURES).zip(self.usual.chunks(FEATURES)) {
            bins.resize(rows.len() * features.len(), 0);
            self.source.fill_u8(features, rows.clone(), &mut bins);
            for ((&feature, &usual), column) in features.iter().zip(usual).zip(bins.chunks(rows.len().max(1))) {
                let others = rows.clone().zip(column).filter(|(_, bin)| u32::from(**bin) != usual);
                others.for_each(|(row, &bin)| visit(row, feature, bin.into()));
            }
        }
    }
}
