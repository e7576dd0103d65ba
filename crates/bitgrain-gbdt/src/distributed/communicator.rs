//! `Communicator`: connection between workers, implemented for MPI, Dask, Ray and others.

use super::CommunicationError;

/// Connection of a worker to the other workers. Every worker calls the same methods in the same order, from one thread at a
/// time, but not always the same thread.
///
/// An implementation must not hang: if a worker ends, dies or calls [`fail`](Self::fail), the calls of all others must
/// return an error within seconds.
pub trait Communicator: Send + Sync {
    /// Index of this worker, 0-based.
    fn rank(&self) -> usize;

    /// Number of workers.
    fn size(&self) -> usize;

    /// Replaces each number by its sum over all workers, modulo 2^64. Every worker passes the same count of numbers.
    ///
    /// # Errors
    /// Returns a [`CommunicationError`] if a worker failed.
    fn all_reduce(&self, numbers: &mut [u64]) -> Result<(), CommunicationError>;

    /// Returns the bytes of every worker, by rank. Lengths may differ.
    ///
    /// # Errors
    /// Returns a [`CommunicationError`] if a worker failed.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicationError>;

    /// Returns the bytes of every worker on worker 0, and `None` on the others.
    ///
    /// # Errors
    /// Returns a [`CommunicationError`] if a worker failed.
    fn gather(&self, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, CommunicationError> {
        let all = self.all_gather(bytes)?;
        Ok((self.rank() == 0).then_some(all))
    }

    /// Returns the bytes of worker 0; those of the others are ignored.
    ///
    /// # Errors
    /// Returns a [`CommunicationError`] if a worker failed.
    fn broadcast(&self, bytes: &[u8]) -> Result<Vec<u8>, CommunicationError> {
        let own = if self.rank() == 0 { bytes } else { &[] };
        Ok(self.all_gather(own)?.into_iter().next().unwrap_or_default())
    }

    /// Makes the pending and all later calls of every other worker fail with this message. Does not wait.
    fn fail(&self, message: &str);

    /// Returns a more specific description of this worker's error, such as the exception of a callback.
    fn explanation(&self) -> Option<String> {
        None
    }
}
