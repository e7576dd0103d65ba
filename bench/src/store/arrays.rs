//! tensorstore and zarr, in Python: one uncompressed f32 array per tensor.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::Deserialize;
use serde_json::json;

use super::{LARGE, SMALL, progress};
use crate::measure::{Pace, Timing};
use crate::rival::pypi;
use crate::scratch::Scratch;

/// Names of the libraries, in the script and in tables.
const LIBRARIES: [&str; 2] = ["tensorstore", "zarr"];

/// Timings of one library for tensors of one shape: samples in seconds per call.
pub(super) struct Arrays {
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) shape: [usize; 2],
    pub(super) count: usize,
    pub(super) put: Vec<f64>,
    pub(super) get: Vec<f64>,
    /// Samples by number of rows.
    pub(super) rows: BTreeMap<String, Vec<f64>>,
    /// Disk space of all tensors in bytes.
    pub(super) bytes: u64,
}

/// Last line that the script prints.
#[derive(Deserialize)]
struct Answer {
    version: String,
    put: Vec<f64>,
    get: Vec<f64>,
    rows: BTreeMap<String, Vec<f64>>,
}

impl Arrays {
    pub(super) fn timing(&self, seconds: &[f64]) -> Timing {
        Timing::new(self.name, self.shape[0] * self.shape[1] * size_of::<f32>(), seconds.to_vec())
    }
}

/// Runs both libraries with both shapes. Also returns the libraries that failed, with the reason.
pub(super) fn measure(pace: Pace, scratch: &Scratch) -> (Vec<Arrays>, Vec<String>) {
    let python = match pypi::STORE.python() {
        Ok(python) => python,
        Err(error) => return (Vec::new(), vec![format!("tensorstore and zarr ({error})")]),
    };
    let (small, large, rounds) = if pace == Pace::Full { (300, 8, 5) } else { (20, 2, 2) };
    let (mut found, mut missing) = (Vec::new(), Vec::new());
    for name in LIBRARIES {
        for (shape, count) in [(SMALL, small), (LARGE, large)] {
            progress(&format!("{name}, tensors of {} floats", shape[0] * shape[1]));
            match run(&python, scratch, name, shape, count, rounds) {
                Ok(arrays) => found.push(arrays),
                Err(why) => {
                    missing.push(format!("{name} ({why})"));
                    break;
                }
            }
        }
    }
    (found, missing)
}

fn run(
    python: &Path,
    scratch: &Scratch,
    name: &'static str,
    shape: [usize; 2],
    count: usize,
    rounds: usize,
) -> Result<Arrays, String> {
    let folder = scratch.file("arrays");
    let folder = super::keeper::empty(&folder);
    // A chunk has at most 100 rows, so that reading some rows of a large array reads only some chunks.
    let chunk = [shape[0].min(100), shape[1]];
    let job = json!({
        "library": name, "folder": folder, "shape": shape, "chunk": chunk, "count": count, "rounds": rounds,
        "rows": if shape == LARGE { vec![1, 10, 100] } else { vec![] },
    });
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rivals/arrays.py");
    let mut command = Command::new(python);
    command.arg(script).arg(job.to_string()).env("PYTHONDONTWRITEBYTECODE", "1").stdin(Stdio::null());
    let done = command.output().map_err(|error| format!("cannot start Python: {error}"))?;
    let said = String::from_utf8_lossy(&done.stdout);
    let answer = said.lines().next_back().and_then(|line| serde_json::from_str::<Answer>(line).ok());
    let Some(Answer { version, put, get, rows }) = answer.filter(|_| done.status.success()) else {
        let errors = String::from_utf8_lossy(&done.stderr);
        let last = errors.lines().rfind(|line| !line.trim().is_empty());
        return Err(last.map_or_else(|| done.status.to_string(), |line| line.trim().to_owned()));
    };
    let bytes = super::disk::bytes_in(folder).map_err(|error| error.to_string())?;
    Ok(Arrays { name, version, shape, count, put, get, rows, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_library_of_the_list_is_in_the_script() {
        let script = include_str!("../../rivals/arrays.py");
        assert!(LIBRARIES.iter().all(|name| script.contains(&format!("\"{name}\":"))));
    }
}
