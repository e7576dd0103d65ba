//! Names from files, as text of the page. `maud` does the escaping.

use maud::{Markup, html};

/// Replaces control characters, which HTML does not allow, with the replacement character.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Renders a long name with line-break opportunities after dots, slashes and underscores.
pub(super) fn breakable(name: &str) -> Markup {
    html! { @for part in name.split_inclusive(['.', '/', '_']) { (clean(part)) wbr; } }
}
