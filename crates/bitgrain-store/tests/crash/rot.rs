//! Bit flips at rest: every bit of a small store is flipped, and each flip is detected or harmless.

use std::sync::Arc;

use bitgrain_formats::segment::{Records, SegmentHeader, write_record};
use bitgrain_store::storage::simulated::{Image, SimulatedDisk};
use bitgrain_store::{CompactOptions, OnDamage, StoreConfig, StoreError, SyncMode, TensorId, TensorStore, Tier};

use crate::points::{Tally, quiet};
use crate::script::{Op, Put, values};
use crate::session::{Session, Settings};
use crate::view::View;
use crate::world::World;

/// Outcome of opening a store with a flipped bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// Opening failed and named the file.
    Refused,
    /// A read failed and named the file; all other data is unchanged.
    Reported,
    /// Opening found an end of the log that looks like a crash, and reported the number of truncated bytes.
    Torn,
    /// All data is unchanged.
    Harmless,
}

/// Checksum of a record with a flipped bit in its body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checksums {
    /// It does not match the body.
    AsWritten,
    /// It matches the flipped body, so the flip is as invisible as in a store without checksums.
    Recomputed,
}

/// Flips every bit of a closed store, and of a store whose process was killed.
///
/// # Errors
/// Returns the first undetected flip.
pub(crate) fn every_bit(checksums: Checksums) -> Result<Tally, String> {
    let mut tally = Tally::default();
    for closed in [true, false] {
        let (image, worlds) = small_store(closed)?;
        let before = View::of(&open(&image).map_err(|error| error.to_string())?).map_err(|error| error.to_string())?;
        before.find(&worlds)?;
        for bit in 0..image.bits() {
            let mut flipped = image.clone();
            let (file, byte) = flipped.flip(bit).expect("as many bits as counted");
            if checksums == Checksums::Recomputed {
                recompute_checksum(&mut flipped, &image, &file, byte);
            }
            let verdict = quiet(|| examine(&flipped, &file, &before, closed)).map_err(|why| {
                format!(
                    "bit {} of byte {byte} of {file} ({}), closed: {closed}: {why}",
                    bit % 8,
                    image.file(&file).map_or(0, <[u8]>::len)
                )
            })?;
            if verdict == Verdict::Torn && (closed || !is_last_log(&image, &file)) {
                return Err(format!(
                    "bit {} of byte {byte} of {file}, closed: {closed}: acknowledged data was cut off as if torn",
                    bit % 8
                ));
            }
            tally.count(match verdict {
                Verdict::Refused => "bit flipped, store refused",
                Verdict::Reported => "bit flipped, read refused",
                Verdict::Torn => "bit flipped, reported as torn",
                Verdict::Harmless => "bit flipped, no difference",
            });
        }
    }
    Ok(tally)
}

/// Sets the checksum of the record of `original` that has `byte` in its body to that of the flipped body.
fn recompute_checksum(flipped: &mut Image, original: &Image, file: &str, byte: usize) {
    let (Some(good), Some(bad)) = (original.file(file), flipped.file(file)) else { return };
    let Ok(header) = SegmentHeader::parse(good) else { return };
    let mut bytes = bad.to_vec();
    for (offset, record) in Records::new(good, &header) {
        let start = usize::try_from(offset).expect("in memory") + record.head_len;
        let body = start..start + record.body_len;
        if body.contains(&byte) {
            let mut forged = Vec::new();
            write_record(&mut forged, &header, &record.head, &bad[body.clone()]).expect("as before");
            bytes[start - record.head_len..body.end].copy_from_slice(&forged);
        }
    }
    flipped.put(file, bytes);
}

fn is_last_log(image: &Image, file: &str) -> bool {
    image.files().filter(|(name, _)| name.starts_with("segment-")).last().is_some_and(|(name, _)| name == file)
}

fn put(id: &str, len: usize, lossless: bool, seed: u64) -> Op {
    Op::Put(Put {
        id: TensorId::from(id),
        shape: vec![len],
        values: values(seed, len),
        tier: (!lossless).then_some(Tier::Hot),
        pin: None,
        lossless,
        user: None,
    })
}

/// Creates a store with all kinds of records, in compacted, sealed and open segments.
fn small_store(closed: bool) -> Result<(Image, Arc<[World]>), String> {
    let settings = Settings { sync: SyncMode::Always, segment_bytes: 600, mutant: None };
    let mut session = Session::open(SimulatedDisk::default(), settings, [World::default()].into(), 1_000_000)?;
    let frame = |seed| Op::Append { id: TensorId::from("f"), shape: vec![6], values: values(seed, 6) };
    let delete = |id: &str| Op::Delete { id: TensorId::from(id) };
    let first = [put("a", 9, false, 1), put("b", 3, true, 2), put("gone", 40, false, 3), put("a", 12, false, 4)];
    let more = [put("c", 5, false, 5), frame(1), frame(1), Op::Batch(vec![put("d", 4, true, 6), delete("b")])];
    session.run_all(&first)?;
    session.run_all(&[delete("gone"), frame(1), Op::Compact { all: true }])?;
    session.run_all(&more)?;
    session.run_all(&[put("e", 20, false, 7), put("c", 8, true, 8), put("g", 2, false, 9)])?;
    if closed {
        session.run_all(&[Op::Reopen])?;
    }
    let mut image = session.disk.image();
    image.take("RESERVE"); // takes up space and says nothing
    Ok((image, Arc::clone(session.worlds())))
}

fn open(image: &Image) -> Result<TensorStore, StoreError> {
    open_on(&SimulatedDisk::holding(image))
}

fn open_on(disk: &SimulatedDisk) -> Result<TensorStore, StoreError> {
    TensorStore::open_on(Arc::new(disk.clone()), StoreConfig { segment_bytes: 600, ..StoreConfig::default() })
}

