//! The store of `ruvector-temporal-tensor`: in memory only, one block with one scale per tensor.

use ruvector_temporal_tensor::store::{BlockKey, Tier, TieredStore};

use super::{Plan, Shelf};

/// The store and its logical clock.
pub(crate) struct Ruvector {
    store: TieredStore,
    ticks: u64,
}

impl Ruvector {
    pub(crate) fn open(plan: &Plan<'_>) -> Box<dyn Shelf> {
        let [rows, columns] = plan.shape;
        Box::new(Self { store: TieredStore::new(rows * columns), ticks: 0 })
    }

    fn tick(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }
}

impl Shelf for Ruvector {
    fn put(&mut self, id: u128, values: &[f32]) {
        let now = self.tick();
        self.store.put(key(id), values, Tier::Tier1, now).expect("ruvector puts");
    }

    fn put_all(&mut self, first: u128, tensors: &[&[f32]]) {
        (first..).zip(tensors).for_each(|(id, values)| self.put(id, values));
    }

    fn get(&mut self, id: u128, out: &mut [f32]) {
        let now = self.tick();
        let count = self.store.get(key(id), out, now).expect("ruvector gets");
        assert_eq!(count, out.len(), "ruvector: length");
    }
}

const fn key(id: u128) -> BlockKey {
    BlockKey { tensor_id: id, block_index: 0 }
}
