//! `LowRank`: the update of a matrix, as the product of two factors, with a new length of each row for DoRA.

use super::config::Config;
use super::{AdapterError, shape};
use crate::model::{ModelFileError, ModelTensor};

/// `scale B A`, in the layout of the matrix that it is added to.
#[derive(Debug, Clone)]
pub(crate) struct LowRank {
    /// Row factors: rank numbers per row of the matrix.
    left: ModelTensor,
    /// Column factors: rank numbers per column.
    right: ModelTensor,
    /// Whether `left` has one row per rank instead of one per row of the matrix.
    left_by_rank: bool,
    right_by_rank: bool,
    rank: usize,
    scale: f32,
    /// Length of each row after the update (DoRA).
    magnitudes: Option<ModelTensor>,
}

impl LowRank {
    /// Checks the shapes of the factors `a` (rank by inputs) and `b` (outputs by rank) of a module.
    pub(super) fn new(
        base: &ModelTensor,
        a: ModelTensor,
        b: ModelTensor,
        config: &Config,
        module: &str,
        embedding: bool,
    ) -> Result<Self, AdapterError> {
        let ([rows, cols], [rank, inputs]) = (matrix(base)?, matrix(&a)?);
        let [outputs, other] = matrix(&b)?;
        // An embedding has a row per input, and so have matrices that are stored transposed.
        let transposed = embedding || config.transposed;
        let (wanted_inputs, wanted_outputs) = if transposed { (rows, cols) } else { (cols, rows) };
        if inputs != wanted_inputs {
            return Err(shape(&a, format!("[{rank}, {wanted_inputs}]")));
        }
        if [outputs, other] != [wanted_outputs, rank] {
            return Err(shape(&b, format!("[{wanted_outputs}, {rank}]")));
        }
        let wide = || shape(&a, "a rank below 2^16".to_owned());
        let small = u16::try_from(rank).ok().filter(|rank| *rank > 0).ok_or_else(wide)?;
        let scale = config.scale(module, small.into());
        let (left, right) = if transposed { (a, b) } else { (b, a) };
        let (left_by_rank, right_by_rank) = (transposed, !transposed);
        Ok(Self { left, right, left_by_rank, right_by_rank, rank: small.into(), scale, magnitudes: None })
    }

    /// Sets the lengths of the rows of a matrix that is not stored transposed.
    pub(super) fn with_magnitudes(self, base: &ModelTensor, magnitudes: ModelTensor) -> Result<Self, AdapterError> {
        let rows = base.rows();
        if magnitudes.elements() == rows && magnitudes.storage.is_float() {
            Ok(Self { magnitudes: Some(magnitudes), ..self })
        } else {
            Err(shape(&magnitudes, format!("[{rows}]")))
        }
    }

    pub(crate) fn load(&self) -> Result<LowRankRows, ModelFileError> {
        let by_rank = |factor: &ModelTensor, is: bool, wanted: bool| -> Result<Vec<f32>, ModelFileError> {
            let values = factor.values()?;
            if is == wanted {
                return Ok(values);
            }
            let cols = usize::try_from(factor.cols()).unwrap_or(0);
            Ok((0..cols).flat_map(|col| values.iter().skip(col).step_by(cols.max(1)).copied()).collect())
        };
        Ok(LowRankRows {
            left: by_rank(&self.left, self.left_by_rank, false)?,
            right: by_rank(&self.right, self.right_by_rank, true)?,
            rank: self.rank,
            scale: self.scale,
            magnitudes: self.magnitudes.as_ref().map(ModelTensor::values).transpose()?,
        })
    }
}

fn matrix(tensor: &ModelTensor) -> Result<[u64; 2], AdapterError> {
    <[u64; 2]>::try_from(&tensor.shape[..]).map_err(|_| shape(tensor, "a matrix".to_owned()))
}

/// Loaded factors: `left` row by row, `right` rank by rank.
#[derive(Debug)]
pub(crate) struct LowRankRows {
    left: Vec<f32>,
    right: Vec<f32>,
    rank: usize,
    scale: f32,
    magnitudes: Option<Vec<f32>>,
}

impl LowRankRows {
    /// Adds the update to rows of `cols` values, from row `first`, and scales them to their new lengths.
    pub(crate) fn apply(&self, first: usize, cols: usize, out: &mut [f32]) {
        let mut sum = vec![0.0_f32; cols];
        let factors = self.left.chunks_exact(self.rank).skip(first);
        for (factors, out) in factors.zip(out.chunks_exact_mut(cols.max(1))) {
            sum.fill(0.0);
            for (factor, right) in factors.iter().zip(self.right.chunks_exact(cols.max(1))) {
                sum.iter_mut().zip(right).for_each(|(sum, right)| *sum += factor * right);
            }
            out.iter_mut().zip(&sum).for_each(|(out, sum)| *out += sum * self.scale);
        }
        let magnitudes = self.magnitudes.iter().flatten().skip(first);
        magnitudes.zip(out.chunks_exact_mut(cols.max(1))).for_each(|(magnitude, row)| scale_to(row, *magnitude));
    }
}

/// Scales a vector to a length. Zeros have no direction and stay zeros.
#[expect(clippy::cast_possible_truncation, reason = "the factor of f32 values")]
fn scale_to(row: &mut [f32], length: f32) {
    let squares: f64 = row.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    if squares > 0.0 {
        let factor = (f64::from(length) / squares.sqrt()) as f32;
        row.iter_mut().for_each(|x| *x *= factor);
    }
}
