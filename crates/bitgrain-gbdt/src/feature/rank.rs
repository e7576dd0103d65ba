//! Cuts between sorted keys that weigh the same, found by rank: only the keys beside a cut are looked at.

use std::ops::Range;

use super::quantile::{midpoint, share};
use super::sorted::value;

/// What [`cuts`](super::quantile::cuts) finds for the values of these ascending keys, each of weight 1.
pub(super) fn rank_cuts(keys: &[u32], bins: usize) -> Vec<f32> {
    let few = |end: &usize| Some(run(keys, *end).end);
    let few = std::iter::successors(few(&0), few).take_while(|&end| end < keys.len());
    let mut ends: Vec<usize> = few.take(bins).collect();
    if ends.len() == bins {
        ends = shares(keys, bins);
    }
    ends.into_iter().map(|end| midpoint(value(keys[end - 1]), value(keys[end]))).collect()
}

/// Where bins of about equally many keys end, of more different keys than bins.
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
            // A light bin before a heavy value is closed early, lest the heavy one take it in.
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

/// Equal keys that fill a bin by themselves.
fn heavy_runs(keys: &[u32], bins: usize) -> Vec<Range<usize>> {
    let whole = at_least(share_of_rows(keys.len(), bins));
    // So long a run has one of these in it.
    let mut runs: Vec<Range<usize>> = (0..keys.len()).step_by(whole).map(|at| run(keys, at)).collect();
    runs.dedup();
    runs.retain(|run| run.len() >= whole);
    runs
}

/// All keys equal to one of them; none behind the last.
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

/// The least number of rows, one at least, that is not below a share.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of rows is a number of rows")]
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
