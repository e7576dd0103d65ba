//! Changes of the index that follow from records.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::{Entry, Shard, Traits};
use crate::Tier;
use crate::id::Key;
use crate::policy::Usage;
use crate::segment::Place;

/// A change of the index.
#[derive(Debug)]
pub(crate) enum Change {
    /// A tensor was put, new or replacing another. Its usage continues.
    Tensor {
        /// Key of the tensor.
        key: Key,
        /// Location of its record.
        place: Place,
        /// Time at which the data reached its tier.
        changed_at: u64,
        /// Other properties from the record.
        traits: Traits,
        /// Number of values and bound, if known.
        facts: Option<(u64, f32)>,
    },
    /// A frame was appended to a temporal tensor, or re-encoded.
    Frame {
        /// Key of the tensor.
        key: Key,
        /// Location of the frame's record.
        place: Place,
        /// 0-based index of the frame.
        index: u64,
        /// Tier of the frame.
        tier: Tier,
        /// For a frame that was re-encoded: sequence number of the first record of frame 0.
        rewritten: Option<u64>,
    },
    /// A tensor was deleted with its frames.
    Delete {
        /// Key of the tensor.
        key: Key,
    },
}

/// A frame without its tensor or without the frame before it.
#[derive(Debug)]
pub(crate) struct Stray {
    /// Key of its tensor.
    pub(crate) key: Key,
    /// Location of the frame's record.
    pub(crate) place: Place,
    /// 0-based index of the frame.
    pub(crate) index: u64,
    /// Tier of the frame.
    pub(crate) tier: Tier,
}

impl Change {
    /// Returns whether earlier frames of the tensor become irrelevant.
    pub(super) fn replaces_frames(&self) -> bool {
        match self {
            Self::Tensor { traits, .. } => !traits.temporal,
            Self::Frame { .. } => false,
            Self::Delete { .. } => true,
        }
    }

    /// Returns the key of the tensor.
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Self::Tensor { key, .. } | Self::Frame { key, .. } | Self::Delete { key } => key,
        }
    }

    /// Applies the change to `shard`, the shard of `hash`. Returns the frame if it does not fit the current state.
    pub(super) fn apply(self, hash: u64, shard: &mut Shard, hasher: &DefaultHashBuilder) -> Option<Stray> {
        self.apply_with(hash, shard, hasher, |_| None)
    }

    /// Like [`apply`](Self::apply), where `use_of` derives the usage of a new tensor from the time of its record.
    pub(super) fn apply_with(
        self,
        hash: u64,
        shard: &mut Shard,
        hasher: &DefaultHashBuilder,
        use_of: impl Fn(u64) -> Option<Usage>,
    ) -> Option<Stray> {
        match self {
            Self::Tensor { key, place, changed_at, mut traits, facts } => {
                place.count_in();
                let Some(entry) = shard.find_mut(hash, &key) else {
                    let usage = use_of(changed_at).unwrap_or_default();
                    let entry = Entry::new(key, place, changed_at, traits, usage);
                    entry.set_facts_if(facts);
                    shard.insert(hash, entry, hasher);
                    return None;
                };
                if traits.temporal && entry.traits.temporal && entry.frames.is_some() {
                    // Frames may have fewer bits than the first frame, whose tier the record has.
                    traits.tier = traits.tier.max(entry.traits.tier);
                }
                entry.place.count_out();
                entry.place = place;
                entry.headless = false;
                entry.changed_at = changed_at;
                if let Some(usage) = use_of(changed_at) {
                    entry.usage.store(usage);
                }
                // A wanted tier that was decided for other data or another pin is obsolete.
                if (entry.traits.tier, entry.traits.pinned) != (traits.tier, traits.pinned) {
                    entry.forget_wanted_tier();
                }
                entry.traits = traits;
                entry.clear_facts();
                entry.set_facts_if(facts);
                if !traits.temporal
                    && let Some(frames) = entry.frames.take()
                {
                    frames.iter().for_each(Place::count_out);
                }
                None
            }
            Self::Frame { key, place, index, tier, rewritten } => {
                if index == 0 && shard.find(hash, &key).is_none() {
                    shard.insert(hash, headless(key.clone(), place.clone()), hasher);
                }
                let Some(entry) = shard.find_mut(hash, &key).filter(|entry| entry.traits.temporal) else {
                    return Some(Stray { key, place, index, tier });
                };
                let frames = Arc::make_mut(entry.frames.get_or_insert_default());
                let others = rewritten.is_some_and(|first| frames.iter().any(|old| old.sequence < first));
                if others || index == 0 && rewritten.is_none() {
                    // The existing frames were deleted in a record that is now damaged; the two sets must not mix.
                    frames.drain(..).for_each(|old| old.count_out());
                }
                let at = usize::try_from(index).unwrap_or(usize::MAX);
                if rewritten.is_some() && at < frames.len() {
                    frames[at].count_out();
                    place.count_in();
                    frames[at] = place;
                } else if at == frames.len() {
                    place.count_in();
                    frames.push(place);
                } else {
                    return Some(Stray { key, place, index, tier });
                }
                // Re-encoding only lowers tiers, so the lowest one of all records is that of the live ones. Evicted frames do
                // not count: their data may return.
                if tier != Tier::Absent {
                    entry.traits.tier = if frames.len() == 1 { tier } else { entry.traits.tier.max(tier) };
                }
                None
            }
            Self::Delete { key } => {
                if let Some(entry) = shard.remove(hash, &key) {
                    entry.places().for_each(Place::count_out);
                }
                None
            }
        }
    }
}

/// Creates an entry for frames whose tensor record comes later.
fn headless(key: Key, place: Place) -> Entry {
    place.count_in(); // balanced by `count_out` when the tensor record arrives
    let traits = Traits { tier: Tier::Hot, pinned: None, reconstructable: false, temporal: true, max_error: None };
    let mut entry = Entry::new(key, place, 0, traits, Usage::default());
    entry.headless = true;
    entry
}
