//! Binning: the definition, a branchless binary search for eight values at a time.

use core::hint::select_unpredictable;

use crate::bin::BinCode;

/// Values searched together: each step of a search has the latency of a memory access, which eight interleaved searches hide.
const LANES: usize = 8;

/// Writes the number of cuts below each value; `nan` for a NaN.
pub(crate) fn bin_f32<C: BinCode>(cuts: &[f32], values: &[f32], nan: C, out: &mut [C]) {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * LANES);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<LANES>().0) {
        store(out, values, search(cuts, values, [0; LANES], cuts.len()), nan);
    }
    for (value, out) in rest.iter().zip(out_rest) {
        let value = [*value];
        store(core::array::from_mut(out), &value, search(cuts, &value, [0], cuts.len()), nan);
    }
}

/// Finishes a search that is known to end between `found` and `found + left`.
#[inline]
pub(crate) fn search<const N: usize>(
    cuts: &[f32],
    values: &[f32; N],
    mut found: [usize; N],
    mut left: usize,
) -> [usize; N] {
    while left > 0 {
        let half = left - left / 2;
        for (found, value) in found.iter_mut().zip(values) {
            *found = select_unpredictable(cuts[*found + half - 1] < *value, *found + half, *found);
        }
        left /= 2;
    }
    found
}

#[inline]
pub(crate) fn store<C: BinCode, const N: usize>(out: &mut [C; N], values: &[f32; N], bins: [usize; N], nan: C) {
    for ((out, value), bin) in out.iter_mut().zip(values).zip(bins) {
        *out = if value.is_nan() { nan } else { C::of_bin(bin) };
    }
}
