//! Properties of the cuts of any column.

use bitgrain_gbdt::feature::{BinCuts, BinLayout, Features, Quantizer};
use proptest::collection::vec;
use proptest::prelude::*;

/// Any value except NaN, with special values more often than by chance.
fn number() -> impl Strategy<Value = f32> {
    prop_oneof![
        4 => -10.0_f32..10.0,
        2 => (-8_i8..8).prop_map(|k| f32::from(k) * 0.5),
        1 => any::<u32>().prop_map(f32::from_bits).prop_filter("a number", |v| !v.is_nan()),
        1 => (0_u32..40).prop_map(f32::from_bits), // subnormal, each beside the next
        1 => prop::sample::select(vec![0.0, -0.0, f32::MAX, f32::MIN, f32::INFINITY, f32::NEG_INFINITY]),
    ]
}

/// Any value, including NaN.
fn value() -> impl Strategy<Value = f32> {
    prop_oneof![9 => number(), 1 => Just(f32::NAN)]
}

fn quantizer(max_bin: u32) -> Quantizer {
    Quantizer::default().with_max_bin(max_bin).expect("in range")
}

fn cuts_of(column: &[f32], max_bin: u32, weights: Option<&[f32]>) -> BinCuts {
    let features = Features::column_major(column, column.len(), 1).expect("a column");
    quantizer(max_bin).compute_cuts(&features, weights).expect("valid weights")
}

fn distinct(column: &[f32]) -> Vec<f32> {
    let mut values: Vec<f32> = column.iter().filter(|v| !v.is_nan()).map(|v| v + 0.0).collect();
    values.sort_by(f32::total_cmp);
    values.dedup();
    values
}

/// Returns the weight in each bin.
fn populations(cuts: &BinCuts, column: &[f32], weights: &[f32]) -> Vec<f64> {
    let mut bins = vec![0.0; cuts.map().n_bins(0) as usize];
    for (value, weight) in column.iter().zip(weights) {
        bins[cuts.bin(0, *value) as usize] += f64::from(*weight);
    }
    bins
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn cuts_ascend_within_the_budget_of_bins(column in vec(value(), 1..400), max_bin in 2_u32..40) {
        let cuts = cuts_of(&column, max_bin, None);
        prop_assert!(cuts.cuts(0).is_sorted_by(|a, b| a < b));
        prop_assert!(cuts.map().n_bins(0) <= max_bin);
        prop_assert_eq!(cuts.map().missing_bin(0).is_some(), column.iter().any(|v| v.is_nan()));
    }

    #[test]
    fn values_that_fit_have_a_bin_each(column in vec(value(), 1..400), spare in 0_u32..3) {
        let values = distinct(&column);
        let missing = u32::from(column.iter().any(|v| v.is_nan()));
        let max_bin = u32::try_from(values.len()).expect("few") + missing + spare;
        let cuts = cuts_of(&column, max_bin.max(2), None);
        for (bin, value) in (0..).zip(&values) {
            prop_assert_eq!(cuts.bin(0, *value), bin, "{}", value);
        }
    }

    #[test]
    fn no_bin_of_values_is_empty(column in vec(number(), 1..400), max_bin in 2_u32..40) {
        let cuts = cuts_of(&column, max_bin, None);
        let filled = populations(&cuts, &column, &vec![1.0; column.len()]);
        prop_assert!(filled.iter().all(|&rows| rows > 0.0), "{:?}", filled);
    }

    #[test]
    fn bins_of_a_continuous_column_differ_by_at_most_one_row(seed in any::<u64>(), rows in 50_usize..2000, max_bin in 2_u32..50) {
        let column = shuffled(rows, seed);
        let cuts = cuts_of(&column, max_bin, None);
        let filled = populations(&cuts, &column, &vec![1.0; rows]);
        prop_assert_eq!(filled.len(), max_bin as usize);
        let (least, most) = filled.iter().fold((f64::MAX, 0.0_f64), |(a, b), &n| (a.min(n), b.max(n)));
        prop_assert!(most - least <= 1.0, "{:?}", filled);
    }

    #[test]
    fn an_integer_weight_counts_as_that_many_rows(column in vec((value(), 0_u8..5), 1..200), max_bin in 2_u32..20) {
        prop_assume!(column.iter().any(|(value, weight)| *weight > 0 && !value.is_nan()));
        let repeated: Vec<f32> = column.iter().flat_map(|&(value, weight)| vec![value; weight.into()]).collect();
        let (values, weights): (Vec<f32>, Vec<f32>) = column.iter().map(|&(v, w)| (v, f32::from(w))).unzip();
        // A missing value in a row of weight 0 still gets a bin, which leaves one less for the others.
        prop_assume!(values.iter().any(|v| v.is_nan()) == repeated.iter().any(|v| v.is_nan()));
        prop_assert_eq!(cuts_of(&values, max_bin, Some(&weights)), cuts_of(&repeated, max_bin, None));
    }

    #[test]
    fn no_bin_is_heavier_than_a_share_and_a_value(column in vec((-1.0_f32..1.0, 0.01_f32..1.0), 100..400), max_bin in 2_u32..20) {
        let (values, weights): (Vec<f32>, Vec<f32>) = column.into_iter().unzip();
        let cuts = cuts_of(&values, max_bin, Some(&weights));
        let share = weights.iter().map(|&w| f64::from(w)).sum::<f64>() / f64::from(max_bin);
        for weight in populations(&cuts, &values, &weights) {
            prop_assert!(weight <= share + 2.0, "{} of {}", weight, share);
        }
    }

    #[test]
    fn splitting_at_a_cut_equals_splitting_at_its_bin(column in vec(value(), 1..300), fresh in vec(value(), 1..100), max_bin in 2_u32..40) {
        let cuts = cuts_of(&column, max_bin, None);
        for value in column.iter().chain(&fresh).copied() {
            let bin = cuts.bin(0, value);
            for (split, cut) in (0..).zip(cuts.cuts(0)) {
                prop_assert_eq!(bin <= split, value <= *cut, "{} at {}", value, cut);
            }
        }
    }
}

