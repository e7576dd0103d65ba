//! AMX: products of sixteen rows of activations with sixteen rows of weights. Everything else uses AVX-512.

mod permission;
mod product;
mod unit;

pub(crate) use permission::request;
pub(crate) use product::multiply_strips;
