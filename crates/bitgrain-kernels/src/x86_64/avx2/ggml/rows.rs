//! Decoding of the K-quants: rows of 16 codes with a scale and a minimum each.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::nibbles::store_signed;
use crate::cast::as_bytes;
use crate::ggml::layout::rows::Rows;
use crate::x86_64::avx2::memory::load_half;

#[inline]
#[avx2]
pub(super) fn write(rows: &Rows, out: &mut [f32; 256]) {
    let codes = as_bytes(rows.codes.as_flattened()).as_chunks::<16>().0;
    for (i, (codes, out)) in codes.iter().zip(out.as_chunks_mut::<16>().0).enumerate() {
        let (scale, min) = (_mm256_set1_ps(rows.scales[i]), _mm256_set1_ps(rows.mins[i]));
        // Multiply, then subtract: the reference does not fuse.
        store_signed(load_half(codes), out, |codes| _mm256_sub_ps(_mm256_mul_ps(scale, codes), min));
    }
}
