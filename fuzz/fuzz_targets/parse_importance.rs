//! libFuzzer on `src/parse_importance.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_importance::run(input));
