//! Models with monotone constraints are monotone, for every growth, precision, layout, method and objective.

use bitgrain_gbdt::feature::{Absent, Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::model::Model;
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::parameter::PerFeature;
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Dataset, Growth, MonotoneMethod, Params, SampleStrategy, Trainer};

use crate::data::{Made, Random};
use crate::{on_threads, rmse, small};

const GROWTHS: [Growth; 3] = [Growth::LeafWise, Growth::DepthWise, Growth::Symmetric];
const PRECISIONS: [GradientPrecision; 3] = [GradientPrecision::F32, GradientPrecision::Pair8, GradientPrecision::Pair4];
const METHODS: [MonotoneMethod; 3] = [MonotoneMethod::Basic, MonotoneMethod::Intermediate, MonotoneMethod::Advanced];

/// Columns of a table: numbers, numbers with missing values, small integers, a category, one-hot columns.
const COLUMNS: usize = 12;
const CATEGORY: usize = 4;

/// Rows of all columns and a target that follows none of the constraints.
struct Table {
    values: Vec<f32>,
    signal: Vec<f32>,
}

impl Table {
    fn new(rows: usize, seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9) | 1);
        let (mut values, mut signal) = (Vec::new(), Vec::new());
        for _ in 0..rows {
            let (a, b) = (random.share() * 2.0 - 1.0, random.share());
            let c = if random.share() < 0.3 { f32::NAN } else { random.share() };
            let few = (random.share() * 5.0).floor();
            let category = (random.share() * 7.0).floor();
            let hot = random.below(7.0);
            let wave = (a * 5.0).sin() + if c.is_nan() { 0.7 } else { (c - 0.4) * (few - 2.0) };
            let target = wave + b * (category - 3.0) * 0.4 + hot as f32 * 0.1 + (random.share() - 0.5) * 0.3;
            values.extend([a, b, c, few, category]);
            values.extend((0..COLUMNS - 5).map(|column| f32::from(column == hot)));
            signal.push(target);
        }
        Self { values, signal }
    }

    fn n_rows(&self) -> usize {
        self.signal.len()
    }

    fn targets(&self, objective: &str) -> Vec<f32> {
        let of = |&signal: &f32| match objective.split(':').next().unwrap_or_default() {
            "binary" => f32::from(signal > 0.3),
            "multiclass" => f32::from(u8::from(signal > 0.0) + u8::from(signal > 1.0)),
            "poisson" | "gamma" | "tweedie" => signal.abs() * 3.0 + 0.1,
            // The scale of renewed leaves, which is not that of the gradients.
            "absolute" | "quantile" => signal * 1000.0,
            _ => signal,
        };
        self.signal.iter().map(of).collect()
    }

    fn dense(&self) -> Features<'_> {
        let features = Features::row_major(&self.values[..], self.n_rows(), COLUMNS).expect("complete rows");
        features.with_categorical(&[CATEGORY]).expect("a column")
    }
}

/// Entries of the same rows, without the zeros of one-hot columns.
struct Entries {
    row_ptr: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f32>,
}

impl Entries {
    fn new(table: &Table) -> Self {
        let (mut row_ptr, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in table.values.chunks(COLUMNS) {
            for (column, &value) in (0_u32..).zip(row).filter(|(_, value)| **value != 0.0) {
                columns.push(column);
                values.push(value);
            }
            row_ptr.push(columns.len());
        }
        Self { row_ptr, columns, values }
    }

    fn features(&self) -> Features<'_> {
        let features = Features::sparse(&self.row_ptr, &self.columns, &self.values, COLUMNS, Absent::Zero);
        features.expect("valid entries").with_categorical(&[CATEGORY]).expect("a column")
    }
}

fn directions(seed: u64) -> Vec<i8> {
    let mut random = Random(seed | 1);
    let direction = |column| if column == CATEGORY { 0 } else { [1, -1, 0][random.below(2.99)] };
    let mut all: Vec<i8> = (0..COLUMNS).map(direction).collect();
    // At least both directions.
    (all[0], all[2]) = (1, -1);
    all
}

