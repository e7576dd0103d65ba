//! Metrics, and the intervals that contain their values.

use std::str::FromStr;

/// Measure of similarity between a query and a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum SearchMetric {
    /// Inner product; larger is better.
    #[default]
    InnerProduct,
    /// Cosine of the angle; larger is better. That of a zero vector is 0.
    Cosine,
    /// Squared Euclidean distance; smaller is better.
    SquaredL2,
}

impl SearchMetric {
    /// All metrics.
    pub const ALL: [Self; 3] = [Self::InnerProduct, Self::Cosine, Self::SquaredL2];

    /// Returns the name: `ip`, `cosine` or `l2`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::InnerProduct => "ip",
            Self::Cosine => "cosine",
            Self::SquaredL2 => "l2",
        }
    }

    /// Converts between a score and its [`Goodness`]: the sign of a distance changes.
    pub(crate) fn flip(self, score: f64) -> f64 {
        if self == Self::SquaredL2 { -score } else { score }
    }
}

impl FromStr for SearchMetric {
    type Err = crate::StoreError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|metric| metric.name() == name);
        found.ok_or_else(|| crate::StoreError::UnknownMetric { name: name.to_owned() })
    }
}

/// Score of a decoded vector as a number where larger is better, with the interval of the score of the vector as it was
/// put.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Goodness {
    /// Estimated score of the decoded vector.
    pub(crate) decoded: f64,
    /// Largest error of `decoded`.
    pub(crate) slack: f64,
    /// Lower end of the interval.
    pub(crate) low: f64,
    /// Upper end of the interval.
    pub(crate) high: f64,
}

/// Numbers from which the score of a vector and its interval follow.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measures {
    /// Inner product with the decoded vector.
    pub(crate) product: f64,
    /// Largest error of `product`.
    pub(crate) product_error: f64,
    /// Euclidean norm of the decoded vector.
    pub(crate) norm: f64,
    /// Largest error of `norm`.
    pub(crate) norm_error: f64,
    /// Largest difference between the inner products with the decoded vector and with the vector as put.
    pub(crate) shift: f64,
    /// Largest Euclidean distance between the decoded vector and the vector as put.
    pub(crate) residual: f64,
}

/// Relative rounding error of the few f64 operations below, generously.
const ROUNDING: f64 = 1e-14;

impl Measures {
    /// Returns the score and its interval, for a query of norm `query_norm`.
    pub(crate) fn goodness(&self, metric: SearchMetric, query_norm: f64) -> Goodness {
        let found = match metric {
            SearchMetric::InnerProduct => self.inner_product(),
            SearchMetric::Cosine => self.cosine(query_norm),
            SearchMetric::SquaredL2 => self.squared_l2(query_norm),
        };
        // Infinities of overflowing values: nothing is known.
        let or = |value: f64, unknown: f64| if value.is_nan() { unknown } else { value };
        Goodness {
            decoded: or(found.decoded, 0.0),
            slack: or(found.slack, f64::INFINITY),
            low: or(found.low, f64::NEG_INFINITY),
            high: or(found.high, f64::INFINITY),
        }
    }

    fn inner_product(&self) -> Goodness {
        let slack = self.product_error + self.product.abs() * ROUNDING;
        let wide = (slack + self.shift) * (1.0 + ROUNDING);
        Goodness { decoded: self.product, slack, low: self.product - wide, high: self.product + wide }
    }

    fn cosine(&self, query_norm: f64) -> Goodness {
        let (low, high) = (self.product - self.product_error, self.product + self.product_error);
        let norms = (self.norm - self.norm_error, self.norm + self.norm_error);
        let exact = |product: f64| if self.norm == 0.0 { 0.0 } else { product / (query_norm * self.norm) };
        let decoded = exact(self.product).clamp(-1.0, 1.0);
        let (inner_low, inner_high) = quotients(low, high, norms, query_norm);
        let slack = if self.norm == 0.0 && self.norm_error == 0.0 {
            0.0
        } else {
            (inner_high - decoded).max(decoded - inner_low).max(0.0) + ROUNDING
        };
        let angles = turned(inner_low, inner_high, self.residual / norms.0);
        let norms = (norms.0 - self.residual, norms.1 + self.residual);
        let (low, high) = if self.norm == 0.0 && self.norm_error == 0.0 && self.residual == 0.0 {
            (0.0, 0.0)
        } else {
            let (low, high) = quotients(low - self.shift, high + self.shift, norms, query_norm);
            (low.max(angles.0), high.min(angles.1))
        };
        Goodness { decoded, slack, low: low - ROUNDING, high: high + ROUNDING }
    }

    fn squared_l2(&self, query_norm: f64) -> Goodness {
        let (norm, query) = (self.norm, query_norm);
        let square = query * query - 2.0 * self.product + norm * norm;
        let sizes = query * query + 2.0 * self.product.abs() + norm * norm;
        let slack = 2.0 * self.product_error + self.norm_error * (2.0 * norm + self.norm_error) + sizes * ROUNDING;
        let distances = ((square - slack).max(0.0).sqrt(), (square + slack).max(0.0).sqrt());
        let near = ((distances.0 - self.residual).max(0.0) * (1.0 - ROUNDING)).powi(2);
        let far = ((distances.1 + self.residual) * (1.0 + ROUNDING)).powi(2);
        Goodness { decoded: -square.max(0.0), slack, low: -far, high: -near }
    }
}

/// Returns the extremes of a product in `low..=high` divided by the norms of query and vector, within -1 and 1. A norm that
/// may be 0 gives no information.
fn quotients(low: f64, high: f64, norms: (f64, f64), query_norm: f64) -> (f64, f64) {
    let (small, large) = (norms.0 * query_norm, norms.1 * query_norm);
    if small.is_nan() || small <= 0.0 {
        return (-1.0, 1.0);
    }
    let lowest = low / if low < 0.0 { small } else { large };
    let highest = high / if high < 0.0 { large } else { small };
    (lowest.clamp(-1.0, 1.0), highest.clamp(-1.0, 1.0))
}

/// Returns the extremes of a cosine in `low..=high` after the vector turns by at most the angle with this sine. Near 1 and -1
/// this is much narrower than the interval of the quotient, because there a turn hardly changes the cosine.
fn turned(low: f64, high: f64, sine: f64) -> (f64, f64) {
    if sine.is_nan() || sine >= 1.0 {
        return (-1.0, 1.0);
    }
    let sine = (sine * (1.0 + ROUNDING)).min(1.0);
    let cosine = ((1.0 - sine) * (1.0 + sine)).sqrt();
    let (low, high) = ((low - ROUNDING).max(-1.0), (high + ROUNDING).min(1.0));
    let other = |cosine: f64| ((1.0 - cosine) * (1.0 + cosine)).sqrt();
    let highest = if high < cosine { high * cosine + other(high) * sine } else { 1.0 };
    let lowest = if low > -cosine { low * cosine - other(low) * sine } else { -1.0 };
    (lowest - ROUNDING, highest + ROUNDING)
}
