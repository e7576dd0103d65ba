//! Comparison of two models, tensor by tensor.

use std::collections::HashMap;

use bitgrain_codec::Fidelity;
use bitgrain_codec::weight::optimum;
use bitgrain_kernels::{Backend, ErrorSums, error_sums};
use serde::Serialize;

use crate::model::pieces::{self, Progress};
use crate::model::stats::{HISTOGRAM_BINS, histogram};
use crate::model::{ModelFile, ModelFileError, ModelTensor};

/// Differences between two models.
#[derive(Debug, Clone, Serialize)]
pub struct ModelComparison {
    /// Tensors in both models, in the order of the first.
    pub tensors: Vec<Row>,
    /// Errors over all weights, each counted once. Integer tensors such as position indices are excluded: their
    /// magnitude would hide any error.
    pub overall: ErrorStats,
    /// Names of tensors only in the first model.
    pub only_in_first: Vec<String>,
    /// Names of tensors only in the second model.
    pub only_in_second: Vec<String>,
    /// Names of tensors that cannot be compared, with the reason.
    pub skipped: Vec<(String, String)>,
    /// Size of the first model's tensors in bytes.
    pub first_bytes: u64,
    /// Size of the second model's tensors in bytes.
    pub second_bytes: u64,
}

impl ModelComparison {
    /// Returns the ratio of the two sizes, at least 1, and whether the second model is `"smaller"` or `"larger"`.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio for display")]
    pub fn size_change(&self) -> (f64, &'static str) {
        let (first, second) = (self.first_bytes.max(1) as f64, self.second_bytes.max(1) as f64);
        if second > first { (second / first, "larger") } else { (first / second, "smaller") }
    }
}

/// A tensor that both models have.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// Name of the tensor.
    pub name: String,
    /// Shape, outermost dimension first.
    pub shape: Vec<u64>,
    /// Encoding in the first model.
    pub first: String,
    /// Encoding in the second model.
    pub second: String,
    /// Size in the first model in bytes.
    pub first_bytes: u64,
    /// Size in the second model in bytes.
    pub second_bytes: u64,
    /// Error of the second model relative to the first.
    pub figures: ErrorStats,
    /// Signal-to-noise ratio in dB of the optimal scalar quantizer with the same number of levels on normally
    /// distributed weights; `None` if the second model stores floats.
    pub optimum_db: Option<f64>,
    /// Upper bound in dB (rate-distortion limit) for normally distributed weights at the same bits per weight.
    pub limit_db: f64,
    /// Histograms of both tensors over `range`.
    pub histograms: [Vec<u64>; 2],
    /// Smallest and largest finite value in either tensor.
    pub range: (f32, f32),
}

impl Row {
    /// Returns the number of values.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.shape.iter().product()
    }

    /// Returns whether both tensors have equal values.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.figures.exact
    }
}

/// Error figures of one tensor relative to another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ErrorStats {
    /// Cosine similarity.
    pub cosine: f64,
    /// Largest absolute difference.
    pub max_error: f64,
    /// Root mean square of the differences.
    pub rmse: f64,
    /// `rmse` divided by the root mean square of the first tensor.
    pub relative_rmse: f64,
    /// Whether all finite values are equal. JSON cannot represent infinity, so `snr_db` is null both for an exact copy
    /// and for an infinite error; this flag tells them apart.
    pub exact: bool,
    /// Signal-to-noise ratio in dB; `None` if `exact`.
    pub snr_db: Option<f64>,
    /// Number of values that are NaN or infinite in the first tensor. They are excluded from all other figures.
    pub non_finite: u64,
    /// Number of values that are finite in the first tensor and NaN or infinite in the second: infinite errors.
    pub non_finite_in_second: u64,
}

impl From<Fidelity> for ErrorStats {
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

/// Compares all tensors that both models have.
///
/// # Errors
/// Returns [`ModelFileError::Interrupted`] if `progress` cancels, and I/O errors. Tensors that cannot be dequantized or
/// whose shapes differ are listed in [`ModelComparison::skipped`] instead.
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
        pieces::check_interrupt(progress)?;
        progress.tensor(&a.name);
        match row(a, b) {
            Ok((row, here, weights)) => {
                if a.storage.format().is_some() {
                    sums = sums.merge(here);
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
        overall: ErrorStats { non_finite_in_second: broken, ..Fidelity::of(sums, count).into() },
        only_in_first: only(first, &in_second),
        only_in_second: only(second, &in_first),
        skipped,
        first_bytes: first.bytes(),
        second_bytes: second.bytes(),
    })
}

/// Returns the bytes that [`compare`] reports to a [`Progress`]: the first model's size of the tensors in both.
#[must_use]
pub fn progress_total(first: &ModelFile, second: &ModelFile) -> u64 {
    let names = by_name(second);
    first.tensors().iter().filter(|tensor| names.contains_key(tensor.name.as_str())).map(ModelTensor::bytes).sum()
}

fn by_name(model: &ModelFile) -> HashMap<&str, &ModelTensor> {
    model.tensors().iter().map(|tensor| (tensor.name.as_str(), tensor)).collect()
}

/// Reason why a tensor has no row.
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
        sums = sums.merge(here);
        non_finite_in_second += broken;
        ends = (ends.0.min(lo), ends.1.max(hi));
    }
    let (lo, hi) = if ends.0 <= ends.1 { ends } else { (0.0, 0.0) };
    // A second pass over both tensors: the bins need the common range, which is known only now.
    let bars = |i: usize, x: &mut [f32], y: &mut Vec<f32>| {
        other(i, y)?;
        Ok([histogram(x, lo, hi), histogram(y, lo, hi)])
    };
    let mut histograms = [vec![0; HISTOGRAM_BINS], vec![0; HISTOGRAM_BINS]];
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
        figures: ErrorStats { non_finite_in_second, ..Fidelity::of(sums, left.len()).into() },
        optimum_db: quantized.map(|format| optimum::decibels(format.optimum())),
        limit_db: optimum::decibels(optimum::bound(b.bits_per_weight())),
        histograms,
        range: (lo, hi),
    };
    Ok((row, sums, left.len()))
}

/// Counts values that are finite in `x` but not in `y`. Each such pair makes `sums.squares` infinite, so finite sums
/// need no second pass.
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
