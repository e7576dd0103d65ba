//! Names from files, as text of a page. Escaping is left to `maud`.

use maud::{Markup, html};

/// Replaces control characters, which HTML does not allow, with the replacement character.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A long name with places where a line may break: after dots, slashes and underscores.
pub(super) fn breakable(name: &str) -> Markup {
    html! { @for part in name.split_inclusive(['.', '/', '_']) { (clean(part)) wbr; } }
}
