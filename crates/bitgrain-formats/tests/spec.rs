//! Compares the tables of `spec/containers.md`, `spec/tables.md` and `spec/segment.md` with the code.

use std::collections::BTreeSet;

use bitgrain_formats::gguf::TensorType;
use bitgrain_formats::safetensors::Dtype;

const SPEC: &str = concat!(
    include_str!("../../../spec/containers.md"),
    include_str!("../../../spec/tables.md"),
    include_str!("../../../spec/segment.md")
);

/// Returns the rows of the first table after `heading` whose header starts with `first`.
fn rows(heading: &str, first: &str) -> Vec<Vec<&'static str>> {
    let section = SPEC.lines().skip_while(|line| *line != heading);
    let table = section.skip_while(|line| !line.starts_with(first)).skip(2).take_while(|line| line.starts_with('|'));
    table.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect()).collect()
}

#[test]
fn tensor_types_have_the_sizes_of_the_table() {
    let listed = rows("### Tensor types", "| id |");
    let known = TensorType::ALL.map(|kind| {
        let numbers = [kind.block_weights(), kind.block_bytes()].map(|number| number.to_string());
        [kind.id().to_string(), kind.name().into()].into_iter().chain(numbers).collect::<Vec<_>>()
    });
    assert_eq!(listed, known);
}

#[test]
fn dtypes_have_the_bits_of_the_table() {
    let known = Dtype::ALL.map(|dtype| vec![dtype.name().to_owned(), dtype.bits().to_string()]);
    assert_eq!(rows("## safetensors", "| dtype |"), known);
}

/// Returns the variants of the error enum in `source`: lines that start with a capital at the depth of the enum.
fn variants(source: &str) -> BTreeSet<&str> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("    "));
    let named = lines.filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()));
    named.map(|line| line.split([' ', ',', '(']).next().unwrap_or(line)).collect()
}

#[test]
fn every_error_has_a_rule() {
    for (heading, source) in [
        ("### Errors of a GGUF reader", include_str!("../src/gguf/error.rs")),
        ("### Errors of a safetensors reader", include_str!("../src/safetensors/error.rs")),
        ("## npy", include_str!("../src/npy/error.rs")),
        ("## npz", include_str!("../src/npz/error.rs")),
        ("## CSV", include_str!("../src/csv/error.rs")),
        ("## libsvm", include_str!("../src/libsvm/error.rs")),
        ("## Invalid segments", include_str!("../src/segment/error.rs")),
    ] {
        let listed: BTreeSet<&str> = rows(heading, "| rule |").into_iter().map(|row| row[1]).collect();
        assert_eq!(listed, variants(source), "{heading}");
        assert!(listed.len() > 2, "{heading}");
    }
}
