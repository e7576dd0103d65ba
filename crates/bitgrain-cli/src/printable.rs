//! Strings from files, made safe for a terminal.

use std::borrow::Cow;

/// Escapes control characters, which could move the cursor or change colors, as in Rust source.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(char::is_control) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    Cow::Owned(out)
}

/// Escapes and truncates a string to `most` characters; a truncated string ends in `…`.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    let mut out: String = printable(text).chars().take(most + 1).collect();
    if let Some((end, _)) = out.char_indices().nth(most) {
        out.truncate(end);
        out.pop();
        out.push('…');
    }
    out
}

/// Formats a count with its noun: `1 tensor`, `2 tensors`.
pub(crate) fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// Formats a shape as `384 x 1536`.
pub(crate) fn shape(dimensions: &[u64]) -> String {
    if dimensions.is_empty() {
        return "scalar".to_owned();
    }
    dimensions.iter().map(u64::to_string).collect::<Vec<_>>().join(" x ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_the_terminal() {
        assert_eq!(printable("a\u{1b}[31mb\n\u{9b}"), "a\\u{1b}[31mb\\n\\u{9b}");
        assert_eq!(printable("größe"), "größe");
    }

    #[test]
    fn long_text_is_truncated_with_a_mark() {
        assert_eq!(shortened("abcdef", 6), "abcdef");
        assert_eq!(shortened("abcdefg", 6), "abcde…");
        assert_eq!(shortened("ééééééé", 6), "ééééé…");
    }
}
