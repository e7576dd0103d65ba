//! `CutStream`: cuts of a table that is read one block of rows at a time, the same as those of all rows at once.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::categories::Categories;
use super::cuts::FeatureBins;
use super::frequency::Frequencies;
use super::quantizer::{CATEGORY_BINS, between};
use super::sample::{sampled_cuts, sampled_rows};
use super::seen::Seen;
use super::weights::Weights;
use super::{BinCuts, BinMap, BinSource, FeatureError, Features, Quantizer, Schema};
use crate::narrow::narrow;

/// Values of a feature in a block of rows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum StreamColumn<'a> {
    /// Numbers or category codes.
    Numbers(&'a [f32]),
    /// For each row the index of its string; other indices are missing values.
    Words {
        /// Index of each row.
        codes: &'a [u32],
        /// Strings of the block.
        labels: &'a [String],
    },
}

/// Kind of a feature in a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamKind {
    Numeric,
    /// Numbers that are category codes.
    Codes,
    Words,
}

/// Statistics of all features of the blocks read so far.
pub(crate) struct CutStream<'a> {
    quantizer: Quantizer,
    weights: Weights<'a>,
    names: Vec<String>,
    features: Vec<Feature>,
    /// Rows that quantiles are computed from, ascending.
    sample: Vec<usize>,
    /// Rows whose values are kept, to plan the layout of the codes.
    probe: Probe,
}

/// Statistics of a feature.
struct Feature {
    kept: Kept,
    /// Values of the rows in the probe; of strings, their indices in order of first occurrence.
    probed: Vec<f32>,
}

enum Kept {
    Numeric { seen: Seen, sampled: Vec<f32> },
    Codes(Frequencies),
    Words { known: HashMap<String, u32>, weights: Vec<f64> },
}

/// Ranges of rows that are kept.
#[derive(Debug, Clone)]
struct Probe {
    /// Ascending ranges that do not overlap, each with the number of rows before it.
    ranges: Vec<(Range<usize>, usize)>,
}

impl Probe {
    fn new(mut ranges: Vec<Range<usize>>) -> Self {
        ranges.sort_by_key(|rows| rows.start);
        let mut merged: Vec<(Range<usize>, usize)> = Vec::new();
        for rows in ranges {
            match merged.last_mut() {
                Some((last, _)) if rows.start <= last.end => last.end = last.end.max(rows.end),
                last => {
                    let before = last.map_or(0, |(rows, before)| *before + rows.len());
                    merged.push((rows, before));
                }
            }
        }
        Self { ranges: merged }
    }

    fn len(&self) -> usize {
        self.ranges.last().map_or(0, |(rows, before)| before + rows.len())
    }

    /// Returns the parts of the probe within some rows.
    fn within(&self, rows: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
        let from = self.ranges.partition_point(|(range, _)| range.end <= rows.start);
        let parts = self.ranges[from..].iter().map(|(range, _)| range.clone());
        let (start, end) = (rows.start, rows.end);
        parts.take_while(move |range| range.start < end).map(move |range| range.start.max(start)..range.end.min(end))
    }

    /// Returns the place of some rows among those of the probe.
    fn place(&self, rows: &Range<usize>) -> Range<usize> {
        let at = self.ranges.partition_point(|(range, _)| range.start <= rows.start).saturating_sub(1);
        let (range, before) = &self.ranges[at];
        let start = before + rows.start - range.start;
        start..start + rows.len()
    }
}

