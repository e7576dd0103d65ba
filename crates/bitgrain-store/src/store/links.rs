//! Reconstruction links between tensors, kept in sync with the index.

use std::collections::{HashMap, HashSet};

use super::Core;
use crate::index::Entry;
use crate::reconstruct::{DependentIndex, check_drop, check_link};
use crate::{StoreError, TensorId, Tier};

/// Bases and dependents of all tensors with a reconstruction policy, with or without data.
#[derive(Debug, Default)]
pub(super) struct LinkTable {
    bases: HashMap<TensorId, TensorId>,
    dependents: DependentIndex,
}

impl LinkTable {
    /// Sets or removes the base of `id`.
    pub(super) fn set(&mut self, id: &TensorId, base: Option<TensorId>) {
        self.dependents.change(id, self.bases.get(id), base.as_ref());
        match base {
            Some(base) => self.bases.insert(id.clone(), base),
            None => self.bases.remove(id),
        };
    }

    /// Returns the base of `id`.
    pub(super) fn base(&self, id: &TensorId) -> Option<&TensorId> {
        self.bases.get(id)
    }

    /// Returns whether the table has no links.
    pub(super) fn is_empty(&self) -> bool {
        self.bases.is_empty()
    }

    /// Returns the tensors that are reconstructed from `id`, sorted.
    pub(super) fn of(&self, id: &TensorId) -> Vec<TensorId> {
        self.dependents.of(id).cloned().collect()
    }

    /// # Errors
    /// Returns [`StoreError::HasDependents`] if tensors are reconstructed from `id`.
    pub(super) fn check_free(&self, id: &TensorId) -> Result<(), StoreError> {
        if self.dependents.is_empty() { Ok(()) } else { self.dependents.check_free(id) }
    }

    /// Checks that `id` may be reconstructed from `base`; with `drop`, without stored data.
    ///
    /// # Errors
    /// Returns [`StoreError::ReconstructionCycle`] or [`StoreError::ReconstructionDepthExceeded`].
    pub(super) fn check(&self, core: &Core, id: &TensorId, base: &TensorId, drop: bool) -> Result<(), StoreError> {
        check_link(&|id: &TensorId| self.bases.get(id).cloned(), id, base)?;
        let links = |id: &TensorId| self.followed(core, id, &HashSet::new());
        if drop { check_drop(&links, &self.dependents, id, base) } else { Ok(()) }
    }

    /// Returns whether the data of `id` may be dropped together with that of `dropped`: it has no dependents, or all of
    /// them can still be reconstructed.
    pub(super) fn may_drop(
        &self,
        core: &Core,
        id: &TensorId,
        reconstructable: bool,
        dropped: &HashSet<TensorId>,
    ) -> bool {
        let links = |id: &TensorId| self.followed(core, id, dropped);
        match self.bases.get(id).filter(|_| reconstructable) {
            Some(base) => check_drop(&links, &self.dependents, id, base).is_ok(),
            None => !self.dependents.has(id),
        }
    }

    /// Returns the base of a tensor that has no data or is in `dropped`.
    fn followed(&self, core: &Core, id: &TensorId, dropped: &HashSet<TensorId>) -> Option<TensorId> {
        let base = self.bases.get(id)?;
        // Some frames of a temporal tensor may have data and others none, so it counts as absent.
        let absent = |entry: &Entry| entry.traits.temporal || entry.traits.tier == Tier::Absent;
        let absent = dropped.contains(id) || core.index.with(&id.key(), absent)?;
        absent.then(|| base.clone())
    }
}