fn train(params: Params, objective: &str, features: &Features<'_>, targets: Vec<f32>) -> Model {
    let mut data = Dataset::new(features, targets, None, &Quantizer::default()).expect("valid data");
    let trainer = Trainer::new(params, by_name(objective).expect("known name"));
    trainer.train(&mut data).expect("valid parameters").model
}

/// Checks that scores never move against the directions, exactly, from any row of a table.
fn assert_monotone(model: &Model, table: &Table, directions: &[i8], what: &str) {
    let predictor = Predictor::new(model).expect("a trained model");
    let outputs = predictor.n_outputs();
    let mut random = Random(77);
    let steps: Vec<f32> = (-60..=60).map(|step| step as f32 / 40.0).chain([2.0, 3.0, 4.0, 1e30]).collect();
    for row in table.values.chunks(COLUMNS).step_by(table.n_rows() / 25) {
        let mut row = row.to_vec();
        // Missing values and unknown categories beside the feature, in combinations that training did not see.
        for (column, value) in row.iter_mut().enumerate() {
            match random.below(6.0) {
                0 => *value = f32::NAN,
                1 if column == CATEGORY => *value = 99.0,
                _ => {}
            }
        }
        for (column, &direction) in directions.iter().enumerate().filter(|(_, direction)| **direction != 0) {
            let mut rows: Vec<f32> = Vec::new();
            for &step in &steps {
                row[column] = step;
                rows.extend(&row);
            }
            let features = Features::row_major(&rows[..], steps.len(), COLUMNS).expect("complete rows");
            let scores = predictor.raw(&features).expect("the same features");
            for (at, pair) in scores.windows(outputs + 1).enumerate() {
                let change = (pair[outputs] - pair[0]) * f64::from(direction);
                assert!(change >= 0.0, "{what}: column {column}, step {}: {change}", at / outputs);
            }
        }
    }
}

fn all_settings() -> impl Iterator<Item = Params> {
    GROWTHS.into_iter().flat_map(|growth| {
        PRECISIONS.into_iter().flat_map(move |gradient_precision| {
            let possible =
                move |method: &MonotoneMethod| growth != Growth::Symmetric || *method == MonotoneMethod::Basic;
            METHODS.into_iter().filter(possible).map(move |monotone_constraints_method| Params {
                growth,
                gradient_precision,
                monotone_constraints_method,
                n_estimators: 8,
                learning_rate: 0.3,
                ..small()
            })
        })
    })
}

#[test]
fn every_objective_is_monotone_with_every_growth_precision_and_method() {
    for (seed, objective) in (1..).zip([
        "squared",
        "absolute",
        "huber:0.9",
        "quantile:0.25",
        "poisson",
        "gamma",
        "tweedie:1.5",
        "binary",
        "multiclass:3",
    ]) {
        let table = Table::new(600, seed);
        for params in all_settings() {
            let directions = directions(seed * 31 + params.num_leaves as u64);
            let what = format!("{objective}, {:?}, {:?}", params.growth, params.gradient_precision);
            let what = format!("{what}, {:?}", params.monotone_constraints_method);
            let params = Params { monotone_constraints: PerFeature::Listed(directions.clone()), ..params };
            let model = train(params, objective, &table.dense(), table.targets(objective));
            let used = |split: &bitgrain_gbdt::model::Split| directions[split.feature as usize] != 0;
            assert!(model.trees.iter().flat_map(|tree| &tree.splits).any(used), "{what}: no monotone split");
            assert_monotone(&model, &table, &directions, &what);
        }
    }
}

#[test]
fn sparse_and_bundled_columns_give_the_model_of_dense_ones() {
    let table = Table::new(900, 3);
    let entries = Entries::new(&table);
    for params in all_settings() {
        let directions = directions(5);
        let params = Params { monotone_constraints: PerFeature::Listed(directions.clone()), ..params };
        let of = |features: &Features<'_>| train(params.clone(), "squared", features, table.targets("squared"));
        let (dense, sparse) = (of(&table.dense()), of(&entries.features()));
        assert_eq!(dense.trees, sparse.trees, "{params:?}");
        assert_monotone(&sparse, &table, &directions, "sparse");
    }
}

