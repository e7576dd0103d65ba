//! Metadata edits: pin, error limit, user pairs, reconstruction policy. Values are not re-encoded.

use bitgrain_formats::segment::{Content, Draft, Reconstruct, TensorHead};

use super::limits::{check_max_error, check_user};
use super::lookup::is_unchanged;
use super::{Core, TensorStore};
use crate::log::Record;
use crate::record::Check;
use crate::{Provenance, StoreError, TensorId, Tier, record};

impl TensorStore {
    /// Pins a tensor to a tier: from now on it is written with at least that many bits, frames included, and never loses bits
    /// below it. `None` removes the pin. Bits that are gone come back with the next `put` only.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Damaged`]; [`StoreError::ReadOnly`], [`StoreError::Poisoned`],
    /// [`StoreError::NoSpace`], [`StoreError::Io`].
    pub fn pin(&self, id: impl Into<TensorId>, tier: Option<Tier>) -> Result<(), StoreError> {
        self.core.edit(&id.into(), &Edit::Pin(tier))
    }

    /// Limits the error of a tensor from now on. `None` lifts the limit.
    ///
    /// # Errors
    /// As [`pin`](Self::pin); [`StoreError::BoundExceeded`] if its bound is above the limit already;
    /// [`StoreError::InvalidMaxError`].
    pub fn set_max_error(&self, id: impl Into<TensorId>, max_error: Option<f32>) -> Result<(), StoreError> {
        max_error.map_or(Ok(()), check_max_error)?;
        let id = id.into();
        if let Some(wanted) = max_error {
            // Frames have errors of their own, and what has no data is off by anything.
            let Provenance { tier, bound: got, .. } = self.meta(&id)?.provenance;
            if got > wanted {
                return Err(StoreError::BoundExceeded { tier, wanted, got });
            }
        }
        self.core.edit(&id, &Edit::MaxError(max_error))
    }

    /// Writes down something beside a tensor, in place of what was there.
    ///
    /// # Errors
    /// As [`pin`](Self::pin); [`StoreError::UserTooLarge`].
    pub fn set_user(&self, id: impl Into<TensorId>, pairs: &[(String, String)]) -> Result<(), StoreError> {
        check_user(pairs)?;
        self.core.edit(&id.into(), &Edit::User(pairs))
    }
}

/// What is to be said instead.
pub(super) enum Edit<'e> {
    Pin(Option<Tier>),
    MaxError(Option<f32>),
    User(&'e [(String, String)]),
    /// How it comes back, and what that takes.
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
    /// Appends the record of a tensor with another head and the same data.
    pub(super) fn edit(&self, id: &TensorId, edit: &Edit<'_>) -> Result<(), StoreError> {
        self.edit_if(id, edit, None, || Ok(true))
    }

    /// As [`edit`](Self::edit), if `check` says so while nobody changes the tensor, `other` or who needs whom.
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
            let _held = self.hold(&[&key, &other]);
            if is_unchanged(self.find(&key).as_ref(), Some(&seen)) {
                let _linking = matches!(edit, Edit::Reconstruct(_)).then(|| self.linking());
                if !check()? {
                    return Ok(());
                }
                // Its data is as old as it was.
                let time = whole.view.head.stamp.time;
                self.commit(&mut [Record { draft, content: Content::Tensor(id.as_id(), head), time }], self.now())?;
                // A wish counts only if it is younger than the record: it is written again with the next list of uses.
                self.index.touch(&key, |_| {}, |_| ());
                return Ok(());
            }
        }
    }
}
