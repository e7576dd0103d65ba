//! A seeded sample of rows: one from each of as many equal stretches, so that the order of the data does not matter.

/// At most `count` of `n_rows` rows, ascending and distinct; all of them if there are no more.
pub(super) fn sample(n_rows: usize, count: usize, seed: u64) -> Vec<usize> {
    if count >= n_rows {
        return (0..n_rows).collect();
    }
    let start = |stretch: usize| narrow(stretch as u128 * n_rows as u128 / count as u128);
    let one_of = |stretch: usize| {
        let (first, end) = (start(stretch), start(stretch + 1));
        let random = mixed(seed ^ mixed(stretch as u64));
        first + narrow((u128::from(random) * (end - first) as u128) >> 64)
    };
    (0..count).map(one_of).collect()
}

/// A row number that was multiplied before it was divided.
fn narrow(row: u128) -> usize {
    usize::try_from(row).unwrap_or(usize::MAX)
}

/// A number that looks random and depends on every bit of `seed`: one step of SplitMix64.
fn mixed(seed: u64) -> u64 {
    let z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_of_all_rows_is_all_rows() {
        assert!(sample(1000, 1000, 7).into_iter().eq(0..1000));
        assert!(sample(1000, usize::MAX, 7).into_iter().eq(0..1000));
    }

    #[test]
    fn rows_ascend_and_each_stretch_gives_one() {
        for seed in 0..50 {
            let rows = sample(1003, 100, seed);
            assert_eq!(rows.len(), 100);
            assert!(rows.is_sorted_by(|a, b| a < b) && rows[99] < 1003);
        }
    }

    #[test]
    fn every_row_is_drawn_about_as_often_as_any_other() {
        let mut drawn = [0; 30];
        for seed in 0..3000 {
            sample(30, 10, seed).into_iter().for_each(|row| drawn[row] += 1);
        }
        assert!(drawn.iter().all(|&times| (850..1150).contains(&times)), "{drawn:?}");
    }
}
