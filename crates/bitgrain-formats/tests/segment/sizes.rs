//! Overhead of records in bytes.

use bitgrain_codec::{BitWidth, BlockFormat, BlockLen};
use bitgrain_formats::segment::*;

use crate::samples::{self, HEADER};

/// Returns the bytes per tensor of 1,000 values at 8 bits in blocks of 128, in a sealed segment of 64 MiB.
fn cost(name: impl Fn(u64) -> String) -> f64 {
    let format = BlockFormat::new(BitWidth::W8).with_block_len(BlockLen::new(128).expect("a multiple of eight"));
    let body = vec![0; format.encoded_len(1000)];
    let mut index = IndexBuilder::new(&HEADER);
    let mut draft = Draft::new(body.len());
    let count = 62_000;
    for i in 0..count {
        let (name, time) = (name(i), HEADER.base_time + i / 20);
        let accuracy = Accuracy::new(0.004, 0.0039);
        let tensor = TensorHead {
            accuracy,
            created: time,
            updated: time,
            ..samples::tensor(&[1000], 1, Encoding::Blocks(format))
        };
        let stamp = Stamp { sequence: HEADER.base_sequence + i, batch_left: 0, pending: None, time };
        let head = Head { stamp, content: Content::Tensor(IdRef::Name(&name), tensor) };
        let len = draft.finish(&HEADER, &head).expect("a good record").len();
        index.push(&head, len as u64).expect("a good record");
    }
    (index.end() + index.finish(&HEADER).len() as u64) as f64 / count as f64
}

#[test]
fn a_thousand_values_at_eight_bits_are_3_7_times_smaller_than_f32() {
    let in_order = cost(|i| format!("t{i:06}"));
    let in_any_order = cost(|i| format!("t{:06}", i * 7919 % 62_000));
    assert!(in_order <= 1081.0, "{in_order}");
    assert!(in_any_order <= 1081.0, "{in_any_order}");
}
