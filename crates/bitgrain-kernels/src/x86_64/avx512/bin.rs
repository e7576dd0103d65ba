//! Binning, 16 values at a time: the first eight steps of the search look up their cuts in registers.

use core::arch::x86_64::*;

use bitgrain_isa::avx512;

use super::memory::load_f32;
use crate::bin::BinCode;
use crate::scalar;

/// Search steps in registers: 255 cuts.
const STEPS: u32 = 8;

/// Minimum number of values for which filling the registers pays off.
const FEW: usize = 64;

#[avx512]
pub(crate) fn bin_f32<C: BinCode>(cuts: &[f32], values: &[f32], nan: C, out: &mut [C]) {
    if values.len() < FEW {
        return scalar::bin_f32(cuts, values, nan, out);
    }
    match usize::BITS - cuts.len().leading_zeros() {
        0..=5 => bin_in_registers::<C, 5>(cuts, values, nan, out),
        6 => bin_in_registers::<C, 6>(cuts, values, nan, out),
        7 => bin_in_registers::<C, 7>(cuts, values, nan, out),
        8 => bin_in_registers::<C, 8>(cuts, values, nan, out),
        steps => bin_in_two(cuts, values, nan, out, steps - STEPS),
    }
}

/// Bins with at most `2^S - 1` cuts.
#[avx512]
fn bin_in_registers<C: BinCode, const S: u32>(cuts: &[f32], values: &[f32], nan: C, out: &mut [C]) {
    let tree = Tree::load(&heap(cuts, S, 0));
    let (chunks, rest) = values.as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        scalar::store_bins(out, values, lanes(tree.search::<S>(load_f32(values))), nan);
    }
    scalar::bin_f32(cuts, rest, nan, out_rest);
}

/// Bins with more cuts than fit the registers: the registers find a range of `2^further` cuts, a scalar search the
/// position in it. Uses no gathers: their cost depends on the microcode since the Downfall mitigation.
#[avx512]
fn bin_in_two<C: BinCode>(cuts: &[f32], values: &[f32], nan: C, out: &mut [C], further: u32) {
    let tree = Tree::load(&heap(cuts, STEPS, further));
    let left = (1 << further) - 1;
    // The last range may end after the cuts; starting it earlier does not change the result.
    let last_start = cuts.len() - left;
    let (chunks, rest) = values.as_chunks::<16>();
    let (outs, out_rest) = out.split_at_mut(chunks.len() * 16);
    for (values, out) in chunks.iter().zip(outs.as_chunks_mut::<16>().0) {
        let found = lanes(tree.search::<STEPS>(load_f32(values))).map(|stretch| last_start.min(stretch << further));
        scalar::store_bins(out, values, scalar::search_cuts(cuts, values, found, left), nan);
    }
    scalar::bin_f32(cuts, rest, nan, out_rest);
}

/// Arranges every `2^further`-th cut as a search tree of `steps` levels, from index 1 on: the children of `i` are `2i`
/// and `2i + 1`. Missing cuts are infinite, and therefore never below a value.
fn heap(cuts: &[f32], steps: u32, further: u32) -> [f32; 256] {
    let mut heap = [f32::INFINITY; 256];
    for level in 0..steps {
        let stride = 1_usize << (steps - level);
        for place in 0..1_usize << level {
            let at = (((place * stride + stride / 2) << further) - 1).min(cuts.len());
            heap[(1 << level) + place] = cuts.get(at).copied().unwrap_or(f32::INFINITY);
        }
    }
    heap
}

/// Search tree in sixteen registers.
struct Tree([__m512; 16]);

impl Tree {
    #[inline]
    #[avx512]
    fn load(heap: &[f32; 256]) -> Self {
        let registers = heap.as_chunks::<16>().0;
        Self(core::array::from_fn(|i| load_f32(&registers[i])))
    }

    /// Returns the number of cuts below each value in the tree's first `S` levels; 0 for NaN.
    #[inline]
    #[avx512]
    fn search<const S: u32>(&self, values: __m512) -> __m512i {
        let mut node = descend(_mm512_set1_epi32(1), values, self.pair(0, _mm512_set1_epi32(1)));
        for _ in 1..5 {
            node = descend(node, values, self.pair(0, node));
        }
        if S >= 6 {
            node = descend(node, values, self.pair(2, node));
        }
        if S >= 7 {
            node = descend(node, values, self.two_pairs(4, node));
        }
        if S >= 8 {
            let upper = _mm512_test_epi32_mask(node, _mm512_set1_epi32(64));
            let cuts = _mm512_mask_mov_ps(self.two_pairs(8, node), upper, self.two_pairs(12, node));
            node = descend(node, values, cuts);
        }
        _mm512_sub_epi32(node, _mm512_set1_epi32(1 << S))
    }

    /// Looks up the cut of each node among the 32 from register `at` on, by the low five bits of the node.
    #[inline]
    #[avx512]
    fn pair(&self, at: usize, node: __m512i) -> __m512 {
        _mm512_permutex2var_ps(self.0[at], node, self.0[at + 1])
    }

    /// Looks up the cut of each node among 64, by the low six bits.
    #[inline]
    #[avx512]
    fn two_pairs(&self, at: usize, node: __m512i) -> __m512 {
        let upper = _mm512_test_epi32_mask(node, _mm512_set1_epi32(32));
        _mm512_mask_mov_ps(self.pair(at, node), upper, self.pair(at + 2, node))
    }
}

/// Returns the left child, or the right child where the cut is below the value.
#[inline]
#[avx512]
fn descend(node: __m512i, values: __m512, cuts: __m512) -> __m512i {
    let right = _mm512_cmp_ps_mask::<_CMP_LT_OQ>(cuts, values);
    let left_child = _mm512_add_epi32(node, node);
    _mm512_mask_add_epi32(left_child, right, left_child, _mm512_set1_epi32(1))
}

#[inline]
#[avx512]
fn lanes(bins: __m512i) -> [usize; 16] {
    let mut lanes = [0_u32; 16];
    // SAFETY: the array covers 64 writable bytes; `storeu` needs no alignment.
    unsafe { _mm512_storeu_si512(lanes.as_mut_ptr().cast(), bins) };
    lanes.map(|bin| bin as usize)
}
