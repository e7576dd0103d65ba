//! What is different between two models, tensor by tensor.

use std::collections::HashMap;

use bitgrain_codec::Fidelity;
use bitgrain_codec::weight::optimum;
use bitgrain_kernels::{Backend, ErrorSums, error_sums};
use serde::Serialize;

use crate::model::pieces::{self, Progress};
use crate::model::stats::{BARS, histogram};
use crate::model::{ModelFile, ModelFileError, ModelTensor};

/// Two models side by side.
#[derive(Debug, Clone, Serialize)]
pub struct ModelComparison {
    /// Tensors that both have, in the order of the first.
    pub tensors: Vec<Row>,
    /// All weights together, each counting once. Integers such as positions do not count: their size would hide any
    /// error.
    pub overall: Figures,
    /// Names that only the first has.
    pub only_in_first: Vec<String>,
    /// Names that only the second has.
    pub only_in_second: Vec<String>,
    /// Names of tensors that cannot be compared, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Bytes of the first's tensors.
    pub first_bytes: u64,
    /// Bytes of the second's tensors.
    pub second_bytes: u64,
}

impl ModelComparison {
    /// How many times smaller the second model is than the first, or larger.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio to show")]
    pub fn size_change(&self) -> (f64, &'static str) {
        let (first, second) = (self.first_bytes.max(1) as f64, self.second_bytes.max(1) as f64);
        if second > first { (second / first, "larger") } else { (first / second, "smaller") }
    }
}

/// One tensor in both.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its shape, outermost first.
    pub shape: Vec<u64>,
    /// How the first stores it.
    pub first: String,
    /// How the second stores it.
    pub second: String,
    /// Bytes in the first.
    pub first_bytes: u64,
    /// Bytes in the second.
    pub second_bytes: u64,
    /// What was lost.
    pub figures: Figures,
    /// The signal-to-noise ratio in dB that the best quantizer with as many levels reaches on normally distributed
    /// weights; `None` if the second stores floats.
    pub optimum_db: Option<f64>,
    /// The ratio in dB that nothing at as many bits per weight can pass on such weights.
    pub limit_db: f64,
    /// Values of the first and of the second in equal parts of the range of both.
    pub histograms: [Vec<u64>; 2],
    /// That range.
    pub range: (f32, f32),
}

impl Row {
    /// How many numbers it holds.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Whether nothing is different.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.figures.exact
    }
}

/// How far two tensors are apart.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figures {
    /// Cosine of the angle between them.
    pub cosine: f64,
    /// Largest difference.
    pub max_error: f64,
    /// Root mean square of the differences.
    pub rmse: f64,
    /// That over the root mean square of the first.
    pub relative_rmse: f64,
    /// Whether nothing that counts is different. JSON has no infinity, so there only this tells an exact copy from one
    /// that is infinitely wrong: `snr_db` is null for both.
    pub exact: bool,
    /// Signal-to-noise ratio in dB; `None` if nothing is different.
    pub snr_db: Option<f64>,
    /// Numbers that are NaN or infinite in the first, and count in none of the figures.
    pub non_finite: u64,
    /// Numbers that are NaN or infinite in the second and finite in the first: infinite errors.
    pub non_finite_in_second: u64,
}

impl From<Fidelity> for Figures {
    fn from(cost: Fidelity) -> Self {
        let exact = cost.relative_rmse == 0.0;
        Self {
            cosine: cost.cosine,
            max_error: cost.max_error,
            rmse: cost.rms_error,
            relative_rmse: cost.relative_rmse,
            exact,
            snr_db: (!exact).then(|| optimum::decibels(cost.relative_rmse)),
            non_finite: cost.skipped as u64,
            non_finite_in_second: 0,
        }
    }
}

/// Compares every tensor that both models have.
///
/// # Errors
/// [`ModelFileError::Interrupted`] if `progress` says so, and what reading brings. Tensors that cannot be dequantized, or have different shapes, are listed instead.
pub fn compare(
    first: &ModelFile,
    second: &ModelFile,
    progress: &dyn Progress,
) -> Result<ModelComparison, ModelFileError> {
    let (in_first, in_second) = (by_name(first), by_name(second));
    let (mut tensors, mut skipped) = (Vec::new(), Vec::new());
    let (mut sums, mut count, mut broken) = (ErrorSums::default(), 0, 0);
    for a in first.tensors() {
        let Some(b) = in_second.get(a.name.as_str()) else { continue };
        pieces::go_on(progress)?;
        progress.tensor(&a.name);
        match row(a, b) {
            Ok((row, here, weights)) => {
                if a.storage.format().is_some() {
                    sums = sums.and(here);
                    count += weights;
                    broken += row.figures.non_finite_in_second;
                }
                tensors.push(row);
            }
            Err(Skip::Reason(reason)) => skipped.push((a.name.clone(), reason)),
            Err(Skip::Error(error)) => return Err(error),
        }
        progress.add(a.bytes());
    }
    let only = |model: &ModelFile, other: &HashMap<&str, &ModelTensor>| {
        model.tensors().iter().map(|t| t.name.clone()).filter(|name| !other.contains_key(name.as_str())).collect()
    };
    Ok(ModelComparison {
        tensors,
        overall: Figures { non_finite_in_second: broken, ..Fidelity::of(sums, count).into() },
        only_in_first: only(first, &in_second),
        only_in_second: only(second, &in_first),
        skipped,
        first_bytes: first.bytes(),
        second_bytes: second.bytes(),
    })
}

