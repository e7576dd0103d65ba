//! libFuzzer on `src/parse_model_json.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::parse_model_json::run(input));
