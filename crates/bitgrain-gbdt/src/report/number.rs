//! Number formatting of the page.

/// Converts a count; counts are far below 2^53.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn float(count: usize) -> f64 {
    count as f64
}

/// Formats a number with four significant digits, without trailing zeros.
pub(super) fn short(value: f64) -> String {
    let text = figure(value);
    let is_plain = text.contains('.') && !text.contains('e');
    if is_plain { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// Formats a number with four significant digits.
pub(super) fn figure(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !size.is_finite() {
        return value.to_string();
    }
    if !(1e-4..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (0..8).find(|&decimals| size * 10_f64.powi(decimals) >= 999.5).unwrap_or(8);
    format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
}

/// Formats a share as a percentage.
pub(super) fn percent(share: f64) -> String {
    if !share.is_finite() {
        return "–".to_owned();
    }
    if share == 0.0 || share >= 0.0995 { format!("{:.0} %", 100.0 * share) } else { format!("{:.1} %", 100.0 * share) }
}

/// Formats a count with thin spaces between groups of three digits.
pub(super) fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Replaces control characters, which HTML does not allow, and shortens long names.
pub(super) fn clean(text: &str) -> String {
    const LONG: usize = 80;
    let clean = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
    let mut short: String = text.chars().take(LONG).map(clean).collect();
    if text.chars().nth(LONG).is_some() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let cases = [(0.0, "0"), (0.012_345_6, "0.01235"), (1234.5, "1234"), (0.5, "0.5"), (-2.25, "-2.25")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!((figure(20.0), short(20.0)), ("20.00".to_owned(), "20".to_owned()));
        assert_eq!(short(123_456.0), "123456");
        assert_eq!(short(1.2e-9), "1.20e-9");
        assert_eq!(percent(0.123), "12 %");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(grouped(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(clean("a\u{7}b"), "a\u{fffd}b");
    }
}
