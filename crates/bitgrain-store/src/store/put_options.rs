//! Options of `put`.

use bitgrain_codec::{NonFinite, TwoLevel};

use crate::Tier;

/// Options of one `put`. A field that is `None` keeps the tensor's setting, or takes the default for a new id.
///
/// ```
/// use bitgrain_store::{PutOptions, Tier};
/// let options = PutOptions { tier: Some(Tier::Cold), max_error: Some(0.1), ..PutOptions::default() };
/// assert!(!options.lossless);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PutOptions {
    /// Tier of this put; raised to the pin if that has more bits. Default: the pin, or else
    /// [`first_tier`](crate::policy::PolicyConfig::first_tier), or the tier that the last tick wanted if that has more
    /// bits.
    pub tier: Option<Tier>,
    /// Minimum tier from now on, including this `put`. [`TensorStore::pin`](crate::TensorStore::pin) removes it.
    pub pin: Option<Tier>,
    /// Largest error from now on. More bits are used if the tier's bound is too large; an error if 8 bits do not
    /// suffice.
    pub max_error: Option<f32>,
    /// Store the values unchanged, with 32 bits each.
    pub lossless: bool,
    /// User metadata pairs, in this order.
    pub user: Option<Vec<(String, String)>>,
    /// Handling of NaN and infinities.
    pub non_finite: NonFinite,
    /// Use of a second scale for outliers in 3-bit blocks.
    pub two_level: TwoLevel,
    /// Fail with [`StoreError::HasFrames`](crate::StoreError::HasFrames) instead of replacing a temporal tensor.
    pub keep_frames: bool,
}

impl Default for PutOptions {
    fn default() -> Self {
        Self {
            tier: None,
            pin: None,
            max_error: None,
            lossless: false,
            user: None,
            non_finite: NonFinite::Reject,
            two_level: TwoLevel::Off,
            keep_frames: false,
        }
    }
}
