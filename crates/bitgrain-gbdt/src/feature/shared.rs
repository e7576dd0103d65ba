//! Cuts of a table whose rows are divided among workers: those that one machine computes from all rows.
//!
//! No sketch: workers send the very rows that one machine would sample, so that the cuts do not depend on their number.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::categories::Categories;
use super::cuts::FeatureBins;
use super::dense::Dense;
use super::frequency::Frequencies;
use super::input::Matrix;
use super::precise::{Digits, between_f64, few, merges_probe, probed, quantiles_f64};
use super::quantizer::{CATEGORY_BINS, between};
use super::sample::{sample, sampled_cuts};
use super::seen::Seen;
use super::weights::Weights;
use super::{BinCuts, FeatureError, FeatureKind, Features, Quantizer, Schema};
use crate::SampleError;
use crate::distributed::{CommunicationError, Peers, Reader, Writer};
use crate::narrow::narrow;
use crate::samples::check_weights;
use crate::train::TrainError;

/// Features whose samples are sent together: about 13 MB at the default sample size.
const GROUP: usize = 16;

/// Cuts and schema of the rows of all workers.
pub(crate) struct SharedCuts {
    pub(crate) cuts: Arc<BinCuts>,
    /// The same cuts for the category codes of this worker's rows.
    pub(crate) own: BinCuts,
    pub(crate) schema: Arc<Schema>,
}

/// Statistics of a feature over all workers.
enum Known {
    Numeric { seen: Seen, digits: Digits },
    Categorical { counted: Frequencies, labels: Vec<String>, sorted: bool },
}

/// Rows of this worker; `None` if it lacks them.
#[derive(Clone, Copy)]
struct Own<'a> {
    features: &'a Features<'a>,
    dense: &'a Dense<'a>,
    weights: Weights<'a>,
}

/// Computes the cuts of the rows of all workers. A worker without rows passes `None`.
pub(crate) fn shared_cuts(
    quantizer: &Quantizer,
    features: Option<&Features<'_>>,
    weights: Option<&[f32]>,
    peers: &Peers<'_>,
) -> Result<SharedCuts, TrainError> {
    let own = peers.agree(own_rows(features, weights))?;
    let told = peers.exchange(own.map_or_else(|| Ok(Vec::new()), |own| own.summary(quantizer)))?;
    let Merged { names, mut known, counted, first_counted, weighted } = merged(quantizer, &told, peers)?;
    let kinds: Vec<FeatureKind> = known
        .iter()
        .map(|known| match known {
            Known::Numeric { .. } => FeatureKind::Numeric,
            Known::Categorical { .. } => FeatureKind::Categorical,
        })
        .collect();
    let limit = quantizer.max_bin().max(CATEGORY_BINS) as usize - 1;
    let mut labels = Vec::with_capacity(known.len());
    let mut bins = vec![FeatureBins::Cuts(Box::default()); known.len()];
    let mut missing = vec![true; known.len()];
    let (mut wide, mut doubtful, mut precise) = (Vec::new(), Vec::new(), Vec::new());
    for (feature, known) in known.iter_mut().enumerate() {
        match known {
            Known::Categorical { counted, labels: own, .. } => {
                let counted = std::mem::take(counted);
                if weighted && counted.entries().len() > limit {
                    return Err(CommunicationError::Mismatch {
                        message: format!(
                            "feature `{}` has more than {limit} categories and the rows have weights, whose sums depend \
                             on the workers; merge rare categories",
                            names[feature]
                        ),
                    }
                    .into());
                }
                bins[feature] = FeatureBins::Categories(Categories::new(counted.most_frequent(limit)));
                labels.push(Some(std::mem::take(own)));
            }
            Known::Numeric { seen, digits } => {
                missing[feature] = seen.missing;
                match std::mem::replace(seen, Seen::nothing(0)).few(quantizer.value_bins(missing[feature])) {
                    Some(values) => bins[feature] = between(&values),
                    None => wide.push(feature),
                }
                match (digits.rounds, digits.fractions) {
                    (true, false) => precise.push(feature),
                    (true, true) => doubtful.push(feature),
                    _ => {}
                }
                labels.push(None);
            }
        }
    }
    let value_bins = |feature: usize| quantizer.value_bins(missing[feature]);
    for group in doubtful.chunks(GROUP) {
        let probes = collected(peers, own.map(|own| own.probes(peers)), group, own)?;
        let merged =
            group.iter().zip(probes).filter(|(feature, (probe, _))| merges_probe(probe.clone(), value_bins(**feature)));
        precise.extend(merged.map(|(feature, _)| *feature));
    }
    precise.sort_unstable();
    let rows = sample(counted, quantizer.sample_rows(), quantizer.seed());
    let sampled = own.map(|own| own.sampled(&rows, first_counted));
    for group in precise.chunks(GROUP) {
        let distinct = peers.exchange(Ok(own.map_or_else(Vec::new, |own| own.distinct(group, value_bins))))?;
        let samples = collected(peers, sampled.clone(), group, own)?;
        let mut readers: Vec<Reader<'_>> = distinct.iter().map(|bytes| Reader(bytes)).collect();
        for (&feature, (values, weights)) in group.iter().zip(samples) {
            let mut all = Some(Vec::new());
            for reader in readers.iter_mut().filter(|reader| !reader.0.is_empty()) {
                let fits = reader.u64()? == 1;
                let values = reader.f64s()?;
                all = all.filter(|_| fits).map(|all: Vec<f64>| [all, values].concat());
            }
            let all = all.and_then(|all| few(all.into_iter(), value_bins(feature)));
            let rows = || values.iter().map(|value| value + 0.0).zip(weights.iter().copied()).collect();
            let cuts = all.map_or_else(|| quantiles_f64(rows(), value_bins(feature)), |all| between_f64(&all));
            bins[feature] = FeatureBins::Precise(cuts.into());
        }
    }
    wide.retain(|feature| precise.binary_search(feature).is_err());
    for group in wide.chunks(GROUP) {
        let samples = collected(peers, sampled.clone(), group, own)?;
        for (&feature, (values, weights)) in group.iter().zip(samples) {
            #[expect(clippy::cast_possible_truncation, reason = "one machine rounds the same values")]
            let values: Vec<f32> = values.into_iter().map(|value| value as f32).collect();
            let all: Vec<usize> = (0..values.len()).collect();
            let weights = Weights::new(weighted.then_some(&weights[..]), values.len())?;
            bins[feature] = FeatureBins::Cuts(sampled_cuts(&values, &all, weights, value_bins(feature)).into());
        }
    }
    let codes = own_codes(features, &labels);
    let cuts = BinCuts::from_bins(bins, missing)?;
    let own = cuts.recoded(&codes);
    let schema = Schema::from_parts(names.into_iter().zip(labels));
    debug_assert!(kinds.iter().enumerate().all(|(feature, kind)| schema.kind(feature) == *kind));
    Ok(SharedCuts { cuts: Arc::new(cuts), own, schema: Arc::new(schema) })
}

