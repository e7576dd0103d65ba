//! libFuzzer on `src/parse_gguf.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_gguf::run(input));
