//! `escape`: names from files, made safe to stand anywhere in a page.

/// Text for an element or a quoted attribute. What would end either becomes an entity; control characters, which HTML
/// does not allow, become the replacement character.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if c.is_control() => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    out
}

/// A long name with places where a line may break: behind dots, slashes and underscores.
pub(super) fn breakable(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for part in name.split_inclusive(['.', '/', '_']) {
        out.push_str(&escape(part));
        out.push_str("<wbr>");
    }
    out
}
