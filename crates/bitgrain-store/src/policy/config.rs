//! Weights, thresholds and times of the policy.

use std::time::Duration;

use thiserror::Error;

use super::MAX_SCORE;
use crate::Tier;

/// Longest time a field may have: a hundred years.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// Shortest period and half-life, the step of the clock.
const SHORTEST: Duration = Duration::from_millis(1);

/// How use becomes tiers. Call [`check`](Self::check) after changing a field.
///
/// ```
/// use bitgrain_store::policy::PolicyConfig;
/// let config = PolicyConfig { warm_byte_cap: 1 << 30, ..PolicyConfig::default() };
/// assert!(config.check().is_ok());
/// let wrong = PolicyConfig { score_hysteresis: 1.5, ..PolicyConfig::default() };
/// assert_eq!(wrong.check().unwrap_err().to_string(), "score_hysteresis is 1.5, it must be from 0 to 0.99");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyConfig {
    /// Accesses within one period count once; 64 periods are remembered singly. 10 minutes.
    pub period: Duration,
    /// What a period adds to the average of periods with an access, the rest being the past. 1/16.
    pub ema_weight: f32,
    /// After this long without an access, recency is half. 2 hours.
    pub recency_half_life: Duration,
    /// Score of a tensor whose average is 1. 512.
    pub weight_ema: f32,
    /// Score of a tensor that was used right now. 256.
    pub weight_recency: f32,
    /// Score of a tensor that was used in each of the last 64 periods. 256.
    pub weight_window: f32,
    /// Least score of a hot tensor. 512.
    pub hot_min: f32,
    /// Least score of a warm tensor. 64.
    pub warm_min: f32,
    /// A tensor has to be this share below a threshold to fall, having been above it. 0.2.
    pub score_hysteresis: f32,
    /// A tensor stays in a tier for at least this long before it steps down. 2 hours.
    pub residency: Duration,
    /// Only data with a score below this is evicted. 1.
    pub absent_min_score: f32,
    /// Only data that was not used for longer than this is evicted. 24 hours.
    pub absent_age_threshold: Duration,
    /// Tensors whose data may be evicted at all. Those with a reconstruction policy.
    pub absent: AbsentRule,
    /// Tier of tensors and frames that are written without a tier and a pin. Hot.
    pub first_tier: Tier,
    /// Bytes that tensors at 7 and 5 bits may have together before the least recently used go from 7 to 5. 64 MiB.
    pub warm_byte_cap: u64,
    /// 7 bits are wanted again only where this share of the cap stays free. 0.2.
    pub warm_hysteresis: f32,
    /// Tensors go from 7 to 5 bits for the cap at most this often. 1 minute.
    pub warm_downgrade_interval: Duration,
}

impl Default for PolicyConfig {
    fn default() -> Self {
        const MINUTE: u64 = 60;
        const HOUR: u64 = 60 * MINUTE;
        Self {
            period: Duration::from_secs(10 * MINUTE),
            ema_weight: 0.0625,
            recency_half_life: Duration::from_secs(2 * HOUR),
            weight_ema: 512.0,
            weight_recency: 256.0,
            weight_window: 256.0,
            hot_min: 512.0,
            warm_min: 64.0,
            score_hysteresis: 0.2,
            residency: Duration::from_secs(2 * HOUR),
            absent_min_score: 1.0,
            absent_age_threshold: Duration::from_secs(24 * HOUR),
            absent: AbsentRule::Reconstructable,
            first_tier: Tier::Hot,
            warm_byte_cap: 64 << 20,
            warm_hysteresis: 0.2,
            warm_downgrade_interval: Duration::from_secs(MINUTE),
        }
    }
}

