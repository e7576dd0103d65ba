//! Proofs that answers are among the best vectors as they were put.

use super::metric::Goodness;

/// A scored vector, and whether it is among the answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rated {
    pub(crate) goodness: Goodness,
    pub(crate) answer: bool,
}

/// Returns, for each answer, whether it is proven to be among the best `k`: fewer than `k` other vectors can have a larger
/// score. `rest` is the largest upper end of all vectors that are not in `rated`.
pub(crate) fn certify(rated: &[Rated], rest: f64, k: usize) -> Vec<bool> {
    let mut highs: Vec<f64> = rated.iter().map(|rated| rated.goodness.high).collect();
    highs.sort_by(|a, b| b.total_cmp(a));
    let high = |rank: usize| highs.get(rank).copied().unwrap_or(f64::NEG_INFINITY);
    let proven = |rated: &Rated| {
        // The k-th largest upper end of the others: one rank further if this vector is among the first k itself.
        let own = rated.goodness.high;
        let others = if own >= high(k - 1) { high(k) } else { high(k - 1) };
        rated.goodness.low >= others.max(rest)
    };
    rated.iter().filter(|rated| rated.answer).map(proven).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rated(low: f64, high: f64, answer: bool) -> Rated {
        Rated { goodness: Goodness { decoded: (low + high) / 2.0, slack: 0.0, low, high }, answer }
    }

    #[test]
    fn an_answer_is_proven_if_fewer_than_k_others_can_exceed_it() {
        let all = [rated(9.0, 10.0, true), rated(7.0, 8.0, true), rated(5.0, 6.5, true), rated(4.0, 6.0, false)];
        assert_eq!(certify(&all, 3.0, 3), [true, true, false]);
        assert_eq!(certify(&all, 5.0, 3), [true, true, false]);
        assert_eq!(certify(&all[..3], 5.0, 3), [true, true, true]);
        assert_eq!(certify(&all[..3], 7.5, 3), [true, false, false], "a vector that was not rated may be better");
    }

    #[test]
    fn equal_scores_without_error_are_all_among_the_best() {
        let all = [rated(1.0, 1.0, true), rated(1.0, 1.0, true), rated(1.0, 1.0, false)];
        assert_eq!(certify(&all, 1.0, 2), [true, true]);
    }

    #[test]
    fn fewer_vectors_than_k_are_all_proven() {
        let unknown = rated(f64::NEG_INFINITY, f64::INFINITY, true);
        assert_eq!(certify(&[unknown, unknown], f64::NEG_INFINITY, 3), [true, true]);
    }
}
