//! Verification of all checksums.

use bitgrain_formats::segment::{Entry, Index as SegmentIndex, RecordView, Records, SegmentHeader, Trailer};

use super::{Core, TensorStore};
use crate::file_name::FileName;
use crate::manifest::{self, Stored};
use crate::recovery::Damage;
use crate::segment::{Place, Segment};
use crate::{StoreError, TensorId, record};

/// Result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Number of segments read.
    pub segments: usize,
    /// Number of records read, live or not.
    pub records: u64,
    /// Number of bytes read.
    pub bytes: u64,
    /// Bytes of an incomplete write found when the store was opened. They were never acknowledged.
    pub torn_bytes: u64,
    /// All damage, including what was found when the store was opened.
    pub damages: Vec<Damage>,
}

impl VerifyReport {
    /// Returns whether no damage was found.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.damages.is_empty()
    }
}

impl TensorStore {
    /// Reads the whole store and verifies every checksum. Continues after damaged records and lists them.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if a file cannot be read; damage is reported in the result.
    pub fn verify(&self) -> Result<VerifyReport, StoreError> {
        let core = &self.core;
        let _still = core.compacting(); // keeps the set of segments fixed
        let mut report = VerifyReport { torn_bytes: core.report.torn_bytes, ..VerifyReport::default() };
        let number = core.manifest().number;
        let name = FileName::Manifest(number).to_string();
        match manifest::read(&*core.storage, number) {
            Ok(Stored::Whole(_)) => {}
            Ok(Stored::Torn(what)) => report.note(name, 0, None, what),
            Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
                // For a read-only handle this is normal if a writer replaced the manifest.
                if core.log.is_some() || !core.is_replaced(number)? {
                    report.note(name, 0, None, "the manifest is missing".into());
                }
            }
            Err(error) => return Err(error),
        }
        for segment in core.segments.all() {
            report.segments += 1;
            report.bytes += segment.len();
            verify_segment(&segment, &mut report)?;
        }
        // Includes damage without a file, such as missing segments.
        let found =
            |known: &Damage| report.damages.iter().any(|d| (&d.segment, d.offset) == (&known.segment, known.offset));
        let more: Vec<Damage> = core.report.damages.iter().filter(|known| !found(known)).cloned().collect();
        report.damages.extend(more);
        Ok(report)
    }
}

