//! `Neighbors`: points of a codebook near a point that is not in it, in the order of the reference.
//!
//! The reference builds all lists before it quantizes. Here each list is found when it is first needed and kept in a static
//! pool, because this crate has no heap. Threads that need the same list at once may store it twice; if the pool is full,
//! lists are found again each time. The result does not depend on either.

use core::sync::atomic::{AtomicU16, AtomicU32, Ordering};

/// Lists of the neighbors of all points with `D` coordinates.
pub(super) struct Neighbors<const D: usize> {
    pub(super) points: &'static [[u8; D]],
    /// Bits of a coordinate in a key.
    pub(super) bits: usize,
    /// Number of distinct distances in a list.
    pub(super) distances: usize,
    /// Start of each key's list in the pool and its length, or 0 if it is not stored.
    pub(super) places: &'static [AtomicU32],
    pub(super) pool: &'static [AtomicU16],
    /// Entries of the pool in use.
    pub(super) used: &'static AtomicU32,
}

/// Bits of the length of a list; a codebook has 512 points.
const LENGTH_BITS: u32 = 10;

impl<const D: usize> Neighbors<D> {
    /// Returns the index of the neighbor of `key` with the smallest weighted distance between its multiple by `scale` and
    /// `values`, the first of equal ones.
    pub(super) fn nearest(&self, key: usize, values: &[f32], weights: &[f32], scale: f32) -> usize {
        let (mut best, mut least) = (None, f32::MAX);
        let mut visit = |index: u16| {
            let point = &self.points[usize::from(index)];
            let mut distance = 0.0;
            for ((&coordinate, &value), &weight) in point.iter().zip(values).zip(weights) {
                let difference = scale * f32::from(coordinate) - value;
                distance += weight * difference * difference;
            }
            // Without a finite distance, the first neighbor is used; the reference aborts.
            if distance < least || best.is_none() {
                least = if distance < least { distance } else { least };
                best = Some(index);
            }
        };
        let place = self.places[key].load(Ordering::Acquire);
        if place != 0 {
            let (start, len) = ((place >> LENGTH_BITS) as usize, (place & ((1 << LENGTH_BITS) - 1)) as usize);
            self.pool[start..start + len].iter().for_each(|index| visit(index.load(Ordering::Relaxed)));
        } else {
            let mut list = [0; 512];
            let len = self.find(key, &mut list);
            self.keep(key, &list[..len]);
            list[..len].iter().for_each(|index| visit(*index));
        }
        best.map_or(0, usize::from)
    }

    /// Finds the points with the smallest distances, sorted by distance and index. Returns their number.
    fn find(&self, key: usize, list: &mut [u16; 512]) -> usize {
        let mask = (1 << self.bits) - 1;
        let target: [i32; D] = core::array::from_fn(|k| {
            let code = key >> (self.bits * k) & mask;
            i32::try_from(2 * code + 1).unwrap_or(0)
        });
        let mut all = [i32::MAX; 512];
        for (distance, point) in all.iter_mut().zip(self.points) {
            *distance = point.iter().zip(target).map(|(&a, b)| (i32::from(a) - b) * (i32::from(a) - b)).sum();
        }
        let (mut len, mut last) = (0, -1);
        for _ in 0..self.distances {
            let Some(next) = all.iter().copied().filter(|distance| *distance > last).min() else { break };
            for (index, _) in (0_u16..).zip(&all).filter(|(_, distance)| **distance == next) {
                list[len] = index;
                len += 1;
            }
            last = next;
        }
        len
    }

    fn keep(&self, key: usize, list: &[u16]) {
        let Ok(len) = u32::try_from(list.len()) else { return };
        // Checked before it is added, so that the counter cannot wrap around.
        if self.used.load(Ordering::Relaxed) as usize + list.len() > self.pool.len() {
            return;
        }
        let start = self.used.fetch_add(len, Ordering::Relaxed);
        let Some(room) = self.pool.get(start as usize..start as usize + list.len()) else { return };
        room.iter().zip(list).for_each(|(room, index)| room.store(*index, Ordering::Relaxed));
        self.places[key].store(start << LENGTH_BITS | len, Ordering::Release);
    }
}
