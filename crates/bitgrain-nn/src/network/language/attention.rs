//! Grouped-query attention (Ainslie et al. 2023) over cached keys and values.

use bitgrain_kernels::Backend;
use bitgrain_kernels::floats::exp;
use rayon::prelude::*;

use super::LanguageError;
use super::cache::KeyValueCache;
use super::config::Config;
use crate::network::product::{View, multiply_views};

/// Number of positions per task: later positions of a text see more keys, and none are computed that all of a task's
/// positions ignore.
const POSITIONS: usize = 64;

/// Number of products below which one thread computes them all.
const FEW: usize = 1 << 20;

/// Maps items in order, on this thread if they are `few`.
fn each<T: Sync, R: Send>(
    few: bool,
    items: &[T],
    map: impl Fn(&T) -> Result<R, LanguageError> + Send + Sync,
) -> Result<Vec<R>, LanguageError> {
    if few { items.iter().map(map).collect() } else { items.par_iter().map(map).collect() }
}

/// Computes the outputs of all heads for the last `count` positions of the cache, whose queries are `queries`.
///
/// Each sum runs over the keys in order, and keys that a position does not see add an exact zero, so that the results
/// depend neither on the number of threads nor on how many positions are computed together.
pub(super) fn attend(
    config: &Config,
    layer: usize,
    queries: &[f32],
    cache: &KeyValueCache,
    count: usize,
) -> Result<Vec<f32>, LanguageError> {
    let (head, group, width) = (config.head, config.heads / config.kv_heads, config.query_width());
    // The cache already holds the new positions of this layer, but does not count them yet.
    let before = cache.len();
    // Waking other threads takes longer than a few products.
    let few = count * (before + count) * width < FEW;
    let decoded = each(few, &(0..config.kv_heads).collect::<Vec<_>>(), |kv| cache.decode(layer, *kv))?;
    let tasks: Vec<(usize, usize)> =
        (0..config.kv_heads).flat_map(|kv| (0..count).step_by(POSITIONS).map(move |first| (kv, first))).collect();
    let compute = |&(kv, first): &(usize, usize)| -> Result<Vec<f32>, LanguageError> {
        let some = first..count.min(first + POSITIONS);
        let window = config.window_of(layer);
        let seen = |row: usize| {
            let end = before + row + 1;
            window.map_or(0, |window| end.saturating_sub(window))..end
        };
        // Keys that some position of this task sees.
        let keys = seen(some.start).start..seen(some.end - 1).end;
        let [all_keys, all_values] = &decoded[kv];
        let wrong = LanguageError::weights("attention scores");
        let range = keys.start * head..keys.end * head;
        let (keys_here, values_here) = (&all_keys[range.clone()], &all_values[range]);
        let mut mine = Vec::with_capacity(group * some.len() * head);
        for row in some.clone() {
            let heads = &queries[row * width + kv * group * head..][..group * head];
            mine.extend(heads.iter().map(|query| query * config.attention_scale));
        }
        let rows = group * some.len();
        let mut scores = vec![0.0; rows * keys.len()];
        let mut out = vec![0.0; rows * head];
        let mut product = || {
            let transposed = View::new(keys_here, keys.len(), head)?.transposed();
            multiply_views(View::new(&mine, rows, head)?, transposed, &mut scores)?;
            for (at, scores) in scores.chunks_exact_mut(keys.len()).enumerate() {
                let seen = seen(some.start + at / group);
                let seen = seen.start - keys.start..seen.end - keys.start;
                scores[..seen.start].fill(0.0);
                scores[seen.end..].fill(0.0);
                softmax(&mut scores[seen]);
            }
            let values = View::new(values_here, keys.len(), head)?;
            multiply_views(View::new(&scores, rows, keys.len())?, values, &mut out)
        };
        product().map_err(wrong)?;
        Ok(out)
    };
    let parts = each(few, &tasks, compute)?;
    let mut out = vec![0.0; count * width];
    for ((kv, first), part) in tasks.into_iter().zip(parts) {
        for (row, heads) in (first..).zip(part.chunks_exact(group * head)) {
            out[row * width + kv * group * head..][..group * head].copy_from_slice(heads);
        }
    }
    Ok(out)
}

/// Replaces scores by their softmax. Scores that are not finite give NaN, which the next product rejects.
pub(super) fn softmax(scores: &mut [f32]) {
    let top = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let shifted: Vec<f32> = scores.iter().map(|score| score - top).collect();
    if exp(Backend::best(), &shifted, scores).is_err() {
        return;
    }
    let sum: f64 = scores.iter().map(|score| f64::from(*score)).sum();
    #[expect(clippy::cast_possible_truncation, reason = "a sum of f32")]
    let factor = (1.0 / sum) as f32;
    scores.iter_mut().for_each(|score| *score *= factor);
}
