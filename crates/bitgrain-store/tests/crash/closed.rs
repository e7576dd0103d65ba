//! Parts of a cleanly closed store are removed: each loss is reported by file name and never mistaken for a crash.

use std::sync::Arc;

use bitgrain_store::storage::simulated::{Dice, Image, SimulatedDisk};
use bitgrain_store::{OnDamage, StoreConfig, StoreError, SyncMode, TensorStore, Tier};

use crate::lies::beginning;
use crate::points::{Tally, quiet};
use crate::script::{Op, script};
use crate::session::{Session, Settings};
use crate::view::{Sight, View};
use crate::world::{Part, Version, World};

/// Operations of a script.
const SCRIPT: usize = 25;
/// Number of offsets at which each file is truncated.
const CUTS: usize = 12;

/// Runs the script of `seed`, closes the store, then removes or truncates each of its files.
///
/// # Errors
/// Returns the first loss that the store did not report.
pub(crate) fn explore(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut dice = Dice::part(seed, 9);
    let sync = if dice.chance(50) { SyncMode::Always } else { SyncMode::OnSeal };
    let settings = Settings { sync, segment_bytes: *dice.pick(&[600, 2_000, 6_000]), mutant: None };
    let told = |why: String| format!("seed {seed}, closed: {why} ({settings:?})");
    let (image, ever) = quiet(|| {
        let mut session = Session::open(SimulatedDisk::default(), settings, [World::default()].into(), 1_000_000)?;
        session.run_all(&script(seed, SCRIPT))?;
        // Opening does not write, so the files are those of the closed store.
        session.run_all(&[Op::Reopen])?;
        let mut image = session.disk.image();
        image.take("RESERVE"); // takes up space and says nothing
        let ever =
            session.into_steps().iter().flat_map(|step| step.after.to_vec()).fold(World::default(), |a, b| a.or(&b));
        Ok((image, ever))
    })
    .map_err(told)?;
    let files: Vec<(String, usize)> = image.files().map(|(name, bytes)| (name.to_owned(), bytes.len())).collect();
    for (file, len) in files {
        let any = (0..CUTS).map(|_| dice.below(len));
        let cuts = any.chain([0, len - 1, len.saturating_sub(32), 64.min(len - 1)]).map(Some);
        for cut in cuts.chain([None]).collect::<Vec<_>>() {
            let mut less = image.clone();
            match cut {
                Some(cut) => less.put(&file, image.file(&file).unwrap_or_default()[..cut].to_vec()),
                None => assert!(less.take(&file)),
            }
            tally.count("closed, then a part taken away");
            quiet(|| examine(&less, &file, &ever))
                .map_err(|why| told(format!("{file} of {len} bytes, cut at {cut:?}: {why}")))?;
        }
    }
    // After a crash the end of the log is unknown, so data written since is truncated without an error.
    quiet(|| torn(&image, settings, &mut dice)).map_err(told)?;
    tally.count("closed, written to, then torn");
    Ok(())
}

fn examine(image: &Image, file: &str, ever: &World) -> Result<(), String> {
    let disk = SimulatedDisk::holding(image);
    match TensorStore::open_on(Arc::new(disk.clone()), StoreConfig::default()) {
        Err(error @ StoreError::Damaged { .. }) if blamed(&error, file) => {}
        Err(error) => return Err(format!("`{error}` does not name {file} as damaged")),
        Ok(store) if is_spare(&store, file) => return Ok(()),
        Ok(store) => return Err(format!("it opened as if nothing were missing: {:?}", store.recovery())),
    }
    if disk.image() != *image {
        return Err("refused to open, but changed files".into());
    }
    // Without a manifest, the set of segments is unknown.
    if file.starts_with("manifest") {
        Ok(())
    } else {
        salvage(image, file, ever).map_err(|why| format!("salvaged: {why}"))
    }
}

/// Opens the damaged store: it must report the loss, return only data that was put, and accept writes.
fn salvage(image: &Image, file: &str, ever: &World) -> Result<(), String> {
    let disk = SimulatedDisk::holding(image);
    let config = StoreConfig { on_damage: OnDamage::Salvage, ..StoreConfig::default() };
    let store = TensorStore::open_on(Arc::new(disk.clone()), config).map_err(|error| error.to_string())?;
    if !store.recovery().damages.iter().any(|damage| damage.segment == file) {
        return Err(format!("{file} is not among the damages {:?}", store.recovery().damages));
    }
    for meta in store.scan(None) {
        let meta = meta.map_err(|error| error.to_string())?;
        let sight = match View::parts(&store, &meta) {
            Ok(parts) => Sight { parts, meta },
            Err(_) if meta.provenance.tier == Tier::Absent => continue, // what it is made of may be lost
            Err(StoreError::FrameOutOfRun { .. }) => continue, // an older version of the frame it depends on is left
            Err(error) => return Err(error.to_string()),
        };
        let versions = ever.0.get(&sight.meta.id).map_or(&[][..], |versions| versions);
        if !versions.iter().any(|version| beginning(&sight, version).is_ok()) && !of_one_series(&sight, versions) {
            return Err(format!("{} is nothing that was ever put", sight.meta.id));
        }
    }
    store.put("new", &[1], &[1.0]).map_err(|error| format!("a write is refused: {error}"))?;
    drop(store);
    if image.file(file).is_some_and(|then| disk.image().file(file) != Some(then)) {
        return Err(format!("{file} was changed"));
    }
    Ok(())
}

