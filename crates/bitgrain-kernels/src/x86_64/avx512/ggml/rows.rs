//! Decoding rows of 16 codes with a scale and a minimum each: the K-quants.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use crate::cast::as_bytes;
use crate::ggml::layout::rows::Rows;
use crate::x86_64::avx512::lanes::{load_quarter, store_f32};

#[inline]
#[avx512]
pub(super) fn write(rows: &Rows, out: &mut [f32; 256]) {
    let codes = as_bytes(rows.codes.as_flattened()).as_chunks::<16>().0;
    for (i, (codes, out)) in codes.iter().zip(out.as_chunks_mut::<16>().0).enumerate() {
        let (scale, min) = (_mm512_set1_ps(rows.scales[i]), _mm512_set1_ps(rows.mins[i]));
        let codes = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load_quarter(codes)));
        store_f32(out, _mm512_sub_ps(_mm512_mul_ps(scale, codes), min));
    }
}

/// Decodes each block of two slices with the layout's `unpack`. A macro, so that it is inlined here: see `layout`.
macro_rules! each {
    ($unpack:path, $bytes:ident, $out:ident) => {
        for (bytes, out) in $bytes.as_chunks().0.iter().zip($out.as_chunks_mut().0) {
            rows::write(&$unpack(bytes), out);
        }
    };
}

pub(super) use each;
