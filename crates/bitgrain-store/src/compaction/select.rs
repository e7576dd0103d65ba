//! Selection of segments to compact.

use std::ops::Range;
use std::sync::Arc;

use crate::segment::Segment;

/// Returns runs of consecutive segments worth compacting: those with at least the share `garbage` of dead bytes, and
/// small ones that can be merged. `segments` are sealed and in record order.
pub(crate) fn select_runs(segments: &[Arc<Segment>], garbage: f64, segment_bytes: u64) -> Vec<Range<usize>> {
    let first_log = segments.iter().position(|segment| segment.is_log()).unwrap_or(segments.len());
    #[expect(clippy::cast_precision_loss, reason = "a share")]
    let wasteful =
        |segment: &Segment| segment.garbage() > 0 && segment.garbage() as f64 >= garbage * segment.records() as f64;
    let small = |segment: &Segment| segment.len() < segment_bytes / 4;
    let mut runs: Vec<Range<usize>> = Vec::new();
    for (i, segment) in segments.iter().enumerate() {
        if !wasteful(segment) && !small(segment) {
            continue;
        }
        // The log can only be compacted from its start.
        let start = if i > first_log { first_log } else { i };
        match runs.last_mut() {
            Some(last) if last.end >= start => last.end = i + 1,
            _ => runs.push(start..i + 1),
        }
    }
    runs.retain(|run| run.len() > 1 || segments[run.clone()].iter().any(|segment| wasteful(segment)));
    runs
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use bitgrain_formats::segment::{SegmentHeader, SegmentKind};

    use super::*;
    use crate::storage::{LocalFolder, Storage};

    #[test]
    fn runs_contain_worthwhile_segments_and_logs_from_the_first() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = LocalFolder::lock(folder.path(), true).expect("free").create_new("x").expect("new");
        let segment = |kind, records: u64, live: u64| {
            let header = SegmentHeader { kind, store: [0; 16], number: 1, previous: 0, base_sequence: 1, base_time: 0 };
            let segment = Segment::new(header, Arc::clone(&file), 64 + records);
            segment.live.store(live, Relaxed);
            segment
        };
        let (compacted, log) = (SegmentKind::Compacted, SegmentKind::Log);
        let of = |segments: &[(SegmentKind, u64, u64)]| {
            let segments: Vec<_> =
                segments.iter().map(|(kind, records, live)| segment(*kind, *records, *live)).collect();
            let runs = select_runs(&segments, 0.5, 1000);
            runs.into_iter().map(|run| (run.start, run.end)).collect::<Vec<_>>()
        };
        assert!(of(&[(compacted, 900, 900), (log, 900, 800)]).is_empty());
        // Garbage on both sides of a clean segment.
        assert_eq!(of(&[(compacted, 900, 100), (compacted, 900, 900), (compacted, 900, 0)]), [(0, 1), (2, 3)]);
        // A log segment with garbage includes the log segments before it.
        assert_eq!(of(&[(compacted, 900, 900), (log, 900, 900), (log, 900, 100)]), [(1, 3)]);
        // Small segments are merged, but a single small one stays.
        assert_eq!(of(&[(compacted, 100, 100), (compacted, 100, 100), (compacted, 900, 900)]), [(0, 2)]);
        assert!(of(&[(compacted, 900, 900), (compacted, 100, 100), (compacted, 900, 900)]).is_empty());
    }
}
