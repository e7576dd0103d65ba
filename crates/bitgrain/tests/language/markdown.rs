//! Lines of a document outside code blocks.

use crate::passage::{Passage, Place};

pub(crate) fn passages(source: &str) -> Vec<Passage> {
    let mut is_code = false;
    let mut found = Vec::new();
    for (at, line) in source.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            found.push(Passage { place: Place::Document, line: at + 1, text: line.to_owned() });
        }
    }
    found
}
