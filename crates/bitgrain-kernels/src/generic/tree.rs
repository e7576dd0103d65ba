//! Tree evaluation, one register of codes at a time.

use crate::generic::registers::Bytes;
use crate::tree::{CodeColumns, Rows, TREE_RESULTS, TREE_ROWS, TreeLevel, TreeStep};

/// Maximum number of registers per group of rows; instruction sets with wider registers leave some unused.
const MOST: usize = TREE_ROWS / 16;

#[inline(always)]
pub(crate) fn tree_leaves<I: Bytes<B>, const B: usize>(
    isa: I,
    steps: &[TreeStep],
    codes: CodeColumns<'_>,
    leaves: &mut [u8],
) {
    let mut results = [Rows([0; TREE_ROWS]); TREE_RESULTS];
    let last = steps.last().map_or(0, |step| usize::from(step.out));
    for (leaves, start) in leaves.as_chunks_mut::<TREE_ROWS>().0.iter_mut().zip((0..).step_by(TREE_ROWS)) {
        for step in steps {
            let codes = codes.rows(step.column, start).as_chunks::<B>().0;
            let left = step.left.rows(&results).0.as_chunks::<B>().0;
            let right = step.right.rows(&results).0.as_chunks::<B>().0;
            let limit = isa.code8(step.at_most);
            // The result may overwrite one of its operands, so it is completed before it is stored.
            let mut chosen = [limit; MOST];
            for (chosen, ((codes, left), right)) in chosen.iter_mut().zip(codes.iter().zip(left).zip(right)) {
                let goes_left = isa.at_most(isa.codes8(codes), limit);
                *chosen = isa.choose(goes_left, isa.codes8(left), isa.codes8(right));
            }
            for (out, chosen) in results[usize::from(step.out)].0.as_chunks_mut::<B>().0.iter_mut().zip(chosen) {
                isa.put_codes8(chosen, out);
            }
        }
        *leaves = results[last].0;
    }
}

#[inline(always)]
pub(crate) fn symmetric_leaves<I: Bytes<B>, const B: usize>(
    isa: I,
    levels: &[TreeLevel],
    codes: CodeColumns<'_>,
    leaves: &mut [u8],
) {
    for (leaves, start) in leaves.as_chunks_mut::<TREE_ROWS>().0.iter_mut().zip((0..).step_by(TREE_ROWS)) {
        let mut sums = [isa.code8(0); MOST];
        for level in levels {
            let codes = codes.rows(level.column, start).as_chunks::<B>().0;
            let (limit, weight) = (isa.code8(level.at_most), isa.code8(level.weight));
            for (sum, codes) in sums.iter_mut().zip(codes) {
                let goes_left = isa.at_most(isa.codes8(codes), limit);
                *sum = isa.add_unless(goes_left, *sum, weight);
            }
        }
        for (leaves, sum) in leaves.as_chunks_mut::<B>().0.iter_mut().zip(sums) {
            isa.put_codes8(sum, leaves);
        }
    }
}
