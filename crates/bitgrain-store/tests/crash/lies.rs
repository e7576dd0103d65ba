//! A disk that acknowledges a sync without syncing: data is lost, but wrong data is never returned.

use std::sync::Arc;

use bitgrain_store::storage::simulated::{Dice, PowerLoss, SimulatedDisk};
use bitgrain_store::{StoreConfig, StoreError, SyncMode, TensorStore};

use crate::closed::of_one_series;
use crate::points::{Tally, quiet};
use crate::script::script;
use crate::session::{Session, Settings, Step};
use crate::view::{Sight, View};
use crate::world::{Version, World};

/// Operations of a script.
const SCRIPT: usize = 25;

/// Runs the script of `seed` on a disk that ignores syncs from some point on, and cuts the power after each operation.
///
/// # Errors
/// Returns the first data that was never put.
pub(crate) fn explore(seed: u64, tally: &mut Tally) -> Result<(), String> {
    let mut dice = Dice::part(seed, 8);
    let settings = Settings { sync: SyncMode::Always, segment_bytes: *dice.pick(&[2_000, 6_000]), mutant: None };
    let told = |why: String| format!("seed {seed}, on a disk that lies: {why} ({settings:?})");
    let (journal, steps) = quiet(|| {
        let disk = SimulatedDisk::default();
        let mut session = Session::open(disk.clone(), settings, [World::default()].into(), 1_000_000)?;
        let ops = script(seed, SCRIPT);
        let (honest, lying) = ops.split_at(dice.below(SCRIPT));
        session.run_all(honest)?;
        disk.lie(true);
        session.run_all(lying)?;
        Ok((session.journal(), session.into_steps()))
    })
    .map_err(told)?;
    let ever = steps.iter().flat_map(|step: &Step| &*step.after).fold(World::default(), |ever, world| ever.or(world));
    let mut walk = journal.walk();
    for at in 0..=journal.len() {
        walk.forward_to(at);
        let image = walk.power_cut(PowerLoss::any(&mut dice), &mut dice);
        tally.count("power cut after a lie of the disk");
        let config = StoreConfig { segment_bytes: settings.segment_bytes, ..StoreConfig::default() };
        quiet(|| match TensorStore::open_on(Arc::new(SimulatedDisk::holding(&image)), config) {
            Ok(store) => once_put(&store, &ever),
            Err(error) => refusal(&error),
        })
        .map_err(|why| told(format!("after {at} operations: {why}")))?;
    }
    Ok(())
}

/// Checks that all readable data was put at some time.
fn once_put(store: &TensorStore, ever: &World) -> Result<(), String> {
    for meta in store.scan(None) {
        let sight = meta.and_then(|meta| Ok(Sight { parts: View::parts(store, &meta)?, meta }));
        match sight {
            Ok(sight) => {
                let versions = ever.0.get(&sight.meta.id).map_or(&[][..], |versions| versions);
                let wrong: Vec<_> = versions.iter().map_while(|version| beginning(&sight, version).err()).collect();
                if wrong.len() == versions.len() && !of_one_series(&sight, versions) {
                    return Err(format!("{} is nothing that was ever put: {}", sight.meta.id, wrong.join("; or ")));
                }
            }
            Err(error) => refusal(&error)?,
        }
    }
    Ok(())
}

/// Checks that a tensor is this version or a prefix of its frames; such a disk may lose the others.
pub(crate) fn beginning(sight: &Sight, version: &Version) -> Result<(), String> {
    let mut version = version.clone();
    if version.temporal {
        version.parts.truncate(sight.parts.len());
    }
    sight.is(&version)
}

fn refusal(error: &StoreError) -> Result<(), String> {
    match error {
        StoreError::Damaged { .. } | StoreError::Foreign { .. } => Ok(()),
        error => Err(format!("{error}, where damage is to be reported")),
    }
}
