//! Contenders that store tensors, and checks of their results.

use std::fs;
use std::path::Path;

use super::floor::Floor;
use super::ours::Ours;
use super::tensors::Tensors;
use crate::rival::store::ruvector::Ruvector;
use crate::rival::store::{Plan, Shelf};

pub(super) const OURS: &str = "bitgrain";
pub(super) const FLOOR_OF_GET: &str = "read + decode";
pub(super) const FLOOR_OF_PUT: &str = "encode + write";
pub(super) const SEED: &str = "ruvector";

/// A contender that stores tensors.
#[derive(Clone, Copy)]
pub(super) struct Keeper {
    pub(super) name: &'static str,
    /// Whether data outlives the process.
    pub(super) durable: bool,
    /// Whether values are returned unchanged.
    exact: bool,
    open: fn(&Plan<'_>) -> Box<dyn Shelf>,
}

impl Keeper {
    pub(super) fn open(&self, plan: &Plan<'_>) -> Box<dyn Shelf> {
        (self.open)(plan)
    }

    /// Panics unless the first `count` tensors are returned: exactly, or within half a step of 8 bits.
    pub(super) fn check(&self, shelf: &mut dyn Shelf, tensors: &Tensors, count: usize) {
        let mut out = vec![f32::NAN; tensors.len()];
        for id in 0..count {
            out.fill(f32::NAN);
            shelf.get(id as u128, &mut out);
            let values = tensors.of(id);
            let largest = values.iter().fold(0.0_f32, |m, v| m.max(v.abs()));
            let bound = if self.exact { 0.0 } else { largest / 127.0 * 0.502 };
            let close = values.iter().zip(&out).all(|(value, back)| (value - back).abs() <= bound);
            assert!(close, "{}: the error of tensor {id} exceeds {bound}", self.name);
        }
    }

    /// Panics unless rows equal those of the whole tensor. Returns whether rows can be read at all.
    pub(super) fn check_rows(&self, shelf: &mut dyn Shelf, tensors: &Tensors) -> bool {
        let [rows, columns] = tensors.shape;
        let mut whole = vec![0.0; tensors.len()];
        shelf.get(1, &mut whole);
        for range in [0..1, 1..rows / 2, rows - 3..rows] {
            let Some(part) = shelf.rows(1, range.clone()) else { return false };
            let same = part == whole[range.start * columns..range.end * columns];
            assert!(same, "{}: rows {range:?} differ from those of the whole tensor", self.name);
        }
        true
    }
}

/// Returns all contenders, ours and the lower bound first. The name of the lower bound depends on the measurement.
pub(super) fn keepers(floor: &'static str) -> Vec<Keeper> {
    let all = [
        Keeper { name: OURS, durable: true, exact: false, open: Ours::open },
        Keeper { name: floor, durable: true, exact: false, open: Floor::open },
        Keeper { name: SEED, durable: false, exact: false, open: Ruvector::open },
    ];
    all.into_iter().chain(others()).collect()
}

#[cfg(feature = "stores")]
fn others() -> [Keeper; 3] {
    use crate::rival::store::{lmdb::Lmdb, redb::Redb, safetensors::Files};
    let rival = |name, open| Keeper { name, durable: true, exact: true, open };
    [rival("redb", Redb::open), rival("LMDB", Lmdb::open), rival("safetensors", Files::open)]
}

#[cfg(not(feature = "stores"))]
fn others() -> [Keeper; 0] {
    []
}

/// Creates a new, empty folder.
pub(super) fn empty(folder: &Path) -> &Path {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("a folder for a shelf");
    folder
}

/// Opens a contender in a new folder and puts the first `count` tensors, in several commits.
pub(super) fn filled(keeper: &Keeper, folder: &Path, tensors: &Tensors, count: usize) -> Box<dyn Shelf> {
    let mut shelf = keeper.open(&Plan { folder: empty(folder), shape: tensors.shape, synced: false });
    fill(&mut *shelf, tensors, count, (4 << 20) / tensors.bytes() + 1);
    shelf
}

/// Puts the first `count` tensors, `batch` per commit.
pub(super) fn fill(shelf: &mut dyn Shelf, tensors: &Tensors, count: usize, batch: usize) {
    for first in (0..count).step_by(batch) {
        if batch == 1 {
            shelf.put(first as u128, tensors.of(first));
        } else {
            let some: Vec<&[f32]> = (first..count.min(first + batch)).map(|id| tensors.of(id)).collect();
            shelf.put_all(first as u128, &some);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn every_contender_returns_the_values_put() {
        let scratch = Scratch::new("keepers").expect("a folder");
        let tensors = Tensors::new([10, 100]);
        for keeper in keepers(FLOOR_OF_GET) {
            let mut shelf = filled(&keeper, &scratch.file("shelf"), &tensors, 40);
            keeper.check(&mut *shelf, &tensors, 40);
            assert_eq!(keeper.check_rows(&mut *shelf, &tensors), keeper.durable, "{}", keeper.name);
        }
    }

    #[test]
    #[should_panic(expected = "the error of tensor 0 exceeds")]
    fn a_wrong_answer_is_detected() {
        let scratch = Scratch::new("wrong").expect("a folder");
        let tensors = Tensors::new([10, 100]);
        let keeper = keepers(FLOOR_OF_GET)[0];
        let mut shelf = filled(&keeper, &scratch.file("shelf"), &tensors, 1);
        shelf.put(0, &[0.5; 1000]);
        keeper.check(&mut *shelf, &tensors, 1);
    }
}
