//! Settings of remote stores.

use std::time::Duration;

/// Settings for stores in object storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteConfig {
    /// Maximum size in bytes of the ranges that are cached in memory. Default: 64 MiB.
    pub cache_bytes: u64,
    /// Time for which readers can read objects that the store no longer needs. Default: 10 minutes.
    pub grace: Duration,
    /// Processes that may open the store for writing.
    pub writers: Writers,
    /// Number of attempts of a request. Default: 9.
    pub attempts: u32,
    /// Delay before the second attempt, which doubles with each further one, up to 100 times. Default: 100 ms.
    pub delay: Duration,
}

/// Processes that may open a remote store for writing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Writers {
    /// Several; the last one to open the store can write, the others fail. Requires a server that supports conditional
    /// puts, which is tested when the store is opened.
    #[default]
    Fenced,
    /// Only one at a time, which the caller ensures. Works on any server.
    Single,
}

impl Default for RemoteConfig {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            grace: Duration::from_secs(600),
            writers: Writers::default(),
            attempts: 9,
            delay: Duration::from_millis(100),
        }
    }
}
