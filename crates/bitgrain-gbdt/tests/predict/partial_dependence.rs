//! Partial dependence is the mean prediction with fixed values, on grids of quantiles and categories.

use bitgrain_gbdt::explain::{ExplainError, PartialGrid, PartialOptions, partial_dependence};
use bitgrain_gbdt::feature::Features;
use bitgrain_gbdt::model::{Comparison, InputKind};
use bitgrain_gbdt::predict::{PredictError, Predictor};

use crate::explanations::model;
use crate::random::{self, Random};
use crate::{bits, on_threads};

#[test]
fn means_and_curves_are_predictions_with_fixed_values() {
    let model = model(19, Comparison::F32, 2);
    let rows = random::rows(&mut Random::new(20), &model, 30);
    let features = Features::row_major(&rows[..], 30, 5).expect("five features");
    let predictor = Predictor::new(&model).expect("a valid model");
    let grids = [vec![-1.0, 0.25, f64::NAN], vec![0.5, 2.0]];
    for (of, grids) in [(vec![1], &grids[..1]), (vec![1, 3], &grids[..])] {
        for raw in [false, true] {
            let options = PartialOptions { values: Some(grids.to_vec()), raw, individual: true, ..Default::default() };
            let found = partial_dependence(&model, &features, &of, &options).expect("a valid model");
            let points = found.n_points();
            assert_eq!(points, if of.len() == 1 { 3 } else { 6 });
            for point in 0..points {
                let mut fixed = rows.clone();
                let last = grids.last().expect("a grid").len();
                let places = if of.len() == 1 { vec![point] } else { vec![point / last, point % last] };
                for (at, (&feature, place)) in of.iter().zip(places).enumerate() {
                    fixed.iter_mut().skip(feature).step_by(5).for_each(|cell| *cell = grids[at][place]);
                }
                let fixed = Features::row_major(&fixed[..], 30, 5).expect("five features");
                let expected =
                    if raw { predictor.raw(&fixed) } else { predictor.predict(&fixed) }.expect("five features");
                for output in 0..2 {
                    let expected: Vec<f64> = expected.iter().skip(output).step_by(2).copied().collect();
                    let curves = &found.individual[output * 30 * points..][..30 * points];
                    let found_here: Vec<f64> = curves.iter().skip(point).step_by(points).copied().collect();
                    assert_eq!(bits(&found_here), bits(&expected));
                    let mean = expected.iter().sum::<f64>() / 30.0;
                    assert!((found.mean[output * points + point] - mean).abs() < 1e-15);
                }
            }
            let mut centered = found.clone();
            centered.center();
            assert!(
                centered.individual.chunks(points).chain(centered.mean.chunks(points)).all(|curve| curve[0] == 0.0)
            );
            assert_eq!(centered.mean[1], found.mean[1] - found.mean[0]);
            let again = on_threads(3, || partial_dependence(&model, &features, &of, &options)).expect("a valid model");
            assert_eq!(bits(&again.individual), bits(&found.individual));
        }
    }
}

#[test]
fn curves_are_kept_only_on_request() {
    let model = model(3, Comparison::F64, 1);
    let rows = random::rows(&mut Random::new(4), &model, 1);
    let features = Features::row_major(&rows[..], 1, 5).expect("five features");
    let options = PartialOptions { values: Some(vec![vec![1.0]]), ..Default::default() };
    let found = partial_dependence(&model, &features, &[0], &options).expect("one row");
    assert_eq!((found.mean.len(), found.individual.len(), found.n_rows), (1, 0, 1));
}

#[test]
fn grids_hold_distinct_values_quantiles_or_frequent_categories() {
    let mut model = model(5, Comparison::F64, 1);
    let numbers: Vec<f64> = (0..1000).map(|row| f64::from(row % 200) * 0.5).collect();
    let missing = vec![f64::NAN; 1000];
    let constant = vec![2.5; 1000];
    // Category 7 is the most frequent, then 3.
    let categories: Vec<f64> = (0..1000).map(|row| if row % 2 == 0 { 7.0 } else { f64::from(row % 4) }).collect();
    let columns = [&numbers[..], &missing, &constant, &categories, &numbers].concat();
    let features = Features::column_major(&columns[..], 1000, 5).expect("five columns");
    model.inputs[0].kind = InputKind::Numeric;
    model.inputs[2].kind = InputKind::Numeric;
    model.inputs[3].kind = InputKind::Categorical { known: None, labels: Vec::new() };
    let grid = |size, feature| PartialGrid { size, percentiles: (0.0, 1.0) }.of(&model, &features, feature);
    assert_eq!(grid(200, 0).expect("all values").len(), 200);
    let few = grid(3, 0).expect("quantiles");
    assert_eq!(few, [0.0, 49.75, 99.5]);
    assert_eq!(grid(50, 2).expect("one value"), [2.5]);
    assert_eq!(grid(2, 3).expect("categories"), [1.0, 7.0]);
    assert_eq!(grid(3, 3).expect("categories"), [1.0, 3.0, 7.0]);
    let absent = ExplainError::NoValues { name: model.inputs[1].name.clone() };
    assert_eq!(grid(50, 1), Err(absent));
}

#[test]
fn invalid_requests_are_errors() {
    let model = model(8, Comparison::F32, 1);
    let rows = random::rows(&mut Random::new(9), &model, 10);
    let features = Features::row_major(&rows[..], 10, 5).expect("five features");
    let run = |of: &[usize], options: PartialOptions| partial_dependence(&model, &features, of, &options).err();
    for of in [&[][..], &[1, 1], &[0, 1, 2]] {
        assert_eq!(run(of, PartialOptions::default()), Some(ExplainError::FeatureCount));
    }
    let absent = ExplainError::Feature { feature: 5, features: 5 };
    assert_eq!(run(&[5], PartialOptions::default()), Some(absent));
    let sized = |size| PartialOptions { grid: PartialGrid { size, ..Default::default() }, ..Default::default() };
    for size in [0, 1001] {
        assert_eq!(run(&[0], sized(size)), Some(ExplainError::GridSize { size, most: 1000 }));
    }
    for percentiles in [(0.5, 0.5), (-0.1, 0.5), (0.5, 1.1), (f64::NAN, 0.5)] {
        let grid = PartialGrid { percentiles, ..Default::default() };
        let options = PartialOptions { grid, ..Default::default() };
        assert!(matches!(run(&[0], options), Some(ExplainError::Percentiles { .. })), "{percentiles:?}");
    }
    let empty = PartialOptions { values: Some(vec![vec![]]), ..Default::default() };
    assert!(matches!(run(&[0], empty), Some(ExplainError::GridSize { size: 0, .. })));
    let narrow = Features::row_major(&rows[..8], 2, 4).expect("four features");
    let expected = ExplainError::Predict(PredictError::FeatureCount { expected: 5, found: 4 });
    assert_eq!(partial_dependence(&model, &narrow, &[0], &PartialOptions::default()).err(), Some(expected));
}