impl Core {
    /// Returns whether a newer manifest of the same store replaced the one with this number.
    fn is_replaced(&self, number: u64) -> Result<bool, StoreError> {
        let store = self.manifest().store;
        // The newer one may be replaced too before it is read; the next listing shows its successor.
        for _ in 0..1000 {
            let newest = manifest::numbers(&*self.storage)?.into_iter().max().filter(|newest| *newest > number);
            let Some(newest) = newest else { return Ok(false) };
            match manifest::read(&*self.storage, newest) {
                Ok(Stored::Whole(manifest)) => return Ok(manifest.store == store),
                Ok(Stored::Torn(_)) => {} // being written
                Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        Ok(false)
    }
}

impl VerifyReport {
    fn note(&mut self, segment: String, offset: u64, id: Option<TensorId>, what: String) {
        self.damages.push(Damage { segment, offset, id, what });
    }
}

fn verify_segment(segment: &std::sync::Arc<Segment>, report: &mut VerifyReport) -> Result<(), StoreError> {
    let mut header = [0; SegmentHeader::LEN];
    match segment.read(0, &mut header).map(|()| SegmentHeader::parse(&header)) {
        Ok(Ok(parsed)) if parsed == segment.header => {}
        Ok(Ok(_)) => report.note(segment.name(), 0, None, "the header belongs to another segment".into()),
        Ok(Err(error)) => report.note(segment.name(), 0, None, error.to_string()),
        Err(error) => return report_truncation(error, segment, report),
    }
    let Some(sealed) = segment.sealed.get() else { return verify_open(segment, report) };
    let mut tail = [0; Trailer::LEN];
    if let Err(error) = segment.read(sealed.len - tail.len() as u64, &mut tail) {
        return report_truncation(error, segment, report);
    }
    let trailer = match Trailer::parse(&tail, &segment.header, sealed.len) {
        Ok(Some(trailer)) => trailer,
        Ok(None) => {
            report.note(segment.name(), sealed.len - tail.len() as u64, None, "the trailer is missing".into());
            return verify_open(segment, report);
        }
        Err(error) => {
            report.note(segment.name(), sealed.len - tail.len() as u64, None, error.to_string());
            return verify_open(segment, report);
        }
    };
    let mut bytes = vec![0; segment.memory_len(trailer.index_len)?];
    segment.read(trailer.index_offset, &mut bytes)?;
    let mut buffer = Vec::new();
    let walked = SegmentIndex::parse(&bytes, &trailer, &segment.header).and_then(|index| {
        let mut entries = index.entries();
        while let Some(entry) = entries.next()? {
            verify_record(segment, &entry, &mut buffer, report);
        }
        Ok(())
    });
    if let Err(error) = walked {
        report.note(segment.name(), trailer.index_offset, None, error.to_string());
        return verify_open(segment, report);
    }
    Ok(())
}

/// Verifies a record listed in an index.
fn verify_record(
    segment: &std::sync::Arc<Segment>,
    entry: &Entry<'_>,
    buffer: &mut Vec<u8>,
    report: &mut VerifyReport,
) {
    if entry.kind == bitgrain_formats::segment::EntryKind::Hole {
        return;
    }
    report.records += 1;
    let id = entry.id.map(TensorId::from);
    let place = Place {
        segment: std::sync::Arc::clone(segment),
        offset: entry.offset,
        len: entry.length,
        sequence: entry.sequence,
    };
    match record::copy(&place, id.as_ref(), buffer) {
        Ok(whole) if whole.view.head.stamp.sequence != entry.sequence || whole.view.head.content.id() != entry.id => {
            report.note(segment.name(), entry.offset, id, "the record does not match its index entry".into());
        }
        Ok(_) => {}
        Err(StoreError::Damaged { what, .. }) => report.note(segment.name(), entry.offset, id, what),
        Err(error) => report.note(segment.name(), entry.offset, id, error.to_string()),
    }
}

/// Verifies the records of a segment without an index, up to the first bad one.
fn verify_open(segment: &Segment, report: &mut VerifyReport) -> Result<(), StoreError> {
    let end = segment.end.load(std::sync::atomic::Ordering::Relaxed);
    let mut bytes = vec![0; segment.memory_len(end)?];
    if let Err(error) = segment.read(0, &mut bytes) {
        return report_truncation(error, segment, report);
    }
    let mut offset = SegmentHeader::LEN as u64;
    while offset < end {
        let mut records = Records::from(&bytes, &segment.header, offset);
        report.records += records.by_ref().count() as u64;
        let (bad, error) = match records.end() {
            bitgrain_formats::segment::End::Clean { .. } => return Ok(()),
            bitgrain_formats::segment::End::Torn { offset, error }
            | bitgrain_formats::segment::End::Bad { offset, error } => (*offset, error),
        };
        let id = usize::try_from(bad)
            .ok()
            .and_then(|at| RecordView::parse(bytes.get(at..)?, bad, &segment.header).ok())
            .and_then(|view| view.head.content.id().map(TensorId::from));
        report.note(segment.name(), bad, id, error.to_string());
        match bitgrain_formats::segment::find_record(&bytes, &segment.header, bad + 1) {
            Some(next) => offset = next,
            None => return Ok(()),
        }
    }
    Ok(())
}

/// Reports a truncated file as damage; returns any other error.
fn report_truncation(error: StoreError, segment: &Segment, report: &mut VerifyReport) -> Result<(), StoreError> {
    match error {
        StoreError::Io { source, .. } if source.kind() == std::io::ErrorKind::UnexpectedEof => {
            report.note(segment.name(), 0, None, "the file was truncated".into());
            Ok(())
        }
        error => Err(error),
    }
}
