//! libFuzzer on `src/parse_xgboost.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_xgboost::run(input));
