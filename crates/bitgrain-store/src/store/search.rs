//! Nearest-neighbor search.

use std::sync::Arc;

use rayon::prelude::*;

use super::{Core, TensorStore};
use crate::search::{
    Goodness, Limits, Query, Rated, SearchMetric, SegmentTable, Selected, certify, rescore, scan, score_values, screen,
};
use crate::{StoreError, TensorId, Tier};

/// Minimum number of candidates that are scored in parallel.
const PARALLEL: usize = 256;

/// Settings of a search.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchOptions {
    /// Measure of similarity.
    pub metric: SearchMetric,
    /// Search only tensors whose name starts with this string.
    pub prefix: Option<String>,
    /// Search only these tensors. Ids that do not exist are ignored.
    pub ids: Option<Vec<TensorId>>,
    /// Search only tensors whose user metadata contains all of these pairs.
    pub filter: Vec<(String, String)>,
    /// Estimate all scores from one bit per value first, and read only vectors whose estimate, plus three standard
    /// deviations, reaches the best `k`: several times faster in a large store. About one answer in a thousand is missed.
    /// Nothing is proven about vectors that were not read, so `certified` is 0 unless all of them were. Tables of bits
    /// are made by the first such search and kept in memory. Has no effect on vectors of fewer than 64 values.
    pub approximate: bool,
    /// Prove as many answers as the stored data allows, also if every vector must be scored again for that. Lossless
    /// vectors then have intervals of rounding errors only, so all answers are proven except ties.
    pub exact: bool,
}

/// An answer of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchHit {
    /// Id of the tensor.
    pub id: TensorId,
    /// Row of the matrix, 0-based; 0 if the tensor is a vector.
    pub row: usize,
    /// Score of the stored vector: inner product, cosine or squared distance.
    pub score: f64,
    /// Lower end of the interval that contains the score of the vector as it was put.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
    /// Whether the vector as it was put is proven to be among the best `k` of all selected vectors as they were put.
    pub certified: bool,
    /// Tier of the stored vector.
    pub tier: Tier,
}

/// Answers of a search, best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SearchResult {
    /// Answers, sorted by score; equal scores are sorted by id and row.
    pub hits: Vec<SearchHit>,
    /// Number of answers that are proven to be among the best `k`.
    pub certified: usize,
    /// Number of selected tensors that were not searched, because they have no data.
    pub skipped: usize,
}

impl TensorStore {
    /// Finds the `k` vectors nearest to each query, among tensors with as many values and rows of matrices with as many
    /// columns.
    ///
    /// The scan reads stored codes in place, all queries in one pass, on every core. Writes that were acknowledged
    /// are found, and deleted tensors are not. The first search reads and verifies all records once; later searches
    /// verify only new records. The answers are the best `k` by the score of the decoded values, which the store would
    /// return; the interval of each answer contains the score of the values as they were put. The answers count as used.
    ///
    /// ```
    /// use bitgrain_store::{SearchOptions, StoreConfig, TensorStore};
    /// # let folder = tempfile::tempdir()?;
    /// let store = TensorStore::open(folder.path(), StoreConfig::default())?;
    /// for (name, vector) in [("east", [1.0, 0.0]), ("north", [0.0, 1.0]), ("northeast", [0.7, 0.7])] {
    ///     store.put(name, &[2], &vector)?;
    /// }
    /// let found = store.search(&[&[0.9, 0.1]], 2, &SearchOptions::default())?;
    /// assert_eq!(found[0].hits[0].id, "east".into());
    /// assert_eq!((found[0].hits.len(), found[0].certified), (2, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`StoreError::QueryNotFinite`], [`StoreError::QueryLength`], [`StoreError::ZeroQuery`] or
    /// [`StoreError::NoAnswers`] for an invalid query; [`StoreError::ApproximateProofs`] for options that exclude each
    /// other; [`StoreError::SearchShape`] if a selected tensor has another shape;
    /// [`StoreError::Damaged`] or [`StoreError::Io`] if a selected or new tensor cannot be read.
    pub fn search(
        &self,
        queries: &[&[f32]],
        k: usize,
        options: &SearchOptions,
    ) -> Result<Vec<SearchResult>, StoreError> {
        if options.approximate && options.exact {
            return Err(StoreError::ApproximateProofs);
        }
        let queries = check(queries, k, options.metric)?;
        let Some(columns) = queries.first().map(|query| query.values.len()) else { return Ok(Vec::new()) };
        let core = &self.core;
        let tables = core.vectors.refresh(&core.index, &core.segments, options.approximate.then_some(columns))?;
        let selected = Selected {
            prefix: options.prefix.as_deref().map(|prefix| TensorId::from(prefix).key()),
            keys: options.ids.as_ref().map(|ids| ids.iter().map(TensorId::key).collect()),
            pairs: options.filter.clone(),
        };
        core.check_shapes(&tables, &selected, columns)?;
        // Enough spare vectors that the next best ones can usually be excluded.
        let spare = k.saturating_mul(2).saturating_add(64);
        let limits = Limits { k, metric: options.metric, spare, all: options.exact };
        let find = if options.approximate { screen } else { scan };
        let found = find(&tables, &selected, &queries, limits)?;
        let derived = core.derived(&tables, &selected, columns)?;
        let answer = |(query, (vectors, rest)): (&Query, (Vec<_>, f64))| {
            let score = |vector| rescore(&tables, vector, query, options.metric);
            let scored = if vectors.len() < PARALLEL {
                vectors.into_iter().map(score).collect::<Result<Vec<_>, _>>()?
            } else {
                vectors.into_par_iter().map(score).collect::<Result<Vec<_>, _>>()?
            };
            let mut answers: Vec<Answer> = scored
                .into_iter()
                .map(|scored| {
                    let table = &tables[scored.vector.table as usize];
                    let (record, row) = table.vector(scored.vector.group, scored.vector.row);
                    let (id, tier) = (table.id(record), table.records[record as usize].tier);
                    Answer { id, row, tier: Tier::of_code(tier).unwrap_or(Tier::Absent), goodness: scored.goodness }
                })
                .collect();
            answers.extend(derived.vectors.iter().map(|vector| Answer {
                id: vector.id.clone(),
                row: vector.row,
                tier: Tier::Absent,
                goodness: score_values(&vector.values, vector.bound, query, options.metric),
            }));
            Ok::<_, StoreError>(finish(answers, rest, k, options.metric, derived.skipped))
        };
        let results: Vec<SearchResult> = queries.par_iter().zip(found).map(answer).collect::<Result<_, _>>()?;
        for hit in results.iter().flat_map(|result| &result.hits) {
            core.touch_with(&hit.id.key(), |_| ());
        }
        Ok(results)
    }
}

