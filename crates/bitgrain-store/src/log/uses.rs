//! Conversion of usage and wanted tiers into records.

use bitgrain_formats::segment::{Content, IdRef, UsageEntry, UsageList, Wish};

use super::{Record, unwritable};
use crate::id::Key;
use crate::index::{Entry, Index, SHARDS};
use crate::policy::{CapState, Usage};
use crate::{StoreError, Tier};

/// Maximum number of tensors per record.
const PER_RECORD: usize = 16 << 10;

/// Usage of one tensor, and its wanted tier if that differs from the stored one.
pub(crate) struct Use {
    key: Key,
    usage: Usage,
    wish: Option<Tier>,
}

impl Use {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self { key: entry.key.clone(), usage: entry.usage.load(), wish: entry.wish() }
    }
}

/// Returns records for all unwritten usage and marks it as written.
pub(crate) fn usage_records(index: &Index, now: u64) -> Result<Vec<Record<'static>>, StoreError> {
    let mut uses: Vec<Use> = Vec::new();
    for shard in 0..SHARDS {
        index.read(shard).take_dirty(|entry| uses.push(Use::of(entry)));
    }
    usage_of(uses, index.cap(), now)
}

/// Returns records for these uses, each with the state of the cap; empty if `uses` is empty.
pub(crate) fn usage_of(mut uses: Vec<Use>, cap: CapState, now: u64) -> Result<Vec<Record<'static>>, StoreError> {
    uses.sort_unstable_by(|a, b| a.key.cmp(&b.key)); // for prefix compression, and for deterministic output
    uses.chunks(PER_RECORD).map(|uses| record_of(uses, cap, now)).collect()
}

fn record_of(uses: &[Use], cap: CapState, now: u64) -> Result<Record<'static>, StoreError> {
    let mut list = UsageList::default();
    for Use { key, usage, wish } in uses {
        let Some(id) = IdRef::from_key(key) else { continue };
        let Usage { accesses, last, window, ema } = *usage;
        list.push(&UsageEntry { id, accesses, last, window, ema }).map_err(unwritable)?;
        if let Some(tier) = wish {
            list.wish(&Wish { id, tier: tier.code() }).map_err(unwritable)?;
        }
    }
    list.set_last_downgrade(cap.last_downgrade);
    let body = list.into_bytes();
    Ok(Record::new(&body, Content::Usage, now))
}
