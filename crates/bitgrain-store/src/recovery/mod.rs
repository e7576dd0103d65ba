//! Recovery: rebuilds the index from the files of a store, removes leftovers of a crash and detects damage.
//!
//! Sealed segments are loaded from their index; only the last log segment can lack one and is read completely.
//! Incomplete writes of a crash were never acknowledged and are truncated. Durable data that is unreadable is damage,
//! and damage is an error unless the caller asks to salvage the rest.

mod files;
mod load;
mod report;
mod scan;

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use bitgrain_formats::segment::{FrameUsageEntry, LogEnd, Manifest, UsageEntries, UsageEntry};
use rayon::prelude::*;

use self::files::Files;
use self::load::Loaded;
pub use self::report::{Damage, RecoveryReport};
pub(crate) use self::scan::for_each_record;
use crate::file_name::FileName;
use crate::id::Key;
use crate::index::{Index, SHARDS, Stray};
use crate::log::{Active, LogTail, Segments};
use crate::policy::{CapState, PolicyConfig, Usage};
use crate::segment::Place;
use crate::storage::Storage;
use crate::{OnDamage, StoreConfig, StoreError, TensorId, Tier, manifest, record};

/// Maximum sequence number of a record: unreachable in practice, and leaves room for further records.
const LAST_SEQUENCE: u64 = u64::MAX / 2;

/// Result of a recovery.
pub(crate) struct Recovered {
    pub(crate) manifest: Manifest,
    pub(crate) tail: LogTail,
    pub(crate) next_number: u64,
    pub(crate) report: RecoveryReport,
    /// Reconstruction links: tensor and base.
    pub(crate) needs: Vec<(Key, Key)>,
}

/// Loads a store into `index` and `segments`. With `writable`, removes leftovers of a crash.
pub(crate) fn recover(
    storage: &dyn Storage,
    config: &StoreConfig,
    writable: bool,
    index: &Index,
    segments: &Segments,
) -> Result<Recovered, StoreError> {
    let mut report = RecoveryReport { read_only: !writable, ..RecoveryReport::default() };
    let mut files = Files::list(storage)?;
    let manifest = match files.newest_manifest(storage)? {
        Some(manifest) => manifest,
        None if writable && config.create => {
            report.created = true;
            create(storage, &mut files, config)?
        }
        None => return Err(StoreError::NoStore),
    };
    let found = files.classify(storage, &manifest, config.on_damage, &mut report)?;

    // Only the last log segment may lack an index, and only if the log was not closed.
    let count = found.len();
    let load = |(i, segment): (usize, &files::Found)| {
        let open_end = i + 1 == count && segment.segment.is_log() && segment.expected.is_none();
        Loaded::of(segment, open_end, config.on_damage, index)
    };
    let loaded: Vec<Result<Loaded, StoreError>> = found.par_iter().enumerate().map(load).collect();
    let mut loaded = loaded.into_iter().collect::<Result<Vec<Loaded>, StoreError>>()?;

    let strays = fill(index, &mut loaded, &config.policy);
    let mut tail = LogTail { closed: manifest.log_end != LogEnd::Open, ..LogTail::default() };
    let mut needs = Vec::new();
    let (mut uses, mut deleted) = (Vec::new(), HashMap::new());
    for one in loaded {
        let sequence = one.last_sequence.max(one.segment.header.base_sequence.saturating_sub(1));
        if writable && sequence > LAST_SEQUENCE {
            return Err(beyond_last(&one.segment.name(), sequence));
        }
        tail.sequence = tail.sequence.max(sequence);
        report.torn_bytes += one.torn_bytes;
        report.torn_records += one.torn_records;
        report.damages.extend(one.damages);
        if one.scanned {
            report.scanned.push(one.segment.name());
            report.bad_indexes += usize::from(one.open.is_none());
        }
        if one.segment.is_log() {
            match one.open {
                Some(builder) => tail.active = Some(Active::new(Arc::clone(&one.segment), builder)),
                None => tail.previous = one.segment.number(),
            }
        }
        needs.extend(one.needs);
        uses.extend(one.uses);
        deleted.extend(one.deleted);
        segments.insert(one.segment);
        report.segments += 1;
    }
    report_strays(strays, config.on_damage, &mut report)?;
    load_uses(index, &uses, &deleted)?;
    report.tensors = index.len();
    report.leftovers = files.leftovers(&manifest);
    if writable {
        settle(storage, &manifest, &tail, segments, &report)?;
    }
    Ok(Recovered { manifest, tail, next_number: files.next_number(), report, needs })
}

/// Returns the error for a sequence number at its maximum: new records would wrap around and look older, so the store
/// cannot be written.
fn beyond_last(segment: &str, sequence: u64) -> StoreError {
    let what = format!("sequence number {sequence} is above {LAST_SEQUENCE}");
    StoreError::Damaged { segment: segment.to_owned(), offset: 0, id: None, what }
}

/// Creates a store: a manifest without segments.
fn create(storage: &dyn Storage, files: &mut Files, config: &StoreConfig) -> Result<Manifest, StoreError> {
    let number = files.next_number();
    let new = Manifest {
        store: random(config.clock.now()),
        number,
        log_from: number + 1,
        log_end: LogEnd::Open,
        compacted: Vec::new(),
    };
    manifest::write(storage, &new)?;
    files.manifests.insert(number);
    Ok(new)
}

/// Returns sixteen bytes that identify a store. The standard library seeds its hashers with random numbers of the
/// system; on systems without random numbers, the time must suffice.
fn random(now: u64) -> [u8; 16] {
    // `std::process::id` panics where there are no processes.
    let process = if cfg!(target_family = "wasm") { 0 } else { std::process::id() };
    let words = [0, 1].map(|word: u8| RandomState::new().hash_one((word, process, now)).to_le_bytes());
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(words.as_flattened()).for_each(|(byte, word)| *byte = *word);
    bytes
}

