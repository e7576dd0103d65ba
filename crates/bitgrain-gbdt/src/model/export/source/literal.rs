//! Literals of the languages.

use std::fmt::Display;

/// Returns an f64 as a hexadecimal literal of C99, which every compiler reads exactly.
pub(super) fn c_number(value: f64) -> String {
    if value.is_infinite() {
        return if value > 0.0 { "INFINITY".into() } else { "-INFINITY".into() };
    }
    let bits = value.to_bits();
    let (exponent, mantissa) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let exponent = i64::try_from(exponent).unwrap_or(0);
    match (exponent, mantissa) {
        (0, 0) => format!("{sign}0.0"),
        (0, mantissa) => format!("{sign}0x0.{mantissa:013x}p-1022"),
        (exponent, mantissa) => {
            let digits = format!("{mantissa:013x}");
            format!("{sign}0x1.{}p{}", digits.trim_end_matches('0'), exponent - 1023).replace(".p", "p")
        }
    }
}

/// Returns an f64 as a literal of Rust: the shortest decimal number that reads back.
pub(super) fn rust_number(value: f64) -> String {
    match value {
        f64::INFINITY => "f64::INFINITY".into(),
        f64::NEG_INFINITY => "f64::NEG_INFINITY".into(),
        value => format!("{value:?}"),
    }
}

/// Returns a string literal of C: bytes other than plain ASCII are octal escapes of three digits.
pub(super) fn c_string(text: &str) -> String {
    let escape = |byte: u8| match byte {
        // A question mark could start a trigraph.
        b' '..=b'~' if !b"\"\\?".contains(&byte) => char::from(byte).to_string(),
        byte => format!("\\{byte:03o}"),
    };
    format!("\"{}\"", text.bytes().map(escape).collect::<String>())
}

/// Returns the name of an objective for a comment, without characters that could end the comment.
pub(super) fn comment(text: &str) -> String {
    text.chars().filter(|&character| character.is_ascii_alphanumeric() || "_:.,- ".contains(character)).collect()
}

/// Joins items, a few per line.
pub(super) fn lines<T: Display>(items: impl IntoIterator<Item = T>, per_line: usize) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    let rows: Vec<String> = items.chunks(per_line).map(|row| format!("    {},\n", row.join(", "))).collect();
    rows.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_c_are_exact() {
        assert_eq!(c_number(1.0), "0x1p0");
        assert_eq!(c_number(-0.1), "-0x1.999999999999ap-4");
        assert_eq!(c_number(-0.0), "-0.0");
        assert_eq!(c_number(5e-324), "0x0.0000000000001p-1022");
        assert_eq!(c_number(f64::MAX), "0x1.fffffffffffffp1023");
        assert_eq!(c_number(f64::NEG_INFINITY), "-INFINITY");
    }

    #[test]
    fn strings_of_c_are_plain_ascii() {
        assert_eq!(c_string("a\"b\\?\ngrün 1"), r#""a\042b\134\077\012gr\303\274n 1""#);
    }
}
