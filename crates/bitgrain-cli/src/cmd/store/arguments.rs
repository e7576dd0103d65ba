//! What several commands take and show: tiers, ranges, shapes, errors.

use std::ops::Range;
use std::str::FromStr;

use bitgrain::store::{Provenance, Tier};
use serde_json::{Value, json};

/// A tier by its name: one that keeps data.
#[derive(Debug, Clone, Copy)]
pub(super) struct TierName(pub(super) Tier);

impl FromStr for TierName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let names = || Tier::ALL.map(Tier::name)[..5].join(", ");
        match Tier::ALL.into_iter().find(|tier| tier.name() == text) {
            Some(Tier::Absent) => {
                Err(format!("nothing can be put or held at `absent`, which keeps no data; there are {}", names()))
            }
            Some(tier) => Ok(Self(tier)),
            None => Err(format!("`{text}` is no tier; there are {}", names())),
        }
    }
}

/// `2..5`, `..5`, `2..`, or one number.
#[derive(Debug, Clone, Copy)]
pub(super) struct Span {
    start: u64,
    end: Option<u64>,
}

impl Span {
    /// Of so many.
    pub(super) fn of(self, count: u64) -> Range<u64> {
        self.start..self.end.unwrap_or(count.max(self.start))
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no range; write 2..5, 2.., ..5 or 2");
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

/// True if what was read are zeros in place of values that nobody has any more.
pub(super) fn is_gone(of: &Provenance) -> bool {
    of.tier == Tier::Absent && !of.bound.is_finite()
}

/// Provenance for machines.
pub(super) fn provenance(of: &Provenance) -> Value {
    json!({
        "tier": of.tier.name(),
        "bits": of.bits,
        "bound": of.bound,
        "measured": of.measured,
        "depth": of.depth,
    })
}

/// A shape as `384 x 1536`.
pub(super) fn shape(axes: &[usize]) -> String {
    crate::printable::shape(&axes.iter().map(|&axis| axis as u64).collect::<Vec<_>>())
}
