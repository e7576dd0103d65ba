//! Compares the table of `spec/ggml.md` with `GgmlBlock`.

use bitgrain_kernels::ggml::GgmlBlock;

#[test]
fn the_table_of_the_specification_lists_every_format() {
    let text = include_str!("../../../../spec/ggml.md");
    let rows = text.lines().skip_while(|line| !line.starts_with("| format | weights |")).skip(2);
    let listed: Vec<[String; 4]> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            <[&str; 4]>::try_from(cells).unwrap_or_else(|_| panic!("four cells: {line}")).map(str::to_owned)
        })
        .collect();
    let known = GgmlBlock::ALL.map(|block| {
        let bits = block.bytes() as f64 * 8.0 / block.weights() as f64;
        [block.name().to_uppercase(), block.weights().to_string(), block.bytes().to_string(), bits.to_string()]
    });
    assert_eq!(listed[..2], [["F16", "1", "2", "16"], ["BF16", "1", "2", "16"]].map(|row| row.map(str::to_owned)));
    assert_eq!(listed[2..], known);
}

#[test]
fn every_format_has_a_section() {
    let text = include_str!("../../../../spec/ggml.md");
    for block in GgmlBlock::ALL {
        let heading = format!("\n## {}\n", block.name().to_uppercase());
        assert_eq!(text.matches(&heading).count(), 1, "{block:?}");
    }
}
