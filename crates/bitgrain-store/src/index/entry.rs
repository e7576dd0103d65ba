//! In-memory state of a tensor.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::Tier;
use crate::id::Key;
use crate::policy::{SharedUsage, Usage};
use crate::segment::Place;

/// In-memory state of a tensor: less than 200 bytes including id and table. Shape and other metadata stay in its
/// record.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Id as bytes.
    pub(crate) key: Key,
    /// Location of the tensor's record.
    pub(crate) place: Place,
    /// Time at which its data reached its tier.
    pub(crate) changed_at: u64,
    /// Access history.
    pub(crate) usage: SharedUsage,
    /// Other properties from the record.
    pub(crate) traits: Traits,
    /// Number of values and bound, if known: the index of a segment does not contain them.
    facts: Facts,
    /// Tier that its use asks for; [`UNDECIDED`] for that of its data.
    wanted: AtomicU8,
    /// Whether its usage is written.
    clean: AtomicBool,
    /// Locations of its frames, if it is temporal.
    pub(crate) frames: Option<Arc<Vec<Place>>>,
    /// Whether only frames were seen so far while a store is opened: an edited tensor record comes after its frames.
    /// Until then, `place` is the location of a frame.
    pub(super) headless: bool,
}

// With an id of up to 32 bytes and its share of the hash table, a tensor takes less than 200 bytes.
const _: () = assert!(size_of::<Entry>() <= 144);

/// Properties of a tensor that the index of a segment contains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Traits {
    /// Tier of its data; for a temporal tensor, the one with the fewest bits among its frames.
    pub(crate) tier: Tier,
    /// Tier that the tensor is pinned to.
    pub(crate) pinned: Option<Tier>,
    /// Whether it can be reconstructed.
    pub(crate) reconstructable: bool,
    /// Whether its values are in frames.
    pub(crate) temporal: bool,
    /// Largest error bound allowed.
    pub(crate) max_error: Option<f32>,
}

/// Number of values of a tensor and bound of its data; `u64::MAX` if not known yet.
#[derive(Debug)]
struct Facts {
    count: AtomicU64,
    bound: AtomicU32,
}

/// Wanted tier of a tensor about which no tick decided: not the number of a tier.
const UNDECIDED: u8 = u8::MAX;

impl Entry {
    pub(crate) fn new(key: Key, place: Place, changed_at: u64, traits: Traits, usage: Usage) -> Self {
        Self {
            key,
            place,
            changed_at,
            usage: SharedUsage::new(usage),
            traits,
            facts: Facts { count: AtomicU64::new(u64::MAX), bound: AtomicU32::new(0) },
            wanted: AtomicU8::new(UNDECIDED),
            clean: AtomicBool::new(true),
            frames: None,
            headless: false,
        }
    }

    /// Returns the number of values and the bound of the data, if known.
    pub(crate) fn facts(&self) -> Option<(u64, f32)> {
        let count = self.facts.count.load(Relaxed);
        (count != u64::MAX).then(|| (count, f32::from_bits(self.facts.bound.load(Relaxed))))
    }

    /// Stores the number of values and the bound.
    pub(crate) fn set_facts(&self, count: u64, bound: f32) {
        self.facts.bound.store(bound.to_bits(), Relaxed);
        self.facts.count.store(count, Relaxed);
    }

    pub(super) fn set_facts_if(&self, facts: Option<(u64, f32)>) {
        if let Some((count, bound)) = facts {
            self.set_facts(count, bound);
        }
    }

    pub(super) fn clear_facts(&self) {
        self.facts.count.store(u64::MAX, Relaxed);
    }

    /// Returns the wanted tier of the last decision; the tier of the data if there was none.
    pub(crate) fn wanted(&self) -> Tier {
        self.decided_tier().unwrap_or(self.traits.tier)
    }

    /// Returns the wanted tier of the last decision.
    pub(crate) fn decided_tier(&self) -> Option<Tier> {
        Tier::of_code(self.wanted.load(Relaxed))
    }

    pub(crate) fn want(&self, tier: Tier) {
        self.wanted.store(tier.code(), Relaxed);
    }

    /// Forgets the wanted tier, because it was decided for other data.
    pub(crate) fn forget_wanted_tier(&self) {
        self.wanted.store(UNDECIDED, Relaxed);
    }

    /// Returns the wanted tier, if it differs from the stored one.
    pub(crate) fn other_wanted_tier(&self) -> Option<Tier> {
        self.decided_tier().filter(|wanted| *wanted != self.traits.tier)
    }

    /// Marks the usage as dirty; returns whether it was clean.
    pub(crate) fn mark_dirty(&self) -> bool {
        self.clean.load(Relaxed) && self.clean.swap(false, Relaxed)
    }

    /// Marks the usage as written.
    pub(crate) fn mark_clean(&self) {
        self.clean.store(true, Relaxed);
    }

    /// Returns the locations of its records, including frames.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        std::iter::once(&self.place).chain(self.frames.iter().flat_map(|frames| frames.iter()))
    }
}
