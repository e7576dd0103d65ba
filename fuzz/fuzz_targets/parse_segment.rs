//! libFuzzer on `src/parse_segment.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_segment::run(input));
