//! Sorted distinct values of a column with their weights.

use super::quantile::Weighted;

/// Returns the distinct values in ascending order, weighted by their number of rows. NaN is skipped.
pub(super) fn sorted(values: &[f32]) -> Vec<Weighted> {
    let keys = sorted_keys(values);
    #[expect(clippy::cast_precision_loss, reason = "rows are far fewer than 2^53")]
    let weigh = |keys: &[u32]| Weighted { value: value(keys[0]), weight: keys.len() as f64 };
    keys.chunk_by(|a, b| a == b).map(weigh).collect()
}

/// Returns the ascending sort keys of all values except NaN.
pub(super) fn sorted_keys(values: &[f32]) -> Vec<u32> {
    radix_sorted(values.iter().filter(|value| !value.is_nan()).map(|&value| key(value)).collect())
}

/// Like [`sorted`], with a positive weight per value.
pub(super) fn sorted_with_weights(values: &[f32], weights: impl Iterator<Item = f32>) -> Vec<Weighted> {
    let counted = values.iter().zip(weights).filter(|(value, _)| !value.is_nan());
    // Pack the key above the weight in one integer. Sorting by weight, too, makes each sum independent of the input
    // order.
    let mut rows: Vec<u64> = counted.map(|(&v, w)| u64::from(key(v)) << 32 | u64::from(w.to_bits())).collect();
    rows.sort_unstable();
    #[expect(clippy::cast_possible_truncation, reason = "the two halves of the packed integer")]
    let parts = |row: u64| ((row >> 32) as u32, f32::from_bits(row as u32));
    let weigh = |rows: &[u64]| Weighted {
        value: value(parts(rows[0]).0),
        weight: rows.iter().map(|&row| f64::from(parts(row).1)).sum(),
    };
    rows.chunk_by(|a, b| a >> 32 == b >> 32).map(weigh).collect()
}

/// Adds a value, or its weight if the value is already present.
pub(super) fn insert(values: &mut Vec<Weighted>, new: Weighted) {
    let at = values.partition_point(|weighted| weighted.value < new.value);
    match values.get_mut(at) {
        Some(found) if found.value == new.value => found.weight += new.weight,
        _ => values.insert(at, new),
    }
}

/// Maps a value to an integer key with the same order; both zeros have the same key.
fn key(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits(); // -0 + 0 is +0
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// Returns the value of a key.
pub(super) fn value(key: u32) -> f32 {
    f32::from_bits(if key >> 31 == 1 { key & !(1 << 31) } else { !key })
}

/// Bits per radix digit: a key has three digits, and the counters of one digit fit in L1.
const DIGIT: u32 = 11;

/// Sorts keys by LSD radix sort.
fn radix_sorted(mut keys: Vec<u32>) -> Vec<u32> {
    if u32::try_from(keys.len()).is_err() {
        keys.sort_unstable();
        return keys;
    }
    // 32-bit counters: those of one digit take 8 KiB, a sixth of a 48 KiB L1 cache.
    let mut counts = [[0_u32; 1 << DIGIT]; 3];
    for &key in &keys {
        (0..3).for_each(|pass| counts[pass][digit(key, pass)] += 1);
    }
    let mut other = vec![0; keys.len()];
    for (pass, counts) in counts.iter_mut().enumerate() {
        let mut end = 0;
        for place in counts.iter_mut() {
            end += std::mem::replace(place, end);
        }
        for &key in &keys {
            let place = &mut counts[digit(key, pass)];
            other[*place as usize] = key;
            *place += 1;
        }
        std::mem::swap(&mut keys, &mut other);
    }
    keys
}

fn digit(key: u32, pass: usize) -> usize {
    (key as usize >> (pass * DIGIT as usize)) & ((1 << DIGIT) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_returned_in_order() {
        let keys: Vec<u32> = (0..5000_u32).map(|i| i.wrapping_mul(0x9E37_79B9)).chain([0, u32::MAX, 7, 7]).collect();
        let mut want = keys.clone();
        want.sort_unstable();
        assert_eq!(radix_sorted(keys), want);
        assert!(radix_sorted(Vec::new()).is_empty());
    }

    #[test]
    fn values_are_in_order_whatever_their_sign() {
        let values = [1.0, -0.0, f32::NAN, f32::INFINITY, 0.0, -1e-45, -2.5, f32::NEG_INFINITY, 1.0];
        let want = [(f32::NEG_INFINITY, 1.0), (-2.5, 1.0), (-1e-45, 1.0), (0.0, 2.0), (1.0, 2.0), (f32::INFINITY, 1.0)];
        let want = want.map(|(value, weight)| Weighted { value, weight });
        assert_eq!(sorted(&values), want);
        assert_eq!(sorted_with_weights(&values, std::iter::repeat(1.0)), want);
        let heavier = sorted_with_weights(&values, [0.5, 2.0].into_iter().chain([4.0; 7]));
        assert_eq!(heavier[3..5], [(0.0, 6.0), (1.0, 4.5)].map(|(value, weight)| Weighted { value, weight }));
    }
}
