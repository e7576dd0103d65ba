//! `Peers`: the workers of a training run, or a single process.

use std::sync::{Mutex, PoisonError};

use super::{CommunicationError, Communicator, Packing, Reader, Writer};
use crate::gradient::Codes;
use crate::train::TrainError;

/// Workers of a training. Without a communicator, every operation returns the values of this process.
///
/// Sums during tree growth cannot return an error. After the first error, they immediately return the values of this
/// process, and [`check`](Self::check) returns the error.
pub(crate) struct Peers<'a> {
    group: Option<&'a dyn Communicator>,
    /// Rows of the workers before this one.
    first: u64,
    /// Rows of all workers.
    all: u64,
    broken: Mutex<Option<TrainError>>,
}

/// Status of a worker in an exchange: its bytes follow, or the message of its error.
const FINE: u64 = 0;

impl<'a> Peers<'a> {
    /// Returns the only process, with all rows.
    pub(crate) fn alone(n_rows: usize) -> Self {
        Self { group: None, first: 0, all: n_rows as u64, broken: Mutex::new(None) }
    }

    /// Meets the other workers. `arguments` must be the same on all of them.
    pub(crate) fn meet(
        group: Option<&'a dyn Communicator>,
        n_rows: usize,
        arguments: &str,
    ) -> Result<Self, TrainError> {
        let Some(group) = group else { return Ok(Self::alone(n_rows)) };
        let mut own = Writer::default();
        own.u64(n_rows as u64).text(arguments);
        let (mut first, mut all, mut other) = (0, 0, None);
        let mut peers = Self { group: Some(group), first, all, broken: Mutex::new(None) };
        for (rank, bytes) in peers.exchange(Ok(own.0))?.iter().enumerate() {
            let mut reader = Reader(bytes);
            let rows = reader.u64()?;
            if rank < group.rank() {
                first += rows;
            }
            all += rows;
            if rank == 0 {
                other = Some(reader.text()?);
            } else if other.as_ref() != Some(&reader.text()?) {
                let message = format!("worker {rank} has different arguments from worker 0");
                return Err(CommunicationError::Mismatch { message }.into());
            }
        }
        (peers.first, peers.all) = (first, all);
        Ok(peers)
    }

    pub(crate) fn rank(&self) -> usize {
        self.group.map_or(0, |group| group.rank())
    }

    pub(crate) fn are_alone(&self) -> bool {
        self.group.is_none()
    }

    /// Number of rows of the workers before this one.
    pub(crate) fn first_row(&self) -> u64 {
        self.first
    }

    /// Number of rows of all workers.
    pub(crate) fn n_rows(&self) -> usize {
        usize::try_from(self.all).unwrap_or(usize::MAX)
    }

    /// Replaces each number by its sum over all workers.
    pub(crate) fn sum(&self, numbers: &mut [u64]) {
        let Some(group) = self.group.filter(|_| !numbers.is_empty() && self.is_intact()) else { return };
        if let Err(error) = group.all_reduce(numbers) {
            self.break_off(error.into());
        }
    }

    /// Returns the sum of a count over all workers.
    pub(crate) fn count(&self, count: usize) -> usize {
        let mut number = [count as u64];
        self.sum(&mut number);
        usize::try_from(number[0]).unwrap_or(usize::MAX)
    }

    /// Returns the first error since the start.
    pub(crate) fn check(&self) -> Result<(), TrainError> {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    pub(crate) fn is_intact(&self) -> bool {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    fn break_off(&self, error: TrainError) {
        self.broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    /// Returns the bytes of every worker, or the first error of one. A worker with an error takes part, so that all of
    /// them end with the same one.
    pub(crate) fn exchange(&self, own: Result<Vec<u8>, TrainError>) -> Result<Vec<Vec<u8>>, TrainError> {
        self.check()?;
        let Some(group) = self.group else { return Ok(vec![own?]) };
        let mut message = Writer::default();
        match own {
            Ok(bytes) => message.u64(FINE).0.extend(bytes),
            Err(error) => {
                let told = group.explanation().unwrap_or_else(|| self.renumbered(error).to_string());
                message.u64(1).text(&told);
            }
        }
        let all = group.all_gather(&message.0).map_err(TrainError::from).inspect_err(|e| self.break_off(e.clone()))?;
        let of_rank = |(rank, bytes): (usize, &Vec<u8>)| -> Result<Vec<u8>, TrainError> {
            let mut reader = Reader(bytes);
            if reader.u64()? == FINE {
                return Ok(reader.0.to_vec());
            }
            let error = TrainError::from(CommunicationError::Worker { rank, message: reader.text()? });
            self.break_off(error.clone());
            Err(error)
        };
        all.iter().enumerate().map(of_rank).collect()
    }

    /// Returns the result of this worker, or the first error of any.
    pub(crate) fn agree<T>(&self, own: Result<T, TrainError>) -> Result<T, TrainError> {
        if self.are_alone() {
            return own;
        }
        let (value, status) = match own {
            Ok(value) => (Some(value), Ok(Vec::new())),
            Err(error) => (None, Err(error)),
        };
        self.exchange(status)?;
        value.map_or_else(|| self.check().and(Err(lost("an error was not forwarded"))), Ok)
    }

    /// Returns the bytes of every worker on worker 0.
    pub(crate) fn gather(&self, bytes: &[u8]) -> Result<Option<Vec<Vec<u8>>>, TrainError> {
        self.check()?;
        let Some(group) = self.group else { return Ok(Some(vec![bytes.to_vec()])) };
        group.gather(bytes).map_err(TrainError::from).inspect_err(|error| self.break_off(error.clone()))
    }

    /// Returns the bytes that worker 0 computes, or its error.
    pub(crate) fn compute_on_root(
        &self,
        own: impl FnOnce() -> Result<Vec<u8>, TrainError>,
    ) -> Result<Vec<u8>, TrainError> {
        self.check()?;
        let Some(group) = self.group else { return own() };
        let mut message = Writer::default();
        if group.rank() == 0 {
            match own() {
                Ok(bytes) => message.u64(FINE).0.extend(bytes),
                Err(error) => {
                    message.u64(1).text(&group.explanation().unwrap_or_else(|| error.to_string()));
                }
            }
        }
        let bytes = group.broadcast(&message.0).map_err(TrainError::from);
        let bytes = bytes.inspect_err(|error| self.break_off(error.clone()))?;
        let mut reader = Reader(&bytes);
        if reader.u64()? == FINE {
            return Ok(reader.0.to_vec());
        }
        let error = TrainError::from(CommunicationError::Worker { rank: 0, message: reader.text()? });
        self.break_off(error.clone());
        Err(error)
    }

    /// Packing of the sums of a node with `rows` rows on all workers.
    pub(crate) fn packing(&self, codes: Codes, rows: usize, hess: u64) -> Packing {
        Packing::new(codes, rows as u64, hess)
    }

    /// Counts the rows of the workers before this one in the row index of an error.
    fn renumbered(&self, error: TrainError) -> TrainError {
        let before = usize::try_from(self.first).unwrap_or(usize::MAX);
        match error {
            TrainError::Gradient { row, grad, hess, round } => {
                TrainError::Gradient { row: row.saturating_add(before), grad, hess, round }
            }
            other => other,
        }
    }
}

/// A panic must not leave the other workers waiting.
impl Drop for Peers<'_> {
    fn drop(&mut self) {
        if let Some(group) = self.group.filter(|_| std::thread::panicking()) {
            group.fail("it panicked");
        }
    }
}

fn lost(message: &str) -> TrainError {
    CommunicationError::Lost { message: message.to_owned() }.into()
}
