//! Encoders of llama.cpp's blocks: the parts that differ only in the number of blocks per register.

pub(crate) mod extremes;
pub(crate) mod scales;