fn own_rows<'a>(features: Option<&'a Features<'a>>, weights: Option<&'a [f32]>) -> Result<Option<Own<'a>>, TrainError> {
    let Some(features) = features else { return Ok(None) };
    if let Some(weights) = weights {
        // All may be 0 on one worker.
        check_weights(weights, features.n_rows()).map_err(FeatureError::from)?;
    }
    let Matrix::Dense(dense) = features.matrix() else {
        let message =
            "sparse features are not supported in distributed training; pass dense ones, or train in one process";
        return Err(CommunicationError::Mismatch { message: message.to_owned() }.into());
    };
    Ok(Some(Own { features, dense, weights: Weights::checked(weights) }))
}

/// Returns the code among the labels of all workers of each code of this worker's rows.
fn own_codes(features: Option<&Features<'_>>, labels: &[Option<Vec<String>>]) -> Vec<Option<Vec<u32>>> {
    let of_feature = |(feature, labels): (usize, &Option<Vec<String>>)| {
        let own = features?.schema().labels(feature);
        let all = labels.as_ref().filter(|all| !all.is_empty() && all.as_slice() != own)?;
        Some(own.iter().map(|label| narrow(all.binary_search(label).unwrap_or(all.len()))).collect())
    };
    labels.iter().enumerate().map(of_feature).collect()
}

