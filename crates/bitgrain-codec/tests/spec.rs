//! Compares the tables of `spec/blocks.md` with the code.

use bitgrain_codec::{BitWidth, BlockFormat, bound};

const SPEC: &str = include_str!("../../../spec/blocks.md");

/// Returns the cells of the rows below the header that starts with `first`.
fn table(first: &str) -> Vec<Vec<String>> {
    let mut lines = SPEC.lines().skip_while(|line| !line.starts_with(first));
    assert!(lines.next().is_some(), "no table starts with {first}");
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| row.trim_matches('|').split('|').map(|c| c.trim().trim_matches('`').to_owned()).collect();
    rows.map(cells).collect()
}

#[test]
fn the_table_of_formats_is_correct() {
    let rows = table("| format | bits | qmax");
    assert_eq!(rows.len(), BitWidth::ALL.len() + 1, "a row for every format");
    for row in rows {
        let width = BitWidth::new(row[1].parse().expect("bits")).expect("in range");
        let format = if row[0] == "b3x2" { BlockFormat::two_level() } else { BlockFormat::new(width) };
        assert_eq!(format.width(), width, "{row:?}");
        assert_eq!(row[2], width.qmax().to_string(), "{row:?}");
        assert_eq!(row[3], if width == BitWidth::W8 { "0".to_owned() } else { width.qmax().to_string() }, "{row:?}");
        let bytes = u16::try_from(format.encoded_len(64)).expect("small");
        assert_eq!(row[4], bytes.to_string(), "{row:?}");
        assert_eq!(row[5], format!("{:.2}", 256.0 / f32::from(bytes)), "{row:?}");
    }
}

#[test]
fn the_table_of_errors_is_correct() {
    let rows = table("| bits | largest error");
    assert_eq!(rows.len(), BitWidth::ALL.len());
    for row in rows {
        let width = BitWidth::new(row[0].parse().expect("bits")).expect("in range");
        let stated: f32 = row[1].parse().expect("a number");
        let measured = bound(width, 1.0);
        assert!((stated - measured).abs() < 1e-5, "{row:?}: the bound is {measured}");
    }
}

/// Returns the bytes of a field of `n` values, as written in the layout tables.
fn field_bytes(formula: &str, n: usize, bits: usize) -> usize {
    match formula {
        "4" => 4,
        "ceil(n / 8)" => n.div_ceil(8),
        "ceil(n * 3 / 8)" => (n * 3).div_ceil(8),
        "ceil(n * bits / 8)" => (n * bits).div_ceil(8),
        other => panic!("the test does not know the formula {other}"),
    }
}

#[test]
fn the_layout_tables_add_up_to_the_blocks() {
    let layouts: Vec<Vec<String>> = table("| offset | bytes | field |");
    let two_level = SPEC.split("## Two-level blocks").nth(1).expect("the section");
    let fields = two_level.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| offset")).take(4);
    let fields: Vec<String> = fields.map(|l| l.split('|').nth(2).expect("cells").trim().to_owned()).collect();
    for n in [1, 7, 8, 63, 64] {
        for width in BitWidth::ALL {
            let sum: usize = layouts.iter().map(|row| field_bytes(&row[1], n, width.bits().into())).sum();
            assert_eq!(sum, BlockFormat::new(width).encoded_len(n), "{width:?} {n}");
        }
        let sum: usize = fields.iter().map(|formula| field_bytes(formula, n, 3)).sum();
        assert_eq!(sum, BlockFormat::two_level().encoded_len(n), "two-level {n}");
    }
}
