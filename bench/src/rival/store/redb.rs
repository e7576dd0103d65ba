//! redb: a B-tree in one file, with raw f32 as values.

use std::ops::Range;

use redb::{Database, Durability, ReadableDatabase, TableDefinition, WriteTransaction};

use super::{Plan, Reads, Shelf, bytes_of, floats};

const TENSORS: TableDefinition<'_, u128, &[u8]> = TableDefinition::new("tensors");

/// The database.
pub(crate) struct Redb {
    database: Database,
    shape: [usize; 2],
    synced: bool,
}

impl Redb {
    pub(crate) fn open(plan: &Plan<'_>) -> Box<dyn Shelf> {
        let database = Database::create(plan.folder.join("tensors.redb")).expect("redb opens");
        Box::new(Self { database, shape: plan.shape, synced: plan.synced })
    }

    fn write(&self) -> WriteTransaction {
        let mut transaction = self.database.begin_write().expect("redb begins");
        let durability = if self.synced { Durability::Immediate } else { Durability::None };
        transaction.set_durability(durability).expect("no savepoints");
        transaction
    }

    fn with<T>(&self, id: u128, look: impl FnOnce(&[u8]) -> T) -> T {
        let transaction = self.database.begin_read().expect("redb begins");
        let table = transaction.open_table(TENSORS).expect("a table");
        let value = table.get(id).expect("redb gets").expect("a tensor");
        look(value.value())
    }
}

impl Shelf for Redb {
    fn put(&mut self, id: u128, values: &[f32]) {
        self.put_all(id, &[values]);
    }

    fn put_all(&mut self, first: u128, tensors: &[&[f32]]) {
        let transaction = self.write();
        {
            let mut table = transaction.open_table(TENSORS).expect("a table");
            for (id, values) in (first..).zip(tensors) {
                table.insert(id, bytemuck::cast_slice::<f32, u8>(values)).expect("redb puts");
            }
        }
        transaction.commit().expect("redb commits");
    }

    fn get(&mut self, id: u128, out: &mut [f32]) {
        self.read(id, out);
    }

    fn rows(&mut self, id: u128, rows: Range<usize>) -> Option<Vec<f32>> {
        let mut out = vec![0.0; rows.len() * self.shape[1]];
        self.with(id, |bytes| floats(&bytes[bytes_of(&rows, self.shape[1])], &mut out));
        Some(out)
    }

    fn shared(&self) -> Option<&dyn Reads> {
        Some(self)
    }
}

impl Reads for Redb {
    fn read(&self, id: u128, out: &mut [f32]) {
        self.with(id, |bytes| floats(bytes, out));
    }
}
