//! How much a model uses each feature.

use super::Model;

/// What is added up for each feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Importance {
    /// The gains of its splits.
    Gain,
    /// The number of its splits.
    Split,
}

impl Model {
    /// How much the trees use each feature.
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
