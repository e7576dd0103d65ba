//! Conversion between the frame heads of records and of the frame codec.

use bitgrain_codec::{BlockLen, ScaleType};
use bitgrain_formats::segment::{Accuracy, FrameHead, FrameValues, Role, ScaleType as StoredScales};

use crate::Tier;
use crate::temporal::{EncodedFrameHead, FrameRole};

/// Returns the head of frame `index` as stored in its record.
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
    let (values, block) = (FrameValues::Codes(head.width), head.block);
    FrameHead { index, role, shape, tier: tier.code(), values, block, scales, accuracy, time, rewritten: None }
}

/// Returns the head of frame `index` with values stored as f32 or f16, or without values.
pub(super) fn float_head(
    index: u64,
    tier: Tier,
    shape: &[usize],
    time: u64,
    values: FrameValues,
    accuracy: Accuracy,
) -> FrameHead {
    FrameHead {
        index,
        role: Role::Key,
        shape: shape.to_vec(),
        tier: tier.code(),
        values,
        block: BlockLen::DEFAULT,
        scales: StoredScales::F16,
        accuracy,
        time,
        rewritten: None,
    }
}

/// Converts a stored head for the frame codec; `None` if the values are stored as floats. Invalid distances, to frames
/// that are not earlier, become 0, which the decoder rejects.
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
        width: stored.values.width()?,
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

/// Returns the tier of a frame.
pub(super) fn tier_of(stored: &FrameHead) -> Tier {
    Tier::of_code(stored.tier).unwrap_or(Tier::Hot)
}
