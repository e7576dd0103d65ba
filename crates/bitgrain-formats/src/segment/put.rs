//! Encoding of numbers and strings.

/// Writes a varint: seven bits per byte, lowest first; the top bit marks continuation.
pub(super) fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(low_byte(value) | 0x80);
        value >>= 7;
    }
    out.push(low_byte(value));
}

const fn low_byte(value: u64) -> u8 {
    value.to_le_bytes()[0]
}

/// Writes `value` as a zigzag varint of the distance from `base`: small distances in either direction take few bytes.
pub(super) fn delta(out: &mut Vec<u8>, value: u64, base: u64) {
    let away = value.wrapping_sub(base).cast_signed();
    varint(out, (away << 1 ^ away >> 63).cast_unsigned());
}

/// Writes a string: length in bytes, then the bytes.
pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    varint(out, text.len() as u64);
    out.extend_from_slice(text.as_bytes());
}

/// Returns the size of a [`varint`] in bytes.
pub(super) const fn varint_len(value: u64) -> usize {
    (70 - (value | 1).leading_zeros() as usize) / 7
}

#[cfg(test)]
mod tests {
    use super::super::cursor::Cursor;
    use super::*;

    #[test]
    fn varints_and_deltas_round_trip_at_every_bit() {
        let near = (0..64).flat_map(|bit| [1u64 << bit, (1u64 << bit) - 1, !(1u64 << bit)]);
        for value in near.chain([u64::MAX]) {
            let mut bytes = Vec::new();
            varint(&mut bytes, value);
            assert_eq!(bytes.len(), varint_len(value), "{value}");
            assert_eq!(Cursor::new(&bytes, 0).varint("number"), Ok(value));
            for base in [0, 5, u64::MAX, 1 << 63] {
                let mut bytes = Vec::new();
                delta(&mut bytes, value, base);
                assert_eq!(Cursor::new(&bytes, 0).delta("number", base), Ok(value));
            }
        }
    }

    #[test]
    fn small_distances_take_one_byte_in_both_directions() {
        for value in [1000 - 64, 1000 + 63] {
            let mut bytes = Vec::new();
            delta(&mut bytes, value, 1000);
            assert_eq!(bytes.len(), 1, "{value}");
        }
    }
}