impl PolicyConfig {
    /// Every field is in its range, and the thresholds are in order.
    ///
    /// # Errors
    /// The first field that is not, with the range it has to be in.
    pub fn check(&self) -> Result<(), PolicyError> {
        time("period", self.period, SHORTEST)?;
        number("ema_weight", self.ema_weight, 0.001, 1.0)?;
        time("recency_half_life", self.recency_half_life, SHORTEST)?;
        number("weight_ema", self.weight_ema, 0.0, MAX_SCORE)?;
        number("weight_recency", self.weight_recency, 0.0, MAX_SCORE - self.weight_ema)?;
        let two = self.weight_ema + self.weight_recency;
        number("weight_window", self.weight_window, 0.0, MAX_SCORE - two)?;
        // The average comes close to 1 but not to it: a threshold at the very sum would never be reached.
        number("hot_min", self.hot_min, 0.0, 0.95 * (two + self.weight_window))?;
        number("warm_min", self.warm_min, 0.0, self.hot_min)?;
        number("score_hysteresis", self.score_hysteresis, 0.0, 0.99)?;
        number("absent_min_score", self.absent_min_score, 0.0, self.falls_below(self.warm_min))?;
        time("residency", self.residency, Duration::ZERO)?;
        time("absent_age_threshold", self.absent_age_threshold, Duration::ZERO)?;
        number("warm_hysteresis", self.warm_hysteresis, 0.0, 0.99)?;
        time("warm_downgrade_interval", self.warm_downgrade_interval, Duration::ZERO)?;
        if self.first_tier == Tier::Absent {
            return Err(PolicyError::NoData { field: "first_tier", tier: self.first_tier });
        }
        Ok(())
    }

    /// Score below which a tensor leaves a tier that it reached at `threshold`.
    pub(super) fn falls_below(&self, threshold: f32) -> f32 {
        threshold * (1.0 - self.score_hysteresis)
    }

    /// Number of the period that `time` lies in.
    pub(super) fn period_of(&self, time: u64) -> u64 {
        time / millis(self.period).max(1)
    }
}

/// Milliseconds of a time; the largest number for one that is longer than [`PolicyConfig::check`] allows.
pub(super) fn millis(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1000).saturating_add(u64::from(time.subsec_millis()))
}

fn number(field: &'static str, value: f32, low: f32, high: f32) -> Result<(), PolicyError> {
    // NaN is in no range.
    if value >= low && value <= high { Ok(()) } else { Err(PolicyError::Number { field, value, low, high }) }
}

fn time(field: &'static str, value: Duration, low: Duration) -> Result<(), PolicyError> {
    let high = LONGEST;
    if value >= low && value <= high { Ok(()) } else { Err(PolicyError::Time { field, value, low, high }) }
}

/// Tensors whose data may be evicted when they are not used. Evicted data comes back with a new `put` only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AbsentRule {
    /// None: the last tier is cold.
    Never,
    /// Tensors with a reconstruction policy, which are read without data of their own.
    Reconstructable,
    /// Every tensor without a pin and without a largest error. Tensors without a reconstruction policy are **lost**: reading
    /// one is an error, or zeros if [`AbsentReads::Zeros`](crate::AbsentReads) asks for them.
    Any,
}

impl AbsentRule {
    /// True if the data of a tensor may be evicted.
    pub(crate) const fn allows(self, reconstructable: bool) -> bool {
        match self {
            Self::Never => false,
            Self::Reconstructable => reconstructable,
            Self::Any => true,
        }
    }
}

/// Why a configuration is refused.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A number outside its range.
    #[error("{field} is {value}, it must be from {low} to {high}")]
    Number {
        /// Name of the field.
        field: &'static str,
        /// What it holds.
        value: f32,
        /// Least value.
        low: f32,
        /// Largest value.
        high: f32,
    },
    /// A time outside its range.
    #[error("{field} is {value:?}, it must be from {low:?} to {high:?}")]
    Time {
        /// Name of the field.
        field: &'static str,
        /// What it holds.
        value: Duration,
        /// Shortest time.
        low: Duration,
        /// Longest time.
        high: Duration,
    },
    /// A tier that no tensor can be put at.
    #[error("{field} is {}, it must be a tier with data", tier.name())]
    NoData {
        /// Name of the field.
        field: &'static str,
        /// What it holds.
        tier: Tier,
    },
}
