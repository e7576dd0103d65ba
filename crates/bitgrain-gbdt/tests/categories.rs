//! Categories have their own bins up to a limit; all other values share the last bin.

use bitgrain_gbdt::feature::{Absent, BinCuts, BinLayout, FeatureError, FeatureKind, Features, Quantizer};
use proptest::collection::vec;
use proptest::prelude::*;

const NAN: f32 = f32::NAN;

fn cuts_of(column: &[f32], max_bin: u32, weights: Option<&[f32]>) -> BinCuts {
    let features = Features::column_major(column, column.len(), 1).and_then(|f| f.with_categorical(&[0]));
    let quantizer = Quantizer::default().with_max_bin(max_bin).expect("in range");
    quantizer.compute_cuts(&features.expect("a column"), weights).expect("codes")
}

#[test]
fn each_category_has_a_bin_and_missing_or_unseen_values_have_the_last() {
    let cuts = cuts_of(&[7.0, 2.0, NAN, 7.0, 100_000.0, -0.0], 256, None);
    assert_eq!((cuts.kind(0), cuts.cuts(0)), (FeatureKind::Categorical, &[][..]));
    assert_eq!(cuts.categories(0), [0, 2, 7, 100_000]);
    assert_eq!((cuts.map().n_bins(0), cuts.map().missing_bin(0)), (5, Some(4)));
    assert_eq!([0.0, 2.0, 7.0, 100_000.0].map(|value| cuts.bin(0, value)), [0, 1, 2, 3]);
    for unseen in [1.0, 8.0, 2.5, -2.0, 99_999.0, 1e9, f32::INFINITY, f32::NEG_INFINITY, NAN] {
        assert_eq!(cuts.bin(0, unseen), 4, "{unseen}");
    }
}

#[test]
fn categorical_features_have_a_missing_bin_even_without_missing_values() {
    let cuts = cuts_of(&[3.0, 3.0], 256, None);
    assert_eq!((cuts.categories(0), cuts.map().missing_bin(0)), (&[3][..], Some(1)));
    let cuts = cuts_of(&[NAN, NAN], 256, None);
    assert_eq!((cuts.categories(0), cuts.map().n_bins(0), cuts.map().missing_bin(0)), (&[][..], 1, Some(0)));
    assert_eq!([3.0, NAN].map(|value| cuts.bin(0, value)), [0, 0]);
}

/// Appends categories with 20 rows each to the column, which leave `room` of 255 bins.
fn crowded(column: &[f32], room: usize) -> Vec<f32> {
    let others = (0..(255 - room) * 20).map(|row| 200_000.0 + (row / 20) as f32);
    column.iter().copied().chain(others).collect()
}

/// Returns the categories of the column that have a bin.
fn kept(column: &[f32], room: usize, weights: Option<&[f32]>) -> Vec<u32> {
    let cuts = cuts_of(&crowded(column, room), 256, weights);
    assert_eq!(cuts.map().n_bins(0), 256);
    cuts.categories(0).iter().copied().filter(|code| *code < 200_000).collect()
}

#[test]
fn categories_beyond_the_budget_share_the_last_bin() {
    let column = [5.0, 9.0, 9.0, 1.0, 1.0, 70_000.0, 70_000.0, 70_000.0, 4.0];
    assert_eq!(kept(&column, 2, None), [1, 70_000]); // of 1 and 9, twice each, the smaller code
    assert_eq!(kept(&column, 4, None), [1, 4, 9, 70_000]); // and 4 before 5
    let cuts = cuts_of(&crowded(&column, 1), 256, None);
    assert_eq!([70_000.0, 9.0, NAN].map(|value| cuts.bin(0, value)), [0, 255, 255]);
}

#[test]
fn a_small_max_bin_does_not_limit_categories() {
    let column: Vec<f32> = (0..400_u16).map(f32::from).collect();
    let categories = |max_bin| cuts_of(&column, max_bin, None).categories(0).len();
    assert_eq!([2, 16, 256, 257, 300, 500].map(categories), [255, 255, 255, 256, 299, 400]);
}

#[test]
fn weights_decide_which_categories_are_frequent_and_zero_weights_do_not_count() {
    let column = [1.0, 1.0, 1.0, 2.0, 3.0];
    let weights: Vec<f32> = crowded(&column, 1)
        .iter()
        .zip([0.5, 0.5, 0.5, 2.0, 0.0].into_iter().chain(std::iter::repeat(1.0)))
        .map(|(_, w)| w)
        .collect();
    assert_eq!(kept(&column, 1, Some(&weights)), [2]);
    assert_eq!(cuts_of(&column, 256, Some(&weights[..5])).categories(0), [1, 2]);
}

#[test]
fn a_rare_category_outside_the_sample_is_seen() {
    let mut column = vec![1.0_f32; 100_000];
    column[54_321] = 2.0;
    let features = Features::row_major(&column[..], column.len(), 1).and_then(|f| f.with_categorical(&[0]));
    let quantizer = Quantizer::default().with_sample_rows(10).expect("some");
    assert_eq!(quantizer.compute_cuts(&features.expect("a column"), None).expect("codes").categories(0), [1, 2]);
}

