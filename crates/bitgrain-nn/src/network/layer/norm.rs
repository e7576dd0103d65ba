//! `LayerNorm` and `RmsNorm`: normalization over the last dimension.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::network::parameter::Init;
use crate::network::site::{Id, Site};
use crate::network::step::{Back, Run, Step};
use crate::network::{InputBatch, NetworkError};

/// Minimum number of vectors per task.
const ROWS: usize = 64;

/// Normalizes to mean 0 and variance 1 over the last dimension, then applies a learned scale and offset per element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LayerNorm {
    /// Added to the variance; positive.
    pub epsilon: f32,
}

/// Normalizes to mean square 1 over the last dimension, then applies a learned scale per element.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RmsNorm {
    /// Added to the mean square; positive.
    pub epsilon: f32,
}

impl LayerNorm {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        build(site, self.epsilon, true)
    }
}

impl RmsNorm {
    pub(super) fn build(&self, site: &mut Site<'_>) -> Result<Box<dyn Step>, NetworkError> {
        build(site, self.epsilon, false)
    }
}

fn build(site: &mut Site<'_>, epsilon: f32, centered: bool) -> Result<Box<dyn Step>, NetworkError> {
    let len = site.last()?;
    if !(epsilon > 0.0 && epsilon.is_finite()) {
        return Err(site.setting("epsilon", epsilon));
    }
    let weight = site.vector("weight", len, Init::Constant(1.0))?;
    let bias = if centered { Some(site.vector("bias", len, Init::Constant(0.0))?) } else { None };
    Ok(Box::new(Built { weight, bias, epsilon, len }))
}

/// Both norms. `LayerNorm` subtracts the mean and has a bias.
#[derive(Debug)]
struct Built {
    weight: Id,
    bias: Option<Id>,
    epsilon: f32,
    len: usize,
}

impl Built {
    /// Returns the mean to subtract (0 without a bias) and the factor that normalizes the row.
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    fn size(&self, row: &[f32]) -> (f32, f32) {
        let count = self.len as f32;
        let mean = if self.bias.is_some() { sum(row, |x| x) / count } else { 0.0 };
        let square = sum(row, |x| (x - mean) * (x - mean)) / count;
        (mean, 1.0 / (square + self.epsilon).sqrt())
    }
}

/// Sums in eight independent accumulators. A single one would be a chain of dependent additions, which cannot be
/// vectorized.
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = row.as_chunks::<8>();
    let mut sums = [0.0_f32; 8];
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, x)| *sum += of(*x));
    }
    sums.iter().sum::<f32>() + rest.iter().map(|x| of(*x)).sum::<f32>()
}

impl Step for Built {
    fn forward(&self, mut x: InputBatch, run: &mut Run<'_>) -> Result<InputBatch, NetworkError> {
        if run.is_training() {
            run.save(x.clone());
        }
        let weight = run.values(self.weight)?;
        let bias = self.bias.map(|bias| run.values(bias)).transpose()?;
        x.values_mut().par_chunks_exact_mut(self.len).with_min_len(ROWS).for_each(|row| {
            let (mean, factor) = self.size(row);
            row.iter_mut().zip(&*weight).for_each(|(x, weight)| *x = (*x - mean) * factor * weight);
            if let Some(bias) = &bias {
                row.iter_mut().zip(&**bias).for_each(|(x, bias)| *x += bias);
            }
        });
        Ok(x)
    }

    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    fn backward(&self, mut dy: InputBatch, back: &mut Back<'_>) -> InputBatch {
        let (x, weight, count) = (back.saved(), back.values(self.weight), self.len as f32);
        for (row, dy) in x.values().chunks_exact(self.len).zip(dy.values_mut().chunks_exact_mut(self.len)) {
            let (mean, factor) = self.size(row);
            if let Some(bias) = self.bias {
                back.gradient(bias).iter_mut().zip(&*dy).for_each(|(sum, dy)| *sum += dy);
            }
            let sums = back.gradient(self.weight);
            sums.iter_mut().zip(row).zip(&*dy).for_each(|((sum, x), dy)| *sum += dy * (x - mean) * factor);
            dy.iter_mut().zip(weight).for_each(|(dy, weight)| *dy *= weight);
            // The normalization depends on all elements through the variance (`along`) and the mean (`level`).
            let along = dy.iter().zip(row).map(|(dy, x)| dy * (x - mean) * factor).sum::<f32>() / count;
            let level = if self.bias.is_some() { dy.iter().sum::<f32>() / count } else { 0.0 };
            for (dy, x) in dy.iter_mut().zip(row) {
                *dy = factor * (*dy - level - (x - mean) * factor * along);
            }
        }
        dy
    }
}