/// Returns `0.5, 1.5, …` in an order that depends on the seed.
fn shuffled(rows: usize, seed: u64) -> Vec<f32> {
    let mut column: Vec<f32> = (0..rows).map(|i| f32::from(u16::try_from(i).expect("few")) + 0.5).collect();
    let mut state = seed;
    for at in (1..rows).rev() {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        column.swap(at, usize::try_from(state >> 33).expect("31 bits") % (at + 1));
    }
    column
}

#[test]
fn a_rare_value_outside_the_sample_keeps_its_bin() {
    let mut column = vec![1.0_f32; 100_000];
    column[54_321] = 2.0;
    let features = Features::column_major(&column[..], column.len(), 1).expect("a column");
    let cuts = Quantizer::default().with_sample_rows(10).expect("some").compute_cuts(&features, None).expect("valid");
    assert_eq!(cuts.cuts(0), [1.5]);
}

#[test]
fn a_missing_value_outside_the_sample_has_its_bin() {
    let mut column = shuffled(50_000, 3);
    column[777] = f32::NAN;
    let features = Features::column_major(&column[..], column.len(), 1).expect("a column");
    let cuts = quantizer(16).with_sample_rows(100).expect("some").compute_cuts(&features, None).expect("valid");
    assert_eq!((cuts.map().n_bins(0), cuts.map().missing_bin(0)), (16, Some(15)));
}

#[test]
fn cuts_from_a_sample_are_close_to_cuts_from_all_rows() {
    let column = shuffled(60_000, 5);
    let features = Features::column_major(&column[..], column.len(), 1).expect("a column");
    let sampled = |seed| {
        let quantizer = quantizer(32).with_sample_rows(20_000).expect("some").with_seed(seed);
        quantizer.compute_cuts(&features, None).expect("valid")
    };
    assert_eq!(sampled(1), sampled(1));
    assert_ne!(sampled(1), sampled(2));
    let share = 60_000.0 / 32.0;
    for rows in populations(&sampled(1), &column, &vec![1.0; column.len()]) {
        assert!((rows / share - 1.0).abs() < 0.15, "{rows} of {share}");
    }
}

#[test]
fn rows_of_weight_zero_have_no_effect_on_a_sample() {
    let column = shuffled(3000, 9);
    let weights: Vec<f32> = column.iter().map(|v| if *v < 1000.0 { 0.0 } else { 1.0 }).collect();
    let kept: Vec<f32> = column.iter().copied().filter(|v| *v >= 1000.0).collect();
    let sampled = |column: &[f32], weights: Option<&[f32]>| {
        let features = Features::column_major(column, column.len(), 1).expect("a column");
        quantizer(8).with_sample_rows(500).expect("some").compute_cuts(&features, weights).expect("valid")
    };
    assert_eq!(sampled(&column, Some(&weights)), sampled(&kept, None));
}

#[test]
fn a_column_with_only_missing_values_has_two_bins() {
    let cuts = cuts_of(&[f32::NAN; 3], 256, None);
    assert_eq!((cuts.cuts(0), cuts.map().n_bins(0), cuts.bin(0, f32::NAN)), (&[][..], 2, 1));
}

#[test]
fn a_double_is_binned_as_the_float_it_rounds_to() {
    let column = [0.1_f64, 0.1 + 1e-12, 0.3, 1e300, -1e300, f64::NAN];
    let features = Features::column_major(&column[..], column.len(), 1).expect("a column");
    let cuts = Quantizer::default().compute_cuts(&features, None).expect("valid");
    let matrix = cuts.quantize(&features, BinLayout::Columns).expect("the same features");
    // The first two round to the same f32; 1e300 rounds to infinity, in the last value bin.
    assert_eq!((0..6).map(|row| matrix.bin(row, 0)).collect::<Vec<_>>(), [1, 1, 2, 3, 0, 4]);
    assert_eq!(cuts.bin(0, f32::INFINITY), 3);
}
