//! The same tensor with something else said about it, or at another tier.

use bitgrain_codec::TwoLevel;
use bitgrain_formats::segment::{Content, Draft, Encoding, TensorHead};

use super::encode::{Coding, summed};
use super::put::{check_max_error, same};
use super::reader::decode_data;
use super::view::Found;
use super::{Core, TensorStore};
use crate::log::Record;
use crate::{StoreError, TensorId, Tier, read};

/// Most pairs of user metadata.
const MAX_PAIRS: usize = 1024;
/// Most bytes of user metadata.
const MAX_USER: usize = 256 << 10;

impl TensorStore {
    /// Holds a tensor at a tier from now on: it is written at that one, and never gets fewer bits. `None` lets go of it.
    /// Bits that are gone come with the next `put` only.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; [`StoreError::Damaged`]; [`StoreError::ReadOnly`], [`StoreError::Poisoned`],
    /// [`StoreError::NoSpace`], [`StoreError::Io`].
    pub fn pin(&self, id: impl Into<TensorId>, tier: Option<Tier>) -> Result<(), StoreError> {
        let id = id.into();
        self.core.edit(&id, |head| {
            head.pinned = tier.map(Tier::code);
            Ok(())
        })
    }

    /// Limits the error of a tensor from now on. `None` lifts the limit.
    ///
    /// # Errors
    /// As [`pin`](Self::pin); [`StoreError::BoundExceeded`] if its bound is above the limit already;
    /// [`StoreError::InvalidMaxError`].
    pub fn set_max_error(&self, id: impl Into<TensorId>, max_error: Option<f32>) -> Result<(), StoreError> {
        max_error.map_or(Ok(()), check_max_error)?;
        let id = id.into();
        self.core.edit(&id, |head| {
            let (got, tier) = (head.accuracy.bound(), Tier::of_code(head.tier).unwrap_or(Tier::Absent));
            match max_error.filter(|wanted| got > *wanted) {
                Some(wanted) => Err(StoreError::BoundExceeded { tier, wanted, got }),
                None => {
                    head.max_error = max_error;
                    Ok(())
                }
            }
        })
    }

    /// Writes down something beside a tensor, in place of what was there.
    ///
    /// # Errors
    /// As [`pin`](Self::pin); [`StoreError::UserTooLarge`].
    pub fn set_user(&self, id: impl Into<TensorId>, pairs: &[(String, String)]) -> Result<(), StoreError> {
        check_user(pairs)?;
        let id = id.into();
        self.core.edit(&id, |head| {
            head.user = pairs.iter().map(|(key, value)| (&**key, &**value)).collect();
            Ok(())
        })
    }
}

/// Whether user metadata is within its limits.
pub(super) fn check_user(pairs: &[(String, String)]) -> Result<(), StoreError> {
    let bytes = pairs.iter().map(|(key, value)| key.len() + value.len()).sum();
    if pairs.len() > MAX_PAIRS || bytes > MAX_USER {
        let (max_pairs, max_bytes) = (MAX_PAIRS, MAX_USER);
        return Err(StoreError::UserTooLarge { pairs: pairs.len(), bytes, max_pairs, max_bytes });
    }
    Ok(())
}

impl Core {
    /// Appends the record of a tensor with another head and the same body.
    fn edit<'u>(
        &self,
        id: &TensorId,
        change: impl for<'h> Fn(&mut TensorHead<'h>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError>
    where
        'u:,
    {
        let key = id.key();
        self.log()?.check()?;
        let mut buffer = Vec::new();
        loop {
            let seen = self.found(id, &key)?;
            let whole = read::record(&seen.place, Some(id), true, &mut buffer)?;
            let mut head = read::tensor_of(&whole.view, &seen.place, id)?.clone();
            change(&mut head)?;
            let mut draft = Draft::new(whole.body.len());
            draft.body_mut().copy_from_slice(whole.body);
            draft.checksum();
            let _held = self.hold(&[&key]);
            if same(self.find(&key).as_ref(), Some(&seen)) {
                // Its data is as old as it was.
                let time = whole.view.head.stamp.time;
                return self.commit(&mut [Record { draft, content: Content::Tensor(id.as_id(), head), time }]);
            }
        }
    }
}
