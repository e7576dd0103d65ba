//! ggml, the tensor library of llama.cpp, in its prebuilt CPU build: downloaded once, loaded at run time.

mod cpu;
mod fetch;
mod llama;

use std::ffi::c_void;
use std::path::PathBuf;

use bitgrain::kernels::ggml::GgmlBlock;
use libloading::Library;

pub(crate) use cpu::{Cpu, Layout};
pub(crate) use fetch::{FetchError, VERSION};
pub(crate) use llama::{Llama, Model};

type QuantizeChunk = unsafe extern "C" fn(i32, *const f32, *mut c_void, i64, i64, i64, *const f32) -> usize;
type DequantizeRow = unsafe extern "C" fn(*const c_void, *mut f32, i64);

/// The loaded library.
pub(crate) struct Ggml {
    // The function below is valid as long as the library is loaded.
    library: Library,
    path: PathBuf,
    quantize_chunk: QuantizeChunk,
}

#[expect(unsafe_code, reason = "a C library for comparison; not part of published crates")]
impl Ggml {
    /// Downloads the library if necessary, and loads it.
    ///
    /// # Errors
    /// Returns a [`FetchError`] if the library cannot be downloaded or loaded.
    pub(crate) fn load() -> Result<Self, FetchError> {
        let path = fetch::library()?;
        // SAFETY: a known release, whose initializers only set up C++ statics.
        let library = unsafe { Library::new(&path) }?;
        // SAFETY: the symbol has this signature in the release's `ggml.h`.
        let quantize_chunk = *unsafe { library.get::<QuantizeChunk>(c"ggml_quantize_chunk") }?;
        Ok(Self { library, path, quantize_chunk })
    }

    /// Quantizes whole rows into `out`. Panics if `out` is too small.
    pub(crate) fn quantize(&self, block: GgmlBlock, values: &[f32], row_len: usize, out: &mut [u8]) {
        let needed = block.bytes_of(values.len()).filter(|_| row_len.is_multiple_of(block.weights()));
        assert!(values.len().is_multiple_of(row_len) && needed.is_some_and(|needed| needed <= out.len()));
        let (rows, row_len) = (as_i64(values.len() / row_len), as_i64(row_len));
        let (from, to) = (values.as_ptr(), out.as_mut_ptr().cast());
        // SAFETY: reads `rows * row_len` f32, which `values` has, and writes the bytes of as many whole blocks, which
        // fit in `out` by the assertion. A null importance pointer is allowed for the formats measured here.
        let written = unsafe { (self.quantize_chunk)(type_id(block), from, to, 0, rows, row_len, std::ptr::null()) };
        assert_eq!(Some(written), needed, "{block:?}: ggml's block size differs");
    }

    /// Returns the function that decodes blocks of a format.
    pub(crate) fn dequantizer(&self, block: GgmlBlock) -> Dequantizer<'_> {
        let name = format!("dequantize_row_{}\0", symbol(block));
        // SAFETY: all these symbols have this signature in the release's `ggml-quants.h`.
        let found = unsafe { self.library.get::<DequantizeRow>(name.as_bytes()) };
        Dequantizer { block, row: found.expect("the release has every format") }
    }
}

/// ggml's decoder for one format.
pub(crate) struct Dequantizer<'a> {
    block: GgmlBlock,
    row: libloading::Symbol<'a, DequantizeRow>,
}

#[expect(unsafe_code, reason = "a C library for comparison; not part of published crates")]
impl Dequantizer<'_> {
    /// Dequantizes whole blocks. Panics if there are too few for `out`.
    pub(crate) fn run(&self, blocks: &[u8], out: &mut [f32]) {
        assert!(self.block.bytes_of(out.len()).is_some_and(|needed| needed <= blocks.len()));
        // SAFETY: reads the blocks of `out.len()` weights, which exist by the assertion, and writes that many f32.
        unsafe { (self.row)(blocks.as_ptr().cast(), out.as_mut_ptr(), as_i64(out.len())) };
    }
}

fn as_i64(count: usize) -> i64 {
    i64::try_from(count).expect("sizes in memory fit in i64")
}

/// Returns the value of `enum ggml_type`.
const fn type_id(block: GgmlBlock) -> i32 {
    match block {
        GgmlBlock::Q4_0 => 2,
        GgmlBlock::Q4_1 => 3,
        GgmlBlock::Q5_0 => 6,
        GgmlBlock::Q5_1 => 7,
        GgmlBlock::Q8_0 => 8,
        GgmlBlock::Q2_K => 10,
        GgmlBlock::Q3_K => 11,
        GgmlBlock::Q4_K => 12,
        GgmlBlock::Q5_K => 13,
        GgmlBlock::Q6_K => 14,
        GgmlBlock::IQ4_NL => 20,
        GgmlBlock::TQ1_0 => 34,
        GgmlBlock::TQ2_0 => 35,
        GgmlBlock::MXFP4 => 39,
    }
}

/// Returns the format as in C function names: `q4_0`, `q4_K`.
fn symbol(block: GgmlBlock) -> String {
    block.name().replace("_k", "_K")
}
