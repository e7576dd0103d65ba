//! AArch64 backends. NEON is part of every supported target; the instructions for products of bytes and for checksums are detected.

pub(crate) mod crc32c;
pub(crate) mod detect;
pub(crate) mod dotprod;
pub(crate) mod i8mm;
pub(crate) mod neon;