/// Checks the queries.
fn check(queries: &[&[f32]], k: usize, metric: SearchMetric) -> Result<Vec<Query>, StoreError> {
    if k == 0 {
        return Err(StoreError::NoAnswers);
    }
    let columns = queries.first().map_or(0, |query| query.len());
    let check = |(number, query): (usize, &&[f32])| {
        if query.is_empty() || query.len() != columns {
            return Err(StoreError::QueryLength { query: number, got: query.len() });
        }
        let query = Query::new(query, number)?;
        if metric == SearchMetric::Cosine && query.norm == 0.0 {
            return Err(StoreError::ZeroQuery { query: number });
        }
        Ok(query)
    };
    queries.iter().enumerate().map(check).collect()
}

/// A scored vector.
struct Answer {
    id: TensorId,
    row: usize,
    tier: Tier,
    goodness: Goodness,
}

/// Sorts the scored vectors and keeps the best `k`.
fn finish(mut answers: Vec<Answer>, rest: f64, k: usize, metric: SearchMetric, skipped: usize) -> SearchResult {
    answers.sort_by(|a, b| {
        let better = b.goodness.decoded.total_cmp(&a.goodness.decoded);
        better.then_with(|| (&a.id, a.row).cmp(&(&b.id, b.row)))
    });
    let rate = |(rank, answer): (usize, &Answer)| Rated { goodness: answer.goodness, answer: rank < k };
    let rated: Vec<Rated> = answers.iter().enumerate().map(rate).collect();
    let certified = certify(&rated, rest, k);
    let hits = answers.into_iter().zip(certified).map(|(answer, certified)| {
        let (a, b) = (metric.flip(answer.goodness.low), metric.flip(answer.goodness.high));
        SearchHit {
            id: answer.id,
            row: answer.row,
            // Not -0.0 for a distance of 0.
            score: metric.flip(answer.goodness.decoded) + 0.0,
            low: a.min(b) + 0.0,
            high: a.max(b) + 0.0,
            certified,
            tier: answer.tier,
        }
    });
    let hits: Vec<SearchHit> = hits.collect();
    SearchResult { certified: hits.iter().filter(|hit| hit.certified).count(), hits, skipped }
}

/// Vectors whose records contain no values: reconstructed tensors, and last frames of temporal tensors.
#[derive(Default)]
struct Derived {
    vectors: Vec<DerivedVector>,
    skipped: usize,
}

struct DerivedVector {
    id: TensorId,
    row: usize,
    values: Vec<f32>,
    bound: f64,
}

impl Core {
    /// Reads the selected tensors that the scan cannot read.
    fn derived(
        &self,
        tables: &[Arc<SegmentTable>],
        selected: &Selected,
        columns: usize,
    ) -> Result<Derived, StoreError> {
        let mut derived = Derived::default();
        for table in tables {
            for &record in &table.derived {
                if !selected.admits(table, record)? {
                    continue;
                }
                let id = table.id(record);
                // Deleted since the tables were made: no longer a candidate.
                let Some(found) = self.find(&id.key()) else { continue };
                match self.reader().get(&found, &id) {
                    Ok(read) if read.provenance.bound.is_finite() => {
                        let rows = read.values.chunks_exact(columns).enumerate();
                        derived.vectors.extend(rows.map(|(row, values)| DerivedVector {
                            id: id.clone(),
                            row,
                            values: values.to_vec(),
                            bound: f64::from(read.provenance.bound),
                        }));
                    }
                    Ok(_) | Err(StoreError::TierZeroNoPolicy { .. } | StoreError::TooManyZeros { .. }) => {
                        derived.skipped += 1;
                    }
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(derived)
    }

    /// Checks that every selected tensor is a vector of `columns` values or a matrix of such rows.
    fn check_shapes(
        &self,
        tables: &[Arc<SegmentTable>],
        selected: &Selected,
        columns: usize,
    ) -> Result<(), StoreError> {
        for table in tables {
            let other = table.groups.iter().filter(|group| group.columns != columns);
            let other = other.flat_map(|group| &group.record).chain(&table.other_shapes).chain(&table.derived);
            let mut last = None;
            for &record in other {
                if last.replace(record) == Some(record) || !selected.admits(table, record)? {
                    continue;
                }
                let (id, place) = (table.id(record), table.place(record));
                let shape = crate::record::with_buffer(|buffer| {
                    let view = crate::record::read_head(&place, Some(&id), buffer)?;
                    Ok::<_, StoreError>(crate::record::tensor_head(&view, &place, &id)?.shape.clone())
                })?;
                if !matches!(*shape, [last] | [_, last] if last == columns) {
                    return Err(StoreError::SearchShape { id, shape, columns });
                }
            }
        }
        Ok(())
    }
}
