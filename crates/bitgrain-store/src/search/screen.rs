//! Screening: scores of all vectors estimated from one bit per value, so that only the few vectors that may be among the
//! best are read.
//!
//! The vectors with the best estimates are scored first. The `k`-th best of these scores is a threshold that no answer is
//! below, and every vector whose estimate plus three standard deviations reaches it is scored: how many these are follows
//! from the data. The answers do not depend on the number of threads.

use std::ops::Range;
use std::sync::Arc;

use bitgrain_kernels::Backend;
use bitgrain_kernels::search::{SIGN_GROUP, sign_group_bytes, sum_signs};
use rayon::prelude::*;

use super::candidates::Largest;
use super::metric::SearchMetric;
use super::query::Query;
use super::scan::{Found, Limits, Rows, Scan, Selected, Task, kernel_error, scan};
use super::signs::{Frame, SignPlane, SignQuery};
use super::table::{SegmentTable, VectorRef};
use crate::StoreError;

/// An estimate is further below the score than this many standard deviations for one vector in 740.
const DEVIATIONS: f32 = 3.0;

/// Vectors per task: the estimates fit in the L2 cache.
const TASK: usize = 8192;

/// Relative margin for f32 arithmetic.
const MARGIN: f32 = 1e-5;

/// Finds candidates as [`scan`] does, but without reading vectors whose signs exclude them.
pub(crate) fn screen(
    tables: &[Arc<SegmentTable>],
    selected: &Selected,
    queries: &[Query],
    limits: Limits,
) -> Result<Vec<Found>, StoreError> {
    queries.par_iter().map(|query| screen_one(tables, selected, query, limits)).collect()
}

fn screen_one(
    tables: &[Arc<SegmentTable>],
    selected: &Selected,
    query: &Query,
    limits: Limits,
) -> Result<Found, StoreError> {
    let queries = std::slice::from_ref(query);
    let mut prepared = Scan::prepare(tables, queries);
    let plain = Scan::new(tables, selected, queries, Limits { spare: 0, ..limits }, &mut prepared)?;
    let (parts, rest) = split(&plain);
    let Some(part) = parts.first() else {
        // No vector has signs: read all of them, with proofs.
        let found = scan(tables, selected, queries, limits)?.pop();
        return Ok(found.unwrap_or((Vec::new(), f64::NEG_INFINITY)));
    };
    let signs = SignQuery::new(query, part.frame(tables));
    let screened = Screen { scan: &plain, query, signs: &signs };
    let found = plain.score_all(rest)?;
    let estimates: Vec<Estimates> =
        parts.par_iter().map(|part| screened.estimate(part)).collect::<Result<_, StoreError>>()?;
    let mut best = Largest::new(limits.k.saturating_mul(2).saturating_add(32));
    let mut uppers = Vec::new();
    for estimates in estimates {
        best.merge(estimates.best);
        uppers.push(estimates.uppers);
    }
    let mut first = best.into_items();
    first.sort_unstable();
    let found = found.merge(plain.score_all(tasks_of(&first))?);
    let threshold = found.thresholds().decoded;
    #[expect(clippy::cast_possible_truncation, reason = "rounded to f32, and lowered by more than that")]
    let floor = threshold as f32 - (threshold as f32).abs() * MARGIN;
    let reaching = |(part, uppers): (&Part, &Vec<f32>)| screened.reaching(part, uppers, floor, &first);
    let listed: Vec<Vec<Task>> = parts.par_iter().zip(&uppers).map(reaching).collect::<Result<_, StoreError>>()?;
    let found = found.merge(plain.score_all(listed.into_iter().flatten().collect())?);
    let (vectors, _) = found.finish();
    // Vectors that were not read may have better scores, so no answer is proven.
    Ok((vectors, if floor == f32::NEG_INFINITY { f64::NEG_INFINITY } else { f64::INFINITY }))
}

/// Vectors with signs of one group.
struct Part {
    table: u32,
    group: u32,
    rows: Range<usize>,
}

impl Part {
    fn plane<'a>(&self, tables: &'a [Arc<SegmentTable>]) -> Option<&'a SignPlane> {
        tables[self.table as usize].groups[self.group as usize].signs.as_ref()
    }

    fn frame<'a>(&self, tables: &'a [Arc<SegmentTable>]) -> &'a Frame {
        match self.plane(tables) {
            Some(plane) => &plane.frame,
            None => unreachable!("parts consist of vectors with signs"),
        }
    }
}

/// Separates vectors with signs from tasks without.
fn split(scan: &Scan<'_>) -> (Vec<Part>, Vec<Task>) {
    let (mut parts, mut rest) = (Vec::new(), Vec::new());
    for task in scan.tasks() {
        let group = &scan.tables[task.table as usize].groups[task.group as usize];
        let covered = group.signs.as_ref().map_or(0, SignPlane::len);
        match task.rows {
            Rows::Range(range) if range.start < covered => {
                let Task { table, group, .. } = task;
                let rows = range.start..range.end.min(covered);
                if range.end > covered {
                    rest.push(Task { table, group, rows: Rows::Range(covered..range.end) });
                }
                match parts.last_mut() {
                    Some(Part { table: t, group: g, rows: last })
                        if (*t, *g, last.end) == (table, group, rows.start) && rows.end - last.start <= TASK =>
                    {
                        last.end = rows.end;
                    }
                    _ => parts.push(Part { table, group, rows }),
                }
            }
            rows => rest.push(Task { rows, ..task }),
        }
    }
    (parts, rest)
}

/// Upper ends of the scores of a part, larger is better, and the vectors with the best estimates.
struct Estimates {
    uppers: Vec<f32>,
    best: Largest<VectorRef>,
}