impl Own<'_> {
    fn n_rows(&self) -> usize {
        self.features.n_rows()
    }

    /// Describes the features, and what is known of them without other workers.
    fn summary(&self, quantizer: &Quantizer) -> Result<Vec<u8>, TrainError> {
        let n_features = self.features.n_features();
        let of_kind = |kind| -> Vec<usize> { (0..n_features).filter(|&f| self.features.kind(f) == kind).collect() };
        let (numeric, categorical) = (of_kind(FeatureKind::Numeric), of_kind(FeatureKind::Categorical));
        let mut seen = Seen::of(self.features, &numeric, self.weights, quantizer.max_bin() as usize).into_iter();
        let digits = if self.dense.is_f64() {
            Digits::of(self.dense, &numeric, self.n_rows())
        } else {
            vec![Digits::default(); numeric.len()]
        };
        let mut digits = digits.into_iter();
        let mut counted = Frequencies::of(self.features, &categorical, self.weights).into_iter();
        let mut out = Writer::default();
        out.texts(self.features.names());
        let positive = (0..self.n_rows()).filter(|&row| self.weights.counts(row)).count();
        out.u64(u64::from(!self.weights.are_equal())).u64(positive as u64);
        for feature in 0..n_features {
            if self.features.kind(feature) == FeatureKind::Numeric {
                let (missing, distinct) = seen.next().map(|seen| seen.parts()).unwrap_or_default();
                let Digits { rounds, fractions } = digits.next().unwrap_or_default();
                let flags = [missing, distinct.is_some(), rounds, fractions];
                out.u64(0);
                flags.into_iter().for_each(|flag| {
                    out.u64(u64::from(flag));
                });
                out.f32s(&distinct.unwrap_or_default());
                continue;
            }
            let counted = counted.next().unwrap_or_default();
            if let Some((row, value)) = counted.invalid() {
                return Err(FeatureError::InvalidCategory { row, feature, value }.into());
            }
            let entries = counted.entries();
            out.u64(1).texts(self.features.schema().labels(feature)).u64(entries.len() as u64);
            entries.into_iter().for_each(|(code, weight)| {
                out.u64(code.into()).u64(weight.to_bits());
            });
        }
        Ok(out.0)
    }

    /// Returns the rows that tell whether f32 merges values.
    fn probes(&self, peers: &Peers<'_>) -> Vec<usize> {
        let first = usize::try_from(peers.first_row()).unwrap_or(usize::MAX);
        let own = first..first + self.n_rows();
        probed(peers.n_rows()).filter(|row| own.contains(row)).map(|row| row - first).collect()
    }

    /// Returns the rows of this worker in a sample of all counted rows, of which `first` are before its own.
    fn sampled(&self, sample: &[usize], first: usize) -> Vec<usize> {
        let counted: Vec<usize> = (0..self.n_rows()).filter(|&row| self.weights.counts(row)).collect();
        let from = sample.partition_point(|row| *row < first);
        let own = sample[from..].iter().take_while(|row| **row - first < counted.len());
        own.map(|row| counted[row - first]).collect()
    }

    /// Returns the distinct f64 values of features, if there are at most as many as bins.
    fn distinct(&self, group: &[usize], bins: impl Fn(usize) -> usize) -> Vec<u8> {
        let mut out = Writer::default();
        for &feature in group {
            let rows = (0..self.n_rows()).filter(|&row| self.weights.counts(row));
            let values = few(rows.map(|row| self.dense.value_f64(row, feature) + 0.0), bins(feature));
            out.u64(u64::from(values.is_some())).f64s(&values.unwrap_or_default());
        }
        out.0
    }
}

/// Values of rows of a feature, and the weights of the rows.
type Sample = (Vec<f64>, Vec<f32>);

/// Returns some rows of each feature, in the order of the workers.
fn collected(
    peers: &Peers<'_>,
    rows: Option<Vec<usize>>,
    group: &[usize],
    own: Option<Own<'_>>,
) -> Result<Vec<Sample>, TrainError> {
    let mut out = Writer::default();
    if let (Some(rows), Some(own)) = (rows, own) {
        let weights: Vec<f32> = rows.iter().map(|&row| own.weights.of(row)).collect();
        out.f32s(&weights).u64(u64::from(own.dense.is_f64()));
        for &feature in group {
            if own.dense.is_f64() {
                out.f64s(&rows.iter().map(|&row| own.dense.value_f64(row, feature)).collect::<Vec<_>>());
            } else {
                out.f32s(&rows.iter().map(|&row| own.dense.value(row, feature)).collect::<Vec<_>>());
            }
        }
    }
    let mut all: Vec<Sample> = vec![(Vec::new(), Vec::new()); group.len()];
    for bytes in peers.exchange(Ok(out.0))?.iter().filter(|bytes| !bytes.is_empty()) {
        let mut reader = Reader(bytes);
        let weights = reader.f32s()?;
        let is_f64 = reader.u64()? == 1;
        for (values, of_rows) in &mut all {
            if is_f64 {
                values.extend(reader.f64s()?);
            } else {
                values.extend(reader.f32s()?.into_iter().map(f64::from));
            }
            of_rows.extend_from_slice(&weights);
        }
    }
    Ok(all)
}

