//! libFuzzer on `src/decode_blocks.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::decode_blocks::run(input));