struct Screen<'a> {
    scan: &'a Scan<'a>,
    query: &'a Query,
    signs: &'a SignQuery,
}

impl Screen<'_> {
    fn estimate(&self, part: &Part) -> Result<Estimates, StoreError> {
        let (scan, signs) = (self.scan, self.signs);
        let table = &scan.tables[part.table as usize];
        let group = &table.groups[part.group as usize];
        let mut best = Largest::new(scan.limits.k.saturating_mul(2).saturating_add(32));
        let Some(plane) = &group.signs else { return Ok(Estimates { uppers: Vec::new(), best }) };
        let size = sign_group_bytes(group.columns);
        let codes = &plane.codes[part.rows.start / SIGN_GROUP * size..part.rows.end.div_ceil(SIGN_GROUP) * size];
        let mut sums = vec![0; codes.len() / size * SIGN_GROUP];
        sum_signs(Backend::best(), &signs.tables, codes, &mut sums).map_err(kernel_error)?;
        let rows = part.rows.clone();
        let (factor, spread) = (&plane.factor[rows.clone()], &plane.spread[rows.clone()]);
        let (shift, norm) = (&plane.shift[rows.clone()], &group.norm[rows.clone()]);
        let measure = Measure::new(scan.limits.metric, self.query);
        let mut estimates = vec![0.0; rows.len()];
        let mut uppers = vec![0.0; rows.len()];
        let out = estimates.iter_mut().zip(&mut uppers);
        // Without branches or calls, so that the compiler vectorizes it.
        for (((((sum, factor), spread), shift), norm), (estimate, upper)) in
            sums.iter().zip(factor).zip(spread).zip(shift).zip(norm).zip(out)
        {
            let product = signs.base + shift + factor * (signs.step * sum.cast_signed() as f32 + signs.low);
            let error = DEVIATIONS * (spread * signs.norm + factor * signs.rounding);
            *estimate = measure.goodness(product, *norm);
            *upper = measure.goodness(product + error, *norm) + measure.margin(product, *norm);
        }
        let mut least = f64::NEG_INFINITY;
        for (i, &estimate) in estimates.iter().enumerate() {
            // Not NaN.
            if f64::from(estimate) > least && scan.selected.admits(table, group.record[rows.start + i])? {
                best.push(f64::from(estimate), part.vector(rows.start + i));
                least = best.threshold();
            }
        }
        Ok(Estimates { uppers, best })
    }

    /// Returns the selected vectors whose upper end reaches `floor`, without those in `first`.
    #[expect(clippy::cast_possible_truncation, reason = "positions in tables of at most 2^32 vectors")]
    fn reaching(&self, part: &Part, uppers: &[f32], floor: f32, first: &[VectorRef]) -> Result<Vec<Task>, StoreError> {
        let table = &self.scan.tables[part.table as usize];
        let group = &table.groups[part.group as usize];
        let mut list = Vec::new();
        for (row, &upper) in part.rows.clone().zip(uppers) {
            // NaN, which follows from overflows, counts as reaching it.
            let excluded = upper < floor;
            if excluded || first.binary_search(&part.vector(row)).is_ok() {
                continue;
            }
            if self.scan.selected.admits(table, group.record[row])? {
                list.push(row as u32);
            }
        }
        let task = |rows: &[u32]| Task { table: part.table, group: part.group, rows: Rows::List(rows.to_vec()) };
        Ok(list.chunks(super::scan::TASK).map(task).collect())
    }
}

impl Part {
    #[expect(clippy::cast_possible_truncation, reason = "positions in tables of at most 2^32 vectors")]
    fn vector(&self, row: usize) -> VectorRef {
        VectorRef { table: self.table, group: self.group, row: row as u32 }
    }
}

/// Conversion of an inner product to a number where larger is better:
/// `product * (scale + per_norm / norm) - half * (norm^2 + query^2)`.
struct Measure {
    scale: f32,
    per_norm: f32,
    square: f32,
    query_square: f32,
}

impl Measure {
    #[expect(clippy::cast_possible_truncation, reason = "rounded to f32; the margin covers it")]
    fn new(metric: SearchMetric, query: &Query) -> Self {
        let none = Self { scale: 0.0, per_norm: 0.0, square: 0.0, query_square: 0.0 };
        match metric {
            SearchMetric::InnerProduct => Self { scale: 1.0, ..none },
            SearchMetric::Cosine => Self { per_norm: (1.0 / query.norm) as f32, ..none },
            SearchMetric::SquaredL2 => {
                Self { scale: 2.0, square: 1.0, query_square: (query.norm * query.norm) as f32, ..none }
            }
        }
    }

    #[inline]
    fn goodness(&self, product: f32, norm: f32) -> f32 {
        let inverse = self.per_norm / norm.max(f32::MIN_POSITIVE);
        product * (self.scale + inverse) - (self.square * norm * norm + self.query_square)
    }

    /// Returns a bound of the rounding errors of [`goodness`](Self::goodness).
    #[inline]
    fn margin(&self, product: f32, norm: f32) -> f32 {
        let inverse = self.per_norm / norm.max(f32::MIN_POSITIVE);
        MARGIN * (product.abs() * (self.scale + inverse) + self.square * norm * norm + self.query_square)
    }
}

/// Groups sorted vectors into tasks.
fn tasks_of(vectors: &[VectorRef]) -> Vec<Task> {
    let same = |a: &VectorRef, b: &VectorRef| (a.table, a.group) == (b.table, b.group);
    let task = |vectors: &[VectorRef]| Task {
        table: vectors[0].table,
        group: vectors[0].group,
        rows: Rows::List(vectors.iter().map(|vector| vector.row).collect()),
    };
    vectors.chunk_by(same).map(task).collect()
}
