//! libFuzzer on `src/parse_store.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_store::run(input));
