//! Work in pieces: a tensor's rows in runs of about a megabyte, on every core, results in order.

use std::ops::Range;

use rayon::prelude::*;

use crate::model::ModelFileError;
use crate::model::Rows;

/// Told how many bytes of weights are done, from any thread.
pub trait Progress: Sync {
    /// `bytes` more of the input are done.
    fn add(&self, bytes: u64);
    /// Work on a tensor begins.
    fn tensor(&self, name: &str);
    /// Whether the work is no longer wanted. It then ends soon with [`ModelFileError::Interrupted`].
    fn stopped(&self) -> bool {
        false
    }
}

/// Ends work that is no longer wanted.
pub(crate) fn go_on(progress: &dyn Progress) -> Result<(), ModelFileError> {
    if progress.stopped() { Err(ModelFileError::Interrupted) } else { Ok(()) }
}

/// Nobody is watching.
impl Progress for () {
    fn add(&self, _bytes: u64) {}
    fn tensor(&self, _name: &str) {}
}

/// Weights of a piece: the f32 of two fit in a core's second-level cache.
const PIECE: usize = 128 << 10;

/// Runs of whole rows with about [`PIECE`] weights each.
pub(crate) fn runs(rows: &Rows) -> Vec<Range<usize>> {
    runs_within(rows, rows.rows())
}

/// The same, none of them across a multiple of `matrix` rows.
pub(crate) fn runs_within(rows: &Rows, matrix: usize) -> Vec<Range<usize>> {
    // Rows of nothing can be as many as a header likes.
    let Some(step) = PIECE.checked_div(rows.cols()) else { return Vec::new() };
    let (rows, step) = (rows.rows(), step.max(1));
    let runs_of = |start: usize| {
        let end = rows.min(start + matrix.max(1));
        (start..end).step_by(step).map(move |start| start..end.min(start + step))
    };
    (0..rows).step_by(matrix.max(1)).flat_map(runs_of).collect()
}

/// All values, decoded on every core.
pub(crate) fn decoded(rows: &Rows) -> Result<Vec<f32>, ModelFileError> {
    let mut out = vec![0.0; rows.len()];
    let runs = runs(rows);
    let Some(step) = runs.first().map(|run| run.len() * rows.cols()) else { return Ok(out) };
    let pieces = out.par_chunks_mut(step).zip(&runs);
    let done: Vec<Result<(), ModelFileError>> = pieces.map(|(out, run)| rows.decode(run.clone(), out)).collect();
    // The first error in the order of the file, whichever thread was faster.
    done.into_iter().collect::<Result<(), _>>().map(|()| out)
}

/// Decodes each run and hands it to `work` with its index and a buffer to use; results come back in order.
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
