//! Training on sparse rows gives the model of the equivalent dense matrix, bit for bit.

use bitgrain_gbdt::feature::{Absent, BinLayout, Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::metric;
use bitgrain_gbdt::train::{Dataset, Growth, Params, SampleStrategy, Trainer, Training};
use proptest::prelude::*;

use crate::data::Random;

/// A matrix in sparse and in dense form.
#[derive(Debug, Clone, Default)]
struct Both {
    row_ptr: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    dense: Vec<f32>,
    targets: Vec<f32>,
    n_features: usize,
    absent: f32,
}

/// Contents of a table.
#[derive(Debug, Clone, Copy)]
struct Kind {
    rows: usize,
    /// One-hot encoded variables, and columns of each.
    variables: usize,
    levels: usize,
    /// Columns of counts or weights, as of words in a text.
    words: usize,
    /// Share of rows that have a word.
    density: f32,
    /// Distinct values of a word.
    distinct: u64,
    missing: bool,
    /// Share of the one-hot rows that have two levels of a variable, or none.
    broken: f32,
    absent: Absent,
}

const FEW: Kind = Kind {
    rows: 400,
    variables: 4,
    levels: 12,
    words: 30,
    density: 0.05,
    distinct: 5,
    missing: true,
    broken: 0.0,
    absent: Absent::Zero,
};

impl Both {
    fn new(kind: Kind, seed: u64) -> Self {
        let mut random = Random(seed | 1);
        // A category, a dense number, one-hot columns, words.
        let n_features = 2 + kind.variables * kind.levels + kind.words;
        let absent = if kind.absent == Absent::Zero { 0.0 } else { f32::NAN };
        let mut both = Self { n_features, absent, row_ptr: vec![0], ..Self::default() };
        let mut below = |end: u64| (random.next() >> 20) % end;
        for _ in 0..kind.rows {
            let mut entries: Vec<(usize, f32)> = Vec::new();
            let mut target = 0.0;
            if below(3) > 0 {
                let category = below(6) as f32;
                entries.push((0, category));
                target += if category == 2.0 { 1.0 } else { 0.0 };
            }
            let number = below(1000) as f32 * 0.01 - 5.0;
            entries.push((1, number));
            target += number * 0.3;
            for variable in 0..kind.variables {
                // Levels of unequal frequency.
                let levels = kind.levels as u64;
                let level = usize::try_from(below(levels) * below(levels) / levels).expect("few");
                let first = 2 + variable * kind.levels;
                let broken = below(1000) as f32 / 1000.0;
                if broken >= kind.broken / 2.0 {
                    entries.push((first + level, 1.0));
                    target += ((variable * 7 + level * 3) % 5) as f32 * 0.3;
                }
                if broken < kind.broken && broken >= kind.broken / 2.0 && level + 1 < kind.levels {
                    entries.push((first + level + 1, if below(2) == 0 { 1.0 } else { 2.0 }));
                }
            }
            for word in 0..kind.words {
                if (below(10_000) as f32) < kind.density * 10_000.0 {
                    let value = below(kind.distinct) as f32 * 0.5; // sometimes an explicit zero
                    let missing = kind.missing && below(20) == 0;
                    entries.push((2 + kind.variables * kind.levels + word, if missing { f32::NAN } else { value }));
                    target += value * if word % 2 == 0 { 0.5 } else { -0.5 };
                }
            }
            let mut row = vec![absent; n_features];
            for (feature, value) in entries {
                row[feature] = value;
                both.columns.push(u32::try_from(feature).expect("few"));
                both.values.push(value);
            }
            both.row_ptr.push(both.columns.len());
            both.dense.extend(row);
            both.targets.push(target + below(100) as f32 * 0.005);
        }
        both
    }

    fn sparse(&self) -> Features<'_> {
        let absent = if self.absent.is_nan() { Absent::Missing } else { Absent::Zero };
        let rows = Features::sparse(&self.row_ptr, &self.columns, &self.values, self.n_features, absent);
        rows.and_then(|rows| rows.with_categorical(&[0])).expect("sparse rows")
    }

    fn dense(&self) -> Features<'_> {
        let rows = Features::row_major(&self.dense[..], self.targets.len(), self.n_features);
        rows.and_then(|rows| rows.with_categorical(&[0])).expect("a matrix")
    }
}

/// Trains with validation data on sparse or dense features.
fn train(train: &Both, valid: &Both, params: &Params, is_sparse: bool, max_bin: u32, threads: usize) -> Training {
    let of = |both: &Both, work: &mut dyn FnMut(&Features<'_>)| {
        work(&if is_sparse { both.sparse() } else { both.dense() });
    };
    let quantizer = Quantizer::default().with_max_bin(max_bin).expect("in range");
    let (mut data, mut held) = (None, None);
    of(train, &mut |features| {
        data = Some(Dataset::new(features, train.targets.clone(), None, &quantizer).expect("valid data"));
    });
    let mut data = data.expect("made above");
    of(valid, &mut |features| held = Some(data.like(features, valid.targets.clone(), None).expect("valid data")));
    let held = held.expect("made above");
    let objective = data.objective(Some("squared")).expect("an objective");
    let trainer =
        Trainer::new(params.clone(), objective).metric(metric::by_name("rmse").expect("a metric")).valid(&held);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
    pool.install(|| trainer.train(&mut data)).expect("a model")
}

