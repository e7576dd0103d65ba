//! Compaction: reclaims the space of replaced and deleted records.

use std::sync::Arc;

use bitgrain_formats::segment::{LogEnd, Manifest, SealedSegment};

use super::{Core, TensorStore};
use crate::compaction::{Copier, select_runs};
use crate::file_name::FileName;
use crate::segment::Segment;
use crate::{StoreError, manifest};

/// Selection of segments to compact.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompactOptions {
    /// Minimum share of garbage bytes for a segment to be compacted. Default 0.25.
    pub garbage: f32,
    /// Compact all segments regardless of their garbage, including the current one.
    pub all: bool,
}

impl Default for CompactOptions {
    fn default() -> Self {
        Self { garbage: 0.25, all: false }
    }
}

/// Result of a compaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactReport {
    /// Number of segments deleted.
    pub segments_removed: usize,
    /// Number of segments written.
    pub segments_written: usize,
    /// Number of records copied.
    pub records: u64,
    /// Size in bytes of the deleted segments.
    pub bytes_removed: u64,
    /// Size in bytes of the written segments.
    pub bytes_written: u64,
}

impl TensorStore {
    /// Copies the live records of segments with much garbage and deletes these segments. Reads and writes may continue.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if a live record is unreadable; [`StoreError::ReadOnly`],
    /// [`StoreError::Poisoned`], [`StoreError::NoSpace`] or [`StoreError::Io`], wrapped in [`StoreError::Stopped`] if
    /// some segments were already compacted. The remaining segments are unchanged then; leftover files are deleted at
    /// the next open.
    pub fn compact(&self, options: CompactOptions) -> Result<CompactReport, StoreError> {
        self.core.compact(options)
    }
}

impl Core {
    /// Compacts to free space on a full disk, including the current segment. Succeeds if any space was freed.
    pub(super) fn make_room(&self) -> Result<(), StoreError> {
        let log = self.log()?;
        log.check()?;
        let _alone = self.compacting();
        log.reopen()?;
        log.seal(self.now())?;
        let mut report = CompactReport::default();
        let done = self.compact_each(self.settled(), true, &mut report);
        log.restore_reserve();
        match done {
            Err(_) if report.bytes_removed > report.bytes_written => Ok(()),
            done => done,
        }
    }

    /// Returns the segments whose records are all in the index, up to the first one with pending records, which would
    /// be mistaken for garbage.
    fn settled(&self) -> Vec<Arc<Segment>> {
        self.segments.all().into_iter().take_while(|segment| segment.is_settled()).collect()
    }

    fn compact(&self, options: CompactOptions) -> Result<CompactReport, StoreError> {
        let log = self.log()?;
        log.check()?;
        let _alone = self.compacting();
        log.reopen()?;
        if options.all {
            log.seal(self.now())?;
        }
        let segments = self.settled();
        let everything = 0..segments.len();
        let chosen = match options.all {
            true => Vec::from_iter((!segments.is_empty()).then_some(everything)),
            false => select_runs(&segments, f64::from(options.garbage), self.config.segment_bytes),
        };
        let total = chosen.iter().map(ExactSizeIterator::len).sum();
        // Owned per run: the space of a deleted file is freed when its last handle is dropped.
        let owned = chosen.into_iter().map(|run| (run.start == 0, segments[run].to_vec())).collect::<Vec<_>>();
        drop(segments);
        let mut report = CompactReport::default();
        let done = owned.into_iter().try_for_each(|(first, run)| match self.compact_run(&run, first, &mut report) {
            Err(error) if error.is_no_space() && run.iter().any(|segment| segment.garbage() > 0) => {
                log.release_reserve();
                self.compact_each(run, first, &mut report)
            }
            done => done,
        });
        log.restore_reserve();
        done.map_err(|error| error.after("compact", report.segments_removed, total, "segments"))?;
        Ok(report)
    }

