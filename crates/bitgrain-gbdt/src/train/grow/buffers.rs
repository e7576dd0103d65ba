//! `Buffers`: vectors for sums, reused from tree to tree.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, PoisonError};

use super::histogram::Partial;
use super::numbers::Sum;
use crate::train::team;

/// Sums in a reused vector.
#[derive(Debug, Default)]
pub(crate) struct Sums<S> {
    values: Vec<S>,
    /// Number of the thread that requested the vector and gets it back: most of it is in the cache of its core.
    thread: usize,
}

/// Sums of every global bin.
pub(crate) type Histogram<S> = Sums<S>;

/// Vectors for sums. They are reused, because the operating system clears every newly mapped page.
#[derive(Debug)]
pub(crate) struct Buffers<S> {
    /// Number of sums of a histogram.
    n_bins: usize,
    /// For each thread.
    kept: Vec<Kept<S>>,
}

/// Vectors that are not in use. On separate cache lines.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Kept<S> {
    histograms: Mutex<Vec<Vec<S>>>,
    partials: Mutex<Vec<Vec<S>>>,
}

impl<S> Deref for Sums<S> {
    type Target = [S];

    fn deref(&self) -> &[S] {
        &self.values
    }
}

impl<S> DerefMut for Sums<S> {
    fn deref_mut(&mut self) -> &mut [S] {
        &mut self.values
    }
}

impl<S: Sum> Buffers<S> {
    /// Creates empty pools, one for each thread, for histograms of `n_bins` bins.
    pub(crate) fn new(n_bins: usize, threads: usize) -> Self {
        Self { n_bins, kept: (0..threads.max(1)).map(|_| Kept::default()).collect() }
    }

    /// Returns a histogram with arbitrary content.
    pub(super) fn histogram(&self) -> Histogram<S> {
        self.reused(|kept| &kept.histograms, self.n_bins)
    }

    /// Returns at least `len` sums with arbitrary content.
    pub(super) fn partial(&self, len: usize) -> Sums<S> {
        // The partial sums of the root are released before most leaves exist, so that both can use the same memory.
        if len <= self.n_bins && 3 * len >= self.n_bins {
            return self.histogram();
        }
        self.reused(|kept| &kept.partials, len)
    }

    /// Keeps a vector for later.
    pub(super) fn keep(&self, sums: Sums<S>) {
        let kept = &self.kept[sums.thread];
        let pool = if sums.len() == self.n_bins { &kept.histograms } else { &kept.partials };
        pool.lock().unwrap_or_else(PoisonError::into_inner).push(sums.values);
    }

    pub(super) fn keep_partials(&self, partials: Vec<Partial<S>>) {
        partials.into_iter().for_each(|partial| self.keep(partial.sums));
    }

    /// Returns a vector of at least `len` sums: one that this thread used before, or another one.
    fn reused(&self, pool: impl Fn(&Kept<S>) -> &Mutex<Vec<Vec<S>>>, len: usize) -> Sums<S> {
        let thread = team::thread_number() % self.kept.len();
        let (others, own) = self.kept.split_at(thread);
        let found = own.iter().chain(others).find_map(|k| pool(k).lock().unwrap_or_else(PoisonError::into_inner).pop());
        let mut values = found.unwrap_or_default();
        if values.len() < len {
            values.resize(len, S::default());
        }
        Sums { values, thread }
    }
}
