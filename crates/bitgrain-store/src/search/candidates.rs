//! `Candidates`: the vectors that may be among the best, collected in one pass without knowing the final threshold.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::metric::Goodness;
use super::table::VectorRef;

/// The `limit` largest of the pushed values.
#[derive(Debug, Clone)]
pub(super) struct Largest<T> {
    heap: BinaryHeap<Reverse<Ranked<T>>>,
    limit: usize,
}

/// A number and the item it belongs to, ordered by number, then by item.
#[derive(Debug, Clone, Copy)]
struct Ranked<T>(f64, T);

impl<T: Ord> Ord for Ranked<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        // Of equal numbers, the first vector ranks higher.
        self.0.total_cmp(&other.0).then_with(|| other.1.cmp(&self.1))
    }
}

impl<T: Ord> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Ord> Eq for Ranked<T> {}

impl<T: Ord> Largest<T> {
    pub(super) fn new(limit: usize) -> Self {
        Self { heap: BinaryHeap::new(), limit }
    }

    pub(super) fn push(&mut self, number: f64, item: T) {
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(Ranked(number, item)));
        } else if let Some(mut smallest) = self.heap.peek_mut() {
            let ranked = Ranked(number, item);
            if ranked > smallest.0 {
                *smallest = Reverse(ranked);
            }
        }
    }

    /// Returns the smallest of them if there are `limit`; otherwise minus infinity.
    pub(super) fn threshold(&self) -> f64 {
        if self.heap.len() < self.limit {
            return f64::NEG_INFINITY;
        }
        self.heap.peek().map_or(f64::INFINITY, |smallest| smallest.0.0)
    }

    pub(super) fn merge(&mut self, other: Self) {
        for Reverse(Ranked(number, item)) in other.heap {
            self.push(number, item);
        }
    }

    pub(super) fn into_items(self) -> Vec<T> {
        self.heap.into_iter().map(|Reverse(Ranked(_, item))| item).collect()
    }
}

/// Length of a list at which vectors below the threshold are removed for the first time.
const PRUNE: usize = 1024;

/// Vectors whose upper end reaches the `k`-th largest lower end. Which vectors these are does not depend on the order in
/// which vectors arrive.
#[derive(Debug, Clone)]
struct Reaching {
    lows: Largest<()>,
    list: Vec<(f64, VectorRef)>,
    prune: usize,
}

impl Reaching {
    fn new(k: usize) -> Self {
        Self { lows: Largest::new(k), list: Vec::new(), prune: PRUNE }
    }

    fn push(&mut self, low: f64, high: f64, vector: VectorRef) {
        if high < self.lows.threshold() {
            return;
        }
        self.lows.push(low, ());
        self.list.push((high, vector));
        if self.list.len() >= self.prune {
            self.settle();
            self.prune = PRUNE.max(2 * self.list.len());
        }
    }

    fn settle(&mut self) {
        let threshold = self.lows.threshold();
        self.list.retain(|(high, _)| *high >= threshold);
    }

    fn merge(&mut self, other: Self) {
        self.lows.merge(other.lows);
        self.list.extend(other.list);
        self.settle();
    }
}

/// Least upper ends of new candidates: a vector below both is not one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Thresholds {
    /// Threshold for the score of the decoded values.
    pub(super) decoded: f64,
    /// Threshold for the score of the values as they were put.
    pub(super) put: f64,
}

impl Thresholds {
    /// Returns whether a vector with this score is ruled out.
    pub(super) fn exclude(&self, found: &Goodness) -> bool {
        found.decoded + found.slack < self.decoded && found.high < self.put
    }
}

/// The largest thresholds of all threads that scan for one query, so that each thread excludes as many vectors as if it had
/// scored those of the others. They are never above the final thresholds, so the candidates do not depend on timing.
#[derive(Debug)]
pub(super) struct SharedThresholds {
    decoded: AtomicU64,
    put: AtomicU64,
}

impl SharedThresholds {
    /// Creates thresholds that exclude no vector.
    pub(super) fn new() -> Self {
        let lowest = || AtomicU64::new(ordered(f64::NEG_INFINITY));
        Self { decoded: lowest(), put: lowest() }
    }

