//! Invalid arguments give typed errors with their position and value.

use bitgrain_gbdt::SampleError;
use bitgrain_gbdt::feature::{BinCuts, BinLayout, FeatureError, Features, Quantizer};

#[test]
fn shapes_other_than_matrices_are_rejected() {
    let six = [0.0_f32; 6];
    let empty = |rows, features| Some(FeatureError::Empty { rows, features });
    assert_eq!(Features::row_major(&six[..], 0, 6).err(), empty(0, 6));
    assert_eq!(Features::column_major(&six[..], 6, 0).err(), empty(6, 0));
    for (rows, features) in [(2, 2), (7, 1), (usize::MAX, 6)] {
        let refused = Some(FeatureError::ShapeMismatch { values: 6, rows, features });
        assert_eq!(Features::row_major(&six[..], rows, features).err(), refused);
    }
}

#[test]
fn every_feature_has_one_unique_name() {
    let features = Features::row_major(&[0.0_f64; 6][..], 3, 2).expect("a matrix");
    assert_eq!(features.names(), ["f0", "f1"]);
    let named = |names: &[&str]| features.clone().with_names(names.iter().map(|&name| name.to_owned()).collect());
    assert_eq!(named(&["age", "height"]).expect("two names").names(), ["age", "height"]);
    assert_eq!(named(&["age"]).err(), Some(FeatureError::NameCount { names: 1, features: 2 }));
    assert_eq!(named(&["age", "age"]).err(), Some(FeatureError::DuplicateName { name: "age".to_owned() }));
}

#[test]
fn settings_outside_their_range_are_rejected() {
    for max_bin in [0, 1, Quantizer::MAX_BIN + 1, u32::MAX] {
        let refused = Quantizer::default().with_max_bin(max_bin).expect_err("out of range").to_string();
        assert_eq!(refused, format!("invalid max_bin: `{max_bin}`; use an integer from 2 to 16777216"));
    }
    let refused = Quantizer::default().with_sample_rows(0).expect_err("out of range").to_string();
    assert_eq!(refused, "invalid sample_rows: `0`; use an integer of at least 1");
}

#[test]
fn invalid_sample_weights_are_rejected() {
    let features = Features::row_major(&[0.0_f32, 1.0, 2.0][..], 3, 1).expect("a matrix");
    let refused = |weights: &[f32]| Quantizer::default().compute_cuts(&features, Some(weights)).err();
    assert_eq!(refused(&[1.0; 2]), Some(SampleError::WeightCount { weights: 2, rows: 3 }.into()));
    assert_eq!(refused(&[0.0; 3]), Some(SampleError::NoWeight.into()));
    assert_eq!(refused(&[1.0, -1.0, 1.0]), Some(SampleError::InvalidWeight { row: 1, weight: -1.0 }.into()));
    for odd in [f32::NAN, f32::INFINITY] {
        assert!(matches!(
            refused(&[1.0, 1.0, odd]),
            Some(FeatureError::Sample(SampleError::InvalidWeight { row: 2, .. }))
        ));
    }
    let message = "sample weight -1 of row 1 (0-based) is invalid; weights must be finite and at least 0";
    assert_eq!(refused(&[1.0, -1.0, 1.0]).map(|error| error.to_string()).as_deref(), Some(message));
}

#[test]
fn cuts_that_do_not_ascend_or_belong_to_other_features_are_rejected() {
    for odd in [vec![1.0, 1.0], vec![2.0, 1.0], vec![f32::NAN], vec![1.0, f32::NAN]] {
        let refused = Err(FeatureError::UnsortedCuts { feature: 1 });
        assert_eq!(BinCuts::new(&[vec![], odd], vec![false; 2]), refused);
    }
    assert_eq!(BinCuts::new(&[], vec![]), Err(FeatureError::Empty { rows: 0, features: 0 }));
    let counts = |expected, found| FeatureError::FeatureCount { expected, found };
    assert_eq!(BinCuts::new(&[vec![]], vec![false; 2]), Err(counts(1, 2)));
    let cuts = BinCuts::new(&[vec![0.5]], vec![false]).expect("ascending");
    let features = Features::row_major(&[0.0_f32; 6][..], 3, 2).expect("a matrix");
    assert_eq!(cuts.quantize(&features, BinLayout::Rows).err(), Some(counts(1, 2)));
}

#[test]
fn a_missing_value_without_a_bin_goes_where_comparing_with_cuts_sends_it() {
    let cuts = BinCuts::new(&[vec![0.5]], vec![false]).expect("ascending");
    let features = Features::row_major(&[0.0_f32, f32::NAN, 1.0][..], 3, 1).expect("a matrix");
    for layout in BinLayout::ALL {
        let matrix = cuts.quantize(&features, layout).expect("the same features");
        assert_eq!([0, 1, 2].map(|row| matrix.bin(row, 0)), [0, 1, 1], "{layout:?}");
    }
}
