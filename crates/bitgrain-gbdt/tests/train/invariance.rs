//! Model invariance under changes that must not matter.

use bitgrain_gbdt::feature::{BinLayout, Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::model::Model;
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::train::{Dataset, Growth, Params, SampleStrategy, Trainer};

use crate::data::Made;
use crate::{dataset, on_threads, predictions, small, trained};

const PRECISIONS: [GradientPrecision; 3] = [GradientPrecision::F32, GradientPrecision::Pair8, GradientPrecision::Pair4];

#[test]
fn any_number_of_threads_grows_the_same_trees() {
    // More rows than any per-thread chunk.
    let made = Made::new(80_000, 3);
    let with = |params: &Params, threads: usize| -> Model {
        on_threads(threads, || trained(params.clone(), "squared", &made.categorical(), &made.targets))
            .expect("valid data")
            .model
    };
    for precision in PRECISIONS {
        for growth in [Growth::LeafWise, Growth::DepthWise, Growth::Symmetric] {
            let params = Params { n_estimators: 3, num_leaves: 31, gradient_precision: precision, growth, ..small() };
            let one = with(&params, 1);
            for threads in [2, 5] {
                assert!(with(&params, threads) == one, "{precision}, {growth:?}, {threads} threads");
            }
        }
    }
}

#[test]
fn samples_do_not_depend_on_threads_either() {
    let made = Made::new(50_000, 4);
    let bagging = Params { subsample: 0.5, subsample_freq: 2, colsample_bytree: 0.7, ..small() };
    let goss = Params {
        data_sample_strategy: SampleStrategy::Goss,
        top_rate: 0.2,
        other_rate: 0.2,
        learning_rate: 0.5,
        colsample_bynode: 0.5,
        ..small()
    };
    for params in [bagging, goss] {
        let params = Params { n_estimators: 6, ..params };
        let with = |threads: usize| {
            on_threads(threads, || trained(params.clone(), "squared", &made.features(), &made.targets))
                .expect("valid data")
        };
        assert!(with(1) == with(3), "{params:?}");
        let other = Params { seed: 1, ..params.clone() };
        let other = trained(other, "squared", &made.features(), &made.targets).expect("valid data");
        assert!(other != with(1), "another seed draws other rows");
    }
}

#[test]
fn every_layout_trains_the_same_model() {
    let made = Made::new(30_000, 5);
    let features = made.categorical();
    let cuts = Quantizer::default().compute_cuts(&features, None).expect("valid data");
    let train = |mut data: Dataset| {
        Trainer::new(small(), by_name("squared").expect("known name")).train(&mut data).expect("valid data").model
    };
    let direct = train(dataset(&features, &made.targets));
    for layout in BinLayout::ALL {
        let matrix = cuts.quantize(&features, layout).expect("its own cuts");
        let names = features.names().to_vec();
        let data = Dataset::from_matrix(&matrix, &cuts, names, made.targets.clone(), None).expect("valid data");
        assert!(train(data) == direct, "{layout:?}");
    }
}

#[test]
fn a_dataset_can_be_trained_on_again_and_again() {
    let made = Made::new(5000, 6);
    let mut data = dataset(&made.features(), &made.targets);
    let mut train =
        || Trainer::new(small(), by_name("squared").expect("known name")).train(&mut data).expect("valid data");
    let first = train();
    assert!(train() == first, "rows are put back");
}

#[test]
fn the_order_of_memory_and_the_width_of_floats_do_not_matter() {
    let made = Made::new(3000, 7);
    let rows = made.targets.len();
    let columns: Vec<f32> = (0..crate::data::FEATURES)
        .flat_map(|f| made.values.iter().skip(f).step_by(crate::data::FEATURES))
        .copied()
        .collect();
    let wide: Vec<f64> = made.values.iter().map(|&value| f64::from(value)).collect();
    let by_row = trained(small(), "squared", &made.features(), &made.targets).expect("valid data");
    let by_column = Features::column_major(&columns[..], rows, crate::data::FEATURES).expect("complete columns");
    assert!(trained(small(), "squared", &by_column, &made.targets).expect("valid data") == by_row);
    let doubles = Features::row_major(&wide[..], rows, crate::data::FEATURES).expect("complete rows");
    assert!(trained(small(), "squared", &doubles, &made.targets).expect("valid data") == by_row);
}

#[test]
fn a_row_of_weight_two_equals_two_rows() {
    let made = Made::new(2000, 8);
    let twice: Vec<usize> = (0..2000).flat_map(|row| std::iter::repeat_n(row, 1 + row % 2)).collect();
    let weights: Vec<f32> = (0..2000).map(|row| (1 + row % 2) as f32).collect();
    let data = dataset(&made.features(), &made.targets);
    // Row counts are estimated from hessians, which are weights here, so `min_child_samples` must not apply.
    let params = || Params { min_child_samples: 1, min_child_weight: 20.0, ..small() };
    let train = |mut data: Dataset| {
        Trainer::new(params(), by_name("squared").expect("known name")).train(&mut data).expect("valid data")
    };
    let heavy = Dataset::from_matrix(
        &data.cuts().quantize(&made.features(), BinLayout::Columns).expect("its own cuts"),
        data.cuts(),
        made.features().names().to_vec(),
        made.targets.clone(),
        Some(weights),
    )
    .expect("valid data");
    let (heavy, doubled) = (train(heavy), train(data.rows(&twice)));
    let (a, b) = (predictions(&heavy, &made.features()), predictions(&doubled, &made.features()));
    let apart = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(apart < 1e-3, "{apart}");
}
