//! Attributes that compile a function for one instruction set: `#[avx2]`, `#[avx512]`, `#[amx]`, `#[neon]`,
//! `#[dotprod]`, `#[i8mm]`, `#[baseline]`.
//!
//! Each expands to `#[target_feature(enable = "…")]` with the feature list of a backend of `bitgrain-kernels`, so that
//! the list is written once. Functions with equal lists can be inlined into each other. A list contains only features
//! that the backend's CPU detection checks; `layering.rs` in the facade's tests compares the two. No dependencies.

use proc_macro::TokenStream;

/// Features of the AVX2 backend: Haswell, Zen and later.
const AVX2: &str = "avx2,fma,f16c,pclmulqdq";

/// Features of the AVX-512 backend: Ice Lake, Zen 4 and later.
const AVX512: &str = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,avx512vnni";

/// Features of the AMX kernels, in addition to the tile instructions, which are inline assembly.
const AMX: &str = "avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,avx512vbmi2,avx512vnni,gfni";

/// Features of the NEON backend, which every AArch64 target with floating point has.
const NEON: &str = "neon";

/// Features of the `dotprod` backend. Every CPU with `dotprod` has `crc`, which is part of ARMv8.1.
const DOTPROD: &str = "neon,crc,dotprod";

/// Features of the `i8mm` backend.
const I8MM: &str = "neon,crc,dotprod,i8mm";

/// Compiles a function for the AVX2 backend.
#[proc_macro_attribute]
pub fn avx2(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    enable(AVX2, function)
}

/// Compiles a function for the AVX-512 backend.
#[proc_macro_attribute]
pub fn avx512(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    enable(AVX512, function)
}

/// Compiles a function for the AMX backend.
#[proc_macro_attribute]
pub fn amx(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    enable(AMX, function)
}

/// Compiles a function that calls NEON intrinsics.
#[proc_macro_attribute]
pub fn neon(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    enable(NEON, function)
}

/// Compiles a function that uses the instructions for sums of four products of bytes or for CRC-32C.
#[proc_macro_attribute]
pub fn dotprod(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    enable(DOTPROD, function)
}

/// Compiles a function that uses the instruction for products of matrices of bytes.
#[proc_macro_attribute]
pub fn i8mm(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    enable(I8MM, function)
}

/// Leaves a function unchanged: for kernels of instruction sets that every CPU of the target has, which are safe to
/// call.
#[proc_macro_attribute]
pub fn baseline(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    function
}

fn enable(features: &str, function: TokenStream) -> TokenStream {
    let attribute = format!("#[target_feature(enable = {features:?})]");
    let mut output: TokenStream = attribute.parse().expect("the attribute is valid Rust");
    output.extend(function);
    output
}
