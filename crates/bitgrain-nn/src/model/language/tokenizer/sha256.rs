//! SHA-256 (FIPS 180-4) of short strings.

const K: [u32; 64] = constants();

/// First 32 bits of the fractional parts of the cube roots of the first 64 primes, by integer arithmetic.
const fn constants() -> [u32; 64] {
    let (mut out, mut prime, mut count) = ([0; 64], 2_u128, 0);
    while count < 64 {
        let mut divisor = 2;
        while divisor * divisor <= prime && prime % divisor != 0 {
            divisor += 1;
        }
        if divisor * divisor > prime {
            out[count] = fraction(prime << 96, 3);
            count += 1;
        }
        prime += 1;
    }
    out
}

/// Returns the low 32 bits of the integer root of `scaled`.
#[expect(clippy::cast_possible_truncation, reason = "the low bits are the fraction")]
const fn fraction(scaled: u128, degree: u32) -> u32 {
    let (mut low, mut high) = (0_u128, 1_u128 << 40);
    while low + 1 < high {
        let middle = (low + high) / 2;
        if middle.pow(degree) <= scaled {
            low = middle;
        } else {
            high = middle;
        }
    }
    low as u32
}

/// Returns the hash as 64 hexadecimal digits.
pub(super) fn sha256(text: &[u8]) -> String {
    // Square roots of the first eight primes.
    let mut state = [2, 3, 5, 7, 11, 13, 17, 19].map(|prime: u128| fraction(prime << 64, 2));
    let mut message = text.to_vec();
    message.push(0x80);
    message.resize(message.len().next_multiple_of(64) + if message.len() % 64 > 56 { 64 } else { 0 }, 0);
    let end = message.len() - 8;
    message[end..].copy_from_slice(&(text.len() as u64 * 8).to_be_bytes());
    for block in message.as_chunks::<64>().0 {
        compress(&mut state, block);
    }
    state.map(|word| format!("{word:08x}")).concat()
}

fn compress(state: &mut [u32; 8], block: &[u8; 64]) {
    let mut w = [0_u32; 64];
    for (word, bytes) in w.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for i in 16..64 {
        let s0 = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ (w[i - 15] >> 3);
        let s1 = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16].wrapping_add(s0).wrapping_add(w[i - 7]).wrapping_add(s1);
    }
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = *state;
    for (w, k) in w.into_iter().zip(K) {
        let s1 = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let t1 = h.wrapping_add(s1).wrapping_add(e & f ^ !e & g).wrapping_add(k).wrapping_add(w);
        let s0 = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let t2 = s0.wrapping_add(a & b ^ a & c ^ b & c);
        (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(t1), c, b, a, t1.wrapping_add(t2));
    }
    for (old, new) in state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
        *old = old.wrapping_add(new);
    }
}

#[cfg(test)]
mod tests {
    use super::sha256;

    #[test]
    fn hashes_are_those_of_the_standard() {
        let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let long = "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
        assert_eq!([sha256(b""), sha256(b"abc")], [empty, abc]);
        assert_eq!(sha256(b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), long);
        let thousand = "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3";
        assert_eq!(sha256(&[b'a'; 1000]), thousand);
    }
}
