//! GPT-2's alphabet: a printable character for each byte, in which vocabularies of byte pairs are written.

/// Returns the byte that a character of a vocabulary stands for.
pub(super) fn byte_of(c: char) -> Option<u8> {
    let code = u32::from(c);
    let printable = matches!(code, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    if printable {
        return u8::try_from(code).ok();
    }
    // The other 68 bytes, in order, are written as the characters from 256 on.
    u8::try_from(match code.checked_sub(0x100)? {
        at @ 0..=32 => at,
        at @ 33..=66 => at - 33 + 0x7F,
        67 => 0xAD,
        _ => return None,
    })
    .ok()
}

/// Returns the bytes that a token stands for, or `None` if it has characters outside the alphabet.
pub(super) fn bytes_of(token: &str) -> Option<Vec<u8>> {
    token.chars().map(byte_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_character() {
        let mut found: Vec<u8> = (0..0x150).filter_map(char::from_u32).filter_map(byte_of).collect();
        assert_eq!(found.len(), 256);
        found.sort_unstable();
        found.dedup();
        assert_eq!(found.len(), 256);
        assert_eq!(bytes_of("\u{120}a\u{10a}"), Some(b" a\n".to_vec()));
        assert_eq!(bytes_of("a b"), None);
        assert_eq!(byte_of('\u{143}'), Some(0xAD));
    }
}
