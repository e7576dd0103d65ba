//! How a tensor is put.

use bitgrain_codec::{NonFinite, TwoLevel};

use crate::Tier;

/// Choices of one `put`. A field that is `None` keeps the tensor's setting, or takes the default for a new id.
///
/// ```
/// use bitgrain_store::{PutOptions, Tier};
/// let options = PutOptions { tier: Some(Tier::Cold), max_error: Some(0.1), ..PutOptions::default() };
/// assert!(!options.lossless);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PutOptions {
    /// Tier to encode at, this time; the pin if that has more bits. By default, the pin, or else
    /// [`first_tier`](crate::policy::PolicyConfig::first_tier), or the tier that the last tick wanted if that has more bits.
    pub tier: Option<Tier>,
    /// Lowest tier from now on, this `put` included. [`TensorStore::pin`](crate::TensorStore::pin) removes it.
    pub pin: Option<Tier>,
    /// Largest error from now on. More bits are taken where the tier's are too few; if 8 are, that is an error.
    pub max_error: Option<f32>,
    /// Keep the values as they are: 32 bits.
    pub lossless: bool,
    /// What to write down beside the tensor, in this order.
    pub user: Option<Vec<(String, String)>>,
    /// What to do with NaN and infinities.
    pub non_finite: NonFinite,
    /// Whether 3-bit blocks may have a second scale for outliers.
    pub two_level: TwoLevel,
    /// Refuse to take the place of frames: a temporal tensor with this id is an error then.
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
