//! `LocalGroup`: workers that are threads of one process.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use super::{CommunicationError, Communicator};

/// Group of workers in one process, for tests.
#[derive(Debug)]
pub struct LocalGroup {
    size: usize,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Number of finished exchanges.
    finished: u64,
    /// Bytes of each worker in the current exchange.
    given: Vec<Option<Vec<u8>>>,
    /// Bytes of all workers in the last exchange.
    last: Arc<Vec<Vec<u8>>>,
    failure: Option<CommunicationError>,
}

/// Worker of a [`LocalGroup`].
#[derive(Debug)]
pub struct LocalWorker<'g> {
    group: &'g LocalGroup,
    rank: usize,
}

impl LocalGroup {
    /// Runs `work` on `size` threads, one per worker; returns the results by rank. A worker that returns or panics while
    /// others wait for it fails them.
    ///
    /// # Panics
    /// If `work` panics.
    pub fn run<T: Send>(size: usize, work: impl Fn(&LocalWorker<'_>) -> T + Sync) -> Vec<T> {
        let state = Mutex::new(State { given: vec![None; size], ..State::default() });
        let group = Self { size, state, changed: Condvar::new() };
        let (group, work) = (&group, &work);
        let of_rank = |rank: usize| {
            move || {
                let worker = LocalWorker { group, rank };
                let _end = End(&worker);
                work(&worker)
            }
        };
        thread::scope(|scope| {
            let threads: Vec<_> = (0..size).map(|rank| scope.spawn(of_rank(rank))).collect();
            let joined = threads.into_iter().map(thread::ScopedJoinHandle::join);
            joined.map(|result| result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }

    fn fail(&self, error: CommunicationError) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).failure.get_or_insert(error);
        self.changed.notify_all();
    }
}

/// Makes the calls of the other workers fail if they wait for a worker that has ended.
struct End<'a>(&'a LocalWorker<'a>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let message = if thread::panicking() { "it panicked" } else { "it has ended" };
        self.0.fail(message);
    }
}

impl Communicator for LocalWorker<'_> {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.group.size
    }

    fn all_reduce(&self, numbers: &mut [u64]) -> Result<(), CommunicationError> {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let all = self.exchange(bytes)?;
        numbers.fill(0);
        for (rank, of_rank) in all.iter().enumerate() {
            if of_rank.len() != numbers.len() * 8 {
                let message = format!("worker {rank} sent {} numbers, expected {}", of_rank.len() / 8, numbers.len());
                return Err(CommunicationError::Mismatch { message });
            }
            let words = of_rank.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
            numbers.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(word));
        }
        Ok(())
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicationError> {
        self.exchange(bytes.to_vec()).map(|all| all.to_vec())
    }

    fn fail(&self, message: &str) {
        self.group.fail(CommunicationError::Worker { rank: self.rank, message: message.to_owned() });
    }
}

impl LocalWorker<'_> {
    /// Waits until every worker has passed its bytes, and returns all of them.
    fn exchange(&self, bytes: Vec<u8>) -> Result<Arc<Vec<Vec<u8>>>, CommunicationError> {
        let mut state = self.group.state.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = state.finished;
        state.given[self.rank] = Some(bytes);
        if state.given.iter().all(Option::is_some) {
            state.last = Arc::new(state.given.iter_mut().filter_map(Option::take).collect());
            state.finished += 1;
            self.group.changed.notify_all();
        }
        while state.finished == turn {
            // After the check above: an exchange that every worker joined succeeds even if one has ended since.
            if let Some(error) = &state.failure {
                return Err(error.clone());
            }
            state = self.group.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(Arc::clone(&state.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_worker_gets_the_sums_and_the_bytes_of_all() {
        let results = LocalGroup::run(5, |worker| {
            let rank = worker.rank() as u64;
            let mut numbers = vec![rank, u64::MAX, 1 << rank];
            worker.all_reduce(&mut numbers).expect("no failure");
            let bytes = worker.all_gather(&vec![7; worker.rank()]).expect("no failure");
            let said = worker.broadcast(format!("from {rank}").as_bytes()).expect("no failure");
            (numbers, bytes, said)
        });
        for (numbers, bytes, said) in results {
            assert_eq!(numbers, [10, u64::MAX - 4, 31]);
            assert_eq!(bytes, (0..5).map(|rank| vec![7; rank]).collect::<Vec<_>>());
            assert_eq!(said, b"from 0");
        }
    }

    #[test]
    fn a_worker_that_ends_fails_the_others() {
        let results =
            LocalGroup::run(3, |worker| if worker.rank() == 1 { Ok(Vec::new()) } else { worker.all_gather(b"waits") });
        for result in [&results[0], &results[2]] {
            let error = result.as_ref().expect_err("worker 1 never comes");
            assert_eq!(error.to_string(), "worker 1 failed: it has ended");
        }
    }
}
