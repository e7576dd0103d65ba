//! Scripts: operations generated from a seed, and the values they put.

use std::sync::Arc;

use bitgrain_store::storage::simulated::Dice;
use bitgrain_store::{TensorId, Tier};

/// One operation.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    Put(Put),
    Append {
        id: TensorId,
        shape: Vec<usize>,
        values: Arc<[f32]>,
    },
    Delete {
        id: TensorId,
    },
    Batch(Vec<Op>),
    Pin {
        id: TensorId,
        tier: Option<Tier>,
    },
    /// A tensor without data, with the shape of the tensor it is reconstructed from.
    Absent {
        id: TensorId,
        base: TensorId,
    },
    /// User metadata edit.
    Note {
        id: TensorId,
        pairs: Vec<(String, String)>,
    },
    /// Reads, so that the policy sees accesses.
    Read {
        id: TensorId,
    },
    /// Advances the clock by this many milliseconds and ticks.
    Tick {
        later: u64,
    },
    Compact {
        all: bool,
    },
    Flush,
    /// Closes the store cleanly and reopens it.
    Reopen,
    /// Kills the process after its writes; another process opens the store.
    Kill,
}

impl Op {
    /// Returns whether this change replaces all data of an earlier one.
    pub(crate) fn replaces(&self, earlier: &Self) -> bool {
        let id = |op: &Self| match op {
            Self::Put(put) => Some(put.id.clone()),
            Self::Delete { id } => Some(id.clone()),
            _ => None,
        };
        id(self).is_some() && id(self) == id(earlier)
    }
}

/// A tensor to put.
#[derive(Debug, Clone)]
pub(crate) struct Put {
    pub(crate) id: TensorId,
    pub(crate) shape: Vec<usize>,
    pub(crate) values: Arc<[f32]>,
    pub(crate) tier: Option<Tier>,
    pub(crate) pin: Option<Tier>,
    pub(crate) lossless: bool,
    pub(crate) user: Option<Vec<(String, String)>>,
}

/// Returns `len` operations of every kind.
pub(crate) fn script(seed: u64, len: usize) -> Vec<Op> {
    let mut dice = Dice::part(seed, 1);
    (0..len).map(|_| any(&mut dice)).collect()
}

/// Returns write `number` of thread `writer`, on tensors that only this thread writes.
pub(crate) fn write(seed: u64, writer: usize, number: usize) -> Op {
    let mut dice = Dice::part(seed ^ ((writer as u64) << 48), 100 + number as u64);
    let op = match dice.below(20) {
        0..12 => Op::Put(put(&mut dice)),
        12..15 => append(&mut dice),
        15 => Op::Delete { id: tensor_id(&mut dice) },
        _ => Op::Batch((0..3).map(|_| simple(&mut dice)).collect()),
    };
    owned(op, writer)
}

/// Returns the same operation on the tensors of one writer.
fn owned(op: Op, writer: usize) -> Op {
    let own = |id: TensorId| TensorId::from(format!("w{writer}/{id}"));
    match op {
        Op::Put(put) => Op::Put(Put { id: own(put.id), ..put }),
        Op::Append { id, shape, values } => Op::Append { id: own(id), shape, values },
        Op::Delete { id } => Op::Delete { id: own(id) },
        Op::Batch(ops) => Op::Batch(ops.into_iter().map(|op| owned(op, writer)).collect()),
        op => op,
    }
}

fn any(dice: &mut Dice) -> Op {
    match dice.below(100) {
        0..40 => Op::Put(put(dice)),
        40..52 => append(dice),
        52..55 => {
            let id = TensorId::from(format!("r/{}", dice.below(2)));
            if dice.chance(30) { Op::Delete { id } } else { Op::Absent { id, base: tensor_id(dice) } }
        }
        55..60 => Op::Delete { id: tensor_id(dice) },
        60..68 => Op::Batch((0..2 + dice.below(3)).map(|_| simple(dice)).collect()),
        68..71 => Op::Pin { id: tensor_id(dice), tier: (*dice.pick(&[None, Some(Tier::Hot), Some(Tier::Warm)])) },
        71..73 => Op::Note { id: tensor_id(dice), pairs: vec![("of".into(), dice.below(1000).to_string())] },
        73..76 => Op::Read { id: tensor_id(dice) },
        76..84 => Op::Tick { later: *dice.pick(&[1000, 60_000, 3_600_000, 40_000_000]) },
        84..91 => Op::Compact { all: dice.chance(40) },
        91..95 => Op::Flush,
        95..98 => Op::Reopen,
        _ => Op::Kill,
    }
}

/// Returns an operation that is allowed in a batch.
fn simple(dice: &mut Dice) -> Op {
    match dice.below(10) {
        0..6 => Op::Put(put(dice)),
        6..8 => append(dice),
        _ => Op::Delete { id: tensor_id(dice) },
    }
}

fn tensor_id(dice: &mut Dice) -> TensorId {
    match dice.below(8) {
        number @ 0..2 => TensorId::from(number as u128),
        name => TensorId::from(format!("t/{name}")),
    }
}

fn put(dice: &mut Dice) -> Put {
    let shape = match dice.below(20) {
        0 => vec![0],
        1 => vec![],
        2..8 => vec![1 + dice.below(7)],
        8..14 => vec![2 + dice.below(3), 40],
        14..18 => vec![100 + dice.below(400)],
        18 => vec![3, 7, 30],
        // More than one chunk of 16 KiB when it is lossless.
        _ => vec![17_000],
    };
    let lossless = dice.chance(20);
    let id = tensor_id(dice);
    let tier =
        (!lossless).then(|| *dice.pick(&[None, None, Some(Tier::Hot), Some(Tier::Warm), Some(Tier::Cold)])).flatten();
    let pin = dice.chance(10).then_some(Tier::Warm);
    let user = dice.chance(20).then(|| vec![("note".into(), dice.below(1000).to_string())]);
    let values = values(dice.roll(), shape.iter().product());
    Put { id, values, shape, tier, pin, lossless, user }
}

fn append(dice: &mut Dice) -> Op {
    let which = dice.below(3);
    let shape = vec![[5, 64, 200][which]];
    // Similar frames now and then, so that scales are shared and differences encoded.
    let base = values(which as u64, shape[0]);
    let (noise, step) = (values(dice.roll(), shape[0]), *dice.pick(&[0.0, 0.01, 0.01, 1.0]));
    let values = base.iter().zip(&*noise).map(|(base, noise)| 300.0 + base + step * noise).collect();
    Op::Append { id: TensorId::from(format!("f/{which}")), shape, values }
}

/// Returns reproducible values of any magnitude and both signs, some of them zero.
pub(crate) fn values(seed: u64, len: usize) -> Arc<[f32]> {
    let mut dice = Dice::part(seed, 2);
    let size = *dice.pick(&[1.0_f32, 1e-3, 1e6]);
    let sparse = dice.chance(20);
    (0..len)
        .map(|_| {
            let unit = f32::from(u16::try_from(dice.below(65_536)).unwrap_or(0)) / 32_768.0 - 1.0;
            if sparse && dice.chance(70) { 0.0 } else { unit * size }
        })
        .collect()
}
