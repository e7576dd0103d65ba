//! Test counts from the sources, rounded down to two digits so that the page does not change with every test.

use std::fs;
use std::path::{Path, PathBuf};

use super::grouped;
use crate::error::TaskError;
use crate::step::root;

/// Folders with tests, the prefix of a line that marks a test, and a description.
const KINDS: &[(&str, &str, &str, &str)] = &[
    ("crates", "rs", "#[test]", "Rust tests of the crates, including property tests"),
    ("xtask", "rs", "#[test]", "Rust tests of the project's build commands"),
    ("bench", "rs", "#[test]", "Rust tests of the benchmarks"),
    ("oracles", "py", "def test_", "comparisons of the `bitgrain` command with other libraries"),
    ("bindings/python/tests", "py", "def test_", "tests of the Python package"),
    ("spec/vectors", "json", "", "golden vectors, decoded by Rust and by an independent Python decoder"),
    ("fuzz/fuzz_targets", "rs", "", "fuzz targets"),
    ("fuzz/seeds", "*", "", "inputs that fuzzing found, replayed in every test run"),
];

pub(super) fn table() -> Result<String, TaskError> {
    let mut table = String::from("| where | count | what |\n|---|---:|---|\n");
    for (folder, extension, mark, what) in KINDS {
        let mut files = Vec::new();
        collect(&root().join(folder), extension, &mut files)?;
        let mut count = 0_u64;
        for file in &files {
            count += if mark.is_empty() { 1 } else { marks(file, mark)? };
        }
        table.push_str(&format!("| `{folder}` | {} | {what} |\n", at_least(count)));
    }
    Ok(table)
}

/// Counts the lines of a file that start with the prefix.
fn marks(file: &Path, mark: &str) -> Result<u64, TaskError> {
    let text = fs::read_to_string(file).map_err(|source| TaskError::Unreadable { path: file.into(), source })?;
    Ok(text.lines().filter(|line| line.trim_start().starts_with(mark)).map(|_| 1).sum())
}

/// Formats a count: exact below 100, otherwise "1,100+" for 1,173.
fn at_least(count: u64) -> String {
    if count < 100 {
        return count.to_string();
    }
    let unit = 10_u64.pow(count.ilog10() - 1);
    format!("{}+", grouped(count / unit * unit))
}

fn collect(folder: &Path, extension: &str, files: &mut Vec<PathBuf>) -> Result<(), TaskError> {
    let unreadable = |source| TaskError::Unreadable { path: folder.into(), source };
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.is_dir() {
            collect(&path, extension, files)?;
        } else if extension == "*" || path.extension().is_some_and(|found| found == extension) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_rounded_down_to_two_digits() {
        assert_eq!([7, 99, 100, 1_173, 98_765].map(at_least), ["7", "99", "100+", "1,100+", "98,000+"]);
    }
}
