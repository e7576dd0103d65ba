//! Conditions in f32 that every vector that may be a candidate meets, and few others.

use bitgrain_kernels::search::RowCondition;

use super::candidates::Thresholds;
use super::metric::SearchMetric;
use super::query::Query;

/// Relative margin for the f32 arithmetic of the test, and for its terms.
const MARGIN: f64 = 1e-5;

/// Margin for a cosine, larger than the rounding errors of its interval.
const COSINE_MARGIN: f64 = 1e-12;

/// Met by every row.
const ALL: RowCondition =
    RowCondition { constant: f32::INFINITY, norm: 0.0, norm_square: 0.0, residual: 0.0, residual_square: 0.0 };

/// Met by hardly any row.
const NONE: RowCondition = RowCondition { constant: f32::MIN / 2.0, ..ALL };

/// Error of a score of the first pass, in units of the query.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScoreError {
    /// Error per norm of the vector.
    pub(super) per_norm: f64,
    pub(super) fixed: f64,
}

impl ScoreError {
    /// Returns the error of a query of `norm` that misses `residual`, after `roundings` of each term to f32.
    pub(super) fn new(norm: f64, residual: f64, roundings: usize, columns: usize) -> Self {
        let rounding = roundings as f64 * f64::from(f32::EPSILON);
        // The second term covers products below the smallest f32.
        Self { per_norm: (residual + norm * rounding) * (1.0 + 1e-6), fixed: columns as f64 * 1e-34 }
    }
}

/// Returns the conditions for vectors whose decoded values may be among the best, and for those whose values as put may
/// be. A vector with score `s`, norm `n` and residual `r` meets the second one if `s + error * n + shift` is not below
///
/// | metric | required | shift |
/// |---|---|---|
/// | inner product | threshold | norm of the query * r |
/// | cosine | threshold * norm of the query * (n - r) | norm of the query * r |
/// | squared distance | (squared norm of the query + n^2 - (sqrt(-threshold) + r)^2) / 2 | 0 |
///
/// The first one is the same with `r = 0`.
pub(super) fn conditions(
    metric: SearchMetric,
    query: &Query,
    error: ScoreError,
    thresholds: Thresholds,
) -> [RowCondition; 2] {
    [condition(metric, query, error, thresholds.decoded, false), condition(metric, query, error, thresholds.put, true)]
}

#[expect(clippy::cast_possible_truncation, reason = "rounded to f32; the margin covers it")]
fn condition(metric: SearchMetric, query: &Query, error: ScoreError, threshold: f64, as_put: bool) -> RowCondition {
    let fixed = error.fixed + f64::from(f32::MIN_POSITIVE);
    let per_norm = error.per_norm * (1.0 + MARGIN);
    let norm = query.norm / query.unit;
    // The terms of the inequality after each threshold is moved to the left side.
    let (constant, by_norm, norm_square, residual, residual_square) = match metric {
        _ if threshold == f64::NEG_INFINITY => return ALL,
        _ if threshold == f64::INFINITY => return NONE,
        SearchMetric::InnerProduct => (-lower(threshold / query.unit), 0.0, 0.0, norm, 0.0),
        SearchMetric::Cosine if threshold <= COSINE_MARGIN => return ALL,
        SearchMetric::Cosine => {
            let slope = (threshold - COSINE_MARGIN) * norm;
            (0.0, -lower(slope), 0.0, norm + slope, 0.0)
        }
        SearchMetric::SquaredL2 => {
            let half = 0.5 / query.unit;
            let radius = (-threshold).max(0.0).sqrt();
            let constant = half * (radius * radius * (1.0 + MARGIN) - query.norm * query.norm * (1.0 - MARGIN));
            (constant, 0.0, -half * (1.0 - MARGIN), radius / query.unit, half)
        }
    };
    RowCondition {
        constant: (constant + fixed) as f32,
        norm: (by_norm + per_norm) as f32,
        norm_square: norm_square as f32,
        residual: if as_put { (residual * (1.0 + MARGIN)) as f32 } else { 0.0 },
        residual_square: if as_put { (residual_square * (1.0 + MARGIN)) as f32 } else { 0.0 },
    }
}

/// Lowers a number by the margin.
fn lower(number: f64) -> f64 {
    number - number.abs() * MARGIN
}

#[cfg(test)]
mod tests {
    use bitgrain_kernels::Backend;
    use bitgrain_kernels::search::mark_rows;

    use super::super::metric::Measures;
    use super::*;

    /// Numbers that only have to look random, from 0 to 1.
    struct Noise(u64);

    impl Noise {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / 9_007_199_254_740_992.0
        }

        fn signed(&mut self) -> f64 {
            2.0 * self.next() - 1.0
        }
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "made-up data")]
    fn every_candidate_meets_a_condition_and_most_other_vectors_do_not() {
        let mut noise = Noise(3);
        let (mut candidates, mut others, mut excluded) = (0, 0, 0);
        for round in 0..60_000 {
            let metric = SearchMetric::ALL[round % 3];
            // Queries and vectors of similar sizes, from tiny to huge.
            let size = 10_f64.powf(30.0 * noise.signed());
            let columns = 16;
            let values: Vec<f32> = (0..columns).map(|_| (noise.signed() * size) as f32).collect();
            let query = Query::new(&values, 0).expect("finite");
            let norm = (query.norm * (0.5 + noise.next())) as f32;
            let residual = if round % 7 == 0 { norm * 1.5 } else { norm * 0.1 * noise.next() as f32 };
            let error = ScoreError::new(query.norm / query.unit, 0.004 * noise.next(), 20, columns);
            let cosine = noise.signed();
            let score = (cosine * query.norm / query.unit * f64::from(norm)) as f32;
            // As `visit` does.
            let wide = f64::from(norm);
            let measures = Measures {
                product: f64::from(score) * query.unit,
                product_error: (error.per_norm * wide + error.fixed) * query.unit,
                norm: wide,
                norm_error: wide * 1e-7 + 1e-45,
                shift: (f64::from(residual) * query.norm).min(f64::from(residual) * query.sum) * (1.0 + 1e-9),
                residual: f64::from(residual),
            };
            let found = measures.goodness(metric, query.norm);
            // Thresholds just below and above the score, and anywhere.
            let near = 1.0 + 1e-6 * noise.signed();
            let thresholds = match round % 5 {
                0 => Thresholds { decoded: found.decoded + found.slack, put: f64::INFINITY },
                1 => Thresholds { decoded: f64::INFINITY, put: found.high },
                2 => Thresholds { decoded: (found.decoded + found.slack) * near, put: found.high * near },
                3 => Thresholds { decoded: found.decoded * noise.signed(), put: found.high * noise.signed() },
                _ => Thresholds { decoded: found.decoded.abs() * 2.0, put: found.high.abs() * 2.0 },
            };
            let conditions = conditions(metric, &query, error, thresholds);
            let mut mark = [0];
            mark_rows(Backend::best(), &conditions, &[score], &[norm], &[residual], &mut mark).expect("equal lengths");
            if thresholds.exclude(&found) {
                others += 1;
                excluded += usize::from(mark == [0]);
            } else {
                candidates += 1;
                assert_eq!(mark, [1], "{metric:?} {size:e} {found:?} {thresholds:?} {conditions:?}");
            }
        }
        assert!(candidates > 10_000 && excluded > 5_000, "{candidates} {others} {excluded}");
    }
}
