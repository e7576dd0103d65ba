//! Which segments are worth compacting.

use std::ops::Range;
use std::sync::Arc;

use crate::segment::Segment;

/// Runs of segments that follow each other and are worth it: with at least the share `garbage` of bytes that do not count, or
/// small ones that can be joined. `segments` are sealed and in the order of their records.
pub(crate) fn runs(segments: &[Arc<Segment>], garbage: f64, segment_bytes: u64) -> Vec<Range<usize>> {
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
        // A log is compacted from its beginning.
        let start = if i > first_log { first_log } else { i };
        match runs.last_mut() {
            Some(last) if last.end >= start => last.end = i + 1,
            _ => runs.push(start..i + 1),
        }
    }
    runs.retain(|run| run.len() > 1 || segments[run.clone()].iter().any(|segment| wasteful(segment)));
    runs
}