/// Applies the changes of all segments, shard by shard, in segment order. Returns frames without a tensor or
/// predecessor.
fn fill(index: &Index, loaded: &mut [Loaded], policy: &PolicyConfig) -> Vec<Stray> {
    let mut by_shard: Vec<Vec<_>> = (0..SHARDS).map(|_| Vec::new()).collect();
    for one in loaded.iter_mut() {
        for (shard, changes) in by_shard.iter_mut().zip(std::mem::take(&mut one.changes)) {
            shard.push(changes);
        }
    }
    let filled = by_shard.into_par_iter().enumerate().map(|(shard, changes)| {
        index.reserve(shard, changes.iter().map(Vec::len).sum());
        index.load(shard, changes.into_iter().flatten(), |at| Usage::first(at, policy))
    });
    filled.collect::<Vec<_>>().into_iter().flatten().collect()
}

/// Reports readable frames that depend on a lost record as damage.
fn report_strays(mut strays: Vec<Stray>, on_damage: OnDamage, report: &mut RecoveryReport) -> Result<(), StoreError> {
    strays.sort_by_key(|stray| (stray.place.sequence, stray.index));
    for Stray { key, place, index, .. } in strays {
        let (segment, offset, id) = (place.segment.name(), place.offset, Some(TensorId::of_key(&key)));
        let what = format!("frame {index} is intact, but a record that it depends on is missing");
        if on_damage == OnDamage::Refuse {
            return Err(StoreError::Damaged { segment, offset, id, what });
        }
        report.damages.push(Damage { segment, offset, id, what });
    }
    Ok(())
}

/// Loads usage, reads of frames and wanted tiers, in record order. A damaged usage record is skipped, because it only affects future
/// tier decisions.
fn load_uses(index: &Index, uses: &[Place], deleted: &HashMap<Key, u64>) -> Result<(), StoreError> {
    let (mut buffer, mut key) = (Vec::new(), Vec::new());
    for place in uses {
        let record = match record::copy(place, None, &mut buffer) {
            Ok(record) => record,
            Err(StoreError::Damaged { .. }) => continue,
            Err(error) => return Err(error),
        };
        let mut entries = UsageEntries::new(record.body);
        while let Ok(Some(entry)) = entries.next() {
            let usage = usage_of(&entry);
            key.clear();
            entry.id.write_key(&mut key);
            // The tensor was deleted later; another one may have its id now.
            if deleted.get(&key[..]).is_some_and(|sequence| place.sequence < *sequence) {
                continue;
            }
            index.with(&key, |found| {
                found.usage.store(usage);
                // Without a wanted tier in the same record, the tensor wants the tier of its data.
                if place.sequence >= found.place.sequence {
                    found.forget_wanted_tier();
                }
            });
        }
        let Ok(mut groups) = entries.into_frame_usage() else { continue };
        if groups.last_downgrade.is_some() {
            index.set_cap(CapState { last_downgrade: groups.last_downgrade });
        }
        while let Ok(Some(FrameUsageEntry { group, usage: entry })) = groups.next() {
            key.clear();
            entry.id.write_key(&mut key);
            let known = deleted.get(&key[..]).is_none_or(|sequence| place.sequence >= *sequence);
            if known && index.with(&key, |found| found.traits.temporal) == Some(true) {
                index.frame_uses.set(&key, group, usage_of(&entry));
            }
        }
        let Ok(mut wanted_tiers) = groups.into_wanted_tiers() else { continue };
        while let Ok(Some(wanted)) = wanted_tiers.next() {
            key.clear();
            wanted.id.write_key(&mut key);
            let Some(tier) = Tier::of_code(wanted.tier) else { continue };
            // A wanted tier is valid unless the tensor was written later.
            index.with(&key, |found| {
                if place.sequence >= found.place.sequence {
                    found.want(tier);
                }
            });
        }
    }
    Ok(())
}

fn usage_of(entry: &UsageEntry<'_>) -> Usage {
    Usage { accesses: entry.accesses, last: entry.last, window: entry.window, ema: entry.ema }
}

/// Makes everything found durable and deletes leftovers. After a crash of the process, the page cache may contain data
/// that is not on disk yet.
fn settle(
    storage: &dyn Storage,
    manifest: &Manifest,
    tail: &LogTail,
    segments: &Segments,
    report: &RecoveryReport,
) -> Result<(), StoreError> {
    if let Some(active) = &tail.active {
        let (file, end, failed) = (&active.segment.file, active.index.end(), StoreError::io(active.segment.name()));
        let cut = file.len().and_then(|len| if len > end { file.set_len(end) } else { Ok(()) });
        let again = cut.and_then(|()| file.rewrite(0..end));
        again.and_then(|()| file.sync_data()).map_err(failed)?;
    } else if let Some(last) = segments.all().last().filter(|last| last.is_log() && !tail.closed) {
        // Its records were durable before its index was written.
        let again = last.file.rewrite(last.end.load(Relaxed)..last.len());
        again.and_then(|()| last.file.sync_data()).map_err(StoreError::io(last.name()))?;
    }
    // A manifest that was just created is already durable.
    if !report.created {
        let name = FileName::Manifest(manifest.number).to_string();
        let file = storage.open(&name).map_err(StoreError::io(&*name))?;
        file.len().and_then(|len| file.rewrite(0..len)).map_err(StoreError::io(&*name))?;
        file.sync_data().map_err(StoreError::io(name))?;
        storage.sync_folder().map_err(StoreError::io("."))?;
    }
    for name in &report.leftovers {
        storage.remove(name).map_err(StoreError::io(&**name))?;
    }
    Ok(())
}
