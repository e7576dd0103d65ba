//! Changes of the data that must not change the model, or must change it in a known way.
//!
//! `BITGRAIN_CASES` sets the number of random tables for each claim.
#![expect(clippy::cast_possible_truncation, reason = "made-up data")]

mod columns;
mod rows;
mod table;
mod targets;

use proptest::prelude::ProptestConfig;

/// As many cases as the environment asks for, or a few.
fn cases() -> ProptestConfig {
    let cases = std::env::var("BITGRAIN_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64);
    ProptestConfig { cases, max_shrink_iters: 64, ..ProptestConfig::default() }
}
