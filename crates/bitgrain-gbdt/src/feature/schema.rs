//! Names, kinds and category labels of features.

use std::collections::{BTreeMap, HashSet};

use super::{FeatureError, FeatureKind};

/// Names, kinds and category labels of features.
///
/// A matrix, the datasets binned from it and their views share one schema behind an `Arc`; a trained model gets its
/// inputs from it, so that the model can read other tables without further help.
///
/// ```
/// use bitgrain_gbdt::feature::{FeatureKind, Schema};
/// let schema = Schema::new(vec!["size".into(), "city".into()])?.with_labels(1, vec!["Oslo".into(), "Rome".into()])?;
/// assert_eq!((schema.kind(0), schema.kind(1)), (FeatureKind::Numeric, FeatureKind::Categorical));
/// assert_eq!(schema.labels(1), ["Oslo", "Rome"]); // category 1 is Rome
/// # Ok::<(), bitgrain_gbdt::feature::FeatureError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    names: Vec<String>,
    kinds: Vec<FeatureKind>,
    /// Category labels by feature index; features without labels have no entry.
    labels: BTreeMap<usize, Vec<String>>,
}

impl Schema {
    /// Creates numeric features with these names.
    ///
    /// # Errors
    /// Returns [`FeatureError::DuplicateName`] for the first name that occurs twice.
    pub fn new(names: Vec<String>) -> Result<Self, FeatureError> {
        check_unique(&names)?;
        Ok(Self::of_names(names))
    }

    /// Creates numeric features named `f0`, `f1` and so on.
    #[must_use]
    pub fn unnamed(n_features: usize) -> Self {
        Self::of_names((0..n_features).map(|feature| format!("f{feature}")).collect())
    }

    fn of_names(names: Vec<String>) -> Self {
        let kinds = vec![FeatureKind::Numeric; names.len()];
        Self { names, kinds, labels: BTreeMap::new() }
    }

    /// Creates features from unique names, each with its category labels if it is categorical.
    pub(crate) fn from_parts(parts: impl IntoIterator<Item = (String, Option<Vec<String>>)>) -> Self {
        let mut schema = Self::of_names(Vec::new());
        for (feature, (name, labels)) in parts.into_iter().enumerate() {
            schema.names.push(name);
            schema.kinds.push(if labels.is_some() { FeatureKind::Categorical } else { FeatureKind::Numeric });
            schema.labels.extend(labels.filter(|labels| !labels.is_empty()).map(|labels| (feature, labels)));
        }
        schema
    }

    /// Renames the features.
    ///
    /// # Errors
    /// Returns [`FeatureError::NameCount`] or [`FeatureError::DuplicateName`].
    pub fn with_names(self, names: Vec<String>) -> Result<Self, FeatureError> {
        if names.len() != self.n_features() {
            return Err(FeatureError::NameCount { names: names.len(), features: self.n_features() });
        }
        check_unique(&names)?;
        Ok(Self { names, ..self })
    }

    /// Makes some features categorical.
    ///
    /// # Errors
    /// Returns [`FeatureError::NoSuchFeature`] for the first index that is out of range.
    pub fn with_categorical(mut self, features: &[usize]) -> Result<Self, FeatureError> {
        features.iter().try_for_each(|&feature| self.set_categorical(feature))?;
        Ok(self)
    }

    /// Makes a feature categorical and labels its categories: category `i` is `labels[i]`.
    ///
    /// # Errors
    /// Returns [`FeatureError::NoSuchFeature`] if the index is out of range.
    pub fn with_labels(mut self, feature: usize, labels: Vec<String>) -> Result<Self, FeatureError> {
        self.set_categorical(feature)?;
        if !labels.is_empty() {
            self.labels.insert(feature, labels);
        }
        Ok(self)
    }

    fn set_categorical(&mut self, feature: usize) -> Result<(), FeatureError> {
        let features = self.names.len();
        let kind = self.kinds.get_mut(feature).ok_or(FeatureError::NoSuchFeature { feature, features })?;
        *kind = FeatureKind::Categorical;
        Ok(())
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.names.len()
    }

    /// Names of the features.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Kind of a feature.
    ///
    /// # Panics
    /// If the index is out of range.
    #[must_use]
    pub fn kind(&self, feature: usize) -> FeatureKind {
        self.kinds[feature]
    }

    /// Indices of the categorical features, ascending.
    pub fn categorical(&self) -> impl Iterator<Item = usize> {
        self.kinds.iter().enumerate().filter(|(_, kind)| **kind == FeatureKind::Categorical).map(|(feature, _)| feature)
    }

    /// Category labels of a feature; empty if its values are numbers or bare codes.
    #[must_use]
    pub fn labels(&self, feature: usize) -> &[String] {
        self.labels.get(&feature).map_or(&[], Vec::as_slice)
    }
}

fn check_unique(names: &[String]) -> Result<(), FeatureError> {
    let mut seen = HashSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(name) => Err(FeatureError::DuplicateName { name: name.clone() }),
        None => Ok(()),
    }
}
