//! Conversion of usage, reads of frames and wanted tiers into records.

use bitgrain_formats::segment::{Content, FrameUsageEntry, IdRef, UsageEntry, UsageList, WantedTierEntry};

use super::{Record, unwritable};
use crate::id::Key;
use crate::index::{Entry, Groups, Index, SHARDS};
use crate::policy::Usage;
use crate::{StoreError, Tier};

/// Maximum number of tensors per record.
const PER_RECORD: usize = 16 << 10;

/// Usage of one tensor, and its wanted tier if that differs from the stored one.
pub(crate) struct Use {
    key: Key,
    usage: Usage,
    wanted: Option<Tier>,
    temporal: bool,
}

impl Use {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self {
            key: entry.key.clone(),
            usage: entry.usage.load(),
            wanted: entry.other_wanted_tier(),
            temporal: entry.traits.temporal,
        }
    }
}

/// Returns records for all unwritten usage and marks it as written.
pub(crate) fn usage_records(index: &Index, now: u64) -> Result<Vec<Record<'static>>, StoreError> {
    let mut uses: Vec<Use> = Vec::new();
    for shard in 0..SHARDS {
        index.read(shard).take_dirty(|entry| uses.push(Use::of(entry)));
    }
    usage_of(uses, index, Groups::Dirty, now)
}

/// Returns records for these uses, each with the state of the cap; empty if `uses` is empty. `groups` selects the groups of
/// frames whose reads are written.
pub(crate) fn usage_of(
    mut uses: Vec<Use>,
    index: &Index,
    groups: Groups,
    now: u64,
) -> Result<Vec<Record<'static>>, StoreError> {
    uses.sort_unstable_by(|a, b| a.key.cmp(&b.key)); // for prefix compression, and for deterministic output
    uses.chunks(PER_RECORD).map(|uses| record_of(uses, index, groups, now)).collect()
}

fn record_of(uses: &[Use], index: &Index, groups: Groups, now: u64) -> Result<Record<'static>, StoreError> {
    let mut list = UsageList::default();
    for Use { key, usage, wanted, temporal } in uses {
        let Some(id) = IdRef::from_key(key) else { continue };
        let entry = |Usage { accesses, last, window, ema }: Usage| UsageEntry { id, accesses, last, window, ema };
        list.push(&entry(*usage)).map_err(unwritable)?;
        if *temporal {
            for (group, usage) in index.frame_uses.take(key, groups) {
                list.push_frames(&FrameUsageEntry { group, usage: entry(usage) }).map_err(unwritable)?;
            }
        }
        if let Some(tier) = wanted {
            list.push_wanted_tier(&WantedTierEntry { id, tier: tier.code() }).map_err(unwritable)?;
        }
    }
    list.set_last_downgrade(index.cap().last_downgrade);
    let body = list.into_bytes();
    Ok(Record::new(&body, Content::Usage, now))
}
