//! `PerFeature`: a number for each feature, by position or by name.

use serde_json::Value;

use super::structure::structured;
use super::{ParameterValue, Structure};

/// A number for each feature.
///
/// ```
/// use bitgrain_gbdt::parameter::PerFeature;
/// let listed: PerFeature<i8> = "(1,0,-1)".parse()?; // XGBoost's notation; LightGBM's has no parentheses
/// assert_eq!(listed, PerFeature::Listed(vec![1, 0, -1]));
/// let named: PerFeature<i8> = "age:1, price:-1".parse()?;
/// assert_eq!(named, r#"{"age": 1, "price": -1}"#.parse()?);
/// assert_eq!("2".parse::<PerFeature<i8>>().unwrap_err(), "`2` is not -1, 0 or 1");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub enum PerFeature<T> {
    /// No feature has a number.
    #[default]
    Unset,
    /// One number per feature, in the order of the features.
    Listed(Vec<T>),
    /// Numbers of some features by name.
    Named(Vec<(String, T)>),
}

/// Type of the numbers.
pub trait FeatureNumber: Copy + Into<f64> {
    /// Converts a number; the error is the reason why it is not allowed.
    ///
    /// # Errors
    /// Returns the reason.
    fn checked(number: f64) -> Result<Self, String>;
}

impl FeatureNumber for i8 {
    fn checked(number: f64) -> Result<Self, String> {
        [-1, 0, 1]
            .into_iter()
            .find(|&direction| f64::from(direction).total_cmp(&(number + 0.0)).is_eq())
            .ok_or_else(|| format!("`{number}` is not -1, 0 or 1"))
    }
}

impl FeatureNumber for f64 {
    fn checked(number: f64) -> Result<Self, String> {
        if number.is_finite() && number >= 0.0 { Ok(number) } else { Err(format!("`{number}` is not at least 0")) }
    }
}

impl<T: FeatureNumber> PerFeature<T> {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with('{') {
            return Self::from_map(text);
        }
        let inner = ["()", "[]"].iter().find_map(|pair| text.strip_prefix(&pair[..1])?.strip_suffix(&pair[1..]));
        let items: Vec<&str> = inner.unwrap_or(text).split(',').map(str::trim).collect();
        // LightGBM and Python allow a comma after the last item.
        let items = items.strip_suffix(&[""]).unwrap_or(&items);
        let number = |item: &str| item.parse::<f64>().map_err(|_| format!("`{item}` is not a number"));
        if !items.iter().any(|item| item.contains(':')) {
            let listed: Vec<T> = items.iter().map(|item| T::checked(number(item)?)).collect::<Result<_, _>>()?;
            return Ok(if listed.is_empty() { Self::Unset } else { Self::Listed(listed) });
        }
        let named = items.iter().map(|item| {
            let (name, value) = item.rsplit_once(':').ok_or_else(|| format!("`{item}` has no `name:`"))?;
            Ok((name.trim().to_owned(), T::checked(number(value.trim())?)?))
        });
        Self::of_names(named.collect::<Result<_, String>>()?)
    }

    fn from_map(text: &str) -> Result<Self, String> {
        let pairs: serde_json::Map<String, Value> =
            serde_json::from_str(text).map_err(|error| format!("malformed JSON, {error}"))?;
        let number = |(name, value): (String, Value)| {
            let number = value.as_f64().ok_or_else(|| format!("`{value}` of `{name}` is not a number"))?;
            Ok((name, T::checked(number)?))
        };
        Self::of_names(pairs.into_iter().map(number).collect::<Result<_, String>>()?)
    }

    fn of_names(named: Vec<(String, T)>) -> Result<Self, String> {
        let mut names: Vec<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!("feature `{}` is given twice", pair[0])),
            None if named.is_empty() => Ok(Self::Unset),
            None => Ok(Self::Named(named)),
        }
    }

    pub(super) fn to_value(&self) -> ParameterValue {
        let number = |number: &T| -> Value {
            let number: f64 = (*number).into();
            // Integers without a decimal point, as users write them.
            #[expect(clippy::cast_possible_truncation, reason = "checked to be an integer below 2^53")]
            if number.fract() == 0.0 && number.abs() < 9e15 { (number as i64).into() } else { number.into() }
        };
        match self {
            Self::Unset => ParameterValue::Unset,
            Self::Listed(numbers) => Value::from(numbers.iter().map(number).collect::<Vec<_>>()).to_string().into(),
            Self::Named(named) => {
                let pair = |(name, each): &(String, T)| format!("{}:{}", Value::from(name.as_str()), number(each));
                format!("{{{}}}", named.iter().map(pair).collect::<Vec<_>>().join(",")).into()
            }
        }
    }

    /// Returns the number of each feature, `default` for features without one. The error is the reason why the numbers
    /// do not match the features.
    pub(crate) fn of_features(&self, names: &[String], default: T) -> Result<Vec<T>, String> {
        match self {
            Self::Unset => Ok(vec![default; names.len()]),
            Self::Listed(listed) if listed.len() == names.len() => Ok(listed.clone()),
            Self::Listed(listed) => {
                Err(format!("{} values for {} features; give one per feature", listed.len(), names.len()))
            }
            Self::Named(named) => {
                let mut all = vec![default; names.len()];
                for (name, number) in named {
                    all[super::feature_ref::position(name, names)?] = *number;
                }
                Ok(all)
            }
        }
    }
}

impl<T: FeatureNumber> std::str::FromStr for PerFeature<T> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::parse(text)
    }
}

structured!(PerFeature<i8>, Structure::Directions);
structured!(PerFeature<f64>, Structure::Factors);