#[test]
fn samples_penalties_and_limits_keep_models_monotone() {
    let table = Table::new(1200, 9);
    let variants = [
        Params { subsample: 0.6, colsample_bytree: 0.7, colsample_bynode: 0.7, ..small() },
        Params { data_sample_strategy: SampleStrategy::Goss, learning_rate: 0.5, ..small() },
        Params { path_smooth: 20.0, ..small() },
        Params { max_delta_step: 0.2, reg_lambda: 1.0, reg_alpha: 0.5, ..small() },
        Params { extra_trees: true, monotone_penalty: 1.5, ..small() },
        Params { min_child_samples: 0, min_child_weight: 0.0, num_leaves: 200, ..small() },
        Params { cegb_penalty_split: 1e-4, max_depth: Some(4), ..small() },
    ];
    for (seed, variant) in (0..).zip(variants) {
        for (setting, objective) in
            all_settings().flat_map(|params| [(params.clone(), "squared"), (params, "absolute")])
        {
            let directions = directions(seed + 40);
            let Params { growth, gradient_precision, monotone_constraints_method, .. } = setting;
            let monotone_constraints = PerFeature::Listed(directions.clone());
            let params = Params {
                growth,
                gradient_precision,
                monotone_constraints_method,
                monotone_constraints,
                n_estimators: 8,
                ..variant.clone()
            };
            let what = format!("{objective}, {params:?}");
            let model = train(params, objective, &table.dense(), table.targets(objective));
            assert_monotone(&model, &table, &directions, &what);
        }
    }
}

#[test]
fn models_do_not_depend_on_the_number_of_threads() {
    let made = Made::new(30_000, 4);
    for params in all_settings() {
        let params = Params { monotone_constraints: PerFeature::Listed(vec![1, -1, 0, 1, 0, -1]), ..params };
        let of = |threads| {
            on_threads(threads, || train(params.clone(), "squared", &made.categorical(), made.targets.clone()))
        };
        assert_eq!(of(1), of(3), "{params:?}");
    }
}

#[test]
fn constraints_that_the_data_follows_cost_little_and_tighter_bounds_cost_less() {
    let (train_rows, test_rows) = (Made::new(6000, 21), Made::new(4000, 22));
    // The square of the first column is not monotone: its absolute value is, and all targets rise with columns 3 and 4.
    let rising = |made: &Made| -> (Vec<f32>, Vec<f32>) {
        let rows = made.values.chunks(6).map(|row| [row[0].abs(), row[1], row[3], row[4]]);
        let noise = |at: usize| (made.targets[at] * 1000.0).sin() * 0.2;
        let target = |(at, row): (usize, [f32; 4])| row[0] * (1.0 + row[2]) + row[3] * row[0].sqrt() + noise(at);
        (rows.clone().flatten().collect(), rows.enumerate().map(target).collect())
    };
    let ((values, targets), (others, wanted)) = (rising(&train_rows), rising(&test_rows));
    fn features(values: &[f32]) -> Features<'_> {
        Features::row_major(values, values.len() / 4, 4).expect("complete rows")
    }
    let error = |directions: Vec<i8>, method| {
        let params = Params {
            monotone_constraints: PerFeature::Listed(directions),
            monotone_constraints_method: method,
            n_estimators: 60,
            ..small()
        };
        let model = train(params, "squared", &features(&values), targets.clone());
        rmse(&Predictor::new(&model).expect("a model").predict(&features(&others)).expect("same features"), &wanted)
    };
    let free = error(vec![0; 4], MonotoneMethod::Basic);
    let [basic, intermediate, advanced] = METHODS.map(|method| error(vec![1, 0, 1, 1], method));
    // LightGBM's ratios on such data are 1.26 and 1.05.
    assert!(basic < free * 1.26 && intermediate < free * 1.05, "{intermediate}, {basic}, {free}");
    assert!(advanced < intermediate * 1.005 && advanced < basic, "{advanced}, {intermediate}, {basic}");
    let against = error(vec![-1, 0, 0, 0], MonotoneMethod::Basic);
    assert!(against > free * 1.5, "{against} against {free}: a constraint without effect");
}
