//! libFuzzer on `src/parse_npy.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_npy::run(input));