/// Returns whether the error is about this file. The number of a missing manifest is unknown.
fn blamed(error: &StoreError, file: &str) -> bool {
    error.to_string().contains(file) || file.starts_with("manifest") && error.to_string().starts_with("manifest")
}

/// Returns whether the store is complete without this file, because it was already obsolete.
fn is_spare(store: &TensorStore, file: &str) -> bool {
    store.recovery().leftovers.iter().any(|name| name == file)
}

/// Opens a closed store, writes and is killed; then the end of the last file is lost.
fn torn(image: &Image, settings: Settings, dice: &mut Dice) -> Result<(), String> {
    let (mut left, before, config) = {
        let disk = SimulatedDisk::holding(image);
        let config = StoreConfig { segment_bytes: settings.segment_bytes, ..StoreConfig::default() };
        let store = TensorStore::open_on(Arc::new(disk.clone()), config.clone()).map_err(|error| error.to_string())?;
        let before = View::of(&store).map_err(|error| error.to_string())?;
        store.put("torn", &[40], &[1.5; 40]).map_err(|error| error.to_string())?;
        let image = disk.image();
        let _dead = disk.kill();
        (image, before, config)
    };
    let last = left.files().map(|(name, _)| name.to_owned()).filter(|name| name.starts_with("segment")).last();
    let last = last.ok_or("no segment")?;
    let bytes = left.file(&last).unwrap_or_default().to_vec();
    let cut = 64 + dice.below(bytes.len() - 64);
    left.put(&last, bytes[..cut].to_vec());
    let store = TensorStore::open_on(Arc::new(SimulatedDisk::holding(&left)), config)
        .map_err(|error| format!("a tear at {cut} of {} bytes of {last} is refused: {error}", bytes.len()))?;
    let (torn, report) = ((cut - 64) as u64, store.recovery());
    if report.torn_bytes != torn || !report.damages.is_empty() || store.contains("torn") {
        return Err(format!("{torn} bytes are torn, and the report is {report:?}"));
    }
    let verified = store.verify().map_err(|error| error.to_string())?;
    if verified.torn_bytes != torn || !verified.is_clean() {
        return Err(format!("{torn} bytes are torn, and verify finds {verified:?}"));
    }
    let after = View::of(&store).map_err(|error| error.to_string())?;
    if after.0.keys().ne(before.0.keys()) { Err("the tear took more with it".into()) } else { Ok(()) }
}

#[test]
fn missing_files_of_a_closed_store_are_reported_by_name() {
    let mut tally = Tally::default();
    for seed in 0..12 {
        explore(seed, &mut tally).unwrap_or_else(|why| panic!("{why}"));
    }
    println!("{tally:?}");
}

/// Returns whether every frame is one that the same series had at some time, and the metadata as well. Losing records of
/// re-encoded frames leaves older versions of them next to newer frames, so precisions may mix; values of another series with
/// the same id, which was deleted, may not.
pub(crate) fn of_one_series(sight: &Sight, versions: &[Arc<Version>]) -> bool {
    let temporal = || versions.iter().filter(|version| version.temporal && !version.parts.is_empty());
    // Versions of a series share the original values of its first frame.
    let same = |a: &Version, b: &Version| Arc::ptr_eq(&a.parts[0].values, &b.parts[0].values);
    let fits = |series: &Arc<Version>| {
        let of_series = || temporal().filter(|version| same(version, series));
        let was = |(at, part): (usize, &Part)| {
            of_series().any(|version| version.parts.get(at).is_some_and(|want| part.is(want).is_ok()))
        };
        let meta = &sight.meta;
        let described = |version: &Arc<Version>| {
            (&meta.shape, &meta.pinned, &meta.user) == (&version.shape, &version.pinned, &version.user)
        };
        of_series().any(described) && sight.parts.iter().enumerate().all(was)
    };
    sight.meta.frames.is_some() && temporal().any(fits)
}
