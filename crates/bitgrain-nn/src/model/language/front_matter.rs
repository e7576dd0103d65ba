//! `FrontMatter`: the YAML header of a model card, as far as cards use YAML: strings and lists of strings at the top level.

use std::path::Path;

use super::LanguageConversionError;

/// Entries of a model card.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FrontMatter(Vec<(String, Entry)>);

#[derive(Debug, Clone, PartialEq, Eq)]
enum Entry {
    Text(String),
    List(Vec<String>),
}

impl FrontMatter {
    /// Reads the header of `README.md`; empty without one.
    pub(super) fn read(path: &Path) -> Result<Self, LanguageConversionError> {
        match std::fs::read(path) {
            Ok(bytes) => Ok(Self::parse(&String::from_utf8_lossy(&bytes))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(LanguageConversionError::Io { path: path.to_owned(), source }),
        }
    }

    fn parse(text: &str) -> Self {
        let mut lines = text.lines();
        if lines.next() != Some("---") {
            return Self::default();
        }
        let mut entries: Vec<(String, Entry)> = Vec::new();
        for line in lines.take_while(|line| *line != "---") {
            let bare = line.trim_start();
            if let Some(item) = bare.strip_prefix("- ").or((bare == "-").then_some("")) {
                if let (Some((_, Entry::List(list))), Some(text)) = (entries.last_mut(), scalar(item)) {
                    list.push(text);
                }
                continue;
            }
            // Indented lines belong to nested objects, such as evaluation results.
            if bare.len() != line.len() || bare.starts_with('#') {
                if let Some((key, Entry::List(_))) = entries.last_mut() {
                    key.push('\n');
                }
                continue;
            }
            let Some((key, value)) = line.split_once(':') else { continue };
            let value = value.trim();
            let entry = match value.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
                Some(inner) => Entry::List(inner.split(',').filter_map(scalar).collect()),
                None if value.is_empty() => Entry::List(Vec::new()),
                None => match scalar(value) {
                    Some(text) => Entry::Text(text),
                    None => continue,
                },
            };
            entries.push((key.trim().to_owned(), entry));
        }
        Self(entries)
    }

    /// Returns a string.
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.0.iter().find_map(|(own, entry)| match entry {
            Entry::Text(text) if own == key => Some(text.as_str()),
            _ => None,
        })
    }

    /// Returns a list, or a string as a list of one.
    pub(super) fn list(&self, key: &str) -> Option<Vec<String>> {
        let (_, entry) = self.0.iter().find(|(own, _)| own == key)?;
        Some(match entry {
            Entry::Text(text) => vec![text.clone()],
            Entry::List(list) => list.clone(),
        })
    }
}

/// Returns a string without quotes and comments; `None` for empty values and nested objects.
fn scalar(text: &str) -> Option<String> {
    let text = text.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = text.strip_prefix(quote) {
            return inner.split_once(quote).map(|(inner, _)| inner.to_owned());
        }
    }
    let text = text.split_once(" #").map_or(text, |(text, _)| text.trim_end());
    let nested = text.contains(": ") || text.ends_with(':');
    (!text.is_empty() && !nested && !matches!(text, "null" | "~" | "|" | ">")).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cards_of_real_models_are_read() {
        let card = "---\nlicense: apache-2.0\nlanguage:\n- en\n- \"no\"\ntags: [chat, 'small model']\nbase_model: a/b # c\n\
                    model-index:\n- name: x\n  results:\n    - task: y\nname: after\n---\nlicense: mit\n";
        let card = FrontMatter::parse(card);
        assert_eq!(card.text("license"), Some("apache-2.0"));
        assert_eq!(card.list("language"), Some(vec!["en".to_owned(), "no".to_owned()]));
        assert_eq!(card.list("tags"), Some(vec!["chat".to_owned(), "small model".to_owned()]));
        assert_eq!(
            (card.text("base_model"), card.text("name"), card.text("model-index")),
            (Some("a/b"), Some("after"), None)
        );
    }

    #[test]
    fn text_without_a_header_has_no_entries() {
        for text in ["", "# Title\n---\nlicense: mit\n---\n", "license: mit"] {
            assert_eq!(FrontMatter::parse(text), FrontMatter::default());
        }
    }
}
