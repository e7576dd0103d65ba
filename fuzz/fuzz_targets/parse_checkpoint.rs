//! libFuzzer on `src/parse_checkpoint.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_checkpoint::run(input));
