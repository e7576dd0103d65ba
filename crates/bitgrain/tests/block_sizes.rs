//! Block sizes are defined once, by `BlockQ4_0`, `BlockQ8_0` and `BlockQ4F32`; other code must not repeat the numbers.

mod sources;

use std::fs;

use sources::{crates, rust_files};

/// Crates that read blocks but do not define them.
const READERS: [&str; 4] = ["bitgrain-nn", "bitgrain-formats", "bitgrain-store", "bitgrain-cli"];

/// Sizes of Q4_0, Q4F32 and Q8_0 in bytes.
const SIZES: [&str; 3] = ["18", "20", "34"];

#[test]
fn block_sizes_are_not_repeated_as_numbers() {
    for file in READERS.iter().flat_map(|name| rust_files(&crates().join(name).join("src"))) {
        let source = fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        for (number, line) in (1..).zip(source.lines()).filter(|(_, line)| !line.trim_start().starts_with("//")) {
            let repeated = |size: &&str| {
                ["chunks_exact(", "chunks_exact_mut(", "chunks(", "as_chunks::<", "as_chunks_mut::<", "[u8; "]
                    .iter()
                    .any(|before| line.contains(&format!("{before}{size}")))
            };
            assert!(!SIZES.iter().any(repeated), "{}:{number}: {line}", file.display());
        }
    }
}
