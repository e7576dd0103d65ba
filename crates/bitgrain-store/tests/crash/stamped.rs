//! Tensors whose values contain their version, so that a reader can tell a stale, lost or mixed one.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use bitgrain_store::storage::simulated::Dice;
use bitgrain_store::{StoreError, StoredTensor, TensorStore};

/// Values that encode the version, one bit each: at 3 bits per value they are still distinct.
const BITS: usize = 20;
/// Tensors per writer.
pub(crate) const TENSORS: usize = 150;

/// The tensors of all writers, with the versions that were started and acknowledged.
pub(crate) struct Stamped {
    writers: usize,
    started: Vec<AtomicU32>,
    acknowledged: Vec<AtomicU32>,
}

impl Stamped {
    pub(crate) fn new(writers: usize) -> Self {
        let zeros = || (0..writers * TENSORS).map(|_| AtomicU32::new(0)).collect();
        Self { writers, started: zeros(), acknowledged: zeros() }
    }

    pub(crate) fn len(&self) -> usize {
        self.writers * TENSORS
    }

    pub(crate) fn id(tensor: usize) -> String {
        format!("w{}/{}", tensor / TENSORS, tensor % TENSORS)
    }

    /// Starts the next version of a tensor, of which only one thread writes versions.
    pub(crate) fn start(&self, tensor: usize) -> (u32, Vec<f32>) {
        let version = self.started[tensor].load(SeqCst) + 1;
        self.started[tensor].store(version, SeqCst);
        (version, values(tensor, version))
    }

    pub(crate) fn acknowledge(&self, tensor: usize, version: u32) {
        self.acknowledged[tensor].store(version, SeqCst);
    }

    /// Returns the acknowledged versions. Taken before a crash, a copy or a read, they are the least that must be found.
    pub(crate) fn acknowledged(&self) -> Vec<u32> {
        self.acknowledged.iter().map(|version| version.load(SeqCst)).collect()
    }

    /// Reads a tensor and checks that it is complete and between the acknowledged and the last started version.
    ///
    /// # Errors
    /// Returns the loss, or the error of the store.
    pub(crate) fn check(
        &self,
        tensor: usize,
        least: u32,
        read: Result<StoredTensor, StoreError>,
    ) -> Result<u32, Trouble> {
        let id = Self::id(tensor);
        let found = match read {
            Err(StoreError::NotFound { .. }) if least == 0 => return Ok(0),
            Err(StoreError::NotFound { .. }) => return Err(Trouble::Lost(format!("{id}: version {least} is lost"))),
            Err(error) => return Err(Trouble::Error(error)),
            Ok(found) => found,
        };
        let bits = found.values.iter().take(BITS).map(|bit| u32::from(*bit > 0.5));
        let version = bits.rev().fold(0, |version, bit| version << 1 | bit);
        let most = self.started[tensor].load(SeqCst);
        if version < least || version > most {
            return Err(Trouble::Lost(format!("{id}: version {version}, not from {least} to {most}")));
        }
        let (expected, allowed) = (values(tensor, version), f64::from(found.provenance.measured));
        let wrong = expected.len() != found.values.len()
            || expected.iter().zip(&found.values).any(|(a, b)| (f64::from(*a) - f64::from(*b)).abs() > allowed);
        if wrong { Err(Trouble::Lost(format!("{id}: the values of version {version} are wrong"))) } else { Ok(version) }
    }

    /// Returns to the versions that were acknowledged before a crash. Later ones may be found as well, because they were
    /// started.
    pub(crate) fn forget_since(&self, least: &[u32]) {
        self.acknowledged.iter().zip(least).for_each(|(version, least)| version.store(*least, SeqCst));
    }

    /// Reads all tensors and checks them; the versions found are the acknowledged ones from now on.
    ///
    /// # Errors
    /// Returns the loss, or the error of the store.
    pub(crate) fn settle(&self, store: &TensorStore, least: &[u32]) -> Result<(), Trouble> {
        for (tensor, least) in least.iter().enumerate() {
            let version = self.check(tensor, *least, store.get(Self::id(tensor).as_str()))?;
            self.acknowledged[tensor].store(version, SeqCst);
            self.started[tensor].store(version, SeqCst);
        }
        Ok(())
    }
}

/// Reason to stop.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// Data was lost or is wrong.
    Lost(String),
    /// An error of the store, which is expected once its process was killed.
    Error(StoreError),
}

/// Returns the values of a version.
fn values(tensor: usize, version: u32) -> Vec<f32> {
    let mut dice = Dice::part(u64::from(version) << 20 | tensor as u64, 30);
    let len = BITS + [5, 60, 300, 2_000][tensor % 4];
    let bits = (0..BITS).map(|bit| (version >> bit & 1) as f32);
    bits.chain((BITS..len).map(|_| dice.below(2_001) as f32 / 1_000.0 - 1.0)).collect()
}
