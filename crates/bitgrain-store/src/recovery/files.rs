//! Selection of the files that belong to a store.

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

/// Maximum file number: unreachable in practice, and leaves room for a next number.
const LAST: u64 = u64::MAX / 2;

/// Files of a store, by number.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) manifests: BTreeSet<u64>,
    segments: BTreeSet<u64>,
    /// Segments that belong to the store.
    live: BTreeSet<u64>,
    /// Damaged segments that belong to the store; they are left in place.
    damaged: BTreeSet<u64>,
}

/// A segment of the store, with its entry in the manifest.
pub(super) struct Found {
    pub(super) segment: Arc<Segment>,
    /// Length of the file in bytes.
    pub(super) len: u64,
    /// Entry in the manifest: for compacted segments, and for the last segment of a closed log.
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

    /// Returns a number that no file has.
    pub(super) fn next_number(&self) -> u64 {
        self.manifests.iter().chain(&self.segments).max().map_or(1, |last| last + 1)
    }

    /// Returns the current manifest: the highest valid one. `None` if no store was ever created.
    pub(super) fn newest_manifest(&self, storage: &dyn Storage) -> Result<Option<Manifest>, StoreError> {
        let mut torn = None;
        for &number in self.manifests.iter().rev() {
            match manifest::read(storage, number)? {
                Stored::Whole(manifest) => return Ok(Some(manifest)),
                Stored::Torn(error) => torn = torn.or(Some((number, error))),
            }
        }
        match (torn, self.segments.first()) {
            // The first manifest is durable before the first segment is created, so a crash during creation cannot
            // cause this.
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
                what: "segments exist, but the manifest is missing".into(),
            }),
            (_, None) => Ok(None),
        }
    }

    /// Opens the segments of the store in record order.
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
                continue; // replaced by a compaction
            }
            let opened = match open(storage, number, &manifest.store) {
                Ok(opened) => Some(opened),
                // The header is durable before anything is written after it.
                Err(Unusable::Torn) if expected.is_none() => continue,
                Err(Unusable::Torn) => fail_or_report(on_damage, report, number, "the segment has no header")?,
                Err(Unusable::Damaged(what)) => fail_or_report(on_damage, report, number, &what)?,
                Err(Unusable::Failed(error)) => return Err(error),
            };
            let Some((segment, len)) = opened else {
                self.damaged.insert(number);
                continue;
            };
            // A segment whose creation failed was deleted; a crash can restore its name.
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

    /// Checks that every log segment names its predecessor, so that a missing one is detected.
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
                // Reported once: it may be the last segment of a closed log.
                if !self.damaged.contains(&previous) {
                    fail_or_report::<()>(on_damage, report, previous, "the segment is missing")?;
                }
                self.damaged.insert(previous);
            }
        }
        Ok(())
    }

    /// Returns the names of files that no longer belong to the store.
    pub(super) fn leftovers(&self, manifest: &Manifest) -> Vec<String> {
        let manifests = self.manifests.iter().filter(|number| **number != manifest.number);
        let segments = self.segments.difference(&self.live).filter(|number| !self.damaged.contains(number));
        let names = manifests.map(|n| FileName::Manifest(*n)).chain(segments.map(|n| FileName::Segment(*n)));
        names.map(|name| name.to_string()).collect()
    }
}

/// Checks that no segment follows the end of a closed log. If one does, the manifest is outdated and the current one is
/// lost, because the log is reopened with a new manifest before anything is written.
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
    let what = format!("{} was written later: the manifest after this one is missing", behind.name());
    match on_damage {
        OnDamage::Refuse => Err(StoreError::Damaged { segment, offset: 0, id: None, what }),
        OnDamage::Salvage => {
            report.damages.push(Damage { segment, offset: 0, id: None, what });
            Ok(())
        }
    }
}

/// Reason why a segment cannot be opened.
enum Unusable {
    /// A crash interrupted its creation.
    Torn,
    /// Its content is invalid.
    Damaged(String),
    Failed(StoreError),
}

/// A segment and the length of its file in bytes.
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
        // A file that was just created may show stale content of its disk blocks.
        if len == bytes.len() as u64 {
            return Err(Unusable::Torn);
        }
        return Err(Unusable::Failed(StoreError::Foreign { name }));
    }
    Ok((Segment::new(header, file, len), len))
}

/// Returns damage as an error, or adds it to the report.
fn fail_or_report<T>(
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
