//! Gains of relevance labels and discounts of ranks, of which the DCG consists.

use std::f64::consts::LN_2;

use crate::math::ln;
use crate::objective::targets::class_of;

/// Gain of each relevance label in the DCG. By default the gain of label `i` is `2^i - 1`, for labels up to 30.
///
/// ```
/// use bitgrain_gbdt::objective::LabelGain;
/// assert_eq!(LabelGain::default().gains()[..4], [0.0, 1.0, 3.0, 7.0]);
/// assert!(LabelGain::new(vec![0.0, 2.0, 1.0]).is_none()); // not ascending
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LabelGain(Vec<f64>);

impl Default for LabelGain {
    fn default() -> Self {
        Self((0..31_u32).map(|label| f64::from((1_u32 << label) - 1)).collect())
    }
}

impl LabelGain {
    /// Maximum number of labels.
    pub const MAX_LABELS: usize = 4096;

    /// Creates a table of gains; `None` unless it holds 2 to 4,096 finite numbers of at least 0 in ascending order.
    #[must_use]
    pub fn new(gains: Vec<f64>) -> Option<Self> {
        let in_range = gains.iter().all(|gain| (0.0..=f64::from(f32::MAX)).contains(gain));
        let ascend = gains.windows(2).all(|pair| pair[0] <= pair[1]);
        ((2..=Self::MAX_LABELS).contains(&gains.len()) && in_range && ascend).then_some(Self(gains))
    }

    /// Gain of each label.
    #[must_use]
    pub fn gains(&self) -> &[f64] {
        &self.0
    }

    /// Returns the largest DCG of the first `discounts.len()` ranks. `counts` is scratch.
    pub(crate) fn ideal(&self, labels: impl Iterator<Item = usize>, discounts: &[f64], counts: &mut Vec<usize>) -> f64 {
        counts.clear();
        counts.resize(self.0.len(), 0);
        labels.for_each(|label| counts[label] += 1);
        let (mut sum, mut rank) = (0.0, 0);
        for (&count, &gain) in counts.iter().zip(&self.0).rev() {
            let end = discounts.len().min(rank + count);
            sum += gain * discounts[rank..end].iter().sum::<f64>();
            rank = end;
        }
        sum
    }
}

/// Returns the label of a target, or `None` if it is not an integer in `0..labels`.
pub(crate) fn label_of(target: impl Into<f64>, labels: usize) -> Option<usize> {
    class_of(target, labels)
}

/// Returns `1 / log2(2 + rank)` for the first ranks.
pub(crate) fn discounts(ranks: usize) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "ranks are far below 2^53")]
    (0..ranks).map(|rank| LN_2 / ln(rank as f64 + 2.0)).collect()
}
