//! Which files of a store count.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::Arc;

use bitgrain_formats::segment::{LogEnd, Manifest, SealedSegment, SegmentError, SegmentHeader};

use super::{Damage, RecoveryReport};
use crate::file_name::FileName;
use crate::manifest::{self, Stored};
use crate::segment::Segment;
use crate::storage::{Storage, StorageFile};
use crate::{OnDamage, StoreError};

/// The highest number of a file: no store gets there, and there is always a next one.
const LAST: u64 = u64::MAX / 2;

/// The files of a store by number.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) manifests: BTreeSet<u64>,
    segments: BTreeSet<u64>,
    /// Segments that count.
    live: BTreeSet<u64>,
    /// Segments that should count and are damaged: they stay where they are.
    damaged: BTreeSet<u64>,
}

/// A segment that counts, and what the manifest says of it.
pub(super) struct Found {
    pub(super) segment: Arc<Segment>,
    /// Bytes of the file.
    pub(super) len: u64,
    /// What the manifest says: of compacted ones, and of the last one of a log that was closed.
    pub(super) expected: Option<SealedSegment>,
}

impl Files {
    pub(super) fn list(storage: &dyn Storage) -> Result<Self, StoreError> {
        let mut files = Self::default();
        for name in storage.list().map_err(StoreError::io("."))? {
            match FileName::parse(&name) {
                Some(FileName::Manifest(number) | FileName::Segment(number)) if number > LAST => {
                    return Err(StoreError::Foreign { name });
                }
                Some(FileName::Manifest(number)) => files.manifests.insert(number),
                Some(FileName::Segment(number)) => files.segments.insert(number),
                None => false,
            };
        }
        Ok(files)
    }

    /// A number that no file has.
    pub(super) fn next_number(&self) -> u64 {
        self.manifests.iter().chain(&self.segments).max().map_or(1, |last| last + 1)
    }

    /// The manifest that counts: the highest that is whole. None if there never was a store.
    pub(super) fn newest_manifest(&self, storage: &dyn Storage) -> Result<Option<Manifest>, StoreError> {
        let mut torn = None;
        for &number in self.manifests.iter().rev() {
            match manifest::read(storage, number)? {
                Stored::Whole(manifest) => return Ok(Some(manifest)),
                Stored::Torn(error) => torn = torn.or(Some((number, error))),
            }
        }
        match (torn, self.segments.first()) {
            // The first manifest is durable before there is a segment: this is no crash while a store was made.
            (Some((number, error)), Some(_)) => Err(StoreError::Damaged {
                segment: FileName::Manifest(number).to_string(),
                offset: 0,
                id: None,
                what: error,
            }),
            (None, Some(_)) => Err(StoreError::Damaged {
                segment: "manifest".into(),
                offset: 0,
                id: None,
                what: "there are segments and no manifest that says which count".into(),
            }),
            (_, None) => Ok(None),
        }
    }

    /// Opens the segments that count, in the order of their records.
    pub(super) fn classify(
        &mut self,
        storage: &dyn Storage,
        manifest: &Manifest,
        on_damage: OnDamage,
        report: &mut RecoveryReport,
    ) -> Result<Vec<Found>, StoreError> {
        let last = match manifest.log_end {
            LogEnd::Closed(last) => last,
            LogEnd::Open => None,
        };
        let listed: BTreeMap<u64, SealedSegment> =
            manifest.compacted.iter().chain(&last).map(|sealed| (sealed.number, *sealed)).collect();
        let mut found = Vec::new();
        let numbers = self.segments.iter().chain(listed.keys().filter(|number| !self.segments.contains(number)));
        for &number in numbers {
            let expected = listed.get(&number).copied();
            if expected.is_none() && number < manifest.log_from {
                continue; // compacted since
            }
            let opened = match open(storage, number, &manifest.store) {
                Ok(opened) => Some(opened),
                // The header is durable before there is anything behind it.
                Err(Unusable::Torn) if expected.is_none() => continue,
                Err(Unusable::Torn) => return_or_note(on_damage, report, number, "the segment has no header")?,
                Err(Unusable::Damaged(what)) => return_or_note(on_damage, report, number, &what)?,
                Err(Unusable::Failed(error)) => return Err(error),
            };
            let Some((segment, len)) = opened else {
                self.damaged.insert(number);
                continue;
            };
            // Begun without success, and removed: a crash can bring back the name.
            let begun = expected.is_none() && len <= SegmentHeader::LEN as u64 && manifest.log_end != LogEnd::Open;
            if expected.is_some() || (segment.is_log() && !begun) {
                self.live.insert(number);
                found.push(Found { segment, len, expected });
            }
        }
        found.sort_by_key(|f| (f.segment.is_log(), f.segment.header.base_sequence, f.segment.number()));
        self.check_chain(&found, manifest, on_damage, report)?;
        check_end(&found, manifest, on_damage, report)?;
        Ok(found)
    }

