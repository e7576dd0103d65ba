//! XGBoost's models in JSON and UBJSON, as `save_model` writes them. Spec: `spec/model.md#xgboost`.
//!
//! [`Model::parse`] tells the two apart, and gives the lists of the file with the lengths checked; what they mean is the
//! caller's business. JSON is read by `serde_json`; UBJSON by a deserializer of our own, into the same structs.

mod error;
mod learner;
mod lists;
mod tree;
mod ubjson;

pub use error::XgboostError;
pub use learner::{Attributes, Booster, BoosterModel, Categories, Encoding, Learner, LearnerParam, Model, Objective};
pub use lists::Number;
pub use tree::{Tree, TreeParam};

/// Whether a file begins as XGBoost's UBJSON does: an object whose first key has a length.
#[must_use]
pub fn begins_as_ubjson(bytes: &[u8]) -> bool {
    matches!(bytes, [b'{', b'i' | b'U' | b'I' | b'l' | b'L' | b'#', ..])
}

/// Whether a file begins as XGBoost's JSON does: an object whose first key is one of its two.
#[must_use]
pub fn begins_as_json(bytes: &[u8]) -> bool {
    let Some(inside) = bytes.trim_ascii_start().strip_prefix(b"{") else { return false };
    let first = inside.trim_ascii_start();
    [&b"\"learner\""[..], b"\"version\"", b"}"].iter().any(|key| first.starts_with(key))
}
