//! `Special`: tokens that are found in a text before it is split.

use std::collections::HashMap;

/// Tokens by their first byte, the longest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Special(HashMap<u8, Vec<Token>>);

#[derive(Debug, Clone)]
struct Token {
    text: Box<str>,
    id: u32,
    /// Whether the token controls the model, so that a plain text must not contain it.
    control: bool,
}

impl Special {
    pub(super) fn insert(&mut self, text: &str, id: u32, control: bool) {
        let Some(first) = text.bytes().next() else { return };
        let tokens = self.0.entry(first).or_default();
        let at = tokens.partition_point(|other| other.text.len() >= text.len());
        tokens.insert(at, Token { text: text.into(), id, control });
    }

    /// Returns the text before the first token, that token, and the text after it. Control tokens count only if
    /// `control`; of tokens that start at the same place, the longest counts.
    pub(super) fn find<'a>(&self, text: &'a str, control: bool) -> (&'a str, Option<(u32, &'a str)>) {
        for (at, byte) in text.bytes().enumerate() {
            let Some(tokens) = self.0.get(&byte) else { continue };
            let rest = &text.as_bytes()[at..];
            let found =
                tokens.iter().find(|token| (control || !token.control) && rest.starts_with(token.text.as_bytes()));
            if let Some(token) = found {
                return (&text[..at], Some((token.id, &text[at + token.text.len()..])));
            }
        }
        (text, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_token_at_the_first_place_counts() {
        let mut special = Special::default();
        for (id, (text, control)) in (0..).zip([("<a>", true), ("\n", false), ("\n\n", false), ("<a><b>", true)]) {
            special.insert(text, id, control);
        }
        assert_eq!(special.find("x<a><b>y", true), ("x", Some((3, "y"))));
        assert_eq!(special.find("x<a>\n\n\n", false), ("x<a>", Some((2, "\n"))));
        assert_eq!(special.find("\u{e9}", true), ("\u{e9}", None));
    }
}
