//! WebAssembly backends, one folder per instruction set. A module is compiled with or without `simd128`, and an engine
//! without it rejects the module, so nothing is detected.

pub(crate) mod simd128;
