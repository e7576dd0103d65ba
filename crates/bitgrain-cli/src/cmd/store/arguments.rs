//! Arguments and output shared by several commands: tiers, ranges, shapes, errors.

use std::ops::Range;
use std::str::FromStr;

use bitgrain::store::policy::Preset;
use bitgrain::store::{Provenance, Tier};
use serde_json::{Value, json};

use crate::error::CliError;
use crate::size;

/// Tier with data, parsed from its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct TierName(pub(super) Tier);

impl FromStr for TierName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Tier::ALL.map(Tier::name)[..Tier::COUNT - 1].join(", ");
        match Tier::ALL.into_iter().find(|tier| tier.name() == text) {
            Some(Tier::Absent) => Err(format!("the `absent` tier does not store data; choose one of {}", names())),
            Some(tier) => Ok(Self(tier)),
            None => Err(format!("unknown tier `{text}`; choose one of {}", names())),
        }
    }
}

/// Policy, parsed from its name. A budget may have a unit.
#[derive(Debug, Clone, Copy)]
pub(super) struct PolicyName(pub(super) Preset);

impl FromStr for PolicyName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.strip_prefix("budget:") {
            Some(bytes) => size::parse(bytes).map(|bytes| Self(Preset::Budget(bytes))),
            None => text.parse().map(Self),
        }
    }
}

/// Converts a number from a file or an argument to an index in memory.
pub(super) fn index(value: u64) -> Result<usize, CliError> {
    usize::try_from(value).map_err(|_| CliError::Address { value })
}

/// Range written as `2..5`, `..5`, `2..` or a single number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    start: u64,
    end: Option<u64>,
}

impl Span {
    /// Resolves the range for `count` items.
    pub(super) fn of(self, count: u64) -> Range<u64> {
        self.start..self.end.unwrap_or(count.max(self.start))
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("invalid range `{text}`; write 2..5, 2.., ..5 or 2");
        let number = |text: &str| text.parse::<u64>().map_err(|_| wrong());
        match text.split_once("..") {
            None => number(text).map(|at| Self { start: at, end: Some(at.saturating_add(1)) }),
            Some((start, end)) => {
                let start = if start.is_empty() { 0 } else { number(start)? };
                let end = if end.is_empty() { None } else { Some(number(end)?) };
                if end.is_some_and(|end| end < start) { Err(wrong()) } else { Ok(Self { start, end }) }
            }
        }
    }
}

/// Returns whether the values are zeros in place of evicted data.
pub(super) fn is_evicted(of: &Provenance) -> bool {
    of.tier == Tier::Absent && !of.bound.is_finite()
}

/// Converts provenance to JSON.
pub(super) fn provenance(of: &Provenance) -> Value {
    json!({
        "tier": of.tier.name(),
        "bits": of.bits,
        "bound": of.bound,
        "measured": of.measured,
        "depth": of.depth,
    })
}

/// Formats a shape as `384 x 1536`.
pub(super) fn shape(axes: &[usize]) -> String {
    crate::printable::shape(&axes.iter().map(|&axis| axis as u64).collect::<Vec<_>>())
}
