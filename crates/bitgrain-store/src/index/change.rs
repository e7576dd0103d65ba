//! What a record changes in the index, once it counts.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::{Entry, Shard, Traits};
use crate::Tier;
use crate::id::Key;
use crate::policy::Usage;
use crate::segment::Place;

/// What a record changes.
#[derive(Debug)]
pub(crate) enum Change {
    /// A tensor is there, new or instead of what was there. Its use goes on.
    Tensor {
        /// Its key.
        key: Key,
        /// Its record.
        place: Place,
        /// When the data came to its tier.
        changed_at: u64,
        /// What else the record says.
        traits: Traits,
        /// Values and bound, if they are known.
        facts: Option<(u64, f32)>,
    },
    /// A temporal tensor has one frame more.
    Frame {
        /// Its key.
        key: Key,
        /// The record of the frame.
        place: Place,
        /// Its place among the frames.
        index: u64,
        /// Its tier.
        tier: Tier,
    },
    /// A tensor and its frames are gone.
    Delete {
        /// Its key.
        key: Key,
    },
}

/// A frame that does not go with what is there: one before it is missing, or its tensor.
#[derive(Debug)]
pub(crate) struct Stray {
    /// The key of its tensor.
    pub(crate) key: Key,
    /// The record of the frame.
    pub(crate) place: Place,
    /// Its place among the frames.
    pub(crate) index: u64,
}

impl Change {
    /// True if frames that were there before do not matter any more.
    pub(super) fn replaces_frames(&self) -> bool {
        match self {
            Self::Tensor { traits, .. } => !traits.temporal,
            Self::Frame { .. } => false,
            Self::Delete { .. } => true,
        }
    }

    /// The tensor that changes.
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Self::Tensor { key, .. } | Self::Frame { key, .. } | Self::Delete { key } => key,
        }
    }

    /// Changes `shard`, the one of `hash`. The place of a frame that does not go with what is there comes back.
    pub(super) fn apply(self, hash: u64, shard: &mut Shard, hasher: &DefaultHashBuilder) -> Option<Stray> {
        self.apply_with(hash, shard, hasher, |_| None)
    }

    /// As [`apply`](Self::apply), where `use_of` says how a tensor was used that came to its tier at a time.
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
                    entry.learn_if(facts);
                    shard.insert(hash, entry, hasher);
                    return None;
                };
                if traits.temporal && entry.traits.temporal && entry.frames.is_some() {
                    // Frames may have fewer bits than the first one, whose tier the record has.
                    traits.tier = traits.tier.max(entry.traits.tier);
                }
                entry.place.count_out();
                entry.place = place;
                entry.headless = false;
                entry.changed_at = changed_at;
                if let Some(usage) = use_of(changed_at) {
                    entry.usage.store(usage);
                }
                // A wish that was made for other data, or under another pin, no longer holds.
                if (entry.traits.tier, entry.traits.pinned) != (traits.tier, traits.pinned) {
                    entry.want(traits.tier);
                }
                entry.traits = traits;
                entry.forget_facts();
                entry.learn_if(facts);
                if !traits.temporal
                    && let Some(frames) = entry.frames.take()
                {
                    frames.iter().for_each(Place::count_out);
                }
                None
            }
            Self::Frame { key, place, index, tier } => {
                if index == 0 && shard.find(hash, &key).is_none() {
                    shard.insert(hash, headless(key.clone(), place.clone()), hasher);
                }
                let Some(entry) = shard.find_mut(hash, &key).filter(|entry| entry.traits.temporal) else {
                    return Some(Stray { key, place, index });
                };
                let frames = Arc::make_mut(entry.frames.get_or_insert_default());
                if index == 0 {
                    // Frames that are there were deleted, in a record that is damaged: nothing may mix both.
                    frames.drain(..).for_each(|old| old.count_out());
                } else if index != frames.len() as u64 {
                    return Some(Stray { key, place, index });
                }
                place.count_in();
                frames.push(place);
                entry.traits.tier = if index == 0 { tier } else { entry.traits.tier.max(tier) };
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

/// An entry for frames whose tensor comes later.
fn headless(key: Key, place: Place) -> Entry {
    place.count_in(); // counted out when the tensor comes
    let traits = Traits { tier: Tier::Hot, pinned: None, reconstructable: false, temporal: true, max_error: None };
    let mut entry = Entry::new(key, place, 0, traits, Usage::default());
    entry.headless = true;
    entry
}
