//! Decodes any bytes as a tensor of any format, completely and in part: finite values or a typed error, without a
//! panic.
//!
//! Input: one byte each for the format and the block length, two for the number of values, two for each end of a
//! range, then the bytes to decode. Spec: `spec/blocks.md`.

use bitgrain::codec::{BitWidth, BlockFormat, BlockLen};

/// Runs the target on one input; a panic is a finding.
pub fn run(input: &[u8]) {
    let Some((&[format, block, count @ .., start_low, start_high, end_low, end_high], bytes)) =
        input.split_first_chunk::<8>()
    else {
        return;
    };
    let widths = BitWidth::ALL.into_iter().map(BlockFormat::new).chain([BlockFormat::two_level()]);
    let formats: Vec<BlockFormat> = widths.collect();
    let Ok(block) = BlockLen::new(8 * (1 + usize::from(block))) else { return };
    let format = formats[usize::from(format) % formats.len()].with_block_len(block);
    let count = usize::from(u16::from_le_bytes(count) % 4097);
    let range =
        usize::from(u16::from_le_bytes([start_low, start_high]))..usize::from(u16::from_le_bytes([end_low, end_high]));

    let mut part = vec![0.0; range.len()];
    let partial = format.decode_range(bytes, count, range.clone(), &mut part);
    let Ok(whole) = format.decode(bytes, count) else { return };
    assert!(whole.iter().all(|value| value.is_finite()));
    assert!(format.bound(bytes, count).is_ok(), "what decodes has a bound");
    match whole.get(range) {
        Some(want) => assert_eq!((partial, &part[..]), (Ok(()), want), "a part reads like the whole"),
        None => assert!(partial.is_err(), "a range outside the tensor is refused"),
    }
}
