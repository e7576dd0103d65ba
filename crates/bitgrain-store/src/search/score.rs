//! Scores of the vectors of one task, and the few of them that become candidates.

use std::borrow::Cow;
use std::ops::Range;

use bitgrain_formats::segment::Encoding;
use bitgrain_kernels::Backend;
use bitgrain_kernels::search::{RowLayout, mark_rows, score_f32_rows, score_rows};

use super::candidates::Candidates;
use super::conditions::{ScoreError, conditions};
use super::metric::Measures;
use super::scan::{Laid, Rows, Scan, Task, kernel_error};
use super::table::{Group, SegmentTable, VectorRef};
use super::vector::decode_row;
use crate::StoreError;

/// Vectors that are tested at once with the same thresholds.
const CHUNK: usize = 256;

impl Scan<'_> {
    /// Scores the vectors of a task against all queries.
    pub(super) fn score(&self, task: &Task, mut found: Vec<Candidates>) -> Result<Vec<Candidates>, StoreError> {
        let narrow = self.selected.narrow(&self.tables[task.table as usize], task);
        let task = narrow.as_ref().unwrap_or(task);
        let vectors = Vectors::new(self, task);
        if vectors.at.is_empty() {
            return Ok(found);
        }
        let laid = vectors.group.layout.and_then(|layout| self.laid.iter().find(|(known, _)| *known == layout));
        match laid {
            Some((layout, batches)) => self.score_codes(&vectors, *layout, batches, &mut found)?,
            None => self.score_floats(&vectors, &mut found)?,
        }
        Ok(found)
    }

    /// Scores packed codes in place.
    fn score_codes(
        &self,
        vectors: &Vectors<'_>,
        layout: RowLayout,
        batches: &[Laid<'_>],
        found: &mut [Candidates],
    ) -> Result<(), StoreError> {
        let mut buffer = Vec::new();
        let (offsets, bytes) = vectors.read(&mut buffer)?;
        let count = offsets.len();
        let most = batches.iter().map(|batch| batch.query.planes()).max().unwrap_or(0);
        let mut scores = vec![0.0; count * most];
        let mut first = 0;
        for batch in batches {
            let scores = &mut scores[..count * batch.query.planes()];
            score_rows(Backend::best(), &batch.query, bytes, &offsets, scores).map_err(kernel_error)?;
            for (p, (planes, error)) in scores.chunks_exact_mut(count * batch.each).zip(&batch.errors).enumerate() {
                let error = ScoreError::new(error.norm, error.residual, layout.blocks() + 12, self.columns);
                let (sums, rest) = planes.split_at_mut(count);
                for plane in rest.chunks_exact(count) {
                    sums.iter_mut().zip(plane).for_each(|(sum, score)| *sum += score);
                }
                self.collect(vectors, first + p, error, sums, &mut found[first + p])?;
            }
            first += batch.errors.len();
        }
        Ok(())
    }

    /// Scores values of 32 bits in place, and other values after decoding them.
    fn score_floats(&self, vectors: &Vectors<'_>, found: &mut [Candidates]) -> Result<(), StoreError> {
        let (mut buffer, mut decoded) = (Vec::new(), Vec::new());
        let (mut offsets, mut bytes) = vectors.read(&mut buffer)?;
        let Vectors { table, group, .. } = vectors;
        if group.encoding != Encoding::Raw {
            let mut values = vec![0.0; self.columns];
            decoded.reserve_exact(4 * self.columns * offsets.len());
            for (i, at) in offsets.iter().enumerate() {
                let row = vectors.row(i);
                let info = &table.records[group.record[row] as usize];
                let (row, count) = group.within_span(info, group.row[row]);
                decode_row(group.encoding, &bytes[*at..at + group.span(info)], count, row, &mut values)?;
                decoded.extend(values.iter().flat_map(|value| value.to_le_bytes()));
            }
            offsets = (0..offsets.len()).map(|i| i * 4 * self.columns).collect();
            bytes = &decoded;
        }
        let mut scores = vec![0.0; offsets.len()];
        for (number, (query, found)) in self.queries.iter().zip(found).enumerate() {
            #[expect(clippy::cast_possible_truncation, reason = "a division by a power of two")]
            let scaled: Vec<f32> = query.values.iter().map(|&value| (f64::from(value) / query.unit) as f32).collect();
            score_f32_rows(Backend::best(), &scaled, bytes, &offsets, &mut scores).map_err(kernel_error)?;
            let error = ScoreError::new(query.norm / query.unit, 0.0, self.columns / 16 + 8, self.columns);
            self.collect(vectors, number, error, &scores, found)?;
        }
        Ok(())
    }

    /// Adds the vectors to the candidates of a query whose scores may be among the best.
    fn collect(
        &self,
        vectors: &Vectors<'_>,
        query: usize,
        error: ScoreError,
        scores: &[f32],
        found: &mut Candidates,
    ) -> Result<(), StoreError> {
        let mut marks = [0; CHUNK];
        let parts = scores.chunks(CHUNK).zip(vectors.norms.chunks(CHUNK)).zip(vectors.residuals.chunks(CHUNK));
        for (start, ((scores, norms), residuals)) in (0..).step_by(CHUNK).zip(parts) {
            let thresholds = self.thresholds[query].raise(found.thresholds());
            let conditions = conditions(self.limits.metric, &self.queries[query], error, thresholds);
            let (used, unused) = marks.split_at_mut(scores.len());
            mark_rows(Backend::best(), &conditions, scores, norms, residuals, used).map_err(kernel_error)?;
            unused.fill(0);
            // Eight marks at once, because nearly all are 0.
            for (e, eight) in marks.as_chunks::<8>().0.iter().enumerate() {
                if u64::from_le_bytes(*eight) != 0 {
                    for i in (8 * e..8 * e + 8).filter(|i| eight[i % 8] != 0) {
                        self.visit(vectors, query, start + i, scores[i], error, found)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds a vector to the candidates, if it may be among the best.
    fn visit(
        &self,
        vectors: &Vectors<'_>,
        query: usize,
        at: usize,
        score: f32,
        error: ScoreError,
        found: &mut Candidates,
    ) -> Result<(), StoreError> {
        let Vectors { task, table, group, .. } = vectors;
        let query = &self.queries[query];
        let row = vectors.row(at);
        let norm = f64::from(group.norm[row]);
        let (residual, unit) = (f64::from(group.residual[row]), f64::from(group.unit[row]));
        let (product, product_error) = if score.is_finite() {
            (f64::from(score) * query.unit, (error.per_norm * norm + error.fixed) * query.unit)
        } else {
            // The sum overflowed an f32; the second pass computes it in f64.
            (0.0, f64::INFINITY)
        };
        let shift = (residual * query.norm).min(unit * query.sum) * (1.0 + 1e-9);
        let norm_error = norm * 1e-7 + 1e-45;
        let measures = Measures { product, product_error, norm, norm_error, shift, residual };
        let goodness = measures.goodness(self.limits.metric, query.norm);
        if !found.thresholds().exclude(&goodness) && self.selected.admits(table, group.record[row])? {
            #[expect(clippy::cast_possible_truncation, reason = "positions in tables of at most 2^32 vectors")]
            let row = row as u32;
            found.push(&goodness, VectorRef { table: task.table, group: task.group, row });
        }
        Ok(())
    }
}

/// Vectors of a task.
struct Vectors<'a> {
    task: &'a Task,
    table: &'a SegmentTable,
    group: &'a Group,
    /// Offset of each vector in the segment.
    at: Cow<'a, [usize]>,
    norms: Cow<'a, [f32]>,
    residuals: Cow<'a, [f32]>,
}

impl<'a> Vectors<'a> {
    fn new(scan: &Scan<'a>, task: &'a Task) -> Self {
        let table = &*scan.tables[task.table as usize];
        let group = &table.groups[task.group as usize];
        let (at, norms, residuals) = match &task.rows {
            Rows::Range(range) => (
                Cow::Borrowed(&group.at[range.clone()]),
                Cow::Borrowed(&group.norm[range.clone()]),
                Cow::Borrowed(&group.residual[range.clone()]),
            ),
            Rows::List(list) => (
                list.iter().map(|&row| group.at[row as usize]).collect(),
                list.iter().map(|&row| group.norm[row as usize]).collect(),
                list.iter().map(|&row| group.residual[row as usize]).collect(),
            ),
        };
        Self { task, table, group, at, norms, residuals }
    }

    /// Returns the row in the group of vector `i` of the task.
    fn row(&self, i: usize) -> usize {
        match &self.task.rows {
            Rows::Range(range) => range.start + i,
            Rows::List(list) => list[i] as usize,
        }
    }

    /// Returns bytes that contain all vectors, and the offset of each there.
    fn read<'b>(&'b self, buffer: &'b mut Vec<u8>) -> Result<(Cow<'b, [usize]>, &'b [u8]), StoreError> {
        let span = |i: usize| self.group.span(&self.table.records[self.group.record[self.row(i)] as usize]);
        if let Some(bytes) = self.table.segment.mapped(0, self.group.end) {
            return Ok((Cow::Borrowed(&self.at), bytes));
        }
        let spans: Vec<Range<usize>> = self.at.iter().enumerate().map(|(i, &at)| at..at + span(i)).collect();
        let start = spans.iter().map(|span| span.start).min().unwrap_or(0);
        let end = spans.iter().map(|span| span.end).max().unwrap_or(0);
        let wanted: usize = spans.iter().map(Range::len).sum();
        // The bytes between the vectors are read with them, unless they are most of the range.
        if end - start <= wanted.saturating_mul(2) {
            let bytes = self.table.bytes(start, end - start, buffer)?;
            return Ok((self.at.iter().map(|at| at - start).collect(), bytes));
        }
        let mut offsets = Vec::with_capacity(spans.len());
        for span in spans {
            let at = buffer.len();
            offsets.push(at);
            buffer.resize(at + span.len(), 0);
            self.table.segment.read(span.start as u64, &mut buffer[at..])?;
        }
        Ok((Cow::Owned(offsets), buffer))
    }
}
