//! `Places`: the inverse of the order in which training leaves the rows.

use std::sync::atomic::{AtomicU32, Ordering};

use super::team::Team;
use super::usage::Phase;
use crate::narrow::narrow;

/// Rows per task.
const CHUNK: usize = 1 << 14;

/// Position of each row.
#[derive(Debug)]
pub(crate) struct Places(Vec<u32>);

impl Places {
    /// Inverts an order, which holds the row at each position.
    pub(super) fn new(team: &Team<'_>, order: &[u32]) -> Self {
        // Atomics let several threads write to scattered rows; a relaxed store costs no more than a plain one.
        let places: Vec<AtomicU32> = order.iter().map(|_| AtomicU32::new(0)).collect();
        let chunks = order.chunks(CHUNK).zip((0..).step_by(CHUNK)).collect();
        team.map(Phase::Order, chunks, |(order, first): (&[u32], usize)| {
            for (&row, place) in order.iter().zip(first..) {
                places[row as usize].store(narrow(place), Ordering::Relaxed);
            }
        });
        Self(places.into_iter().map(AtomicU32::into_inner).collect())
    }

    /// Returns a column in the original order of the rows.
    pub(super) fn gather<T: Copy + Default + Send + Sync>(&self, team: &Team<'_>, column: &[T]) -> Vec<T> {
        let mut out = vec![T::default(); column.len()];
        self.gather_strided(team, column, (1, 0), &mut out);
        out
    }

    /// Gathers item `at` of each record of `width` items.
    fn gather_strided<T: Copy + Send + Sync>(
        &self,
        team: &Team<'_>,
        records: &[T],
        (width, at): (usize, usize),
        out: &mut [T],
    ) {
        let chunks = out.chunks_mut(CHUNK).zip(self.0.chunks(CHUNK)).collect();
        team.map(Phase::Order, chunks, |(out, places): (&mut [T], &[u32])| {
            out.iter_mut().zip(places).for_each(|(out, &place)| *out = records[place as usize * width + at]);
        });
    }

    /// Restores the order of records of `width` bytes, a multiple of four. Four bytes of all records are moved at a
    /// time, so that the copy takes little memory.
    pub(super) fn restore_records(&self, team: &Team<'_>, width: usize, records: &mut [u8]) {
        let (words, width) = (records.as_chunks_mut::<4>().0, width / 4);
        let mut column = vec![[0; 4]; self.0.len()];
        for at in 0..width {
            self.gather_strided(team, words, (width, at), &mut column);
            let chunks = words.chunks_mut(CHUNK * width).zip(column.chunks(CHUNK)).collect();
            team.map(Phase::Order, chunks, |(records, column): (&mut [[u8; 4]], &[[u8; 4]])| {
                records.iter_mut().skip(at).step_by(width).zip(column).for_each(|(out, &word)| *out = word);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_and_columns_return_to_their_rows() {
        let n_rows = 3 * CHUNK + 5;
        // 7 does not divide the number of rows, so this is a permutation.
        let order: Vec<u32> = (0..n_rows).map(|place| narrow(place * 7 % n_rows)).collect();
        let records: Vec<u8> =
            order.iter().flat_map(|&row| [row, !row, row ^ 5].map(u32::to_le_bytes)).flatten().collect();
        Team::with(2, |team| {
            let places = Places::new(team, &order);
            let rows: Vec<u32> = (0..narrow(n_rows)).collect();
            assert_eq!(places.gather(team, &order), rows);
            let mut restored = records.clone();
            places.restore_records(team, 12, &mut restored);
            let wanted: Vec<u8> =
                rows.iter().flat_map(|&row| [row, !row, row ^ 5].map(u32::to_le_bytes)).flatten().collect();
            assert!(restored == wanted);
        });
    }
}