    /// Raises them to those of one thread, and returns the larger ones.
    pub(super) fn raise(&self, own: Thresholds) -> Thresholds {
        let larger = |shared: &AtomicU64, own: f64| {
            let known = shared.load(Relaxed);
            // Most calls raise nothing, and a load leaves the line in the caches of all cores.
            let known = if ordered(own) > known { shared.fetch_max(ordered(own), Relaxed) } else { known };
            own.max(number(known))
        };
        Thresholds { decoded: larger(&self.decoded, own.decoded), put: larger(&self.put, own.put) }
    }
}

/// Maps a number other than NaN to an integer, in the same order.
fn ordered(number: f64) -> u64 {
    let bits = number.to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

/// Inverse of [`ordered`].
fn number(ordered: u64) -> f64 {
    f64::from_bits(if ordered >> 63 == 1 { ordered ^ 1 << 63 } else { !ordered })
}

/// Candidates of one query.
#[derive(Debug, Clone)]
pub(super) struct Candidates {
    /// Vectors that may be among the best `k` decoded ones.
    decoded: Reaching,
    /// Vectors that may be among the best `k` as put, if all of them are wanted.
    put: Option<Reaching>,
    /// If not all are wanted, the vectors with the largest upper ends.
    highest: Largest<VectorRef>,
}

impl Candidates {
    /// Creates an empty list for the best `k`. Without `all`, `spare` vectors are kept for proofs.
    pub(super) fn new(k: usize, spare: usize, all: bool) -> Self {
        Self {
            decoded: Reaching::new(k),
            put: all.then(|| Reaching::new(k)),
            highest: Largest::new(if all { 0 } else { spare }),
        }
    }

    /// Returns the thresholds that a vector must reach to become a candidate.
    pub(super) fn thresholds(&self) -> Thresholds {
        Thresholds {
            decoded: self.decoded.lows.threshold(),
            put: self.put.as_ref().map_or_else(|| self.highest.threshold(), |put| put.lows.threshold()),
        }
    }

    pub(super) fn push(&mut self, found: &Goodness, vector: VectorRef) {
        self.decoded.push(found.decoded - found.slack, found.decoded + found.slack, vector);
        match &mut self.put {
            Some(put) => put.push(found.low, found.high, vector),
            None => self.highest.push(found.high, vector),
        }
    }

    pub(super) fn merge(mut self, other: Self) -> Self {
        self.decoded.merge(other.decoded);
        if let (Some(put), Some(other)) = (&mut self.put, other.put) {
            put.merge(other);
        }
        self.highest.merge(other.highest);
        self
    }

    /// Returns all candidates, sorted, and the largest upper end that any other vector may have.
    pub(super) fn finish(mut self) -> (Vec<VectorRef>, f64) {
        self.decoded.settle();
        let rest = match &mut self.put {
            Some(put) => {
                put.settle();
                // Vectors outside the list cannot reach the threshold.
                put.lows.threshold().next_down()
            }
            None => self.highest.threshold(),
        };
        let listed = self.decoded.list.iter().chain(self.put.iter().flat_map(|put| &put.list));
        let mut vectors: Vec<VectorRef> = listed.map(|(_, vector)| *vector).collect();
        vectors.extend(self.highest.heap.iter().map(|Reverse(Ranked(_, vector))| *vector));
        vectors.sort_unstable();
        vectors.dedup();
        (vectors, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_order_as_integers() {
        let all = [f64::NEG_INFINITY, -1e300, -1.5, -1e-310, -0.0, 0.0, 1e-310, 2.0, f64::INFINITY];
        assert!(all.windows(2).all(|pair| ordered(pair[0]) < ordered(pair[1])));
        assert!(all.iter().all(|&value| number(ordered(value)).to_bits() == value.to_bits()));
    }

    #[test]
    fn shared_thresholds_are_the_largest_of_all_threads() {
        let shared = SharedThresholds::new();
        let own = |decoded, put| Thresholds { decoded, put };
        let first = shared.raise(own(-3.0, f64::NEG_INFINITY));
        assert_eq!((first.decoded, first.put), (-3.0, f64::NEG_INFINITY));
        let second = shared.raise(own(-5.0, 2.0));
        assert_eq!((second.decoded, second.put), (-3.0, 2.0));
        let third = shared.raise(own(1.0, 1.0));
        assert_eq!((third.decoded, third.put), (1.0, 2.0));
    }
}
