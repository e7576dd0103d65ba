//! The model: values as put, pins, limits, and the last observed tiers.

use std::collections::BTreeMap;

use bitgrain_store::{Provenance, Snapshot, StoreError, TensorMeta, TensorStore, Tier};

use super::distance;

pub(crate) const SHAPE: [usize; 2] = [4, 48];

/// Expected state of one tensor.
#[derive(Debug, Clone, Default)]
pub(crate) struct Known {
    /// Values as put or appended, with one frame per append.
    pub(crate) originals: Vec<Vec<f32>>,
    pub(crate) temporal: bool,
    pub(crate) pin: Option<Tier>,
    pub(crate) max_error: Option<f32>,
    pub(crate) reconstructable: bool,
    /// Last observed tier of the data and of each frame.
    pub(crate) tier: Option<Tier>,
    pub(crate) frame_tiers: Vec<Tier>,
}

impl Known {
    /// Returns the pin if it is a tier with data.
    pub(crate) fn floor(&self) -> Option<Tier> {
        self.pin.filter(|pin| *pin != Tier::Absent)
    }
}

/// Expected state of all tensors.
pub(crate) type World = BTreeMap<&'static str, Known>;

/// Whether tiers may have fewer bits than last observed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Since {
    Tick,
    Other,
}

/// Compares a store with the model. Does not count as access.
pub(crate) fn check(store: &TensorStore, world: &mut World, since: Since) {
    let snapshot = store.snapshot();
    assert_eq!(snapshot.len(), world.len(), "{:?} and {:?}", snapshot.ids(), world.keys());
    for (id, known) in world.iter_mut() {
        let meta = snapshot.meta(*id).expect("there");
        assert_eq!((meta.pinned, meta.max_error), (known.pin, known.max_error), "{id}");
        assert_eq!(meta.reconstructable, known.reconstructable, "{id}");
        check_tier(id, known, meta.provenance.tier, since);
        let bounds = check_values(&snapshot, id, known, &meta, since);
        if let Some(limit) = known.max_error {
            assert!(bounds <= limit, "{id}: a bound of {bounds} above the limit {limit}");
        }
        known.tier = Some(meta.provenance.tier);
    }
}

/// Checks that only a tick lowered a tier, not below the pin, and not to absent without a reconstruction.
fn check_tier(id: &str, known: &Known, tier: Tier, since: Since) {
    if let Some(before) = known.tier.filter(|before| *before != tier) {
        assert_eq!(since, Since::Tick, "{id} went from {before:?} to {tier:?} without a tick");
        assert!(tier > before, "{id} went from {before:?} to {tier:?} without new values");
        assert!(known.pin.is_none_or(|pin| tier <= pin), "{id} fell to {tier:?}, pinned to {:?}", known.pin);
        assert!(before != Tier::Lossless || known.temporal, "{id} fell to {tier:?}");
    }
    assert!(tier != Tier::Absent || known.reconstructable, "{id} has no data");
}

/// Checks that every value is within its bound; returns the largest bound.
fn check_values(snapshot: &Snapshot, id: &str, known: &mut Known, meta: &TensorMeta, since: Since) -> f32 {
    if !known.temporal {
        assert_eq!(meta.frames, None, "{id}");
        let tensor = snapshot.get(id).expect("readable");
        assert_eq!(tensor.shape, SHAPE, "{id}");
        within(id, &known.originals[0], &tensor.values, &tensor.provenance);
        return tensor.provenance.bound;
    }
    let frames = snapshot.frames(id, 0..known.originals.len() as u64).expect("readable");
    assert_eq!(meta.frames, Some(frames.len() as u64), "{id}");
    for ((frame, original), was) in frames.iter().zip(&known.originals).zip(&mut known.frame_tiers) {
        within(id, original, &frame.values, &frame.provenance);
        let tier = frame.provenance.tier;
        if tier != *was {
            let what = format!("{id}, frame {}: {was:?} to {tier:?}", frame.index);
            assert!(since == Since::Tick && tier > *was && *was != Tier::Lossless, "{what}");
            assert!(known.pin.is_none_or(|pin| tier <= pin), "{what}, pinned to {:?}", known.pin);
        }
        *was = tier;
    }
    assert_eq!(Some(&meta.provenance.tier), known.frame_tiers.iter().max(), "{id}");
    let last = snapshot.get(id).expect("readable");
    assert_eq!(last.values, frames[frames.len() - 1].values, "{id}");
    frames.iter().map(|frame| frame.provenance.bound).fold(0.0, f32::max)
}

pub(crate) fn within(id: &str, original: &[f32], read: &[f32], provenance: &Provenance) {
    let error = distance(original, read);
    assert!(error <= provenance.bound, "{id}: an error of {error} with {provenance:?}");
    assert!(
        provenance.bound.is_finite() && (error == 0.0 || provenance.tier != Tier::Lossless),
        "{id}: {provenance:?}"
    );
}

/// State that must survive reopening.
pub(crate) fn lasting(store: &TensorStore) -> Result<Vec<TensorMeta>, StoreError> {
    let lasting = |meta: TensorMeta| TensorMeta { score: 0.0, ..meta };
    store.scan(None).map(|meta| meta.map(lasting)).collect()
}
