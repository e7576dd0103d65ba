//! `FeatureRef`: a feature by name or by position.

use serde_json::Value;

/// A feature by name or by position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureRef {
    /// 0-based position.
    Index(usize),
    /// Name of the column.
    Name(String),
}

impl FeatureRef {
    /// Converts a JSON number or string.
    pub(super) fn of_json(value: &Value) -> Result<Self, String> {
        match value {
            Value::String(name) => Ok(Self::Name(name.clone())),
            other => other
                .as_u64()
                .and_then(|index| usize::try_from(index).ok())
                .map(Self::Index)
                .ok_or_else(|| format!("`{other}` is not a feature name or a 0-based index")),
        }
    }

    /// Converts an unquoted word: an integer is a position.
    pub(super) fn of_word(word: &str) -> Result<Self, String> {
        match word.parse() {
            Ok(index) => Ok(Self::Index(index)),
            Err(_) if word.is_empty() => Err("a feature name is missing".to_owned()),
            Err(_) => Ok(Self::Name(word.to_owned())),
        }
    }

    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Index(index) => (*index).into(),
            Self::Name(name) => name.as_str().into(),
        }
    }

    /// Returns the position among the features; the error says that it is unknown.
    pub(crate) fn position(&self, names: &[String]) -> Result<usize, String> {
        match self {
            Self::Index(index) if *index < names.len() => Ok(*index),
            Self::Index(index) => Err(format!("feature index {index} (0-based) of {} features", names.len())),
            Self::Name(name) => position(name, names),
        }
    }
}

/// Returns the position of a name.
pub(super) fn position(name: &str, names: &[String]) -> Result<usize, String> {
    let nearest = || {
        let rated = names.iter().map(|known| (strsim::normalized_damerau_levenshtein(name, known), known));
        let best = rated.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.filter(|(similarity, _)| *similarity >= 0.5)
            .map_or_else(String::new, |(_, known)| format!("; did you mean `{known}`?"))
    };
    names.iter().position(|known| known == name).ok_or_else(|| format!("unknown feature `{name}`{}", nearest()))
}
