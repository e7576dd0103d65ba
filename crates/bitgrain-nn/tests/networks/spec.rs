//! Compares the layers in the specification's table with the code.

use bitgrain_nn::network::layer::Layer;

#[test]
fn the_specification_lists_every_kind_of_layer() {
    let text = include_str!("../../../../spec/network.md");
    let rows =
        text.lines().skip_while(|line| !line.starts_with("| kind |")).skip(2).take_while(|line| line.starts_with('|'));
    let kinds: Vec<&str> = rows.filter_map(|row| row.split('`').nth(1)).collect();
    assert_eq!(kinds, Layer::KINDS);
}
