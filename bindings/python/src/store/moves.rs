//! Lists of a tick that become Python objects only as far as they are looked at: a tick may move a million tensors, and to
//! make as many objects would hold the interpreter's lock for seconds.

use std::collections::BTreeMap;

use bitgrain::store::policy::Reason;
use bitgrain::store::{TensorId, Tier, TierMove};
use pyo3::prelude::*;

use super::id::Id;

/// Id, from, to, reason, bytes: `TierMove`.
#[derive(IntoPyObject)]
pub(super) struct Moved(Id, &'static str, &'static str, &'static str, u64);

impl From<&TierMove> for Moved {
    fn from(of: &TierMove) -> Self {
        let reason = match of.reason {
            Reason::Use => "use",
            Reason::WarmCap => "warm-cap",
        };
        Self(Id(of.id.clone()), of.from.name(), of.to.name(), reason, of.bytes)
    }
}

/// Tensors that got fewer bits, or would get them.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct StoreMoves(pub(super) Vec<TierMove>);

#[pymethods]
impl StoreMoves {
    fn count(&self) -> usize {
        self.0.len()
    }

    /// Moves from `start` to `stop`, both at most the count.
    fn part(&self, start: usize, stop: usize) -> Vec<Moved> {
        self.0.get(start..stop).unwrap_or_default().iter().map(Moved::from).collect()
    }

    /// How many moves there are from each tier to each other.
    fn totals(&self, py: Python<'_>) -> Vec<(&'static str, &'static str, usize)> {
        py.detach(|| {
            let mut totals: BTreeMap<(Tier, Tier), usize> = BTreeMap::new();
            for TierMove { from, to, .. } in &self.0 {
                *totals.entry((*from, *to)).or_default() += 1;
            }
            totals.into_iter().map(|((from, to), count)| (from.name(), to.name(), count)).collect()
        })
    }
}

/// Tensors whose next write would have another tier.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct StoreWishes(pub(super) Vec<(TensorId, Tier)>);

#[pymethods]
impl StoreWishes {
    fn count(&self) -> usize {
        self.0.len()
    }

    /// Wishes from `start` to `stop`, both at most the count.
    fn part(&self, start: usize, stop: usize) -> Vec<(Id, &'static str)> {
        let part = self.0.get(start..stop).unwrap_or_default();
        part.iter().map(|(id, tier)| (Id(id.clone()), tier.name())).collect()
    }
}
