//! All four layouts hold the same bins, and every conversion is exact.

use bitgrain_gbdt::feature::{
    BinBits, BinColumn, BinCuts, BinLayout, BinStorage, Features, QuantizedMatrix, Quantizer,
};
use proptest::prelude::*;

/// A row-major matrix: columns with few and with many distinct values, with and without missing values.
#[derive(Debug, Clone)]
struct Raw {
    values: Vec<f32>,
    n_rows: usize,
    n_features: usize,
}

impl Raw {
    fn features(&self) -> Features<'_> {
        Features::row_major(&self.values[..], self.n_rows, self.n_features).expect("a matrix")
    }
}

fn raw() -> impl Strategy<Value = Raw> {
    (1_usize..60, 1_usize..12, any::<u64>()).prop_map(|(n_rows, n_features, seed)| {
        let mut state = seed;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            u16::try_from(state >> 48).expect("16 bits")
        };
        let kinds: Vec<(u16, u16)> = (0..n_features).map(|_| (1 + random() % 64, random() % 4)).collect();
        let cells = (0..n_rows).flat_map(|_| kinds.clone());
        let values = cells.map(|(distinct, missing)| {
            let is_missing = random() % 4 < missing;
            if is_missing { f32::NAN } else { f32::from(random() % distinct) }
        });
        Raw { values: values.collect(), n_rows, n_features }
    })
}

