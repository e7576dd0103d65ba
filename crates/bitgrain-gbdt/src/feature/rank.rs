//! Quantile cuts of unweighted values by rank: only keys next to a cut are read.

use std::ops::Range;

use super::quantile::{midpoint, share};
use super::sorted::value;

/// Returns the same cuts as [`cuts`](super::quantile::cuts) for ascending keys that all have weight 1.
pub(super) fn rank_cuts(keys: &[u32], bins: usize) -> Vec<f32> {
    // Walk the distinct keys first; if they fit the bins, each gets its own.
    let few = |end: &usize| Some(run(keys, *end).end);
    let few = std::iter::successors(few(&0), few).take_while(|&end| end < keys.len());
    let mut ends: Vec<usize> = few.take(bins).collect();
    if ends.len() == bins {
        ends = shares(keys, bins);
    }
    ends.into_iter().map(|end| midpoint(value(keys[end - 1]), value(keys[end]))).collect()
}

/// Returns the ends of bins with about equally many keys, given more distinct keys than bins.
fn shares(keys: &[u32], bins: usize) -> Vec<usize> {
    let heavy = heavy_runs(keys, bins);
    let mut left = keys.len() - heavy.iter().map(Range::len).sum::<usize>();
    let mut bins_left = bins.saturating_sub(heavy.len());
    let mut wanted = share_of_rows(left, bins_left);
    let mut ends = Vec::with_capacity(bins - 1);
    let mut start = 0;
    let mut heavy = heavy.into_iter().peekable();
    while ends.len() + 1 < bins {
        let filled = run(keys, (start + at_least(wanted) - 1).min(keys.len() - 1)).end;
        let (end, lights, is_heavy) = match heavy.peek().cloned() {
            // Close a light bin early before a heavy value, which would otherwise share that bin.
            Some(next)
                if next.start < filled && (next.start == start || next.start - start < at_least(wanted / 2.0)) =>
            {
                heavy.next();
                (next.end, next.start - start, true)
            }
            Some(next) if next.start < filled => (next.start, next.start - start, false),
            _ => (filled, filled - start, false),
        };
        if end == keys.len() {
            break;
        }
        ends.push(end);
        start = end;
        left -= lights;
        if !is_heavy {
            bins_left = bins_left.saturating_sub(1);
            wanted = share_of_rows(left, bins_left);
        }
    }
    ends
}

/// Returns the runs of equal keys that are at least as long as an average bin.
fn heavy_runs(keys: &[u32], bins: usize) -> Vec<Range<usize>> {
    let whole = at_least(share_of_rows(keys.len(), bins));
    // A run of at least `whole` keys contains a multiple of `whole`, so probing these positions finds every heavy run.
    let mut runs: Vec<Range<usize>> = (0..keys.len()).step_by(whole).map(|at| run(keys, at)).collect();
    runs.dedup();
    runs.retain(|run| run.len() >= whole);
    runs
}

/// Returns the range of keys equal to the key at `at`; empty past the end.
fn run(keys: &[u32], at: usize) -> Range<usize> {
    let Some(&key) = keys.get(at) else { return keys.len()..keys.len() };
    let start = if at > 0 && keys[at - 1] == key { keys[..at].partition_point(|&k| k < key) } else { at };
    let end = if keys.get(at + 1) == Some(&key) { at + keys[at..].partition_point(|&k| k == key) } else { at + 1 };
    start..end
}

#[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
fn share_of_rows(rows: usize, bins: usize) -> f64 {
    share(rows as f64, bins)
}

/// Returns the smallest integer, at least 1, that is not below `share`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of rows fits usize")]
fn at_least(share: f64) -> usize {
    (share.ceil() as usize).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::feature::quantile::cuts;
    use crate::feature::sorted::{sorted, sorted_keys};

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3000))]

        #[test]
        fn ranks_cut_where_weights_of_one_do(
            runs in vec((-300_i16..300, prop_oneof![6 => 1_usize..3, 1 => 3_usize..60]), 0..120),
            bins in 1_usize..30,
        ) {
            let values: Vec<f32> = runs.iter().flat_map(|&(v, n)| vec![f32::from(v) * 0.25; n]).collect();
            prop_assert_eq!(rank_cuts(&sorted_keys(&values), bins), cuts(&sorted(&values), bins));
        }
    }
}
