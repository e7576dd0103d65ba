//! `--threads`: how many cores a command may use. Results do not depend on it.

use std::num::NonZeroUsize;

use crate::error::CliError;

/// Starting more takes longer than any work they could share.
const MOST: usize = 1024;

/// Runs `work` with at most so many threads; with all cores if no number is given.
pub(crate) fn on_threads<T: Send>(
    threads: Option<NonZeroUsize>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, CliError> {
    match threads {
        None => Ok(work()),
        Some(count) if count.get() > MOST => Err(CliError::TooManyThreads { count: count.get() }),
        Some(count) => Ok(rayon::ThreadPoolBuilder::new().num_threads(count.get()).build()?.install(work)),
    }
}
