//! The threads a command may use.

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::CliError;

/// A pool of `count` threads, as many as there are cores if `None`.
pub(crate) fn pool(count: Option<usize>) -> Result<ThreadPool, CliError> {
    if count == Some(0) {
        return Err(CliError::NoThreads);
    }
    Ok(ThreadPoolBuilder::new().num_threads(count.unwrap_or(0)).build()?)
}