fn params() -> Params {
    Params { n_estimators: 8, num_leaves: 12, min_child_samples: 3, min_child_weight: 0.0, ..Params::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn sparse_rows_train_the_model_of_the_dense_matrix(
        seed in any::<u64>(),
        (rows, variables, levels, words) in (2_usize..900, 0_usize..5, 2_usize..40, 0_usize..150),
        (density, distinct, broken) in (0.0_f32..0.3, 1_u64..300, prop_oneof![Just(0.0_f32), 0.0_f32..0.2]),
        (missing, zero) in (any::<bool>(), prop_oneof![3 => Just(true), 1 => Just(false)]),
        precision in prop_oneof![Just(GradientPrecision::F32), Just(GradientPrecision::Pair8), Just(GradientPrecision::Pair4)],
        growth in prop_oneof![3 => Just(Growth::LeafWise), 1 => Just(Growth::Symmetric)],
        (sampling, early) in (0_u8..3, any::<bool>()),
        max_bin in prop_oneof![Just(256_u32), Just(16), Just(300)],
    ) {
        let absent = if zero { Absent::Zero } else { Absent::Missing };
        let kind = Kind { rows, variables, levels, words, density, distinct, missing, broken, absent };
        // Validation rows break exclusiveness that holds in training, and have values that it does not.
        let valid = Kind { rows: 60, missing: true, broken: 0.5, distinct: distinct + 2, ..kind };
        let (both, valid) = (Both::new(kind, seed), Both::new(valid, seed ^ 77));
        let params = Params {
            gradient_precision: precision,
            growth,
            subsample: if sampling == 1 { 0.6 } else { 1.0 },
            subsample_freq: 1,
            colsample_bytree: if sampling == 1 { 0.5 } else { 1.0 },
            data_sample_strategy: if sampling == 2 { SampleStrategy::Goss } else { SampleStrategy::Bagging },
            early_stopping_rounds: early.then_some(2),
            ..params()
        };
        let dense = train(&both, &valid, &params, false, max_bin, 1);
        prop_assert!(train(&both, &valid, &params, true, max_bin, 1) == dense, "sparse");
        prop_assert!(train(&both, &valid, &params, true, max_bin, 3) == dense, "three threads");
    }
}

#[test]
fn one_hot_columns_share_bytes() {
    let one_hot = Kind { rows: 2000, variables: 6, levels: 200, words: 0, missing: false, ..FEW };
    for (broken, most) in [(0.0, 16), (0.001, 80)] {
        let both = Both::new(Kind { broken, ..one_hot }, 3);
        let data = Dataset::new(&both.sparse(), both.targets.clone(), None, &Quantizer::default()).expect("valid data");
        assert!(data.n_features() > 1200 && data.bytes_per_row() <= most, "{} bytes per row", data.bytes_per_row());
    }
}

#[test]
fn words_are_stored_by_entry() {
    let words = Kind { rows: 1000, variables: 0, levels: 2, words: 600, density: 0.01, missing: false, ..FEW };
    for distinct in [100, 2] {
        let both = Both::new(Kind { distinct, ..words }, 4);
        let data = Dataset::new(&both.sparse(), both.targets.clone(), None, &Quantizer::default()).expect("valid data");
        // Two bytes per value, eight per row, and the bytes of the dense columns and of words that happen to be
        // exclusive. 600 words would take 600 or 75 bytes.
        let (stored, bytes) = (both.values.len() / words.rows, data.bytes_per_row());
        assert!(bytes <= stored * 2 + 24, "{bytes} bytes per row for {stored} values");
    }
}

#[test]
fn every_layout_of_bins_trains_the_same_model() {
    let both = Both::new(Kind { broken: 0.01, ..FEW }, 5);
    let features = both.sparse();
    let cuts = Quantizer::default().compute_cuts(&features, None).expect("no weights");
    let direct = Dataset::new(&features, both.targets.clone(), None, &Quantizer::default());
    let trained = |mut data: Dataset| {
        let objective = data.objective(Some("squared")).expect("an objective");
        Trainer::new(params(), objective).train(&mut data).expect("a model").model.trees
    };
    let want = trained(direct.expect("valid data"));
    for layout in BinLayout::ALL {
        let matrix = cuts.quantize(&features, layout).expect("the same features");
        let names = features.names().to_vec();
        let data = Dataset::from_matrix(&matrix, &cuts, names, both.targets.clone(), None).expect("valid data");
        assert_eq!(trained(data), want, "{layout:?}");
    }
}
