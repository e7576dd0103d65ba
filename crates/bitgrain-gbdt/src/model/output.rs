//! Outputs of a model.

use std::borrow::Cow;

/// Conversion of leaf sums to predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Training objective with its parameter: `binary`, `quantile:0.9`.
    pub objective: String,
    /// Link function from raw scores to predictions.
    pub link: Link,
    /// Initial value of each score of a row.
    pub base_scores: Vec<f64>,
    /// Class labels of a classifier: class `i` is `classes[i]`.
    pub classes: Vec<String>,
    /// Whether scores are averages over the rounds rather than sums (random forests).
    pub average: bool,
}

impl Output {
    /// Returns whether predictions are class probabilities that sum to 1.
    #[must_use]
    pub fn has_probabilities(&self) -> bool {
        match self.link {
            Link::Softmax => true,
            // With several scores, each is a one-vs-rest probability.
            Link::Logistic { .. } => self.base_scores.len() == 1,
            Link::Identity | Link::Exponential | Link::Softplus | Link::SignedSquare | Link::Step => false,
        }
    }

    /// Returns whether rows have a class: predictions are probabilities, or there are class labels.
    #[must_use]
    pub fn is_classifier(&self) -> bool {
        self.has_probabilities() || !self.classes.is_empty()
    }

    /// Returns the label of a class, or its index if the model has no labels.
    #[must_use]
    pub fn class_label(&self, class: usize) -> Cow<'_, str> {
        self.classes.get(class).map_or_else(|| Cow::Owned(class.to_string()), |label| Cow::Borrowed(label.as_str()))
    }

    /// Returns the column names of a table of outputs: `one` if rows have one output, else `each` with an underscore and
    /// the class label.
    #[must_use]
    pub fn column_names(&self, one: &str, each: &str) -> Vec<String> {
        match self.base_scores.len() {
            1 => vec![one.to_owned()],
            outputs => (0..outputs).map(|output| format!("{each}_{}", self.class_label(output))).collect(),
        }
    }
}

/// Link function from raw scores to predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Link {
    /// The score itself.
    Identity,
    /// `1 / (1 + exp(-slope * score))` of each score: binary classifiers, and one-vs-rest for several scores.
    Logistic {
        /// Factor of the score.
        slope: f64,
    },
    /// `exp(score)` divided by the sum over all scores.
    Softmax,
    /// `exp(score)`; scores are clipped to 700, so that predictions are finite.
    Exponential,
    /// `ln(1 + exp(score))`: LightGBM's `cross_entropy_lambda`.
    Softplus,
    /// `score * |score|`: LightGBM's `reg_sqrt`, trained on the square roots of the targets.
    SignedSquare,
    /// 1 if the score is above 0, else 0: XGBoost's `binary:hinge`.
    Step,
}

impl Link {
    /// Converts the raw scores of a row to predictions, in place.
    pub fn apply(self, scores: &mut [f64]) {
        crate::predict::link::apply(self, scores);
    }

    /// Name of the function, without its parameters.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Logistic { .. } => "logistic",
            Self::Softmax => "softmax",
            Self::Exponential => "exponential",
            Self::Softplus => "softplus",
            Self::SignedSquare => "signed_square",
            Self::Step => "step",
        }
    }
}
