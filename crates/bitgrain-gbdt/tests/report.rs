//! The HTML report: every kind of model, odd tables, invalid data.

use bitgrain_gbdt::predict::{EvaluationData, PredictError};
use bitgrain_gbdt::report::{Curve, ReportError, TrainingReport, curves};
use bitgrain_gbdt::{Dataset, Features, Model, Params, Quantizer, SampleError, Trainer, metric, objective};

const ROWS: usize = 400;

/// Four columns: a number with missing values, a category, a constant and one without values.
fn table(rows: usize) -> Vec<f64> {
    let number = |row: usize| if row.is_multiple_of(13) { f64::NAN } else { (row * 37 % 101) as f64 * 0.1 };
    let columns: [&dyn Fn(usize) -> f64; 4] = [&number, &|row| (row % 3) as f64, &|_| 2.0, &|_| f64::NAN];
    columns.iter().flat_map(|column| (0..rows).map(column)).collect()
}

fn features(values: &[f64], rows: usize) -> Features<'_> {
    let names = ["<script>alert(1)</script>", "b & c", "constant", "empty"].map(str::to_owned).to_vec();
    let features = Features::column_major(values, rows, 4).expect("four columns");
    features.with_names(names).expect("distinct").with_categorical(&[1]).expect("a column")
}

fn targets(values: &[f64], rows: usize, classes: usize) -> Vec<f64> {
    let number = |row: usize| if values[row].is_nan() { 3.0 } else { values[row] } + values[rows + row] * 2.0;
    (0..rows)
        .map(|row| if classes == 0 { number(row) } else { (number(row) / 14.2 * classes as f64).floor() })
        .collect()
}

struct Trained {
    model: Model,
    curves: Vec<Curve>,
}

fn train(name: &str, values: &[f64], targets: &[f64], rounds: usize) -> Trained {
    let features = features(values, targets.len());
    let mut data = Dataset::new(&features, targets.to_vec(), None, &Quantizer::default()).expect("valid data");
    let objective = objective::by_name(name).expect("a known name");
    let metric = metric::default_for(&*objective);
    let params = Params { n_estimators: rounds, ..Params::default() };
    let training = Trainer::new(params, objective).metric(metric).train(&mut data).expect("valid data");
    Trained { curves: curves(&training.history), model: training.model }
}

fn page(
    trained: &Trained,
    train: EvaluationData<'_>,
    valid: Option<EvaluationData<'_>>,
) -> Result<String, ReportError> {
    let facts = [("seconds".to_owned(), "<1".to_owned())];
    let Trained { model, curves } = trained;
    TrainingReport { title: "a <b> & c", model, curves, best_round: Some(2), train, valid, facts: &facts }.html()
}

/// Checks that every element is closed in order, and that nothing is loaded or invalid.
fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    let (_, body) = page.split_once("</style>").expect("a style sheet");
    for tag in body.split('<').skip(1).filter_map(|rest| rest.split_once('>')).map(|(tag, _)| tag) {
        let name = tag.split_whitespace().next().unwrap_or_default();
        if let Some(name) = name.strip_prefix('/') {
            if ["head", "html"].contains(&name) {
                continue;
            }
            assert_eq!(open.pop(), Some(name), "closed out of order");
        } else {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} are not closed");
    for word in ["<script", "http", "NaN", "inf", "src=", "a <b>"] {
        assert!(!body.contains(word), "{word}");
    }
}

#[test]
fn every_objective_has_a_page_with_and_without_validation_data() {
    let values = table(ROWS);
    let other = table(90);
    for (name, classes, words) in [
        ("squared", 0, vec!["Residuals", "r2", "rmse"]),
        ("quantile:0.8", 0, vec!["at most the predicted quantile"]),
        ("poisson", 0, vec!["poisson_deviance"]),
        ("binary", 2, vec!["ROC curve", "Confusion matrix", "Precision and recall"]),
        ("multiclass:3", 3, vec!["Confusion matrix", "Precision and recall of each class"]),
    ] {
        let on = targets(&values, ROWS, classes);
        let trained = train(name, &values, &on, 8);
        let rows = features(&values, ROWS);
        let train = EvaluationData { features: &rows, targets: &on, weights: None };
        let held = features(&other, 90);
        let held_targets = targets(&other, 90, classes);
        let weights: Vec<f32> = (0..90).map(|row| (row % 3) as f32).collect();
        let valid = EvaluationData { features: &held, targets: &held_targets, weights: Some(&weights) };
        for valid in [None, Some(valid)] {
            let found = page(&trained, train, valid).expect("valid data");
            assert_well_formed(&found);
            let sections = ["Learning curves", "Feature importance", "SHAP values", "Target", "Columns", "Trees"];
            for word in words.iter().chain(&sections) {
                assert!(found.contains(word), "{name}: {word}");
            }
            assert!(
                found.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && found.contains("Only missing values: empty")
            );
            assert_eq!(found.contains("Without validation data"), valid.is_none());
            let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().expect("threads");
            assert_eq!(pool.install(|| page(&trained, train, valid)).expect("valid data"), found, "{name}: threads");
        }
    }
}

