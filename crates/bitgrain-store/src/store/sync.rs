//! Replicas: copies of a store that are updated with what is missing.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use bitgrain_formats::segment::Manifest;

use super::TensorStore;
use super::destination::{Destination, copy, length};
use crate::file_name::FileName;
use crate::log::unwritable;
use crate::manifest::{self, Stored};
use crate::segment::Segment;
use crate::storage::{PutFailure, Storage};
use crate::{StoreError, memory_len};

/// Result of an update of a replica.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncReport {
    /// Number of segments copied, completely or in part.
    pub segments_copied: usize,
    /// Number of bytes copied.
    pub bytes_copied: u64,
    /// Number of segments that were already complete.
    pub segments_kept: usize,
    /// Number of segments deleted, because a compaction replaced them.
    pub segments_removed: usize,
}

impl TensorStore {
    /// Updates a replica at a path or an address: copies the segments that are missing there, and deletes those that
    /// the store no longer has. Creates the replica if it does not exist. A replica can be read like any store, but
    /// must not be written to except by this function.
    ///
    /// ```
    /// use bitgrain_store::{StoreConfig, TensorStore};
    /// let store = TensorStore::open("memory://sync-from", StoreConfig::default())?;
    /// store.put("x", &[1], &[1.0])?;
    /// assert_eq!(store.sync_to("memory://sync-to")?.segments_copied, 1);
    /// store.put("y", &[1], &[2.0])?;
    /// let report = store.sync_to("memory://sync-to")?;
    /// assert_eq!((report.segments_copied, report.segments_kept), (1, 1));
    /// assert_eq!(TensorStore::open_read_only("memory://sync-to")?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`StoreError::NotReplica`] if the destination is another store or was changed since the last update;
    /// [`StoreError::InsideStore`]; [`StoreError::NoSpace`]; [`StoreError::Io`]; or the errors of opening the
    /// destination.
    pub fn sync_to(&self, path: impl AsRef<Path>) -> Result<SyncReport, StoreError> {
        let (path, core) = (path.as_ref(), &self.core);
        let destination = Destination::new(path, core)?;
        let _still = core.compacting(); // keeps the set of segments fixed; the log may still grow
        let segments = core.settled_segments()?;
        let folder = destination.lock()?;
        let store = core.manifest().store;
        let (old, copied) = replica(&*folder, &store).map_err(|unfit| match unfit {
            Unfit::Failed(error) => error,
            Unfit::NotReplica(what) => StoreError::NotReplica { path: path.display().to_string(), what },
        })?;
        let mut report = SyncReport::default();
        for segment in &segments {
            let (len, known) = (length(segment), copied.get(&segment.number()).copied());
            if known == Some(len) {
                report.segments_kept += 1;
                continue;
            }
            report.segments_copied += 1;
            report.bytes_copied += len - update(segment, &*folder, known)?;
        }
        let new = core.manifest_of(&segments, old.as_ref().map_or(0, |old| old.number));
        if old.as_ref().is_some_and(|old| Manifest { number: old.number, ..new.clone() } == *old)
            && report.segments_copied == 0
        {
            return Ok(report);
        }
        // The marker first: if a crash separates them, the old manifest still has its own marker.
        let name = marker_name(new.number);
        let marker = marker(&new, &segments)?;
        folder.put_new(&name, &marker).map_err(|failure| match failure {
            PutFailure::NotStored(source) | PutFailure::Unknown(source) => StoreError::io(name)(source),
        })?;
        manifest::write(&*folder, &new)?;
        report.segments_removed = remove_others(&*folder, &new, &segments)?;
        Ok(report)
    }
}

