//! Fits of a scale, or a scale and a minimum, to the values of each lane.

mod affine;
mod descent;
mod importance;
mod positive;
mod symmetric;

pub(super) use affine::{Affine, Columns, Plan, chosen, fit_affine};
pub(super) use descent::{codes_of_descent, fit_descents};
pub(super) use importance::{sum_of_squares, weigh};
pub(super) use positive::fit_positive;
pub(super) use symmetric::{NOTHING, Symmetric, extreme, fit_symmetric};
