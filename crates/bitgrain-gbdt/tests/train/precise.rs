//! Features whose values f32 would merge.

use bitgrain_gbdt::feature::{BinLayout, Features, Quantizer};
use bitgrain_gbdt::metric::{self, MetricInput};
use bitgrain_gbdt::model::{Comparison, Model};
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Dataset, Params, Trainer};

use crate::data::Random;
use crate::small;

const ROWS: usize = 3000;

/// Identifiers, timestamps one second apart in milliseconds, close fractions, noise, and a target that depends on all
/// of them.
fn table() -> (Vec<f64>, Vec<f64>) {
    let mut random = Random(11);
    let mut columns = vec![Vec::new(); 4];
    let mut targets = Vec::new();
    for row in 0..ROWS {
        let id = (random.next() >> 20) % 2556;
        let second = (random.next() >> 20) % 4000;
        let step = (random.next() >> 20) % 100;
        columns[0].push(1e9 + id as f64);
        columns[1].push(1.7e12 + second as f64 * 1000.0);
        columns[2].push(if row % 9 == 0 { f64::NAN } else { 1.0 + step as f64 * 1e-9 });
        columns[3].push(f64::from(random.share()) / 3.0);
        targets.push((id / 300 % 2) as f64 + (second / 500 % 2) as f64 + (step / 20 % 2) as f64 + columns[3][row]);
    }
    (columns.concat(), targets)
}

fn features(values: &[f64]) -> Features<'_> {
    Features::column_major(values, ROWS, 4).expect("complete columns")
}

#[test]
fn identifiers_and_timestamps_have_the_bins_that_their_values_need() {
    let (values, targets) = table();
    let data = Dataset::new(&features(&values), targets, None, &Quantizer::default()).expect("valid data");
    for feature in [0, 1, 2] {
        let cuts = data.cuts().precise_cuts(feature).expect("more digits than f32 has");
        assert!(cuts.len() + 1 >= [256, 256, 100][feature], "feature {feature}: {} cuts", cuts.len());
        assert!(cuts.is_sorted_by(|a, b| a < b) && data.cuts().cuts(feature).is_empty());
    }
    assert!(data.cuts().precise_cuts(3).is_none(), "noise loses nothing");
    for layout in BinLayout::ALL {
        let matrix = data.cuts().quantize(&features(&values), layout).expect("its own cuts");
        for (feature, column) in values.chunks(ROWS).enumerate().take(3) {
            let cuts = data.cuts().precise_cuts(feature).expect("more digits than f32 has");
            let missing = data.cuts().map().missing_bin(feature);
            for (row, &value) in column.iter().enumerate() {
                let want = u32::try_from(cuts.partition_point(|cut| *cut < value)).expect("few");
                let want = missing.filter(|_| value.is_nan()).unwrap_or(want);
                assert_eq!(matrix.bin(row, feature), want, "{layout:?}: {value} of feature {feature}");
            }
        }
    }
}

fn train(values: &[f64], targets: &[f64], params: Params) -> (Model, f64) {
    let mut data = Dataset::new(&features(values), targets.to_vec(), None, &Quantizer::default()).expect("valid data");
    let trainer = Trainer::new(params, by_name("squared").expect("known name"));
    let training = trainer.metric(metric::by_name("rmse").expect("known name")).train(&mut data).expect("valid data");
    (training.model, training.history.last().expect("rounds")[0].value)
}

#[test]
fn raw_values_predict_as_their_bins_did() {
    let (values, targets) = table();
    let (model, measured) = train(&values, &targets, Params { n_estimators: 80, ..small() });
    assert_eq!((model.comparison, model.check()), (Comparison::F64, Ok(())));
    assert!(measured < 0.25, "{measured}: the steps of all columns are learned");
    let kept = Model::from_bytes(&model.to_bytes().expect("a model")).expect("its own file");
    let predictions = Predictor::new(&kept).and_then(|p| p.predict(&features(&values))).expect("the same features");
    let evaluated = MetricInput { targets: &targets, weights: None, predictions: &predictions, groups: None };
    assert_eq!(metric::by_name("rmse").expect("known name").evaluate(&evaluated), Ok(measured));
}

#[test]
fn numbers_that_f32_holds_train_the_same_model_beside_a_column_that_needs_more() {
    let (values, targets) = table();
    // Only noise, rounded to f32 as training compares it; then the same next to a constant that is not exact in f32.
    let noise = &values[3 * ROWS..];
    let train = |columns: Vec<f64>| {
        let n_features = columns.len() / ROWS;
        let features = Features::column_major(&columns[..], ROWS, n_features).expect("complete columns");
        let mut data = Dataset::new(&features, targets.clone(), None, &Quantizer::default()).expect("valid data");
        let model =
            Trainer::new(small(), by_name("squared").expect("known name")).train(&mut data).expect("valid data").model;
        let predictor = Predictor::new(&model).expect("a trained model");
        (model.comparison, predictor.predict(&features).expect("the same features"))
    };
    let (alone, want) = train(noise.to_vec());
    let (beside, got) = train([noise, &vec![1e9 + 1.0; ROWS]].concat());
    assert_eq!((alone, beside), (Comparison::F32, Comparison::F64));
    assert!(got == want, "the same thresholds for the same bins");
}

