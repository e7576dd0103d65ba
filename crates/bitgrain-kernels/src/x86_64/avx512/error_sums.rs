//! Error sums: the portable loop, compiled for these registers.

use crate::ErrorSums;
use crate::scalar::error_sums_inline;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2")]
pub(crate) fn error_sums(original: &[f32], decoded: &[f32]) -> ErrorSums {
    error_sums_inline(original, decoded)
}
