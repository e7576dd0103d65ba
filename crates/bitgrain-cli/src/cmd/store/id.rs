//! Ids on the command line, in tables and in JSON.

use std::str::FromStr;

use bitgrain::store::TensorId;
use serde_json::{Value, json};

use crate::printable::shortened;

/// Id as written on the command line: a name, or `#` and a number.
#[derive(Debug, Clone)]
pub(super) struct Id(pub(super) TensorId);

impl FromStr for Id {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix('#').and_then(|digits| digits.parse::<u128>().ok());
        // `#007` is a name, so that every number has exactly one spelling.
        let number = number.filter(|number| text[1..] == number.to_string());
        Ok(Self(number.map_or_else(|| TensorId::from(text), TensorId::from)))
    }
}

/// Maximum number of characters of an id in tables; ids can have 65,536 bytes.
const SHOWN: usize = 60;

/// Formats an id for the terminal: on one line, without control characters.
pub(crate) fn shown(id: &TensorId) -> String {
    shortened(&written(id), SHOWN)
}

/// Formats an id as [`Id`] parses it, without escapes.
pub(super) fn written(id: &TensorId) -> String {
    match id {
        TensorId::Name(name) => name.to_string(),
        TensorId::Number(number) => format!("#{number}"),
    }
}

/// Adds the complete id to a JSON object. JSON has no 128-bit numbers, so a number becomes a
/// string of digits, and `id_kind` tells the two apart.
pub(super) fn with_id(id: &TensorId, mut about: Value) -> Value {
    (about["id"], about["id_kind"]) = match id {
        TensorId::Name(name) => (json!(name), json!("name")),
        TensorId::Number(number) => (json!(number.to_string()), json!("number")),
    };
    about
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numeric_ids_have_one_spelling_and_everything_else_is_a_name() {
        let read = |text: &str| text.parse::<Id>().map(|id| id.0);
        assert_eq!(read("#7"), Ok(TensorId::from(7_u128)));
        for name in ["7", "#007", "#", "#-1", "##7", "#340282366920938463463374607431768211456"] {
            assert_eq!(read(name), Ok(TensorId::from(name)), "{name}");
        }
    }

    #[test]
    fn json_has_every_character_and_tables_one_line() {
        let odd = TensorId::from("a\n\"b\"\u{1b}[31m".to_owned() + &"x".repeat(100));
        let found = with_id(&odd, json!({}));
        assert_eq!(found["id"].as_str(), Some(written(&odd).as_str()));
        assert_eq!(found["id_kind"], "name");
        assert!(shown(&odd).chars().count() <= SHOWN && !shown(&odd).contains('\n'));
        let number = with_id(&TensorId::from(u128::MAX), json!({}));
        assert_eq!(
            (number["id"].as_str(), number["id_kind"].as_str()),
            (Some(&*u128::MAX.to_string()), Some("number"))
        );
    }
}
