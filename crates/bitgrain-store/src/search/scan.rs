//! First pass: scores of all vectors from their codes, read in place, and the candidates that follow from them.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use bitgrain_kernels::search::{MAX_PLANES, RowLayout, RowQuery};
use rayon::prelude::*;

use super::candidates::{Candidates, SharedThresholds};
use super::metric::SearchMetric;
use super::query::{Planes, Query};
use super::table::{SegmentTable, VectorRef};
use crate::StoreError;
use crate::id::Key;

/// Vectors per task: the scores of eight queries fit in the L1 cache.
pub(super) const TASK: usize = 1024;

/// Selection of the vectors to search.
#[derive(Debug, Default)]
pub(crate) struct Selected {
    /// Start of the keys.
    pub(crate) prefix: Option<Key>,
    /// Keys of the tensors.
    pub(crate) keys: Option<HashSet<Key>>,
    /// Pairs that the user metadata must contain.
    pub(crate) pairs: Vec<(String, String)>,
}

impl Selected {
    /// Returns whether a live record is searched.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] or [`StoreError::Io`] if its metadata cannot be read.
    pub(crate) fn admits(&self, table: &SegmentTable, record: u32) -> Result<bool, StoreError> {
        // Most searches select all records, and reading one that is not in a cache takes longer than scoring a vector.
        if table.dead == 0 && self.prefix.is_none() && self.keys.is_none() && self.pairs.is_empty() {
            return Ok(true);
        }
        let info = &table.records[record as usize];
        Ok(info.live
            && self.admits_key(&info.key)
            && (self.pairs.is_empty() || table.has_pairs(record, &self.pairs)?))
    }

    fn admits_key(&self, key: &Key) -> bool {
        self.prefix.as_ref().is_none_or(|prefix| key.starts_with(prefix))
            && self.keys.as_ref().is_none_or(|keys| keys.contains(key))
    }

    /// Returns the vectors of a task whose keys are selected, unless all are: other vectors are not scored. User
    /// metadata is not checked, because reading it takes longer than scoring a vector.
    #[expect(clippy::cast_possible_truncation, reason = "positions in tables of at most 2^32 vectors")]
    pub(super) fn narrow(&self, table: &SegmentTable, task: &Task) -> Option<Task> {
        let Rows::Range(range) = &task.rows else { return None };
        if self.prefix.is_none() && self.keys.is_none() {
            return None;
        }
        let group = &table.groups[task.group as usize];
        let admits = |row: &usize| self.admits_key(&table.records[group.record[*row] as usize].key);
        let list: Vec<u32> = range.clone().filter(admits).map(|row| row as u32).collect();
        (list.len() < range.len()).then_some(Task { rows: Rows::List(list), ..*task })
    }
}

/// Number of answers, and of vectors kept for proofs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) k: usize,
    pub(crate) metric: SearchMetric,
    /// Vectors kept for proofs besides the answers.
    pub(crate) spare: usize,
    /// Keep every vector that may be among the best.
    pub(crate) all: bool,
}

/// Vectors of a group that one task scores.
pub(super) struct Task {
    pub(super) table: u32,
    pub(super) group: u32,
    pub(super) rows: Rows,
}

pub(super) enum Rows {
    Range(Range<usize>),
    List(Vec<u32>),
}

/// Candidates of a query, and the largest upper end that any other vector may have.
pub(crate) type Found = (Vec<VectorRef>, f64);

/// Scores every selected vector with as many values as the queries, all queries in one pass.
pub(crate) fn scan(
    tables: &[Arc<SegmentTable>],
    selected: &Selected,
    queries: &[Query],
    limits: Limits,
) -> Result<Vec<Found>, StoreError> {
    let mut prepared = Scan::prepare(tables, queries);
    let scan = Scan::new(tables, selected, queries, limits, &mut prepared)?;
    let tasks = scan.tasks();
    Ok(scan.score_each(tasks)?.into_iter().map(Candidates::finish).collect())
}

/// Quantizes the queries: a single query at 16 bits, because its scan reads the codes only once; several at 8 bits.
fn planes_of(layout: RowLayout, queries: &[Query]) -> Vec<Planes> {
    if let [query] = queries {
        return vec![Planes::new(layout, &[query], 2)];
    }
    let mut rest = queries;
    let mut planes = Vec::new();
    while !rest.is_empty() {
        // The largest power of two, up to the number of planes that a kernel takes.
        let count = (1 << rest.len().ilog2()).min(MAX_PLANES);
        let (now, later) = rest.split_at(count);
        planes.push(Planes::new(layout, &now.iter().collect::<Vec<_>>(), 1));
        rest = later;
    }
    planes
}

