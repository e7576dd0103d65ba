//! Ids as people write them, as they see them, and as machines get them.

use std::str::FromStr;

use bitgrain::store::TensorId;
use serde_json::{Value, json};

use crate::printable::shortened;

/// An id as people write it: a name, or a number behind a `#`.
#[derive(Debug, Clone)]
pub(super) struct Id(pub(super) TensorId);

impl FromStr for Id {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = text.strip_prefix('#').and_then(|digits| digits.parse::<u128>().ok());
        // `#007` is a name: numbers are written in one way.
        let number = number.filter(|number| text[1..] == number.to_string());
        Ok(Self(number.map_or_else(|| TensorId::from(text), TensorId::from)))
    }
}

/// Characters of an id that people see: it may have 65,536.
const SHOWN: usize = 60;

/// An id for a terminal: without control characters, and on one line.
pub(crate) fn shown(id: &TensorId) -> String {
    shortened(&written(id), SHOWN)
}

/// An id as [`Id`] reads it, with nothing escaped.
pub(super) fn written(id: &TensorId) -> String {
    match id {
        TensorId::Name(name) => name.to_string(),
        TensorId::Number(number) => format!("#{number}"),
    }
}

/// An object for machines with the id it is about: all of it, as it is. JSON has no numbers of 128 bits, so a number is
/// a string of digits, and `id_kind` says which it is.
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
    fn numbers_are_written_in_one_way_and_everything_else_is_a_name() {
        let read = |text: &str| text.parse::<Id>().map(|id| id.0);
        assert_eq!(read("#7"), Ok(TensorId::from(7_u128)));
        for name in ["7", "#007", "#", "#-1", "##7", "#340282366920938463463374607431768211456"] {
            assert_eq!(read(name), Ok(TensorId::from(name)), "{name}");
        }
    }

    #[test]
    fn machines_get_every_character_and_people_a_line() {
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
