//! Weighted quantile cuts between sorted values.

/// A distinct value and the total weight of its rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Weighted {
    pub(super) value: f32,
    pub(super) weight: f64,
}

/// Returns the cuts of at most `bins` bins between distinct, ascending values.
///
/// If the values fit, each gets a bin. Otherwise a value as heavy as an average bin gets its own bin, and the other
/// values share the remaining bins equally; the target weight is recomputed after every bin, so that no bin stays
/// unused.
pub(super) fn cuts(values: &[Weighted], bins: usize) -> Vec<f32> {
    let weights: Vec<f64> = values.iter().map(|value| value.weight).collect();
    let places = cut_places(&weights, bins).into_iter();
    places.map(|at| midpoint(values[at].value, values[at + 1].value)).collect()
}

/// Returns the index of the value before each cut, given the weights of distinct, ascending values. See [`cuts`].
pub(super) fn cut_places(weights: &[f64], bins: usize) -> Vec<usize> {
    if weights.len() <= bins {
        return (0..weights.len().saturating_sub(1)).collect();
    }
    let total: f64 = weights.iter().sum();
    let whole = share(total, bins);
    let is_heavy = |weight: f64| weight >= whole;
    let heavy = weights.iter().copied().filter(|&weight| is_heavy(weight));
    let mut left = total - heavy.clone().sum::<f64>();
    let mut bins_left = bins.saturating_sub(heavy.count());
    let mut wanted = share(left, bins_left);
    let mut cuts = Vec::with_capacity(bins - 1);
    let mut filled = 0.0;
    for (at, pair) in weights.windows(2).enumerate() {
        if cuts.len() + 1 == bins {
            break;
        }
        let (this, next) = (pair[0], pair[1]);
        filled += this;
        if !is_heavy(this) {
            left -= this;
        }
        // Close a light bin early before a heavy value, which would otherwise share that bin.
        if is_heavy(this) || filled >= wanted || (is_heavy(next) && filled >= wanted / 2.0) {
            cuts.push(at);
            filled = 0.0;
            if !is_heavy(this) {
                bins_left = bins_left.saturating_sub(1);
                wanted = share(left, bins_left);
            }
        }
    }
    cuts
}

/// Returns the average weight per bin.
pub(super) fn share(weight: f64, bins: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "bins are far fewer than 2^53")]
    let bins = bins.max(1) as f64;
    weight / bins
}

/// Returns a cut with `low <= cut < high`: the midpoint rounded to f32, but finite if a neighbor is an infinity.
pub(super) fn midpoint(low: f32, high: f32) -> f32 {
    if high == f32::INFINITY {
        return f32::MAX;
    }
    #[expect(clippy::cast_possible_truncation, reason = "rounded, then corrected below")]
    let middle = f64::midpoint(f64::from(low), f64::from(high)) as f32;
    if middle < high { middle } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(weights: &[(f32, f64)]) -> Vec<Weighted> {
        weights.iter().map(|&(value, weight)| Weighted { value, weight }).collect()
    }

    #[test]
    fn a_cut_separates_the_closest_and_the_farthest_neighbors() {
        let (tiny, one) = (f32::from_bits(1), 1.0_f32);
        let values =
            [f32::NEG_INFINITY, f32::MIN, -one.next_up(), -one, -tiny, 0.0, tiny, one, one.next_up(), f32::MAX];
        for pair in values.windows(2).chain([&[f32::MAX, f32::INFINITY][..], &[f32::NEG_INFINITY, f32::INFINITY]]) {
            let cut = midpoint(pair[0], pair[1]);
            assert!(pair[0] <= cut && cut < pair[1], "{pair:?} {cut}");
        }
        assert_eq!(midpoint(1.0, 4.0), 2.5);
    }

    #[test]
    fn a_heavy_value_takes_only_one_bin() {
        let mut values = of(&[(0.0, 1000.0)]);
        values.extend(of(&(1..=90_u8).map(|i| (f32::from(i), 1.0)).collect::<Vec<_>>()));
        let cuts = cuts(&values, 10);
        assert_eq!(cuts, [0.5, 10.5, 20.5, 30.5, 40.5, 50.5, 60.5, 70.5, 80.5]);
    }

    #[test]
    fn light_values_before_a_heavy_one_get_their_own_bin() {
        let values = [(1.0, 1.0), (2.0, 1.0), (3.0, 1.0), (10.0, 100.0), (20.0, 1.0), (21.0, 1.0), (22.0, 1.0)];
        assert_eq!(cuts(&of(&values), 4), [2.5, 6.5, 15.0]); // two, then one rather than 101
    }

    #[test]
    fn values_that_fit_are_separated_whatever_they_weigh() {
        assert_eq!(cuts(&of(&[(1.0, 1e9), (2.0, 1e-9), (3.0, 5.0)]), 3), [1.5, 2.5]);
        assert!(cuts(&of(&[(1.0, 1.0)]), 3).is_empty());
        assert!(cuts(&[], 3).is_empty());
    }

    #[test]
    fn one_bin_has_no_cut() {
        assert!(cuts(&of(&[(1.0, 1.0), (2.0, 1.0), (3.0, 1.0)]), 1).is_empty());
    }
}
