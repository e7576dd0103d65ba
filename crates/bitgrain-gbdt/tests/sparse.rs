//! Sparse rows have the same cuts and bins as the equivalent dense matrix.

use bitgrain_gbdt::feature::{Absent, BinLayout, FeatureError, Features, Quantizer};
use proptest::prelude::*;

/// Sparse rows, the same matrix in dense form, and weights whose sums are exact.
#[derive(Debug, Clone)]
struct Raw {
    row_ptr: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
    dense: Vec<f32>,
    weights: Vec<f32>,
    n_features: usize,
    absent: Absent,
}

fn raw() -> impl Strategy<Value = Raw> {
    (1_usize..120, 1_usize..9, any::<u64>(), any::<bool>()).prop_map(|(n_rows, n_features, seed, zero)| {
        let mut state = seed;
        let mut random = move |end: u16| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u16::try_from(state >> 48).expect("16 bits") % end
        };
        let (absent, value) = if zero { (Absent::Zero, 0.0) } else { (Absent::Missing, f32::NAN) };
        let (mut row_ptr, mut columns, mut values) = (vec![0], vec![], vec![]);
        let mut dense = vec![value; n_rows * n_features];
        let kinds: Vec<(u16, u16)> = (0..n_features).map(|_| (random(11), 1 + random(60))).collect();
        for row in 0..n_rows {
            let mut entries: Vec<(usize, f32)> = Vec::new();
            for (feature, &(density, distinct)) in kinds.iter().enumerate() {
                if random(10) < density {
                    let value = f32::from(random(distinct));
                    // The first feature is made categorical below.
                    let value = if feature == 0 { value } else { (value - 20.0) * 0.5 };
                    entries.push((feature, if random(12) == 0 { f32::NAN } else { value }));
                }
            }
            if random(3) == 0 {
                entries.reverse(); // in any order within the row
            }
            for (feature, value) in entries {
                dense[row * n_features + feature] = value;
                columns.push(u32::try_from(feature).expect("few"));
                values.push(value);
            }
            row_ptr.push(columns.len());
        }
        let mut weights: Vec<f32> = (0..n_rows).map(|_| f32::from(random(5)) * 0.25).collect();
        weights[0] = 1.0;
        Raw { row_ptr, columns, values, dense, weights, n_features, absent }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn sparse_rows_are_cut_and_binned_as_the_dense_matrix(raw in raw(), max_bin in 2_u32..40, weigh in any::<bool>(), few in any::<bool>()) {
        let n_rows = raw.weights.len();
        let dense = Features::row_major(&raw.dense[..], n_rows, raw.n_features).expect("a matrix");
        let sparse = Features::sparse(&raw.row_ptr, &raw.columns, &raw.values, raw.n_features, raw.absent);
        let [dense, sparse] = [dense, sparse.expect("sparse rows")].map(|f| f.with_categorical(&[0]).expect("a feature"));
        let weights = weigh.then_some(&raw.weights[..]);
        let quantizer = Quantizer::default().with_max_bin(max_bin).expect("in range");
        let quantizer = quantizer.with_sample_rows(if few { 30 } else { 200_000 }).expect("some");
        let cuts = quantizer.compute_cuts(&dense, weights).expect("valid weights");
        prop_assert_eq!(&quantizer.compute_cuts(&sparse, weights).expect("valid weights"), &cuts);
        for layout in BinLayout::ALL {
            let want = cuts.quantize(&dense, layout).expect("the same features");
            let matrix = cuts.quantize(&sparse, layout).expect("the same features");
            prop_assert!(matrix == want, "{layout:?}");
            prop_assert!(matrix.to_layout(BinLayout::Rows) == cuts.quantize(&sparse, BinLayout::Rows).expect("the same"));
        }
    }
}

#[test]
fn many_rows_are_binned_block_by_block() {
    let n_rows = 20_001;
    let row_ptr: Vec<usize> = (0..=n_rows).map(|row: usize| row.div_ceil(3)).collect(); // every third row has an entry
    let columns: Vec<u32> = (0..row_ptr[n_rows]).map(|at| u32::from(at % 2 == 0)).collect();
    let values: Vec<f32> = (0..row_ptr[n_rows]).map(|at| at as f32 - 1000.0).collect();
    let features = Features::sparse(&row_ptr, &columns, &values, 3, Absent::Zero).expect("sparse rows");
    let cuts = Quantizer::default().compute_cuts(&features, None).expect("no weights");
    let matrix = cuts.quantize(&features, BinLayout::Columns).expect("the same features");
    for row in 0..n_rows {
        let entry = (row % 3 == 0).then(|| (columns[row / 3] as usize, values[row / 3]));
        for feature in 0..3 {
            let value = entry.filter(|entry| entry.0 == feature).map_or(0.0, |entry| entry.1);
            assert_eq!(matrix.bin(row, feature), cuts.bin(feature, value), "row {row}, feature {feature}");
        }
    }
}

#[test]
fn ragged_rows_are_rejected() {
    let refused = |row_ptr: &[usize], columns: &[u32], values: &[f32], n_features| {
        Features::sparse(row_ptr, columns, values, n_features, Absent::Zero).err()
    };
    assert_eq!(refused(&[], &[], &[], 3), Some(FeatureError::Empty { rows: 0, features: 3 }));
    assert_eq!(refused(&[0], &[], &[], 3), Some(FeatureError::Empty { rows: 0, features: 3 }));
    assert_eq!(refused(&[0, 0], &[], &[], 0), Some(FeatureError::Empty { rows: 1, features: 0 }));
    assert_eq!(refused(&[0, 1], &[0], &[], 3), Some(FeatureError::EntryCount { columns: 1, values: 0 }));
    let rows = |row, start, end| Some(FeatureError::RowEntries { row, start, end, entries: 2 });
    assert_eq!(refused(&[1, 2], &[0, 1], &[1.0; 2], 3), rows(0, 1, 2)); // the first entry belongs to no row
    assert_eq!(refused(&[0, 2, 1], &[0, 1], &[1.0; 2], 3), rows(1, 2, 1));
    assert_eq!(refused(&[0, 1, 3], &[0, 1], &[1.0; 2], 3), rows(1, 1, 3));
    assert_eq!(refused(&[0, usize::MAX, 2], &[0, 1], &[1.0; 2], 3), rows(0, 0, usize::MAX));
    assert_eq!(refused(&[0, 1], &[0, 1], &[1.0; 2], 3), rows(0, 0, 1)); // the last entry belongs to no row
    let outside = Some(FeatureError::ColumnRange { row: 1, column: 3, features: 3 });
    assert_eq!(refused(&[0, 1, 2], &[2, 3], &[1.0; 2], 3), outside);
    let twice = Some(FeatureError::DuplicateColumn { row: 1, column: 2 });
    assert_eq!(refused(&[0, 1, 4], &[0, 2, 1, 2], &[1.0; 4], 3), twice);
    assert_eq!(refused(&[0, 1, 3], &[0, 2, 2], &[1.0; 3], 3), twice);
    assert!(refused(&[0, 0, 0], &[], &[], 3).is_none()); // two rows of zeros
}
