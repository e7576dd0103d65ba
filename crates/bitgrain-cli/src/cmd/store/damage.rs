//! Examination of a store for damage, even if it does not open.

use std::path::Path;

use bitgrain::store::{Damage, RecoveryReport, StoreError, TensorStore, VerifyReport};
use serde_json::{Value, json};

use super::id::{shown, with_id};
use super::session::open_to_salvage;
use crate::error::CliError;
use crate::table::Table;

/// Result of examining a store.
pub(super) struct Examined {
    /// Whether it opens without salvage mode.
    pub(super) opens: bool,
    pub(super) recovery: RecoveryReport,
    pub(super) report: VerifyReport,
    /// All damage, sorted by file and offset, without duplicates.
    pub(super) damages: Vec<Damage>,
}

impl Examined {
    /// Reads all readable data of a store.
    ///
    /// # Errors
    /// Returns an error if the store does not exist, has an unsupported version, or cannot be read. Damage is part of
    /// the result.
    pub(super) fn of(path: &Path) -> Result<Self, CliError> {
        let (opens, opened) = match TensorStore::open_read_only(path) {
            Err(StoreError::Damaged { .. }) => (false, open_to_salvage(path)),
            other => (true, other),
        };
        let (recovery, report, mut damages) = match opened {
            Ok(store) => {
                let mut report = store.verify().map_err(CliError::store(path))?;
                let damages = std::mem::take(&mut report.damages);
                (store.recovery().clone(), report, damages)
            }
            Err(error) => {
                // The store does not open even in salvage mode, but the error itself describes the damage.
                let damage = damage_of(error).map_err(CliError::store(path))?;
                let (recovery, report) = (RecoveryReport::default(), VerifyReport::default());
                return Ok(Self { opens: false, recovery, report, damages: vec![damage] });
            }
        };
        damages.extend(recovery.damages.iter().cloned());
        // For duplicates, keep the report that knows the tensor.
        damages.sort_by(|a, b| (&a.segment, a.offset, a.id.is_none()).cmp(&(&b.segment, b.offset, b.id.is_none())));
        damages.dedup_by(|a, b| a.segment == b.segment && a.offset == b.offset);
        Ok(Self { opens, recovery, report, damages })
    }
}

/// Converts an error about damage to a description of it; returns other errors.
pub(super) fn damage_of(error: StoreError) -> Result<Damage, StoreError> {
    match error {
        StoreError::Damaged { segment, offset, id, what } => Ok(Damage { segment, offset, id, what }),
        StoreError::Foreign { name } => {
            Ok(Damage { segment: name, offset: 0, id: None, what: "the file belongs to another store".into() })
        }
        error => Err(error),
    }
}

/// Converts damage to JSON.
pub(super) fn to_json(damage: &Damage) -> Value {
    let about = json!({"segment": damage.segment, "offset": damage.offset, "problem": damage.what, "id": null});
    match &damage.id {
        Some(id) => with_id(id, about),
        None => about,
    }
}

/// Formats damage as a table.
pub(super) fn table(damages: &[Damage]) -> Table {
    let mut table = Table::new(&["file", "offset", "tensor", "problem"], 1);
    for damage in damages {
        let id = damage.id.as_ref().map_or_else(|| "–".to_owned(), shown);
        table.row([damage.segment.clone(), damage.offset.to_string(), id, damage.what.clone()]);
    }
    table
}