#[test]
fn training_continues_from_f32_to_f64_thresholds_and_back() {
    let (values, targets) = table();
    let mut rounded = values.clone();
    rounded.iter_mut().for_each(|value| *value = (*value % 1e5).round());
    let raw = |model: &Model, values: &[f64]| {
        Predictor::new(model).and_then(|p| p.raw(&features(values))).expect("the same features")
    };
    for (first, second) in [(&rounded, &values), (&values, &rounded)] {
        let (model, _) = train(first, &targets, small());
        let mut data = Dataset::new(&features(second), targets.clone(), None, &Quantizer::default())
            .and_then(|data| data.start_from(&model, &features(second)))
            .expect("the same features");
        let trainer = Trainer::new(small(), by_name("squared").expect("known name")).continue_from(&model);
        let rmse = metric::by_name("rmse").expect("known name");
        let training =
            trainer.metric(metric::by_name("rmse").expect("known name")).train(&mut data).expect("valid data");
        assert_eq!(training.model.comparison, Comparison::F64);
        assert_eq!(raw(&training.model.truncated(20), second), raw(&model, second));
        let predictions = raw(&training.model, second);
        let evaluated = MetricInput { targets: &targets, weights: None, predictions: &predictions, groups: None };
        let measured = training.history.last().expect("rounds")[0].value;
        assert_eq!(rmse.evaluate(&evaluated), Ok(measured));
    }
}

#[test]
fn fractions_that_f32_merges_need_half_a_bin_of_rows_to_be_kept_apart() {
    let is_precise = |rare: usize| {
        let close = |row: usize| 1e9 + if row.is_multiple_of(2) { 0.25 } else { 0.75 };
        let value = |row: usize| if row < rare { close(row) } else { (row % 50) as f64 + 0.5 };
        let column: Vec<f64> = (0..ROWS).map(value).collect();
        let features = Features::column_major(&column[..], ROWS, 1).expect("a column");
        Quantizer::default().compute_cuts(&features, None).expect("valid data").precise_cuts(0).is_some()
    };
    // Half of one of 256 bins is 5.9 of 3,000 rows.
    assert_eq!([2, 5, 6, 100].map(is_precise), [false, false, true, true]);
}

fn with_codes(values: &[f64]) -> Features<'_> {
    Features::column_major(values, ROWS, 2).and_then(|features| features.with_categorical(&[0])).expect("columns")
}

#[test]
fn category_codes_are_rounded_to_f32_in_training_and_prediction_of_every_model() {
    let mut random = Random(5);
    let near = |code: u32, at: usize| f64::from(code) * (1.0 + [0.0, 1e-9, -1e-9][at % 3]);
    let codes: Vec<u32> = (0..ROWS).map(|_| u32::try_from((random.next() >> 20) % 6).expect("small")).collect();
    let exact: Vec<f64> = codes.iter().map(|&code| f64::from(code)).collect();
    let close: Vec<f64> = codes.iter().enumerate().map(|(at, &code)| near(code, at)).collect();
    let targets: Vec<f64> = codes.iter().map(|&code| f64::from(code * 7 % 4)).collect();
    // Next to a column of identifiers, which makes the model compare in f64, and next to a constant.
    for (beside, comparison) in [(1e9, Comparison::F64), (0.0, Comparison::F32)] {
        let others: Vec<f64> = (0..ROWS).map(|row| beside + if beside > 0.0 { row as f64 } else { 0.0 }).collect();
        let columns = |codes: &[f64]| [codes, &others].concat();
        let (exact, close) = (columns(&exact), columns(&close));
        let predictions = |trained: &[f64], asked: &[f64]| {
            let data = Dataset::new(&with_codes(trained), targets.clone(), None, &Quantizer::default());
            let trainer = Trainer::new(small(), by_name("squared").expect("known name"));
            let model = trainer.train(&mut data.expect("codes")).expect("valid data").model;
            assert_eq!(model.comparison, comparison);
            let by_row: Vec<f64> =
                (0..ROWS).map(|row| model.raw_scores_of(&[asked[row], asked[ROWS + row]])[0]).collect();
            let predictor = Predictor::new(&model).expect("a trained model");
            let all = predictor.predict(&with_codes(asked)).expect("the same features");
            assert!(all == by_row, "{comparison:?}: as the definition says");
            all
        };
        let want = predictions(&exact, &exact);
        for (trained, asked) in [(&exact, &close), (&close, &exact), (&close, &close)] {
            assert!(predictions(trained, asked) == want, "{comparison:?}");
        }
    }
}