#[test]
fn invalid_codes_are_rejected_with_their_position() {
    for odd in [0.5, 16_777_216.0, f32::INFINITY] {
        let values = [0.1, -1.0, 0.2, NAN, 0.3, odd, 0.4, 0.25];
        let features = Features::row_major(&values[..], 4, 2).and_then(|f| f.with_categorical(&[1])).expect("a matrix");
        let refused = Quantizer::default().compute_cuts(&features, Some(&[1.0, 1.0, 0.0, 1.0])).err();
        assert_eq!(refused, Some(FeatureError::InvalidCategory { row: 2, feature: 1, value: odd }));
    }
    let message = FeatureError::InvalidCategory { row: 2, feature: 1, value: 0.5 }.to_string();
    let want = "value 0.5 of row 2, feature 1 (0-based) is not a category code; codes are integers from 0 to 16777215";
    assert_eq!(message, want);
    let features = Features::row_major(&[0.0_f32; 4][..], 2, 2).expect("a matrix");
    let refused = features.with_categorical(&[1, 2]).err();
    assert_eq!(refused, Some(FeatureError::NoSuchFeature { feature: 2, features: 2 }));
}

#[test]
fn codes_below_zero_are_missing_in_training_and_in_prediction() {
    let column = [2.0, -1.0, 2.0, 5.0, -0.5, f32::NEG_INFINITY, 5.0, NAN];
    let cuts = cuts_of(&column, 256, None);
    assert_eq!(cuts.categories(0), [2, 5]);
    assert_eq!(column.map(|value| cuts.bin(0, value)), [0, 2, 0, 1, 2, 2, 1, 2]);
}

#[test]
fn values_that_training_rejects_are_missing_in_other_data() {
    let cuts = cuts_of(&[4.0, 5.0], 256, None);
    let other = [5.0_f64, -1.0, 4.5, 1e300, f64::NAN, 4.0, 6.0];
    let features = Features::column_major(&other[..], other.len(), 1).expect("a column");
    for layout in BinLayout::ALL {
        let matrix = cuts.quantize(&features, layout).expect("one feature");
        let bins: Vec<u32> = (0..other.len()).map(|row| matrix.bin(row, 0)).collect();
        assert_eq!(bins, [1, 2, 2, 2, 2, 0, 2], "{layout:?}");
    }
}

#[test]
fn implicit_zeros_are_a_category() {
    // Four rows, two of them with value 3; plus 254 heavy categories if bins are to be scarce.
    let cuts = |absent, scarce: bool| {
        let others = if scarce { 254_u16 } else { 0 };
        let row_ptr: Vec<usize> =
            [0, 1, 1, 2, 2].into_iter().chain((1..=others).map(|row| 2 + usize::from(row))).collect();
        let values: Vec<f32> = [3.0, 3.0].into_iter().chain((0..others).map(|code| 10.0 + f32::from(code))).collect();
        let weights: Vec<f32> = [1.0, 1.0, 1.0, 1.5].into_iter().chain((0..others).map(|_| 9.0)).collect();
        let columns = vec![0; values.len()];
        let features = Features::sparse(&row_ptr, &columns, &values, 1, absent).and_then(|f| f.with_categorical(&[0]));
        Quantizer::default().compute_cuts(&features.expect("sparse rows"), Some(&weights)).expect("codes")
    };
    assert_eq!(cuts(Absent::Zero, false).categories(0), [0, 3]);
    assert_eq!(cuts(Absent::Zero, true).categories(0)[..2], [0, 10]); // 2.5 against 2
    assert_eq!(cuts(Absent::Missing, false).categories(0), [3]);
    assert_eq!(cuts(Absent::Missing, true).categories(0)[..2], [3, 10]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn kept_categories_are_the_most_frequent(column in vec(prop_oneof![1 => 0_u32..12, 3 => 0_u32..700, 1 => 0_u32..100_000], 1..1200), max_bin in 2_u32..400) {
        let values: Vec<f32> = column.iter().map(|&code| code as f32).collect();
        let cuts = cuts_of(&values, max_bin, None);
        let (kept, budget) = (cuts.categories(0), max_bin.max(256) as usize);
        prop_assert!(kept.is_sorted_by(|a, b| a < b) && kept.len() < budget);
        let mut counts = std::collections::HashMap::new();
        column.iter().for_each(|code| *counts.entry(*code).or_insert(0) += 1);
        let (count, rarest) = (|code: u32| counts[&code], kept.iter().map(|code| counts[code]).min());
        for &code in column.iter().filter(|code| kept.binary_search(code).is_err()) {
            prop_assert_eq!(kept.len() + 1, budget);
            let as_rare = kept.iter().filter(|&&kept| count(kept) == count(code));
            prop_assert!(rarest.is_some_and(|rarest| rarest >= count(code)) && as_rare.clone().all(|&kept| kept < code));
            prop_assert_eq!(cuts.bin(0, code as f32), cuts.map().missing_bin(0).expect("always"));
        }
        for (bin, &code) in (0..).zip(kept) {
            prop_assert_eq!(cuts.bin(0, code as f32), bin);
        }
    }
}