fn examine(image: &Image, file: &str, before: &View, closed: bool) -> Result<Verdict, String> {
    let disk = SimulatedDisk::holding(image);
    let store = match open_on(&disk) {
        Ok(store) => store,
        Err(error) if disk.image() != *image => return Err(format!("refused to open, but changed files: {error}")),
        Err(error) => {
            named(&error, file)?;
            salvage(image, file, before).map_err(|why| format!("salvaged: {why}"))?;
            return Ok(Verdict::Refused);
        }
    };
    let reported = compare(&store, file, before)?;
    let Some(reported) = reported else {
        return if store.recovery().torn_bytes > 0 {
            Ok(Verdict::Torn)
        } else {
            Err("something is gone, and nobody said so".into())
        };
    };
    if reported > 0 {
        let report = store.verify().map_err(|error| format!("verify: {error}"))?;
        if !report.damages.iter().any(|damage| damage.segment == file) {
            return Err(format!("a read was refused, but verify finds {:?}", report.damages));
        }
        // Compaction must neither lose damaged data nor copy it as valid.
        match store.compact(CompactOptions { all: true, ..CompactOptions::default() }) {
            Ok(_) => {}
            Err(error) => named(&error, file)?,
        }
        if compare(&store, file, before)? != Some(reported) {
            return Err("compacting changed what is damaged".into());
        }
        drop(store);
        let store = match open_on(&disk) {
            Ok(store) => store,
            Err(error) => return named(&error, file).map(|()| Verdict::Reported),
        };
        if compare(&store, file, before)? != Some(reported) {
            return Err("opening after compacting changed what is damaged".into());
        }
        return Ok(Verdict::Reported);
    }
    let report = store.verify().map_err(|error| format!("verify: {error}"))?;
    // A truncated end is reported only on opening.
    let noticed = !report.is_clean() || !closed && !store.recovery().is_clean();
    if !noticed {
        return Err(format!("a flip that nobody noticed: {:?}", store.recovery()));
    }
    Ok(Verdict::Harmless)
}

/// Opens a store that was refused: it must name the damage, return only data that was put, and leave the damaged file
/// unchanged.
fn salvage(image: &Image, file: &str, before: &View) -> Result<(), String> {
    let disk = SimulatedDisk::holding(image);
    let config = StoreConfig { on_damage: OnDamage::Salvage, segment_bytes: 600, ..StoreConfig::default() };
    let store = match TensorStore::open_on(Arc::new(disk.clone()), config) {
        Ok(store) => store,
        Err(error) => return named(&error, file),
    };
    if !store.recovery().damages.iter().any(|damage| damage.segment == file) {
        return Err(format!("{file} is not among the damages {:?}", store.recovery().damages));
    }
    for meta in store.scan(None) {
        let meta = meta.map_err(|error| error.to_string())?;
        let known = before.0.get(&meta.id);
        let parts = match View::parts(&store, &meta) {
            Ok(parts) => parts,
            Err(error) => {
                named(&error, file)?;
                continue;
            }
        };
        // If the last record of a tensor is damaged, an older one may remain, with another shape.
        let Some(known) = known.filter(|known| known.meta.shape == meta.shape) else { continue };
        for (now, then) in parts.iter().zip(&known.parts) {
            if !now.same(then) {
                return Err(format!("{}: other data than was put", meta.id));
            }
        }
    }
    store.put("new", &[1], &[1.0]).map_err(|error| format!("a write is refused: {error}"))?;
    drop(store);
    if image.file(file).is_some_and(|then| disk.image().file(file).is_none_or(|now| !now.starts_with(then))) {
        return Err(format!("{file} was changed"));
    }
    Ok(())
}

/// Reads all data; returns the number of reads that failed because of `file`, or `None` if a tensor is missing.
///
/// # Errors
/// Returns a description of changed data, or an error that names another file.
fn compare(store: &TensorStore, file: &str, before: &View) -> Result<Option<usize>, String> {
    let mut refused = 0;
    let mut missing = false;
    for (id, sight) in &before.0 {
        match store.meta(id) {
            Err(StoreError::NotFound { .. }) => {
                missing = true;
                continue;
            }
            Err(error) => {
                named(&error, file)?;
                refused += 1;
                continue;
            }
            Ok(meta)
                if (&meta.shape, meta.frames, &meta.user)
                    != (&sight.meta.shape, sight.meta.frames, &sight.meta.user) =>
            {
                // An older state of a tensor whose newest record is lost.
                missing = true;
                continue;
            }
            Ok(_) => {}
        }
        match View::parts(store, &sight.meta) {
            Ok(parts) => {
                for (now, then) in parts.iter().zip(&sight.parts) {
                    if !now.same(then) {
                        return Err(format!("{id}: other data than was put"));
                    }
                }
            }
            Err(error) => {
                named(&error, file)?;
                refused += 1;
            }
        }
    }
    for meta in store.scan(None) {
        match meta {
            Ok(meta) if !before.0.contains_key(&meta.id) => missing = true,
            Ok(_) => {}
            Err(error) => named(&error, file)?,
        }
    }
    Ok((!missing).then_some(refused))
}

/// Checks that an error names the file.
fn named(error: &StoreError, file: &str) -> Result<(), String> {
    let text = error.to_string();
    if text.contains(file) { Ok(()) } else { Err(format!("`{text}` does not name {file}")) }
}

#[test]
fn every_flipped_bit_is_detected_or_harmless() {
    let tally = every_bit(Checksums::AsWritten).unwrap_or_else(|why| panic!("{why}"));
    println!("{tally:?}");
    assert!(tally.total() > 10_000, "{tally:?}");
}
