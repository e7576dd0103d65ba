//! libFuzzer on `src/decode_tensor.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| bitgrain_fuzz::decode_tensor::run(input));
