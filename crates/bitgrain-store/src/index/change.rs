//! What a record changes in the index, once it counts.

use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::{Entry, Shard, Traits};
use crate::Tier;
use crate::policy::Usage;
use crate::segment::Place;

/// What a record changes.
#[derive(Debug)]
pub(crate) enum Change {
    /// A tensor is there, new or instead of what was there. Its use goes on.
    Tensor {
        /// Its key.
        key: Box<[u8]>,
        /// Its record.
        place: Place,
        /// When the data came to its tier.
        changed_at: u64,
        /// What else the record says.
        traits: Traits,
        /// Values and bound, if they are known.
        facts: Option<(u64, f32)>,
    },
    /// A temporal tensor has one frame more, or another record of one.
    Frame {
        /// Its key.
        key: Box<[u8]>,
        /// The record of the frame.
        place: Place,
        /// Its place among the frames.
        index: u64,
    },
    /// A tensor and its frames are gone.
    Delete {
        /// Its key.
        key: Box<[u8]>,
    },
}

impl Change {
    /// The tensor that changes.
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Self::Tensor { key, .. } | Self::Frame { key, .. } | Self::Delete { key } => key,
        }
    }

    /// Changes `shard`, the one of `hash`. False if it is about a frame that does not go with what is there.
    pub(super) fn apply(self, hash: u64, shard: &mut Shard, hasher: &DefaultHashBuilder) -> bool {
        match self {
            Self::Tensor { key, place, changed_at, traits, facts } => {
                place.count_in();
                let Some(entry) = shard.find_mut(hash, &key) else {
                    let entry = Entry::new(key, place, changed_at, traits, Usage::default());
                    entry.learn_if(facts);
                    shard.insert(hash, entry, hasher);
                    return true;
                };
                entry.place.count_out();
                entry.place = place;
                entry.headless = false;
                entry.changed_at = changed_at;
                if entry.traits.tier != traits.tier {
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
                true
            }
            Self::Frame { key, place, index } => {
                if index == 0 && shard.find(hash, &key).is_none() {
                    shard.insert(hash, headless(key.clone(), place.clone()), hasher);
                }
                let Some(entry) = shard.find_mut(hash, &key).filter(|entry| entry.traits.temporal) else {
                    return false;
                };
                let frames = Arc::make_mut(entry.frames.get_or_insert_default());
                let Some(at) = usize::try_from(index).ok().filter(|at| *at <= frames.len()) else { return false };
                place.count_in();
                if let Some(old) = frames.get_mut(at) {
                    old.count_out();
                    *old = place;
                } else {
                    frames.push(place);
                }
                true
            }
            Self::Delete { key } => {
                if let Some(entry) = shard.remove(hash, &key) {
                    entry.places().for_each(Place::count_out);
                }
                true
            }
        }
    }
}

/// An entry for frames whose tensor comes later.
fn headless(key: Box<[u8]>, place: Place) -> Entry {
    place.count_in(); // counted out when the tensor comes
    let traits = Traits { tier: Tier::Hot, pinned: None, reconstructable: false, temporal: true, max_error: None };
    let mut entry = Entry::new(key, place, 0, traits, Usage::default());
    entry.headless = true;
    entry
}
