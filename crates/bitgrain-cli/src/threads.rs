//! `--threads`: how many cores a command may use. Results do not depend on it.

use std::num::NonZeroUsize;

use crate::error::CliError;

/// Runs `work` with at most so many threads; with all cores if no number is given.
pub(crate) fn on_threads<T: Send>(
    threads: Option<NonZeroUsize>,
    work: impl FnOnce() -> T + Send,
) -> Result<T, CliError> {
    match threads {
        None => Ok(work()),
        Some(count) => Ok(rayon::ThreadPoolBuilder::new().num_threads(count.get()).build()?.install(work)),
    }
}
