//! `Scales`: scales as a checkpoint stores them, loaded as one f32 per group.

use super::CheckpointError;
use crate::model::{ModelFileError, ModelTensor};

/// Scales of a matrix. All arrays are row by row.
#[derive(Debug, Clone)]
pub(super) enum Scales {
    /// Floats of any dtype.
    Floats(ModelTensor),
    /// A float for each group of each row, stored as one row per group.
    Transposed(ModelTensor),
    /// Powers of two: the exponent plus 127.
    Exponents(ModelTensor),
    /// Scales that share a factor. `inverse` divides by it.
    Shared { each: ModelTensor, factor: ModelTensor, inverse: bool },
    /// Indices into a table, times a scale per `len` of them, plus `offset` (bitsandbytes).
    Nested { codes: ModelTensor, table: ModelTensor, scales: ModelTensor, len: usize, offset: f32 },
}

impl Scales {
    pub(super) fn arrays(&self) -> Vec<&ModelTensor> {
        match self {
            Self::Floats(one) | Self::Transposed(one) | Self::Exponents(one) => vec![one],
            Self::Shared { each, factor, .. } => vec![each, factor],
            Self::Nested { codes, table, scales, .. } => vec![codes, table, scales],
        }
    }

    /// Loads the scales. Fails if one is not finite.
    pub(super) fn load(&self) -> Result<Vec<f32>, ModelFileError> {
        let scales = match self {
            Self::Floats(scales) => scales.values()?,
            Self::Transposed(scales) => {
                transposed(&scales.values()?, scales.shape.last().map_or(1, |cols| usize::try_from(*cols).unwrap_or(1)))
            }
            Self::Exponents(exponents) => exponents.codes.load()?.iter().map(|code| power(*code)).collect(),
            Self::Shared { each, factor, inverse } => {
                let factor = factor.values()?.first().copied().unwrap_or(1.0);
                let scaled = |scale: f32| if *inverse { scale / factor } else { scale * factor };
                each.values()?.into_iter().map(scaled).collect()
            }
            Self::Nested { codes, table, scales, len, offset } => {
                let (codes, table, scales) = (codes.codes.load()?, table.values()?, scales.values()?);
                let scale = |(i, code): (usize, &u8)| table[usize::from(*code)] * scales[i / len] + offset;
                codes.iter().enumerate().map(scale).collect()
            }
        };
        match scales.iter().position(|scale: &f32| !scale.is_finite()) {
            None => Ok(scales),
            Some(index) => {
                let tensor = self.arrays()[0].name.clone();
                let reason = format!("scale {index} (0-based) is `{}`; scales must be finite", scales[index]);
                Err(ModelFileError::Checkpoint(Box::new(CheckpointError::Value { tensor, reason })))
            }
        }
    }
}

/// Returns 2 to the power of `code - 127`. 255 stands for NaN.
fn power(code: u8) -> f32 {
    match code {
        0 => f32::from_bits(0x0040_0000), // a subnormal: 2 to the power of -127
        255 => f32::NAN,
        _ => f32::from_bits(u32::from(code) << 23),
    }
}

/// Transposes a matrix with `cols` columns.
pub(super) fn transposed(values: &[f32], cols: usize) -> Vec<f32> {
    (0..cols).flat_map(|col| values.iter().skip(col).step_by(cols.max(1)).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_powers_of_two() {
        assert_eq!(
            [power(127), power(128), power(1), power(0)],
            [1.0, 2.0, f32::MIN_POSITIVE, f32::MIN_POSITIVE / 2.0]
        );
        assert!(power(255).is_nan());
        assert_eq!(transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
