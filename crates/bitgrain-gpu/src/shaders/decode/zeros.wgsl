// Zero points of at most 32 bits, packed least significant bit first in each row.
fn zero_point(row: u32, start: u32, bits: u32) -> u32 {
    var index = 0u;
    var first = 0u;
    if p.whole == 0u {
        index = start / p.group;
        first = row * p.zero_bytes;
    }
    let bit = index * bits;
    let at = first + (bit >> 3u);
    let word = zeros[at >> 2u] >> ((at & 3u) * 8u + (bit & 7u));
    // No zero point crosses a word: those of 32 and 16 bits are aligned, and rows of others start at a byte.
    if bits == 32u {
        return word;
    }
    return word & ((1u << bits) - 1u);
}

// The difference of two unsigned numbers, as a float.
fn difference(code: u32, zero: u32) -> f32 {
    if code >= zero {
        return f32(code - zero);
    }
    return -f32(zero - code);
}
