//! Named policies.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::PolicyConfig;
use crate::Tier;

impl PolicyConfig {
    /// The default: use decides between 8, 7 and 6 bits. However rarely a tensor is read, it keeps at least 6 bits, an
    /// error bound of 1.6 % of its largest value for the last step and 2.8 % in total.
    #[must_use]
    pub fn careful() -> Self {
        Self::default()
    }

    /// The scores and thresholds of ADR-019: like [`careful`](Self::careful), but tensors unused for hours go down to 3
    /// bits, and warm tensors above the cap to 5.
    #[must_use]
    pub fn adr019() -> Self {
        Self { least_tier: Tier::Cold, ..Self::default() }
    }

    /// All tensors together take at most `bytes`, as far as pins, error limits and lossless tensors allow: a tick lowers
    /// the precision of tensors, down to 3 bits, such that the error weighted by reads is least. While the total fits,
    /// nothing is re-encoded.
    ///
    /// New data is left alone for [`residency`](Self::residency), here a day, so that daily reads are known before it loses
    /// precision for good; the total may exceed the budget meanwhile. The size is that of the live records; files shrink with
    /// the next compaction.
    #[must_use]
    pub fn budget(bytes: u64) -> Self {
        let residency = Duration::from_secs(24 * 3600);
        Self { least_tier: Tier::Cold, budget: Some(bytes), residency, ..Self::default() }
    }
}

/// A named policy, as the command line and Python accept it: `careful`, `adr019` or `budget:BYTES`.
///
/// ```
/// use bitgrain_store::policy::{PolicyConfig, Preset};
/// let preset: Preset = "budget:1000000".parse()?;
/// assert_eq!((preset, preset.to_string()), (Preset::Budget(1_000_000), "budget:1000000".to_owned()));
/// assert_eq!(preset.config(), PolicyConfig::budget(1_000_000));
/// let wrong = "frugal".parse::<Preset>().unwrap_err();
/// assert_eq!(wrong, "unknown policy `frugal`; choose careful, adr019 or budget:BYTES");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Preset {
    /// [`PolicyConfig::careful`].
    #[default]
    Careful,
    /// [`PolicyConfig::adr019`].
    Adr019,
    /// [`PolicyConfig::budget`] with this many bytes.
    Budget(u64),
}

impl Preset {
    /// Returns the settings of the policy.
    #[must_use]
    pub fn config(self) -> PolicyConfig {
        match self {
            Self::Careful => PolicyConfig::careful(),
            Self::Adr019 => PolicyConfig::adr019(),
            Self::Budget(bytes) => PolicyConfig::budget(bytes),
        }
    }
}

impl fmt::Display for Preset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Careful => f.write_str("careful"),
            Self::Adr019 => f.write_str("adr019"),
            Self::Budget(bytes) => write!(f, "budget:{bytes}"),
        }
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match (name, name.strip_prefix("budget:")) {
            ("careful", _) => Ok(Self::Careful),
            ("adr019", _) => Ok(Self::Adr019),
            (_, Some(bytes)) => bytes
                .parse()
                .map(Self::Budget)
                .map_err(|_| format!("invalid budget `{bytes}`; write a number of bytes")),
            _ => Err(format!("unknown policy `{name}`; choose careful, adr019 or budget:BYTES")),
        }
    }
}
