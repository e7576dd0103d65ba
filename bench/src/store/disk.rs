//! Disk space per tensor of a closed store.

use std::fs;
use std::io;
use std::path::Path;

use bitgrain::store::TensorStore;
use serde_json::json;

use super::arrays::Arrays;
use super::keeper::{FLOOR_OF_PUT, OURS, empty, fill, keepers};
use super::ours::Ours;
use super::tensors::{Tensors, thousands};
use super::{LARGE, SMALL, progress};
use crate::measure::Pace;
use crate::report::{Figure, Finding, Sheet, Verdict};
use crate::rival::store::Plan;
use crate::scratch::Scratch;

/// Disk usage of one contender for tensors of one shape.
struct Entry {
    keeper: String,
    tensor: String,
    judged: bool,
    bytes: f64,
    raw: f64,
}

/// Measures both sizes and checks the target.
pub(super) fn sheet(pace: Pace, scratch: &Scratch, arrays: &[Arrays]) -> io::Result<(Sheet, Option<Verdict>)> {
    let (small, large) = if pace == Pace::Full { (10_000, 16) } else { (1000, 4) };
    let mut entries = Vec::new();
    for (shape, count) in [(SMALL, small), (LARGE, large)] {
        let tensors = Tensors::new(shape);
        progress(&format!("bytes on disk of {}", tensors.label()));
        let mut entry = |keeper: &str, judged: bool, bytes: u64| {
            let (keeper, tensor, raw) = (keeper.to_owned(), tensors.label(), tensors.bytes() as f64);
            entries.push(Entry { keeper, tensor, judged, bytes: bytes as f64 / count as f64, raw });
        };
        let folder = scratch.file("disk");
        for keeper in keepers(FLOOR_OF_PUT).iter().filter(|keeper| keeper.durable) {
            let mut shelf = keeper.open(&Plan { folder: empty(&folder), shape, synced: false });
            fill(&mut *shelf, &tensors, count, 1);
            drop(shelf);
            entry(keeper.name, keeper.name == OURS, bytes_in(&folder)?);
            if keeper.name == OURS {
                read_once(&folder, &tensors, count);
                entry("bitgrain, each read in a later session", true, bytes_in(&folder)?);
                named(&folder, &tensors, count);
                entry("bitgrain, names instead of numbers", true, bytes_in(&folder)?);
            }
        }
        for arrays in arrays.iter().filter(|arrays| arrays.shape == shape) {
            entry(arrays.name, false, arrays.bytes * count as u64 / arrays.count as u64);
        }
        empty(&folder);
    }
    let note = format!(
        "Disk space of a closed store divided by its number of tensors ({} of 1,000 floats, {large} of 1,000,000), \
         written one by one. Ours is at the hot tier, 8 bits with one scale per 128 values. Closing a store records \
         the accesses, one entry per tensor. Names have the form `layer.000123.weight`. `{FLOOR_OF_PUT}` contains \
         only the blocks.",
        thousands(small)
    );
    let findings = entries.iter().filter(|e| e.judged).map(|e| Finding::new(e.title(), e.raw / e.bytes)).collect();
    let verdict = Verdict::new("Bytes on disk", Figure::ratio("raw f32", OURS).at_least(3.7), findings);
    Ok((Sheet { title: "Bytes on disk".into(), note, cells: cells(&entries), value: value(&entries) }, verdict))
}

impl Entry {
    fn title(&self) -> String {
        format!("{}, {}", self.keeper, self.tensor)
    }
}

fn cells(entries: &[Entry]) -> Vec<Vec<String>> {
    let header = ["store", "tensor", "bytes per tensor", "raw f32 / stored"].map(str::to_owned).to_vec();
    let row = |e: &Entry| {
        let name = if e.judged { format!("**{}**", e.keeper) } else { e.keeper.clone() };
        vec![name, e.tensor.clone(), format!("{:.1}", e.bytes), format!("{:.2}×", e.raw / e.bytes)]
    };
    std::iter::once(header).chain(entries.iter().map(row)).collect()
}

fn value(entries: &[Entry]) -> serde_json::Value {
    let entry = |e: &Entry| json!({"keeper": e.keeper, "tensor": e.tensor, "bytes": e.bytes, "raw_bytes": e.raw});
    json!({"title": "Bytes on disk", "entries": entries.iter().map(entry).collect::<Vec<_>>()})
}

/// Opens a store, reads every tensor and closes it.
fn read_once(folder: &Path, tensors: &Tensors, count: usize) {
    let ours = Ours::new(&Plan { folder, shape: tensors.shape, synced: false });
    let mut out = vec![0.0; tensors.len()];
    for id in 0..count as u128 {
        ours.store.get_into(id, &mut out).expect("a tensor that was put");
    }
    ours.store.close().expect("the store closes");
}

/// Creates a store of the same tensors with names as ids.
fn named(folder: &Path, tensors: &Tensors, count: usize) {
    let store: TensorStore = Ours::new(&Plan { folder: empty(folder), shape: tensors.shape, synced: false }).store;
    for id in 0..count {
        store.put(format!("layer.{id:06}.weight"), &tensors.shape, tensors.of(id)).expect("the store puts");
    }
    store.close().expect("the store closes");
}

/// Returns the disk space allocated to all files of a folder, in bytes.
pub(super) fn bytes_in(folder: &Path) -> io::Result<u64> {
    let mut sum = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        sum += if metadata.is_dir() { bytes_in(&entry.path())? } else { allocated(&metadata) };
    }
    Ok(sum)
}

#[cfg(unix)]
fn allocated(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::blocks(metadata) * 512
}

#[cfg(not(unix))]
fn allocated(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}
