//! Concordance of risks and survival times.

use super::{Metric, MetricError, MetricInput};

/// Share of the comparable pairs of rows in which the row with the higher prediction has the earlier event (Harrell's C);
/// equal predictions count half. A negative target is a time of censoring, as in the objective `cox`. Pairs are comparable
/// if the earlier of two times is that of an event. Name: `concordance`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Concordance;

impl Metric for Concordance {
    fn name(&self) -> String {
        "concordance".into()
    }

    fn higher_is_better(&self) -> bool {
        true
    }

    fn evaluate(&self, data: &MetricInput<'_>) -> Result<f64, MetricError> {
        data.check(1)?;
        data.check_total((0..data.targets.len()).map(|row| data.weight(row)).sum())?;
        let (times, risks) = (data.targets, data.predictions);
        let invalid = |row: &usize| !times[*row].is_finite() || times[*row] == 0.0 || risks[*row].is_nan();
        if let Some(row) = (0..times.len()).find(invalid) {
            let takes = "finite times other than 0, negative if censored, and predictions other than NaN";
            let (target, prediction, metric) = (times[row], risks[row], self.name());
            let error = || MetricError::Row { row, target, prediction, metric, takes };
            return Err(crate::samples::invalid_target(row, target, error));
        }
        let weight = |row: usize| data.weights.map_or(1.0, |weights| f64::from(weights[row]));
        let mut sorted = risks.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted.dedup();
        let rank = |row: usize| sorted.partition_point(|risk| *risk < risks[row]);
        // From the last time on, so that the later rows are known; at equal times censored rows outlive events.
        let mut order: Vec<usize> = (0..times.len()).collect();
        order.sort_unstable_by(|&a, &b| times[b].abs().total_cmp(&times[a].abs()).then(a.cmp(&b)));
        let mut later = Weights::new(sorted.len());
        let (mut right, mut pairs) = (0.0, 0.0);
        let mut start = 0;
        while start < order.len() {
            let time = times[order[start]].abs();
            let len = order[start..].iter().take_while(|&&row| times[row].abs() == time).count();
            let (events, censored): (Vec<usize>, Vec<usize>) =
                order[start..start + len].iter().copied().partition(|&row| times[row] > 0.0);
            censored.iter().for_each(|&row| later.add(rank(row), weight(row)));
            for &row in &events {
                let (below, upto, all) = (later.below(rank(row)), later.below(rank(row) + 1), later.total);
                right += weight(row) * (below + 0.5 * (upto - below));
                pairs += weight(row) * all;
            }
            events.iter().for_each(|&row| later.add(rank(row), weight(row)));
            start += len;
        }
        if pairs > 0.0 { Ok(right / pairs) } else { Err(MetricError::NoPairs { metric: "concordance" }) }
    }
}

/// Sums of weights by rank (a Fenwick tree).
struct Weights {
    sums: Vec<f64>,
    total: f64,
}

impl Weights {
    fn new(ranks: usize) -> Self {
        Self { sums: vec![0.0; ranks + 1], total: 0.0 }
    }

    fn add(&mut self, rank: usize, weight: f64) {
        let mut at = rank + 1;
        while at < self.sums.len() {
            self.sums[at] += weight;
            at += at & at.wrapping_neg();
        }
        self.total += weight;
    }

    /// Returns the sum over all ranks below one.
    fn below(&self, rank: usize) -> f64 {
        let (mut at, mut sum) = (rank, 0.0);
        while at > 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }
}
