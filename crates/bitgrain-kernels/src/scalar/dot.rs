//! Dot products: the definition, which includes the order of the float sum.

use super::unpack::unpack_run;
use crate::BitWidth;
use crate::backend::for_width;
use crate::blocks::bias_of;
use crate::cast::as_codes;
use crate::dot::{dot_walk, sum_in_halves};

/// Products per i32 sum: 2^16 products of at most 2^14 stay below 2^31.
const CHUNK: usize = 1 << 16;

/// Computes `sum(a * b)` of slices of equal length.
pub(crate) fn dot_i8(a: &[i8], b: &[i8]) -> i64 {
    let chunks = a.chunks(CHUNK).zip(b.chunks(CHUNK));
    chunks.map(|(a, b)| i64::from(a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum::<i32>())).sum()
}

pub(crate) fn dot_blocks(width: BitWidth, block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> {
    for_width!([2 3 4 5 6 7 8], width.bits(), dot_blocks_of(block, values, bytes))
}

fn dot_blocks_of<const W: u32>(block: usize, values: &[f32], bytes: &[u8]) -> Option<f32> {
    let mut totals = [0.0; 16];
    let good =
        dot_walk!(W, block, values, bytes, |values, codes, scale| dot_run::<W>(values, codes, scale, &mut totals));
    good.then(|| sum_in_halves(totals))
}

/// Adds one block: sixteen scaled lane sums onto the totals.
fn dot_run<const W: u32>(values: &[f32], bytes: &[u8], scale: f32, totals: &mut [f32; 16]) -> bool {
    let mut sums = [0.0; 16];
    let good = lane_sums::<W>(values, bytes, &mut sums);
    for (total, sum) in totals.iter_mut().zip(sums) {
        *total += sum * scale;
    }
    good
}

/// Adds `value * code` to lane `i % 16`; false if a code is invalid.
pub(crate) fn lane_sums<const W: u32>(values: &[f32], bytes: &[u8], sums: &mut [f32; 16]) -> bool {
    let qmax: u8 = (1 << (W - 1)) - 1;
    let mut codes = [0; 64];
    let mut good = true;
    for (i, chunk) in values.chunks(64).enumerate() {
        let codes = &mut codes[..chunk.len()];
        unpack_run::<W>(const { bias_of(W) }, &bytes[i * 8 * W as usize..], codes);
        good &= codes.iter().all(|code| code.wrapping_add(qmax) <= 2 * qmax);
        // Sixteen lanes are one AVX-512 register or two of AVX2; every backend adds in this order.
        for (values, codes) in chunk.chunks(16).zip(as_codes(codes).chunks(16)) {
            for ((sum, value), &code) in sums.iter_mut().zip(values).zip(codes) {
                *sum += value * f32::from(code);
            }
        }
    }
    good
}
