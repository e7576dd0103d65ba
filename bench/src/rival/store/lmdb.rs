//! LMDB through heed: a B-tree in a memory map, with raw f32 as values.

use std::ops::Range;

use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, EnvFlags, EnvOpenOptions};

use super::{Plan, Reads, Shelf, bytes_of, floats};

/// Address space in bytes: more than any comparison needs.
const MAP: usize = 8 << 30;

/// The environment and its database.
pub(crate) struct Lmdb {
    env: Env,
    tensors: Database<'static, Bytes, Bytes>,
    shape: [usize; 2],
}

impl Lmdb {
    #[expect(unsafe_code, reason = "a memory-mapped database for comparison; not part of published crates")]
    pub(crate) fn open(plan: &Plan<'_>) -> Box<dyn Shelf> {
        let mut options = EnvOpenOptions::new();
        options.map_size(MAP);
        if !plan.synced {
            // SAFETY: without syncs, a power loss can corrupt the database, which is deleted after the run.
            unsafe { options.flags(EnvFlags::NO_SYNC) };
        }
        // SAFETY: the folder was created for this run, and no other process writes to it.
        let env = unsafe { options.open(plan.folder) }.expect("LMDB opens");
        let begun = env.write_txn().expect("LMDB begins");
        let create = env.create_databases_and_commit(begun, |opener, txn| {
            opener.create_database::<Bytes, Bytes>(txn, None).map(CommitOrAbort::<_, ()>::Commit)
        });
        let tensors = create.expect("LMDB has a database").unwrap_commit();
        Box::new(Self { env, tensors, shape: plan.shape })
    }

    fn with<T>(&self, id: u128, look: impl FnOnce(&[u8]) -> T) -> T {
        let transaction = self.env.read_txn().expect("LMDB begins");
        look(self.tensors.get(&transaction, &id.to_be_bytes()).expect("LMDB gets").expect("a tensor"))
    }
}

impl Shelf for Lmdb {
    fn put(&mut self, id: u128, values: &[f32]) {
        self.put_all(id, &[values]);
    }

    fn put_all(&mut self, first: u128, tensors: &[&[f32]]) {
        let mut transaction = self.env.write_txn().expect("LMDB begins");
        for (id, values) in (first..).zip(tensors) {
            let bytes = bytemuck::cast_slice(values);
            self.tensors.put(&mut transaction, &id.to_be_bytes(), bytes).expect("LMDB puts");
        }
        transaction.commit().expect("LMDB commits");
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

impl Reads for Lmdb {
    fn read(&self, id: u128, out: &mut [f32]) {
        self.with(id, |bytes| floats(bytes, out));
    }
}
