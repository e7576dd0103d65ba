//! How tensors were used, as records.

use bitgrain_formats::segment::{Content, Draft, IdRef, UsageEntry, UsageList};

use super::{Record, unwritable};
use crate::StoreError;
use crate::id::Key;
use crate::index::{Index, SHARDS};
use crate::policy::Usage;

/// Tensors of one record.
const PER_RECORD: usize = 16 << 10;

/// Records of the uses that were not written down yet. They count as written down from now on.
pub(crate) fn usage_records(index: &Index, now: u64) -> Result<Vec<Record<'static>>, StoreError> {
    let mut uses: Vec<(Key, Usage)> = Vec::new();
    for shard in 0..SHARDS {
        index.read(shard).take_soiled(|entry| uses.push((entry.key.clone(), entry.usage.load())));
    }
    usage_of(uses, now)
}

/// Records of these uses.
pub(crate) fn usage_of(mut uses: Vec<(Key, Usage)>, now: u64) -> Result<Vec<Record<'static>>, StoreError> {
    uses.sort_unstable_by(|a, b| a.0.cmp(&b.0)); // takes the fewest bytes, and no chance has a part in it
    uses.chunks(PER_RECORD).map(|uses| record_of(uses, now)).collect()
}

fn record_of(uses: &[(Key, Usage)], now: u64) -> Result<Record<'static>, StoreError> {
    let mut list = UsageList::default();
    for (key, usage) in uses {
        let Some(id) = IdRef::from_key(key) else { continue };
        let Usage { accesses, last, window, ema } = *usage;
        list.push(&UsageEntry { id, accesses, last, window, ema }).map_err(unwritable)?;
    }
    let body = list.into_bytes();
    let mut draft = Draft::new(body.len());
    draft.body_mut().copy_from_slice(&body);
    draft.checksum();
    Ok(Record { draft, content: Content::Usage, time: now })
}
