//! Conversions between f32 slices and short float formats: round to nearest, ties to even.

use crate::backend::on;
use crate::minifloat::{E2M1, E4M3, E5M2};
use crate::{Backend, KernelError};

/// Defines both directions of a format, with a common length check.
macro_rules! conversion {
    ($name:literal, $code:ty, $from:ident, $to:ident, $from_kernel:ident, $to_kernel:ident $(::<$format:ty>)?, $rule:literal) => {
        #[doc = concat!("Converts f32 to ", $name, ". Returns the number of values.\n\n", $rule)]
        ///
        /// # Errors
        /// Returns [`KernelError::OutputTooSmall`] if `out` is shorter than `values`.
        pub fn $from(backend: Backend, values: &[f32], out: &mut [$code]) -> Result<usize, KernelError> {
            let required = values.len();
            let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
            on!(backend, $from_kernel $(::<$format>)? (values, out));
            Ok(required)
        }

        #[doc = concat!("Converts ", $name, " to f32. Returns the number of values.\n\nExact, except that a signaling NaN may become quiet.")]
        ///
        /// # Errors
        /// Returns [`KernelError::OutputTooSmall`] if `out` is shorter than `codes`.
        pub fn $to(backend: Backend, codes: &[$code], out: &mut [f32]) -> Result<usize, KernelError> {
            let required = codes.len();
            let out = out.get_mut(..required).ok_or(KernelError::OutputTooSmall { required })?;
            on!(backend, $to_kernel $(::<$format>)? (codes, out));
            Ok(required)
        }
    };
}

conversion!(
    "IEEE half precision",
    u16,
    f16_from_f32,
    f16_to_f32,
    f16_from_f32,
    f16_to_f32,
    "Overflow gives an infinity; a NaN becomes quiet and keeps its sign and the top of its payload."
);
conversion!(
    "bfloat16",
    u16,
    bf16_from_f32,
    bf16_to_f32,
    bf16_from_f32,
    bf16_to_f32,
    "Overflow gives an infinity; a NaN becomes quiet and keeps its sign and the top of its payload."
);
conversion!(
    "FP8 E4M3, one code per byte",
    u8,
    e4m3_from_f32,
    e4m3_to_f32,
    minifloat_from_f32,
    minifloat_to_f32::<E4M3>,
    "Overflow and infinities saturate at 448; a NaN gives `0x7F` with its sign."
);
conversion!(
    "FP8 E5M2, one code per byte",
    u8,
    e5m2_from_f32,
    e5m2_to_f32,
    minifloat_from_f32,
    minifloat_to_f32::<E5M2>,
    "Overflow and infinities saturate at 57344; a NaN gives `0x7E` with its sign."
);
conversion!(
    "FP4 E2M1, one code in the low nibble of a byte",
    u8,
    e2m1_from_f32,
    e2m1_to_f32,
    minifloat_from_f32,
    minifloat_to_f32::<E2M1>,
    "Overflow and infinities saturate at 6; a NaN gives 0, because the format cannot represent it. In the other direction the high nibble \
     of the byte is ignored."
);
