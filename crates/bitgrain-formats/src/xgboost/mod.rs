//! XGBoost models in JSON and UBJSON, as written by `save_model`. Spec: `spec/model.md#xgboost`.
//!
//! [`Model::parse`] detects the encoding and returns the lists of the file with their lengths checked; it does not
//! interpret them. `serde_json` reads JSON; our own deserializer reads UBJSON into the same structs. [`Model::to_json`]
//! and [`Model::to_ubjson`] write them.

mod error;
mod learner;
mod lists;
mod tree;
mod ubjson;
mod write;

pub use error::XgboostError;
pub use learner::{Attributes, Booster, BoosterModel, Categories, Encoding, Learner, LearnerParam, Model, Objective};
pub use lists::Number;
pub use tree::{Tree, TreeParam};

/// Returns whether a file starts like XGBoost's UBJSON: an object whose first key has a length.
#[must_use]
pub fn detect_ubjson(bytes: &[u8]) -> bool {
    matches!(bytes, [b'{', b'i' | b'U' | b'I' | b'l' | b'L' | b'#', ..])
}

/// Returns whether a file starts like XGBoost's JSON: an object whose first key is one of the two known ones.
#[must_use]
pub fn detect_json(bytes: &[u8]) -> bool {
    let Some(inside) = bytes.trim_ascii_start().strip_prefix(b"{") else { return false };
    let first = inside.trim_ascii_start();
    [&b"\"learner\""[..], b"\"version\"", b"}"].iter().any(|key| first.starts_with(key))
}
