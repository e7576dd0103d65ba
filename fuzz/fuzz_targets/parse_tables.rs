//! libFuzzer on `src/parse_tables.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_tables::run(input));