impl<'a> CutStream<'a> {
    /// Starts with the weights of all rows, and the name and kind of each feature.
    pub(crate) fn new(
        quantizer: Quantizer,
        n_rows: usize,
        weights: Option<&'a [f32]>,
        features: Vec<(String, StreamKind)>,
        probe: Vec<Range<usize>>,
    ) -> Result<Self, FeatureError> {
        if n_rows == 0 || features.is_empty() {
            return Err(FeatureError::Empty { rows: n_rows, features: features.len() });
        }
        let weights = Weights::new(weights, n_rows)?;
        let sample = sampled_rows(n_rows, weights, quantizer.sample_rows(), quantizer.seed());
        let kept = |kind| match kind {
            StreamKind::Numeric => {
                Kept::Numeric { seen: Seen::nothing(quantizer.max_bin() as usize), sampled: Vec::new() }
            }
            StreamKind::Codes => Kept::Codes(Frequencies::default()),
            StreamKind::Words => Kept::Words { known: HashMap::new(), weights: Vec::new() },
        };
        let (names, kinds): (Vec<_>, Vec<_>) = features.into_iter().unzip();
        let features = kinds.into_iter().map(|kind| Feature { kept: kept(kind), probed: Vec::new() }).collect();
        Ok(Self { quantizer, weights, names, features, sample, probe: Probe::new(probe) })
    }

    /// Adds the rows from `first` on: one column per feature. Blocks come in order.
    pub(crate) fn add(&mut self, first: usize, columns: &[StreamColumn<'_>]) {
        let Self { weights, sample, probe, .. } = self;
        self.features.par_iter_mut().zip(columns).for_each(|(feature, column)| {
            feature.add(first, column, *weights, sample, probe);
        });
    }

    /// Returns the cuts of all features, and the codes of their strings.
    pub(crate) fn finish(self) -> Result<Streamed, FeatureError> {
        let Self { quantizer, weights, names, features, sample, probe } = self;
        let finish = |(feature, Feature { kept, mut probed }): (usize, Feature)| {
            let most = quantizer.max_bin().max(CATEGORY_BINS) as usize - 1;
            let (bins, missing, labels) = match kept {
                Kept::Numeric { seen, sampled } => {
                    let missing = seen.missing;
                    let bins = quantizer.value_bins(missing);
                    let bins = match seen.few(bins) {
                        Some(values) => between(&values),
                        None => FeatureBins::Cuts(sampled_cuts(&sampled, &sample, weights, bins).into()),
                    };
                    (bins, missing, None)
                }
                Kept::Codes(counted) => {
                    if let Some((row, value)) = counted.invalid() {
                        return Err(FeatureError::InvalidCategory { row, feature, value });
                    }
                    (FeatureBins::Categories(Categories::new(counted.most_frequent(most))), true, Some(Vec::new()))
                }
                Kept::Words { known, weights } => {
                    let mut words: Vec<(String, u32)> = known.into_iter().collect();
                    words.sort_unstable();
                    if words.len() > 1 << 24 {
                        let (row, value) = (0, 16_777_216.0);
                        return Err(FeatureError::InvalidCategory { row, feature, value });
                    }
                    let mut codes = vec![f32::NAN; words.len()];
                    #[expect(clippy::cast_precision_loss, reason = "codes up to 2^24 are exact")]
                    (0..).zip(&words).for_each(|(code, (_, first)): (usize, _)| codes[*first as usize] = code as f32);
                    #[expect(
                        clippy::cast_possible_truncation,
                        clippy::cast_sign_loss,
                        reason = "indices below 2^24, or NaN for a missing value"
                    )]
                    let recode = |at: f32| if at.is_nan() { at } else { codes[at as usize] };
                    probed.iter_mut().for_each(|value| *value = recode(*value));
                    let counted = Frequencies::of_weights(words.iter().map(|(_, first)| weights[*first as usize]));
                    let labels = words.into_iter().map(|(word, _)| word).collect();
                    (FeatureBins::Categories(Categories::new(counted.most_frequent(most))), true, Some(labels))
                }
            };
            Ok((bins, missing, labels, probed))
        };
        let n_features = features.len();
        let finished: Vec<_> = features
            .into_par_iter()
            .enumerate()
            .map(finish)
            .collect::<Vec<_>>()
            .into_iter()
            .collect::<Result<_, _>>()?;
        let (mut bins, mut missing, mut parts) = (Vec::new(), Vec::new(), Vec::new());
        let mut probed = Vec::with_capacity(probe.len() * n_features);
        for (name, (own, has_missing, labels, values)) in names.into_iter().zip(finished) {
            bins.push(own);
            missing.push(has_missing);
            parts.push((name, labels));
            probed.extend(values);
        }
        let cuts = BinCuts::from_bins(bins, missing)?;
        Ok(Streamed { cuts, schema: Arc::new(Schema::from_parts(parts)), probe, probed })
    }
}

