//! Error sums: the portable loop, compiled for these registers.

use crate::ErrorSums;
use crate::scalar::error_sums_inline;

#[target_feature(enable = "avx2,fma,f16c")]
pub(crate) fn error_sums(original: &[f32], decoded: &[f32]) -> ErrorSums {
    error_sums_inline(original, decoded)
}
