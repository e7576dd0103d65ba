//! Comments, docstrings and string literals of a Python file.

use crate::passage::{Passage, Place};

/// Delimiter of docstrings, as the formatter writes it.
const TRIPLE: &str = "\"\"\"";

/// Returns the passages of a file. Literals in tests are left out: they quote messages and input.
pub(crate) fn passages(source: &str, is_test: bool) -> Vec<Passage> {
    let mut found = Vec::new();
    // Place of the paragraphs in the triple-quoted string that is open.
    let mut open: Option<Place> = None;
    for (at, line) in source.lines().enumerate() {
        let trimmed = line.trim();
        let quotes = trimmed.matches(TRIPLE).count();
        let mut push = |place, text: &str| found.push(Passage { place, line: at + 1, text: text.to_owned() });
        if let Some(place) = open {
            // Doctests are code.
            if !trimmed.starts_with(">>>") && !trimmed.starts_with("...") {
                push(place, trimmed.trim_end_matches('"'));
            }
        } else if let Some(comment) = trimmed.strip_prefix('#') {
            push(Place::Comment, comment.trim());
        } else if let Some(doc) = trimmed.trim_start_matches('r').strip_prefix(TRIPLE) {
            push(Place::Doc, doc.trim_end_matches('"'));
        } else {
            literals(line).filter(|text| text.contains(' ')).for_each(|text| push(Place::Literal, text));
        }
        if quotes % 2 == 1 {
            let is_docstring = trimmed.trim_start_matches('r').starts_with(TRIPLE);
            let place = if is_docstring { Place::Comment } else { Place::Literal };
            open = if open.is_some() { None } else { Some(place) };
        }
    }
    found.retain(|passage| !is_test || passage.place != Place::Literal);
    found
}

/// Returns the contents of the double-quoted strings in a line; the formatter uses no other quotes for prose.
fn literals(line: &str) -> impl Iterator<Item = &str> {
    line.split('"').skip(1).step_by(2)
}
