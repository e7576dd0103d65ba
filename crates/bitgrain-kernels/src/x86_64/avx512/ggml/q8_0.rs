//! Q8_0: encodes sixteen blocks at a time and decodes them one by one.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::encode_portably;
use super::extremes::{Blocks, magnitudes};
use super::nearest::{all_ordinary, codes, narrow};
use super::nibbles::half;
use crate::generic::ggml::scales::{Each, Halves};
use crate::ggml::rounded::Rounded;
use crate::x86_64::avx512::lanes::{Avx512, Sixteen};
use crate::x86_64::avx512::memory::{load_quarter, store_f32, store_half};
use crate::x86_64::prefetch::{prefetch_ahead, prefetch_output};

type Block = [u8; 34];

#[avx512]
pub(super) fn encode(values: &[f32], out: &mut [u8]) {
    let (sixteens, rest) = values.as_chunks::<32>().0.as_chunks::<16>();
    let (outs, out_rest) = out.as_chunks_mut::<34>().0.as_chunks_mut::<16>();
    for (blocks, out) in sixteens.iter().zip(outs) {
        encode_sixteen(blocks, out);
    }
    if !rest.is_empty() {
        encode_portably(Rounded::Q8_0, rest.as_flattened(), out_rest.as_flattened_mut());
    }
}

#[inline]
#[avx512]
fn encode_sixteen(blocks: &Blocks, out: &mut [Block; 16]) {
    for block in blocks {
        prefetch_ahead(block);
    }
    let magnitudes = magnitudes(blocks);
    if !all_ordinary(magnitudes) {
        return encode_portably(Rounded::Q8_0, blocks.as_flattened(), out.as_flattened_mut());
    }
    let (isa, scales) = (Avx512::new(), Sixteen(_mm512_div_ps(magnitudes, _mm512_set1_ps(127.0))));
    let (halves, inverses) = (Halves::new(isa, scales), Each::inverse(isa, scales));
    for (two, out) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        let first = 2 * two;
        let [a, b] = [0, 1].map(|i| codes(&blocks[first + i], _mm512_set1_ps(inverses.of(first + i))));
        let bytes = narrow([a[0], a[1], b[0], b[1]]);
        let parts = [_mm512_castsi512_si256(bytes), _mm512_extracti64x4_epi64::<1>(bytes)];
        for (i, (part, out)) in parts.into_iter().zip(out).enumerate() {
            let [low, high, codes @ ..] = out;
            [*low, *high] = halves.of(first + i);
            store_half(codes, part);
        }
    }
}

#[avx512]
pub(super) fn decode(bytes: &[u8], out: &mut [f32]) {
    for (bytes, out) in bytes.as_chunks::<34>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        let [low, high, codes @ ..] = bytes;
        prefetch_output(out);
        let scale = half([*low, *high]);
        for (codes, out) in codes.as_chunks::<16>().0.iter().zip(out.as_chunks_mut::<16>().0) {
            let codes = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load_quarter(codes)));
            store_f32(out, _mm512_mul_ps(codes, scale));
        }
    }
}
