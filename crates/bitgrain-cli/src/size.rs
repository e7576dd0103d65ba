//! Sizes as command-line arguments: `60MB`, `1.5 GiB`, `4096`.

use bytesize::ByteSize;

/// Parses a number of bytes, which must be positive.
pub(crate) fn parse(text: &str) -> Result<u64, String> {
    // Finite and in range, because the crate converts floats with `as`.
    match text.trim().parse::<ByteSize>() {
        Ok(ByteSize(bytes)) if (1..9_000_000_000_000_000_000).contains(&bytes) => Ok(bytes),
        _ => Err(format!("`{text}` is not a size; use for example 60MB, 1.5GiB or 4096")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimal_and_binary_units_are_parsed() {
        assert_eq!(parse("60MB"), Ok(60_000_000));
        assert_eq!(parse("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(parse("4096"), Ok(4096));
        assert_eq!(parse("512b"), Ok(512));
        assert_eq!(parse("3k"), Ok(3000));
        assert_eq!(parse(" 2 TiB "), Ok(2 << 40));
        for wrong in ["", "MB", "-1MB", "0", "0.1", "1e99GB", "60 apples", "nan"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
