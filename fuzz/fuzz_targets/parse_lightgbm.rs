//! libFuzzer on `src/parse_lightgbm.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_lightgbm::run(input));
