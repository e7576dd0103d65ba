//! Checks of the crash tests themselves: each of five deliberate faults must be found.

use crate::mutant::Mutant;
use crate::points;
use crate::rot::{self, Checksums};
use crate::soak::simulate;

/// Maximum number of crashes until a fault must be found.
const POINTS: usize = 2_000;
/// First seed.
const SEED: u64 = 500;

/// Crashes stores with `mutant` until data is lost.
///
/// # Panics
/// Panics if no data is lost.
pub(crate) fn catch(mutant: Mutant) {
    let mut tally = points::Tally::default();
    for seed in SEED.. {
        if let Err(why) = points::explore(seed, Some(mutant), &mut tally) {
            let (points, why) = (tally.total(), why.lines().next().unwrap_or_default());
            return println!("{mutant:?} was found after {points} crashes: {why}");
        }
        assert!(tally.total() < POINTS, "{mutant:?} was not found in {POINTS} crashes");
    }
}

#[test]
fn the_same_crashes_lose_nothing_without_an_injected_fault() {
    simulate(SEED, POINTS).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn unsynced_files_are_detected() {
    catch(Mutant::SkipFsync);
}

#[test]
fn unsynced_names_are_detected() {
    catch(Mutant::SkipFolderFsync);
}

#[test]
fn an_early_acknowledgment_is_detected() {
    catch(Mutant::EarlyAcknowledgement);
}

#[test]
fn a_manifest_written_before_its_segments_is_detected() {
    catch(Mutant::ManifestFirst);
}

#[test]
fn unverified_checksums_are_detected() {
    let why = rot::every_bit(Checksums::Recomputed).expect_err("bits flip unnoticed without checksums");
    println!("{why}");
}
