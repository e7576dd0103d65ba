//! Matrix products on the codes of quantized weights, without dequantizing the whole matrix.
//!
//! [`PackedMatrix`] stores quantized weights in the order in which products read them. Codes of at most 8 bits are
//! multiplied as integers with activations that are rounded to 8 bits, with one scale per 32 activations. Other floats and
//! integers are converted to f32 in registers; weights whose groups or scales do not fit these kernels are unpacked a few
//! rows at a time and multiplied as f32. [`PackedMatrix::bound`] bounds the
//! difference from the product with dequantized weights. [`multiply_f32`] and related functions are the products of
//! plain f32 matrices that training needs.
//!
//! Each output is computed independently, in an order that depends on neither the number of threads nor the batch size
//! nor the CPU, so results are bit-identical everywhere.

mod activations;
mod bound;
mod codes;
mod dense;
mod elements;
mod floats;
mod packed;
mod places;
mod planes;
mod scaled_codes;
mod tensor;
mod unpacked;
mod view;

use crate::network::weights::WeightsError;
pub use dense::{ProductShape, multiply_back_f32, multiply_f32, multiply_outer_f32, multiply_views};
pub use packed::PackedMatrix;
pub use view::View;

/// Number of multiplications below which waking another thread costs more than the work, some tens of microseconds.
const FEW_PRODUCTS: usize = 1 << 21;

/// Number of values below which quantizing or moving them in parallel does not pay.
const FEW_VALUES: usize = 1 << 17;

/// Batch size up to which tile registers (AMX) do not pay.
const FEW_ROWS: usize = 8;
