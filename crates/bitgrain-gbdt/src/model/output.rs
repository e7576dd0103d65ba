//! What the sums of a model's leaves mean.

use std::borrow::Cow;

/// From sums of leaves to predictions.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// The objective it was trained with, with its parameter if it has one: `binary`, `quantile:0.9`.
    pub objective: String,
    /// From raw scores to predictions.
    pub link: Link,
    /// What each score begins with; as many as there are scores per row.
    pub base_scores: Vec<f64>,
    /// The text or number of each class, for classifiers: class `i` is `classes[i]`.
    pub classes: Vec<String>,
    /// Scores are means over the rounds rather than sums (random forests).
    pub average: bool,
}

impl Output {
    /// Whether predictions are probabilities of classes that add up to 1.
    #[must_use]
    pub fn has_probabilities(&self) -> bool {
        match self.link {
            Link::Softmax => true,
            // Of several scores, each probability is that of one class against the others.
            Link::Logistic { .. } => self.base_scores.len() == 1,
            Link::Identity | Link::Exponential | Link::Softplus | Link::SignedSquare | Link::Step => false,
        }
    }

    /// Whether rows have a class: predictions are probabilities, or classes have labels.
    #[must_use]
    pub fn is_classifier(&self) -> bool {
        self.has_probabilities() || !self.classes.is_empty()
    }

    /// Label of a class: its index if the model has no labels.
    #[must_use]
    pub fn class_label(&self, class: usize) -> Cow<'_, str> {
        self.classes.get(class).map_or_else(|| Cow::Owned(class.to_string()), |label| Cow::Borrowed(label.as_str()))
    }
}

/// From raw scores to predictions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Link {
    /// The score itself.
    Identity,
    /// `1 / (1 + exp(-slope * score))`, each score on its own: binary classifiers, and one-vs-rest if there are several.
    Logistic {
        /// Factor of the score.
        slope: f64,
    },
    /// `exp(score)` over the sum of them all.
    Softmax,
    /// `exp(score)`; scores above 700 count as 700, so that predictions are finite.
    Exponential,
    /// `ln(1 + exp(score))`: LightGBM's `cross_entropy_lambda`.
    Softplus,
    /// `score * |score|`: LightGBM's `reg_sqrt`, trained on the roots of the targets.
    SignedSquare,
    /// 1 if the score is above 0, else 0: XGBoost's `binary:hinge`.
    Step,
}

impl Link {
    /// What it is called, without what it is set to.
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
