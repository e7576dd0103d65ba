//! The reference: a plain map with the original values and metadata.

use std::collections::BTreeMap;
use std::sync::Arc;

use bitgrain_store::{Provenance, TensorId, Tier};

use crate::script::{Op, Put};

/// Values of one put or append, and their metadata at that time.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) values: Arc<[f32]>,
    /// Accuracy recorded by the store; `None` if the operation failed, so that any consistent value is accepted.
    pub(crate) recorded: Option<Recorded>,
}

/// Accuracy of the data in a record.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Recorded {
    pub(crate) tier: Tier,
    pub(crate) bound: f32,
    pub(crate) measured: f32,
}

impl From<Provenance> for Recorded {
    fn from(from: Provenance) -> Self {
        Self { tier: from.tier, bound: from.bound, measured: from.measured }
    }
}

/// A tensor as it was acknowledged: one part, or a part for each frame if it is temporal.
#[derive(Debug, Clone)]
pub(crate) struct Version {
    pub(crate) shape: Vec<usize>,
    pub(crate) parts: Vec<Part>,
    pub(crate) temporal: bool,
    pub(crate) pinned: Option<Tier>,
    pub(crate) user: Vec<(String, String)>,
}

/// Possible contents of a store. An id with several versions may have any of them, independently of other ids.
#[derive(Debug, Clone, Default)]
pub(crate) struct World(pub(crate) BTreeMap<TensorId, Vec<Arc<Version>>>);

impl World {
    /// Returns the newest version of `id`.
    pub(crate) fn version(&self, id: &TensorId) -> Option<&Arc<Version>> {
        self.0.get(id).and_then(|versions| versions.last())
    }

    pub(crate) fn set(&mut self, id: TensorId, version: Version) {
        self.0.insert(id, vec![Arc::new(version)]);
    }

    /// Applies `op`, without knowledge of what the store records.
    pub(crate) fn after(&self, op: &Op) -> Self {
        let mut world = self.clone();
        match op {
            Op::Put(Put { id, shape, values, pin, user, .. }) => {
                let parts = vec![Part { values: Arc::clone(values), recorded: None }];
                // Metadata is kept unless the operation sets it.
                let (pinned, noted) = world.version(id).map_or((None, vec![]), |old| (old.pinned, old.user.clone()));
                let (pinned, user) = (pin.or(pinned), user.clone().unwrap_or(noted));
                world.set(id.clone(), Version { shape: shape.clone(), parts, temporal: false, pinned, user });
            }
            Op::Append { id, shape, values } => {
                let empty = Version { shape: shape.clone(), parts: vec![], temporal: true, pinned: None, user: vec![] };
                let mut version = world.version(id).map_or(empty, |version| Version::clone(version));
                version.parts.push(Part { values: Arc::clone(values), recorded: None });
                world.set(id.clone(), version);
            }
            Op::Delete { id } => drop(world.0.remove(id)),
            Op::Pin { id, tier } => {
                if let Some(version) = world.version(id) {
                    let version = Version { pinned: *tier, ..Version::clone(version) };
                    world.set(id.clone(), version);
                }
            }
            Op::Absent { id, base } => {
                if let Some(shape) = world.version(base).map(|base| base.shape.clone()) {
                    let recorded = Some(Recorded { tier: Tier::Absent, bound: 0.0, measured: 0.0 });
                    let parts = vec![Part { values: [].into(), recorded }];
                    let user = world.version(id).map_or(vec![], |old| old.user.clone());
                    world.set(id.clone(), Version { shape, parts, temporal: false, pinned: None, user });
                }
            }
            Op::Note { id, pairs } => {
                if let Some(version) = world.version(id) {
                    let version = Version { user: pairs.clone(), ..Version::clone(version) };
                    world.set(id.clone(), version);
                }
            }
            Op::Batch(ops) => {
                // Of several changes to one tensor in a batch, only the last counts.
                let replaced = |at: usize| ops[at + 1..].iter().any(|later| later.replaces(&ops[at]));
                let counting: Vec<&Op> = (0..ops.len()).filter(|at| !replaced(*at)).map(|at| &ops[at]).collect();
                // Atomic: if there is nothing to delete, no other change is applied either.
                let missing = |op: &&Op| matches!(op, Op::Delete { id } if !self.0.contains_key(id));
                if !counting.iter().any(missing) {
                    world = counting.into_iter().fold(world, |world, op| world.after(op));
                }
            }
            Op::Read { .. } | Op::Tick { .. } | Op::Compact { .. } | Op::Flush | Op::Reopen | Op::Kill => {}
        }
        world
    }

    /// Each id may match either world: an operation that is not atomic was in progress.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let mut both = self.clone();
        for (id, versions) in &other.0 {
            let known = both.0.entry(id.clone()).or_default();
            known.extend(
                versions
                    .iter()
                    .filter(|new| !known.iter().any(|old| Arc::ptr_eq(old, new)))
                    .cloned()
                    .collect::<Vec<_>>(),
            );
        }
        both
    }
}

impl Part {
    /// Returns whether both are bit-identical.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let bits = |part: &Self| part.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        bits(self) == bits(other) && self.recorded == other.recorded
    }

    /// Checks that the values read match the values put, within their bound.
    pub(crate) fn is(&self, original: &Self) -> Result<(), String> {
        let got = self.recorded.expect("what was read has a provenance");
        if let Some(want) = original.recorded
            && want != got
        {
            return Err(format!("{got:?} where {want:?} was acknowledged"));
        }
        if self.values.len() != original.values.len() {
            return Err(format!("{} values, not {}", self.values.len(), original.values.len()));
        }
        if !(got.measured <= got.bound && got.bound.is_finite()) {
            return Err(format!("{got:?} cannot be"));
        }
        for (at, (value, original)) in self.values.iter().zip(&*original.values).enumerate() {
            let error = (f64::from(*value) - f64::from(*original)).abs();
            if error.is_nan() || error > f64::from(got.measured) {
                return Err(format!("value {at} is {value}, was {original}, error {error:e} above {got:?}"));
            }
        }
        Ok(())
    }
}
