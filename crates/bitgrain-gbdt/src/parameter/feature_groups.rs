//! `FeatureGroups`: groups of features that may occur together on a path from the root to a leaf.

use serde_json::Value;

use super::structure::structured;
use super::{FeatureRef, ParameterValue, Structure};

/// Groups of features.
///
/// ```
/// use bitgrain_gbdt::parameter::FeatureGroups;
/// let groups: FeatureGroups = "[0,1],[1,2]".parse()?; // LightGBM's notation; JSON has outer brackets
/// assert_eq!(groups, "[[0, 1], [1, 2]]".parse()?);
/// assert_eq!("[age,price],[rooms]".parse::<FeatureGroups>()?, r#"[["age", "price"], ["rooms"]]"#.parse()?);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FeatureGroups(pub Vec<Vec<FeatureRef>>);

impl FeatureGroups {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let read = serde_json::from_str::<Value>(text).or_else(|_| serde_json::from_str(&format!("[{text}]")));
        let groups = match read {
            // A single group without outer brackets.
            Ok(Value::Array(group)) if group.iter().any(|feature| !feature.is_array()) => vec![of_json(&group.into())?],
            Ok(Value::Array(groups)) => groups.iter().map(of_json).collect::<Result<_, _>>()?,
            _ => of_words(text)?,
        };
        Self(groups).checked()
    }

    fn checked(self) -> Result<Self, String> {
        for (at, group) in self.0.iter().enumerate() {
            if group.is_empty() {
                return Err(format!("group {at} (0-based) is empty"));
            }
            if let Some((_, twice)) = group.iter().enumerate().find(|(at, feature)| group[..*at].contains(feature)) {
                return Err(format!("group {at} (0-based) has feature `{}` twice", plain(twice)));
            }
        }
        Ok(self)
    }

    pub(super) fn to_value(&self) -> ParameterValue {
        if self.0.is_empty() {
            return ParameterValue::Unset;
        }
        let group = |group: &Vec<FeatureRef>| Value::from(group.iter().map(FeatureRef::to_json).collect::<Vec<_>>());
        Value::from(self.0.iter().map(group).collect::<Vec<_>>()).to_string().into()
    }

    /// Returns the sorted positions of each group's features; the error says which feature is unknown.
    pub(crate) fn positions(&self, names: &[String]) -> Result<Vec<Vec<usize>>, String> {
        let of_group = |(at, group): (usize, &Vec<FeatureRef>)| {
            let mut features: Vec<usize> =
                group.iter().map(|feature| feature.position(names)).collect::<Result<_, _>>()?;
            features.sort_unstable();
            match features.windows(2).find(|pair| pair[0] == pair[1]) {
                Some(pair) => Err(format!("group {at} (0-based) has feature `{}` twice", names[pair[0]])),
                None => Ok(features),
            }
        };
        self.0.iter().enumerate().map(of_group).collect()
    }
}

fn plain(feature: &FeatureRef) -> String {
    match feature {
        FeatureRef::Index(index) => index.to_string(),
        FeatureRef::Name(name) => name.clone(),
    }
}

fn of_json(group: &Value) -> Result<Vec<FeatureRef>, String> {
    let features = group.as_array().ok_or_else(|| format!("`{group}` is not a list of features"))?;
    features.iter().map(FeatureRef::of_json).collect()
}

/// Parses groups of unquoted names: `[age,price],[rooms]`.
fn of_words(text: &str) -> Result<Vec<Vec<FeatureRef>>, String> {
    let bare = text.strip_prefix("[[").and_then(|text| text.strip_suffix("]]"));
    let bare = bare.or_else(|| text.strip_prefix('[').and_then(|text| text.strip_suffix(']')));
    let bare = bare.ok_or_else(|| format!("`{text}` has no brackets around its groups"))?;
    let mut groups = Vec::new();
    for group in bare.split(']') {
        let first = groups.is_empty();
        let inner = if first { Some(group) } else { group.trim_start().strip_prefix(',').map(str::trim_start) };
        let inner = if first { inner } else { inner.and_then(|group| group.strip_prefix('[')) };
        let inner = inner.filter(|group| !group.contains('['));
        let inner = inner.ok_or_else(|| format!("`{text}` has brackets that do not match"))?;
        groups.push(inner.split(',').map(|word| FeatureRef::of_word(word.trim())).collect::<Result<_, _>>()?);
    }
    Ok(groups)
}

impl std::str::FromStr for FeatureGroups {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

structured!(FeatureGroups, Structure::Groups);
