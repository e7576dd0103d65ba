//! Weights, thresholds and durations of the policy.

use std::time::Duration;

use thiserror::Error;

use super::MAX_SCORE;
use crate::Tier;

/// Longest duration allowed: a hundred years.
const LONGEST: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// Shortest period and half-life: the resolution of the clock.
const SHORTEST: Duration = Duration::from_millis(1);

/// Settings of the tier policy. Call [`check`](Self::check) after changing a field.
///
/// ```
/// use bitgrain_store::policy::PolicyConfig;
/// let config = PolicyConfig { warm_byte_cap: 1 << 30, ..PolicyConfig::default() };
/// assert!(config.check().is_ok());
/// let wrong = PolicyConfig { score_hysteresis: 1.5, ..PolicyConfig::default() };
/// assert_eq!(wrong.check().unwrap_err().to_string(), "score_hysteresis 1.5 is out of range: it must be in 0..=0.99");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyConfig {
    /// Accesses within one period count once; the last 64 periods are remembered individually. Default 10 minutes.
    pub period: Duration,
    /// Weight of the current period in the exponential moving average of periods with an access. Default 1/16.
    pub ema_weight: f32,
    /// Time without access after which the recency is halved. Default 2 hours.
    pub recency_half_life: Duration,
    /// Score contribution of a moving average of 1. Default 512.
    pub weight_ema: f32,
    /// Score contribution of an access right now. Default 256.
    pub weight_recency: f32,
    /// Score contribution of an access in each of the last 64 periods. Default 256.
    pub weight_window: f32,
    /// Minimum score of a hot tensor. Default 512.
    pub hot_min: f32,
    /// Minimum score of a warm tensor. Default 64.
    pub warm_min: f32,
    /// Share by which a score must fall below a threshold before the tensor leaves the class. Default 0.2.
    pub score_hysteresis: f32,
    /// Minimum time in a tier before the next step down. Default 2 hours.
    pub residency: Duration,
    /// Score below which data may be evicted. Default 1.
    pub absent_min_score: f32,
    /// Minimum time without access before data may be evicted. Default 24 hours.
    pub absent_age_threshold: Duration,
    /// Tensors whose data may be evicted. Default: tensors with a reconstruction policy.
    pub absent: AbsentRule,
    /// Tier of tensors and frames written without an explicit tier or pin. Default hot.
    pub first_tier: Tier,
    /// Lowest tier of a tick, except absent: a tensor keeps at least these bits however rarely it is used. Default 6 bits.
    pub least_tier: Tier,
    /// Maximum total size in bytes of all tensors. If set, it decides the tiers instead of scores and thresholds: a tick
    /// lowers precision only while the total exceeds the budget, and then where it adds the least error to reads. Nothing
    /// is evicted. New data is left alone for `residency`. Default none.
    pub budget: Option<u64>,
    /// Maximum total size in bytes of warm tensors: those with at most 7 bits, but more than `least_tier`. Above it, the
    /// least recently used go from 7 bits to 5, or to `least_tier` if that has more. Default 64 MiB.
    pub warm_byte_cap: u64,
    /// Share of the cap that must stay free for a tensor to return to 7 bits. Default 0.2.
    pub warm_hysteresis: f32,
    /// Minimum time between downgrades for the cap. Default 1 minute.
    pub warm_downgrade_interval: Duration,
}

/// The [`careful`](PolicyConfig::careful) policy.
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
            least_tier: Tier::B6,
            budget: None,
            warm_byte_cap: 64 << 20,
            warm_hysteresis: 0.2,
            warm_downgrade_interval: Duration::from_secs(MINUTE),
        }
    }
}