/// Planes in the order of the kernel, with the error of each query.
pub(super) struct Laid<'a> {
    pub(super) query: RowQuery<'a>,
    pub(super) errors: Vec<super::query::PlaneError>,
    pub(super) each: usize,
}

impl<'a> Laid<'a> {
    fn new(planes: &'a mut Planes) -> Result<Self, StoreError> {
        let (errors, each) = (planes.errors.clone(), planes.each);
        Ok(Self { query: planes.lay_out()?, errors, each })
    }
}

/// Planes of the queries for each layout in the store.
pub(super) type Prepared = Vec<(RowLayout, Vec<Planes>)>;

/// A search for one or several queries.
pub(super) struct Scan<'a> {
    pub(super) tables: &'a [Arc<SegmentTable>],
    pub(super) selected: &'a Selected,
    pub(super) queries: &'a [Query],
    pub(super) limits: Limits,
    pub(super) columns: usize,
    pub(super) laid: Vec<(RowLayout, Vec<Laid<'a>>)>,
    /// Of each query.
    pub(super) thresholds: Vec<SharedThresholds>,
}

impl<'a> Scan<'a> {
    /// Quantizes the queries for each layout.
    pub(super) fn prepare(tables: &[Arc<SegmentTable>], queries: &[Query]) -> Prepared {
        let columns = queries.first().map_or(0, |query| query.values.len());
        let mut prepared = Prepared::new();
        for group in tables.iter().flat_map(|table| &table.groups).filter(|group| group.columns == columns) {
            if let Some(layout) = group.layout
                && prepared.iter().all(|(known, _)| *known != layout)
            {
                prepared.push((layout, planes_of(layout, queries)));
            }
        }
        prepared
    }

    pub(super) fn new(
        tables: &'a [Arc<SegmentTable>],
        selected: &'a Selected,
        queries: &'a [Query],
        limits: Limits,
        prepared: &'a mut Prepared,
    ) -> Result<Self, StoreError> {
        let columns = queries.first().map_or(0, |query| query.values.len());
        let mut laid = Vec::new();
        for (layout, planes) in prepared {
            laid.push((*layout, planes.iter_mut().map(Laid::new).collect::<Result<_, _>>()?));
        }
        let thresholds = queries.iter().map(|_| SharedThresholds::new()).collect();
        Ok(Self { tables, selected, queries, limits, columns, laid, thresholds })
    }
}

impl Scan<'_> {
    fn no_candidates(&self) -> Candidates {
        Candidates::new(self.limits.k, self.limits.spare, self.limits.all)
    }

    /// Scores the vectors of tasks against each query.
    fn score_each(&self, tasks: Vec<Task>) -> Result<Vec<Candidates>, StoreError> {
        let none = || self.queries.iter().map(|_| self.no_candidates()).collect::<Vec<_>>();
        let found = tasks.into_par_iter().try_fold(none, |found, task| self.score(&task, found));
        let merge = |a: Vec<Candidates>, b: Vec<Candidates>| a.into_iter().zip(b).map(|(a, b)| a.merge(b)).collect();
        found.try_reduce(none, |a, b| Ok(merge(a, b)))
    }

    /// Scores the vectors of tasks against the only query.
    pub(super) fn score_all(&self, tasks: Vec<Task>) -> Result<Candidates, StoreError> {
        Ok(self.score_each(tasks)?.pop().unwrap_or_else(|| self.no_candidates()))
    }

    /// Splits the vectors into tasks. A short list of ids is looked up, so that its cost does not depend on the store.
    #[expect(clippy::cast_possible_truncation, reason = "positions in tables of at most 2^32 vectors")]
    pub(super) fn tasks(&self) -> Vec<Task> {
        let mut tasks = Vec::new();
        for (table, vectors) in self.tables.iter().enumerate() {
            let listed = self.selected.keys.as_ref().filter(|keys| keys.len() < vectors.records.len() / 4);
            for (at, group) in vectors.groups.iter().enumerate().filter(|(_, group)| group.columns == self.columns) {
                let mut add = |rows| tasks.push(Task { table: table as u32, group: at as u32, rows });
                match listed {
                    Some(keys) => {
                        let is = |row: &u32| keys.contains(&vectors.records[group.record[*row as usize] as usize].key);
                        let rows: Vec<u32> = (0..group.at.len() as u32).filter(is).collect();
                        rows.chunks(TASK).for_each(|rows| add(Rows::List(rows.to_vec())));
                    }
                    None => (0..group.at.len())
                        .step_by(TASK)
                        .for_each(|start| add(Rows::Range(start..group.at.len().min(start + TASK)))),
                }
            }
        }
        tasks
    }
}

pub(super) fn kernel_error(error: bitgrain_kernels::KernelError) -> StoreError {
    StoreError::Codec(error.into())
}
