//! Training on several workers: the model of one process, and errors that reach every worker.

mod failures;
mod resume;
mod same;
mod shards;

use std::ops::Range;

use bitgrain_gbdt::Groups;
use bitgrain_gbdt::distributed::{self, Communicator, LocalGroup, Shard};
use bitgrain_gbdt::feature::{Features, Quantizer};
use bitgrain_gbdt::gradient::GradientPrecision;
use bitgrain_gbdt::metric;
use bitgrain_gbdt::model::Model;
use bitgrain_gbdt::objective::by_name;
use bitgrain_gbdt::train::{Dataset, Params, TrainError, Trainer, Training};

/// Small trees of quantized gradients.
fn small() -> Params {
    Params {
        n_estimators: 5,
        num_leaves: 15,
        min_child_samples: 5,
        gradient_precision: GradientPrecision::Pair8,
        ..Params::default()
    }
}

/// Reproducible random number in 0..1 for a row and a column.
fn share(row: usize, column: u64) -> f32 {
    let mut x = (row as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (column + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
    x = (x ^ x >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    ((x ^ x >> 32) >> 40) as f32 / 16_777_216.0
}

const FEATURES: usize = 5;

/// Rows of five features: two numbers, one with missing values, a code of 20 categories, three values. Columns are stored
/// by row.
#[derive(Clone)]
struct Rows {
    values: Vec<f32>,
    targets: Vec<f32>,
    weights: Option<Vec<f32>>,
    sizes: Option<Vec<usize>>,
}

impl Rows {
    fn new(n_rows: usize) -> Self {
        let (mut values, mut targets) = (Vec::new(), Vec::new());
        for row in 0..n_rows {
            let (a, b) = (share(row, 0), share(row, 1));
            let missing = if share(row, 2) < 0.2 { f32::NAN } else { share(row, 3) };
            let code = (share(row, 4) * share(row, 5) * 20.0).floor();
            let three = (share(row, 6) * 3.0).floor();
            values.extend([a, b, missing, code, three]);
            let known = if missing.is_nan() { 0.7 } else { missing };
            targets.push(a * a + three * b + known + (code * 7.0 % 5.0) / 5.0 + share(row, 7) * 0.1);
        }
        Self { values, targets, weights: None, sizes: None }
    }

    fn weighted(mut self) -> Self {
        // Some weights are 0.
        let weight = |row| (share(row, 8) * 1.5 - 0.2).max(0.0);
        self.weights = Some((0..self.targets.len()).map(weight).collect());
        self
    }

    fn with_targets(mut self, of: impl Fn(f32) -> f32) -> Self {
        self.targets.iter_mut().for_each(|target| *target = of(*target));
        self
    }

    /// Returns a range of the rows.
    fn part(&self, rows: Range<usize>) -> Self {
        Self {
            values: self.values[rows.start * FEATURES..rows.end * FEATURES].to_vec(),
            targets: self.targets[rows.clone()].to_vec(),
            weights: self.weights.as_ref().map(|weights| weights[rows.clone()].to_vec()),
            sizes: self.sizes.as_ref().map(|sizes| {
                let mut start = 0;
                let is_own = |size: &usize| {
                    start += size;
                    rows.contains(&(start - size))
                };
                sizes.iter().copied().filter(is_own).collect()
            }),
        }
    }

    fn features(&self) -> Features<'_> {
        let features = Features::row_major(&self.values[..], self.targets.len(), FEATURES).expect("complete rows");
        features.with_categorical(&[3]).expect("a feature")
    }

    fn groups(&self) -> Option<Groups> {
        self.sizes.as_ref().map(|sizes| Groups::from_sizes(sizes, self.targets.len()).expect("sizes of all rows"))
    }

    fn dataset(&self, quantizer: &Quantizer) -> Dataset {
        let data = Dataset::new(&self.features(), self.targets.clone(), self.weights.clone(), quantizer);
        let data = data.expect("valid rows");
        match self.groups() {
            Some(groups) => data.with_groups(groups).expect("groups of all rows"),
            None => data,
        }
    }

    fn like(&self, data: &Dataset) -> Dataset {
        if self.targets.is_empty() {
            return data.without_rows();
        }
        let valid = data.like(&self.features(), self.targets.clone(), self.weights.clone()).expect("the same features");
        match self.groups() {
            Some(groups) => valid.with_groups(groups).expect("groups of all rows"),
            None => valid,
        }
    }

    fn shard(&self, group: &dyn Communicator, quantizer: &Quantizer) -> Result<Dataset, TrainError> {
        if self.targets.is_empty() {
            return distributed::dataset(group, Shard::empty(), quantizer);
        }
        let features = self.features();
        let shard = Shard::new(&features, self.targets.clone(), self.weights.clone());
        let shard = match self.groups() {
            Some(groups) => shard.with_groups(groups),
            None => shard,
        };
        distributed::dataset(group, shard, quantizer)
    }
}

/// Settings of a training.
struct Task {
    params: Params,
    objective: &'static str,
    metrics: &'static [&'static str],
    quantizer: Quantizer,
}

impl Task {
    fn new(params: Params, objective: &'static str) -> Self {
        Self { params, objective, metrics: &[], quantizer: Quantizer::default() }
    }

    fn trainer<'a>(&self) -> Trainer<'a> {
        let trainer = Trainer::new(self.params.clone(), by_name(self.objective).expect("a known name"));
        self.metrics.iter().fold(trainer, |trainer, name| trainer.metric(metric::by_name(name).expect("a known name")))
    }

    /// Trains in one process.
    fn alone(&self, rows: &Rows, valid: Option<&Rows>) -> Training {
        let mut data = rows.dataset(&self.quantizer);
        let valid = valid.map(|valid| valid.like(&data));
        let trainer = valid.iter().fold(self.trainer(), Trainer::valid);
        trainer.train(&mut data).expect("valid data")
    }

    /// Trains on workers with these shards.
    fn on(&self, shards: &[Rows], valid: Option<&[Rows]>) -> Vec<Result<Training, TrainError>> {
        LocalGroup::run(shards.len(), |group| {
            let mut data = shards[group.rank()].shard(group, &self.quantizer)?;
            let valid = valid.map(|valid| valid[group.rank()].like(&data));
            let trainer = valid.iter().fold(self.trainer(), Trainer::valid);
            trainer.distributed(group).train(&mut data)
        })
    }
}

/// Ends of the shards of each number of workers: uneven, and one worker without rows.
fn divisions(n_rows: usize) -> Vec<Vec<Range<usize>>> {
    let of = |ends: &[usize]| -> Vec<Range<usize>> {
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(ends.iter().copied().chain([n_rows])).map(|(start, end)| start..end).collect()
    };
    let sevenths: Vec<usize> = (1..7).map(|at| n_rows * at * at / 49).collect();
    vec![of(&[]), of(&[n_rows / 3]), of(&[n_rows / 10, n_rows / 10]), of(&sevenths)]
}

fn bytes(model: &Model) -> Vec<u8> {
    model.to_bytes().expect("a valid model")
}
