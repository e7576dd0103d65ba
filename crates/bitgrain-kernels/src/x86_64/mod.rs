//! x86-64: detection and one folder per instruction set.

pub(crate) mod amx;
pub(crate) mod avx2;
pub(crate) mod avx512;
mod crc32c;
pub(crate) mod detect;
mod divisor;
mod fours;
mod ggml;
mod prefetch;
mod stream;
