//! Byte-pair encoding (Sennrich et al. 2016) of one word, by merges of a fixed rank.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Merges of two tokens: the rank, smaller first, and the token that results.
#[derive(Debug, Clone, Default)]
pub(super) struct Merges(HashMap<(u32, u32), (u32, u32)>);

impl Merges {
    /// Adds a merge; the first of equal pairs counts.
    pub(super) fn insert(&mut self, pair: (u32, u32), rank: u32, merged: u32) {
        self.0.entry(pair).or_insert((rank, merged));
    }

    /// Merges neighboring tokens, lowest rank first and leftmost of equal ranks, until no merge applies.
    pub(super) fn merge(&self, tokens: &mut Vec<u32>) {
        const GONE: u32 = u32::MAX;
        if tokens.len() < 2 {
            return;
        }
        let mut next: Vec<usize> = (1..=tokens.len()).collect();
        let mut before: Vec<usize> = (0..tokens.len()).map(|at| at.wrapping_sub(1)).collect();
        let mut queue = BinaryHeap::new();
        let found = |tokens: &[u32], left: usize, right: usize| {
            let pair = (*tokens.get(left)?, *tokens.get(right)?);
            let (rank, merged) = *self.0.get(&pair)?;
            Some(Reverse((rank, left, right, pair, merged)))
        };
        queue.extend((1..tokens.len()).filter_map(|right| found(tokens, right - 1, right)));
        while let Some(Reverse((_, left, right, pair, merged))) = queue.pop() {
            // Entries of tokens that have been merged since are stale.
            if (tokens[left], tokens[right]) != pair || next[left] != right {
                continue;
            }
            (tokens[left], tokens[right]) = (merged, GONE);
            next[left] = next[right];
            if let Some(before) = before.get_mut(next[right]) {
                *before = left;
            }
            queue.extend(found(tokens, left, next[left]));
            if before[left] < tokens.len() {
                queue.extend(found(tokens, before[left], left));
            }
        }
        tokens.retain(|token| *token != GONE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rank_merges_first() {
        let mut merges = Merges::default();
        merges.insert((1, 2), 0, 12); // "ab"
        merges.insert((2, 3), 1, 23); // "bc"
        merges.insert((12, 3), 2, 123); // "abc"
        merges.insert((1, 1), 3, 11); // "aa"
        let merge = |tokens: &[u32]| {
            let mut tokens = tokens.to_vec();
            merges.merge(&mut tokens);
            tokens
        };
        assert_eq!(merge(&[1, 2, 3]), [123]);
        assert_eq!(merge(&[2, 3]), [23]);
        assert_eq!(merge(&[1, 1, 1]), [11, 1]);
        assert_eq!(merge(&[1, 1, 1, 1, 2]), [11, 1, 12]);
        assert_eq!(merge(&[9]), [9]);
        assert_eq!(merge(&[]), Vec::<u32>::new());
    }
}
