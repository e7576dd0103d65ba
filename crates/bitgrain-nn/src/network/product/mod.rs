//! Matrix products on the codes: a matrix of weights is never dequantized whole.
//!
//! [`PackedMatrix`] holds quantized weights in the order in which products read them. Codes of 4 and 8 bits are
//! multiplied as integers with activations that are rounded to 8 bits, 32 of them to a scale; weights of all other
//! formats are unpacked a few rows at a time and multiplied as f32. [`PackedMatrix::bound`] says how far that is from
//! the product with dequantized weights. [`multiply_f32`] and its relatives are the products of plain f32 matrices
//! that training needs.
//!
//! Every output is computed on its own, in an order that neither the number of threads nor the size of the batch nor
//! the CPU changes: results are the same bits everywhere.

mod activations;
mod bound;
mod codes;
mod dense;
mod floats;
mod packed;
mod places;
mod unpacked;
mod view;

use crate::network::weights::WeightsError;
pub use dense::{ProductShape, multiply_back_f32, multiply_f32, multiply_outer_f32, multiply_views};
pub use packed::PackedMatrix;
pub use view::View;

/// Products below which waking another thread takes longer than the work, some tens of microseconds.
const FEW_PRODUCTS: usize = 1 << 21;

/// The same for values that are quantized or moved.
const FEW_VALUES: usize = 1 << 17;

/// Rows of a batch for which tile registers do not pay.
const FEW_ROWS: usize = 8;
