//! Random tables with adversarial values, and trainings on them.

use bitgrain_codec::random::SplitMix64;
use bitgrain_gbdt::feature::{Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::metric::MetricInput;
use bitgrain_gbdt::objective::{Huber, Objective, by_name};
use bitgrain_gbdt::predict::Predictor;
use bitgrain_gbdt::train::{Dataset, Growth, Params, Trainer, Training};

/// Reproducible random numbers.
pub(crate) struct Random(SplitMix64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(SplitMix64::new(seed))
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.0.next_u64() >> 8) as usize % end
    }

    /// Returns a number in 0..1.
    pub(crate) fn unit(&mut self) -> f64 {
        self.below(1 << 40) as f64 / (1_u64 << 40) as f64
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Columns with their kinds, targets and weights.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    /// Values of each column.
    pub(crate) columns: Vec<Vec<f32>>,
    /// Indices of the categorical columns.
    pub(crate) categorical: Vec<usize>,
    pub(crate) targets: Vec<f32>,
    pub(crate) weights: Option<Vec<f32>>,
}

pub(crate) const OBJECTIVES: [&str; 15] = [
    "squared",
    "absolute",
    "huber:0.9",
    "quantile:0.25",
    "poisson",
    "gamma",
    "tweedie:1.5",
    "binary",
    "multiclass:3",
    "expectile:0.75",
    "fair:1",
    "log_cosh",
    "mape",
    "cross_entropy",
    "focal:2",
];

impl Table {
    /// Creates rows of up to six columns: noise, small integers, constants, huge and tiny scales, offsets, missing
    /// values, categories. Targets depend on the first columns; some weights are 0, or there are no weights.
    pub(crate) fn new(random: &mut Random, objective: &str) -> Self {
        let n_rows = [2, 17, 64, 128, 400][random.below(5)];
        let kinds: Vec<usize> = (0..1 + random.below(6)).map(|_| random.below(9)).collect();
        let columns: Vec<Vec<f32>> = kinds.iter().map(|&kind| column(random, kind, n_rows)).collect();
        let categorical = (0..kinds.len()).filter(|&at| kinds[at] == 8).collect();
        let signal = |row: usize| {
            let values = columns.iter().take(3).map(|column| f64::from(column[row]));
            values.map(|value| if value.is_nan() { 0.5 } else { value.clamp(-3.0, 3.0) }).sum::<f64>()
        };
        let targets = (0..n_rows).map(|row| target(signal(row) + random.unit(), objective)).collect();
        let weights = match random.below(4) {
            0 => Some((0..n_rows).map(|row| if row == 0 { 1.0 } else { random.below(4) as f32 / 2.0 }).collect()),
            _ => None,
        };
        Self { columns, categorical, targets, weights }
    }

    /// Creates a table whose targets are small integers, so that sums of their gradients are exact in any order.
    pub(crate) fn of_integers(random: &mut Random) -> Self {
        let mut table = Self::new(random, "squared");
        table.targets.iter_mut().for_each(|target| *target = (*target * 4.0).round());
        table.weights = random.one_in(2).then(|| table.targets.iter().map(|_| (1 + random.below(3)) as f32).collect());
        table
    }

    pub(crate) fn n_rows(&self) -> usize {
        self.targets.len()
    }

    pub(crate) fn values(&self) -> Vec<f32> {
        self.columns.concat()
    }

    pub(crate) fn dataset(&self) -> Dataset {
        let values = self.values();
        let features = self.features(&values);
        Dataset::new(&features, self.targets.clone(), self.weights.clone(), &Quantizer::default()).expect("valid data")
    }

