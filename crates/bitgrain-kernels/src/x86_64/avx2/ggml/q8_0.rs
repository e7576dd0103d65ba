//! Q8_0: encodes eight blocks at a time and decodes them one by one.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::encode_portably;
use super::extremes::{Blocks, magnitudes};
use super::nearest::{all_ordinary, codes, narrow};
use super::nibbles::{half, store_signed};
use crate::generic::ggml::scales::{Each, Halves};
use crate::ggml::rounded::Rounded;
use crate::x86_64::avx2::lanes::{Avx2, Eight};
use crate::x86_64::avx2::memory::{load_half, store_bytes};
use crate::x86_64::prefetch::{prefetch_ahead, prefetch_output};

type Block = [u8; 34];

#[avx2]
pub(super) fn encode(values: &[f32], out: &mut [u8]) {
    let (eights, rest) = values.as_chunks::<32>().0.as_chunks::<8>();
    let (outs, out_rest) = out.as_chunks_mut::<34>().0.as_chunks_mut::<8>();
    for (blocks, out) in eights.iter().zip(outs) {
        encode_eight(blocks, out);
    }
    if !rest.is_empty() {
        encode_portably(Rounded::Q8_0, rest.as_flattened(), out_rest.as_flattened_mut());
    }
}

#[inline]
#[avx2]
fn encode_eight(blocks: &Blocks, out: &mut [Block; 8]) {
    for block in blocks {
        prefetch_ahead(block);
    }
    let magnitudes = magnitudes(blocks);
    if !all_ordinary(magnitudes) {
        return encode_portably(Rounded::Q8_0, blocks.as_flattened(), out.as_flattened_mut());
    }
    let (isa, scales) = (Avx2::new(), Eight(_mm256_div_ps(magnitudes, _mm256_set1_ps(127.0))));
    let (halves, inverses) = (Halves::new(isa, scales), Each::inverse(isa, scales));
    for (i, (block, out)) in blocks.iter().zip(out).enumerate() {
        let [low, high, bytes @ ..] = out;
        [*low, *high] = halves.of(i);
        store_bytes(bytes, narrow(codes(block, _mm256_set1_ps(inverses.of(i)))));
    }
}

#[avx2]
pub(super) fn decode(bytes: &[u8], out: &mut [f32]) {
    for (bytes, out) in bytes.as_chunks::<34>().0.iter().zip(out.as_chunks_mut::<32>().0) {
        let [low, high, codes @ ..] = bytes;
        prefetch_output(out);
        let scale = half([*low, *high]);
        for (codes, out) in codes.as_chunks::<16>().0.iter().zip(out.as_chunks_mut::<16>().0) {
            store_signed(load_half(codes), out, |codes| _mm256_mul_ps(codes, scale));
        }
    }
}
