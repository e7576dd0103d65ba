//! `Record`: the file with the latest run of each target.

use std::fs;
use std::path::Path;

use chrono::Utc;
use serde_json::{Map, Value, json};

use super::Outcome;
use crate::error::TaskError;

/// A JSON object with an entry per target.
pub(super) struct Record;

impl Record {
    /// Replaces the statistics of a target, adds its findings to those of earlier runs, and keeps other fields, such as
    /// notes.
    pub(super) fn update(path: &Path, target: &str, outcome: &Outcome, command: &str) -> Result<(), TaskError> {
        let unreadable = |source| TaskError::Unreadable { path: path.to_owned(), source };
        let mut record: Map<String, Value> = match path.is_file() {
            true => serde_json::from_slice(&fs::read(path).map_err(unreadable)?).map_err(|e| unreadable(e.into()))?,
            false => Map::new(),
        };
        let entry = record.entry(target).or_insert_with(|| json!({}));
        let before = entry["findings"].as_u64().unwrap_or(0);
        let numbers = json!({
            "seconds": outcome.seconds,
            "executions": outcome.executions,
            "edges": outcome.edges,
            "features": outcome.features,
            "corpus_files": outcome.corpus_files,
            "findings": before + outcome.findings as u64,
            "date": today(),
            "command": command,
        });
        if let (Some(entry), Value::Object(numbers)) = (entry.as_object_mut(), numbers) {
            entry.extend(numbers);
        }
        let text = serde_json::to_string_pretty(&record).map_err(|e| unreadable(e.into()))?;
        Ok(fs::write(path, text + "\n")?)
    }
}

/// Returns the current date in UTC as `2026-03-02`.
fn today() -> String {
    Utc::now().format("%F").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_update_keeps_other_targets_notes_and_earlier_findings() {
        let path = std::env::temp_dir().join(format!("bitgrain-fuzz-record-{}.json", std::process::id()));
        fs::write(&path, r#"{"other": {"edges": 7}, "this": {"edges": 1, "findings": 3, "fixed": "a note"}}"#)
            .expect("written");
        let outcome = Outcome { edges: 2, findings: 1, ..Outcome::default() };
        let updated = Record::update(&path, "this", &outcome, "cargo xtask fuzz this");
        let record: Value = serde_json::from_slice(&fs::read(&path).expect("readable")).expect("JSON");
        fs::remove_file(&path).expect("removed");
        updated.expect("updated");
        assert_eq!((&record["other"]["edges"], &record["this"]["edges"]), (&json!(7), &json!(2)));
        assert_eq!((&record["this"]["findings"], &record["this"]["fixed"]), (&json!(4), &json!("a note")));
    }
}
