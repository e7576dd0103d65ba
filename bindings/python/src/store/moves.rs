//! Lists of a tick that are converted to Python objects on access. A tick may move a million tensors, and converting
//! all of them would hold the GIL for seconds.

use std::collections::BTreeMap;

use bitgrain::store::policy::Reason;
use bitgrain::store::{TensorId, Tier, TierMove};
use pyo3::prelude::*;

use super::id::Id;

/// Id, from, to, reason, bytes, start and end of the frames: `TierMove`.
#[derive(IntoPyObject)]
pub(super) struct Moved(Id, &'static str, &'static str, &'static str, u64, Option<(u64, u64)>);

impl From<&TierMove> for Moved {
    fn from(of: &TierMove) -> Self {
        let reason = match of.reason {
            Reason::Use => "use",
            Reason::WarmCap => "warm-cap",
            Reason::Budget => "budget",
        };
        let frames = of.frames.as_ref().map(|frames| (frames.start, frames.end));
        Self(Id(of.id.clone()), of.from.name(), of.to.name(), reason, of.bytes, frames)
    }
}

/// Tensors that a tick re-encodes with fewer bits.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct StoreMoves(pub(super) Vec<TierMove>);

#[pymethods]
impl StoreMoves {
    fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the moves in `start..stop`, or an empty list if the range is out of bounds.
    fn part(&self, start: usize, stop: usize) -> Vec<Moved> {
        self.0.get(start..stop).unwrap_or_default().iter().map(Moved::from).collect()
    }

    /// Counts the moves per pair of tiers.
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

/// Tensors whose wanted tier changes.
#[pyclass(frozen, module = "bitgrain._native")]
pub(crate) struct StoreWantedTiers(pub(super) Vec<(TensorId, Tier)>);

#[pymethods]
impl StoreWantedTiers {
    fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the wanted tiers in `start..stop`, or an empty list if the range is out of bounds.
    fn part(&self, start: usize, stop: usize) -> Vec<(Id, &'static str)> {
        let part = self.0.get(start..stop).unwrap_or_default();
        part.iter().map(|(id, tier)| (Id(id.clone()), tier.name())).collect()
    }
}
