//! libFuzzer on `src/parse_plan.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_plan::run(input));
