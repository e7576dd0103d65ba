//! Dot products: 16 products of codes, or 64 of floats with codes, at a time.

use crate::BitWidth;
use crate::backend::for_width;
use crate::cast::{as_bytes, as_codes};
use crate::dot::{dot_walk, sum_in_halves};
use crate::narrow::blocks::codes_in_block;
use crate::narrow::quantize::floats16;
use crate::narrow::register::{ByteProducts, Floats, Narrow};
use crate::narrow::unpack::{REACH, factors};
use crate::{scalar, tail};

/// Chunks of 16 products per 32-bit sum: each chunk adds at most 4 * 2^14 to a sum, so 2^13 chunks stay below 2^31, also
/// when the four sums are added.
const WIDEN: usize = 1 << 13;

#[inline(always)]
pub(crate) fn dot_i8<I: Narrow, P: ByteProducts<I>>(isa: I, products: P, a: &[i8], b: &[i8]) -> i64 {
    let (a, a_rest) = as_bytes(a).as_chunks::<16>();
    let (b, b_rest) = as_bytes(b).as_chunks::<16>();
    let mut total = scalar::dot_i8(as_codes(a_rest), as_codes(b_rest));
    for (a, b) in a.chunks(WIDEN).zip(b.chunks(WIDEN)) {
        // Two accumulators, so that the additions of an iteration are independent.
        let mut sums = [products.zero(); 2];
        let (a_pairs, a_last) = a.as_chunks::<2>();
        let (b_pairs, b_last) = b.as_chunks::<2>();
        for (a, b) in a_pairs.iter().zip(b_pairs) {
            sums[0] = products.add(sums[0], isa.codes8(&a[0]), isa.codes8(&b[0]));
            sums[1] = products.add(sums[1], isa.codes8(&a[1]), isa.codes8(&b[1]));
        }
        for (a, b) in a_last.iter().zip(b_last) {
            sums[0] = products.add(sums[0], isa.codes8(a), isa.codes8(b));
        }
        for sum in sums {
            total += i64::from(isa.sum32(products.sums(sum)));
        }
    }
    total
}

#[inline(always)]
pub(crate) fn dot_blocks(isa: impl Narrow, width: BitWidth, block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> {
    for_width!([2 3 4 5 6 7 8], width.bits(), dot_blocks_of(isa, block, values, bytes))
}

#[inline(always)]
fn dot_blocks_of<const W: u32>(isa: impl Narrow, block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> {
    let mut totals = [isa.splat(0.0); 4];
    let good = dot_walk!(W, block, values, bytes, |values, codes, scale| dot_run::<W, _>(
        isa,
        values,
        codes,
        scale,
        &mut totals
    ));
    if good { Some(sum_in_halves(to_lanes(isa, totals))) } else { None }
}

#[inline(always)]
fn dot_run<const W: u32, I: Narrow>(
    isa: I,
    values: &[f32],
    bytes: &[u8],
    scale: f32,
    totals: &mut [Floats<I>; 4],
) -> bool {
    let mut sums = [isa.splat(0.0); 4];
    let factors = factors::<W, _>(isa);
    let mut odd = isa.code8(0);
    let mut done = 0;
    let mut at = 0;
    for chunk in values.as_chunks::<64>().0 {
        let Some(reach) = bytes[at..].first_chunk::<REACH>() else { break };
        for (quarter, values) in chunk.as_chunks::<16>().0.iter().enumerate() {
            let codes = floats16(isa, codes_in_block::<W, _>(isa, reach, quarter, factors, &mut odd));
            for ((sum, values), codes) in sums.iter_mut().zip(values.as_chunks::<4>().0).zip(codes) {
                // Not fused: the definition rounds the product first.
                *sum = *sum + isa.floats(values) * codes;
            }
        }
        at += 8 * W as usize;
        done += 64;
    }
    let mut good = !isa.any_bit(odd);
    // The tail continues the same sixteen lane sums, so that the order of additions matches the definition.
    if done < values.len() {
        let mut lanes = to_lanes(isa, sums);
        good &= tail::lane_sums::<W>(&values[done..], &bytes[at..], &mut lanes);
        for (sum, lanes) in sums.iter_mut().zip(lanes.as_chunks::<4>().0) {
            *sum = isa.floats(lanes);
        }
    }
    for (total, sum) in totals.iter_mut().zip(sums) {
        *total = *total + sum * isa.splat(scale);
    }
    good
}

#[inline(always)]
fn to_lanes<I: Narrow>(isa: I, sums: [Floats<I>; 4]) -> [f32; 16] {
    let mut lanes = [0.0; 16];
    for (sum, out) in sums.into_iter().zip(lanes.as_chunks_mut::<4>().0) {
        isa.put_floats(sum, out);
    }
    lanes
}
