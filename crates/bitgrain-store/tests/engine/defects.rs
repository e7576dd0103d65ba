//! Every test that `docs/crash-tests.md` names for a defect exists.

use std::fs;
use std::path::{Path, PathBuf};

const PAGE: &str = include_str!("../../../../docs/crash-tests.md");

/// Returns all sources below a folder.
fn sources(folder: PathBuf) -> String {
    let mut all = String::new();
    for entry in fs::read_dir(folder).expect("the sources").map(|entry| entry.expect("a name").path()) {
        if entry.is_dir() {
            all.push_str(&sources(entry));
        } else if entry.extension().is_some_and(|extension| extension == "rs" || extension == "py") {
            all.push_str(&fs::read_to_string(entry).expect("text"));
        }
    }
    all
}

#[test]
fn the_tests_of_known_defects_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rust = sources(root.join("crates/bitgrain-store/tests"));
    let python = sources(root.join("bindings/python/tests"));
    let table = PAGE.split("<!-- table defects -->").nth(1).and_then(|rest| rest.split("<!-- end -->").next());
    let rows = table.expect("the table").lines().filter(|line| line.starts_with('|')).skip(2);
    let cells = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    let tests: Vec<&str> = cells.flat_map(|cell| cell.split(',')).map(|name| name.trim().trim_matches('`')).collect();
    assert!(tests.len() > 20, "{tests:?}");
    for test in tests {
        let definition = if test.starts_with("test_") { format!("def {test}(") } else { format!("fn {test}(") };
        let found = if test.starts_with("test_") { &python } else { &rust };
        assert!(found.contains(&definition), "no test `{test}`");
    }
}
