//! Public type names are unique among the crates of the workspace, so that a search for a name finds one type.
//!
//! Modules of one crate may share a noun that is always used with its module, such as `gguf::Header` and `npy::Header`.

mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use sources::{crates, rust_files};

/// Libraries whose types users name.
const LIBRARIES: [&str; 7] = ["kernels", "codec", "files", "formats", "gbdt", "nn", "store"];

/// Names that several crates may define, with the reason.
const SHARED: &[(&str, &str)] = &[
    (
        "BinCode",
        "kernels: the integer type of a bin; formats: the encoding of a bin in a byte, written with its module",
    ),
    ("Model", "formats: models of LightGBM and XGBoost as parsed, written with their module; gbdt: the model"),
    ("Objective", "formats: an objective as XGBoost names it, written with its module"),
    ("Tree", "formats: trees of LightGBM and XGBoost as parsed, written with their module"),
    ("ScaleType", "formats: as stored in a segment; codec: as computed with"),
];

#[test]
fn public_type_names_are_unique_across_crates() {
    let mut places: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for library in LIBRARIES {
        for file in rust_files(&sources_of(library)) {
            let source = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            for name in source.lines().filter_map(public_type) {
                places.entry(name.to_owned()).or_default().insert(library);
            }
        }
    }
    assert!(places.len() > 200, "the scan found only {} types", places.len());
    let shared = |name: &str| SHARED.iter().any(|(known, _)| *known == name);
    let repeated: Vec<_> = places.iter().filter(|(name, crates)| crates.len() > 1 && !shared(name)).collect();
    assert!(repeated.is_empty(), "public types of more than one crate: {repeated:?}");
    let is_repeated = |name: &str| places.get(name).is_some_and(|crates| crates.len() > 1);
    let stale: Vec<_> = SHARED.iter().filter(|(name, _)| !is_repeated(name)).collect();
    assert!(stale.is_empty(), "entries of SHARED that at most one crate defines; remove them: {stale:?}");
}

/// Returns the name of the public type that a line defines. `unreachable_pub` keeps private modules from using `pub`.
fn public_type(line: &str) -> Option<&str> {
    let line = line.trim_start().strip_prefix("pub ")?;
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    let rest = ["struct ", "enum ", "trait ", "union ", "type "].iter().find_map(|kind| line.strip_prefix(kind))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

fn sources_of(library: &str) -> PathBuf {
    crates().join(format!("bitgrain-{library}/src"))
}
