//! libFuzzer on `src/parse_safetensors.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_safetensors::run(input));
