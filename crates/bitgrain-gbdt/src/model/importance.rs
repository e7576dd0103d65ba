//! Feature importance.

use super::Model;

/// Kind of feature importance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Importance {
    /// Total gain of the feature's splits.
    Gain,
    /// Number of the feature's splits.
    Split,
}

impl Model {
    /// Returns the importance of each feature.
    #[must_use]
    pub fn feature_importance(&self, importance: Importance) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_inputs()];
        for split in self.trees.iter().flat_map(|tree| &tree.splits) {
            let Some(sum) = sums.get_mut(split.feature as usize) else { continue };
            *sum += match importance {
                Importance::Gain => f64::from(split.gain),
                Importance::Split => 1.0,
            };
        }
        sums
    }
}