/// Bytes of the first model that [`compare`] tells a [`Progress`] about: of the tensors that the second has too.
#[must_use]
pub fn work(first: &ModelFile, second: &ModelFile) -> u64 {
    let names = by_name(second);
    first.tensors().iter().filter(|tensor| names.contains_key(tensor.name.as_str())).map(ModelTensor::bytes).sum()
}

fn by_name(model: &ModelFile) -> HashMap<&str, &ModelTensor> {
    model.tensors().iter().map(|tensor| (tensor.name.as_str(), tensor)).collect()
}

/// Why a tensor has no row.
enum Skip {
    Reason(String),
    Error(ModelFileError),
}

fn row(a: &ModelTensor, b: &ModelTensor) -> Result<(Row, ErrorSums, usize), Skip> {
    if a.shape != b.shape {
        return Err(Skip::Reason(format!("shapes {:?} and {:?}", a.shape, b.shape)));
    }
    let load = |tensor: &ModelTensor| {
        tensor.load().map_err(|error| match error {
            ModelFileError::Unreadable { kind, .. } => Skip::Reason(format!("{kind} cannot be dequantized")),
            other => Skip::Error(other),
        })
    };
    let (left, right) = (load(a)?, load(b)?);
    let runs = pieces::runs(&left);
    let other = |i: usize, values: &mut Vec<f32>| {
        values.resize(runs[i].len() * right.cols(), 0.0);
        right.decode(runs[i].clone(), values)
    };
    let piece = |i: usize, x: &mut [f32], y: &mut Vec<f32>| {
        other(i, y)?;
        let sums = error_sums(Backend::best(), x, y).map_err(|e| ModelFileError::codec(&a.name)(e.into()))?;
        Ok((sums, broken(x, y, sums), range(x, range(y, EMPTY))))
    };
    let pieces_found = pieces::map(&left, &runs, piece).map_err(Skip::Error)?;
    let (mut sums, mut non_finite_in_second, mut ends) = (ErrorSums::default(), 0, EMPTY);
    for (here, broken, (lo, hi)) in pieces_found {
        sums = sums.and(here);
        non_finite_in_second += broken;
        ends = (ends.0.min(lo), ends.1.max(hi));
    }
    let (lo, hi) = if ends.0 <= ends.1 { ends } else { (0.0, 0.0) };
    let bars = |i: usize, x: &mut [f32], y: &mut Vec<f32>| {
        other(i, y)?;
        Ok([histogram(x, lo, hi), histogram(y, lo, hi)])
    };
    let mut histograms = [vec![0; BARS], vec![0; BARS]];
    for both in pieces::map(&left, &runs, bars).map_err(Skip::Error)? {
        for (all, bars) in histograms.iter_mut().zip(both) {
            all.iter_mut().zip(bars).for_each(|(all, bar)| *all += bar);
        }
    }
    let quantized = b.storage.format().filter(|_| !b.storage.is_float());
    let row = Row {
        name: a.name.clone(),
        shape: a.shape.clone(),
        first: a.storage.to_string(),
        second: b.storage.to_string(),
        first_bytes: a.bytes(),
        second_bytes: b.bytes(),
        figures: Figures { non_finite_in_second, ..Fidelity::of(sums, left.len()).into() },
        optimum_db: quantized.map(|format| optimum::decibels(format.optimum())),
        limit_db: optimum::decibels(optimum::bound(b.bits_per_weight())),
        histograms,
        range: (lo, hi),
    };
    Ok((row, sums, left.len()))
}

/// How many values are finite in the first and not in the second. Their errors are infinite, so finite sums have none.
fn broken(x: &[f32], y: &[f32], sums: ErrorSums) -> u64 {
    if sums.squares.is_finite() {
        return 0;
    }
    x.iter().zip(y).filter(|(x, y)| x.is_finite() && !y.is_finite()).count() as u64
}

const EMPTY: (f32, f32) = (f32::INFINITY, f32::NEG_INFINITY);

fn range(values: &[f32], start: (f32, f32)) -> (f32, f32) {
    values.iter().filter(|x| x.is_finite()).fold(start, |(lo, hi), &x| (lo.min(x), hi.max(x)))
}
