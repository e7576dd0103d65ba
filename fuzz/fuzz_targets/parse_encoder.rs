//! libFuzzer on `src/parse_encoder.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_encoder::run(input));