/// Statistics of all features over all workers.
struct Merged {
    names: Vec<String>,
    known: Vec<Known>,
    /// Rows of nonzero weight on all workers, and on those before this one.
    counted: usize,
    first_counted: usize,
    weighted: bool,
}

/// Index of a categorical feature, its labels on a worker, and the weights of the codes there.
type Entries = (usize, Vec<String>, Vec<(u32, f64)>);

fn merged(quantizer: &Quantizer, told: &[Vec<u8>], peers: &Peers<'_>) -> Result<Merged, TrainError> {
    let mismatch = |message: String| TrainError::from(CommunicationError::Mismatch { message });
    let mut merged: Option<Merged> = None;
    // Codes of each worker, added once the labels of all are known.
    let mut entries: Vec<Entries> = Vec::new();
    for (rank, bytes) in told.iter().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
        let mut reader = Reader(bytes);
        let names = reader.texts()?;
        let weighted = reader.u64()? == 1;
        let rows = usize::try_from(reader.u64()?).unwrap_or(usize::MAX);
        let all = merged.get_or_insert_with(|| Merged {
            names: names.clone(),
            known: Vec::new(),
            counted: 0,
            first_counted: 0,
            weighted,
        });
        if all.names != names {
            let differs = |(a, b): (&String, &String)| (a != b).then(|| format!("`{a}` and `{b}`"));
            let first = all.names.iter().zip(&names).find_map(differs);
            let detail = first.unwrap_or_else(|| format!("{} and {} features", all.names.len(), names.len()));
            return Err(mismatch(format!("worker {rank} has different features from worker 0: {detail}")));
        }
        if all.weighted != weighted {
            return Err(mismatch(format!("only some workers have weights; worker {rank} differs from worker 0")));
        }
        all.counted += rows;
        if rank < peers.rank() {
            all.first_counted += rows;
        }
        for (feature, name) in names.iter().enumerate() {
            let categorical = reader.u64()? == 1;
            if all.known.len() == feature {
                all.known.push(if categorical {
                    Known::Categorical { counted: Frequencies::default(), labels: Vec::new(), sorted: false }
                } else {
                    Known::Numeric { seen: Seen::nothing(quantizer.max_bin() as usize), digits: Digits::default() }
                });
            }
            match &mut all.known[feature] {
                Known::Numeric { seen, digits } if !categorical => {
                    let mut flag = || reader.u64().map(|flag| flag == 1);
                    let (missing, few, rounds, fractions) = (flag()?, flag()?, flag()?, flag()?);
                    let distinct = reader.f32s()?;
                    seen.add_parts(missing, few.then_some(distinct));
                    digits.rounds |= rounds;
                    digits.fractions |= fractions;
                }
                Known::Categorical { labels, sorted, .. } if categorical => {
                    let own = reader.texts()?;
                    if labels.is_empty() {
                        labels.clone_from(&own);
                    } else if !own.is_empty() && *labels != own {
                        let union: BTreeSet<&String> = labels.iter().chain(&own).collect();
                        *labels = union.into_iter().cloned().collect();
                        *sorted = true;
                    }
                    let count = reader.u64()?;
                    let entry = |_| Ok((narrow_code(reader.u64()?), f64::from_bits(reader.u64()?)));
                    let own_entries = (0..count).map(entry).collect::<Result<Vec<_>, CommunicationError>>()?;
                    entries.push((feature, own, own_entries));
                }
                _ => {
                    return Err(mismatch(format!(
                        "feature `{name}` is categorical only on some workers, not on {rank}"
                    )));
                }
            }
        }
    }
    let mut merged = merged.ok_or(FeatureError::Empty { rows: 0, features: 0 })?;
    if merged.counted == 0 {
        return Err(FeatureError::from(SampleError::NoWeight).into());
    }
    for (feature, own, entries) in entries {
        let name = merged.names[feature].clone();
        let Known::Categorical { counted, labels, sorted } = &mut merged.known[feature] else { continue };
        if own.is_empty() && !labels.is_empty() && !entries.is_empty() {
            return Err(mismatch(format!("feature `{name}` has labels only on some workers")));
        }
        for (code, weight) in entries {
            let label = own.get(code as usize).filter(|_| *sorted);
            let code = label.map_or(code, |label| narrow(labels.binary_search(label).unwrap_or(labels.len())));
            counted.add_weight(code, weight);
        }
    }
    Ok(merged)
}

/// Narrows a category code, which is below 2^24.
fn narrow_code(code: u64) -> u32 {
    u32::try_from(code).unwrap_or(u32::MAX)
}
