//! Bitgrain's store with the common interface.

use std::ops::Range;

use bitgrain::store::{StoreConfig, SyncMode, TensorStore};

use crate::rival::store::{Plan, Reads, Shelf};

/// An open store and the shape of its tensors.
pub(super) struct Ours {
    pub(super) store: TensorStore,
    shape: [usize; 2],
}

impl Ours {
    pub(super) fn open(plan: &Plan<'_>) -> Box<dyn Shelf> {
        Box::new(Self::new(plan))
    }

    pub(super) fn new(plan: &Plan<'_>) -> Self {
        let sync = if plan.synced { SyncMode::Always } else { SyncMode::OnSeal };
        let config = StoreConfig { sync, ..StoreConfig::default() };
        Self { store: TensorStore::open(plan.folder, config).expect("the store opens"), shape: plan.shape }
    }
}

impl Shelf for Ours {
    fn put(&mut self, id: u128, values: &[f32]) {
        self.store.put(id, &self.shape, values).expect("the store puts");
    }

    fn put_all(&mut self, first: u128, tensors: &[&[f32]]) {
        let mut batch = self.store.batch();
        for (id, values) in (first..).zip(tensors) {
            batch.put(id, &self.shape, values).expect("finite values");
        }
        batch.commit().expect("the store commits");
    }

    fn get(&mut self, id: u128, out: &mut [f32]) {
        self.read(id, out);
    }

    fn rows(&mut self, id: u128, rows: Range<usize>) -> Option<Vec<f32>> {
        Some(self.store.get_rows(id, rows).expect("the store gets").values)
    }

    fn shared(&self) -> Option<&dyn Reads> {
        Some(self)
    }
}

impl Reads for Ours {
    fn read(&self, id: u128, out: &mut [f32]) {
        self.store.get_into(id, out).expect("the store gets");
    }
}
