//! Opening and closing of a store for a command.

use std::fs::{self, File};
use std::io::Read;
use std::ops::Range;
use std::path::Path;

use bitgrain::formats::segment::{SegmentHeader, SegmentKind};
use bitgrain::store::policy::PolicyConfig;
use bitgrain::store::{
    Clock, CompactOptions, OnDamage, StoreConfig, StoreError, SyncMode, SystemClock, TensorId, TensorMeta, TensorStore,
};

use super::id::written;
use crate::error::CliError;

/// Number of small segments at which they are merged.
const MANY: usize = 64;
/// Maximum number of bytes rewritten by an automatic merge.
const UNASKED: u64 = 256 << 20;

/// Opens an existing store for writing.
pub(super) fn open(path: &Path) -> Result<TensorStore, CliError> {
    opened(path, StoreConfig { create: false, ..StoreConfig::default() })
}

/// Returns settings for writing many tensors: durable at the end instead of after each write.
pub(super) fn for_many() -> StoreConfig {
    StoreConfig { create: false, sync: SyncMode::OnSeal, ..StoreConfig::default() }
}

/// Opens a store read-only, even while another process writes.
pub(super) fn open_read_only(path: &Path) -> Result<TensorStore, CliError> {
    TensorStore::open_read_only(path).map_err(CliError::store(path))
}

/// Opens the readable part of a damaged store, read-only.
pub(super) fn open_to_salvage(path: &Path) -> Result<TensorStore, StoreError> {
    let config = StoreConfig { create: false, on_damage: OnDamage::Salvage, ..StoreConfig::default() };
    TensorStore::open_read_only_with(path, config)
}

pub(super) fn opened(path: &Path, config: StoreConfig) -> Result<TensorStore, CliError> {
    let store = TensorStore::open(path, config).map_err(CliError::store(path))?;
    let found = store.recovery();
    if found.torn_bytes > 0 {
        let records = found.torn_records;
        eprintln!("note: truncated {} bytes of unacknowledged writes ({records} complete records)", found.torn_bytes);
    }
    Ok(store)
}

/// Closes a store after writing.
pub(super) fn close(store: TensorStore, path: &Path) -> Result<(), CliError> {
    // The writes are durable already; if merging fails, the next session tries again.
    let _ = join(&store, path);
    store.close().map_err(CliError::store(path))
}

/// Records that a tensor or some of its frames were read, if that changes its usage: accesses within one period count once.
/// If the store cannot be written, the read still succeeds.
pub(super) fn record_access(path: &Path, about: &TensorMeta, frames: Option<Range<u64>>) {
    // Opening a remote store for writing would take over from its writer.
    if is_remote(path) {
        return;
    }
    let period = PolicyConfig::default().period.as_millis().max(1);
    let (accessed, now) = (u128::from(about.accessed), u128::from(SystemClock.now()));
    // A date in a later period was written while the clock was ahead, so it is ignored.
    // Frames are counted on their own, so the last access of the tensor does not say whether they were.
    if frames.is_none() && accessed / period == now / period {
        return;
    }
    let Ok(store) = open(path) else { return };
    let closed = store.record_read(&about.id, frames).is_ok().then(|| close(store, path));
    if let Some(Err(error)) = closed {
        eprintln!("note: could not record the access: {error}");
    }
}

/// Iterates over the metadata of tensors whose id, as written on the command line, starts with `prefix`.
pub(super) fn scan<'s>(
    store: &'s TensorStore,
    prefix: Option<&'s str>,
) -> Box<dyn Iterator<Item = Result<TensorMeta, StoreError>> + 's> {
    match prefix {
        // May be a number.
        Some(prefix) if prefix.starts_with('#') => {
            let ids = store.snapshot().ids().into_iter().filter(move |id: &TensorId| written(id).starts_with(prefix));
            Box::new(ids.map(|id| store.meta(id)))
        }
        _ => Box::new(store.scan(prefix)),
    }
}

/// Returns whether a store is in object storage.
fn is_remote(path: &Path) -> bool {
    path.to_str().is_some_and(|path| path.contains("://"))
}

/// Merges small segments when there are many. Every session that writes leaves one, and each is a file that a process
/// keeps open while the store is open.
fn join(store: &TensorStore, path: &Path) -> Result<(), StoreError> {
    if is_remote(path) {
        // The sizes are unknown without a request for each of them.
        let is_many = store.recovery().segments >= MANY;
        return if is_many {
            store.compact(CompactOptions { garbage: f32::INFINITY, all: false }).map(drop)
        } else {
            Ok(())
        };
    }
    let small = store.config().segment_bytes / 4;
    let found = segments(path);
    let count = found.iter().filter(|(_, len)| *len < small).count();
    if count < MANY {
        return Ok(());
    }
    // The log is compacted from its start, including large segments.
    let rewritten: u64 = found.iter().filter(|(is_log, len)| *is_log || *len < small).map(|(_, len)| len).sum();
    if rewritten > UNASKED {
        if count % MANY == 0 {
            eprintln!("note: the store has {count} small segments; merge them with `bitgrain store compact`");
        }
        return Ok(());
    }
    store.compact(CompactOptions { garbage: f32::INFINITY, all: false }).map(drop)
}

/// Lists the segments in a folder: whether they belong to the log, and their size in bytes.
fn segments(path: &Path) -> Vec<(bool, u64)> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let ours = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("segment-"));
    ours.filter_map(|entry| Some((is_log(&entry.path())?, entry.metadata().ok()?.len()))).collect()
}

fn is_log(path: &Path) -> Option<bool> {
    let mut bytes = [0; SegmentHeader::LEN];
    File::open(path).and_then(|mut file| file.read_exact(&mut bytes)).ok()?;
    Some(SegmentHeader::parse(&bytes).ok()?.kind == SegmentKind::Log)
}
