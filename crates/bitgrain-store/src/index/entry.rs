//! What memory holds of a tensor.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::Tier;
use crate::id::Key;
use crate::policy::{SharedUsage, Usage};
use crate::segment::Place;

/// What memory holds of a tensor: less than 200 bytes with id and table. Shape and the rest are in its record.
#[derive(Debug)]
pub(crate) struct Entry {
    /// The id as bytes.
    pub(crate) key: Key,
    /// The record of the tensor.
    pub(crate) place: Place,
    /// When its data came to its tier.
    pub(crate) changed_at: u64,
    /// How it was used.
    pub(crate) usage: SharedUsage,
    /// What else the record says.
    pub(crate) traits: Traits,
    /// Size and bound, if they are known: an index of a segment does not have them.
    facts: Facts,
    /// Tier that its use asks for.
    wanted: AtomicU8,
    /// True if its use was written down.
    clean: AtomicBool,
    /// Records of its frames, if it is temporal.
    pub(crate) frames: Option<Arc<Vec<Place>>>,
    /// True if only frames were seen so far, while a store is opened: the record of the tensor comes later where it was
    /// written anew. `place` is that of a frame until then.
    pub(super) headless: bool,
}

// With an id of up to 32 bytes and its part of the hash table, a tensor takes less than 200 bytes.
const _: () = assert!(size_of::<Entry>() <= 144);

/// What an index of a segment says of a tensor beside where it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Traits {
    /// Tier of its data; the one with the fewest bits among its frames if it is temporal.
    pub(crate) tier: Tier,
    /// Tier it is held at.
    pub(crate) pinned: Option<Tier>,
    /// True if it can be reconstructed.
    pub(crate) reconstructable: bool,
    /// True if its values are in frames.
    pub(crate) temporal: bool,
    /// Largest bound it may get.
    pub(crate) max_error: Option<f32>,
}

/// Values of a tensor and the bound of its data; `u64::MAX` if not known yet.
#[derive(Debug)]
struct Facts {
    count: AtomicU64,
    bound: AtomicU32,
}

impl Entry {
    pub(crate) fn new(key: Key, place: Place, changed_at: u64, traits: Traits, usage: Usage) -> Self {
        Self {
            key,
            place,
            changed_at,
            usage: SharedUsage::new(usage),
            traits,
            facts: Facts { count: AtomicU64::new(u64::MAX), bound: AtomicU32::new(0) },
            wanted: AtomicU8::new(traits.tier.code()),
            clean: AtomicBool::new(true),
            frames: None,
            headless: false,
        }
    }

    /// Number of values and bound of the data, if they are known.
    pub(crate) fn facts(&self) -> Option<(u64, f32)> {
        let count = self.facts.count.load(Relaxed);
        (count != u64::MAX).then(|| (count, f32::from_bits(self.facts.bound.load(Relaxed))))
    }

    /// Keeps what a record said.
    pub(crate) fn learn(&self, count: u64, bound: f32) {
        self.facts.bound.store(bound.to_bits(), Relaxed);
        self.facts.count.store(count, Relaxed);
    }

    pub(super) fn learn_if(&self, facts: Option<(u64, f32)>) {
        if let Some((count, bound)) = facts {
            self.learn(count, bound);
        }
    }

    pub(super) fn forget_facts(&self) {
        self.facts.count.store(u64::MAX, Relaxed);
    }

    /// Tier that its use asks for, as last decided.
    pub(crate) fn wanted(&self) -> Tier {
        Tier::of_code(self.wanted.load(Relaxed)).unwrap_or(self.traits.tier)
    }

    pub(crate) fn want(&self, tier: Tier) {
        self.wanted.store(tier.code(), Relaxed);
    }

    /// The wanted tier, if it is not the one of the data.
    pub(crate) fn wish(&self) -> Option<Tier> {
        Some(self.wanted()).filter(|wanted| *wanted != self.traits.tier && !self.traits.temporal)
    }

    /// Marks its use as not written down; true if it was.
    pub(crate) fn mark_dirty(&self) -> bool {
        self.clean.load(Relaxed) && self.clean.swap(false, Relaxed)
    }

    /// Marks its use as written down.
    pub(crate) fn mark_clean(&self) {
        self.clean.store(true, Relaxed);
    }

    /// Its records, those of frames too.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.place).chain(self.frames.iter().flat_map(|frames| frames.iter()))
    }
}
