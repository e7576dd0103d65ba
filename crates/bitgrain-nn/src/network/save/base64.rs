//! Base64 (RFC 4648) with padding, strict: one text for each run of bytes.

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().chain([0, 0].iter()).take(3).fold(0, |group, byte| group << 8 | u32::from(*byte));
        for at in 0..4 {
            let letter = LETTERS[(group >> (18 - 6 * at) & 63) as usize];
            text.push(if at <= chunk.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

/// The bytes, or the index of the first character that is wrong.
pub(super) fn decode(text: &str) -> Result<Vec<u8>, usize> {
    let text = text.as_bytes();
    if !text.len().is_multiple_of(4) {
        return Err(text.len());
    }
    let padding = text.iter().rev().take(2).take_while(|letter| **letter == b'=').count();
    let letters = &text[..text.len() - padding];
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for (i, chunk) in letters.chunks(4).enumerate() {
        let mut group = 0_u32;
        for (at, letter) in chunk.iter().enumerate() {
            group |= value(*letter).ok_or(4 * i + at)? << (18 - 6 * at);
        }
        let [_, whole @ ..] = group.to_be_bytes();
        let (kept, left) = whole.split_at(chunk.len() - 1);
        // Bits behind the last byte are 0, or two texts would mean the same.
        if left.iter().any(|byte| *byte != 0) {
            return Err(4 * i + chunk.len() - 1);
        }
        bytes.extend_from_slice(kept);
    }
    Ok(bytes)
}

fn value(letter: u8) -> Option<u32> {
    let (from, add) = match letter {
        b'A'..=b'Z' => (b'A', 0),
        b'a'..=b'z' => (b'a', 26),
        b'0'..=b'9' => (b'0', 52),
        b'+' => (b'+', 62),
        b'/' => (b'/', 63),
        _ => return None,
    };
    Some(u32::from(letter - from) + add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_those_of_the_standard() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text), Ok(bytes.as_bytes().to_vec()));
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(decode(&encode(&all)), Ok(all));
    }

    #[test]
    fn anything_else_is_refused() {
        for (text, at) in
            [("Zg=", 3), ("Zh==", 1), ("Zm9=", 2), ("Z===", 1), ("====", 0), ("Zm 9v000", 2), ("Zg==Zg==", 2)]
        {
            assert_eq!(decode(text), Err(at), "{text}");
        }
    }
}
