//! Encoding of values at a tier into the body of a record.

use bitgrain_codec::{BlockFormat, EncodeOptions, NonFinite, QuantConfig, TwoLevel};
use bitgrain_formats::segment::{Accuracy, Draft, Encoding};

use super::draft_pool;
use crate::{Provenance, StoreError, Tier, blocks, half};

/// Encoding settings other than the tier.
#[derive(Debug, Clone, Copy)]
pub(super) struct TierEncoder {
    pub(super) block: bitgrain_codec::BlockLen,
    pub(super) two_level: TwoLevel,
}

/// Encoded values.
pub(super) struct Coded {
    pub(super) tier: Tier,
    pub(super) encoding: Encoding,
    /// Error of this encoding alone.
    pub(super) accuracy: Accuracy,
    pub(super) draft: Draft,
}

impl TierEncoder {
    /// Encodes finite values at `tier`, followed by `more` bytes of body.
    pub(super) fn encode(self, tier: Tier, values: &[f32], more: &[u8]) -> Result<Coded, StoreError> {
        let Some(width) = tier.width() else {
            blocks::make_finite(values, NonFinite::Reject, 1)?;
            let largest = bitgrain_codec::max_abs(values);
            return if tier == Tier::F16 && half::fits(largest) {
                as_half(values, largest, more)
            } else {
                Ok(plain(tier, values, more))
            };
        };
        let format = BlockFormat::choose(width, self.block, self.two_level, values)?;
        let options = EncodeOptions::from(&QuantConfig { two_level: self.two_level, ..QuantConfig::default() });
        let len = format.encoded_len(values.len());
        let mut draft = draft_pool::take(len + more.len());
        let (data, rest) = draft.body_mut().split_at_mut(len);
        rest.copy_from_slice(more);
        let cost = blocks::encode(format, values, &options, data)?;
        let accuracy = Accuracy::new(cost.bound, cost.measured);
        draft.checksum();
        Ok(Coded { tier, encoding: Encoding::Blocks(format), accuracy, draft })
    }
}

/// Stores values as f16.
fn as_half(values: &[f32], largest: f32, more: &[u8]) -> Result<Coded, StoreError> {
    let mut draft = draft_pool::take(2 * values.len() + more.len());
    let (data, rest) = draft.body_mut().split_at_mut(2 * values.len());
    let cost = half::encode(values, largest, data)?;
    rest.copy_from_slice(more);
    draft.checksum();
    let accuracy = Accuracy::new(cost.bound, cost.measured);
    Ok(Coded { tier: Tier::F16, encoding: Encoding::Half, accuracy, draft })
}

/// Stores values unchanged, or none for the absent tier.
fn plain(tier: Tier, values: &[f32], more: &[u8]) -> Coded {
    let (encoding, len) = if tier == Tier::Absent { (Encoding::Absent, 0) } else { (Encoding::Raw, 4 * values.len()) };
    let mut draft = draft_pool::take(len + more.len());
    let (data, rest) = draft.body_mut().split_at_mut(len);
    blocks::write_raw(values, data);
    rest.copy_from_slice(more);
    draft.checksum();
    Coded { tier, encoding, accuracy: Accuracy::EXACT, draft }
}

/// Returns the provenance of stored values.
pub(super) fn provenance(tier: Tier, encoding: Encoding, accuracy: Accuracy) -> Provenance {
    let (bits, bound) = (encoding.form().bits(), accuracy.bound());
    Provenance { tier, bits, bound, measured: accuracy.measured(), depth: 0 }
}

/// Adds the errors of two successive encodings.
pub(super) fn add_errors(a: Accuracy, b: Accuracy) -> Accuracy {
    let up = |a: f32, b: f32| {
        let exact = f64::from(a) + f64::from(b);
        #[expect(clippy::cast_possible_truncation, reason = "rounded up at once")]
        let near = exact as f32;
        let sum = if f64::from(near) < exact { near.next_up() } else { near };
        sum.min(f32::MAX)
    };
    Accuracy::new(up(a.bound(), b.bound()), up(a.measured(), b.measured()))
}