impl PolicyConfig {
    /// Checks that every field is in its range and that the thresholds are ordered.
    ///
    /// # Errors
    /// Returns the first field that is out of range, with its range.
    pub fn check(&self) -> Result<(), PolicyError> {
        time("period", self.period, SHORTEST)?;
        number("ema_weight", self.ema_weight, 0.001, 1.0)?;
        time("recency_half_life", self.recency_half_life, SHORTEST)?;
        number("weight_ema", self.weight_ema, 0.0, MAX_SCORE)?;
        number("weight_recency", self.weight_recency, 0.0, MAX_SCORE - self.weight_ema)?;
        let two = self.weight_ema + self.weight_recency;
        number("weight_window", self.weight_window, 0.0, MAX_SCORE - two)?;
        // The moving average approaches 1 without reaching it, so a threshold at the full sum would never be met.
        number("hot_min", self.hot_min, 0.0, 0.95 * (two + self.weight_window))?;
        number("warm_min", self.warm_min, 0.0, self.hot_min)?;
        number("score_hysteresis", self.score_hysteresis, 0.0, 0.99)?;
        number("absent_min_score", self.absent_min_score, 0.0, self.falls_below(self.warm_min))?;
        time("residency", self.residency, Duration::ZERO)?;
        time("absent_age_threshold", self.absent_age_threshold, Duration::ZERO)?;
        number("warm_hysteresis", self.warm_hysteresis, 0.0, 0.99)?;
        time("warm_downgrade_interval", self.warm_downgrade_interval, Duration::ZERO)?;
        for (field, tier) in [("first_tier", self.first_tier), ("least_tier", self.least_tier)] {
            if tier == Tier::Absent {
                return Err(PolicyError::NoData { field, tier });
            }
        }
        Ok(())
    }

    /// Returns the tier of warm tensors that the cap downgrades: 5 bits, or more if the lowest tier has more.
    pub(super) fn capped_tier(&self) -> Tier {
        Tier::WarmAggressive.min(self.least_tier)
    }

    /// Returns the score below which a tensor leaves the tier that it entered at `threshold`.
    pub(super) fn falls_below(&self, threshold: f32) -> f32 {
        threshold * (1.0 - self.score_hysteresis)
    }

    /// Returns the number of the period that contains `time`.
    pub(super) fn period_of(&self, time: u64) -> u64 {
        time / millis(self.period).max(1)
    }
}

/// Returns a duration in milliseconds, saturated for durations longer than [`PolicyConfig::check`] allows.
pub(super) fn millis(time: Duration) -> u64 {
    time.as_secs().saturating_mul(1000).saturating_add(u64::from(time.subsec_millis()))
}

fn number(field: &'static str, value: f32, low: f32, high: f32) -> Result<(), PolicyError> {
    // NaN fails both comparisons.
    if value >= low && value <= high { Ok(()) } else { Err(PolicyError::Number { field, value, low, high }) }
}

fn time(field: &'static str, value: Duration, low: Duration) -> Result<(), PolicyError> {
    let high = LONGEST;
    if value >= low && value <= high { Ok(()) } else { Err(PolicyError::Time { field, value, low, high }) }
}

/// Tensors whose data may be evicted when unused. Evicted data returns only with a new `put`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AbsentRule {
    /// None: cold is the lowest tier.
    Never,
    /// Tensors with a reconstruction policy, which stay readable without stored data.
    Reconstructable,
    /// Every tensor without a pin and without an error limit. Data without a reconstruction policy is **lost**: reading
    /// the tensor is an error, or returns zeros with [`AbsentReads::Zeros`](crate::AbsentReads).
    Any,
}

impl AbsentRule {
    /// Returns whether the data of a tensor may be evicted.
    pub(crate) const fn allows(self, reconstructable: bool) -> bool {
        match self {
            Self::Never => false,
            Self::Reconstructable => reconstructable,
            Self::Any => true,
        }
    }
}

/// Error of an invalid configuration.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// A number outside its range.
    #[error("{field} {value} is out of range: it must be in {low}..={high}")]
    Number {
        /// Name of the field.
        field: &'static str,
        /// Value given.
        value: f32,
        /// Minimum.
        low: f32,
        /// Maximum.
        high: f32,
    },
    /// A duration outside its range.
    #[error("{field} {value:?} is out of range: it must be in {low:?}..={high:?}")]
    Time {
        /// Name of the field.
        field: &'static str,
        /// Value given.
        value: Duration,
        /// Minimum.
        low: Duration,
        /// Maximum.
        high: Duration,
    },
    /// A tier without data.
    #[error("invalid {field} `{}`: choose a tier with data", tier.name())]
    NoData {
        /// Name of the field.
        field: &'static str,
        /// Tier given.
        tier: Tier,
    },
}
