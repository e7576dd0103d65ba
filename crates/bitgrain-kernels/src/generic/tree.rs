//! Tree evaluation, one register of codes at a time.

use crate::generic::registers::Bytes;
use crate::tree::{CodeColumns, GROUP, Rows, TREE_RESULTS, TREE_ROWS, TreeLevel, TreeStep};

/// Maximum number of registers per group of rows; instruction sets with wider registers leave some unused.
const MOST: usize = GROUP / 16;

#[inline(always)]
pub(crate) fn tree_leaves<I: Bytes<B>, const B: usize>(
    isa: I,
    steps: &[TreeStep],
    codes: CodeColumns<'_>,
    leaves: &mut [u8],
) {
    let (groups, rest) = leaves.as_chunks_mut::<GROUP>();
    let start = groups.len() * GROUP;
    in_steps(isa, steps, codes, groups, 0);
    in_steps(isa, steps, codes, rest.as_chunks_mut::<TREE_ROWS>().0, start);
}

/// Evaluates groups of `N` rows from row `start` on.
#[inline(always)]
fn in_steps<I: Bytes<B>, const B: usize, const N: usize>(
    isa: I,
    steps: &[TreeStep],
    codes: CodeColumns<'_>,
    groups: &mut [[u8; N]],
    start: usize,
) {
    if groups.is_empty() {
        return;
    }
    let mut results = [Rows([0; N]); TREE_RESULTS];
    for (leaves, start) in groups.iter_mut().zip((start..).step_by(N)) {
        steps.iter().for_each(|step| evaluate(isa, step, codes, start, &mut results));
        *leaves = result(steps, &results);
    }
}

/// Evaluates two trees at once, which hides the time until a result that was stored can be loaded again.
#[inline(always)]
pub(crate) fn two_tree_leaves<I: Bytes<B>, const B: usize>(
    isa: I,
    trees: [&[TreeStep]; 2],
    codes: CodeColumns<'_>,
    leaves: [&mut [u8]; 2],
) {
    let [first, second] = trees;
    let both = first.len().min(second.len());
    let [first_leaves, second_leaves] = leaves.map(|leaves| leaves.as_chunks_mut::<TREE_ROWS>().0);
    let mut results = [[Rows([0; TREE_ROWS]); TREE_RESULTS]; 2];
    for ((one, two), start) in first_leaves.iter_mut().zip(second_leaves).zip((0..).step_by(TREE_ROWS)) {
        let [of_first, of_second] = &mut results;
        for (step, other) in first.iter().zip(second) {
            evaluate(isa, step, codes, start, of_first);
            evaluate(isa, other, codes, start, of_second);
        }
        first[both..].iter().for_each(|step| evaluate(isa, step, codes, start, of_first));
        second[both..].iter().for_each(|step| evaluate(isa, step, codes, start, of_second));
        (*one, *two) = (result(first, of_first), result(second, of_second));
    }
}

/// Evaluates a step for `N` rows from row `start` on.
#[inline(always)]
fn evaluate<I: Bytes<B>, const B: usize, const N: usize>(
    isa: I,
    step: &TreeStep,
    codes: CodeColumns<'_>,
    start: usize,
    results: &mut [Rows<N>; TREE_RESULTS],
) {
    let codes = codes.rows::<N>(step.column, start).as_chunks::<B>().0;
    let left = step.left.rows(results).as_chunks::<B>().0;
    let right = step.right.rows(results).as_chunks::<B>().0;
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

/// Returns the result of the last step; 0 without steps.
#[inline(always)]
fn result<const N: usize>(steps: &[TreeStep], results: &[Rows<N>; TREE_RESULTS]) -> [u8; N] {
    results[steps.last().map_or(0, |step| usize::from(step.out))].0
}

#[inline(always)]
pub(crate) fn symmetric_leaves<I: Bytes<B>, const B: usize>(
    isa: I,
    levels: &[TreeLevel],
    codes: CodeColumns<'_>,
    leaves: &mut [u8],
) {
    let (groups, rest) = leaves.as_chunks_mut::<GROUP>();
    let start = groups.len() * GROUP;
    in_levels(isa, levels, codes, groups, 0);
    in_levels(isa, levels, codes, rest.as_chunks_mut::<TREE_ROWS>().0, start);
}

/// Evaluates groups of `N` rows from row `start` on.
#[inline(always)]
fn in_levels<I: Bytes<B>, const B: usize, const N: usize>(
    isa: I,
    levels: &[TreeLevel],
    codes: CodeColumns<'_>,
    groups: &mut [[u8; N]],
    start: usize,
) {
    for (leaves, start) in groups.iter_mut().zip((start..).step_by(N)) {
        let mut sums = [isa.code8(0); MOST];
        for level in levels {
            let codes = codes.rows::<N>(level.column, start).as_chunks::<B>().0;
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
