//! Bit packing of codes of 1 to 32 bits without gaps, least significant bit first.

/// Smallest number of bits that holds codes up to `max`.
pub(super) fn bits_for(max: u32) -> u32 {
    (u32::BITS - max.leading_zeros()).max(1)
}

/// Size in bytes of `count` packed codes.
pub(super) fn packed_len(count: usize, bits: u32) -> usize {
    (count * bits as usize).div_ceil(8)
}

/// Packs codes, which must fit `bits`; unused bits of the last byte are zero.
pub(super) fn pack(codes: impl Iterator<Item = u32>, bits: u32, out: &mut [u8]) {
    let (mut word, mut held, mut at) = (0_u64, 0, 0);
    for code in codes {
        word |= u64::from(code) << held;
        held += bits;
        if held >= 32 {
            out[at..at + 4].copy_from_slice(&word.to_le_bytes()[..4]);
            (word, held, at) = (word >> 32, held - 32, at + 4);
        }
    }
    let rest = held.div_ceil(8) as usize;
    out[at..at + rest].copy_from_slice(&word.to_le_bytes()[..rest]);
}

/// Returns the code at a position.
pub(super) fn get(bytes: &[u8], bits: u32, at: usize) -> u32 {
    let bit = at * bits as usize;
    let mut window = [0; 8];
    // 32 bits that start inside a byte span five bytes.
    let from = &bytes[bit / 8..bytes.len().min(bit / 8 + 5)];
    window[..from.len()].copy_from_slice(from);
    let word = u64::from_le_bytes(window) >> (bit % 8) & (u64::MAX >> (64 - bits));
    #[expect(clippy::cast_possible_truncation, reason = "masked to at most 32 bits")]
    let code = word as u32;
    code
}

#[cfg(test)]
mod tests {
    use bitgrain_kernels::codes::pack_u16;
    use bitgrain_kernels::{Backend, UnsignedWidth};

    use super::*;

    #[test]
    fn codes_of_every_width_round_trip() {
        for bits in 1..=32 {
            let max = u32::MAX >> (32 - bits);
            let codes: Vec<u32> = (0..100_u32).map(|i| i.wrapping_mul(0x9E37_79B9) & max).chain([max]).collect();
            let mut bytes = vec![0; packed_len(codes.len(), bits)];
            pack(codes.iter().copied(), bits, &mut bytes);
            assert!(codes.iter().enumerate().all(|(at, &code)| get(&bytes, bits, at) == code), "{bits} bits");
            assert_eq!(bits_for(max), bits);
        }
    }

    #[test]
    fn the_bit_order_is_that_of_the_kernels() {
        for bits in 1..=16 {
            let width = UnsignedWidth::new(bits).expect("in range");
            let codes: Vec<u16> = (0..77_u16).map(|i| i.wrapping_mul(40_503) & width.max_code()).collect();
            let mut want = vec![0; width.packed_len(codes.len())];
            pack_u16(Backend::best(), width, &codes, &mut want).expect("room");
            let mut got = vec![0; want.len()];
            pack(codes.iter().map(|&code| code.into()), bits.into(), &mut got);
            assert_eq!(got, want, "{bits} bits");
        }
    }
}
