//! Weights of pairs: the change of a metric if the two rows traded places.

use super::gains::label_of;
use super::pairs::{PairLoss, RankedQuery};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairWeight {
    /// Difference of NDCG.
    Ndcg,
    /// Difference of average precision.
    AveragePrecision,
    /// 1.
    Equal,
}

/// Buffers of a query, by rank.
#[derive(Debug, Default)]
pub(super) struct Query {
    pub(super) ranked: RankedQuery,
    /// Scores with the bias of their positions.
    pub(super) adjusted: Vec<f32>,
    /// Gain or label of each rank.
    gains: Vec<f64>,
    /// Precision of each rank: relevant rows up to it per row; for MAP.
    precisions: Vec<f64>,
    /// Sum of the inverse 1-based ranks of the relevant rows before each rank; for MAP.
    before: Vec<f64>,
}

impl PairWeight {
    /// Adds up the gradients of all pairs of a query.
    pub(super) fn add_pairs(
        self,
        labels: &[f32],
        (table, discounts): (&[f64], &[f64]),
        (loss, scale): (PairLoss, f64),
        query: &mut Query,
    ) {
        let Query { ranked, gains, precisions, before, .. } = query;
        gains.clear();
        match self {
            Self::Ndcg => {
                gains.extend(
                    ranked.rows().map(|row| label_of(labels[row], table.len()).map_or(0.0, |label| table[label])),
                );
                let gains = &gains[..];
                ranked.add_pairs(loss, scale, |rank, weights| {
                    let (gain, discount) = (gains[rank], discounts[rank]);
                    let after = rank + 1;
                    for ((weight, other), lower) in weights.iter_mut().zip(&gains[after..]).zip(&discounts[after..]) {
                        *weight = (gain - other) * (discount - lower);
                    }
                });
            }
            Self::Equal => {
                gains.extend(ranked.rows().map(|row| f64::from(labels[row])));
                let gains = &gains[..];
                ranked.add_pairs(loss, scale, |rank, weights| {
                    let own = gains[rank];
                    for (weight, other) in weights.iter_mut().zip(&gains[rank + 1..]) {
                        *weight = f64::from(u8::from(own > *other)) - f64::from(u8::from(own < *other));
                    }
                });
            }
            Self::AveragePrecision => {
                gains.extend(ranked.rows().map(|row| f64::from(labels[row])));
                precision_sums(gains, precisions, before);
                let (gains, precisions, before) = (&gains[..], &precisions[..], &before[..]);
                ranked.add_pairs(loss, scale, |rank, weights| {
                    let relevant = gains[rank] > 0.0;
                    #[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^53")]
                    let share = 1.0 / (rank as f64 + 1.0);
                    let passed = before[rank] + if relevant { share } else { 0.0 };
                    let own = precisions[rank] + if relevant { 0.0 } else { share };
                    for (at, weight) in weights.iter_mut().enumerate() {
                        let other = rank + 1 + at;
                        // The average precision that the two lose or gain, and the rows between them.
                        let change = own - precisions[other] + (before[other] - passed);
                        *weight = change * (gains[rank] - gains[other]);
                    }
                });
            }
        }
    }
}

/// Computes the precision up to each rank, and the sum of inverse ranks of the relevant rows before it.
#[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^53")]
fn precision_sums(relevance: &[f64], precisions: &mut Vec<f64>, before: &mut Vec<f64>) {
    precisions.clear();
    before.clear();
    let (mut hits, mut sum) = (0.0, 0.0);
    for (rank, relevant) in relevance.iter().enumerate() {
        let place = rank as f64 + 1.0;
        before.push(sum);
        hits += relevant;
        sum += relevant / place;
        precisions.push(hits / place);
    }
}
