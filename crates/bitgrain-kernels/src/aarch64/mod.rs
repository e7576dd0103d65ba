//! AArch64 backends. NEON is part of every supported target; the instructions for products of bytes are detected.

pub(crate) mod detect;
pub(crate) mod dotprod;
pub(crate) mod i8mm;
pub(crate) mod neon;
