//! Parallel work on runs of rows of about half a megabyte each, with results in order.

use std::ops::Range;

use rayon::prelude::*;

use crate::model::ModelFileError;
use crate::model::Rows;

/// Receives progress from any thread and can cancel the work.
pub trait Progress: Sync {
    /// Records that `bytes` more of the input are done.
    fn add(&self, bytes: u64);
    /// Records that work on a tensor begins.
    fn tensor(&self, name: &str);
    /// Returns whether to cancel. The work then ends soon with [`ModelFileError::Interrupted`].
    fn stopped(&self) -> bool {
        false
    }
}

/// Returns [`ModelFileError::Interrupted`] if `progress` cancels.
pub(crate) fn check_interrupt(progress: &dyn Progress) -> Result<(), ModelFileError> {
    if progress.stopped() { Err(ModelFileError::Interrupted) } else { Ok(()) }
}

/// Discards all reports.
impl Progress for () {
    fn add(&self, _bytes: u64) {}
    fn tensor(&self, _name: &str) {}
}

/// Weights per piece: two pieces as f32 fit in a core's L2 cache.
const PIECE: usize = 128 << 10;

/// Returns runs of whole rows with about [`PIECE`] weights each.
pub(crate) fn runs(rows: &Rows) -> Vec<Range<usize>> {
    runs_within(rows, rows.rows())
}

/// Like [`runs`], but no run crosses a multiple of `matrix` rows.
pub(crate) fn runs_within(rows: &Rows, matrix: usize) -> Vec<Range<usize>> {
    // A header can claim any number of rows of length zero without a byte of data; do not allocate runs for them.
    let Some(step) = PIECE.checked_div(rows.cols()) else { return Vec::new() };
    let (rows, step) = (rows.rows(), step.max(1));
    let runs_of = |start: usize| {
        let end = rows.min(start + matrix.max(1));
        (start..end).step_by(step).map(move |start| start..end.min(start + step))
    };
    (0..rows).step_by(matrix.max(1)).flat_map(runs_of).collect()
}

/// Decodes all values in parallel.
pub(crate) fn decoded(rows: &Rows) -> Result<Vec<f32>, ModelFileError> {
    let mut out = vec![0.0; rows.len()];
    let runs = runs(rows);
    let Some(step) = runs.first().map(|run| run.len() * rows.cols()) else { return Ok(out) };
    let pieces = out.par_chunks_mut(step).zip(&runs);
    let done: Vec<Result<(), ModelFileError>> = pieces.map(|(out, run)| rows.decode(run.clone(), out)).collect();
    // Report the first error in file order, so that the message does not depend on thread timing.
    done.into_iter().collect::<Result<(), _>>().map(|()| out)
}

/// Decodes each run and passes it to `work` with its index and a scratch buffer; results are in the order of `runs`.
pub(crate) fn map<T: Send>(
    rows: &Rows,
    runs: &[Range<usize>],
    work: impl Fn(usize, &mut [f32], &mut Vec<f32>) -> Result<T, ModelFileError> + Sync,
) -> Result<Vec<T>, ModelFileError> {
    let decoded = |(values, scratch): &mut (Vec<f32>, Vec<f32>), (i, run): (usize, &Range<usize>)| {
        values.resize(run.len() * rows.cols(), 0.0);
        rows.decode(run.clone(), values)?;
        work(i, values, scratch)
    };
    runs.par_iter().enumerate().map_init(Default::default, decoded).collect()
}