#[test]
fn pages_of_rankings_start_with_the_metrics_of_their_queries() {
    let values = table(ROWS);
    let on = targets(&values, ROWS, 3);
    let mut trained = train("squared", &values, &on, 3);
    trained.model.output.objective = "lambdarank".to_owned();
    let curve = |data: &str, values: &[f64]| Curve {
        data: data.to_owned(),
        metric: "ndcg@10".to_owned(),
        values: values.to_vec(),
    };
    // The last round is not part of the model.
    trained.curves = vec![curve("train", &[0.5, 0.6, 0.7, 0.8]), curve("valid", &[0.4, 0.5, 0.6321, 0.6])];
    let rows = features(&values, ROWS);
    let data = EvaluationData { features: &rows, targets: &on, weights: None };
    let found = page(&trained, data, Some(data)).expect("valid data");
    assert_well_formed(&found);
    assert!(found.contains(r#"<h2>ndcg@10</h2><p class="figure">0.6321</p><p>on the validation data</p>"#));
    assert!(!found.contains("Residuals") && !found.contains("train.best_round"));
}

#[test]
fn odd_tables_have_pages() {
    let values = table(ROWS);
    let on = targets(&values, ROWS, 0);
    let trained = train("squared", &values, &on, 3);
    // One row; a target that is the same everywhere; a model without trees.
    let one = [1.0, 2.0, 2.0, f64::NAN];
    let rows = features(&one, 1);
    let single = EvaluationData { features: &rows, targets: &[4.0], weights: None };
    assert_well_formed(&page(&trained, single, None).expect("one row"));
    let rows = features(&values, ROWS);
    let flat = EvaluationData { features: &rows, targets: &[7.0; ROWS], weights: None };
    assert_well_formed(&page(&trained, flat, None).expect("a constant target"));
    let bare = Trained { model: trained.model.truncated(0), curves: Vec::new() };
    let found = page(&bare, flat, None).expect("no trees");
    assert_well_formed(&found);
    assert!(found.contains("No tree splits on any feature") && !found.contains("Learning curves"));
    // A classifier evaluated on rows of one class has no ROC curve; probabilities as targets have no confusion matrix.
    let classes = targets(&values, ROWS, 2);
    let trained = train("binary", &values, &classes, 3);
    let ones = EvaluationData { features: &rows, targets: &[1.0; ROWS], weights: None };
    assert!(page(&trained, ones, None).expect("one class").contains("all rows are of one class"));
    let soft = EvaluationData { features: &rows, targets: &[0.25; ROWS], weights: None };
    assert!(!page(&trained, soft, None).expect("probabilities").contains("Confusion matrix"));
}

#[test]
fn large_tables_are_sampled_and_the_page_says_so() {
    let rows = 60_000;
    let values = table(rows);
    let on = targets(&values, rows, 0);
    let trained = train("squared", &values, &on, 3);
    let features = features(&values, rows);
    let data = EvaluationData { features: &features, targets: &on, weights: None };
    let found = page(&trained, data, None).expect("valid data");
    assert_well_formed(&found);
    assert!(found.contains("a sample of 50\u{202f}000 of its 60\u{202f}000 rows"));
    assert!(found.len() < 1_000_000, "{} bytes", found.len());
}

#[test]
fn invalid_data_is_an_error() {
    let values = table(ROWS);
    let mut on = targets(&values, ROWS, 0);
    let trained = train("squared", &values, &on, 2);
    let rows = features(&values, ROWS);
    let data = EvaluationData { features: &rows, targets: &on[1..], weights: None };
    assert_eq!(page(&trained, data, None), Err(ReportError::TargetCount { targets: ROWS - 1, rows: ROWS }));
    let narrow = Features::column_major(&values[..ROWS], ROWS, 1).expect("one column");
    let data = EvaluationData { features: &narrow, targets: &on, weights: None };
    let expected = PredictError::FeatureCount { expected: 4, found: 1 };
    assert_eq!(page(&trained, data, None), Err(ReportError::Predict(expected)));
    let data = EvaluationData { features: &rows, targets: &on, weights: Some(&[-1.0; ROWS]) };
    assert!(matches!(page(&trained, data, None), Err(ReportError::Sample(SampleError::InvalidWeight { row: 0, .. }))));
    on[9] = f64::NAN;
    let data = EvaluationData { features: &rows, targets: &on, weights: None };
    assert_eq!(page(&trained, data, None), Err(ReportError::Sample(SampleError::MissingTarget { row: 9 })));
}
