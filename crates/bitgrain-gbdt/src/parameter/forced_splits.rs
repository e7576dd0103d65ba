//! `ForcedSplits`: splits at the top of every tree, in LightGBM's JSON format.

use std::io::Read;

use serde_json::Value;

use super::structure::structured;
use super::{FeatureRef, ParameterValue, Structure};

/// Splits at the top of every tree.
///
/// ```
/// use bitgrain_gbdt::parameter::{FeatureRef, ForcedSplits};
/// let forced: ForcedSplits = r#"{"feature": 0, "threshold": 2.5, "left": {"feature": "age", "threshold": 30}}"#.parse()?;
/// let root = forced.0.expect("a split");
/// assert_eq!((root.feature, root.threshold, root.right), (FeatureRef::Index(0), 2.5, None));
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ForcedSplits(pub Option<Box<ForcedSplit>>);

/// Split that every tree has.
#[derive(Debug, Clone, PartialEq)]
pub struct ForcedSplit {
    /// Feature of the split.
    pub feature: FeatureRef,
    /// Values up to this one go left, rounded up to a cut; the category that goes left if the feature is categorical.
    pub threshold: f64,
    /// Split of the left child.
    pub left: Option<Box<ForcedSplit>>,
    /// Split of the right child.
    pub right: Option<Box<ForcedSplit>>,
}

/// Largest file in bytes; a tree of forced splits has few nodes.
const MAX_BYTES: u64 = 1 << 20;

impl ForcedSplits {
    /// Parses JSON, or the contents of a file if the text does not start with a brace.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(Self::default());
        }
        let read = if text.starts_with('{') { text.to_owned() } else { contents(text)? };
        let value: Value = serde_json::from_str(&read).map_err(|error| format!("malformed JSON, {error}"))?;
        match &value {
            // LightGBM reads an empty object as "no forced splits".
            Value::Object(object) if object.is_empty() => Ok(Self::default()),
            value => Ok(Self(Some(Box::new(split(value, "root")?)))),
        }
    }

    pub(super) fn to_value(&self) -> ParameterValue {
        self.0.as_ref().map_or(ParameterValue::Unset, |split| json(split).to_string().into())
    }
}

fn contents(path: &str) -> Result<String, String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| format!("cannot read file `{path}`, {error}"))?;
    file.take(MAX_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| format!("cannot read file `{path}`, {error}"))?;
    if text.len() as u64 > MAX_BYTES {
        return Err(format!("file `{path}` has more than {MAX_BYTES} bytes"));
    }
    Ok(text)
}

/// Reads a split. `place` is its path from the root, for messages.
fn split(value: &Value, place: &str) -> Result<ForcedSplit, String> {
    let object = value.as_object().ok_or_else(|| format!("the split at {place} is not an object"))?;
    if let Some(key) = object.keys().find(|key| !["feature", "threshold", "left", "right"].contains(&key.as_str())) {
        return Err(format!("unknown key `{key}` of the split at {place}"));
    }
    let of = |key: &str| object.get(key).ok_or_else(|| format!("the split at {place} has no `{key}`"));
    let threshold = of("threshold")?;
    let threshold = threshold.as_f64().filter(|threshold| threshold.is_finite());
    let child = |key: &str| match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(empty)) if empty.is_empty() => Ok(None),
        Some(child) => split(child, &format!("{place}.{key}")).map(|child| Some(Box::new(child))),
    };
    Ok(ForcedSplit {
        feature: FeatureRef::of_json(of("feature")?)?,
        threshold: threshold.ok_or_else(|| format!("the threshold of the split at {place} is not a number"))?,
        left: child("left")?,
        right: child("right")?,
    })
}

fn json(split: &ForcedSplit) -> Value {
    let mut object = serde_json::Map::new();
    object.insert("feature".to_owned(), split.feature.to_json());
    object.insert("threshold".to_owned(), split.threshold.into());
    for (key, child) in [("left", &split.left), ("right", &split.right)] {
        if let Some(child) = child {
            object.insert(key.to_owned(), json(child));
        }
    }
    object.into()
}

impl std::str::FromStr for ForcedSplits {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

structured!(ForcedSplits, Structure::Splits);
