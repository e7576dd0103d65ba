//! Runs operations on a store, and describes them for messages.

use bitgrain_store::reconstruct::{DeltaValues, Reconstruction};
use bitgrain_store::{CompactOptions, Dependents, PutOptions, StoreError, TensorStore};

use crate::script::{Op, Put};

/// Runs one operation.
///
/// # Errors
/// Returns the error of the store.
pub(crate) fn execute(store: &TensorStore, op: &Op, now: u64) -> Result<(), StoreError> {
    match op {
        Op::Put(put) => store.put_with(&put.id, &put.shape, &put.values, &options(put)).map(drop),
        Op::Append { id, shape, values } => store.append(id, shape, values, now).map(drop),
        Op::Delete { id } => store.delete(id, Dependents::Refuse).map(drop),
        Op::Pin { id, tier } => store.pin(id, *tier).map(drop),
        Op::Absent { id, base } => {
            let shape = store.meta(base)?.shape;
            let values = DeltaValues::Delta(vec![0.5; shape.iter().product()]);
            store.put_absent(id, &shape, &Reconstruction::Delta { base: base.clone(), values })
        }
        Op::Note { id, pairs } => store.set_user(id, pairs),
        Op::Read { id } => store.get(id).map(drop),
        Op::Tick { .. } => store.tick(now).map(drop),
        Op::Compact { all } => store.compact(CompactOptions { all: *all, ..CompactOptions::default() }).map(drop),
        Op::Flush => store.flush(),
        Op::Batch(ops) => {
            let mut batch = store.batch();
            for op in ops {
                match op {
                    Op::Put(put) => batch.put_with(&put.id, &put.shape, &put.values, &options(put)).map(drop)?,
                    Op::Append { id, shape, values } => batch.append(id, shape, values, now),
                    Op::Delete { id } => batch.delete(id),
                    _ => unreachable!("a batch has no {op:?}"),
                }
            }
            batch.commit().map(drop)
        }
        Op::Reopen | Op::Kill => unreachable!("a store cannot do {op:?}"),
    }
}

fn options(put: &Put) -> PutOptions {
    PutOptions { tier: put.tier, pin: put.pin, lossless: put.lossless, user: put.user.clone(), ..PutOptions::default() }
}

/// Describes an operation without its values.
pub(crate) fn brief(op: &Op, error: Option<&StoreError>) -> String {
    let what = match op {
        Op::Put(put) => format!("put {} {:?} tier {:?} lossless {}", put.id, put.shape, put.tier, put.lossless),
        Op::Append { id, shape, .. } => format!("append {id} {shape:?}"),
        Op::Batch(ops) => format!("batch [{}]", ops.iter().map(|op| brief(op, None)).collect::<Vec<_>>().join(", ")),
        op => format!("{op:?}"),
    };
    error.map_or(what.clone(), |error| format!("{what}: {error}"))
}
