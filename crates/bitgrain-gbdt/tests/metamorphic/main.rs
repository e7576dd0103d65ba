//! Changes of the data that must not change the model, or must change it in a known way.
//!
//! `BITGRAIN_CASES` sets the number of random tables per property.
#![expect(clippy::cast_possible_truncation, reason = "made-up data")]

mod columns;
mod rows;
mod table;
mod targets;

use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// Returns a configuration with the same few tables in every run, or with `BITGRAIN_CASES` random ones.
fn cases() -> ProptestConfig {
    let few =
        ProptestConfig { cases: 64, max_shrink_iters: 64, failure_persistence: None, ..ProptestConfig::default() };
    match std::env::var("BITGRAIN_CASES").ok().and_then(|cases| cases.parse().ok()) {
        Some(cases) => ProptestConfig { cases, ..few },
        None => ProptestConfig { rng_seed: RngSeed::Fixed(1), ..few },
    }
}
