//! Rows through a tree, 32 codes to a register.

use core::arch::x86_64::*;

use bitgrain_isa::avx2;

use super::lanes::{load_bytes, store_bytes};
use crate::scalar;
use crate::tree::{CodeColumns, Rows, TREE_RESULTS, TREE_ROWS, TreeLevel, TreeStep};

const REGISTERS: usize = TREE_ROWS / 32;

#[avx2]
pub(crate) fn tree_leaves(steps: &[TreeStep], codes: CodeColumns<'_>, leaves: &mut [u8]) {
    let mut results = [Rows([0; TREE_ROWS]); TREE_RESULTS];
    let last = steps.last().map_or(0, |step| usize::from(step.out));
    for (leaves, start) in leaves.as_chunks_mut::<TREE_ROWS>().0.iter_mut().zip((0..).step_by(TREE_ROWS)) {
        for step in steps {
            let codes = codes.rows(step.column, start).as_chunks::<32>().0;
            let left = step.left.rows(&results).0.as_chunks::<32>().0;
            let right = step.right.rows(&results).0.as_chunks::<32>().0;
            let at_most = _mm256_set1_epi8(step.at_most.cast_signed());
            let chosen: [__m256i; REGISTERS] = core::array::from_fn(|i| {
                let goes_left = at_most_mask(load_bytes(&codes[i]), at_most);
                _mm256_blendv_epi8(load_bytes(&right[i]), load_bytes(&left[i]), goes_left)
            });
            for (out, chosen) in results[usize::from(step.out)].0.as_chunks_mut::<32>().0.iter_mut().zip(chosen) {
                store_bytes(out, chosen);
            }
        }
        *leaves = results[last].0;
    }
}

#[avx2]
pub(crate) fn symmetric_leaves(levels: &[TreeLevel], codes: CodeColumns<'_>, leaves: &mut [u8]) {
    for (leaves, start) in leaves.as_chunks_mut::<TREE_ROWS>().0.iter_mut().zip((0..).step_by(TREE_ROWS)) {
        let mut sums = [_mm256_setzero_si256(); REGISTERS];
        for level in levels {
            let codes = codes.rows(level.column, start).as_chunks::<32>().0;
            let at_most = _mm256_set1_epi8(level.at_most.cast_signed());
            let weight = _mm256_set1_epi8(level.weight.cast_signed());
            for (sum, codes) in sums.iter_mut().zip(codes) {
                let goes_left = at_most_mask(load_bytes(codes), at_most);
                *sum = _mm256_add_epi8(*sum, _mm256_andnot_si256(goes_left, weight));
            }
        }
        for (leaves, sum) in leaves.as_chunks_mut::<32>().0.iter_mut().zip(sums) {
            store_bytes(leaves, sum);
        }
    }
}

/// The definition: no gathers, because what they cost depends on the microcode, since Downfall.
#[avx2]
pub(crate) fn add_leaf_values(values: &[f64], leaves: &[u8], sums: &mut [f64]) {
    scalar::add_leaf_values(values, leaves, sums);
}

/// All bits of a byte where the code is at most the other; there is no such comparison of unsigned bytes.
#[inline]
#[avx2]
fn at_most_mask(codes: __m256i, at_most: __m256i) -> __m256i {
    _mm256_cmpeq_epi8(_mm256_max_epu8(codes, at_most), at_most)
}