    /// Compacts segments one at a time, which takes the least space: first the compacted segments, fewest live bytes
    /// first, then the log from its start up to the last segment with garbage. Copying the rest would free nothing.
    fn compact_each(
        &self,
        mut run: Vec<Arc<Segment>>,
        first: bool,
        report: &mut CompactReport,
    ) -> Result<(), StoreError> {
        run.truncate(run.iter().rposition(|segment| segment.garbage() > 0).map_or(0, |last| last + 1));
        let (log, mut compacted): (Vec<_>, Vec<_>) = run.into_iter().enumerate().partition(|(_, one)| one.is_log());
        compacted.retain(|(_, segment)| segment.garbage() > 0);
        compacted.sort_by_key(|(_, segment)| segment.records() - segment.garbage());
        let mut refused = None;
        for (i, segment) in compacted {
            match self.compact_run(&[segment], first && i == 0, report) {
                // Compacting other segments may free the space that this one needs.
                Err(error) if error.is_no_space() => refused = Some(error),
                done => done?,
            }
        }
        for (i, segment) in log {
            self.compact_run(&[segment], first && i == 0, report)?;
        }
        refused.map_or(Ok(()), Err)
    }

    /// Replaces consecutive segments with their live records.
    fn compact_run(&self, run: &[Arc<Segment>], first: bool, report: &mut CompactReport) -> Result<(), StoreError> {
        let log = self.log()?;
        let mut manifest = self.manifest();
        let mut copier = Copier::new(log, &self.index, manifest.store, self.config.segment_bytes, first);
        let copied = run.iter().try_for_each(|segment| copier.segment(segment));
        if let Err(error) = copied.and_then(|()| copier.finish(self.now())) {
            copier.discard(&*self.storage);
            return Err(error);
        }
        // Records are dropped because newer ones replaced them, so the newer ones must be durable first.
        log.flush()?;
        let new = self.next_manifest(&manifest, run, &copier.done)?;
        if let Err(error) = manifest::write(&*self.storage, &new) {
            if error.is_no_space() {
                copier.discard(&*self.storage);
            } else {
                log.poison_with(&error); // the manifest may or may not be on disk
            }
            return Err(error);
        }
        let old = std::mem::replace(&mut *manifest, new);
        report.segments_removed += run.len();
        report.segments_written += copier.done.len();
        report.records += copier.copied.len() as u64;
        report.bytes_removed += run.iter().map(|segment| segment.len()).sum::<u64>();
        report.bytes_written += copier.done.iter().map(|segment| segment.len()).sum::<u64>();
        copier.done.iter().for_each(|segment| self.segments.insert(Arc::clone(segment)));
        for copied in std::mem::take(&mut copier.copied) {
            self.index.relocate(&copied.key, copied.frame, &copied.from, copied.to);
        }
        // From here on, only readers with an open handle refer to these segments.
        run.iter().for_each(|segment| self.segments.remove(segment.number()));
        let names = run.iter().map(|segment| FileName::Segment(segment.number()));
        for name in names.chain([FileName::Manifest(old.number)]) {
            let _ = self.storage.remove(&name.to_string()); // if this fails, the next open deletes the file
        }
        Ok(())
    }

    /// Returns the manifest after a compaction.
    fn next_manifest(
        &self,
        manifest: &Manifest,
        run: &[Arc<Segment>],
        new: &[Arc<Segment>],
    ) -> Result<Manifest, StoreError> {
        let log = self.log()?;
        let gone = |number: u64| run.iter().any(|segment| segment.number() == number);
        let mut compacted: Vec<SealedSegment> =
            manifest.compacted.iter().filter(|old| !gone(old.number)).copied().collect();
        for segment in new {
            let sealed = segment.sealed.get().ok_or(StoreError::Poisoned)?;
            compacted.push(SealedSegment { number: segment.number(), len: sealed.len, index_crc: sealed.index_crc });
        }
        compacted.sort_unstable_by_key(|segment| segment.number);
        // The next log segment takes its number after this read, so its number is not smaller.
        let next = log.active_number();
        let log_from = if run.iter().any(|segment| segment.is_log()) {
            let left = self.segments.all().into_iter().filter(|segment| segment.is_log() && !gone(segment.number()));
            left.map(|segment| segment.number()).min().unwrap_or(next).min(next)
        } else {
            manifest.log_from
        };
        Ok(Manifest { store: manifest.store, number: log.next_number(), log_from, log_end: LogEnd::Open, compacted })
    }
}
