//! `--threads`: the number of threads of a command. Results do not depend on it.

use std::num::NonZeroUsize;

use crate::error::CliError;

/// Maximum number of threads. Starting more takes longer than any work they could share.
const MOST: usize = 1024;

/// Runs `work` in a pool of `threads` threads, or in the default pool, which uses all cores.
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
