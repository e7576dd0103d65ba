//! Cuts and bytes do not depend on the number of threads.

use bitgrain_gbdt::feature::{Absent, BinCuts, BinLayout, Features, QuantizedMatrix, Quantizer};

const ROWS: usize = 30_011;
const FEATURES: usize = 9;

fn values() -> Vec<f32> {
    let mut state = 1_u64;
    let mut random = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / 1000.0
    };
    (0..ROWS * FEATURES)
        .map(|at| match at % FEATURES {
            0 => (random() % 3.0).floor(),
            1 if random() < 8000.0 => f32::NAN,
            2 => random().exp2() - 1e30,
            4 => (random() / 10.0).floor(), // many categories
            _ => random(),
        })
        .collect()
}

/// Converts all values except NaN to sparse rows.
fn sparse(values: &[f32]) -> (Vec<usize>, Vec<u32>, Vec<f32>) {
    let (mut row_ptr, mut columns, mut kept) = (vec![0], vec![], vec![]);
    for row in values.chunks(FEATURES) {
        for (feature, value) in (0..).zip(row).filter(|(_, value)| !value.is_nan()) {
            columns.push(feature);
            kept.push(*value);
        }
        row_ptr.push(kept.len());
    }
    (row_ptr, columns, kept)
}

type Quantized = (BinCuts, [QuantizedMatrix; 4]);

/// Returns the results of dense and of sparse features.
fn quantized(threads: usize, values: &[f32], weights: &[f32]) -> [Quantized; 2] {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
    let (row_ptr, columns, kept) = sparse(values);
    pool.install(|| {
        let dense = Features::row_major(values, ROWS, FEATURES).expect("a matrix");
        let sparse = Features::sparse(&row_ptr, &columns, &kept, FEATURES, Absent::Zero).expect("sparse rows");
        [dense, sparse].map(|features| {
            let features = features.with_categorical(&[0, 4]).expect("features");
            let quantizer = Quantizer::default().with_sample_rows(5000).expect("some").with_seed(42);
            let cuts = quantizer.compute_cuts(&features, Some(weights)).expect("valid weights");
            let matrices = BinLayout::ALL.map(|layout| cuts.quantize(&features, layout).expect("the same features"));
            (cuts, matrices)
        })
    })
}

#[test]
fn one_two_and_five_threads_give_the_same() {
    let values = values();
    let weights: Vec<f32> = values.iter().take(ROWS).map(|v| v.abs().min(100.0) + 0.1).collect();
    let weights: Vec<f32> = weights.into_iter().map(|w| if w.is_nan() { 1.0 } else { w }).collect();
    let one = quantized(1, &values, &weights);
    assert!(one[0].0.cuts(3).len() > 200 && one[0].0.categories(4).len() == 255);
    for threads in [2, 5] {
        assert!(quantized(threads, &values, &weights) == one, "{threads} threads");
    }
}
