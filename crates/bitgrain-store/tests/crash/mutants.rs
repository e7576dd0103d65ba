//! Tests that cannot fail prove nothing: five faults are built into the store, and each of them is found.

use bitgrain_store::Mutant;

use crate::soak::simulate;
use crate::{points, rot};

/// Crashes that a fault may take to be found.
const POINTS: usize = 2_000;
/// First seed.
const SEED: u64 = 500;

/// Crashes until something is lost: how many there were and what it was.
fn caught(mutant: Mutant) -> Option<(usize, String)> {
    let mut tally = points::Tally::default();
    (SEED..).take_while(|_| true).find_map(|seed| match points::explore(seed, Some(mutant), &mut tally) {
        Err(why) => Some(Some((tally.total(), why))),
        Ok(()) if tally.total() >= POINTS => Some(None),
        Ok(()) => None,
    })?
}

fn is_caught(mutant: Mutant) {
    let (points, why) = caught(mutant).unwrap_or_else(|| panic!("{mutant:?} was not found in {POINTS} crashes"));
    println!("{mutant:?} was found after {points} crashes: {}", why.lines().next().unwrap_or_default());
}

#[test]
fn the_same_crashes_lose_nothing_without_a_fault() {
    simulate(SEED, POINTS, None).unwrap_or_else(|why| panic!("{why}"));
}

#[test]
fn files_that_are_not_synced_are_noticed() {
    is_caught(Mutant::SkipFsync);
}

#[test]
fn names_that_are_not_synced_are_noticed() {
    is_caught(Mutant::SkipFolderFsync);
}

#[test]
fn an_early_acknowledgement_is_noticed() {
    is_caught(Mutant::EarlyAcknowledgement);
}

#[test]
fn a_manifest_before_its_segments_is_noticed() {
    is_caught(Mutant::ManifestFirst);
}

#[test]
fn checksums_that_are_not_compared_are_noticed() {
    let why = rot::every_bit(Some(Mutant::ChecksumOff)).expect_err("bits flip unnoticed without checksums");
    println!("{:?}: {why}", Mutant::ChecksumOff);
}