impl Feature {
    fn add(&mut self, first: usize, column: &StreamColumn<'_>, weights: Weights<'_>, sample: &[usize], probe: &Probe) {
        match (&mut self.kept, *column) {
            (Kept::Numeric { seen, sampled }, StreamColumn::Numbers(values)) => {
                let rows = first..first + values.len();
                seen.add(values, rows.clone(), weights);
                let from = sample.partition_point(|row| *row < rows.start);
                let of_block = sample[from..].iter().take_while(|row| **row < rows.end);
                sampled.extend(of_block.map(|row| values[row - first]));
                probe.within(rows).for_each(|rows| self.probed.extend(&values[rows.start - first..rows.end - first]));
            }
            (Kept::Codes(counted), StreamColumn::Numbers(values)) => {
                let rows = first..first + values.len();
                rows.clone().zip(values).for_each(|(row, &value)| counted.add(row, value, weights.of(row).into()));
                probe.within(rows).for_each(|rows| self.probed.extend(&values[rows.start - first..rows.end - first]));
            }
            (Kept::Words { known, weights: counted }, StreamColumn::Words { codes, labels }) => {
                // Indices in order of the labels of a block differ from those of first occurrence; both are temporary.
                let index = |label: &String| match known.get(label) {
                    Some(index) => *index,
                    None => {
                        let index = narrow(known.len());
                        known.insert(label.clone(), index);
                        counted.push(0.0);
                        index
                    }
                };
                let of_label: Vec<u32> = labels.iter().map(index).collect();
                let rows = first..first + codes.len();
                for (row, code) in rows.clone().zip(codes) {
                    if let Some(&index) = of_label.get(*code as usize) {
                        // In the order of the rows, so that the sum is the same as that of all rows at once.
                        counted[index as usize] += f64::from(weights.of(row));
                    }
                }
                #[expect(clippy::cast_precision_loss, reason = "larger indices are rejected later")]
                let value = |code: &u32| of_label.get(*code as usize).map_or(f32::NAN, |index| *index as f32);
                for rows in probe.within(rows) {
                    self.probed.extend(codes[rows.start - first..rows.end - first].iter().map(value));
                }
            }
            _ => debug_assert!(false, "the kind of a feature does not change"),
        }
    }
}

/// Cuts and schema of a stream.
pub(crate) struct Streamed {
    pub(crate) cuts: BinCuts,
    pub(crate) schema: Arc<Schema>,
    probe: Probe,
    /// Values of the rows in the probe, by feature.
    probed: Vec<f32>,
}

impl Streamed {
    /// Calls `work` with a source of the rows in the probe, which claims to have `n_rows` rows.
    pub(crate) fn with_probe<T>(
        &self,
        n_rows: usize,
        work: impl FnOnce(&dyn BinSource) -> T,
    ) -> Result<T, FeatureError> {
        let features = Features::column_major(&self.probed[..], self.probe.len(), self.schema.n_features())?;
        let source = ProbeSource { bins: &self.cuts.source(&features)?, probe: &self.probe, n_rows };
        Ok(work(&source))
    }
}

/// Source that only knows the rows of a probe.
struct ProbeSource<'a, S> {
    bins: &'a S,
    probe: &'a Probe,
    n_rows: usize,
}

impl<S: BinSource> BinSource for ProbeSource<'_, S> {
    fn n_rows(&self) -> usize {
        self.n_rows
    }

    fn map(&self) -> &BinMap {
        self.bins.map()
    }

    fn fill_u8(&self, features: &[usize], rows: Range<usize>, out: &mut [u8]) {
        self.bins.fill_u8(features, self.probe.place(&rows), out);
    }

    fn fill_u32(&self, features: &[usize], rows: Range<usize>, out: &mut [u32]) {
        self.bins.fill_u32(features, self.probe.place(&rows), out);
    }
}
