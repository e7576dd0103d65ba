//! What several commands take: ids, tiers, ranges, and a store to open.

use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use bitgrain::store::{Provenance, StoreConfig, StoreError, SyncMode, TensorId, TensorStore, Tier};
use serde_json::{Value, json};

use crate::error::CliError;

/// An id as people write it: a name, or a number behind a `#`.
#[derive(Debug, Clone)]
pub(super) struct Id(pub(super) TensorId);

impl FromStr for Id {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix('#').and_then(|digits| digits.parse::<u128>().ok());
        // `#007` is a name: numbers are written in one way.
        let number = number.filter(|number| text[1..] == number.to_string());
        Ok(Self(number.map_or_else(|| TensorId::from(text), TensorId::from)))
    }
}

/// An id as [`Id`] reads it, with nothing escaped.
pub(super) fn written(id: &TensorId) -> String {
    match id {
        TensorId::Name(name) => name.to_string(),
        TensorId::Number(number) => format!("#{number}"),
    }
}

/// True if what was read are zeros in place of values that nobody has any more.
pub(super) fn is_gone(of: &Provenance) -> bool {
    of.tier == Tier::Absent && !of.bound.is_finite()
}

/// A tier by its name.
#[derive(Debug, Clone, Copy)]
pub(super) struct TierName(pub(super) Tier);

impl FromStr for TierName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Tier::ALL.into_iter().find(|tier| tier.name() == text);
        let names = || Tier::ALL.map(Tier::name).join(", ");
        found.map(Self).ok_or_else(|| format!("`{text}` is no tier; there are {}", names()))
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

/// Opens an existing store for writing.
pub(super) fn open(path: &Path) -> Result<TensorStore, CliError> {
    opened(path, StoreConfig { create: false, ..StoreConfig::default() })
}

/// Opens an existing store for writing many tensors: durable at the end, not one by one.
pub(super) fn open_for_many(path: &Path) -> Result<TensorStore, CliError> {
    opened(path, StoreConfig { create: false, sync: SyncMode::OnSeal, ..StoreConfig::default() })
}

/// Opens a store for looking at it, also while another process writes.
pub(super) fn open_to_look(path: &Path) -> Result<TensorStore, CliError> {
    TensorStore::open_read_only(path).map_err(CliError::store(path))
}

/// Opens a store so that reads count as use; if somebody else writes to it, they do not.
pub(super) fn open_to_read(path: &Path) -> Result<TensorStore, CliError> {
    match open(path) {
        Err(CliError::Store { source, .. })
            if matches!(
                *source,
                StoreError::Locked { .. } | StoreError::Io { .. } | StoreError::NoSpace { .. } | StoreError::ReadOnly
            ) =>
        {
            open_to_look(path)
        }
        other => other,
    }
}

pub(super) fn opened(path: &Path, config: StoreConfig) -> Result<TensorStore, CliError> {
    let store = TensorStore::open(path, config).map_err(CliError::store(path))?;
    let found = store.recovery();
    if found.torn_bytes > 0 {
        let records = found.torn_records;
        eprintln!(
            "note: {} bytes of writes that were never acknowledged were cut off ({records} whole records)",
            found.torn_bytes
        );
    }
    Ok(store)
}

/// Ends a session that only read. What was read counts, even if its use cannot be written down.
pub(super) fn close_after_reading(store: TensorStore) {
    if let Err(error) = store.close() {
        eprintln!("note: that it was used could not be written down: {error}");
    }
}

/// Ends a session with a store.
pub(super) fn close(store: TensorStore, path: &Path) -> Result<(), CliError> {
    store.close().map_err(CliError::store(path))
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
