//! Tree evaluation: the definition. The loops over rows are branchless, so that compilers vectorize them.

use crate::tree::{CodeColumns, Rows, TREE_RESULTS, TREE_ROWS, TreeLevel, TreeStep};

/// Computes the result of the last step for each row; 0 without steps.
pub(crate) fn tree_leaves(steps: &[TreeStep], codes: CodeColumns<'_>, leaves: &mut [u8]) {
    let mut results = [Rows([0; TREE_ROWS]); TREE_RESULTS];
    let last = steps.last().map_or(0, |step| usize::from(step.out));
    for (leaves, start) in leaves.as_chunks_mut::<TREE_ROWS>().0.iter_mut().zip((0..).step_by(TREE_ROWS)) {
        for step in steps {
            let codes: &[u8; TREE_ROWS] = codes.rows(step.column, start);
            let (left, right) = (step.left.rows(&results), step.right.rows(&results));
            let mut chosen = [0; TREE_ROWS];
            for row in 0..TREE_ROWS {
                let goes_left = all_bits(codes[row] <= step.at_most);
                chosen[row] = left[row] & goes_left | right[row] & !goes_left;
            }
            results[usize::from(step.out)].0 = chosen;
        }
        *leaves = results[last].0;
    }
}

/// Computes the leaves of two trees.
pub(crate) fn two_tree_leaves(trees: [&[TreeStep]; 2], codes: CodeColumns<'_>, leaves: [&mut [u8]; 2]) {
    trees.into_iter().zip(leaves).for_each(|(steps, leaves)| tree_leaves(steps, codes, leaves));
}

/// Computes the sum of the weights of the levels whose code is above `at_most`, for each row.
pub(crate) fn symmetric_leaves(levels: &[TreeLevel], codes: CodeColumns<'_>, leaves: &mut [u8]) {
    for (leaves, start) in leaves.as_chunks_mut::<TREE_ROWS>().0.iter_mut().zip((0..).step_by(TREE_ROWS)) {
        *leaves = [0; TREE_ROWS];
        for level in levels {
            let codes: &[u8; TREE_ROWS] = codes.rows(level.column, start);
            for (leaf, &code) in leaves.iter_mut().zip(codes) {
                *leaf = leaf.wrapping_add(all_bits(code > level.at_most) & level.weight);
            }
        }
    }
}

/// Computes `sums[row] += values[leaves[row]]`; leaves beyond the values add 0.
pub(crate) fn add_leaf_values(values: &[f64], leaves: &[u8], sums: &mut [f64]) {
    for (sum, &leaf) in sums.iter_mut().zip(leaves) {
        *sum += values.get(usize::from(leaf)).copied().unwrap_or(0.0);
    }
}

#[inline]
fn all_bits(set: bool) -> u8 {
    u8::from(set).wrapping_neg()
}
