//! Fallback formats, for rows whose length is not a multiple of the requested format's block length.

use alloc::vec::Vec;

use super::{BlockLen, Calibration, DType, GgmlBlock, ScaledFormat, WeightFormat};

/// Formats with blocks of 32 weights.
const NARROW: [GgmlBlock; 6] =
    [GgmlBlock::Q4_0, GgmlBlock::IQ4_NL, GgmlBlock::Q4_1, GgmlBlock::Q5_0, GgmlBlock::Q5_1, GgmlBlock::Q8_0];

/// Weights of their blocks, and of the groups of the dtypes that replace them.
const NARROW_WEIGHTS: usize = GgmlBlock::Q4_0.weights();

impl WeightFormat {
    /// Returns the formats that may replace this one for rows of `cols` weights, limited to those that the caller
    /// `can_hold`. The caller uses the one with the smallest measured error, or keeps floats if the list is empty.
    ///
    /// If `cols` is a multiple of the block length, this format itself is returned. For other multiples of 32, the
    /// candidates are the formats with blocks of 32 that are not larger than this one, or the smallest ones if all are
    /// larger. For other lengths, and for ternary blocks, the candidate is the dtype with as many bits (or the next wider
    /// one) and a scale per 32 weights.
    ///
    /// ```
    /// use bitgrain_codec::weight::WeightFormat;
    /// let names = |format: WeightFormat, cols| -> Vec<String> {
    ///     format.fallbacks(cols, |_| true).iter().map(ToString::to_string).collect()
    /// };
    /// let q4_k: WeightFormat = "q4_k".parse()?;
    /// assert_eq!(names(q4_k, 512), ["q4_k"]);
    /// assert_eq!(names(q4_k, 96), ["q4_0", "iq4_nl"]); // 4.5 bits per weight, as q4_k
    /// assert_eq!(names(q4_k, 10), ["int4/32"]);
    /// # Ok::<(), bitgrain_codec::CodecErr>(())
    /// ```
    #[must_use]
    pub fn fallbacks(self, cols: usize, can_hold: impl Fn(Self) -> bool) -> Vec<Self> {
        if cols.is_multiple_of(self.block()) {
            return [self].into();
        }
        let dtype = self.grouped_dtype();
        let narrow_fits = cols.is_multiple_of(NARROW_WEIGHTS);
        // Blocks of 32 have no ternary format: the smallest would be more than twice as large.
        let ternary = matches!(self, Self::Ggml(GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0));
        if (ternary || !narrow_fits) && can_hold(dtype) {
            return [dtype].into();
        }
        if !narrow_fits {
            return Vec::new();
        }
        // Blocks have the same size in every row, so checking one block is enough.
        let bits = |format: Self| format.bits_per_weight(1, format.block()).unwrap_or(f64::INFINITY);
        let narrow = NARROW.map(Self::Ggml);
        let smallest = narrow.iter().map(|format| bits(*format)).fold(f64::INFINITY, f64::min);
        let limit = bits(self).max(smallest);
        narrow.into_iter().filter(|format| bits(*format) <= limit && can_hold(*format)).collect()
    }

    fn grouped_dtype(self) -> Self {
        let Self::Ggml(block) = self else { return grouped(DType::Int4) };
        grouped(match block {
            GgmlBlock::TQ1_0 | GgmlBlock::TQ2_0 => DType::Ternary,
            GgmlBlock::MXFP4 => DType::Fp4,
            GgmlBlock::Q4_1 => DType::Uint4,
            GgmlBlock::Q5_0 | GgmlBlock::Q5_1 | GgmlBlock::Q8_0 | GgmlBlock::Q5_K | GgmlBlock::Q6_K => DType::Int8,
            GgmlBlock::Q4_0 | GgmlBlock::IQ4_NL | GgmlBlock::Q2_K | GgmlBlock::Q3_K | GgmlBlock::Q4_K => DType::Int4,
        })
    }
}

fn grouped(dtype: DType) -> WeightFormat {
    let scaled = ScaledFormat::new(dtype).with_calibration(Calibration::MeanSquaredError);
    BlockLen::new(NARROW_WEIGHTS).map_or(scaled, |len| scaled.with_group_len(len)).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fallback_fits_the_rows() {
        let wide = WeightFormat::all().filter(|format| format.block() > 1);
        for (format, cols) in wide.flat_map(|format| [1, 10, 32, 96, 256, 300].map(|cols| (format, cols))) {
            let all = format.fallbacks(cols, |_| true);
            assert!(!all.is_empty(), "{format} {cols}");
            for other in all {
                assert!(other.sizes(1, cols).is_ok(), "{format} {cols}: {other}");
                assert!(other == format || !cols.is_multiple_of(format.block()), "{format} {cols}: {other}");
            }
        }
    }
}
