//! libFuzzer on `src/parse_bins.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_bins::run(input));