    /// Every log segment names the one before it, so that a missing one is noticed.
    fn check_chain(
        &mut self,
        found: &[Found],
        manifest: &Manifest,
        on_damage: OnDamage,
        report: &mut RecoveryReport,
    ) -> Result<(), StoreError> {
        for segment in found.iter().map(|f| &f.segment).filter(|segment| segment.is_log()) {
            let previous = segment.header.previous;
            if previous >= manifest.log_from && !self.live.contains(&previous) {
                // Noted once: it may be the last one of a log that was closed.
                if !self.damaged.contains(&previous) {
                    return_or_note::<()>(on_damage, report, previous, "the segment is missing")?;
                }
                self.damaged.insert(previous);
            }
        }
        Ok(())
    }

    /// Names of the files that do not count.
    pub(super) fn leftovers(&self, manifest: &Manifest) -> Vec<String> {
        let manifests = self.manifests.iter().filter(|number| **number != manifest.number);
        let segments = self.segments.difference(&self.live).filter(|number| !self.damaged.contains(number));
        let names = manifests.map(|n| FileName::Manifest(*n)).chain(segments.map(|n| FileName::Segment(*n)));
        names.map(|name| name.to_string()).collect()
    }
}

/// Nothing is behind the end of a log that was closed. If there is, the manifest is an old one, and the one that counted is
/// gone: the log is opened for writing, by a new manifest, before anything is written.
fn check_end(
    found: &[Found],
    manifest: &Manifest,
    on_damage: OnDamage,
    report: &mut RecoveryReport,
) -> Result<(), StoreError> {
    let LogEnd::Closed(last) = manifest.log_end else { return Ok(()) };
    let last = last.map_or(0, |last| last.number);
    let behind = found.iter().map(|f| &f.segment).find(|segment| segment.is_log() && segment.number() > last);
    let Some(behind) = behind else { return Ok(()) };
    let segment = FileName::Manifest(manifest.number).to_string();
    let what = format!("{} was written later: the manifest behind this one is missing", behind.name());
    match on_damage {
        OnDamage::Refuse => Err(StoreError::Damaged { segment, offset: 0, id: None, what }),
        OnDamage::Salvage => {
            report.damages.push(Damage { segment, offset: 0, id: None, what });
            Ok(())
        }
    }
}

/// Why a segment cannot be opened.
enum Unusable {
    /// It was being made when a crash came.
    Torn,
    /// It is not what was written.
    Damaged(String),
    Failed(StoreError),
}

/// A segment and the length of its file.
type Opened = (Arc<Segment>, u64);

fn open(storage: &dyn Storage, number: u64, store: &[u8; 16]) -> Result<Opened, Unusable> {
    let name = FileName::Segment(number).to_string();
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => Unusable::Damaged("the segment is missing".into()),
        _ => Unusable::Failed(StoreError::io(&*name)(source)),
    };
    let file: Arc<dyn StorageFile> = storage.open(&name).map_err(failed)?;
    let len = file.len().map_err(failed)?;
    let mut bytes = [0; SegmentHeader::LEN];
    if len < bytes.len() as u64 {
        return Err(Unusable::Torn);
    }
    file.read_at(0, &mut bytes).map_err(failed)?;
    let header = match SegmentHeader::parse(&bytes) {
        Ok(header) => header,
        Err(SegmentError::FutureVersion { found, known, .. }) => {
            let error = StoreError::FutureVersion { name, version: found.into(), known: known.into() };
            return Err(Unusable::Failed(error));
        }
        Err(_) if len == bytes.len() as u64 => return Err(Unusable::Torn),
        Err(error) => return Err(Unusable::Damaged(error.to_string())),
    };
    if header.store != *store || header.number != number {
        // A file that was just made may hold what a file before it held at the same place of the disk.
        if len == bytes.len() as u64 {
            return Err(Unusable::Torn);
        }
        return Err(Unusable::Failed(StoreError::Foreign { name }));
    }
    Ok((Segment::new(header, file, len), len))
}

/// Damage is an error or a line in the report.
fn return_or_note<T>(
    on_damage: OnDamage,
    report: &mut RecoveryReport,
    number: u64,
    what: &str,
) -> Result<Option<T>, StoreError> {
    let (segment, what) = (FileName::Segment(number).to_string(), what.to_owned());
    match on_damage {
        OnDamage::Refuse => Err(StoreError::Damaged { segment, offset: 0, id: None, what }),
        OnDamage::Salvage => {
            report.damages.push(Damage { segment, offset: 0, id: None, what });
            Ok(None)
        }
    }
}
