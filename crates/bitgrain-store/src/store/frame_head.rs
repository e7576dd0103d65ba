//! Heads of frames as records have them, and as the coding of frames has them.

use bitgrain_codec::{BlockLen, ScaleType};
use bitgrain_formats::segment::{Accuracy, FrameHead, Role, ScaleType as StoredScales};

use crate::Tier;
use crate::temporal::{EncodedFrameHead, FrameRole};

/// The head of frame `index` as its record has it.
pub(super) fn stored_head(index: u64, tier: Tier, shape: &[usize], time: u64, head: &EncodedFrameHead) -> FrameHead {
    let (base, key) = (head.key_index(index), head.scales_index(index));
    let role = match head.role {
        FrameRole::Key => Role::Key,
        FrameRole::Shared => Role::Shared { key },
        FrameRole::DifferenceKey => Role::DifferenceKey { base },
        FrameRole::DifferenceShared => Role::DifferenceShared { key, base },
    };
    let scales = match head.scale_type {
        ScaleType::F16 => StoredScales::F16,
        ScaleType::F32 => StoredScales::F32,
    };
    let accuracy = Accuracy::new(head.bound, head.measured);
    let shape = shape.to_vec();
    let (width, block) = (Some(head.width), head.block);
    FrameHead { index, role, shape, tier: tier.code(), width, block, scales, accuracy, time }
}

/// The head of frame `index` whose values are stored as f32.
pub(super) fn lossless_head(index: u64, shape: &[usize], time: u64) -> FrameHead {
    FrameHead {
        index,
        role: Role::Key,
        shape: shape.to_vec(),
        tier: Tier::Lossless.code(),
        width: None,
        block: BlockLen::DEFAULT,
        scales: StoredScales::F16,
        accuracy: Accuracy::EXACT,
        time,
    }
}

/// The same for the coding of frames; none if the values are stored as f32. Distances to frames that are not before it come
/// out as 0, which no decoder takes.
pub(super) fn coded_head(stored: &FrameHead) -> Option<EncodedFrameHead> {
    let back = |other: u64| stored.index.checked_sub(other).and_then(|back| u32::try_from(back).ok()).unwrap_or(0);
    let (role, key_back, scales_back) = match stored.role {
        Role::Key => (FrameRole::Key, 0, 0),
        Role::Shared { key } => (FrameRole::Shared, back(key), back(key)),
        Role::DifferenceKey { base } => (FrameRole::DifferenceKey, back(base), 0),
        Role::DifferenceShared { key, base } => (FrameRole::DifferenceShared, back(base), back(key)),
    };
    Some(EncodedFrameHead {
        role,
        width: stored.width?,
        block: stored.block,
        scale_type: match stored.scales {
            StoredScales::F16 => ScaleType::F16,
            StoredScales::F32 => ScaleType::F32,
        },
        key_back,
        scales_back,
        bound: stored.accuracy.bound(),
        measured: stored.accuracy.measured(),
    })
}

/// Tier of a frame.
pub(super) fn tier_of(stored: &FrameHead) -> Tier {
    Tier::of_code(stored.tier).unwrap_or(Tier::Hot)
}