/// Copies the missing bytes of a segment; returns the number of bytes that were already there. Bytes that are not in
/// the marker are copied again, because a crash may have left them incomplete.
fn update(segment: &Segment, folder: &dyn Storage, known: Option<u64>) -> Result<u64, StoreError> {
    let name = segment.name();
    if let Some(known) = known.filter(|known| *known <= length(segment)) {
        let file = folder.open(&name).map_err(StoreError::io(&*name))?;
        // An object that was sealed cannot be continued, nor can a file that lost bytes.
        let there = file.len().map_err(StoreError::io(&*name))?;
        if there >= known && (there == known || file.set_len(known).is_ok()) {
            copy(segment, &*file, known)?;
            return Ok(known);
        }
    }
    match folder.remove(&name) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(StoreError::io(name)(error)),
        _ => {}
    }
    let file = folder.create_new(&name).map_err(StoreError::io(name))?;
    copy(segment, &*file, 0)?;
    Ok(0)
}

/// Manifest of a replica, and the durable length of each of its segments.
type Replica = (Option<Manifest>, HashMap<u64, u64>);

/// Reason why the state of a replica is unknown.
enum Unfit {
    Failed(StoreError),
    NotReplica(&'static str),
}

/// Reads the state of a replica.
fn replica(folder: &dyn Storage, store: &[u8; 16]) -> Result<Replica, Unfit> {
    let mut numbers = manifest::numbers(folder).map_err(Unfit::Failed)?;
    numbers.sort_unstable();
    for number in numbers.into_iter().rev() {
        let Stored::Whole(found) = manifest::read(folder, number).map_err(Unfit::Failed)? else { continue };
        if found.store != *store {
            return Err(Unfit::NotReplica("it is another store"));
        }
        let changed = Unfit::NotReplica("it was changed by a writer after the last sync");
        let Ok(marker) = read_all(folder, &marker_name(number)) else { return Err(changed) };
        let manifest = found.encode().map_err(|error| Unfit::Failed(unwritable(error)))?;
        let Some(list) = marker.strip_prefix(&manifest[..]) else { return Err(changed) };
        let (pairs, _) = list.as_chunks::<16>();
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        return Ok((Some(found), pairs.iter().map(|pair| (word(&pair[..8]), word(&pair[8..]))).collect()));
    }
    Ok((None, HashMap::new()))
}

fn read_all(folder: &dyn Storage, name: &str) -> Result<Vec<u8>, StoreError> {
    let file = folder.open(name).map_err(StoreError::io(name))?;
    let len = file.len().map_err(StoreError::io(name))?;
    let mut bytes = vec![0; memory_len::memory_len(len, || name.to_owned())?];
    file.read_at(0, &mut bytes).map_err(StoreError::io(name))?;
    Ok(bytes)
}

/// Returns the name of the file that marks the manifest with this number as that of a replica.
fn marker_name(number: u64) -> String {
    format!("synced-{number:016x}")
}

/// Returns the content of a marker: the manifest, then number and length of each segment.
fn marker(manifest: &Manifest, segments: &[Arc<Segment>]) -> Result<Vec<u8>, StoreError> {
    let mut marker = manifest.encode().map_err(unwritable)?;
    for segment in segments {
        marker.extend_from_slice(&segment.number().to_le_bytes());
        marker.extend_from_slice(&length(segment).to_le_bytes());
    }
    Ok(marker)
}

/// Deletes the files of earlier states; returns the number of segments.
fn remove_others(folder: &dyn Storage, new: &Manifest, segments: &[Arc<Segment>]) -> Result<usize, StoreError> {
    let mut removed = 0;
    for name in folder.list().map_err(StoreError::io("."))? {
        let parsed = FileName::parse(&name);
        let old = match parsed {
            Some(FileName::Manifest(number)) => number != new.number,
            Some(FileName::Segment(number)) => !segments.iter().any(|segment| segment.number() == number),
            None => name.starts_with("synced-") && name != marker_name(new.number),
        };
        if old {
            folder.remove(&name).map_err(StoreError::io(name))?;
            removed += usize::from(matches!(parsed, Some(FileName::Segment(_))));
        }
    }
    folder.sync_folder().map_err(StoreError::io("."))?;
    Ok(removed)
}
