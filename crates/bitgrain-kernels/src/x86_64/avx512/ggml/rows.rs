//! Decoding of the K-quants: rows of 16 codes with a scale and a minimum each.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::cast::as_bytes;
use crate::ggml::layout::rows::Rows;
use crate::x86_64::avx512::memory::{load_quarter, store_f32};

#[inline]
#[avx512]
pub(super) fn write(rows: &Rows, out: &mut [f32; 256]) {
    let codes = as_bytes(rows.codes.as_flattened()).as_chunks::<16>().0;
    for (i, (codes, out)) in codes.iter().zip(out.as_chunks_mut::<16>().0).enumerate() {
        let (scale, min) = (_mm512_set1_ps(rows.scales[i]), _mm512_set1_ps(rows.mins[i]));
        let codes = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load_quarter(codes)));
        // Multiply, then subtract: the reference does not fuse.
        store_f32(out, _mm512_sub_ps(_mm512_mul_ps(scale, codes), min));
    }
}
