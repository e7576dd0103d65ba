//! Metadata edits: pin, error limit, user pairs, reconstruction policy. Values are not re-encoded.

use bitgrain_formats::segment::{Content, Draft, Reconstruct, TensorHead};

use super::limits::{check_max_error, check_user};
use super::lookup::is_unchanged;
use super::{Core, TensorStore};
use crate::log::Record;
use crate::record::Check;
use crate::{Provenance, StoreError, TensorId, Tier, record};

impl TensorStore {
    /// Pins a tensor to a tier: from now on it is written with at least that many bits, frames included, and never
    /// re-encoded with fewer. `None` removes the pin. Precision that is already lost returns only with the next `put`.
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`], [`StoreError::Damaged`], [`StoreError::ReadOnly`], [`StoreError::Poisoned`],
    /// [`StoreError::NoSpace`] or [`StoreError::Io`].
    pub fn pin(&self, id: impl Into<TensorId>, tier: Option<Tier>) -> Result<(), StoreError> {
        self.core.edit(&id.into(), &Edit::Pin(tier))
    }

    /// Limits the error bound of a tensor from now on. `None` removes the limit.
    ///
    /// # Errors
    /// Returns the errors of [`pin`](Self::pin), [`StoreError::BoundExceeded`] if the bound already exceeds the limit,
    /// and [`StoreError::InvalidMaxError`].
    pub fn set_max_error(&self, id: impl Into<TensorId>, max_error: Option<f32>) -> Result<(), StoreError> {
        max_error.map_or(Ok(()), check_max_error)?;
        let id = id.into();
        if let Some(wanted) = max_error {
            // Frames have separate bounds, and the bound of an absent tensor is infinite.
            let Provenance { tier, bound: got, .. } = self.meta(&id)?.provenance;
            if got > wanted {
                return Err(StoreError::BoundExceeded { tier, wanted, got });
            }
        }
        self.core.edit(&id, &Edit::MaxError(max_error))
    }

    /// Replaces the user metadata of a tensor.
    ///
    /// # Errors
    /// Returns the errors of [`pin`](Self::pin) and [`StoreError::UserTooLarge`].
    pub fn set_user(&self, id: impl Into<TensorId>, pairs: &[(String, String)]) -> Result<(), StoreError> {
        check_user(pairs)?;
        self.core.edit(&id.into(), &Edit::User(pairs))
    }
}

/// A change of metadata.
pub(super) enum Edit<'e> {
    Pin(Option<Tier>),
    MaxError(Option<f32>),
    User(&'e [(String, String)]),
    /// Reconstruction policy, with its payload.
    Reconstruct(Option<(Reconstruct<'e>, &'e [u8])>),
}

impl Edit<'_> {
    fn apply<'h>(&'h self, head: &mut TensorHead<'h>) -> Result<(), StoreError> {
        match self {
            Self::Pin(tier) => head.pinned = tier.map(Tier::code),
            Self::User(pairs) => head.user = pairs.iter().map(|(key, value)| (&**key, &**value)).collect(),
            Self::Reconstruct(policy) => head.reconstruct = policy.map(|(policy, _)| policy),
            Self::MaxError(max_error) => {
                let (got, tier) = (head.accuracy.bound(), Tier::of_code(head.tier).unwrap_or(Tier::Absent));
                if let Some(wanted) = max_error.filter(|wanted| got > *wanted) {
                    return Err(StoreError::BoundExceeded { tier, wanted, got });
                }
                head.max_error = *max_error;
            }
        }
        Ok(())
    }
}

impl Core {
    /// Appends a record with an edited head and the same data.
    pub(super) fn edit(&self, id: &TensorId, edit: &Edit<'_>) -> Result<(), StoreError> {
        self.edit_if(id, edit, None, || Ok(true))
    }

    /// Like [`edit`](Self::edit), if `check` succeeds while `id`, `other` and the reconstruction links are locked.
    pub(super) fn edit_if(
        &self,
        id: &TensorId,
        edit: &Edit<'_>,
        other: Option<&TensorId>,
        check: impl Fn() -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let (key, other) = (id.key(), other.unwrap_or(id).key());
        self.log()?.check()?;
        let mut buffer = Vec::new();
        loop {
            let seen = self.found(id, &key)?;
            let whole = record::read(&seen.place, Some(id), Check::Alone, &mut buffer)?;
            let old = record::tensor_head(&whole.view, &seen.place, id)?;
            let data = old.parts().map_or(0, |parts| parts.data.end);
            let tail = match edit {
                Edit::Reconstruct(policy) => policy.map_or(&[][..], |(_, bytes)| bytes),
                _ => &whole.body[data..],
            };
            let mut head = old.clone();
            edit.apply(&mut head)?;
            let mut draft = Draft::new(data + tail.len());
            draft.body_mut()[..data].copy_from_slice(&whole.body[..data]);
            draft.body_mut()[data..].copy_from_slice(tail);
            draft.checksum();
            let _held = self.lock_tensors(&[&key, &other]);
            if is_unchanged(self.find(&key).as_ref(), Some(&seen)) {
                let _linking = matches!(edit, Edit::Reconstruct(_)).then(|| self.linking());
                if !check()? {
                    return Ok(());
                }
                // Keeps the time of the data, which was not re-encoded.
                let time = whole.view.head.stamp.time;
                self.commit(&mut [Record { draft, content: Content::Tensor(id.as_id(), head), time }], self.now())?;
                // A wanted tier is valid only if it is newer than the record, so it must be written again with the next
                // usage record.
                self.index.touch(&key, |_| {}, |_| ());
                return Ok(());
            }
        }
    }
}
