//! Reverse index of reconstructions.

use std::collections::{BTreeSet, HashMap};

use crate::{StoreError, TensorId};

/// Dependents of every tensor. Small, because it only contains tensors that have dependents.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DependentIndex {
    needing: HashMap<TensorId, BTreeSet<TensorId>>,
}

impl DependentIndex {
    /// Records that `id` is reconstructed from `base`. Idempotent.
    pub fn add(&mut self, id: TensorId, base: TensorId) {
        self.needing.entry(base).or_default().insert(id);
    }

    /// Removes the link from `id` to `base`; returns whether it existed.
    pub fn remove(&mut self, id: &TensorId, base: &TensorId) -> bool {
        let Some(needing) = self.needing.get_mut(base) else { return false };
        let known = needing.remove(id);
        if needing.is_empty() {
            self.needing.remove(base);
        }
        known
    }

    /// Replaces the base `from` of `id` with `to`.
    pub fn change(&mut self, id: &TensorId, from: Option<&TensorId>, to: Option<&TensorId>) {
        if from == to {
            return;
        }
        if let Some(from) = from {
            self.remove(id, from);
        }
        if let Some(to) = to {
            self.add(id.clone(), to.clone());
        }
    }

    /// Iterates over the tensors reconstructed from `base`, sorted.
    pub fn of(&self, base: &TensorId) -> impl Iterator<Item = &TensorId> {
        self.needing.get(base).into_iter().flatten()
    }

    /// Returns whether a tensor is reconstructed from `base`.
    #[must_use]
    pub fn has(&self, base: &TensorId) -> bool {
        self.needing.contains_key(base)
    }

    /// Returns whether there are no links.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.needing.is_empty()
    }

    /// Checks that no tensor depends on `id`.
    ///
    /// # Errors
    /// Returns [`StoreError::HasDependents`] otherwise.
    pub fn check_free(&self, id: &TensorId) -> Result<(), StoreError> {
        let dependents: Vec<TensorId> = self.of(id).cloned().collect();
        if dependents.is_empty() { Ok(()) } else { Err(StoreError::HasDependents { id: id.clone(), dependents }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adding_and_removing_dependents_leaves_no_entries() {
        let mut index = DependentIndex::default();
        let [a, b, base] = ["a", "b", "base"].map(TensorId::from);
        index.add(b.clone(), base.clone());
        index.add(a.clone(), base.clone());
        index.add(a.clone(), base.clone());
        assert_eq!(index.of(&base).collect::<Vec<_>>(), [&a, &b]);
        let refused = index.check_free(&base).expect_err("two need it");
        assert_eq!(
            refused.to_string(),
            "`base` is in use: 2 tensors are reconstructed from it, `a` among them; delete or materialize them first"
        );
        index.check_free(&a).expect("no dependents");
        assert!(index.remove(&a, &base) && !index.remove(&a, &base) && !index.remove(&a, &b));
        index.change(&b, Some(&base), Some(&a));
        assert!(!index.has(&base) && index.has(&a));
        index.change(&b, Some(&a), Some(&a));
        assert!(index.has(&a));
        index.change(&b, Some(&a), None);
        assert!(index.is_empty());
        assert_eq!(index, DependentIndex::default());
    }
}
