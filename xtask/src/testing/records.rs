//! Records of long runs: `docs/testing/runs.json` and `docs/testing/fuzz.json`.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::grouped;
use crate::error::TaskError;
use crate::step::root;

/// A long run that was started manually.
#[derive(Debug, Deserialize)]
struct Run {
    what: String,
    command: String,
    cases: u64,
    unit: String,
    /// Number of defects that the run found.
    findings: u64,
    date: String,
}

/// The latest run of a fuzz target.
#[derive(Debug, Deserialize)]
struct Target {
    seconds: u64,
    executions: u64,
    /// Number of control-flow edges reached.
    edges: u64,
    findings: u64,
    date: String,
}

pub(super) fn runs() -> Result<String, TaskError> {
    let mut table = String::from("| what | cases | defects found | command | date |\n|---|---:|---:|---|---|\n");
    for run in read::<Vec<Run>>("docs/testing/runs.json")? {
        let cases = format!("{} {}", grouped(run.cases), run.unit);
        table.push_str(&format!("| {} | {cases} | {} | `{}` | {} |\n", run.what, run.findings, run.command, run.date));
    }
    Ok(table)
}

pub(super) fn fuzz() -> Result<String, TaskError> {
    let mut table = String::from(
        "| target | seconds | executions | edges covered | defects found | date |\n|---|---:|---:|---:|---:|---|\n",
    );
    for (target, run) in read::<BTreeMap<String, Target>>("docs/testing/fuzz.json")? {
        table.push_str(&format!(
            "| `{target}` | {} | {} | {} | {} | {} |\n",
            grouped(run.seconds),
            grouped(run.executions),
            grouped(run.edges),
            run.findings,
            run.date
        ));
    }
    Ok(table)
}

fn read<T: DeserializeOwned>(file: &str) -> Result<T, TaskError> {
    let path = root().join(file);
    let bytes = fs::read(&path).map_err(|source| TaskError::Unreadable { path, source })?;
    serde_json::from_slice(&bytes).map_err(|error| TaskError::Record { path: file.into(), cause: error.to_string() })
}
