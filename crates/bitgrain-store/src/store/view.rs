//! What readers need to know of a tensor, taken out of the index in one go.

use std::sync::Arc;

use crate::Tier;
use crate::index::{Entry, Traits};
use crate::policy::Usage;
use crate::segment::Place;

/// A tensor as the index has it at one moment. Holding it keeps its records readable.
#[derive(Debug, Clone)]
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) traits: Traits,
    pub(super) usage: Usage,
    pub(super) wanted: Tier,
    pub(super) frames: Option<Arc<Vec<Place>>>,
}

impl Found {
    pub(super) fn of(entry: &Entry) -> Self {
        Self {
            place: entry.place.clone(),
            traits: entry.traits,
            usage: entry.usage.load(),
            wanted: entry.wanted(),
            frames: entry.frames.clone(),
        }
    }

    /// Bytes of all of its records.
    pub(super) fn bytes(&self) -> u64 {
        self.place.len + self.frames.iter().flat_map(|frames| frames.iter()).map(|frame| frame.len).sum::<u64>()
    }
}
