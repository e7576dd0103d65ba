//! Tensors from one store to another, as they are.

use bitgrain_formats::segment::{Content, TensorHead};

use super::remove::delete_record;
use super::{Core, TensorStore};
use crate::log::Record;
use crate::segment::Place;
use crate::{StoreError, TensorId, Tier, record};

/// Bytes of frames that are written at once.
const TOGETHER: usize = 16 << 20;

impl TensorStore {
    /// Copies a tensor to another store, in place of what has the id there. Nothing is encoded anew: codes, errors, pin, limit,
    /// what was written down beside it and how it was used are the same there. Returns the number of frames that were
    /// copied: of a temporal tensor all up to the first that is not readable.
    ///
    /// A tensor with data loses its reconstruction policy if what that needs is not in the other store.
    ///
    /// ```
    /// use bitgrain_store::{StoreConfig, TensorStore};
    /// # let folder = tempfile::tempdir()?;
    /// let old = TensorStore::open(folder.path().join("old"), StoreConfig::default())?;
    /// let new = TensorStore::open(folder.path().join("new"), StoreConfig::default())?;
    /// old.put("x", &[3], &[0.1, 0.2, 0.3])?;
    /// old.copy_to("x", &new)?;
    /// assert_eq!(old.get("x")?, new.get("x")?); // the values, and what is known of their errors
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`StoreError::NotFound`] for the tensor, or for what it is reconstructed from if it has no data and that is not in the
    /// other store; [`StoreError::Damaged`]; [`StoreError::HasDependents`] if others are reconstructed from what is there;
    /// [`StoreError::ReadOnly`], [`StoreError::Poisoned`], [`StoreError::NoSpace`], [`StoreError::Io`].
    pub fn copy_to(&self, id: impl Into<TensorId>, other: &Self) -> Result<u64, StoreError> {
        let (id, core, there) = (id.into(), &self.core, &other.core);
        there.log()?.check()?;
        let key = id.key();
        let found = core.found(&id, &key)?;
        let mut buffer = Vec::new();
        let whole = record::copy(&found.place, Some(&id), &mut buffer)?;
        let mut head: TensorHead<'_> = record::tensor_head(&whole.view, &found.place, &id)?.clone();
        let mut body = whole.body;
        if let Some(base) = head.reconstruct.map(|policy| TensorId::from(policy.needs()))
            && !other.contains(&base)
        {
            if found.traits.tier == Tier::Absent {
                return Err(StoreError::NotFound { id: base });
            }
            body = &body[..head.parts().map_or(0, |parts| parts.data.end)];
            head.reconstruct = None;
        }
        let _held = there.hold(&[&key]);
        there.links().check_free(&id)?;
        let time = whole.view.head.stamp.time;
        let mut records = Vec::from_iter(there.find(&key).map(|_| delete_record(&id, there.now())));
        records.push(Record::new(body, Content::Tensor(id.as_id(), head), time));
        there.commit(&mut records, there.now())?;
        let frames = found.frames.as_ref().map_or(&[][..], |frames| frames);
        let copied = copy_frames(frames, &id, there)?;
        there.index.touch(&key, |entry| entry.usage.store(found.usage), |_| ());
        Ok(copied)
    }

    /// The tensor that another one is reconstructed from, or would be if its data were gone.
    #[must_use]
    pub fn base_of(&self, id: impl Into<TensorId>) -> Option<TensorId> {
        self.core.links().base(&id.into()).cloned()
    }
}

/// Copies frames up to the first that is damaged; returns how many these are.
fn copy_frames(frames: &[Place], id: &TensorId, there: &Core) -> Result<u64, StoreError> {
    let (mut records, mut bytes, mut copied, mut written) = (Vec::new(), 0, 0, 0);
    let stopped = |written: usize| move |error: StoreError| error.after("copy", written, frames.len(), "frames");
    let mut buffer = Vec::new();
    for place in frames {
        let whole = match record::copy(place, Some(id), &mut buffer) {
            Ok(whole) => whole,
            Err(StoreError::Damaged { .. }) => break,
            Err(error) => return Err(error),
        };
        let head = record::frame_head(&whole.view, place, id)?.clone();
        let time = whole.view.head.stamp.time;
        bytes += whole.body.len();
        copied += 1;
        records.push(Record::new(whole.body, Content::Frame(id.as_id(), head), time));
        if bytes >= TOGETHER {
            there.commit(&mut std::mem::take(&mut records), there.now()).map_err(stopped(written))?;
            (bytes, written) = (0, copied);
        }
    }
    there.commit(&mut records, there.now()).map_err(stopped(written))?;
    Ok(copied as u64)
}
