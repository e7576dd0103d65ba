//! Categories have bins of their own while there are some, and all else shares the last.

use bitgrain_gbdt::feature::{Absent, BinCuts, FeatureError, FeatureKind, Features, Layout, Quantizer};
use proptest::collection::vec;
use proptest::prelude::*;

const NAN: f32 = f32::NAN;

fn cuts_of(column: &[f32], max_bin: u32, weights: Option<&[f32]>) -> BinCuts {
    let features = Features::column_major(column, column.len(), 1).and_then(|f| f.with_categorical(&[0]));
    let quantizer = Quantizer::default().with_max_bin(max_bin).expect("in range");
    quantizer.compute_cuts(&features.expect("a column"), weights).expect("codes")
}

#[test]
fn each_category_has_a_bin_and_what_is_missing_or_unseen_the_last() {
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
fn the_bin_of_the_missing_is_there_even_if_none_is() {
    let cuts = cuts_of(&[3.0, 3.0], 256, None);
    assert_eq!((cuts.categories(0), cuts.map().missing_bin(0)), (&[3][..], Some(1)));
    let cuts = cuts_of(&[NAN, NAN], 256, None);
    assert_eq!((cuts.categories(0), cuts.map().n_bins(0), cuts.map().missing_bin(0)), (&[][..], 1, Some(0)));
    assert_eq!([3.0, NAN].map(|value| cuts.bin(0, value)), [0, 0]);
}

#[test]
fn beyond_the_budget_the_rarest_are_not_told_apart() {
    let column = [5.0, 9.0, 9.0, 1.0, 1.0, 70_000.0, 70_000.0, 70_000.0, 4.0];
    assert_eq!(cuts_of(&column, 3, None).categories(0), [1, 70_000]); // of 1 and 9, twice each, the smaller code
    assert_eq!(cuts_of(&column, 5, None).categories(0), [1, 4, 9, 70_000]); // and 4 before 5
    let two = cuts_of(&column, 2, None);
    assert_eq!((two.categories(0), two.map().n_bins(0)), (&[70_000][..], 2));
    assert_eq!([70_000.0, 9.0, NAN].map(|value| two.bin(0, value)), [0, 1, 1]);
}

#[test]
fn weights_decide_what_is_frequent_and_rows_of_none_do_not_count() {
    let (column, weights) = ([1.0, 1.0, 1.0, 2.0, 3.0], [0.5, 0.5, 0.5, 2.0, 0.0]);
    assert_eq!(cuts_of(&column, 2, Some(&weights)).categories(0), [2]);
    assert_eq!(cuts_of(&column, 9, Some(&weights)).categories(0), [1, 2]);
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
fn what_is_no_code_is_refused_where_it_is() {
    for odd in [0.5, 16_777_216.0, f32::INFINITY] {
        let values = [0.1, -1.0, 0.2, NAN, 0.3, odd, 0.4, 0.25];
        let features = Features::row_major(&values[..], 4, 2).and_then(|f| f.with_categorical(&[1])).expect("a matrix");
        let refused = Quantizer::default().compute_cuts(&features, Some(&[1.0, 1.0, 0.0, 1.0])).err();
        assert_eq!(refused, Some(FeatureError::InvalidCategory { row: 2, feature: 1, value: odd }));
    }
    let message = FeatureError::InvalidCategory { row: 2, feature: 1, value: 0.5 }.to_string();
    let want = "value 0.5 of row 2, feature 1 is no category: codes are whole numbers from 0 to 16777215";
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
fn other_data_may_hold_what_training_would_refuse() {
    let cuts = cuts_of(&[4.0, 5.0], 256, None);
    let other = [5.0_f64, -1.0, 4.5, 1e300, f64::NAN, 4.0, 6.0];
    let features = Features::column_major(&other[..], other.len(), 1).expect("a column");
    for layout in Layout::ALL {
        let matrix = cuts.quantize(&features, layout).expect("one feature");
        let bins: Vec<u32> = (0..other.len()).map(|row| matrix.bin(row, 0)).collect();
        assert_eq!(bins, [1, 2, 2, 2, 2, 0, 2], "{layout:?}");
    }
}

#[test]
fn zeros_that_are_not_written_down_are_a_category() {
    let (row_ptr, columns, values) = ([0, 1, 1, 2, 2], [0, 0], [3.0, 3.0]);
    let cuts = |absent, max_bin| {
        let features = Features::sparse(&row_ptr, &columns, &values, 1, absent).and_then(|f| f.with_categorical(&[0]));
        let quantizer = Quantizer::default().with_max_bin(max_bin).expect("in range");
        quantizer.compute_cuts(&features.expect("sparse rows"), Some(&[1.0, 1.0, 1.0, 1.5])).expect("codes")
    };
    assert_eq!(cuts(Absent::Zero, 9).categories(0), [0, 3]);
    assert_eq!(cuts(Absent::Zero, 2).categories(0), [0]); // 2.5 against 2
    assert_eq!(cuts(Absent::Missing, 9).categories(0), [3]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn kept_categories_are_the_most_frequent(column in vec(prop_oneof![4 => 0_u32..12, 1 => 0_u32..100_000], 1..200), max_bin in 2_u32..20) {
        let values: Vec<f32> = column.iter().map(|&code| code as f32).collect();
        let cuts = cuts_of(&values, max_bin, None);
        let kept = cuts.categories(0);
        prop_assert!(kept.is_sorted_by(|a, b| a < b) && kept.len() < max_bin as usize);
        let count = |code: u32| column.iter().filter(|&&c| c == code).count();
        for &code in column.iter().filter(|code| !kept.contains(code)) {
            prop_assert_eq!(kept.len() + 1, max_bin as usize);
            prop_assert!(kept.iter().all(|&k| count(k) > count(code) || (count(k) == count(code) && k < code)));
            prop_assert_eq!(cuts.bin(0, code as f32), cuts.map().missing_bin(0).expect("always"));
        }
        for (bin, &code) in (0..).zip(kept) {
            prop_assert_eq!(cuts.bin(0, code as f32), bin);
        }
    }
}