    pub(crate) fn features<'a>(&self, values: &'a [f32]) -> Features<'a> {
        let features = Features::column_major(values, self.n_rows(), self.columns.len()).expect("complete columns");
        features.with_categorical(&self.categorical).expect("columns")
    }

    /// Returns a subset of the rows in the given order.
    pub(crate) fn rows(&self, rows: &[usize]) -> Self {
        let of = |values: &Vec<f32>| -> Vec<f32> { rows.iter().map(|&row| values[row]).collect() };
        Self {
            columns: self.columns.iter().map(of).collect(),
            categorical: self.categorical.clone(),
            targets: of(&self.targets),
            weights: self.weights.as_ref().map(of),
        }
    }

    /// Trains on the table and checks the invariants of every training: the model is consistent, and its history
    /// matches its predictions.
    pub(crate) fn trained(&self, params: &Params, objective: &str) -> Training {
        let metric = self.objective(objective).metric();
        let trainer = Trainer::new(params.clone(), self.objective(objective)).metric(metric);
        let training = trainer.train(&mut self.dataset()).expect("valid data");
        assert_eq!(training.model.check(), Ok(()), "{objective}, {params:?}");
        let by_row = self.predictions(&training);
        assert!(by_row.iter().all(|prediction| prediction.is_finite()), "{objective}, {params:?}: {by_row:?}");
        let outputs = by_row.len() / self.n_rows();
        let predictions: Vec<f64> =
            (0..outputs).flat_map(|output| by_row.iter().skip(output).step_by(outputs)).copied().collect();
        let targets: Vec<f64> = self.targets.iter().map(|&target| f64::from(target)).collect();
        let evaluated = MetricInput {
            targets: &targets,
            weights: self.weights.as_deref(),
            predictions: &predictions,
            groups: None,
        };
        let want = self.objective(objective).metric().evaluate(&evaluated).expect("defined");
        assert_eq!(training.history.last().expect("rounds")[0].value, want, "{objective}, {params:?}");
        training
    }

    /// Creates an objective by name; `huber@` followed by a number allows any `delta`.
    fn objective(&self, name: &str) -> Box<dyn Objective> {
        match name.strip_prefix("huber@") {
            Some(delta) => Box::new(Huber::new(delta.parse().expect("a number")).expect("above 0")),
            None => by_name(name).expect("known name"),
        }
    }

    /// Returns the predictions of the table's own rows.
    pub(crate) fn predictions(&self, training: &Training) -> Vec<f64> {
        let values = self.values();
        let predictor = Predictor::new(&training.model).expect("a trained model");
        predictor.predict(&self.features(&values)).expect("the same features")
    }
}

/// Random parameters without sampling and without estimated row counts.
pub(crate) fn params(random: &mut Random) -> Params {
    Params {
        n_estimators: 1 + random.below(6),
        learning_rate: [0.1, 0.5, 1.0][random.below(3)],
        growth: [Growth::LeafWise, Growth::DepthWise, Growth::Symmetric][random.below(3)],
        num_leaves: [2, 4, 31][random.below(3)],
        max_depth: [None, Some(2)][random.below(2)],
        min_child_samples: 0,
        min_child_weight: [0.0, 1e-3, 2.0][random.below(3)],
        reg_lambda: [0.0, 1.0][random.below(2)],
        ..Params::default()
    }
}

/// Random parameters with any precision; stochastic rounding depends on the positions of the rows.
pub(crate) fn any_precision(random: &mut Random) -> Params {
    let precision = [GradientPrecision::F32, GradientPrecision::Pair8, GradientPrecision::Pair4][random.below(3)];
    Params { gradient_precision: precision, ..params(random) }
}

fn column(random: &mut Random, kind: usize, n_rows: usize) -> Vec<f32> {
    let mut noise = |factor: f64| (factor * (random.unit() * 4.0 - 2.0)) as f32;
    let mut values: Vec<f32> = match kind {
        0 | 1 => (0..n_rows).map(|_| noise(1.0)).collect(),
        2 => (0..n_rows).map(|_| noise(3.0).round()).collect(),
        3 => vec![7.5; n_rows],
        4 => (0..n_rows).map(|_| noise(1e30)).collect(),
        5 => (0..n_rows).map(|_| noise(1e-30)).collect(),
        6 => (0..n_rows).map(|_| 1e6 + noise(8.0).round()).collect(),
        7 => vec![f32::NAN; n_rows],
        _ => (0..n_rows).map(|_| noise(4.0).round() + 8.0).collect(),
    };
    if random.one_in(3) {
        values.iter_mut().filter(|_| random.one_in(4)).for_each(|value| *value = f32::NAN);
    }
    values
}

/// Returns a target that the objective accepts.
fn target(signal: f64, objective: &str) -> f32 {
    match objective {
        "binary" | "focal:2" => f32::from(signal > 0.5),
        "cross_entropy" => (0.5 + signal / 8.0).clamp(0.0, 1.0) as f32,
        "multiclass:3" => f32::from(u8::from(signal > 0.0) + u8::from(signal > 1.0)),
        "poisson" => (signal.abs() + 0.6).round() as f32,
        "gamma" | "tweedie:1.5" => (signal.abs() + 0.1) as f32,
        _ => signal as f32,
    }
}

#[test]
fn every_objective_is_listed() {
    use bitgrain_gbdt::objective::{NAMES, by_name};
    // Objectives that compare rows are undefined on some of these tables.
    let compares = |objective: Box<dyn Objective>| objective.ranks() || objective.needs_all_rows();
    for named in NAMES.iter().filter(|named| !by_name(named.name).is_ok_and(compares)) {
        let listed = OBJECTIVES.iter().any(|name| name.split(':').next() == Some(named.name));
        assert!(listed, "`{}` is missing from OBJECTIVES", named.name);
    }
}
