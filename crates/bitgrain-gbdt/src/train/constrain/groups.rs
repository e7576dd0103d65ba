//! `Groups`: interaction constraints. A path from the root to a leaf uses features of one group only.
//!
//! Groups may overlap: a feature is allowed at a node if some group contains it and all features of the path. As in
//! XGBoost, a feature in no group forms a group alone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Groups of features.
#[derive(Debug)]
pub(crate) struct Groups {
    /// Features of each group.
    groups: Vec<Vec<usize>>,
    /// Groups of each feature, sorted.
    of_feature: Vec<Vec<usize>>,
    /// Sets of groups that nodes have, numbered in the order of their first use. The numbers depend on the order of
    /// the threads, but are only used to look up a set.
    sets: Mutex<Sets>,
}

#[derive(Debug, Default)]
struct Sets {
    /// Groups of each set, and the features in them, sorted.
    sets: Vec<(Vec<usize>, Arc<[usize]>)>,
    /// Set of the children after a split of a node with a set on a feature.
    next: HashMap<(usize, usize), usize>,
    numbers: HashMap<Vec<usize>, usize>,
}

impl Groups {
    /// The set of the root, which contains all groups.
    pub(crate) const ROOT: usize = 0;

    pub(crate) fn new(mut groups: Vec<Vec<usize>>, n_features: usize) -> Self {
        let mut grouped = vec![false; n_features];
        groups.iter().flatten().for_each(|&feature| grouped[feature] = true);
        groups.extend((0..n_features).filter(|&feature| !grouped[feature]).map(|feature| vec![feature]));
        let mut of_feature = vec![Vec::new(); n_features];
        for (at, group) in groups.iter().enumerate() {
            group.iter().for_each(|&feature| of_feature[feature].push(at));
        }
        let root: Vec<usize> = (0..groups.len()).collect();
        let sets = Sets {
            sets: vec![(root.clone(), (0..n_features).collect())],
            numbers: HashMap::from([(root, Self::ROOT)]),
            ..Sets::default()
        };
        Self { groups, of_feature, sets: Mutex::new(sets) }
    }

    /// Returns the features that a node with a set may use, sorted.
    pub(crate) fn allowed(&self, set: usize) -> Arc<[usize]> {
        let sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(&sets.sets[set].1)
    }

    /// Returns the set of the children after a split on a feature.
    pub(crate) fn below(&self, set: usize, feature: usize) -> usize {
        let mut sets = self.sets.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&next) = sets.next.get(&(set, feature)) {
            return next;
        }
        let own = &self.of_feature[feature];
        let kept: Vec<usize> =
            sets.sets[set].0.iter().copied().filter(|group| own.binary_search(group).is_ok()).collect();
        let number = match sets.numbers.get(&kept) {
            Some(&number) => number,
            None => {
                let mut allowed: Vec<usize> = kept.iter().flat_map(|&group| &self.groups[group]).copied().collect();
                allowed.sort_unstable();
                allowed.dedup();
                let number = sets.sets.len();
                sets.sets.push((kept.clone(), allowed.into()));
                sets.numbers.insert(kept, number);
                number
            }
        };
        sets.next.insert((set, feature), number);
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_stay_within_a_group() {
        let groups = Groups::new(vec![vec![0, 1], vec![1, 2, 3]], 5);
        let features = |set: usize| groups.allowed(set).to_vec();
        assert_eq!(features(Groups::ROOT), [0, 1, 2, 3, 4]);
        let shared = groups.below(Groups::ROOT, 1);
        assert_eq!(features(shared), [0, 1, 2, 3]);
        assert_eq!(features(groups.below(shared, 0)), [0, 1]);
        assert_eq!(features(groups.below(shared, 3)), [1, 2, 3]);
        assert_eq!(features(groups.below(Groups::ROOT, 4)), [4], "a feature in no group shares no path");
        assert_eq!(groups.below(shared, 3), groups.below(groups.below(Groups::ROOT, 2), 3), "sets are shared");
    }
}
