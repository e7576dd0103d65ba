//! `CommunicationError`: a collective operation that did not finish.

/// Reason why workers cannot exchange data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommunicationError {
    /// A worker failed.
    #[error("worker {rank} failed: {message}")]
    Worker {
        /// Rank of that worker.
        rank: usize,
        /// Its message.
        message: String,
    },
    /// The communicator reported an error, such as a lost connection.
    #[error("lost connection between workers: {message}; restart from the last checkpoint")]
    Lost {
        /// Message of the communicator.
        message: String,
    },
    /// A worker sent an unexpected message: it runs different code or has different arguments.
    #[error("the workers do not run the same training: {message}; pass the same arguments on every worker")]
    Mismatch {
        /// Description of the difference.
        message: String,
    },
}