fn assert_bins(matrix: &QuantizedMatrix, cuts: &BinCuts, raw: &Raw) -> Result<(), TestCaseError> {
    for row in 0..raw.n_rows {
        for feature in 0..raw.n_features {
            let value = raw.values[row * raw.n_features + feature];
            prop_assert_eq!(matrix.bin(row, feature), cuts.bin(feature, value), "row {}, feature {}", row, feature);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_layout_holds_the_bins_of_the_rule_and_converts_to_every_other(raw in raw(), max_bin in 2_u32..70) {
        let quantizer = Quantizer::default().with_max_bin(max_bin).expect("in range");
        let cuts = quantizer.compute_cuts(&raw.features(), None).expect("no weights");
        for from in BinLayout::ALL {
            let matrix = cuts.quantize(&raw.features(), from).expect("the same features");
            assert_bins(&matrix, &cuts, &raw)?;
            for to in BinLayout::ALL {
                let converted = matrix.to_layout(to);
                prop_assert_eq!(&converted, &cuts.quantize(&raw.features(), to).expect("the same features"));
                prop_assert_eq!(matrix.bytes_in(to), converted.bytes(), "{:?} to {:?}", from, to);
            }
        }
    }

    #[test]
    fn row_and_column_major_f32_and_f64_give_the_same_matrix(raw in raw()) {
        let transposed: Vec<f32> = (0..raw.n_features)
            .flat_map(|feature| raw.values.iter().skip(feature).step_by(raw.n_features).copied())
            .collect();
        let doubles: Vec<f64> = raw.values.iter().map(|&v| v.into()).collect();
        let double_columns: Vec<f64> = transposed.iter().map(|&v| v.into()).collect();
        let (rows, features) = (raw.n_rows, raw.n_features);
        let quantized = |features: &Features<'_>| {
            let cuts = Quantizer::default().compute_cuts(features, None).expect("no weights");
            BinLayout::ALL.map(|layout| cuts.quantize(features, layout).expect("the same features"))
        };
        let want = quantized(&raw.features());
        let columns = Features::column_major(&transposed[..], rows, features).expect("a matrix");
        prop_assert!(quantized(&columns) == want);
        prop_assert!(quantized(&Features::row_major(&doubles[..], rows, features).expect("a matrix")) == want);
        prop_assert!(quantized(&Features::column_major(&double_columns[..], rows, features).expect("a matrix")) == want);
    }
}

/// One feature per width, an odd number of rows, more than a block, and the last value missing where possible.
fn wide(n_rows: usize) -> (Vec<f32>, BinCuts) {
    let ramp = |n: u32| (0..n).map(|i| i as f32 + 0.5).collect::<Vec<f32>>();
    let counts = [14, 254, 255, 65_534, 70_000];
    let cuts = BinCuts::new(&counts.map(ramp), vec![true, true, false, true, true]).expect("ascending");
    let value = |row: usize, feature: usize| {
        let at = row * 2_654_435_761 % (counts[feature] as usize + 2);
        if row % 7 == feature { f32::NAN } else { at as f32 }
    };
    ((0..5).flat_map(|feature| (0..n_rows).map(move |row| value(row, feature))).collect(), cuts)
}

#[test]
fn each_feature_has_the_smallest_sufficient_width() {
    let (values, cuts) = wide(10_001);
    let features = Features::column_major(&values[..], 10_001, 5).expect("a matrix");
    let matrix = cuts.quantize(&features, BinLayout::Columns).expect("the same features");
    let BinStorage::Columns(columns) = matrix.storage() else { panic!("columns were requested") };
    let bits = [BinBits::U4, BinBits::U8, BinBits::U8, BinBits::U16, BinBits::U32];
    assert_eq!([0, 1, 2, 3, 4].map(|feature| columns.feature_info(feature).bits), bits);
    assert_eq!([0, 1, 2, 3, 4].map(|feature| columns.feature_info(feature).offset), [0, 5001, 15_002, 0, 0]);
    assert!(matches!(columns.col(0), BinColumn::U4(bytes, 10_001) if bytes.len() == 5001));
    assert_eq!(matrix.bytes(), 5001 + 10_001 * (1 + 1 + 2 + 4));
    for (feature, column) in values.chunks(10_001).enumerate() {
        for (row, value) in column.iter().enumerate() {
            assert_eq!(matrix.bin(row, feature), cuts.bin(feature, *value), "row {row}, feature {feature}");
        }
    }
    for layout in BinLayout::ALL {
        let direct = cuts.quantize(&features, layout).expect("the same features");
        assert!(direct.to_layout(BinLayout::Columns) == matrix && matrix.to_layout(layout) == direct, "{layout:?}");
    }
}

#[test]
fn sparse_rows_keep_zeros_and_omit_missing_values() {
    let features = Features::row_major(&[0.0_f32, f32::NAN, f32::NAN, 3.0, 1.0, 0.0][..], 3, 2).expect("a matrix");
    let cuts = Quantizer::default().compute_cuts(&features, None).expect("no weights");
    let csr = cuts.quantize(&features, BinLayout::Csr).expect("the same features");
    let BinStorage::Csr(csr) = csr.storage() else { panic!("sparse rows were requested") };
    assert_eq!(csr.row_ptr(), [0, 1, 2, 4]);
    assert_eq!(
        [0, 1, 2, 3].map(|entry| (csr.col_idx().get(entry), csr.bins().get(entry))),
        [(0, 0), (1, 1), (0, 1), (1, 0)]
    );
}

#[test]
fn padded_rows_have_global_bins_followed_by_the_padding_symbol() {
    let features = Features::row_major(&[0.0_f32, f32::NAN, f32::NAN, 3.0, 1.0, 0.0][..], 3, 2).expect("a matrix");
    let cuts = Quantizer::default().compute_cuts(&features, None).expect("no weights");
    assert_eq!(cuts.map().feature_offsets(), [0, 3, 6]);
    let ellpack = cuts.quantize(&features, BinLayout::Ellpack).expect("the same features");
    let BinStorage::Ellpack(ellpack) = ellpack.storage() else { panic!("padded rows were requested") };
    assert_eq!((ellpack.row_stride(), ellpack.symbol_bits(), ellpack.padding()), (2, 3, 6));
    assert_eq!(ellpack.packed(), [0b0011_0000, 0b1001_1101, 0b01]); // 0, pad, 4, pad, 1, 3, three bits each from the lowest up
    assert_eq!([0, 1, 2].map(|row| [0, 1].map(|at| ellpack.symbol(row, at))), [[0, 6], [4, 6], [1, 3]]);
}

#[test]
fn a_matrix_with_only_missing_values_has_empty_rows() {
    let features = Features::row_major(&[f32::NAN; 20][..], 10, 2).expect("a matrix");
    let cuts = Quantizer::default().compute_cuts(&features, None).expect("no weights");
    let columns = cuts.quantize(&features, BinLayout::Columns).expect("the same features");
    assert_eq!(columns.bytes_in(BinLayout::Ellpack), 0);
    for layout in BinLayout::ALL {
        assert_eq!(columns.to_layout(layout).to_layout(BinLayout::Columns), columns);
        assert_eq!(columns.to_layout(layout).bin(9, 1), 1);
    }
}
