//! Copying of tensors between stores without re-encoding.

use bitgrain_formats::segment::{Content, FrameHead, TensorHead};

use super::remove::delete_record;
use super::{Core, TensorStore};
use crate::log::Record;
use crate::segment::Place;
use crate::{StoreError, TensorId, record};

/// Bytes of frames written at once.
const TOGETHER: usize = 16 << 20;

impl TensorStore {
    /// Copies a tensor to another store, where it replaces any tensor with the same id. Values are not re-encoded:
    /// codes, errors, pin, error limit, user metadata and usage stay the same. Returns the number of frames copied; for
    /// a temporal tensor, copying stops at the first unreadable frame.
    ///
    /// A tensor with data loses its reconstruction policy if the base is not in the other store.
    ///
    /// ```
    /// use bitgrain_store::{StoreConfig, TensorStore};
    /// # let folder = tempfile::tempdir()?;
    /// let old = TensorStore::open(folder.path().join("old"), StoreConfig::default())?;
    /// let new = TensorStore::open(folder.path().join("new"), StoreConfig::default())?;
    /// old.put("x", &[3], &[0.1, 0.2, 0.3])?;
    /// old.copy_to("x", &new)?;
    /// assert_eq!(old.get("x")?, new.get("x")?); // values and errors
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`StoreError::NotFound`] for the tensor, or for its base if the tensor has no data and the base is not
    /// in the other store; [`StoreError::Damaged`]; [`StoreError::HasDependents`] if the tensor to replace is the base
    /// of others; [`StoreError::ReadOnly`], [`StoreError::Poisoned`], [`StoreError::NoSpace`] or [`StoreError::Io`].
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
            if core.lacks_data(&id)? {
                return Err(StoreError::NotFound { id: base });
            }
            body = &body[..head.parts().map_or(0, |parts| parts.data.end)];
            head.reconstruct = None;
        }
        let _held = there.lock_tensors(&[&key]);
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

    /// Returns the tensor that `id` is, or after eviction would be, reconstructed from.
    #[must_use]
    pub fn base_of(&self, id: impl Into<TensorId>) -> Option<TensorId> {
        self.core.links().base(&id.into()).cloned()
    }
}

/// Copies frames up to the first damaged one; returns the number copied.
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
        // In the other store, every frame follows the one before it.
        let head = FrameHead { rewritten: None, ..record::frame_head(&whole.view, place, id)?.clone() };
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
